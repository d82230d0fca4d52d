package registry

import (
	"maps"
	"slices"
	"time"
)

// DefaultTimeout is how long a broker lives that names no timeout of its own: four
// of its registrations, which come every 30 s.
const DefaultTimeout = 120 * time.Second

// Registration is what a broker says of itself.
type Registration struct {
	MemberInfo
	// Topics is nil for a registration that leaves the topics alone.
	Topics *Statement
	// Replace makes Topics a full statement: what it does not name leaves the
	// broker. Otherwise that is up to DeleteTopicWithBrokerRegistration.
	Replace bool
	// Mappings are the broker's parts of static topics.
	Mappings []*Mapping
	// Filters are the broker's filter servers; without HasFilters the old ones stay.
	Filters    []string
	HasFilters bool
	// Print identifies the registration's bytes for [Registry.Reaffirm].
	Print Fingerprint
	// Takeover lets a REST member take a place that somebody else holds.
	Takeover bool
	// KeepVersion is for a member without a data version of its own: it keeps the one
	// that stands in its place, raised when its topics really change.
	KeepVersion bool
}

// Registered tells what a registration did and what its sender is to know.
type Registered struct {
	// Created tells a member that was not placed before, Changed whether anything
	// visible changed. Revision is one that contains the registration.
	Created, Changed bool
	Revision         uint64
	// MasterAddr and MasterHAAddr are the live master's, for slaves only. MasterHasHA tells
	// an HA address that is "" from one that the master did not say.
	MasterAddr, MasterHAAddr string
	MasterHasHA              bool
	// Order is the order configuration, if the rules hand it out and there is one.
	Order KV
	// HasOrder tells an empty order namespace from none.
	HasOrder bool
	// TopicsIgnored tells that topics were sent that do not count: those of a slave
	// that does not stand in for the master.
	TopicsIgnored bool
	// NewTopics, ChangedTopics, RemovedTopics and SameTopics count the broker's topics.
	NewTopics, ChangedTopics, RemovedTopics, SameTopics int
	// Live is the registration as it now stands.
	Live *Live
}

// Register applies a broker's registration as one change, or refuses it and leaves
// no trace but a report. The refusals are Invalid for a missing name, cluster or
// address; Conflict with code "stale-state-version" when the place is held by a live
// broker with a higher state; Conflict with code "single-topic" for an unknown broker
// over remoting that lists exactly one topic, which would hide its full registration;
// and for REST members the conflicts of ownership. With a refusal comes the order
// configuration and nothing else. h is nil for a member without a connection.
func (r *Registry) Register(reg Registration, h Holder, cause Cause) (Registered, error) {
	res, _, err := r.register(reg, nil, h, cause)
	return res, err
}

// register is Register. With was it only applies to a place that was, by identity, still
// holds, and else reports that it has moved.
func (r *Registry) register(reg Registration, was *Live, h Holder, cause Cause) (res Registered, moved bool, err error) {
	if err := reg.MemberInfo.check(); err != nil {
		return Registered{}, false, err
	}
	// The comparison, which takes long for a long list, is made without the lock.
	// What it was made of is compared by identity once the lock is held.
	s := r.Snapshot()
	p := s.plan(&reg, r.now())
	r.mu.Lock()
	cur := r.Snapshot()
	if was != nil && cur.Member(reg.Name, reg.ID) != was {
		r.mu.Unlock()
		return Registered{}, true, nil
	}
	if cur != s && !p.holds(cur) {
		p = cur.plan(&reg, r.now())
	}
	if p.refusal != nil {
		r.mu.Unlock()
		r.Report(Change{Cause: cause, Members: []MemberChange{{
			Op: OpRejected, Broker: reg.Name, ID: reg.ID, After: &reg.MemberInfo, Code: p.refusal.Code, Detail: p.refusal.Message,
		}}})
		s.handOut(&res)
		return res, false, p.refusal
	}
	d := r.begin(cause)
	res = d.register(&reg, p, h)
	changed := !d.change.empty()
	d.commit()
	res.Changed = changed
	if changed {
		res.Revision = d.next.Revision
	} else {
		res.Revision = r.Snapshot().Revision
	}
	d.next.answer(&res)
	return res, false, nil
}

