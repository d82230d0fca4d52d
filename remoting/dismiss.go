package remoting

import (
	"cmp"
	"slices"
	"time"
)

// Who is told to go away; see [Server.Leave] and [Server.SendAway].
const (
	awayNobody uint32 = iota
	awayOthers        // all but brokers
	awayAll
)

// SendAway says whether peers that are no brokers, and that understand it, are told to
// connect again elsewhere. After [Server.Leave] it changes nothing.
func (s *Server) SendAway(on bool) {
	if on {
		s.away.CompareAndSwap(awayNobody, awayOthers)
	} else {
		s.away.CompareAndSwap(awayOthers, awayNobody)
	}
}

// Dismiss closes at most so many of the connections over which no broker has registered
// and nothing has come for quiet, those that have been silent longest first, and returns
// how many it closed. What has been asked by then is still answered, so that a peer
// loses nothing and asks another server next time. [Server.Kinds] tells who is left.
func (s *Server) Dismiss(quiet time.Duration, most int) int {
	s.init()
	s.mu.Lock()
	defer s.mu.Unlock()
	type silent struct {
		c    *conn
		used int64
	}
	var found []silent
	before := time.Now().Add(-quiet).UnixMilli()
	for c := range s.conns {
		if used := c.lastUsed.Load(); used <= before && !c.broker.Load() && !c.dismissed.Load() {
			found = append(found, silent{c, used})
		}
	}
	slices.SortFunc(found, func(a, b silent) int { return cmp.Or(cmp.Compare(a.used, b.used), cmp.Compare(a.c.id, b.c.id)) })
	found = found[:min(len(found), max(most, 0))]
	for _, f := range found {
		f.c.dismissed.Store(true)
		f.c.base.SetReadDeadline(time.Now()) // wakes a reader; overdue then ends it
	}
	return len(found)
}

// Kinds returns how many connections there are of each kind; see [Connection.Kind].
func (s *Server) Kinds() map[string]int {
	s.init()
	s.mu.Lock()
	defer s.mu.Unlock()
	kinds := make(map[string]int)
	for c := range s.conns {
		kinds[c.kind()]++
	}
	return kinds
}

// sentOff reports whether the connection may end now: somebody asked for it, no broker
// has registered over it meanwhile, and nothing has begun to come.
func (c *conn) sentOff() bool {
	return c.dismissed.Load() && !c.broker.Load() && (c.in == nil || len(c.in.b) == 0)
}

// away reports whether the peer is told to go, rather than answered.
func (c *conn) away() bool {
	a := c.srv.away.Load()
	return a == awayAll || a == awayOthers && !c.broker.Load()
}
