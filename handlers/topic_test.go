package handlers

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"fingerpost/api"
	"fingerpost/registry"
)

func names(l api.TopicList) string {
	var out []string
	for _, t := range l.Items {
		out = append(out, t.Topic)
	}
	return strings.Join(out, " ")
}

func TestListTopics(t *testing.T) {
	e := newEnv(t)
	e.broker("broker-a", 0, "10.0.0.1:10911", "Order1", "Order2", "%RETRY%g", "%DLQ%g", "DefaultCluster_REPLY_TOPIC")
	e.register(registry.MemberInfo{Cluster: "Other", Name: "broker-b", Addr: "10.0.0.2:1", Timeout: time.Minute}, "Order2", "broker-b")
	for query, want := range map[string]string{
		"":                              "%DLQ%g %RETRY%g DefaultCluster_REPLY_TOPIC Order1 Order2 TBW102 broker-b",
		"type=normal":                   "Order1 Order2",
		"type=retry&type=dlq":           "%DLQ%g %RETRY%g",
		"type=system":                   "TBW102 broker-b",
		"type=reply":                    "DefaultCluster_REPLY_TOPIC",
		"cluster=Other":                 "Order2 TBW102 broker-b",
		"broker=broker-a&prefix=Order":  "Order1 Order2",
		"q=oRdEr":                       "Order1 Order2",
		"match=*er?":                    "Order1 Order2",
		"sort=-topic&type=normal":       "Order2 Order1",
		"perm=RWX":                      "TBW102",
		"perm=7":                        "TBW102",
		"unit=true":                     "",
		"messageType=fifo":              "",
		"stale=true":                    "",
		"stale=false&prefix=Order":      "Order1 Order2",
		"q=nothing-like-it":             "",
		"limit=2":                       "%DLQ%g %RETRY%g",
		"limit=2&after=%25RETRY%25g":    "DefaultCluster_REPLY_TOPIC Order1",
		"limit=2&after=zzz":             "",
		"limit=2&sort=-topic&after=TBW": "Order2 Order1",
		"sort=updatedAt&prefix=Order":   "Order1 Order2",
	} {
		var l api.TopicList
		e.get("/api/v1/topics?"+query).ok(t, 200).into(t, &l)
		if names(l) != want || l.Items == nil {
			t.Errorf("%s: %s, want %s", query, names(l), want)
		}
	}
}

func TestTopicItem(t *testing.T) {
	e := newEnv(t)
	e.broker("broker-a", 0, "10.0.0.1:10911", "Orders")
	e.broker("broker-b", 0, "10.0.0.2:10911", "Orders")
	e.reg.WipeWritePerm("broker-b", registry.Cause{})
	if _, _, err := e.reg.PutKV(registry.OrderNamespace, "Orders", "broker-a:4", registry.KVCondition{}, registry.Cause{}); err != nil {
		t.Fatal(err)
	}
	var l api.TopicList
	e.get("/api/v1/topics?prefix=Orders").ok(t, 200).into(t, &l)
	got := l.Items[0]
	got.UpdatedAt, got.Digest = nil, ""
	want := api.TopicSummary{
		Topic: "Orders", Type: "normal", MessageType: "NORMAL", Clusters: []string{"DefaultCluster"}, BrokerCount: 2,
		ReadQueueNums: 16, WriteQueueNums: 16, PermText: "RW-", PermMixed: true, HasOrderConf: true, Stale: []string{}, Revision: e.reg.Epoch() + ".3",
	}
	if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	var one api.Topic
	e.get("/api/v1/topics/Orders").ok(t, 200).into(t, &one)
	if len(one.Brokers) != 2 || one.Brokers[1].PermText != "R--" || one.Brokers[1].RegisteredPerm != 6 || *one.OrderConf != "broker-a:4" {
		t.Errorf("got %+v", one)
	}
	fields := e.get("/api/v1/topics?prefix=Orders&fields=topic,permText").ok(t, 200)
	if !strings.Contains(string(fields.body), `"items":[{"permText":"RW-","topic":"Orders"}]`) {
		t.Errorf("two fields: %s", fields)
	}
}

