package wire

import (
	"math"
	"strconv"
	"strings"
)

// int32 reads a whole number as Java reads an int: null, {} and "" are 0, true is 1,
// a fraction is cut off, and what does not fit is an error.
func (r *cursor) int32() int32 {
	if r.peek() == '{' {
		r.skip()
		return 0
	}
	n := r.int64()
	if n != int64(int32(n)) {
		r.fail("number beyond 32 bits")
		return 0
	}
	return int32(n)
}

// ordinal reads the number of one of n constants.
func (r *cursor) ordinal(n int) int {
	if c := r.peek(); !isDigit(c) && c != '-' && c != '+' {
		r.fail("expected a name or a number")
		return 0
	}
	i := r.int32()
	if i < 0 || int(i) >= n {
		r.fail("number that stands for nothing")
		return 0
	}
	return int(i)
}

// int64 reads a whole number as Java reads a long, which is like an int but for {}.
func (r *cursor) int64() int64 {
	if n, ok := r.digits(); ok {
		return n
	}
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
	}
	n, used, ok := parseNumber(r.b[min(r.i, len(r.b)):])
	if !ok || r.bad() {
		r.fail("expected a number")
		return 0
	}
	r.i += used
	if r.numberEnd(); r.bad() {
		return 0
	}
	return n
}

// numberEnd passes over Java's suffix of a number, as in 12L and 1.5F, and checks that
// the number ends there.
func (r *cursor) numberEnd() {
	if r.i < len(r.b) && strings.IndexByte("BDFLS", r.b[r.i]) >= 0 {
		r.i++
	}
	if r.i < len(r.b) && isWord(r.b[r.i]) {
		r.fail("expected a number")
	}
}

// digits reads what nearly every number is: at most 18 digits, ended by a comma or
// a bracket. If the next value is anything else it leaves it alone.
func (r *cursor) digits() (int64, bool) {
	if r.bad() {
		return 0, false
	}
	n := int64(0)
	for i := r.i; i < len(r.b) && i < r.i+19; i++ {
		c := r.b[i]
		if isDigit(c) {
			n = n*10 + int64(c-'0')
			continue
		}
		if i > r.i && (c == ',' || c == '}') {
			r.i = i
			return n, true
		}
		break
	}
	return 0, false
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
