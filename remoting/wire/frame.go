package wire

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
)

// HeaderType says how the header of a frame is encoded. It is the frame's fifth byte.
type HeaderType uint8

// The two header encodings.
const (
	// JSONHeader is a UTF-8 JSON object, the default of every peer.
	JSONHeader HeaderType = 0
	// BinaryHeader is the compact form that peers call ROCKETMQ.
	BinaryHeader HeaderType = 1
)

// String returns the name that peers use in their configuration: JSON or ROCKETMQ.
func (t HeaderType) String() string {
	switch t {
	case JSONHeader:
		return "JSON"
	case BinaryHeader:
		return "ROCKETMQ"
	}
	return fmt.Sprintf("header type %d", uint8(t))
}

const (
	// DefaultMaxFrame is the largest frame, its four length bytes included, that
	// peers accept unless com.rocketmq.remoting.frameMaxLength says otherwise.
	DefaultMaxFrame = 16 << 20

	// DefaultMaxHeader is the largest header we read. The Java NameServer has no such
	// limit; its own headers stay under 2 KiB, and what grows with a cluster (an order
	// configuration put by 100) stays far under this.
	DefaultMaxHeader = 1 << 20

	// MaxHeader is the largest header that a frame can say: 24 bits.
	MaxHeader = 1<<24 - 1

	lengthSize = 4              // T
	prefixSize = lengthSize + 4 // T and the header word
)

// FrameLimits bounds what is taken from a peer. A zero field means its default.
type FrameLimits struct {
	// Frame is the largest frame in bytes, its length field included (DefaultMaxFrame).
	Frame int
	// Header is the largest header in bytes (DefaultMaxHeader).
	Header int
}

func (l FrameLimits) frame() int {
	if l.Frame <= 0 {
		return DefaultMaxFrame
	}
	return l.Frame
}

func (l FrameLimits) header() int {
	if l.Header <= 0 {
		return DefaultMaxHeader
	}
	return l.Header
}

// Frame is one frame, cut but not decoded. Header and Body are parts of the buffer it
// was cut from and live as long as that buffer is left alone.
type Frame struct {
	Type   HeaderType
	Header []byte
	// Body is nil when the frame has none: the protocol cannot tell an empty one.
	Body []byte
}

// SplitHeader returns the frame that b begins as far as its header goes, without its
// body, which need not have come. ok is false if the header has not come either.
func SplitHeader(b []byte) (f Frame, ok bool) {
	if len(b) < prefixSize {
		return Frame{}, false
	}
	word := binary.BigEndian.Uint32(b[lengthSize:])
	size := int(word & MaxHeader)
	if size > len(b)-prefixSize {
		return Frame{}, false
	}
	return Frame{Type: HeaderType(word >> 24), Header: b[prefixSize : prefixSize+size : prefixSize+size]}, true
}

// FrameFault says what is wrong with a frame. The set is closed; String gives names
// that serve as metric labels.
type FrameFault uint8

// The faults of a frame. Each ends the connection without an answer.
const (
	// FrameNegative is a length below zero.
	FrameNegative FrameFault = iota
	// FrameShort is a length of 0 to 3, which leaves no room for the header word.
	FrameShort
	// FrameOverLimit is a frame longer than FrameLimits.Frame.
	FrameOverLimit
	// FrameUnknownType is a header type that is neither JSON nor binary.
	FrameUnknownType
	// FrameHeaderLong is a header that would end after its frame.
	FrameHeaderLong
	// FrameHeaderOverLimit is a header longer than FrameLimits.Header.
	FrameHeaderOverLimit
)

var frameFaults = [...]string{
	"negative-length", "short", "over-limit", "unknown-header-type", "header-beyond-frame", "header-over-limit",
}

// String returns the fault's stable name in lower case.
func (f FrameFault) String() string {
	if int(f) < len(frameFaults) {
		return frameFaults[f]
	}
	return fmt.Sprintf("fault-%d", uint8(f))
}

// FrameError is a frame that cannot be read.
type FrameError struct {
	Fault FrameFault
	// Size is what the frame claims: its whole size in bytes, or for the two faults
	// of the header the header's size, or for FrameUnknownType the type byte.
	Size int64
	// Limit is what Size had to keep, where there is such a thing.
	Limit int64
}

