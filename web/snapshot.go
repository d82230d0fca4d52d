package web

import (
	"encoding/json"
	"iter"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"fingerpost/api"
	"fingerpost/internal/convert"
	"fingerpost/registry"
)

// maxFrame is where a frame ends and the next begins. Frames may be 256 KiB long;
// what is added last is far below the difference.
const maxFrame = 200 << 10

// outlineFrom is how many topics make an outline worth a frame of its own.
const outlineFrom = 1000

// snapshotFrames yields the frames of a snapshot. They are made while they are
// written, so that a socket holds one of them at a time.
type snapshotFrames = iter.Seq[[]byte]

// snapshotKept is how long a snapshot is young enough for others.
const snapshotKept = time.Second

// sharedSnapshot keeps the frames of a whole snapshot for all that ask within a
// second: after a restart every page asks at once. Whoever comes first to the end of
// what is there makes the next frame.
type sharedSnapshot struct {
	id   string
	view *convert.View
	at   time.Time

	mu     sync.Mutex
	writer *snapshotWriter
	made   [][]byte
}

func (s *sharedSnapshot) frames() snapshotFrames {
	return func(yield func([]byte) bool) {
		for i := 0; ; i++ {
			b := s.frame(i)
			if b == nil || !yield(b) {
				return
			}
		}
	}
}

// frame returns the frame at a place, or nil behind the last.
func (s *sharedSnapshot) frame(i int) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.writer == nil {
		s.writer = newSnapshotWriter(s.view, s.id, nil)
	}
	if i == len(s.made) {
		b := s.writer.next()
		if b == nil {
			return nil
		}
		s.made = append(s.made, b)
	}
	return s.made[i]
}

// frameSnapshot yields what passes the filter of a snapshot as frames.
func frameSnapshot(v *convert.View, id string, f *convert.Filter) snapshotFrames {
	return func(yield func([]byte) bool) {
		w := newSnapshotWriter(v, id, f)
		for b := w.next(); b != nil && yield(b); {
			b = w.next()
		}
	}
}

// snapshotWriter makes one frame after the other: members first, which a reader wants to
// show at once, then topics.
type snapshotWriter struct {
	v      *convert.View
	id     string
	filter *convert.Filter
	groups []*registry.Group // that are still to come
	topics []*registry.Topic // likewise, once listed is set
	listed bool
	first  bool
	done   bool
	part   api.FeedSnapshot
	size   int
	// layouts are numbered by identity: topics with equal queues share one slice.
	layouts map[*registry.QueueData]int
}

func newSnapshotWriter(v *convert.View, id string, f *convert.Filter) *snapshotWriter {
	w := &snapshotWriter{v: v, id: id, filter: f, first: true, layouts: make(map[*registry.QueueData]int)}
	for _, g := range v.Groups() {
		if wantsGroup(v, f, g) {
			w.groups = append(w.groups, g)
		}
	}
	return w
}

// list finds the topics, in order of name. Nobody waits for that to see the members.
func (w *snapshotWriter) list() {
	w.listed = true
	names := w.v.TopicNames()
	w.topics = make([]*registry.Topic, 0, len(names))
	for _, name := range names {
		if t := w.v.Snapshot.Topic(name); wantsTopic(w.v, w.filter, t) {
			w.topics = append(w.topics, t)
		}
	}
}

// outline counts the topics, or returns nil if they are too few for that.
func (w *snapshotWriter) outline() *api.FeedOutline {
	if w.v.TopicCount() < outlineFrom || !wants(w.filter, api.KindTopic) {
		return nil
	}
	topics := w.v.Topics()
	if w.filter != nil {
		w.list()
		topics = slices.Values(w.topics)
	}
	if out := outlineOf(topics); out.Topics >= outlineFrom {
		return out
	}
	return nil
}

// next returns the next frame, or nil behind the last.
func (w *snapshotWriter) next() []byte {
	if w.done {
		return nil
	}
	for len(w.groups) > 0 {
		w.group(w.groups[0])
		if w.groups = w.groups[1:]; len(w.groups) == 0 {
			if w.part.Outline = w.outline(); w.part.Outline != nil {
				return w.flush(false)
			}
		}
		if w.size >= maxFrame {
			return w.flush(false)
		}
	}
	if !w.listed && wants(w.filter, api.KindTopic) {
		w.list()
	}
	for len(w.topics) > 0 {
		w.topic(w.topics[0])
		if w.topics = w.topics[1:]; w.size >= maxFrame {
			return w.flush(false)
		}
	}
	w.done = true
	return w.flush(true)
}

