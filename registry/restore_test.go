package registry

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

var byRestart = Cause{Face: "server", Action: "restore"}

// restarted returns a registry that begins with what b holds.
func (b *bed) restarted(patience time.Duration, rules ...func(*Rules)) *bed {
	b.Helper()
	n := makeBed(b.TB, Options{}, rules...)
	if err := n.Restore(b.Snapshot().Image(), patience, byRestart); err != nil {
		b.Fatal(err)
	}
	return n
}

// lasting returns the dump without what a restart does not keep: revision, rules, the key-value
// table and addresses that had lost their place.
func (b *bed) lasting() string {
	var out []string
	for l := range strings.Lines(b.dump()) {
		if !strings.HasPrefix(l, "revision ") && !strings.HasPrefix(l, "rules ") && !strings.HasPrefix(l, "lost ") &&
			!strings.HasPrefix(l, "kv ") && !strings.Contains(l, " = ") {
			out = append(out, l)
		}
	}
	return strings.Join(out, "")
}

// Whatever a registry holds is the same after a restart, for those who are told of changes
// too. When every broker has then said again what it said last, nothing is unconfirmed, and
// everything is as if there had been no restart.
func TestRestoredIsTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := newPair(t)
		steps := []func(*rapid.T){p.register, p.register, p.again, p.amend, p.unregister, p.releaseOne, p.perms, p.delete, p.declare}
		for i := range rapid.IntRange(1, 25).Draw(t, "steps") {
			rapid.SampledFrom(steps).Draw(t, fmt.Sprint("step ", i))(t)
			p.notices()
			p.heard = nil
		}
		was, before := p.lasting(), p.Snapshot()
		n := makeBed(t, Options{})
		_, sub := n.Subscribe(100)
		if err := n.Restore(before.Image(), 0, byRestart); err != nil {
			t.Fatal(err)
		}
		check(t, n.Registry)
		if d := cmp.Diff(was, n.lasting()); d != "" {
			t.Fatalf("after the restart (-before +after):\n%s", d)
		}
		s := n.Snapshot()
		if a, b := before.Digests(), s.Digests(); a.Topics != b.Topics || a.Brokers != b.Brokers {
			t.Fatalf("digests %+v became %+v", a, b)
		}
		heard := newTold()
		for _, c := range collect(sub) {
			if wrong := heard.hear(c); len(wrong) > 0 {
				t.Fatalf("%v:\n%s", wrong, changeText(c))
			}
		}
		if d := cmp.Diff(toldOf(s), heard, exported, cmp.AllowUnexported(told{})); d != "" {
			t.Fatalf("the change tells something else than the state (-state +told):\n%s", d)
		}
		members := 0
		for l := range s.Lives() {
			members++
			if !l.Unconfirmed() {
				t.Fatalf("%s %s is confirmed", l.Name, l.Addr)
			}
		}
		if s.Unconfirmed() != members {
			t.Fatalf("%d members are unconfirmed, %d counted", members, s.Unconfirmed())
		}
		for l := range before.Lives() {
			if before.Placed(l) {
				n.repeat(t, before, l)
				p.repeat(t, before, l)
			}
		}
		check(t, n.Registry)
		if left := n.Snapshot().Unconfirmed(); left > 0 {
			t.Fatalf("%d members are unconfirmed after all have registered", left)
		}
		if len(before.lost()) > 0 {
			return // what those are compared with is not kept
		}
		if d := cmp.Diff(p.lasting(), n.lasting()); d != "" {
			t.Fatalf("after all have registered (-without +after the restart):\n%s", d)
		}
	})
}

// repeat registers again what a member of another registry has registered.
func (b *bed) repeat(t *rapid.T, of *Snapshot, l *Live) {
	reg := Registration{MemberInfo: l.MemberInfo, Takeover: true}
	if l.listing != nil {
		reg.Topics = b.Snapshot().NewStatement(l.Cluster, l.Addr)
		for _, x := range l.listing.topics {
			reg.Topics.Add(x.Name, x.Config)
		}
	}
	g := of.Group(l.Name)
	if i := g.place(l.Cluster, l.Addr); i >= 0 && g.Members[i].Filters != nil {
		reg.Filters, reg.HasFilters = g.Members[i].Filters, true
	}
	if _, err := b.Register(reg, nil, Cause{}); err != nil {
		t.Fatalf("%+v: %v", reg.MemberInfo, err)
	}
}

