package registry

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// fleet registers n brokers, one each second. alive lets time go by with a sweep every five
// seconds, in which those from a number on are heard of.
func (b *bed) fleet(n int) (alive func(d time.Duration, from int) []string) {
	for i := range n {
		b.must(broker{cluster: "c", name: fmt.Sprintf("b%02d", i), addr: fmt.Sprintf("@%02d", i), version: 1, topics: "T U"}, fmt.Sprintf("k%02d", i))
		b.clock.advance(time.Second)
	}
	b.Sweep(time.Duration(n)*time.Second, Cause{})
	return func(d time.Duration, from int) (expired []string) {
		for ; d > 0; d -= sweepEvery {
			b.clock.advance(sweepEvery)
			for i := from; i < n; i++ {
				b.Heartbeat("c", fmt.Sprintf("@%02d", i), fmt.Sprintf("b%02d", i), b.conn(fmt.Sprintf("k%02d", i)))
			}
			for _, m := range b.Sweep(sweepEvery, Cause{Face: "server", Action: "expire"}).Expired {
				expired = append(expired, m.Name)
			}
		}
		return expired
	}
}

func hold(r *Rules) { r.MassExpiryHold = true }

// The example of twenty: if all fall silent nobody is removed and twenty are suspect; if
// three do, those three are removed.
func TestMassExpiryIsHeld(t *testing.T) {
	b := newBed(t, hold)
	alive := b.fleet(20)
	alive(time.Minute, 0)
	if gone := alive(3*time.Minute, 3); len(gone) != 3 || b.Snapshot().Alarm() != nil || b.Snapshot().Suspects() != 0 {
		t.Errorf("of three that fell silent %v are removed, the alarm is %v", gone, b.Snapshot().Alarm())
	}

	b = newBed(t, hold)
	alive = b.fleet(20)
	_, sub := b.Subscribe(1000)
	gone := alive(3*time.Minute, 20)
	a := b.Snapshot().Alarm()
	if len(gone) > 0 || b.Snapshot().Suspects() != 20 || a == nil || a.Total != 20 || a.Gone <= 10 || !a.Held {
		t.Fatalf("of twenty that fell silent %v are removed, %d are suspect, the alarm is %+v", gone, b.Snapshot().Suspects(), a)
	}
	if _, err := b.Snapshot().Route([]byte("T")); err != nil {
		t.Error(err)
	}
	for l := range b.Snapshot().Lives() {
		if !l.Suspect() {
			t.Errorf("%s is not suspect", l.Name)
		}
	}
	said := map[Op]int{}
	for _, c := range collect(sub) {
		for _, s := range c.Server {
			said[s.Op]++
		}
		for _, m := range c.Members {
			said[m.Op]++
		}
	}
	if said[OpMassExpiry] != 1 || said[OpChanged] != 20 || said[OpExpired] != 0 || b.Counts().MassExpiries != 1 {
		t.Errorf("told were %v, counted %d", said, b.Counts().MassExpiries)
	}

	// They come back: some by heartbeats, one by its registration.
	b.must(broker{cluster: "c", name: "b19", addr: "@19", version: 1, topics: "T U"}, "k19")
	if b.Snapshot().Suspects() != 19 {
		t.Errorf("%d are suspect after one has registered", b.Snapshot().Suspects())
	}
	alive(sweepEvery, 5)
	if n := b.Snapshot().Suspects(); n != 0 || b.Snapshot().Alarm() != nil {
		t.Errorf("%d are suspect, the alarm is %v", n, b.Snapshot().Alarm())
	}
	if len(b.Snapshot().Groups()) != 15 {
		t.Errorf("%d are there: those that stayed away leave when the alarm is over", len(b.Snapshot().Groups()))
	}
}

// Those that do not come back leave when the limit is over, and that is no alarm again.
func TestMassExpiryIsHeldForAWhile(t *testing.T) {
	b := newBed(t, hold, func(r *Rules) { r.MassExpiryLimit = 5 * time.Minute })
	alive := b.fleet(20)
	alive(2*time.Minute, 20)
	since := b.Snapshot().Alarm()
	if since == nil {
		t.Fatal("no alarm")
	}
	if gone := alive(4*time.Minute, 20); len(gone) > 0 {
		t.Errorf("%v are removed before the limit", gone)
	}
	if gone := alive(2*time.Minute, 20); len(gone) != 20 || b.Snapshot().Alarm() != nil || b.Snapshot().Suspects() != 0 || b.Counts().MassExpiries != 1 {
		t.Errorf("at the limit %v are removed, the alarm is %v", gone, b.Snapshot().Alarm())
	}
}

