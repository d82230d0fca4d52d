package handlers

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// decode reads the body as one JSON value of the operation's type, strictly: what the
// standard library forgives (names twice or in another case, unknown names, deep
// nesting, text after the end) is refused, each with its place. Then the form of each
// value is checked. Nothing has been changed when it fails.
func decode[T any](c *call, limit int64) (T, error) {
	var v T
	raw, err := c.body(limit, "application/json")
	if err != nil {
		return v, err
	}
	return v, decodeInto(raw, &v)
}

func decodeInto(raw []byte, v any) error {
	if p := scan(raw, reflect.TypeOf(v).Elem()); p != nil {
		return p
	}
	if err := json.Unmarshal(raw, v); err != nil {
		return refuse("validation-failed", "A value cannot be read: %s.", "某个值无法读取：%s。", strings.TrimPrefix(err.Error(), "json: "))
	}
	return validate(v)
}

// body reads the body, which must be of one of the types, up to a limit.
func (c *call) body(limit int64, types ...string) ([]byte, error) {
	got, _, err := mime.ParseMediaType(c.r.Header.Get("Content-Type"))
	ok := false
	for _, t := range types {
		ok = ok || err == nil && got == t
	}
	if !ok {
		return nil, refuse("unsupported-media-type", "The body must be %s, not %s.", "请求体类型必须是 %s，而不是 %s。",
			strings.Join(types, " / "), strconv.Quote(c.r.Header.Get("Content-Type")))
	}
	return c.read(limit)
}

// read reads the body whatever its type, within its time and up to a limit.
func (c *call) read(limit int64) ([]byte, error) {
	if c.r.ContentLength > limit {
		if c.r.Header.Get("Expect") == "" {
			// A peer that is in the middle of sending does not read: without this it
			// would see its connection break instead of the answer.
			_, _ = io.CopyN(io.Discard, c.r.Body, limit+drained)
		}
		return nil, tooLarge(limit)
	}
	raw, err := io.ReadAll(http.MaxBytesReader(c.ResponseWriter, c.r.Body, limit))
	switch {
	case err == nil:
		_ = c.bodyDeadline(time.Time{}) // it is all there
		return raw, nil
	case errors.As(err, new(*http.MaxBytesError)):
		return nil, tooLarge(limit)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, &problem{code: "request-timeout"}
	}
	return nil, refuse("malformed-json", "The body ended before its end.", "请求体提前结束。")
}

// bodyDeadline bounds how long a body may take, also one that nobody reads: the server
// reads what is left of it before it answers the next request.
func (c *call) bodyDeadline(t time.Time) error {
	return http.NewResponseController(c.ResponseWriter).SetReadDeadline(t)
}

// drained is how far beyond a limit a body is read only to be refused.
const drained = 1 << 20

func tooLarge(limit int64) error {
	return refuse("body-too-large", "The body is larger than %d bytes.", "请求体超过 %d 字节。", limit)
}

// maxDepth is how deep a body may be nested.
const maxDepth = 32

// scanner walks through a JSON text before it is decoded.
type scanner struct {
	raw  []byte
	dec  *json.Decoder
	errs []fieldError
	bad  *problem
}

// scan checks what decoding would not: the encoding, names that come twice, names that
// the type does not have, the depth, and that nothing follows. t is the type that the
// text is decoded into.
func scan(raw []byte, t reflect.Type) error {
	if len(bytes.TrimSpace(raw)) == 0 {
		return refuse("malformed-json", "The body is empty.", "请求体为空。")
	}
	if !utf8.Valid(raw) {
		return refuse("malformed-json", "The body is not UTF-8: see byte %d.", "请求体不是 UTF-8：见第 %d 字节。", invalidAt(raw))
	}
	s := &scanner{raw: raw, dec: json.NewDecoder(bytes.NewReader(raw))}
	s.dec.UseNumber()
	s.value(t, nil, 0)
	if s.bad == nil {
		if _, err := s.dec.Token(); !errors.Is(err, io.EOF) {
			s.fail(nil, "something follows after the end of the value", "值结束之后还有内容")
		}
	}
	switch {
	case s.bad != nil:
		return s.bad
	case len(s.errs) > 0:
		code := "validation-failed"
		if slices.ContainsFunc(s.errs, func(e fieldError) bool { return e.code == "unknown-field" }) {
			code = "unknown-field"
		}
		return placed(code, s.errs)
	}
	return nil
}

// placed makes a problem of the places that are wrong; its detail is about the first.
func placed(code string, errs []fieldError) *problem {
	where := *errs[0].pointer
	return &problem{code: code, errors: errs, detail: text{
		firstOf(where, "The body") + " " + errs[0].detail.en + ".", firstOf(where, "请求体") + " " + errs[0].detail.zh + "。",
	}}
}

func invalidAt(raw []byte) int {
	for i := 0; i < len(raw); {
		r, n := utf8.DecodeRune(raw[i:])
		if r == utf8.RuneError && n <= 1 {
			return i
		}
		i += n
	}
	return len(raw)
}

