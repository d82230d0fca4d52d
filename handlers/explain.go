package handlers

import (
	"slices"
	"strings"

	"fingerpost/api"
	"fingerpost/internal/convert"
	"fingerpost/registry"
)

// explainRoute answers why the route of a topic is as it is.
//
//	@Summary	Why a route is as it is
//	@Description	For each broker whether clients are told of it, what it registered, who wiped its write permission, and who left lately.
//	@Tags	routes
//	@Param	topic	path	string	true	"the topic; % is written %25"
//	@Success	200	{object}	api.Explanation	"the reasons"
//	@Failure	404	{object}	api.Problem	"topic-not-found"
//	@Router	/api/v1/topics/{topic}/route/explain [get]
func (h *Handler) explainRoute(c *call) (reply, error) {
	topic, err := c.part("topic")
	if err != nil {
		return reply{}, err
	}
	zone := c.query.one("zone")
	if err := c.query.err(); err != nil {
		return reply{}, err
	}
	t := c.snap.Topic(topic)
	if t == nil {
		return reply{}, c.noTopic(topic)
	}
	out := c.explanation(t, zone)
	return reply{body: out, text: func() []byte {
		tb := newTable("BROKER", "IN-ROUTE", "PERM", "REGISTERED", "READ", "WRITE", "MEMBERS", "NOTES")
		for _, b := range out.Brokers {
			var members, notes []string
			for _, m := range slices.Concat(b.Members, b.Gone) {
				members = append(members, itoa(int(m.BrokerID))+":"+m.State)
			}
			for _, n := range b.Notes {
				notes = append(notes, n.Code)
			}
			tb.row(b.BrokerName, b.InRoute, convert.PermText(b.Perm), convert.PermText(b.RegisteredPerm), b.ReadQueueNums, b.WriteQueueNums, members, notes)
		}
		for _, n := range out.Notes {
			tb.note("%s: %s", n.Code, n.Detail)
		}
		for _, b := range out.Brokers {
			for _, n := range b.Notes {
				tb.note("%s %s: %s", cell(b.BrokerName), n.Code, n.Detail)
			}
		}
		return tb.bytes()
	}}, nil
}

func (c *call) explanation(t *registry.Topic, zone string) api.Explanation {
	v := c.view()
	rules := c.snap.Rules()
	route := c.snap.RouteOf(t)
	out := api.Explanation{Topic: t.Name, Revision: v.At(), ActingMasterAllowed: rules.SupportActingMaster, Brokers: []api.BrokerExplanation{}, Notes: []api.Note{}}
	if zone != "" {
		out.Zone = &zone
		route = route.ForZone(zone)
	}
	if e, ok := c.snap.KV(registry.OrderNamespace, t.Name); ok {
		out.OrderConf = api.OrderExplanation{Set: true, Value: e.Value, Carried: rules.OrderMessageEnable}
		if !rules.OrderMessageEnable {
			out.Notes = append(out.Notes, c.warn("order-conf-not-carried", "The topic has an order configuration, but orderMessageEnable is off.", "该 Topic 有顺序配置，但 orderMessageEnable 已关闭。"))
		}
	}
	gone := c.gone(v)
	for _, q := range t.Queues() {
		b := c.explainBroker(v, t, q, route, zone)
		b.Gone = slices.DeleteFunc(slices.Clone(gone), func(m api.Member) bool { return m.BrokerName != q.Broker })
		if b.InRoute {
			if q.Writable() {
				out.WritableQueues += int(q.WriteQueues)
			}
			if q.Readable() {
				out.ReadableQueues += int(q.ReadQueues)
			}
		}
		out.Brokers = append(out.Brokers, b)
	}
	if out.WritableQueues == 0 {
		out.Notes = append(out.Notes, c.warn("nothing-writable", "Producers find no queue to write to.", "生产者没有可写的队列。"))
	}
	if in := c.snap.Withheld(t); in > 0 {
		out.Notes = append(out.Notes, c.warn("not-ready", "Routes are not answered for another %s.", "还需 %s 才开始提供路由。", in))
	}
	return out
}

func (c *call) explainBroker(v *convert.View, t *registry.Topic, q registry.QueueData, route *registry.Route, zone string) api.BrokerExplanation {
	g := c.snap.Group(q.Broker)
	part := v.TopicPart(t.Name, q)
	out := api.BrokerExplanation{
		BrokerName: g.Name, ClusterName: g.Cluster, Perm: q.Perm, RegisteredPerm: part.RegisteredPerm,
		ReadQueueNums: q.ReadQueues, WriteQueueNums: q.WriteQueues, Members: []api.Member{}, Notes: []api.Note{},
	}
	for _, m := range g.Members {
		out.Members = append(out.Members, v.Member(g, m))
	}
	note := func(code, en, zh string, args ...any) { out.Notes = append(out.Notes, c.warn(code, en, zh, args...)) }
	i := slices.IndexFunc(route.Brokers, func(b registry.RouteBroker) bool { return b.Name == g.Name })
	switch out.InRoute = i >= 0; {
	case !out.InRoute:
		note("zone-filtered", "It is in another zone than %s and has a master.", "它不在 %s 区且有主节点。", zone)
	case route.Brokers[i].ActingID != 0:
		out.ActingMasterID = &route.Brokers[i].ActingID
		note("acting-master", "There is no master; slave %d is shown as id 0.", "没有主节点；从节点 %d 以 id 0 出现。", route.Brokers[i].ActingID)
	case !g.HasMaster():
		note("no-master", "There is no master, so producers do not write to it.", "没有主节点，生产者不会写入。")
	}
	if zone != "" && out.InRoute && !(g.HasZone && strings.EqualFold(g.Zone, zone)) {
		note("zone-without-master", "It is in another zone, but without a master it is shown everywhere.", "它在其他区，但没有主节点，因此对所有区可见。")
	}
	if w := c.snap.Wiped(g.Name); w != nil {
		out.WipedBy = v.WritePermCause(w)
		if !q.Writable() && part.RegisteredPerm&registry.PermWrite != 0 {
			note("write-perm-wiped", "Its write permission was taken by %s over %s, until its next changed registration.", "其写权限已由 %s 通过 %s 摘除，直到下一次有变化的注册。", w.Cause.Actor, w.Cause.Face)
		}
	} else if !q.Writable() && part.RegisteredPerm&registry.PermWrite == 0 {
		note("registered-read-only", "The broker registered the topic without write permission.", "Broker 注册该 Topic 时没有写权限。")
	}
	if slices.ContainsFunc(out.Members, func(m api.Member) bool { return m.State == convert.StateLate }) {
		note(convert.ProblemLate, "A member has not been heard of for more than half of its time.", "有成员超过一半存活时间未上报。")
	}
	if part.Unconfirmed {
		note("part-unconfirmed", "It is known from before the server's restart; the broker has not said it again yet.", "这是服务器重启前所知的内容；Broker 尚未重新确认。")
	}
	return out
}
