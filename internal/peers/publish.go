package peers

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"fingerpost/registry"
)

// publish makes the report that everybody sees, and tells of what has changed since the
// last one.
func (p *peer) publish(now time.Time) {
	p.published, p.board.dirty = now, false
	r := &Report{Status: p.st}
	r.Items, r.Counts, r.Pending = p.board.list()
	p.notes[NoteTruncated] = p.board.full()
	for n, holds := range p.notes {
		if holds {
			r.Notes = append(r.Notes, n)
		}
	}
	slices.Sort(r.Notes)
	r.RoutesAsked, r.RoutesOf, r.RoutesDone = p.rounds.progress()
	p.tellDifferences(p.last.Swap(r), r)
}

// named is how many differences an event names.
const named = 5

// tellDifferences reports that there are differences that were not there before, that some
// are gone, or all.
func (p *peer) tellDifferences(old, r *Report) {
	known := make(map[Subject]bool, len(old.Items))
	for i := range old.Items {
		known[old.Items[i].Subject] = true
	}
	var fresh []string
	count := 0
	for i := range r.Items {
		if !known[r.Items[i].Subject] {
			if count++; count <= named {
				fresh = append(fresh, r.Items[i].String())
			}
		}
	}
	c := registry.PeerChange{Op: registry.OpChanged, Before: p.told, After: len(r.Items)}
	switch {
	case count > 0:
		c.Op, c.Detail = registry.OpDiverged, strings.Join(fresh, "; ")
		if count > named {
			c.Detail += fmt.Sprintf("; and %d more", count-named)
		}
	case len(r.Items) == 0 && p.told > 0:
		c.Op = registry.OpConverged
	case len(r.Items) == p.told:
		return
	}
	p.told = len(r.Items)
	p.tell(c)
}

func (p *peer) tell(c registry.PeerChange) {
	c.Peer = p.addr
	p.w.o.Registry.Report(registry.Change{
		Cause: registry.Cause{Face: "server", Action: "comparePeers"}, Peers: []registry.PeerChange{c},
	})
}

// String names a difference in a few words, such as "broker broker-b only-here".
func (s *Subject) String() string {
	words := []string{string(s.Kind)}
	for _, name := range []string{s.Topic, s.Broker, s.Namespace, s.Key} {
		if name != "" {
			words = append(words, name)
		}
	}
	if s.Kind == KindMember {
		words = append(words, fmt.Sprint(s.ID))
	}
	return strings.Join(append(words, string(s.How)), " ")
}
