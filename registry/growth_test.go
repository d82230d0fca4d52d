package registry

import (
	"fmt"
	"runtime"
	"testing"
)

// The axes of BenchmarkGrowth: how many topics lie on ten brokers, and how many brokers
// share ten thousand topics. Each topic is on three brokers.
var growthAxes = []struct {
	name            string
	topics, brokers []int
}{
	{"topics", []int{100, 1_000, 10_000, 100_000, 1_000_000}, []int{10}},
	{"brokers", []int{10_000}, []int{3, 10, 30, 100, 300, 1_000}},
}

// BenchmarkGrowth does the same work on registries of different sizes. What a lookup, a
// registration and a loss cost has to stay level; what a registry of the size takes in
// memory is reported as bytes for each topic on a broker. The broker that registers
// serves a hundred topics, a tenth of them with others.
func BenchmarkGrowth(b *testing.B) {
	for _, axis := range growthAxes {
		for _, topics := range axis.topics {
			for _, brokers := range axis.brokers {
				n := topics
				if axis.name == "brokers" {
					n = brokers
				}
				b.Run(fmt.Sprintf("%s=%d", axis.name, n), func(b *testing.B) { newGrown(b, topics, brokers).measure(b) })
			}
		}
	}
}

// grown is a registry of some size with one more broker, x, on which things are done.
type grown struct {
	*bed
	names   [][]byte
	own     []string // the topics of x
	perPart float64  // bytes of memory
}

func newGrown(tb testing.TB, topics, brokers int) *grown {
	before := heapInUse()
	g := &grown{bed: makeBed(tb, Options{})}
	parts := 0
	for i := range brokers {
		name := fmt.Sprintf("broker-%d", i)
		st := g.Snapshot().NewStatement("c", "@"+name)
		for k := range topics {
			if (i-k%brokers+brokers)%brokers < 3 {
				st.Add(fmt.Sprintf("Topic-number-%d", k), TopicConfig{QueueSpec: QueueSpec{8, 8, 6, 0}})
				parts++
			}
		}
		if _, err := g.Register(Registration{MemberInfo: growthInfo(name, 1), Topics: st}, g.conn(name), Cause{}); err != nil {
			tb.Fatal(err)
		}
	}
	g.past = history{} // it has a bound of its own
	g.perPart = float64(heapInUse()-before) / float64(parts)
	for k := range topics {
		g.names = append(g.names, fmt.Appendf(nil, "Topic-number-%d", k))
		if _, err := g.Snapshot().Route(g.names[k]); err != nil {
			tb.Fatal(err)
		}
	}
	for k := range 100 {
		name := fmt.Sprintf("Own-topic-%d", k)
		if k%10 == 0 {
			name = fmt.Sprintf("Topic-number-%d", k)
		}
		g.own = append(g.own, name)
	}
	g.statement(1)
	return g
}

func growthInfo(name string, version int64) MemberInfo {
	return MemberInfo{
		Cluster: "c", Addr: "@" + name, Name: name, Timeout: DefaultTimeout,
		Version: DataVersion{Counter: version},
	}
}

func heapInUse() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // what the first one's finalizers and pools let go
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// statement registers x; the version decides the queues of one of its topics.
func (g *grown) statement(version int64) {
	st := g.Snapshot().NewStatement("c", "@x")
	for k, topic := range g.own {
		c := TopicConfig{QueueSpec: QueueSpec{4, 4, 6, 0}}
		if k == 7 {
			c.ReadQueues = int32(1 + version%2)
		}
		st.Add(topic, c)
	}
	reg := Registration{MemberInfo: growthInfo("x", version), Topics: st, Print: Fingerprint{Len: 1}}
	if _, err := g.Register(reg, g.conn("x"), Cause{}); err != nil {
		g.Fatal(err)
	}
}

func (g *grown) measure(b *testing.B) {
	version := int64(1)
	op := func(name string, f func(*testing.B)) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			f(b)
		})
	}
	op("lookup", func(b *testing.B) {
		for i := 0; b.Loop(); i += 7919 {
			if _, err := g.Snapshot().Route(g.names[i%len(g.names)]); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(g.perPart, "B/part")
	})
	op("unchanged", func(b *testing.B) {
		h := g.conn("x")
		for b.Loop() {
			if _, ok := g.Reaffirm("c", "@x", Fingerprint{Len: 1}, h); !ok {
				b.Fatal("not recognised")
			}
		}
	})
	op("changed", func(b *testing.B) {
		for b.Loop() {
			version++
			g.statement(version)
		}
	})
	op("lost", func(b *testing.B) {
		for b.Loop() {
			g.Release(g.conn("x"), Cause{})
			b.StopTimer()
			g.statement(1)
			b.StartTimer()
		}
	})
}

// BenchmarkSubscribers is a change that so many subscriptions hear: the writer hands it
// to each without waiting.
func BenchmarkSubscribers(b *testing.B) {
	for _, n := range []int{1, 10, 100, 1_000, 10_000} {
		b.Run(fmt.Sprintf("subscribers=%d", n), func(b *testing.B) {
			g := newGrown(b, 1_000, 10)
			subs := make([]*Subscription, n)
			for i := range subs {
				_, subs[i] = g.Subscribe(64)
			}
			b.ReportAllocs()
			version := int64(1)
			for b.Loop() {
				version++
				g.statement(version)
				b.StopTimer()
				for _, s := range subs {
					<-s.C
				}
				b.StartTimer()
			}
		})
	}
}

// TestCostsDoNotGrowWithTheRegistry compares what the same work allocates on a small
// and on a large registry: a broker's change, loss and return must copy paths of the
// index, which grow with the logarithm of the size, and nothing that is proportional to it.
func TestCostsDoNotGrowWithTheRegistry(t *testing.T) {
	small, large := newGrown(t, 1_000, 10), newGrown(t, 30_000, 10)
	for _, c := range []struct {
		name string
		do   func(g *grown, i int)
	}{
		{"a changed topic", func(g *grown, i int) { g.statement(int64(i + 2)) }},
		{"a lost broker that comes again", func(g *grown, _ int) {
			g.Release(g.conn("x"), Cause{})
			g.statement(1)
		}},
	} {
		a, b := allocated(small, c.do), allocated(large, c.do)
		t.Logf("%s: %d bytes with 1,000 topics, %d with 30,000", c.name, a, b)
		// One level of the index more, with up to 64 places for each of a hundred topics'
		// paths, and a half for what the runtime rounds up.
		if b > a*5/2 {
			t.Errorf("%s takes %d bytes with 30,000 topics and %d with 1,000", c.name, b, a)
		}
	}
}

// allocated is how many bytes one round of do allocates.
func allocated(g *grown, do func(*grown, int)) uint64 {
	const rounds = 20
	do(g, 0)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for i := range rounds {
		do(g, i+1)
	}
	runtime.ReadMemStats(&after)
	return (after.TotalAlloc - before.TotalAlloc) / rounds
}
