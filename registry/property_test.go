package registry

import (
	"fmt"
	"hash/fnv"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// TestAgainstModel does at random to a registry and to its model whatever may be done to
// one, and compares them, the answers and the changes told after every step.
func TestAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := newPair(t)
		t.Repeat(map[string]func(*rapid.T){
			"register":   p.register,
			"again":      p.again,
			"amend":      p.amend,
			"unregister": p.unregister,
			"release":    p.releaseOne,
			"sweep":      p.sweepSome,
			"heartbeat":  p.heartbeat,
			"perms":      p.perms,
			"delete":     p.delete,
			"declare":    p.declare,
			"kv":         p.keyValue,
			"rules":      p.setRules,
			"":           p.compare,
		})
	})
}

// pair is a registry with its model and everything that was seen of it.
type pair struct {
	*bed
	m     *model
	sub   *Subscription
	told  *told
	last  []modelReg // the latest registrations, to be repeated
	kept  []kept
	plans []planned
	heard []*Change // the changes of the present step
}

// planned is a registration that was worked out against an earlier state and not made.
type planned struct {
	reg  Registration
	plan *plan
}

type kept struct {
	s    *Snapshot
	dump string
}

func newPair(t *rapid.T) *pair {
	p := &pair{bed: makeBed(t, Options{}), m: newModel(), told: newTold()}
	_, p.sub = p.Subscribe(1000)
	return p
}

// notices returns those of the changes since the last call.
func (p *pair) notices() (out []MinIDChange) {
	changes := collect(p.sub)
	p.heard = append(p.heard, changes...)
	for _, c := range changes {
		out = append(out, c.MinIDs...)
	}
	return out
}

func (p *pair) same(t *rapid.T, what string, want, got any) {
	t.Helper()
	if d := cmp.Diff(want, got, exported, cmpopts.EquateEmpty()); d != "" {
		t.Fatalf("%s (-model +registry):\n%s", what, d)
	}
}

var exported = cmp.AllowUnexported(modelPart{}, liveID{}, memberID{}, partID{}, modelAnswer{})

func (p *pair) compare(t *rapid.T) {
	s := p.Snapshot()
	p.same(t, "state", p.m.plain(), plainOf(s))
	p.notices()
	for _, c := range p.heard {
		for _, wrong := range p.told.hear(c) {
			t.Fatalf("%s:\n%s", wrong, changeText(c))
		}
	}
	if d := cmp.Diff(toldOf(s), p.told, exported, cmp.AllowUnexported(told{})); d != "" {
		t.Fatalf("the changes tell something else than the state (-state +told):\n%s", d)
	}
	p.heard = nil
	check(t, p.Registry)
	for i, k := range p.kept {
		if now := dumpOf(k.s); now != k.dump {
			t.Fatalf("kept snapshot %d has changed:\n%s", i, cmp.Diff(k.dump, now))
		}
	}
	p.plans = slices.DeleteFunc(p.plans, func(x planned) bool { return !p.stillSame(t, x) })
	if p.kept = append(p.kept, kept{s, dumpOf(s)}); len(p.kept) > 4 {
		p.kept = slices.Delete(p.kept, 1, 2)
	}
}

// stillSame compares a plan that says it holds with one made now.
func (p *pair) stillSame(t *rapid.T, x planned) bool {
	s := p.Snapshot()
	if !x.plan.holds(s) {
		return false
	}
	old, now := x.plan, s.plan(&x.reg, p.now())
	if old.group != old.was.group || now.group != now.was.group {
		if !old.group.equal(now.group) {
			t.Fatalf("a plan holds, but the group would be %+v, not %+v", now.group, old.group)
		}
		now.group = old.group
	}
	if old.listing != nil && now.listing != nil && slices.Equal(old.listing.topics, now.listing.topics) {
		now.listing = old.listing
	}
	slices.Sort(old.gone)
	slices.Sort(now.gone)
	// Which topics there were is looked up again if the snapshot is another one.
	old.snap, old.known, now.snap, now.known = nil, nil, nil, nil
	if !reflect.DeepEqual(old, now) {
		t.Fatalf("a plan holds, but would be\n%+v, not\n%+v\nof %+v", now, old, x.reg)
	}
	return true
}

