package remoting_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"fingerpost/internal/nstest"
	"fingerpost/remoting"
	"fingerpost/remoting/wire"
)

// slowSettings answers 319 when it is allowed to.
type slowSettings struct {
	settings
	entered chan struct{}
	leave   chan struct{}
}

// Text waits.
func (s *slowSettings) Text() []byte {
	s.entered <- struct{}{}
	<-s.leave
	return s.settings.Text()
}

// A stop lets requests that have been read be answered, ends silent connections at once,
// takes no new ones, and takes no broker out.
func TestGracefulShutdown(t *testing.T) {
	both(t, func(t *testing.T, start func(testing.TB, ...change) *bed) {
		slow := &slowSettings{settings: settings{text: "a=b\n"}, entered: make(chan struct{}), leave: make(chan struct{})}
		b := start(t, with(func(s *remoting.Server) { s.Settings = slow }))
		brokers, silent, busy := b.client(wire.JSONHeader), b.client(wire.JSONHeader), b.client(wire.BinaryHeader)
		one("b1", "a:1").register(t, brokers)
		succeed(t, silent, wire.GetAllTopicListFromNamesrv, nil, nil)
		begun := b.client(wire.JSONHeader)
		begun.Write(rawFrame(0, []byte(goodHead), nil)[:50])
		before := b.dump()
		// Three requests in one write; the server stands in the second.
		var all []*wire.Command
		for i, code := range []wire.RequestCode{wire.GetAllTopicListFromNamesrv, wire.GetNamesrvConfig, wire.GetBrokerClusterInfo} {
			all = append(all, &wire.Command{Code: int32(code), Version: wire.V5_5_0, Opaque: int32(i)})
		}
		if err := busy.Send(all...); err != nil {
			t.Fatal(err)
		}
		<-slow.entered
		stopped := make(chan error, 1)
		go func() { stopped <- b.srv.Shutdown(context.Background()) }()
		for _, c := range []*nstest.Client{brokers, silent, begun} {
			ended(t, c)
		}
		if p, ok := b.ln.(*pipes); ok {
			<-p.closed
		}
		if c, err := net.Dial("tcp", b.ln.Addr().String()); err == nil {
			if _, err := nstest.NewClient(c, wire.JSONHeader).Call(wire.GetBrokerClusterInfo, nil, nil); err == nil {
				t.Error("a connection is served after the stop")
			}
			c.Close()
		}
		select {
		case err := <-stopped:
			t.Fatalf("the stop did not wait for a request: %v", err)
		default:
		}
		close(slow.leave)
		for i := range all {
			resp, err := busy.Receive()
			if err != nil || resp.Opaque != int32(i) || resp.Code != 0 {
				t.Fatalf("answer %d: %v, %v", i, resp, err)
			}
		}
		ended(t, busy)
		if err := <-stopped; err != nil {
			t.Error(err)
		}
		if after := b.dump(); after != before {
			t.Errorf("the stop changed %s", moved(before, after))
		}
		if n := len(b.srv.Connections()); n != 0 {
			t.Errorf("%d connections after the stop", n)
		}
	})
}

// Whoever does not read his answer is cut off at the deadline, and Shutdown says so.
func TestShutdownByDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := startPipes(t)
		one("b1", "a:1").register(t, b.client(wire.JSONHeader))
		before := b.dump()
		var stuck []*nstest.Client
		for range 3 {
			c := b.client(wire.JSONHeader)
			if err := c.Send(&wire.Command{Code: int32(wire.GetBrokerClusterInfo), Version: wire.V5_5_0}); err != nil {
				t.Fatal(err)
			}
			stuck = append(stuck, c)
		}
		synctest.Wait()
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		begin := time.Now()
		err := b.srv.Shutdown(ctx)
		if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "3 remoting connections") {
			t.Errorf("Shutdown returned %v", err)
		}
		if took := time.Since(begin); took != 5*time.Second {
			t.Errorf("it took %v", took)
		}
		for _, c := range stuck {
			ended(t, c)
		}
		if after := b.dump(); after != before {
			t.Errorf("the stop changed %s", moved(before, after))
		}
	})
}

// Connections in any state end with the server: before their first byte, within a
// handshake or a PROXY header, within a large request or waiting for its room.
func TestShutdownEndsEveryState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := startPipes(t, withBudget(), withTLS(remoting.TLSPermissive, true), withBalancer())
		p := b.taps(t, 6)
		p[0].send(t, nil)
		p[1].send(t, []byte("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03a"))
		p[2].send(t, []byte(v2TCP4[:17]))
		p[3].send(t, claimed(most, 100<<10))
		p[4].send(t, large(most))
		p[5].send(t, rawFrame(0, []byte(goodHead), nil))
		begin := time.Now()
		b.stop()
		if took := time.Since(begin); took != 0 {
			t.Errorf("the stop took %v", took)
		}
		synctest.Wait()
		for i, c := range p {
			if !c.ended() {
				t.Errorf("connection %d is still there", i)
			}
		}
		for _, e := range b.log.find("") {
			if e.level > 0 {
				t.Errorf("the log complains: %s %v", e.msg, e.attrs)
			}
		}
	})
}

