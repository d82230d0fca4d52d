package remoting_test

import (
	"fmt"
	"hash/crc32"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fingerpost/registry"
	"fingerpost/remoting/wire"
)

func crc(b []byte) uint32 { return crc32.ChecksumIEEE(b) }

func one(name, addr string) broker {
	return broker{cluster: "c", name: name, addr: addr, topics: topics("T-"+name, "U"), counter: 1}
}

// A connection may carry several brokers; all of them go with it, and nobody else.
func TestAllBrokersOfAConnectionGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := startPipes(t)
		shared, other := b.client(wire.JSONHeader), b.client(wire.JSONHeader)
		for _, n := range []string{"b1", "b2", "b3"} {
			one(n, n+":1").register(t, shared)
		}
		slave := broker{cluster: "c", name: "b4", id: 1, addr: "b4s:1", counter: 1}
		slave.register(t, shared)
		one("b4", "b4:1").register(t, other)
		shared.Close()
		synctest.Wait()
		if got := b.dump(); strings.Count(got, "group ") != 1 || !strings.Contains(got, "  0 b4:1") || strings.Contains(got, "b4s") {
			t.Errorf("after the close:\n%s", got)
		}
		if resp := call(t, other, wire.GetRouteInfoByTopic, fields("topic", "T-b2"), nil); resp.Code != 17 {
			t.Errorf("a topic of a broker that is gone: %s", said(resp))
		}
		if a, _ := addresses(t, route(t, other, "U")); a != `{"0":"b4:1"}` {
			t.Errorf("the topic that is left: %s", a)
		}
	})
}

// Whatever way a connection ends, its broker is gone, with the peer in the cause.
func TestEveryEndReleases(t *testing.T) {
	ends := map[string]func(*net.TCPConn){
		"close": func(c *net.TCPConn) { c.Close() },
		"reset": func(c *net.TCPConn) { c.SetLinger(0); c.Close() },
		"half":  func(c *net.TCPConn) { c.CloseWrite() },
		"bad":   func(c *net.TCPConn) { c.Write([]byte("\xff\xff\xff\xff")) },
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := startTCP(t)
			changes := b.changes()
			c := b.client(wire.JSONHeader)
			one("b1", "a:1").register(t, c)
			peer := c.Conn().LocalAddr().String()
			end(c.Conn().(*net.TCPConn))
			ch := await(t, changes, memberGone(registry.OpDisconnected, "b1"))
			if want := (registry.Cause{Face: "remoting", Action: "connectionClosed", Actor: peer}); ch.Cause != want {
				t.Errorf("cause %+v, want %+v", ch.Cause, want)
			}
		})
	}
}

// A broker that is back on a new connection is not hurt by the end of the old one.
func TestOldConnectionClosesAfterReconnect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := startPipes(t)
		old, fresh := b.client(wire.JSONHeader), b.client(wire.JSONHeader)
		r := one("b1", "a:1")
		r.register(t, old)
		r.register(t, fresh)
		before := b.dump()
		old.Close()
		synctest.Wait()
		if after := b.dump(); after != before {
			t.Errorf("the old connection's end changed %s", moved(before, after))
		}
		fresh.Close()
		synctest.Wait()
		if got := b.dump(); strings.Contains(got, "group") {
			t.Errorf("the broker has outlived its connection:\n%s", got)
		}
	})
}

// A new address in the same place: the old one's end changes nothing.
func TestOldAddressClosesAfterTakeover(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := startPipes(t)
		old, fresh := b.client(wire.JSONHeader), b.client(wire.JSONHeader)
		one("b1", "10.0.0.1:1").register(t, old)
		one("b1", "10.0.0.2:1").register(t, fresh)
		before, _ := addresses(t, route(t, fresh, "T-b1"))
		succeed(t, old, wire.UnregisterBroker, append(one("b1", "10.0.0.1:1").identity(), fields("brokerId", "0")...), nil)
		old.Close()
		synctest.Wait()
		if after, _ := addresses(t, route(t, fresh, "T-b1")); after != before || after != `{"0":"10.0.0.2:1"}` {
			t.Errorf("route %s, then %s", before, after)
		}
	})
}

