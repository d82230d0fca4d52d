package handlers

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"fingerpost/api"
	"fingerpost/internal/convert"
	"fingerpost/internal/peers"
)

// listPeers answers the other NameServers of the set.
//
//	@Summary	The other NameServers of the set
//	@Description	Whether each can be asked, what it holds, and on how much it differs from what is here.
//	@Tags	peers
//	@Success	200	{object}	api.PeerList	"the peers, none if none are configured"
//	@Router	/api/v1/peers [get]
func (h *Handler) listPeers(c *call) (reply, error) {
	all := h.deps.Peers.List()
	out := api.PeerList{Revision: c.revision(c.snap.Revision), Total: len(all), Items: make([]api.Peer, len(all))}
	if h.deps.Peers != nil {
		out.IntervalMillis = h.deps.Peers.Interval().Milliseconds()
	}
	for i := range all {
		out.Items[i] = peerOut(&all[i])
	}
	return reply{body: out, lines: seqOf(out.Items), text: func() []byte {
		tb := newPeerTable()
		for i := range out.Items {
			peerRow(tb, &out.Items[i])
		}
		if len(out.Items) == 0 {
			tb.note("no peers are configured: see the setting peers")
		}
		return tb.bytes()
	}}, nil
}

func newPeerTable() *table {
	return newTable("PEER", "STATE", "SOFTWARE", "BROKERS", "MEMBERS", "TOPICS", "DIFFERENCES", "PENDING", "CHECKED", "ERROR")
}

func peerRow(tb *table, p *api.Peer) {
	topics, checked := "", ""
	if p.TopicCount != nil {
		topics = itoa(*p.TopicCount)
	}
	if p.CheckedAt != nil { // it is nil until the first comparison
		checked = p.CheckedAt.String()
	}
	tb.row(p.Peer, p.State, p.Software, p.BrokerCount, p.MemberCount, topics, p.Differences, p.Pending, checked, p.LastError)
}

func peerOut(s *peers.Status) api.Peer {
	out := api.Peer{
		Peer: s.Addr, State: string(s.State), Since: api.TimeOf(s.Since), Software: s.Software, Version: s.Version,
		CheckedAt: api.TimeOf(s.CheckedAt), TookMillis: s.Took.Milliseconds(), LastError: s.LastError,
		ClusterCount: s.Clusters, BrokerCount: s.Brokers, MemberCount: s.Members,
		Differences: s.Differences(), ByKind: make(map[string]int), Pending: s.Pending,
		RoutesAsked: s.RoutesAsked, RoutesTotal: s.RoutesOf, RoutesCheckedAt: api.TimeOf(s.RoutesDone),
		Notes: append([]string{}, s.Notes...),
	}
	if s.Topics >= 0 && !s.CheckedAt.IsZero() {
		out.TopicCount = &s.Topics
	}
	for kind, n := range s.Counts {
		out.ByKind[string(kind)] = n
	}
	return out
}

// diffPeer answers on what a peer differs.
//
//	@Summary	On what a peer differs
//	@Description	What has been seen to differ twice, with both sides. Comparing changes nothing.
//	@Tags	peers
//	@Param	peer	path	string	true	"the peer's address"
//	@Success	200	{object}	api.PeerDiff	"the differences"
//	@Failure	403	{object}	api.Problem	"listing-disabled, forbidden, host-not-allowed"
//	@Failure	404	{object}	api.Problem	"peer-not-found"
//	@Router	/api/v1/peers/{peer}/diff [get]
func (h *Handler) diffPeer(c *call) (reply, error) {
	var kinds []string
	for _, k := range peers.Kinds() {
		kinds = append(kinds, string(k))
	}
	kinds = c.query.words("kind", kinds...)
	topics, brokers := c.query.all("topic"), c.query.all("broker")
	limit, after := c.query.number("limit", defaultLimit, 1, maxLimit), c.query.number("after", 0, 0, maxLimit*maxLimit)
	if err := c.query.err(); err != nil {
		return reply{}, err
	}
	r, err := c.peer()
	if err != nil {
		return reply{}, err
	}
	if err := c.mayList(); err != nil {
		return reply{}, err
	}
	out := api.PeerDiff{Revision: c.revision(c.snap.Revision), Peer: peerOut(&r.Status), Items: []api.PeerDifference{}}
	fits := func(patterns []string, name string) bool {
		return len(patterns) == 0 || slices.ContainsFunc(patterns, func(p string) bool { return convert.Match(p, name) })
	}
	for i := range r.Items {
		d := &r.Items[i]
		if len(kinds) > 0 && !slices.Contains(kinds, string(d.Kind)) || !fits(topics, d.Topic) || !fits(brokers, d.Broker) {
			continue
		}
		if out.Total++; out.Total > after && len(out.Items) < limit {
			out.Items = append(out.Items, differenceOut(d))
		}
	}
	if end := after + len(out.Items); end < out.Total {
		out.Next = itoa(end)
	}
	rep := c.listReply(out, out.Next, 0, seqOf(out.Items))
	rep.etag = "" // what differs has no revision
	rep.text = func() []byte { return diffText(&out) }
	return rep, nil
}

