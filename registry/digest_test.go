package registry

import (
	"fmt"
	"testing"
	"time"
)

// content brings a registry to one and the same content, by ways as different as the
// numbers given.
func content(t testing.TB, way int) *bed {
	b := newBed(t)
	b.clock.advance(time.Duration(way) * time.Hour)
	a := broker{cluster: "c1", name: "a", addr: "@a", version: 7, topics: "T:4/4/6 U V+message.type=FIFO", change: func(r *Registration) {
		r.Zone, r.HasZone, r.HAAddr, r.HasHA = "z", true, "@ha", true
		r.Filters, r.HasFilters = []string{"f1", "f2"}, true
		r.Mappings = []*Mapping{{Topic: "T", Said: "T", Broker: "a", TotalQueues: 4, CurrIDs: []QueueID{{0, 1}}}}
	}}
	z := broker{cluster: "c1", name: "z", addr: "@z", version: 3, topics: "T X"}
	slave := broker{cluster: "c1", name: "a", addr: "@s", id: 1, acting: ActingOn, topics: "T U", change: func(r *Registration) {
		r.Zone, r.HasZone = "z", true
	}}
	if way == 1 {
		b.must(broker{cluster: "c9", name: "gone", addr: "@gone", topics: "T Gone"}, "k")
		b.must(broker{cluster: "c1", name: "a", addr: "@old", topics: "T:9/9/6 U V W"}, "k")
		b.change(3)
		for _, k := range []string{"step"} {
			if _, err := b.DeleteKV("N", k, KVCondition{}, Cause{}); err != nil {
				t.Fatal(err)
			}
		}
		z.change = func(r *Registration) { r.Source, r.Owner, r.PeerVersion, r.Language = FromREST, "me", 400, "GO" }
		b.must(z, "")
		b.must(slave, "s1")
		b.must(a, "m1")
		b.Release(b.conn("k"), Cause{})
		b.DeleteTopic("W", "", Cause{})
		b.must(slave, "s1")
	} else {
		if _, _, err := b.PutKV("N", "x", "y", KVCondition{}, Cause{}); err != nil {
			t.Fatal(err)
		}
		if _, err := b.DeleteKV("N", "x", KVCondition{}, Cause{}); err != nil {
			t.Fatal(err)
		}
		b.must(a, "m2")
		b.must(slave, "s2")
		b.must(z, "z2")
	}
	if _, _, err := b.PutKV("ORDER_TOPIC_CONFIG", "T", "a:4", KVCondition{}, Cause{}); err != nil {
		t.Fatal(err)
	}
	b.WipeWritePerm("z", Cause{Actor: fmt.Sprint(way)})
	return b
}

// TestDigestsOfEqualContent compares two registries that came to the same by different
// ways: other revisions, clocks, connections, faces and history.
func TestDigestsOfEqualContent(t *testing.T) {
	x, y := content(t, 1).Snapshot(), content(t, 2).Snapshot()
	if x.Revision == y.Revision || x.Epoch == y.Epoch {
		t.Fatal("they are not as different as they should be")
	}
	if x.Digests() != y.Digests() || x.Digest() != x.Digests().All {
		t.Errorf("digests %+v and %+v of\n%s\nand\n%s", x.Digests(), y.Digests(), dumpOf(x), dumpOf(y))
	}
	for topic := range x.Topics() {
		if a, b := x.RouteDigest(topic), y.RouteDigest(y.Topic(topic.Name)); a != b {
			t.Errorf("routes of %s: %s and %s", topic.Name, a, b)
		}
	}
	for _, g := range x.Groups() {
		if a, b := x.GroupDigest(g), y.GroupDigest(y.Group(g.Name)); a != b {
			t.Errorf("groups %s: %s and %s", g.Name, a, b)
		}
	}
	if d := x.Digest(); len(d) != 16 {
		t.Errorf("a digest is %q", d)
	}
}

// TestDigestIsAFixedFunction holds digests against those of another process: nothing of
// this one, such as the seed of its hashes, goes into them.
func TestDigestIsAFixedFunction(t *testing.T) {
	s := content(t, 2).Snapshot()
	want := Digests{All: "babc2de014c5347f", Topics: "6aa2f248575c37ea", Brokers: "c77ff6845129ddf7", KV: "2bc3a1fcda338334"}
	if got := s.Digests(); got != want {
		t.Errorf("digests are %+v, not %+v", got, want)
	}
	if got := s.RouteDigest(s.Topic("T")); got != "bbed3b9993b4839a" {
		t.Errorf("the route's digest is %s", got)
	}
}