// Pages neither skip nor repeat a topic that was there throughout, whatever comes and goes.
func TestPagesAreStable(t *testing.T) {
	e := newEnv(t)
	var topics []string
	for i := range 25 {
		topics = append(topics, fmt.Sprintf("T%02d", i))
	}
	e.broker("broker-a", 0, "10.0.0.1:10911", topics...)
	var seen []string
	path := "/api/v1/topics?prefix=T&limit=7"
	for n := 0; path != ""; n++ {
		a := e.get(path).ok(t, 200)
		var l api.TopicList
		a.into(t, &l)
		for _, x := range l.Items {
			if len(x.Topic) == 3 {
				seen = append(seen, x.Topic)
			}
		}
		path = ""
		if link, ok := strings.CutSuffix(strings.TrimPrefix(a.Header.Get("Link"), "<"), `>; rel="next"`); ok {
			path = link
		} else if l.Next != "" {
			t.Errorf("a next page without a link: %v", a.Header)
		}
		if _, err := e.reg.DeclareTopic(fmt.Sprintf("T%02dx", 3*n), []registry.QueueData{{Broker: "broker-a", QueueSpec: registry.QueueSpec{ReadQueues: 1, WriteQueues: 1, Perm: 6}}}, registry.Cause{}); err != nil {
			t.Fatal(err)
		}
	}
	if strings.Join(seen, " ") != strings.Join(topics, " ") {
		t.Errorf("saw %v", seen)
	}
}

func TestListsOfAnEmptyServer(t *testing.T) {
	e := newEnv(t)
	for _, path := range []string{"topics", "brokers", "clusters", "kv", "stale-topics", "connections", "routes?topic=x"} {
		var l struct {
			Total *int              `json:"total"`
			Items []json.RawMessage `json:"items"`
		}
		e.get("/api/v1/"+path).ok(t, 200).into(t, &l)
		if l.Items == nil || len(l.Items) != 0 || l.Total == nil {
			t.Errorf("%s has no empty list", path)
		}
	}
	for path, code := range map[string]string{
		"topics/x": "topic-not-found", "topics/x/route": "topic-not-found", "topics/x/route/explain": "topic-not-found", "brokers/x": "broker-not-found",
		"brokers/x/topics": "broker-not-found", "brokers/x/write-perm": "broker-not-found", "brokers/x/members/0": "broker-not-found",
		"clusters/x": "cluster-not-found", "kv/x": "kv-not-found", "kv/x/y": "kv-not-found", "events/99": "event-not-found", "nothing": "no-such-endpoint",
	} {
		e.get("/api/v1/"+path).problem(t, 404, code)
	}
}

func TestRoutes(t *testing.T) {
	e := newEnv(t)
	e.broker("broker-a", 0, "10.0.0.1:10911", "A", "B", "%RETRY%g")
	e.get("/api/v1/routes").problem(t, 400, "validation-failed")
	var l api.RouteList
	a := e.get("/api/v1/routes?topic=%25RETRY%25g&topic=nope&topic=A").ok(t, 200)
	a.into(t, &l)
	if len(l.Items) != 2 || l.Items[0].Topic != "%RETRY%g" || fmt.Sprint(l.NotFound) != "[nope]" || l.Items[1].Digest == "" ||
		l.Items[1].Route.BrokerDatas[0].BrokerAddrs["0"] != "10.0.0.1:10911" {
		t.Errorf("got %s", a)
	}
	e.get("/api/v1/routes?prefix=A").ok(t, 200).into(t, &l)
	if len(l.Items) != 1 {
		t.Errorf("by prefix: %+v", l.Items)
	}
	q := e.do("POST", "/api/v1/routes/query", `{"topics":["B","A","B","nope"]}`).ok(t, 200)
	q.into(t, &l)
	if len(l.Items) != 2 || fmt.Sprint(l.NotFound) != "[nope]" {
		t.Errorf("queried: %s", q)
	}
	lines := e.do("POST", "/api/v1/routes/query", `{"topics":["A","B"]}`, "Accept", "application/x-ndjson").ok(t, 200)
	if n := strings.Count(string(lines.body), "\n"); n != 2 {
		t.Errorf("%d lines: %s", n, lines)
	}
	e.do("POST", "/api/v1/routes/query", `{"topics":[]}`).problem(t, 400, "validation-failed")
}

