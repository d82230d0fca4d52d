package registry

import (
	"slices"
	"strings"
)

// draft is a transaction: the next snapshot in the making, and what it changes.
// It shares everything with its base and copies what it touches. Only the holder
// of Registry.mu has one.
type draft struct {
	reg     *Registry
	next    *Snapshot
	own     *owner
	change  *Change
	steps   steps
	newView bool
	newName bool
	dirty   bool // something was changed that no change tells of
	millis  int64
	room    []Topic // for versions of topics that come next, roomFor at a time
	roomFor int
	evicted []eviction
	reduced []string          // groups that lost a member and are left
	minGone map[string]string // groups whose smallest id is said to have gone, and its address
}

type eviction struct {
	holder Holder
	reason string
}

// begin starts a transaction. Registry.mu is held and stays held until commit or drop.
func (r *Registry) begin(cause Cause) *draft {
	next := *r.Snapshot()
	return &draft{
		reg: r, next: &next, own: new(owner), change: &Change{Cause: cause}, roomFor: 1,
		millis: r.now().UnixMilli(),
	}
}

// revision is the one that the draft will have if it changes anything.
func (d *draft) revision() uint64 { return d.reg.Snapshot().Revision + 1 }

// commit publishes the draft if it says that anything changed, releases Registry.mu,
// and only then tells the holders that lost everything.
func (d *draft) commit() {
	d.settleReduced()
	d.noticeGone()
	if d.newView || d.newName || !d.change.empty() {
		n := d.next
		n.Revision, n.At = d.revision(), d.reg.now()
		if d.newView {
			n.view = newView()
		}
		if d.newName {
			n.names = new(names)
		}
		d.newSums()
		d.change.Revision, d.change.Step, d.change.Time = n.Revision, true, n.At
		d.reg.snap.Store(n)
		d.reg.emit(d.change)
	} else if d.dirty {
		// Bookkeeping beside what anybody can see: no revision, no change.
		d.reg.snap.Store(d.next)
	}
	d.reg.mu.Unlock()
	for _, e := range d.evicted {
		e.holder.Evict(e.reason)
	}
}

// drop ends the transaction without a trace.
func (d *draft) drop() { d.reg.mu.Unlock() }

// table returns the broker's table for writing, made if need be.
func (d *draft) table(broker string) *table {
	t := d.next.tables.get(broker)
	switch {
	case t == nil:
		t = &table{broker: broker, own: d.own, h: hashString(broker)}
	case t.own == d.own:
		return t
	default:
		t = &table{broker: broker, topics: t.topics, wipe: t.wipe, unnamed: t.unnamed, namedAt: t.namedAt, own: d.own, h: t.h}
	}
	d.next.tables.put(t, d.own)
	return t
}

// setQueue gives a broker its part of a topic, which comes into being if need be,
// and reports whether that changed anything and whether the part is new. l is what the
// broker listed, spec what clients are to see of it.
func (d *draft) setQueue(l *Listed, broker string, spec QueueSpec) (changed, isNew bool) {
	return d.setQueueOf(d.next.topics.getHashed(l.Name, l.h), l, broker, spec)
}

// setQueueOf is setQueue for a topic that has been looked up; old is nil for a new one.
func (d *draft) setQueueOf(old *Topic, l *Listed, broker string, spec QueueSpec) (changed, isNew bool) {
	tab := d.table(broker)
	was := tab.topics.getHashed(l.Name, l.h)
	if was != nil && was.Config == l.Config {
		l = was
	}
	from := emptyLayout
	ch := TopicChange{Op: OpCreated, Topic: l.Name, Broker: broker, After: spec}
	if old != nil {
		from = old.layout
	} else {
		d.newName = true
	}
	if q := from.find(broker); q != nil {
		if q.QueueSpec == spec && was == l {
			return false, false
		}
		ch.Op, ch.Before = OpChanged, q.QueueSpec
	}
	if was != l {
		tab.topics.put(l, d.own)
	}
	to := d.reg.layouts.after(step{from: from, q: QueueData{Broker: broker, QueueSpec: spec}}, &d.steps)
	d.putTopic(old, l.Name, to, l)
	d.change.Topics = append(d.change.Topics, ch)
	d.next.topicsRevision = d.revision()
	return true, ch.Op == OpCreated
}

