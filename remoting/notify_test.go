package remoting_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"fingerpost/internal/nstest"
	"fingerpost/registry"
	"fingerpost/remoting"
	"fingerpost/remoting/wire"
)

func withNotices() change {
	return withRules(func(r *registry.Rules) { r.NotifyMinBrokerIDChanged = true })
}

// notice waits for a broker's next notice.
func notice(tb testing.TB, b *nstest.Broker) wire.MinBrokerIDChange {
	tb.Helper()
	select {
	case n := <-b.Notices():
		return n
	case <-time.After(patience):
		tb.Fatal("no notice came")
		panic("not reached")
	}
}

// Real listeners hear of a smaller id that came and of the smallest that left.
func TestNotices(t *testing.T) {
	for _, h := range []wire.HeaderType{wire.JSONHeader, wire.BinaryHeader} {
		t.Run(h.String(), func(t *testing.T) {
			t.Parallel()
			b := startTCP(t, withNotices(), with(func(s *remoting.Server) { s.HeaderType = h }))
			var members [3]*nstest.Broker
			for id := 2; id >= 0; id-- {
				m := nstest.StartBroker(t, b.ln.Addr().String(), nstest.BrokerConfig{
					Cluster: "c", Name: "b", ID: int64(id), HAAddr: fmt.Sprint("ha:", id), EnableActingMaster: wire.BoolOf(true),
				})
				m.Topic("T", 4)
				m.Topic("U", 4)
				members[id] = m
				if _, err := nstest.Must(m.Register()); err != nil {
					t.Fatal(err)
				}
				want := wire.MinBrokerIDChange{MinBrokerID: int64(id), MinBrokerAddr: m.Addr(), HABrokerAddr: wire.TextOf(fmt.Sprint("ha:", id))}
				for _, other := range members[id+1:] {
					if got := notice(t, other); got != want {
						t.Errorf("id %d came: %+v, want %+v", id, got, want)
					}
				}
			}
			// The master leaves by a request, the next one by its connection's end.
			if _, err := nstest.Must(members[0].Unregister()); err != nil {
				t.Fatal(err)
			}
			want := wire.MinBrokerIDChange{MinBrokerID: 1, MinBrokerAddr: members[1].Addr(), OfflineBrokerAddr: wire.TextOf(members[0].Addr())}
			for _, m := range members[1:] {
				if got := notice(t, m); got != want {
					t.Errorf("id 0 left: %+v, want %+v", got, want)
				}
			}
			members[1].Disconnect()
			want = wire.MinBrokerIDChange{MinBrokerID: 2, MinBrokerAddr: members[2].Addr(), OfflineBrokerAddr: wire.TextOf(members[1].Addr())}
			if got := notice(t, members[2]); got != want {
				t.Errorf("id 1 disconnected: %+v, want %+v", got, want)
			}
			select {
			case n := <-members[0].Notices():
				t.Errorf("who left is told %+v", n)
			default:
			}
		})
	}
}

// Without the setting nobody is told, and without the group's consent nobody of a loss.
func TestNoNotices(t *testing.T) {
	tests := map[string]struct {
		setting, acting bool
		came, left      uint64
	}{
		"setting off":                 {false, true, 0, 0},
		"group of 4.x":                {true, false, 1, 0},
		"setting on and group agrees": {true, true, 1, 1},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				world := newBrokers()
				b := startPipes(t, withRules(func(r *registry.Rules) { r.NotifyMinBrokerIDChanged = tt.setting }),
					with(func(s *remoting.Server) { s.SetDial(world.dial) }))
				defer world.wait()
				c, master := b.client(wire.JSONHeader), b.client(wire.JSONHeader)
				r := broker{cluster: "c", name: "b", id: 1, addr: "s:1", topics: topics("T", "U"), counter: 1}
				if tt.acting {
					r.acting = wire.BoolOf(true)
				}
				r.register(t, c)
				r.id, r.addr = 0, "m:1"
				r.register(t, master)
				synctest.Wait()
				if n := b.srv.Stats.Notices.Load(); n != tt.came {
					t.Errorf("%d notices of the master's coming, want %d", n, tt.came)
				}
				master.Close()
				settle()
				if n := b.srv.Stats.Notices.Load(); n != tt.came+tt.left {
					t.Errorf("%d notices of the master's leaving, want %d", n-tt.came, tt.left)
				}
			})
		})
	}
}

