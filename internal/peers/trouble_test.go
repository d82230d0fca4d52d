package peers_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fingerpost/internal/nsclient"
	"fingerpost/internal/peers"
	"fingerpost/registry"
	"fingerpost/remoting/wire"
)

// TestPeerDown has a peer go and come back, and the other one not suffer from it.
func TestPeerDown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSet(t, "a:1", "b:1", "c:1")
		s.register(brokerA, "a:1", "b:1", "c:1")
		w := s.watch("a:1", nil)
		time.Sleep(interval)
		down := time.Now()
		s.nodes["b:1"].change(func(n *node) { n.down = true })
		s.nodes["b:1"].stop()
		time.Sleep(most + time.Second)
		b, _ := w.Report("b:1")
		c, _ := w.Report("c:1")
		if b.State != peers.Unreachable || b.LastError == "" || b.Since.Before(down) || b.CheckedAt.After(down) {
			t.Errorf("the peer that is gone: %+v", b.Status)
		}
		if c.State != peers.Reachable || c.LastError != "" || time.Since(c.CheckedAt) > most {
			t.Errorf("the other one: %+v", c.Status)
		}
		s.restart("b:1")
		s.register(brokerA, "b:1")
		time.Sleep(recheck + time.Second)
		if b, _ := w.Report("b:1"); b.State != peers.Reachable || b.LastError != "" || b.Since.Before(down) {
			t.Errorf("the peer that came back: %+v", b.Status)
		}
		got := events(s.nodes["a:1"].reg)
		if len(got) != 2 || !strings.HasPrefix(got[0], "b:1 unreachable") || !strings.Contains(got[0], "refused") || !strings.HasPrefix(got[1], "b:1 reachable") {
			t.Errorf("events: %q", got)
		}
	})
}

// TestOddPeers has something else than a NameServer at an address.
func TestOddPeers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		odd  func(net.Conn)
		want string
	}{
		"garbage": {
			odd: func(c net.Conn) {
				go io.Copy(io.Discard, c)
				_, _ = io.WriteString(c, "HTTP/1.1 400 Bad Request\r\n\r\n")
				_ = c.Close()
			},
			want: "frame",
		},
		"silence":       {odd: func(c net.Conn) { _, _ = io.Copy(io.Discard, c) }, want: "deadline"},
		"an early end":  {odd: func(c net.Conn) { _, _ = c.Read(make([]byte, 64<<10)); _ = c.Close() }, want: "EOF"},
		"half a body":   {odd: answering(`{"brokerAddrTable":{"b":`), want: "cluster information"},
		"another thing": {odd: answering(`[1,2,3]`), want: "cluster information"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newSet(t, "a:1", "b:1", "c:1")
				s.register(brokerA, "a:1", "c:1")
				s.nodes["b:1"].change(func(n *node) { n.odd = c.odd })
				w := s.watch("a:1", nil)
				time.Sleep(5 * interval)
				b, _ := w.Report("b:1")
				if b.State != peers.Unreachable || !strings.Contains(b.LastError, c.want) || b.Differences() != 0 || !b.CheckedAt.IsZero() {
					t.Errorf("the odd one: %+v", b.Status)
				}
				if c, _ := w.Report("c:1"); c.State != peers.Reachable || time.Since(c.CheckedAt) > most {
					t.Errorf("the other one: %+v", c.Status)
				}
				if got := events(s.nodes["a:1"].reg); len(got) != 1 {
					t.Errorf("events: %q", got)
				}
				out := w.FanOut(t.Context(), wipe)
				if len(out) != 2 || out[0].Err == nil || out[1].Err != nil {
					t.Errorf("a change: %+v", out)
				}
			})
		})
	}
}

// answering answers every request with success and that body.
func answering(body string) func(net.Conn) {
	return func(c net.Conn) {
		defer c.Close()
		buf := make([]byte, 64<<10)
		for {
			n, err := c.Read(buf)
			if err != nil {
				return
			}
			f, _, _, err := wire.SplitFrame(buf[:n], wire.FrameLimits{})
			var req wire.Command
			if err != nil || req.Decode(f) != nil {
				return
			}
			resp := wire.Response(wire.Success, req.Opaque)
			resp.Body = []byte(body)
			frame, err := resp.AppendTo(nil, wire.JSONHeader)
			if err != nil {
				return
			}
			if _, err := c.Write(frame); err != nil {
				return
			}
		}
	}
}

