package registry

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// Everything here runs a fixed number of steps, not for a time, and is meant for the race
// detector as well.

// storm lets writers do at random what may be done to a registry, n steps each, and
// returns a channel that is closed when all are through.
func storm(b *bed, writers, n int) <-chan struct{} {
	var wg sync.WaitGroup
	for w := range writers {
		conns := [3]Holder{&conn{name: "x"}, &conn{name: "y"}, &conn{name: "z"}}
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(w), 7))
			for range n {
				stormStep(b, r, conns[r.IntN(3)])
			}
		})
	}
	done := make(chan struct{})
	go func() {
		wg.Wait()
		close(done)
	}()
	return done
}

func stormStep(b *bed, r *rand.Rand, h Holder) {
	name, addr, id := fmt.Sprint("b", r.IntN(5)), fmt.Sprint("@", r.IntN(8)), int64(r.IntN(3))
	topic := fmt.Sprint("T", r.IntN(12))
	switch r.IntN(12) {
	case 0:
		b.Unregister("c1", name, addr, id, Cause{Action: "unregister"})
	case 1:
		b.Release(h, Cause{Action: "close"})
	case 2:
		b.WipeWritePerm(name, Cause{Action: "wipe"})
	case 3:
		b.RestoreWritePerm(name, Cause{Action: "restore"})
	case 4:
		b.DeleteTopic(topic, "", Cause{Action: "delete"})
	case 5:
		// Unknown brokers are refused, which is as good as any other answer here.
		_, _ = b.DeclareTopic(topic, []QueueData{{name, QueueSpec{4, 4, 6, 0}}}, Cause{Action: "declare"})
	case 6:
		b.Heartbeat("c1", addr, name, h)
	case 7:
		b.clock.advance(time.Duration(r.IntN(5)) * time.Second)
		b.Sweep(sweepEvery, Cause{Action: "expire"})
	case 8:
		rules := DefaultRules()
		rules.SupportActingMaster, rules.DeleteTopicWithBrokerRegistration = r.IntN(2) == 0, r.IntN(2) == 0
		rules.OrderMessageEnable, rules.NotifyMinBrokerIDChanged = r.IntN(2) == 0, true
		b.SetRules(rules, nil, Cause{Action: "rules"})
	case 9:
		if _, _, err := b.PutKV(OrderNamespace, topic, fmt.Sprint(r.IntN(3)), KVCondition{}, Cause{Action: "kv"}); err != nil {
			b.Error(err)
		}
	default:
		st := b.Snapshot().NewStatement("c1", addr)
		for range r.IntN(9) {
			st.Add(fmt.Sprint("T", r.IntN(12)), TopicConfig{QueueSpec: QueueSpec{int32(r.IntN(2) + 4), 4, 6, 0}})
		}
		// A refusal is as good as any other answer here too.
		_, _ = b.Register(Registration{MemberInfo: MemberInfo{
			Cluster: "c1", Addr: addr, Name: name, ID: id, Timeout: 20 * time.Second,
			Acting: Acting(r.IntN(3)), Version: DataVersion{Counter: int64(r.IntN(2))},
		}, Topics: st}, h, byRegistration(addr))
	}
}

// TestReadersInAStorm reads while everything is written at once: every route fits
// together, every snapshot stays as it was, and who only hears of the changes ends with
// the same state.
func TestReadersInAStorm(t *testing.T) {
	b := newBed(t)
	const steps = 1500
	snap, sub := b.Subscribe(4 * steps * 2)
	k := toldOf(snap)
	done := storm(b, 4, steps)
	var readers sync.WaitGroup
	var routes atomic.Int64
	for range 2 {
		readers.Go(func() {
			for end := false; !end; {
				select {
				case <-done:
					end = true
				default:
				}
				s := b.Snapshot()
				before := dumpOf(s)
				for i := range 12 {
					rt, err := s.Route(fmt.Appendf(nil, "T%d", i))
					if (err == nil) != (s.Topic(fmt.Sprint("T", i)) != nil) {
						t.Errorf("topic %d: %v", i, err)
					}
					if err != nil {
						continue
					}
					routes.Add(1)
					if err := consistent(rt); err != nil {
						t.Errorf("topic %d: %v", i, err)
					}
					rt.Memo.Encoded(0, func() []byte { return []byte(routeText(rt)) })
					if got := string(rt.Memo.Peek(0)); got != routeText(rt) {
						t.Errorf("topic %d: the remembered bytes are of another route", i)
					}
					if s.RouteDigest(s.Topic(fmt.Sprint("T", i))) == "" {
						t.Errorf("topic %d: no digest", i)
					}
				}
				s.Digest()
				if after := dumpOf(s); before != after {
					t.Errorf("a snapshot has changed:\n%s", cmp.Diff(before, after))
				}
			}
		})
	}
	readers.Wait()
	sub.Close()
	for c := range sub.C {
		for _, wrong := range k.hear(c) {
			t.Fatalf("%s:\n%s", wrong, changeText(c))
		}
	}
	if d := cmp.Diff(toldOf(b.Snapshot()), k, exported, cmp.AllowUnexported(told{})); d != "" {
		t.Errorf("the changes tell something else than the state (-state +told):\n%s", d)
	}
	if sub.Lagged() || routes.Load() == 0 {
		t.Errorf("lagged: %v, routes read: %d", sub.Lagged(), routes.Load())
	}
}

