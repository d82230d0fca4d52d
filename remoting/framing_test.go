package remoting_test

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"fingerpost/internal/nstest"
	"fingerpost/registry"
	"fingerpost/remoting"
	"fingerpost/remoting/wire"
)

// both runs a test in memory and over loopback, where reading goes another way.
func both(t *testing.T, test func(t *testing.T, start func(testing.TB, ...change) *bed)) {
	t.Run("pipes", func(t *testing.T) { test(t, startPipes) })
	t.Run("TCP", func(t *testing.T) { test(t, startTCP) })
}

func TestBytesOneAtATime(t *testing.T) {
	both(t, func(t *testing.T, start func(testing.TB, ...change) *bed) {
		b := start(t)
		r := one("b1", "a:1")
		for _, h := range []wire.HeaderType{wire.JSONHeader, wire.BinaryHeader} {
			c := b.client(h)
			for i, cmd := range []*wire.Command{
				{Code: int32(wire.RegisterBroker), Ext: r.ext(), Body: r.body()},
				{Code: int32(wire.GetRouteInfoByTopic), Ext: fields("topic", "T-b1")},
				{Code: int32(wire.GetRouteInfoByTopic), Ext: fields("topic", "T-b1")},
			} {
				cmd.Version, cmd.Opaque = wire.V5_5_0, int32(i)
				frame, err := cmd.AppendTo(nil, h)
				if err != nil {
					t.Fatal(err)
				}
				for i := range frame {
					if err := c.Write(frame[i : i+1]); err != nil {
						t.Fatal(err)
					}
				}
				resp, err := c.Receive()
				if err != nil || resp.Code != 0 || resp.Opaque != cmd.Opaque {
					t.Fatalf("%v: answer %v, %v", h, resp, err)
				}
			}
		}
	})
}

// Many requests in one write are answered in order, each once.
func TestBurst(t *testing.T) {
	both(t, func(t *testing.T, start func(testing.TB, ...change) *bed) {
		b := start(t)
		one("b1", "a:1").register(t, b.client(wire.JSONHeader))
		for _, h := range []wire.HeaderType{wire.JSONHeader, wire.BinaryHeader} {
			c := b.client(h)
			var all []byte
			codes := []wire.RequestCode{wire.GetRouteInfoByTopic, wire.GetBrokerClusterInfo, wire.GetRouteInfoByTopic, 36, wire.GetAllTopicListFromNamesrv}
			topics := []string{"T-b1", "", "none", "", ""}
			want := []int32{0, 0, 17, 3, 0}
			const n = 2000
			for i := range n {
				cmd := &wire.Command{Code: int32(codes[i%5]), Version: wire.V5_5_0, Opaque: int32(i * 7), Ext: fields("topic", topics[i%5])}
				if i%11 == 0 {
					cmd.Flag = wire.FlagOneway
				}
				var err error
				if all, err = cmd.AppendTo(all, h); err != nil {
					t.Fatal(err)
				}
			}
			written := make(chan error, 1)
			go func() { written <- c.Write(all) }()
			for i := range n {
				if i%11 == 0 {
					continue
				}
				resp, err := c.Receive()
				if err != nil {
					t.Fatalf("%v, answer %d: %v", h, i, err)
				}
				if resp.Opaque != int32(i*7) || resp.Code != want[i%5] {
					t.Fatalf("%v, answer %d: opaque %d, %s", h, i, resp.Opaque, said(resp))
				}
			}
			if err := <-written; err != nil {
				t.Error(err)
			}
			succeed(t, c, wire.GetBrokerClusterInfo, nil, nil) // nothing more has come
		}
	})
}

// Frames may be cut anywhere, small and large.
func TestFramesCutAnywhere(t *testing.T) {
	both(t, func(t *testing.T, start func(testing.TB, ...change) *bed) {
		b := start(t)
		c := b.client(wire.JSONHeader)
		var stream []byte
		var want []int32
		for i, size := range []int{0, 1, 100, 16 << 10, 17 << 10, 64 << 10, 65 << 10, 70 << 10, 300 << 10, 5, 1 << 20} {
			cmd := &wire.Command{Code: int32(wire.GetBrokerClusterInfo), Version: wire.V5_5_0, Opaque: int32(i), Body: make([]byte, size)}
			stream, _ = cmd.AppendTo(stream, wire.JSONHeader)
			want = append(want, int32(i))
		}
		for _, step := range []int{1 << 30, 4096, 16<<10 - 1, 16 << 10, 65<<10 + 3, 999_983} {
			written := make(chan error, 1)
			go func() {
				for part := range slices.Chunk(stream, step) {
					if err := c.Write(part); err != nil {
						written <- err
						return
					}
				}
				written <- nil
			}()
			for _, opaque := range want {
				resp, err := c.Receive()
				if err != nil || resp.Code != 0 || resp.Opaque != opaque {
					t.Fatalf("pieces of %d, opaque %d: answer %v, %v", step, opaque, resp, err)
				}
			}
			if err := <-written; err != nil {
				t.Fatal(err)
			}
		}
	})
}

