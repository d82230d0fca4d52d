package registry

import (
	"testing"
	"time"
)

// Tests of what somebody does who still holds something of an earlier moment.

// TestOldStatementIsComparedWithThePresentList fills a statement, lets the broker register
// something else under the same version meanwhile, and only then hands it in.
func TestOldStatementIsComparedWithThePresentList(t *testing.T) {
	b := newBed(t)
	x := broker{cluster: "c", name: "a", addr: "@a", version: 1, topics: "T U"}
	b.must(x, "")
	statement := func() *Statement {
		st := b.Snapshot().NewStatement("c", "@a")
		for _, topic := range []string{"T", "U"} {
			st.Add(topic, TopicConfig{QueueSpec: QueueSpec{8, 8, 6, 0}})
		}
		return st
	}
	late := statement()
	y := x
	y.topics = "T:4/4/6 U"
	b.must(y, "")
	x.change = func(r *Registration) { r.Topics = late }
	if res := b.must(x, ""); res.ChangedTopics != 1 || b.queue("T", "a") != "8/8/6/0" {
		t.Errorf("%d changed, T is %s", res.ChangedTopics, b.queue("T", "a"))
	}
	// The same for a broker that has left in between.
	late = statement()
	b.Unregister("c", "a", "@a", 0, Cause{})
	if res := b.must(x, ""); res.NewTopics != 2 {
		t.Errorf("%d new topics", res.NewTopics)
	}
}

// TestUnchangedListCostsAComparison counts what a repeat of many topics makes.
func TestUnchangedListCostsAComparison(t *testing.T) {
	b := newBed(t)
	x := broker{cluster: "c", name: "a", addr: "@a", version: 1, topics: list(0, 2000)}
	b.must(x, "")
	reg := Registration{MemberInfo: x.info()}
	allocs := func() float64 {
		return testing.AllocsPerRun(10, func() {
			reg.Topics = b.Snapshot().NewStatement("c", "@a")
			for i := range b.Snapshot().Live("c", "@a").listing.topics {
				l := b.Snapshot().Live("c", "@a").listing.topics[i]
				reg.Topics.Add(l.Name, l.Config)
			}
			if res, err := b.Register(reg, nil, Cause{}); err != nil || res.Changed || res.SameTopics != 2000 {
				t.Errorf("%+v, %v", res, err)
			}
		})
	}
	if n := allocs(); n > 40 {
		t.Errorf("an unchanged list of 2,000 topics makes %v allocations", n)
	}
	b.WipeWritePerm("a", Cause{})
	b.must(x, "")
	if n := allocs(); n > 40 {
		t.Errorf("an unchanged list of 2,000 wiped topics makes %v allocations", n)
	}
}

// TestNamesAreTakenFromWhatIsKnown turns bytes into names.
func TestNamesAreTakenFromWhatIsKnown(t *testing.T) {
	b := newBed(t)
	b.must(broker{cluster: "c", name: "a", addr: "@a", version: 1, topics: "T U V"}, "")
	for _, addr := range []string{"@a", "@new"} {
		st := b.Snapshot().NewStatement("c", addr)
		bytes := [][]byte{[]byte("T"), []byte("V"), []byte("new")}
		for i, want := range []float64{0, 0, 1} {
			if n := testing.AllocsPerRun(10, func() {
				if got := st.Intern(bytes[i]); got != string(bytes[i]) {
					t.Errorf("%q became %q", bytes[i], got)
				}
			}); n != want {
				t.Errorf("%s: the name %q makes %v allocations", addr, bytes[i], n)
			}
			st.Add(st.Intern(bytes[i]), TopicConfig{})
		}
		name := st.Intern(bytes[2])
		bytes[2][0] = 'N'
		if name != "new" {
			t.Errorf("the name changed with its bytes to %q", name)
		}
	}
}

// TestEndedLeaseIsNotRenewed lets a member be heard of that has left a moment ago, by
// somebody who looked it up before.
func TestEndedLeaseIsNotRenewed(t *testing.T) {
	b := newBed(t)
	x := broker{cluster: "c", name: "a", addr: "@a", version: 1, topics: "T U"}
	for what, end := range map[string]func(){
		"it unregistered":       func() { b.Unregister("c", "a", "@a", 0, Cause{}) },
		"its connection closed": func() { b.Release(b.conn("k"), Cause{}) },
		"it expired":            func() { b.pass(DefaultTimeout + sweepEvery) },
	} {
		b.must(x, "k")
		l := b.Snapshot().Live("c", "@a")
		seen := b.clock.now()
		end()
		if b.renewed(l, b.conn("k2")) || b.rebind(l, b.conn("k2"), b.hear) {
			t.Errorf("%s, but is heard of", what)
		}
		if !l.LastSeen().Equal(seen) || !l.ExpiresAt().Equal(seen.Add(DefaultTimeout)) {
			t.Errorf("%s; it was last seen at %v, not %v", what, l.LastSeen(), seen)
		}
		// Whoever comes after it with the same address is somebody else.
		b.must(x, "")
		b.clock.advance(time.Second)
		if b.renewed(l, nil) || b.rebind(l, b.conn("k2"), b.hear) {
			t.Errorf("%s, but its successor is renewed for it", what)
		}
		b.Unregister("c", "a", "@a", 0, Cause{})
	}
}

