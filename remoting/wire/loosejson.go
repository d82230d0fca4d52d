package wire

import "strconv"

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
	// maxEntries bounds how many members and elements there may be in all, where
	// each of them costs memory; 0 means no bound but the input's length.
	maxEntries int

	entries int
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

// overLimit fails because there are more than n of what is counted, of which none
// has to be wrong.
func (r *cursor) overLimit(what string, n int) {
	if r.err == nil {
		r.err = &syntaxError{Offset: r.i, Reason: "more than " + strconv.Itoa(n) + " " + what, Limit: true}
	}
}

func (r *cursor) bad() bool { return r.err != nil }

// space passes over white space. Java counts NUL, backspace and form feed as such.
func (r *cursor) space() {
	for r.i < len(r.b) && r.b[r.i] <= ' ' {
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
	if r.entries++; r.maxEntries > 0 && r.entries > r.maxEntries {
		r.overLimit("members and elements", r.maxEntries)
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
