package registry

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// check tells everything about the registry's present state that may never be.
func check(t rapid.TB, r *Registry) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.Snapshot()
	c := checker{TB: t, s: s}
	checkIndex(&c, "topics", s.topics)
	checkIndex(&c, "groups", s.groups)
	checkIndex(&c, "tables", s.tables)
	checkIndex(&c, "lives", s.lives)
	c.groups()
	c.lives()
	c.tables()
	c.topics()
	c.holders(r)
	c.routes()
	c.views()
	c.history(r)
	if c.wrong {
		t.Fatalf("in this state:\n%s", dumpOf(s))
	}
}

type checker struct {
	rapid.TB
	s     *Snapshot
	wrong bool
}

func (c *checker) Errorf(format string, args ...any) {
	c.TB.Helper()
	c.wrong = true
	c.TB.Errorf(format, args...)
}

// checkIndex compares an index with itself: what it yields, counts and finds, and
// whether its nodes are as small as their content allows.
func checkIndex[V keyed](c *checker, what string, x index[V]) {
	n := 0
	for v := range x.all() {
		n++
		if v.hash() != hashString(v.key()) {
			c.Errorf("%s: %q has another key's hash", what, v.key())
		}
		if x.get(v.key()) != v || x.getBytes([]byte(v.key())) != v {
			c.Errorf("%s: %q is not found", what, v.key())
		}
	}
	if n != x.len() {
		c.Errorf("%s: %d of %d yielded", what, n, x.len())
	}
	if (x.root == nil) != (n == 0) {
		c.Errorf("%s: %d values, but the root is %v", what, n, x.root)
	}
}

// groups: who has a place has registered for it, and nobody has two.
func (c *checker) groups() {
	at := make(map[string]string)
	for g := range c.s.groups.all() {
		if len(g.Members) == 0 {
			c.Errorf("group %s has no members", g.Name)
			continue
		}
		if g.Revision > c.s.Revision {
			c.Errorf("group %s is of revision %d", g.Name, g.Revision)
		}
		addrs, label := make(map[string]bool), false
		for i, m := range g.Members {
			if i > 0 && g.Members[i-1].ID >= m.ID {
				c.Errorf("group %s: ids out of order: %v", g.Name, g.Members)
			}
			if addrs[m.Addr] {
				c.Errorf("group %s has %s twice", g.Name, m.Addr)
			}
			addrs[m.Addr] = true
			label = label || m.Cluster == g.Cluster
			k := liveKey(m.Cluster, m.Addr)
			if at[k] != "" {
				c.Errorf("%q has a place in %s and in %s", k, at[k], g.Name)
			}
			at[k] = g.Name
			l := c.s.LiveOf(m)
			if l == nil {
				c.Errorf("group %s: nothing is registered for %v", g.Name, m)
			} else if l.Name != g.Name || l.ID != m.ID || l.Addr != m.Addr || l.Cluster != m.Cluster {
				c.Errorf("group %s: %v registered as %+v", g.Name, m, l.MemberInfo)
			}
			if m.Filters != nil && len(m.Filters) == 0 {
				c.Errorf("group %s: %v has an empty list of filters", g.Name, m)
			}
		}
		if !label {
			c.Errorf("group %s stands in cluster %s, where nobody of it registered", g.Name, g.Cluster)
		}
	}
}

// lives: registrations are alive, and those that list topics have a list.
func (c *checker) lives() {
	for l := range c.s.lives.all() {
		if l.k != liveKey(l.Cluster, l.Addr) {
			c.Errorf("%s %s has key %q", l.Cluster, l.Addr, l.k)
		}
		if l.lease.seen.Load() < 0 {
			c.Errorf("the lease of %s %s has ended", l.Cluster, l.Addr)
		}
		if l.counted && l.listing == nil {
			c.Errorf("the topics of %s %s count but there are none", l.Cluster, l.Addr)
		}
		if l.ID < 0 && l.counted {
			c.Errorf("the topics of %s %s count although its id is %d", l.Cluster, l.Addr, l.ID)
		}
		if l.listing != nil {
			seen := make(map[string]bool)
			for _, x := range l.listing.topics {
				if seen[x.Name] {
					c.Errorf("%s %s lists %s twice", l.Cluster, l.Addr, x.Name)
				}
				seen[x.Name] = true
			}
		}
	}
}

