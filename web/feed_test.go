package web

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"
	"github.com/google/go-cmp/cmp"

	"fingerpost/api"
	"fingerpost/registry"
)

func TestSnapshotThenChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEnv(t, FeedOptions{VersionName: func(int) string { return "V5_5_0" }, Assets: "v-1"})
		defer e.close()
		put(t, e.reg, "a", 3, 8, 1)
		e.reg.WipeWritePerm("a", cause("wipeWritePerm"))

		c := e.dial()
		ack := c.subscribe(api.FeedRequest{ID: "s1", Snapshot: true})
		if ack.ID != "s1" || ack.Revision != e.reg.Epoch()+".2" {
			t.Errorf("ack is %+v", ack)
		}
		snap := c.want(opSnapshot)
		if !snap.First || !snap.Last || len(snap.Topics) != 3 || len(snap.Layouts) != 1 || len(snap.Members) != 1 || len(snap.WritePerms) != 1 {
			t.Errorf("the snapshot is %+v", snap.FeedSnapshot)
		}
		if m := snap.Members[0]; m.Version != "V5_5_0" || m.WritePerm != "wiped" || m.TopicCount != 3 {
			t.Errorf("its member is %+v", m)
		}
		if w := snap.WritePerms[0]; w.Actor != "token:test" || w.TopicCount != 3 || w.Since == nil {
			t.Errorf("its wipe is %+v", w)
		}
		m := newMirror()
		if err := m.take(snap); err != nil {
			t.Fatal(err)
		}

		put(t, e.reg, "b", 2, 4, 1)
		changes := c.want(opChanges)
		if len(changes.Items) != 1 || len(changes.Groups) != 1 || changes.Groups[0].BrokerName != "b" || changes.Groups[0].Members[0].BrokerAddr != "b:10911" {
			t.Errorf("the change is %+v", changes.FeedChanges)
		}
		if err := m.take(changes); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(textOf(e.reg.Snapshot()), m.text()); diff != "" {
			t.Errorf("registry and client differ:\n%s", diff)
		}
	})
}

func TestHello(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEnv(t, FeedOptions{Assets: "v-1"})
		defer e.close()
		e.setRole("admin")
		c, _, err := e.tryDial(dialOptions())
		if err != nil {
			t.Fatal(err)
		}
		m := c.next()
		want := &api.FeedHello{Epoch: e.reg.Epoch(), Version: "test", Assets: "v-1", Role: "admin", HeartbeatMillis: 15000}
		if m.Op != opHello || m.Revision != e.reg.Epoch()+".0" || m.Time == nil || cmp.Diff(want, m.FeedHello) != "" {
			t.Errorf("hello is %+v %+v", m, m.FeedHello)
		}
	})
}

// Clients that come at any moment of a busy registry, and ask again after a reset, end
// with what it holds.
func TestEverybodyEndsWithTheTruth(t *testing.T) {
	for seed := range uint64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { endWithTheTruth(t, rand.New(rand.NewPCG(seed, 1))) })
		})
	}
}

