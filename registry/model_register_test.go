package registry

import (
	"maps"
	"slices"
)

// modelReg is a registration in plain values. A topic that comes twice counts as the later.
type modelReg struct {
	info       MemberInfo
	given      bool // topics are given, if need be none
	topics     []namedConfig
	replace    bool
	mappings   []*Mapping
	filters    []string
	hasFilters bool
	takeover   bool
	conn       string
}

type namedConfig struct {
	name   string
	config TopicConfig
}

// modelAnswer is what a registration is answered.
type modelAnswer struct {
	refused                    string // the code of the refusal
	created, ignored           bool
	added, changed, gone, same int
	master, masterHA           string
	masterHasHA                bool
	clash                      bool // two clusters use the name
	notices                    []MinIDChange
	order                      map[string]string
	hasOrder                   bool
}

func (m *model) register(reg modelReg) (a modelAnswer) {
	in := reg.info
	said := map[string]TopicConfig{}
	for _, t := range reg.topics {
		said[t.name] = t.config
	}
	if m.rules.ReturnOrderTopicConfigToBroker {
		a.order, a.hasOrder = m.kv[OrderNamespace]
	}
	if a.refused = m.refuse(reg, len(said)); a.refused != "" {
		return a
	}
	m.begin()
	live := m.lives[liveID{in.Cluster, in.Addr}]
	if live != nil && live.info.Name != in.Name && m.placed(live) {
		m.unplace(live, live.info.ID) // an address belongs to one name
	}

	g, before := m.groups[in.Name], int64(0)
	if g == nil {
		g = &modelGroup{cluster: in.Cluster, members: map[int64]modelMember{}}
		m.groups[in.Name] = g
	} else {
		before, _ = g.smallest()
	}
	was := g.cluster
	holder, first := g.members[in.ID]
	first = !first
	me := modelMember{addr: in.Addr, cluster: in.Cluster}
	if id, ok := g.idOf(in.Addr); ok {
		if g.members[id].cluster == in.Cluster {
			me.filters = g.members[id].filters
		}
		delete(g.members, id)
	} else {
		a.created = true
	}
	if reg.hasFilters {
		me.filters = slices.Clone(reg.filters)
	}
	if len(me.filters) == 0 {
		me.filters = nil
	}
	g.members[in.ID] = me
	g.settle()
	g.zone, g.hasZone, g.acting = in.Zone, in.HasZone, in.Acting == ActingOn
	a.clash = g.cluster != in.Cluster || was != in.Cluster && !first && holder.addr != in.Addr

	acting, acts := g.acts()
	acts = acts && acting == in.ID && in.Acting != ActingUnsaid
	counts := reg.given && (in.ID == 0 || acts)
	a.ignored = len(said) > 0 && !counts

	next := &modelLive{info: in, counts: counts, seen: m.now, conn: reg.conn}
	known := !first && live != nil && live.listed != nil && live.info.Version == in.Version
	full := reg.replace || m.rules.DeleteTopicWithBrokerRegistration && len(reg.mappings) == 0
	switch {
	case !reg.given && live != nil && live.info.Name == in.Name:
		next.listed, next.counts = live.listed, live.counts && live.info.ID == in.ID
	case reg.given:
		next.listed = map[string]TopicConfig{}
		if known && !full {
			maps.Copy(next.listed, live.listed) // a further part of the same list
		}
		maps.Copy(next.listed, said)
	}
	if counts {
		m.take(reg, said, known, live, acts && g.acting, full, &a)
	}
	m.lives[liveID{in.Cluster, in.Addr}] = next

	if master, ok := g.members[0]; ok && in.ID != 0 {
		if l := m.lives[liveID{in.Cluster, master.addr}]; l != nil {
			a.master, a.masterHA, a.masterHasHA = master.addr, l.info.HAAddr, l.info.HasHA
		}
	}
	if m.rules.NotifyMinBrokerIDChanged && in.ID < before {
		n := MinIDChange{Broker: in.Name, MinID: in.ID, MinAddr: in.Addr, HAAddr: in.HAAddr, HasHA: in.HasHA}
		a.notices = m.notify(nil, n, func(id int64) bool { return id != in.ID || len(g.members) == 1 })
	}
	a.notices = append(a.notices, m.end()...)
	return a
}

// take applies the topics of a registration that counts.
func (m *model) take(reg modelReg, said map[string]TopicConfig, known bool, live *modelLive, readOnly, full bool, a *modelAnswer) {
	name := reg.info.Name
	for topic, c := range said {
		p, has := m.topics[topic][name]
		spec := c.QueueSpec
		if readOnly {
			spec.Perm &^= PermWrite
		}
		if known && has {
			last, did := live.listed[topic]
			if did && last == c || p.registered == c {
				continue
			}
		}
		if has && p.spec == spec && p.registered == c {
			continue
		}
		m.put(topic, name, modelPart{spec: spec, registered: c})
		if has {
			a.changed++
		} else {
			a.added++
		}
	}
	a.same = len(said) - a.added - a.changed
	if full {
		for _, topic := range m.topicsOf(name) {
			if _, named := said[topic]; !named {
				m.dropPart(topic, name)
				a.gone++
			}
		}
	}
	for _, x := range reg.mappings {
		if _, serves := m.topics[x.Topic][x.Broker]; serves {
			if m.mappings[x.Topic] == nil {
				m.mappings[x.Topic] = map[string]*Mapping{}
			}
			m.mappings[x.Topic][x.Broker] = x
		}
	}
	if a.added+a.changed+a.gone > 0 {
		given := true
		m.eachPart(name, func(p *modelPart) {
			given = given && (p.registered.Perm&PermWrite == 0 || p.spec.Perm&PermWrite != 0)
		})
		if given {
			delete(m.wiped, name)
		}
	}
}

// refuse returns why a registration may not be.
func (m *model) refuse(reg modelReg, topics int) string {
	in := reg.info
	g := m.groups[in.Name]
	var own, rival *modelLive
	if g != nil {
		for id, x := range g.members {
			switch l := m.lives[liveID{x.cluster, x.addr}]; {
			case x.addr == in.Addr:
				own = l
			case id == in.ID:
				rival = l
			}
		}
	}
	if in.Source == FromREST {
		if l := m.lives[liveID{in.Cluster, in.Addr}]; l != nil && l.info.Name != in.Name && m.placed(l) {
			return "address-in-use"
		}
		if g != nil && g.cluster != in.Cluster {
			for id, x := range g.members {
				if x.addr != in.Addr || id != in.ID {
					return "broker-in-other-cluster"
				}
			}
		}
		for _, l := range []*modelLive{own, rival} {
			switch {
			case l == nil || reg.takeover:
			case l.info.Source == FromRemoting:
				return "member-held-by-remoting"
			case l.info.Owner != in.Owner:
				return "member-held-by-other"
			}
		}
	}
	if rival != nil && rival.info.Cluster == in.Cluster && rival.info.Version.State > in.Version.State &&
		(rival.info.Source == FromRemoting || in.Source == FromREST) {
		return "stale-state-version"
	}
	if in.Source == FromRemoting && reg.given && topics == 1 {
		if g == nil {
			return "single-topic"
		}
		if _, known := g.members[in.ID]; !known {
			return "single-topic"
		}
	}
	return ""
}
