package nsclient_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"fingerpost/internal/nsclient"
	"fingerpost/internal/nstest"
	"fingerpost/registry"
	"fingerpost/remoting"
	"fingerpost/remoting/wire"
)

// text is what a server shows as its settings.
type text string

func (t text) Text() []byte                                  { return []byte(t) }
func (text) Update([]byte, registry.Cause) ([]string, error) { return nil, nil }

// serve runs a NameServer until the test ends.
func serve(t *testing.T, settings string) (*registry.Registry, string) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	reg := registry.New(registry.Options{})
	srv := &remoting.Server{Registry: reg, Settings: text(settings), Log: slog.New(slog.DiscardHandler)}
	done := make(chan error, 1)
	go func() { done <- srv.Serve(ln) }()
	t.Cleanup(func() {
		if err := srv.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return reg, ln.Addr().String()
}

func dial(t *testing.T, addr string, o nsclient.Options) *nsclient.Client {
	t.Helper()
	if o.Timeout == 0 {
		o.Timeout = 30 * time.Second // as long as any machine may need
	}
	c, err := nsclient.Dial(t.Context(), addr, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func TestAsk(t *testing.T) {
	t.Parallel()
	reg, addr := serve(t, "kvConfigPath=C:\\new\nodd=1=2\ntwo=first\nsecond\n")
	b := nstest.StartBroker(t, addr, nstest.BrokerConfig{Cluster: "c", Name: "broker-a", Addr: "10.0.0.1:10911"})
	b.Topic("T", 4)
	b.Topic("U", 8)
	if _, err := nstest.Must(b.Register()); err != nil {
		t.Fatal(err)
	}
	if _, _, err := reg.PutKV("ns", "key", "value", registry.KVCondition{}, registry.Cause{}); err != nil {
		t.Fatal(err)
	}
	c, ctx := dial(t, addr, nsclient.Options{}), t.Context()
	group := wire.BrokerData{Name: "broker-a", Cluster: "c", Addrs: []wire.BrokerAddr{{ID: 0, Addr: "10.0.0.1:10911"}}}
	check := func(what string, got any, err error, want any) {
		t.Helper()
		if err != nil {
			t.Errorf("%s: %v", what, err)
		} else if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: %s", what, d)
		}
	}
	info, err := c.Clusters(ctx)
	check("106", info, err, &wire.ClusterInfo{
		Brokers: []wire.BrokerData{group}, Clusters: []wire.Cluster{{Name: "c", Brokers: []string{"broker-a"}}},
	})
	node, err := c.Node(ctx)
	digests := reg.Snapshot().Digests()
	check("106 of ours", node, err, &nsclient.Node{
		ClusterInfo: info, Version: wire.V5_5_0, Epoch: reg.Epoch(), Topics: digests.Topics, KV: digests.KV,
	})
	topics, err := c.Topics(ctx)
	check("206", topics, err, []string{"T", "U"})
	topics, err = c.TopicsByCluster(ctx, "c")
	check("224", topics, err, []string{"T", "U"})
	topics, err = c.TopicsByCluster(ctx, "other")
	check("224 of another cluster", len(topics), err, 0)
	rt, err := c.Route(ctx, "T")
	check("105", rt, err, &wire.Route{
		Brokers: []wire.BrokerData{group},
		Queues:  []wire.QueueData{{Broker: "broker-a", ReadQueues: 4, WriteQueues: 4, Perm: 6}},
	})
	members, err := c.BrokerMembers(ctx, "c", "broker-a")
	check("901", members, err, &wire.MemberGroup{Addrs: group.Addrs, Cluster: wire.TextOf("c"), Name: wire.TextOf("broker-a")})
	settings, err := c.Config(ctx)
	check("319", settings, err, map[string]string{"kvConfigPath": `C:\new`, "odd": "1=2", "two": "first\nsecond"})
	value, err := c.KV(ctx, "ns", "key")
	check("101", value, err, "value")
	list, err := c.KVList(ctx, "ns")
	check("219", list, err, []wire.Field{{Name: "key", Value: "value"}})
}

func TestChange(t *testing.T) {
	t.Parallel()
	reg, addr := serve(t, "a=b\n")
	b := nstest.StartBroker(t, addr, nstest.BrokerConfig{Cluster: "c", Name: "broker-a"})
	b.Topic("T", 4)
	b.Topic("U", 4)
	if _, err := nstest.Must(b.Register()); err != nil {
		t.Fatal(err)
	}
	c, ctx := dial(t, addr, nsclient.Options{}), t.Context()
	count := func(what string, n int, err error, want int, wiped bool) {
		t.Helper()
		if err != nil || n != want || (reg.Snapshot().Wiped("broker-a") != nil) != wiped {
			t.Errorf("%s: %d topics, %v; wiped %v", what, n, err, reg.Snapshot().Wiped("broker-a"))
		}
	}
	n, err := c.WipeWritePerm(ctx, "broker-a")
	count("205", n, err, 2, true)
	n, err = c.AddWritePerm(ctx, "broker-a")
	count("327", n, err, 2, false)
	n, err = c.WipeWritePerm(ctx, "nobody")
	count("205 of nobody", n, err, 0, false)
	if err := c.DeleteTopic(ctx, "T", "another"); err != nil || reg.Snapshot().Topic("T") == nil {
		t.Errorf("216 in another cluster: %v, topic %v", err, reg.Snapshot().Topic("T"))
	}
	if err := c.DeleteTopic(ctx, "T", ""); err != nil || reg.Snapshot().Topic("T") != nil {
		t.Errorf("216: %v, topic %v", err, reg.Snapshot().Topic("T"))
	}
	if err := c.PutKV(ctx, "ns", "key", "v"); err != nil {
		t.Error(err)
	}
	if e, ok := reg.Snapshot().KV("ns", "key"); !ok || e.Value != "v" {
		t.Errorf("after 100 the key is %q, %v", e.Value, ok)
	}
	if err := c.DeleteKV(ctx, "ns", "key"); err != nil {
		t.Error(err)
	}
	if _, ok := reg.Snapshot().KV("ns", "key"); ok {
		t.Error("after 102 the key is still there")
	}
}

// TestRefusals has an answer that says no leave the connection in use.
func TestRefusals(t *testing.T) {
	t.Parallel()
	_, addr := serve(t, "a=b\n")
	c := dial(t, addr, nsclient.Options{})
	_, err := c.Route(t.Context(), "nowhere")
	if e, ok := errors.AsType[*nsclient.Error](err); !ok || e.Code != wire.TopicNotExist || e.Request != wire.GetRouteInfoByTopic || e.Remark == "" {
		t.Errorf("route of an unknown topic: %v", err)
	}
	if _, err := c.KV(t.Context(), "no", "thing"); !nsclient.Is(err, wire.QueryNotFound) || nsclient.Is(err, wire.SystemError) {
		t.Errorf("an unknown key: %v", err)
	}
	if _, err := c.Config(t.Context()); err != nil {
		t.Errorf("after two refusals: %v", err)
	}
}

// fake dials into a server of the test's own making, which is given what was sent.
func fake(answer func(conn net.Conn, req *wire.Command)) nsclient.Options {
	return nsclient.Options{Dial: func(context.Context, string, string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		go func() {
			defer theirs.Close()
			peer := nstest.NewClient(theirs, wire.JSONHeader)
			peer.Timeout = time.Hour
			for {
				req, err := peer.Receive()
				if err != nil {
					return
				}
				answer(theirs, req)
			}
		}()
		return ours, nil
	}}
}

// TestLongSetting has a server show a setting of a million lines: reading it must not take
// time that grows with their square.
func TestLongSetting(t *testing.T) {
	t.Parallel()
	lines := strings.Repeat("x\r\n\n", 1<<20)
	got := nsclient.Settings("a=1\nb=2\n" + lines + "c=3\n" + "b=4\ny\n")
	if len(got) != 3 || got["a"] != "1" || got["b"] != "4\ny" || got["c"] != "3" {
		t.Errorf("%.99v", got)
	}
	if got := nsclient.Settings("b=2\n" + lines)["b"]; got != "2"+strings.Repeat("\nx", 1<<20) {
		t.Errorf("%d bytes", len(got))
	}
}

// TestLongRemark has a server say no in half a megabyte.
func TestLongRemark(t *testing.T) {
	t.Parallel()
	c := dial(t, "any:1", fake(func(conn net.Conn, req *wire.Command) {
		resp := wire.Response(wire.SystemError, req.Opaque)
		resp.Remark, resp.HasRemark = "no: "+strings.Repeat("é", 1<<18), true
		frame, err := resp.AppendTo(nil, wire.JSONHeader)
		if err != nil {
			t.Error(err)
		}
		_, _ = conn.Write(frame)
	}))
	_, err := c.Clusters(t.Context())
	if !nsclient.Is(err, wire.SystemError) || len(err.Error()) > 2<<10 || !strings.Contains(err.Error(), "no: é") || !utf8.ValidString(err.Error()) {
		t.Errorf("%d bytes: %.99v", len(err.Error()), err)
	}
}

// TestBadAnswers has what is no answer end the exchange and the connection.
func TestBadAnswers(t *testing.T) {
	t.Parallel()
	reply := func(conn net.Conn, cmd *wire.Command) {
		frame, err := cmd.AppendTo(nil, wire.JSONHeader)
		if err != nil {
			panic(err)
		}
		_, _ = conn.Write(frame)
	}
	for name, c := range map[string]struct {
		answer func(net.Conn, *wire.Command)
		max    int
		want   func(error) bool
	}{
		"the answer to another question": {
			answer: func(conn net.Conn, req *wire.Command) { reply(conn, wire.Response(wire.Success, req.Opaque+1)) },
		},
		"a request in place of an answer": {
			answer: func(conn net.Conn, req *wire.Command) { reply(conn, &wire.Command{Opaque: req.Opaque}) },
		},
		"another protocol": {
			answer: func(conn net.Conn, _ *wire.Command) { _, _ = io.WriteString(conn, "HTTP/1.1 400 Bad Request\r\n\r\n") },
			want:   func(err error) bool { _, ok := errors.AsType[*wire.FrameError](err); return ok },
		},
		"an answer over the limit": {
			answer: func(conn net.Conn, req *wire.Command) {
				resp := wire.Response(wire.Success, req.Opaque)
				resp.Body = make([]byte, 2000)
				reply(conn, resp)
			},
			max:  1000,
			want: func(err error) bool { _, ok := errors.AsType[*wire.FrameError](err); return ok },
		},
		"the connection's end": {
			answer: func(conn net.Conn, _ *wire.Command) { _ = conn.Close() },
			want:   func(err error) bool { return errors.Is(err, io.EOF) },
		},
		"a body that is none": {
			answer: func(conn net.Conn, req *wire.Command) {
				resp := wire.Response(wire.Success, req.Opaque)
				resp.Body = []byte(`{"topicList":`)
				reply(conn, resp)
			},
			want: func(err error) bool { _, ok := errors.AsType[*wire.BodyError](err); return ok },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := fake(c.answer)
			o.MaxFrame = c.max
			client := dial(t, "peer:9876", o)
			_, err := client.Topics(t.Context())
			if err == nil || c.want != nil && !c.want(err) {
				t.Errorf("got %v", err)
			}
			_, again := client.Topics(t.Context())
			if same := again != nil && again.Error() == err.Error(); !same {
				t.Errorf("then got %v", again)
			}
		})
	}
}

// TestTimes has a server that never answers cost no more than the time allowed.
func TestTimes(t *testing.T) {
	t.Parallel()
	silent := fake(func(net.Conn, *wire.Command) {})
	t.Run("of an exchange", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			o := silent
			o.Timeout = time.Minute
			c := dial(t, "peer:9876", o)
			begin := time.Now()
			_, err := c.Clusters(t.Context())
			if took := time.Since(begin); !errors.Is(err, context.DeadlineExceeded) || took != time.Minute {
				t.Errorf("%v after %v", err, took)
			}
		})
	})
	t.Run("of the caller", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			c := dial(t, "peer:9876", silent)
			ctx, cancel := context.WithCancel(t.Context())
			waiting := make(chan error, 2)
			go func() { _, err := c.Clusters(ctx); waiting <- err }()
			synctest.Wait()
			go func() { _, err := c.Topics(ctx); waiting <- err }() // has to wait for its turn
			synctest.Wait()
			cancel()
			for range 2 {
				if err := <-waiting; !errors.Is(err, context.Canceled) {
					t.Error(err)
				}
			}
		})
	})
	t.Run("of connecting", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			begin := time.Now()
			_, err := nsclient.Dial(t.Context(), "peer:9876", nsclient.Options{
				Dial: func(ctx context.Context, _, _ string) (net.Conn, error) { <-ctx.Done(); return nil, ctx.Err() },
			})
			if took := time.Since(begin); !errors.Is(err, context.DeadlineExceeded) || took != nsclient.DefaultTimeout {
				t.Errorf("%v after %v", err, took)
			}
		})
	})
}
