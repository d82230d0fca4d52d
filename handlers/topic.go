package handlers

import (
	"slices"
	"strings"

	"fingerpost/api"
	"fingerpost/internal/auth"
	"fingerpost/internal/convert"
	"fingerpost/registry"
)

// topicFilter is what a list of topics can be narrowed by.
type topicFilter struct {
	nameFilter
	any                      bool
	clusters, brokers, types []string
	unit, unitSub            *bool
	perm                     int32
	messageTypes             []string
	stale                    *bool
}

func (c *call) topicFilter() topicFilter {
	f := topicFilter{
		nameFilter: c.nameFilter(), clusters: c.query.all("cluster"), brokers: c.query.all("broker"),
		types: c.query.words("type", convert.TopicTypes()...), perm: -1,
	}
	f.any = f.nameFilter.any() || len(f.clusters)+len(f.brokers)+len(f.types) > 0
	return f
}

// moreTopicFilter adds what only the list of topics itself takes.
func (c *call) moreTopicFilter(f *topicFilter) {
	f.unit, f.unitSub, f.stale = c.query.maybe("unit"), c.query.maybe("unitSub"), c.query.maybe("stale")
	f.perm = c.query.perm("perm")
	for _, m := range c.query.all("messageType") {
		f.messageTypes = append(f.messageTypes, strings.ToUpper(m))
	}
	f.any = f.any || f.unit != nil || f.unitSub != nil || f.stale != nil || f.perm >= 0 || len(f.messageTypes) > 0
}

// apply returns the names that fit, in their order.
func (f *topicFilter) apply(c *call, names []string) []string {
	if !f.any {
		return names
	}
	v := c.view()
	out := []string{}
	for _, n := range names {
		if f.nameFilter.fits(n) && f.fitsTopic(c, v, v.Snapshot.Topic(n)) {
			out = append(out, n)
		}
	}
	return out
}

func (f *topicFilter) fitsTopic(c *call, v *convert.View, t *registry.Topic) bool {
	qs := t.Queues()
	flag := qs[0].SysFlag // the first entry decides, as over remoting
	switch {
	case len(f.types) > 0 && !slices.Contains(f.types, v.TopicType(t.Name)),
		len(f.brokers) > 0 && !slices.ContainsFunc(f.brokers, func(b string) bool { _, ok := t.Queue(b); return ok }),
		len(f.clusters) > 0 && !slices.ContainsFunc(qs, func(q registry.QueueData) bool {
			return slices.Contains(f.clusters, v.Group(q.Broker).Cluster)
		}),
		f.unit != nil && *f.unit != (flag&registry.FlagUnit != 0),
		f.unitSub != nil && *f.unitSub != (flag&registry.FlagUnitSub != 0),
		f.perm >= 0 && !slices.ContainsFunc(qs, func(q registry.QueueData) bool { return q.Perm == f.perm }),
		len(f.messageTypes) > 0 && !slices.Contains(f.messageTypes, v.MessageType(t)),
		f.stale != nil && *f.stale != (len(c.h.stale.reasons(c.snap, t.Name)) > 0):
		return false
	}
	return true
}

// mayList refuses lists of topics that the settings hide from those who show no credential.
func (c *call) mayList() error {
	rules := c.snap.Rules()
	if c.who.Name != auth.AnonymousName || rules.EnableAllTopicList && rules.EnableTopicList {
		return nil
	}
	p := refuse("listing-disabled", "Lists of topics are for callers with a credential here.", "此处的 Topic 列表仅供已认证的调用者。")
	p.remoting = remotingError
	return p
}

// listTopics answers the topics.
//
//	@Summary	Topics
//	@Description	[206, 224, 304, 311, 312, 313]
//	@Tags	topics
//	@Success	200	{object}	api.TopicList	"the topics"
//	@Failure	403	{object}	api.Problem	"listing-disabled, forbidden, host-not-allowed"
//	@Router	/api/v1/topics [get]
func (h *Handler) listTopics(c *call) (reply, error) {
	if err := c.mayList(); err != nil {
		return reply{}, err
	}
	f := c.topicFilter()
	c.moreTopicFilter(&f)
	sort := c.query.word("sort", "topic", "-topic", "updatedAt", "-updatedAt")
	pg := page{limit: c.query.number("limit", defaultLimit, 1, maxLimit), after: c.query.one("after"), desc: sort == "-topic"}
	var from cursor
	if byTime := strings.HasSuffix(sort, "updatedAt"); byTime && pg.after != "" {
		from = c.query.cursor(pg.after)
	}
	if err := c.query.err(); err != nil {
		return reply{}, err
	}
	names := f.apply(c, c.snap.TopicNames())
	part, next := c.topicPage(names, sort, pg, from)
	return c.topicList(part, len(names), next), nil
}

// topicPage cuts the page out of the names in the order that is asked for.
func (c *call) topicPage(names []string, sort string, pg page, from cursor) (part []string, next string) {
	if !strings.HasSuffix(sort, "updatedAt") {
		return pg.cut(names)
	}
	at := func(name string) cursor { return cursor{c.snap.Topic(name).ChangedMillis, name} }
	order := func(a, b cursor) int {
		if a.Value != b.Value {
			if (a.Value < b.Value) != (sort[0] == '-') {
				return -1
			}
			return 1
		}
		return strings.Compare(a.Name, b.Name)
	}
	names = slices.Clone(names)
	slices.SortFunc(names, func(a, b string) int { return order(at(a), at(b)) })
	if pg.after != "" {
		first := slices.IndexFunc(names, func(n string) bool { return order(at(n), from) > 0 })
		if first < 0 {
			return nil, ""
		}
		names = names[first:]
	}
	if len(names) > pg.limit {
		return names[:pg.limit], at(names[pg.limit-1]).String()
	}
	return names, ""
}

