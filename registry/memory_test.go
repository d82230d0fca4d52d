package registry

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"weak"
)

// list returns topics from first to last, as a broker's list.
func list(first, last int) string {
	out := make([]string, 0, last-first)
	for i := first; i < last; i++ {
		out = append(out, fmt.Sprint("T", i))
	}
	return strings.Join(out, " ")
}

// TestBrokersShareWhatTheyListAlike registers the same topics from many brokers: names,
// values and layouts are there once.
func TestBrokersShareWhatTheyListAlike(t *testing.T) {
	b := newBed(t)
	const brokers, topics = 12, 300
	for i := range brokers {
		b.must(broker{cluster: "c", name: fmt.Sprint("b", i), addr: fmt.Sprint("@", i), version: 1, topics: list(0, topics)}, "")
	}
	s := b.Snapshot()
	listed := map[*Listed]bool{}
	for l := range s.Lives() {
		for _, x := range l.listing.topics {
			listed[x] = true
		}
	}
	layouts := map[*layout]bool{}
	for topic := range s.Topics() {
		layouts[topic.layout] = true
	}
	if len(listed) != topics || len(layouts) != 1 {
		t.Errorf("%d values for %d topics of %d brokers, %d layouts", len(listed), topics, brokers, len(layouts))
	}
	// Topics with one layout have one route, and one encoded form of it.
	rt := s.RouteOf(s.Topic("T0"))
	for topic := range s.Topics() {
		if s.RouteOf(topic) != rt {
			t.Fatalf("topic %s has a route of its own", topic.Name)
		}
	}
}

// TestRepeatKeepsItsList repeats a list unchanged and changed in one place: what is equal
// is the same memory.
func TestRepeatKeepsItsList(t *testing.T) {
	b := newBed(t)
	x := broker{cluster: "c", name: "a", addr: "@a", version: 1, topics: list(0, 100)}
	first := b.must(x, "").Live.listing
	if again := b.must(x, "").Live.listing; again != first {
		t.Error("an unchanged repeat made a new list")
	}
	x.version, x.topics = 2, strings.Replace(x.topics, "T50", "T50:4/4/6", 1)
	changed := b.must(x, "").Live.listing.topics
	same := 0
	for i, l := range changed {
		if l == first.topics[i] {
			same++
		}
	}
	if same != 99 {
		t.Errorf("%d of 100 values are shared with the list before", same)
	}
	// What the list before needed of the changed topic is all that may be left of it.
	if n := len(b.Snapshot().Topic("T50").listed); n > 2 {
		t.Errorf("the topic keeps %d values", n)
	}
}

// TestTopicForgetsOldValues changes a topic often: it keeps few values to share.
func TestTopicForgetsOldValues(t *testing.T) {
	b := newBed(t)
	for i := range 50 {
		b.must(broker{cluster: "c", name: "a", addr: "@a", version: int64(i), topics: fmt.Sprintf("T:%d/1/6 U", i)}, "")
	}
	if n := len(b.Snapshot().Topic("T").listed); n > maxShared {
		t.Errorf("the topic keeps %d values", n)
	}
}

// TestLayoutsGoWithTheirTopics makes many layouts that nobody has any more, and one that
// comes and goes: neither is remembered.
func TestLayoutsGoWithTheirTopics(t *testing.T) {
	b := newBed(t)
	const kinds = 4 * minLayoutSweep
	for i := range kinds {
		b.must(broker{cluster: "c", name: "a", addr: "@a", version: int64(i), topics: fmt.Sprintf("T:%d/1/6 U:1/%d/6", i, i)}, "")
		if i%minLayoutSweep == 0 {
			b.past.changes = nil // so that only layouts are measured
			b.past.bytes, b.past.compacted = 0, b.Snapshot().Revision
			runtime.GC()
		}
	}
	if n := len(b.layouts.bySum); n > 2*minLayoutSweep+2 {
		t.Errorf("of %d layouts %d are remembered", 2*kinds, n)
	}

	b = newBed(t)
	sum := func() uint64 {
		b.must(broker{cluster: "c", name: "a", addr: "@a", version: 1, topics: "T U"}, "k")
		defer b.Release(b.conn("k"), Cause{})
		return b.Snapshot().Topic("T").layout.sum
	}
	for range 20 {
		at := sum()
		b.past.changes, b.past.bytes, b.past.compacted = nil, 0, b.Snapshot().Revision
		runtime.GC()
		if n := len(b.layouts.bySum[at]); n != 1 {
			t.Fatalf("a content that comes and goes has %d layouts", n)
		}
	}
}

