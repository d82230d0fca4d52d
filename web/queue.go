package web

import "sync"

// Bounds of what waits for a socket: whichever is reached first. Snapshots do not
// count: they are shared, and there is one for each subscription at most.
const (
	maxQueuedSets    = 256
	maxQueuedBytes   = 1 << 20
	maxQueuedEntries = 1024
)

// entry is one thing to write: a frame, or a snapshot of several. Frames are shared
// between sockets and never written to.
type entry struct {
	frame []byte
	sets  int  // change sets in the frame
	loss  bool // may be dropped: a reset makes up for it
	snap  snapshotFrames
}

// queue is what waits for one socket. The publisher never waits for it.
type queue struct {
	mu      sync.Mutex
	entries []entry
	sets    int
	bytes   int
	wake    chan struct{} // has a place for one: "there is something"
}

func newQueue() *queue { return &queue{wake: make(chan struct{}, 1)} }

// push adds an entry. If that is too much, everything that may be dropped is, together
// with e, and reset takes its place; lost tells so. full tells that even what may not
// be dropped is too much: the socket has to go.
func (q *queue) push(e entry, reset []byte) (lost, full bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if e.loss && (q.sets+e.sets > maxQueuedSets && q.sets > 0 || q.bytes+len(e.frame) > maxQueuedBytes) {
		lost = true
		// One reset says it all, but behind everything that waits: what was subscribed to
		// since an earlier one has missed something too.
		q.dropLosable()
		e = entry{frame: reset, loss: true}
	}
	q.entries = append(q.entries, e)
	q.sets += e.sets
	q.bytes += len(e.frame)
	select {
	case q.wake <- struct{}{}:
	default:
	}
	return lost, len(q.entries) > maxQueuedEntries
}

func (q *queue) dropLosable() {
	keep := q.entries[:0]
	q.sets, q.bytes = 0, 0
	for _, e := range q.entries {
		if !e.loss {
			keep = append(keep, e)
			q.bytes += len(e.frame)
		}
	}
	clear(q.entries[len(keep):])
	q.entries = keep
}

// pop takes the oldest entry.
func (q *queue) pop() (e entry, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.entries) == 0 {
		q.entries = nil // gives back what a storm made large
		return e, false
	}
	e = q.entries[0]
	q.entries[0] = entry{}
	q.entries = q.entries[1:]
	q.sets -= e.sets
	q.bytes -= len(e.frame)
	return e, true
}
