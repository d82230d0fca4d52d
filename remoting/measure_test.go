package remoting_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"fingerpost/remoting"
	"fingerpost/remoting/wire"
)

func TestTrafficAndKindsAreSurveyed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := startPipes(t)
		one("a", "h:1").register(t, b.client(wire.JSONHeader))
		succeed(t, b.client(wire.JSONHeader), wire.GetBrokerClusterInfo, nil, nil)
		call(t, b.client(wire.JSONHeader), wire.GetRouteInfoByTopic, fields("topic", "none"), nil)
		silent := b.conn()
		synctest.Wait()
		t1, kinds, encrypted := b.srv.Survey()
		if diff := cmp.Diff(remoting.Kinds{"broker": 1, "admin": 1, "client": 1, "unknown": 1}, kinds); diff != "" || encrypted != 0 {
			t.Errorf("kinds (-want +got):\n%s\n%d encrypted", diff, encrypted)
		}
		for _, c := range b.srv.Connections() {
			if kinds[c.Kind]--; kinds[c.Kind] < 0 {
				t.Errorf("the list has a connection of the kind %s more", c.Kind)
			}
		}
		// What ended stays counted, and what goes through is counted to the byte.
		cmd := &wire.Command{Code: int32(wire.GetBrokerClusterInfo), Version: wire.V5_5_0}
		e := newExchange(t, b.conn(), wire.Success, 5, cmd, wire.JSONHeader)
		e.run(t)
		e.conn.Close()
		silent.Close()
		synctest.Wait()
		t2, _, _ := b.srv.Survey()
		asked, got := uint64(len(e.ask)/5*8), uint64(len(e.got)/5*8) // three times to get warm, and then five
		if t2.Received-t1.Received != asked || t2.Sent-t1.Sent != got {
			t.Errorf("%d bytes received and %d sent, want %d and %d", t2.Received-t1.Received, t2.Sent-t1.Sent, asked, got)
		}
	})
}

// Lookups are measured once in a while for each connection, everything else each time.
func TestDurationsAreMeasured(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := startPipes(t)
		count := func(c remoting.Class) uint64 {
			synctest.Wait() // an answer is out before it is measured
			n, _, buckets := b.srv.Stats.Durations[c].Read()
			for _, m := range buckets {
				if m > n {
					t.Fatalf("a bucket has %d of %d", m, n)
				}
			}
			return n
		}
		c := b.client(wire.JSONHeader)
		succeed(t, c, wire.GetBrokerClusterInfo, nil, nil)
		succeed(t, c, wire.GetBrokerClusterInfo, nil, nil)
		if n := count(remoting.ClassList); n != 2 {
			t.Errorf("%d lists were measured, want 2", n)
		}
		ask := func() { call(t, c, wire.GetRouteInfoByTopic, fields("topic", "none"), nil) }
		time.Sleep(time.Second)
		for range 10 {
			ask()
		}
		if n := count(remoting.ClassRoute); n != 1 {
			t.Errorf("of lookups in a row %d were measured, want 1", n)
		}
		for range 3 {
			time.Sleep(time.Second)
			ask()
		}
		if n := count(remoting.ClassRoute); n != 4 {
			t.Errorf("of lookups apart %d were measured in all, want 4", n)
		}
		one("a", "h:1").register(t, c)
		if n, sum, _ := b.srv.Stats.Bodies.Read(); n != 1 || sum <= 0 {
			t.Errorf("%d bodies of %v bytes were measured", n, sum)
		}
	})
}

func TestAnswersAreCountedByResult(t *testing.T) {
	b := startPipes(t)
	c := b.client(wire.JSONHeader)
	one("a", "h:1").register(t, c)
	call(t, c, wire.GetRouteInfoByTopic, fields("topic", "none"), nil)
	call(t, c, wire.GetRouteInfoByTopic, fields("topic", "none"), nil)
	call(t, c, wire.GetKVConfig, fields("namespace", "n", "key", "k"), nil)
	call(t, c, wire.RegisterBroker, fields("brokerName", "a"), nil)
	call(t, c, 36, nil, nil)
	got := make(map[[2]string]uint64)
	for _, a := range b.srv.Stats.Answers() {
		if a.Count > 0 {
			got[[2]string{a.Op, a.Result}] = a.Count
		}
	}
	want := map[[2]string]uint64{
		{"REGISTER_BROKER", "ok"}: 1, {"REGISTER_BROKER", "failed"}: 1, {"GET_ROUTEINFO_BY_TOPIC", "not_found"}: 2,
		{"GET_KV_CONFIG", "not_found"}: 1, {"UNKNOWN", "unsupported"}: 1,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
	if n := b.srv.Stats.Invalid.Load(); n != 1 {
		t.Errorf("%d registrations that cannot be read are counted, want 1", n)
	}
}
