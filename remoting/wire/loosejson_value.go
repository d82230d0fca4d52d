package wire

// text reads any value as Java reads a String: a text as it is, a number, a truth
// value, an object or an array as its own compact JSON. ok is false for null.
func (r *cursor) text() (text []byte, ok bool) {
	if text, ok := r.quoted(); ok {
		return text, true
	}
	if r.null() {
		return nil, false
	}
	switch r.peek() {
	case '{', '[':
		r.scratch = r.appendCompact(nil)
		r.start = -1
		return r.scratch, !r.bad()
	}
	return r.literal(), !r.bad()
}

// string is text as a string.
func (r *cursor) string() (s string, ok bool) {
	text, ok := r.text()
	if !ok {
		return "", false
	}
	return r.toString(text), true
}

// literal reads a number, true or false and returns how it was written, without the
// suffix of a number.
func (r *cursor) literal() []byte {
	c := r.peek()
	r.start = r.i
	switch {
	case r.bad():
		return nil
	case c == 't' && r.word("true"), c == 'f' && r.word("false"):
		return r.b[r.start:r.i]
	}
	_, used, ok := scanNumber(r.b[r.i:])
	if !ok {
		r.fail("expected a value")
		return nil
	}
	r.i += used
	text := r.b[r.start:r.i]
	if r.numberEnd(); r.bad() {
		return nil
	}
	return text
}

// skip passes over any value.
func (r *cursor) skip() {
	switch r.peek() {
	case '{':
		for r.open('{'); r.more('}'); r.skip() {
			r.name()
		}
	case '[':
		for r.open('['); r.more(']'); r.skip() {
		}
	case '"', '\'':
		r.quoted()
	case 'n':
		if !r.word("null") {
			r.fail("expected a value")
		}
	default:
		r.literal()
	}
}

// appendCompact appends the next value as compact JSON in double quotes.
func (r *cursor) appendCompact(dst []byte) []byte {
	switch r.peek() {
	case '{':
		dst = append(dst, '{')
		r.open('{')
		for n := 0; r.more('}'); n++ {
			if n > 0 {
				dst = append(dst, ',')
			}
			dst = appendText(dst, r.nameText())
			r.colon()
			dst = append(dst, ':')
			dst = r.appendCompact(dst)
		}
		return append(dst, '}')
	case '[':
		dst = append(dst, '[')
		r.open('[')
		for n := 0; r.more(']'); n++ {
			if n > 0 {
				dst = append(dst, ',')
			}
			dst = r.appendCompact(dst)
		}
		return append(dst, ']')
	case 'n':
		if r.word("null") {
			return append(dst, "null"...)
		}
	case '"', '\'':
		text, _ := r.quoted()
		return appendText(dst, text)
	}
	return append(dst, r.literal()...)
}
