package web

import (
	"bytes"

	"fingerpost/api"
	"fingerpost/internal/convert"
	"fingerpost/registry"
)

// maker makes the frames of one batch. What several channels need is made once.
type maker struct {
	v    *convert.View
	open map[*registry.Change]encodedSet
}

type encodedSet struct {
	set  api.ChangeSet
	json []byte
}

func (f *Feed) newMaker() *maker {
	return &maker{v: f.view(f.o.Registry.Snapshot()), open: make(map[*registry.Change]encodedSet)}
}

func (m *maker) encode(c *registry.Change, f *convert.Filter) (encodedSet, bool) {
	if e, ok := m.open[c]; ok && f == nil {
		return e, true
	}
	set, ok := m.v.ChangeSet(c, f, convert.StreamLimit)
	if !ok {
		return encodedSet{}, false
	}
	e := encodedSet{set, mustJSON(set)}
	if f == nil {
		m.open[c] = e
	}
	return e, true
}

// frames returns what a channel is told of the items: of those that a subscription does
// not have yet, if it is not nil. There is none if nothing passes its filter.
func (m *maker) frames(ch *channel, items []*registry.Change, sub *subscription) []entry {
	var out []entry
	var part []encodedSet
	size := 0
	for _, c := range items {
		if sub != nil && (c.Step && c.Revision <= sub.from || c.Number <= sub.told) {
			continue
		}
		e, ok := m.encode(c, ch.filter)
		if !ok {
			continue
		}
		if size > 0 && size+len(e.json) > maxFrame {
			out = append(out, m.frame(ch, part))
			part, size = nil, 0
		}
		part = append(part, e)
		size += len(e.json)
	}
	if len(part) > 0 {
		out = append(out, m.frame(ch, part))
	}
	return out
}

// frame writes one message of changes around sets that are encoded already.
func (m *maker) frame(ch *channel, part []encodedSet) entry {
	head := mustJSON(api.FeedMessage{Op: opChanges, ID: ch.id, Revision: part[len(part)-1].set.Revision, Time: api.TimeOf(m.v.Now)})
	var b bytes.Buffer
	b.Write(head[:len(head)-1])
	b.WriteString(`,"items":[`)
	for i, e := range part {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(e.json)
	}
	b.WriteByte(']')
	if groups := m.groups(part); len(groups) > 0 {
		b.WriteString(`,"groups":`)
		b.Write(mustJSON(groups))
	}
	if facts := m.facts(part); len(facts) > 0 {
		b.WriteString(`,"facts":`)
		b.Write(mustJSON(facts))
	}
	b.WriteByte('}')
	return entry{frame: b.Bytes(), sets: len(part), loss: true}
}

func (m *maker) groups(part []encodedSet) []api.FeedGroup {
	var out []api.FeedGroup
	done := make(map[string]bool)
	for _, e := range part {
		for _, c := range e.set.Changes {
			if c.Kind != api.KindMember || done[c.BrokerName] {
				continue
			}
			done[c.BrokerName] = true
			group := api.FeedGroup{BrokerName: c.BrokerName, Members: []api.Member{}}
			if g := m.v.Group(c.BrokerName); g != nil {
				for _, member := range g.Members {
					group.Members = append(group.Members, m.v.Member(g, member))
				}
			}
			out = append(out, group)
		}
	}
	return out
}

func (m *maker) facts(part []encodedSet) []api.FeedFacts {
	var out []api.FeedFacts
	done := make(map[string]bool)
	for _, e := range part {
		for _, c := range e.set.Changes {
			if c.Kind != api.KindTopic || done[c.Topic] {
				continue
			}
			done[c.Topic] = true
			t := m.v.Snapshot.Topic(c.Topic)
			if t == nil {
				continue
			}
			if facts := factsOf(m.v, t); facts != (api.FeedTopicFacts{}) {
				out = append(out, api.FeedFacts{Topic: c.Topic, FeedTopicFacts: facts})
			}
		}
	}
	return out
}
