package registry

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// DisputeKind is what brokers are at odds about.
type DisputeKind uint8

// The kinds.
const (
	// NameInTwoClusters: brokers of two clusters use one broker name.
	NameInTwoClusters DisputeKind = iota
	// RegistrationRefused: a registration was refused as a whole; Code says why.
	RegistrationRefused
	// PlaceContested: two addresses take the same broker name and id from each other.
	PlaceContested
	// AddressContested: two broker names take the same address from each other.
	AddressContested
	// RemovalRefused: somebody unregistered a place that another address holds by now,
	// so the member stayed.
	RemovalRefused
)

var disputeNames = [...]string{
	"name-in-two-clusters", "registration-refused", "place-contested", "address-contested", "removal-refused",
}

// String returns the word for the kind, such as "place-contested".
func (k DisputeKind) String() string { return disputeNames[k] }

// DisputeKinds returns every kind.
func DisputeKinds() []DisputeKind {
	return []DisputeKind{NameInTwoClusters, RegistrationRefused, PlaceContested, AddressContested, RemovalRefused}
}

const (
	// maxDisputes bounds what is remembered: of more, those that were seen longest ago go.
	maxDisputes = 256
	// DisputeKept is how long a conflict is remembered after it was last seen.
	DisputeKept = time.Hour
	// DisputeActive is how long after it was last seen a conflict counts as going on:
	// brokers register every half minute, and one that was refused does so again.
	DisputeActive = 3 * time.Minute
	// contestWithin is how soon a place has to change hands again to be fought for. A
	// broker that moved to another address does so once.
	contestWithin = 10 * time.Minute
	// contestFrom is how often it has to: twice is a failover and the way back.
	contestFrom = 3
)

// Dispute is something that brokers do to each other, summed up over all the times it
// was seen.
type Dispute struct {
	Kind DisputeKind
	// Broker, ID, Cluster and Addr are those of whoever came last. ID is -1 if nothing
	// told it.
	Broker  string
	ID      int64
	Cluster string
	Addr    string
	// Other is whom it stands against: an address, a cluster, or a name and id.
	Other string
	// Code is the refusal's, empty for other kinds; Detail is one sentence without a
	// full stop.
	Code, Detail string
	// First and Last are when it was seen, Count how often.
	First, Last time.Time
	Count       uint64
	// Active tells one that stands now, or was seen so lately that it may go on.
	Active bool
}

// disputeKey tells conflicts apart.
type disputeKey struct {
	kind                DisputeKind
	broker              string
	id                  int64
	code, one, theOther string
}

// disputeBook is the memory of conflicts. It is guarded by Registry.mu.
type disputeBook struct {
	seen map[disputeKey]*Dispute
}

// maxDisputed is the longest text of a peer's that is kept, in bytes: names of a megabyte
// are possible, and what is remembered must stay small.
const maxDisputed = 256

// clip returns a copy of a text that keeps nothing else alive.
func clip(s string) string {
	if len(s) > maxDisputed {
		return strings.ToValidUTF8(s[:maxDisputed], "") + "…"
	}
	return strings.Clone(s)
}

// note takes in that a conflict was seen.
func (b *disputeBook) note(k disputeKey, c Dispute, now time.Time) {
	for _, s := range []*string{&k.broker, &k.one, &k.theOther, &c.Broker, &c.Cluster, &c.Addr, &c.Other, &c.Detail} {
		*s = clip(*s)
	}
	if b.seen == nil {
		b.seen = make(map[disputeKey]*Dispute)
	}
	c.First, c.Last, c.Count = now, now, 1
	if old := b.seen[k]; old != nil {
		if contest := c.Kind == PlaceContested || c.Kind == AddressContested; !contest || now.Sub(old.Last) <= contestWithin {
			c.First, c.Count = old.First, old.Count+1
		}
		*old = c
		return
	}
	if len(b.seen) >= maxDisputes {
		b.forget(now)
	}
	b.seen[k] = &c
}

// forget makes room: what is too old goes, and if nothing is, the oldest.
func (b *disputeBook) forget(now time.Time) {
	var oldest disputeKey
	var at time.Time
	for k, c := range b.seen {
		if now.Sub(c.Last) > DisputeKept {
			delete(b.seen, k)
		} else if at.IsZero() || c.Last.Before(at) {
			oldest, at = k, c.Last
		}
	}
	if len(b.seen) >= maxDisputes {
		delete(b.seen, oldest)
	}
}