func endWithTheTruth(t *testing.T, rnd *rand.Rand) {
	e := newEnv(t, FeedOptions{})
	defer e.close()
	type ending struct {
		client int
		text   string
	}
	ends := make(chan ending)
	last := make(chan string) // closed with the final text known
	var final string
	follow := func(n int, delay time.Duration) {
		time.Sleep(delay)
		c := e.dial()
		m := newMirror()
		request := api.FeedRequest{ID: "all", Snapshot: true}
		if n%3 == 2 {
			request.ID = fmt.Sprint("own", n)
		}
		c.subscribe(request)
		for {
			msg, err := c.read()
			if err != nil {
				t.Error(err)
				break
			}
			if err := m.take(msg); err != nil {
				t.Error(err)
				break
			}
			if m.broken {
				m.broken = false
				m.revision = ""
				c.send(string(mustJSON(api.FeedRequest{Op: api.FeedSubscribe, ID: request.ID, Snapshot: true})))
			}
			select {
			case <-last:
				if msg.Op == opBookmark && msg.Revision == m.revision {
					ends <- ending{n, m.text()}
					return
				}
			default:
			}
		}
		ends <- ending{n, "broken off"}
	}
	const clients = 6
	for n := range clients {
		delay := time.Duration(rnd.IntN(3000)) * time.Millisecond
		go follow(n, delay)
	}
	brokers := []string{"a", "b", "c"}
	for i := range int64(400) {
		b := brokers[rnd.IntN(len(brokers))]
		switch rnd.IntN(8) {
		case 0:
			n := 2 + rnd.IntN(50)
			if i%40 == 0 {
				n = 250 // more than a frame tells
			}
			put(t, e.reg, b, n, 4+int32(rnd.IntN(4)), i+1)
		case 1:
			if _, err := e.reg.Unregister("c", b, b+":10911", 0, cause("unregisterBroker")); err != nil {
				t.Error(err)
			}
		case 2:
			e.reg.WipeWritePerm(b, cause("wipeWritePerm"))
		case 3:
			e.reg.RestoreWritePerm(b, cause("restoreWritePerm"))
		case 4:
			e.reg.DeleteTopic(fmt.Sprint("t", rnd.IntN(50)), "", cause("deleteTopic"))
		default:
			if e.reg.Snapshot().Group(b) != nil {
				topic(t, e.reg, fmt.Sprint("t", rnd.IntN(50)), b, int32(rnd.IntN(16)))
			}
		}
		time.Sleep(time.Duration(rnd.IntN(12)) * time.Millisecond)
	}
	final = textOf(e.reg.Snapshot())
	close(last)
	for range clients {
		if end := <-ends; end.text != final {
			t.Errorf("client %d ends with something else:\n%s", end.client, cmp.Diff(final, end.text))
		}
	}
}

// A watcher of one topic is not woken by a thousand changes to others.
func TestFilterLeavesOthersAsleep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEnv(t, FeedOptions{})
		defer e.close()
		put(t, e.reg, "a", 2, 8, 1)
		c := e.dial()
		c.subscribe(api.FeedRequest{ID: "one", Kinds: []string{"topic"}, Topics: []string{"t1"}})
		for i := range 1000 {
			topic(t, e.reg, "t0", "a", int32(i%16)+1)
			time.Sleep(time.Millisecond)
		}
		topic(t, e.reg, "t1", "a", 3)
		m := c.want(opChanges)
		if len(m.Items) != 1 || m.Items[0].Changes[0].Topic != "t1" {
			t.Errorf("got %+v", m.Items)
		}
	})
}

func TestFilteredSnapshot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEnv(t, FeedOptions{})
		defer e.close()
		put(t, e.reg, "a", 12, 8, 1)
		put(t, e.reg, "b", 2, 8, 1)
		c := e.dial()
		for _, x := range []struct {
			r       api.FeedRequest
			members int
			topics  int
		}{
			{api.FeedRequest{ID: "all"}, 2, 12},
			{api.FeedRequest{ID: "members", Kinds: []string{"member"}}, 2, 0},
			{api.FeedRequest{ID: "topics", Kinds: []string{"topic"}, Topics: []string{"t1*"}}, 0, 3},
			{api.FeedRequest{ID: "serving", Topics: []string{"t11"}}, 1, 1},
			{api.FeedRequest{ID: "broker", Brokers: []string{"b"}}, 1, 2},
			{api.FeedRequest{ID: "cluster", Clusters: []string{"other"}}, 0, 0},
			{api.FeedRequest{ID: "kv", Kinds: []string{"kv"}}, 0, 0},
		} {
			x.r.Snapshot = true
			c.subscribe(x.r)
			m := c.want(opSnapshot)
			if len(m.Members) != x.members || len(m.Topics) != x.topics || !m.Last {
				t.Errorf("%s: %d members and %d topics, want %d and %d", x.r.ID, len(m.Members), len(m.Topics), x.members, x.topics)
			}
		}
	})
}

