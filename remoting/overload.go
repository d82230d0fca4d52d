package remoting

import (
	"math"
	"runtime"
	"runtime/metrics"
	"sync/atomic"
	"time"

	"fingerpost/remoting/wire"
)

// Clients and brokers have budgets of their own: places among the connections, room for
// large requests, and time. When requests wait too long for a processor, whoever is no
// broker is answered code 2, which costs nothing to make, and then not read for a
// moment; brokers are served as ever. A peer is a broker by what it has sent on its
// connection, so brokers that come back in the middle of a stampede get in too.

const (
	// loadEvery is how often the waiting of the goroutines is looked at.
	loadEvery = 20 * time.Millisecond
	// crowd is how many of them have to wait for each processor: with fewer it is not
	// peers who keep the machine busy, and sending them away would not help.
	crowd = 64
	// quiet is the number of connections below which no crowd can come.
	quiet = crowd
	// complainEvery is how often an overload is logged at most.
	complainEvery = time.Minute
)

// remarkOverload is what the peers know as the sign of a full queue.
const remarkOverload = "[OVERLOAD]system busy, start flow control for a while"

// load is how busy the server is.
type load struct {
	over atomic.Bool
	// times is how often it became too much.
	times atomic.Uint64
}

// Overloaded reports whether clients are told to come again just now.
func (s *Server) Overloaded() bool { return s.load.over.Load() }

// watchLoad looks at the load until the server stops.
func (s *Server) watchLoad() {
	tooMuch := s.tooMuch
	if tooMuch == nil {
		tooMuch = s.crowded()
	}
	tick := time.NewTicker(loadEvery)
	defer tick.Stop()
	var logged time.Time
	for {
		select {
		case <-s.ctx.Done():
			return
		case <-tick.C:
		}
		over := tooMuch()
		if s.load.over.Swap(over) || !over {
			continue
		}
		s.load.times.Add(1)
		if now := time.Now(); now.Sub(logged) >= complainEvery {
			logged = now
			s.Log.Warn("clients are told to come again: too much is asked at once", "waited", s.Limits.OverloadDelay,
				"times", s.load.times.Load(), "refused", s.Stats.Overloaded.Load(), "setting", "remoting.overloadDelay")
		}
	}
}

// crowded returns what tells whether too much has been asked since it was called last.
func (s *Server) crowded() func() bool {
	g := newQueueGauge(s.Limits.OverloadDelay)
	return func() bool {
		late, all, waiting := g.read()
		return s.Open() >= quiet && tooBusy(late, all, waiting, runtime.GOMAXPROCS(0))
	}
}

// tooBusy judges what was seen of the goroutines that began to run since the last look:
// late of them had waited too long, of all that were counted, and waiting still do.
func tooBusy(late, all, waiting uint64, processors int) bool {
	return late*10 >= all && late > 0 && waiting >= crowd*uint64(processors)
}

// queueGauge reads from the Go runtime how long goroutines wait until they run. The
// runtime counts about one in eight.
type queueGauge struct {
	samples [2]metrics.Sample
	counts  []uint64 // at the last look
	from    int      // the first bucket that is too late
}

func newQueueGauge(limit time.Duration) *queueGauge {
	g := &queueGauge{from: -1}
	g.samples[0].Name, g.samples[1].Name = "/sched/latencies:seconds", "/sched/goroutines/runnable:goroutines"
	metrics.Read(g.samples[:])
	h := g.samples[0].Value.Float64Histogram()
	g.counts = append(g.counts, h.Counts...)
	for i := range h.Counts {
		if h.Buckets[i] >= limit.Seconds() && !math.IsInf(h.Buckets[i], 0) {
			g.from = i
			break
		}
	}
	return g
}

func (g *queueGauge) read() (late, all, waiting uint64) {
	metrics.Read(g.samples[:])
	h := g.samples[0].Value.Float64Histogram()
	for i, n := range h.Counts {
		d := n - g.counts[i]
		all += d
		if g.from >= 0 && i >= g.from {
			late += d
		}
		g.counts[i] = n
	}
	return late, all, g.samples[1].Value.Uint64()
}

// busyRoute answers a plain lookup with code 2, and reports whether it was one.
func (c *conn) busyRoute(f wire.Frame) bool {
	q := &c.route
	if !q.ReadRouteRequest(f) || q.Flag&(wire.FlagResponse|wire.FlagOneway) != 0 {
		return false
	}
	c.last = int32(wire.GetRouteInfoByTopic)
	c.out.b = c.srv.templates.busy.appendTo(c.out.b, q.Opaque, remarkOverload, "", "", nil)
	c.batch.busy++
	c.turned = true
	return true
}

// turnedAway reports whether a request finds no room because it is no broker's.
func (c *conn) turnedAway(code wire.RequestCode, a *answer) bool {
	if !c.shed && !c.spare || kindOf(code).class == ForBroker {
		return false
	}
	c.srv.Stats.Overloaded.Add(1)
	c.turned = true
	a.fail(wire.SystemBusy, remarkOverload)
	a.typed = false
	return true
}

// rest lets a connection wait whose requests were turned away: what it sends meanwhile
// stays in the system's buffers, and beyond them with its sender.
func (c *conn) rest() {
	if !c.turned {
		return
	}
	c.turned = false
	c.returnBuffers()
	t := time.NewTimer(c.srv.Limits.OverloadDelay)
	defer t.Stop()
	select {
	case <-t.C:
	case <-c.srv.ctx.Done():
	}
}

// firstRequest is how long a connection in a place that is kept for brokers may take to
// show that it is one.
const firstRequest = 10 * time.Second

// brokerPlaces is how many of the connections are kept for brokers.
func (l *Limits) brokerPlaces() int { return min(l.BrokerConnections, l.Connections/10) }

// begin sets the first deadline.
func (c *conn) begin() error {
	if c.spare {
		return c.expect("first request", firstRequest)
	}
	return c.overdue()
}

// keepPlace settles whether a connection that came when only places for brokers were
// left may stay, by its first request, and reports whether it may. s.mu is not held.
func (c *conn) keepPlace(code wire.RequestCode) bool {
	if kindOf(code).class != ForBroker {
		c.srv.mu.Lock()
		full := len(c.srv.conns) > c.srv.Limits.Connections-c.srv.Limits.brokerPlaces()
		c.srv.mu.Unlock()
		if full {
			c.srv.Stats.Rejected.Add(1)
			c.warn("a connection is refused: there are too many", "setting", "remoting.maxConnections, remoting.brokerConnections")
			return false
		}
	}
	c.spare = false
	if c.granted == 0 {
		c.arriveBy = time.Time{}
	}
	return true
}
