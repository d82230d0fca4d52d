package registry

import (
	"math/bits"
	"slices"
)

// Statement is the topics of one registration, in the order of its body. It is
// filled by Add outside any lock and handed to Register once. Brokers list their
// topics in the same order every time, so a statement is compared with the broker's
// previous one entry by entry and shares with it what is equal.
type Statement struct {
	snap   *Snapshot
	was    *listing // the broker's previous statement, whose topics are prev
	prev   []*Listed
	at     int       // entries of prev that matched by name so far
	topics []*Listed // nil while every entry has been equal to prev
	broken bool      // the names no longer follow prev
	last   *Topic    // what Intern found last
}

// NewStatement returns an empty statement of the broker that registers as (cluster, addr).
func (s *Snapshot) NewStatement(cluster, addr string) *Statement {
	st := &Statement{snap: s}
	if l := s.Live(cluster, addr); l != nil && l.listing != nil {
		st.was, st.prev = l.listing, l.listing.topics
	}
	return st
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
		return st.prev[:st.at:st.at], false
	}
	if !st.broken {
		return st.topics, false // prev's names, which are distinct
	}
	st.distinct()
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
