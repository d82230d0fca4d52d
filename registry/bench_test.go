package registry

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"
)

// sizes are the numbers of topics of a broker: a usual one and a very big one.
var sizes = []int{2_000, 50_000}

// field is a registry in which five brokers serve the same topics.
type field struct {
	*bed
	names []string
	wire  [][]byte // the names, as a face has them
}

func newField(b *testing.B, topics int) *field {
	f := &field{bed: makeBed(b, Options{}), names: make([]string, topics), wire: make([][]byte, topics)}
	for i := range f.names {
		f.names[i] = fmt.Sprintf("Topic-number-%d", i)
		f.wire[i] = []byte(f.names[i])
	}
	for i := range 5 {
		f.register(fmt.Sprint("b", i), 1, 8)
	}
	return f
}

// register registers all topics of a broker; queues are those of one of them.
func (f *field) register(name string, version int64, queues int32) {
	st := f.Snapshot().NewStatement("c", "@"+name)
	for i, topic := range f.names {
		c := TopicConfig{QueueSpec: QueueSpec{8, 8, 6, 0}}
		if i == 7 {
			c.ReadQueues = queues
		}
		st.Add(topic, c)
	}
	reg := Registration{MemberInfo: MemberInfo{
		Cluster: "c", Addr: "@" + name, Name: name, Timeout: DefaultTimeout,
		Version: DataVersion{Counter: version},
	}, Topics: st, Print: Fingerprint{Len: int(version)}}
	if _, err := f.Register(reg, f.conn(name), Cause{}); err != nil {
		f.Fatal(err)
	}
}

// forSizes runs a benchmark for each number of topics.
func forSizes(b *testing.B, f func(*testing.B, *field)) {
	for _, n := range sizes {
		b.Run(fmt.Sprintf("topics=%d", n), func(b *testing.B) {
			x := newField(b, n)
			b.ReportAllocs()
			f(b, x)
		})
	}
}

// BenchmarkRouteHit looks remembered routes up, another topic's each time.
func BenchmarkRouteHit(b *testing.B) {
	forSizes(b, func(b *testing.B, f *field) {
		for i := 0; b.Loop(); i += 7919 {
			if _, err := f.Snapshot().Route(f.wire[i%len(f.wire)]); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkRouteMiss looks topics up that nobody serves.
func BenchmarkRouteMiss(b *testing.B) {
	forSizes(b, func(b *testing.B, f *field) {
		for _, name := range f.wire {
			name[0] = 't'
		}
		for i := 0; b.Loop(); i += 7919 {
			if _, err := f.Snapshot().Route(f.wire[i%len(f.wire)]); err == nil {
				b.Fatal("found")
			}
		}
	})
}

// BenchmarkRegisterFirst registers a broker that is not known, with topics that are.
func BenchmarkRegisterFirst(b *testing.B) {
	forSizes(b, func(b *testing.B, f *field) {
		for b.Loop() {
			f.register("new", 1, 8)
			b.StopTimer()
			f.Release(f.conn("new"), Cause{})
			b.StartTimer()
		}
	})
}

// BenchmarkRegisterUnchanged repeats a decoded list that is the same.
func BenchmarkRegisterUnchanged(b *testing.B) {
	forSizes(b, func(b *testing.B, f *field) {
		for b.Loop() {
			f.register("b1", 1, 8)
		}
	})
}

// BenchmarkRegisterRecognised repeats a list whose bytes are the same.
func BenchmarkRegisterRecognised(b *testing.B) {
	forSizes(b, func(b *testing.B, f *field) {
		h := f.conn("b1")
		for b.Loop() {
			if _, ok := f.Reaffirm("c", "@b1", Fingerprint{Len: 1}, h); !ok {
				b.Fatal("not recognised")
			}
		}
	})
}

// BenchmarkRegisterChanged registers a list in which one topic differs, under a new version.
func BenchmarkRegisterChanged(b *testing.B) {
	forSizes(b, func(b *testing.B, f *field) {
		for v := int64(2); b.Loop(); v++ {
			f.register("b1", v, int32(v%2+1))
		}
	})
}

// BenchmarkBrokerLost takes out a broker whose connection is gone.
func BenchmarkBrokerLost(b *testing.B) {
	forSizes(b, func(b *testing.B, f *field) {
		for b.Loop() {
			b.StopTimer()
			f.register("new", 1, 8)
			b.StartTimer()
			f.Release(f.conn("new"), Cause{})
		}
	})
}

// BenchmarkLookupWhileBrokersComeAndGo looks routes up while a broker comes and leaves, over
// and over: what one lookup took the longest is the pause that clients see. It wants a
// processor for each of the two.
func BenchmarkLookupWhileBrokersComeAndGo(b *testing.B) {
	forSizes(b, func(b *testing.B, f *field) {
		const coming, leaving, over = 0, 1, 2
		var phase atomic.Int32
		go func() {
			for range b.N {
				f.register("new", 1, 8)
				phase.Store(leaving)
				f.Release(f.conn("new"), Cause{})
				phase.Store(coming)
			}
			phase.Store(over)
		}()
		var longest [2]time.Duration
		for i := 0; ; i += 7919 {
			during := phase.Load()
			if during == over {
				break
			}
			begin := time.Now()
			if _, err := f.Snapshot().Route(f.wire[i%len(f.wire)]); err != nil {
				b.Fatal(err)
			}
			longest[during] = max(longest[during], time.Since(begin))
		}
		b.ReportMetric(longest[coming].Seconds()*1000, "ms-coming")
		b.ReportMetric(longest[leaving].Seconds()*1000, "ms-leaving")
	})
}

// BenchmarkHeartbeat renews a lease.
func BenchmarkHeartbeat(b *testing.B) {
	f := newField(b, 10)
	h := f.conn("b1")
	b.ReportAllocs()
	for b.Loop() {
		if !f.Heartbeat("c", "@b1", "b1", h) {
			b.Fatal("unknown")
		}
	}
}

// BenchmarkDigest reads the whole registry, as is done after each change at most once.
func BenchmarkDigest(b *testing.B) {
	forSizes(b, func(b *testing.B, f *field) {
		for b.Loop() {
			s := *f.Snapshot()
			s.sums = newSums()
			s.Digest()
		}
	})
}
