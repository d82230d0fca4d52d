package handlers

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"fingerpost/api"
	"fingerpost/registry"
)

const bridge = `{"clusterName":"DefaultCluster","brokerAddr":"10.0.0.9:10911","topicConfigTable":{"T":{"readQueueNums":4,"writeQueueNums":4,"perm":6}}}`

func TestRegisterMember(t *testing.T) {
	e := newEnv(t)
	a := e.admin("PUT", "/api/v1/brokers/bridge-1/members/0", bridge, "User-Agent", "order-bridge/1.2").ok(t, 201)
	var r api.Registered
	a.into(t, &r)
	if a.Header.Get("Location") != "/api/v1/brokers/bridge-1/members/0" || a.Header.Get("Namesrv-Revision") != e.reg.Epoch()+".1" {
		t.Errorf("headers %v", a.Header)
	}
	if r.Topics != (api.TopicCounts{Created: 1}) || r.NextHeartbeatMillis != 20_000 || r.HeartbeatTimeoutMillis != 60_000 || r.Source != "rest" ||
		r.Owner != "token:admin" || r.State != "live" || r.Role != "master" || r.DataVersion.Counter != 1 || r.Language != "order-bridge/1.2" || len(r.Warnings) != 0 || r.TopicCount != 1 {
		t.Errorf("got %s", a)
	}
	if left := time.Until(r.ExpiresAt.Time); left > time.Minute || left < 0 || r.LeftMillis > 60_000 {
		t.Errorf("expires in %s, left %d", left, r.LeftMillis)
	}
	if route := e.get("/api/v1/topics/T/route").ok(t, 200); !strings.Contains(string(route.body), `"brokerAddrs":{"0":"10.0.0.9:10911"}`) {
		t.Errorf("the route is %s", route)
	}
	// The same again is no change and no new version.
	b := e.admin("PUT", "/api/v1/brokers/bridge-1/members/0", bridge, "User-Agent", "order-bridge/1.2").ok(t, 200)
	b.into(t, &r)
	if r.Topics != (api.TopicCounts{Unchanged: 1}) || r.DataVersion.Counter != 1 || b.Header.Get("Namesrv-Revision") != a.Header.Get("Namesrv-Revision") {
		t.Errorf("again: %s %v", b, b.Header)
	}
	if b.Header.Get("Etag") != e.get("/api/v1/brokers/bridge-1/members/0").Header.Get("Etag") {
		t.Error("the ETag of the answer is not that of the member")
	}
	// A full statement: what it does not name leaves.
	e.admin("PUT", "/api/v1/brokers/bridge-1/members/0", strings.Replace(bridge, `"T"`, `"U"`, 1)).ok(t, 200).into(t, &r)
	if r.Topics != (api.TopicCounts{Created: 1, Removed: 1}) || r.DataVersion.Counter != 2 {
		t.Errorf("another topic: %+v", r)
	}
	e.get("/api/v1/topics/T/route").problem(t, 404, "topic-not-found")
	// Membership alone leaves the topics as they are.
	e.admin("PUT", "/api/v1/brokers/bridge-1/members/0", `{"clusterName":"DefaultCluster","brokerAddr":"10.0.0.9:10911"}`).ok(t, 200)
	e.get("/api/v1/topics/U/route").ok(t, 200)
	// An empty statement removes all of them.
	e.admin("PUT", "/api/v1/brokers/bridge-1/members/0", `{"clusterName":"DefaultCluster","brokerAddr":"10.0.0.9:10911","topicConfigTable":{}}`).ok(t, 200)
	e.get("/api/v1/topics/U/route").problem(t, 404, "topic-not-found")
}

