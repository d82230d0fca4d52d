package main

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"fingerpost/registry"
)

// The first search comes after five seconds, the others in the interval, which may change.
func TestReaper(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var interval atomic.Int64
		interval.Store(int64(2 * time.Second))
		reg := registry.New(registry.Options{})
		r := &reaper{registry: reg, log: slog.New(slog.DiscardHandler), began: time.Now(), interval: func() time.Duration { return time.Duration(interval.Load()) }}
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() { r.run(ctx) })
		ticks := func() time.Duration { synctest.Wait(); return time.Duration(r.ticked.Load()) }

		time.Sleep(firstScan - time.Millisecond)
		if got := ticks(); got != 0 {
			t.Errorf("at work after %v", got)
		}
		time.Sleep(time.Millisecond)
		if got := ticks(); got != firstScan {
			t.Errorf("at work after %v, want %v", got, firstScan)
		}
		interval.Store(int64(10 * time.Second))
		time.Sleep(2 * time.Second)
		if got := ticks(); got != firstScan+2*time.Second {
			t.Errorf("at work after %v", got)
		}
		time.Sleep(9 * time.Second)
		if got := ticks(); got != firstScan+2*time.Second {
			t.Errorf("the changed interval is not kept: at work after %v", got)
		}
		if s := r.stuck(); s > 0 {
			t.Errorf("overdue by %v", s)
		}
		cancel()
		wg.Wait()
		time.Sleep(30 * time.Second)
		if s := r.stuck(); s != 29*time.Second {
			t.Errorf("overdue by %v", s)
		}
	})
}

func TestReaperTakesOutTheSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reg := registry.New(registry.Options{})
		r := &reaper{registry: reg, log: slog.New(slog.DiscardHandler), began: time.Now(), interval: func() time.Duration { return firstScan }}
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() { r.run(ctx) })
		register(t, reg, "broker-a", 0)
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if reg.Snapshot().Member("broker-a", 0) == nil {
			t.Error("expired before its time")
		}
		time.Sleep(firstScan + time.Millisecond)
		synctest.Wait()
		if reg.Snapshot().Member("broker-a", 0) != nil {
			t.Error("still there after its time")
		}
		cancel()
		wg.Wait()
	})
}

// An interval that is made shorter counts for the wait that is going on. Until then the
// search is not overdue, or a probe would have the process ended, and a search that comes
// when it should excuses nobody's silence.
func TestReaperWithShorterInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var interval atomic.Int64
		interval.Store(int64(10 * time.Minute))
		reg := registry.New(registry.Options{})
		log := newOutput()
		r := &reaper{registry: reg, log: slog.New(slog.NewTextHandler(log, nil)), began: time.Now(), interval: func() time.Duration { return time.Duration(interval.Load()) }}
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() { r.run(ctx) })
		register(t, reg, "broker-a", 0)
		time.Sleep(3 * time.Minute)
		synctest.Wait()
		interval.Store(int64(5 * time.Second))
		if s := r.stuck(); s > 0 {
			t.Errorf("overdue by %v", s)
		}
		time.Sleep(lookAgain)
		synctest.Wait()
		if got := time.Duration(r.ticked.Load()); got < 3*time.Minute {
			t.Errorf("last at work after %v", got)
		}
		if reg.Snapshot().Member("broker-a", 0) != nil || strings.Contains(log.String(), "came late") {
			t.Errorf("still there, %s", log)
		}
		cancel()
		wg.Wait()
	})
}