// addQueues gives a broker that has no topics the ones that p sets, all at once, which
// for long lists takes a fraction of what setQueue would.
func (d *draft) addQueues(p *plan, statement *Statement, broker string) {
	if len(p.set) == 0 {
		return
	}
	d.roomFor = topicsAtOnce
	tab := d.table(broker)
	if stood, others, ok := statement.standing(); ok {
		tab.topics = stood
		for _, l := range others {
			tab.topics.put(l, d.own)
		}
	} else {
		tab.topics = newIndex(p.set, d.own)
	}
	merge(&d.next.topics, tab.topics, d.own, func(old *Topic, l *Listed) *Topic {
		from := emptyLayout
		if old != nil {
			from = old.layout
		} else {
			d.newName = true
		}
		to := d.reg.layouts.after(step{from: from, q: QueueData{Broker: broker, QueueSpec: p.spec(l)}}, &d.steps)
		return d.version(old, l.Name, to, l)
	})
	for _, l := range p.set {
		d.change.Topics = append(d.change.Topics, TopicChange{Op: OpCreated, Topic: l.Name, Broker: broker, After: p.spec(l)})
	}
	d.next.topicsRevision = d.revision()
}

// topicsAtOnce is for how many topics memory is taken at once where all of a broker's change.
// It is given back when the last of them has changed again, so it is not more.
const topicsAtOnce = 8

// maxShared bounds how many different configurations a topic keeps for sharing.
const maxShared = 4

// putTopic stores a new version of the topic. l, which may only be nil for a topic that
// is known, is kept for sharing.
func (d *draft) putTopic(old *Topic, name string, to *layout, l *Listed) *Topic {
	t := d.version(old, name, to, l)
	d.next.topics.put(t, d.own)
	return t
}

// version makes what putTopic stores.
func (d *draft) version(old *Topic, name string, to *layout, l *Listed) *Topic {
	if len(d.room) == 0 {
		d.room = make([]Topic, d.roomFor)
	}
	t := &d.room[0]
	d.room = d.room[1:]
	t.Name, t.Revision, t.ChangedMillis, t.layout = name, d.revision(), d.millis, to
	if old != nil {
		t.Name, t.h, t.mappings, t.listed = old.Name, old.h, old.mappings, old.listed
	} else {
		t.h = l.h
	}
	if l != nil && !slices.Contains(t.listed, l) {
		keep := t.listed
		if len(keep) >= maxShared {
			keep = keep[1:]
		}
		t.listed = append(slices.Clone(keep), l)
	}
	return t
}

// dropQueue takes a broker's part out of a topic; a topic without parts is no more.
// The static-topic mapping of that broker goes with it.
func (d *draft) dropQueue(topic, broker string) bool {
	old := d.next.topics.get(topic)
	if old == nil {
		return false
	}
	q := old.layout.find(broker)
	if q == nil {
		return false
	}
	tab := d.table(broker)
	tab.topics.del(topic, d.own)
	if tab.unnamed.len() > 0 {
		tab.unnamed.del(topic, d.own)
	}
	d.dropPart(old, *q)
	return true
}

// dropPart takes q out of the topic, but leaves the broker's table alone.
func (d *draft) dropPart(old *Topic, q QueueData) {
	if t := d.without(old, q); t != nil {
		d.next.topics.put(t, d.own)
	} else {
		d.next.topics.del(old.Name, d.own)
	}
}

// without makes the version of a topic from which q is gone, or nil if nothing is left, and
// reports that change.
func (d *draft) without(old *Topic, q QueueData) *Topic {
	to := d.reg.layouts.after(step{from: old.layout, q: QueueData{Broker: q.Broker}, gone: true}, &d.steps)
	d.change.Topics = append(d.change.Topics, TopicChange{Op: OpDeleted, Topic: old.Name, Broker: q.Broker, Before: q.QueueSpec})
	d.next.topicsRevision = d.revision()
	if to == emptyLayout {
		d.newName = true
		return nil
	}
	t := d.version(old, old.Name, to, nil)
	if slices.ContainsFunc(t.mappings, func(m *Mapping) bool { return m.Broker == q.Broker }) {
		t.mappings = slices.DeleteFunc(slices.Clone(t.mappings), func(m *Mapping) bool { return m.Broker == q.Broker })
		if len(t.mappings) == 0 {
			t.mappings = nil
		}
	}
	return t
}