// TestClockThatStepsBackRenewsNothingAway hears of a member with a clock that is behind.
func TestClockThatStepsBackRenewsNothingAway(t *testing.T) {
	b := newBed(t)
	b.pass(time.Minute)
	b.must(broker{cluster: "c", name: "a", addr: "@a", version: 1, topics: "T U"}, "")
	seen := b.clock.now()
	b.clock.advance(-30 * time.Second)
	if !b.Heartbeat("c", "@a", "a", nil) || !b.Snapshot().Live("c", "@a").LastSeen().Equal(seen) {
		t.Errorf("last seen at %v, not %v", b.Snapshot().Live("c", "@a").LastSeen(), seen)
	}
	if s := b.Sweep(sweepEvery, Cause{}); len(s.Expired) > 0 || s.Late > 0 || !b.LastSweep().Equal(b.clock.now()) {
		t.Errorf("swept at %v: %+v", b.LastSweep(), s)
	}
}

// TestMemosKeepWhatWasBuiltFirst uses the slots of a memo.
func TestMemosKeepWhatWasBuiltFirst(t *testing.T) {
	b := newBed(t)
	b.must(broker{cluster: "c", name: "a", addr: "@a", version: 1, topics: "T U"}, "")
	s := b.Snapshot()
	rt, err := s.Route([]byte("T"))
	if err != nil {
		t.Fatal(err)
	}
	for what, m := range map[string]*Memo{"names": s.TopicNamesMemo(), "groups": s.GroupsMemo(), "route": &rt.Memo} {
		if m.Peek(1) != nil {
			t.Errorf("%s: something is there before it is built", what)
		}
		first := string(m.Encoded(1, func() []byte {
			// Somebody else is quicker.
			m.Encoded(1, func() []byte { return []byte("quick") })
			return []byte("slow")
		}))
		again := string(m.Encoded(1, func() []byte { return []byte("again") }))
		other := string(m.Encoded(2, func() []byte { return []byte("other") }))
		if first != "quick" || again != "quick" || string(m.Peek(1)) != "quick" || other != "other" || m.Peek(0) != nil {
			t.Errorf("%s: built %q, %q and %q", what, first, again, other)
		}
	}
	// They go with what they were made of, and only then.
	b.must(broker{cluster: "c", name: "a", addr: "@a", version: 2, topics: "T U"}, "")
	now := b.Snapshot()
	if now.TopicNamesMemo() != s.TopicNamesMemo() || now.GroupsMemo() != s.GroupsMemo() || &now.RouteOf(now.Topic("T")).Memo != &rt.Memo {
		t.Error("a change of neither names, groups nor queues forgets them")
	}
	b.must(broker{cluster: "c", name: "a", addr: "@a", version: 3, topics: "T U V"}, "")
	if now := b.Snapshot(); now.TopicNamesMemo() == s.TopicNamesMemo() || now.GroupsMemo() != s.GroupsMemo() {
		t.Error("a new topic does not forget the names, or forgets the groups")
	}
	b.must(broker{cluster: "c", name: "a", addr: "@s", id: 1, topics: "T U"}, "")
	if now := b.Snapshot(); now.GroupsMemo() == s.GroupsMemo() || &now.RouteOf(now.Topic("T")).Memo == &rt.Memo {
		t.Error("a new member does not forget groups and routes")
	}
}

// TestRouteRevision looks at what a route's revision goes by: its groups, its order
// configuration and the rules, and nothing else.
func TestRouteRevision(t *testing.T) {
	b := newBed(t, func(r *Rules) { r.OrderMessageEnable = true })
	b.must(broker{cluster: "c", name: "a", addr: "@a", version: 1, topics: "T U"}, "")
	put := func(key string) {
		if _, _, err := b.PutKV(OrderNamespace, key, b.Epoch()+key, KVCondition{}, Cause{}); err != nil {
			t.Fatal(err)
		}
	}
	for i, x := range []struct {
		what  string
		do    func()
		moves bool
	}{
		{"another group", func() { b.must(broker{cluster: "c", name: "z", addr: "@z", topics: "X Y"}, "") }, false},
		{"its group", func() { b.must(broker{cluster: "c", name: "a", addr: "@s", id: 1, topics: "T U"}, "") }, true},
		{"a version", func() { b.must(broker{cluster: "c", name: "a", addr: "@s", id: 1, version: 2, topics: "T U"}, "") }, false},
		{"another's order", func() { put("U") }, false},
		{"its order", func() { put("T") }, true},
		{"the end of its order", func() {
			if _, err := b.DeleteKV(OrderNamespace, "T", KVCondition{}, Cause{}); err != nil {
				t.Fatal(err)
			}
		}, true},
		{"a key", func() { b.change(1) }, false},
		{"the rules", func() {
			r := b.Snapshot().Rules()
			r.EnableTopicList = false
			b.SetRules(r, nil, Cause{})
		}, true},
	} {
		before := b.Snapshot().RouteOf(b.Snapshot().Topic("T")).Revision
		x.do()
		s := b.Snapshot()
		now := s.RouteOf(s.Topic("T")).Revision
		if moved := now != before; moved != x.moves || moved && now != s.Revision {
			t.Errorf("step %d, %s: from %d to %d at %d", i, x.what, before, now, s.Revision)
		}
	}
	if in := b.Snapshot().ReadyIn(); in != 0 || !b.Started().Equal(clockStart) {
		t.Errorf("ready in %v, started at %v", in, b.Started())
	}
}
