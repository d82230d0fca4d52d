package wire

import (
	"encoding/binary"
	"fmt"
	"math"
)

// The bits of Command.Flag.
const (
	// FlagResponse marks an answer.
	FlagResponse = 1 << 0
	// FlagOneway marks a request that wants no answer.
	FlagOneway = 1 << 1
)

// Limits of a decoded header. A Java peer knows none of these; what it sends stays
// far below them.
const (
	// MaxFields is how many extension fields a header may have.
	MaxFields = 256
	// maxDepth is how deep JSON may nest, in headers and in bodies.
	maxDepth = 32
)

// Field is one extension field of a header, or one entry of a key-value table.
type Field struct {
	Name, Value string
}

// Fields are extension fields in the order of the wire; no name occurs twice.
type Fields []Field

// Get returns the value of the field with that name.
func (f Fields) Get(name string) (value string, ok bool) {
	for i := range f {
		if f[i].Name == name {
			return f[i].Value, true
		}
	}
	return "", false
}

// Set puts a field in place of the one with its name, or at the end.
func (f *Fields) Set(name, value string) {
	for i := range *f {
		if (*f)[i].Name == name {
			(*f)[i].Value = value
			return
		}
	}
	*f = append(*f, Field{name, value})
}

// remove takes out the field with that name, as a later null does.
func (f *Fields) remove(name string) {
	for i := range *f {
		if (*f)[i].Name == name {
			*f = append((*f)[:i], (*f)[i+1:]...)
			return
		}
	}
}

// Command is a request or an answer: a header and perhaps a body.
type Command struct {
	// Code is a RequestCode, or a ResponseCode when IsResponse.
	Code     int32
	Language Language
	Version  Version
	// Opaque is chosen by who asks and repeated in the answer. It is signed and not
	// unique across connections.
	Opaque int32
	// NoOpaque says that a decoded header had none. The Java NameServer then takes
	// a number of its own; what to answer is up to the caller.
	NoOpaque bool
	Flag     int32
	// Remark is a text for people. HasRemark tells an empty one from none.
	Remark    string
	HasRemark bool
	// Ext are the typed fields. HasExt tells an empty set from none in the JSON form
	// and is implied by a field.
	Ext    Fields
	HasExt bool
	// Body is nil if there is none.
	Body []byte
}

// IsResponse reports whether the command is an answer.
func (c *Command) IsResponse() bool { return c.Flag&FlagResponse != 0 }

// IsOneway reports whether the sender wants no answer.
func (c *Command) IsOneway() bool { return c.Flag&FlagOneway != 0 }

// HeaderError is a header that cannot be read. It ends the connection without an
// answer, since nobody can say whose answer it would be.
type HeaderError struct {
	Type HeaderType
	// Offset is the place in the header where reading ended.
	Offset int
	// Reason says what was wrong there.
	Reason string
}

// Error says what is wrong and where.
func (e *HeaderError) Error() string {
	return fmt.Sprintf("%s header, byte %d: %s", e.Type, e.Offset, e.Reason)
}

// Decode sets c to the command in f. c.Body is f.Body, so it lives as long as the
// buffer of f. All strings of c share one copy of the header: they live as long as
// they are held, and whoever keeps a short one should clone it. c.Ext is reused.
//
// Decoding allocates at most 8 times the length of the header plus 32 KiB: the copy, the
// texts that need unescaping or mending (three bytes for each one that is not UTF-8),
// and MaxFields fields. The plain header of a real peer costs the copy alone. The
// error is a *HeaderError.
func (c *Command) Decode(f Frame) error {
	*c = Command{Ext: c.Ext[:0], Body: f.Body}
	switch f.Type {
	case JSONHeader:
		return c.decodeJSON(f.Header)
	case BinaryHeader:
		return c.decodeBinary(f.Header)
	}
	return &HeaderError{Type: f.Type, Reason: "unknown header type"}
}

// EncodeError is a command that the chosen header cannot express.
type EncodeError struct {
	Field  string // the member or extension field that does not fit
	Reason string
}

// Error names the field and what is wrong with it.
func (e *EncodeError) Error() string { return e.Field + " " + e.Reason }

// AppendTo appends the whole frame of c, with a header of type t, to dst. On error,
// which is an *EncodeError, dst is returned as it was. It does not look at any limit
// but what the frame itself can say.
func (c *Command) AppendTo(dst []byte, t HeaderType) ([]byte, error) {
	start := len(dst)
	dst = append(dst, 0, 0, 0, 0, 0, 0, 0, 0)
	if t == BinaryHeader {
		var err error
		if dst, err = c.appendBinaryHeader(dst); err != nil {
			return dst[:start], err
		}
	} else {
		dst = c.appendJSONHeader(dst)
	}
	return finishFrame(dst, start, t, c.Body)
}

// finishFrame appends the body to a frame whose header ends dst and fills in the
// prefix that was left free at start.
func finishFrame(dst []byte, start int, t HeaderType, body []byte) ([]byte, error) {
	header := len(dst) - start - prefixSize
	if header > MaxHeader {
		return dst[:start], &EncodeError{Field: "header", Reason: fmt.Sprintf("of %d bytes exceeds %d", header, MaxHeader)}
	}
	total := int64(header) + prefixSize - lengthSize + int64(len(body))
	if total > math.MaxInt32 {
		return dst[:start], &EncodeError{Field: "body", Reason: fmt.Sprintf("of %d bytes makes the frame exceed %d", len(body), math.MaxInt32)}
	}
	binary.BigEndian.PutUint32(dst[start:], uint32(total))
	binary.BigEndian.PutUint32(dst[start+lengthSize:], uint32(t)<<24|uint32(header))
	return append(dst, body...), nil
}

// Request returns a request of the given code as a Java peer of our version makes it.
func Request(code RequestCode, ext Fields, body []byte) *Command {
	return &Command{Code: int32(code), Version: V5_5_0, Ext: ext, HasExt: ext != nil, Body: body}
}

// Response returns an answer to the request with that opaque.
func Response(code ResponseCode, opaque int32) *Command {
	return &Command{Code: int32(code), Version: V5_5_0, Opaque: opaque, Flag: FlagResponse}
}
