package handlers

import (
	"strings"
	"testing"
	"time"

	"fingerpost/api"
	"fingerpost/registry"
)

func TestConflicts(t *testing.T) {
	e, scrape := newScraped(t)
	list := func(query string) api.ConflictList {
		t.Helper()
		var out api.ConflictList
		e.get("/api/v1/conflicts"+query).ok(t, 200).into(t, &out)
		return out
	}
	if l := list(""); l.Total != 0 || l.Items == nil {
		t.Errorf("without any: %+v", l)
	}
	e.broker("a", 0, "h:1")
	e.register(registry.MemberInfo{Cluster: "Other", Name: "a", ID: 1, Addr: "h:2", Timeout: time.Minute})
	for range 2 {
		_, err := e.reg.Register(registry.Registration{MemberInfo: registry.MemberInfo{
			Cluster: "DefaultCluster", Name: "a", ID: 0, Addr: "h:3", Timeout: time.Minute, Source: registry.FromREST, Owner: "me",
		}}, nil, registry.Cause{Face: "rest"})
		if err == nil {
			t.Fatal("a REST member took the place of a broker")
		}
	}
	l := list("")
	if l.Total != 2 || l.Items[0].Kind != "registration-refused" || l.Items[0].Code != "broker-in-other-cluster" && l.Items[0].Code != "member-held-by-remoting" ||
		l.Items[0].Count != 2 || l.Items[0].BrokerAddr != "h:3" || !l.Items[0].Active || l.Items[0].LastAt == nil {
		t.Errorf("the list is %+v", l)
	}
	clash := list("?kind=name-in-two-clusters&broker=a&active=true")
	if clash.Total != 1 || clash.Items[0].Against != "DefaultCluster" || clash.Items[0].ClusterName != "Other" || clash.Items[0].BrokerID != 1 {
		t.Errorf("the name in two clusters: %+v", clash)
	}
	if l := list("?broker=nobody"); l.Total != 0 {
		t.Errorf("of a broker without any: %+v", l)
	}
	got := scrape()
	for _, k := range registry.DisputeKinds() {
		want := float64(list("?active=true&kind=" + k.String()).Total)
		if n := got["conflicts{kind="+k.String()+"}"]; n != want {
			t.Errorf("the metric counts %v of %s, the list %v", n, k, want)
		}
	}
	text := string(e.get("/api/v1/conflicts?format=text").ok(t, 200).body)
	if !strings.Contains(text, "name-in-two-clusters") || !strings.Contains(text, "total 2") {
		t.Errorf("as text:\n%s", text)
	}
	e.get("/api/v1/conflicts?kind=none").problem(t, 400, "validation-failed")
	e.get("/api/v1/conflicts?active=perhaps").problem(t, 400, "validation-failed")
}
