package registry

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

func TestStaleTopics(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	r := New(Options{Now: func() time.Time { return now }})
	register := func(id, counter int64, perms map[string]int32) {
		t.Helper()
		addr := fmt.Sprint("h:", id)
		reg := Registration{MemberInfo: MemberInfo{Cluster: "c", Name: "b", ID: id, Addr: addr, Timeout: time.Hour, Version: DataVersion{Counter: counter}}}
		reg.Topics = r.Snapshot().NewStatement("c", addr)
		for n, p := range perms {
			reg.Topics.Add(n, TopicConfig{QueueSpec: QueueSpec{1, 1, p, 0}})
		}
		if _, err := r.Register(reg, nil, Cause{}); err != nil {
			t.Fatal(err)
		}
	}
	expect := func(want ...string) {
		t.Helper()
		got := []string{}
		for _, x := range r.Snapshot().Stale(now) {
			got = append(got, x.Topic+" "+x.Reason.String())
		}
		if !slices.Equal(got, want) && len(got)+len(want) > 0 {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	register(0, 1, map[string]int32{"Kept": 6, "Left": 6, "Read": 4})
	register(1, 1, map[string]int32{"Kept": 6, "Left": 6, "Read": 4})
	expect("Read read-only-everywhere")
	register(0, 2, map[string]int32{"Kept": 6, "Read": 4})
	expect("Read read-only-everywhere") // the broker may still name it
	now = now.Add(StaleGrace + time.Second)
	expect("Left not-in-last-registration", "Read read-only-everywhere")

	if _, err := r.DeclareTopic("Fresh", []QueueData{{"b", QueueSpec{1, 1, 6, 0}}}, Cause{}); err != nil {
		t.Fatal(err)
	}
	expect("Left not-in-last-registration", "Read read-only-everywhere")

	found := r.Snapshot().Stale(now)
	removed, revision := r.DeleteStale(found, Cause{})
	if len(removed) != 1 || removed[0].Topic != "Left" || revision != r.Snapshot().Revision || r.Snapshot().Topic("Left") != nil {
		t.Errorf("removed %+v", removed)
	}
	if again, _ := r.DeleteStale(found, Cause{}); len(again) != 0 {
		t.Errorf("removed again: %+v", again)
	}
	expect("Read read-only-everywhere")

	if _, err := r.Unregister("c", "b", "h:0", 0, Cause{}); err != nil {
		t.Fatal(err)
	}
	expect("Read read-only-everywhere")
	now = now.Add(StaleGrace + time.Second)
	expect("Fresh no-master", "Kept no-master", "Read no-master", "Read read-only-everywhere")
}

// A broker that names its topic again between the look and the removal keeps it.
func TestDeleteStaleLooksAgain(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	r := New(Options{Now: func() time.Time { return now }})
	for counter, topics := range [][]string{{"A", "B"}, {"A"}, {"A", "B"}} {
		reg := Registration{MemberInfo: MemberInfo{Cluster: "c", Name: "b", Addr: "h", Timeout: time.Hour, Version: DataVersion{Counter: int64(counter)}}}
		reg.Topics = r.Snapshot().NewStatement("c", "h")
		for _, n := range topics {
			reg.Topics.Add(n, TopicConfig{QueueSpec: QueueSpec{1, 1, 6, 0}})
		}
		var found []Stale
		if counter == 2 {
			now = now.Add(StaleGrace + time.Second)
			if found = r.Snapshot().Stale(now); len(found) != 1 {
				t.Fatalf("found %+v", found)
			}
		}
		if _, err := r.Register(reg, nil, Cause{}); err != nil {
			t.Fatal(err)
		}
		if removed, _ := r.DeleteStale(found, Cause{}); len(removed) > 0 {
			t.Errorf("removed %+v", removed)
		}
	}
	if r.Snapshot().Topic("B") == nil {
		t.Error("the topic is gone")
	}
}
