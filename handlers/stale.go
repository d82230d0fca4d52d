package handlers

import (
	"sync"
	"time"

	"fingerpost/registry"
)

// staleMemo remembers which topics may be leftovers, for lists of topics: looking at
// everything for each page of a list would be too much.
type staleMemo struct {
	mu              sync.Mutex
	topics, members uint64
	at              time.Time
	byTopic         map[string][]string
	counts          map[string]int
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

// count returns how many parts of topics may be leftovers, by reason.
func (m *staleMemo) count(s *registry.Snapshot) map[string]int {
	_, counts := m.look(s)
	return counts
}

func (m *staleMemo) look(s *registry.Snapshot) (map[string][]string, map[string]int) {
	now := time.Now()
	m.mu.Lock()
	defer m.mu.Unlock()
	age := now.Sub(m.at)
	same := m.topics == s.TopicsRevision() && m.members == s.MembersRevision()
	if m.byTopic != nil && (age < staleFresh || same && age < staleKept) {
		return m.byTopic, m.counts
	}
	m.topics, m.members, m.at = s.TopicsRevision(), s.MembersRevision(), now
	m.byTopic, m.counts = make(map[string][]string), make(map[string]int)
	for _, r := range registry.StaleReasons() {
		m.counts[r.String()] = 0
	}
	for _, x := range s.Stale(now) {
		r := x.Reason.String()
		m.counts[r]++
		if rs := m.byTopic[x.Topic]; len(rs) == 0 || rs[len(rs)-1] != r {
			m.byTopic[x.Topic] = append(rs, r)
		}
	}
	return m.byTopic, m.counts
}