// TestLostConnection has a server that closes silent connections be asked over a new one.
func TestLostConnection(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSet(t, "a:1", "b:1")
		s.register(brokerA, "a:1", "b:1")
		w := s.watch("a:1", func(o *peers.Options) { o.Interval = 10 * time.Minute }) // longer than a server waits
		time.Sleep(time.Hour)
		if st := w.List()[0]; st.State != peers.Reachable || time.Since(st.CheckedAt) > 11*time.Minute {
			t.Errorf("%+v", st)
		}
		if got := events(s.nodes["a:1"].reg); len(got) > 0 {
			t.Errorf("events: %q", got)
		}
	})
}

// TestSelf has a server named among its own peers.
func TestSelf(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSet(t, "a:1", "b:1")
		s.register(brokerA, "a:1", "b:1")
		w := s.watch("a:1", func(o *peers.Options) { o.Addrs = append(o.Addrs, "a:1") })
		if out := w.FanOut(t.Context(), wipe); len(out) != 1 || out[0].Peer != "b:1" || out[0].Err != nil {
			t.Errorf("a change before anybody was asked: %+v", out)
		}
		time.Sleep(2 * interval)
		if list := w.List(); list[0].State != peers.Self || list[1].State != peers.Reachable {
			t.Errorf("%+v", list)
		}
		if s.nodes["a:1"].reg.Snapshot().Wiped("broker-a") != nil || s.nodes["b:1"].reg.Snapshot().Wiped("broker-a") == nil {
			t.Error("the change was not made on the peer alone")
		}
		if got := found(t, w, "a:1"); got != "" {
			t.Errorf("differs from itself: %s", got)
		}
	})
}

// TestListsSwitchedOff has a peer that does not list its topics: what is here is still
// looked for there.
func TestListsSwitchedOff(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSet(t, "a:1", "b:1")
		s.nodes["b:1"].java = true
		rules := s.nodes["b:1"].reg.Snapshot().Rules()
		rules.EnableAllTopicList = false
		s.nodes["b:1"].reg.SetRules(rules, nil, registry.Cause{})
		s.register(brokerA, "a:1", "b:1")
		b := brokerA
		b.topics = append([]string{"New"}, b.topics...)
		s.register(b, "a:1")
		w := s.watch("a:1", nil)
		time.Sleep(2 * interval)
		r, _ := w.Report("b:1")
		if got := found(t, w, "b:1"); got != "topic New only-here" || r.Topics != -1 || strings.Join(r.Notes, " ") != peers.NoteTopicsNotListed {
			t.Errorf("found %q, %+v", got, r.Status)
		}
	})
}

// TestRoutesNotReady has a peer that waits for its brokers before it answers routes.
func TestRoutesNotReady(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSet(t, "a:1", "b:1")
		s.nodes["b:1"].java = true
		rules := s.nodes["b:1"].reg.Snapshot().Rules()
		rules.NeedWaitForService, rules.WaitForService = true, 2*interval
		s.nodes["b:1"].reg.SetRules(rules, nil, registry.Cause{})
		s.register(brokerA, "a:1", "b:1")
		w := s.watch("a:1", nil)
		time.Sleep(interval)
		if st := w.List()[0]; strings.Join(st.Notes, " ") != peers.NoteRoutesNotReady || st.State != peers.Reachable {
			t.Errorf("before: %+v", st)
		}
		time.Sleep(3 * interval)
		if st := w.List()[0]; len(st.Notes) > 0 || st.RoutesDone.IsZero() {
			t.Errorf("after: %+v", st)
		}
	})
}

