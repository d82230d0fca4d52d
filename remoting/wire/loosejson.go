package wire

import (
	"math"
	"strconv"
	"unicode/utf8"
)

// cursor reads the JSON that peers write and the Java NameServer 5.5 accepts, which
// is more than JSON: single quotes, trailing commas, comments before names, numbers
// in quotes, with a sign or a fraction where a whole one belongs, and where
// bareNumbers is set, names that are numbers without quotes.
//
// A cursor goes bad once: after the first error every method returns a zero value
// and every loop over more ends, so a decoder reads straight down and asks err at
// the end. It borrows its input; what it returns as bytes lives until the next call.
type cursor struct {
	b   []byte
	i   int
	err *syntaxError
	// bareNumbers lets names be numbers without quotes, as Java writes the keys of
	// a map from numbers.
	bareNumbers bool

	depth   int
	fresh   bool   // just inside a bracket: no comma is due
	start   int    // where in b the last text began, or -1 if it was unescaped into scratch
	scratch []byte // the last text with its escapes undone
	copied  string // b as a string, once a text of it was asked for
}

type syntaxError struct {
	Offset int
	Reason string
	Limit  bool // the input may be right, but exceeds what is taken
}

// fail makes the cursor bad at the place where it stands.
func (r *cursor) fail(reason string) {
	if r.err == nil {
		r.err = &syntaxError{Offset: r.i, Reason: reason}
	}
}

func (r *cursor) bad() bool { return r.err != nil }

// space passes over white space. Java counts NUL, backspace and form feed as such.
func (r *cursor) space() {
	for r.i < len(r.b) {
		switch r.b[r.i] {
		case ' ', '\t', '\n', '\r', '\f', '\b', 0:
			r.i++
		default:
			return
		}
	}
}

// spaceAndComments passes over white space and both kinds of comment.
func (r *cursor) spaceAndComments() {
	for r.space(); r.i+1 < len(r.b) && r.b[r.i] == '/'; r.space() {
		switch r.b[r.i+1] {
		case '/':
			for r.i < len(r.b) && r.b[r.i] != '\n' {
				r.i++
			}
		case '*':
			end := r.i + 2
			for ; end+1 < len(r.b) && (r.b[end] != '*' || r.b[end+1] != '/'); end++ {
			}
			if end+1 >= len(r.b) {
				r.fail("comment without an end")
				return
			}
			r.i = end + 2
		default:
			return
		}
	}
}

// peek returns the next byte that is no white space, or 0 at the end or once bad.
func (r *cursor) peek() byte {
	if r.bad() {
		return 0
	}
	r.space()
	if r.i >= len(r.b) {
		return 0
	}
	return r.b[r.i]
}

// document reads one value with read, around which white space and comments may stand.
func (r *cursor) document(read func(*cursor)) {
	r.spaceAndComments()
	read(r)
	r.end()
}

// end checks that nothing follows a document.
func (r *cursor) end() {
	if r.bad() {
		return
	}
	r.spaceAndComments()
	if r.i < len(r.b) {
		r.fail("something follows the value")
	}
}

// open enters an object or an array, whose bracket must come next.
func (r *cursor) open(bracket byte) {
	if r.peek() != bracket {
		r.fail("expected " + string(rune(bracket)))
		return
	}
	if r.depth++; r.depth > maxDepth {
		r.fail("nested too deep")
		return
	}
	r.i++
	r.fresh = true
}

// more reports whether another member or element follows; if not, it leaves the
// object or array whose closing bracket is given.
func (r *cursor) more(bracket byte) bool {
	next := r.peek()
	if r.bad() {
		return false
	}
	if !r.fresh && next == ',' {
		r.i++
		next = r.peek() // a comma may trail
	} else if !r.fresh && next != bracket {
		r.fail("expected a comma or " + string(rune(bracket)))
		return false
	}
	r.fresh = false
	if next == bracket {
		r.i++
		r.depth--
		return false
	}
	if bracket == '}' {
		r.spaceAndComments()
	}
	return !r.bad()
}

// name reads a member's name and its colon.
func (r *cursor) name() []byte {
	name := r.nameText()
	r.colon()
	return name
}

func (r *cursor) colon() {
	if r.peek() != ':' {
		r.fail("expected a colon")
		return
	}
	r.i++
}

// nameString is name as a string.
func (r *cursor) nameString() string {
	name := r.nameText()
	s := r.toString(name)
	r.colon()
	return s
}

// nameNumber reads a member's name that is a number, in quotes or not, and its colon.
func (r *cursor) nameNumber() int64 {
	name := r.nameText()
	n, err := strconv.ParseInt(string(name), 10, 64)
	if err != nil {
		r.fail("expected a number as name")
	}
	r.colon()
	return n
}

func (r *cursor) nameText() []byte {
	if text, ok := r.quoted(); ok {
		return text
	}
	if r.bareNumbers && !r.bad() {
		r.start = r.i
		if r.i < len(r.b) && r.b[r.i] == '-' {
			r.i++
		}
		for r.i < len(r.b) && isDigit(r.b[r.i]) {
			r.i++
		}
		if r.i > r.start {
			return r.b[r.start:r.i]
		}
	}
	r.fail("expected a name in quotes")
	return nil
}

// null passes over a null and reports whether one was there.
func (r *cursor) null() bool { return r.peek() == 'n' && r.word("null") }

