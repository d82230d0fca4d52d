package registry

import (
	"slices"
	"time"
)

// Claim says who asks for something about a REST member's place, and how far they may go.
type Claim struct {
	// Owner is the principal who asks.
	Owner string
	// Any lets them act on members of other principals.
	Any bool
	// Force lets them act on members that registered over remoting.
	Force bool
}

// check returns why the claim on a place does not hold, or nil. l is what holds the
// place, or nil.
func (c Claim) check(l *Live, byRemoting string) *Error {
	switch {
	case l == nil:
		return &Error{Kind: NotFound, Code: "member-not-found", Message: "no such member is registered"}
	case l.Source == FromRemoting && !c.Force:
		return &Error{
			Kind: Conflict, Code: byRemoting,
			Message: "the place is held by the broker at " + l.Addr + ", which registered over remoting",
		}
	case l.Source == FromREST && l.Owner != c.Owner && !c.Any:
		return &Error{Kind: Conflict, Code: heldByOther, Message: "the place is held by another principal"}
	}
	return nil
}

// Remove takes out the member that holds the place (name, id) and returns what it had
// registered. It fails with NotFound if there is none, and with Conflict if another
// principal holds the place or, with the code "member-held-by-remoting", a broker that
// registered over remoting, unless the claim goes that far. A broker that is removed so
// comes back with its next registration.
func (r *Registry) Remove(name string, id int64, by Claim, cause Cause) (MemberInfo, error) {
	r.mu.Lock()
	d := r.begin(cause)
	l := d.next.Member(name, id)
	if err := by.check(l, heldByRemoting); err != nil {
		d.drop()
		return MemberInfo{}, err
	}
	d.leave(l, OpDeleted, l.ID)
	d.commit()
	return l.MemberInfo, nil
}

// WouldRemove tells what Remove would do. It changes nothing.
func (s *Snapshot) WouldRemove(name string, id int64, by Claim) (MemberInfo, error) {
	l := s.Member(name, id)
	if err := by.check(l, heldByRemoting); err != nil {
		return MemberInfo{}, err
	}
	return l.MemberInfo, nil
}

// Amend changes what a REST member has registered, as one step: edit gets the member and
// a snapshot that holds it, and returns the registration that is to take its place, which
// keeps its name, id and owner. If the member changes meanwhile edit is asked again. The
// refusals are those of Register, NotFound for no such member, and Conflict with the code
// "member-taken-over" or "member-held-by-other". An error of edit is returned as it is.
func (r *Registry) Amend(name string, id int64, by Claim, edit func(*Snapshot, *Live) (Registration, error), cause Cause) (Registered, error) {
	by.Force = false // what a broker says of itself is not ours to change
	for {
		s := r.Snapshot()
		l := s.Member(name, id)
		if err := by.check(l, "member-taken-over"); err != nil {
			return Registered{}, err
		}
		reg, err := edit(s, l)
		if err != nil {
			return Registered{}, err
		}
		reg.Name, reg.ID, reg.Owner, reg.Source = name, id, l.Owner, FromREST
		res, moved, err := r.register(reg, l, nil, cause)
		if !moved {
			return res, err
		}
	}
}

// RegisterOver is Register for a REST member whose sender has seen what holds the place:
// if that is no longer was, nothing is done and moved is true.
func (r *Registry) RegisterOver(was *Live, reg Registration, cause Cause) (res Registered, moved bool, err error) {
	return r.register(reg, was, nil, cause)
}

// Try tells what Register would do, or why it would refuse. It changes nothing: Live in
// the answer stands in no snapshot.
func (r *Registry) Try(reg Registration) (Registered, error) {
	if err := reg.MemberInfo.check(); err != nil {
		return Registered{}, err
	}
	now, s := r.now(), r.Snapshot()
	p := s.plan(&reg, now)
	if p.refusal != nil {
		return Registered{}, p.refusal
	}
	res := Registered{
		Created: p.own == nil, Revision: s.Revision, RemovedTopics: len(p.gone),
		TopicsIgnored: reg.Topics != nil && reg.Topics.Len() > 0 && !p.counts,
	}
	for _, l := range p.set {
		if p.was.table == nil || p.was.table.topics.get(l.Name) == nil {
			res.NewTopics++
		} else {
			res.ChangedTopics++
		}
	}
	if p.counts {
		res.SameTopics = p.total - len(p.set)
	}
	res.Changed = p.own == nil || p.own.MemberInfo != reg.MemberInfo || p.group != p.was.group || len(p.set)+len(p.gone) > 0 ||
		slices.ContainsFunc(p.mappings, s.wouldMap)
	res.Live = &Live{
		MemberInfo: reg.MemberInfo, Registered: now, Revision: s.Revision, k: p.key, h: hashString(p.key),
		lease: &lease{start: r.started},
	}
	res.Live.lease.seen.Store(int64(now.Sub(r.started)))
	s.answer(&res)
	return res, nil
}

// wouldMap reports whether a mapping of a topic that its broker serves is new or another.
func (s *Snapshot) wouldMap(m *Mapping) bool {
	t := s.topics.get(m.Topic)
	return t != nil && t.layout.find(m.Broker) != nil && !slices.ContainsFunc(t.mappings, m.equal)
}

// keepVersion gives a member without a data version the one that stands in its place.
func (p *plan) keepVersion(reg *Registration) {
	if !reg.KeepVersion {
		return
	}
	reg.Version = DataVersion{}
	for _, l := range []*Live{p.rival, p.own} {
		if l != nil {
			reg.Version = l.Version
		}
	}
}

// raiseVersion makes the data version of such a member a new one if its topics change,
// or if it has none yet.
func (p *plan) raiseVersion(reg *Registration, now time.Time) {
	if !reg.KeepVersion || !p.counts || len(p.set)+len(p.gone) == 0 && reg.Version != (DataVersion{}) {
		return
	}
	reg.Version.Timestamp = now.UnixMilli()
	reg.Version.Counter++
	p.listing = &listing{topics: p.listing.topics, since: now}
}