// What was asked before the peer closed its half is answered.
func TestHalfClose(t *testing.T) {
	b := startTCP(t)
	c := b.client(wire.JSONHeader)
	var all []*wire.Command
	for i := range 100 {
		all = append(all, &wire.Command{Code: int32(wire.GetAllTopicListFromNamesrv), Version: wire.V5_5_0, Opaque: int32(i)})
	}
	if err := c.Send(all...); err != nil {
		t.Fatal(err)
	}
	if err := c.Conn().(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	for i := range all {
		resp, err := c.Receive()
		if err != nil || resp.Opaque != int32(i) {
			t.Fatalf("answer %d: %v, %v", i, resp, err)
		}
	}
	ended(t, c)
}

func TestOverTheFrameLimit(t *testing.T) {
	both(t, func(t *testing.T, start func(testing.TB, ...change) *bed) {
		b := start(t, with(func(s *remoting.Server) { s.Limits.Frame = 1000 }))
		neighbour := b.client(wire.JSONHeader)
		frame := func(size int) []byte {
			b := rawFrame(0, []byte(goodHead), nil)
			return rawFrame(0, []byte(goodHead), make([]byte, size-len(b)))
		}
		c := b.client(wire.JSONHeader)
		if err := c.Write(frame(1000)); err != nil {
			t.Fatal(err)
		}
		if resp, err := c.Receive(); err != nil || resp.Code != 3 {
			t.Fatalf("a frame of exactly the limit: %v, %v", resp, err)
		}
		peer := c.Conn().LocalAddr().String()
		// The length is enough: the rest is not waited for.
		if err := c.Write(frame(1001)[:4]); err != nil {
			t.Fatal(err)
		}
		ended(t, c)
		b.log.wants(t, "over the frame limit", "peer", peer, "size", "1001", "limit", "1000", "setting", "frameMaxLength")
		if n := b.srv.Stats.BadFrames.Load(); n != 1 {
			t.Errorf("%d bad frames are counted", n)
		}
		succeed(t, neighbour, wire.GetBrokerClusterInfo, nil, nil)
	})
}

func TestOverTheHeaderLimit(t *testing.T) {
	b := startPipes(t, with(func(s *remoting.Server) { s.Limits.Header = 300 }))
	c := b.client(wire.JSONHeader)
	resp := call(t, c, 9996, fields("a", strings.Repeat("x", 300-len(goodHead)-len(`"a":""`)-20)), bytes.Repeat([]byte("b"), 5000))
	if resp.Code != 3 {
		t.Errorf("under the limit: %s", said(resp))
	}
	if err := c.Write(rawFrame(0, []byte(goodHead+strings.Repeat(" ", 301-len(goodHead))), nil)); err != nil {
		t.Fatal(err)
	}
	ended(t, c)
	b.log.wants(t, "what came is no request", "err", "header of 301 bytes exceeds the limit of 300")
}

// A registration larger than a frame may be is refused loudly; under a raised limit it is
// a registration like any other. Nobody else notices.
func TestHugeRegistration(t *testing.T) {
	const n = 70_000
	r := one("huge", "h:1")
	r.topics = r.topics[:0]
	for i := range n {
		r.topics = append(r.topics, wire.TopicConfig{
			Name: fmt.Sprintf("%%RETRY%%a-consumer-group-of-some-length-%06d", i), ReadQueues: 8, WriteQueues: 8, Perm: 6,
			Attributes: []wire.Field{{Name: "+message.type", Value: "NORMAL"}},
		})
	}
	body := r.body()
	if len(body) < wire.DefaultMaxFrame {
		t.Fatalf("the body has %d bytes, which is not too many", len(body))
	}
	for _, raised := range []bool{false, true} {
		t.Run(fmt.Sprint("raised ", raised), func(t *testing.T) {
			b := startTCP(t, with(func(s *remoting.Server) {
				if raised {
					s.Limits.Frame = 64 << 20
				}
			}))
			other := b.client(wire.JSONHeader)
			one("b1", "a:1").register(t, other)
			c := b.client(wire.JSONHeader)
			cmd := &wire.Command{Code: int32(wire.RegisterBroker), Version: wire.V5_5_0, Ext: r.ext(), Body: body}
			sent := make(chan error, 1)
			go func() { sent <- c.Send(cmd) }()
			for asking := true; asking; {
				route(t, other, "T-b1")
				select {
				case err := <-sent:
					asking = false
					if raised && err != nil {
						t.Fatal(err)
					}
				default:
				}
			}
			if !raised {
				ended(t, c)
				b.log.await(t, "over the frame limit")
				b.log.wants(t, "over the frame limit", "peer", "127.0.0.1:", "limit", "16777216")
				if b.reg.Snapshot().Group("huge") != nil {
					t.Error("a part of it was registered")
				}
			} else {
				if resp, err := nstest.Must(c.Receive()); err != nil {
					t.Fatalf("%v, %v", resp, err)
				}
				if got := b.reg.Snapshot().BrokerTopicCount("huge"); got != n {
					t.Errorf("%d topics, want %d", got, n)
				}
			}
			succeed(t, other, wire.GetRouteInfoByTopic, fields("topic", "T-b1"), nil)
		})
	}
}

// More topics or more inflated bytes than are taken: refused as a whole, with a reason.
func TestRegistrationLimits(t *testing.T) {
	b := startPipes(t, with(func(s *remoting.Server) { s.Limits.Topics, s.Limits.Inflated = 3, 500 }))
	c := b.client(wire.JSONHeader)
	before := b.dump()
	many := one("b1", "a:1")
	many.topics = topics("T1", "T2", "T3", "T4")
	if got := said(call(t, c, wire.RegisterBroker, many.ext(), many.body())); !strings.Contains(got, "more than 3 topics") {
		t.Errorf("too many topics: %s", got)
	}
	bomb := &wire.RegisterBody{Topics: []wire.TopicConfig{{Name: strings.Repeat("x", 10_000)}}}
	body, err := bomb.AppendCompressed(nil, wire.V5_5_0)
	if err != nil {
		t.Fatal(err)
	}
	ext := one("b2", "a:2").ext()
	ext.Set("compressed", "true")
	if got := said(call(t, c, wire.RegisterBroker, ext, body)); !strings.Contains(got, "more than 500 bytes when inflated") {
		t.Errorf("too much inflated: %s", got)
	}
	if after := b.dump(); after != before {
		t.Errorf("changed %s", moved(before, after))
	}
	if found := b.log.find("a registration exceeds a limit"); len(found) != 2 || found[0].attrs["broker"] != "b1" {
		t.Errorf("the log has %v", found)
	}
	many.topics = many.topics[:3]
	many.register(t, c)
}

// idleLimit is one that a test changes while the server runs.
type idleLimit struct{ atomic.Int64 }

func newIdleLimit(d time.Duration) *idleLimit {
	l := new(idleLimit)
	l.set(d)
	return l
}

func (l *idleLimit) set(d time.Duration) { l.Store(int64(d)) }

func (l *idleLimit) change() change {
	return with(func(s *remoting.Server) { s.Idle = func() time.Duration { return time.Duration(l.Load()) } })
}

// A connection on which nothing is said is closed on time, also in the middle of a frame.
func TestIdleConnectionsAreClosed(t *testing.T) {
	begins := map[string][]byte{
		"nothing":             nil,
		"too little to tell":  []byte("GET"),
		"half a length":       {0, 0},
		"half a frame":        rawFrame(0, []byte(goodHead), nil)[:60],
		"a large frame begun": append([]byte{0, 0xf0, 0, 0, 0, 0, 1, 0}, make([]byte, 40<<10)...),
	}
	for name, begin := range begins {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const limit = 100 * time.Second
				b := startPipes(t, newIdleLimit(limit).change())
				p := newTap(b.conn())
				defer p.close()
				time.Sleep(5 * time.Second)
				at := time.Now()
				if begin != nil {
					p.send(t, begin)
				} else {
					at = at.Add(-5 * time.Second)
				}
				time.Sleep(time.Until(at.Add(limit - time.Nanosecond)))
				synctest.Wait()
				if p.ended() {
					t.Fatal("closed too early")
				}
				time.Sleep(time.Nanosecond)
				synctest.Wait()
				if !p.ended() {
					t.Fatal("not closed in time")
				}
				if n := b.srv.Stats.Idle.Load(); n != 1 {
					t.Errorf("%d idle connections are counted", n)
				}
				b.log.wants(t, "a silent connection is closed", "after", "1m40s")
			})
		})
	}
}

