package registry

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// TestRepeatIsRecognised registers a master and its slave, does something, and asks
// whether their next registrations, byte by byte the same, can be told to do nothing.
func TestRepeatIsRecognised(t *testing.T) {
	for _, x := range []struct {
		name          string
		master, slave bool // recognised afterwards
		do            func(*bed)
	}{
		{"nothing", true, true, func(*bed) {}},
		{"they are heard of", true, true, func(b *bed) {
			b.Heartbeat("c1", "@m", "a", b.conn("m"))
			b.Probe("c1", "@s", "a", nil, b.conn("s"))
		}},
		{"another broker comes with the same topics", true, true, func(b *bed) {
			b.must(broker{cluster: "c1", name: "z", addr: "@z", topics: "T U X"}, "")
		}},
		{"another broker's write permission is wiped", true, true, func(b *bed) { b.WipeWritePerm("other", Cause{}) }},
		{"another broker's topic is deleted", true, true, func(b *bed) { b.DeleteTopicOf("T", "other", Cause{}) }},
		{"another broker's topic is declared", true, true, func(b *bed) { b.declare("T", "other") }},
		{"a key is set", true, true, func(b *bed) { b.change(1) }},
		{"an order configuration is set", true, true, func(b *bed) {
			if _, _, err := b.PutKV(OrderNamespace, "T", "a:4", KVCondition{}, Cause{}); err != nil {
				t.Fatal(err)
			}
		}},
		{"a registration is refused", true, true, func(b *bed) {
			if _, err := b.try(broker{cluster: "c1", name: "a", addr: "@x", id: 7, topics: "T"}, ""); err == nil {
				t.Fatal("it is not refused")
			}
		}},
		{"they are swept in time", true, true, func(b *bed) { b.pass(DefaultTimeout) }},
		{"its write permission is wiped", false, true, func(b *bed) { b.WipeWritePerm("a", Cause{}) }},
		{"wiped and restored", false, true, func(b *bed) {
			b.WipeWritePerm("a", Cause{})
			b.RestoreWritePerm("a", Cause{})
		}},
		{"forced", false, true, func(b *bed) {
			b.WipeWritePerm("a", Cause{})
			b.ForceWritePerm("a", Cause{})
		}},
		{"its topic is deleted", false, true, func(b *bed) { b.DeleteTopic("T", "", Cause{}) }},
		{"its topic is declared", false, true, func(b *bed) { b.declare("T", "a") }},
		{"a topic is declared for it", false, true, func(b *bed) { b.declare("N", "a") }},
		{"its mapping is said by another member", false, false, func(b *bed) {
			b.must(broker{cluster: "c1", name: "other", addr: "@o", topics: "T U", version: 2, change: func(r *Registration) {
				r.Mappings = []*Mapping{{Topic: "U", Broker: "a", TotalQueues: 1}}
			}}, "")
			b.must(slave, "s2") // so that the slave is not recognised either
			b.must(broker{cluster: "c1", name: "a", addr: "@s", id: 2, topics: "T U", acting: ActingOff}, "s")
		}},
		{"a member joins", false, false, func(b *bed) {
			b.must(broker{cluster: "c1", name: "a", addr: "@n", id: 2, topics: "T U"}, "")
		}},
		{"a member leaves", false, false, func(b *bed) { b.Unregister("c1", "a", "@t", 3, Cause{}) }},
		{"a member changes the group's zone", false, false, func(b *bed) {
			b.must(broker{cluster: "c1", name: "a", addr: "@t", id: 3, topics: "T U", change: func(r *Registration) {
				r.Zone, r.HasZone = "z", true
			}}, "")
		}},
		{"the rules change", false, false, func(b *bed) {
			r := DefaultRules()
			r.DeleteTopicWithBrokerRegistration = true
			b.SetRules(r, nil, Cause{})
		}},
		{"its place is taken", false, false, func(b *bed) {
			b.must(broker{cluster: "c1", name: "a", addr: "@n", topics: "T U"}, "")
		}},
		{"its place is taken and given back", false, false, func(b *bed) {
			b.must(broker{cluster: "c1", name: "a", addr: "@n", topics: "T U"}, "")
			b.must(broker{cluster: "c1", name: "a", addr: "@n", topics: "T U", id: 5}, "")
		}},
		{"the master registers something else", false, true, func(b *bed) {
			b.must(broker{cluster: "c1", name: "a", addr: "@m", version: 2, topics: "T:4/4/6 U"}, "m")
		}},
		{"they leave", false, false, func(b *bed) {
			b.Release(b.conn("m"), Cause{})
			b.Release(b.conn("s"), Cause{})
		}},
		{"they expire", false, false, func(b *bed) { b.pass(DefaultTimeout + sweepEvery) }},
	} {
		t.Run(strings.ReplaceAll(x.name, " ", "-"), func(t *testing.T) {
			b := newBed(t)
			b.must(broker{cluster: "c1", name: "other", addr: "@o", topics: "T U"}, "")
			b.must(broker{cluster: "c1", name: "a", addr: "@t", id: 3, topics: "T U"}, "")
			b.must(master, "m")
			b.must(slave, "s")
			// Members that did not know of each other register once more, as they do.
			b.must(master, "m")
			b.must(slave, "s")
			x.do(b)
			b.recognise("master", master, "m", x.master)
			b.recognise("slave", slave, "s", x.slave)
		})
	}
}

