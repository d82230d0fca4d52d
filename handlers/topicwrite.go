package handlers

import (
	"net/http"

	"fingerpost/api"
	"fingerpost/registry"
)

// putTopicPart sets a broker's queue data of a topic.
//
//	@Summary	Set a broker's part of a topic
//	@Description	[217] Until the broker's next changed registration.
//	@Tags	topics
//	@Param	topic	path	string	true	"the topic; % is written %25"
//	@Param	brokerName	path	string	true	"the broker name"
//	@Param	body	body	api.QueueSpec	true	"the queues"
//	@Success	200	{object}	api.TopicPartSet	"it was there"
//	@Success	201	{object}	api.TopicPartSet	"it is new"
//	@Failure	404	{object}	api.Problem	"broker-not-found"
//	@Router	/api/v1/topics/{topic}/brokers/{brokerName} [put]
func (h *Handler) putTopicPart(c *call) (reply, error) {
	topic, err := c.newTopic()
	if err != nil {
		return reply{}, err
	}
	g, err := c.group()
	if err != nil {
		return reply{}, err
	}
	c.subject = topic + " on " + g.Name
	body, err := decode[api.QueueSpec](c, h.limits.Body)
	if err != nil {
		return reply{}, err
	}
	q := registry.QueueData{Broker: g.Name, QueueSpec: registry.QueueSpec{
		ReadQueues: *body.ReadQueueNums, WriteQueues: *body.WriteQueueNums,
		Perm: *body.Perm, SysFlag: valueOr(body.TopicSysFlag, 0),
	}}
	if q.ReadQueues == 0 && q.WriteQueues == 0 {
		return reply{}, &problem{
			code: "validation-failed", errors: []fieldError{noQueues()},
			detail: text{"The topic must have a queue to read or to write.", "Topic 的读队列和写队列不能都为 0。"},
		}
	}
	created := c.snap.Topic(topic) == nil
	if !c.dry {
		created, err = h.deps.Registry.DeclareTopic(topic, []registry.QueueData{q}, c.cause(c.op.action))
	}
	return c.topicPartSet(topic, q, created), err
}

// newTopic reads the name of a topic that is to be written.
func (c *call) newTopic() (string, error) {
	topic, err := c.part("topic")
	if err != nil {
		return "", err
	}
	c.subject = topic
	if !isTopic(topic) {
		return "", invalidPart("topic", "must be of letters, digits and % | _ -, at most 127 long, retry and dead-letter topics 255",
			"只能由字母、数字和 % | _ - 组成，最长 127（重试和死信 Topic 255）")
	}
	return topic, nil
}

func (c *call) topicPartSet(topic string, q registry.QueueData, created bool) reply {
	c.snap = c.h.deps.Registry.Snapshot()
	v := c.view()
	out := api.TopicPartSet{Topic: topic, TopicPart: v.TopicPart(topic, q), Lasts: api.UntilNextChangedRegistration, DryRun: c.dry, Revision: v.At()}
	rep := reply{body: out, revision: c.snap.Revision}
	if t := c.snap.Topic(topic); t != nil {
		rep.etag = c.revision(max(t.Revision, c.snap.RouteOf(t).Revision))
	}
	if created && !c.dry {
		rep.status = http.StatusCreated
		rep.location = c.h.linkBase + c.r.URL.EscapedPath()
	}
	return rep
}

// deleteTopic takes a topic out of the table, or out of one cluster's part of it.
//
//	@Summary	Take a topic out of the table
//	@Description	[216] With fanout on the peers too. Brokers are not told: those whose last registration names the topic bring it back.
//	@Tags	topics
//	@Param	topic	path	string	true	"the topic; % is written %25"
//	@Success	200	{object}	api.TopicDeleted	"where it was, and who may bring it back"
//	@Failure	404	{object}	api.Problem	"topic-not-found, cluster-not-found"
//	@Router	/api/v1/topics/{topic} [delete]
func (h *Handler) deleteTopic(c *call) (reply, error) {
	topic, err := c.knownTopic()
	if err != nil {
		return reply{}, err
	}
	cluster, fan := c.query.one("cluster"), c.fanOut()
	if err := c.query.err(); err != nil {
		return reply{}, err
	}
	if cluster != "" && c.snap.Clusters()[cluster] == nil {
		return reply{}, c.noCluster(cluster)
	}
	out := c.snap.WouldDelete(topic, func(g *registry.Group) bool { return cluster == "" || g.Cluster == cluster })
	if !c.dry {
		out = h.deps.Registry.DeleteTopic(topic, cluster, c.cause(c.op.action))
	}
	return c.topicDeleted(topic, out, fan.ofTopic(topic, cluster).results()), nil
}

// deleteTopicPart takes a topic out of one broker's part.
//
//	@Summary	Take a topic out of one broker's part
//	@Tags	topics
//	@Param	topic	path	string	true	"the topic; % is written %25"
//	@Param	brokerName	path	string	true	"the broker name"
//	@Success	200	{object}	api.TopicDeleted	"where it was, and who may bring it back"
//	@Failure	404	{object}	api.Problem	"topic-not-found, broker-not-found"
//	@Router	/api/v1/topics/{topic}/brokers/{brokerName} [delete]
func (h *Handler) deleteTopicPart(c *call) (reply, error) {
	topic, err := c.knownTopic()
	if err != nil {
		return reply{}, err
	}
	g, err := c.group()
	if err != nil {
		return reply{}, err
	}
	c.subject = topic + " on " + g.Name
	out := c.snap.WouldDelete(topic, func(x *registry.Group) bool { return x.Name == g.Name })
	if !c.dry {
		out = h.deps.Registry.DeleteTopicOf(topic, g.Name, c.cause(c.op.action))
	}
	if len(out.From) == 0 {
		return reply{}, refuse("topic-not-found", "Broker %s does not serve topic %s.", "Broker %s 不提供 Topic %s。", g.Name, topic)
	}
	return c.topicDeleted(topic, out, api.PeerResults{}), nil
}

func (c *call) knownTopic() (string, error) {
	topic, err := c.part("topic")
	if err != nil {
		return "", err
	}
	c.subject = topic
	if c.snap.Topic(topic) == nil {
		return "", c.noTopic(topic)
	}
	return topic, nil
}

func (c *call) topicDeleted(topic string, d registry.Deleted, there api.PeerResults) reply {
	out := api.TopicDeleted{
		Topic: topic, RemovedFrom: d.From, MayReturnFrom: []api.MayReturn{}, Lasts: api.UntilNextChangedRegistration,
		DryRun: c.dry, Revision: c.revision(d.Revision), PeerResults: there,
	}
	why := say("last registration still names it", "最近一次注册仍包含该 Topic").in(language(c.r))
	for _, b := range d.MayReturn {
		out.MayReturnFrom = append(out.MayReturnFrom, api.MayReturn{BrokerName: b, Why: "still-registered", Detail: why})
	}
	return reply{body: out, revision: d.Revision, text: func() []byte {
		tb := newTable("TOPIC", "REMOVED-FROM", "MAY-RETURN-FROM")
		tb.row(topic, d.From, d.MayReturn)
		tb.note("lasts %s", out.Lasts)
		peerNotes(tb, there)
		return tb.bytes()
	}}
}