// A heartbeat over a new connection takes the broker with it; one from somebody who only
// knows the address does not.
func TestHeartbeatsBind(t *testing.T) {
	r := one("b1", "a:1")
	stranger := fields("clusterName", "c", "brokerName", "?", "brokerAddr", "a:1", "brokerId", "0")
	beats := map[string]struct {
		code wire.RequestCode
		ext  wire.Fields
		body []byte
		stay bool
	}{
		"904":            {wire.BrokerHeartbeat, r.identity(), nil, true},
		"322":            {wire.QueryDataVersion, append(r.identity(), fields("brokerId", "0")...), []byte(`{"counter":1,"stateVersion":0,"timestamp":1}`), true},
		"322 of another": {wire.QueryDataVersion, stranger, nil, false},
		"904 of another": {wire.BrokerHeartbeat, stranger, nil, false},
	}
	for name, beat := range beats {
		for _, oneway := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, oneway %v", name, oneway), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					b := startPipes(t)
					old, fresh := b.client(wire.JSONHeader), b.client(wire.BinaryHeader)
					r.register(t, old)
					if oneway {
						if err := fresh.Oneway(beat.code, beat.ext, beat.body); err != nil {
							t.Fatal(err)
						}
						synctest.Wait()
					} else {
						succeed(t, fresh, beat.code, beat.ext, beat.body)
					}
					first, second := old, fresh
					if !beat.stay {
						first, second = fresh, old
					}
					first.Close()
					synctest.Wait()
					if b.reg.Snapshot().Group("b1") == nil {
						t.Fatal("the broker went with a connection that was not its own any more")
					}
					second.Close()
					synctest.Wait()
					if b.reg.Snapshot().Group("b1") != nil {
						t.Error("the broker stayed without its connection")
					}
				})
			})
		}
	}
}

// Heartbeats keep a broker alive for as long as it said; then it goes, and its connection
// with it, unless that carries others.
func TestExpiry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := startPipes(t)
		alone, shared := b.client(wire.JSONHeader), b.client(wire.JSONHeader)
		short := one("b1", "a:1")
		short.timeout = 3000
		short.register(t, alone)
		other := one("b2", "b:1")
		other.timeout = 3000
		other.register(t, shared)
		one("b3", "c:1").register(t, shared)
		sweep := func() []registry.MemberInfo {
			return b.reg.Sweep(time.Second, registry.Cause{Face: "server", Action: "sweep"}).Expired
		}
		for range 8 { // a second at a time, heard of all the while
			time.Sleep(time.Second)
			succeed(t, alone, wire.BrokerHeartbeat, short.identity(), nil)
			succeed(t, shared, wire.QueryDataVersion, other.identity(), nil)
			if gone := sweep(); len(gone) > 0 {
				t.Fatalf("expired although heard of: %v", gone)
			}
		}
		for range 3 {
			time.Sleep(time.Second)
			if gone := sweep(); len(gone) > 0 {
				t.Fatalf("expired too early: %v", gone)
			}
		}
		time.Sleep(time.Millisecond)
		if gone := sweep(); len(gone) != 2 {
			t.Fatalf("expired: %v, want both", gone)
		}
		synctest.Wait()
		ended(t, alone)
		b.log.wants(t, "a connection is closed with its broker", "why", "expired")
		succeed(t, shared, wire.GetRouteInfoByTopic, fields("topic", "T-b3"), nil)
		if got := b.dump(); strings.Count(got, "group ") != 1 {
			t.Errorf("left:\n%s", got)
		}
		// A broker that is back within its connection's life is as before.
		other.register(t, shared)
		route(t, shared, "T-b2")
	})
}

// Nothing that is heard of an unknown broker makes one.
func TestHeartbeatsMakeNoBroker(t *testing.T) {
	b := startPipes(t)
	c := b.client(wire.JSONHeader)
	before := b.dump()
	r := one("b1", "a:1")
	succeed(t, c, wire.BrokerHeartbeat, r.identity(), nil)
	if got := said(succeed(t, c, wire.QueryDataVersion, r.identity(), r.body()[:0])); got != `0 {changed="true"}` {
		t.Errorf("322 of an unknown broker: %s", got)
	}
	if after := b.dump(); after != before {
		t.Errorf("changed %s", moved(before, after))
	}
	// Known, it is told its version, whatever it has.
	r.register(t, c)
	for v, want := range map[string]string{
		`{"counter":1,"stateVersion":0,"timestamp":1600000000000}`: "false",
		`{"counter":1,"stateVersion":1,"timestamp":1600000000000}`: "true",
		`{"counter":1,"stateVersion":0,"timestamp":1600000000001}`: "true",
		`{"counter":2,"stateVersion":0,"timestamp":1600000000000}`: "true",
		``: "true",
	} {
		got := said(succeed(t, c, wire.QueryDataVersion, r.identity(), []byte(v)))
		if got != `0 {changed="`+want+`"} body {"counter":1,"stateVersion":0,"timestamp":1600000000000}` {
			t.Errorf("322 with %q: %s", v, got)
		}
	}
}

// Connections of clients that come and go leave the brokers alone.
func TestClientsComeAndGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := startPipes(t)
		one("b1", "a:1").register(t, b.client(wire.JSONHeader))
		before := b.dump()
		for range 200 {
			c := b.client(wire.BinaryHeader)
			route(t, c, "T-b1")
			c.Close()
		}
		synctest.Wait()
		if after := b.dump(); after != before {
			t.Errorf("changed %s", moved(before, after))
		}
		if n := len(b.srv.Connections()); n != 1 {
			t.Errorf("%d connections are left, want the broker's", n)
		}
	})
}

