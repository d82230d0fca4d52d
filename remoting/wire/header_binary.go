package wire

import (
	"encoding/binary"
	"math"
	"strings"
	"unicode/utf8"
)

const (
	binaryFixed  = 17                     // up to the remark
	binaryMin    = binaryFixed + 4        // with the length of the fields
	fieldMin     = 2 + 4                  // the two lengths of a field
	maxKeyLength = math.MaxInt16          // signed 16 bit
	notInt16     = "does not fit 16 bits" // of a code or version in the binary form
	notUTF8      = string(utf8.RuneError) // what Java reads for bytes that are no UTF-8
)

func (c *Command) decodeBinary(h []byte) error {
	bad := func(at int, reason string) error {
		return &HeaderError{Type: BinaryHeader, Offset: at, Reason: reason}
	}
	if len(h) < binaryMin {
		return bad(len(h), "ends before its fixed part does")
	}
	c.Code = int32(int16(binary.BigEndian.Uint16(h)))
	c.Language = Language(h[2])
	c.Version = Version(int16(binary.BigEndian.Uint16(h[3:])))
	c.Opaque = int32(binary.BigEndian.Uint32(h[5:]))
	c.Flag = int32(binary.BigEndian.Uint32(h[9:]))

	at := binaryFixed
	remark := int64(int32(binary.BigEndian.Uint32(h[13:])))
	if remark < 0 || remark > int64(len(h)-binaryMin) {
		return bad(13, "length of the remark")
	}
	text := string(h) // the one copy that all strings share
	if remark > 0 {
		c.Remark, c.HasRemark = mend(text[at:at+int(remark)]), true
		at += int(remark)
	}
	size := int64(int32(binary.BigEndian.Uint32(h[at:])))
	at += 4
	if size > int64(len(h)-at) {
		return bad(at-4, "length of the fields")
	}
	end := at + int(max(size, 0))
	for at < end {
		if end-at < fieldMin {
			return bad(at, "a field ends before its lengths do")
		}
		key := int(int16(binary.BigEndian.Uint16(h[at:])))
		if key < 0 || key > end-at-fieldMin {
			return bad(at, "length of a key")
		}
		name := text[at+2 : at+2+key]
		at += 2 + key
		value := int64(int32(binary.BigEndian.Uint32(h[at:])))
		if value < 0 || value > int64(end-at-4) {
			return bad(at, "length of a value")
		}
		at += 4
		if key > 0 && value > 0 {
			c.Ext.Set(mend(name), mend(text[at:at+int(value)]))
		} else if key > 0 {
			c.Ext.remove(mend(name))
		}
		if len(c.Ext) > MaxFields {
			return bad(at, "too many fields")
		}
		at += int(value)
	}
	c.HasExt = size > 0
	// Bytes after the fields are left out. The Java NameServer takes them for the
	// beginning of the body; no peer sends any.
	return nil
}

// mend replaces bytes that are not UTF-8.
func mend(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return strings.ToValidUTF8(s, notUTF8)
}

func (c *Command) appendBinaryHeader(dst []byte) ([]byte, error) {
	if c.Code != int32(int16(c.Code)) {
		return dst, &EncodeError{Field: "code", Reason: notInt16}
	}
	if c.Version != Version(int16(c.Version)) {
		return dst, &EncodeError{Field: "version", Reason: notInt16}
	}
	dst = binary.BigEndian.AppendUint16(dst, uint16(c.Code))
	dst = append(dst, byte(c.Language))
	dst = binary.BigEndian.AppendUint16(dst, uint16(c.Version))
	dst = binary.BigEndian.AppendUint32(dst, uint32(c.Opaque))
	dst = binary.BigEndian.AppendUint32(dst, uint32(c.Flag))
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(c.Remark)))
	dst = append(dst, c.Remark...)
	sizeAt := len(dst)
	dst = append(dst, 0, 0, 0, 0)
	for _, f := range c.Ext {
		if len(f.Name) > maxKeyLength {
			return dst, &EncodeError{Field: f.Name[:32] + "…", Reason: "has a name longer than 32767 bytes"}
		}
		dst = binary.BigEndian.AppendUint16(dst, uint16(len(f.Name)))
		dst = append(dst, f.Name...)
		dst = binary.BigEndian.AppendUint32(dst, uint32(len(f.Value)))
		dst = append(dst, f.Value...)
	}
	binary.BigEndian.PutUint32(dst[sizeAt:], uint32(len(dst)-sizeAt-4))
	return dst, nil
}
