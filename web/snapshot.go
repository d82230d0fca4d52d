package web

import (
	"encoding/json"
	"iter"
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

// snapshotFrames yields the frames of a snapshot. They are made while they are
// written, so that a socket holds one of them at a time.
type snapshotFrames = iter.Seq[[]byte]

// sharedSnapshot keeps the frames of a whole snapshot for all that ask within a
// second: after a restart every page asks at once.
type sharedSnapshot struct {
	id   string
	view *convert.View
	at   time.Time
	once sync.Once
	made [][]byte
}

func (s *sharedSnapshot) frames() snapshotFrames {
	return func(yield func([]byte) bool) {
		s.once.Do(func() {
			for b := range frameSnapshot(s.view, s.id, nil) {
				s.made = append(s.made, b)
			}
		})
		for _, b := range s.made {
			if !yield(b) {
				return
			}
		}
	}
}

// frameSnapshot yields what passes the filter of a snapshot as frames.
func frameSnapshot(v *convert.View, id string, f *convert.Filter) snapshotFrames {
	return func(yield func([]byte) bool) {
		w := &snapshotWriter{v: v, id: id, first: true, yield: yield}
		_ = w.brokers(f) && w.topics(f) && w.flush(true)
	}
}

type snapshotWriter struct {
	v     *convert.View
	id    string
	first bool
	yield func([]byte) bool
	part  api.FeedSnapshot
	size  int
	// layouts are numbered by identity: topics with equal queues share one slice.
	layouts map[*registry.QueueData]int
}

func (w *snapshotWriter) brokers(f *convert.Filter) bool {
	members, wipes := wants(f, api.KindMember), wants(f, api.KindWritePerm)
	for _, g := range w.v.Groups() {
		if !wantsGroup(w.v, f, g) {
			continue
		}
		for _, m := range g.Members {
			if members {
				w.part.Members = append(w.part.Members, w.v.Member(g, m))
				w.size += 700
			}
		}
		if p := w.v.Wiped(g.Name); p != nil && wipes {
			w.part.WritePerms = append(w.part.WritePerms, api.FeedWritePerm{
				BrokerName: g.Name, Since: api.TimeOf(p.At), Actor: p.Cause.Actor, TopicCount: p.Topics,
			})
			w.size += 300
		}
		if w.size >= maxFrame && !w.flush(false) {
			return false
		}
	}
	return true
}

func (w *snapshotWriter) topics(f *convert.Filter) bool {
	if !wants(f, api.KindTopic) {
		return true
	}
	w.layouts = make(map[*registry.QueueData]int)
	for _, name := range w.v.TopicNames() {
		t := w.v.Snapshot.Topic(name)
		if !wantsTopic(w.v, f, t) {
			continue
		}
		w.part.Topics = append(w.part.Topics, api.FeedTopic{
			Topic: name, Layout: w.layout(t.Queues()), UpdatedAt: api.TimeOf(time.UnixMilli(t.ChangedMillis)), FeedTopicFacts: factsOf(w.v, t),
		})
		w.size += 90 + len(strconv.Quote(name))
		if w.size >= maxFrame && !w.flush(false) {
			return false
		}
	}
	return true
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

func (w *snapshotWriter) flush(last bool) bool {
	part := w.part
	part.First, part.Last = w.first, last
	frame := mustJSON(api.FeedMessage{Op: opSnapshot, ID: w.id, Revision: w.v.At(), FeedSnapshot: &part})
	w.first, w.size, w.part = false, 0, api.FeedSnapshot{}
	return w.yield(frame)
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
