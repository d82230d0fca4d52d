package registry

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestNewBrokerTakesAfterItsSiblings registers brokers of one cluster with one list: it is
// there once, as is the table that it makes.
func TestNewBrokerTakesAfterItsSiblings(t *testing.T) {
	b := newBed(t)
	for i := range 3 {
		b.must(broker{cluster: "c", name: fmt.Sprint("b", i), addr: fmt.Sprint("@", i), version: 1, topics: list(0, 200)}, "")
	}
	b.must(broker{cluster: "other", name: "x", addr: "@x", version: 1, topics: list(0, 200)}, "")
	table := func(name string) *node[*Listed] { return b.Snapshot().tables.get(name).topics.root }
	topics := func(cluster, addr string) *Listed { return b.Snapshot().Live(cluster, addr).listing.topics[0] }
	if table("b1") != table("b0") || table("b2") != table("b0") {
		t.Error("tables of the same topics are not one")
	}
	if table("x") == table("b0") || topics("other", "@x") != topics("c", "@0") {
		t.Error("another cluster's broker shares more, or less, than values")
	}
	// What one changes is its own.
	b.must(broker{cluster: "c", name: "b1", addr: "@1", version: 2, topics: strings.Replace(list(0, 200), "T7", "T7:1/1/6", 1)}, "")
	b.DeleteTopic("T9", "", Cause{})
	b.want("T7 of b1", b.queue("T7", "b1"), "1/1/6/0")
	b.want("T7 of b2", b.queue("T7", "b2"), "8/8/6/0")
	// Not after one whose table is no longer what it listed.
	b.must(broker{cluster: "c", name: "b3", addr: "@3", version: 1, topics: list(0, 200)}, "")
	b.want("T9 of b3", b.queue("T9", "b3"), "8/8/6/0")
	if n := b.Snapshot().BrokerTopicCount("b3"); n != 200 {
		t.Errorf("the new one has %d topics", n)
	}
	check(t, b.Registry)
}

// TestShortListsAreShort registers lists that begin like a long one and are short: they keep
// no room for the rest.
func TestShortListsAreShort(t *testing.T) {
	b := newBed(t)
	b.must(broker{cluster: "c", name: "long", addr: "@long", version: 1, topics: list(0, 5000)}, "")
	for name, topics := range map[string]string{
		"changed": "T0:1/1/6 T1", "new": "T0:1/1/6 new", "twice": "T0:1/1/6 T0:2/2/6 T1", "equal": "T0 T1",
	} {
		l := b.must(broker{cluster: "c", name: name, addr: "@" + name, version: 1, topics: topics}, "").Live.listing
		if len(l.topics) != 2 || cap(l.topics) > 8 {
			t.Errorf("%s: %d topics in a list for %d", name, len(l.topics), cap(l.topics))
		}
	}
	check(t, b.Registry)
}

// TestWhoComesBackFindsItsList loses a broker: if it comes back in time, its list is what
// it was, in the same memory, whatever others did meanwhile.
func TestWhoComesBackFindsItsList(t *testing.T) {
	b := newBed(t)
	x := broker{cluster: "c", name: "a", addr: "@a", version: 1, topics: list(0, 100)}
	first := b.must(x, "conn").Live.listing
	b.Release(b.conn("conn"), Cause{})
	if b.Snapshot().TopicCount() != 0 || b.partings.topics != 100 {
		t.Fatalf("%d topics, %d remembered", b.Snapshot().TopicCount(), b.partings.topics)
	}
	back := b.must(x, "conn").Live.listing
	for i, l := range back.topics {
		if l != first.topics[i] {
			t.Fatalf("topic %s was made anew", l.Name)
		}
	}
	if b.partings.topics != 0 || len(b.partings.byKey) != 0 {
		t.Errorf("%d topics are remembered of one that is back", b.partings.topics)
	}
	// It comes back otherwise.
	b.Release(b.conn("conn"), Cause{})
	x.topics = strings.Replace(list(0, 100), "T50", "T50:2/2/4", 1)
	b.must(x, "conn")
	b.want("T50", b.queue("T50", "a"), "2/2/4/0")
	b.want("T51", b.queue("T51", "a"), "8/8/6/0")
	check(t, b.Registry)
	// Or not at all.
	b.Release(b.conn("conn"), Cause{})
	b.pass(partingLasts + time.Second)
	if b.partings.topics != 0 || b.partings.order.Len() != 0 {
		t.Errorf("%d topics are remembered for ever", b.partings.topics)
	}
}