// TestSubscribersInAStorm subscribes again and again, from the present and from what was
// last heard: nothing is missing and nothing comes twice.
func TestSubscribersInAStorm(t *testing.T) {
	b := newBed(t)
	done := storm(b, 3, 1200)
	var wg sync.WaitGroup
	for w := range 3 {
		wg.Go(func() {
			var at uint64
			for round := 0; ; round++ {
				select {
				case <-done:
					return
				default:
				}
				var sub *Subscription
				var missed []*Change
				if (w+round)%2 == 0 {
					var s *Snapshot
					s, sub = b.Subscribe(8)
					at = s.Revision
				} else {
					s, ok := (*Snapshot)(nil), false
					if missed, s, sub, ok = b.SubscribeSince(at, 8); !ok {
						t.Errorf("nothing since %d at %d", at, s.Revision)
						return
					}
				}
				for _, c := range missed {
					at = follow(t, at, c)
				}
				for n, open := 0, true; open && n < 20; n++ {
					select {
					case c, more := <-sub.C:
						if open = more; more {
							at = follow(t, at, c)
						}
					case <-done:
						open = false
					}
				}
				sub.Close()
				for c := range sub.C { // what was sent before the end
					at = follow(t, at, c)
				}
			}
		})
	}
	wg.Wait()
}

func follow(t *testing.T, at uint64, c *Change) uint64 {
	if c.Step && c.Revision != at+1 || !c.Step && c.Revision < at {
		t.Errorf("after revision %d came %d (%v)", at, c.Revision, c.Step)
	}
	return c.Revision
}

// TestManyRegisterAtOnce lets brokers register side by side, each its own way: each ends
// as it last registered.
func TestManyRegisterAtOnce(t *testing.T) {
	b := newBed(t)
	var wg sync.WaitGroup
	const brokers, rounds = 6, 60
	for i := range brokers {
		wg.Go(func() {
			for v := range int64(rounds) {
				x := broker{
					cluster: "c1", name: fmt.Sprint("b", i), addr: fmt.Sprint("@", i), version: v,
					topics: fmt.Sprintf("shared:%d/1/6 own%d:%d/1/6 all", v+1, i, v+1),
				}
				if _, err := b.try(x, ""); err != nil {
					t.Errorf("%s: %v", x.name, err)
				}
			}
		})
	}
	wg.Wait()
	for i := range brokers {
		name := fmt.Sprint("b", i)
		b.want("shared of "+name, b.queue("shared", name), fmt.Sprintf("%d/1/6/0", rounds))
		b.want("own of "+name, b.queue(fmt.Sprint("own", i), name), fmt.Sprintf("%d/1/6/0", rounds))
	}
}

// TestTwoRegisterForOnePlaceAtOnce lets two addresses fight for a place: what stands in
// the end is the registration with the highest revision, whole.
func TestTwoRegisterForOnePlaceAtOnce(t *testing.T) {
	b := newBed(t)
	type last struct {
		rev    uint64
		addr   string
		queues string
	}
	ends := make([]last, 3)
	var wg sync.WaitGroup
	for w := range ends {
		wg.Go(func() {
			for v := range 80 {
				addr, queues := fmt.Sprint("@", w), fmt.Sprintf("%d/%d/6", w+1, v+1)
				res, err := b.try(broker{cluster: "c1", name: "a", addr: addr, version: int64(v), topics: "T:" + queues + " U:" + queues}, "")
				if err != nil {
					t.Errorf("%s: %v", addr, err)
				}
				ends[w] = last{res.Revision, addr, queues + "/0"}
			}
		})
	}
	wg.Wait()
	var end last
	for _, x := range ends {
		if x.rev > end.rev {
			end = x
		}
	}
	b.want("group", b.addrs("a"), "0="+end.addr)
	b.want("T", b.queue("T", "a"), end.queues)
	b.want("U", b.queue("U", "a"), end.queues)
}

