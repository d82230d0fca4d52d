package handlers

import (
	"bytes"
	"encoding/json"
	"errors"
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
		return unmarshalProblem(err)
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
		return nil, tooLarge(limit)
	}
	rc := http.NewResponseController(c.ResponseWriter)
	_ = rc.SetReadDeadline(time.Now().Add(c.h.limits.BodyTimeout)) // a recorder has none
	defer rc.SetReadDeadline(time.Time{})
	raw, err := io.ReadAll(http.MaxBytesReader(c.ResponseWriter, c.r.Body, limit))
	switch {
	case err == nil:
		return raw, nil
	case errors.As(err, new(*http.MaxBytesError)):
		return nil, tooLarge(limit)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, &problem{code: "request-timeout"}
	}
	return nil, refuse("malformed-json", "The body ended before its end.", "请求体提前结束。")
}

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
		p := refuse("unknown-field", "%s %s.", "%s %s。", firstOf(*s.errs[0].pointer, "/"), "")
		p.detail = text{firstOf(*s.errs[0].pointer, "The body") + " " + s.errs[0].detail.en + ".", firstOf(*s.errs[0].pointer, "请求体") + " " + s.errs[0].detail.zh + "。"}
		p.errors = s.errs
		return p
	}
	return nil
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
	d, ok := tok.(json.Delim)
	if !ok {
		return
	}
	if depth++; depth > maxDepth {
		s.fail(path, "is nested more than "+strconv.Itoa(maxDepth)+" deep", "嵌套超过 "+strconv.Itoa(maxDepth)+" 层")
		return
	}
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
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

// unmarshalProblem explains a value of the wrong type.
func unmarshalProblem(err error) error {
	e, ok := errors.AsType[*json.UnmarshalTypeError](err)
	if !ok {
		return refuse("validation-failed", "A value cannot be read: %s.", "某个值无法读取：%s。", strings.TrimPrefix(err.Error(), "json: "))
	}
	names := strings.Split(e.Field, ".")
	if e.Field == "" {
		names = nil
	}
	want, wantZH := jsonType(e.Type)
	where := firstOf(*pointerTo(names...), "The body")
	p := refuse("validation-failed", "%s must be %s, not a %s.", "%s 必须是%s，而不是 %s。", where, want, e.Value)
	p.detail.zh = say("", "%s 必须是%s，而不是 %s。", where, wantZH, e.Value).zh
	p.errors = []fieldError{{pointer: pointerTo(names...), code: "wrong-type", detail: text{"must be " + want + ", not a " + e.Value, "必须是" + wantZH + "，而不是 " + e.Value}}}
	return p
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