// setMapping stores a broker's part of a static topic, if the broker serves the topic.
func (d *draft) setMapping(m *Mapping) {
	old := d.next.topics.get(m.Topic)
	if old == nil {
		return
	}
	q := old.layout.find(m.Broker)
	if q == nil {
		return // it would outlive its broker
	}
	i, found := slices.BinarySearchFunc(old.mappings, m.Broker, func(x *Mapping, b string) int { return strings.Compare(x.Broker, b) })
	if found && old.mappings[i].equal(m) {
		return
	}
	t := d.putTopic(old, m.Topic, old.layout, nil)
	t.mappings = slices.Clone(old.mappings)
	if found {
		t.mappings[i] = m
	} else {
		t.mappings = slices.Insert(t.mappings, i, m)
	}
	d.table(m.Broker) // so that the broker's next registration is compared again
	d.change.Topics = append(d.change.Topics,
		TopicChange{Op: OpChanged, Mapping: true, Topic: m.Topic, Broker: m.Broker, Before: q.QueueSpec, After: q.QueueSpec})
	d.next.topicsRevision = d.revision()
}

// putGroup stores a new version of a group, keeping clusters' coming and going.
func (d *draft) putGroup(old, g *Group) {
	g.Revision = d.revision()
	g.h = hashString(g.Name)
	if g.masterless = d.reg.now(); old != nil && !old.HasMaster() {
		g.masterless = old.masterless
	}
	d.next.groups.put(g, d.own)
	d.groupsMoved()
	if old == nil || old.Cluster != g.Cluster {
		d.clusterMoved(g.Cluster, OpCreated, g.Name)
		if old != nil {
			d.clusterMoved(old.Cluster, OpDeleted, g.Name)
		}
	}
}

// dropGroup removes a group and everything that only it served.
func (d *draft) dropGroup(g *Group) {
	if t := d.next.tables.get(g.Name); t != nil {
		d.change.Topics = slices.Grow(d.change.Topics, t.topics.len())
		d.roomFor = topicsAtOnce
		var from *layout // most topics have the same, one after another
		var q QueueData
		merge(&d.next.topics, t.topics, d.own, func(old *Topic, _ *Listed) *Topic {
			if old.layout != from {
				from, q = old.layout, *old.layout.find(g.Name)
			}
			return d.without(old, q)
		})
		d.next.tables.del(g.Name, d.own)
	}
	d.next.groups.del(g.Name, d.own)
	d.groupsMoved()
	d.clusterMoved(g.Cluster, OpDeleted, g.Name)
}

func (d *draft) groupsMoved() {
	d.newView = true
	d.next.groupsRevision = d.revision()
}

// clusterMoved reports a cluster that came with its first group or went with its
// last, seen from the group that has just joined or left it.
func (d *draft) clusterMoved(cluster string, op Op, group string) {
	for g := range d.next.groups.all() {
		if g.Cluster == cluster && g.Name != group {
			return
		}
	}
	d.change.Clusters = append(d.change.Clusters, ClusterChange{Op: op, Cluster: cluster})
}

// putLive stores a registration whose lease h holds from now on.
func (d *draft) putLive(l *Live, h Holder) {
	d.count(d.next.lives.get(l.k), -1)
	d.count(l, 1)
	d.next.lives.put(l, d.own)
	d.dirty = true
	d.reg.bind(l.k, l.lease, h)
}

// dropLive removes a registration and forgets that its holder held it.
func (d *draft) dropLive(l *Live) {
	d.count(l, -1)
	d.reg.bind(l.k, l.lease, nil)
	l.lease.end()
	d.next.lives.del(l.k, d.own)
	d.dirty = true
}

// count keeps the numbers of unconfirmed and of suspect members.
func (d *draft) count(l *Live, n int) {
	if l != nil && l.Unconfirmed() {
		d.next.unconfirmed += n
	}
	if l != nil && l.suspect {
		d.next.suspects += n
	}
}
