package registry

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"maps"
	"slices"
	"sync"
)

// Digests identify what a snapshot holds: 16 hexadecimal digits each, from a SHA-256 of
// the content in a fixed order. They are equal on two nodes that hold the same and do
// not depend on the process, its revisions, its clock or its settings. Topics covers
// queue data, what was registered for it, and mappings; Brokers covers groups, standing
// wipes and what members registered, but not through which face; All covers all.
type Digests struct{ All, Topics, Brokers, KV string }

// Digests returns the digests of the snapshot's tables. The first call after a change to
// a table reads all of it, further ones for the same content cost nothing.
func (s *Snapshot) Digests() Digests {
	t, b, kv := s.sums.topics.get(s.sumTopics), s.sums.brokers.get(s.sumGroups), s.sums.kv.get(s.sumKV)
	e := newSummer()
	e.buf = append(append(append(e.buf, t[:]...), b[:]...), kv[:]...)
	return Digests{All: digest(e.sum()), Topics: digest(t), Brokers: digest(b), KV: digest(kv)}
}

// Digest returns the digest of all that the snapshot holds.
func (s *Snapshot) Digest() string { return s.Digests().All }

// RouteDigest returns the digest of a topic's route as this node answers it, remembered
// with the route. Topics with equal routes have equal ones: the name is not part of it.
func (s *Snapshot) RouteDigest(t *Topic) string {
	rt := s.RouteOf(t)
	if d := rt.digest.Load(); d != nil {
		return *d
	}
	e := newSummer()
	e.num(int64(len(rt.Brokers)))
	for _, b := range rt.Brokers {
		e.text(b.Name, b.Cluster, b.Zone)
		e.flag(b.HasZone, b.Acting)
		e.num(b.ActingID, int64(len(b.Addrs)))
		for _, m := range b.Addrs {
			e.member(m)
		}
	}
	e.queues(rt.Queues)
	e.text(rt.OrderConf)
	e.flag(rt.HasOrder)
	e.mappings(rt.Mappings)
	d := digest(e.sum())
	rt.digest.Store(&d)
	return d
}

// GroupDigest returns the digest of a group of this snapshot and of what its members
// registered. It is not remembered.
func (s *Snapshot) GroupDigest(g *Group) string {
	e := newSummer()
	e.group(s, g)
	return digest(e.sum())
}

func digest(sum [sha256.Size]byte) string { return hex.EncodeToString(sum[:8]) }

// sums holds the digests of a snapshot's tables. Snapshots share those of what they share.
type sums struct{ topics, brokers, kv *onceSum }

func newSums() sums { return sums{new(onceSum), new(onceSum), new(onceSum)} }

// onceSum is a sum that is made when it is first asked for.
type onceSum struct {
	once sync.Once
	sum  [sha256.Size]byte
}

func (o *onceSum) get(sum func() [sha256.Size]byte) [sha256.Size]byte {
	o.once.Do(func() { o.sum = sum() })
	return o.sum
}

// newSums forgets the sums of what the draft has changed.
func (d *draft) newSums() {
	n := d.next
	if n.topicsRevision == n.Revision {
		n.sums.topics = new(onceSum)
	}
	if n.MembersRevision() == n.Revision || len(d.change.WritePerms) > 0 {
		n.sums.brokers = new(onceSum)
	}
	if n.kv.revision == n.Revision {
		n.sums.kv = new(onceSum)
	}
}

func (s *Snapshot) sumTopics() [sha256.Size]byte {
	e := newSummer()
	// Most topics share their layout, and with it the brokers to ask.
	type part struct {
		sum    [sha256.Size]byte
		tables []*table
	}
	parts := make(map[*layout]part)
	for _, name := range s.TopicNames() {
		t := s.topics.get(name)
		p, ok := parts[t.layout]
		if !ok {
			l := newSummer()
			l.queues(t.layout.queues)
			p.sum = l.sum()
			for _, q := range t.layout.queues {
				p.tables = append(p.tables, s.tables.get(q.Broker))
			}
			parts[t.layout] = p
		}
		e.text(name)
		e.buf = append(e.buf, p.sum[:]...)
		for i, tab := range p.tables {
			c := tab.topics.getHashed(name, t.h).Config
			// Nearly always the broker registered what is seen of it and no more.
			plain := c == (TopicConfig{QueueSpec: t.layout.queues[i].QueueSpec})
			if e.flag(plain); !plain {
				e.config(c)
			}
		}
		e.mappings(t.mappings)
	}
	return e.sum()
}