func differenceOut(d *peers.Difference) api.PeerDifference {
	out := api.PeerDifference{
		Kind: string(d.Kind), Topic: d.Topic, BrokerName: d.Broker, Difference: string(d.How),
		Here: d.Here, There: d.There, TopicCount: d.Topics, Since: api.TimeOf(d.Since),
	}
	switch d.Kind {
	case peers.KindMember:
		out.BrokerID = &d.ID
	case peers.KindKV:
		out.Namespace, out.Key = &d.Namespace, &d.Key
	case peers.KindSetting:
		out.Key = &d.Key
	case peers.KindBroker, peers.KindTopic, peers.KindRoute: // named already
	}
	return out
}

func diffText(out *api.PeerDiff) []byte {
	tb := newTable("KIND", "TOPIC", "BROKER", "ID", "KEY", "DIFFERENCE", "HERE", "THERE", "SINCE")
	facts := func(m map[string]any) []string {
		var all []string
		for _, k := range sortedKeys(m) {
			all = append(all, k+"="+string(trimLine(encodeJSON(m[k], false))))
		}
		return all
	}
	for _, d := range out.Items {
		id, key := "", ""
		if d.BrokerID != nil {
			id = strconv.FormatInt(*d.BrokerID, 10)
		}
		if d.Key != nil {
			key = *d.Key
		}
		if d.Namespace != nil {
			key = *d.Namespace + "/" + key
		}
		tb.row(d.Kind, d.Topic, d.BrokerName, id, key, d.Difference, facts(d.Here), facts(d.There), d.Since.String())
	}
	tb.note("peer %s %s  total %d  pending %d", out.Peer.Peer, out.Peer.State, out.Total, out.Peer.Pending)
	return tb.bytes()
}

func trimLine(b []byte) []byte { return b[:len(b)-1] }

// peer returns the report on the peer that the path names.
func (c *call) peer() (*peers.Report, error) {
	addr, err := c.part("peer")
	if err != nil {
		return nil, err
	}
	c.subject = addr
	r, ok := c.h.deps.Peers.Report(addr)
	if !ok {
		var known []string
		for _, s := range c.h.deps.Peers.List() {
			known = append(known, s.Addr)
		}
		p := refuse("peer-not-found", "No peer is configured at %s.", "没有配置地址为 %s 的节点。", addr)
		p.suggestions = nearest(addr, known)
		return nil, p
	}
	return r, nil
}

// checkWithin is how long a caller waits for a comparison: as long as a peer takes that
// answers each question at the last moment.
const checkWithin = 30 * time.Second

// checkPeer compares a peer now.
//
//	@Summary	Compare a peer now
//	@Description	Answers when the peer has been asked. A difference that is seen for the first time counts only when it is seen again, ten seconds later.
//	@Tags	peers
//	@Param	peer	path	string	true	"the peer's address"
//	@Success	200	{object}	api.Peer	"the peer"
//	@Failure	404	{object}	api.Problem	"peer-not-found"
//	@Router	/api/v1/peers/{peer}/check [post]
func (h *Handler) checkPeer(c *call) (reply, error) {
	r, err := c.peer()
	if err != nil {
		return reply{}, err
	}
	ctx, cancel := context.WithTimeout(c.context(), checkWithin)
	defer cancel()
	if err := h.deps.Peers.Check(ctx, r.Addr); err != nil {
		return reply{}, &problem{code: "overloaded", retryAfter: time.Second, cause: errors.Join(errors.New("compare a peer"), err)}
	}
	r, _ = h.deps.Peers.Report(r.Addr) // it is still there: peers do not change
	out := peerOut(&r.Status)
	return reply{body: out, text: func() []byte {
		tb := newPeerTable()
		peerRow(tb, &out)
		return tb.bytes()
	}}, nil
}