func TestZonesAndActingMasters(t *testing.T) {
	rules := registry.DefaultRules()
	rules.SupportActingMaster = true
	e := newEnv(t, func(d *Deps) { d.Registry = registry.New(registry.Options{Rules: &rules}) })
	for i, z := range []string{"z1", "z2"} {
		e.register(registry.MemberInfo{Cluster: "C", Name: "b" + z, Addr: fmt.Sprintf("10.0.0.%d:1", i), Timeout: time.Minute, Zone: z, HasZone: true}, "T")
	}
	e.register(registry.MemberInfo{Cluster: "C", Name: "slaves", ID: 3, Addr: "10.0.0.9:1", Timeout: time.Minute, Acting: registry.ActingOn}, "T")
	routes := make(map[string]string)
	tags := make(map[string]bool)
	for _, q := range []string{"", "?zone=Z1", "?zone=z2", "?actingMaster=off", "?zone=z2&actingMaster=off"} {
		a := e.get("/api/v1/topics/T/route"+q).ok(t, 200)
		routes[q] = string(a.body)
		tags[a.Header.Get("Etag")] = true
	}
	has := func(q, what string, want bool) {
		t.Helper()
		if strings.Contains(routes[q], what) != want {
			t.Errorf("%s: %s", q, routes[q])
		}
	}
	has("", `"brokerName":"bz2"`, true)
	has("?zone=Z1", `"brokerName":"bz2"`, false)
	has("?zone=Z1", `"brokerName":"bz1"`, true)
	has("", `{"0":"10.0.0.9:1"}`, true)
	has("?actingMaster=off", `{"3":"10.0.0.9:1"}`, true)
	if len(tags) != 5 {
		t.Errorf("five forms have %d ETags", len(tags))
	}
	var x api.Explanation
	e.get("/api/v1/topics/T/route/explain?zone=z1").ok(t, 200).into(t, &x)
	got := make(map[string]string)
	for _, b := range x.Brokers {
		got[b.BrokerName] = fmt.Sprint(b.InRoute)
		for _, n := range b.Notes {
			got[b.BrokerName] += " " + n.Code
		}
	}
	if fmt.Sprint(got) != "map[bz1:true bz2:false zone-filtered slaves:false zone-filtered]" {
		t.Errorf("explained: %v", got)
	}
}

func TestExplainRoute(t *testing.T) {
	e := newEnv(t)
	e.broker("broker-a", 0, "10.0.0.1:10911", "T")
	e.broker("broker-a", 1, "10.0.0.2:10911")
	e.admin("DELETE", "/api/v1/brokers/broker-a/write-perm", "").ok(t, 200)
	if _, err := e.reg.Unregister("DefaultCluster", "broker-a", "10.0.0.2:10911", 1, registry.Cause{}); err != nil {
		t.Fatal(err)
	}
	var x api.Explanation
	a := e.get("/api/v1/topics/T/route/explain").ok(t, 200)
	a.into(t, &x)
	b := x.Brokers[0]
	if !b.InRoute || b.Perm != 4 || b.RegisteredPerm != 6 || b.WipedBy == nil || b.WipedBy.Actor != "token:admin" || b.WipedBy.Face != "rest" ||
		len(b.Gone) != 1 || b.Gone[0].BrokerID != 1 || b.Gone[0].State != "expired" || b.Notes[0].Code != "write-perm-wiped" || x.Notes[0].Code != "nothing-writable" || x.ReadableQueues != 8 {
		t.Errorf("got %s", a)
	}
	var l api.BrokerList
	e.get("/api/v1/brokers?state=all").ok(t, 200).into(t, &l)
	if len(l.Items) != 1 || len(l.Items[0].Members) != 2 || l.Items[0].Members[1].State != "expired" {
		t.Errorf("state=all: %+v", l.Items)
	}
}

