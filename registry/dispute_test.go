package registry

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// enter registers a member without topics.
func (b *bed) enter(cluster, name string, id int64, addr string, edit ...func(*Registration)) error {
	reg := Registration{MemberInfo: MemberInfo{Cluster: cluster, Name: name, ID: id, Addr: addr, Timeout: 10 * time.Minute}}
	for _, f := range edit {
		f(&reg)
	}
	_, err := b.Register(reg, nil, Cause{Face: "remoting", Action: "registerBroker"})
	return err
}

// told sums up the disputes as lines.
func (b *bed) told() []string {
	out := []string{}
	all, _ := b.Disputes()
	for _, d := range all {
		line := fmt.Sprintf("%s %s/%d %s @%s against %s %s ×%d", d.Kind, d.Broker, d.ID, d.Cluster, d.Addr, d.Other, d.Code, d.Count)
		if d.Active {
			line += " now"
		}
		out = append(out, strings.Join(strings.Fields(line), " "))
	}
	return out
}

func (b *bed) tells(t *testing.T, want ...string) {
	t.Helper()
	if diff := cmp.Diff(append([]string{}, want...), b.told()); diff != "" {
		t.Errorf("the disputes (-want +got):\n%s", diff)
	}
}

func TestNoDisputesWithoutAny(t *testing.T) {
	b := newBed(t)
	b.tells(t)
	for range 3 {
		if err := b.enter("c", "a", 0, "X"); err != nil {
			t.Fatal(err)
		}
		if err := b.enter("c", "a", 1, "Y"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := b.Unregister("c", "nobody", "Z", 0, Cause{}); err != nil {
		t.Fatal(err)
	}
	b.tells(t)
}

func TestNameInTwoClustersIsADisputeAsLongAsItStands(t *testing.T) {
	b := newBed(t)
	_ = b.enter("c1", "a", 0, "X")
	_ = b.enter("c2", "a", 1, "Y")
	b.tells(t, "name-in-two-clusters a/1 c2 @Y against c1 ×1 now")
	b.clock.advance(2 * DisputeKept)
	b.tells(t, "name-in-two-clusters a/1 c2 @Y against c1 ×1 now")
	if _, err := b.Unregister("c2", "a", "Y", 1, Cause{}); err != nil {
		t.Fatal(err)
	}
	b.tells(t)
}

// Neither stands beside the other: each takes the name as a whole.
func TestNameThatTwoClustersTakeInTurnIsADispute(t *testing.T) {
	b := newBed(t)
	_ = b.enter("c1", "a", 0, "X")
	b.clock.advance(time.Second)
	_ = b.enter("c2", "a", 0, "Y")
	b.tells(t, "name-in-two-clusters a/0 c2 @Y against c1 ×1 now")
	b.clock.advance(time.Second)
	_ = b.enter("c1", "a", 0, "X")
	b.tells(t, "name-in-two-clusters a/0 c1 @X against c2 ×2 now")

	// One that joined is told of after it has left, too.
	_ = b.enter("c3", "a", 1, "Z")
	_, _ = b.Unregister("c3", "a", "Z", 1, Cause{})
	b.tells(t, "name-in-two-clusters a/1 c3 @Z against c1 ×3 now")
}

func TestRefusedRegistrationIsADispute(t *testing.T) {
	b := newBed(t)
	state := func(n int64) func(*Registration) { return func(r *Registration) { r.Version.State = n } }
	_ = b.enter("c", "a", 0, "X", state(5))
	for range 3 {
		b.clock.advance(30 * time.Second)
		if err := b.enter("c", "a", 0, "Y", state(3)); err == nil {
			t.Fatal("a registration with a lower state was taken")
		}
	}
	b.tells(t, "registration-refused a/0 c @Y against stale-state-version ×3 now")
	b.clock.advance(DisputeActive + time.Second)
	b.tells(t, "registration-refused a/0 c @Y against stale-state-version ×3")
	b.clock.advance(DisputeKept)
	b.tells(t)
	if n := b.Counts().Refusals[Refusal{FromRemoting, "stale-state-version"}]; n != 3 {
		t.Errorf("%d refusals were counted, want 3", n)
	}
}

func TestPlacesThatChangeHandsAreContested(t *testing.T) {
	b := newBed(t)
	take := func(after time.Duration, addr string) {
		b.clock.advance(after)
		_ = b.enter("c", "a", 0, addr)
	}
	take(0, "X")
	take(0, "Y") // it moved
	take(time.Minute, "X")
	b.tells(t) // and back
	take(time.Minute, "Y")
	b.tells(t, "place-contested a/0 c @Y against X ×3 now")
	take(contestWithin+time.Second, "X")
	b.tells(t) // not soon enough to be a fight
	if n := b.Counts().Moves; n != 4 {
		t.Errorf("%d moves were counted, want 4", n)
	}

	b = newBed(t)
	for i := range 4 {
		b.clock.advance(30 * time.Second)
		_ = b.enter("c", fmt.Sprint("name", i%2), 0, "X")
	}
	b.tells(t, "address-contested name1/0 c @X against name0/0 ×3 now")
	if n := b.Counts().Removals[Removal{FromRemoting, RemovedMoved}]; n != 3 {
		t.Errorf("%d members were counted as moved, want 3", n)
	}
}

func TestChangeOfMastershipIsNoDispute(t *testing.T) {
	b := newBed(t)
	_ = b.enter("c", "a", 0, "X")
	_ = b.enter("c", "a", 1, "Y")
	_ = b.enter("c", "a", 0, "Y") // X has lost its place
	_ = b.enter("c", "a", 1, "X")
	_ = b.enter("c", "a", 0, "X")
	_ = b.enter("c", "a", 1, "Y")
	b.tells(t)
}

func TestLateUnregistrationIsADispute(t *testing.T) {
	b := newBed(t)
	_ = b.enter("c", "a", 0, "X")
	_ = b.enter("c", "a", 0, "Y")
	b.clock.advance(30 * time.Minute)
	b.Sweep(time.Hour, Cause{}) // X is forgotten, and so is Y
	_ = b.enter("c", "a", 0, "Y")
	if removed, err := b.Unregister("c", "a", "X", 0, Cause{}); removed || err != nil {
		t.Fatalf("removed %v, %v", removed, err)
	}
	b.tells(t, "removal-refused a/0 c @X against Y ×1 now")
	if b.Snapshot().Member("a", 0) == nil {
		t.Error("the member has gone")
	}
}

// Whoever sends refused registrations of ever new names cannot fill the memory, and
// those seen last stay.
func TestDisputesAreBounded(t *testing.T) {
	b := newBed(t)
	single := func(r *Registration) {
		r.Topics = b.Snapshot().NewStatement("c", r.Addr)
		r.Topics.Add("T", TopicConfig{})
	}
	long := strings.Repeat("x", 1<<16)
	for i := range 4 * maxDisputes {
		b.clock.advance(time.Millisecond)
		if err := b.enter("c", fmt.Sprint(i, long), 0, "X", single); err == nil {
			t.Fatal("a single topic of an unknown broker was taken")
		}
	}
	all, _ := b.Disputes()
	if len(all) != maxDisputes || !strings.HasPrefix(all[0].Broker, fmt.Sprint(4*maxDisputes-1, "x")) {
		t.Errorf("%d disputes, the first of %.20s", len(all), all[0].Broker)
	}
	for _, d := range all {
		if len(d.Broker) > maxDisputed+len("…") {
			t.Fatalf("a name of %d bytes is kept", len(d.Broker))
		}
	}
}

func TestCountsFollowTheChanges(t *testing.T) {
	b := newBed(t)
	with := func(topics ...string) func(*Registration) {
		return func(r *Registration) {
			r.Topics, r.Replace, r.Version.Counter = b.Snapshot().NewStatement("c", r.Addr), true, int64(len(topics))
			for _, n := range topics {
				r.Topics.Add(n, TopicConfig{QueueSpec: QueueSpec{ReadQueues: int32(len(topics))}})
			}
		}
	}
	h := b.conn("h")
	for _, topics := range [][]string{{"A", "B", "C"}, {"A", "B"}} {
		if err := b.enter("c", "a", 0, "X", with(topics...)); err != nil {
			t.Fatal(err)
		}
	}
	_, _ = b.Register(Registration{MemberInfo: MemberInfo{Cluster: "c", Name: "b", Addr: "Z", Timeout: time.Hour}}, h, Cause{})
	b.Release(h, Cause{})
	_, _ = b.Unregister("c", "a", "X", 0, Cause{})
	_ = b.enter("c", "d", 0, "W", func(r *Registration) { r.Timeout = time.Second })
	b.clock.advance(4 * time.Second)
	b.Sweep(5*time.Second, Cause{})

	got := b.Counts()
	want := map[Removal]uint64{
		{FromRemoting, RemovedDisconnected}: 1, {FromRemoting, RemovedUnregistered}: 1, {FromRemoting, RemovedExpired}: 1,
	}
	if diff := cmp.Diff(want, got.Removals); diff != "" {
		t.Errorf("removals (-want +got):\n%s", diff)
	}
	if got.TopicsCreated != 3 || got.TopicsChanged != 2 || got.TopicsDeleted != 3 {
		t.Errorf("topics: %d created, %d changed, %d deleted, want 3, 2, 3", got.TopicsCreated, got.TopicsChanged, got.TopicsDeleted)
	}
	if got.HistoryChanges != int(b.Snapshot().Revision) || got.HistoryBytes <= 0 {
		t.Errorf("the history has %d changes in %d bytes at revision %d", got.HistoryChanges, got.HistoryBytes, b.Snapshot().Revision)
	}
}
