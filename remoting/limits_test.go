package remoting_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"fingerpost/internal/nstest"
	"fingerpost/remoting"
	"fingerpost/remoting/wire"
)

func limits(set func(*remoting.Limits)) change {
	return with(func(s *remoting.Server) { set(&s.Limits) })
}

// refused checks that a connection is closed before anything is asked.
func refused(tb testing.TB, c *nstest.Client) {
	tb.Helper()
	if _, err := c.Call(wire.GetAllTopicListFromNamesrv, nil, nil); err == nil {
		tb.Error("a connection over the limit is served")
	}
}

func TestConnectionLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := startPipes(t, limits(func(l *remoting.Limits) { l.Connections = 3 }))
		var open []*nstest.Client
		for i := range 3 {
			c := b.dialFrom(fmt.Sprint("10.0.0.", i))
			succeed(t, c, wire.GetAllTopicListFromNamesrv, nil, nil)
			open = append(open, c)
		}
		for range 5 {
			refused(t, b.dialFrom("10.0.0.9"))
		}
		for _, c := range open {
			succeed(t, c, wire.GetAllTopicListFromNamesrv, nil, nil)
		}
		open[1].Close()
		synctest.Wait()
		succeed(t, b.dialFrom("10.0.0.9"), wire.GetAllTopicListFromNamesrv, nil, nil)
		if a, r := b.srv.Stats.Accepted.Load(), b.srv.Stats.Rejected.Load(); a != 4 || r != 5 {
			t.Errorf("%d accepted and %d rejected, want 4 and 5", a, r)
		}
		b.log.wants(t, "there are too many", "peer", "10.0.0.9", "setting", "remoting.maxConnections")
	})
}

func TestConnectionLimitPerAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := startPipes(t, limits(func(l *remoting.Limits) { l.PerAddress = 2 }))
		first, second := b.dialFrom("10.0.0.1"), b.dialFrom("::ffff:10.0.0.1")
		for range 2 {
			refused(t, b.dialFrom("10.0.0.1"))
		}
		for _, c := range []*nstest.Client{first, second, b.dialFrom("10.0.0.2"), b.dialFrom("2001:db8::1")} {
			succeed(t, c, wire.GetAllTopicListFromNamesrv, nil, nil)
		}
		first.Close()
		synctest.Wait()
		succeed(t, b.dialFrom("10.0.0.1"), wire.GetAllTopicListFromNamesrv, nil, nil)
		refused(t, b.dialFrom("10.0.0.1"))
		b.log.wants(t, "there are too many", "peer", "10.0.0.1", "setting", "remoting.maxConnectionsPerAddress")
	})
}

// large is a request of n bytes whose body says nothing.
func large(n int) []byte {
	b := rawFrame(0, []byte(goodHead), nil)
	return rawFrame(0, []byte(goodHead), make([]byte, n-len(b)))
}

// claimed begins a request of n bytes and sends no more than have of them.
func claimed(n, have int) []byte { return large(n)[:have] }

const (
	smallFrame = 1 << 20
	most       = 900 << 10 // of a budget of 1 MiB
)

func withBudget() change {
	return limits(func(l *remoting.Limits) { l.Frame, l.InFlight, l.ClientInFlight = smallFrame, smallFrame, smallFrame })
}

// taps opens n connections from different addresses.
func (b *bed) taps(t *testing.T, n int) []*tap {
	t.Helper()
	out := make([]*tap, n)
	for i := range out {
		out[i] = newTap(b.ln.(*pipes).dial(&net.TCPAddr{IP: net.IPv4(10, 0, 0, byte(i)), Port: 1}))
		t.Cleanup(out[i].close)
	}
	return out
}

func wantAnswers(t *testing.T, what string, p *tap, b []byte, n int) {
	t.Helper()
	if got, over := p.send(t, b); len(got) != n || over {
		t.Errorf("%s: %s, ended %v; want %d answers", what, allSaid(got), over, n)
	}
}

// A large request waits until another one is done with its room; small ones do not.
func TestLargeRequestsShareABudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := startPipes(t, withBudget())
		p := b.taps(t, 3)
		wantAnswers(t, "the first, a part of it", p[0], claimed(most, 100<<10), 0)
		wantAnswers(t, "the second, while the first is there", p[1], large(most), 0)
		wantAnswers(t, "a small one", p[2], large(60<<10), 1)
		time.Sleep(29 * time.Second)
		wantAnswers(t, "the rest of the first", p[0], large(most)[100<<10:], 1)
		wantAnswers(t, "the second has been served", p[1], nil, 0)
		if n := len(p[1].received()); n == 0 {
			t.Error("the second is not answered after the first is done")
		}
		// The room is free again, also after a request that ends in the middle.
		wantAnswers(t, "a third", p[2], large(most), 1)
		p[2].send(t, claimed(most, 100<<10))
		p[2].close()
		synctest.Wait()
		wantAnswers(t, "a fourth", p[0], large(most), 1)
	})
}