func (s *Snapshot) sumGroups() [sha256.Size]byte {
	e := newSummer()
	for _, g := range s.Groups() {
		e.group(s, g)
	}
	return e.sum()
}

func (s *Snapshot) sumKV() [sha256.Size]byte {
	e := newSummer()
	for _, ns := range s.KVNamespaces() {
		m := s.kv.spaces[ns]
		e.text(ns)
		e.num(int64(len(m)))
		for _, k := range slices.Sorted(maps.Keys(m)) {
			e.text(k, m[k].Value)
		}
	}
	return e.sum()
}

// summer hashes values so that different contents are different bytes: texts carry
// their length, lists their count.
type summer struct {
	h   hash.Hash
	buf []byte
}

func newSummer() *summer { return &summer{h: sha256.New()} }

// summerBuffer is how much is collected before it is hashed.
const summerBuffer = 32 << 10

func (e *summer) num(ns ...int64) {
	for _, n := range ns {
		e.buf = binary.AppendVarint(e.buf, n)
	}
}

func (e *summer) flag(bs ...bool) {
	for _, b := range bs {
		if b {
			e.buf = append(e.buf, 1)
		} else {
			e.buf = append(e.buf, 0)
		}
	}
}

func (e *summer) text(ss ...string) {
	for _, s := range ss {
		e.buf = binary.AppendUvarint(e.buf, uint64(len(s)))
		e.buf = append(e.buf, s...)
	}
	if len(e.buf) >= summerBuffer {
		e.h.Write(e.buf) // never fails
		e.buf = e.buf[:0]
	}
}

func (e *summer) sum() (sum [sha256.Size]byte) {
	e.h.Write(e.buf)
	e.h.Sum(sum[:0])
	return sum
}

func (e *summer) spec(q QueueSpec) {
	e.num(int64(q.ReadQueues), int64(q.WriteQueues), int64(q.Perm), int64(q.SysFlag))
}

func (e *summer) queues(qs []QueueData) {
	e.num(int64(len(qs)))
	for _, q := range qs {
		e.text(q.Broker)
		e.spec(q.QueueSpec)
	}
}

func (e *summer) config(c TopicConfig) {
	e.spec(c.QueueSpec)
	e.flag(c.Order, c.MultiTag)
	e.text(c.Attributes)
}

func (e *summer) mappings(ms []*Mapping) {
	e.num(int64(len(ms)))
	for _, m := range ms {
		e.text(m.Said, m.Broker, m.Scope)
		e.flag(m.HasScope, m.Dirty)
		e.num(int64(m.TotalQueues), m.Epoch, int64(len(m.CurrIDs)))
		for _, id := range m.CurrIDs {
			e.num(int64(id.Logical), int64(id.Physical))
		}
	}
}

func (e *summer) member(m Member) {
	e.num(m.ID)
	e.text(m.Addr, m.Cluster)
	e.num(int64(len(m.Filters)))
	e.text(m.Filters...)
}

func (e *summer) group(s *Snapshot, g *Group) {
	e.text(g.Name, g.Cluster, g.Zone)
	e.flag(g.HasZone, g.Acting, s.Wiped(g.Name) != nil)
	e.num(int64(len(g.Members)))
	for _, m := range g.Members {
		l := s.LiveOf(m)
		e.member(m)
		e.text(l.HAAddr, l.Zone)
		e.flag(l.HasHA, l.HasZone)
		e.num(int64(l.Timeout), l.Version.State, l.Version.Timestamp, l.Version.Counter, int64(l.Acting))
	}
}