var (
	master = broker{cluster: "c1", name: "a", addr: "@m", version: 1, topics: "T U V", change: func(r *Registration) {
		r.Print, r.HAAddr = Fingerprint{Hi: 1, Lo: 2, Len: 3}, "@ha"
	}}
	slave = broker{cluster: "c1", name: "a", addr: "@s", id: 1, version: 1, topics: "T U V", acting: ActingOff, change: func(r *Registration) {
		r.Print = Fingerprint{Hi: 4, Lo: 5, Len: 6}
	}}
)

func (b *bed) declare(topic, broker string) {
	if _, err := b.DeclareTopic(topic, []QueueData{{broker, QueueSpec{2, 2, 6, 0}}}, Cause{}); err != nil {
		b.Fatal(err)
	}
}

// recognise asks for a repeat of x. Recognised or not, the registration itself has to
// agree: it does nothing and is answered the same, or it is needed to say so again.
func (b *bed) recognise(what string, x broker, conn string, want bool) {
	reg := Registration{}
	x.change(&reg)
	before := b.Snapshot()
	b.clock.advance(time.Second)
	got, ok := b.Reaffirm(x.cluster, x.addr, reg.Print, b.conn(conn))
	if ok != want {
		b.Errorf("the %s is recognised: %v", what, ok)
	}
	if b.Snapshot() != before {
		b.Errorf("the %s moved something", what)
	}
	if !ok {
		return
	}
	if seen := b.Snapshot().Live(x.cluster, x.addr).LastSeen(); !seen.Equal(b.clock.now()) {
		b.Errorf("the %s was last seen at %v", what, seen)
	}
	full := b.must(x, conn)
	if full.Changed {
		b.Errorf("the %s is recognised, but its registration changes something", what)
	}
	if d := cmp.Diff(full, got, cmpopts.IgnoreFields(Registered{}, "Live")); d != "" {
		b.Errorf("the %s is answered differently (-registered +recognised):\n%s", what, d)
	}
	if got, ok := b.Reaffirm(x.cluster, x.addr, reg.Print, b.conn(conn)); !ok || got.Live != full.Live {
		b.Errorf("the %s is not recognised after its registration", what)
	}
}

// TestOnlyTheSameRepeatIsRecognised asks with other bytes, from elsewhere, and without any.
func TestOnlyTheSameRepeatIsRecognised(t *testing.T) {
	b := newBed(t)
	b.must(master, "m")
	b.must(broker{cluster: "c1", name: "n", addr: "@n", topics: "T U"}, "n") // without a print
	print := Fingerprint{Hi: 1, Lo: 2, Len: 3}
	for _, x := range []struct {
		what, cluster, addr string
		print               Fingerprint
		want                bool
	}{
		{"the same", "c1", "@m", print, true},
		{"other bytes", "c1", "@m", Fingerprint{Hi: 1, Lo: 3, Len: 3}, false},
		{"another length", "c1", "@m", Fingerprint{Hi: 1, Lo: 2, Len: 4}, false},
		{"no bytes", "c1", "@m", Fingerprint{}, false},
		{"no bytes of one that had none", "c1", "@n", Fingerprint{}, false},
		{"another cluster", "c2", "@m", print, false},
		{"another address", "c1", "@n", print, false},
		{"nobody", "c1", "@x", print, false},
	} {
		if _, ok := b.Reaffirm(x.cluster, x.addr, x.print, b.conn("m")); ok != x.want {
			t.Errorf("%s: recognised: %v", x.what, ok)
		}
	}
	// The bytes of the registration before the last one are not those of the last.
	b.must(broker{cluster: "c1", name: "a", addr: "@m", version: 1, topics: "T U V"}, "m")
	if _, ok := b.Reaffirm("c1", "@m", print, b.conn("m")); ok {
		t.Error("an older registration is recognised")
	}
}