// Waiting for room is the server's doing and no idleness of the peer.
func TestWaitingForRoomIsNotIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := startPipes(t, withBudget(), newIdleLimit(20*time.Second).change())
		p := b.taps(t, 2)
		wantAnswers(t, "the first, a part of it", p[0], claimed(most, 100<<10), 0)
		wantAnswers(t, "the second", p[1], large(most), 0)
		time.Sleep(15 * time.Second)
		wantAnswers(t, "a bit more of the first", p[0], large(most)[100<<10:200<<10], 0)
		time.Sleep(14 * time.Second)
		wantAnswers(t, "the rest of the first", p[0], large(most)[200<<10:], 1)
		if len(p[1].received()) == 0 || p[1].ended() {
			t.Errorf("the second has %d bytes of an answer, ended %v", len(p[1].received()), p[1].ended())
		}
	})
}

// Who claims much and sends little takes nothing away, and who sends a good part and
// stalls is closed in time for those who wait.
func TestStalledClaimersStarveNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := startPipes(t, withBudget())
		p := b.taps(t, 60)
		for _, c := range p[:50] {
			wantAnswers(t, "a claim", c, claimed(smallFrame, 60<<10), 0)
		}
		wantAnswers(t, "beside claims", p[50], large(most), 1)
		wantAnswers(t, "who stalls", p[51], claimed(most, 64<<10), 0)
		time.Sleep(time.Second)
		wantAnswers(t, "who waits for him", p[52], large(most), 0)
		time.Sleep(remoting.LargeArrival - time.Second - 1)
		synctest.Wait()
		if p[51].ended() {
			t.Error("closed too early")
		}
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		if !p[51].ended() || len(p[52].received()) == 0 {
			t.Errorf("the stalled one ended %v, and who waited has %d bytes of an answer", p[51].ended(), len(p[52].received()))
		}
		b.log.wants(t, "did not arrive in time", "peer", "10.0.0.51", "begun", "large request")
		// Drops that come now and then do not stretch the time.
		wantAnswers(t, "who trickles", p[53], claimed(most, 64<<10), 0)
		for range 29 {
			time.Sleep(time.Second)
			wantAnswers(t, "a drop", p[53], []byte{0}, 0)
		}
		// Who finds no room for too long is told so in the log and closed.
		wantAnswers(t, "who comes late", p[54], large(most), 0)
		time.Sleep(time.Second)
		synctest.Wait()
		if !p[53].ended() || len(p[54].received()) == 0 {
			t.Errorf("who trickles ended %v, and who waited has %d bytes", p[53].ended(), len(p[54].received()))
		}
		if n := b.srv.Stats.Stalled.Load(); n != 2 {
			t.Errorf("%d stalled requests are counted, want 2", n)
		}
	})
}

// Who waits for room for too long is closed.
func TestNoRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := startPipes(t, withBudget())
		p := b.taps(t, 3)
		wantAnswers(t, "who stalls", p[0], claimed(most, 64<<10), 0)
		time.Sleep(29 * time.Second)
		wantAnswers(t, "who stalls after him", p[1], claimed(most, 64<<10), 0)
		wantAnswers(t, "who waits", p[2], large(most), 0)
		time.Sleep(30*time.Second + 1)
		synctest.Wait()
		if !p[2].ended() || len(p[2].received()) > 0 {
			t.Errorf("ended %v, %d bytes of an answer", p[2].ended(), len(p[2].received()))
		}
		b.log.wants(t, "found no room", "peer", "10.0.0.2", "size", fmt.Sprint(most), "setting", "remoting.maxClientInFlightBytes")
	})
}

// The budget has room for one frame of the largest size whatever it is set to.
func TestBudgetHoldsOneFrame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := startPipes(t, limits(func(l *remoting.Limits) { l.Frame, l.InFlight = 2<<20, 1 }))
		wantAnswers(t, "the largest", b.taps(t, 1)[0], large(2<<20), 1)
	})
}

// spy remembers how much room a server gave to its last read.
type spy struct {
	net.Conn
	mu   sync.Mutex
	room int
}

// Read notes the room.
func (s *spy) Read(b []byte) (int, error) {
	s.mu.Lock()
	s.room = len(b)
	s.mu.Unlock()
	return s.Conn.Read(b)
}

// The memory of a large request goes when it is done, even if more follows at once.
func TestLargeMemoryGoesWithItsRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := startPipes(t)
		client, server := net.Pipe()
		s := &spy{Conn: server}
		b.ln.(*pipes).conns <- s
		p := newTap(client)
		defer p.close()
		wantAnswers(t, "a larger one", p, large(3<<20), 1)
		wantAnswers(t, "a large one and a byte", p, append(large(1<<20), 0), 1)
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.room > 16<<10 {
			t.Errorf("after a large request there is room for %d bytes", s.room)
		}
	})
}

