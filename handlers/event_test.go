package handlers

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"fingerpost/api"
	"fingerpost/registry"
)

// One registration of many topics is one revision and one change set, which streams cut
// short and this endpoint pages in full.
func TestChangeSetOfManyTopics(t *testing.T) {
	e := newEnv(t)
	var topics []string
	for i := range 10_000 {
		topics = append(topics, fmt.Sprintf("T%05d", i))
	}
	e.broker("broker-a", 0, "10.0.0.1:10911", topics...)
	if r := e.reg.Snapshot().Revision; r != 1 {
		t.Fatalf("the revision is %d", r)
	}
	var l api.EventList
	e.get("/api/v1/events").ok(t, 200).into(t, &l)
	if len(l.Items) != 1 || !l.Items[0].Truncated || len(l.Items[0].Changes) != 200 || l.Items[0].Counts["topic"] != 10_001 {
		t.Fatalf("%d sets, counts %v", len(l.Items), l.Items[0].Counts)
	}
	seen := make(map[string]bool)
	after := "0"
	for pages := 0; after != ""; pages++ {
		var p api.EventPage
		e.get("/api/v1/events/"+l.Items[0].Revision+"?kind=topic&limit=3000&after="+after).ok(t, 200).into(t, &p)
		if p.Total != 10_001 || p.Truncated || pages > 3 {
			t.Fatalf("page %d: total %d", pages, p.Total)
		}
		for _, c := range p.Changes {
			seen[c.Topic] = true
		}
		after = p.Next
	}
	if len(seen) != 10_001 {
		t.Errorf("saw %d topics", len(seen))
	}
	// A filter finds its topic however far behind it lies.
	var p api.EventPage
	e.get("/api/v1/events/1?topic=T09999&kind=topic").ok(t, 200).into(t, &p)
	if p.Total != 1 || p.Changes[0].Topic != "T09999" || p.Changes[0].After["perm"] != 6.0 {
		t.Errorf("got %+v", p)
	}
}

func TestEventsNameTheirCause(t *testing.T) {
	e := newEnv(t)
	e.broker("broker-a", 0, "10.0.0.1:10911", "T")
	id := e.admin("DELETE", "/api/v1/brokers/broker-a/write-perm", "", "X-Request-Id", "my-id").Header.Get("X-Request-Id")
	if id != "my-id" {
		t.Errorf("the request id is %q", id)
	}
	e.admin("PUT", "/api/v1/kv/n/k", `{"value":"`+strings.Repeat("x", 2000)+`"}`).ok(t, 201)
	e.admin("PUT", "/api/v1/brokers/broker-a/members/0", bridge).problem(t, 409, "member-held-by-remoting")
	var l api.EventList
	e.get("/api/v1/events").ok(t, 200).into(t, &l)
	var got []string
	for _, s := range l.Items {
		c := s.Changes[len(s.Changes)-1]
		rid := "-"
		if s.Cause.RequestID != nil && *s.Cause.RequestID == "my-id" {
			rid = "my-id"
		}
		got = append(got, strings.Join([]string{s.Cause.Face, s.Cause.Action, s.Cause.Actor, rid, c.Kind, c.Op, c.Code}, " "))
	}
	want := []string{
		"rest registerMember token:admin - member rejected member-held-by-remoting",
		"rest putKV token:admin - kv created ",
		"rest wipeWritePerm token:admin my-id topic changed ",
		"remoting registerBroker 10.0.0.1:10911 - topic created ",
	}
	if len(got) != 4 || got[0] != want[0] || got[1] != want[1] || !strings.HasPrefix(got[2], "rest wipeWritePerm token:admin my-id") || got[3] != want[3] {
		t.Errorf("got %q", got)
	}
	if v := l.Items[1].Changes[0].After; v["valueBytes"] != 2000.0 {
		t.Errorf("a long value: %v", v)
	}
	if l.Items[0].Revision != l.Items[1].Revision {
		t.Error("a refusal has a revision of its own")
	}
	for query, n := range map[string]int{
		"actor=token:*": 3, "face=remoting": 1, "kind=kv": 1, "action=putKV": 1, "topic=T": 3, "broker=broker-a": 3, "since=1h": 4,
		"until=1h": 0, "since=2000-01-01T00:00:00Z": 4, "kind=member&kind=kv": 3, "limit=2": 2,
	} {
		e.get("/api/v1/events?"+query).ok(t, 200).into(t, &l)
		if len(l.Items) != n {
			t.Errorf("%s: %d, want %d", query, len(l.Items), n)
		}
	}
	e.get("/api/v1/events?since=yesterday").problem(t, 400, "validation-failed")
	e.get("/api/v1/events/other.1").problem(t, 410, "revision-compacted")
	e.get("/api/v1/events/x").problem(t, 400, "malformed-path")
}

func TestPagesOfEvents(t *testing.T) {
	e := newEnv(t)
	for i := range 5 {
		e.reg.Report(registry.Change{Cause: registry.Cause{Action: fmt.Sprint("r", i)}, Server: []registry.ServerChange{{Op: registry.OpStarted}}})
		if _, _, err := e.reg.PutKV("n", fmt.Sprint(i), "v", registry.KVCondition{}, registry.Cause{Action: fmt.Sprint("k", i)}); err != nil {
			t.Fatal(err)
		}
	}
	for sort, want := range map[string]string{"revision": "r0 k0 r1 k1 r2 k2 r3 k3 r4 k4", "-revision": "k4 r4 k3 r3 k2 r2 k1 r1 k0 r0"} {
		var got []string
		for after := "start"; after != ""; {
			path := "/api/v1/events?limit=3&sort=" + sort
			if after != "start" {
				path += "&after=" + after
			}
			var l api.EventList
			e.get(path).ok(t, 200).into(t, &l)
			if l.Total != 10 {
				t.Errorf("total %d", l.Total)
			}
			for _, s := range l.Items {
				got = append(got, s.Cause.Action)
			}
			after = l.Next
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %v", sort, got)
		}
	}
	e.get("/api/v1/events?after=nonsense").problem(t, 400, "validation-failed")
	e.get("/api/v1/events?after="+cursor{5, "a-topic"}.String()).problem(t, 400, "validation-failed")
}

// A page that is left off in the middle of many refusals goes on there, also when the
// history has forgotten some of them since.
func TestPagesOfEventsThatAreForgotten(t *testing.T) {
	for _, sort := range []string{"revision", "-revision"} {
		e := newEnv(t)
		reported := 0
		report := func(n int) {
			for range n {
				reported++
				e.reg.Report(registry.Change{Cause: registry.Cause{Action: fmt.Sprint(reported)}, Server: []registry.ServerChange{{Op: registry.OpStarted}}})
			}
		}
		report(10_000) // as many as are kept, all of one revision
		var l api.EventList
		page := func(after string) (actions []string) {
			e.get("/api/v1/events?limit=50&sort="+sort+after).ok(t, 200).into(t, &l)
			for _, s := range l.Items {
				actions = append(actions, s.Cause.Action)
			}
			return actions
		}
		first := page("")
		report(20)
		second := page("&after=" + l.Next)
		last, _ := strconv.Atoi(first[49])
		if next, _ := strconv.Atoi(second[0]); next != last+1 && next != last-1 {
			t.Errorf("%s: after %d comes %d", sort, last, next)
		}
	}
}
