package registry

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// change makes the registry go on by n revisions.
func (b *bed) change(n int) {
	for i := range n {
		if _, _, err := b.PutKV("N", "step", fmt.Sprint(b.Snapshot().Revision, i), KVCondition{}, Cause{Action: "kv"}); err != nil {
			b.Fatal(err)
		}
	}
}

// TestSlowSubscriberIsClosed fills one subscriber's buffer: it gets what fits, then the
// end, and learns why; the others get everything.
func TestSlowSubscriberIsClosed(t *testing.T) {
	b := newBed(t)
	_, slow := b.Subscribe(2)
	_, quick := b.Subscribe(10)
	b.change(2)
	if slow.Lagged() {
		t.Error("lagged with a buffer that is just full")
	}
	b.change(3)
	if got := collect(slow); len(got) != 2 || got[1].Revision != 2 {
		t.Errorf("the slow one got %d changes", len(got))
	}
	if _, open := <-slow.C; open || !slow.Lagged() {
		t.Errorf("still open: %v, lagged: %v", open, slow.Lagged())
	}
	if got := collect(quick); len(got) != 5 || quick.Lagged() {
		t.Errorf("the quick one got %d changes, lagged: %v", len(got), quick.Lagged())
	}
	slow.Close()
	quick.Close()
	quick.Close()
	if _, open := <-quick.C; open || quick.Lagged() {
		t.Error("closed by its owner, but open or lagged")
	}
	if len(b.subs) != 0 {
		t.Errorf("%d subscriptions are kept", len(b.subs))
	}
	// Nobody listens, which is no trouble.
	b.change(1)
}

// TestSubscribeSinceRevision asks for what was missed.
func TestSubscribeSinceRevision(t *testing.T) {
	b := newBed(t)
	b.change(5)
	b.Report(Change{Server: []ServerChange{{Op: OpStarted}}})
	for since := range uint64(6) {
		missed, s, sub, ok := b.SubscribeSince(since, 10)
		if !ok || s.Revision != 5 {
			t.Fatalf("since %d: %v, at %d", since, ok, s.Revision)
		}
		steps := 0
		for _, c := range missed {
			if c.Step {
				steps++
			}
		}
		if steps != int(5-since) || steps > 0 && missed[0].Revision != since+1 {
			t.Errorf("since %d: %d changes were missed", since, steps)
		}
		sub.Close()
	}
	if _, s, sub, ok := b.SubscribeSince(6, 10); ok || sub != nil || s == nil {
		t.Error("a revision that is not reached yet is taken for one")
	}
	_, _, sub, _ := b.SubscribeSince(3, 10)
	b.change(1)
	if got := collect(sub); len(got) != 1 || got[0].Revision != 6 {
		t.Errorf("after what was missed came %v", got)
	}
	sub.Close()
}

// TestHistoryIsBoundedInNumber makes more changes than are kept.
func TestHistoryIsBoundedInNumber(t *testing.T) {
	b := newBed(t)
	b.change(historyChanges + 250)
	changes, compacted := b.History()
	if len(changes) != historyChanges || compacted != 250 || changes[0].Revision != 251 {
		t.Errorf("%d changes are kept from %d on, %d are gone", len(changes), changes[0].Revision, compacted)
	}
	if _, _, sub, ok := b.SubscribeSince(249, 1); ok || sub != nil {
		t.Error("changes since 249 are promised, but 250 is gone")
	}
	if missed, _, sub, ok := b.SubscribeSince(250, 1); !ok || len(missed) != historyChanges {
		t.Errorf("since 250: %v, %d changes", ok, len(missed))
	} else {
		sub.Close()
	}
	// Reports take room, but no revision goes by them.
	for range 10 {
		b.Report(Change{Server: []ServerChange{{Op: OpStarted}}})
	}
	if _, compacted := b.History(); compacted != 260 {
		t.Errorf("%d are gone", compacted)
	}
}

