package remoting

import (
	"slices"
	"strings"

	"fingerpost/registry"
	"fingerpost/remoting/wire"
)

// Slots of the memos in the registry that this face uses.
const (
	slotStrict = 0
	slotLegacy = 1
)

// fastRoute answers a plain route request without decoding or allocating anything,
// and reports whether it could.
func (c *conn) fastRoute(f wire.Frame) bool {
	q := &c.route
	if !c.noted || !q.ReadRouteRequest(f) || q.Flag&(wire.FlagResponse|wire.FlagOneway) != 0 || q.ZoneMode != nil || c.srv.away.Load() != awayNobody {
		return false
	}
	c.last = int32(wire.GetRouteInfoByTopic)
	rt, err := c.srv.Registry.Snapshot().Route(q.Topic)
	if err != nil {
		if registry.KindOf(err) != registry.TopicNotFound || !printable(q.Topic) {
			return false
		}
		c.out.b = c.srv.templates.noRoute.appendMiss(c.out.b, q.Opaque, q.Topic)
		c.batch.misses++
		return true
	}
	d := wire.Legacy
	if q.AcceptStrictJSON || q.Version.ReadsStrictJSON() {
		d = wire.Strict
	}
	c.out.b = c.srv.templates.success.appendSuccess(c.out.b, q, encodedRoute(rt, d))
	c.batch.hits++
	return true
}

// printable reports whether the bytes stand for themselves in a JSON text.
func printable(b []byte) bool {
	for _, c := range b {
		if c < 0x20 || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

func encodedRoute(rt *registry.Route, d wire.Dialect) []byte {
	slot := slotLegacy
	if d == wire.Strict {
		slot = slotStrict
	}
	if b := rt.Memo.Peek(slot); b != nil {
		return b
	}
	return rt.Memo.Encoded(slot, func() []byte { return appendRoute(nil, rt, d) })
}

// routeOfTopic answers 105 in full: any header, any fields, the zone filter.
func (c *conn) routeOfTopic(req *wire.Command, a *answer) {
	topic := req.Ext.Text(wire.FieldTopic)
	rt, err := c.srv.Registry.Snapshot().Route([]byte(topic.Value))
	switch {
	case err != nil && registry.KindOf(err) == registry.TopicNotFound:
		name := topic.Value
		if !topic.Present {
			name = "null"
		}
		a.fail(wire.TopicNotExist, remarkNoRoute+name+remarkNoRouteHelp)
		c.batch.misses++
		return
	case err != nil:
		c.refuse(a, err)
		return
	}
	c.batch.hits++
	d := wire.Legacy
	if req.Ext.Bool(wire.FieldAcceptStrictJSON).Value || req.Version.ReadsStrictJSON() {
		d = wire.Strict
	}
	zone := req.Ext.Text(wire.FieldZoneName).Value
	if req.Ext.Bool(wire.FieldZoneMode).Value && strings.TrimSpace(zone) != "" {
		a.body = appendRoute(nil, rt.ForZone(zone), d)
		return
	}
	a.body = encodedRoute(rt, d)
}

// appendRoute encodes a route. It allocates what it hands to the encoder; its result
// is remembered.
func appendRoute(dst []byte, rt *registry.Route, d wire.Dialect) []byte {
	out := wire.Route{
		OrderTopicConf: rt.OrderConf, HasOrderTopicConf: rt.HasOrder, HasMappings: rt.Mappings != nil,
		Brokers: make([]wire.BrokerData, 0, len(rt.Brokers)), Queues: make([]wire.QueueData, 0, len(rt.Queues)),
	}
	for _, b := range rt.Brokers {
		out.Brokers = append(out.Brokers, wire.BrokerData{
			Addrs: addrs(b.Addrs), Name: b.Name, Cluster: b.Cluster, EnableActingMaster: b.Acting, Zone: b.Zone, HasZone: b.HasZone,
		})
		for _, m := range b.Addrs {
			if m.Filters != nil {
				out.FilterServers = append(out.FilterServers, wire.FilterServers{Addr: m.Addr, Servers: m.Filters})
			}
		}
	}
	for _, q := range rt.Queues {
		out.Queues = append(out.Queues, wire.QueueData{
			Broker: q.Broker, ReadQueues: q.ReadQueues, WriteQueues: q.WriteQueues, Perm: q.Perm, SysFlag: q.SysFlag,
		})
	}
	for _, m := range rt.Mappings {
		out.Mappings = append(out.Mappings, wireMapping(m))
	}
	return slices.Clip(out.AppendJSON(dst, d))
}

func addrs(ms []registry.Member) []wire.BrokerAddr {
	out := make([]wire.BrokerAddr, len(ms))
	for i, m := range ms {
		out[i] = wire.BrokerAddr{ID: m.ID, Addr: m.Addr}
	}
	return out
}

func wireMapping(m *registry.Mapping) wire.TopicMapping {
	out := wire.TopicMapping{
		Topic: m.Said, Broker: m.Broker, Scope: m.Scope, HasScope: m.HasScope,
		Epoch: m.Epoch, TotalQueues: m.TotalQueues, Dirty: m.Dirty,
	}
	for _, q := range m.CurrIDs {
		out.IDs = append(out.IDs, wire.QueueID(q))
	}
	return out
}

func registryMapping(topic string, m *wire.TopicMapping) *registry.Mapping {
	out := &registry.Mapping{
		Topic: topic, Said: m.Topic, Broker: strings.Clone(m.Broker), Scope: strings.Clone(m.Scope), HasScope: m.HasScope,
		Epoch: m.Epoch, TotalQueues: m.TotalQueues, Dirty: m.Dirty,
	}
	if m.Topic != topic {
		out.Said = strings.Clone(m.Topic)
	}
	for _, q := range m.IDs {
		out.CurrIDs = append(out.CurrIDs, registry.QueueID(q))
	}
	return out
}
