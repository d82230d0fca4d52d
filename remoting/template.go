package remoting

import (
	"bytes"
	"encoding/binary"
	"strconv"

	"fingerpost/remoting/wire"
)

// template is the frame of an answer with nothing but a code, and perhaps a remark,
// cut where the opaque and the remark go, so that the answers that matter for speed
// are put together from ready pieces. The pieces are made by the one encoder.
type template struct {
	binary bool
	// JSON: head, opaque, middle, remark (escaped), tail.
	head, middle, tail []byte
	// binary: head with the opaque at opaqueAt and, if there is a remark, its
	// length at the end; then the remark and tail.
	opaqueAt int
	remark   bool
}

const (
	markOpaque = 123454321
	markRemark = "@remark@"
)

func newTemplate(t wire.HeaderType, code wire.ResponseCode, remark bool) template {
	cmd := wire.Response(code, markOpaque)
	if remark {
		cmd.Remark, cmd.HasRemark = markRemark, true
	}
	frame, err := cmd.AppendTo(nil, t)
	if err != nil {
		panic(err) //nolint:forbidigo // a constant that cannot be encoded
	}
	out := template{binary: t == wire.BinaryHeader, remark: remark}
	rest := frame[8:]
	if remark {
		at := bytes.Index(rest, []byte(markRemark))
		out.tail = bytes.Clone(rest[at+len(markRemark):])
		rest = rest[:at]
	}
	if out.binary {
		out.head = bytes.Clone(rest)
		out.opaqueAt = 5
		return out
	}
	digits := []byte(strconv.Itoa(markOpaque))
	at := bytes.Index(rest, digits)
	out.head, out.middle = bytes.Clone(rest[:at]), bytes.Clone(rest[at+len(digits):])
	return out
}

// appendSuccess appends the frame of an answer with a body to a request whose opaque may
// be there in digits.
func (t *template) appendSuccess(dst []byte, q *wire.RouteRequest, body []byte) []byte {
	if t.binary || q.OpaqueDigits == nil {
		return t.appendTo(dst, q.Opaque, "", "", "", body)
	}
	header := len(t.head) + len(q.OpaqueDigits) + len(t.middle)
	dst = append(dst, 0, 0, 0, 0, 0, 0, 0, 0)
	putLengths(dst[len(dst)-8:], 8+header+len(body), header)
	dst = append(dst, t.head...)
	dst = append(dst, q.OpaqueDigits...)
	dst = append(dst, t.middle...)
	return append(dst, body...)
}

// appendTo appends the frame of an answer. The remark, which must need no escape, is
// given in parts; there is none unless the template was made for one.
func (t *template) appendTo(dst []byte, opaque int32, remark1, remark2, remark3 string, body []byte) []byte {
	start := len(dst)
	dst = append(dst, 0, 0, 0, 0, 0, 0, 0, 0)
	dst = append(dst, t.head...)
	if t.binary {
		h := dst[start+8:]
		binary.BigEndian.PutUint32(h[t.opaqueAt:], uint32(opaque))
		if t.remark {
			binary.BigEndian.PutUint32(h[len(h)-4:], uint32(len(remark1)+len(remark2)+len(remark3)))
		}
	} else {
		dst = strconv.AppendInt(dst, int64(opaque), 10)
		dst = append(dst, t.middle...)
	}
	if t.remark {
		dst = append(dst, remark1...)
		dst = append(dst, remark2...)
		dst = append(dst, remark3...)
		dst = append(dst, t.tail...)
	}
	header := len(dst) - start - 8
	putLengths(dst[start:], 8+header+len(body), header)
	if t.binary {
		dst[start+4] = byte(wire.BinaryHeader)
	}
	return append(dst, body...)
}

// appendMiss appends the answer to a route request for a topic that nobody serves. The
// topic is not a string yet and needs no escape.
func (t *template) appendMiss(dst []byte, opaque int32, topic []byte) []byte {
	help := escapedNoRouteHelp
	if t.binary {
		help = remarkNoRouteHelp
	}
	start := len(dst)
	dst = t.appendTo(dst, opaque, remarkNoRoute, "", help, nil)
	// The topic goes in front of the help: make room and move the end.
	end := len(help) + len(t.tail)
	at := len(dst) - end
	dst = append(dst, topic...)
	copy(dst[at+len(topic):], dst[at:at+end])
	copy(dst[at:], topic)
	frame := dst[start:]
	putLengths(frame, len(frame), len(frame)-8)
	if t.binary {
		frame[4] = byte(wire.BinaryHeader)
		binary.BigEndian.PutUint32(frame[8+len(t.head)-4:], uint32(len(remarkNoRoute)+len(topic)+len(help)))
	}
	return dst
}

// putLengths writes the two lengths at the beginning of a frame with a JSON header.
func putLengths(frame []byte, size, header int) {
	binary.BigEndian.PutUint32(frame, uint32(size-4))
	binary.BigEndian.PutUint32(frame[4:], uint32(header))
}
