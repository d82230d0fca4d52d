package convert

import (
	"iter"

	"fingerpost/api"
	"fingerpost/registry"
)

// StreamLimit is how many changes of a set a stream carries; GET /events/{revision} has
// them all.
const StreamLimit = 200

// ChangeSet returns what passes the filter of a change, at most limit changes of it, and
// whether anything passes. v is the present state, by which filters know which broker
// serves what.
func (v *View) ChangeSet(c *registry.Change, f *Filter, limit int) (api.ChangeSet, bool) {
	out := api.ChangeSet{
		Revision: v.Revision(c.Revision), Time: api.TimeOf(c.Time), Cause: cause(c.Cause),
		Counts: make(map[string]int), Changes: []api.Change{},
	}
	total := 0
	for kind, build := range v.parts(c, f) {
		out.Counts[kind]++
		total++
		if total <= limit {
			out.Changes = append(out.Changes, build())
		}
	}
	out.Truncated = total > limit
	return out, total > 0
}

// Changes yields every change of a set that passes the filter, in the order in which
// pages of it are numbered.
func (v *View) Changes(c *registry.Change, f *Filter) iter.Seq[api.Change] {
	return func(yield func(api.Change) bool) {
		for _, build := range v.parts(c, f) {
			if !yield(build()) {
				return
			}
		}
	}
}

// Passes reports whether anything of the change passes the filter.
func (v *View) Passes(c *registry.Change, f *Filter) bool {
	for range v.parts(c, f) {
		return true
	}
	return false
}

func cause(c registry.Cause) api.Cause {
	out := api.Cause{Face: c.Face, Action: c.Action, Actor: c.Actor}
	if c.RequestID != "" {
		out.RequestID = &c.RequestID
	}
	return out
}

// parts yields the kind of each change that passes, and what makes it: most of a large
// set is only counted.
func (v *View) parts(c *registry.Change, f *Filter) iter.Seq2[string, func() api.Change] {
	if f == nil {
		f = new(Filter)
	}
	return func(yield func(string, func() api.Change) bool) {
		_ = v.serverParts(c, f, yield) && v.brokerParts(c, f, yield) && v.topicParts(c, f, yield) && v.tableParts(c, f, yield)
	}
}

type yieldPart = func(string, func() api.Change) bool

func (v *View) serverParts(c *registry.Change, f *Filter, yield yieldPart) bool {
	if len(f.Topics)+len(f.Brokers) > 0 {
		return true
	}
	for _, x := range c.Server {
		if f.kind(api.KindServer) && len(f.Clusters) == 0 && !yield(api.KindServer, func() api.Change {
			return api.Change{Kind: api.KindServer, Op: x.Op.String(), Detail: x.Detail}
		}) {
			return false
		}
	}
	for _, x := range c.Peers {
		if f.kind(api.KindPeer) && len(f.Clusters) == 0 && !yield(api.KindPeer, func() api.Change { return peerChange(&x) }) {
			return false
		}
	}
	for _, x := range c.Config {
		if f.kind(api.KindConfig) && len(f.Clusters) == 0 && !yield(api.KindConfig, func() api.Change {
			return api.Change{
				Kind: api.KindConfig, Op: registry.OpChanged.String(), Key: &x.Key,
				Before: value(x.Before), After: value(x.After),
			}
		}) {
			return false
		}
	}
	for _, x := range c.Clusters {
		if f.kind(api.KindCluster) && f.cluster(x.Cluster) && !yield(api.KindCluster, func() api.Change {
			return api.Change{Kind: api.KindCluster, Op: x.Op.String(), Cluster: x.Cluster}
		}) {
			return false
		}
	}
	return true
}

