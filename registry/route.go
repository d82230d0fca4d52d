package registry

import (
	"slices"
	"strings"
	"sync/atomic"
)

// Route is where the messages of a topic go, resolved for one state of the
// registry. It is immutable and shared: neither it nor its slices may be changed.
type Route struct {
	// Brokers are the groups that serve the topic, sorted by name; each has at
	// least one address, and each name in Queues is here.
	Brokers []RouteBroker
	// Queues are sorted by broker name.
	Queues []QueueData
	// OrderConf is the topic's order configuration; HasOrder tells "" from none.
	OrderConf string
	HasOrder  bool
	// Mappings are the parts of a static topic, nil for an ordinary one.
	Mappings []*Mapping
	// Revision is that of the last change to anything but the queue data; a
	// topic's route last changed at the larger of this and Topic.Revision.
	Revision uint64
	// Memo keeps encoded forms of exactly this route.
	Memo Memo

	groups []*Group // what Brokers was made of
	acting bool     // the rule it was made under
	order  KVEntry
	shared uint64 // what every route made at the same moment has as its least revision
	view   atomic.Pointer[viewID]
	digest atomic.Pointer[string]
}

// RouteBroker is one broker group as a route shows it.
type RouteBroker struct {
	Name, Cluster string
	Zone          string
	HasZone       bool
	Acting        bool
	// Addrs are sorted by id. Where a slave acts for a missing master its id is
	// shown as 0 and ActingID is its own.
	Addrs    []Member
	ActingID int64
}

// Memo remembers encoded forms of an immutable value: slot i belongs to whoever
// uses i, and the bytes in it must not be changed.
type Memo struct {
	slots [4]atomic.Pointer[[]byte]
}

// Encoded returns slot i (0 to 3), built by build if it is empty. Callers that
// come at the same time may each build it; they get the same bytes.
func (m *Memo) Encoded(i int, build func() []byte) []byte {
	if p := m.slots[i].Load(); p != nil {
		return *p
	}
	b := build()
	if m.slots[i].CompareAndSwap(nil, &b) {
		return b
	}
	return *m.slots[i].Load()
}

// Peek returns slot i, or nil if nobody has built it.
func (m *Memo) Peek(i int) []byte {
	if p := m.slots[i].Load(); p != nil {
		return *p
	}
	return nil
}

type routeMemo struct{ p atomic.Pointer[Route] }

var (
	errTopicNotFound = &Error{Kind: TopicNotFound, Message: "no broker serves the topic"}
	errNotReady      = &Error{Kind: NotReady, Message: "the registry still waits for its brokers"}
)

// Route returns the route of a topic. It fails with TopicNotFound, or with NotReady
// while the rules ask for a wait after the start; what is known from before a restart is
// answered all the same. It takes bytes so that a face need
// not make a string of every name it is asked for, and it does not allocate when the
// route is remembered.
func (s *Snapshot) Route(topic []byte) (*Route, error) {
	t := s.topics.getBytes(topic)
	switch {
	case s.Withheld(t) > 0:
		return nil, errNotReady
	case t == nil:
		return nil, errTopicNotFound
	}
	return s.RouteOf(t), nil
}

// RouteOf returns the route of a topic of this snapshot, whatever the rules say of waiting.
func (s *Snapshot) RouteOf(t *Topic) *Route {
	memo := &t.layout.route
	if s.special(t) {
		memo = &t.own
	}
	if rt := memo.p.Load(); rt != nil {
		if rt.view.Load() == s.view.id {
			return rt
		}
		if s.fits(rt, t) {
			rt.view.Store(s.view.id)
			return rt
		}
	}
	rt := s.build(t, s.rules.SupportActingMaster)
	rt.view.Store(s.view.id)
	memo.p.Store(rt)
	return rt
}

// RouteWithoutActing returns the route of a topic with the true ids of all members.
func (s *Snapshot) RouteWithoutActing(t *Topic) *Route {
	if !s.rules.SupportActingMaster {
		return s.RouteOf(t)
	}
	return s.build(t, false)
}