// The few words of which everything is made, so that it often meets.
var (
	anyCluster = rapid.SampledFrom([]string{"c1", "c1", "c1", "c2"})
	anyName    = rapid.SampledFrom([]string{"a", "b", "g"})
	anyAddr    = rapid.SampledFrom([]string{"@1", "@2", "@3", "@4"})
	anyID      = rapid.SampledFrom([]int64{0, 0, 1, 1, 2, -1})
	anyTopic   = rapid.SampledFrom([]string{"T1", "T2", "T3", "T4", syncTopicPrefix + "g"})
	anyConn    = rapid.SampledFrom([]string{"k1", "k2", "k3", ""})
	anyPerm    = rapid.SampledFrom([]int32{6, 6, 6, 4, 2, 7, 0})
	anyQueues  = rapid.SampledFrom([]int32{8, 8, 4})
	anyBool    = rapid.Bool()
	anyActing  = rapid.SampledFrom([]Acting{ActingOn, ActingOn, ActingOff, ActingUnsaid})
	anyTimeout = rapid.SampledFrom([]time.Duration{DefaultTimeout, DefaultTimeout, 10 * time.Second})
)

func anyConfig(t *rapid.T) TopicConfig {
	n := anyQueues.Draw(t, "queues")
	c := TopicConfig{QueueSpec: QueueSpec{ReadQueues: n, WriteQueues: n, Perm: anyPerm.Draw(t, "perm")}}
	if rapid.IntRange(0, 9).Draw(t, "plain") == 0 {
		c.Order, c.Attributes = true, "message.type=FIFO"
	}
	return c
}

func anyTopics(t *rapid.T) (out []namedConfig) {
	for range rapid.IntRange(0, 5).Draw(t, "topics") {
		out = append(out, namedConfig{anyTopic.Draw(t, "topic"), anyConfig(t)})
	}
	return out
}

func anyRegistration(t *rapid.T) modelReg {
	reg := modelReg{conn: anyConn.Draw(t, "conn"), given: rapid.IntRange(0, 9).Draw(t, "given") > 0}
	reg.info = MemberInfo{
		Cluster: anyCluster.Draw(t, "cluster"), Addr: anyAddr.Draw(t, "addr"), Name: anyName.Draw(t, "name"),
		ID: anyID.Draw(t, "id"), Timeout: anyTimeout.Draw(t, "timeout"), Acting: anyActing.Draw(t, "acting"),
		Version: DataVersion{State: rapid.Int64Range(0, 1).Draw(t, "state"), Counter: rapid.Int64Range(1, 2).Draw(t, "counter")},
	}
	if reg.given {
		reg.topics = anyTopics(t)
	}
	switch rapid.IntRange(0, 5).Draw(t, "extras") {
	case 0:
		reg.info.Source, reg.info.Owner, reg.replace, reg.conn = FromREST, rapid.SampledFrom([]string{"me", "you"}).Draw(t, "owner"), true, ""
		reg.takeover = anyBool.Draw(t, "takeover")
	case 1:
		reg.info.Zone, reg.info.HasZone = rapid.SampledFrom([]string{"", "z1"}).Draw(t, "zone"), true
		reg.info.HAAddr = rapid.SampledFrom([]string{"", "@ha"}).Draw(t, "ha")
		reg.info.HasHA = reg.info.HAAddr != "" || rapid.Bool().Draw(t, "empty ha")
	case 2:
		reg.hasFilters = true
		reg.filters = rapid.SampledFrom([][]string{nil, {"f1"}, {"f1", "f2"}}).Draw(t, "filters")
	case 3:
		if len(reg.topics) > 0 {
			m := &Mapping{
				Topic: anyTopic.Draw(t, "static"), Broker: reg.info.Name, TotalQueues: 4,
				Epoch: rapid.Int64Range(1, 2).Draw(t, "epoch"), CurrIDs: []QueueID{{0, 0}},
			}
			if rapid.IntRange(0, 4).Draw(t, "other's") == 0 {
				m.Broker = anyName.Draw(t, "bname")
			}
			reg.mappings = append(reg.mappings, m)
		}
	}
	return reg
}

func (p *pair) register(t *rapid.T) { p.do(t, anyRegistration(t)) }

// again repeats one of the latest registrations, perhaps over another connection.
func (p *pair) again(t *rapid.T) {
	if len(p.last) == 0 {
		t.Skip("nothing to repeat")
	}
	reg := rapid.SampledFrom(p.last).Draw(t, "registration")
	if reg.info.Source == FromRemoting {
		reg.conn = anyConn.Draw(t, "conn")
	}
	p.do(t, reg)
}