// The first change goes out at once; what follows is collected, ten frames a second.
func TestBatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEnv(t, FeedOptions{})
		defer e.close()
		put(t, e.reg, "a", 2, 8, 1)
		c := e.dial()
		c.subscribe(api.FeedRequest{ID: "s"})
		time.Sleep(time.Second)
		begin := time.Now()
		topic(t, e.reg, "t0", "a", 1)
		c.want(opChanges)
		if waited := time.Since(begin); waited != 0 {
			t.Errorf("an idle watcher heard of a change after %v", waited)
		}
		go func() {
			for i := range 1000 {
				time.Sleep(time.Millisecond)
				topic(t, e.reg, "t0", "a", 2+int32(i%2))
			}
		}()
		frames, sets := 0, 0
		for sets < 1000 {
			m := c.want(opChanges)
			frames++
			sets += len(m.Items)
		}
		if frames > 11 {
			t.Errorf("1000 changes in a second came in %d frames", frames)
		}
		if waited := time.Since(begin); waited > 1200*time.Millisecond {
			t.Errorf("the last of them came after %v", waited)
		}
	})
}

// A socket that does not read loses changes and is told so once; others lose none.
func TestSlowReaderIsResetAndHarmsNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEnv(t, FeedOptions{})
		defer e.close()
		put(t, e.reg, "a", 2, 8, 1)
		slow, fast := e.dial(), e.dial()
		slow.subscribe(api.FeedRequest{ID: "s"})
		fast.subscribe(api.FeedRequest{ID: "s"})
		got := make(chan int)
		go func() {
			n := 0
			for n < 2000 {
				n += len(fast.want(opChanges).Items)
			}
			got <- n
		}()
		for i := range 2000 {
			topic(t, e.reg, "t0", "a", 1+int32(i%2))
			time.Sleep(time.Millisecond)
		}
		if n := <-got; n != 2000 {
			t.Errorf("the fast reader got %d of 2000", n)
		}
		resets, bookmarks := 0, 0
		var after []api.ChangeSet
		topic(t, e.reg, "t0", "a", 77)
		for len(after) == 0 || after[len(after)-1].Changes[0].After["writeQueueNums"] != float64(77) {
			switch m := slow.next(); m.Op {
			case opReset:
				resets++
				after = nil
				if m.Reason != api.ResetLagged {
					t.Errorf("reset for %s", m.Reason)
				}
			case opChanges:
				after = append(after, m.Items...)
			case opBookmark:
				bookmarks++
			}
		}
		if resets == 0 {
			t.Error("nobody told the slow reader that it missed something")
		}
		if s := e.feed.Stats(); s.Resets[api.ResetLagged] == 0 || s.Sockets != 2 {
			t.Errorf("stats are %+v", s)
		}
	})
}

// A feed that falls behind the registry itself says so to everybody, also to those to
// whom nothing was sent meanwhile, and goes on.
func TestFeedFallsBehindTheRegistry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEnv(t, FeedOptions{})
		defer e.close()
		put(t, e.reg, "a", 2, 8, 1)
		c := e.dial()
		c.subscribe(api.FeedRequest{ID: "s", Kinds: []string{"kv"}})
		synctest.Wait()
		e.feed.mu.Lock() // the pump gets no further than this
		for i := range pumpBuffer + 100 {
			topic(t, e.reg, "t0", "a", 1+int32(i%2))
		}
		e.feed.mu.Unlock()
		if m := c.next(); m.Op != opReset || m.Reason != api.ResetLagged {
			t.Fatalf("got %s %s", m.Op, m.Reason)
		}
		synctest.Wait()
		if _, _, err := e.reg.PutKV("ns", "k", "v", registry.KVCondition{}, cause("putKV")); err != nil {
			t.Fatal(err)
		}
		if m := c.want(opChanges); m.Items[0].Changes[0].Kind != api.KindKV {
			t.Errorf("got %+v", m.Items)
		}
	})
}