// Every request starts the time anew, and without a limit there is none.
func TestIdleIsSinceTheLastRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limit := newIdleLimit(10 * time.Second)
		b := startPipes(t, limit.change())
		c := b.client(wire.JSONHeader)
		for range 30 {
			succeed(t, c, wire.GetAllTopicListFromNamesrv, nil, nil)
			time.Sleep(10*time.Second - time.Nanosecond)
		}
		synctest.Wait()
		succeed(t, c, wire.GetAllTopicListFromNamesrv, nil, nil)
		limit.set(0)
		succeed(t, c, wire.GetAllTopicListFromNamesrv, nil, nil)
		time.Sleep(100 * time.Hour)
		succeed(t, c, wire.GetAllTopicListFromNamesrv, nil, nil)
		// A limit that is set again counts for connections that are open.
		limit.set(40 * time.Second)
		time.Sleep(69 * time.Second)
		synctest.Wait()
		if n := len(b.srv.Connections()); n != 0 {
			t.Errorf("%d connections outlive the limit that was set while they were open", n)
		}
	})
}

// Writing is no idleness: a peer that takes long to read a long answer has its time
// after that.
func TestIdleIsInBothDirections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const limit = 10 * time.Second
		b := startPipes(t, newIdleLimit(limit).change(), with(func(s *remoting.Server) { s.Limits.WriteTimeout = time.Minute }))
		b.conf.text = strings.Repeat("k=v\n", 1<<18)
		c := b.client(wire.JSONHeader)
		ask := &wire.Command{Code: int32(wire.GetNamesrvConfig), Version: wire.V5_5_0, Opaque: 1}
		if err := c.Send(ask); err != nil {
			t.Fatal(err)
		}
		read := func(n int) {
			t.Helper()
			if _, err := io.ReadFull(c.Conn(), make([]byte, n)); err != nil {
				t.Fatal(err)
			}
		}
		frame, _ := (&wire.Command{Flag: 1, Version: wire.V5_5_0, Opaque: 1, Body: []byte(b.conf.text)}).AppendTo(nil, wire.JSONHeader)
		read(1)
		time.Sleep(40 * time.Second)
		read(len(frame) - 1)
		time.Sleep(limit - time.Second)
		synctest.Wait()
		succeed(t, c, wire.GetAllTopicListFromNamesrv, nil, nil)
		time.Sleep(limit)
		synctest.Wait()
		ended(t, c)
	})
}

