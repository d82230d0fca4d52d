package peers

import (
	"fmt"
	"slices"
	"strings"

	"fingerpost/registry"
	"fingerpost/remoting/wire"
)

// missing are the broker names that one side lacks. What is known of their topics follows
// from that and is not compared.
type missing struct {
	there, here map[string]bool
	// strangers tells that not one broker name is on both sides.
	strangers bool
}

// brokers compares groups and members. Servers before 5.0 know neither zones nor acting
// masters, so those are left out for one (old).
func brokers(s *registry.Snapshot, info *wire.ClusterInfo, old bool) (found []Difference, m missing) {
	m = missing{there: make(map[string]bool), here: make(map[string]bool), strangers: true}
	theirs := make(map[string]*wire.BrokerData, len(info.Brokers))
	for i := range info.Brokers {
		b := &info.Brokers[i]
		theirs[b.Name] = b
		if s.Group(b.Name) == nil {
			name := strings.Clone(b.Name) // not the whole answer with it
			m.here[name] = true
			found = append(found, Difference{Subject: Subject{Kind: KindBroker, Broker: name, How: OnlyThere}, There: theirFacts(b, old, true)})
		}
	}
	for _, g := range s.Groups() {
		b := theirs[g.Name]
		if b == nil {
			m.there[g.Name] = true
			found = append(found, Difference{
				Subject: Subject{Kind: KindBroker, Broker: g.Name, How: OnlyHere}, Here: ourFacts(g, old, true), Topics: s.BrokerTopicCount(g.Name),
			})
			continue
		}
		m.strangers = false
		here, there := ourFacts(g, old, false), theirFacts(b, old, false)
		if differ(here, there) {
			found = append(found, Difference{Subject: Subject{Kind: KindBroker, Broker: g.Name, How: Value}, Here: here, There: there})
		}
		found = append(found, members(g, b)...)
	}
	return found, m
}

func ourFacts(g *registry.Group, old, addrs bool) Facts {
	f := groupFacts(g.Cluster, g.Zone, g.Acting, old)
	if addrs {
		var list []string
		for _, m := range g.Members {
			list = append(list, m.Addr)
		}
		f["brokerAddrs"] = list
	}
	return f
}

func theirFacts(b *wire.BrokerData, old, addrs bool) Facts {
	f := groupFacts(strings.Clone(b.Cluster), strings.Clone(b.Zone), b.EnableActingMaster, old)
	if addrs {
		var list []string
		for _, a := range b.Addrs {
			list = append(list, strings.Clone(a.Addr))
		}
		f["brokerAddrs"] = list
	}
	return f
}

func groupFacts(cluster, zone string, acting, old bool) Facts {
	f := Facts{"clusterName": cluster}
	if !old {
		f["zoneName"], f["enableActingMaster"] = zone, acting
	}
	return f
}

// members compares the ids of a broker name that both have.
func members(g *registry.Group, b *wire.BrokerData) (found []Difference) {
	theirs := make(map[int64]string, len(b.Addrs))
	for _, a := range b.Addrs {
		theirs[a.ID] = strings.Clone(a.Addr)
	}
	at := func(addr string) Facts { return Facts{"brokerAddr": addr} }
	for _, m := range g.Members {
		addr, ok := theirs[m.ID]
		delete(theirs, m.ID)
		switch {
		case !ok:
			found = append(found, Difference{Subject: Subject{Kind: KindMember, Broker: g.Name, ID: m.ID, How: OnlyHere}, Here: at(m.Addr)})
		case addr != m.Addr:
			found = append(found, Difference{Subject: Subject{Kind: KindMember, Broker: g.Name, ID: m.ID, How: Value}, Here: at(m.Addr), There: at(addr)})
		}
	}
	for id, addr := range theirs {
		found = append(found, Difference{Subject: Subject{Kind: KindMember, Broker: g.Name, ID: id, How: OnlyThere}, There: at(addr)})
	}
	return found
}

// topicLists is what two lists of topics make of each other.
type topicLists struct {
	found []Difference
	// both are on both sides; doubtful are those of the peer alone of which only their
	// route tells whether they are missed or just their brokers.
	both, doubtful []string
}

// topics compares which topics there are. theirs is sorted.
func topics(s *registry.Snapshot, theirs []string, m missing) (out topicLists) {
	ours := s.TopicNames()
	i, j := 0, 0
	for i < len(ours) || j < len(theirs) {
		switch {
		case j == len(theirs) || i < len(ours) && ours[i] < theirs[j]:
			if d, missed := missedThere(s, ours[i], m); missed {
				out.found = append(out.found, d)
			}
			i++
		case i == len(ours) || theirs[j] < ours[i]:
			name := strings.Clone(theirs[j])
			switch {
			case len(m.here) == 0:
				out.found = append(out.found, Difference{Subject: Subject{Kind: KindTopic, Topic: name, How: OnlyThere}})
			case !m.strangers:
				out.doubtful = append(out.doubtful, name)
			}
			j++
		default:
			out.both = append(out.both, ours[i])
			i, j = i+1, j+1
		}
	}
	return out
}

