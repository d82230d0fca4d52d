package remoting

import (
	"strconv"
	"strings"

	"fingerpost/registry"
	"fingerpost/remoting/wire"
)

// allTopics answers 206.
func (c *conn) allTopics(_ *wire.Command, a *answer) {
	s := c.srv.Registry.Snapshot()
	names, err := s.AllTopics()
	if err != nil {
		c.refuse(a, err)
		return
	}
	a.body = s.TopicNamesMemo().Encoded(slotLegacy, func() []byte {
		return (&wire.TopicList{Topics: names}).AppendJSON(nil)
	})
}

// topicsOfCluster answers 224. Its field is cluster, unlike everywhere else.
func (c *conn) topicsOfCluster(req *wire.Command, a *answer) {
	c.topicList(a)(c.srv.Registry.Snapshot().TopicsOfCluster(req.Ext.Text(wire.FieldCluster).Value))
}

func (c *conn) unitTopics(_ *wire.Command, a *answer) {
	c.topicList(a)(c.srv.Registry.Snapshot().UnitTopics(func(f int32) bool { return f&registry.FlagUnit != 0 }))
}

func (c *conn) unitSubTopics(_ *wire.Command, a *answer) {
	c.topicList(a)(c.srv.Registry.Snapshot().UnitTopics(func(f int32) bool { return f&registry.FlagUnitSub != 0 }))
}

func (c *conn) unitSubOnly(_ *wire.Command, a *answer) {
	c.topicList(a)(c.srv.Registry.Snapshot().UnitTopics(func(f int32) bool {
		return f&registry.FlagUnit == 0 && f&registry.FlagUnitSub != 0
	}))
}

// topicList takes what a snapshot answers to a question for topics.
func (c *conn) topicList(a *answer) func(names []string, err error) {
	return func(names []string, err error) {
		if err != nil {
			c.refuse(a, err)
			return
		}
		a.body = (&wire.TopicList{Topics: names}).AppendJSON(nil)
	}
}

// deleteTopic answers 216, with success also where there was nothing.
func (c *conn) deleteTopic(req *wire.Command, a *answer) {
	c.srv.Registry.DeleteTopic(req.Ext.Text(wire.FieldTopic).Value, req.Ext.Text(wire.FieldClusterName).Value, c.cause("deleteTopic"))
}

// registerTopic answers 217. A broker that is not registered makes it do nothing,
// which peers take for success.
func (c *conn) registerTopic(req *wire.Command, a *answer) {
	rt, err := wire.DecodeRoute(req.Body)
	if err != nil {
		a.fault(err)
		return
	}
	topic := strings.Clone(req.Ext.Text(wire.FieldTopic).Value)
	if topic == "" {
		return
	}
	queues := make([]registry.QueueData, 0, len(rt.Queues))
	for _, q := range rt.Queues {
		queues = append(queues, registry.QueueData{Broker: strings.Clone(q.Broker), QueueSpec: registry.QueueSpec{
			ReadQueues: q.ReadQueues, WriteQueues: q.WriteQueues, Perm: q.Perm, SysFlag: q.SysFlag,
		}})
	}
	_, err = c.srv.Registry.DeclareTopic(topic, queues, c.cause("registerTopic"))
	if err != nil {
		c.warnOf(topic, "a topic was not registered", "topic", topic, "err", err)
	}
}

// wipeWritePerm answers 205, addWritePerm 327: the number of the broker's topics, 0 for
// one that is not registered.
func (c *conn) wipeWritePerm(req *wire.Command, a *answer) {
	n, _ := c.srv.Registry.WipeWritePerm(strings.Clone(req.Ext.Text(wire.FieldBrokerName).Value), c.cause("wipeWritePerm"))
	a.ext.Set(wire.FieldWipeTopicCount, strconv.Itoa(n))
}

func (c *conn) addWritePerm(req *wire.Command, a *answer) {
	n, _ := c.srv.Registry.RestoreWritePerm(strings.Clone(req.Ext.Text(wire.FieldBrokerName).Value), c.cause("addWritePerm"))
	a.ext.Set(wire.FieldAddTopicCount, strconv.Itoa(n))
}
