package registry

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// model is what a registry has to do, written down as plainly as possible: maps that are
// changed in place, no sharing, nothing remembered. It knows neither revisions nor routes.
type model struct {
	rules      Rules
	now, swept time.Duration // since the start
	late       bool          // the last sweep was
	lives      map[liveID]*modelLive
	groups     map[string]*modelGroup
	topics     map[string]map[string]modelPart // topic, broker
	mappings   map[string]map[string]*Mapping  // topic, broker
	wiped      map[string]bool
	kv         KV

	// What the present transaction owes to members of groups: filled by leave.
	reduced []string
	minGone map[string]string
}

type liveID struct{ cluster, addr string }

type modelLive struct {
	info   MemberInfo
	listed map[string]TopicConfig // under the present data version; nil: never any
	counts bool
	seen   time.Duration
	spared time.Duration // of its silence since
	conn   string        // over which it was last heard of, "" for none
	// earlier is the one over which it registered, if that is another and still open.
	earlier string
}

type modelGroup struct {
	cluster, zone   string
	hasZone, acting bool
	members         map[int64]modelMember
}

type modelMember struct {
	addr, cluster string
	filters       []string
}

// modelPart is one broker's part of a topic: what clients see, and what was registered.
type modelPart struct {
	spec       QueueSpec
	registered TopicConfig
}

func newModel() *model {
	return &model{
		rules: DefaultRules(), lives: map[liveID]*modelLive{}, groups: map[string]*modelGroup{},
		topics: map[string]map[string]modelPart{}, mappings: map[string]map[string]*Mapping{}, wiped: map[string]bool{}, kv: KV{},
	}
}

func (g *modelGroup) idOf(addr string) (int64, bool) {
	for id, m := range g.members {
		if m.addr == addr {
			return id, true
		}
	}
	return 0, false
}

// smallest is the smallest id, ok is false without members.
func (g *modelGroup) smallest() (id int64, ok bool) {
	if len(g.members) == 0 {
		return 0, false
	}
	return slices.Min(slices.Collect(maps.Keys(g.members))), true
}

// acts is the id of the member that stands in for a missing master: the smallest above 0.
func (g *modelGroup) acts() (id int64, ok bool) {
	if _, master := g.members[0]; master {
		return 0, false
	}
	for i := range g.members {
		if i > 0 && (!ok || i < id) {
			id, ok = i, true
		}
	}
	return id, ok
}

// settle gives the group one cluster: its own as long as a member registered under it,
// else that of the member with the smallest id.
func (g *modelGroup) settle() {
	for _, m := range g.members {
		if m.cluster == g.cluster {
			return
		}
	}
	id, _ := g.smallest()
	g.cluster = g.members[id].cluster
}

// placed tells whether a registration has its place in its group.
func (m *model) placed(l *modelLive) bool {
	g := m.groups[l.info.Name]
	if g == nil {
		return false
	}
	x, ok := g.members[l.info.ID]
	return ok && x.addr == l.info.Addr && x.cluster == l.info.Cluster
}

func (m *model) begin() { m.reduced, m.minGone = nil, map[string]string{} }