// Searches that come late, as on a machine that is out of breath, take nobody out who is held.
func TestMassExpiryIsHeldWhenLate(t *testing.T) {
	b := newBed(t, hold, func(r *Rules) { r.MassExpiryLimit = 5 * time.Minute })
	alive := b.fleet(20)
	alive(3*time.Minute, 20)
	for i := range 6 {
		b.clock.advance(sweepEvery + 2*wakeGrace)
		if s := b.Sweep(sweepEvery, Cause{}); s.Late == 0 || len(s.Expired) > 0 {
			t.Fatalf("late search %d: %+v", i, s)
		}
	}
	b.clock.advance(5 * time.Minute)
	b.Sweep(5*time.Minute, Cause{})
	if n := len(b.Snapshot().Groups()); n != 0 || b.Snapshot().Alarm() != nil {
		t.Errorf("after the limit %d are there, the alarm is %v", n, b.Snapshot().Alarm())
	}
}

// Without the hold it is an alarm all the same, and everybody leaves as ever; it ends by
// itself.
func TestMassExpiryIsTold(t *testing.T) {
	b := newBed(t)
	alive := b.fleet(20)
	if gone := alive(3*time.Minute, 20); len(gone) != 20 || b.Snapshot().Alarm() == nil || b.Snapshot().Suspects() != 0 {
		t.Errorf("%v are removed, the alarm is %v", gone, b.Snapshot().Alarm())
	}
	if text := b.Snapshot().Alarm().String(); !strings.HasSuffix(text, "of 20 brokers fell silent or lost their connection at once") {
		t.Error(text)
	}
	alive(10*time.Minute, 20)
	if a := b.Snapshot().Alarm(); a != nil {
		t.Errorf("the alarm stands: %v", a)
	}
}

// Closed connections count for the alarm and are never held: their brokers are known to be
// gone.
func TestMassDisconnect(t *testing.T) {
	b := newBed(t, hold)
	alive := b.fleet(20)
	for i := range 11 {
		b.Release(b.conn(fmt.Sprintf("k%02d", i)), Cause{})
	}
	alive(sweepEvery, 11)
	if a := b.Snapshot().Alarm(); a == nil || a.Gone != 11 || a.Total != 20 || len(b.Snapshot().Groups()) != 9 {
		t.Errorf("the alarm is %+v", a)
	}
	// Ten more are half of what there was: enough.
	for i := range 11 {
		b.must(broker{cluster: "c", name: fmt.Sprintf("b%02d", i), addr: fmt.Sprintf("@%02d", i), version: 1, topics: "T U"}, fmt.Sprintf("k%02d", i))
	}
	alive(sweepEvery, 0)
	if a := b.Snapshot().Alarm(); a != nil {
		t.Errorf("all are back, and the alarm is %+v", a)
	}
}

// Few brokers, half of them, and those that say farewell are no alarm.
func TestNoAlarm(t *testing.T) {
	b := newBed(t, hold)
	alive := b.fleet(4)
	if gone := alive(3*time.Minute, 4); len(gone) != 4 || b.Snapshot().Alarm() != nil {
		t.Errorf("four: %v, %v", gone, b.Snapshot().Alarm())
	}
	b = newBed(t, hold)
	alive = b.fleet(20)
	alive(time.Minute, 0)
	if gone := alive(3*time.Minute, 10); len(gone) != 10 || b.Snapshot().Alarm() != nil {
		t.Errorf("half: %v, %v", gone, b.Snapshot().Alarm())
	}
	b = newBed(t, hold)
	alive = b.fleet(20)
	for i := range 20 {
		if _, err := b.Unregister("c", fmt.Sprintf("b%02d", i), fmt.Sprintf("@%02d", i), 0, Cause{}); err != nil {
			t.Fatal(err)
		}
	}
	alive(sweepEvery, 20)
	if a := b.Snapshot().Alarm(); a != nil {
		t.Errorf("farewells: %v", a)
	}
	// What stands from before a restart is expected to vanish.
	old := makeBed(t, Options{})
	old.fleet(20)
	b = old.restarted(0, hold)
	b.pass(3 * time.Minute)
	if len(b.Snapshot().Groups()) > 0 || b.Snapshot().Alarm() != nil {
		t.Errorf("after a restart: %v", b.Snapshot().Alarm())
	}
}
