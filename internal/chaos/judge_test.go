package main

import (
	"io"
	"testing"
	"time"
)

// What grows is found, what only jumps is not.
func TestTrends(t *testing.T) {
	steady := make([]sample, samples)
	for i := range steady {
		steady[i] = sample{usageOf{rss: 100 << 20, descriptors: 200, goroutines: 300, heap: int64(20+i%7*3) << 20}, 5 * time.Millisecond}
	}
	steady[50].p99, steady[51].goroutines = 5*time.Second, 5000
	if !judgeTrend(io.Discard, steady) {
		t.Error("a steady server is said to grow")
	}
	for _, grow := range []func(i int, s *sample){
		func(i int, s *sample) { s.goroutines += 4 * i },
		func(i int, s *sample) { s.descriptors += 3 * i },
		func(i int, s *sample) { s.heap += int64(i) << 20 },
		func(i int, s *sample) { s.rss += int64(3*i) << 20 },
		func(i int, s *sample) { s.p99 += time.Duration(i*i/3) * time.Millisecond },
	} {
		all := append([]sample(nil), steady...)
		for i := range all {
			grow(i, &all[i])
		}
		if judgeTrend(io.Discard, all) {
			t.Errorf("what grows is not found: %+v", all[len(all)-1])
		}
	}
	if judgeTrend(io.Discard, steady[:3]) {
		t.Error("three samples are said to show that nothing grows")
	}
}

func TestLatencies(t *testing.T) {
	var l latencies
	if d := l.at(0.99); d != 0 {
		t.Errorf("of none the 99th percentile is %s", d)
	}
	for i := range 1000 {
		l.add(time.Duration(i+1) * time.Millisecond)
	}
	for share, want := range map[float64]time.Duration{0.5: 500 * time.Millisecond, 0.99: 990 * time.Millisecond} {
		if d := l.at(share); d < want || d > want*5/4 {
			t.Errorf("%v of them are below %s, not about %s", share, d, want)
		}
	}
	l.add(time.Hour)
	l.add(0)
	if l.total() != 1002 || l.reset(1) < 30*time.Minute || l.total() != 0 {
		t.Error("the extremes are not counted, or not forgotten")
	}
}