// TestDigestsTellWhatDiffers changes one thing at a time and looks which digests move.
func TestDigestsTellWhatDiffers(t *testing.T) {
	type moved struct{ topics, brokers, kv, route, group bool }
	for _, x := range []struct {
		what string
		do   func(*bed)
		want moved // of the route of T and the group a
	}{
		{"nothing", func(b *bed) { b.Heartbeat("c1", "@a", "a", nil) }, moved{}},
		{"a report", func(b *bed) { b.Report(Change{}) }, moved{}},
		{"a key", func(b *bed) { b.change(1) }, moved{kv: true}},
		{"an order configuration that is not shown", func(b *bed) {
			if _, _, err := b.PutKV(OrderNamespace, "T", "a:9", KVCondition{}, Cause{}); err != nil {
				t.Fatal(err)
			}
		}, moved{kv: true}},
		{"a rule that shows it", func(b *bed) {
			r := DefaultRules()
			r.OrderMessageEnable = true
			b.SetRules(r, nil, Cause{})
		}, moved{route: true}},
		{"a wipe", func(b *bed) { b.WipeWritePerm("a", Cause{}) }, moved{topics: true, brokers: true, route: true, group: true}},
		{"the end of a wipe", func(b *bed) { b.RestoreWritePerm("z", Cause{}) }, moved{topics: true, brokers: true, route: true}},
		{"another topic", func(b *bed) { b.declare("New", "a") }, moved{topics: true}},
		{"a part of the topic", func(b *bed) { b.declare("T", "a") }, moved{topics: true, route: true}},
		{"the topic's end", func(b *bed) { b.DeleteTopicOf("T", "z", Cause{}) }, moved{topics: true, route: true}},
		{"a member", func(b *bed) {
			b.must(broker{cluster: "c1", name: "a", addr: "@n", id: 2, acting: ActingOn, topics: "T U", change: func(r *Registration) {
				r.Zone, r.HasZone = "z", true
			}}, "")
		}, moved{brokers: true, route: true, group: true}},
		{"a member's version", func(b *bed) {
			b.must(broker{cluster: "c1", name: "a", addr: "@s", id: 1, version: 9, acting: ActingOn, topics: "T U", change: func(r *Registration) {
				r.Zone, r.HasZone = "z", true
			}}, "")
		}, moved{brokers: true, group: true}},
		{"a broker's end", func(b *bed) { b.Unregister("c1", "z", "@z", 0, Cause{}) }, moved{topics: true, brokers: true, route: true}},
	} {
		t.Run(x.what, func(t *testing.T) {
			b := content(t, 2)
			before := b.Snapshot()
			old, oldRoute, oldGroup := before.Digests(), before.RouteDigest(before.Topic("T")), before.GroupDigest(before.Group("a"))
			x.do(b)
			s := b.Snapshot()
			now := s.Digests()
			got := moved{
				now.Topics != old.Topics, now.Brokers != old.Brokers, now.KV != old.KV,
				s.RouteDigest(s.Topic("T")) != oldRoute, s.GroupDigest(s.Group("a")) != oldGroup,
			}
			if got != x.want {
				t.Errorf("moved: %+v, not %+v", got, x.want)
			}
			if (now.All != old.All) != (x.want.topics || x.want.brokers || x.want.kv) {
				t.Errorf("the digest of all: %s, before %s", now.All, old.All)
			}
			if before.Digests() != old || before.RouteDigest(before.Topic("T")) != oldRoute {
				t.Error("the digests of the old snapshot have changed")
			}
		})
	}
}

// TestDigestIsRemembered asks twice.
func TestDigestIsRemembered(t *testing.T) {
	b := content(t, 2)
	s := b.Snapshot()
	s.Digests()
	topic := s.Topic("T")
	s.RouteDigest(topic)
	if n := testing.AllocsPerRun(20, func() { s.RouteDigest(topic) }); n != 0 {
		t.Errorf("a remembered route's digest makes %v allocations", n)
	}
	b.change(1)
	if now := b.Snapshot(); now.sums.topics != s.sums.topics || now.sums.brokers != s.sums.brokers || now.sums.kv == s.sums.kv {
		t.Error("after a change of a key not just the digest of the keys is made anew")
	}
}
