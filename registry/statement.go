package registry

import (
	"math/bits"
	"slices"
)

// Statement is the topics of one registration, in the order of its body. It is
// filled by Add, or by Repeat, outside any lock and handed to Register once. Brokers list
// their topics in the same order every time, so a statement is compared with the broker's
// previous one entry by entry and shares with it what is equal.
type Statement struct {
	snap   *Snapshot
	was    *listing // the broker's previous statement, or one like it; its topics are prev
	prev   []*Listed
	stood  index[*Listed] // the table that prev made, for a broker that has none
	at     int            // entries of prev that matched by name so far
	topics []*Listed      // nil while every entry has been equal to prev
	broken bool           // the names no longer follow prev
	last   *Topic         // what Intern found last

	stretches []Stretch // how the topics were written
	// The stretch of was that comes next, and the entry of prev with which it begins.
	ahead, aheadAt int
}

// Stretch is how some topics of a list, one after another, were written in the body of a
// registration: the size of that text in bytes and a hash of it, which nobody can choose
// texts for. It lets a face recognise what has not changed without decoding it. Size is 0
// where the text is not known.
type Stretch struct {
	Sum          uint64
	Size, Topics int32
}

// NewStatement returns an empty statement of the broker that registers as (cluster, addr).
func (s *Snapshot) NewStatement(cluster, addr string) *Statement {
	st := &Statement{snap: s}
	if l := s.Live(cluster, addr); l != nil {
		st.was = l.listing
	} else if x := s.reg.partings.find(liveKey(cluster, addr)); x.listing != nil {
		st.was, st.stood = x.listing, x.topics
	} else if l := s.sibling(cluster); l != nil {
		st.was, st.stood = l.listing, l.stands(s.tables.get(l.Name))
	}
	if st.was != nil {
		st.prev = st.was.topics
	}
	return st
}

// Bounds of the search for a sibling.
const (
	maxSiblings = 16
	maxAsked    = 4096
)

// sibling returns a broker of a cluster after which a new one is likely to take: most
// brokers of a cluster list the same. Of some it is the one with the most topics.
func (s *Snapshot) sibling(cluster string) (most *Live) {
	asked, found := 0, 0
	for l := range s.lives.all() {
		if l.Cluster == cluster && l.counted && l.listing != nil {
			if found++; most == nil || l.total > most.total {
				most = l
			}
		}
		if asked++; asked == maxAsked || found == maxSiblings {
			break
		}
	}
	return most
}

// stands returns the broker's table t if it holds exactly what l listed, as listed.
func (l *Live) stands(t *table) (topics index[*Listed]) {
	if t != nil && l.settled.table == t && l.counted && l.clean && l.whole && t.topics.len() == len(l.listing.topics) {
		topics = t.topics
	}
	return topics
}

// Ahead returns how the topics that are expected next were written the last time. Size is
// 0 if that is not known.
func (st *Statement) Ahead() Stretch {
	if st.broken || st.was == nil {
		return Stretch{}
	}
	for st.ahead < len(st.was.stretches) {
		switch x := st.was.stretches[st.ahead]; {
		case st.aheadAt == st.at:
			return x
		case st.aheadAt > st.at:
			return Stretch{} // in the middle of one
		default:
			st.ahead++
			st.aheadAt += int(x.Topics)
		}
	}
	return Stretch{}
}

// Repeat adds the topics of the stretch that Ahead has just returned, as they were the
// last time.
func (st *Statement) Repeat() {
	x := st.was.stretches[st.ahead]
	next := st.at + int(x.Topics)
	if st.topics != nil {
		st.topics = append(st.topics, st.prev[st.at:next]...)
	}
	st.at = next
	st.stretches = append(st.stretches, x)
}

// Wrote tells how the topics were written that were added since the last stretch.
func (st *Statement) Wrote(x Stretch) { st.stretches = append(st.stretches, x) }

// written returns the stretches of topics, which are list's result, or nil if the topics are
// not as they were added.
func (st *Statement) written(topics []*Listed) []Stretch {
	n := 0
	for _, x := range st.stretches {
		n += int(x.Topics)
	}
	if n != len(topics) || n != st.Len() {
		return nil
	}
	return st.stretches
}