func TestQueueKeepsItsBounds(t *testing.T) {
	q := newQueue()
	reset := []byte("reset")
	for range 3 {
		q.push(entry{frame: []byte("keep")}, reset)
	}
	lost := 0
	for i := range 5000 {
		if l, full := q.push(entry{frame: make([]byte, 100), sets: 1 + i%3, loss: true}, reset); full {
			t.Fatal("full of what may be dropped")
		} else if l {
			lost++
		}
		if q.sets > maxQueuedSets || q.bytes > maxQueuedBytes {
			t.Fatalf("%d sets and %d bytes wait", q.sets, q.bytes)
		}
	}
	if lost < 10 {
		t.Errorf("lost %d times", lost)
	}
	for _, big := range []int{maxQueuedBytes / 2, maxQueuedBytes / 2, maxQueuedBytes / 2} {
		q.push(entry{frame: make([]byte, big), sets: 1, loss: true}, reset)
	}
	kept, resets := 0, 0
	for e, ok := q.pop(); ok; e, ok = q.pop() {
		switch string(e.frame[:min(5, len(e.frame))]) {
		case "keep":
			kept++
		case "reset":
			resets++
		}
	}
	if kept != 3 || resets != 1 {
		t.Errorf("%d kept entries and %d resets came out", kept, resets)
	}
	if q.sets != 0 || q.bytes != 0 {
		t.Errorf("an empty queue counts %d sets and %d bytes", q.sets, q.bytes)
	}
	full := false
	for range maxQueuedEntries + 1 {
		_, full = q.push(entry{frame: []byte("answer")}, reset)
	}
	if !full {
		t.Error("answers that nobody reads pile up")
	}
}

// Whoever subscribes while a reset still waits, and then misses something again, is told so
// behind the new snapshot: the reset before it says nothing of that.
func TestResetComesBehindALaterSnapshot(t *testing.T) {
	q := newQueue()
	reset := []byte("reset")
	fill := func() {
		for range maxQueuedSets + 1 {
			q.push(entry{frame: []byte("change"), sets: 1, loss: true}, reset)
		}
	}
	fill()
	q.push(entry{frame: []byte("snapshot")}, reset)
	fill()
	var got []string
	for e, ok := q.pop(); ok; e, ok = q.pop() {
		if w := string(e.frame); w != "change" || len(got) == 0 || got[len(got)-1] != w {
			got = append(got, w)
		}
	}
	if strings.Join(got, " ") != "snapshot reset" {
		t.Errorf("what comes out is %q", got)
	}
}

func TestResume(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEnv(t, FeedOptions{})
		defer e.close()
		put(t, e.reg, "a", 2, 8, 1)
		for i := range 5 {
			topic(t, e.reg, "t0", "a", int32(i)+1)
		}
		c := e.dial()
		c.subscribe(api.FeedRequest{ID: "s", Since: e.reg.Epoch() + ".3"})
		m := c.want(opChanges)
		if len(m.Items) != 3 || m.Items[0].Revision != e.reg.Epoch()+".4" {
			t.Errorf("after revision 3 come %+v", m.Items)
		}
		topic(t, e.reg, "t0", "a", 9)
		if m = c.want(opChanges); len(m.Items) != 1 || m.Items[0].Revision != e.reg.Epoch()+".7" {
			t.Errorf("then comes %+v", m.Items)
		}
		for since, reason := range map[string]string{"other.3": api.ResetRestarted, e.reg.Epoch() + ".99": api.ResetCompacted, e.reg.Epoch() + ".x": api.ResetCompacted, "x": api.ResetRestarted} {
			c.subscribe(api.FeedRequest{ID: "s", Since: since})
			if m = c.want(opReset); m.Reason != reason || m.ID != "s" {
				t.Errorf("since %s: %+v", since, m)
			}
		}
	})
}

