package registry

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// clock is a clock that only moves when it is told to.
type clock struct{ past atomic.Int64 }

var clockStart = time.Date(2025, 11, 29, 6, 0, 0, 0, time.UTC)

func (c *clock) now() time.Time          { return clockStart.Add(time.Duration(c.past.Load())) }
func (c *clock) advance(d time.Duration) { c.past.Add(int64(d)) }

// conn is a broker's connection, as far as the registry knows one.
type conn struct {
	name string
	mu   sync.Mutex
	why  []string
}

func (c *conn) Evict(reason string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.why = append(c.why, reason)
}

// evictions returns the reasons since it was last asked.
func (c *conn) evictions() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	why := c.why
	c.why = nil
	return why
}

// bed is a registry with a clock and named connections.
type bed struct {
	rapid.TB
	*Registry
	clock *clock
	conns map[string]*conn
}

// newBed returns an empty registry that is checked when the test ends.
func newBed(t testing.TB, rules ...func(*Rules)) *bed {
	t.Helper()
	b := makeBed(t, Options{}, rules...)
	t.Cleanup(func() { check(t, b.Registry) })
	return b
}

func makeBed(t rapid.TB, o Options, rules ...func(*Rules)) *bed {
	c := &clock{}
	r := DefaultRules()
	for _, f := range rules {
		f(&r)
	}
	o.Now, o.Rules = c.now, &r
	return &bed{TB: t, Registry: New(o), clock: c, conns: make(map[string]*conn)}
}

// conn returns the connection of that name, nil for "".
func (b *bed) conn(name string) Holder {
	if name == "" {
		return nil
	}
	if b.conns[name] == nil {
		b.conns[name] = &conn{name: name}
	}
	return b.conns[name]
}

// broker is one broker of a test, with what it registers.
type broker struct {
	cluster, name, addr string
	id, version         int64
	acting              Acting
	topics              string // as "T1 T2:4/4/6"
	change              func(*Registration)
}

func (x broker) info() MemberInfo {
	return MemberInfo{
		Cluster: x.cluster, Addr: x.addr, Name: x.name, ID: x.id, Acting: x.acting,
		Timeout: DefaultTimeout, Version: DataVersion{Counter: x.version},
	}
}

// try registers x over the connection of that name.
func (b *bed) try(x broker, conn string) (Registered, error) {
	reg := Registration{MemberInfo: x.info(), Topics: b.Snapshot().NewStatement(x.cluster, x.addr)}
	for f := range strings.FieldsSeq(x.topics) {
		name, c, err := parseTopic(f)
		if err != nil {
			b.Fatal(err)
		}
		reg.Topics.Add(name, c)
	}
	if x.change != nil {
		x.change(&reg)
	}
	return b.Register(reg, b.conn(conn), byRegistration(x.addr))
}

func byRegistration(addr string) Cause {
	return Cause{Face: "remoting", Action: "registerBroker", Actor: addr}
}

// must is try for a registration that is not refused.
func (b *bed) must(x broker, conn string) Registered {
	b.Helper()
	res, err := b.try(x, conn)
	if err != nil {
		b.Fatalf("register %+v: %v", x, err)
	}
	return res
}

// dump returns the present snapshot as text.
func (b *bed) dump() string { return dumpOf(b.Snapshot()) }

func dumpOf(s *Snapshot) string {
	var w strings.Builder
	s.Dump(&w) // a Builder takes everything
	return w.String()
}

// queue returns what clients see of a broker's part of a topic, or "none".
func (b *bed) queue(topic, broker string) string {
	t := b.Snapshot().Topic(topic)
	if t == nil {
		return "none"
	}
	q, ok := t.Queue(broker)
	if !ok {
		return "none"
	}
	return specText(q.QueueSpec)
}

// addrs returns the members of a group as "0=@a 1=@b", "" for an unknown one.
func (b *bed) addrs(group string) string {
	g := b.Snapshot().Group(group)
	if g == nil {
		return ""
	}
	return membersText(g.Members)
}

func (b *bed) want(what, got, want string) {
	b.Helper()
	if got != want {
		b.Errorf("%s is %q, not %q", what, got, want)
	}
}

// pass lets time go by with a sweep every five seconds, as in a running server.
func (b *bed) pass(d time.Duration) (gone []Swept) {
	for ; d > 0; d -= sweepEvery {
		b.clock.advance(min(d, sweepEvery))
		if s := b.Sweep(sweepEvery, Cause{Face: "server", Action: "expire"}); len(s.Expired) > 0 || s.Late > 0 {
			gone = append(gone, s)
		}
	}
	return gone
}

const sweepEvery = 5 * time.Second

// collect returns the changes that a subscription holds now.
func collect(s *Subscription) (out []*Change) {
	for {
		select {
		case c, ok := <-s.C:
			if !ok {
				return out
			}
			out = append(out, c)
		default:
			return out
		}
	}
}

func infoNames(infos []MemberInfo) string {
	out := make([]string, 0, len(infos))
	for _, i := range infos {
		out = append(out, i.Name+" "+i.Addr)
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}
