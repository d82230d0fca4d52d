package registry

import (
	"fmt"
	"testing"
	"time"
)

func BenchmarkRegister(b *testing.B) {
	for _, n := range []int{2000, 50000} {
		r := New(Options{})
		names := make([]string, n)
		for i := range names {
			names[i] = fmt.Sprintf("Topic-number-%d", i)
		}
		reg := func(addr, name string, v int64, q int32) Registered {
			s := r.Snapshot()
			st := s.NewStatement("c", addr)
			for i, nm := range names {
				c := TopicConfig{QueueSpec: QueueSpec{8, 8, 6, 0}}
				if i == 7 {
					c.ReadQueues = q
				}
				st.Add(nm, c)
			}
			res, err := r.Register(Registration{MemberInfo: MemberInfo{Cluster: "c", Addr: addr, Name: name, Timeout: DefaultTimeout, Version: DataVersion{Counter: v}}, Topics: st}, nil, Cause{})
			if err != nil {
				b.Fatal(err)
			}
			return res
		}
		for i := range 5 {
			reg(fmt.Sprint("a", i), fmt.Sprint("b", i), 1, 8)
		}
		b.Run(fmt.Sprintf("first/%d", n), func(b *testing.B) {
			for b.Loop() {
				reg("x", "x", 1, 8)
				b.StopTimer()
				r.Unregister("c", "x", "x", 0, Cause{})
				b.StartTimer()
			}
		})
		b.Run(fmt.Sprintf("unchanged/%d", n), func(b *testing.B) {
			for b.Loop() {
				reg("a1", "b1", 1, 8)
			}
		})
		v := int64(1)
		b.Run(fmt.Sprintf("changed/%d", n), func(b *testing.B) {
			for b.Loop() {
				v++
				reg("a1", "b1", v, int32(v%2+1))
			}
		})
		b.Run(fmt.Sprintf("lost/%d", n), func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				reg("x", "x", 1, 8)
				b.StartTimer()
				r.Unregister("c", "x", "x", 0, Cause{})
			}
		})
		b.Run(fmt.Sprintf("route/%d", n), func(b *testing.B) {
			i := 0
			for b.Loop() {
				i = (i + 7919) % n
				if _, err := r.Snapshot().Route([]byte(names[i])); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	_ = time.Now
}