// A broker may say that it lives for no time at all. That is no reason to forget the others.
func TestRestoredWithoutTime(t *testing.T) {
	for _, timeout := range []time.Duration{0, -time.Second} {
		old := newBed(t)
		old.must(broker{cluster: "c1", name: "a", addr: "@A", version: 1, topics: "T U"}, "k1")
		old.must(broker{cluster: "c1", name: "b", addr: "@B", version: 1, topics: "T W", change: func(r *Registration) { r.Timeout = timeout }}, "k2")
		b := old.restarted(0)
		check(t, b.Registry)
		if n := b.Snapshot().Unconfirmed(); n != 2 {
			t.Errorf("timeout %v: %d members are unconfirmed", timeout, n)
		}
		b.pass(sweepEvery)
		if s := b.Snapshot(); s.Group("a") == nil || s.Group("b") != nil {
			t.Errorf("timeout %v: after a sweep there are %v", timeout, s.Clusters())
		}
	}
}

func TestConfirmation(t *testing.T) {
	old := newBed(t)
	a := broker{cluster: "c1", name: "a", addr: "@A", version: 7, topics: "T U V"}
	old.must(a, "k1")
	old.must(broker{cluster: "c1", name: "b", addr: "@B", version: 1, topics: "T W"}, "k2")
	b := old.restarted(0)
	is := func(want string) {
		t.Helper()
		var got []string
		for _, g := range b.Snapshot().Groups() {
			for _, m := range g.Members {
				state := "confirmed"
				if b.Snapshot().LiveOf(m).Unconfirmed() {
					state = "unconfirmed"
				}
				got = append(got, g.Name+" "+state)
			}
		}
		b.want("state", strings.Join(got, ", "), want)
	}
	is("a unconfirmed, b unconfirmed")

	// A sign of life holds the member, but its topics are still what it said long ago.
	if !b.Heartbeat("c1", "@A", "a", b.conn("n1")) {
		t.Error("a heartbeat is unknown")
	}
	v := DataVersion{Counter: 7}
	if stored, known, changed := b.Probe("c1", "@A", "a", &v, b.conn("n1")); stored != v || !known || !changed {
		t.Errorf("version %+v, known %v, changed %v", stored, known, changed)
	}
	is("a unconfirmed, b unconfirmed")

	// It registers a part, as for a new topic: the rest is not taken away for that.
	before := b.Snapshot().Revision
	if res := b.must(broker{cluster: "c1", name: "a", addr: "@A", version: 8, topics: "V:2/2/6 X"}, "n1"); !res.Changed || res.Created {
		t.Errorf("%+v", res)
	}
	is("a confirmed, b unconfirmed")
	if b.Snapshot().Revision != before+1 {
		t.Errorf("revision %d after %d", b.Snapshot().Revision, before)
	}
	for topic, want := range map[string]bool{"T": true, "U": true, "V": false, "X": false} {
		if got := b.Snapshot().UnconfirmedPart(topic, "a"); got != want {
			t.Errorf("the part of %s is unconfirmed: %v", topic, got)
		}
	}
	v.Counter = 8
	if _, _, changed := b.Probe("c1", "@A", "a", &v, b.conn("n1")); !changed {
		t.Error("it is not asked for the rest of its topics")
	}
	b.must(broker{cluster: "c1", name: "a", addr: "@A", version: 8, topics: "T V:2/2/6 X"}, "n1")
	if b.queue("U", "a") == "none" {
		t.Error("a topic left before its broker had the time to name it")
	}
	b.pass(StaleGrace + sweepEvery)
	b.want("U", b.queue("U", "a"), "none")
	b.want("T", b.queue("T", "a"), "8/8/6/0")
	b.want("V", b.queue("V", "a"), "2/2/6/0")
	if _, _, changed := b.Probe("c1", "@A", "a", &v, b.conn("n1")); changed {
		t.Error("it is asked to register once more")
	}
	// The other one was never heard of and leaves when its time is over.
	is("a confirmed, b unconfirmed")
	b.pass(DefaultTimeout - StaleGrace)
	is("a confirmed")
	if s := b.Snapshot(); s.Unconfirmed() != 0 || s.Topic("W") != nil || b.thawing {
		t.Errorf("%d unconfirmed, still looking: %v", s.Unconfirmed(), b.thawing)
	}
	check(t, b.Registry)
}

