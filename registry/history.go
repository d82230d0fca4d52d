package registry

import "slices"

// Bounds of the history: whichever is reached first.
const (
	historyChanges = 10_000
	historyBytes   = 16 << 20
)

// history keeps the latest changes, oldest first. It is guarded by Registry.mu.
type history struct {
	changes []*Change
	bytes   int
	last    uint64 // number of the newest
	// compacted is the newest revision that is no longer kept.
	compacted uint64
}

func (h *history) add(c *Change) {
	h.changes = append(h.changes, c)
	h.last++
	c.Number = h.last
	c.size = c.bytes()
	h.bytes += c.size
	drop := 0
	for len(h.changes)-drop > historyChanges || h.bytes > historyBytes && len(h.changes)-drop > 1 {
		old := h.changes[drop]
		h.bytes -= old.size
		if old.Step {
			h.compacted = old.Revision
		}
		h.changes[drop] = nil
		drop++
	}
	h.changes = h.changes[drop:]
}

// since returns the changes after a revision, or false if some are no longer kept
// or the revision has not been reached.
func (h *history) since(revision, now uint64) ([]*Change, bool) {
	if revision < h.compacted || revision > now {
		return nil, false
	}
	i := slices.IndexFunc(h.changes, func(c *Change) bool { return c.Revision > revision })
	if i < 0 {
		return nil, true
	}
	return slices.Clone(h.changes[i:]), true
}

// History returns the kept changes, oldest first, and the newest revision that is
// no longer kept (0 if none is missing).
func (r *Registry) History() (changes []*Change, compacted uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.past.changes), r.past.compacted
}

// Subscription delivers changes in order. Its owner reads C until it is closed and
// calls Close when it wants no more.
type Subscription struct {
	// C has every change from the subscription on. It is closed by Close, by the
	// registry's end, and when its reader fell so far behind that the buffer was
	// full: then Lagged is true and the reader starts over from a new subscription.
	C      <-chan *Change
	c      chan *Change
	reg    *Registry
	lagged bool
	closed bool
}

// Subscribe returns what stands now and every later change, in one step. The buffer
// takes n changes; the registry never waits for a reader.
func (r *Registry) Subscribe(n int) (*Snapshot, *Subscription) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.Snapshot(), r.subscribe(n)
}

// SubscribeSince is Subscribe with the changes after a revision in between. ok is
// false, and sub nil, if those are no longer kept or the revision is not reached yet.
func (r *Registry) SubscribeSince(revision uint64, n int) (missed []*Change, snap *Snapshot, sub *Subscription, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	snap = r.Snapshot()
	if missed, ok = r.past.since(revision, snap.Revision); !ok {
		return nil, snap, nil, false
	}
	return missed, snap, r.subscribe(n), true
}

func (r *Registry) subscribe(n int) *Subscription {
	c := make(chan *Change, n)
	s := &Subscription{C: c, c: c, reg: r}
	r.subs[s] = struct{}{}
	return s
}

// Close ends the subscription. It may be called at any time, also twice.
func (s *Subscription) Close() {
	s.reg.mu.Lock()
	defer s.reg.mu.Unlock()
	s.end()
}

// Lagged reports whether C was closed because its reader was too slow. It is true
// at the latest when C is found closed for that reason.
func (s *Subscription) Lagged() bool {
	s.reg.mu.Lock()
	defer s.reg.mu.Unlock()
	return s.lagged
}

func (s *Subscription) end() {
	if !s.closed {
		s.closed = true
		close(s.c)
		delete(s.reg.subs, s)
	}
}

func (r *Registry) emit(c *Change) {
	r.past.add(c)
	r.counts.count(c)
	r.disputes.read(c, c.Time)
	for s := range r.subs {
		select {
		case s.c <- c:
		default:
			s.lagged = true
			r.counts.Lagged++
			s.end()
		}
	}
}