// A refusal moves no revision. Who is told of it because it was missed does not hear of it
// again when the batch goes out in which it waited.
func TestReportIsToldOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEnv(t, FeedOptions{})
		defer e.close()
		put(t, e.reg, "a", 2, 8, 1)
		c := e.dial()
		c.subscribe(api.FeedRequest{ID: "s"})
		topic(t, e.reg, "t0", "a", 2)
		c.want(opChanges)
		topic(t, e.reg, "t0", "a", 3) // waits for the rest of the batch's time
		report := func(detail string) {
			e.reg.Report(registry.Change{Cause: registry.Cause{Action: detail}, Server: []registry.ServerChange{{Op: registry.OpStarted}}})
		}
		report("missed")
		c.subscribe(api.FeedRequest{ID: "s", Since: e.reg.Epoch() + ".2"})
		report("later")
		var got []string
		for len(got) == 0 || got[len(got)-1] != "later" {
			for _, i := range c.want(opChanges).Items {
				got = append(got, i.Cause.Action)
			}
		}
		if strings.Join(got[1:], " ") != "missed later" {
			t.Errorf("told of %q", got)
		}
	})
}

// Bookmarks tell when members were heard of, and keep a quiet socket alive.
func TestBookmarks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEnv(t, FeedOptions{})
		defer e.close()
		put(t, e.reg, "a", 2, 8, 1)
		c := e.dial()
		c.subscribe(api.FeedRequest{ID: "s"})
		begin := time.Now()
		m := c.want(opBookmark)
		if len(m.Heard) != 1 || m.Heard[0].BrokerName != "a" || m.Time == nil || m.ID != "s" {
			t.Errorf("the first bookmark is %+v", m)
		}
		for range 4 {
			if m = c.want(opBookmark); len(m.Heard) != 0 {
				t.Errorf("nobody was heard of, but %+v", m.Heard)
			}
		}
		if d := time.Since(begin); d < 40*time.Second || d > 70*time.Second {
			t.Errorf("five bookmarks took %v", d)
		}
		put(t, e.reg, "a", 2, 8, 1)
		if m = c.want(opBookmark); len(m.Heard) != 1 {
			t.Errorf("a heartbeat is not told: %+v", m)
		}
		c.subscribe(api.FeedRequest{ID: "s", Kinds: []string{"kv"}})
		put(t, e.reg, "a", 2, 8, 1)
		if m = c.want(opBookmark); m.Heard != nil {
			t.Errorf("a watcher of keys hears of heartbeats: %+v", m)
		}
	})
}

func TestTopicFactsFollow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEnv(t, FeedOptions{})
		defer e.close()
		c := e.dial()
		c.subscribe(api.FeedRequest{ID: "s"})
		info := registry.MemberInfo{Cluster: "c", Name: "a", Addr: "a:1", Timeout: time.Minute, Version: registry.DataVersion{Counter: 1}}
		st := e.reg.Snapshot().NewStatement("c", "a:1")
		st.Add("plain", registry.TopicConfig{QueueSpec: registry.QueueSpec{ReadQueues: 1, WriteQueues: 1, Perm: 6}})
		st.Add("fifo", registry.TopicConfig{
			QueueSpec: registry.QueueSpec{ReadQueues: 1, WriteQueues: 1, Perm: 6}, Order: true,
			Attributes: registry.FormatAttributes(map[string]string{"+message.type": "FIFO"}),
		})
		if _, err := e.reg.Register(registry.Registration{MemberInfo: info, Topics: st}, nil, cause("registerBroker")); err != nil {
			t.Fatal(err)
		}
		m := c.want(opChanges)
		want := []api.FeedFacts{{Topic: "fifo", FeedTopicFacts: api.FeedTopicFacts{MessageType: "FIFO", Order: true}}}
		if diff := cmp.Diff(want, m.Facts); diff != "" {
			t.Error(diff)
		}
	})
}

