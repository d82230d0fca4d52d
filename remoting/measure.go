package remoting

import (
	"sync/atomic"
	"time"
)

// durationBounds are the upper bounds of the durations that are told apart, in seconds.
var durationBounds = [...]float64{.000001, .0000025, .000005, .00001, .000025, .00005, .0001, .00025, .0005, .001, .0025, .005, .01, .05, .25, 1, 5}

// sizeBounds are the upper bounds of the sizes that are told apart, in bytes.
var sizeBounds = [...]float64{1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20, 16 << 20}

// Durations is a histogram of durations. It is written by many and read by anybody.
type Durations struct {
	counts [len(durationBounds) + 1]atomic.Uint64
	nanos  atomic.Int64
}

// Observe takes in one duration.
func (d *Durations) Observe(took time.Duration) {
	d.counts[bucket(durationBounds[:], took.Seconds())].Add(1)
	d.nanos.Add(int64(took))
}

// Read returns how many there were, their sum in seconds, and for each upper bound in
// seconds how many were not longer.
func (d *Durations) Read() (count uint64, sum float64, buckets map[float64]uint64) {
	count, buckets = cumulate(durationBounds[:], d.counts[:])
	return count, time.Duration(d.nanos.Load()).Seconds(), buckets
}

// Sizes is a histogram of sizes. It is written by many and read by anybody.
type Sizes struct {
	counts [len(sizeBounds) + 1]atomic.Uint64
	bytes  atomic.Uint64
}

// Observe takes in one size in bytes.
func (s *Sizes) Observe(size int) {
	s.counts[bucket(sizeBounds[:], float64(size))].Add(1)
	s.bytes.Add(uint64(size))
}

// Read returns how many there were, their sum, and for each upper bound how many were
// not larger.
func (s *Sizes) Read() (count uint64, sum float64, buckets map[float64]uint64) {
	count, buckets = cumulate(sizeBounds[:], s.counts[:])
	return count, float64(s.bytes.Load()), buckets
}

func bucket(bounds []float64, v float64) int {
	for i, b := range bounds {
		if v <= b {
			return i
		}
	}
	return len(bounds)
}

func cumulate(bounds []float64, counts []atomic.Uint64) (total uint64, buckets map[float64]uint64) {
	buckets = make(map[float64]uint64, len(bounds))
	for i, b := range bounds {
		total += counts[i].Load()
		buckets[b] = total
	}
	return total + counts[len(bounds)].Load(), buckets
}

// sampleEvery is how often the lookups of one connection are measured at most.
const sampleEvery = 100 * time.Millisecond

// traffic is what has gone over a connection. It is written by the connection's own
// goroutine alone, so that adding to it costs next to nothing, and read by anybody.
type traffic struct{ received, sent atomic.Uint64 }

// sample measures what was served since the last read, if it was lookups alone and none
// of this connection was measured lately.
func (c *conn) sample() {
	n := c.batch.hits + c.batch.misses
	if n == 0 || c.batch.measured || c.lastRead.Sub(c.sampled) < sampleEvery {
		return
	}
	c.sampled = c.lastRead
	c.srv.Stats.Durations[ClassRoute].Observe(time.Since(c.lastRead) / time.Duration(n))
}

// Traffic is what has gone over all connections since the start, in bytes; of those with
// TLS it is what was inside.
type Traffic struct {
	Received, Sent uint64
}

// Kinds are how many connections there are of each kind, as [Connection] tells it.
type Kinds map[string]int

// Survey returns what has gone over all connections, and how many are open of each kind
// and of those with TLS. It looks at each connection, but waits for none.
func (s *Server) Survey() (t Traffic, kinds Kinds, encrypted int) {
	s.init()
	kinds = Kinds{kindBroker: 0, kindClient: 0, kindAdmin: 0, kindUnknown: 0}
	s.mu.Lock()
	defer s.mu.Unlock()
	t = Traffic{s.Stats.ended.received.Load(), s.Stats.ended.sent.Load()}
	for c := range s.conns {
		t.Received += c.traffic.received.Load()
		t.Sent += c.traffic.sent.Load()
		kinds[c.kind()]++
		if c.encrypted.Load() {
			encrypted++
		}
	}
	return t, kinds, encrypted
}

// Kinds of connections, told by what was asked.
const (
	kindBroker  = "broker"
	kindClient  = "client"
	kindAdmin   = "admin"
	kindUnknown = "unknown"
)

func (c *conn) kind() string {
	switch {
	case c.requests.Load() == 0:
		return kindUnknown
	case c.broker.Load():
		return kindBroker
	case c.admin.Load():
		return kindAdmin
	}
	return kindClient
}
