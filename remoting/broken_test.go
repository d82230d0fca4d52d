package remoting_test

import (
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"fingerpost/internal/faultnet"
	"fingerpost/internal/nstest"
	"fingerpost/registry"
	"fingerpost/remoting/wire"
)

// TestBrokenSockets breaks the connection of a broker in every way that a network knows.
// What was sent whole counts, what was not does not, a broker leaves with its connection,
// and another connection notices nothing of it.
func TestBrokenSockets(t *testing.T) {
	frame := func(b broker) []byte {
		out, err := (&wire.Command{
			Code: int32(wire.RegisterBroker), Version: wire.V5_5_0, Opaque: 1, Ext: b.ext(), HasExt: true, Body: b.body(),
		}).AppendTo(nil, wire.JSONHeader)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	b := broker{cluster: "c", name: "b", addr: "10.0.0.1:10911", topics: topics("T1", "T2"), counter: 1}
	whole := frame(b)
	for _, c := range []struct {
		name string
		// wrap breaks the connection over which whole is written.
		wrap func(net.Conn) net.Conn
		// answered and then left tell what comes of it; stays that the broker is still there.
		answered, stays bool
	}{
		{"one byte at a time", func(c net.Conn) net.Conn { return faultnet.Pieces(c, 1) }, true, true},
		{"seven bytes at a time", func(c net.Conn) net.Conn { return faultnet.Pieces(c, 7) }, true, true},
		{"reset in the lengths", func(c net.Conn) net.Conn { return faultnet.Cut(c, 5, faultnet.Reset) }, false, false},
		{"reset in the middle", func(c net.Conn) net.Conn { return faultnet.Cut(c, len(whole)/2, faultnet.Reset) }, false, false},
		{"closed before the last byte", func(c net.Conn) net.Conn { return faultnet.Cut(c, len(whole)-1, net.Conn.Close) }, false, false},
		{"half-closed in the middle", func(c net.Conn) net.Conn { return faultnet.Cut(c, len(whole)/2, faultnet.HalfClose) }, false, false},
		{"half-closed after the request", func(c net.Conn) net.Conn { return faultnet.Cut(c, len(whole), faultnet.HalfClose) }, true, false},
		{"reset after the request", func(c net.Conn) net.Conn { return faultnet.Cut(c, len(whole), faultnet.Reset) }, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			bed := startTCP(t)
			control := bed.client(wire.JSONHeader)
			succeed(t, control, wire.GetBrokerClusterInfo, nil, nil)
			raw := bed.conn()
			defer raw.Close()
			broken := c.wrap(raw)
			if _, err := broken.Write(whole); err != nil && !errors.Is(err, faultnet.ErrCut) {
				t.Fatal(err)
			}
			if c.answered {
				resp, err := nstest.NewClient(broken, wire.JSONHeader).Receive()
				if err != nil || resp.Code != int32(wire.Success) {
					t.Fatalf("answer %+v, %v", resp, err)
				}
			}
			if !c.stays {
				// Its goroutine is through when the server has one connection less.
				for bed.srv.Stats.Accepted.Load() < 2 || bed.srv.Open() > 1 {
					time.Sleep(time.Millisecond)
				}
			}
			if l := bed.reg.Snapshot().Live("c", b.addr); (l != nil) != c.stays {
				t.Errorf("registered: %v", l)
			}
			if c.answered && !c.stays {
				raw.SetReadDeadline(time.Now().Add(patience))
				if _, err := raw.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
					t.Errorf("after its half the server's did not end: %v", err)
				}
			}
			succeed(t, control, wire.GetBrokerClusterInfo, nil, nil)
		})
	}
}

// TestStalledSocket stops a registration in the middle: others are served meanwhile, and
// it counts when the rest has come.
func TestStalledSocket(t *testing.T) {
	bed := startTCP(t)
	changes := bed.changes()
	b := broker{cluster: "c", name: "b", addr: "10.0.0.1:10911", topics: topics("T1", "T2"), counter: 1}
	stalled := faultnet.Stall(bed.conn(), 100)
	defer stalled.Close()
	broken := nstest.NewClient(stalled, wire.JSONHeader)
	done := make(chan error, 1)
	go func() {
		_, err := nstest.Must(broken.Call(wire.RegisterBroker, b.ext(), b.body()))
		done <- err
	}()
	<-stalled.Reached()
	other := broker{cluster: "c", name: "other", addr: "10.0.0.2:10911", topics: topics("T1", "T2"), counter: 1}
	other.register(t, bed.client(wire.JSONHeader))
	if bed.reg.Snapshot().Live("c", b.addr) != nil {
		t.Error("half a registration counts")
	}
	stalled.Resume()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if bed.reg.Snapshot().Live("c", b.addr) == nil {
		t.Error("the registration is missing")
	}
	stalled.Close()
	await(t, changes, memberGone(registry.OpDisconnected, "b"))
}
