package wire

import (
	"bytes"
	"unicode/utf8"
)

// quoted reads a text if one comes next.
func (r *cursor) quoted() ([]byte, bool) {
	quote := r.peek()
	if quote != '"' && quote != '\'' {
		return nil, false
	}
	r.i++
	r.start = r.i
	rest := r.b[r.i:]
	end := bytes.IndexByte(rest, quote)
	if end < 0 {
		r.fail("text without an end")
		return nil, false
	}
	if escape := bytes.IndexByte(rest[:end], '\\'); escape >= 0 {
		return r.unescape(quote, r.i+escape)
	}
	r.i += end + 1
	return rest[:end], true
}

// unescape reads on in a text that began at r.start and has its first escape at i.
func (r *cursor) unescape(quote byte, i int) ([]byte, bool) {
	r.scratch = append(r.scratch[:0], r.b[r.start:i]...)
	r.start = -1
	for i < len(r.b) {
		switch c := r.b[i]; {
		case c == quote:
			r.i = i + 1
			return r.scratch, true
		case c != '\\':
			r.scratch = append(r.scratch, c)
			i++
		default:
			var n int
			if r.scratch, n = appendEscape(r.scratch, r.b[i+1:]); n == 0 {
				r.i = i
				r.fail("escape")
				return nil, false
			}
			i += 1 + n
		}
	}
	r.i = i
	r.fail("text without an end")
	return nil, false
}

// appendEscape appends what the escape after a backslash stands for and returns how
// long it is, or 0 if it is none. Java's own are among them: \0 to \7, \v, \x41.
func appendEscape(dst, b []byte) ([]byte, int) {
	if len(b) == 0 {
		return dst, 0
	}
	switch c := b[0]; c {
	case '"', '\'', '\\', '/':
		return append(dst, c), 1
	case 'b':
		return append(dst, '\b'), 1
	case 'f':
		return append(dst, '\f'), 1
	case 'n':
		return append(dst, '\n'), 1
	case 'r':
		return append(dst, '\r'), 1
	case 't':
		return append(dst, '\t'), 1
	case 'v':
		return append(dst, '\v'), 1
	case '0', '1', '2', '3', '4', '5', '6', '7':
		return append(dst, c-'0'), 1
	case 'x':
		if u, ok := hexRune(b[1:], 2); ok {
			return utf8.AppendRune(dst, u), 3
		}
	case 'u':
		u, ok := hexRune(b[1:], 4)
		if !ok {
			return dst, 0
		}
		if isHigh := 0xD800 <= u && u < 0xDC00; isHigh && len(b) > 10 && b[5] == '\\' && b[6] == 'u' {
			if low, ok := hexRune(b[7:], 4); ok && 0xDC00 <= low && low < 0xE000 {
				return utf8.AppendRune(dst, (u-0xD800)<<10|(low-0xDC00)+0x10000), 11
			}
		}
		return utf8.AppendRune(dst, u), 5 // half a pair becomes U+FFFD
	}
	return dst, 0
}

func hexRune(b []byte, digits int) (rune, bool) {
	if len(b) < digits {
		return 0, false
	}
	var u rune
	for _, c := range b[:digits] {
		switch {
		case isDigit(c):
			u = u<<4 | rune(c-'0')
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			u = u<<4 | rune(c|0x20-'a'+10)
		default:
			return 0, false
		}
	}
	return u, true
}

// toString returns the last text as a string. Texts without escapes share one copy
// of the whole input.
func (r *cursor) toString(text []byte) string {
	if r.bad() || len(text) == 0 {
		return ""
	}
	if r.start < 0 {
		return mend(string(text))
	}
	if r.copied == "" {
		r.copied = string(r.b)
	}
	return mend(r.copied[r.start : r.start+len(text)])
}
