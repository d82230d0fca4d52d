package registry

import (
	"strings"
	"testing"
	"time"
)

// A process that slept, for whatever time, expires nobody for that: who was alive before
// has the time to come back, who then does not leaves.
func TestSleepExpiresNobody(t *testing.T) {
	for _, slept := range []time.Duration{6 * time.Second, 20 * time.Second, 5 * time.Minute, 30 * time.Hour} {
		b := newBed(t)
		b.must(broker{cluster: "c", name: "a", addr: "@a", version: 1, topics: "T U"}, "k")
		b.must(broker{cluster: "c", name: "b", addr: "@b", version: 1, topics: "T U"}, "k2")
		b.pass(100 * time.Second)
		b.Heartbeat("c", "@b", "b", nil)
		b.pass(10 * time.Second) // a is silent for 110 s, b for 10 s
		b.clock.advance(sweepEvery + slept)
		if s := b.Sweep(sweepEvery, Cause{}); s.Late != slept || len(s.Expired) > 0 {
			t.Errorf("%v: %+v", slept, s)
		}
		b.clock.advance(sweepEvery)
		if s := b.Sweep(sweepEvery, Cause{}); len(s.Expired) > 0 {
			t.Errorf("%v: the sweep after the one that came late expires %+v", slept, s.Expired)
		}
		left := b.Snapshot().Live("c", "@b").ExpiresAt().Sub(b.clock.now())
		want := DefaultTimeout - 10*time.Second - 2*sweepEvery
		if slept > longSleep {
			want = DefaultTimeout - sweepEvery
		}
		if left != want {
			t.Errorf("%v: %v are left, not %v", slept, left, want)
		}
		if got := b.Snapshot().Live("c", "@b").LastSeen().Sub(clockStart); got != 100*time.Second {
			t.Errorf("%v: the time that it was last heard of has become %v", slept, got)
		}
		// A sign of life counts as ever.
		b.Heartbeat("c", "@a", "a", nil)
		if got := b.Snapshot().Live("c", "@a").ExpiresAt().Sub(b.clock.now()); got != DefaultTimeout {
			t.Errorf("%v: heard of, %v are left", slept, got)
		}
		gone := b.pass(DefaultTimeout)
		if b.addrs("b") != "" || b.addrs("a") == "" {
			t.Errorf("%v: after the whole time: %+v, %q and %q", slept, gone, b.addrs("a"), b.addrs("b"))
		}
	}
}

// Heard of between the wake and the first sweep, a member has its own time and no more.
func TestSleepGivesNothingToTheAwake(t *testing.T) {
	b := newBed(t)
	b.must(broker{cluster: "c", name: "a", addr: "@a", version: 1, topics: "T U"}, "k")
	b.pass(10 * time.Second)
	b.clock.advance(time.Hour)
	b.Heartbeat("c", "@a", "a", nil)
	b.clock.advance(time.Second)
	b.Sweep(sweepEvery, Cause{})
	if got := b.Snapshot().Live("c", "@a").ExpiresAt().Sub(b.clock.now()); got != DefaultTimeout {
		t.Errorf("%v are left", got)
	}
}

// A server that is late with every sweep, because its machine is overloaded, still takes
// out the dead.
func TestAlwaysLateStillExpires(t *testing.T) {
	b := newBed(t)
	b.must(broker{cluster: "c", name: "a", addr: "@a", version: 1, topics: "T U"}, "k")
	began := b.clock.now()
	for b.addrs("a") != "" {
		b.clock.advance(11 * time.Second)
		if s := b.Sweep(sweepEvery, Cause{}); s.Late != 6*time.Second {
			t.Fatalf("%+v", s)
		}
		if b.clock.now().Sub(began) > 10*time.Minute {
			t.Fatal("a dead member is kept for ever")
		}
	}
}

// Time is measured by a clock that nobody sets: the wall clock may jump.
func TestLeasesAreMonotonic(t *testing.T) {
	r := New(Options{})
	for what, at := range map[string]time.Time{"start": r.Started(), "now": r.now()} {
		if !strings.Contains(at.String(), " m=") {
			t.Errorf("the time of the %s has no monotonic reading: %v", what, at)
		}
	}
	// Between two such times the wall clock is not looked at, however it was set.
	l := &lease{start: r.Started()}
	if !l.touch(r.Started().Add(time.Minute)) || l.silent(r.Started().Add(2*time.Minute), time.Minute) ||
		!l.silent(r.Started().Add(2*time.Minute+1), time.Minute) {
		t.Error("a lease of a minute is over too early or too late")
	}
}