// TestRecognisedRepeatMovesToItsConnection repeats over a new connection: the broker is
// that one's, and the old one's end is nobody's.
func TestRecognisedRepeatMovesToItsConnection(t *testing.T) {
	b := newBed(t)
	b.must(master, "m")
	for i, conn := range []string{"m2", "m3", "m2"} {
		if _, ok := b.Reaffirm("c1", "@m", Fingerprint{Hi: 1, Lo: 2, Len: 3}, b.conn(conn)); !ok {
			t.Fatalf("repeat %d is not recognised", i)
		}
	}
	for _, conn := range []string{"m", "m3"} {
		if n := b.Release(b.conn(conn), Cause{}); n != 0 {
			t.Errorf("%d left with %s", n, conn)
		}
	}
	if n := b.Release(b.conn("m2"), Cause{}); n != 1 {
		t.Errorf("%d left with the connection it was last heard of over", n)
	}
	if _, ok := b.Reaffirm("c1", "@m", Fingerprint{Hi: 1, Lo: 2, Len: 3}, b.conn("m2")); ok {
		t.Error("a broker that has left is recognised")
	}
}

// TestRecognisedRepeatHearsOfOthers changes what the answer holds of others.
func TestRecognisedRepeatHearsOfOthers(t *testing.T) {
	b := newBed(t)
	b.must(master, "m")
	b.must(slave, "s")
	ask := func() Registered {
		t.Helper()
		res, ok := b.Reaffirm("c1", "@s", Fingerprint{Hi: 4, Lo: 5, Len: 6}, b.conn("s"))
		if !ok {
			t.Fatal("the slave is not recognised")
		}
		return res
	}
	if res := ask(); res.MasterAddr != "@m" || res.MasterHAAddr != "@ha" || res.HasOrder {
		t.Errorf("the slave hears %+v", res)
	}
	if _, _, err := b.PutKV(OrderNamespace, "T", "a:4", KVCondition{}, Cause{}); err != nil {
		t.Fatal(err)
	}
	moved := master
	moved.change = func(r *Registration) { r.HAAddr = "@ha2" }
	b.must(moved, "m")
	if res := ask(); res.MasterHAAddr != "@ha2" || !res.HasOrder || res.Order[OrderNamespace]["T"] != "a:4" {
		t.Errorf("the slave hears %+v", res)
	}
}

// TestHotPathsDoNotAllocate counts what the most frequent questions cost.
func TestHotPathsDoNotAllocate(t *testing.T) {
	b := newBed(t)
	b.must(master, "m")
	topic, missing := []byte("T"), []byte("no such topic, and with a name longer than others")
	holder := b.conn("m")
	v := DataVersion{Counter: 1}
	b.Snapshot().Route(topic)
	for _, x := range []struct {
		what string
		do   func() bool
	}{
		{"a route", func() bool { rt, err := b.Snapshot().Route(topic); return err == nil && len(rt.Queues) == 1 }},
		{"a missing route", func() bool { _, err := b.Snapshot().Route(missing); return err != nil }},
		{"a heartbeat", func() bool { return b.Heartbeat("c1", "@m", "a", holder) }},
		{"a heartbeat of nobody", func() bool { return !b.Heartbeat("c1", "@x", "a", holder) }},
		{"a probe", func() bool { _, known, changed := b.Probe("c1", "@m", "a", &v, holder); return known && !changed }},
		{"a repeat", func() bool { _, ok := b.Reaffirm("c1", "@m", Fingerprint{Hi: 1, Lo: 2, Len: 3}, holder); return ok }},
		{"another's repeat", func() bool { _, ok := b.Reaffirm("c1", "@m", Fingerprint{Hi: 9, Len: 3}, holder); return !ok }},
	} {
		ok := true
		if n := testing.AllocsPerRun(100, func() { ok = ok && x.do() }); n != 0 || !ok {
			t.Errorf("%s makes %v allocations, does what it should: %v", x.what, n, ok)
		}
	}
}
