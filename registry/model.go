package registry

import (
	"hash/maphash"
	"slices"
	"strings"
)

// Bits of a perm, as RocketMQ numbers them.
const (
	PermInherit  = 1
	PermWrite    = 2
	PermRead     = 4
	PermPriority = 8
	// PermReadWrite is what Java's addWritePerm sets and what a topic without a
	// registered perm gets back.
	PermReadWrite = PermRead | PermWrite
)

// Bits of a topic's system flag.
const (
	// FlagUnit marks a topic of a unit.
	FlagUnit = 1
	// FlagUnitSub marks a topic with subscriptions from a unit.
	FlagUnitSub = 2
)

// DataVersion says which state of its topics a broker speaks of. Versions are
// only ever compared for equality, the state also for order.
type DataVersion struct {
	// State is raised by a change of mastership; it is 0 for 4.x brokers.
	State int64
	// Timestamp is in milliseconds since 1970, by the broker's clock.
	Timestamp int64
	// Counter is raised by every change of the broker's topics.
	Counter int64
}

// TopicConfig is what a broker says of one topic. It is comparable: two brokers
// that say the same have equal values.
type TopicConfig struct {
	QueueSpec
	// Order tells that the broker keeps the topic's order; it is not part of a route.
	Order bool
	// MultiTag is true for topicFilterType MULTI_TAG.
	MultiTag bool
	// Attributes are the topic's attributes as sorted lines of key=value, so that
	// equal sets are equal strings; see [FormatAttributes].
	Attributes string
}

// FormatAttributes returns the canonical text of a set of attributes.
func FormatAttributes(attrs map[string]string) string {
	if len(attrs) == 0 {
		return ""
	}
	lines := make([]string, 0, len(attrs))
	for k, v := range attrs {
		lines = append(lines, k+"="+v)
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// Attribute returns one attribute of the topic, such as "message.type", and
// whether the broker gave it. Brokers write the name with a leading + when they
// set it; that form is found too.
func (c TopicConfig) Attribute(name string) (string, bool) {
	for line := range strings.SplitSeq(c.Attributes, "\n") {
		if k, v, ok := strings.Cut(line, "="); ok && strings.TrimPrefix(k, "+") == name {
			return v, true
		}
	}
	return "", false
}

// Listed is one topic as a broker listed it. Values are shared between brokers
// that list the same and must not be changed.
type Listed struct {
	Name   string
	Config TopicConfig
	h      uint64
}

func (l *Listed) key() string  { return l.Name }
func (l *Listed) hash() uint64 { return l.h }

// QueueSpec is what clients are told of a broker's queues of one topic.
type QueueSpec struct {
	ReadQueues, WriteQueues int32
	Perm                    int32
	SysFlag                 int32
}

// Writable reports whether producers may use the queues.
func (q QueueSpec) Writable() bool { return q.Perm&PermWrite != 0 }

// Readable reports whether consumers may use the queues.
func (q QueueSpec) Readable() bool { return q.Perm&PermRead != 0 }

// QueueData is one broker's part of a topic's route.
type QueueData struct {
	Broker string
	QueueSpec
}

// Mapping is one broker's part of a static topic: which logical queues it carries.
type Mapping struct {
	// Topic is the one the mapping stands under. Said is what it says itself, which
	// is the same or "".
	Topic, Said string
	Broker      string
	TotalQueues int32
	Epoch       int64
	Scope       string
	HasScope    bool
	Dirty       bool
	// CurrIDs maps logical queue ids to the broker's own, sorted by the former.
	CurrIDs []QueueID
}

// QueueID is one pair of a static topic's mapping: a logical queue and the
// physical queue that carries it.
type QueueID struct{ Logical, Physical int32 }

func (m *Mapping) equal(o *Mapping) bool {
	return m.Topic == o.Topic && m.Said == o.Said && m.HasScope == o.HasScope && m.Broker == o.Broker && m.TotalQueues == o.TotalQueues && m.Epoch == o.Epoch &&
		m.Scope == o.Scope && m.Dirty == o.Dirty && slices.Equal(m.CurrIDs, o.CurrIDs)
}

// Topic is one topic at one revision. It is immutable but for the remembered route.
type Topic struct {
	// Name is the topic's name as registered, of any characters.
	Name string
	// Revision and ChangedMillis (since 1970) tell when the topic's own data last changed.
	Revision      uint64
	ChangedMillis int64
	layout        *layout
	mappings      []*Mapping // sorted by broker
	listed        []*Listed  // a few values that brokers listed, kept to share them
	own           routeMemo  // used when the layout alone does not decide the route
	h             uint64
}

func (t *Topic) key() string  { return t.Name }
func (t *Topic) hash() uint64 { return t.h }

// Queues returns the queue data of each broker, sorted by broker name. The slice is shared.
func (t *Topic) Queues() []QueueData { return t.layout.queues }

// Mappings returns the parts of a static topic, sorted by broker; nil for an ordinary one.
func (t *Topic) Mappings() []*Mapping { return t.mappings }

// Queue returns the broker's queue data and whether it has any.
func (t *Topic) Queue(broker string) (QueueData, bool) {
	if q := t.layout.find(broker); q != nil {
		return *q, true
	}
	return QueueData{}, false
}

// layout is the queue data of a topic. Topics with equal data share one layout, and
// with it one remembered route: a route's bytes do not name the topic.
type layout struct {
	queues []QueueData // sorted by broker
	sum    uint64      // sum of the entries' hashes: equal contents have equal sums
	route  routeMemo
}

func (l *layout) find(broker string) *QueueData {
	if i, ok := l.at(broker); ok {
		return &l.queues[i]
	}
	return nil
}

func (l *layout) at(broker string) (int, bool) {
	return slices.BinarySearchFunc(l.queues, broker, func(q QueueData, b string) int { return strings.Compare(q.Broker, b) })
}

func hashQueue(q QueueData) uint64 { return maphash.Comparable(seed, q) }
