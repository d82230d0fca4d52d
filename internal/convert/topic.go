package convert

import (
	"maps"
	"slices"
	"strings"
	"time"

	"fingerpost/api"
	"fingerpost/registry"
)

// Types of topics, told by the name.
const (
	TypeNormal = "normal"
	TypeRetry  = "retry"
	TypeDLQ    = "dlq"
	TypeLMQ    = "lmq"
	TypeSystem = "system"
	TypeReply  = "reply"
)

// TopicTypes returns every type of topic.
func TopicTypes() []string {
	return []string{TypeNormal, TypeRetry, TypeDLQ, TypeLMQ, TypeSystem, TypeReply}
}

// systemTopics are the names that RocketMQ's brokers make for themselves.
var systemTopics = map[string]bool{
	"TBW102": true, "SCHEDULE_TOPIC_XXXX": true, "BenchmarkTest": true, "RMQ_SYS_TRANS_HALF_TOPIC": true,
	"RMQ_SYS_TRACE_TOPIC": true, "RMQ_SYS_TRANS_OP_HALF_TOPIC": true, "TRANS_CHECK_MAX_TIME_TOPIC": true,
	"SELF_TEST_TOPIC": true, "OFFSET_MOVED_EVENT": true, "CHECKPOINT_TOPIC": true,
}

// TopicType tells the type of a topic by its name. A name equal to that of a cluster or
// a broker is a topic that brokers make for themselves.
func (v *View) TopicType(name string) string {
	if t := typeByName(name); t != TypeNormal || v.Group(name) == nil && v.Clusters()[name] == nil {
		return t
	}
	return TypeSystem
}

// CountTypes counts the topics by type; names are those of all topics, counted by
// [CountNames].
func (v *View) CountTypes(names map[string]int) map[string]int {
	out := maps.Clone(names)
	move := func(name string) {
		if v.Snapshot.Topic(name) != nil && typeByName(name) == TypeNormal {
			out[TypeNormal]--
			out[TypeSystem]++
		}
	}
	for _, g := range v.Groups() {
		move(g.Name)
	}
	for c := range v.Clusters() {
		if v.Group(c) == nil {
			move(c)
		}
	}
	return out
}

// CountNames counts the topics by what their names alone tell of their type. It looks at
// all of them; the result stands as long as there are the same topics.
func CountNames(s *registry.Snapshot) map[string]int {
	out := make(map[string]int)
	for _, t := range TopicTypes() {
		out[t] = 0
	}
	for t := range s.Topics() {
		out[typeByName(t.Name)]++
	}
	return out
}

func typeByName(name string) string {
	switch {
	case strings.HasPrefix(name, "%RETRY%"):
		return TypeRetry
	case strings.HasPrefix(name, "%DLQ%"):
		return TypeDLQ
	case strings.HasPrefix(name, "%LMQ%"):
		return TypeLMQ
	case strings.HasSuffix(name, "_REPLY_TOPIC"):
		return TypeReply
	case systemTopics[name] || strings.HasPrefix(name, "rmq_sys_"):
		return TypeSystem
	}
	return TypeNormal
}

// attributeType is the attribute in which brokers of 5.x name a topic's message type.
const attributeType = "message.type"

// MessageType returns what brokers registered as the topic's message type; NORMAL if
// none did.
func (v *View) MessageType(t *registry.Topic) string {
	for _, q := range t.Queues() {
		if c, ok := v.Registered(q.Broker, t.Name); ok {
			if m, ok := c.Attribute(attributeType); ok {
				return strings.ToUpper(m)
			}
		}
	}
	return "NORMAL"
}

