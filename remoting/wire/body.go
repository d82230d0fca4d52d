package wire

import (
	"fmt"
	"hash/crc32"
	"strconv"
)

// BodyError is a body that cannot be read.
type BodyError struct {
	// Body says which, such as "register body".
	Body string
	// Offset is the place where reading ended, in the inflated bytes of a compressed
	// body; -1 if it is no place.
	Offset int
	// Reason says what was wrong there.
	Reason string
	// Limit is set when the body exceeds what we take: inflated bytes, topics,
	// mappings. Such a body may be well formed.
	Limit bool
}

// Error says which body, where and why.
func (e *BodyError) Error() string {
	if e.Offset < 0 {
		return e.Body + ": " + e.Reason
	}
	return fmt.Sprintf("%s, byte %d: %s", e.Body, e.Offset, e.Reason)
}

// bodyError returns the cursor's error as that of a body, or nil.
func (r *cursor) bodyError(body string) error {
	if r.err == nil {
		return nil
	}
	return &BodyError{Body: body, Offset: r.err.Offset, Reason: r.err.Reason, Limit: r.err.Limit}
}

// BodyCRC returns the checksum of a body as the field bodyCrc32 of 103 carries it:
// CRC-32 (IEEE) over the bytes as sent, compressed or not, with the top bit cleared.
// A field of 0 means that nothing is to be checked.
func BodyCRC(body []byte) int32 { return int32(crc32.ChecksumIEEE(body) & 0x7FFFFFFF) }

// DataVersion is when a broker last changed its topics. Two are compared for
// equality and nothing else.
type DataVersion struct {
	// StateVersion rises with each change of role; brokers before 5.0 leave it 0.
	StateVersion int64
	// Timestamp is in milliseconds since 1970.
	Timestamp int64
	// Counter rises with each change.
	Counter int64
}

// AppendJSON appends v as the body of 322 and its answer have it.
func (v DataVersion) AppendJSON(dst []byte) []byte {
	dst = append(dst, `{"counter":`...)
	dst = strconv.AppendInt(dst, v.Counter, 10)
	dst = append(dst, `,"stateVersion":`...)
	dst = strconv.AppendInt(dst, v.StateVersion, 10)
	dst = append(dst, `,"timestamp":`...)
	dst = strconv.AppendInt(dst, v.Timestamp, 10)
	return append(dst, '}')
}

// DecodeDataVersion reads the body of 322 or of its answer. ok is false if there is
// none: no body, or null. A missing timestamp is now, in milliseconds, as Java has
// it; the other members are 0.
func DecodeDataVersion(body []byte, now int64) (v DataVersion, ok bool, err error) {
	if len(body) == 0 {
		return v, false, nil
	}
	r := &cursor{b: body}
	r.document(func(r *cursor) {
		if ok = !r.absent(); ok {
			v = r.dataVersion(now)
		}
	})
	if err := r.bodyError("data version"); err != nil {
		return DataVersion{}, false, err
	}
	return v, ok, nil
}

func (r *cursor) dataVersion(now int64) DataVersion {
	v := DataVersion{Timestamp: now}
	r.open('{')
	for r.more('}') {
		switch string(r.name()) {
		case "counter":
			v.Counter = r.int64()
		case "stateVersion":
			v.StateVersion = r.int64()
		case "timestamp":
			v.Timestamp = r.int64()
		default:
			r.skip()
		}
	}
	return v
}
