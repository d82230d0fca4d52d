package handlers

import (
	"strings"
	"testing"
	"time"

	"fingerpost/api"
	"fingerpost/registry"
)

// example is a request that succeeds for whoever may make it.
type example struct {
	op      string // method and pattern
	path    string
	body    string
	headers []string
	status  int // 200 if 0
}

// examples has at least one request for each operation; a test sees to that.
var examples = []example{
	{op: "GET /api/v1/topics/{topic}/route", path: "/api/v1/topics/Orders/route"},
	{op: "GET /api/v1/topics/{topic}/route", path: "/api/v1/topics/Orders/route?format=text&zone=z&actingMaster=off"},
	{op: "GET /api/v1/topics/{topic}/route/explain", path: "/api/v1/topics/Orders/route/explain?zone=z"},
	{op: "GET /api/v1/routes", path: "/api/v1/routes?topic=Orders&topic=nope"},
	{op: "GET /api/v1/routes", path: "/api/v1/routes?prefix=O&format=ndjson"},
	{op: "POST /api/v1/routes/query", path: "/api/v1/routes/query", body: `{"topics":["Orders"],"zone":"z","actingMaster":"off"}`},
	{op: "GET /api/v1/topics", path: "/api/v1/topics?type=normal&limit=1&pretty"},
	{op: "GET /api/v1/topics", path: "/api/v1/topics?format=text"},
	{op: "GET /api/v1/topics/{topic}", path: "/api/v1/topics/Orders"},
	{op: "DELETE /api/v1/topics/{topic}", path: "/api/v1/topics/Orders"},
	{op: "PUT /api/v1/topics/{topic}/brokers/{brokerName}", path: "/api/v1/topics/New/brokers/broker-a", body: `{"readQueueNums":1,"writeQueueNums":1,"perm":6}`, status: 201},
	{op: "DELETE /api/v1/topics/{topic}/brokers/{brokerName}", path: "/api/v1/topics/Orders/brokers/broker-a"},
	{op: "GET /api/v1/conflicts", path: "/api/v1/conflicts"},
	{op: "GET /api/v1/stale-topics", path: "/api/v1/stale-topics"},
	{op: "DELETE /api/v1/stale-topics", path: "/api/v1/stale-topics?dryRun=false"},
	{op: "GET /api/v1/clusters", path: "/api/v1/clusters"},
	{op: "GET /api/v1/clusters/{cluster}", path: "/api/v1/clusters/DefaultCluster"},
	{op: "GET /api/v1/cluster-info", path: "/api/v1/cluster-info"},
	{op: "GET /api/v1/brokers", path: "/api/v1/brokers?state=all"},
	{op: "GET /api/v1/brokers/{brokerName}", path: "/api/v1/brokers/broker-a"},
	{op: "GET /api/v1/brokers/{brokerName}/topics", path: "/api/v1/brokers/broker-a/topics"},
	{op: "GET /api/v1/brokers/{brokerName}/members/{brokerId}", path: "/api/v1/brokers/broker-a/members/0"},
	{op: "PUT /api/v1/brokers/{brokerName}/members/{brokerId}", path: "/api/v1/brokers/bridge-2/members/0", body: strings.Replace(bridge, "10.0.0.9", "10.0.0.8", 1), status: 201},
	{op: "PATCH /api/v1/brokers/{brokerName}/members/{brokerId}", path: "/api/v1/brokers/bridge-1/members/0", body: `{"zoneName":"z2","topicConfigTable":{"T":{"perm":4}}}`},
	{op: "DELETE /api/v1/brokers/{brokerName}/members/{brokerId}", path: "/api/v1/brokers/bridge-1/members/0", status: 204},
	{op: "POST /api/v1/brokers/{brokerName}/members/{brokerId}/heartbeat", path: "/api/v1/brokers/bridge-1/members/0/heartbeat"},
	{op: "POST /api/v1/heartbeats", path: "/api/v1/heartbeats", body: `{"members":[{"brokerName":"bridge-1","brokerId":0},{"brokerName":"nobody","brokerId":1}]}`},
	{op: "GET /api/v1/brokers/{brokerName}/write-perm", path: "/api/v1/brokers/broker-a/write-perm"},
	{op: "PUT /api/v1/brokers/{brokerName}/write-perm", path: "/api/v1/brokers/broker-a/write-perm"},
	{op: "DELETE /api/v1/brokers/{brokerName}/write-perm", path: "/api/v1/brokers/broker-a/write-perm"},
	{op: "GET /api/v1/kv", path: "/api/v1/kv"},
	{op: "GET /api/v1/kv/{namespace}", path: "/api/v1/kv/ORDER_TOPIC_CONFIG"},
	{op: "GET /api/v1/kv/{namespace}/{key}", path: "/api/v1/kv/ORDER_TOPIC_CONFIG/Orders"},
	{op: "GET /api/v1/kv/{namespace}/{key}", path: "/api/v1/kv/ORDER_TOPIC_CONFIG/Orders?raw"},
	{op: "PUT /api/v1/kv/{namespace}/{key}", path: "/api/v1/kv/ORDER_TOPIC_CONFIG/Orders", body: `{"value":"broker-a:8"}`},
	{op: "PUT /api/v1/kv/{namespace}/{key}", path: "/api/v1/kv/n/k", body: `bare`, headers: []string{"Content-Type", "text/plain"}, status: 201},
	{op: "DELETE /api/v1/kv/{namespace}/{key}", path: "/api/v1/kv/ORDER_TOPIC_CONFIG/Orders", status: 204},
	{op: "DELETE /api/v1/kv/{namespace}/{key}", path: "/api/v1/kv/ORDER_TOPIC_CONFIG/Orders?fanout=peers&dryRun"},
	{op: "GET /api/v1/config", path: "/api/v1/config"},
	{op: "PATCH /api/v1/config", path: "/api/v1/config", body: `{"scanNotActiveBrokerInterval":6000}`},
	{op: "GET /api/v1/watch", path: "/api/v1/watch?snapshot=true&format=ndjson"},
	{op: "GET /api/v1/events", path: "/api/v1/events"},
	{op: "GET /api/v1/events/{revision}", path: "/api/v1/events/1"},
	{op: "GET /api/v1/peers", path: "/api/v1/peers"},
	{op: "GET /api/v1/peers", path: "/api/v1/peers?format=text"},
	{op: "GET /api/v1/peers/{peer}/diff", path: "/api/v1/peers/peer:9876/diff?kind=broker&kind=topic&broker=*&limit=5"},
	{op: "GET /api/v1/peers/{peer}/diff", path: "/api/v1/peers/peer:9876/diff?format=text"},
	{op: "POST /api/v1/peers/{peer}/check", path: "/api/v1/peers/peer:9876/check"},
	{op: "GET /api/v1/digest", path: "/api/v1/digest"},
	{op: "GET /api/v1/digest", path: "/api/v1/digest?perTopic"},
	{op: "GET /api/v1/connections", path: "/api/v1/connections"},
	{op: "GET /api/v1/stats", path: "/api/v1/stats"},
	{op: "GET /api/v1/export", path: "/api/v1/export"},
	{op: "GET /api/v1/export", path: "/api/v1/export?format=ndjson"},
	{op: "GET /api/v1/drain", path: "/api/v1/drain"},
	{op: "PUT /api/v1/drain", path: "/api/v1/drain"},
	{op: "DELETE /api/v1/drain", path: "/api/v1/drain"},
	{op: "GET /api/v1/version", path: "/api/v1/version"},
	{op: "GET /api/v1/whoami", path: "/api/v1/whoami"},
	{op: "POST /api/v1/session", path: "/api/v1/session", body: `{"token":"` + tokenOf("viewer") + `"}`},
	{op: "DELETE /api/v1/session", path: "/api/v1/session", status: 204},
	{op: "GET /livez", path: "/livez"},
	{op: "GET /readyz", path: "/readyz?verbose"},
	{op: "GET /healthz", path: "/healthz?format=json&verbose"},
	{op: "GET /problems/{code}", path: "/problems/topic-not-found"},
	{op: "GET /problems/{code}", path: "/problems/topic-not-found", headers: []string{"Accept", "text/html"}},
	{op: "GET /", path: "/"},
}