// A large registry comes in frames of a bounded size.
func TestLargeSnapshotIsCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEnv(t, FeedOptions{})
		defer e.close()
		put(t, e.reg, "a", 20_000, 8, 1)
		c := e.dial()
		c.subscribe(api.FeedRequest{ID: "s", Snapshot: true})
		m := newMirror()
		parts := 0
		for {
			msg := c.want(opSnapshot) // reads at most 256 KiB
			parts++
			if want := (&api.FeedOutline{Topics: 20_000, Brokers: []api.FeedBrokerOutline{{BrokerName: "a", TopicCount: 20_000}}}); (parts == 1) != cmp.Equal(msg.Outline, want) {
				t.Errorf("part %d has the outline %+v", parts, msg.Outline)
			}
			if parts == 1 && (len(msg.Members) != 1 || len(msg.Topics) > 0) {
				t.Error("the first part does not end with the members")
			}
			if err := m.take(msg); err != nil {
				t.Fatal(err)
			}
			if msg.Last {
				break
			}
		}
		if parts < 4 || parts > 30 {
			t.Errorf("20,000 topics came in %d parts", parts)
		}
		if m.text() != textOf(e.reg.Snapshot()) {
			t.Error("the parts do not fit together")
		}
		e.reg.WipeWritePerm("a", cause("wipeWritePerm"))
		ch := c.want(opChanges)
		if set := ch.Items[0]; !set.Truncated || set.Counts["topic"] != 20_000 || len(set.Changes) != 200 {
			t.Errorf("a change of 20,000 topics comes with %d of them", len(set.Changes))
		}
	})
}

// Topics are counted by broker, those that nobody can write to apart.
// A snapshot that was made for many is given back when nobody can ask for it any more.
func TestSharedSnapshotIsGivenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEnv(t, FeedOptions{})
		defer e.close()
		put(t, e.reg, "a", 2, 8, 1)
		c := e.dial()
		c.subscribe(api.FeedRequest{ID: "s", Snapshot: true})
		c.want(opSnapshot)
		_ = c.Close(websocket.StatusNormalClosure, "")
		time.Sleep(2 * heardEvery)
		e.feed.mu.Lock()
		defer e.feed.mu.Unlock()
		if e.feed.cache != nil {
			t.Errorf("a snapshot of %v is kept", e.feed.cache.at)
		}
	})
}

func TestOutlineCounts(t *testing.T) {
	reg := registry.New(registry.Options{})
	put(t, reg, "a", 3, 8, 1)
	put(t, reg, "b", 2, 4, 1) // its topics are among those of a
	want := &api.FeedOutline{Topics: 3, Brokers: []api.FeedBrokerOutline{{BrokerName: "a", TopicCount: 3}, {BrokerName: "b", TopicCount: 2}}}
	if diff := cmp.Diff(want, outlineOf(reg.Snapshot().Topics())); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	reg.WipeWritePerm("a", cause("wipeWritePerm"))
	want.Brokers[0].Unwritable = 1 // the one that b does not have
	if diff := cmp.Diff(want, outlineOf(reg.Snapshot().Topics())); diff != "" {
		t.Errorf("with a wipe (-want +got):\n%s", diff)
	}
}

func TestNewFeedNamesWhatIsMissing(t *testing.T) {
	for _, o := range []FeedOptions{
		{},
		{Registry: registry.New(registry.Options{})},
		{Authenticate: func(*http.Request) (string, bool) { return "", true }},
	} {
		if f, err := NewFeed(o); err == nil || !strings.Contains(err.Error(), "is missing") {
			t.Errorf("NewFeed(%+v) = %v, %v", o, f, err)
		}
	}
}
