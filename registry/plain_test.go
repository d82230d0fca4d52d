package registry

import (
	"maps"
	"slices"
	"time"
)

// plain is all that a registry holds, as values that can be compared.
type plain struct {
	Rules    Rules
	Groups   map[string]plainGroup
	Lives    map[liveID]plainLive
	Topics   map[string]map[string]modelPart
	Mappings map[string]map[string]Mapping
	Wiped    []string
	KV       KV
}

type plainGroup struct {
	Cluster, Zone   string
	HasZone, Acting bool
	Members         map[int64]plainMember
}

type plainMember struct {
	Addr, Cluster string
	Filters       []string
}

type plainLive struct {
	Info   MemberInfo
	Listed map[string]TopicConfig
	Counts bool
	Seen   time.Duration
	Conn   string
}

func (m *model) plain() plain {
	p := plain{
		Rules: m.rules, Groups: map[string]plainGroup{}, Lives: map[liveID]plainLive{}, Topics: m.topics,
		Mappings: map[string]map[string]Mapping{}, Wiped: slices.Sorted(maps.Keys(m.wiped)), KV: m.kv,
	}
	for name, g := range m.groups {
		x := plainGroup{Cluster: g.cluster, Zone: g.zone, HasZone: g.hasZone, Acting: g.acting, Members: map[int64]plainMember{}}
		for id, y := range g.members {
			x.Members[id] = plainMember{Addr: y.addr, Cluster: y.cluster, Filters: y.filters}
		}
		p.Groups[name] = x
	}
	for id, l := range m.lives {
		p.Lives[id] = plainLive{Info: l.info, Listed: l.listed, Counts: l.counts, Seen: l.seen, Conn: l.conn}
	}
	for topic, ms := range m.mappings {
		p.Mappings[topic] = map[string]Mapping{}
		for broker, x := range ms {
			p.Mappings[topic][broker] = *x
		}
	}
	return p
}

func plainOf(s *Snapshot) plain {
	p := plain{
		Rules: s.Rules(), Groups: map[string]plainGroup{}, Lives: map[liveID]plainLive{}, KV: s.AllKV(),
		Topics: map[string]map[string]modelPart{}, Mappings: map[string]map[string]Mapping{},
	}
	for _, g := range s.Groups() {
		x := plainGroup{Cluster: g.Cluster, Zone: g.Zone, HasZone: g.HasZone, Acting: g.Acting, Members: map[int64]plainMember{}}
		for _, m := range g.Members {
			x.Members[m.ID] = plainMember{Addr: m.Addr, Cluster: m.Cluster, Filters: m.Filters}
		}
		p.Groups[g.Name] = x
		if s.Wiped(g.Name) != nil {
			p.Wiped = append(p.Wiped, g.Name)
		}
	}
	for l := range s.Lives() {
		x := plainLive{Info: l.MemberInfo, Counts: l.counted, Seen: l.LastSeen().Sub(clockStart)}
		if l.listing != nil {
			x.Listed = map[string]TopicConfig{}
			for _, y := range l.listing.topics {
				x.Listed[y.Name] = y.Config
			}
		}
		if h := l.lease.holder.Load(); h != nil {
			x.Conn = (*h).(*conn).name
		}
		p.Lives[liveID{l.Cluster, l.Addr}] = x
	}
	for t := range s.Topics() {
		p.Topics[t.Name] = map[string]modelPart{}
		for _, q := range t.Queues() {
			c, _ := s.Registered(q.Broker, t.Name)
			p.Topics[t.Name][q.Broker] = modelPart{spec: q.QueueSpec, registered: c}
		}
		for _, m := range t.Mappings() {
			if p.Mappings[t.Name] == nil {
				p.Mappings[t.Name] = map[string]Mapping{}
			}
			p.Mappings[t.Name][m.Broker] = *m
		}
	}
	return p
}

// told is what somebody knows of a registry who has only heard of its changes.
type told struct {
	Members  map[memberID]MemberInfo
	Parts    map[partID]QueueSpec
	Clusters map[string]bool
	Wiped    map[string]bool
	KV       map[string]string
	revision uint64
}

type memberID struct {
	broker string
	id     int64
}

type partID struct{ topic, broker string }

func newTold() *told {
	return &told{
		Members: map[memberID]MemberInfo{}, Parts: map[partID]QueueSpec{}, Clusters: map[string]bool{},
		Wiped: map[string]bool{}, KV: map[string]string{},
	}
}

// toldOf is what somebody should know of a snapshot.
func toldOf(s *Snapshot) *told {
	k := newTold()
	k.revision = s.Revision
	for _, g := range s.Groups() {
		k.Clusters[g.Cluster] = true
		for _, m := range g.Members {
			k.Members[memberID{g.Name, m.ID}] = s.LiveOf(m).MemberInfo
		}
		if s.Wiped(g.Name) != nil {
			k.Wiped[g.Name] = true
		}
	}
	for t := range s.Topics() {
		for _, q := range t.Queues() {
			k.Parts[partID{t.Name, q.Broker}] = q.QueueSpec
		}
	}
	for ns, m := range s.AllKV() {
		for key, v := range m {
			k.KV[ns+"/"+key] = v
		}
	}
	return k
}

// hear applies a change. It returns what in it does not fit what was known.
func (k *told) hear(c *Change) (wrong []string) {
	if !c.Step {
		if c.Revision != k.revision {
			wrong = append(wrong, "a report of another revision")
		}
		return wrong
	}
	if c.Revision != k.revision+1 {
		wrong = append(wrong, "a revision is missing")
	}
	k.revision = c.Revision
	for _, m := range c.Members {
		if m.Before != nil {
			id := memberID{m.Broker, m.Before.ID}
			if k.Members[id] != *m.Before {
				wrong = append(wrong, "a member was not as said before")
			}
			delete(k.Members, id)
		}
		if m.After != nil {
			k.Members[memberID{m.Broker, m.ID}] = *m.After
		}
	}
	for _, t := range c.Topics {
		id := partID{t.Topic, t.Broker}
		was, had := k.Parts[id]
		if had == (t.Op == OpCreated) || had && was != t.Before {
			wrong = append(wrong, "a part of topic "+t.Topic+" was not as said before")
		}
		if k.Parts[id] = t.After; t.Op == OpDeleted {
			delete(k.Parts, id)
		}
	}
	for _, x := range c.Clusters {
		if k.Clusters[x.Cluster] != (x.Op == OpDeleted) {
			wrong = append(wrong, "cluster "+x.Cluster+" was not as said before")
		}
		if k.Clusters[x.Cluster] = true; x.Op == OpDeleted {
			delete(k.Clusters, x.Cluster)
		}
	}
	for _, x := range c.WritePerms {
		if k.Wiped[x.Broker] = true; x.Op == OpRestored {
			delete(k.Wiped, x.Broker)
		}
	}
	for broker := range k.Wiped {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(k.Members)), func(m memberID) bool { return m.broker == broker }) {
			delete(k.Wiped, broker) // a wipe goes with its broker
		}
	}
	for _, x := range c.KV {
		if k.KV[x.Namespace+"/"+x.Key] = x.After; x.Op == OpDeleted {
			delete(k.KV, x.Namespace+"/"+x.Key)
		}
	}
	return wrong
}
