package handlers

import (
	"sync"
	"time"

	"fingerpost/registry"
)

// staleMemo remembers which topics may be leftovers, for lists of topics: looking at
// everything for each page of a list would be too much.
type staleMemo struct {
	looking sync.Mutex // is held while everything is looked at, and before mu

	mu              sync.Mutex // guards the rest; those who look may read it without
	topics, members uint64
	at              time.Time
	byTopic         map[string][]string
	counts          map[string]int
	mark            string        // names what byTopic holds, "" if that is nothing
	took            time.Duration // to count
	wanted          bool          // counts of a large registry have been asked for since
}

const (
	// staleFresh is how old the memory may be whatever has happened since, staleKept
	// how old if nothing has: leftovers come with time alone.
	staleFresh = time.Second
	staleKept  = 5 * time.Second
)

// reasons returns for which reasons a topic may be a leftover. The slice is shared.
func (m *staleMemo) reasons(s *registry.Snapshot, topic string) []string {
	byTopic, _ := m.look(s)
	return byTopic[topic]
}

// tag is what the ETag of a list has behind its revision: leftovers come with time alone.
func (m *staleMemo) tag(s *registry.Snapshot) string {
	m.look(s)
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.mark
}

// staleAtOnce is how many parts of topics can be looked at while somebody waits: that
// takes some milliseconds. Of more the counts come from the background.
const staleAtOnce = 10_000

// count returns how many parts of topics may be leftovers, by reason: of a large registry
// as it was a little while ago. The map is shared.
func (m *staleMemo) count(s *registry.Snapshot) map[string]int {
	parts := 0
	for _, g := range s.Groups() {
		parts += s.BrokerTopicCount(g.Name)
	}
	m.mu.Lock()
	if parts > staleAtOnce {
		defer m.mu.Unlock()
		m.wanted = true
		if m.counts == nil {
			m.counts = noneStale()
		}
		return m.counts
	}
	m.mu.Unlock()
	_, counts := m.look(s)
	return counts
}

func noneStale() map[string]int {
	counts := make(map[string]int)
	for _, r := range registry.StaleReasons() {
		counts[r.String()] = 0
	}
	return counts
}

// staleShare is which part of the time the background may take to look for leftovers.
const staleShare = 50

// refresh counts anew in the background, if somebody has asked since and it would not take
// more than its share.
func (m *staleMemo) refresh(s *registry.Snapshot) {
	m.mu.Lock()
	due := m.wanted && time.Since(m.at) > staleShare*m.took
	if due {
		m.wanted = false
	}
	m.mu.Unlock()
	if due {
		m.look(s)
	}
}

// look counts unless that was just done. Who asks meanwhile waits; who only wants what was
// last counted does not.
func (m *staleMemo) look(s *registry.Snapshot) (map[string][]string, map[string]int) {
	m.looking.Lock()
	defer m.looking.Unlock()
	now := time.Now()
	age := now.Sub(m.at)
	same := m.topics == s.TopicsRevision() && m.members == s.MembersRevision()
	if m.byTopic != nil && (age < staleFresh || same && age < staleKept) {
		return m.byTopic, m.counts
	}
	byTopic, counts, mark := make(map[string][]string), noneStale(), ""
	found := s.Stale(now)
	if len(found) > 0 {
		mark = "-" + staleDigest(found)
	}
	for _, x := range found {
		r := x.Reason.String()
		counts[r]++
		if rs := byTopic[x.Topic]; len(rs) == 0 || rs[len(rs)-1] != r {
			byTopic[x.Topic] = append(rs, r)
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.topics, m.members, m.at, m.took = s.TopicsRevision(), s.MembersRevision(), now, time.Since(now)
	m.byTopic, m.counts, m.mark = byTopic, counts, mark
	return byTopic, counts
}