// special reports whether t's route depends on more than its layout and the groups.
func (s *Snapshot) special(t *Topic) bool {
	if t.mappings != nil || s.rules.SupportActingMaster && isSyncTopic(t.Name) {
		return true
	}
	if s.rules.OrderMessageEnable {
		_, has := s.kv.get(OrderNamespace, t.Name)
		return has
	}
	return false
}

// fits reports whether a remembered route was made of what this snapshot holds:
// every input of build is compared here, by identity where it is immutable.
func (s *Snapshot) fits(rt *Route, t *Topic) bool {
	order, has := s.orderOf(t.Name)
	if rt.acting != s.rules.SupportActingMaster || rt.shared != s.routesRevision() || rt.HasOrder != has || rt.order != order ||
		!slices.Equal(rt.Mappings, t.mappings) || !slices.Equal(rt.Queues, t.layout.queues) {
		return false
	}
	for _, g := range rt.groups {
		if s.groups.get(g.Name) != g {
			return false
		}
	}
	return true
}

func (s *Snapshot) orderOf(topic string) (KVEntry, bool) {
	if !s.rules.OrderMessageEnable {
		return KVEntry{}, false
	}
	return s.kv.get(OrderNamespace, topic)
}

// routesRevision is the revision of the last change that may concern any route,
// besides those of its topic, its groups and its order configuration. The removal of
// an order configuration is one: nothing else is left of it.
func (s *Snapshot) routesRevision() uint64 {
	if s.rules.OrderMessageEnable {
		return max(s.rulesRevision, s.orderGoneRevision)
	}
	return s.rulesRevision
}

func (s *Snapshot) build(t *Topic, acting bool) *Route {
	qs := t.layout.queues
	rt := &Route{
		Queues: qs, Mappings: t.mappings, acting: acting, shared: s.routesRevision(),
		Brokers: make([]RouteBroker, 0, len(qs)), groups: make([]*Group, 0, len(qs)),
	}
	rt.order, rt.HasOrder = s.orderOf(t.Name)
	rt.OrderConf = rt.order.Value
	rt.Revision = max(rt.shared, rt.order.Revision)
	for _, q := range qs {
		g := s.groups.get(q.Broker)
		b := RouteBroker{Name: g.Name, Cluster: g.Cluster, Zone: g.Zone, HasZone: g.HasZone, Acting: g.Acting, Addrs: g.Members}
		if acting && g.Acting && !q.Writable() && !g.HasMaster() && !isSyncTopic(t.Name) {
			b.actFor()
		}
		rt.Brokers = append(rt.Brokers, b)
		rt.groups = append(rt.groups, g)
		rt.Revision = max(rt.Revision, g.Revision)
	}
	return rt
}

// actFor shows the slave with the smallest id as the master. Negative ids, which
// candidates without a role carry, never act.
func (b *RouteBroker) actFor() {
	i := slices.IndexFunc(b.Addrs, func(m Member) bool { return m.ID > 0 })
	if i < 0 {
		return
	}
	addrs := slices.Clone(b.Addrs)
	b.ActingID, addrs[i].ID = addrs[i].ID, 0
	b.Addrs = addrs // still sorted: whatever stands before i is negative
}

// ForZone returns the route as a client of that zone sees it: groups of the zone
// (whatever the case of its letters) and groups without a master. The result is not
// remembered.
func (r *Route) ForZone(zone string) *Route {
	out := &Route{OrderConf: r.OrderConf, HasOrder: r.HasOrder, Mappings: r.Mappings, Revision: r.Revision}
	for i, b := range r.Brokers {
		master := slices.ContainsFunc(b.Addrs, func(m Member) bool { return m.ID == 0 })
		if master && !(b.HasZone && strings.EqualFold(b.Zone, zone)) {
			continue
		}
		out.Brokers = append(out.Brokers, b)
		out.Queues = append(out.Queues, r.Queues[i])
	}
	return out
}
