package registry

import "maps"

// Removal is how a member left.
type Removal struct {
	// Source is the face through which the member had registered, Cause the way out.
	Source Source
	Cause  RemovalCause
}

// RemovalCause is why a member left.
type RemovalCause uint8

// The causes.
const (
	// RemovedExpired: nothing was heard of it for longer than its timeout.
	RemovedExpired RemovalCause = iota
	// RemovedDisconnected: its connection ended.
	RemovedDisconnected
	// RemovedUnregistered: it asked for that itself, over remoting or REST.
	RemovedUnregistered
	// RemovedMoved: its address registered under another name or id.
	RemovedMoved
)

var removalNames = [...]string{"expired", "disconnected", "unregistered", "moved"}

// String returns the word for the cause, such as "expired".
func (c RemovalCause) String() string { return removalNames[c] }

// RemovalCauses returns every cause.
func RemovalCauses() []RemovalCause {
	return []RemovalCause{RemovedExpired, RemovedDisconnected, RemovedUnregistered, RemovedMoved}
}

// Refusal is what a registration was refused for.
type Refusal struct {
	// Source is the face through which it came, Code that of the [Error].
	Source Source
	Code   string
}

// RefusalCodes returns every code with which Register refuses a whole registration
// that was well formed.
func RefusalCodes() []string {
	return []string{
		staleState, singleTopic, addressInUse, inOtherCluster, heldByRemoting, heldByOther,
	}
}

// Codes of refusals, and of other news.
const (
	staleState     = "stale-state-version"
	addressInUse   = "address-in-use"
	inOtherCluster = "broker-in-other-cluster"
	singleTopic    = "single-topic"
	heldByRemoting = "member-held-by-remoting"
	heldByOther    = "member-held-by-other"
	// addressMoved is no refusal: it tells why a member left.
	addressMoved = "address-moved"
)

// Counts are what has happened since the start. Each thing is counted in the transaction
// that made it, so that a count and the snapshot of its revision agree.
type Counts struct {
	// Removals are members that left.
	Removals map[Removal]uint64
	// Refusals are registrations that were refused.
	Refusals map[Refusal]uint64
	// Clashes are registrations that were taken although their broker name is used in
	// two clusters, and Moves members whose place another address took.
	Clashes, Moves uint64
	// TopicsCreated, TopicsChanged and TopicsDeleted are brokers' parts of topics.
	TopicsCreated, TopicsChanged, TopicsDeleted uint64
	// MassExpiries are alarms of members that vanished at once.
	MassExpiries uint64
	// Lagged are subscribers that were dropped because they did not keep up.
	Lagged uint64

	// HistoryChanges and HistoryBytes are what the history holds now; the bytes are a
	// rough measure.
	HistoryChanges, HistoryBytes int
	// Subscribers are those that follow the changes now.
	Subscribers int
}

// Counts returns the counts as they are now.
func (r *Registry) Counts() Counts {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := r.counts
	out.Removals, out.Refusals = maps.Clone(out.Removals), maps.Clone(out.Refusals)
	out.HistoryChanges, out.HistoryBytes, out.Subscribers = len(r.past.changes), r.past.bytes, len(r.subs)
	return out
}

// count takes a change into the counts. Registry.mu is held.
func (c *Counts) count(ch *Change) {
	if c.Removals == nil {
		c.Removals, c.Refusals = make(map[Removal]uint64), make(map[Refusal]uint64)
	}
	for i := range ch.Members {
		c.countMember(&ch.Members[i])
	}
	for i := range ch.Server {
		if ch.Server[i].Op == OpMassExpiry {
			c.MassExpiries++
		}
	}
	for i := range ch.Topics {
		switch {
		case ch.Topics[i].Mapping:
		case ch.Topics[i].Op == OpCreated:
			c.TopicsCreated++
		case ch.Topics[i].Op == OpDeleted:
			c.TopicsDeleted++
		default:
			c.TopicsChanged++
		}
	}
}

func (c *Counts) countMember(m *MemberChange) {
	switch m.Op {
	case OpRejected:
		c.Refusals[Refusal{m.source(), m.Code}]++
	case OpExpired:
		c.Removals[Removal{m.source(), RemovedExpired}]++
	case OpDisconnected:
		c.Removals[Removal{m.source(), RemovedDisconnected}]++
	case OpDeleted:
		cause := RemovedUnregistered
		if m.Code == addressMoved {
			cause = RemovedMoved
		}
		c.Removals[Removal{m.source(), cause}]++
	default:
		if m.Code == inOtherCluster {
			c.Clashes++
		}
		if m.Before != nil && m.After != nil && m.Before.Addr != m.After.Addr {
			c.Moves++
		}
	}
}

// source is the face of the member: of one that is gone, as it was. A report may name a
// member without saying any more of it.
func (m *MemberChange) source() Source {
	switch {
	case m.After != nil:
		return m.After.Source
	case m.Before != nil:
		return m.Before.Source
	}
	return FromRemoting
}
