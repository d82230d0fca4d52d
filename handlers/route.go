package handlers

import (
	"slices"
	"strconv"

	"fingerpost/api"
	"fingerpost/internal/convert"
	"fingerpost/registry"
)

// Slots of the memos in the registry that this face uses: a route's bytes with their
// final newline, and its ETag.
const (
	slotRoute    = 2
	slotRouteTag = 3
)

// getRoute answers where the messages of a topic go.
//
//	@Summary	Where the messages of a topic go
//	@Description	RocketMQ's TopicRouteData, byte for byte what a client of 5.x gets over remoting [105].
//	@Tags	routes
//	@Param	topic	path	string	true	"the topic; % is written %25"
//	@Success	200	{object}	api.TopicRoute	"the route"
//	@Failure	404	{object}	api.Problem	"topic-not-found"
//	@Failure	503	{object}	api.Problem	"name-server-not-ready, overloaded"
//	@Router	/api/v1/topics/{topic}/route [get]
func (h *Handler) getRoute(c *call) (reply, error) {
	topic, err := c.part("topic")
	if err != nil {
		return reply{}, err
	}
	t, rt, err := c.routeOf(topic)
	if err != nil {
		return reply{}, err
	}
	if len(c.query.values) > 0 {
		if rt, err = c.shapeRoute(t, rt); err != nil {
			return reply{}, err
		}
	}
	return c.routeReply(t, rt), nil
}

// routeOf finds a topic and its route as clients get it.
func (c *call) routeOf(topic string) (*registry.Topic, *registry.Route, error) {
	t := c.snap.Topic(topic)
	if in := c.snap.Withheld(t); in > 0 {
		p := refuse("name-server-not-ready", "Routes are answered in %s.", "%s 后开始提供路由。", in)
		p.retryAfter, p.remoting = in, remotingError
		return nil, nil, p
	}
	if t == nil {
		return nil, nil, c.noTopic(topic)
	}
	return t, c.snap.RouteOf(t), nil
}

// shapeRoute applies the parameters that shape a route.
func (c *call) shapeRoute(t *registry.Topic, rt *registry.Route) (*registry.Route, error) {
	if c.query.word("actingMaster", "auto", "off") == "off" {
		rt = c.snap.RouteWithoutActing(t)
	}
	if zone := c.query.one("zone"); zone != "" {
		rt = rt.ForZone(zone)
	}
	return rt, c.query.err()
}

func (c *call) routeReply(t *registry.Topic, rt *registry.Route) reply {
	rep := reply{
		raw:  rt.Memo.Encoded(slotRoute, func() []byte { return append(convert.AppendRoute(nil, rt), '\n') }),
		text: func() []byte { return c.routeTable(t, rt) },
	}
	tag := rt.Memo.Encoded(slotRouteTag, func() []byte {
		return []byte(`"` + c.snap.Epoch + "." + convert.Digest(rep.raw) + `"`)
	})
	quoted := string(tag)
	rep.etag, rep.quoted = quoted[1:len(quoted)-1], []string{quoted}
	if c.query.has(paramWait) {
		rep.keys = append(rep.keys, waitFor(keyTopic, t.Name))
		for _, q := range t.Queues() {
			rep.keys = append(rep.keys, waitFor(keyBroker, q.Broker))
		}
	}
	return rep
}

// routeTable is a route for people: a line for each address.
func (c *call) routeTable(t *registry.Topic, rt *registry.Route) []byte {
	v := c.view()
	tb := newTable("BROKER", "CLUSTER", "ZONE", "PERM", "WRITE", "READ", "ID", "ROLE", "ADDRESS", "STATE", "LEFT")
	writable := 0
	for i, b := range rt.Brokers {
		q := rt.Queues[i]
		if q.Writable() {
			writable += int(q.WriteQueues)
		}
		g := v.Group(b.Name)
		for _, m := range b.Addrs {
			own := slices.IndexFunc(g.Members, func(x registry.Member) bool { return x.Addr == m.Addr && x.Cluster == m.Cluster })
			is := v.Member(g, g.Members[own])
			tb.row(b.Name, b.Cluster, b.Zone, convert.PermText(q.Perm), q.WriteQueues, q.ReadQueues, m.ID, is.Role, m.Addr, is.State, left(is.LeftMillis))
		}
	}
	tb.note("topic %s  revision %s  digest %s  writable queues %d", cell(t.Name), v.At(), v.RouteDigest(t)[:6], writable)
	return tb.bytes()
}

// noTopic is the answer for a topic that nobody serves.
func (c *call) noTopic(topic string) error {
	p := refuse("topic-not-found", "No broker has registered topic %s.", "没有 Broker 注册 Topic %s。", topic)
	p.remoting = remotingTopicNotExist
	if c.mayList() != nil {
		return p // what may not be listed is not proposed either
	}
	if near := nearest(topic, c.snap.TopicNames()); len(near) > 0 {
		p.suggestions = near
		p.detail.en += " Did you mean " + near[0] + "?"
		p.detail.zh += "是否想查 " + near[0] + "？"
	}
	return p
}

