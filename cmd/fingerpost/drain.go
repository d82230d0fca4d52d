package main

import (
	"context"
	"log/slog"
	"math"
	"sync"
	"time"

	"fingerpost/api"
	"fingerpost/registry"
)

// peersOut is what a drain does to the connections of the remoting port.
type peersOut interface {
	Kinds() map[string]int
	Dismiss(quiet time.Duration, most int) int
	SendAway(on bool)
}

// door is what a drain does to the remoting port itself.
type door interface {
	Shut() error
	Open() error
}

// drainer takes the node out of service while it runs, and back. Brokers keep their
// connections to the end: they are registered at the other nodes as well, and until the
// end this one answers rightly whoever still asks. Clients are closed while they ask
// nothing, and find the port refusing them: they take the next address they know, and no
// request of theirs fails. Those that never pause are told to go where they understand
// it, and at the end cut off.
type drainer struct {
	peers   peersOut
	door    door
	log     *slog.Logger
	report  func(registry.Change)
	timeout func() time.Duration // the setting drain.timeout
	grace   func() time.Duration // the setting shutdown.grace

	mu       sync.Mutex
	state    string // of api.Drain; "" is serving
	since    time.Time
	deadline time.Time
	by       string
	stop     context.CancelFunc
	running  sync.WaitGroup
}

// State tells how far it is.
func (d *drainer) State() api.Drain {
	d.mu.Lock()
	defer d.mu.Unlock()
	k := d.peers.Kinds()
	s := api.Drain{
		State: d.state, SinceAt: api.TimeOf(d.since), DeadlineAt: api.TimeOf(d.deadline), By: d.by,
		Connections: api.ConnectionKinds{Broker: k["broker"], Client: k["client"], Admin: k["admin"], Unknown: k["unknown"]},
	}
	if s.State == "" {
		s.State = api.DrainServing
	}
	return s
}

// out reports whether the node is on its way out of service, or there.
func (d *drainer) out() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.state != ""
}

// Begin takes the node out of service, unless that is under way or done.
func (d *drainer) Begin(cause registry.Cause) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.state != "" {
		return
	}
	grace, timeout := d.grace(), d.timeout()
	d.state, d.since, d.by = api.DrainDraining, time.Now(), cause.Actor
	d.deadline = d.since.Add(grace + timeout)
	ctx, cancel := context.WithCancel(context.Background())
	d.stop = cancel
	d.log.Info("the node is taken out of service", "by", cause.Actor, "within", grace+timeout)
	d.tell(registry.OpDraining, cause)
	d.running.Go(func() {
		defer cancel()
		if !pause(ctx, grace) || !d.clear(ctx, timeout) {
			return
		}
		d.mu.Lock()
		defer d.mu.Unlock()
		if ctx.Err() == nil {
			d.state = api.DrainDrained
			d.log.Info("the node is out of service and may be stopped", "after", time.Since(d.since).Round(time.Millisecond))
		}
	})
}

// Cancel takes the node back into service.
func (d *drainer) Cancel(cause registry.Cause) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.state == "" {
		return nil
	}
	if err := d.door.Open(); err != nil {
		return err
	}
	d.stop()
	d.peers.SendAway(false)
	d.state, d.since, d.deadline, d.by = "", time.Time{}, time.Time{}, ""
	d.log.Info("the node is in service again", "by", cause.Actor)
	d.tell(registry.OpServing, cause)
	return nil
}

// tell reports a change of the server.
func (d *drainer) tell(op registry.Op, cause registry.Cause) {
	d.report(registry.Change{Cause: cause, Server: []registry.ServerChange{{Op: op}}})
}

// close ends a drain that is under way where it is.
func (d *drainer) close(context.Context) error {
	d.mu.Lock()
	if d.stop != nil {
		d.stop()
	}
	d.mu.Unlock()
	d.running.Wait()
	return nil
}

const (
	// drainTick is the time between two looks at who is left.
	drainTick = 100 * time.Millisecond
	// drainQuiet is how long a connection must have been silent: a client that got an
	// answer may be about to ask the next question.
	drainQuiet = time.Second
	// drainBatch is how many connections may be closed at once however few are left, so
	// that a small set does not take as long as a large one.
	drainBatch = 16
)

// clear shuts the port and closes all clients within the time. It reports false if ctx
// ended it before.
func (d *drainer) clear(ctx context.Context, timeout time.Duration) bool {
	d.unless(ctx, func() {
		if err := d.door.Shut(); err != nil {
			d.log.Warn("the remoting port could not be closed", "err", err)
		}
	})
	began := time.Now()
	// The first half is for those that pause; clients ask seldom, so nearly all do.
	ticks := max(1, int(timeout/2/drainTick))
	for tick := 0; ; tick++ {
		done := false
		on := d.unless(ctx, func() { done = d.clearSome(time.Since(began), timeout, max(1, ticks-tick)) })
		if !on || done {
			return on
		}
		if !pause(ctx, drainTick) {
			return false
		}
	}
}

// clearSome closes those whose time it is, spent after the beginning, and reports whether
// that was all. ticks are left in the first half. The lock is held.
func (d *drainer) clearSome(spent, timeout time.Duration, ticks int) (done bool) {
	left, quiet := d.clients(), min(drainQuiet, timeout/10)
	switch {
	case left == 0:
		return true
	case spent >= timeout:
		d.peers.SendAway(false)
		d.log.Warn("clients that never paused are cut off", "connections", d.peers.Dismiss(0, math.MaxInt))
		return true
	case spent >= timeout/2:
		d.peers.SendAway(true)
		d.peers.Dismiss(quiet, math.MaxInt)
	default:
		// As many at a time as leave none for the second half: all of them coming
		// to the other nodes at once would be a burden there.
		d.peers.Dismiss(quiet, max(drainBatch, left/ticks))
	}
	return false
}

// unless does f, unless ctx has ended the drain, and reports whether it did. A drain is
// ended under the same lock: nothing of it comes after the node is in service again.
func (d *drainer) unless(ctx context.Context, f func()) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if ctx.Err() != nil {
		return false
	}
	f()
	return true
}

// clients is how many connections are left that are to go.
func (d *drainer) clients() int {
	n := 0
	for kind, of := range d.peers.Kinds() {
		if kind != "broker" {
			n += of
		}
	}
	return n
}