func TestRegistrationWarns(t *testing.T) {
	e := newEnv(t)
	var r api.Registered
	e.admin("PUT", "/api/v1/brokers/b/members/0", `{"clusterName":"C","brokerAddr":"127.0.0.1:10911","heartbeatTimeoutMillis":1,"topicConfigTable":{"TBW102":{"readQueueNums":1,"writeQueueNums":1}}}`).ok(t, 201).into(t, &r)
	var codes []string
	for _, w := range r.Warnings {
		codes = append(codes, w.Code)
	}
	if fmt.Sprint(codes) != "[ttl-clamped loopback-address topic-name-reserved]" || r.HeartbeatTimeoutMillis != 5000 {
		t.Errorf("got %v", r.Warnings)
	}
	e.admin("PUT", "/api/v1/brokers/b/members/1", `{"clusterName":"C","brokerAddr":"10.0.0.2:1","topicConfigTable":{"T":{"readQueueNums":1,"writeQueueNums":1}}}`, "Accept-Language", "zh").ok(t, 201).into(t, &r)
	if len(r.Warnings) != 1 || r.Warnings[0].Code != "slave-topics-ignored" || r.Warnings[0].Detail != "从节点的 Topic 不生效，以主节点为准。" || r.MasterAddr != "127.0.0.1:10911" {
		t.Errorf("a slave: %+v", r)
	}
}

func TestOwnershipOfMembers(t *testing.T) {
	e := newEnv(t, withTokens("me registrar bridge-*", "you registrar", "ops admin"))
	e.broker("broker-a", 0, "10.0.0.1:10911", "Orders")
	as := func(who, method, path, body string, status int, code string) {
		t.Helper()
		a := e.do(method, "/api/v1/brokers/"+path, body, "Authorization", "Bearer "+tokenOf(who))
		if code == "" {
			a.ok(t, status)
		} else {
			a.problem(t, status, code)
		}
	}
	as("me", "PUT", "bridge-1/members/0", bridge, 201, "")
	as("me", "PUT", "other/members/0", bridge, 403, "forbidden")
	as("you", "PUT", "bridge-1/members/0", bridge, 409, "member-held-by-other")
	as("you", "POST", "bridge-1/members/0/heartbeat", "", 409, "member-held-by-other")
	as("you", "DELETE", "bridge-1/members/0", "", 409, "member-held-by-other")
	as("you", "PUT", "bridge-2/members/0", bridge, 409, "address-in-use")
	as("you", "PUT", "broker-a/members/0", strings.Replace(bridge, "10.0.0.9", "10.0.0.8", 1), 409, "member-held-by-remoting")
	as("you", "PUT", "broker-a/members/1", strings.Replace(bridge, "DefaultCluster", "Other", 1), 409, "broker-in-other-cluster")
	as("you", "PUT", "broker-a/members/0?takeover=true", strings.Replace(bridge, "10.0.0.9", "10.0.0.8", 1), 403, "forbidden")
	as("ops", "PUT", "broker-a/members/0?takeover=true", strings.Replace(bridge, "10.0.0.9", "10.0.0.8", 1), 200, "")
	as("you", "DELETE", "broker-a/members/0?force=true", "", 403, "forbidden")
	// The same principal may move the address.
	as("me", "PUT", "bridge-1/members/0", strings.Replace(bridge, "10.0.0.9", "10.0.0.10", 1), 200, "")
	// Remoting always wins, and the owner hears of it.
	e.register(registry.MemberInfo{Cluster: "DefaultCluster", Name: "bridge-1", Addr: "10.0.0.11:1", Timeout: time.Minute}, "T")
	as("me", "POST", "bridge-1/members/0/heartbeat", "", 409, "member-taken-over")
	as("me", "PUT", "bridge-1/members/0", bridge, 409, "member-held-by-remoting")
	as("ops", "DELETE", "bridge-1/members/0", "", 409, "member-held-by-remoting")
	as("ops", "DELETE", "bridge-1/members/0?force=true", "", 204, "")
	as("me", "DELETE", "bridge-1/members/0", "", 404, "member-not-found")
	// A lower state version loses against another address.
	high := strings.Replace(bridge, `"topicConfigTable"`, `"dataVersion":{"stateVersion":5,"timestamp":1,"counter":1},"topicConfigTable"`, 1)
	as("me", "PUT", "bridge-3/members/0", strings.Replace(high, "10.0.0.9", "10.0.0.20", 1), 201, "")
	as("me", "PUT", "bridge-3/members/0", strings.Replace(strings.Replace(high, "10.0.0.9", "10.0.0.21", 1), `:5,`, `:4,`, 1), 409, "stale-state-version")
}