func TestCatchingUp(t *testing.T) {
	t.Parallel()
	want := func(t *testing.T, w *peers.Watcher, have, of int, done bool) {
		t.Helper()
		if h, o, d := w.CatchingUp(); h != have || o != of || d != done {
			t.Errorf("catching up %d/%d, done %v; want %d/%d, %v", h, o, d, have, of, done)
		}
	}
	options := func(o *peers.Options) { o.WarmUp = time.Minute }
	t.Run("until as many are known", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			s := newSet(t, "a:1", "b:1", "c:1")
			for i := range 3 {
				s.register(broker{name: fmt.Sprintf("broker-%d", i), addr: fmt.Sprintf("10.0.0.%d:1", i), topics: []string{"A", "B"}}, "b:1")
			}
			w := s.watch("a:1", options)
			want(t, w, 0, 0, false) // nobody has been asked
			synctest.Wait()
			want(t, w, 0, 3, false)
			for i := range 2 {
				s.register(broker{name: fmt.Sprintf("broker-%d", i), addr: fmt.Sprintf("10.0.0.%d:1", i), topics: []string{"A", "B"}}, "a:1")
				want(t, w, i+1, 3, false)
			}
			s.register(broker{name: "broker-2", addr: "10.0.0.2:1", topics: []string{"A", "B"}}, "a:1")
			want(t, w, 3, 3, true)
			s.nodes["a:1"].reg.Unregister("c", "broker-2", "10.0.0.2:1", 0, registry.Cause{})
			want(t, w, 0, 0, true) // once is for ever
		})
	})
	t.Run("until the time is over", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			s := newSet(t, "a:1", "b:1")
			s.register(brokerA, "b:1")
			w := s.watch("a:1", options)
			time.Sleep(time.Minute - time.Second)
			want(t, w, 0, 1, false)
			time.Sleep(time.Second)
			want(t, w, 0, 1, true)
		})
	})
	t.Run("not if there is nobody to ask", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			s := newSet(t, "a:1", "b:1")
			s.nodes["b:1"].change(func(n *node) { n.down = true })
			w := s.watch("a:1", options)
			synctest.Wait()
			want(t, w, 0, 0, true)
		})
	})
	var none *peers.Watcher
	want(t, none, 0, 0, true)
}

func wipe(ctx context.Context, c *nsclient.Client) (int, error) {
	return c.WipeWritePerm(ctx, "broker-a")
}

func TestFanOut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSet(t, "a:1", "b:1", "c:1", "d:1", "e:1")
		s.register(brokerA, "a:1", "b:1", "c:1")
		s.nodes["d:1"].change(func(n *node) { n.down = true })
		s.nodes["e:1"].change(func(n *node) { n.odd = func(c net.Conn) { _, _ = io.Copy(io.Discard, c) } })
		w := s.watch("a:1", nil)
		time.Sleep(interval)
		begin := time.Now()
		out := w.FanOut(t.Context(), wipe)
		if took := time.Since(begin); took > 2*nsclient.DefaultTimeout {
			t.Errorf("it took %s", took)
		}
		if len(out) != 4 {
			t.Fatalf("%+v", out)
		}
		for i, c := range []struct {
			peer   string
			topics int
			err    error
		}{{"b:1", 2, nil}, {"c:1", 2, nil}, {"d:1", 0, errAny}, {"e:1", 0, context.DeadlineExceeded}} {
			o := out[i]
			if o.Peer != c.peer || o.Topics != c.topics || (o.Err == nil) != (c.err == nil) || c.err != nil && c.err != errAny && !errors.Is(o.Err, c.err) {
				t.Errorf("%+v", o)
			}
		}
		for _, a := range []string{"b:1", "c:1"} {
			if s.nodes[a].reg.Snapshot().Wiped("broker-a") == nil {
				t.Errorf("nothing happened on %s", a)
			}
		}
		out = w.FanOut(t.Context(), func(ctx context.Context, c *nsclient.Client) (int, error) {
			_, err := c.KV(ctx, "no", "thing")
			return 0, err
		})
		if !nsclient.Is(out[0].Err, wire.QueryNotFound) {
			t.Errorf("a refusal: %+v", out[0])
		}
		var none *peers.Watcher
		if out := none.FanOut(t.Context(), wipe); len(out) != 0 {
			t.Errorf("without peers: %+v", out)
		}
	})
}

var errAny = errors.New("any")