// amend repeats one with a small difference, as brokers change.
func (p *pair) amend(t *rapid.T) {
	if len(p.last) == 0 {
		t.Skip("nothing to amend")
	}
	reg := rapid.SampledFrom(p.last).Draw(t, "registration")
	switch rapid.IntRange(0, 7).Draw(t, "what") {
	case 0:
		reg.info.ID = anyID.Draw(t, "id")
	case 1:
		reg.info.Version.Counter++
	case 2:
		if reg.given {
			reg.topics = append(slices.Clone(reg.topics), namedConfig{anyTopic.Draw(t, "topic"), anyConfig(t)})
		}
	case 3:
		if len(reg.topics) > 1 {
			reg.topics = reg.topics[1:]
		}
	case 4:
		reg.info.Addr = anyAddr.Draw(t, "addr")
	case 5:
		reg.info.Acting = anyActing.Draw(t, "acting")
	case 6, 7: // another broker with the same list
		reg.info.Name, reg.info.Addr = anyName.Draw(t, "name"), anyAddr.Draw(t, "addr")
	}
	p.do(t, reg)
}

func (p *pair) do(t *rapid.T, reg modelReg) {
	s := p.Snapshot()
	r := Registration{
		MemberInfo: reg.info, Replace: reg.replace, Mappings: reg.mappings, Filters: reg.filters,
		HasFilters: reg.hasFilters, Takeover: reg.takeover,
	}
	if reg.given {
		r.Topics = s.NewStatement(reg.info.Cluster, reg.info.Addr)
		for _, x := range reg.topics {
			r.Topics.Add(x.name, x.config)
		}
	}
	if anyBool.Draw(t, "only planned") && len(p.plans) < 4 {
		p.plans = append(p.plans, planned{r, s.plan(&r, p.now())})
		return
	}
	r.Print = printOf(reg)
	tried, refused := p.Try(r)
	if p.Snapshot() != s {
		t.Fatal("trying made a new snapshot")
	}
	var res Registered
	var err error
	reaffirmed := false
	if reg.conn != "" && reg.info.Source == FromRemoting {
		res, reaffirmed = p.Reaffirm(reg.info.Cluster, reg.info.Addr, r.Print, p.conn(reg.conn))
	}
	if !reaffirmed {
		res, err = p.Register(r, p.conn(reg.conn), byRegistration(reg.info.Addr))
	} else if p.Snapshot() != s {
		t.Fatal("a repeat that was recognised made a new snapshot")
	}
	p.same(t, "what trying said", triedText(tried, refused), triedText(res, err))
	want := p.m.register(reg)
	got := modelAnswer{
		created: res.Created, ignored: res.TopicsIgnored, added: res.NewTopics, changed: res.ChangedTopics,
		gone: res.RemovedTopics, same: res.SameTopics, master: res.MasterAddr, masterHA: res.MasterHAAddr, masterHasHA: res.MasterHasHA,
		hasOrder: res.HasOrder, order: res.Order[OrderNamespace], notices: p.notices(),
	}
	if err != nil {
		got.refused = err.(*Error).Code
	}
	now := p.Snapshot()
	if res.Changed != (now.Revision != s.Revision) || err == nil && res.Revision != now.Revision {
		t.Fatalf("changed: %v, revision %d after %d, answered as %d", res.Changed, now.Revision, s.Revision, res.Revision)
	}
	if err != nil && (now != s || !slices.ContainsFunc(p.heard, func(c *Change) bool { return len(c.Members) == 1 && c.Members[0].Op == OpRejected })) {
		t.Fatalf("refused with %v, but not without a trace, or without a report", err)
	}
	told := false // a clash is told with what it changes about members
	for _, c := range p.heard {
		for _, m := range c.Members {
			told = true
			got.clash = got.clash || m.Code == "broker-in-other-cluster" && m.Op != OpRejected
		}
	}
	want.clash = want.clash && told
	p.same(t, fmt.Sprintf("answer to %+v", reg), want, got)
	if p.last = append(p.last, reg); len(p.last) > 6 {
		p.last = p.last[1:]
	}
}

// printOf identifies a registration as the hash of its bytes would.
func printOf(reg modelReg) Fingerprint {
	reg.conn = ""
	h := fnv.New64a()
	fmt.Fprintf(h, "%+v", reg)
	return Fingerprint{Hi: h.Sum64(), Len: 1}
}

// triedText is what trying a registration has to tell of it.
func triedText(r Registered, err error) string {
	return fmt.Sprint(err, r.Created, r.Changed, r.TopicsIgnored, r.NewTopics, r.ChangedTopics, r.RemovedTopics, r.SameTopics)
}
