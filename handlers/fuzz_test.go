package handlers

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"fingerpost/api"
)

// bodied are the operations that take a body, each with bodies that it takes or nearly.
var bodied = []struct {
	method, path string
	bodies       []string
}{
	{"PUT", "/api/v1/brokers/b/members/0", []string{
		`{"clusterName":"c","brokerAddr":"10.0.0.1:10911","topicConfigTable":{"T":{"readQueueNums":8,"writeQueueNums":8,"perm":6,"attributes":{"message.type":"FIFO"}}}}`,
		`{"clusterName":"c","brokerAddr":"10.0.0.1:10911","dataVersion":{"stateVersion":0,"timestamp":1,"counter":1},"filterServerList":[],"zoneName":"z","heartbeatTimeoutMillis":5000}`,
		`{"clusterName":"","brokerAddr":"nowhere"}`, `{"clusterName":1}`, `{"topicConfigTable":{"":{}}}`,
	}},
	{"PATCH", "/api/v1/brokers/b/members/0", []string{
		`{"brokerAddr":"10.0.0.2:10911","topicConfigTable":{"T":null,"U":{"readQueueNums":1,"writeQueueNums":1}}}`, `{"zoneName":null}`, `[]`, `{"brokerAddr":null}`,
	}},
	{"POST", "/api/v1/brokers/b/members/0/heartbeat", []string{`{"dataVersion":{"stateVersion":0,"timestamp":1,"counter":1}}`, `{}`, ``, `{"dataVersion":7}`}},
	{"POST", "/api/v1/heartbeats", []string{`{"members":[{"brokerName":"b","brokerId":0}]}`, `{"members":[]}`, `{"members":null}`, `{"members":[{"brokerId":-9223372036854775809}]}`}},
	{"PUT", "/api/v1/topics/T/brokers/b", []string{`{"readQueueNums":4,"writeQueueNums":4,"perm":6}`, `{"readQueueNums":-1}`, `{"perm":8}`}},
	{"PUT", "/api/v1/kv/n/k", []string{`{"value":"v"}`, `{"value":null}`, `{"value":"` + strings.Repeat("x", 300) + `"}`, `{"value":"\ud800"}`}},
	{"PATCH", "/api/v1/config", []string{`{"scanNotActiveBrokerInterval":"7000"}`, `{"kvConfigPath":"/x"}`, `{"a":{}}`, `{"scanNotActiveBrokerInterval":null}`}},
	{"POST", "/api/v1/routes/query", []string{`{"topics":["T","U"]}`, `{"topics":[""]}`, `{"topics":{}}`, `{"topics":["T"],"zone":"z"}`}},
}

// FuzzBodies sends anything as the body of every operation that takes one. Whatever comes
// is answered with JSON or with a problem of a known kind, never with an error of ours;
// what is refused has changed nothing, and routes stay sound.
func FuzzBodies(f *testing.F) {
	for i, o := range bodied {
		for _, b := range o.bodies {
			f.Add(uint8(i), []byte(b))
		}
		f.Add(uint8(i), []byte(o.bodies[0]+o.bodies[0]))
		f.Add(uint8(i), []byte(strings.Repeat("[", 20_000)))
		f.Add(uint8(i), []byte(strings.ReplaceAll(o.bodies[0], `"`, `'`)))
	}
	const most = 1 << 20
	e := newEnv(f, func(d *Deps) {
		d.Limits = Limits{WritesPerSecond: most, WritesBurst: most, HeartbeatsPerSecond: most}
	})
	e.broker("b", 1, "10.0.0.9:10911", "T")
	f.Fuzz(func(t *testing.T, which uint8, body []byte) {
		o := bodied[int(which)%len(bodied)]
		req := httptest.NewRequestWithContext(t.Context(), o.method, o.path, strings.NewReader(string(body)))
		req.Host = "127.0.0.1"
		req.Header.Set("Authorization", "Bearer "+e.token)
		req.Header.Set("Content-Type", "application/json")
		if o.method == http.MethodPatch {
			req.Header.Set("Content-Type", "application/merge-patch+json")
		}
		before, settings := e.reg.Snapshot(), e.set.Version()
		rec := httptest.NewRecorder()
		e.h.ServeHTTP(rec, req)
		got := rec.Result()
		text := rec.Body.Bytes()
		if got.StatusCode >= 400 {
			var p api.Problem
			if err := json.Unmarshal(text, &p); err != nil || p.Code == "" || p.Status != got.StatusCode || got.StatusCode >= 500 {
				t.Fatalf("%s %s was answered with %s: %v, %s", o.method, o.path, got.Status, err, text)
			}
			if e.reg.Snapshot() != before || e.set.Version() != settings {
				t.Fatalf("%s %s was refused with %s, but has changed something", o.method, o.path, text)
			}
			return
		}
		if len(text) > 0 && !json.Valid(text) {
			t.Fatalf("%s %s was answered with %s, but that is no JSON: %s", o.method, o.path, got.Status, text)
		}
		s := e.reg.Snapshot()
		for topic := range s.Topics() {
			rt := s.RouteOf(topic)
			for _, q := range rt.Queues {
				if g := s.Group(q.Broker); g == nil || len(g.Members) == 0 {
					t.Fatalf("%s %s left queues of %s, which has no member", o.method, o.path, q.Broker)
				}
			}
		}
	})
}
