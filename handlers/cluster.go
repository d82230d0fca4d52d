package handlers

import (
	"fingerpost/api"
)

// listClusters answers the clusters.
//
//	@Summary	Clusters
//	@Description	[106]
//	@Tags	brokers
//	@Success	200	{object}	api.ClusterList	"the clusters"
//	@Router	/api/v1/clusters [get]
func (h *Handler) listClusters(c *call) (reply, error) {
	f, pg := c.nameFilter(), c.page("clusterName")
	if err := c.query.err(); err != nil {
		return reply{}, err
	}
	names := []string{}
	for _, n := range c.snap.ClusterNames() {
		if f.fits(n) {
			names = append(names, n)
		}
	}
	part, next := pg.cut(names)
	v := c.view()
	out := api.ClusterList{Revision: v.At(), Total: len(names), Items: make([]api.Cluster, 0, len(part)), Next: next}
	for _, n := range part {
		out.Items = append(out.Items, v.Cluster(n, c.snap.Clusters()[n]))
	}
	rep := c.listReply(out, next, max(c.snap.MembersRevision(), c.snap.TopicsRevision()), seqOf(out.Items))
	rep.weak, rep.keys = true, []hubKey{waitFor(keyMembers, ""), waitFor(keyTopics, "")}
	rep.text = func() []byte {
		tb := newTable("CLUSTER", "BROKERS", "MEMBERS", "MASTERS", "TOPICS", "ZONES", "HEALTH", "NAMES")
		for _, x := range out.Items {
			tb.row(x.ClusterName, len(x.BrokerNames), x.MemberCount, x.MasterCount, x.TopicCount, x.Zones, x.Health, x.BrokerNames)
		}
		tb.note("revision %s  total %d", out.Revision, out.Total)
		return tb.bytes()
	}
	return c.trimmed(rep), nil
}

// getCluster answers one cluster.
//
//	@Summary	One cluster
//	@Tags	brokers
//	@Param	cluster	path	string	true	"the cluster"
//	@Success	200	{object}	api.Cluster	"the cluster"
//	@Failure	404	{object}	api.Problem	"cluster-not-found"
//	@Router	/api/v1/clusters/{cluster} [get]
func (h *Handler) getCluster(c *call) (reply, error) {
	name, err := c.part("cluster")
	if err != nil {
		return reply{}, err
	}
	brokers := c.snap.Clusters()[name]
	if brokers == nil {
		return reply{}, c.noCluster(name)
	}
	v := c.view()
	out := v.Cluster(name, brokers)
	return reply{
		body: out, etag: c.revision(max(c.snap.MembersRevision(), c.snap.TopicsRevision())), weak: true,
		keys: []hubKey{waitFor(keyMembers, ""), waitFor(keyTopics, "")},
		text: func() []byte {
			tb := memberTable()
			for _, b := range brokers {
				set := v.BrokerSet(v.Group(b))
				for i := range set.Members {
					memberRow(tb, &set.Members[i])
				}
			}
			for _, p := range out.Problems {
				tb.note("problem %s: %s", cell(p.BrokerName), p.Code)
			}
			return tb.bytes()
		},
	}, nil
}

func (c *call) noCluster(name string) error {
	p := refuse("cluster-not-found", "No registered broker names cluster %s.", "没有已注册的 Broker 属于集群 %s。", name)
	p.suggestions, p.remoting = nearest(name, c.snap.ClusterNames()), remotingNotFound
	return p
}

// getClusterInfo answers RocketMQ's ClusterInfo, for tools that expect it.
//
//	@Summary	RocketMQ's ClusterInfo
//	@Description	[106] In standard JSON, for tools that expect it.
//	@Tags	brokers
//	@Success	200	{object}	api.ClusterInfo	"the tables"
//	@Router	/api/v1/cluster-info [get]
func (h *Handler) getClusterInfo(c *call) (reply, error) {
	return reply{body: c.view().ClusterInfo(), etag: c.revision(c.snap.MembersRevision()), keys: []hubKey{waitFor(keyMembers, "")}}, nil
}