func (v *View) brokerParts(c *registry.Change, f *Filter, yield yieldPart) bool {
	for i := range c.Members {
		x := &c.Members[i]
		if f.kind(api.KindMember) && f.broker(x.Broker) && f.cluster(memberCluster(x)) && f.serves(v.Snapshot, x.Broker) &&
			!yield(api.KindMember, func() api.Change { return memberChange(x) }) {
			return false
		}
	}
	for _, x := range c.WritePerms {
		if f.kind(api.KindWritePerm) && f.broker(x.Broker) && f.clusterOf(v.Snapshot, x.Broker) && len(f.Topics) == 0 &&
			!yield(api.KindWritePerm, func() api.Change {
				return api.Change{Kind: api.KindWritePerm, Op: x.Op.String(), BrokerName: x.Broker, TopicCount: &x.Topics}
			}) {
			return false
		}
	}
	return true
}

func (v *View) topicParts(c *registry.Change, f *Filter, yield yieldPart) bool {
	if !f.kind(api.KindTopic) {
		return true
	}
	for i := range c.Topics {
		x := &c.Topics[i]
		if f.topic(x.Topic) && f.broker(x.Broker) && f.clusterOf(v.Snapshot, x.Broker) &&
			!yield(api.KindTopic, func() api.Change { return topicChange(x) }) {
			return false
		}
	}
	return true
}

func (v *View) tableParts(c *registry.Change, f *Filter, yield yieldPart) bool {
	if !f.kind(api.KindKV) || len(f.Brokers)+len(f.Clusters) > 0 {
		return true
	}
	for _, x := range c.KV {
		// The order configuration of a topic is part of its route.
		if len(f.Topics) > 0 && (x.Namespace != registry.OrderNamespace || !f.topic(x.Key)) {
			continue
		}
		if !yield(api.KindKV, func() api.Change { return kvChange(&x) }) {
			return false
		}
	}
	return true
}

func peerChange(x *registry.PeerChange) api.Change {
	out := api.Change{Kind: api.KindPeer, Op: x.Op.String(), Peer: x.Peer, Detail: x.Detail}
	if x.Before != x.After {
		out.Before, out.After = map[string]any{"differences": x.Before}, map[string]any{"differences": x.After}
	}
	return out
}

func memberCluster(x *registry.MemberChange) string {
	if x.After != nil {
		return x.After.Cluster
	}
	if x.Before != nil {
		return x.Before.Cluster
	}
	return ""
}

func memberChange(x *registry.MemberChange) api.Change {
	out := api.Change{
		Kind: api.KindMember, Op: x.Op.String(), Cluster: memberCluster(x), BrokerName: x.Broker, BrokerID: &x.ID,
		Code: x.Code, Detail: x.Detail,
	}
	out.Before, out.After = differ(memberFields(x.Before), memberFields(x.After))
	return out
}

func memberFields(i *registry.MemberInfo) map[string]any {
	if i == nil {
		return nil
	}
	m := map[string]any{
		"clusterName": i.Cluster, "brokerAddr": i.Addr, "brokerId": i.ID,
		"enableActingMaster": i.Acting == registry.ActingOn, "heartbeatTimeoutMillis": i.Timeout.Milliseconds(),
		"dataVersion": DataVersion(i.Version), "source": i.Source.String(),
	}
	for k, s := range map[string]string{"haServerAddr": i.HAAddr, "owner": i.Owner, "language": i.Language} {
		if s != "" {
			m[k] = s
		}
	}
	if i.HasZone {
		m["zoneName"] = i.Zone
	}
	return m
}

// differ leaves in two sets of fields only those that differ. With one of them nil the
// other stays whole.
func differ(before, after map[string]any) (map[string]any, map[string]any) {
	if before == nil || after == nil {
		return before, after
	}
	for k, a := range after {
		if b, ok := before[k]; ok && a == b {
			delete(before, k)
			delete(after, k)
		}
	}
	return before, after
}

func topicChange(x *registry.TopicChange) api.Change {
	out := api.Change{Kind: api.KindTopic, Op: x.Op.String(), Topic: x.Topic, BrokerName: x.Broker, Mapping: x.Mapping}
	var before, after map[string]any
	if x.Op != registry.OpCreated {
		before = queueFields(x.Before)
	}
	if x.Op != registry.OpDeleted {
		after = queueFields(x.After)
	}
	out.Before, out.After = differ(before, after)
	return out
}