func TestHeartbeatOfMember(t *testing.T) {
	e := newEnv(t)
	e.admin("PUT", "/api/v1/brokers/bridge-1/members/0", bridge).ok(t, 201)
	revision := e.reg.Snapshot().Revision
	var p api.Pulse
	e.admin("POST", "/api/v1/brokers/bridge-1/members/0/heartbeat", "").ok(t, 200).into(t, &p)
	if p.NextHeartbeatMillis != 20_000 || p.Changed || p.DataVersion.Counter != 1 || p.ExpiresAt == nil || e.reg.Snapshot().Revision != revision {
		t.Errorf("got %+v", p)
	}
	e.admin("POST", "/api/v1/brokers/bridge-1/members/0/heartbeat", `{"dataVersion":{"stateVersion":0,"timestamp":1,"counter":9}}`).ok(t, 200).into(t, &p)
	if !p.Changed {
		t.Error("another version is not told")
	}
	e.admin("POST", "/api/v1/brokers/nobody/members/0/heartbeat", "").problem(t, 404, "member-not-found")

	var b api.BeatResults
	e.admin("POST", "/api/v1/heartbeats", `{"members":[{"brokerName":"bridge-1","brokerId":0},{"brokerName":"nobody","brokerId":0}]}`).ok(t, 200).into(t, &b)
	if len(b.Items) != 2 || b.Items[0].Status != 200 || b.Items[0].Pulse == nil || b.Items[1].Status != 404 || b.Items[1].Problem.Code != "member-not-found" {
		t.Errorf("a batch: %+v", b)
	}
	e.admin("DELETE", "/api/v1/brokers/bridge-1/members/0?dryRun=true", "").ok(t, 204)
	e.get("/api/v1/brokers/bridge-1/members/0").ok(t, 200)
	if a := e.admin("DELETE", "/api/v1/brokers/bridge-1/members/0", "").ok(t, 204); len(a.body) != 0 {
		t.Errorf("got %s", a)
	}
	e.get("/api/v1/brokers/bridge-1/members/0").problem(t, 404, "broker-not-found")
}

func TestPatchMember(t *testing.T) {
	e := newEnv(t)
	e.admin("PUT", "/api/v1/brokers/bridge-1/members/0", strings.Replace(bridge, `"topicConfigTable"`, `"zoneName":"z1","haServerAddr":"10.0.0.9:10912","topicConfigTable"`, 1)).ok(t, 201)
	const path = "/api/v1/brokers/bridge-1/members/0"
	tag := e.get(path).Header.Get("Etag")
	var r api.Registered
	a := e.admin("PATCH", path, `{"zoneName":null,"topicConfigTable":{"T":{"perm":4},"U":{"readQueueNums":1,"writeQueueNums":2}}}`, "If-Match", tag)
	a.ok(t, 200).into(t, &r)
	if r.ZoneName != nil || r.HAServerAddr != "10.0.0.9:10912" || r.Topics != (api.TopicCounts{Created: 1, Changed: 1}) || r.DataVersion.Counter != 2 {
		t.Errorf("got %s", a)
	}
	var topic api.Topic
	e.get("/api/v1/topics/T").ok(t, 200).into(t, &topic)
	if topic.Brokers[0].Perm != 4 || topic.Brokers[0].ReadQueueNums != 4 {
		t.Errorf("got %+v", topic.Brokers)
	}
	e.admin("PATCH", path, `{"zoneName":"z2"}`, "If-Match", tag).problem(t, 412, "precondition-failed")
	e.admin("PATCH", path, `{"topicConfigTable":{"T":null}}`, "Content-Type", "application/merge-patch+json").ok(t, 200).into(t, &r)
	if r.Topics.Removed != 1 {
		t.Errorf("got %+v", r.Topics)
	}
	// What a dry run says is what then happens, and it happens only then.
	before := e.reg.Snapshot()
	d := e.admin("PATCH", path+"?dryRun=true", `{"brokerAddr":"10.0.0.77:1","heartbeatTimeoutMillis":10000}`).ok(t, 200)
	if d.Header.Get("Namesrv-Dry-Run") != "true" || e.reg.Snapshot() != before {
		t.Error("a dry run has changed something")
	}
	var after api.Registered
	d.into(t, &r)
	e.admin("PATCH", path, `{"brokerAddr":"10.0.0.77:1","heartbeatTimeoutMillis":10000}`).ok(t, 200).into(t, &after)
	if r.BrokerAddr != "10.0.0.77:1" || after.BrokerAddr != r.BrokerAddr || after.Topics != r.Topics || after.HeartbeatTimeoutMillis != 10_000 || after.DataVersion != r.DataVersion {
		t.Errorf("tried %+v, did %+v", r, after)
	}
	p := e.admin("PATCH", path, `{"brokerAddr":null}`).problem(t, 400, "validation-failed")
	if *p.Errors[0].Pointer != "/brokerAddr" {
		t.Errorf("got %+v", p)
	}
	p = e.admin("PATCH", path, `{"topicConfigTable":{"New":{"perm":6}}}`).problem(t, 400, "validation-failed")
	if *p.Errors[0].Pointer != "/topicConfigTable/New" {
		t.Errorf("got %+v", p)
	}
}

