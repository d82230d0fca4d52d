package registry

import (
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// Snapshot is the whole registry at one revision. It is immutable, except that the
// time a member was last heard of moves on, and may be kept and read by anybody for
// as long as they like.
type Snapshot struct {
	// Epoch names the process that made the snapshot, Revision the last change in it.
	Epoch    string
	Revision uint64
	// At is when that change was made.
	At time.Time

	reg    *Registry
	topics index[*Topic]
	groups index[*Group]
	tables index[*table]
	lives  index[*Live]
	kv     *kvTable
	rules  *Rules
	view   *view
	names  *names
	sums   sums

	// Revisions of the last change to each part.
	topicsRevision, livesRevision, groupsRevision, rulesRevision uint64
	// unconfirmed counts the members that stand from before a restart, warm tells that
	// there were any.
	unconfirmed int
	warm        bool
	suspects    int
	alarm       *Alarm
	// orderGoneRevision is that of the last removal of an order configuration.
	orderGoneRevision uint64
}

// view changes its identity with the groups, the rules and the order configuration:
// with everything that a route depends on besides the topic's own data.
type view struct {
	id       *viewID
	memo     Memo
	once     sync.Once
	clusters map[string][]string
	sorted   []*Group
}

// viewID is what a remembered route keeps of its view: not the view itself, which may
// be old and has large answers in its memo. It must not be of size zero.
type viewID struct{ _ byte }

func newView() *view { return &view{id: new(viewID)} }

// names changes its identity with the set of topic names.
type names struct {
	memo   Memo
	once   sync.Once
	sorted []string
}

// Rules returns the rules of this snapshot.
func (s *Snapshot) Rules() Rules { return *s.rules }

// RulesRevision returns the revision of the last change of the rules.
func (s *Snapshot) RulesRevision() uint64 { return s.rulesRevision }

// TopicsRevision returns the revision of the last change to any topic.
func (s *Snapshot) TopicsRevision() uint64 { return s.topicsRevision }

// MembersRevision returns the revision of the last change to any group or member.
func (s *Snapshot) MembersRevision() uint64 { return max(s.groupsRevision, s.livesRevision) }

// ReadyIn returns how long routes still have to wait, 0 if they need not: only if the
// rules ask for a wait after the start and it is not over.
func (s *Snapshot) ReadyIn() time.Duration {
	if !s.rules.NeedWaitForService {
		return 0
	}
	return max(0, s.rules.WaitForService-s.reg.now().Sub(s.reg.started))
}

// Withheld returns how long an answer about the route of a topic, nil for one that is not
// known, has to wait: as ReadyIn, but what stands from before a restart need not.
func (s *Snapshot) Withheld(t *Topic) time.Duration {
	if t != nil && s.warm {
		return 0
	}
	return s.ReadyIn()
}

// Topic returns a topic, or nil.
func (s *Snapshot) Topic(name string) *Topic { return s.topics.get(name) }

// TopicCount returns the number of topics.
func (s *Snapshot) TopicCount() int { return s.topics.len() }

// Topics yields every topic once, in no order.
func (s *Snapshot) Topics() iter.Seq[*Topic] { return s.topics.all() }

// TopicNames returns all names in order. The slice is shared and must not be changed.
func (s *Snapshot) TopicNames() []string {
	s.names.once.Do(func() {
		out := make([]string, 0, s.topics.len())
		for t := range s.topics.all() {
			out = append(out, t.Name)
		}
		slices.Sort(out)
		s.names.sorted = out
	})
	return s.names.sorted
}

// TopicNamesMemo keeps encoded forms of the set of all topic names.
func (s *Snapshot) TopicNamesMemo() *Memo { return &s.names.memo }

// GroupsMemo keeps encoded forms of the clusters and groups.
func (s *Snapshot) GroupsMemo() *Memo { return &s.view.memo }

// Group returns the group of a broker name, or nil.
func (s *Snapshot) Group(name string) *Group { return s.groups.get(name) }

// Groups returns all groups in order of name. The slice is shared.
func (s *Snapshot) Groups() []*Group {
	s.fillView()
	return s.view.sorted
}

// Clusters returns the broker names of each cluster, sorted. A name stands under
// exactly one cluster. The map and its slices are shared.
func (s *Snapshot) Clusters() map[string][]string {
	s.fillView()
	return s.view.clusters
}

// ClusterNames returns the names of all clusters in order.
func (s *Snapshot) ClusterNames() []string { return slices.Sorted(maps.Keys(s.Clusters())) }

func (s *Snapshot) fillView() {
	s.view.once.Do(func() {
		gs := slices.AppendSeq(make([]*Group, 0, s.groups.len()), s.groups.all())
		slices.SortFunc(gs, func(a, b *Group) int { return strings.Compare(a.Name, b.Name) })
		cs := make(map[string][]string)
		for _, g := range gs {
			cs[g.Cluster] = append(cs[g.Cluster], g.Name)
		}
		s.view.sorted, s.view.clusters = gs, cs
	})
}

// Live returns what the address last registered in that cluster, or nil.
func (s *Snapshot) Live(cluster, addr string) *Live {
	var buf [128]byte
	return s.lives.getBytes(appendLiveKey(buf[:0], cluster, addr))
}

// LiveOf returns what a group's member registered. It is never nil for a member of
// a group of the same snapshot.
func (s *Snapshot) LiveOf(m Member) *Live { return s.Live(m.Cluster, m.Addr) }

// Lives yields everything registered, also addresses that have lost their place.
func (s *Snapshot) Lives() iter.Seq[*Live] { return s.lives.all() }

// Placed reports whether l still has its place in its group.
func (s *Snapshot) Placed(l *Live) bool {
	g := s.groups.get(l.Name)
	return g != nil && g.place(l.Cluster, l.Addr) >= 0
}

// BrokerTopicCount returns how many topics have queue data of the broker.
func (s *Snapshot) BrokerTopicCount(broker string) int {
	if t := s.tables.get(broker); t != nil {
		return t.topics.len()
	}
	return 0
}

// BrokerTopics yields, in no order, each topic that the broker serves and what it
// last registered for it (which a wipe or an acting master does not touch).
func (s *Snapshot) BrokerTopics(broker string) iter.Seq2[*Topic, TopicConfig] {
	return func(yield func(*Topic, TopicConfig) bool) {
		t := s.tables.get(broker)
		if t == nil {
			return
		}
		for l := range t.topics.all() {
			if !yield(s.topics.get(l.Name), l.Config) {
				return
			}
		}
	}
}

// Registered returns what the broker last registered for the topic.
func (s *Snapshot) Registered(broker, topic string) (TopicConfig, bool) {
	if t := s.tables.get(broker); t != nil {
		if l := t.topics.get(topic); l != nil {
			return l.Config, true
		}
	}
	return TopicConfig{}, false
}

// Wiped returns the standing wipe of the broker's write permission, or nil.
func (s *Snapshot) Wiped(broker string) *Wipe {
	if t := s.tables.get(broker); t != nil {
		return t.wipe
	}
	return nil
}

// AllTopics returns every topic name, or Disabled if the rules say so.
func (s *Snapshot) AllTopics() ([]string, error) {
	if !s.rules.EnableAllTopicList {
		return nil, &Error{Kind: Disabled, Message: "the list of all topics is switched off (enableAllTopicList)"}
	}
	return s.TopicNames(), nil
}

// TopicsOfCluster returns the topics that brokers of the cluster serve, sorted: none
// for an unknown cluster. It fails with Disabled if the rules say so.
func (s *Snapshot) TopicsOfCluster(cluster string) ([]string, error) {
	brokers := s.Clusters()[cluster]
	return s.listTopics(func(t *Topic) bool {
		return slices.ContainsFunc(brokers, func(b string) bool { return t.layout.find(b) != nil })
	})
}

// UnitTopics returns the topics for which want holds of the system flag of their
// first queue entry, sorted. It fails with Disabled if the rules say so.
func (s *Snapshot) UnitTopics(want func(flag int32) bool) ([]string, error) {
	return s.listTopics(func(t *Topic) bool { return want(t.layout.queues[0].SysFlag) })
}

func (s *Snapshot) listTopics(want func(*Topic) bool) ([]string, error) {
	if !s.rules.EnableTopicList {
		return nil, &Error{Kind: Disabled, Message: "topic lists are switched off (enableTopicList)"}
	}
	out := []string{}
	for t := range s.topics.all() {
		if want(t) {
			out = append(out, t.Name)
		}
	}
	slices.Sort(out)
	return out, nil
}