// A peer that does not read its answers is closed within the write timeout and hurts
// nobody.
func TestSlowReaderIsClosed(t *testing.T) {
	for _, large := range []bool{false, true} {
		t.Run(fmt.Sprint("large answer ", large), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := startPipes(t)
				if large {
					b.conf.text = strings.Repeat("k=v\n", 1<<18)
				}
				c, other := b.client(wire.JSONHeader), b.client(wire.JSONHeader)
				one("b1", "a:1").register(t, c)
				start := time.Now()
				if err := c.Send(&wire.Command{Code: int32(wire.GetNamesrvConfig), Version: wire.V5_5_0}); err != nil {
					t.Fatal(err)
				}
				time.Sleep(22 * time.Second) // less than three quarters of the timeout
				synctest.Wait()
				if len(b.srv.Connections()) != 2 {
					t.Fatal("closed too early")
				}
				route(t, other, "T-b1")
				if time.Since(start) != 22*time.Second {
					t.Error("another one's request had to wait")
				}
				time.Sleep(8 * time.Second)
				synctest.Wait()
				if len(b.srv.Connections()) != 1 || b.srv.Stats.SlowReaders.Load() != 1 {
					t.Error("the slow reader is still there")
				}
				b.log.wants(t, "does not read the answers", "after", "30s")
				if b.reg.Snapshot().Group("b1") != nil {
					t.Error("its broker is still registered")
				}
			})
		})
	}
}

// Many answers that are read slowly but steadily are all delivered, also those to the
// requests of one read, which together take longer than the write timeout.
func TestSteadySlowReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := startPipes(t, newIdleLimit(24*time.Hour).change())
		r := one("b1", "a:1")
		for i := range 100 {
			r.topics = append(r.topics, topic(fmt.Sprintf("a-topic-with-a-longer-name-%03d", i), 4, 6))
		}
		r.register(t, b.client(wire.JSONHeader))
		c := b.client(wire.BinaryHeader)
		var all []byte
		const n = 2000
		for i := range n {
			all, _ = (&wire.Command{Code: int32(wire.GetAllTopicListFromNamesrv), Version: wire.V5_5_0, Opaque: int32(i)}).AppendTo(all, wire.BinaryHeader)
		}
		go c.Conn().Write(all)
		for i := range n {
			if i%35 == 0 { // about 120 KiB
				time.Sleep(9 * time.Second)
			}
			resp, err := c.Receive()
			if err != nil || resp.Opaque != int32(i) {
				t.Fatalf("answer %d: %v, %v", i, resp, err)
			}
		}
	})
}

// The registry's own eviction of a connection is no complaint about the peer.
func TestEvictionIsNoComplaint(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := startPipes(t)
		c := b.client(wire.JSONHeader)
		r := one("b1", "a:1")
		r.timeout = 1
		r.register(t, c)
		time.Sleep(time.Second)
		b.reg.Sweep(time.Second, registry.Cause{})
		synctest.Wait()
		ended(t, c)
		for _, e := range b.log.find("") {
			if e.level > 0 {
				t.Errorf("the log has %s %v", e.msg, e.attrs)
			}
		}
	})
}
