package registry

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// deed is one thing that befalls a broker whose moves are put in every order.
type deed struct {
	name string
	do   func(*bed)
	is   func(*fate)
}

// fate is what must have become of broker a, said as plainly as can be: who holds its
// place, and for each address the connection it lives by ("-": none is registered).
type fate struct {
	place string
	conn  map[string]string
	// earlier is, by address, the open connection over which it registered when it was
	// last heard of over another.
	earlier map[string]string
}

func (f *fate) gone(addr string) {
	f.conn[addr] = "-"
	delete(f.earlier, addr)
	if f.place == addr {
		f.place = ""
	}
}

func registers(addr, conn string) deed {
	return deed{
		addr + " registers over " + conn,
		func(b *bed) { b.must(broker{cluster: "c1", name: "a", addr: addr, version: 1, topics: "T U"}, conn) },
		func(f *fate) {
			f.place, f.conn[addr] = addr, conn
			delete(f.earlier, addr)
		},
	}
}

func closes(conn string) deed {
	return deed{
		conn + " closes",
		func(b *bed) { b.Release(b.conn(conn), Cause{Action: "close"}) },
		func(f *fate) {
			for addr, c := range f.conn {
				earlier := f.earlier[addr]
				switch {
				case c == conn && earlier == "":
					f.gone(addr)
				case c == conn:
					f.conn[addr] = earlier
					delete(f.earlier, addr)
				case earlier == conn:
					delete(f.earlier, addr)
				}
			}
		},
	}
}

func beats(addr, conn string) deed {
	return deed{
		addr + " is heard of over " + conn,
		func(b *bed) { b.Heartbeat("c1", addr, "a", b.conn(conn)) },
		func(f *fate) {
			was := f.conn[addr]
			if was == "-" || was == conn {
				return
			}
			switch f.earlier[addr] {
			case conn:
				delete(f.earlier, addr)
			case "":
				f.earlier[addr] = was
			}
			f.conn[addr] = conn
		},
	}
}

func leaves(addr string) deed {
	return deed{
		addr + " unregisters",
		func(b *bed) { b.Unregister("c1", "a", addr, 0, Cause{Action: "unregister"}) },
		func(f *fate) { f.gone(addr) },
	}
}

// fallsSilent lets everybody expire: nobody is heard of for longer than the timeout.
var fallsSilent = deed{
	"all fall silent",
	func(b *bed) { b.pass(DefaultTimeout + sweepEvery) },
	func(f *fate) {
		for addr := range f.conn {
			f.gone(addr)
		}
	},
}

// permute calls f with every order of the deeds.
func permute(deeds []deed, f func([]deed)) {
	var rec func(int)
	rec = func(n int) {
		if n == len(deeds) {
			f(deeds)
			return
		}
		for i := n; i < len(deeds); i++ {
			deeds[n], deeds[i] = deeds[i], deeds[n]
			rec(n + 1)
			deeds[n], deeds[i] = deeds[i], deeds[n]
		}
	}
	rec(0)
}

// TestEveryOrderOfCleanUps puts what may end a registration and what may renew it in
// every order: whatever comes late removes only what it is about.
func TestEveryOrderOfCleanUps(t *testing.T) {
	for _, x := range []struct {
		name  string
		deeds []deed
	}{
		{"one broker over three connections", []deed{
			registers("@A", "k1"), registers("@A", "k2"), beats("@A", "k3"),
			closes("k1"), closes("k2"), leaves("@A"), fallsSilent,
		}},
		{"a broker and its successor", []deed{
			registers("@A", "k1"), registers("@B", "k2"), closes("k1"), closes("k2"),
			leaves("@A"), beats("@A", "k3"), closes("k3"),
		}},
		{"a successor on the same connection", []deed{
			registers("@A", "k1"), registers("@B", "k1"), closes("k1"), leaves("@A"),
			beats("@B", "k2"), fallsSilent, registers("@A", "k2"),
		}},
	} {
		t.Run(x.name, func(t *testing.T) {
			orders := 0
			permute(slices.Clone(x.deeds), func(order []deed) {
				orders++
				b := live(t, makeBed(t, Options{}), &fate{conn: map[string]string{"@A": "-"}}, order)
				if orders%9 == 0 { // it takes longer than the deeds
					check(t, b.Registry)
				}
			})
			if orders != 5040 {
				t.Fatalf("%d orders of seven deeds", orders)
			}
		})
	}
}

