package registry

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// Unregister takes out the member of that name and address, as a broker that stops
// asks for, and reports whether there was one. The id only decides whether the
// group's members are told: the peers trust the sender with it. A member that has
// registered under the name from another address stays.
func (r *Registry) Unregister(cluster, name, addr string, id int64, cause Cause) (removed bool, err error) {
	switch "" {
	case cluster:
		return false, invalid("clusterName", "must be given")
	case name:
		return false, invalid("brokerName", "must be given")
	case addr:
		return false, invalid("brokerAddr", "must be given")
	}
	r.mu.Lock()
	d := r.begin(cause)
	l := d.next.Live(cluster, addr)
	if l == nil || l.Name != name {
		l = nil
		// The cluster may have been relabelled since; the name and address decide.
		if g := d.next.groups.get(name); g != nil {
			if i := slices.IndexFunc(g.Members, func(m Member) bool { return m.Addr == addr }); i >= 0 {
				l = d.next.LiveOf(g.Members[i])
			}
		}
	}
	if l == nil {
		r.disputes.noteStayed(d.next, cluster, name, addr, id, r.now())
		d.drop()
		return false, nil
	}
	d.leave(l, OpDeleted, id)
	d.commit()
	return true, nil
}

// Release takes out everything that only h still holds, because its connection is gone,
// and returns how many members that were. A member that has meanwhile registered over
// another connection is no longer h's; one that has been heard of over another stays as
// long as that one or the one over which it registered.
func (r *Registry) Release(h Holder, cause Cause) int {
	r.mu.Lock()
	held := r.holders[h]
	if len(held) == 0 {
		r.mu.Unlock()
		return 0
	}
	d := r.begin(cause)
	n := 0
	for _, key := range slices.Sorted(maps.Keys(held)) {
		if l := d.next.lives.get(key); l != nil && l.lease == held[key] && !l.lease.letGo(h) {
			if d.leave(l, OpDisconnected, l.ID) {
				n++
				r.closed++
			}
		}
	}
	delete(r.holders, h)
	d.commit()
	return n
}

// Held returns the members that were last heard of over h, in order of name and id.
func (r *Registry) Held(h Holder) []MemberInfo {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.Snapshot()
	out := make([]MemberInfo, 0, len(r.holders[h]))
	for key := range r.holders[h] {
		if l := s.lives.get(key); l != nil && l.lease.heldBy(h) {
			out = append(out, l.MemberInfo)
		}
	}
	slices.SortFunc(out, func(a, b MemberInfo) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID))
	})
	return out
}

// leave takes a registration out, and its place in the group if it has one, and reports
// whether it had.
func (d *draft) leave(l *Live, op Op, idSaid int64) (placed bool) {
	d.reg.partings.remember(l, d.next.tables.get(l.Name), d.reg.now())
	placed = d.next.Placed(l)
	if placed {
		d.unplace(l, idSaid)
	}
	d.dropLive(l)
	if placed {
		d.next.livesRevision = d.revision()
		d.change.Members = append(d.change.Members, MemberChange{Op: op, Broker: l.Name, ID: l.ID, Before: infoOf(l)})
	}
	return placed
}

// unplace takes l's place out of its group. What the group served goes with its last
// member.
func (d *draft) unplace(l *Live, idSaid int64) {
	old := d.next.groups.get(l.Name)
	i := old.place(l.Cluster, l.Addr)
	if len(old.Members) == 1 {
		d.dropGroup(old)
		return
	}
	g := &Group{Name: old.Name, Zone: old.Zone, HasZone: old.HasZone, Acting: old.Acting}
	g.Members = slices.Delete(slices.Clone(old.Members), i, i+1)
	g.settleCluster(old.Cluster)
	d.putGroup(old, g)
	d.reduced = append(d.reduced, g.Name)
	if idSaid == old.Members[0].ID {
		if d.minGone == nil {
			d.minGone = make(map[string]string, 1)
		}
		d.minGone[g.Name] = l.Addr
	}
}

// settleReduced makes groups read-only that lost a member and have to act without a
// master from now on. It looks at what is left when everybody has left: of a group that
// went down with one connection nothing need be written first.
func (d *draft) settleReduced() {
	for _, broker := range d.reduced {
		if g := d.next.groups.get(broker); g != nil && g.Acting && g.smallest() > 0 {
			d.eachQueue(broker, func(_ *Listed, q QueueSpec) QueueSpec {
				q.Perm &^= PermWrite
				return q
			})
		}
	}
}

// eachQueue replaces the broker's part of each of its topics by what f makes of it.
func (d *draft) eachQueue(broker string, f func(*Listed, QueueSpec) QueueSpec) (topics int) {
	tab := d.next.tables.get(broker)
	if tab == nil {
		return 0
	}
	for l := range tab.topics.all() {
		t := d.next.topics.getHashed(l.Name, l.h)
		d.setQueueOf(t, l, broker, f(l, t.layout.find(broker).QueueSpec))
		topics++
	}
	return topics
}
