package remoting_test

import (
	"encoding/binary"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"fingerpost/internal/nstest"
	"fingerpost/remoting"
	"fingerpost/remoting/wire"
)

const delay = 50 * time.Millisecond

// valve makes a server overloaded when the test says so.
type valve struct{ over atomic.Bool }

func (v *valve) change() change {
	return with(func(s *remoting.Server) {
		s.Limits.OverloadDelay = delay
		s.SetTooMuch(v.over.Load)
	})
}

// turn sets the load and waits until the server has seen it.
func (v *valve) turn(over bool) {
	v.over.Store(over)
	time.Sleep(remoting.LoadEvery)
	synctest.Wait()
}

func TestTooBusy(t *testing.T) {
	for _, c := range []struct {
		late, all, waiting uint64
		processors         int
		want               bool
	}{
		{0, 0, 0, 2, false},
		{0, 100, 10_000, 2, false},
		{100, 100, 10, 2, false}, // the machine is slow, but nobody asks much
		{100, 100, 128, 2, true},
		{9, 100, 10_000, 2, false},
		{10, 100, 10_000, 2, true},
		{100, 100, 128, 4, false},
	} {
		if got := remoting.TooBusy(c.late, c.all, c.waiting, c.processors); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// Under too much load every request that is no broker's is answered code 2 and changes
// nothing; brokers are served, also new ones.
func TestOverloadTurnsClientsAway(t *testing.T) {
	for _, h := range []wire.HeaderType{wire.JSONHeader, wire.BinaryHeader} {
		synctest.Test(t, func(t *testing.T) {
			var load valve
			b := startPipes(t, load.change(), with(func(s *remoting.Server) { s.HeaderType = h }))
			defer b.prepare(t, badCase{name: "the state"})()
			known := b.client(h)
			succeed(t, known, wire.GetRouteInfoByTopic, fields("topic", "T1"), nil)
			load.turn(true)
			if !b.srv.Overloaded() {
				t.Error("the server does not say that it is overloaded")
			}
			before := b.dump()
			turned := uint64(0)
			for _, c := range codeCases {
				class := remoting.AccessClassOf(c.code)
				if class == remoting.ForBroker {
					continue
				}
				for _, client := range []*nstest.Client{known, b.client(h)} {
					resp := call(t, client, c.code, c.ext, []byte(c.body))
					if said(resp) != `2 "[OVERLOAD]system busy, start flow control for a while"` {
						t.Errorf("%v: %s", c.code, said(resp))
					}
					turned++
				}
			}
			if after := b.dump(); after != before || len(b.conf.causes) > 0 {
				t.Errorf("what was turned away left a trace: %s", moved(before, after))
			}
			if n := b.srv.Stats.Overloaded.Load(); n != turned {
				t.Errorf("%d counted, %d turned away", n, turned)
			}
			busy := uint64(0)
			for _, a := range b.srv.Stats.Answers() {
				if a.Result == "busy" {
					busy += a.Count
				}
			}
			if busy != turned {
				t.Errorf("%d of %d are counted by their code", busy, turned)
			}
			// A broker that comes now is served, and everything else on its connection too.
			r, c := one("b9", "a9:1"), b.client(h)
			r.topics = topics("T8", "T9")
			r.register(t, c)
			succeed(t, c, wire.BrokerHeartbeat, r.identity(), nil)
			succeed(t, c, wire.GetBrokerClusterInfo, nil, nil)
			succeed(t, c, wire.GetRouteInfoByTopic, fields("topic", "T9"), nil)
			load.turn(false)
			succeed(t, known, wire.GetRouteInfoByTopic, fields("topic", "T9"), nil)
		})
	}
}

// Who was turned away is answered at once, all that came with it too, and then not read
// for a moment, so that asking again at once brings nothing.
func TestTurnedAwayHaveToWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var load valve
		b := startPipes(t, load.change())
		c := b.client(wire.JSONHeader)
		load.turn(true)
		began := time.Now()
		ask := func(n int) {
			t.Helper()
			var all []*wire.Command
			for i := range n {
				all = append(all, &wire.Command{Code: int32(wire.GetRouteInfoByTopic), Opaque: int32(i), Version: wire.V5_5_0, Ext: fields("topic", "T1")})
			}
			if err := c.Send(all...); err != nil {
				t.Fatal(err)
			}
			for i := range n {
				if resp, err := c.Receive(); err != nil || resp.Code != int32(wire.SystemBusy) || resp.Opaque != int32(i) {
					t.Fatalf("%v, %v", resp, err)
				}
			}
		}
		ask(10)
		if took := time.Since(began); took != 0 {
			t.Errorf("code 2 took %s", took)
		}
		ask(1)
		if took := time.Since(began); took != delay {
			t.Errorf("the next came after %s, want %s", took, delay)
		}
	})
}