// Error says what the frame claimed and what would have been right.
func (e *FrameError) Error() string {
	switch e.Fault {
	case FrameNegative:
		return fmt.Sprintf("frame length %d is negative", e.Size-lengthSize)
	case FrameShort:
		return fmt.Sprintf("frame length %d leaves no room for a header", e.Size-lengthSize)
	case FrameOverLimit:
		return fmt.Sprintf("frame of %d bytes exceeds the limit of %d", e.Size, e.Limit)
	case FrameUnknownType:
		return fmt.Sprintf("unknown header type %d", e.Size)
	case FrameHeaderLong:
		return fmt.Sprintf("header of %d bytes in a frame that has room for %d", e.Size, e.Limit)
	case FrameHeaderOverLimit:
		return fmt.Sprintf("header of %d bytes exceeds the limit of %d", e.Size, e.Limit)
	}
	return e.Fault.String()
}

// SplitFrame looks at the bytes of a connection that have arrived and not been used.
//
// It returns ok with the frame at their beginning once all of it is there; size is
// then the number of bytes to discard. Otherwise size is what the whole frame will
// take, or 0 while fewer than four bytes are there. An error is a *FrameError, found
// as soon as the bytes that show it have come, without waiting for the rest.
// SplitFrame copies nothing and, but for an error, allocates nothing.
func SplitFrame(b []byte, lim FrameLimits) (f Frame, size int, ok bool, err error) {
	if len(b) < lengthSize {
		return f, 0, false, nil
	}
	total := int64(int32(binary.BigEndian.Uint32(b)))
	whole := total + lengthSize
	switch limit := int64(lim.frame()); {
	case total < 0:
		return f, 0, false, &FrameError{Fault: FrameNegative, Size: whole}
	case total < prefixSize-lengthSize:
		return f, 0, false, &FrameError{Fault: FrameShort, Size: whole}
	case whole > limit:
		return f, 0, false, &FrameError{Fault: FrameOverLimit, Size: whole, Limit: limit}
	}
	size = int(whole)
	if len(b) < prefixSize {
		return f, size, false, nil
	}
	f.Type = HeaderType(b[4])
	header := int(binary.BigEndian.Uint32(b[4:])) & MaxHeader
	switch limit := lim.header(); {
	case f.Type > BinaryHeader:
		return f, 0, false, &FrameError{Fault: FrameUnknownType, Size: int64(f.Type)}
	case header > size-prefixSize:
		return f, 0, false, &FrameError{Fault: FrameHeaderLong, Size: int64(header), Limit: int64(size - prefixSize)}
	case header > limit:
		return f, 0, false, &FrameError{Fault: FrameHeaderOverLimit, Size: int64(header), Limit: int64(limit)}
	}
	if len(b) < size {
		return f, size, false, nil
	}
	f.Header = b[prefixSize : prefixSize+header : prefixSize+header]
	if body := b[prefixSize+header : size : size]; len(body) > 0 {
		f.Body = body
	}
	return f, size, true, nil
}

// ReadFrame reads the next frame from r into buf, which grows as needed, and returns
// the buffer for the next call. The frame is part of that buffer, so it lives until
// then. The buffer grows with the bytes that arrive, not with the length a peer
// claims: at most 64 KiB or twice what has come.
//
// The error is io.EOF when r ends between two frames, io.ErrUnexpectedEOF when it
// ends inside one, a *FrameError, or what r reports.
func ReadFrame(r *bufio.Reader, buf []byte, lim FrameLimits) (Frame, []byte, error) {
	buf = buf[:0]
	want := prefixSize
	for {
		if err := readTo(r, &buf, want); err != nil {
			return Frame{}, buf, err
		}
		f, size, ok, err := SplitFrame(buf, lim)
		if err != nil || ok {
			return f, buf, err
		}
		want = size
	}
}

// readTo reads from r until buf holds want bytes.
func readTo(r io.Reader, buf *[]byte, want int) error {
	const step = 64 << 10
	for len(*buf) < want {
		have := len(*buf)
		next := min(want, max(2*have, step))
		if cap(*buf) < next {
			grown := make([]byte, have, max(next, min(2*cap(*buf), step)))
			copy(grown, *buf)
			*buf = grown
		}
		n, err := io.ReadFull(r, (*buf)[have:next])
		*buf = (*buf)[:have+n]
		if err != nil {
			if err == io.EOF && have > 0 {
				err = io.ErrUnexpectedEOF
			}
			return err
		}
	}
	return nil
}