// end does what is due when everybody who leaves at once has left, and returns the notices.
func (m *model) end() (notices []MinIDChange) {
	for _, name := range m.reduced {
		if g := m.groups[name]; g != nil && g.acting {
			if _, acts := g.acts(); acts {
				m.eachPart(name, func(p *modelPart) { p.spec.Perm &^= PermWrite })
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(m.minGone)) {
		if g := m.groups[name]; g != nil && g.acting && m.rules.NotifyMinBrokerIDChanged {
			id, _ := g.smallest()
			n := MinIDChange{Broker: name, MinID: id, MinAddr: g.members[id].addr, OfflineAddr: m.minGone[name]}
			notices = m.notify(notices, n, func(int64) bool { return true })
		}
	}
	return notices
}

// notify adds a notice for those members of the group that are wanted and have a broker.
func (m *model) notify(to []MinIDChange, n MinIDChange, want func(id int64) bool) []MinIDChange {
	g := m.groups[n.Broker]
	for _, id := range slices.Sorted(maps.Keys(g.members)) {
		x := g.members[id]
		if want(id) && m.lives[liveID{x.cluster, x.addr}].info.Source != FromREST {
			n.NoticeToAddr = append(n.NoticeToAddr, x.addr)
		}
	}
	if n.NoticeToAddr == nil {
		return to
	}
	return append(to, n)
}

func (m *model) eachPart(broker string, f func(*modelPart)) (n int) {
	for _, parts := range m.topics {
		if p, ok := parts[broker]; ok {
			f(&p)
			parts[broker] = p
			n++
		}
	}
	return n
}

func (m *model) dropPart(topic, broker string) {
	delete(m.topics[topic], broker)
	if len(m.topics[topic]) == 0 {
		delete(m.topics, topic)
	}
	delete(m.mappings[topic], broker)
	if len(m.mappings[topic]) == 0 {
		delete(m.mappings, topic)
	}
}

func (m *model) topicsOf(broker string) (out []string) {
	for t, parts := range m.topics {
		if _, ok := parts[broker]; ok {
			out = append(out, t)
		}
	}
	slices.Sort(out)
	return out
}

// unplace takes a member out of its group, and everything with the last one.
func (m *model) unplace(l *modelLive, idSaid int64) {
	name := l.info.Name
	g := m.groups[name]
	smallest, _ := g.smallest()
	delete(g.members, l.info.ID)
	if len(g.members) == 0 {
		for _, t := range m.topicsOf(name) {
			m.dropPart(t, name)
		}
		delete(m.groups, name)
		delete(m.wiped, name)
		return
	}
	g.settle()
	m.reduced = append(m.reduced, name)
	if idSaid == smallest {
		m.minGone[name] = l.info.Addr
	}
}

func (m *model) leave(l *modelLive, idSaid int64) {
	if m.placed(l) {
		m.unplace(l, idSaid)
	}
	delete(m.lives, liveID{l.info.Cluster, l.info.Addr})
}

// sorted returns the registrations for which want holds, by cluster and address.
func (m *model) sorted(want func(*modelLive) bool) (out []*modelLive) {
	for _, l := range m.lives {
		if want(l) {
			out = append(out, l)
		}
	}
	slices.SortFunc(out, func(a, b *modelLive) int {
		return cmp.Or(cmp.Compare(a.info.Cluster, b.info.Cluster), cmp.Compare(a.info.Addr, b.info.Addr))
	})
	return out
}

func (m *model) unregister(cluster, name, addr string, id int64) (removed bool, notices []MinIDChange) {
	l := m.lives[liveID{cluster, addr}]
	if l == nil || l.info.Name != name {
		l = nil
		if g := m.groups[name]; g != nil {
			if i, ok := g.idOf(addr); ok {
				l = m.lives[liveID{g.members[i].cluster, addr}]
			}
		}
	}
	if l == nil {
		return false, nil
	}
	m.begin()
	m.leave(l, id)
	return true, m.end()
}

func (m *model) release(conn string) (left int, notices []MinIDChange) {
	m.begin()
	for _, l := range m.sorted(func(l *modelLive) bool { return l.conn == conn || l.earlier == conn }) {
		if l.earlier != "" {
			if l.conn == conn {
				l.conn = l.earlier
			}
			l.earlier = ""
			continue
		}
		if m.placed(l) {
			left++
		}
		m.leave(l, l.info.ID)
	}
	return left, m.end()
}

// sweep returns who expired and which connections have nobody left because of it.
func (m *model) sweep(interval time.Duration) (expired []MemberInfo, evicted []string, notices []MinIDChange) {
	late := m.now - m.swept - interval
	m.swept = m.now
	for _, l := range m.lives {
		if late <= 5*time.Second {
			break
		}
		silence := m.now - l.seen
		l.spared += late
		if left := l.info.Timeout - silence + l.spared; !m.late && left < interval {
			l.spared += interval - left
		}
		if !m.late && late > 30*time.Second {
			l.spared = silence
		}
		l.spared = min(l.spared, silence)
	}
	m.late = late > 5*time.Second
	m.begin()
	conns := map[string]bool{}
	for _, l := range m.sorted(func(l *modelLive) bool { return m.now-l.seen-l.spared > l.info.Timeout }) {
		if m.placed(l) {
			expired = append(expired, l.info)
		}
		m.leave(l, l.info.ID)
		conns[l.conn], conns[l.earlier] = true, true
	}
	delete(conns, "")
	for _, l := range m.lives {
		delete(conns, l.conn)
		delete(conns, l.earlier)
	}
	return expired, slices.Sorted(maps.Keys(conns)), m.end()
}

func (m *model) heartbeat(cluster, addr, name, conn string) bool {
	l := m.lives[liveID{cluster, addr}]
	if l == nil {
		return false
	}
	l.seen, l.spared = m.now, 0
	if conn != "" && l.info.Name == name && l.info.Source == FromRemoting {
		switch {
		case conn == l.conn:
			return true
		case conn == l.earlier:
			l.earlier = ""
		case l.earlier == "":
			l.earlier = l.conn
		}
		l.conn = conn
	}
	return true
}

func (m *model) wipe(broker string) (topics int, known bool) {
	if m.groups[broker] == nil {
		return 0, false
	}
	topics = m.eachPart(broker, func(p *modelPart) { p.spec.Perm &^= PermWrite })
	if topics > 0 {
		m.wiped[broker] = true
	}
	return topics, true
}

func (m *model) restore(broker string, perm func(modelPart) int32) (topics int, known bool) {
	if m.groups[broker] == nil {
		return 0, false
	}
	delete(m.wiped, broker)
	return m.eachPart(broker, func(p *modelPart) { p.spec.Perm = perm(*p) }), true
}

func (m *model) deleteTopic(topic string, from func(name string, g *modelGroup) bool) (out Deleted) {
	out.From, out.MayReturn = []string{}, []string{}
	for _, broker := range slices.Sorted(maps.Keys(m.topics[topic])) {
		g := m.groups[broker]
		if !from(broker, g) {
			continue
		}
		out.From = append(out.From, broker)
		for _, x := range g.members {
			l := m.lives[liveID{x.cluster, x.addr}]
			if _, lists := l.listed[topic]; lists && l.counts {
				out.MayReturn = append(out.MayReturn, broker)
				break
			}
		}
	}
	for _, broker := range out.From {
		m.dropPart(topic, broker)
	}
	return out
}

func (m *model) declare(topic string, queues []QueueData) (created, ok bool) {
	for _, q := range queues {
		if m.groups[q.Broker] == nil {
			return false, false
		}
	}
	for _, q := range queues {
		p, has := m.topics[topic][q.Broker]
		p.spec, p.registered.QueueSpec = q.QueueSpec, q.QueueSpec
		m.put(topic, q.Broker, p)
		created = created || !has
	}
	return created, true
}

func (m *model) put(topic, broker string, p modelPart) {
	if m.topics[topic] == nil {
		m.topics[topic] = map[string]modelPart{}
	}
	m.topics[topic][broker] = p
}
