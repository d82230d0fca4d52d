package main

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"
)

// slack is how much the heap may be larger than before: what pools and the runtime keep.
const slack = 8 << 20

// footprint is what a process holds.
type footprint struct {
	goroutines, descriptors int // descriptors is -1 where the system does not tell
	heap                    int64
}

// measure counts after the garbage is collected, twice, for pools let go in two steps.
func measure() footprint {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	f := footprint{goroutines: runtime.NumGoroutine(), heap: int64(m.HeapAlloc), descriptors: -1}
	if all, err := os.ReadDir("/proc/self/fd"); err == nil {
		f.descriptors = len(all)
	}
	return f
}

// restored waits until the process holds no more than it did, and returns what it holds.
// The error names what stays.
func (f footprint) restored() (footprint, error) {
	var now footprint
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for late := time.After(patience); ; {
		now = measure()
		if now.goroutines <= f.goroutines && now.descriptors <= f.descriptors && now.heap <= f.heap+slack {
			return now, nil
		}
		select {
		case <-late:
			stacks := make([]byte, 1<<20)
			stacks = stacks[:runtime.Stack(stacks, true)]
			var kept []string
			if now.goroutines > f.goroutines {
				kept = append(kept, fmt.Sprintf("%d goroutines more than before:\n%s", now.goroutines-f.goroutines, stacks))
			}
			if now.descriptors > f.descriptors {
				kept = append(kept, fmt.Sprintf("%d descriptors more than before", now.descriptors-f.descriptors))
			}
			if now.heap > f.heap+slack {
				kept = append(kept, fmt.Sprintf("a heap of %d bytes more than before", now.heap-f.heap))
			}
			return now, errors.New("left behind: " + strings.Join(kept, "; "))
		case <-tick.C:
		}
	}
}

// beside returns two footprints as rows of a table.
func (f footprint) beside(after footprint) string {
	return fmt.Sprintf("%-20s %12d %12d\n%-20s %12d %12d\n%-20s %12d %12d\n",
		"goroutines", f.goroutines, after.goroutines, "descriptors", f.descriptors, after.descriptors, "heap, bytes", f.heap, after.heap)
}
