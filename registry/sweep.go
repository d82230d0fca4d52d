package registry

import (
	"slices"
	"time"
)

const (
	// wakeGrace is how late a sweep may come before it is taken for a process that slept:
	// nobody could be heard of meanwhile, so that time counts for nobody.
	wakeGrace = 5 * time.Second
	// longSleep is when brokers have missed a registration, which they make every 30 s, and
	// given up their connections: each then gets its whole time again.
	longSleep = 30 * time.Second
)

// Swept tells what a sweep did.
type Swept struct {
	// Expired are the members that had been silent for longer than their timeout, in
	// order of cluster and address. Addresses that had lost their place before go
	// without being named.
	Expired []MemberInfo
	// Late is by how much the sweep itself came so late that this time counts for nobody:
	// each member has at least the time to the next sweep.
	Late time.Duration
}

// Sweep takes out the members that have been silent for longer than their timeout
// and evicts the connections that hold nobody else. It is called every so often;
// interval tells how often.
func (r *Registry) Sweep(interval time.Duration, cause Cause) Swept {
	now := r.now()
	var out Swept
	r.mu.Lock()
	if late := now.Sub(r.swept) - interval; late > wakeGrace {
		out.Late = late
		r.forgive(now, late, interval)
	}
	r.swept, r.late = now, out.Late > 0
	var dead []*Live
	for l := range r.Snapshot().lives.all() {
		if l.lease.expire(now, l.allowed()) {
			dead = append(dead, l)
		}
	}
	if len(dead) == 0 && !r.thawing {
		r.mu.Unlock()
		return out
	}
	slices.SortFunc(dead, func(a, b *Live) int {
		if a.k < b.k {
			return -1
		}
		return 1
	})
	d := r.begin(cause)
	for _, l := range dead {
		holders := [...]*Holder{l.lease.holder.Load(), l.lease.earlier.Load()}
		if d.leave(l, OpExpired, l.ID) {
			out.Expired = append(out.Expired, l.MemberInfo)
		}
		for _, h := range holders {
			if h != nil && len(r.holders[*h]) == 0 {
				d.evicted = append(d.evicted, eviction{*h, "expired: not heard of for " + l.allowed().String()})
			}
		}
	}
	if r.thawing {
		d.delay(out.Late)
		r.thawing = d.thaw(now)
	}
	d.commit()
	return out
}

// forgive takes the time by which a sweep came late off everybody's silence. What is left
// is at least the time to the next sweep, or, after a sleep in which brokers have gone
// away, all of it. A process that is late every time would keep the dead for ever if it
// gave that every time, so of several late sweeps only the first does. Registry.mu is held.
func (r *Registry) forgive(now time.Time, late, interval time.Duration) {
	for l := range r.Snapshot().lives.all() {
		least := interval
		switch {
		case r.late:
			least = 0
		case late > longSleep:
			least = l.allowed()
		}
		l.lease.forgive(now, late, l.allowed(), least)
	}
}

// LastSweep returns when Sweep last ran, or the start.
func (r *Registry) LastSweep() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.swept
}
