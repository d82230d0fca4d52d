package registry

import (
	"slices"
	"weak"
)

// layouts finds the one layout of a given content. It is the writer's alone.
// Weak pointers let a layout go with the last topic that has it.
type layouts struct {
	bySum map[uint64][]weak.Pointer[layout]
	// sweepAt is the size at which dead entries are next looked for: twice what
	// was alive the last time, so the cost is spread over as many insertions.
	sweepAt int
}

const minLayoutSweep = 1024

// emptyLayout is that of a topic nobody serves; such a topic is never stored.
var emptyLayout = &layout{}

// step is a change of one broker's entry in a layout; gone means it is removed.
type step struct {
	from *layout
	q    QueueData
	gone bool
}

// steps remembers where the steps of a transaction have led. Its topics usually take the
// very same step one after another, so the last one is looked at first.
type steps struct {
	known  map[step]*layout
	last   step
	lastTo *layout
}

// after returns the layout that s leads to.
func (ls *layouts) after(s step, memo *steps) *layout {
	if memo.lastTo != nil && s == memo.last {
		return memo.lastTo
	}
	to, ok := memo.known[s]
	if !ok {
		to = ls.intern(s)
		if memo.known == nil {
			memo.known = make(map[step]*layout)
		}
		memo.known[s] = to
	}
	memo.last, memo.lastTo = s, to
	return to
}

func (ls *layouts) intern(s step) *layout {
	at, found := s.from.at(s.q.Broker)
	sum := s.from.sum
	if found {
		sum -= hashQueue(s.from.queues[at])
	}
	if !s.gone {
		sum += hashQueue(s.q)
	}
	queues := make([]QueueData, 0, len(s.from.queues)+1)
	queues = append(queues, s.from.queues[:at]...)
	if !s.gone {
		queues = append(queues, s.q)
	}
	if found {
		at++
	}
	queues = append(queues, s.from.queues[at:]...)
	if len(queues) == 0 {
		return emptyLayout
	}
	for _, w := range ls.bySum[sum] {
		if l := w.Value(); l != nil && slices.Equal(l.queues, queues) {
			return l
		}
	}
	if len(ls.bySum) >= max(ls.sweepAt, minLayoutSweep) {
		ls.sweep()
	}
	l := &layout{queues: queues, sum: sum}
	if ls.bySum == nil {
		ls.bySum = make(map[uint64][]weak.Pointer[layout])
	}
	// A content that comes and goes must not leave a dead entry each time.
	ls.bySum[sum] = append(slices.DeleteFunc(ls.bySum[sum], dead), weak.Make(l))
	return l
}

func dead(w weak.Pointer[layout]) bool { return w.Value() == nil }

func (ls *layouts) sweep() {
	for sum, ws := range ls.bySum {
		if ws = slices.DeleteFunc(ws, dead); len(ws) == 0 {
			delete(ls.bySum, sum)
		} else {
			ls.bySum[sum] = ws
		}
	}
	ls.sweepAt = 2 * len(ls.bySum)
}