// TestPartingsAreBounded loses far more brokers than are remembered.
func TestPartingsAreBounded(t *testing.T) {
	var p partings
	now := time.Unix(1e9, 0)
	of := func(k string, n int) *Live {
		return &Live{k: k, listing: &listing{topics: slices.Repeat([]*Listed{{Name: "T"}}, n)}}
	}
	for i := range 100 {
		p.remember(of(fmt.Sprint(i), partingTopics/10), nil, now)
		p.remember(of("again", 5), nil, now)
	}
	if p.topics > partingTopics || len(p.byKey) != p.order.Len() || len(p.byKey) > 11 {
		t.Errorf("%d topics of %d members, %d in order", p.topics, len(p.byKey), p.order.Len())
	}
	if p.find("99").listing == nil || p.find("again").listing == nil || p.find("0").listing != nil {
		t.Error("not the latest are remembered")
	}
	p.remember(of("huge", partingTopics+1), nil, now)
	if p.find("huge").listing != nil || p.find("99").listing == nil {
		t.Error("what is too much was remembered, and what was there is gone")
	}
	// A list of few topics may be long all the same.
	for i := range 100 {
		x := of(fmt.Sprint(i), 1)
		x.listing.topics[0] = &Listed{Name: strings.Repeat("x", 1<<20), Config: TopicConfig{Attributes: fmt.Sprint(i)}}
		p.remember(x, nil, now)
	}
	if n := len(p.byKey); n == 0 || n > 64 {
		t.Errorf("%d lists of a megabyte are remembered", n)
	}
}

// TestStretches follows how a list was written from one statement to the next.
func TestStretches(t *testing.T) {
	b := newBed(t)
	spec := TopicConfig{QueueSpec: QueueSpec{4, 4, 6, 0}}
	register := func(version int64, fill func(*Statement)) {
		st := b.Snapshot().NewStatement("c", "@a")
		fill(st)
		reg := Registration{MemberInfo: MemberInfo{Cluster: "c", Addr: "@a", Name: "a", Timeout: DefaultTimeout, Version: DataVersion{Counter: version}}, Topics: st}
		if _, err := b.Register(reg, nil, Cause{}); err != nil {
			t.Fatal(err)
		}
	}
	one, two := Stretch{Sum: 1, Size: 10, Topics: 2}, Stretch{Sum: 2, Size: 20, Topics: 2}
	register(1, func(st *Statement) {
		if st.Ahead().Size != 0 {
			t.Error("a first list has been written before")
		}
		st.Add("T0", spec)
		st.Add("T1", spec)
		st.Wrote(one)
		st.Add("T2", spec)
		st.Add("T3", spec)
		st.Wrote(two)
	})
	other := spec
	other.ReadQueues = 9
	register(2, func(st *Statement) {
		if st.Ahead() != one {
			t.Errorf("first comes %+v", st.Ahead())
		}
		st.Add("T0", other)
		if st.Ahead().Size != 0 {
			t.Error("a stretch begins in the middle of one")
		}
		st.Add("T1", spec)
		st.Wrote(Stretch{Sum: 3, Size: 11, Topics: 2})
		if st.Ahead() != two {
			t.Errorf("then comes %+v", st.Ahead())
		}
		st.Repeat()
		if st.Ahead().Size != 0 || st.Len() != 4 {
			t.Errorf("at the end comes %+v, behind %d", st.Ahead(), st.Len())
		}
	})
	b.want("T0", b.queue("T0", "a"), "9/4/6/0")
	b.want("T3", b.queue("T3", "a"), "4/4/6/0")
	// Nothing follows a name that is not expected, and a list with a name twice is not as
	// it was written.
	register(3, func(st *Statement) {
		st.Repeat()
		st.Add("new", spec)
		if st.Ahead().Size != 0 {
			t.Error("a stretch follows a name that is new")
		}
		st.Add("T0", spec)
		st.Wrote(Stretch{Sum: 4, Size: 12, Topics: 2})
	})
	if l := b.Snapshot().Live("c", "@a").listing; l.stretches != nil || len(l.topics) != 3 {
		t.Errorf("of %d topics these are known: %+v", len(l.topics), l.stretches)
	}
	b.want("T0", b.queue("T0", "a"), "4/4/6/0")
}
