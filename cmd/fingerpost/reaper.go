package main

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"fingerpost/registry"
)

// firstScan is when brokers are first searched for whose time is over, as the peers do.
const firstScan = 5 * time.Second

// reaper takes out of the registry whoever was not heard of for too long.
type reaper struct {
	registry *registry.Registry
	log      *slog.Logger
	interval func() time.Duration
	began    time.Time
	ticked   atomic.Int64 // when it was last at work, in nanoseconds after began
	waits    atomic.Int64 // for how long it waits since then, unless the interval is made shorter
}

// run works until ctx ends.
func (r *reaper) run(ctx context.Context) {
	for waited, on := firstScan, pause(ctx, firstScan); on; waited, on = wait(ctx, r.interval) {
		r.sweep(waited)
	}
}

// sweep is to come waited after the last one.
func (r *reaper) sweep(waited time.Duration) {
	// The registry takes off everybody's silence what this comes later than it should: it
	// was not the brokers that slept.
	interval := r.interval()
	swept := r.registry.Sweep(max(waited, interval), registry.Cause{Face: "server", Action: "expire"})
	if swept.Late > 0 {
		r.log.Warn("the search for silent brokers came late: the process or its machine was asleep, and nobody expires for that", "late", swept.Late)
	}
	r.waits.Store(int64(interval))
	r.ticked.Store(int64(time.Since(r.began)))
}

// stuck returns for how long the reaper has been overdue; zero or less is as it should be.
func (r *reaper) stuck() time.Duration {
	return time.Since(r.began) - time.Duration(r.ticked.Load()) - max(time.Duration(r.waits.Load()), firstScan)
}