// TestNothingOldIsKeptAlive looks what is left of a snapshot, its answers and a broker
// after they are gone, while a topic's remembered route and everybody else lives on.
func TestNothingOldIsKeptAlive(t *testing.T) {
	b := newBed(t)
	b.must(broker{cluster: "c", name: "stays", addr: "@s", version: 1, topics: list(0, 50)}, "")
	b.must(broker{cluster: "c", name: "goes", addr: "@g", version: 1, topics: list(60, 90)}, "k")
	snapshot, view, live, topic := func() (weak.Pointer[Snapshot], weak.Pointer[view], weak.Pointer[Live], weak.Pointer[Topic]) {
		s := b.Snapshot()
		s.GroupsMemo().Encoded(0, func() []byte { return make([]byte, 1<<20) })
		for topic := range s.Topics() {
			s.RouteOf(topic)
		}
		return weak.Make(s), weak.Make(s.view), weak.Make(s.Live("c", "@g")), weak.Make(s.Topic("T70"))
	}()
	b.Release(b.conn("k"), Cause{})
	runtime.GC()
	runtime.GC()
	if snapshot.Value() != nil {
		t.Error("the old snapshot is kept alive")
	}
	if view.Value() != nil {
		t.Error("the old view is kept alive, with the answers in it")
	}
	if live.Value() != nil || topic.Value() != nil {
		t.Error("what left is kept alive")
	}
	if b.Snapshot().Topic("T1").layout.route.p.Load() == nil {
		t.Error("the route that stays is not remembered, so this test proves nothing")
	}
	if len(b.holders) != 0 {
		t.Error("the closed connection is kept")
	}
}

// TestBigRegistryFitsItsBudget holds many brokers with many topics of the same names, and
// reads all their routes: what it takes for each part of a topic is bounded.
func TestBigRegistryFitsItsBudget(t *testing.T) {
	const brokers, topics = 30, 2000
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	b := makeBed(t, Options{})
	for i := range brokers {
		b.must(broker{cluster: "c", name: fmt.Sprint("b", i), addr: fmt.Sprint("@", i), version: 1, topics: list(0, topics)}, "")
	}
	for topic := range b.Snapshot().Topics() {
		b.Snapshot().RouteOf(topic)
	}
	b.past = history{} // which has its own bound
	used := heap() - before
	// Budget: 300 brokers with 10,000 topics each in a gigabyte are 350 bytes a part.
	if perPart := used / (brokers * topics); perPart > 120 {
		t.Errorf("%d bytes for each of %d parts, %d in all", perPart, brokers*topics, used)
	}
	runtime.KeepAlive(b)
}

// TestListOfAllTopicsHasEachOnce lists many topics of several brokers, and every list
// with its switch off.
func TestListOfAllTopicsHasEachOnce(t *testing.T) {
	b := newBed(t)
	for i := range 3 {
		b.must(broker{
			cluster: fmt.Sprint("c", i%2), name: fmt.Sprint("b", i), addr: fmt.Sprint("@", i), version: 1,
			topics: list(i*100, i*100+1000) + fmt.Sprintf(" unit%d:1/1/6/1 sub%d:1/1/6/2 both%d:1/1/6/3", i, i, i),
		}, "")
	}
	s := b.Snapshot()
	all, err := s.AllTopics()
	if err != nil || len(all) != 1200+9 {
		t.Errorf("%d topics, %v", len(all), err)
	}
	for i := 1; i < len(all); i++ {
		if all[i-1] >= all[i] {
			t.Fatalf("%s comes after %s", all[i], all[i-1])
		}
	}
	count := func(list []string, err error) string { return fmt.Sprint(len(list), " ", err) }
	b.want("topics of c0", count(s.TopicsOfCluster("c0")), "1206 <nil>")
	b.want("topics of c1", count(s.TopicsOfCluster("c1")), "1003 <nil>")
	b.want("topics of nobody", count(s.TopicsOfCluster("nobody")), "0 <nil>")
	b.want("unit topics", count(s.UnitTopics(func(f int32) bool { return f&FlagUnit != 0 })), "6 <nil>")
	b.want("subscribed units", count(s.UnitTopics(func(f int32) bool { return f&FlagUnit == 0 && f&FlagUnitSub != 0 })), "3 <nil>")
	r := DefaultRules()
	r.EnableAllTopicList, r.EnableTopicList = false, false
	b.SetRules(r, nil, Cause{})
	s = b.Snapshot()
	for what, f := range map[string]func() ([]string, error){
		"all":     s.AllTopics,
		"cluster": func() ([]string, error) { return s.TopicsOfCluster("c0") },
		"unit":    func() ([]string, error) { return s.UnitTopics(func(int32) bool { return true }) },
	} {
		if list, err := f(); KindOf(err) != Disabled || list != nil {
			t.Errorf("%s, switched off: %d topics, %v", what, len(list), err)
		}
	}
	if s.TopicCount() != len(s.TopicNames()) || s.BrokerTopicCount("b0") != 1003 || s.BrokerTopicCount("nobody") != 0 {
		t.Errorf("%d topics, %d of b0", s.TopicCount(), s.BrokerTopicCount("b0"))
	}
	n := 0
	for topic, c := range s.BrokerTopics("b1") {
		if q, ok := topic.Queue("b1"); !ok || q.QueueSpec != c.QueueSpec {
			t.Errorf("%s of b1 is %v, registered %v", topic.Name, q, c)
		}
		n++
	}
	if n != 1003 {
		t.Errorf("%d topics of b1", n)
	}
}