// listRoutes answers many routes at once. Asking for all of them has to be said.
//
//	@Summary	Many routes at once
//	@Description	Name topics, or select them by a filter; all of them together are not answered. Topics that nobody serves are in notFound.
//	@Tags	routes
//	@Success	200	{object}	api.RouteList	"the routes"
//	@Failure	403	{object}	api.Problem	"listing-disabled, forbidden, host-not-allowed"
//	@Failure	503	{object}	api.Problem	"name-server-not-ready, overloaded"
//	@Router	/api/v1/routes [get]
func (h *Handler) listRoutes(c *call) (reply, error) {
	f := c.topicFilter()
	asked := c.query.all("topic")
	zone, acting := c.query.one("zone"), c.query.word("actingMaster", "auto", "off")
	if len(asked) == 0 && !f.any && c.query.err() == nil {
		return reply{}, refuse("validation-failed", "Name the topics, or some of prefix, match, cluster, broker and type.",
			"请指定 topic，或 prefix、match、cluster、broker、type 之一。")
	}
	pg := c.page("topic")
	if err := c.query.err(); err != nil {
		return reply{}, err
	}
	if len(asked) == 0 {
		if err := c.mayList(); err != nil {
			return reply{}, err
		}
	}
	if len(asked) > maxBatchTopics {
		return reply{}, refuse("validation-failed", "At most %d topics can be asked for at once.", "一次最多查询 %d 个 Topic。", maxBatchTopics)
	}
	names, missing := c.snap.TopicNames(), []string{}
	if len(asked) > 0 {
		names, missing = c.present(asked)
	}
	return c.routeList(f.apply(c, names), missing, zone, acting == "off", pg)
}

// maxBatchTopics is how many topics one question may name.
const maxBatchTopics = 1000

// present sorts the names asked for into those that are there, each once and in order,
// and those that are not.
func (c *call) present(asked []string) (there, missing []string) {
	asked = slices.Compact(slices.Sorted(slices.Values(asked)))
	missing = []string{}
	for _, name := range asked {
		if c.snap.Topic(name) != nil {
			there = append(there, name)
		} else {
			missing = append(missing, name)
		}
	}
	return there, missing
}

// queryRoutes is listRoutes for names that are too many for a URL.
//
//	@Summary	Many routes by name
//	@Description	For lists of names that are too long for a URL: at most 1000.
//	@Tags	routes
//	@Param	body	body	api.RouteQuery	true	"the names"
//	@Success	200	{object}	api.RouteList	"the routes"
//	@Failure	503	{object}	api.Problem	"name-server-not-ready, overloaded"
//	@Router	/api/v1/routes/query [post]
func (h *Handler) queryRoutes(c *call) (reply, error) {
	q, err := decode[api.RouteQuery](c, h.limits.BatchBody)
	if err != nil {
		return reply{}, err
	}
	names, missing := c.present(q.Topics)
	zone := ""
	if q.Zone != nil {
		zone = *q.Zone
	}
	return c.routeList(names, missing, zone, q.ActingMaster == "off", page{limit: maxBatchTopics})
}

func (c *call) routeList(names, missing []string, zone string, trueIDs bool, pg page) (reply, error) {
	if _, _, err := c.routeOf(""); err != nil && problemOf(err).code == "name-server-not-ready" {
		return reply{}, err
	}
	v := c.view()
	part, next := pg.cut(names)
	out := api.RouteList{Revision: v.At(), Total: len(names), Items: make([]api.NamedRoute, 0, len(part)), Next: next, NotFound: missing}
	for _, name := range part {
		t := c.snap.Topic(name)
		rt := c.snap.RouteOf(t)
		if trueIDs {
			rt = c.snap.RouteWithoutActing(t)
		}
		if zone != "" {
			rt = rt.ForZone(zone)
		}
		out.Items = append(out.Items, api.NamedRoute{Topic: name, Digest: v.RouteDigest(t), Route: convert.Route(rt)})
	}
	rep := c.listReply(out, next, c.snap.Revision, seqOf(out.Items))
	rep.keys = []hubKey{waitFor(keyAll, "")}
	rep.text = func() []byte {
		tb := newTable("TOPIC", "BROKER", "CLUSTER", "PERM", "WRITE", "READ", "ADDRESSES", "DIGEST")
		for _, it := range out.Items {
			for i, b := range it.Route.BrokerDatas {
				q := it.Route.QueueDatas[i]
				tb.row(it.Topic, b.BrokerName, b.Cluster, convert.PermText(q.Perm), q.WriteQueueNums, q.ReadQueueNums, addresses(b.BrokerAddrs), it.Digest[:6])
			}
		}
		for _, name := range missing {
			tb.note("not found %s", cell(name))
		}
		tb.note("revision %s  total %d", out.Revision, out.Total)
		return tb.bytes()
	}
	return rep, nil
}

// addresses writes a group's addresses as id=address, by id.
func addresses(m map[string]string) []string {
	ids := make([]int64, 0, len(m))
	for id := range m {
		n, _ := strconv.ParseInt(id, 10, 64) // written by us
		ids = append(ids, n)
	}
	slices.Sort(ids)
	out := make([]string, len(ids))
	for i, id := range ids {
		k := strconv.FormatInt(id, 10)
		out[i] = k + "=" + m[k]
	}
	return out
}
