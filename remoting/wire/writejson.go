package wire

import (
	"slices"
	"strconv"
	"unicode/utf8"
)

// Dialect says how the keys of maps from numbers are written; see [Version.ReadsStrictJSON].
// In all else the two are alike: compact, members in alphabetical order, what is null
// left out, no escapes but those that JSON demands.
type Dialect uint8

const (
	// Legacy writes numbers as keys without quotes, {0:"10.0.0.1:10911"}, which is
	// not JSON. Every body but that of a route has this form.
	Legacy Dialect = iota
	// Strict writes JSON, and maps in the order of their keys.
	Strict
)

// String returns "legacy" or "strict".
func (d Dialect) String() string {
	if d == Strict {
		return "strict"
	}
	return "legacy"
}

// AppendString appends s as a JSON text in the form of the Java NameServer 5.5, in
// headers and in both dialects: only the quote, the backslash and control characters
// are escaped, the latter as \b \t \n \f \r or \u00xx in lower case. Bytes that are
// not UTF-8 become U+FFFD.
func AppendString(dst []byte, s string) []byte { return appendText(dst, s) }

func appendText[T string | []byte](dst []byte, s T) []byte {
	const digits = "0123456789abcdef"
	dst = append(dst, '"')
	clean := 0 // s[clean:i] needs no escape
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			n := runeLength(s, i)
			if n == 0 {
				dst = append(dst, s[clean:i]...)
				dst = append(dst, notUTF8...)
				i++
				clean = i
			} else {
				i += n
			}
			continue
		}
		if c >= ' ' && c != '"' && c != '\\' {
			i++
			continue
		}
		dst = append(dst, s[clean:i]...)
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\b':
			dst = append(dst, '\\', 'b')
		case '\t':
			dst = append(dst, '\\', 't')
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\f':
			dst = append(dst, '\\', 'f')
		case '\r':
			dst = append(dst, '\\', 'r')
		default:
			dst = append(dst, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
		}
		i++
		clean = i
	}
	dst = append(dst, s[clean:]...)
	return append(dst, '"')
}

// runeLength returns the length of the character at s[i:], or 0 if it is none.
func runeLength[T string | []byte](s T, i int) int {
	var part [utf8.UTFMax]byte
	n := copy(part[:], s[i:])
	if r, size := utf8.DecodeRune(part[:n]); r != utf8.RuneError || size > 1 {
		return size
	}
	return 0
}

// appendKey appends a number as the key of a map, with its colon.
func appendKey(dst []byte, key int64, d Dialect) []byte {
	if d == Strict {
		dst = append(dst, '"')
		dst = strconv.AppendInt(dst, key, 10)
		return append(dst, '"', ':')
	}
	dst = strconv.AppendInt(dst, key, 10)
	return append(dst, ':')
}

// appendStrings appends an array of texts.
func appendStrings(dst []byte, list []string) []byte {
	dst = append(dst, '[')
	for i, s := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = AppendString(dst, s)
	}
	return append(dst, ']')
}

// sorted returns list in order of cmp: itself when it is, a sorted copy when not.
// Whoever keeps its lists in order pays nothing.
func sorted[E any](list []E, cmp func(a, b E) int) []E {
	if slices.IsSortedFunc(list, cmp) {
		return list
	}
	list = slices.Clone(list)
	slices.SortStableFunc(list, cmp)
	return list
}

// lastOfEach sorts list by cmp and keeps of equal elements the one that came last.
func lastOfEach[E any](list []E, cmp func(a, b E) int) []E {
	list = sorted(list, cmp)
	kept := list[:0]
	for i, e := range list {
		if i+1 == len(list) || cmp(e, list[i+1]) != 0 {
			kept = append(kept, e)
		}
	}
	return kept
}

// compareText orders texts as Java does: by UTF-16 units, where characters beyond
// U+FFFF stand before U+E000.
func compareText(a, b string) int {
	for i := 0; i < len(a) && i < len(b); i++ {
		if x, y := a[i], b[i]; x != y {
			// Lead bytes 0xEE, 0xEF begin U+E000 to U+FFFF, 0xF0 and above what lies beyond.
			if x >= 0xEE && y >= 0xEE && (x >= 0xF0) != (y >= 0xF0) {
				return int(y) - int(x)
			}
			return int(x) - int(y)
		}
	}
	return len(a) - len(b)
}
