package main

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"fingerpost/internal/nstest"
	"fingerpost/remoting/wire"
)

const (
	// patience is how long something may take that has to come: long enough for any
	// machine, so that only what never comes is a violation.
	patience = 60 * time.Second
	// lifetime is the timeout of a member that is to stay, a broker's usual one.
	lifetime = 120 * time.Second
	// margin is how long before its end a member is no longer relied on.
	margin = 40 * time.Second
	// shortLife is the timeout of a member that is to expire.
	shortLife = 300 * time.Millisecond
)

// state is what a worker knows of a member.
type state uint8

const (
	gone    state = iota // not registered
	alive                // registered and settled
	leaving              // taken out in a way that the server notices by itself
)

// group is one broker name. It belongs to one worker, except for what says otherwise.
type group struct {
	name, cluster string
	acting        wire.Bool
	header        wire.HeaderType
	compressed    bool
	shared        []string // topics that other groups serve too; never changed
	own           []string // its own
	queues        []int32  // of each of its own topics
	counter       int64    // of the data version
	members       []*member

	mu    sync.Mutex
	trail []string // its latest steps, for whoever finds something wrong; guarded by mu
}

// note keeps a step.
func (g *group) note(format string, args ...any) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.trail = append(g.trail, fmt.Sprintf(format, args...)); len(g.trail) > 12 {
		g.trail = slices.Delete(g.trail, 0, 1)
	}
}

// steps returns the latest steps.
func (g *group) steps() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return append([]string{"the latest steps of " + g.name + ":"}, g.trail...)
}

func (g *group) master() *member { return g.members[0] }

func (g *group) serves(topic string) bool { return slices.Contains(g.shared, topic) }

// member is one broker of a group.
type member struct {
	g     *group
	id    int64
	addr  string
	state state
	since time.Time // when it began to leave
	link  *link     // nil if there is none

	// mark is even while the member is settled; every change of it is a new time.
	mark atomic.Uint64
	// until is when it would expire if nothing more were heard of it, less a margin.
	until atomic.Int64
}

// disturb tells readers that the member may be missing from now on.
func (m *member) disturb() {
	if m.mark.Load()%2 == 0 {
		m.mark.Add(1)
	}
}

// settle tells readers that the member is there, by an answer that has just come to a
// request sent after began.
func (m *member) settle(began time.Time) {
	m.heard(began)
	m.state = alive
	if m.mark.Load()%2 == 1 {
		m.mark.Add(1)
	}
}

func (m *member) heard(began time.Time) { m.until.Store(began.Add(lifetime - margin).UnixNano()) }

// due reports whether the member should send a heartbeat.
func (m *member) due(now time.Time) bool {
	return m.state == alive && time.Unix(0, m.until.Load()).Sub(now) < (lifetime-margin)/2
}

// leave is what a worker notes when it has taken the member out.
func (m *member) leave(s state) {
	m.disturb()
	m.state, m.since = s, time.Now()
}

func (m *member) String() string { return fmt.Sprintf("%s/%d at %s", m.g.name, m.id, m.addr) }

// link is a connection and the members that registered over it: two in a container.
type link struct {
	client  *nstest.Client
	members []*member
}

// statement is how a registration differs from the usual one.
type statement struct {
	cluster, addr string
	id            int64
	timeout       time.Duration
	state         int64
}

func (m *member) usual() statement {
	return statement{cluster: m.g.cluster, addr: m.addr, id: m.id, timeout: lifetime}
}

// registration returns the fields and the body of a registration.
func (g *group) registration(s statement) (wire.Fields, []byte, error) {
	b := wire.RegisterBody{DataVersion: wire.DataVersion{StateVersion: s.state, Timestamp: 1_700_000_000_000, Counter: g.counter}}
	for _, t := range g.shared {
		b.Topics = append(b.Topics, wire.TopicConfig{Name: t, ReadQueues: 8, WriteQueues: 8, Perm: wire.DefaultPerm})
	}
	for i, t := range g.own {
		b.Topics = append(b.Topics, wire.TopicConfig{Name: t, ReadQueues: g.queues[i], WriteQueues: g.queues[i], Perm: wire.DefaultPerm})
	}
	var body []byte
	if g.compressed {
		var err error
		if body, err = b.AppendCompressed(nil, wire.V5_5_0); err != nil {
			return nil, nil, err
		}
	} else {
		body = b.AppendJSON(nil)
	}
	h := wire.RegisterBrokerHeader{
		Broker:       wire.BrokerIdentity{Cluster: wire.TextOf(s.cluster), Name: wire.TextOf(g.name), Addr: wire.TextOf(s.addr), ID: wire.IntOf(s.id)},
		HAServerAddr: wire.TextOf("ha." + s.addr), EnableActingMaster: g.acting, Compressed: g.compressed,
		HeartbeatTimeoutMillis: wire.IntOf(s.timeout.Milliseconds()), BodyCRC: wire.IntOf(int64(wire.BodyCRC(body))),
	}
	return h.Fields(), body, nil
}

// identity returns the fields of requests that only name the broker.
func (g *group) identity(s statement) wire.Fields {
	id := wire.BrokerIdentity{Cluster: wire.TextOf(s.cluster), Name: wire.TextOf(g.name), Addr: wire.TextOf(s.addr), ID: wire.IntOf(s.id)}
	return id.Fields()
}

// world is everything there is to know: all members, for readers.
type world struct {
	groups  []*group
	byName  map[string]*group
	members []*member
	topics  []string // the shared ones
}

// marks are what readers remember of a moment.
type marks []uint64

// look fills in the marks of all members.
func (w *world) look(into marks) marks {
	into = into[:0]
	for _, m := range w.members {
		into = append(into, m.mark.Load())
	}
	return into
}

// held yields the members that were settled all the time since before was looked up, and
// cannot have expired.
func (w *world) held(before marks, yield func(*member) bool) {
	now := time.Now().UnixNano()
	for i, m := range w.members {
		if before[i]%2 == 0 && m.mark.Load() == before[i] && m.until.Load() > now {
			if !yield(m) {
				return
			}
		}
	}
}