// read takes in the conflicts that a change tells of.
func (b *disputeBook) read(ch *Change, now time.Time) {
	for i := range ch.Members {
		switch m := &ch.Members[i]; {
		case m.After == nil && m.Op == OpRejected:
			// A report that says no more cannot be told from others of the member.
		case m.Op == OpRejected:
			b.note(disputeKey{RegistrationRefused, m.Broker, m.ID, m.Code, m.After.Cluster, m.After.Addr}, Dispute{
				Kind: RegistrationRefused, Broker: m.Broker, ID: m.ID, Cluster: m.After.Cluster, Addr: m.After.Addr, Code: m.Code, Detail: m.Detail,
			}, now)
		case m.Op == OpDeleted && m.Code == addressMoved:
			to := movedTo(ch, m)
			if to == nil || to.Name == m.Broker {
				continue // it only changed its id, as in a change of mastership
			}
			was := m.Broker + "/" + strconv.FormatInt(m.ID, 10)
			is := to.Name + "/" + strconv.FormatInt(to.ID, 10)
			b.note(disputeKey{AddressContested, m.Before.Addr, 0, "", min(was, is), max(was, is)}, Dispute{
				Kind: AddressContested, Broker: to.Name, ID: to.ID, Cluster: to.Cluster, Addr: to.Addr, Other: was,
				Detail: "the address was that of " + was,
			}, now)
		case m.Before != nil && m.After != nil:
			b.readTaken(m, now)
		case m.After != nil && m.Code == inOtherCluster:
			b.noteClash(m, now)
		}
	}
}

func (b *disputeBook) readTaken(m *MemberChange, now time.Time) {
	if m.Code == inOtherCluster {
		b.noteClash(m, now)
		return
	}
	was, is := m.Before.Addr, m.After.Addr
	if was == is {
		return
	}
	b.note(disputeKey{PlaceContested, m.Broker, m.ID, "", min(was, is), max(was, is)}, Dispute{
		Kind: PlaceContested, Broker: m.Broker, ID: m.ID, Cluster: m.After.Cluster, Addr: is, Other: was,
		Detail: "the place was held by " + was,
	}, now)
}

func (b *disputeBook) noteClash(m *MemberChange, now time.Time) {
	other, joined := strings.CutPrefix(m.Detail, belongsTo)
	if !joined && m.Before != nil {
		other = m.Before.Cluster // whose place it took, and with it the name
	}
	b.note(disputeKey{NameInTwoClusters, m.Broker, 0, "", "", ""}, Dispute{
		Kind: NameInTwoClusters, Broker: m.Broker, ID: m.ID, Cluster: m.After.Cluster, Addr: m.After.Addr, Other: other, Detail: m.Detail,
	}, now)
}

// movedTo returns what the address of a member that lost its place registered instead.
func movedTo(ch *Change, gone *MemberChange) *MemberInfo {
	for i := range ch.Members {
		if m := &ch.Members[i]; m.After != nil && m.After.Addr == gone.Before.Addr {
			return m.After
		}
	}
	return nil
}

// noteStayed takes in that a member was to be unregistered by an address that no longer
// holds its place.
func (b *disputeBook) noteStayed(s *Snapshot, cluster, name, addr string, id int64, now time.Time) {
	g := s.groups.get(name)
	if g == nil {
		return
	}
	holder := g.Addr(id)
	if holder == "" || holder == addr {
		return
	}
	b.note(disputeKey{RemovalRefused, name, id, "", cluster, addr}, Dispute{
		Kind: RemovalRefused, Broker: name, ID: id, Cluster: cluster, Addr: addr, Other: holder,
		Detail: "the place is held by " + holder + ", which stays",
	}, now)
}

// Disputes returns what brokers are at odds about, the latest first, and a snapshot that
// knows all of it. At most some hundreds are remembered, each for [DisputeKept] after it
// was last seen. A contest is one from the third time that a place changes
// hands, each time soon after the last.
func (r *Registry) Disputes() ([]Dispute, *Snapshot) {
	now := r.now()
	r.mu.Lock()
	s := r.Snapshot()
	out := make([]Dispute, 0, len(r.disputes.seen))
	for _, c := range r.disputes.seen {
		contest := c.Kind == PlaceContested || c.Kind == AddressContested
		if now.Sub(c.Last) <= DisputeKept && (!contest || c.Count >= contestFrom) {
			out = append(out, *c)
		}
	}
	r.mu.Unlock()
	for i := range out {
		out[i].Active = now.Sub(out[i].Last) <= DisputeActive
	}
	out = s.standing(out)
	slices.SortFunc(out, func(a, b Dispute) int {
		return cmp.Or(b.Last.Compare(a.Last), cmp.Compare(a.Kind, b.Kind), strings.Compare(a.Broker, b.Broker),
			cmp.Compare(a.ID, b.ID), strings.Compare(a.Addr, b.Addr), strings.Compare(a.Other, b.Other), strings.Compare(a.Code, b.Code))
	})
	return out, s
}

// standing adds the names in two clusters that stand in the snapshot, whenever they were
// last heard of.
func (s *Snapshot) standing(known []Dispute) []Dispute {
	for _, g := range s.Groups() {
		i := slices.IndexFunc(g.Members, func(m Member) bool { return m.Cluster != g.Cluster })
		if i < 0 {
			continue
		}
		at := slices.IndexFunc(known, func(c Dispute) bool { return c.Kind == NameInTwoClusters && c.Broker == g.Name })
		if at < 0 {
			m, l := g.Members[i], s.LiveOf(g.Members[i])
			known = append(known, Dispute{
				Kind: NameInTwoClusters, Broker: g.Name, ID: m.ID, Cluster: m.Cluster, Addr: m.Addr,
				Detail: belongsTo + g.Cluster, First: l.Registered, Last: l.LastSeen(), Count: 1,
			})
			at = len(known) - 1
		}
		known[at].Active, known[at].Other = true, g.Cluster
	}
	return known
}