func TestWriteTopics(t *testing.T) {
	e := newEnv(t)
	e.broker("broker-a", 0, "10.0.0.1:10911", "T")
	const path = "/api/v1/topics/New/brokers/broker-a"
	const spec = `{"readQueueNums":2,"writeQueueNums":3,"perm":6}`
	before := e.reg.Snapshot()
	e.admin("PUT", path+"?dryRun=true", spec).ok(t, 200)
	e.admin("DELETE", "/api/v1/topics/T?dryRun=true", "").ok(t, 200)
	e.admin("DELETE", "/api/v1/brokers/broker-a/write-perm?dryRun=true", "").ok(t, 200)
	e.admin("PUT", "/api/v1/brokers/broker-a/write-perm?dryRun=true", "").ok(t, 200)
	if e.reg.Snapshot() != before {
		t.Fatal("dry runs have changed something")
	}
	var part api.TopicPartSet
	e.admin("PUT", path, spec).ok(t, 201).into(t, &part)
	if part.ReadQueueNums != 2 || part.WriteQueueNums != 3 || part.PermText != "RW-" || part.Lasts != "until-next-changed-registration" {
		t.Errorf("got %+v", part)
	}
	e.admin("PUT", path, spec).ok(t, 200)
	e.admin("PUT", "/api/v1/topics/New/brokers/nobody", spec).problem(t, 404, "broker-not-found")
	e.admin("PUT", "/api/v1/topics/a%20b/brokers/broker-a", spec).problem(t, 400, "validation-failed")
	e.admin("PUT", path, `{"readQueueNums":0,"writeQueueNums":0,"perm":6}`).problem(t, 400, "validation-failed")

	var d api.TopicDeleted
	e.admin("DELETE", "/api/v1/topics/T", "").ok(t, 200).into(t, &d)
	if fmt.Sprint(d.RemovedFrom) != "[broker-a]" || len(d.MayReturnFrom) != 1 || d.MayReturnFrom[0].Why != "still-registered" {
		t.Errorf("got %+v", d)
	}
	e.admin("DELETE", "/api/v1/topics/T", "").problem(t, 404, "topic-not-found")
	e.admin("DELETE", path, "").ok(t, 200).into(t, &d)
	if len(d.MayReturnFrom) != 0 {
		t.Errorf("got %+v", d)
	}
	e.admin("DELETE", "/api/v1/topics/TBW102?cluster=nope", "").problem(t, 404, "cluster-not-found")
}

func TestWritePermission(t *testing.T) {
	e := newEnv(t)
	e.broker("broker-a", 0, "10.0.0.1:10911", "T")
	var w api.WritePermChanged
	e.admin("DELETE", "/api/v1/brokers/broker-a/write-perm", "").ok(t, 200).into(t, &w)
	if w.TopicCount != 2 || w.Lasts != "until-next-changed-registration" || w.WritePerm != "wiped" {
		t.Errorf("got %+v", w)
	}
	var g api.WritePerm
	e.get("/api/v1/brokers/broker-a/write-perm").ok(t, 200).into(t, &g)
	if g.WritePerm != "wiped" || g.Wiped.Actor != "token:admin" || g.WritableTopicCount != 0 || g.TopicCount != 2 {
		t.Errorf("got %+v", g)
	}
	e.admin("PUT", "/api/v1/brokers/broker-a/write-perm", "").ok(t, 200).into(t, &w)
	if q, _ := e.reg.Snapshot().Topic("TBW102").Queue("broker-a"); q.Perm != 7 || w.Mode != "previous" {
		t.Errorf("restored to %d, %+v", q.Perm, w)
	}
	e.admin("PUT", "/api/v1/brokers/broker-a/write-perm?mode=rw", "").ok(t, 200)
	if q, _ := e.reg.Snapshot().Topic("TBW102").Queue("broker-a"); q.Perm != 6 {
		t.Errorf("read and write is %d", q.Perm)
	}
	e.admin("PUT", "/api/v1/brokers/broker-a/write-perm?mode=x", "").problem(t, 400, "validation-failed")
	e.admin("DELETE", "/api/v1/brokers/nobody/write-perm", "").problem(t, 404, "broker-not-found")
}

