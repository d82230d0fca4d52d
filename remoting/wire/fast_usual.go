package wire

import "bytes"

// The pieces of the header that Java clients of every version since 4.0 write for a
// route request, around the topic, the opaque and the version.
const (
	usualHead   = `{"code":105,"extFields":{"topic":"`
	usualMiddle = `"},"flag":0,"language":"JAVA","opaque":`
	usualTail   = `,"serializeTypeCurrentRPC":"JSON","version":`
)

// readUsual reads exactly that header, comparing whole pieces, and reports whether it
// was one. It is what nearly every route request has.
func (q *RouteRequest) readUsual(h []byte) bool {
	if len(h) < len(usualHead) || string(h[:len(usualHead)]) != usualHead {
		return false
	}
	h = h[len(usualHead):]
	end := bytes.IndexByte(h, '"')
	if end <= 0 || len(h)-end < len(usualMiddle) || string(h[end:end+len(usualMiddle)]) != usualMiddle {
		return false
	}
	topic := h[:end:end]
	for _, c := range topic {
		if c >= 0x80 || c == '\\' {
			return false
		}
	}
	h = h[end+len(usualMiddle):]
	opaque, rest, ok := leadingInt32(h)
	digits := h[:len(h)-len(rest)]
	h = rest
	if !ok || len(h) < len(usualTail) || string(h[:len(usualTail)]) != usualTail {
		return false
	}
	version, h, ok := leadingInt32(h[len(usualTail):])
	if !ok || len(h) != 1 || h[0] != '}' {
		return false
	}
	q.Topic, q.Opaque, q.Version = topic, opaque, Version(version)
	// With a zero in front, the answer would write it differently.
	if opaque > 0 && digits[0] != '0' {
		q.OpaqueDigits = digits
	}
	return true
}

// leadingInt32 reads a whole number of at most ten digits that fits.
func leadingInt32(b []byte) (n int32, rest []byte, ok bool) {
	i := 0
	negative := len(b) > 0 && b[0] == '-'
	if negative {
		i++
	}
	start := i
	wide := int64(0)
	for i < len(b) && b[i]-'0' <= 9 {
		wide = wide*10 + int64(b[i]-'0')
		if i++; i-start > 10 {
			return 0, nil, false
		}
	}
	if negative {
		wide = -wide
	}
	n = int32(wide)
	return n, b[i:], i > start && int64(n) == wide
}