func queueFields(q registry.QueueSpec) map[string]any {
	return map[string]any{"readQueueNums": q.ReadQueues, "writeQueueNums": q.WriteQueues, "perm": q.Perm, "topicSysFlag": q.SysFlag}
}

func kvChange(x *registry.KVChange) api.Change {
	out := api.Change{Kind: api.KindKV, Op: x.Op.String(), Namespace: &x.Namespace, Key: &x.Key}
	if x.Op != registry.OpCreated {
		out.Before = value(x.Before)
	}
	if x.Op != registry.OpDeleted {
		out.After = value(x.After)
	}
	return out
}

// maxValue is the longest value that a change shows.
const maxValue = 1 << 10

func value(s string) map[string]any {
	if len(s) > maxValue {
		return map[string]any{"valueBytes": len(s)}
	}
	return map[string]any{"value": s}
}

// Present yields the present state of what passes the filter, as things created: what
// a watcher applies to nothing before it applies the changes that follow.
func (v *View) Present(f *Filter) iter.Seq[api.Change] {
	if f == nil {
		f = new(Filter)
	}
	return func(yield func(api.Change) bool) {
		_ = v.presentBrokers(f, yield) && v.presentTopics(f, yield) && v.presentKV(f, yield)
	}
}

func (v *View) presentBrokers(f *Filter, yield func(api.Change) bool) bool {
	created := registry.OpCreated.String()
	if f.kind(api.KindCluster) && len(f.Topics)+len(f.Brokers) == 0 {
		for _, name := range v.ClusterNames() {
			if f.cluster(name) && !yield(api.Change{Kind: api.KindCluster, Op: created, Cluster: name}) {
				return false
			}
		}
	}
	for _, g := range v.Groups() {
		if !f.broker(g.Name) || !f.serves(v.Snapshot, g.Name) {
			continue
		}
		for _, m := range g.Members {
			if f.kind(api.KindMember) && f.cluster(m.Cluster) && !yield(memberChange(&registry.MemberChange{
				Op: registry.OpCreated, Broker: g.Name, ID: m.ID, After: &v.LiveOf(m).MemberInfo,
			})) {
				return false
			}
		}
		if w := v.Snapshot.Wiped(g.Name); w != nil && f.kind(api.KindWritePerm) && f.cluster(g.Cluster) && len(f.Topics) == 0 &&
			!yield(api.Change{Kind: api.KindWritePerm, Op: registry.OpWiped.String(), BrokerName: g.Name, TopicCount: &w.Topics}) {
			return false
		}
	}
	return true
}

func (v *View) presentTopics(f *Filter, yield func(api.Change) bool) bool {
	if !f.kind(api.KindTopic) {
		return true
	}
	for _, name := range v.TopicNames() {
		if !f.topic(name) {
			continue
		}
		for _, q := range v.Snapshot.Topic(name).Queues() {
			if f.broker(q.Broker) && f.clusterOf(v.Snapshot, q.Broker) &&
				!yield(topicChange(&registry.TopicChange{Op: registry.OpCreated, Topic: name, Broker: q.Broker, After: q.QueueSpec})) {
				return false
			}
		}
	}
	return true
}

func (v *View) presentKV(f *Filter, yield func(api.Change) bool) bool {
	if !f.kind(api.KindKV) || len(f.Brokers)+len(f.Clusters) > 0 {
		return true
	}
	for _, ns := range v.KVNamespaces() {
		m, err := v.KVNamespace(ns)
		if err != nil || len(f.Topics) > 0 && ns != registry.OrderNamespace {
			continue
		}
		for _, k := range sortedKeys(m) {
			if f.topic(k) && !yield(kvChange(&registry.KVChange{Op: registry.OpCreated, Namespace: ns, Key: k, After: m[k].Value})) {
				return false
			}
		}
	}
	return true
}