// TestHistoryIsBoundedInSize makes few, but big changes, of many parts or of long texts.
func TestHistoryIsBoundedInSize(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	for _, x := range []struct {
		name string
		do   func(*bed, int)
	}{
		{"values", func(b *bed, i int) { _, _, _ = b.PutKV("N", "k", fmt.Sprint(i, long), KVCondition{}, Cause{}) }},
		{"topic names", func(b *bed, i int) {
			b.must(broker{cluster: "c", name: "a", addr: "@a", version: int64(i), topics: fmt.Sprint("T T", i, long)}, "")
			b.DeleteTopic(fmt.Sprint("T", i, long), "", Cause{})
		}},
		{"addresses", func(b *bed, i int) {
			b.must(broker{cluster: "c", name: "a", addr: fmt.Sprint(i, long), topics: "T U"}, "k")
			b.Release(b.conn("k"), Cause{})
		}},
		{"settings", func(b *bed, i int) {
			b.SetRules(DefaultRules(), []ConfigChange{{Key: "k", Before: fmt.Sprint(i), After: long}}, Cause{})
		}},
		{"details", func(b *bed, _ int) { b.Report(Change{Server: []ServerChange{{Op: OpStarted, Detail: long}}}) }},
	} {
		t.Run(x.name, func(t *testing.T) {
			b := newBed(t)
			for i := range 40 {
				x.do(b, i)
			}
			changes, _ := b.History()
			if len(changes) == 0 || len(changes) > 20 {
				t.Errorf("of 40 or more changes of a megabyte %d are kept", len(changes))
			}
		})
	}
	// One change that is too big by itself is kept, as the only one.
	b := newBed(t)
	b.change(3)
	_, _, _ = b.PutKV("N", "k", strings.Repeat("x", historyBytes), KVCondition{}, Cause{})
	if changes, compacted := b.History(); len(changes) != 1 || compacted != 3 {
		t.Errorf("%d changes are kept, %d are gone", len(changes), compacted)
	}
	b.change(1)
	if changes, _ := b.History(); len(changes) != 1 {
		t.Errorf("%d changes are kept", len(changes))
	}
}

// TestChangeSaysWhenAndWhy looks at what every change carries.
func TestChangeSaysWhenAndWhy(t *testing.T) {
	b := newBed(t)
	b.clock.advance(time.Hour)
	cause := Cause{Face: "rest", Action: "putMember", Actor: "me", RequestID: "7"}
	_, sub := b.Subscribe(1)
	if _, _, err := b.PutKV("N", "k", "v", KVCondition{}, cause); err != nil {
		t.Fatal(err)
	}
	c := <-sub.C
	if c.Cause != cause || !c.Time.Equal(b.clock.now()) || !c.Step || c.Revision != 1 || c.Size() != 1 {
		t.Errorf("the change is %+v", c)
	}
	if s := b.Snapshot(); !s.At.Equal(c.Time) || s.KVRevision() != 1 || s.TopicsRevision() != 0 {
		t.Errorf("the snapshot is of %v, its table of %d", s.At, s.KVRevision())
	}
	b.Report(Change{Revision: 99, Step: true, Server: []ServerChange{{Op: OpStarted}}})
	if c := <-sub.C; c.Revision != 1 || c.Step {
		t.Errorf("a report has revision %d, step %v", c.Revision, c.Step)
	}
	sub.Close()
	if got := FormatRevision(b.Epoch(), 12); got != b.Epoch()+".12" || len(b.Epoch()) != 8 || New(Options{}).Epoch() == b.Epoch() {
		t.Errorf("a revision is written %q", got)
	}
}

// TestWatchersOfPartsSeeTheirRevision moves one part of the registry and looks which
// revisions go with it.
func TestWatchersOfPartsSeeTheirRevision(t *testing.T) {
	b := newBed(t)
	type revs struct{ topics, members, rules, kv uint64 }
	now := func() revs {
		s := b.Snapshot()
		return revs{s.TopicsRevision(), s.MembersRevision(), s.RulesRevision(), s.KVRevision()}
	}
	want := func(what string, w revs) {
		t.Helper()
		if now() != w {
			t.Errorf("after %s: %+v, not %+v", what, now(), w)
		}
	}
	a := broker{cluster: "c", name: "a", addr: "@a", version: 1, topics: "T U"}
	b.must(a, "")
	want("a registration", revs{1, 1, 0, 0})
	b.WipeWritePerm("a", Cause{})
	want("a wipe", revs{2, 1, 0, 0})
	a.version = 2
	a.topics = "V"
	b.DeleteTopic("U", "", Cause{})
	want("a delete", revs{3, 1, 0, 0})
	b.must(a, "")
	want("a changed registration", revs{4, 4, 0, 0})
	b.change(1)
	want("a key", revs{4, 4, 0, 5})
	r := DefaultRules()
	r.OrderMessageEnable = true
	b.SetRules(r, nil, Cause{})
	want("a rule", revs{4, 4, 6, 5})
	b.must(a, "")
	b.Heartbeat("c", "@a", "a", nil)
	want("nothing", revs{4, 4, 6, 5})
	b.Unregister("c", "a", "@a", 0, Cause{})
	want("the end", revs{7, 7, 6, 5})
	if topic := b.Snapshot().Topic("T"); topic != nil {
		t.Errorf("%v is left", topic)
	}
}