// A full statement is exact at once, and so is a removal by a broker with one.
func TestConfirmationByAFullStatement(t *testing.T) {
	old := newBed(t)
	a := broker{cluster: "c1", name: "a", addr: "@A", version: 7, topics: "T U V"}
	old.must(a, "")
	for name, b := range map[string]*bed{
		"rule":    old.restarted(0, func(r *Rules) { r.DeleteTopicWithBrokerRegistration = true }),
		"replace": old.restarted(0),
	} {
		x := broker{cluster: "c1", name: "a", addr: "@A", version: 8, topics: "T X"}
		if name == "replace" {
			x.change = func(r *Registration) { r.Replace = true }
		}
		b.must(x, "")
		if got := strings.Join(b.Snapshot().TopicNames(), " "); got != "T X" {
			t.Errorf("%s: topics %s", name, got)
		}
		check(t, b.Registry)
	}
}

// The patience of the setting counts in place of each member's timeout, until it registers.
func TestPatience(t *testing.T) {
	old := newBed(t)
	old.must(broker{cluster: "c1", name: "a", addr: "@A", version: 7, topics: "T U V", change: func(r *Registration) { r.Timeout = 10 * time.Second }}, "")
	b := old.restarted(time.Minute)
	b.pass(time.Minute)
	b.want("a", b.addrs("a"), "0=@A")
	b.pass(sweepEvery)
	b.want("a", b.addrs("a"), "")
	// Further restarts do not begin the time anew.
	b = old.restarted(time.Minute)
	b.pass(40 * time.Second)
	b = b.restarted(time.Minute)
	b.pass(20 * time.Second)
	b.want("a", b.addrs("a"), "0=@A")
	b.pass(sweepEvery)
	b.want("a", b.addrs("a"), "")
	b = old.restarted(0)
	b.pass(10 * time.Second)
	b.want("a", b.addrs("a"), "0=@A")
	b.pass(sweepEvery)
	b.want("a", b.addrs("a"), "")
}

// A standing wipe outlives the restart: the broker's unchanged repeat does not undo it.
func TestWipeOutlivesRestart(t *testing.T) {
	old := newBed(t)
	a := broker{cluster: "c1", name: "a", addr: "@A", version: 7, topics: "T U"}
	old.must(a, "")
	old.WipeWritePerm("a", Cause{Actor: "me"})
	b := old.restarted(0)
	b.must(a, "k")
	b.want("T", b.queue("T", "a"), "8/8/4/0")
	if w := b.Snapshot().Wiped("a"); w == nil || w.Cause.Actor != "me" || w.Topics != 2 {
		t.Errorf("the wipe is %+v", w)
	}
	a.version, a.topics = 8, "T U V"
	b.must(a, "k")
	if b.Snapshot().Wiped("a") != nil {
		t.Error("a changed registration does not end the wipe")
	}
}

// While brokers are waited for, what is known is answered and the rest is not denied.
func TestWarmRoutesDoNotWait(t *testing.T) {
	old := newBed(t)
	old.must(broker{cluster: "c1", name: "a", addr: "@A", version: 7, topics: "T U"}, "")
	wait := func(r *Rules) { r.NeedWaitForService, r.WaitForService = true, 45*time.Second }
	b := old.restarted(0, wait)
	if _, err := b.Snapshot().Route([]byte("T")); err != nil {
		t.Errorf("a known topic: %v", err)
	}
	if _, err := b.Snapshot().Route([]byte("New")); err != errNotReady {
		t.Errorf("an unknown topic: %v", err)
	}
	b.clock.advance(45 * time.Second)
	if _, err := b.Snapshot().Route([]byte("New")); err != errTopicNotFound {
		t.Errorf("an unknown topic after the wait: %v", err)
	}
	cold := newBed(t, wait)
	cold.must(broker{cluster: "c1", name: "a", addr: "@A", version: 7, topics: "T U"}, "")
	if _, err := cold.Snapshot().Route([]byte("T")); err != errNotReady {
		t.Errorf("without a restart: %v", err)
	}
}

// A REST member is told to say again what it serves: its heartbeat does not carry it.
func TestUnconfirmedRESTMemberPutsAgain(t *testing.T) {
	old := newBed(t)
	x := broker{cluster: "c1", name: "a", addr: "@A", version: 7, topics: "T", change: func(r *Registration) {
		r.Source, r.Owner, r.Replace = FromREST, "me", true
	}}
	old.must(x, "")
	b := old.restarted(0)
	_, _, err := b.Renew("a", 0, Claim{Owner: "me"}, nil)
	if e, ok := err.(*Error); !ok || e.Kind != NotFound || e.Code != "member-not-found" {
		t.Errorf("a heartbeat: %v", err)
	}
	b.must(x, "")
	if _, _, err := b.Renew("a", 0, Claim{Owner: "me"}, nil); err != nil {
		t.Error(err)
	}
}