// The places that are kept for brokers go to nobody else.
func TestPlacesForBrokers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := startPipes(t, limits(func(l *remoting.Limits) { l.Connections, l.BrokerConnections = 20, 2 }))
		var clients []*nstest.Client
		for i := range 18 {
			c := b.dialFrom(fmt.Sprint("10.0.1.", i))
			succeed(t, c, wire.GetAllTopicListFromNamesrv, nil, nil)
			clients = append(clients, c)
		}
		late := b.dialFrom("10.0.2.1")
		if resp := call(t, late, wire.GetRouteInfoByTopic, fields("topic", "T"), nil); resp.Code != int32(wire.SystemBusy) || resp.Remark == "" {
			t.Errorf("a client in a broker's place: %s", said(resp))
		}
		ended(t, late)
		silent := b.dialFrom("10.0.2.2")
		time.Sleep(remoting.FirstRequest)
		ended(t, silent)
		for i := range 2 {
			r, c := one(fmt.Sprint("b", i), fmt.Sprint("a", i, ":1")), b.dialFrom(fmt.Sprint("10.0.3.", i))
			r.register(t, c)
			time.Sleep(2 * remoting.FirstRequest)
			succeed(t, c, wire.GetBrokerClusterInfo, nil, nil)
		}
		refused(t, b.dialFrom("10.0.3.9"))
		// With one client less there is one place more for whoever has come meanwhile.
		clients[0].Close()
		clients[1].Close()
		clients[2].Close()
		synctest.Wait()
		succeed(t, b.dialFrom("10.0.4.1"), wire.GetAllTopicListFromNamesrv, nil, nil)
		if n := b.srv.Stats.Rejected.Load(); n != 2 {
			t.Errorf("%d rejected, want 2", n)
		}
	})
	// A tenth at most: a small limit is not all for brokers.
	synctest.Test(t, func(t *testing.T) {
		b := startPipes(t, limits(func(l *remoting.Limits) { l.Connections, l.BrokerConnections = 3, 1000 }))
		for range 3 {
			succeed(t, b.dialFrom("10.0.0.1"), wire.GetAllTopicListFromNamesrv, nil, nil)
		}
	})
}

// Nor do they go to those who send what brokers send and are not admitted.
func TestPlacesForAdmittedBrokers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := startPipes(t, protected(remoting.Listed, false), limits(func(l *remoting.Limits) { l.Connections, l.BrokerConnections = 20, 2 }))
		for i := range 18 {
			c := b.dialFrom(fmt.Sprint("10.0.1.", i))
			succeed(t, c, wire.GetBrokerClusterInfo, nil, nil)
		}
		for i := range 4 {
			c := b.dialFrom(fmt.Sprint("192.0.2.", i))
			if resp := call(t, c, wire.BrokerHeartbeat, fields("clusterName", "c", "brokerName", "x", "brokerAddr", "192.0.2.9:1"), nil); resp.Code != int32(wire.NoPermission) {
				t.Errorf("a stranger: %s", said(resp))
			}
			ended(t, c)
		}
		c := b.dialFrom(listed)
		one("b", "10.0.0.1:1").register(t, c)
		time.Sleep(2 * remoting.FirstRequest)
		succeed(t, c, wire.GetBrokerClusterInfo, nil, nil)
	})
}

// Behind a balancer a silent connection keeps such a place no longer either.
func TestPlacesForBrokersBehindABalancer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := startPipes(t, withBalancer(), limits(func(l *remoting.Limits) { l.Connections, l.BrokerConnections = 20, 2 }))
		for range 18 {
			succeed(t, b.dialFrom("10.0.0.5"), wire.GetAllTopicListFromNamesrv, nil, nil)
		}
		c := b.dialFrom("10.0.0.5")
		if err := c.Write([]byte("PROXY TCP4 203.0.113.7 10.0.0.5 40000 9876\r\n")); err != nil {
			t.Fatal(err)
		}
		time.Sleep(remoting.FirstRequest)
		ended(t, c)
	})
}

