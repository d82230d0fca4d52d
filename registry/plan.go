package registry

import (
	"slices"
	"time"
)

// plan is what a registration will do to a given state, worked out without changing
// anything. It holds as long as what it was made of is still the same.
type plan struct {
	was  basis
	key  string // of the sender's registration, which is live
	live *Live
	// own is what stands in the group under the sender's address: live, or what the
	// address registered under the label of another cluster. It is nil for a newcomer
	// and for a sender that had lost its place.
	own *Live
	// rival is the registration whose place the sender takes, elsewhere the sender's
	// own under another broker name, which it leaves.
	rival, elsewhere *Live

	refusal                  *Error
	conflict, conflictDetail string

	group    *Group    // the group afterwards
	counts   bool      // the sender's topics count
	noWrite  bool      // it acts for a master: nothing is writable
	snap     *Snapshot // what it was made of
	set      []*Listed // which may be the statement's own
	known    []*Topic  // beside each of set, the topic in snap, nil if it is new; nil where the broker has none
	gone     []string
	total    int // topics of the statement
	named    []*Listed
	listing  *listing
	whole    bool // the statement is all of the listing
	clean    bool // every topic of the listing will stand as listed
	mappings []*Mapping
}

// holds reports whether the plan would come out the same against s.
func (p *plan) holds(s *Snapshot) bool {
	name := p.group.Name
	return p.was.rules == s.rules && p.was.group == s.groups.get(name) && p.was.table == s.tables.get(name) &&
		p.live == s.lives.get(p.key) && p.elsewhere == nil &&
		(p.own == nil || p.own == s.lives.get(p.own.k)) && (p.rival == nil || p.rival == s.lives.get(p.rival.k))
}

// spec is what clients see of a topic that the sender listed.
func (p *plan) spec(l *Listed) QueueSpec {
	q := l.Config.QueueSpec
	if p.noWrite {
		q.Perm &^= PermWrite
	}
	return q
}

func (s *Snapshot) plan(reg *Registration, now time.Time) *plan {
	p := &plan{
		was: basis{group: s.groups.get(reg.Name), table: s.tables.get(reg.Name), rules: s.rules},
		key: liveKey(reg.Cluster, reg.Addr), snap: s,
	}
	p.live = s.lives.get(p.key)
	p.place(s, reg)
	p.keepVersion(reg)
	if p.refusal = s.refuse(reg, p); p.refusal != nil {
		return p
	}
	p.clash(reg)
	master := reg.ID == 0
	acts := reg.ID > 0 && reg.Acting != ActingUnsaid && p.group.smallest() == reg.ID
	p.counts = reg.Topics != nil && (master || acts)
	p.noWrite = acts && p.group.Acting
	if reg.Topics != nil {
		p.compare(s, reg, now)
		p.raiseVersion(reg, now)
	} else if p.live != nil && p.live.Name == reg.Name {
		p.listing = p.live.listing
		p.counts = p.live.counted && p.live.ID == reg.ID
	}
	return p
}

// belongsTo begins the detail of a clash with a group of another cluster, and ends it with
// that cluster.
const belongsTo = "the name belongs to cluster "

// clash notes that two clusters use the sender's broker name: it joins the group of
// another one, or takes the place of a member of another one and with it the name.
func (p *plan) clash(reg *Registration) {
	old := p.was.group
	switch {
	case p.group.Cluster != reg.Cluster:
		p.conflictDetail = belongsTo + p.group.Cluster
	case old != nil && old.Cluster != reg.Cluster && p.rival != nil:
		p.conflictDetail = "the name belonged to cluster " + old.Cluster + " and the place to " + p.rival.Addr
	default:
		return
	}
	p.conflict = inOtherCluster
}

