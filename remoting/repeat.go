package remoting

import (
	"hash/maphash"
	"net/netip"
	"sync"
	"time"
)

const (
	// repeatEvery is how often the same complaint about the same address is logged:
	// a probe that speaks HTTP every second is one line a minute.
	repeatEvery = time.Minute
	// maxRepeats bounds how many complaints are remembered. Whoever comes from more
	// addresses than that shares one place.
	maxRepeats = 4096
)

// repeats remembers what was complained about, so that a peer cannot fill the log.
type repeats struct {
	mu      sync.Mutex
	said    map[complaint]*since
	cleared time.Time // when old complaints were last forgotten
}

// complaint is about an address; what is a hash, since a peer chooses part of the text.
type complaint struct {
	addr netip.Addr
	what uint64
}

// since is what has happened to a complaint since it was last logged.
type since struct {
	logged time.Time
	held   int // how often it was not
}

// due reports whether a complaint is to be logged, and how many of its kind were not.
func (r *repeats) due(c complaint, now time.Time) (held int, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.said == nil {
		r.said = make(map[complaint]*since)
	}
	s := r.said[c]
	if s == nil && len(r.said) >= maxRepeats && !r.clear(now) {
		c.addr = netip.Addr{}
		s = r.said[c]
	}
	if s == nil {
		r.said[c] = &since{logged: now}
		return 0, true
	}
	if now.Sub(s.logged) < repeatEvery {
		s.held++
		return 0, false
	}
	held, s.logged, s.held = s.held, now, 0
	return held, true
}

// clear forgets what was logged long ago, unless that was just done, and reports whether
// there is room.
func (r *repeats) clear(now time.Time) bool {
	if now.Sub(r.cleared) >= repeatEvery {
		r.cleared = now
		for c, s := range r.said {
			if now.Sub(s.logged) >= repeatEvery {
				delete(r.said, c)
			}
		}
	}
	return len(r.said) < maxRepeats
}

// warn logs what the peer did wrong, unless that was logged a moment ago. Connections
// from one address are one peer here.
func (c *conn) warn(msg string, args ...any) { c.warnOf("", msg, args...) }

// warnOf is warn where one peer may do the same wrong to several things.
func (c *conn) warnOf(thing, msg string, args ...any) {
	what := maphash.Comparable(c.srv.seed, [2]string{msg, thing})
	held, ok := c.srv.repeats.due(complaint{c.addr, what}, time.Now())
	if !ok {
		return
	}
	args = append([]any{"peer", c.peer}, args...)
	if held > 0 {
		args = append(args, "not_logged", held)
	}
	c.srv.Log.Warn(msg, args...) //nolint:sloglint // a constant at every call
}
