package remoting_test

import (
	"fmt"
	"testing"
	"time"

	"fingerpost/remoting"
	"fingerpost/remoting/wire"
)

// long is a broker whose registration takes its turn.
func long(name, addr string) broker {
	r := one(name, addr)
	for i := range 200 {
		r.topics = append(r.topics, topic(fmt.Sprint("Topic-", i), 4, 6))
	}
	return r
}

// A broker has the whole time to read its answer, however long the registration waited for
// its turn: that it waits is no fault of its own.
func TestWaitingForATurnIsNoSlowReading(t *testing.T) {
	const limit = 50 * time.Millisecond
	b := startTCP(t, with(func(s *remoting.Server) { s.Limits.WriteTimeout = limit }))
	c := b.client(wire.JSONHeader)
	one("a", "a:1").register(t, c) // over a connection that is known
	done := b.srv.TakeTurns()
	r := long("a", "a:1")
	if err := c.Send(wire.Request(wire.RegisterBroker, r.ext(), r.body())); err != nil {
		t.Fatal(err)
	}
	b.srv.AwaitTurn()
	time.Sleep(2 * limit)
	done()
	if _, err := c.Receive(); err != nil {
		t.Errorf("a registration that waited is answered: %v", err)
	}
	if b.reg.Snapshot().Group("a") == nil || b.srv.Stats.SlowReaders.Load() > 0 {
		t.Errorf("the broker is gone, with %d slow readers", b.srv.Stats.SlowReaders.Load())
	}
}
