package wire

import "encoding/binary"

// RouteRequest is what answering a plain route request (105) takes: the header's
// numbers and a few of its fields, as parts of the header.
type RouteRequest struct {
	Opaque, Flag int32
	// OpaqueDigits is Opaque in decimal, as the answer will write it, if the request
	// had it so: a part of the header that saves writing it anew. Nil if it is not known.
	OpaqueDigits []byte
	Version      Version
	// Topic is never empty. It has no escapes and is ASCII.
	Topic []byte
	// AcceptStrictJSON is set by a field of that name that is "true".
	AcceptStrictJSON bool
	// ZoneMode and ZoneName are the fields of those names, nil if there are none.
	ZoneMode, ZoneName []byte
}

// ReadRouteRequest is the way around [Command.Decode] for the request that makes up
// nearly all traffic. It reads f into q without allocating and reports true if f
// is a route request in the plain form in which clients write it: the fields of q
// are then what Decode would give. Whatever is unusual, from an escape to a number in
// quotes to another code, makes it report false, which says nothing about f: decode it.
//
// The slices in q are parts of f.Header and live as long.
func (q *RouteRequest) ReadRouteRequest(f Frame) bool {
	*q = RouteRequest{}
	if f.Type == BinaryHeader {
		return q.readBinary(f.Header)
	}
	return f.Type == JSONHeader && (q.readUsual(f.Header) || q.readJSON(f.Header))
}

// field takes an extension field; ok is false for one that needs the full decoder.
func (q *RouteRequest) field(name, value []byte) (ok bool) {
	switch string(name) {
	case FieldTopic:
		if q.Topic != nil || len(value) == 0 {
			return false
		}
		q.Topic = value
	case FieldAcceptStrictJSON:
		q.AcceptStrictJSON = equalFoldTrue(value)
	case FieldZoneMode:
		q.ZoneMode = value
	case FieldZoneName:
		q.ZoneName = value
	}
	return true
}

func equalFoldTrue(b []byte) bool {
	return len(b) == 4 && b[0]|0x20 == 't' && b[1]|0x20 == 'r' && b[2]|0x20 == 'u' && b[3]|0x20 == 'e'
}

func (q *RouteRequest) readBinary(h []byte) bool {
	if len(h) < binaryMin || int16(binary.BigEndian.Uint16(h)) != int16(GetRouteInfoByTopic) {
		return false
	}
	q.Version = Version(int16(binary.BigEndian.Uint16(h[3:])))
	q.Opaque = int32(binary.BigEndian.Uint32(h[5:]))
	q.Flag = int32(binary.BigEndian.Uint32(h[9:]))
	if binary.BigEndian.Uint32(h[13:]) != 0 || binary.BigEndian.Uint32(h[17:]) != uint32(len(h)-binaryMin) {
		return false
	}
	for b := h[binaryMin:]; len(b) > 0; {
		if len(b) < fieldMin {
			return false
		}
		key := int(binary.BigEndian.Uint16(b))
		if key == 0 || key > maxKeyLength || key > len(b)-fieldMin {
			return false
		}
		name := b[2 : 2+key : 2+key]
		b = b[2+key:]
		value := int(binary.BigEndian.Uint32(b))
		if value == 0 || value > len(b)-4 {
			return false
		}
		if !plain(name) || !plain(b[4:4+value]) || !q.field(name, b[4:4+value:4+value]) {
			return false
		}
		b = b[4+value:]
	}
	return q.Topic != nil
}

// plain reports whether b is ASCII, so that no byte needs mending.
func plain(b []byte) bool {
	for _, c := range b {
		if c >= 0x80 {
			return false
		}
	}
	return true
}

// The members that a plain header must have, each once, as bits.
const (
	sawCode = 1 << iota
	sawExt
	sawFlag
	sawLanguage
	sawOpaque
	sawRemark
	sawType
	sawVersion

	sawNeeded = sawCode | sawExt | sawOpaque
)

func (q *RouteRequest) readJSON(h []byte) bool {
	s := scanner{b: h}
	saw := 0
	for s.next('{') {
		name := s.text()
		if !s.byte(':') {
			return false
		}
		bit := 0
		switch string(name) {
		case memberCode:
			bit = sawCode
			if s.number() != int64(GetRouteInfoByTopic) {
				return false
			}
		case memberExt:
			bit = sawExt
			if !q.readExt(&s) {
				return false
			}
		case memberFlag:
			bit = sawFlag
			q.Flag = s.int32()
		case memberLanguage:
			bit = sawLanguage
			s.text()
		case memberOpaque:
			bit = sawOpaque
			q.Opaque = s.int32()
		case memberRemark:
			bit = sawRemark
			s.text()
		case memberType:
			bit = sawType
			s.text()
		case memberVersion:
			bit = sawVersion
			q.Version = Version(s.int32())
		}
		if bit == 0 || saw&bit != 0 {
			return false
		}
		saw |= bit
	}
	return !s.bad && s.i == len(h) && saw&sawNeeded == sawNeeded && q.Topic != nil
}

func (q *RouteRequest) readExt(s *scanner) bool {
	inner := scanner{b: s.b, i: s.i}
	n := 0
	for inner.next('{') {
		name := inner.text()
		if !inner.byte(':') {
			return false
		}
		value := inner.text()
		if n++; inner.bad || n > MaxFields || !q.field(name, value) {
			return false
		}
	}
	s.i, s.bad = inner.i, inner.bad
	return !s.bad
}

// scanner reads JSON of the plainest kind: no white space, no escapes, only ASCII.
type scanner struct {
	b       []byte
	i       int
	entered bool
	bad     bool
}

// byte passes over c.
func (s *scanner) byte(c byte) bool {
	if s.bad || s.i >= len(s.b) || s.b[s.i] != c {
		s.bad = true
		return false
	}
	s.i++
	return true
}

// next reports whether another member follows, entering and leaving the object.
func (s *scanner) next(open byte) bool {
	if !s.entered {
		s.entered = true
		if !s.byte(open) {
			return false
		}
		if s.i < len(s.b) && s.b[s.i] == '}' {
			s.i++
			return false
		}
		return true
	}
	if s.bad || s.i >= len(s.b) {
		s.bad = true
		return false
	}
	c := s.b[s.i]
	s.i++
	if c != ',' && c != '}' {
		s.bad = true
	}
	return c == ','
}

// text reads a text that stands for itself.
func (s *scanner) text() []byte {
	if !s.byte('"') {
		return nil
	}
	for i := s.i; i < len(s.b); i++ {
		switch c := s.b[i]; {
		case c == '"':
			text := s.b[s.i:i:i]
			s.i = i + 1
			return text
		case c == '\\' || c >= 0x80:
			s.bad = true
			return nil
		}
	}
	s.bad = true
	return nil
}

// number reads a whole number of at most ten digits.
func (s *scanner) number() int64 {
	i := s.i
	negative := i < len(s.b) && s.b[i] == '-'
	if negative {
		i++
	}
	start := i
	n := int64(0)
	for i < len(s.b) && isDigit(s.b[i]) && i-start <= 10 {
		n = n*10 + int64(s.b[i]-'0')
		i++
	}
	if i == start || i-start > 10 || s.bad {
		s.bad = true
		return 0
	}
	s.i = i
	if negative {
		return -n
	}
	return n
}

func (s *scanner) int32() int32 {
	n := s.number()
	if n != int64(int32(n)) {
		s.bad = true
	}
	return int32(n)
}
