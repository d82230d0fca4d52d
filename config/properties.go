package config

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// The peers' settings travel as Java properties: in the file, in the body of request 318
// and in the answer to 319. This reader does what java.util.Properties does, including
// what other readers of the format get wrong: continued keys, continuation before CR LF,
// surrogate pairs, empty keys, a backslash as the last byte. testdata holds its answers.

// property is one setting as it stands in a text.
type property struct {
	key, value string
	line       int // where it begins, counted from 1
	start, end int // its bytes in the text, with the line end
}

// syntaxError is a text that is not in the format; only a bad \u escape makes one.
type syntaxError struct{ line int }

func (e *syntaxError) Error() string {
	return fmt.Sprintf(`line %d has a \u that four hexadecimal digits do not follow`, e.line)
}

// parseProperties reads a text in its order, repeated keys included. Bytes are UTF-8 or,
// where they are not, ISO-8859-1, which is what Java's reader takes all files for; a
// byte order mark is skipped.
func parseProperties(text []byte) ([]property, error) {
	s := scanner{text: text, latin: !utf8.Valid(text), line: 1}
	if bytes.HasPrefix(text, []byte("\xef\xbb\xbf")) {
		s.pos = 3
	}
	var ps []property
	for {
		p, ok := s.next()
		if !ok {
			return ps, nil
		}
		split := keyEnd(s.logical)
		value := skipBlanks(s.logical[split:])
		if len(value) > 0 && (value[0] == '=' || value[0] == ':') {
			value = skipBlanks(value[1:])
		}
		var ok1, ok2 bool
		p.key, ok1 = unescape(s.logical[:split], s.latin)
		p.value, ok2 = unescape(value, s.latin)
		if !ok1 || !ok2 {
			return nil, &syntaxError{p.line}
		}
		ps = append(ps, p)
	}
}

// scanner cuts a text into logical lines: comments and empty lines gone, continued
// lines joined, escapes untouched.
type scanner struct {
	text    []byte
	latin   bool
	pos     int
	line    int
	logical []byte // the line of the last call of next, good until the next one
}

// next finds the next logical line; its key and value are for the caller to find.
func (s *scanner) next() (property, bool) {
	for s.pos < len(s.text) {
		p := property{line: s.line, start: s.pos}
		s.logical = s.logical[:0]
		cut := false // whether the text ends in a backslash, which alone is a line too
		for {
			part, continued := s.natural()
			part = skipBlanks(part)
			if len(s.logical) == 0 && len(part) > 0 && (part[0] == '#' || part[0] == '!') {
				break // a comment is never continued
			}
			s.logical = append(s.logical, part...)
			if !continued {
				break
			}
			s.logical = s.logical[:len(s.logical)-1]
			if cut = s.pos >= len(s.text); cut {
				break
			}
		}
		if len(s.logical) > 0 || cut {
			p.end = s.pos
			return p, true
		}
	}
	return property{}, false
}