// Connections that come while the server stops are no trouble.
func TestShutdownAmongConnects(t *testing.T) {
	for range 20 {
		b := startTCP(t)
		done := make(chan struct{})
		go func() {
			defer close(done)
			for {
				c, err := net.Dial("tcp", b.ln.Addr().String())
				if err != nil {
					return
				}
				nc := nstest.NewClient(c, wire.JSONHeader)
				_, err = nc.Call(wire.GetBrokerClusterInfo, nil, nil)
				nc.Close()
				if err != nil {
					return
				}
			}
		}()
		succeed(t, b.client(wire.JSONHeader), wire.GetBrokerClusterInfo, nil, nil)
		b.stop()
		<-done
	}
}

func TestShutdownTwiceAndBeforeServe(t *testing.T) {
	b := startPipes(t)
	b.stop()
	b.stop()
	idle := &remoting.Server{Registry: b.reg, Settings: b.conf, Log: b.srv.Log}
	if err := idle.Shutdown(context.Background()); err != nil {
		t.Error(err)
	}
	ln := newPipes()
	if err := idle.Serve(ln); err != nil {
		t.Errorf("Serve after Shutdown: %v", err)
	}
	select {
	case <-ln.closed:
	default:
		t.Error("the listener is left open")
	}
}

// What people are told of connections.
func TestConnectionsAreDescribed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := startPipes(t)
		begin := time.Now()
		var clients []*nstest.Client
		for i := range 6 {
			clients = append(clients, b.dialFrom(fmt.Sprint("10.0.0.", i)))
			synctest.Wait()
			time.Sleep(time.Second)
		}
		broker4, client, admin, asked, beating := clients[1], clients[2], clients[3], clients[4], clients[5]
		broker4.Version = 407
		one("b1", "a:1").register(t, broker4)
		client.Language, client.Version = 9, 317
		for range 3 {
			route(t, client, "T-b1")
		}
		succeed(t, admin, wire.GetAllTopicListFromNamesrv, nil, nil)
		call(t, asked, 36, nil, nil)
		succeed(t, beating, wire.BrokerHeartbeat, one("b1", "a:1").identity(), nil)
		want := []remoting.Connection{
			{RemoteAddr: "10.0.0.0:40000", Kind: "unknown"},
			{RemoteAddr: "10.0.0.1:40000", Kind: "broker", Language: "JAVA", Version: "V4_9_7", LastCode: 103, LastName: "REGISTER_BROKER", Requests: 1},
			{RemoteAddr: "10.0.0.2:40000", Kind: "client", Language: "GO", Version: "V4_5_2", LastCode: 105, LastName: "GET_ROUTEINFO_BY_TOPIC", Requests: 3},
			{RemoteAddr: "10.0.0.3:40000", Kind: "admin", Language: "JAVA", Version: "V5_5_0", LastCode: 206, LastName: "GET_ALL_TOPIC_LIST_FROM_NAMESERVER", Requests: 1},
			{RemoteAddr: "10.0.0.4:40000", Kind: "admin", Language: "JAVA", Version: "V5_5_0", LastCode: 36, LastName: "UNKNOWN", Requests: 1},
			{RemoteAddr: "10.0.0.5:40000", Kind: "broker", Language: "JAVA", Version: "V5_5_0", LastCode: 904, LastName: "BROKER_HEARTBEAT", Requests: 1},
		}
		got := b.srv.Connections()
		if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(remoting.Connection{}, "ID", "Since", "LastUsed", "Holds")); diff != "" {
			t.Errorf("connections (-want +got)\n%s", diff)
		}
		// The heartbeat came over the last connection, which holds the broker since.
		for i, c := range got {
			if holds := len(c.Holds) == 1 && c.Holds[0].Name == "b1"; holds != (i == 5) {
				t.Errorf("connection %d holds %v", i, c.Holds)
			}
		}
		for i, c := range got {
			if at := begin.Add(time.Duration(i) * time.Second); !c.Since.Equal(at) {
				t.Errorf("connection %d since %v, want %v", i, c.Since, at)
			}
			if i > 0 && (c.ID <= got[i-1].ID || !c.LastUsed.Equal(begin.Add(6*time.Second))) {
				t.Errorf("connection %d: id %d, last used %v", i, c.ID, c.LastUsed)
			}
		}
	})
}
