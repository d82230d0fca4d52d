// Package peers compares the registry with those of the other NameServers of the set, which
// share nothing: each broker registers with every one of them, and where one of them has
// lost a broker, clients of different NameServers see different queues. A peer may be a
// Java NameServer; the questions are those of its own tools.
//
// Comparing changes nothing, here or there. Every [Options.Interval] a peer is asked for its
// groups, its topics, its settings and its order configuration; routes are asked for one by
// one, at a bounded rate, and between two servers of ours only if the digests of their
// topics differ. What differs counts when it is seen twice, [Options.Recheck] apart: brokers
// tell one server after the other, so a single look says little. Times, versions and other
// fields that move with heartbeats are no part of the comparison.
//
// Besides, the package makes a change on all peers, and tells how much of the set's brokers
// a server that has just started knows.
package peers

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"fingerpost/internal/nsclient"
	"fingerpost/registry"
)

// Options are what a [Watcher] needs. Registry and Addrs are required.
type Options struct {
	Registry *registry.Registry
	// Addrs are the remoting addresses of the peers. One of them may be this server's own.
	Addrs []string
	// Settings returns those of this server's settings by key that the nodes of a set
	// should agree on; nil compares none. It is called for each look at a peer.
	Settings func() map[string]string
	// Interval is how long after a look at a peer the next one begins (30 s), give or
	// take a tenth.
	Interval time.Duration
	// Recheck is how long after a difference was first seen it is looked for again
	// (10 s, or a third of the interval if that is less).
	Recheck time.Duration
	// RoutesPerSecond is the most routes that a peer is asked for in a second (200).
	RoutesPerSecond int
	// WarmUp is the longest that a server waits after its start to know as many brokers
	// as its peers; 0 does not wait.
	WarmUp time.Duration
	// Client is how peers are reached.
	Client nsclient.Options
	// Log takes what cannot be told otherwise, at debug; nil takes nothing.
	Log *slog.Logger
}

func (o *Options) defaults() {
	if o.Interval <= 0 {
		o.Interval = 30 * time.Second
	}
	if o.Recheck <= 0 {
		o.Recheck = min(10*time.Second, o.Interval/3)
	}
	if o.RoutesPerSecond <= 0 {
		o.RoutesPerSecond = 200
	}
	if o.Settings == nil {
		o.Settings = func() map[string]string { return nil }
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
}

// Watcher follows the peers while Run runs. Its methods may be called by anybody at any
// time. A nil Watcher has no peers.
type Watcher struct {
	o      Options
	began  time.Time
	peers  []*peer // sorted by address
	caught atomic.Bool
}

// New returns a watcher, which asks nobody before Run.
func New(o Options) *Watcher {
	o.defaults()
	w := &Watcher{o: o, began: time.Now()}
	for _, addr := range slices.Compact(slices.Sorted(slices.Values(o.Addrs))) {
		w.peers = append(w.peers, newPeer(w, addr))
	}
	return w
}

// Run compares until ctx ends, each peer for itself: one that is slow delays no other.
func (w *Watcher) Run(ctx context.Context) {
	var wg sync.WaitGroup
	for _, p := range w.peers {
		wg.Go(func() { p.run(ctx) })
	}
	wg.Wait()
}

// Interval returns how often peers are compared.
func (w *Watcher) Interval() time.Duration { return w.o.Interval }

// State is what is known of a peer.
type State string

// The states of a peer.
const (
	// Unknown is one that has not been asked yet.
	Unknown State = "unknown"
	// Reachable is one that answered when it was last asked.
	Reachable State = "reachable"
	// Unreachable is one that did not answer, or not as a NameServer does.
	Unreachable State = "unreachable"
	// Self is this server under one of its addresses: there is nothing to compare.
	Self State = "self"
)

// What a peer runs.
const (
	Fingerpost = "fingerpost"
	Java       = "java"
	Other      = "other"
)

// Remarks on how far a comparison goes; the set is open.
const (
	// NoteEqualDigests says that the topics are known to be equal without being listed.
	NoteEqualDigests = "equal-digests"
	// NoteTopicsNotListed says that the peer does not list its topics, so that topics
	// which only it has are not seen.
	NoteTopicsNotListed = "topics-not-listed"
	// NoteRoutesNotReady says that the peer answers no routes yet.
	NoteRoutesNotReady = "routes-not-ready"
	// NoteTruncated says that there are more differences than are kept.
	NoteTruncated = "truncated"
)

// Status is what is known of one peer. It is immutable.
type Status struct {
	Addr  string
	State State
	// Since is when the state began.
	Since time.Time
	// Software is fingerpost, java or other, "" before the first answer, and Version
	// the RocketMQ version that a server not ours gave.
	Software, Version string
	// CheckedAt is when the peer last answered all that it was asked, Took how long
	// that took, and LastError why it did not the last time, "" if it did.
	CheckedAt time.Time
	Took      time.Duration
	LastError string
	// Clusters, Brokers, Members and Topics are what the peer has: Brokers are names,
	// Members addresses. Topics is -1 where they were not listed.
	Clusters, Brokers, Members, Topics int
	// Counts are the differences by kind, Pending those that have been seen once only.
	Counts  map[Kind]int
	Pending int
	// RoutesAsked and RoutesOf are how far the peer's routes have been looked at this
	// time, and RoutesDone when they last were all; zero where they need not be.
	RoutesAsked, RoutesOf int
	RoutesDone            time.Time
	// Notes say how far the comparison goes, sorted.
	Notes []string
}

// Differences returns how many there are.
func (s *Status) Differences() int {
	n := 0
	for _, c := range s.Counts {
		n += c
	}
	return n
}

// List returns the status of each peer, sorted by address.
func (w *Watcher) List() []Status {
	if w == nil {
		return nil
	}
	out := make([]Status, len(w.peers))
	for i, p := range w.peers {
		out[i] = p.report().Status
	}
	return out
}

// Report is the status of a peer and the differences that count, in order of kind, names
// and what differs. It is immutable.
type Report struct {
	Status
	Items []Difference
}

// Report returns the latest report on a peer; ok is false for an address that is none's.
func (w *Watcher) Report(addr string) (r *Report, ok bool) {
	p := w.find(addr)
	if p == nil {
		return nil, false
	}
	return p.report(), true
}

func (w *Watcher) find(addr string) *peer {
	if w == nil {
		return nil
	}
	i := slices.IndexFunc(w.peers, func(p *peer) bool { return p.addr == addr })
	if i < 0 {
		return nil
	}
	return w.peers[i]
}

// Check looks at a peer now and returns when that is done, or with the error of ctx. A
// difference that it finds first counts only when it is seen again. It does nothing unless
// Run runs.
func (w *Watcher) Check(ctx context.Context, addr string) error {
	p := w.find(addr)
	if p == nil {
		return nil
	}
	done := make(chan struct{})
	select {
	case p.kick <- done:
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// CatchingUp tells how many members of the set's brokers this server has after its start,
// and how many the peer has that knows most of them. Done is true from the moment that it
// has as many, that no peer can be asked, or that the time for it is over; then it stays so.
func (w *Watcher) CatchingUp() (have, want int, done bool) {
	if w == nil || len(w.peers) == 0 || w.caught.Load() {
		return 0, 0, true
	}
	all := true
	for _, p := range w.peers {
		s := p.report()
		all = all && s.State != Unknown
		want = max(want, s.Members)
	}
	for _, g := range w.o.Registry.Snapshot().Groups() {
		have += len(g.Members)
	}
	done = all && have >= want || time.Since(w.began) >= w.o.WarmUp
	if done {
		w.caught.Store(true)
	}
	return have, want, done
}