// natural takes one line of the text, without its end, and says whether it ends in a
// backslash that is not itself escaped.
func (s *scanner) natural() (part []byte, continued bool) {
	rest := s.text[s.pos:]
	n := bytes.IndexAny(rest, "\r\n")
	if n < 0 {
		n = len(rest)
	}
	part = rest[:n]
	s.pos += n
	switch {
	case bytes.HasPrefix(rest[n:], []byte("\r\n")):
		s.pos += 2
		s.line++
	case n < len(rest):
		s.pos++
		s.line++
	}
	backslashes := len(part) - len(bytes.TrimRight(part, `\`))
	return part, backslashes%2 == 1
}

func isBlank(b byte) bool { return b == ' ' || b == '\t' || b == '\f' }

func skipBlanks(b []byte) []byte { return bytes.TrimLeft(b, " \t\f") }

// keyEnd returns where the key of a logical line ends.
func keyEnd(line []byte) int {
	for i := 0; i < len(line); i++ {
		switch b := line[i]; {
		case b == '\\':
			i++
		case b == '=' || b == ':' || isBlank(b):
			return i
		}
	}
	return len(line)
}

// unescape returns what a key or value means; false for a malformed \u.
func unescape(raw []byte, latin bool) (string, bool) {
	out := make([]byte, 0, len(raw))
	var high rune // the first half of a surrogate pair
	add := func(r rune) {
		if high != 0 {
			if pair := utf16.DecodeRune(high, r); pair != utf8.RuneError {
				out, high = utf8.AppendRune(out, pair), 0
				return
			}
			out, high = utf8.AppendRune(out, utf8.RuneError), 0
		}
		if r >= 0xd800 && r < 0xdc00 {
			high = r
			return
		}
		out = utf8.AppendRune(out, r)
	}
	for len(raw) > 0 {
		r, size := rune(raw[0]), 1
		if !latin && r >= utf8.RuneSelf {
			r, size = utf8.DecodeRune(raw)
		}
		raw = raw[size:]
		if r != '\\' || len(raw) == 0 {
			if r != '\\' {
				add(r)
			}
			continue
		}
		b := raw[0]
		if b >= utf8.RuneSelf {
			continue // the backslash alone is dropped
		}
		raw = raw[1:]
		if b != 'u' {
			if i := strings.IndexByte("tnrf", b); i >= 0 {
				b = "\t\n\r\f"[i]
			}
			add(rune(b))
			continue
		}
		unit, ok := hex4(raw)
		if !ok {
			return "", false
		}
		add(unit)
		raw = raw[4:]
	}
	if high != 0 {
		out = utf8.AppendRune(out, utf8.RuneError)
	}
	return string(out), true
}

func hex4(b []byte) (rune, bool) {
	if len(b) < 4 {
		return 0, false
	}
	var r rune
	for _, c := range b[:4] {
		i := strings.IndexByte("0123456789abcdef", c|0x20)
		if i < 0 || c < '0' {
			return 0, false
		}
		r = r<<4 | rune(i)
	}
	return r, true
}

// escapeValue writes a value so that this reader and Java's, which takes the bytes for
// ISO-8859-1, both get it back.
func escapeValue(v string) string {
	var b strings.Builder
	for i, r := range v {
		switch {
		case r == '\\':
			b.WriteString(`\\`)
		case r == ' ' && i == 0:
			b.WriteString(`\ `)
		case r >= ' ' && r < 0x7f:
			b.WriteRune(r)
		default:
			for _, unit := range utf16.Encode([]rune{r}) {
				fmt.Fprintf(&b, `\u%04x`, unit)
			}
		}
	}
	return b.String()
}

// setProperty returns text with key set to value. A key that is there keeps its place
// and everything else, comments too, stays as it is.
func setProperty(text []byte, key, value string) ([]byte, error) {
	ps, err := parseProperties(text)
	if err != nil {
		return nil, err
	}
	line := key + "=" + escapeValue(value) + "\n"
	for _, p := range slices.Backward(ps) { // of repeated keys the last counts
		if p.key == key {
			return sameCharset(text, slices.Concat(text[:p.start], []byte(line), text[p.end:])), nil
		}
	}
	return slices.Concat(endLine(text), []byte(line)), nil
}

// removeProperty returns text without key.
func removeProperty(text []byte, key string) ([]byte, error) {
	ps, err := parseProperties(text)
	if err != nil {
		return nil, err
	}
	edited := text
	for _, p := range slices.Backward(ps) {
		if p.key == key {
			edited = slices.Concat(edited[:p.start], edited[p.end:])
		}
	}
	return sameCharset(text, edited), nil
}

// endLine returns text so that a line can follow it.
func endLine(text []byte) []byte {
	body := bytes.TrimRight(text, "\r\n")
	switch {
	case bytes.HasSuffix(body, []byte(`\`)): // an empty line ends what may be continued
		return append(slices.Clip(text), "\n\n"...)
	case len(text) > 0 && len(body) == len(text):
		return append(slices.Clip(text), '\n')
	}
	return text
}

// sameCharset returns an edited text in UTF-8 if the edit took away what showed that it
// was ISO-8859-1, for else the rest would be read differently.
func sameCharset(text, edited []byte) []byte {
	if utf8.Valid(text) || !utf8.Valid(edited) {
		return edited
	}
	out := make([]byte, 0, len(edited))
	for _, b := range edited {
		out = utf8.AppendRune(out, rune(b))
	}
	return out
}
