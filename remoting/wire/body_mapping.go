package wire

import (
	"bytes"
	"cmp"
	"strconv"
	"unicode/utf8"
)

// TopicMapping says which logical queues of a static topic a broker holds.
type TopicMapping struct {
	// Topic is what the mapping itself says; empty and left out where it does not.
	Topic       string
	Broker      string // the broker's name, "bname"
	Scope       string // HasScope tells "" from none; Java's default is "__global__"
	HasScope    bool
	Epoch       int64
	TotalQueues int32
	Dirty       bool
	// IDs are the queues, logical to physical, ascending by the former.
	IDs []QueueID
}

// QueueID is one queue of a static topic.
type QueueID struct {
	Logical, Physical int32
}

const defaultScope = "__global__"

// maxSafeInt is the largest integer that a reader with floating point numbers can
// tell from its neighbours; the strict dialect puts larger ones in quotes.
const maxSafeInt = 1<<53 - 1

// AppendJSON appends the mapping as it stands in a registration and in a route.
func (m *TopicMapping) AppendJSON(dst []byte, d Dialect) []byte {
	dst = append(dst, '{')
	if m.Broker != "" {
		dst = append(dst, `"bname":`...)
		dst = AppendString(dst, m.Broker)
		dst = append(dst, ',')
	}
	dst = append(dst, `"currIdMap":{`...)
	ids := sorted(m.IDs, func(a, b QueueID) int { return cmp.Compare(a.Logical, b.Logical) })
	for i, id := range ids {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendKey(dst, int64(id.Logical), d)
		dst = strconv.AppendInt(dst, int64(id.Physical), 10)
	}
	dst = append(dst, `},"dirty":`...)
	dst = strconv.AppendBool(dst, m.Dirty)
	dst = append(dst, `,"epoch":`...)
	if d == Strict && (m.Epoch > maxSafeInt || m.Epoch < -maxSafeInt) {
		dst = append(dst, '"')
		dst = strconv.AppendInt(dst, m.Epoch, 10)
		dst = append(dst, '"')
	} else {
		dst = strconv.AppendInt(dst, m.Epoch, 10)
	}
	if m.HasScope || m.Scope != "" {
		dst = append(dst, `,"scope":`...)
		dst = AppendString(dst, m.Scope)
	}
	if m.Topic != "" {
		dst = append(dst, `,"topic":`...)
		dst = AppendString(dst, m.Topic)
	}
	dst = append(dst, `,"totalQueues":`...)
	dst = strconv.AppendInt(dst, int64(m.TotalQueues), 10)
	return append(dst, '}')
}

// mapping reads a mapping into m. IDs is reused.
func (r *cursor) mapping(m *TopicMapping, intern func([]byte) string) {
	*m = TopicMapping{Scope: defaultScope, HasScope: true, IDs: m.IDs[:0]}
	r.open('{')
	for r.more('}') {
		switch string(r.name()) {
		case "bname":
			m.Broker, _ = r.interned(intern)
		case "topic":
			m.Topic, _ = r.interned(intern)
		case "scope":
			m.Scope, m.HasScope = r.interned(intern)
		case "epoch":
			m.Epoch = r.int64()
		case "totalQueues":
			m.TotalQueues = r.int32()
		case "dirty":
			m.Dirty = r.boolean()
		case "currIdMap":
			m.IDs = r.queueIDs(m.IDs[:0])
		default:
			r.skip()
		}
	}
}

// queueIDs reads the numbers of queues. Of two with one key the later one counts.
func (r *cursor) queueIDs(ids []QueueID) []QueueID {
	if r.absent() {
		return ids
	}
	r.open('{')
	for r.more('}') {
		logical := r.nameNumber()
		if logical != int64(int32(logical)) {
			r.fail("name beyond 32 bits")
		}
		ids = append(ids, QueueID{int32(logical), r.int32()})
	}
	return lastOfEach(ids, func(a, b QueueID) int { return cmp.Compare(a.Logical, b.Logical) })
}

// interned is text through the caller's intern function.
func (r *cursor) interned(intern func([]byte) string) (string, bool) {
	text, ok := r.text()
	if !ok || r.bad() {
		return "", false
	}
	if !utf8.Valid(text) {
		text = bytes.ToValidUTF8(text, []byte(notUTF8))
		r.start = -1
	}
	return intern(text), true
}