func (c *call) topicList(part []string, total int, next string) reply {
	v, leftovers := c.view(), c.h.stale.tag(c.snap)
	out := api.TopicList{Revision: v.At(), Total: total, Items: make([]api.TopicSummary, 0, len(part)), Next: next}
	for _, n := range part {
		out.Items = append(out.Items, v.TopicSummary(v.Snapshot.Topic(n), c.h.stale.reasons(c.snap, n)))
	}
	rep := c.listReply(out, next, max(c.snap.TopicsRevision(), c.snap.MembersRevision()), seqOf(out.Items))
	rep.etag += leftovers
	rep.keys = []hubKey{waitFor(keyTopics, ""), waitFor(keyMembers, "")}
	rep.text = func() []byte {
		tb := newTable("TOPIC", "TYPE", "MESSAGE", "CLUSTERS", "BROKERS", "READ", "WRITE", "PERM", "ORDER", "STALE", "UPDATED")
		for _, t := range out.Items {
			perm := t.PermText
			if t.PermMixed {
				perm += "*"
			}
			tb.row(t.Topic, t.Type, t.MessageType, t.Clusters, t.BrokerCount, t.ReadQueueNums, t.WriteQueueNums, perm, t.Order, t.Stale, t.UpdatedAt)
		}
		tb.note("revision %s  total %d  shown %d", out.Revision, out.Total, len(out.Items))
		if next != "" {
			tb.note("next page: after=%s", next)
		}
		return tb.bytes()
	}
	return c.trimmed(rep)
}

// getTopic answers one topic with each broker's part.
//
//	@Summary	One topic with each broker's part
//	@Tags	topics
//	@Param	topic	path	string	true	"the topic; % is written %25"
//	@Success	200	{object}	api.Topic	"the topic"
//	@Failure	404	{object}	api.Problem	"topic-not-found"
//	@Router	/api/v1/topics/{topic} [get]
func (h *Handler) getTopic(c *call) (reply, error) {
	topic, err := c.part("topic")
	if err != nil {
		return reply{}, err
	}
	t := c.snap.Topic(topic)
	if t == nil {
		return reply{}, c.noTopic(topic)
	}
	v := c.view()
	out := v.Topic(t, h.stale.reasons(c.snap, topic))
	rep := reply{body: out, etag: c.revision(max(t.Revision, c.snap.RouteOf(t).Revision)), keys: []hubKey{waitFor(keyTopic, topic)}}
	for _, r := range out.Stale {
		rep.etag += "-" + r // comes with time alone
	}
	for _, p := range out.Brokers {
		rep.keys = append(rep.keys, waitFor(keyBroker, p.BrokerName))
	}
	rep.text = func() []byte {
		tb := newTable("BROKER", "CLUSTER", "READ", "WRITE", "PERM", "REGISTERED", "FLAG", "ORDER")
		for _, p := range out.Brokers {
			tb.row(p.BrokerName, p.ClusterName, p.ReadQueueNums, p.WriteQueueNums, p.PermText, convert.PermText(p.RegisteredPerm), p.TopicSysFlag, p.Order)
		}
		tb.note("topic %s  type %s  message %s  updated %s  revision %s  digest %s", cell(out.Topic), out.Type, out.MessageType, out.UpdatedAt, out.Revision, out.Digest)
		return tb.bytes()
	}
	return rep, nil
}

// listBrokerTopics answers the topics that a broker serves.
//
//	@Summary	Topics of a broker
//	@Tags	brokers
//	@Param	brokerName	path	string	true	"the broker name"
//	@Success	200	{object}	api.BrokerTopicList	"its topics"
//	@Failure	403	{object}	api.Problem	"listing-disabled, forbidden, host-not-allowed"
//	@Failure	404	{object}	api.Problem	"broker-not-found"
//	@Router	/api/v1/brokers/{brokerName}/topics [get]
func (h *Handler) listBrokerTopics(c *call) (reply, error) {
	g, err := c.group()
	if err != nil {
		return reply{}, err
	}
	if err := c.mayList(); err != nil {
		return reply{}, err
	}
	f, pg := c.nameFilter(), c.page("topic")
	if err := c.query.err(); err != nil {
		return reply{}, err
	}
	names := []string{}
	for t := range c.snap.BrokerTopics(g.Name) {
		if f.fits(t.Name) {
			names = append(names, t.Name)
		}
	}
	slices.Sort(names)
	part, next := pg.cut(names)
	v := c.view()
	out := api.BrokerTopicList{Revision: v.At(), Total: len(names), Items: make([]api.BrokerTopic, 0, len(part)), Next: next}
	for _, n := range part {
		q, _ := v.Snapshot.Topic(n).Queue(g.Name)
		out.Items = append(out.Items, api.BrokerTopic{Topic: n, TopicPart: v.TopicPart(n, q)})
	}
	rep := c.listReply(out, next, max(c.snap.TopicsRevision(), g.Revision), seqOf(out.Items))
	rep.keys = []hubKey{waitFor(keyTopics, ""), waitFor(keyBroker, g.Name)}
	rep.text = func() []byte {
		tb := newTable("TOPIC", "READ", "WRITE", "PERM", "REGISTERED", "FLAG")
		for _, t := range out.Items {
			tb.row(t.Topic, t.ReadQueueNums, t.WriteQueueNums, t.PermText, convert.PermText(t.RegisteredPerm), t.TopicSysFlag)
		}
		tb.note("broker %s  revision %s  total %d", cell(g.Name), out.Revision, out.Total)
		return tb.bytes()
	}
	return rep, nil
}
