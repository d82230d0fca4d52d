package remoting

import (
	"errors"
	"log/slog"
	"net"
	"testing"
	"testing/synctest"
	"time"
)

// Who is in no hurry leaves as much time as it took while others wait, and only then.
func TestTurns(t *testing.T) {
	for _, c := range []struct {
		hurry, waited bool
		held          time.Duration
	}{
		{hurry: false, waited: true, held: 14 * time.Millisecond},
		{hurry: true, waited: true, held: 7 * time.Millisecond},
		{hurry: false, waited: false, held: 7 * time.Millisecond},
	} {
		synctest.Test(t, func(t *testing.T) {
			var all turns
			all.init()
			for range cap(all.places) - 1 {
				defer all.take(true)() // one place is left
			}
			begin := time.Now()
			done := all.take(c.hurry)
			next := make(chan time.Duration, 1)
			if c.waited {
				go func() {
					done := all.take(true)
					next <- time.Since(begin)
					done()
				}()
				synctest.Wait()
			}
			time.Sleep(7 * time.Millisecond) // the work
			done()
			if !c.waited {
				next <- time.Since(begin)
			}
			if held := <-next; held != c.held {
				t.Errorf("%+v: the place was free after %v", c, held)
			}
		})
	}
}

// The time for which a large request waits to be read is not its peer's.
func TestWaitingToReadIsNoStalling(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	peer, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer peer.Close()
	nc, err := ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	s := &Server{Log: slog.New(slog.DiscardHandler)}
	s.init()
	c := &conn{srv: s, base: nc, nc: nc, in: newBuffer(), need: 2, granted: 2, lastRead: time.Now()}
	if c.attachRaw(); c.raw == nil {
		t.Skip("here reading takes no turn")
	}
	const limit = 50 * time.Millisecond
	if err := c.expect("large request", limit); err != nil {
		t.Fatal(err)
	}
	if _, err := peer.Write([]byte("ab")); err != nil {
		t.Fatal(err)
	}
	done := s.TakeTurns()
	time.AfterFunc(2*limit, done)
	if err := c.fill(); err != nil {
		t.Errorf("what came in time is read: %v", err)
	}
	if err := c.overdue(); err != nil {
		t.Errorf("the rest may still come: %v", err)
	}
	if time.Sleep(limit); !errors.Is(c.overdue(), errStalled) {
		t.Error("the peer may take its time for ever")
	}
}