// place works out the group after the registration: who stands where.
func (p *plan) place(s *Snapshot, reg *Registration) {
	old := p.was.group
	g := &Group{Name: reg.Name, Cluster: reg.Cluster, Zone: reg.Zone, HasZone: reg.HasZone, Acting: reg.Acting == ActingOn}
	m := Member{ID: reg.ID, Addr: reg.Addr, Cluster: reg.Cluster}
	if p.live != nil && p.live.Name != reg.Name && s.Placed(p.live) {
		p.elsewhere = p.live
	}
	if old != nil {
		for _, o := range old.Members {
			// An address stands once in its group, and an id has one address.
			switch {
			case o.Addr == reg.Addr:
				p.own = s.LiveOf(o)
				if o.Cluster == reg.Cluster {
					m.Filters = o.Filters
				}
			case o.ID == reg.ID:
				p.rival = s.LiveOf(o)
			default:
				g.Members = append(g.Members, o)
			}
		}
	}
	if reg.HasFilters {
		m.Filters = reg.Filters
		if len(m.Filters) == 0 {
			m.Filters = nil
		}
	}
	g.Members = append(g.Members, m)
	slices.SortFunc(g.Members, func(a, b Member) int {
		if a.ID < b.ID {
			return -1
		}
		return 1
	})
	if old != nil {
		g.settleCluster(old.Cluster)
		if g.equal(old) {
			g = old
		}
	}
	p.group = g
}

// settleCluster gives the group one owner: the cluster it had as long as a member
// carries that label, else the label of its first member.
func (g *Group) settleCluster(had string) {
	g.Cluster = had
	if !slices.ContainsFunc(g.Members, func(m Member) bool { return m.Cluster == had }) {
		g.Cluster = g.Members[0].Cluster
	}
}

// smallest returns the id of the master, or else of the one member that may act for
// it, or -1. Negative ids belong to candidates without a role.
func (g *Group) smallest() int64 {
	for _, m := range g.Members {
		if m.ID >= 0 {
			return m.ID
		}
	}
	return -1
}

// refuse returns why the registration may not be, or nil.
func (s *Snapshot) refuse(reg *Registration, p *plan) *Error {
	if reg.Source == FromREST {
		if err := s.refuseREST(reg, p); err != nil {
			return err
		}
	}
	// Over remoting a REST member always gives way.
	if r := p.rival; r != nil && r.Cluster == reg.Cluster && r.Version.State > reg.Version.State &&
		(r.Source == FromRemoting || reg.Source == FromREST) {
		return &Error{
			Kind: Conflict, Code: staleState,
			Message: "the place is held by " + r.Addr + " with a higher state version",
		}
	}
	if reg.Source == FromRemoting && reg.Topics != nil && reg.Topics.single() {
		if g := p.was.group; g == nil || g.Addr(reg.ID) == "" {
			return &Error{
				Kind: Conflict, Code: singleTopic,
				Message: "a broker that is not registered yet may not begin with a single topic",
			}
		}
	}
	return nil
}

// refuseREST applies the rules of ownership between REST members and others.
func (s *Snapshot) refuseREST(reg *Registration, p *plan) *Error {
	if p.elsewhere != nil {
		return &Error{
			Kind: Conflict, Code: addressInUse, Field: "brokerAddr",
			Message: "the address belongs to broker " + p.elsewhere.Name,
		}
	}
	if g := p.was.group; g != nil && g.Cluster != reg.Cluster &&
		slices.ContainsFunc(g.Members, func(m Member) bool { return m.Addr != reg.Addr || m.ID != reg.ID }) {
		return &Error{
			Kind: Conflict, Code: inOtherCluster, Field: "clusterName",
			Message: "the broker name belongs to cluster " + g.Cluster,
		}
	}
	if reg.Takeover {
		return nil
	}
	for _, holder := range []*Live{p.own, p.rival} {
		switch {
		case holder == nil:
		case holder.Source == FromRemoting:
			return &Error{
				Kind: Conflict, Code: heldByRemoting,
				Message: "the place is held by the broker at " + holder.Addr + ", which registered over remoting",
			}
		case holder.Owner != reg.Owner:
			return &Error{Kind: Conflict, Code: heldByOther, Message: "the place is held by another principal"}
		}
	}
	return nil
}