func (s *scanner) fail(path []string, en, zh string) {
	at := s.dec.InputOffset()
	line := 1 + bytes.Count(s.raw[:at], []byte("\n"))
	p := refuse("malformed-json", "Line %d, byte %d: %s.", "第 %d 行，第 %d 字节：%s。", line, at, en)
	p.detail.zh = say("", "第 %d 行，第 %d 字节：%s。", line, at, zh).zh
	p.errors = []fieldError{{pointer: pointerTo(path...), code: "malformed-json", detail: text{en, zh}}}
	s.bad = p
}

// value walks through one value that is to be of type t, or of any if t is nil.
func (s *scanner) value(t reflect.Type, path []string, depth int) {
	tok, err := s.dec.Token()
	if err != nil {
		s.syntax(path, err)
		return
	}
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t != nil && !fits(tok, t) {
		s.wrong(path, "wrong-type", t, tok)
		t = nil
	}
	d, ok := tok.(json.Delim)
	if !ok {
		return
	}
	if depth++; depth > maxDepth {
		s.fail(path, "is nested more than "+strconv.Itoa(maxDepth)+" deep", "嵌套超过 "+strconv.Itoa(maxDepth)+" 层")
		return
	}
	if d == '[' {
		var elem reflect.Type
		if t != nil && t.Kind() == reflect.Slice {
			elem = t.Elem()
		}
		for i := 0; s.bad == nil && s.dec.More(); i++ {
			s.value(elem, append(path, strconv.Itoa(i)), depth)
		}
	} else {
		s.object(t, path, depth)
	}
	if s.bad == nil {
		if _, err := s.dec.Token(); err != nil {
			s.syntax(path, err)
		}
	}
}

func (s *scanner) object(t reflect.Type, path []string, depth int) {
	seen := make(map[string]bool)
	for s.bad == nil && s.dec.More() {
		tok, err := s.dec.Token()
		if err != nil {
			s.syntax(path, err)
			return
		}
		name, _ := tok.(string) // a name is a text, or it is a syntax error
		at := append(slices.Clip(path), name)
		if seen[name] {
			s.fail(at, "the name comes twice", "名称重复出现")
			return
		}
		seen[name] = true
		var ft reflect.Type
		if t != nil {
			switch t.Kind() {
			case reflect.Map:
				ft = t.Elem()
			case reflect.Struct:
				var known bool
				if ft, known = fieldType(t, name); !known && len(s.errs) < maxErrors {
					s.errs = append(s.errs, fieldError{pointer: pointerTo(at...), code: "unknown-field", detail: unknownField(t, name)})
				}
			}
		}
		s.value(ft, at, depth)
	}
}

// fieldType returns the type of the member of that very name.
func fieldType(t reflect.Type, name string) (reflect.Type, bool) {
	for f := range t.Fields() {
		if n, _, _ := strings.Cut(f.Tag.Get("json"), ","); n == name && n != "-" {
			return f.Type, true
		}
	}
	return nil, false
}

func unknownField(t reflect.Type, name string) text {
	var names []string
	for field := range t.Fields() {
		n, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if strings.EqualFold(n, name) {
			return say("is not a field; did you mean %s?", "不是字段；是否为 %s？", n)
		}
		names = append(names, n)
	}
	list := strings.Join(names, ", ")
	return say("is not a field; those are %s", "不是字段；可用字段：%s", list)
}

func (s *scanner) syntax(path []string, err error) {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		s.fail(path, "the body ends too early", "请求体提前结束")
		return
	}
	msg := strings.TrimPrefix(err.Error(), "json: ")
	s.fail(path, msg, "语法错误（"+msg+"）")
}

// fits reports whether a token begins a value that can be decoded into t. Nothing at
// all always can.
func fits(tok json.Token, t reflect.Type) bool {
	switch v := tok.(type) {
	case nil:
		return true
	case bool:
		return t.Kind() == reflect.Bool
	case string:
		return t.Kind() == reflect.String
	case json.Number:
		bits := 0
		switch t.Kind() {
		case reflect.Int32:
			bits = 32
		case reflect.Int64:
			bits = 64
		default:
			return false
		}
		_, err := strconv.ParseInt(v.String(), 10, bits)
		return err == nil
	case json.Delim:
		if v == '[' {
			return t.Kind() == reflect.Slice
		}
		return t.Kind() == reflect.Struct || t.Kind() == reflect.Map
	}
	return false
}

func (s *scanner) wrong(path []string, code string, t reflect.Type, tok json.Token) {
	if len(s.errs) == maxErrors {
		return
	}
	want, wantZH := jsonType(t)
	got := "an object"
	switch v := tok.(type) {
	case json.Delim:
		if v == '[' {
			got = "an array"
		}
	case string:
		got = shortly(v)
	default:
		got = fmt.Sprint(v)
	}
	s.errs = append(s.errs, fieldError{pointer: pointerTo(path...), code: code, detail: text{"must be " + want + ", not " + got, "必须是" + wantZH + "，而不是 " + got}})
}

func jsonType(t reflect.Type) (en, zh string) {
	switch t.Kind() {
	case reflect.Bool:
		return "true or false", " true 或 false"
	case reflect.String:
		return "a text", "文本"
	case reflect.Int32:
		return "a whole number within 32 bits", " 32 位以内的整数"
	case reflect.Int64:
		return "a whole number within 64 bits", " 64 位以内的整数"
	case reflect.Slice:
		return "an array", "数组"
	}
	return "an object", "对象"
}