// brokers are those that a server in a bubble connects to, by address.
type brokers struct {
	mu    sync.Mutex
	heard map[string][]wire.MinBrokerIDChange
	flags map[int32]bool
	conns map[string]int
	dead  map[string]func(context.Context) error // how connecting to an address fails
	mute  map[string]bool                        // who accepts and never reads
	open  []net.Conn
	wg    sync.WaitGroup
}

func newBrokers() *brokers {
	return &brokers{
		heard: map[string][]wire.MinBrokerIDChange{}, flags: map[int32]bool{}, conns: map[string]int{},
		dead: map[string]func(context.Context) error{}, mute: map[string]bool{},
	}
}

func (w *brokers) dial(ctx context.Context, addr string) (net.Conn, error) {
	w.mu.Lock()
	w.conns[addr]++
	fail, mute := w.dead[addr], w.mute[addr]
	w.mu.Unlock()
	if fail != nil {
		return nil, fail(ctx)
	}
	near, far := net.Pipe()
	w.mu.Lock()
	w.open = append(w.open, far)
	w.mu.Unlock()
	if !mute {
		w.wg.Go(func() { w.listen(addr, far) })
	}
	return near, nil
}

func (w *brokers) listen(addr string, c net.Conn) {
	defer c.Close()
	r := bufio.NewReader(c)
	for {
		f, _, err := wire.ReadFrame(r, nil, wire.FrameLimits{})
		if err != nil {
			return
		}
		var cmd wire.Command
		if cmd.Decode(f) != nil {
			return
		}
		w.mu.Lock()
		w.heard[addr] = append(w.heard[addr], cmd.Ext.MinBrokerIDChange())
		w.flags[cmd.Flag] = true
		w.mu.Unlock()
	}
}

// hangUp closes the connections that there are, as brokers do that restart.
func (w *brokers) hangUp() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.open {
		c.Close()
	}
	w.open = nil
}

func (w *brokers) wait() {
	w.hangUp()
	w.wg.Wait()
}

// toldTo returns what a broker has heard, and over how many connections.
func (w *brokers) toldTo(addr string) (heard []wire.MinBrokerIDChange, conns int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.heard[addr]), w.conns[addr]
}

// settle waits until notices that can be delivered are: before a connection is used
// again a millisecond is spent on whether the broker has hung up.
func settle() {
	synctest.Wait()
	time.Sleep(2 * time.Millisecond)
	synctest.Wait()
}

// hang fails when the caller gives up, like an address from which nothing comes back.
func hang(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(3 * time.Second):
		return errors.New("i/o timeout")
	}
}

// A dead or a mute target delays neither the others nor the registry.
func TestDeadTargetDelaysNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		world := newBrokers()
		world.dead["dead:1"], world.mute["mute:1"] = hang, true
		b := startPipes(t, withNotices(), with(func(s *remoting.Server) { s.SetDial(world.dial) }))
		defer world.wait()
		c := b.client(wire.JSONHeader)
		r := broker{cluster: "c", name: "b", topics: topics("T", "U"), counter: 1, acting: wire.BoolOf(true)}
		for id, addr := range []string{"new:1", "dead:1", "mute:1", "live:1"} {
			if id == 0 {
				continue
			}
			r.id, r.addr = int64(id), addr
			r.register(t, c)
		}
		start := time.Now()
		other := b.client(wire.JSONHeader)
		r.id, r.addr = 0, "new:1"
		r.register(t, other)
		route(t, c, "T")
		synctest.Wait()
		if time.Since(start) != 0 {
			t.Error("the registration took time")
		}
		if heard, _ := world.toldTo("live:1"); len(heard) != 1 {
			t.Errorf("the broker behind the dead ones has heard %d notices", len(heard))
		}
		if n := b.srv.Stats.LostNotices.Load(); n != 0 {
			t.Errorf("%d notices are lost although nobody has given up yet", n)
		}
		time.Sleep(4 * time.Second)
		synctest.Wait()
		if n := b.srv.Stats.LostNotices.Load(); n != 2 {
			t.Errorf("%d notices are lost, want those to the dead and the mute one", n)
		}
		found := b.log.find("a notice of a changed smallest broker id is lost")
		if len(found) != 2 || found[0].attrs["addr"] == found[1].attrs["addr"] {
			t.Errorf("the log has %v", found)
		}
		world.mu.Lock()
		defer world.mu.Unlock()
		if !world.flags[wire.FlagOneway] || len(world.flags) != 1 {
			t.Errorf("notices have flags %v, want oneway alone", world.flags)
		}
	})
}