// compare works out what the statement changes. A topic is taken over if the sender
// is new in its place, speaks of another data version, is missing from the topic, or
// says of it what is neither registered nor what it last listed. So an unchanged repeat
// moves nothing and undoes no wipe, and what has changed is applied whatever its version.
// Both have to be asked: a part of the list may come first under a new version, and then
// the rest is as it was registered; and others may register the topic meanwhile, and then
// the broker's repeat says nothing new.
func (p *plan) compare(s *Snapshot, reg *Registration, now time.Time) {
	topics, same := reg.Topics.list()
	p.total, p.named = len(topics), topics
	first := p.was.group == nil || p.was.group.Addr(reg.ID) == ""
	again := !first && p.live != nil && p.live.listing != nil && p.live.Version == reg.Version
	same = same && again && reg.Topics.was == p.live.listing
	full := reg.Replace || s.rules.DeleteTopicWithBrokerRegistration && len(reg.Mappings) == 0
	written := reg.Topics.written(topics)
	switch {
	case same && (written == nil || p.live.listing.stretches != nil):
		p.listing = p.live.listing
	case same, again && full:
		p.listing = &listing{topics: topics, since: p.live.listing.since, stretches: written}
	case again:
		p.listing = p.live.listing.merge(topics)
	default:
		p.listing = &listing{topics: topics, since: now, stretches: written}
	}
	p.whole = len(p.listing.topics) == len(topics)
	if !p.counts {
		return
	}
	p.mappings = reg.Mappings
	leftovers := full && p.was.table != nil && p.was.table.topics.len() > len(topics)
	untouched := p.live != nil && p.live.counted && p.live.settled == (basis{group: p.group, table: p.was.table, rules: s.rules})
	if same && untouched && p.live.whole && !leftovers {
		p.clean = p.live.clean
		return
	}
	// What stood as it was listed, and nobody has touched since, stands so still: of a
	// changed list only what differs is looked at.
	var stands []*Listed
	if untouched && p.live.clean && reg.Topics.was == p.live.listing {
		stands = reg.Topics.prev
	}
	p.clean = p.whole || untouched && p.live.clean
	if p.was.table == nil {
		p.set = topics
		return
	}
	var listed map[string]*Listed // what the sender last listed, made when it is needed
	present := 0
	for i, l := range topics {
		if i < len(stands) && stands[i] == l {
			present++
			continue
		}
		t := s.topics.getHashed(l.Name, l.h)
		var q *QueueData
		if t != nil {
			q = t.layout.find(reg.Name)
		}
		if q != nil {
			present++
			said := p.was.table.topics.getHashed(l.Name, l.h)
			asListed := said.Config == l.Config && q.QueueSpec == p.spec(l)
			leave := same || asListed || again && said.Config == l.Config
			if again && !leave {
				if listed == nil {
					listed = p.live.listing.byName()
				}
				before := listed[l.Name]
				leave = before != nil && before.Config == l.Config
			}
			if leave {
				p.clean = p.clean && asListed
				continue
			}
		}
		p.set, p.known = append(p.set, l), append(p.known, t)
	}
	if full && p.was.table != nil && p.was.table.topics.len() > present {
		named := make(map[string]struct{}, len(topics))
		for _, l := range topics {
			named[l.Name] = struct{}{}
		}
		for l := range p.was.table.topics.all() {
			if _, ok := named[l.Name]; !ok {
				p.gone = append(p.gone, l.Name)
			}
		}
	}
}

func (s *listing) byName() map[string]*Listed {
	m := make(map[string]*Listed, len(s.topics))
	for _, l := range s.topics {
		m[l.Name] = l
	}
	return m
}
