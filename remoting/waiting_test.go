package remoting_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"fingerpost/registry"
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
	synctest.Test(t, func(t *testing.T) {
		b := startPipes(t)
		c := b.client(wire.JSONHeader)
		one("a", "a:1").register(t, c) // over a connection that is known
		done := b.srv.TakeTurns()
		r := long("a", "a:1")
		if err := c.Send(wire.Request(wire.RegisterBroker, r.ext(), r.body())); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		done()
		c.Timeout = time.Second
		if _, err := c.Receive(); err != nil {
			t.Errorf("a registration that waited is answered: %v", err)
		}
		if b.reg.Snapshot().Group("a") == nil || b.srv.Stats.SlowReaders.Load() > 0 {
			t.Errorf("the broker is gone, with %d slow readers", b.srv.Stats.SlowReaders.Load())
		}
	})
}

// Whoever looks for silent brokers does not wait for one whose request waits to be read.
func TestEvictingDoesNotWait(t *testing.T) {
	b := startTCP(t)
	c := b.client(wire.JSONHeader)
	r := one("a", "a:1")
	r.timeout = -1 // over at once
	r.register(t, c)
	r.topics = nil
	for i := range 2000 {
		r.topics = append(r.topics, topic(fmt.Sprint("Topic-", i), 4, 6))
	}
	frame, err := wire.Request(wire.RegisterBroker, r.ext(), r.body()).AppendTo(nil, wire.JSONHeader)
	if err != nil {
		t.Fatal(err)
	}
	done := b.srv.TakeTurns()
	if err := c.Write(frame[:len(frame)-1]); err != nil {
		t.Fatal(err)
	}
	b.srv.AwaitTurn()
	swept := make(chan registry.Swept)
	go func() { swept <- b.reg.Sweep(time.Hour, registry.Cause{}) }()
	select {
	case s := <-swept:
		if len(s.Expired) != 1 {
			t.Errorf("%d brokers have expired", len(s.Expired))
		}
		done()
	case <-time.After(patience):
		t.Error("it waits for a turn that is not its own")
		done()
		<-swept
	}
	ended(t, c)
}
