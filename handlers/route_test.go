package handlers

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"fingerpost/registry"
)

func TestRouteOfTopic(t *testing.T) {
	e := newEnv(t)
	e.broker("broker-a", 0, "10.0.0.1:10911", "OrderCreated", "%RETRY%order-svc")
	e.broker("broker-a", 1, "10.0.0.2:10911")

	a := e.get("/api/v1/topics/OrderCreated/route").ok(t, 200)
	want := `{"brokerDatas":[{"brokerAddrs":{"0":"10.0.0.1:10911","1":"10.0.0.2:10911"},"brokerName":"broker-a","cluster":"DefaultCluster","enableActingMaster":false}],` +
		`"filterServerTable":{},"queueDatas":[{"brokerName":"broker-a","perm":6,"readQueueNums":8,"topicSysFlag":0,"writeQueueNums":8}]}` + "\n"
	if string(a.body) != want {
		t.Errorf("got  %swant %s", a.body, want)
	}
	for k, v := range map[string]string{
		"Content-Type": "application/json", "Cache-Control": "no-cache", "X-Content-Type-Options": "nosniff",
		"Namesrv-Epoch": e.reg.Epoch(), "Namesrv-Revision": e.reg.Epoch() + ".2",
	} {
		if got := a.Header.Get(k); got != v {
			t.Errorf("%s is %q, want %q", k, got, v)
		}
	}
	if len(a.Header.Get("X-Request-Id")) != 16 {
		t.Errorf("the request id is %q", a.Header.Get("X-Request-Id"))
	}
	tag := a.Header.Get("Etag")
	if b := e.get("/api/v1/topics/OrderCreated/route", "If-None-Match", tag); b.StatusCode != http.StatusNotModified || len(b.body) != 0 {
		t.Errorf("with its own ETag %s: %s", tag, b)
	}
	if b := e.get("/api/v1/topics/OrderCreated/route", "If-None-Match", strings.Replace(tag, e.reg.Epoch(), "otherone", 1)); b.StatusCode != 200 {
		t.Errorf("with the ETag of another process: %s", b)
	}
	for _, path := range []string{"/api/v1/topics/%25RETRY%25order-svc/route", "/api/v1/topics/%25RETRY%25order%2Dsvc/route"} {
		if b := e.get(path).ok(t, 200); string(b.body) != want {
			t.Errorf("%s: %s", path, b)
		}
	}
	text := string(e.get("/api/v1/topics/OrderCreated/route?format=text").ok(t, 200).body)
	if !strings.HasPrefix(text, "BROKER    CLUSTER         ZONE  PERM  WRITE  READ  ID  ROLE    ADDRESS         STATE  LEFT\nbroker-a  DefaultCluster  -     RW-   8      8     0   master  10.0.0.1:10911  live   ") ||
		!strings.Contains(text, "# topic OrderCreated  revision "+e.reg.Epoch()+".2  digest ") {
		t.Errorf("as text:\n%s", text)
	}
	if b := e.do("HEAD", "/api/v1/topics/OrderCreated/route", ""); b.StatusCode != 200 || len(b.body) != 0 || b.Header.Get("Etag") != tag {
		t.Errorf("HEAD: %s", b)
	}
}

func TestRouteOfUnknownTopic(t *testing.T) {
	e := newEnv(t)
	e.broker("broker-a", 0, "10.0.0.1:10911", "OrderCreated")
	p := e.get("/api/v1/topics/OrderCreatd/route").problem(t, 404, "topic-not-found")
	if len(p.Suggestions) != 1 || p.Suggestions[0] != "OrderCreated" || p.RemotingCode == nil || *p.RemotingCode != 17 ||
		p.Detail != "No broker has registered topic OrderCreatd. Did you mean OrderCreated?" || p.Errors == nil {
		t.Errorf("got %+v", p)
	}
	zh := e.get("/api/v1/topics/OrderCreatd/route", "Accept-Language", "zh-CN,zh;q=0.9,en;q=0.8").problem(t, 404, "topic-not-found")
	if zh.Title != "Topic 没有路由" || !strings.Contains(zh.Detail, "是否想查 OrderCreated") {
		t.Errorf("in Chinese: %+v", zh)
	}
	text := e.get("/api/v1/topics/OrderCreatd/route", "Accept", "text/plain")
	if text.StatusCode != 404 || !strings.HasPrefix(string(text.body), "error: topic-not-found: No broker has registered topic OrderCreatd.") {
		t.Errorf("as text: %s", text)
	}
}

// What is known from before a restart is answered while brokers are waited for, and marked.
func TestRouteFromBeforeTheRestart(t *testing.T) {
	old := newEnv(t)
	old.broker("broker-a", 0, "10.0.0.1:10911", "OrderCreated", "Other")
	e := newEnv(t)
	if err := e.reg.Restore(old.reg.Snapshot().Image(), 0, registry.Cause{}); err != nil {
		t.Fatal(err)
	}
	rules := registry.DefaultRules()
	rules.NeedWaitForService, rules.WaitForService = true, time.Hour
	e.reg.SetRules(rules, nil, registry.Cause{})
	e.get("/api/v1/topics/OrderCreated/route").ok(t, 200)
	e.get("/api/v1/topics/Unknown/route").problem(t, 503, "name-server-not-ready")
	notes := func(want bool) {
		t.Helper()
		body := string(e.get("/api/v1/topics/OrderCreated/route/explain").ok(t, 200).body)
		if strings.Contains(body, "part-unconfirmed") != want || strings.Contains(body, "not-ready") {
			t.Errorf("explained: %s", body)
		}
		body = string(e.get("/api/v1/brokers/broker-a/members/0").ok(t, 200).body)
		if strings.Contains(body, `"unconfirmed":true`) != want {
			t.Errorf("the member: %s", body)
		}
	}
	notes(true)
	e.broker("broker-a", 0, "10.0.0.1:10911", "OrderCreated", "Other")
	notes(false)
}