// Notices of one broker come in order over one connection, which is made again when the
// broker has closed it and let go when there have been none for a while.
func TestNoticesKeepAConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		world := newBrokers()
		b := startPipes(t, withNotices(), with(func(s *remoting.Server) { s.SetDial(world.dial) }))
		defer world.wait()
		c := b.client(wire.JSONHeader)
		r := broker{cluster: "c", name: "b", topics: topics("T", "U"), counter: 1, acting: wire.BoolOf(true)}
		r.id, r.addr = 9, "s:1"
		r.register(t, c)
		next := int64(8)
		smaller := func() {
			t.Helper()
			r.id, r.addr = next, fmt.Sprint("n", next, ":1")
			next--
			r.register(t, c)
			settle()
			heard, _ := world.toldTo("s:1")
			if last := heard[len(heard)-1]; last.MinBrokerID != r.id || last.MinBrokerAddr != r.addr {
				t.Fatalf("the last notice is %+v, want id %d", last, r.id)
			}
		}
		smaller()
		smaller()
		smaller()
		if _, n := world.toldTo("s:1"); n != 1 {
			t.Errorf("%d connections for 3 notices", n)
		}
		world.hangUp()
		synctest.Wait()
		smaller()
		if _, n := world.toldTo("s:1"); n != 2 || b.srv.Stats.LostNotices.Load() != 0 {
			t.Errorf("after the broker hung up: %d connections, %d lost", n, b.srv.Stats.LostNotices.Load())
		}
		time.Sleep(61 * time.Second)
		synctest.Wait()
		smaller()
		if heard, n := world.toldTo("s:1"); n != 3 || len(heard) != 5 {
			t.Errorf("after a minute of silence: %d connections, %d notices heard", n, len(heard))
		}
	})
}

// A broker that takes none of its notices loses the latest ones and costs a bounded
// backlog.
func TestNoticeBacklog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		world := newBrokers()
		world.dead["s:1"] = func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
		b := startPipes(t, withNotices(), with(func(s *remoting.Server) { s.SetDial(world.dial) }))
		defer world.wait()
		c := b.client(wire.JSONHeader)
		r := broker{cluster: "c", name: "b", topics: topics("T", "U"), counter: 1, acting: wire.BoolOf(true)}
		r.id, r.addr = 1000, "s:1"
		r.register(t, c)
		for i := range 40 {
			r.id, r.addr = int64(900-i), "n:1" // one address that moves on
			r.register(t, c)
			synctest.Wait()
		}
		if n := b.srv.Stats.LostNotices.Load(); n != 40-16-1 {
			t.Errorf("%d notices are lost of 40, want all but one that is sent and 16 that wait", n)
		}
	})
}

// A stop does not wait for brokers that take their time.
func TestStopDoesNotWaitForNotices(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		world := newBrokers()
		world.dead["s:1"] = hang
		b := startPipes(t, withNotices(), with(func(s *remoting.Server) { s.SetDial(world.dial) }))
		defer world.wait()
		c := b.client(wire.JSONHeader)
		r := broker{cluster: "c", name: "b", id: 1, addr: "s:1", topics: topics("T", "U"), counter: 1}
		r.register(t, c)
		r.id, r.addr = 0, "m:1"
		r.register(t, c)
		synctest.Wait()
		start := time.Now()
		b.stop()
		if took := time.Since(start); took != 0 {
			t.Errorf("the stop took %v", took)
		}
		ended(t, c)
	})
}