// tables: each is exactly the reverse of the topics' queue data.
func (c *checker) tables() {
	parts := 0
	for tab := range c.s.tables.all() {
		if c.s.Group(tab.broker) == nil {
			c.Errorf("broker %s serves topics but has no group", tab.broker)
		}
		for l := range tab.topics.all() {
			parts++
			t := c.s.Topic(l.Name)
			if t == nil {
				c.Errorf("broker %s serves topic %s, which is not there", tab.broker, l.Name)
			} else if _, ok := t.Queue(tab.broker); !ok {
				c.Errorf("broker %s serves topic %s, which does not know it", tab.broker, l.Name)
			}
		}
		checkIndex(c, "table of "+tab.broker, tab.topics)
	}
	for t := range c.s.topics.all() {
		parts -= len(t.layout.queues)
	}
	if parts != 0 {
		c.Errorf("the brokers' tables have %d parts more than the topics", parts)
	}
}

// topics: nobody's topic is none, equal queue data is one layout, sums are right.
func (c *checker) topics() {
	layouts := make(map[string]*layout)
	for t := range c.s.topics.all() {
		if t.Revision > c.s.Revision {
			c.Errorf("topic %s is of revision %d", t.Name, t.Revision)
		}
		if len(t.layout.queues) == 0 {
			c.Errorf("topic %s has no queues", t.Name)
		}
		var sum uint64
		for i, q := range t.layout.queues {
			sum += hashQueue(q)
			if i > 0 && t.layout.queues[i-1].Broker >= q.Broker {
				c.Errorf("topic %s: brokers out of order", t.Name)
			}
			if c.s.Group(q.Broker) == nil {
				c.Errorf("topic %s names %s, which has no address", t.Name, q.Broker)
			}
		}
		if sum != t.layout.sum {
			c.Errorf("topic %s: the sum of its layout is wrong", t.Name)
		}
		text := fmt.Sprint(t.layout.queues)
		if l := layouts[text]; l != nil && l != t.layout {
			c.Errorf("topic %s has a second layout of the same content", t.Name)
		}
		layouts[text] = t.layout
		if len(t.listed) > maxShared {
			c.Errorf("topic %s keeps %d values to share", t.Name, len(t.listed))
		}
		if t.mappings != nil && len(t.mappings) == 0 {
			c.Errorf("topic %s has an empty list of mappings", t.Name)
		}
		for i, m := range t.mappings {
			if _, ok := t.Queue(m.Broker); !ok || m.Topic != t.Name || i > 0 && t.mappings[i-1].Broker >= m.Broker {
				c.Errorf("topic %s: mapping of %s out of place", t.Name, m.Broker)
			}
		}
	}
}

// holders: the connections' books and the leases say the same.
func (c *checker) holders(r *Registry) {
	held := make(map[string]int)
	for h, leases := range r.holders {
		if len(leases) == 0 {
			c.Errorf("a connection that holds nothing is kept")
		}
		for k, lease := range leases {
			l := c.s.lives.get(k)
			earlier := lease.earlier.Load()
			if l == nil || l.lease != lease || !lease.heldBy(h) && (earlier == nil || *earlier != h) {
				c.Errorf("a connection holds %q, which does not know it", k)
			}
			held[k]++
		}
	}
	for l := range c.s.lives.all() {
		named := 0
		for _, p := range []*Holder{l.lease.holder.Load(), l.lease.earlier.Load()} {
			if p != nil {
				named++
			}
		}
		if named != held[l.k] {
			c.Errorf("%q names %d connections, %d hold it", l.k, named, held[l.k])
		}
	}
}

