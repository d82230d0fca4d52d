package registry

import (
	"slices"
	"strings"
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
	rollNow := r.Snapshot().call(now)
	closed := r.closed
	r.closed = 0
	d := r.begin(cause)
	// After a sleep nobody has had the time to be heard of. An alarm that stands goes on.
	hold := (out.Late == 0 || d.next.alarm != nil) && d.watch(rollNow, closed, now)
	for _, l := range rollNow.suspects {
		if !l.lease.silent(now, l.allowed()) {
			d.suspect(l, false)
		}
	}
	if hold {
		d.hold(now)
	} else {
		out.Expired = d.expire(now)
	}
	if r.thawing {
		d.delay(out.Late)
		r.thawing = d.thaw(now)
	}
	d.commit()
	r.partings.expire(now)
	return out
}

// hold keeps those who are over their time, but for what an earlier process knew and for
// addresses without a place.
func (d *draft) hold(now time.Time) {
	var over []*Live
	for l := range d.next.lives.all() {
		if !l.suspect && !l.Unconfirmed() && d.next.Placed(l) && l.lease.silent(now, l.allowed()) {
			over = append(over, l)
		}
	}
	for _, l := range sorted(over) {
		d.suspect(l, true)
	}
}

// expire takes out those who are over their time, and returns those of them that had a place.
func (d *draft) expire(now time.Time) (gone []MemberInfo) {
	var dead []*Live
	for l := range d.next.lives.all() {
		if l.lease.expire(now, l.allowed()) {
			dead = append(dead, l)
		}
	}
	for _, l := range sorted(dead) {
		holders := [...]*Holder{l.lease.holder.Load(), l.lease.earlier.Load()}
		if d.leave(l, OpExpired, l.ID) {
			gone = append(gone, l.MemberInfo)
		}
		for _, h := range holders {
			if h != nil && len(d.reg.holders[*h]) == 0 {
				d.evicted = append(d.evicted, eviction{*h, "expired: not heard of for " + l.allowed().String()})
			}
		}
	}
	return gone
}

// sorted puts members in order of cluster and address.
func sorted(ls []*Live) []*Live {
	slices.SortFunc(ls, func(a, b *Live) int { return strings.Compare(a.k, b.k) })
	return ls
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
