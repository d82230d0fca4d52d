package registry

import (
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// Holder is what a registration lives and dies with: a broker's connection.
// Holders are compared by identity, so the type must be a pointer.
type Holder interface {
	// Evict tells the holder that nothing it held is registered any more and why.
	// It is called without any lock and must not wait.
	Evict(reason string)
}

// Source is the face through which a member registered.
type Source uint8

// The faces through which a member may register.
const (
	FromRemoting Source = iota
	FromREST
)

// String returns "remoting" or "rest".
func (s Source) String() string {
	if s == FromREST {
		return "rest"
	}
	return "remoting"
}

// Acting is what a broker said about enableActingMaster. Saying nothing marks a
// 4.x broker, which is treated differently from one that says false.
type Acting uint8

// The three answers.
const (
	ActingUnsaid Acting = iota
	ActingOff
	ActingOn
)

// Group is all members of one broker name, at one revision. It is immutable.
type Group struct {
	Name    string
	Cluster string
	// Zone is what the member that registered last said; HasZone tells "" from unsaid.
	Zone    string
	HasZone bool
	// Acting allows a slave to act for a missing master.
	Acting bool
	// Members are sorted by id.
	Members []Member
	// Revision is that of the last change to anything above.
	Revision uint64
	// masterless is since when the group has had no master, if it has none.
	masterless time.Time
	h          uint64
}

func (g *Group) key() string  { return g.Name }
func (g *Group) hash() uint64 { return g.h }

// Member is one broker's place in its group.
type Member struct {
	ID   int64
	Addr string
	// Cluster is the label under which the member registered. It is the group's
	// unless the name is used in two clusters at once.
	Cluster string
	// Filters are the filter servers that the member announced.
	Filters []string
}

// Addr returns the address of the member with that id, or "".
func (g *Group) Addr(id int64) string {
	if i, ok := g.at(id); ok {
		return g.Members[i].Addr
	}
	return ""
}

// HasMaster reports whether the group has a member with id 0.
func (g *Group) HasMaster() bool { return g.Addr(0) != "" }

func (g *Group) at(id int64) (int, bool) {
	return slices.BinarySearchFunc(g.Members, id, func(m Member, id int64) int {
		switch {
		case m.ID < id:
			return -1
		case m.ID > id:
			return 1
		}
		return 0
	})
}

// place returns the index of the member that registered as (cluster, addr), or -1.
func (g *Group) place(cluster, addr string) int {
	return slices.IndexFunc(g.Members, func(m Member) bool { return m.Addr == addr && m.Cluster == cluster })
}

func (g *Group) equal(o *Group) bool {
	return g.Name == o.Name && g.Cluster == o.Cluster && g.Zone == o.Zone && g.HasZone == o.HasZone && g.Acting == o.Acting &&
		slices.EqualFunc(g.Members, o.Members, func(a, b Member) bool {
			return a.ID == b.ID && a.Addr == b.Addr && a.Cluster == b.Cluster && slices.Equal(a.Filters, b.Filters)
		})
}

// MemberInfo is what one address of a cluster last registered, as plain data.
type MemberInfo struct {
	Cluster, Addr string
	Name          string
	ID            int64
	// HAAddr is where slaves replicate from; HasHA tells "" from unsaid.
	HAAddr string
	HasHA  bool
	// Timeout is how long the member lives without being heard of.
	Timeout time.Duration
	Version DataVersion
	Acting  Acting
	Zone    string
	HasZone bool
	Source  Source
	// Owner is the principal that registered a REST member, "" for remoting.
	Owner string
	// PeerVersion is the sender's version number, 0 if it gave none; Language its language.
	PeerVersion int
	Language    string
}

// Live is a member's registration at one revision. It is immutable but for the
// lease. A Live whose address has lost its place in the group (another address
// took its id) stays until it expires, as the peers' live table does.
type Live struct {
	MemberInfo
	// Registered is when this address first registered without a break since.
	Registered time.Time
	// Revision is that of the last change to the MemberInfo.
	Revision uint64
	listing  *listing
	counted  bool // the topics of the listing count: they are the broker's
	total    int  // topics of the last statement
	whole    bool // all of the listing was last compared, not a part of it
	clean    bool // every topic of the listing then stood as it was listed
	print    Fingerprint
	settled  basis // what the registration stood on when it was last compared
	lease    *lease
	// patience is how long an unconfirmed member may stay silent, 0 for any other.
	patience time.Duration
	suspect  bool // over its time and kept
	k        string
	h        uint64
}

func (l *Live) key() string  { return l.k }
func (l *Live) hash() uint64 { return l.h }

// LastSeen returns when the member last registered or sent a heartbeat.
func (l *Live) LastSeen() time.Time {
	seen := l.lease.seen.Load()
	if seen < 0 {
		seen = ^seen
	}
	return l.lease.start.Add(time.Duration(seen))
}

// ExpiresAt returns when the member leaves unless it is heard of before.
func (l *Live) ExpiresAt() time.Time {
	return l.LastSeen().Add(l.allowed() + time.Duration(l.lease.spare.Load()))
}

// allowed is how long the member may be silent.
func (l *Live) allowed() time.Duration {
	if l.patience > 0 {
		return l.patience
	}
	return l.Timeout
}

// Lists reports whether the broker's current statement names the topic. A member
// whose topics do not count (a slave of a live master) lists none. It looks through
// the whole statement.
func (l *Live) Lists(topic string) bool {
	return l.counted && slices.ContainsFunc(l.listing.topics, func(x *Listed) bool { return x.Name == topic })
}

// ListedSince returns when the broker first spoke of its present data version.
// Topics that it has not named since then are leftovers once it has had time for
// a whole registration. ok is false if it never listed any.
func (l *Live) ListedSince() (t time.Time, ok bool) {
	if !l.counted {
		return time.Time{}, false
	}
	return l.listing.since, true
}

// lease is the one part of a snapshot that moves: when a member was last heard
// of, and over which connection. All snapshots that name the member share it.
type lease struct {
	start time.Time // the registry's start, with its monotonic reading
	// seen is in nanoseconds since start. A lease that has ended holds the
	// complement of that, which is negative, and is never renewed.
	seen atomic.Int64
	// spare is silence since then that does not count, because this process slept.
	spare atomic.Int64
	// holder is the connection over which the member was last heard of; earlier is the
	// one over which it registered, if that is another and still open. The member leaves
	// when neither is left. Both are written under Registry.mu.
	holder, earlier atomic.Pointer[Holder]
}

func (l *lease) heldBy(h Holder) bool {
	p := l.holder.Load()
	return p != nil && *p == h
}

// touch renews the lease and reports whether it had not ended.
func (l *lease) touch(now time.Time) bool {
	at := int64(now.Sub(l.start))
	for {
		was := l.seen.Load()
		if was < 0 {
			return false
		}
		if was >= at || l.seen.CompareAndSwap(was, at) {
			if l.spare.Load() != 0 {
				l.spare.Store(0)
			}
			return true
		}
	}
}

// expire ends the lease if it has been silent for longer than the timeout, and
// reports whether it did. A heartbeat at the same moment either prevents that or
// is told that it came too late.
func (l *lease) expire(now time.Time, timeout time.Duration) bool {
	was := l.seen.Load()
	if was < 0 || !l.silent(now, timeout) {
		return false
	}
	return l.seen.CompareAndSwap(was, ^was)
}

func (l *lease) silent(now time.Time, timeout time.Duration) bool {
	return now.Sub(l.start)-time.Duration(l.seen.Load()+l.spare.Load()) > timeout
}

// forgive takes late off the silence, and as much more as leaves least of the timeout, if
// least is not 0.
func (l *lease) forgive(now time.Time, late, timeout, least time.Duration) {
	seen := l.seen.Load()
	if seen < 0 {
		return
	}
	silence := now.Sub(l.start) - time.Duration(seen)
	spare := time.Duration(l.spare.Load()) + late
	if least > 0 {
		spare = max(spare, silence-timeout+least)
	}
	l.spare.Store(int64(max(0, min(spare, silence))))
	if l.seen.Load() != seen {
		l.spare.Store(0) // it was heard of just now
	}
}

func (l *lease) end() {
	for {
		was := l.seen.Load()
		if was < 0 || l.seen.CompareAndSwap(was, ^was) {
			return
		}
	}
}

// Fingerprint identifies a registration's bytes, so that a repeat is recognised
// without decoding it. The zero value identifies nothing.
type Fingerprint struct {
	Hi, Lo uint64
	Len    int
}

// basis is everything that decides what a registration does, by identity: as long
// as it is the same, the same registration again does nothing.
type basis struct {
	group *Group
	table *table
	rules *Rules
}

// listing is what a broker has named under one data version, in the order of its body.
type listing struct {
	topics []*Listed
	since  time.Time
	// stretches are how the topics were written, nil if that is not known.
	stretches []Stretch
}

// table is everything one broker name serves: the reverse of the topics' queue
// data. It is replaced by any change to that queue data, whoever makes it, so its
// identity tells whether a plan made outside the lock still holds.
type table struct {
	broker string
	topics index[*Listed]
	wipe   *Wipe
	// unnamed are those that stand from before a restart and that the broker has not
	// named since; namedAt is when it first named any.
	unnamed index[*Listed]
	namedAt time.Time
	own     *owner
	h       uint64
}

func (t *table) key() string  { return t.broker }
func (t *table) hash() uint64 { return t.h }

// Wipe tells that a broker's write permission was taken away and not yet given back.
type Wipe struct {
	At       time.Time
	Revision uint64
	Cause    Cause
	// Topics is how many topics the broker had then.
	Topics int
}

func liveKey(cluster, addr string) string { return string(appendLiveKey(nil, cluster, addr)) }

// appendLiveKey is liveKey into a buffer, for lookups that must not allocate. Keys sort
// by cluster and address; the length at the end keeps apart what a name with a zero byte
// in it would make equal.
func appendLiveKey(b []byte, cluster, addr string) []byte {
	b = append(b, cluster...)
	b = append(b, 0)
	b = append(b, addr...)
	b = append(b, 0)
	return strconv.AppendInt(b, int64(len(cluster)), 10)
}

// syncTopicPrefix begins the names of the topics through which brokers read the
// true ids of their group; acting masters never show in their routes.
const syncTopicPrefix = "rmq_sys_SYNC_BROKER_MEMBER_"

func isSyncTopic(topic string) bool { return strings.HasPrefix(topic, syncTopicPrefix) }
