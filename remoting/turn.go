package remoting

import (
	"runtime"
	"sync/atomic"
	"time"
)

// longBody is the size in bytes from which a registration takes its turn, and
// longDeflated that of one that may be deflated: it holds about a hundred topics.
const (
	longBody     = 16 << 10
	longDeflated = 1 << 10
)

// turns are the processors that long registrations may have: when all brokers register at
// once, those of the rest of the processors go on answering clients at once. A processor is
// held for the work on bytes that have come, never for waiting for a peer.
type turns struct {
	places  chan struct{}
	waiting atomic.Int32
}

func (t *turns) init() { t.places = make(chan struct{}, max(1, runtime.GOMAXPROCS(0)/2)) }

// take waits for a processor and returns what gives it back. While others wait for it, who is
// in no hurry leaves as much time to clients as it took: without that the processors would
// be busy with registrations for as long as brokers send them.
func (t *turns) take(hurry bool) (done func()) {
	t.waiting.Add(1)
	t.places <- struct{}{}
	t.waiting.Add(-1)
	begin := time.Now()
	return func() {
		if !hurry && t.waiting.Load() > 0 {
			<-time.After(time.Since(begin))
		}
		<-t.places
	}
}

// takeTurn is take for the work on a body, if that is long. A broker that has registered
// over this connection is in no hurry: what it said stands for four times as long as it
// takes until it says it again.
func (c *conn) takeTurn(body []byte) (done func()) {
	if len(body) < longDeflated || len(body) < longBody && body[0] == '{' {
		return func() {}
	}
	giveBack := c.srv.turns.take(!c.registered)
	return func() {
		giveBack()
		c.lastRead = time.Now() // the peer did not wait, we did: it has yet to read the answer
	}
}
