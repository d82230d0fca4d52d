package remoting

import (
	"hash/maphash"
	"net/netip"
	"strings"
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
	// maxThings is about how many things one address is complained of for the same
	// reason in a minute, such as brokers of a container.
	maxThings = 16
	// maxLogged is the longest text of a peer's in a line, in bytes.
	maxLogged = 256
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
	// lines were logged of its kind since begun, less than a minute ago.
	lines int
	begun time.Time
}

// due reports whether a complaint about one thing is to be logged, and how many like it
// were not. kind is the same complaint about anything.
func (r *repeats) due(kind, one complaint, now time.Time) (held int, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.said == nil {
		r.said = make(map[complaint]*since)
	}
	if len(r.said) >= maxRepeats && !r.clear(now) {
		if _, known := r.said[one]; !known {
			kind.addr, one.addr = netip.Addr{}, netip.Addr{}
		}
	}
	k := r.at(kind)
	if now.Sub(k.begun) >= repeatEvery {
		k.lines, k.begun = 0, now
	}
	if s := r.said[one]; s != nil && now.Sub(s.logged) < repeatEvery {
		s.held++
		return 0, false
	}
	if k.lines >= maxThings {
		k.held++
		return 0, false
	}
	s := r.at(one)
	held = s.held
	if one != kind {
		held += k.held
		k.held = 0
	}
	s.logged, s.held = now, 0
	k.lines++
	return held, true
}

func (r *repeats) at(c complaint) *since {
	s := r.said[c]
	if s == nil {
		s = new(since)
		r.said[c] = s
	}
	return s
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
	kind := complaint{c.addr, maphash.Comparable(c.srv.seed, [2]string{msg})}
	one := complaint{c.addr, maphash.Comparable(c.srv.seed, [2]string{msg, thing})}
	held, ok := c.srv.repeats.due(kind, one, time.Now())
	if !ok {
		return
	}
	args = append([]any{"peer", c.peer}, args...)
	if held > 0 {
		args = append(args, "not_logged", held)
	}
	for i, a := range args {
		switch a := a.(type) {
		case string:
			args[i] = clip(a)
		case error:
			args[i] = clip(a.Error())
		}
	}
	c.srv.Log.Warn(msg, args...) //nolint:sloglint // a constant at every call
}

// clip shortens a text that a peer chose: names of a megabyte are possible.
func clip(s string) string {
	if len(s) <= maxLogged {
		return s
	}
	return strings.ToValidUTF8(s[:maxLogged], "") + "…"
}