// TestPlanIsMadeAgain changes what a registration was compared with between the
// comparison and the writer's turn.
func TestPlanIsMadeAgain(t *testing.T) {
	a := broker{cluster: "c1", name: "a", addr: "@a", version: 2, topics: "T:4/4/6 U V"}
	for _, x := range []struct {
		name  string
		holds bool
		do    func(*bed)
		want  string // T of a afterwards
	}{
		{"nothing", true, func(*bed) {}, "4/4/6/0"},
		{"another broker registers", true, func(b *bed) {
			b.must(broker{cluster: "c1", name: "b", addr: "@b", topics: "T U"}, "")
		}, "4/4/6/0"},
		{"a wipe", false, func(b *bed) { b.WipeWritePerm("a", Cause{}) }, "4/4/6/0"},
		{"a delete", false, func(b *bed) { b.DeleteTopic("T", "", Cause{}) }, "4/4/6/0"},
		{"a delete of another's topic", true, func(b *bed) { b.DeleteTopic("X", "", Cause{}) }, "4/4/6/0"},
		{"a slave joins", false, func(b *bed) {
			b.must(broker{cluster: "c1", name: "a", addr: "@s", id: 1, topics: "T U"}, "")
		}, "4/4/6/0"},
		{"the broker registers", false, func(b *bed) {
			b.must(broker{cluster: "c1", name: "a", addr: "@a", version: 1, topics: "T:9/9/6 U"}, "")
		}, "4/4/6/0"},
		{"the broker leaves", false, func(b *bed) { b.Unregister("c1", "a", "@a", 0, Cause{}) }, "4/4/6/0"},
		{"the rules change", false, func(b *bed) {
			r := DefaultRules()
			r.DeleteTopicWithBrokerRegistration = true
			b.SetRules(r, nil, Cause{})
		}, "4/4/6/0"},
		{"somebody else with a higher state takes the place", false, func(b *bed) {
			b.must(broker{cluster: "c1", name: "a", addr: "@z", topics: "T U", change: func(r *Registration) { r.Version.State = 9 }}, "")
		}, "8/8/6/0"},
	} {
		t.Run(strings.ReplaceAll(x.name, " ", "-"), func(t *testing.T) {
			b := newBed(t)
			b.must(broker{cluster: "c1", name: "a", addr: "@a", version: 1, topics: "T U"}, "")
			b.must(broker{cluster: "c1", name: "x", addr: "@x", version: 1, topics: "X Y"}, "")
			reg := Registration{MemberInfo: a.info()}
			if p := b.Snapshot().plan(&reg, b.now()); !p.holds(b.Snapshot()) {
				t.Fatal("a plan does not hold against what it was made of")
			}
			p := b.Snapshot().plan(&reg, b.now())
			x.do(b)
			if p.holds(b.Snapshot()) != x.holds {
				t.Errorf("the plan holds: %v", !x.holds)
			}
			// The registration itself meets the change at the writer's door: the test
			// keeps the door until the comparison, which needs no lock, is done.
			b2 := newBed(t)
			b2.must(broker{cluster: "c1", name: "a", addr: "@a", version: 1, topics: "T U"}, "")
			b2.must(broker{cluster: "c1", name: "x", addr: "@x", version: 1, topics: "X Y"}, "")
			b2.meet(a, x.do)
			b2.want("T", b2.queue("T", "a"), x.want)
		})
	}
}

// meet registers x, and lets do happen after the registration has been compared with the
// present state and before it is written.
func (b *bed) meet(x broker, do func(*bed)) {
	compared := make(chan struct{})
	var once sync.Once
	now := b.Registry.now
	// The clock is read between taking the snapshot and the comparison.
	b.Registry.now = func() time.Time {
		once.Do(func() {
			b.Registry.now = now
			do(b)
			close(compared)
		})
		return now()
	}
	_, _ = b.try(x, "") // whether it is refused shows in what stands
	<-compared
}