func TestPutMemberWithIfMatch(t *testing.T) {
	e := newEnv(t)
	const path = "/api/v1/brokers/bridge-1/members/0"
	e.admin("PUT", path, bridge, "If-Match", `"x.1"`).problem(t, 412, "precondition-failed")
	first := e.admin("PUT", path, bridge).ok(t, 201).Header.Get("Etag")
	e.admin("PUT", path, strings.Replace(bridge, `"T"`, `"U"`, 1), "If-Match", first).ok(t, 200)
	e.admin("PATCH", path, `{"zoneName":"z"}`).ok(t, 200)
	e.admin("PUT", path, bridge, "If-Match", first).problem(t, 412, "precondition-failed")
	e.admin("DELETE", path, "", "If-Match", first).problem(t, 400, "validation-failed")
	e.admin("PUT", path, bridge, "If-None-Match", "*").problem(t, 400, "validation-failed") // it would replace what is there
}

// A member that is silent for its time is gone; its next heartbeat says so, and PUT
// brings it back.
func TestMemberExpiresAndReturns(t *testing.T) {
	now := time.Now()
	clock := func() time.Time { return now }
	e := newEnv(t, func(d *Deps) { d.Registry = registry.New(registry.Options{Now: clock}) })
	const path = "/api/v1/brokers/bridge-1/members/0"
	e.admin("PUT", path, bridge).ok(t, 201)
	for range 13 {
		now = now.Add(5 * time.Second)
		e.reg.Sweep(5*time.Second, registry.Cause{Face: "server", Action: "expire"})
	}
	e.get("/api/v1/topics/T/route").problem(t, 404, "topic-not-found")
	e.admin("POST", path+"/heartbeat", "").problem(t, 404, "member-not-found")
	e.admin("PUT", path, bridge).ok(t, 201)
	e.get("/api/v1/topics/T/route").ok(t, 200)
}

// The ETag of a member tells of the permission and the topics that the answer shows, and a
// change of those is no reason to refuse one of the member itself.
func TestTagOfAMemberTellsOfItsPermission(t *testing.T) {
	e := newEnv(t)
	path := "/api/v1/brokers/bridge-1/members/0"
	e.admin("PUT", path, bridge).ok(t, 201)
	tag := e.get(path).ok(t, 200).Header.Get("Etag")
	e.reg.WipeWritePerm("bridge-1", registry.Cause{})
	a := e.get(path, "If-None-Match", tag).ok(t, 200)
	if !strings.Contains(string(a.body), `"writePerm":"wiped"`) {
		t.Errorf("got %s", a)
	}
	tag = a.Header.Get("Etag")
	e.declare("New", "bridge-1", 1)
	a = e.get(path, "If-None-Match", tag).ok(t, 200)
	e.declare("Newer", "bridge-1", 1)
	e.admin("PATCH", path, `{"zoneName":"z"}`, "If-Match", a.Header.Get("Etag")).ok(t, 200)
}