// Leftovers that are removed between two pages leave none of the others out.
func TestPagesOfStaleTopics(t *testing.T) {
	now := time.Now().Add(-time.Hour)
	e := newEnv(t, func(d *Deps) { d.Registry = registry.New(registry.Options{Now: func() time.Time { return now }}) })
	e.register(registry.MemberInfo{Cluster: "C", Name: "b", Addr: "h:1", Timeout: time.Hour}, "A", "B", "C", "D", "E", "Kept")
	e.register(registry.MemberInfo{Cluster: "C", Name: "b", Addr: "h:1", Timeout: time.Hour, Version: registry.DataVersion{Counter: 2}}, "Kept")
	now = time.Now()
	var got []string
	for after := ""; ; {
		var l api.StaleList
		e.get("/api/v1/stale-topics?limit=2"+after).ok(t, 200).into(t, &l)
		for _, x := range l.Items {
			got = append(got, x.Topic)
			e.admin("DELETE", "/api/v1/stale-topics?dryRun=false&topic="+x.Topic, "").ok(t, 200)
		}
		if after = "&after=" + l.Next; l.Next == "" {
			break
		}
	}
	if strings.Join(got, "") != "ABCDE" {
		t.Errorf("the pages hold %v", got)
	}
	e.get("/api/v1/stale-topics?after=no-cursor").problem(t, 400, "validation-failed")
}

func TestStaleTopics(t *testing.T) {
	now := time.Now().Add(-time.Hour)
	e := newEnv(t, func(d *Deps) { d.Registry = registry.New(registry.Options{Now: func() time.Time { return now }}) })
	e.register(registry.MemberInfo{Cluster: "C", Name: "b", Addr: "h:1", Timeout: time.Hour}, "Kept", "Left")
	e.register(registry.MemberInfo{Cluster: "C", Name: "b", Addr: "h:1", Timeout: time.Hour, Version: registry.DataVersion{Counter: 2}}, "Kept")
	now = time.Now()
	var l api.StaleList
	a := e.get("/api/v1/stale-topics").ok(t, 200)
	a.into(t, &l)
	if l.Total != 1 || l.Items[0].Topic != "Left" || l.Items[0].Reason != "not-in-last-registration" || !l.Items[0].Removable || l.Items[0].LastSaid.Perm != 6 {
		t.Errorf("got %s", a)
	}
	var tl api.TopicList
	e.get("/api/v1/topics?stale=true").ok(t, 200).into(t, &tl)
	if names(tl) != "Left" || tl.Items[0].Stale[0] != "not-in-last-registration" {
		t.Errorf("in the list of topics: %+v", tl.Items)
	}
	var d api.StaleDeleted
	r := e.admin("DELETE", "/api/v1/stale-topics", "").ok(t, 200)
	r.into(t, &d)
	if !d.DryRun || len(d.Removed) != 1 || r.Header.Get("Namesrv-Dry-Run") != "true" || e.reg.Snapshot().Topic("Left") == nil {
		t.Errorf("without dryRun=false: %s", r)
	}
	e.admin("DELETE", "/api/v1/stale-topics?dryRun=false", "", "If-Match", `"x.y"`).problem(t, 412, "precondition-failed")
	e.admin("DELETE", "/api/v1/stale-topics?dryRun=false&reason=no-master", "", "If-Match", "*").ok(t, 200).into(t, &d)
	if len(d.Removed) != 0 {
		t.Errorf("removed %+v", d.Removed)
	}
	e.admin("DELETE", "/api/v1/stale-topics?dryRun=false", "", "If-Match", a.Header.Get("Etag")).ok(t, 200).into(t, &d)
	if d.DryRun || len(d.Removed) != 1 || e.reg.Snapshot().Topic("Left") != nil {
		t.Errorf("got %+v", d)
	}
}

func TestListingIsForThoseWithACredential(t *testing.T) {
	rules := registry.DefaultRules()
	rules.EnableTopicList = false
	e := newEnv(t, func(d *Deps) { d.Registry = registry.New(registry.Options{Rules: &rules}) })
	e.broker("broker-a", 0, "10.0.0.1:10911", "T", "SS")
	e.get("/api/v1/topics").problem(t, 403, "listing-disabled")
	e.get("/api/v1/brokers/broker-a/topics").problem(t, 403, "listing-disabled")
	for _, path := range []string{"routes?prefix=T", "digest?perTopic", "stale-topics"} {
		e.get("/api/v1/"+path).problem(t, 403, "listing-disabled")
	}
	if p := e.get("/api/v1/topics/S").problem(t, 404, "topic-not-found"); p.Suggestions != nil || strings.Contains(p.Detail, "Did you mean") {
		t.Errorf("a name that may not be listed is proposed: %+v", p)
	}
	e.admin("GET", "/api/v1/topics", "").ok(t, 200)
	e.get("/api/v1/topics/T").ok(t, 200)
	e.get("/api/v1/routes?topic=T").ok(t, 200)
}

