package peers

import (
	"slices"
	"time"
)

// rounds decides of which topic the route is asked for next: those whose differences are to
// be looked at again, and in turn all others.
type rounds struct {
	every             time.Duration // between two routes
	recheck, interval time.Duration

	names []string // of the present round
	at    int
	next  time.Time // when the next route may be asked for
	done  time.Time // when a round last ended

	// once and twice are topics with differences that do not count yet, and that do, in
	// the order in which they are due.
	once, twice []appointment
	waiting     map[string]bool // the topics of both
	turn        bool            // whether it is the turn of the round
}

// appointment is a topic and when it is due.
type appointment struct {
	topic string
	at    time.Time
}

// begin takes the topics of a new round, unless one is still under way: that one goes on,
// so that it comes to its end also if it takes longer than the time between two looks.
func (r *rounds) begin(both, doubtful []string) {
	if r.at < len(r.names) {
		return
	}
	r.names, r.at = slices.Concat(both, doubtful), 0
	if len(r.names) == 0 {
		r.done = time.Now()
	}
}

// stop ends the round: there is no need for it, or nobody to ask.
func (r *rounds) stop() {
	r.names, r.at, r.once, r.twice = nil, 0, nil, nil
	clear(r.waiting)
}

// due returns when the next route is to be asked for; ok is false if none is.
func (r *rounds) due() (at time.Time, ok bool) {
	if r.at < len(r.names) {
		return r.next, true
	}
	for _, list := range [][]appointment{r.once, r.twice} {
		if len(list) > 0 && (!ok || list[0].at.Before(at)) {
			at, ok = list[0].at, true
		}
	}
	if at.Before(r.next) {
		at = r.next
	}
	return at, ok
}

// take returns a topic that is due.
func (r *rounds) take(now time.Time) (topic string, ok bool) {
	if now.Before(r.next) {
		return "", false
	}
	if r.turn = !r.turn; !r.turn || r.at >= len(r.names) {
		for _, list := range []*[]appointment{&r.once, &r.twice} {
			if len(*list) > 0 && !now.Before((*list)[0].at) {
				topic = (*list)[0].topic
				*list = (*list)[1:]
				delete(r.waiting, topic)
				return topic, true
			}
		}
	}
	if r.at < len(r.names) {
		topic = r.names[r.at]
		r.at++
		return topic, true
	}
	return "", false
}

// asked notes that a topic's route was looked at, and makes an appointment if that is to
// be done again.
func (r *rounds) asked(topic string, now time.Time, b *board) {
	r.next = now.Add(r.every)
	if len(r.names) > 0 && r.at == len(r.names) && topic == r.names[r.at-1] {
		r.done = now
	}
	once, twice := b.pending(topic)
	if once+twice == 0 || r.waiting[topic] {
		return
	}
	r.waiting[topic] = true
	if once > 0 {
		r.once = append(r.once, appointment{topic, now.Add(r.recheck)})
	} else {
		r.twice = append(r.twice, appointment{topic, now.Add(r.interval)})
	}
}

// progress tells how far the round is, and when one last ended.
func (r *rounds) progress() (asked, of int, done time.Time) { return r.at, len(r.names), r.done }
