package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// tally counts what was done and keeps what was wrong.
type tally struct {
	reads atomic.Uint64
	// stop ends the run: the first violation is the one that counts.
	stop func()

	mu         sync.Mutex
	faults     map[string]uint64
	calls      map[string]uint64
	violations []string
}

func newTally(stop func()) *tally {
	return &tally{stop: stop, faults: make(map[string]uint64), calls: make(map[string]uint64)}
}

// fault counts something that was broken on purpose.
func (t *tally) fault(kind string) {
	t.mu.Lock()
	t.faults[kind]++
	t.mu.Unlock()
}

// call counts something ordinary.
func (t *tally) call(kind string) {
	t.mu.Lock()
	t.calls[kind]++
	t.mu.Unlock()
}

// violate notes what must not be, with what led to it, and ends the run.
func (t *tally) violate(what string, context ...string) {
	t.mu.Lock()
	// After the first the run is ending, and what it then finds may come of that.
	if len(t.violations) < 5 {
		t.violations = append(t.violations, what+"\n    "+strings.Join(context, "\n    "))
	}
	t.mu.Unlock()
	t.stop()
}

func (t *tally) total() (n uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, k := range t.faults {
		n += k
	}
	return n
}

// clean reports whether nothing was wrong.
func (t *tally) clean() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.violations) == 0
}

// report writes everything.
func (t *tally) report(w io.Writer) {
	total := t.total()
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, part := range []struct {
		name  string
		count map[string]uint64
	}{{"faults", t.faults}, {"ordinary", t.calls}} {
		fmt.Fprintf(w, "%s:\n", part.name)
		for _, k := range slices.Sorted(maps.Keys(part.count)) {
			fmt.Fprintf(w, "  %8d  %s\n", part.count[k], k)
		}
	}
	for i, v := range t.violations {
		fmt.Fprintf(w, "violation %d: %s\n", i+1, v)
	}
	fmt.Fprintf(w, "chaos: %d faults, %d reads checked, %d violations\n", total, t.reads.Load(), len(t.violations))
}