// Large requests of others take no room from brokers.
func TestBrokersHaveABudgetOfTheirOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := startPipes(t, withBudget())
		p := b.taps(t, 2)
		wantAnswers(t, "a client's, a part of it", p[0], claimed(most, 100<<10), 0)
		wantAnswers(t, "another client's", p[1], large(most), 0)
		r := one("b1", "a1:1")
		for i := range 3000 {
			r.topics = append(r.topics, topic(fmt.Sprint("a-topic-with-a-name-of-some-length-", i), 8, 6))
		}
		if n := len(r.body()); n < 100<<10 || n > most {
			t.Fatalf("a registration of %d bytes", n)
		}
		c := b.dialFrom("10.0.9.9")
		r.register(t, c)
		if n := len(p[1].received()); n > 0 {
			t.Error("the second client's was served")
		}
	})
}

// A stampede on a real port: whoever asks is answered, with a route or with code 2, and no
// broker misses a heartbeat.
func TestStampede(t *testing.T) {
	b := startTCP(t, limits(func(l *remoting.Limits) { l.OverloadDelay = time.Millisecond }))
	const brokers, clients, rounds, batch = 10, 300, 10, 16
	names := make([]string, 0, brokers)
	var beats sync.WaitGroup
	stop := make(chan struct{})
	for i := range brokers {
		r := one(fmt.Sprint("broker-", i), fmt.Sprint("10.0.0.", i, ":10911"))
		r.topics = topics("T1", "T2")
		c := b.client(wire.JSONHeader)
		r.register(t, c)
		names = append(names, r.addr)
		beats.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if resp, err := c.Call(wire.BrokerHeartbeat, r.identity(), nil); err != nil || resp.Code != 0 {
					t.Errorf("a heartbeat: %v, %v", resp, err)
					return
				}
				runtime.Gosched()
			}
		})
	}
	var asking sync.WaitGroup
	var mu sync.Mutex
	got := map[int32]int{}
	for range clients {
		c := b.client(wire.JSONHeader)
		asking.Go(func() {
			for range rounds {
				var all []*wire.Command
				for i := range batch {
					all = append(all, &wire.Command{Code: int32(wire.GetRouteInfoByTopic), Opaque: int32(i), Version: wire.V5_5_0, Ext: fields("topic", "T1")})
				}
				if err := c.Send(all...); err != nil {
					t.Error(err)
					return
				}
				for range batch {
					resp, err := c.Receive()
					if err != nil {
						t.Error(err)
						return
					}
					mu.Lock()
					got[resp.Code]++
					mu.Unlock()
				}
			}
		})
	}
	asking.Wait()
	close(stop)
	beats.Wait()
	if n := got[0] + got[int32(wire.SystemBusy)]; n != clients*rounds*batch {
		t.Errorf("answers by code: %v", got)
	}
	if n := b.srv.Stats.Overloaded.Load(); n != uint64(got[int32(wire.SystemBusy)]) {
		t.Errorf("%d counted as turned away, %v answered", n, got)
	}
	for _, addr := range names {
		if b.reg.Snapshot().Live("c1", addr) == nil && b.reg.Snapshot().Live("c", addr) == nil {
			t.Errorf("%s has gone", addr)
		}
	}
	t.Logf("answers by code: %v", got)
}

func TestSplitHeader(t *testing.T) {
	cmd := &wire.Command{Code: 103, Ext: fields("brokerName", "b"), Body: []byte("body")}
	for _, h := range []wire.HeaderType{wire.JSONHeader, wire.BinaryHeader} {
		frame, err := cmd.AppendTo(nil, h)
		if err != nil {
			t.Fatal(err)
		}
		end := 8 + int(binary.BigEndian.Uint32(frame[4:])&wire.MaxHeader)
		for n := range frame {
			f, ok := wire.SplitHeader(frame[:n])
			if ok != (n >= end) {
				t.Fatalf("%d bytes of a frame whose header ends at %d: %v", n, end, ok)
			}
			var got wire.Command
			if ok && (got.Decode(f) != nil || got.Code != 103 || got.Body != nil || !strings.HasPrefix(said(&got), "103")) {
				t.Errorf("%+v", got)
			}
		}
	}
}
