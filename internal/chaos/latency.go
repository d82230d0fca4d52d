package main

import (
	"math/bits"
	"sync/atomic"
	"time"
)

// latencies counts durations in steps of an eighth of their size, from a microsecond on.
type latencies struct{ counts [40 * 8]atomic.Uint64 }

// add counts one.
func (l *latencies) add(d time.Duration) { l.counts[step(d)].Add(1) }

func step(d time.Duration) int {
	us := uint64(max(d.Microseconds(), 8))
	exp := bits.Len64(us) - 4 // of the eighths
	return min(exp*8+int(us>>exp)-8, 40*8-1)
}

// upTo is the longest duration that is counted at the step.
func upTo(i int) time.Duration {
	exp, eighth := i/8, uint64(i%8+8)
	return time.Duration((eighth+1)<<exp) * time.Microsecond
}

// total is how many were counted.
func (l *latencies) total() (n uint64) {
	for i := range l.counts {
		n += l.counts[i].Load()
	}
	return n
}

// at returns the duration below which that share of them lies, rounded up to a step; 0 if
// there are none.
func (l *latencies) at(share float64) time.Duration {
	rest := uint64(float64(l.total()) * share)
	for i := range l.counts {
		n := l.counts[i].Load()
		if n > rest || n > 0 && n == rest {
			return upTo(i)
		}
		rest -= n
	}
	return 0
}

// reset forgets all and returns what was there at that share.
func (l *latencies) reset(share float64) time.Duration {
	d := l.at(share)
	for i := range l.counts {
		l.counts[i].Store(0)
	}
	return d
}