// TestEveryOrderAfterARestart is TestEveryOrderOfCleanUps for a broker that is known from
// before: it has no connection, so that it lives by being heard of, and no end of a
// connection that it has not come over takes it away.
func TestEveryOrderAfterARestart(t *testing.T) {
	old := makeBed(t, Options{})
	registers("@A", "k1").do(old)
	for _, deeds := range [][]deed{
		{registers("@A", "k1"), beats("@A", "k2"), closes("k1"), closes("k2"), fallsSilent, leaves("@A")},
		{registers("@B", "k1"), beats("@A", "k2"), registers("@A", "k2"), closes("k1"), closes("k2"), fallsSilent},
	} {
		orders := 0
		permute(slices.Clone(deeds), func(order []deed) {
			orders++
			b := live(t, old.restarted(0), &fate{place: "@A", conn: map[string]string{"@A": ""}}, order)
			if orders%9 == 0 {
				check(t, b.Registry)
			}
		})
		if orders != 720 {
			t.Fatalf("%d orders of six deeds", orders)
		}
	}
}

func TestRestoreRefusesWhatDoesNotFit(t *testing.T) {
	for name, spoil := range map[string]func(*Image){
		"names":      func(i *Image) { i.Changed = i.Changed[1:] },
		"twice":      func(i *Image) { i.Groups = append(i.Groups, i.Groups[0]) },
		"no members": func(i *Image) { i.Groups[0].Members = nil },
		"another's":  func(i *Image) { i.Groups[0].Members[0].Name = "z" },
		"nameless":   func(i *Image) { i.Groups[0].Members[0].Addr = "" },
		"order":      func(i *Image) { slices.Reverse(i.Groups[0].Members) },
		"address":    func(i *Image) { i.Groups[0].Members[1].Addr = i.Groups[0].Members[0].Addr },
		"elsewhere":  func(i *Image) { i.Groups[1].Members[0].Addr = i.Groups[0].Members[0].Addr },
		"listless":   func(i *Image) { i.Groups[0].Members[0].HasList = false },
		"cluster":    func(i *Image) { i.Groups[0].Cluster = "z" },
		"name":       func(i *Image) { i.Groups[0].Part.Topics[0] = 99 },
		"config":     func(i *Image) { i.Groups[0].Members[0].Listed.Configs[0] = 99 },
		"configs":    func(i *Image) { i.Groups[0].Part.Configs = i.Groups[0].Part.Configs[1:] },
		"spec":       func(i *Image) { i.Groups[0].Seen[0] = 99 },
		"specs":      func(i *Image) { i.Groups[0].Seen = nil },
		"topic":      func(i *Image) { i.Groups[0].Part.Topics[0] = i.Groups[0].Part.Topics[1] },
		"mapping":    func(i *Image) { i.Mappings = []*Mapping{nil} },
	} {
		old := newBed(t)
		old.must(broker{cluster: "c1", name: "a", addr: "@A", version: 7, topics: "T U"}, "")
		old.must(broker{cluster: "c1", name: "a", addr: "@S", id: 1, version: 7, topics: "T U"}, "")
		old.must(broker{cluster: "c1", name: "b", addr: "@B", version: 7, topics: "T U"}, "")
		img := old.Snapshot().Image()
		spoil(img)
		b := newBed(t)
		if err := b.Restore(img, 0, byRestart); err == nil {
			t.Errorf("%s: it is taken", name)
		}
		if s := b.Snapshot(); s.Revision != 0 || s.Warm() || s.Unconfirmed() != 0 || len(s.Groups()) > 0 || s.TopicCount() > 0 {
			t.Errorf("%s: something is left:\n%s", name, b.dump())
		}
	}
	b := newBed(t)
	b.must(broker{cluster: "c1", name: "a", addr: "@A", version: 7, topics: "T U"}, "")
	if err := b.Restore(&Image{}, 0, byRestart); err == nil || !strings.Contains(err.Error(), "not empty") {
		t.Errorf("over what is there: %v", err)
	}
}

// A broker may have lost all of its topics while it is wiped: it stays wiped.
func TestWipeWithoutTopicsIsRestored(t *testing.T) {
	b := newBed(t)
	b.must(broker{cluster: "c", name: "a", addr: "@a", version: 1, topics: "T U"}, "")
	b.WipeWritePerm("a", Cause{})
	b.DeleteTopic("T", "", Cause{})
	b.DeleteTopic("U", "", Cause{})
	if b.Snapshot().Wiped("a") == nil {
		t.Fatal("the wipe went with the topics")
	}
	n := b.restarted(0)
	b.want("after a restart", n.lasting(), b.lasting())
}
