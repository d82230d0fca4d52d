package remoting_test

import (
	"io"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"fingerpost/internal/nstest"
	"fingerpost/remoting/wire"
)

// Who has been silent for long enough is closed, the longest first, and nobody's broker.
func TestDismiss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := startPipes(t)
		r := broker{cluster: "c1", name: "b1", addr: "a:1", topics: topics("T1", "T0"), counter: 1}
		holder := b.client(wire.JSONHeader)
		r.register(t, holder)
		var clients []*nstest.Client
		for range 3 {
			c := b.client(wire.JSONHeader)
			succeed(t, c, wire.GetRouteInfoByTopic, fields("topic", "T1"), nil)
			clients = append(clients, c)
			time.Sleep(time.Second)
		}
		if k := b.srv.Kinds(); k["client"] != 3 || k["broker"] != 1 || len(k) != 2 {
			t.Errorf("%v", k)
		}
		if n := b.srv.Dismiss(time.Minute, 10); n != 0 {
			t.Errorf("%d closed that had just asked", n)
		}
		if n := b.srv.Dismiss(time.Second, 1); n != 1 {
			t.Errorf("%d closed, want the oldest", n)
		}
		if _, err := clients[0].Receive(); err == nil {
			t.Error("the oldest client is still connected")
		}
		succeed(t, clients[1], wire.GetRouteInfoByTopic, fields("topic", "T1"), nil)
		if n := b.srv.Dismiss(0, math.MaxInt); n != 2 {
			t.Errorf("%d closed, want 2", n)
		}
		for _, c := range clients[1:] {
			if _, err := c.Receive(); err == nil {
				t.Error("a client is still connected")
			}
		}
		succeed(t, holder, wire.GetRouteInfoByTopic, fields("topic", "T1"), nil)
		synctest.Wait() // a peer sees its connection end before the server has forgotten it
		if k := b.srv.Kinds(); k["broker"] != 1 || len(k) != 1 || b.srv.Dismiss(0, 10) != 0 {
			t.Errorf("%v", k)
		}
	})
}

// What a client had begun to ask when it was closed is answered first, and one that
// turns out to be a broker stays.
func TestDismissLosesNothing(t *testing.T) {
	b := startPipes(t)
	r := broker{cluster: "c1", name: "b1", addr: "a:1", topics: topics("T1", "T0"), counter: 1}
	r.register(t, b.client(wire.JSONHeader))
	req := wire.Request(wire.GetRouteInfoByTopic, fields("topic", "T1"), nil)
	frame, err := req.AppendTo(nil, wire.JSONHeader)
	if err != nil {
		t.Fatal(err)
	}
	conn := b.conn()
	defer conn.Close()
	// In memory a write ends when it was read: the server has the first half.
	if _, err := conn.Write(frame[:len(frame)/2]); err != nil {
		t.Fatal(err)
	}
	late := b.client(wire.JSONHeader)
	for b.srv.Open() != 3 {
		time.Sleep(time.Millisecond)
	}
	if n := b.srv.Dismiss(0, 1); n != 1 {
		t.Errorf("%d closed", n)
	}
	if _, err := conn.Write(frame[len(frame)/2:]); err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(conn)
	if err != nil || len(answer) < 50 {
		t.Errorf("answered %q, %v", answer, err)
	}
	other := broker{cluster: "c1", name: "b2", addr: "a:2", topics: topics("T2", "T3"), counter: 1}
	other.register(t, late)
	if n := b.srv.Dismiss(0, math.MaxInt); n != 0 {
		t.Errorf("%d closed, which are brokers", n)
	}
	succeed(t, late, wire.GetRouteInfoByTopic, fields("topic", "T2"), nil)
}

// Brokers are served while others are told to go, until that is taken back.
func TestSendAwayOthers(t *testing.T) {
	b := startPipes(t)
	holder, client := b.client(wire.JSONHeader), b.client(wire.JSONHeader)
	r := broker{cluster: "c1", name: "b1", addr: "a:1", topics: topics("T1", "T0"), counter: 1}
	r.register(t, holder)
	b.srv.SendAway(true)
	if resp := call(t, client, wire.GetRouteInfoByTopic, fields("topic", "T1"), nil); resp.Code != int32(wire.GoAway) {
		t.Errorf("answer %s", said(resp))
	}
	r.counter++
	r.register(t, holder)
	succeed(t, holder, wire.GetRouteInfoByTopic, fields("topic", "T1"), nil)
	b.srv.SendAway(false)
	succeed(t, client, wire.GetRouteInfoByTopic, fields("topic", "T1"), nil)
	b.srv.Leave()
	b.srv.SendAway(false)
	if resp := call(t, holder, wire.GetRouteInfoByTopic, fields("topic", "T1"), nil); resp.Code != int32(wire.GoAway) {
		t.Errorf("answer %s", said(resp))
	}
}