// The same complaint about the same peer is one line a minute, with the number of those
// that were held back.
func TestComplaintsAreNotRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := startPipes(t)
		const line = "another protocol on the remoting port"
		get := func(ip string) {
			t.Helper()
			c := b.dialFrom(ip)
			c.Write([]byte("GET / HTTP/1.1\r\n\r\n"))
			ended(t, c)
		}
		for range 10 {
			get("10.0.0.1")
		}
		get("10.0.0.2")
		if n := len(b.log.find(line)); n != 2 {
			t.Errorf("%d lines, want one for each address", n)
		}
		time.Sleep(time.Minute)
		get("10.0.0.1")
		found := b.log.find(line)
		if len(found) != 3 || found[2].attrs["not_logged"] != "9" {
			t.Errorf("after a minute: %v", found)
		}
		if n := b.srv.Stats.WrongProtocol.Load(); n != 12 {
			t.Errorf("%d are counted, want all 12", n)
		}
		// Beyond a bound of addresses all share a line.
		for i := range 5000 {
			get(fmt.Sprintf("10.1.%d.%d", i>>8, i&255))
		}
		if n := len(b.log.find(line)); n > 4100 {
			t.Errorf("%d lines for 5000 addresses", n)
		}
	})
}

// One peer is complained of for many things in the same words, but not for any number,
// and not in lines of any length.
func TestComplaintsAboutManyThings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := startPipes(t)
		c := b.client(wire.JSONHeader)
		long := strings.Repeat("long", 10_000)
		refuse := func(i int) {
			t.Helper()
			r := broker{cluster: "c", name: fmt.Sprint("b", i, long), addr: "a:1", topics: topics("T"), counter: 1}
			if resp := call(t, c, wire.RegisterBroker, r.ext(), r.body()); resp.Code != 1 {
				t.Fatal(said(resp))
			}
		}
		for range 2 {
			for i := range 100 {
				refuse(i % 50)
			}
			found := b.log.find("a registration is refused")
			if len(found) != 16 {
				t.Errorf("%d lines, want one for each of 16 brokers", len(found))
			}
			for _, e := range found {
				if len(e.attrs["broker"]) > 300 || !strings.HasSuffix(e.attrs["broker"], "…") {
					t.Errorf("a line names a broker in %d bytes", len(e.attrs["broker"]))
				}
			}
			time.Sleep(time.Minute)
			b.log.forget()
		}
		refuse(70)
		b.log.wants(t, "a registration is refused", "not_logged", "68") // 34 others, each twice
	})
}

// flaky is a listener that fails a few times before each connection.
type flaky struct {
	*pipes
	failures int
}

// Accept fails as a process does that has no descriptor left.
func (f *flaky) Accept() (net.Conn, error) {
	if f.failures > 0 {
		f.failures--
		return nil, errors.New("too many open files")
	}
	return f.pipes.Accept()
}

func TestAcceptErrorsPass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ln := &flaky{newPipes(), 5}
		b := start(t, ln)
		began := time.Now()
		c := nstest.NewClient(ln.dial(nil), wire.JSONHeader)
		defer c.Close()
		succeed(t, c, wire.GetAllTopicListFromNamesrv, nil, nil)
		if took := time.Since(began); took != (5+10+20+40+80)*time.Millisecond {
			t.Errorf("the pauses took %v", took)
		}
		if n := len(b.log.find("could not be accepted")); n != 5 {
			t.Errorf("%d lines for 5 failures", n)
		}
	})
}

// A listener that somebody else closes ends Serve with an error.
func TestClosedListenerIsAnError(t *testing.T) {
	b := startPipes(t)
	b.ln.Close()
	if err := <-b.done; !errors.Is(err, net.ErrClosed) {
		t.Errorf("Serve returned %v", err)
	}
	b.done <- nil
}

// The length of a frame is believed no more than its bytes allow.
func TestClaimsCostNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := startPipes(t)
		client, server := net.Pipe()
		s := &spy{Conn: server}
		b.ln.(*pipes).conns <- s
		p := newTap(client)
		defer p.close()
		head := binary.BigEndian.AppendUint32(nil, wire.DefaultMaxFrame-4)
		head = binary.BigEndian.AppendUint32(head, uint32(len(goodHead)))
		sent := 0
		for _, n := range []int{8, 4, 1000, 15 << 10, 1 << 10, 30 << 10} {
			p.send(t, append(head, make([]byte, n-min(n, len(head)))...)[:n])
			head = nil
			sent += n
			s.mu.Lock()
			// Twice what has come, or what lies in the pool and is no more than four times that.
			if room := s.room + sent; room > max(16<<10, 8*sent) {
				t.Errorf("%d bytes have come and there is room for %d", sent, room)
			}
			s.mu.Unlock()
		}
	})
}

// A peer that is gone before it is looked at is no trouble.
func TestPeersThatLeaveAtOnce(t *testing.T) {
	b := startTCP(t)
	for range 50 {
		c := b.conn()
		c.(*net.TCPConn).SetLinger(0)
		c.Close()
	}
	c := b.client(wire.JSONHeader)
	succeed(t, c, wire.GetAllTopicListFromNamesrv, nil, nil)
	if err := c.Conn().(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Conn().Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("after our end: %v", err)
	}
}