// Reaffirm recognises a registration that the same address has made before with
// exactly these bytes, and that would do nothing now because nothing it depends on
// has changed since. It renews the lease, binds it to h, and answers as Register
// would. ok is false if the registration has to be decoded and registered.
func (r *Registry) Reaffirm(cluster, addr string, print Fingerprint, h Holder) (res Registered, ok bool) {
	s := r.Snapshot()
	l := s.Live(cluster, addr)
	if l == nil || print == (Fingerprint{}) || l.print != print || !s.settled(l) || !l.lease.touch(r.now()) {
		return res, false
	}
	if h != nil && !(l.lease.heldBy(h) && l.lease.earlier.Load() == nil) && !r.rebind(l, h, r.bind) {
		return res, false
	}
	res = Registered{Revision: s.Revision, Live: l}
	if l.counted {
		res.SameTopics = l.total
	} else {
		res.TopicsIgnored = l.total > 0
	}
	s.answer(&res)
	return res, true
}

// settled reports whether nothing that decides about l's registration has changed
// since it was last compared.
func (s *Snapshot) settled(l *Live) bool {
	b := l.settled
	return b.rules == s.rules && b.group == s.groups.get(l.Name) && (!l.counted || b.table == s.tables.get(l.Name))
}

// answer fills in what the sender of a registration is to know of others.
func (s *Snapshot) answer(res *Registered) {
	l := res.Live
	s.handOut(res)
	g := s.groups.get(l.Name)
	if l.ID == 0 || g == nil {
		return
	}
	if addr := g.Addr(0); addr != "" {
		if m := s.Live(l.Cluster, addr); m != nil {
			res.MasterAddr, res.MasterHAAddr, res.MasterHasHA = addr, m.HAAddr, m.HasHA
		}
	}
}

// handOut fills in the order configuration, which every broker may know, if the rules
// hand it out and there is one.
func (s *Snapshot) handOut(res *Registered) {
	m, ok := s.kv.spaces[OrderNamespace]
	if !ok || !s.rules.ReturnOrderTopicConfigToBroker {
		return
	}
	res.HasOrder = true
	res.Order = KV{OrderNamespace: make(map[string]string, len(m))}
	for k, e := range m {
		res.Order[OrderNamespace][k] = e.Value
	}
}

func (m *MemberInfo) check() error {
	switch "" {
	case m.Cluster:
		return invalid("clusterName", "must be given")
	case m.Name:
		return invalid("brokerName", "must be given")
	case m.Addr:
		return invalid("brokerAddr", "must be given")
	}
	return nil
}

// register carries out a plan that holds.
func (d *draft) register(reg *Registration, p *plan, h Holder) Registered {
	now := d.reg.now()
	if p.group != p.was.group {
		d.putGroup(p.was.group, p.group)
	}
	if p.elsewhere != nil {
		// After the new place is taken, so that a cluster with one broker does not
		// go and come back.
		d.unplace(p.elsewhere, p.elsewhere.ID)
		d.change.Members = append(d.change.Members, MemberChange{
			Op: OpDeleted, Broker: p.elsewhere.Name, ID: p.elsewhere.ID, Before: infoOf(p.elsewhere),
			Code: addressMoved, Detail: "its address registered as " + reg.Name,
		})
	}
	res := Registered{TopicsIgnored: reg.Topics != nil && reg.Topics.Len() > 0 && !p.counts}
	d.change.Topics = slices.Grow(d.change.Topics, len(p.set)+len(p.gone))
	if p.was.table == nil {
		d.addQueues(p, reg.Topics, reg.Name)
		res.NewTopics = len(p.set)
	} else {
		current := p.snap == d.reg.Snapshot() && p.elsewhere == nil // what the plan found still stands
		for i, l := range p.set {
			var t *Topic
			if current {
				t = p.known[i]
			} else {
				t = d.next.topics.getHashed(l.Name, l.h)
			}
			switch changed, isNew := d.setQueueOf(t, l, reg.Name, p.spec(l)); {
			case isNew:
				res.NewTopics++
			case changed:
				res.ChangedTopics++
			}
		}
	}
	for _, name := range p.gone {
		d.dropQueue(name, reg.Name)
	}
	res.RemovedTopics = len(p.gone)
	if p.counts {
		res.SameTopics = p.total - res.NewTopics - res.ChangedTopics
	}
	for _, m := range p.mappings {
		d.setMapping(m)
	}
	if p.counts {
		d.named(reg.Name, p.named)
	}
	if res.NewTopics+res.ChangedTopics+res.RemovedTopics > 0 {
		d.settleWipe(reg.Name)
	}
	res.Created = p.own == nil
	if p.live == nil {
		d.reg.partings.forget(p.key)
	}
	res.Live = d.renew(reg, p, h, now)
	d.noticeNewcomer(reg, p)
	return res
}

