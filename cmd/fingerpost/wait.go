package main

import (
	"context"
	"time"
)

// pause waits, and reports false if ctx ends before.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// lookAgain is how often a wait looks whether its interval has changed.
const lookAgain = time.Second

// wait waits for an interval of the settings. One that is made shorter meanwhile counts for
// this wait too: it may be an hour long. It returns how long it meant to wait, which an
// interrupted machine may have exceeded, and false if ctx ended before.
func wait(ctx context.Context, interval func() time.Duration) (meant time.Duration, ok bool) {
	began := time.Now()
	for all := interval(); ; all = min(all, interval()) {
		left := min(all-time.Since(began), lookAgain)
		if left <= 0 {
			return meant, true
		}
		if meant += left; !pause(ctx, left) {
			return meant, false
		}
	}
}