func (w *snapshotWriter) group(g *registry.Group) {
	if wants(w.filter, api.KindMember) {
		for _, m := range g.Members {
			w.part.Members = append(w.part.Members, w.v.Member(g, m))
			w.size += 700
		}
	}
	if p := w.v.Wiped(g.Name); p != nil && wants(w.filter, api.KindWritePerm) {
		w.part.WritePerms = append(w.part.WritePerms, api.FeedWritePerm{
			BrokerName: g.Name, Since: api.TimeOf(p.At), Actor: p.Cause.Actor, TopicCount: p.Topics,
		})
		w.size += 300
	}
}

func (w *snapshotWriter) topic(t *registry.Topic) {
	w.part.Topics = append(w.part.Topics, api.FeedTopic{
		Topic: t.Name, Layout: w.layout(t.Queues()), UpdatedAt: api.TimeOf(time.UnixMilli(t.ChangedMillis)), FeedTopicFacts: factsOf(w.v, t),
	})
	w.size += 90 + len(strconv.Quote(t.Name))
}

// outlineOf counts topics. Those with equal queues share one slice, so slices are counted
// first and read once.
func outlineOf(topics iter.Seq[*registry.Topic]) *api.FeedOutline {
	total := 0
	lists := make(map[*registry.QueueData]int)
	counts := make(map[string]*api.FeedBrokerOutline)
	queues := make(map[*registry.QueueData][]registry.QueueData)
	for t := range topics {
		total++
		qs := t.Queues()
		lists[&qs[0]]++
		queues[&qs[0]] = qs
	}
	for first, n := range lists {
		writable := slices.ContainsFunc(queues[first], func(q registry.QueueData) bool { return q.Perm&registry.PermWrite != 0 })
		for _, q := range queues[first] {
			c := counts[q.Broker]
			if c == nil {
				c = &api.FeedBrokerOutline{BrokerName: q.Broker}
				counts[q.Broker] = c
			}
			if c.TopicCount += n; !writable {
				c.Unwritable += n
			}
		}
	}
	out := &api.FeedOutline{Topics: total, Brokers: make([]api.FeedBrokerOutline, 0, len(counts))}
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		out.Brokers = append(out.Brokers, *counts[name])
	}
	return out
}

func (w *snapshotWriter) layout(qs []registry.QueueData) int {
	if n, ok := w.layouts[&qs[0]]; ok {
		return n
	}
	n := len(w.layouts)
	w.layouts[&qs[0]] = n
	out := make([]api.QueueData, len(qs))
	for i, q := range qs {
		out[i] = api.QueueData{BrokerName: q.Broker, Perm: q.Perm, ReadQueueNums: q.ReadQueues, WriteQueueNums: q.WriteQueues, TopicSysFlag: q.SysFlag}
		w.size += 110 + len(q.Broker)
	}
	w.part.Layouts = append(w.part.Layouts, out)
	return n
}

func (w *snapshotWriter) flush(last bool) []byte {
	part := w.part
	part.First, part.Last = w.first, last
	w.first, w.size, w.part = false, 0, api.FeedSnapshot{}
	return mustJSON(api.FeedMessage{Op: opSnapshot, ID: w.id, Revision: w.v.At(), FeedSnapshot: &part})
}

// factsOf returns what brokers said of a topic beside its queues.
func factsOf(v *convert.View, t *registry.Topic) api.FeedTopicFacts {
	out := api.FeedTopicFacts{Mapping: t.Mappings() != nil}
	if mt := v.MessageType(t); mt != messageNormal {
		out.MessageType = mt
	}
	for _, q := range t.Queues() {
		if c, ok := v.Registered(q.Broker, t.Name); ok && c.Order {
			out.Order = true
			break
		}
	}
	return out
}

// messageNormal is the type of a topic of which nothing else is known.
const messageNormal = "NORMAL"

// mustJSON encodes a message. Its types hold nothing that cannot be encoded.
func mustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic("web: encode a message: " + err.Error())
	}
	return b
}