// live lets the deeds happen and compares with their fate after each of them.
func live(t *testing.T, b *bed, f *fate, order []deed) *bed {
	f.conn["@B"], f.earlier = "-", map[string]string{}
	for i, d := range order {
		d.do(b)
		d.is(f)
		want := ""
		if f.place != "" {
			want = "0=" + f.place
		}
		_, err := b.Snapshot().Route([]byte("T"))
		if got := b.addrs("a"); got != want || (err == nil) != (want != "") {
			t.Fatalf("%s: the group is %q, not %q; route: %v", story(order, i), got, want, err)
		}
		for addr, c := range f.conn {
			if got := connOf(b.Snapshot().Live("c1", addr)); got != c {
				t.Fatalf("%s: %s lives by %q, not %q", story(order, i), addr, got, c)
			}
		}
	}
	return b
}

func connOf(l *Live) string {
	if l == nil {
		return "-"
	}
	if h := l.lease.holder.Load(); h != nil {
		return (*h).(*conn).name
	}
	return ""
}

func story(order []deed, last int) string {
	out := make([]string, last+1)
	for i, d := range order[:last+1] {
		out[i] = d.name
	}
	return strings.Join(out, ", then ")
}

// TestExpiryAndHeartbeatAtOnce races the two for a lease that is just over: either the
// member stays, or its heartbeat was told that it is unknown.
func TestExpiryAndHeartbeatAtOnce(t *testing.T) {
	for i := range 300 {
		b := makeBed(t, Options{})
		b.must(broker{cluster: "c1", name: "a", addr: "@A", version: 1, topics: "T U"}, "k1")
		for range 24 {
			b.clock.advance(sweepEvery)
			b.Sweep(sweepEvery, Cause{})
		}
		b.clock.advance(time.Millisecond)
		// A registration holds the member before its lease is renewed, as a heartbeat
		// does that was decoded just now.
		known := make(chan bool)
		conn := b.conn([]string{"k1", "k2"}[i%2])
		go func() { known <- b.Heartbeat("c1", "@A", "a", conn) }()
		s := b.Sweep(sweepEvery, Cause{Action: "expire"})
		if there := b.addrs("a") != ""; <-known != there || there == (len(s.Expired) == 1) {
			t.Fatalf("round %d: expired %v, group %q", i, s.Expired, b.addrs("a"))
		}
		check(t, b.Registry)
	}
}

// TestRegistrationOverridesDecidedExpiry registers a member whose lease has run out but
// whom no sweep has met yet: it stays, as the same member.
func TestRegistrationOverridesDecidedExpiry(t *testing.T) {
	b := newBed(t)
	a := broker{cluster: "c1", name: "a", addr: "@A", version: 1, topics: "T U"}
	b.must(a, "k1")
	b.pass(DefaultTimeout)
	b.clock.advance(time.Second)
	before := b.Snapshot()
	if res := b.must(a, "k2"); res.Created || res.Changed {
		t.Errorf("it is created: %v, changed: %v", res.Created, res.Changed)
	}
	b.clock.advance(4 * time.Second)
	if s := b.Sweep(sweepEvery, Cause{}); len(s.Expired) > 0 {
		t.Errorf("%v expired", s.Expired)
	}
	b.Release(b.conn("k1"), Cause{})
	if b.Snapshot().Revision != before.Revision {
		t.Errorf("revision %d, not %d", b.Snapshot().Revision, before.Revision)
	}
	b.want("group", b.addrs("a"), "0=@A")
}

// TestManyLeaveTogether lets half of the brokers go in turn: the others' parts stay, the
// cost follows what each one had.
func TestManyLeaveTogether(t *testing.T) {
	b := newBed(t)
	const brokers, topics = 40, 200
	list := make([]string, topics)
	for i := range list {
		list[i] = fmt.Sprintf("T%d", i)
	}
	for i := range brokers {
		b.must(broker{
			cluster: "c1", name: fmt.Sprintf("b%02d", i), addr: fmt.Sprintf("@%d", i), version: 1,
			topics: strings.Join(list, " ") + fmt.Sprintf(" own%d", i),
		}, fmt.Sprintf("k%d", i))
	}
	before := b.Snapshot()
	for i := 0; i < brokers; i += 2 {
		b.Release(b.conn(fmt.Sprintf("k%d", i)), Cause{Action: "close"})
	}
	s := b.Snapshot()
	if s.Revision != before.Revision+brokers/2 || s.TopicCount() != topics+brokers/2 {
		t.Errorf("revision %d, %d topics", s.Revision, s.TopicCount())
	}
	for topic := range s.Topics() {
		if n := len(topic.Queues()); n != brokers/2 && n != 1 {
			t.Errorf("topic %s has %d parts", topic.Name, n)
		}
	}
	if before.TopicCount() != topics+brokers {
		t.Errorf("the old snapshot has %d topics", before.TopicCount())
	}
}