func (r *cursor) word(w string) bool {
	if r.bad() || len(r.b)-r.i < len(w) || string(r.b[r.i:r.i+len(w)]) != w {
		return false
	}
	if end := r.i + len(w); end < len(r.b) && isWord(r.b[end]) {
		return false
	}
	r.i += len(w)
	return true
}

// absent passes over what stands for an object or array that is not there: null or
// an empty text.
func (r *cursor) absent() bool {
	if r.null() {
		return true
	}
	if c := r.peek(); (c == '"' || c == '\'') && r.i+1 < len(r.b) && r.b[r.i+1] == c {
		r.i += 2
		return true
	}
	return false
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func isWord(c byte) bool { return isDigit(c) || isLetter(c) || c == '_' || c == '$' }

// quoted reads a text if one comes next.
func (r *cursor) quoted() ([]byte, bool) {
	quote := r.peek()
	if quote != '"' && quote != '\'' {
		return nil, false
	}
	r.i++
	r.start = r.i
	for i := r.i; i < len(r.b); i++ {
		switch r.b[i] {
		case quote:
			r.i = i + 1
			return r.b[r.start:i], true
		case '\\':
			return r.unescape(quote, i)
		}
	}
	r.fail("text without an end")
	return nil, false
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

// int32 reads a whole number as Java reads an int: null, {} and "" are 0, true is 1,
// a fraction is cut off, and what does not fit is an error.
func (r *cursor) int32() int32 {
	n := r.int64()
	if n != int64(int32(n)) {
		r.fail("number beyond 32 bits")
		return 0
	}
	return int32(n)
}

// int64 reads a whole number as Java reads a long.
func (r *cursor) int64() int64 {
	switch c := r.peek(); {
	case c == '"' || c == '\'':
		text, ok := r.quoted()
		if !ok {
			return 0
		}
		return r.textInt(text)
	case c == 'n' && r.word("null"), c == 'f' && r.word("false"):
		return 0
	case c == 't' && r.word("true"):
		return 1
	case c == '{':
		r.skip()
		return 0
	}
	n, used, ok := parseNumber(r.b[min(r.i, len(r.b)):])
	if !ok || r.bad() {
		r.fail("expected a number")
		return 0
	}
	r.i += used
	if r.i < len(r.b) && isLetter(r.b[r.i]) { // Java's suffixes: 12L, 1.5F
		r.i++
	}
	if r.i < len(r.b) && isWord(r.b[r.i]) {
		r.fail("expected a number")
	}
	return n
}

// textInt reads a number in quotes; a letter may follow it.
func (r *cursor) textInt(text []byte) int64 {
	switch string(text) {
	case "", "null", "false":
		return 0
	case "true":
		return 1
	}
	n, used, ok := parseNumber(text)
	if ok && used < len(text) && isLetter(text[used]) {
		used++
	}
	if !ok || used != len(text) {
		r.fail("text that is no number")
		return 0
	}
	return n
}

// scanNumber measures the number at the beginning of b: how many bytes its whole
// part and all of it take, and whether any of them is a digit.
func scanNumber(b []byte) (whole, used int, ok bool) {
	i := 0
	if i < len(b) && (b[i] == '-' || b[i] == '+') {
		i++
	}
	digits := 0
	for ; i < len(b) && isDigit(b[i]); i++ {
		digits++
	}
	whole = i
	if i < len(b) && b[i] == '.' {
		for i++; i < len(b) && isDigit(b[i]); i++ {
			digits++
		}
	}
	if digits == 0 {
		return 0, 0, false
	}
	if j := i + 1; j < len(b) && b[i]|0x20 == 'e' {
		if b[j] == '-' || b[j] == '+' {
			j++
		}
		if j < len(b) && isDigit(b[j]) {
			for i = j; i < len(b) && isDigit(b[i]); i++ {
			}
		}
	}
	return whole, i, true
}

// parseNumber reads the number at the beginning of b, towards zero. ok is false if
// there is none or if a whole one exceeds 64 bits; with a fraction or an exponent it
// is capped instead, as Java's conversion does.
func parseNumber(b []byte) (n int64, used int, ok bool) {
	whole, used, ok := scanNumber(b)
	if !ok {
		return 0, 0, false
	}
	if used == whole {
		n, err := strconv.ParseInt(string(b[:used]), 10, 64)
		return n, used, err == nil
	}
	f, _ := strconv.ParseFloat(string(b[:used]), 64) // beyond the range it is infinite
	switch {
	case f >= math.MaxInt64:
		return math.MaxInt64, used, true
	case f <= math.MinInt64:
		return math.MinInt64, used, true
	}
	return int64(f), used, true
}

// boolean reads a truth value as Java reads one; null is false.
func (r *cursor) boolean() bool {
	switch r.peek() {
	case 't':
		if r.word("true") {
			return true
		}
	case 'f', 'n':
		if r.word("false") || r.word("null") {
			return false
		}
	case '0', '1':
		return r.int64() != 0
	case '"', '\'':
		text, ok := r.quoted()
		switch {
		case !ok:
			return false
		case string(text) == "true", string(text) == "1":
			return true
		case len(text) == 0, string(text) == "false", string(text) == "0", string(text) == "null":
			return false
		}
	}
	r.fail("expected true or false")
	return false
}
