package wire

import (
	"strconv"
	"strings"
)

// Presence says what a typed field of a request header holds.
type Presence uint8

const (
	// Absent is a field that is not there, or null, or empty in the binary form.
	Absent Presence = iota
	// Present is a field with a usable value.
	Present
	// Unparsable is a field whose text is no number of the right size. Java treats
	// it like an absent one.
	Unparsable
)

// Text is a typed field that is a text.
type Text struct {
	Value   string
	Present bool
}

// Int is a typed field that is a number. Value is 0 unless Presence is Present.
type Int struct {
	Value    int64
	Presence Presence
	Raw      string // what was sent, for messages
}

// Bool is a typed field that is a truth value: true is "true" in any case, and
// anything else, "1" too, is false.
type Bool struct {
	Value   bool
	Present bool
}

// Text returns the field as a text.
func (f Fields) Text(name string) Text {
	v, ok := f.Get(name)
	return Text{v, ok}
}

// Long returns the field as Java reads a Long: decimal digits with an optional sign
// and nothing around them.
func (f Fields) Long(name string) Int { return f.number(name, 64) }

// Integer returns the field as Java reads an Integer, which is a Long of 32 bits.
func (f Fields) Integer(name string) Int { return f.number(name, 32) }

func (f Fields) number(name string, bits int) Int {
	raw, ok := f.Get(name)
	if !ok {
		return Int{}
	}
	n, err := strconv.ParseInt(raw, 10, bits)
	if err != nil {
		return Int{Presence: Unparsable, Raw: raw}
	}
	return Int{Value: n, Presence: Present, Raw: raw}
}

// Bool returns the field as a truth value.
func (f Fields) Bool(name string) Bool {
	v, ok := f.Get(name)
	return Bool{Value: strings.EqualFold(v, "true"), Present: ok}
}

// FieldError is a field that a request cannot do without.
type FieldError struct {
	// Field is the name on the wire, such as "brokerId".
	Field string
	// Raw is the text that is no number; empty if the field is missing.
	Raw string
	// Unparsable tells a field that is no number from one that is missing.
	Unparsable bool
}

// Error names the field and what to do: the remark of a refusal.
func (e *FieldError) Error() string {
	if e.Unparsable {
		return e.Field + " must be a whole number, not " + strconv.Quote(e.Raw)
	}
	return e.Field + " is required"
}

func (f *Fields) addText(name string, t Text) {
	if t.Present {
		*f = append(*f, Field{name, t.Value})
	}
}

func (f *Fields) addInt(name string, n Int) {
	if n.Presence == Present {
		*f = append(*f, Field{name, strconv.FormatInt(n.Value, 10)})
	}
}

func (f *Fields) addBool(name string, b Bool) {
	if b.Present {
		*f = append(*f, Field{name, strconv.FormatBool(b.Value)})
	}
}

// TextOf returns a field that is there with that text.
func TextOf(s string) Text { return Text{Value: s, Present: true} }

// IntOf returns a field that is there with that number.
func IntOf(n int64) Int { return Int{Value: n, Presence: Present} }

// BoolOf returns a field that is there with that truth value.
func BoolOf(b bool) Bool { return Bool{Value: b, Present: true} }