// standing returns a table in which the topics stand, and those of them that stand otherwise
// in it; ok is false if there is none.
func (st *Statement) standing() (table index[*Listed], others []*Listed, ok bool) {
	if st.stood.len() == 0 || st.broken || st.at != len(st.prev) {
		return table, nil, false
	}
	for i, l := range st.topics {
		if l != st.prev[i] {
			others = append(others, l)
		}
	}
	return st.stood, others, true
}

// Intern returns b as a string that costs nothing if it is the name of the topic that
// is expected next, or of any that is known.
func (st *Statement) Intern(b []byte) string {
	if !st.broken && st.at < len(st.prev) && st.prev[st.at].Name == string(b) {
		return st.prev[st.at].Name
	}
	if st.last = st.snap.topics.getBytes(b); st.last != nil {
		return st.last.Name
	}
	return string(b)
}

// Add appends a topic. If a name comes twice the later one counts.
func (st *Statement) Add(name string, c TopicConfig) {
	if !st.broken && st.at < len(st.prev) {
		if p := st.prev[st.at]; p.Name == name {
			if p.Config == c {
				if st.topics != nil {
					st.topics = append(st.topics, p)
				}
			} else {
				st.part(len(st.prev))
				st.topics = append(st.topics, st.share(name, c))
			}
			st.at++
			return
		}
	}
	st.part(0)
	st.broken = true
	st.topics = append(st.topics, st.share(name, c))
}

// part begins a list of its own with what has been equal so far.
func (st *Statement) part(room int) {
	if st.topics == nil {
		st.topics = append(make([]*Listed, 0, max(room, st.at+1)), st.prev[:st.at]...)
	}
}

// share finds a value that another broker listed, or makes a new one.
func (st *Statement) share(name string, c TopicConfig) *Listed {
	t := st.last
	if t == nil || t.Name != name {
		t = st.snap.topics.get(name)
	}
	if t == nil {
		return &Listed{Name: name, Config: c, h: hashString(name)}
	}
	for _, l := range t.listed {
		if l.Config == c {
			return l
		}
	}
	return &Listed{Name: t.Name, Config: c, h: t.h}
}

// Len returns the number of topics added, counting a repeated name each time.
func (st *Statement) Len() int {
	if st.topics == nil {
		return st.at
	}
	return len(st.topics)
}

// single reports whether exactly one topic was named, however often.
func (st *Statement) single() bool {
	if st.topics == nil {
		return st.at == 1
	}
	return !slices.ContainsFunc(st.topics, func(l *Listed) bool { return l.Name != st.topics[0].Name })
}

// list returns the topics, each name once, and whether they are exactly those of was.
func (st *Statement) list() (topics []*Listed, same bool) {
	if st.topics == nil {
		if st.at == len(st.prev) {
			return st.prev, st.was != nil
		}
		return slices.Clone(st.prev[:st.at]), false // the rest must not live as long
	}
	if st.broken { // else these are prev's names, which are distinct
		st.distinct()
	}
	if cap(st.topics) > 2*len(st.topics) {
		st.topics = slices.Clone(st.topics) // the room was for all of prev
	}
	return st.topics, false
}

// distinct leaves each name once: in its first place, with what was last said of it.
func (st *Statement) distinct() {
	// A table of places by hash, at most half full; zero is none.
	size := 1 << bits.Len(uint(2*len(st.topics)))
	places := make([]uint32, size)
	n := 0
next:
	for _, l := range st.topics {
		at := l.h & uint64(size-1)
		for ; places[at] != 0; at = (at + 1) & uint64(size-1) {
			if p := places[at] - 1; st.topics[p].h == l.h && st.topics[p].Name == l.Name {
				st.topics[p] = l
				continue next
			}
		}
		st.topics[n] = l
		n++
		places[at] = uint32(n)
	}
	clear(st.topics[n:])
	st.topics = st.topics[:n]
}

// merge returns the listing after further topics were named under the same data
// version, as brokers do that register in several parts. It is s if s had them all.
func (s *listing) merge(topics []*Listed) *listing {
	named := make(map[string]*Listed, len(topics))
	for _, l := range topics {
		named[l.Name] = l
	}
	had := 0
	for _, l := range s.topics {
		if named[l.Name] == l {
			had++
		}
	}
	if had == len(topics) {
		return s
	}
	out := append(make([]*Listed, 0, max(len(topics), len(s.topics))), topics...)
	for _, l := range s.topics {
		if _, again := named[l.Name]; !again {
			out = append(out, l)
		}
	}
	return &listing{topics: out, since: s.since}
}
