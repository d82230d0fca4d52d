package registry

import (
	"fmt"
	"time"
)

// Alarm tells that most members vanished at once, which is rather the doing of a network
// than of brokers.
type Alarm struct {
	// Since is when that was seen.
	Since time.Time
	// Gone is how many members had by then lost their connection since the sweep before,
	// were over their time, or had not been heard of for more than half of it; Total is how
	// many there had been.
	Gone, Total int
	// Held tells that those over their time are kept as suspect for the time being.
	Held bool
}

// String says it in a sentence.
func (a Alarm) String() string {
	text := fmt.Sprintf("%d of %d brokers fell silent or lost their connection at once", a.Gone, a.Total)
	if a.Held {
		text += "; who is over its time is kept"
	}
	return text
}

// Alarm returns the standing alarm, or nil.
func (s *Snapshot) Alarm() *Alarm { return s.alarm }

// Suspect reports whether the member is over its time and kept all the same.
func (l *Live) Suspect() bool { return l.suspect }

// Suspects returns how many members are suspect.
func (s *Snapshot) Suspects() int { return s.suspects }

// roll is a count of the members before a sweep.
type roll struct {
	total, over, late int
	suspects          []*Live
}

// call counts the members: those that stand from before a restart are expected to vanish
// and are left out.
func (s *Snapshot) call(now time.Time) roll {
	var r roll
	for l := range s.lives.all() {
		if l.suspect {
			r.suspects = append(r.suspects, l)
		}
		if l.Unconfirmed() || !s.Placed(l) {
			continue
		}
		r.total++
		switch {
		case l.lease.silent(now, l.allowed()):
			r.over++
		case l.lease.silent(now, l.allowed()/2):
			r.late++
		}
	}
	return r
}

// watch begins or ends the alarm, and reports whether members over their time are held in
// this sweep. closed is how many members lost their connection since the sweep before.
func (d *draft) watch(r roll, closed int, now time.Time) (hold bool) {
	rules := d.next.rules
	a := d.next.alarm
	if a == nil {
		gone, total := r.over+closed, r.total+closed
		if r.over > 0 {
			gone += r.late
		}
		if gone < max(1, rules.MassExpiryMinimum) || gone*100 <= rules.MassExpiryShare*total {
			return false
		}
		a = &Alarm{Since: now, Gone: gone, Total: total, Held: rules.MassExpiryHold}
		d.alarm(a, OpMassExpiry, a.String())
		return a.Held
	}
	back := r.total - r.over - r.late
	switch {
	case back*100 >= (100-rules.MassExpiryShare)*a.Total:
		d.alarm(nil, OpMassExpiryOver, fmt.Sprintf("%d of %d brokers are there", back, a.Total))
	case now.Sub(a.Since) > rules.MassExpiryLimit:
		d.alarm(nil, OpMassExpiryOver, fmt.Sprintf("it has lasted %s, which is the limit", rules.MassExpiryLimit))
	default:
		return a.Held && rules.MassExpiryHold
	}
	return false
}

func (d *draft) alarm(a *Alarm, op Op, detail string) {
	d.next.alarm = a
	d.change.Server = append(d.change.Server, ServerChange{Op: op, Detail: detail})
}

// suspect marks a member that is over its time and kept, or one that is so no longer.
func (d *draft) suspect(l *Live, is bool) {
	if l.suspect == is {
		return
	}
	n := *l
	n.suspect, n.Revision = is, d.revision()
	ch := MemberChange{Op: OpChanged, Broker: l.Name, ID: l.ID, Before: infoOf(l), After: infoOf(l), Code: "suspect", Detail: "it is over its time and is kept while most brokers are gone"}
	if !is {
		ch.Code, ch.Detail = "", "it was heard of again"
	}
	d.count(l, -1)
	d.count(&n, 1)
	d.next.lives.put(&n, d.own)
	d.change.Members = append(d.change.Members, ch)
	d.next.livesRevision = d.revision()
}