// renew stores the member's new registration and reports what changed about the member.
func (d *draft) renew(reg *Registration, p *plan, h Holder, now time.Time) *Live {
	l := &Live{
		MemberInfo: reg.MemberInfo, Registered: now, Revision: d.revision(), listing: p.listing, print: reg.Print,
		k: p.key, h: hashString(p.key), counted: p.counts, whole: p.whole, total: p.total, clean: p.clean,
	}
	if old := p.live; old != nil {
		l.lease, l.Registered = old.lease, old.Registered
		if old.MemberInfo == l.MemberInfo && !old.Unconfirmed() && !old.suspect {
			l.Revision = old.Revision
		}
		l.lease.touch(now)
	} else {
		l.lease = &lease{start: d.reg.started}
		l.lease.seen.Store(int64(now.Sub(d.reg.started)))
	}
	l.settled = basis{group: d.next.groups.get(reg.Name), table: d.next.tables.get(reg.Name), rules: d.next.rules}
	d.noteMember(l, p)
	d.putLive(l, h)
	return l
}

// noteMember reports what the registration changed about its member and about the one
// whose place it took. Who removes the place of Before and then fills that of After
// ends with the members that there are.
func (d *draft) noteMember(l *Live, p *plan) {
	ch := MemberChange{Op: OpChanged, Broker: l.Name, ID: l.ID, After: infoOf(l), Code: p.conflict, Detail: p.conflictDetail}
	before := p.own
	if p.rival != nil {
		if p.own != nil {
			d.change.Members = append(d.change.Members, MemberChange{
				Op: OpDeleted, Broker: l.Name, ID: p.own.ID, Before: infoOf(p.own),
				Code: addressMoved, Detail: "its address registered with another id",
			})
		}
		before = p.rival
	}
	switch {
	case before == nil:
		ch.Op = OpCreated
	case before.Source != l.Source || before.Owner != l.Owner:
		ch.Op = OpOwnerChanged
	case before.MemberInfo == l.MemberInfo && p.group == p.was.group && !before.Unconfirmed() && !before.suspect:
		return
	case before.suspect && ch.Detail == "":
		ch.Detail = "it was heard of again"
	case before.Unconfirmed() && ch.Detail == "":
		ch.Detail = "it had stood from before the restart"
	case before.MemberInfo == l.MemberInfo && ch.Detail == "":
		// Whoever registers decides for its group, so members that disagree do this in turn.
		ch.Detail = "it changed its filter servers, or its group's zone or acting flag"
	}
	if before != nil {
		ch.Before = infoOf(before)
	}
	d.change.Members = append(d.change.Members, ch)
	d.next.livesRevision = d.revision()
}

// noticeNewcomer notes the notice due to the group's members when the registration
// brought a smaller id. The first member of a group only counts if its id is
// negative: that is how the peers see it.
func (d *draft) noticeNewcomer(reg *Registration, p *plan) {
	if !d.next.rules.NotifyMinBrokerIDChanged {
		return
	}
	var before int64
	if g := p.was.group; g != nil {
		before = g.Members[0].ID
	}
	if reg.ID >= before {
		return
	}
	first := p.group.Members[0]
	n := MinIDChange{Broker: reg.Name, MinID: first.ID, MinAddr: first.Addr, HAAddr: reg.HAAddr, HasHA: reg.HasHA}
	for _, m := range p.group.Members {
		if m.ID != first.ID || len(p.group.Members) == 1 {
			n.NoticeToAddr = append(n.NoticeToAddr, m.Addr)
		}
	}
	d.notice(n, p.group)
}

// noticeGone notes the notices due to what is left of groups whose smallest id was said
// to have gone, one for each group, as it stands at the end of the transaction.
func (d *draft) noticeGone() {
	for _, broker := range slices.Sorted(maps.Keys(d.minGone)) {
		g := d.next.groups.get(broker)
		if g == nil || !g.Acting || !d.next.rules.NotifyMinBrokerIDChanged {
			continue
		}
		n := MinIDChange{Broker: g.Name, MinID: g.Members[0].ID, MinAddr: g.Members[0].Addr, OfflineAddr: d.minGone[broker]}
		for _, m := range g.Members {
			n.NoticeToAddr = append(n.NoticeToAddr, m.Addr)
		}
		d.notice(n, g)
	}
}

// notice adds a notice, without the members that have no broker to hear it.
func (d *draft) notice(n MinIDChange, g *Group) {
	n.NoticeToAddr = slices.DeleteFunc(n.NoticeToAddr, func(addr string) bool {
		i := slices.IndexFunc(g.Members, func(m Member) bool { return m.Addr == addr })
		return d.next.LiveOf(g.Members[i]).Source == FromREST
	})
	if len(n.NoticeToAddr) > 0 {
		d.change.MinIDs = append(d.change.MinIDs, n)
	}
}

// infoOf returns a copy of a registration's plain data that keeps nothing else alive.
func infoOf(l *Live) *MemberInfo {
	i := l.MemberInfo
	return &i
}