// missedThere returns the difference of a topic that only we have, unless the peer lacks
// it just because it lacks its brokers.
func missedThere(s *registry.Snapshot, topic string, m missing) (d Difference, missed bool) {
	t := s.Topic(topic)
	if t == nil {
		return d, false // gone meanwhile
	}
	var from []string
	for _, q := range t.Queues() {
		from = append(from, q.Broker)
		missed = missed || !m.there[q.Broker]
	}
	return Difference{Subject: Subject{Kind: KindTopic, Topic: topic, How: OnlyHere}, Here: Facts{"brokers": from}}, missed
}

// route compares what each broker that both have serves of a topic. Of a topic that we do
// not have it tells whether we miss it. The order configuration, which is a part of routes
// too, is compared as the keys that it consists of.
func route(s *registry.Snapshot, topic string, rt *wire.Route, m missing) (found []Difference) {
	t := s.Topic(topic)
	if t == nil {
		var from []string
		missed := false
		for _, q := range rt.Queues {
			from = append(from, strings.Clone(q.Broker))
			missed = missed || !m.here[q.Broker]
		}
		if missed {
			found = append(found, Difference{Subject: Subject{Kind: KindTopic, Topic: topic, How: OnlyThere}, There: Facts{"brokers": from}})
		}
		return found
	}
	theirs := partsOf(rt)
	for _, q := range t.Queues() {
		part, ok := theirs[q.Broker]
		delete(theirs, q.Broker)
		if m.there[q.Broker] {
			continue
		}
		subject := Subject{Kind: KindRoute, Topic: topic, Broker: q.Broker}
		here := queueFacts(q.QueueSpec, mappingOf(t, q.Broker))
		switch {
		case !ok:
			subject.How = OnlyHere
			found = append(found, Difference{Subject: subject, Here: here})
		case differ(here, part):
			subject.How = Value
			found = append(found, Difference{Subject: subject, Here: here, There: part})
		}
	}
	for broker, part := range theirs {
		if !m.here[broker] {
			found = append(found, Difference{Subject: Subject{Kind: KindRoute, Topic: topic, Broker: strings.Clone(broker), How: OnlyThere}, There: part})
		}
	}
	return found
}

// partsOf returns each broker's part of a route.
func partsOf(rt *wire.Route) map[string]Facts {
	out := make(map[string]Facts, len(rt.Queues))
	for _, q := range rt.Queues {
		var mapping *registry.Mapping
		for i := range rt.Mappings {
			if x := &rt.Mappings[i]; x.Broker == q.Broker {
				mapping = &registry.Mapping{TotalQueues: x.TotalQueues, Epoch: x.Epoch, Dirty: x.Dirty}
				for _, id := range x.IDs {
					mapping.CurrIDs = append(mapping.CurrIDs, registry.QueueID(id))
				}
			}
		}
		out[q.Broker] = queueFacts(registry.QueueSpec{
			ReadQueues: q.ReadQueues, WriteQueues: q.WriteQueues, Perm: q.Perm, SysFlag: q.SysFlag,
		}, mapping)
	}
	return out
}

func mappingOf(t *registry.Topic, broker string) *registry.Mapping {
	i := slices.IndexFunc(t.Mappings(), func(m *registry.Mapping) bool { return m.Broker == broker })
	if i < 0 {
		return nil
	}
	return t.Mappings()[i]
}

func queueFacts(q registry.QueueSpec, m *registry.Mapping) Facts {
	f := Facts{"readQueueNums": q.ReadQueues, "writeQueueNums": q.WriteQueues, "perm": q.Perm, "topicSysFlag": q.SysFlag}
	if m != nil {
		f["mappingTotalQueues"], f["mappingEpoch"], f["mapping"] = m.TotalQueues, m.Epoch, mappingText(m.CurrIDs)
	}
	return f
}

// mappingText writes pairs of logical and physical queues, such as "0:0 1:3".
func mappingText(ids []registry.QueueID) string {
	var b strings.Builder
	for i, id := range ids {
		if i > 0 {
			b.WriteByte(' ')
		}
		fmt.Fprintf(&b, "%d:%d", id.Logical, id.Physical)
	}
	return b.String()
}

// texts compares two tables of texts. With common, only what is in both.
func texts(here, there map[string]string, common bool, subject func(key string) Subject) (found []Difference) {
	for k, v := range here {
		w, ok := there[k]
		d := Difference{Subject: subject(k), Here: valueFacts(v)}
		switch {
		case !ok && common, ok && v == w:
			continue
		case !ok:
			d.How = OnlyHere
		default:
			d.How, d.There = Value, valueFacts(strings.Clone(w))
		}
		found = append(found, d)
	}
	if common {
		return found
	}
	for k, w := range there {
		if _, ok := here[k]; !ok {
			d := Difference{Subject: subject(strings.Clone(k)), There: valueFacts(strings.Clone(w))}
			d.How = OnlyThere
			found = append(found, d)
		}
	}
	return found
}

// namespaces returns those that are compared, in order.
func namespaces(s *registry.Snapshot) []string {
	list := s.KVNamespaces()
	list = slices.Clone(list[:min(len(list), maxNamespaces)])
	if !slices.Contains(list, registry.OrderNamespace) {
		list = append(list, registry.OrderNamespace)
	}
	return list
}

func sorted(names []string) []string {
	slices.Sort(names)
	return slices.Compact(names)
}

// in reports whether a sorted list has a name.
func in(list []string, name string) bool {
	_, ok := slices.BinarySearch(list, name)
	return ok
}
