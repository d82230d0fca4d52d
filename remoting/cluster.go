package remoting

import (
	"slices"

	"fingerpost/registry"
	"fingerpost/remoting/wire"
)

// clusterInfo answers 106, which every 5.x broker asks every 5 s and drops its
// connection over if it waits longer than 3 s: it is encoded once for each change of
// the groups. Nodes of ours that compare themselves ask for digests besides.
func (c *conn) clusterInfo(req *wire.Command, a *answer) {
	s := c.srv.Registry.Snapshot()
	if req.Ext.Text(wire.FieldDigests).Present {
		d := s.Digests()
		a.ext.Set(wire.FieldEpoch, s.Epoch)
		a.ext.Set(wire.FieldTopicsDigest, d.Topics)
		a.ext.Set(wire.FieldKVDigest, d.KV)
	}
	a.body = s.GroupsMemo().Encoded(slotLegacy, func() []byte {
		var out wire.ClusterInfo
		for _, g := range s.Groups() {
			out.Brokers = append(out.Brokers, wire.BrokerData{
				Addrs: addrs(g.Members), Name: g.Name, Cluster: g.Cluster, EnableActingMaster: g.Acting, Zone: g.Zone, HasZone: g.HasZone,
			})
		}
		for _, name := range s.ClusterNames() {
			out.Clusters = append(out.Clusters, wire.Cluster{Name: name, Brokers: s.Clusters()[name]})
		}
		return out.AppendJSON(nil)
	})
}

// memberGroup answers 901 with the true ids. The cluster is repeated, not compared,
// and the success has the remark that Java forgets to take away.
func (c *conn) memberGroup(req *wire.Command, a *answer) {
	out := wire.MemberGroup{Cluster: req.Ext.Text(wire.FieldClusterName), Name: req.Ext.Text(wire.FieldBrokerName)}
	if g := c.srv.Registry.Snapshot().Group(out.Name.Value); g != nil {
		out.Addrs = addrs(g.Members)
	}
	a.remark, a.hasRemark = remarkUnset, true
	a.body = out.AppendJSON(nil)
}

// systemTopics answers 304: brokers make a topic named after each cluster and broker.
func (c *conn) systemTopics(_ *wire.Command, a *answer) {
	s := c.srv.Registry.Snapshot()
	out := wire.TopicList{Topics: slices.Clone(s.ClusterNames())}
	for _, g := range s.Groups() {
		if !out.BrokerAddr.Present {
			out.BrokerAddr = wire.TextOf(firstAddr(g))
		}
		if _, isCluster := s.Clusters()[g.Name]; !isCluster {
			out.Topics = append(out.Topics, g.Name)
		}
	}
	a.body = out.AppendJSON(nil)
}

// firstAddr is the address that tools then ask for the broker's own system topics.
func firstAddr(g *registry.Group) string { return g.Members[0].Addr }
