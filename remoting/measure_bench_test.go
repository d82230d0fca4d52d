package remoting

import (
	"testing"
	"time"
)

// BenchmarkMeasuring is what counting and measuring add to what came in one read: to one
// lookup of a client that waits for its answers, to many together of one that does not.
func BenchmarkMeasuring(b *testing.B) {
	c := &conn{srv: &Server{}, lastRead: time.Now()}
	c.sampled = c.lastRead
	for b.Loop() {
		c.batch.hits = 1
		c.traffic.received.Store(c.traffic.received.Load() + 100)
		c.sample()
		c.traffic.sent.Store(c.traffic.sent.Load() + 1000)
	}
}