// TopicSummary returns a topic as it stands in a list. stale are the reasons for which
// it may be a leftover.
func (v *View) TopicSummary(t *registry.Topic, stale []string) api.TopicSummary {
	qs := t.Queues()
	out := api.TopicSummary{
		Topic: t.Name, Type: v.TopicType(t.Name), MessageType: v.MessageType(t), Clusters: v.TopicClusters(t),
		BrokerCount: len(qs), Stale: stale, Digest: v.RouteDigest(t),
		UpdatedAt: api.TimeOf(time.UnixMilli(t.ChangedMillis)), Revision: v.Revision(t.Revision),
	}
	if out.Stale == nil {
		out.Stale = []string{}
	}
	var perm int32
	for _, q := range qs {
		out.ReadQueueNums += int(q.ReadQueues)
		out.WriteQueueNums += int(q.WriteQueues)
		out.PermMixed = out.PermMixed || q.Perm != qs[0].Perm
		perm |= q.Perm
		out.Unit = out.Unit || q.SysFlag&registry.FlagUnit != 0
		out.UnitSub = out.UnitSub || q.SysFlag&registry.FlagUnitSub != 0
		if c, ok := v.Registered(q.Broker, t.Name); ok {
			out.Order = out.Order || c.Order
		}
	}
	out.PermText = PermText(perm)
	_, out.HasOrderConf = v.KV(registry.OrderNamespace, t.Name)
	return out
}

// TopicClusters returns the clusters of the brokers that serve the topic, sorted.
func (v *View) TopicClusters(t *registry.Topic) []string {
	out := make([]string, 0, 1)
	for _, q := range t.Queues() {
		if c := v.Group(q.Broker).Cluster; !slices.Contains(out, c) {
			out = append(out, c)
		}
	}
	slices.Sort(out)
	return out
}

// Topic returns a topic with each broker's part.
func (v *View) Topic(t *registry.Topic, stale []string) api.Topic {
	out := api.Topic{TopicSummary: v.TopicSummary(t, stale), Brokers: v.TopicParts(t), Static: t.Mappings() != nil}
	if e, ok := v.KV(registry.OrderNamespace, t.Name); ok {
		out.OrderConf = &e.Value
	}
	for _, p := range out.Brokers {
		for k, val := range p.Attributes {
			if out.Attributes == nil {
				out.Attributes = make(map[string]string)
			}
			out.Attributes[k] = val
		}
	}
	return out
}

// TopicParts returns each broker's part of a topic, sorted by broker name.
func (v *View) TopicParts(t *registry.Topic) []api.TopicPart {
	qs := t.Queues()
	out := make([]api.TopicPart, 0, len(qs))
	for _, q := range qs {
		out = append(out, v.TopicPart(t.Name, q))
	}
	return out
}

// TopicPart returns one broker's part of a topic.
func (v *View) TopicPart(topic string, q registry.QueueData) api.TopicPart {
	out := api.TopicPart{
		BrokerName: q.Broker, ReadQueueNums: q.ReadQueues, WriteQueueNums: q.WriteQueues,
		Perm: q.Perm, PermText: PermText(q.Perm), TopicSysFlag: q.SysFlag, RegisteredPerm: q.Perm,
		Unconfirmed: v.UnconfirmedPart(topic, q.Broker),
	}
	if g := v.Group(q.Broker); g != nil {
		out.ClusterName = g.Cluster
	}
	if c, ok := v.Registered(q.Broker, topic); ok {
		out.RegisteredPerm, out.Order, out.Attributes = c.Perm, c.Order, Attributes(c.Attributes)
	}
	return out
}

// Attributes returns a topic's attributes as a map, nil if there are none.
func Attributes(lines string) map[string]string {
	if lines == "" {
		return nil
	}
	out := make(map[string]string)
	for line := range strings.SplitSeq(lines, "\n") {
		k, val, _ := strings.Cut(line, "=")
		out[strings.TrimPrefix(k, "+")] = val
	}
	return out
}

// KVTable returns the values of a namespace.
func KVTable(m map[string]registry.KVEntry) map[string]string {
	out := make(map[string]string, len(m))
	for k, e := range m {
		out[k] = e.Value
	}
	return out
}

// ClusterInfo returns RocketMQ's ClusterInfo.
func (v *View) ClusterInfo() api.ClusterInfo {
	out := api.ClusterInfo{BrokerAddrTable: make(map[string]api.BrokerData), ClusterAddrTable: maps.Clone(v.Clusters())}
	for _, g := range v.Groups() {
		out.BrokerAddrTable[g.Name] = BrokerData(g.Name, g.Cluster, g.Zone, g.HasZone, g.Acting, g.Members)
	}
	return out
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