// routes: what is remembered is what would be made now, and fits together.
func (c *checker) routes() {
	for t := range c.s.topics.all() {
		got, fresh := c.s.RouteOf(t), c.s.build(t, c.s.rules.SupportActingMaster)
		if d := cmp.Diff(fresh, got, cmpopts.IgnoreUnexported(Route{}), cmpopts.IgnoreFields(Route{}, "Memo")); d != "" {
			c.Errorf("topic %s: the remembered route differs (-fresh +remembered):\n%s", t.Name, d)
		}
		if err := consistent(got); err != nil {
			c.Errorf("topic %s: %v", t.Name, err)
		}
	}
}

// consistent returns what is wrong with a route by itself.
func consistent(rt *Route) error {
	if len(rt.Queues) == 0 || len(rt.Queues) != len(rt.Brokers) {
		return fmt.Errorf("%d brokers for %d queue entries", len(rt.Brokers), len(rt.Queues))
	}
	for i, b := range rt.Brokers {
		if b.Name != rt.Queues[i].Broker {
			return fmt.Errorf("broker %s stands where the queues of %s are", b.Name, rt.Queues[i].Broker)
		}
		if len(b.Addrs) == 0 {
			return fmt.Errorf("broker %s has no address", b.Name)
		}
		if !slices.IsSortedFunc(b.Addrs, func(a, b Member) int { return int(a.ID - b.ID) }) {
			return fmt.Errorf("broker %s: ids out of order: %v", b.Name, b.Addrs)
		}
	}
	return nil
}

// views: the lists that are made once are those of this state.
func (c *checker) views() {
	topics := make([]string, 0, c.s.TopicCount())
	for t := range c.s.topics.all() {
		topics = append(topics, t.Name)
	}
	slices.Sort(topics)
	if !slices.Equal(topics, c.s.TopicNames()) {
		c.Errorf("topic names are %v, not %v", c.s.TopicNames(), topics)
	}
	clusters := make(map[string][]string)
	for _, g := range slices.SortedFunc(c.s.groups.all(), func(a, b *Group) int { return strings.Compare(a.Name, b.Name) }) {
		clusters[g.Cluster] = append(clusters[g.Cluster], g.Name)
		if i := slices.Index(c.s.Groups(), g); i < 0 {
			c.Errorf("the list of groups misses the present %s", g.Name)
		}
	}
	if !maps.EqualFunc(clusters, c.s.Clusters(), slices.Equal) || len(c.s.Groups()) != c.s.groups.len() {
		c.Errorf("clusters are %v, not %v", c.s.Clusters(), clusters)
	}
	fresh := *c.s
	fresh.sums = newSums()
	if got, want := c.s.Digests(), fresh.Digests(); got != want {
		c.Errorf("remembered digests are %+v, not %+v", got, want)
	}
}

// history: no revision is missing and none comes twice, up to the present one.
func (c *checker) history(r *Registry) {
	at := r.past.compacted
	size := 0
	for _, ch := range r.past.changes {
		size += ch.bytes()
		switch {
		case ch.Step && ch.Revision != at+1:
			c.Errorf("revision %d follows %d", ch.Revision, at)
		case !ch.Step && ch.Revision < at:
			c.Errorf("a report of revision %d follows %d", ch.Revision, at)
		}
		at = max(at, ch.Revision)
	}
	if at != c.s.Revision {
		c.Errorf("the history ends at %d, the registry is at %d", at, c.s.Revision)
	}
	if size != r.past.bytes {
		c.Errorf("the history counts %d bytes, not %d", r.past.bytes, size)
	}
	for _, rev := range []uint64{c.s.TopicsRevision(), c.s.MembersRevision(), c.s.RulesRevision(), c.s.KVRevision()} {
		if rev > c.s.Revision {
			c.Errorf("a part is of revision %d, the registry of %d", rev, c.s.Revision)
		}
	}
}