func TestNamesInPaths(t *testing.T) {
	e := newEnv(t)
	odd := []string{"%RETRY%a_b", "%DLQ%a|b", "a b", "中文主题", "a+b", "a;b", "a?b#c", "%41", "~x", "a%2Fb"}
	e.broker("broker-a", 0, "10.0.0.1:10911", odd...)
	for _, n := range odd {
		var topic api.Topic
		e.get("/api/v1/topics/"+url.PathEscape(n)).ok(t, 200).into(t, &topic)
		if topic.Topic != n {
			t.Errorf("asked for %q, got %q", n, topic.Topic)
		}
		// The same with every byte escaped, which makes the router see the raw path.
		all := ""
		for _, b := range []byte(n) {
			all += fmt.Sprintf("%%%02X", b)
		}
		e.get("/api/v1/topics/"+all).ok(t, 200).into(t, &topic)
		if topic.Topic != n {
			t.Errorf("asked for %q escaped, got %q", n, topic.Topic)
		}
		var l api.RouteList
		e.get("/api/v1/routes?topic="+url.QueryEscape(n)).ok(t, 200).into(t, &l)
		if len(l.Items) != 1 || l.Items[0].Topic != n {
			t.Errorf("by query: %q", n)
		}
	}
	for path, part := range map[string]string{
		"/api/v1/topics/a%2Fb": "topic", "/api/v1/topics/%00": "topic", "/api/v1/topics/%2E%2E": "topic", "/api/v1/topics/a%0Ab/route": "topic",
		"/api/v1/topics/%FF": "topic", "/api/v1/brokers/b/members/x": "brokerId", "/api/v1/brokers/broker-a/members/+0": "brokerId",
	} {
		if path == "/api/v1/brokers/b/members/x" {
			path = "/api/v1/brokers/broker-a/members/x"
		}
		p := e.get(path).problem(t, 400, "malformed-path")
		if len(p.Errors) != 1 || p.Errors[0].Parameter != part {
			t.Errorf("%s: %+v", path, p)
		}
	}
}

// What the answer shows of leftovers comes with time alone, which its ETag has to tell.
func TestTagOfTopicsTellsOfLeftovers(t *testing.T) {
	now := time.Now().Add(-time.Hour)
	e := newEnv(t, func(d *Deps) { d.Registry = registry.New(registry.Options{Now: func() time.Time { return now }}) })
	e.register(registry.MemberInfo{Cluster: "C", Name: "b", Addr: "h:1", Timeout: time.Hour}, "Kept", "Left")
	now = time.Now()
	e.register(registry.MemberInfo{Cluster: "C", Name: "b", Addr: "h:1", Timeout: time.Hour, Version: registry.DataVersion{Counter: 2}}, "Kept")
	for _, path := range []string{"/api/v1/topics", "/api/v1/topics?stale=true", "/api/v1/topics/Left"} {
		e.h.stale.set(e.reg.Snapshot(), map[string][]string{}, "")
		tag := e.get(path).ok(t, 200).Header.Get("Etag")
		e.get(path, "If-None-Match", tag).ok(t, 304)
		e.h.stale.set(e.reg.Snapshot(), map[string][]string{"Left": {"not-in-last-registration"}}, "-some")
		e.get(path, "If-None-Match", tag).ok(t, 200)
	}
}

// set makes the memory hold what only time would.
func (m *staleMemo) set(s *registry.Snapshot, byTopic map[string][]string, mark string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.mark = mark
	m.topics, m.members, m.at, m.byTopic = s.TopicsRevision(), s.MembersRevision(), time.Now().Add(time.Hour), byTopic
}
