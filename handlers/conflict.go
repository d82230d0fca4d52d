package handlers

import (
	"slices"

	"fingerpost/api"
	"fingerpost/registry"
)

// listConflicts answers what brokers are at odds about.
//
//	@Summary	What brokers are at odds about
//	@Description	Names in two clusters, registrations that were refused, brokers that take a place or an address from each other, and sign-offs that came too late to be followed. Each is remembered for an hour after it was last seen, and some hundreds at most; the latest come first. There are no pages.
//	@Tags	brokers
//	@Success	200	{object}	api.ConflictList	"the conflicts"
//	@Router	/api/v1/conflicts [get]
func (h *Handler) listConflicts(c *call) (reply, error) {
	var words []string
	for _, k := range registry.DisputeKinds() {
		words = append(words, k.String())
	}
	kinds, brokers := c.query.words("kind", words...), c.query.all("broker")
	onlyActive := c.query.choice("active", false)
	if err := c.query.err(); err != nil {
		return reply{}, err
	}
	var all []registry.Dispute
	all, c.snap = h.deps.Registry.Disputes()
	out := api.ConflictList{Revision: c.revision(c.snap.Revision), Items: []api.Conflict{}}
	for _, d := range all {
		if len(kinds) > 0 && !slices.Contains(kinds, d.Kind.String()) || len(brokers) > 0 && !slices.Contains(brokers, d.Broker) || onlyActive && !d.Active {
			continue
		}
		out.Items = append(out.Items, api.Conflict{
			Kind: d.Kind.String(), BrokerName: d.Broker, BrokerID: d.ID, ClusterName: d.Cluster, BrokerAddr: d.Addr, Against: d.Other,
			Code: d.Code, Detail: d.Detail, Active: d.Active, FirstAt: api.TimeOf(d.First), LastAt: api.TimeOf(d.Last), Count: d.Count,
		})
	}
	out.Total = len(out.Items)
	return reply{body: out, lines: seqOf(out.Items), text: func() []byte {
		tb := newTable("KIND", "BROKER", "ID", "CLUSTER", "ADDRESS", "AGAINST", "CODE", "COUNT", "LAST", "ACTIVE", "DETAIL")
		for i := range out.Items {
			x := &out.Items[i]
			tb.row(x.Kind, x.BrokerName, x.BrokerID, x.ClusterName, x.BrokerAddr, x.Against, x.Code, x.Count, x.LastAt, x.Active, x.Detail)
		}
		tb.note("revision %s  total %d", out.Revision, out.Total)
		return tb.bytes()
	}}, nil
}
