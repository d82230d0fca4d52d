package peers

import (
	"slices"
	"time"
)

// maxKept is how many differences with one peer are kept; of a peer that has nothing of
// what we have, nobody reads the ten thousandth.
const maxKept = 10_000

// seen is a difference and whether it counts already.
type seen struct {
	Difference
	counts bool
}

// board is what was found of one peer. It belongs to that peer's goroutine.
type board struct {
	recheck time.Duration
	// whole are differences of the kinds of which a look at the peer sees all.
	whole map[Subject]*seen
	// routes are those by topic, which are seen when the topic's route is asked for.
	routes map[string][]*seen
	size   int  // of routes, in differences
	dirty  bool // whether anything that counts has come or gone since the last report
}

func newBoard(recheck time.Duration) *board {
	return &board{recheck: recheck, whole: make(map[Subject]*seen), routes: make(map[string][]*seen)}
}

// again carries on what was known of a difference that is found now.
func (b *board) again(old *seen, d Difference, now time.Time) *seen {
	s := &seen{Difference: d}
	s.Since = now
	if old != nil {
		s.Since = old.Since
		s.counts = old.counts || now.Sub(old.Since) >= b.recheck
	}
	b.dirty = b.dirty || s.counts && (old == nil || !old.counts)
	return s
}

// settle takes all differences of the kinds that a look has compared, and forgets those
// of these kinds that it did not find.
func (b *board) settle(kinds map[Kind]bool, found []Difference, now time.Time) {
	next := make(map[Subject]*seen, len(found))
	for s, old := range b.whole {
		if !kinds[s.Kind] {
			next[s] = old
		}
	}
	for _, d := range found {
		if len(next)+b.size >= maxKept {
			break
		}
		next[d.Subject] = b.again(b.whole[d.Subject], d, now)
	}
	for s, old := range b.whole {
		b.dirty = b.dirty || old.counts && next[s] == nil
	}
	b.whole = next
}

// settleTopic takes all differences of one topic's route.
func (b *board) settleTopic(topic string, found []Difference, now time.Time) {
	old := b.routes[topic]
	if len(old)+len(found) == 0 {
		return
	}
	var next []*seen
	for _, d := range found {
		if len(b.whole)+b.size-len(old)+len(next) >= maxKept {
			break
		}
		var before *seen
		if i := slices.IndexFunc(old, func(s *seen) bool { return s.Subject == d.Subject }); i >= 0 {
			before = old[i]
		}
		next = append(next, b.again(before, d, now))
	}
	for _, s := range old {
		b.dirty = b.dirty || s.counts && !slices.ContainsFunc(next, func(x *seen) bool { return x.Subject == s.Subject })
	}
	b.size += len(next) - len(old)
	if len(next) == 0 {
		delete(b.routes, topic)
		return
	}
	b.routes[topic] = next
}

// keepTopics forgets what was found of the routes of other topics.
func (b *board) keepTopics(keep func(topic string) bool) {
	for topic := range b.routes {
		if !keep(topic) {
			b.settleTopic(topic, nil, time.Time{})
		}
	}
}

// full reports whether there may be more than is kept.
func (b *board) full() bool { return len(b.whole)+b.size >= maxKept }

// pending returns how many of a topic's differences do not count yet, and how many do.
func (b *board) pending(topic string) (once, twice int) {
	for _, s := range b.routes[topic] {
		if s.counts {
			twice++
		} else {
			once++
		}
	}
	return once, twice
}

// oldest returns when the oldest difference of the whole kinds that does not count yet was
// seen; ok is false if there is none.
func (b *board) oldest() (at time.Time, ok bool) {
	for _, s := range b.whole {
		if !s.counts && (!ok || s.Since.Before(at)) {
			at, ok = s.Since, true
		}
	}
	return at, ok
}

// list returns the differences that count, in order, how many of each kind, and how many
// do not count yet.
func (b *board) list() (items []Difference, counts map[Kind]int, once int) {
	counts = make(map[Kind]int)
	take := func(s *seen) {
		if !s.counts {
			once++
			return
		}
		items = append(items, s.Difference)
		counts[s.Kind]++
	}
	for _, s := range b.whole {
		take(s)
	}
	for _, list := range b.routes {
		for _, s := range list {
			take(s)
		}
	}
	slices.SortFunc(items, func(x, y Difference) int { return x.compare(&y.Subject) })
	return items, counts, once
}
