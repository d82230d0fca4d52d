package registry

import (
	"slices"
	"strings"
	"time"
)

// StaleReason is why a broker's part of a topic may be a leftover.
type StaleReason uint8

// The reasons.
const (
	// NotInLastRegistration: the live broker's last registration does not name the topic.
	NotInLastRegistration StaleReason = iota
	// NoMaster: only slaves of the broker are left, so nobody can write.
	NoMaster
	// ReadOnlyEverywhere: no broker lets producers write to the topic.
	ReadOnlyEverywhere
)

var staleNames = [...]string{"not-in-last-registration", "no-master", "read-only-everywhere"}

// String returns the word for the reason, such as "no-master".
func (r StaleReason) String() string { return staleNames[r] }

// StaleReasons returns every reason.
func StaleReasons() []StaleReason {
	return []StaleReason{NotInLastRegistration, NoMaster, ReadOnlyEverywhere}
}

// StaleGrace is how long a broker has to name a topic before it counts as one that the
// broker no longer names: brokers register every 30 s, some in several parts, and a
// topic may be declared before its broker registers it. A group without a master gets
// the same time to have one again.
const StaleGrace = 90 * time.Second

// Stale is one broker's part of a topic that may be a leftover.
type Stale struct {
	Topic, Broker string
	Reason        StaleReason
	// Since is when that began.
	Since time.Time
	// Said is what the broker last registered for the topic.
	Said TopicConfig
}

// Stale returns what may be a leftover at that time, sorted by topic, broker and reason.
// It reads everything.
func (s *Snapshot) Stale(now time.Time) []Stale {
	var out []Stale
	for _, g := range s.Groups() {
		tab := s.tables.get(g.Name)
		if tab == nil {
			continue
		}
		named, since := s.namedBy(g)
		masterless := !g.HasMaster() && now.Sub(g.masterless) > StaleGrace
		for l := range tab.topics.all() {
			t := s.topics.get(l.Name)
			add := func(r StaleReason, since time.Time) {
				out = append(out, Stale{Topic: l.Name, Broker: g.Name, Reason: r, Since: since, Said: l.Config})
			}
			if at, ok := leftover(t, named, since, now); ok {
				add(NotInLastRegistration, at)
			}
			if masterless {
				add(NoMaster, g.masterless)
			}
			if !slices.ContainsFunc(t.layout.queues, func(q QueueData) bool { return q.Writable() }) {
				add(ReadOnlyEverywhere, time.UnixMilli(t.ChangedMillis))
			}
		}
	}
	slices.SortFunc(out, func(a, b Stale) int {
		if c := strings.Compare(a.Topic, b.Topic); c != 0 {
			return c
		}
		if c := strings.Compare(a.Broker, b.Broker); c != 0 {
			return c
		}
		return int(a.Reason) - int(b.Reason)
	})
	return out
}

// namedBy returns the topics that the group's members name in their present statements,
// and since when the last of these stands. It is nil if none of them counts.
func (s *Snapshot) namedBy(g *Group) (named map[string]struct{}, since time.Time) {
	for _, m := range g.Members {
		l := s.LiveOf(m)
		if !l.counted || l.listing == nil {
			continue
		}
		if named == nil {
			named = make(map[string]struct{}, len(l.listing.topics))
		}
		for _, x := range l.listing.topics {
			named[x.Name] = struct{}{}
		}
		if l.listing.since.After(since) {
			since = l.listing.since
		}
	}
	return named, since
}

// leftover reports whether a topic is one that its broker no longer names, and since when.
func leftover(t *Topic, named map[string]struct{}, since, now time.Time) (time.Time, bool) {
	if named == nil {
		return since, false
	}
	if _, ok := named[t.Name]; ok {
		return since, false
	}
	if changed := time.UnixMilli(t.ChangedMillis); changed.After(since) {
		since = changed
	}
	return since, now.Sub(since) > StaleGrace
}

// DeleteStale removes the parts that are leftovers by NotInLastRegistration, in one
// transaction, and returns those that were: a broker that has named its topic meanwhile
// keeps it. Parts for other reasons are left alone.
func (r *Registry) DeleteStale(parts []Stale, cause Cause) (removed []Stale, revision uint64) {
	now := r.now()
	r.mu.Lock()
	d := r.begin(cause)
	names := make(map[string]map[string]struct{})
	sinces := make(map[string]time.Time)
	for _, p := range parts {
		g, t := d.next.groups.get(p.Broker), d.next.topics.get(p.Topic)
		if p.Reason != NotInLastRegistration || g == nil || t == nil {
			continue
		}
		if _, seen := names[p.Broker]; !seen {
			names[p.Broker], sinces[p.Broker] = d.next.namedBy(g)
		}
		if _, ok := leftover(t, names[p.Broker], sinces[p.Broker], now); ok && d.dropQueue(p.Topic, p.Broker) {
			removed = append(removed, p)
		}
	}
	d.commit()
	return removed, r.Snapshot().Revision
}