func TestEveryOperationHasAnExample(t *testing.T) {
	have := make(map[string]bool)
	for _, x := range examples {
		have[x.op] = true
	}
	for _, o := range Operations() {
		if !have[o.Method+" "+o.Pattern] {
			t.Errorf("%s %s has no example", o.Method, o.Pattern)
		}
		delete(have, o.Method+" "+o.Pattern)
	}
	for op := range have {
		t.Errorf("there is an example of %s, which is no operation", op)
	}
}

// furnished is a server in which every example finds what it asks for. Its members of
// REST belong to the registrar.
func furnished(t testing.TB, opts ...option) *env {
	e := newEnv(t, append([]option{withTokens("viewer viewer", "registrar registrar bridge-*", "admin admin"), func(d *Deps) {
		d.Registry = registry.New(registry.Options{KV: registry.KV{registry.OrderNamespace: {"Orders": "broker-a:4"}}})
		d.Drain = &fakeDrainer{state: api.Drain{State: api.DrainServing}}
		d.Connections = func() []api.Connection {
			return []api.Connection{{ID: "c1", RemoteAddress: "10.0.0.1:51022", Kind: "broker", FirstSeenAt: api.TimeOf(time.Now()), Brokers: []string{"broker-a/0"}}}
		}
	}, withPeer(t, new(peer))}, opts...)...)
	e.broker("broker-a", 0, "10.0.0.1:10911", "Orders", "%RETRY%g")
	e.do("PUT", "/api/v1/brokers/bridge-1/members/0", bridge, "Authorization", "Bearer "+tokenOf("registrar")).ok(t, 201)
	return e
}

// ask makes an example's request as a principal of furnished, "" being nobody.
func (e *env) ask(x example, who string) *answer {
	e.t.Helper()
	method, _, _ := strings.Cut(x.op, " ")
	h := x.headers
	if who != "" {
		h = append([]string{"Authorization", "Bearer " + tokenOf(who)}, h...)
	}
	if strings.HasPrefix(x.op, "GET /api/v1/watch") {
		method = "HEAD" // the body has no end
	}
	return e.do(method, x.path, x.body, h...)
}