// A registration that is refused leaves no trace but a line in the log.
func TestRefusedRegistrations(t *testing.T) {
	b := startPipes(t)
	c := b.client(wire.JSONHeader)
	master := one("b1", "a:1")
	master.state = 5
	master.register(t, c)
	before := b.dump()
	single := broker{cluster: "new", name: "b2", addr: "b:1", topics: topics("T"), counter: 1}
	stale := one("b1", "b:1")
	stale.state = 4
	for _, tt := range []struct {
		r    broker
		want string
	}{{single, `1 "register broker failed" {}`}, {stale, "0 {}"}} {
		if got := said(call(t, c, wire.RegisterBroker, tt.r.ext(), tt.r.body())); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.r.name, got, tt.want)
		}
		if after := b.dump(); after != before {
			t.Errorf("%s changed %s", tt.r.name, moved(before, after))
		}
	}
	if n := b.srv.Stats.Refused.Load(); n != 2 {
		t.Errorf("%d refusals are counted", n)
	}
	if found := b.log.find("a registration is refused"); len(found) != 2 || found[0].attrs["broker"] != "b2" || found[1].attrs["addr"] != "b:1" {
		t.Errorf("the log has %v", found)
	}
	resp := call(t, c, wire.RegisterTopicInNamesrv, fields("topic", "T9"), []byte(`{"queueDatas":[{"brokerName":"b1"},{"brokerName":"none"}]}`))
	if after := b.dump(); resp.Code != 0 || after != before {
		t.Errorf("217 that names an unknown broker: %s, changed %s", said(resp), moved(before, after))
	}
	b.log.wants(t, "a topic was not registered", "topic", "T9")
}

// The checksum is that of the body as sent with its top bit cleared.
func TestChecksum(t *testing.T) {
	b := startPipes(t)
	c := b.client(wire.JSONHeader)
	r := one("b1", "a:1")
	var sum int32
	for r.counter = 1; ; r.counter++ { // until the whole sum has its top bit set
		if whole := crc(r.body()); whole>>31 == 1 {
			sum = int32(whole & 0x7fffffff)
			break
		}
	}
	send := func(v string) string {
		ext := r.ext()
		ext.Set("bodyCrc32", v)
		return said(call(t, c, wire.RegisterBroker, ext, r.body()))
	}
	before := b.dump()
	for _, v := range []int64{int64(crc(r.body())), int64(int32(crc(r.body()))), int64(sum) + 1, 1} {
		// What does not fit 32 bits is no number, and then nothing is checked.
		if v > 1<<31-1 {
			continue
		}
		if got := send(fmt.Sprint(v)); got != `1 "crc32 not match" {}` {
			t.Errorf("checksum %d: %s", v, got)
		}
	}
	if after := b.dump(); after != before {
		t.Errorf("changed %s", moved(before, after))
	}
	for _, v := range []string{fmt.Sprint(sum), "0", "abc"} {
		if got := send(v); got != "0 {}" {
			t.Errorf("checksum %s: %s", v, got)
		}
	}
}

// A registration that is repeated byte for byte is recognised, and one that differs in
// anything is not.
func TestRepeatedRegistrationIsRecognised(t *testing.T) {
	b := startPipes(t)
	c := b.client(wire.JSONHeader)
	r := one("b1", "a:1")
	count := func() [2]uint64 {
		return [2]uint64{b.srv.Stats.Registered.Load(), b.srv.Stats.Reaffirmed.Load()}
	}
	want := func(what string, registered, reaffirmed uint64) {
		t.Helper()
		if got := count(); got != [2]uint64{registered, reaffirmed} {
			t.Errorf("%s: %d registered, %d recognised; want %d, %d", what, got[0], got[1], registered, reaffirmed)
		}
	}
	r.register(t, c)
	want("first", 1, 0)
	r.register(t, c)
	r.register(t, b.client(wire.JSONHeader))
	want("the same twice", 1, 2)
	before := b.dump()
	r.ha = "ha:2"
	r.register(t, c)
	want("another field", 2, 2)
	if after := b.dump(); before == after {
		t.Error("another HA address changed nothing")
	}
	r.topics[0].WriteQueues = 9
	r.register(t, c)
	want("another body", 3, 2)
	c.Version = wire.V5_3_1
	r.register(t, c)
	want("another version", 4, 2)
	r.register(t, c)
	want("that again", 4, 3)
	succeed(t, c, wire.DeleteTopicInNamesrv, fields("topic", "U"), nil)
	r.register(t, c)
	want("after somebody changed the broker's topics", 5, 3)
	route(t, c, "U")
}
