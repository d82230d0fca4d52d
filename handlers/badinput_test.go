package handlers

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// Bad input is a problem that names its place, and changes nothing.
func TestBadInput(t *testing.T) {
	e := newEnv(t)
	e.broker("broker-a", 0, "10.0.0.1:10911", "T")
	const member = "/api/v1/brokers/bridge-1/members/0"
	body := func(s string) string { return `{"clusterName":"C","brokerAddr":"10.0.0.9:1",` + s + `}` }
	topic := func(s string) string { return body(`"topicConfigTable":{"T":` + s + `}`) }
	deep := strings.Repeat(`{"a":`, 40) + "1" + strings.Repeat("}", 40)
	for _, x := range []struct {
		name, path, body string
		status           int
		code             string
		where            string // pointer or parameter of the first place
		says             string // in its detail
	}{
		{"unknown field", member, body(`"zoneNam":"z"`), 400, "unknown-field", "/zoneNam", "those are"},
		{"wrong case", member, `{"ClusterName":"C","brokerAddr":"h:1"}`, 400, "unknown-field", "/ClusterName", "did you mean clusterName?"},
		{"unknown field within", member, topic(`{"readQueueNums":1,"writeQueueNums":1,"prem":6}`), 400, "unknown-field", "/topicConfigTable/T/prem", ""},
		{"duplicate key", member, body(`"zoneName":"a","zoneName":"b"`), 400, "malformed-json", "/zoneName", "twice"},
		{"duplicate key within", member, topic(`{"perm":6,"perm":2}`), 400, "malformed-json", "/topicConfigTable/T/perm", "twice"},
		{"duplicate topic", member, body(`"topicConfigTable":{"a/b":{},"a/b":{}}`), 400, "malformed-json", "/topicConfigTable/a~1b", "twice"},
		{"trailing data", member, body(`"zoneName":"z"`) + "x", 400, "malformed-json", "", ""},
		{"two values", member, body(`"zoneName":"z"`) + " {}", 400, "malformed-json", "", "follows"},
		{"cut short", member, `{"clusterName":"C"`, 400, "malformed-json", "", "too early"},
		{"broken syntax", member, `{"clusterName":C}`, 400, "malformed-json", "/clusterName", "invalid character"},
		{"empty", member, ` `, 400, "malformed-json", "-", "empty"},
		{"not UTF-8", member, body(`"zoneName":"` + "\xff" + `"`), 400, "malformed-json", "-", "byte 57"},
		{"too deep", member, deep, 400, "malformed-json", "-", "32 deep"},
		{"an array", member, `[]`, 400, "validation-failed", "", "an object"},
		{"null", member, `null`, 400, "validation-failed", "/clusterName", "must be given"},
		{"wrong type", member, body(`"enableActingMaster":"yes"`), 400, "validation-failed", "/enableActingMaster", "true or false"},
		{"wrong type within", member, topic(`{"readQueueNums":"8","writeQueueNums":8}`), 400, "validation-failed", "/topicConfigTable/T/readQueueNums", "a whole number"},
		{"a fraction", member, topic(`{"readQueueNums":1.5,"writeQueueNums":8}`), 400, "validation-failed", "/topicConfigTable/T/readQueueNums", "a whole number"},
		{"beyond 32 bits", member, topic(`{"readQueueNums":99999999999,"writeQueueNums":8}`), 400, "validation-failed", "/topicConfigTable/T/readQueueNums", "32 bits"},
		{"out of range", member, topic(`{"readQueueNums":65537,"writeQueueNums":8}`), 400, "validation-failed", "/topicConfigTable/T/readQueueNums", "at most 65536, not 65537"},
		{"negative", member, topic(`{"readQueueNums":-1,"writeQueueNums":8}`), 400, "validation-failed", "/topicConfigTable/T/readQueueNums", "at least 0"},
		{"perm out of range", member, topic(`{"readQueueNums":1,"writeQueueNums":1,"perm":8}`), 400, "validation-failed", "/topicConfigTable/T/perm", "at most 7"},
		{"no queues", member, topic(`{"readQueueNums":0,"writeQueueNums":0}`), 400, "validation-failed", "/topicConfigTable/T", "a queue"},
		{"missing", member, `{"brokerAddr":"h:1"}`, 400, "validation-failed", "/clusterName", "must be given"},
		{"missing within", member, topic(`{"writeQueueNums":1}`), 400, "validation-failed", "/topicConfigTable/T/readQueueNums", "must be given"},
		{"name with a blank", member, `{"clusterName":"a b","brokerAddr":"h:1"}`, 400, "validation-failed", "/clusterName", "printable"},
		{"name with a control character", member, `{"clusterName":"a\u0000b","brokerAddr":"h:1"}`, 400, "validation-failed", "/clusterName", "printable"},
		{"name too long", member, `{"clusterName":"` + strings.Repeat("x", 256) + `","brokerAddr":"h:1"}`, 400, "validation-failed", "/clusterName", "at most 255"},
		{"topic with a blank", member, body(`"topicConfigTable":{"a b":{"readQueueNums":1,"writeQueueNums":1}}`), 400, "validation-failed", "/topicConfigTable/a b", "letters, digits"},
		{"topic with dots", member, body(`"topicConfigTable":{"a.b[c].d":{"readQueueNums":1,"writeQueueNums":1}}`), 400, "validation-failed", "/topicConfigTable/a.b[c].d", "letters, digits"},
		{"topic too long", member, body(`"topicConfigTable":{"` + strings.Repeat("x", 128) + `":{"readQueueNums":1,"writeQueueNums":1}}`), 400, "validation-failed", "-", "at most 127"},
		{"attribute with a line end", member, topic(`{"readQueueNums":1,"writeQueueNums":1,"attributes":{"a":"x\ny"}}`), 400, "validation-failed", "/topicConfigTable/T/attributes/a", "control"},
		{"data version negative", member, body(`"dataVersion":{"counter":-1}`), 400, "validation-failed", "/dataVersion/counter", "at least 0"},
		{"bad escape in the query", member + "?takeover=%zz", body(`"zoneName":"z"`), 400, "malformed-query", "takeover", "%25"},
		{"control character in the query", member + "?takeover=%00", body(`"zoneName":"z"`), 400, "malformed-query", "takeover", ""},
		{"not UTF-8 in the query", member + "?takeover=%FF", body(`"zoneName":"z"`), 400, "malformed-query", "takeover", ""},
		{"unknown parameter", member + "?takover=true", body(`"zoneName":"z"`), 400, "unknown-parameter", "takover", "takeover"},
		{"bad flag", member + "?takeover=maybe", body(`"zoneName":"z"`), 400, "validation-failed", "takeover", "true or false"},
		{"repeated", member + "?takeover=true&takeover=false", body(`"zoneName":"z"`), 400, "validation-failed", "takeover", "2 times"},
		{"bad flag of pretty", member + "?pretty=maybe", body(`"zoneName":"z"`), 400, "validation-failed", "pretty", ""},
		{"id with a sign", "/api/v1/brokers/b/members/-1", body(`"zoneName":"z"`), 400, "validation-failed", "brokerId", "from 0"},
		{"id too large", "/api/v1/brokers/b/members/9007199254740992", body(`"zoneName":"z"`), 400, "validation-failed", "brokerId", "9007199254740991"},
		{"id no number", "/api/v1/brokers/b/members/x", body(`"zoneName":"z"`), 400, "malformed-path", "brokerId", "number"},
		{"broker name with a blank", "/api/v1/brokers/a%20b/members/0", body(`"zoneName":"z"`), 400, "validation-failed", "brokerName", "printable"},
	} {
		t.Run(x.name, func(t *testing.T) {
			before := e.reg.Snapshot()
			e.h.limiters = newLimiters(e.h.limits)
			p := e.admin("PUT", x.path, x.body).problem(t, x.status, x.code)
			if e.reg.Snapshot() != before {
				t.Error("something was changed")
			}
			where, says := "-", p.Detail
			if len(p.Errors) > 0 {
				where, says = p.Errors[0].Parameter, p.Errors[0].Detail
				if p.Errors[0].Pointer != nil {
					where = *p.Errors[0].Pointer
				}
			}
			if x.where == "-" && len(p.Errors) > 0 {
				where = "-"
			}
			if where != x.where || !strings.Contains(says, x.says) && !strings.Contains(p.Detail, x.says) {
				t.Errorf("at %q: %s (%s)", where, says, p.Detail)
			}
			zh := e.admin("PUT", x.path, x.body, "Accept-Language", "zh-CN").problem(t, x.status, x.code)
			if zh.Title == p.Title || zh.Detail == p.Detail {
				t.Errorf("in Chinese: %s: %s", zh.Title, zh.Detail)
			}
		})
	}
}

func TestAddresses(t *testing.T) {
	for s, ok := range map[string]bool{
		"10.0.0.1:10911": true, "[2001:db8::1]:10911": true, "rmq_broker:10911": true, "broker-0.ns.svc.cluster.local:1": true, "h:65535": true, "中文:1": false,
		"10.0.0.1": false, ":10911": false, "10.0.0.1:": false, "10.0.0.1:0": false, "10.0.0.1:65536": false, "10.0.0.1:+1": false, "0.0.0.0:1": false, "[::]:1": false,
		"2001:db8::1:10911": false, "http://h:1": false, "h:1/x": false, "[10.0.0.1]:1": false, "999.1.1.1:1": false, "-h:1": false, "h :1": false, "[fe80::1%eth0]:1": false,
	} {
		if isBrokerAddr(s) != ok {
			t.Errorf("%q: %v", s, !ok)
		}
	}
}

// All that is wrong is told at once, at most 50 places.
func TestAllErrorsAtOnce(t *testing.T) {
	e := newEnv(t)
	p := e.admin("PUT", "/api/v1/brokers/b/members/0", `{"brokerAddr":"x","topicConfigTable":{"T":{"readQueueNums":-1,"writeQueueNums":99999}}}`).problem(t, 400, "validation-failed")
	if len(p.Errors) != 4 {
		t.Errorf("got %+v", p.Errors)
	}
	p = e.get("/api/v1/topics?limit=0&type=x&sort=y&perm=Z&unit=maybe").problem(t, 400, "validation-failed")
	if len(p.Errors) != 5 {
		t.Errorf("got %+v", p.Errors)
	}
	var many strings.Builder
	for i := range 80 {
		fmt.Fprintf(&many, `"x%d":1,`, i)
	}
	p = e.admin("PUT", "/api/v1/brokers/b/members/0", `{`+many.String()+`"clusterName":"C"}`).problem(t, 400, "unknown-field")
	if len(p.Errors) != 50 {
		t.Errorf("%d places", len(p.Errors))
	}
}

func TestBodiesThatAreTooLarge(t *testing.T) {
	e := newEnv(t, func(d *Deps) { d.Limits.Topics = 3 })
	pad := func(n int) string {
		const head = `{"clusterName":"C","brokerAddr":"h:1"`
		return head + strings.Repeat(" ", n-len(head)-1) + "}"
	}
	e.admin("PUT", "/api/v1/brokers/b/members/0", pad(8<<20)).ok(t, 201)
	e.admin("PUT", "/api/v1/brokers/b/members/0", pad(8<<20+1)).problem(t, 413, "body-too-large")
	chunked := func(n int) *answer {
		req, _ := http.NewRequestWithContext(t.Context(), "PUT", e.srv.URL+"/api/v1/brokers/b/members/0", struct{ *strings.Reader }{strings.NewReader(pad(n))})
		req.ContentLength = -1
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Authorization", "Bearer "+e.token)
		return e.send(req)
	}
	chunked(8<<20).ok(t, 200)
	chunked(8<<20+1).problem(t, 413, "body-too-large")
	e.admin("PUT", "/api/v1/topics/T/brokers/b", pad(64<<10+1)).problem(t, 413, "body-too-large")
	e.do("POST", "/api/v1/routes/query", pad(256<<10+1)).problem(t, 413, "body-too-large")
	q := `{"readQueueNums":1,"writeQueueNums":1}`
	p := e.admin("PUT", "/api/v1/brokers/b/members/0", fmt.Sprintf(`{"clusterName":"C","brokerAddr":"h:1","topicConfigTable":{"a":%s,"b":%s,"c":%s,"d":%s}}`, q, q, q, q)).problem(t, 413, "body-too-large")
	if !strings.Contains(p.Detail, "3 topics, not 4") || e.reg.Snapshot().TopicCount() != 0 {
		t.Errorf("got %+v", p)
	}
	many := strings.Repeat(`"t",`, 1000)
	e.do("POST", "/api/v1/routes/query", `{"topics":[`+many+`"t"]}`).problem(t, 400, "validation-failed")
	e.get("/api/v1/routes?topic=t"+strings.Repeat("&topic=t", 1000)).problem(t, 400, "validation-failed")
}

func TestTypesOfBodies(t *testing.T) {
	e := newEnv(t)
	for _, ct := range []string{"text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "", "application/json-patch+json", "x"} {
		p := e.admin("PUT", "/api/v1/brokers/b/members/0", bridge, "Content-Type", ct).problem(t, 415, "unsupported-media-type")
		if !strings.Contains(p.Detail, "application/json") {
			t.Errorf("got %s", p.Detail)
		}
	}
	e.admin("PUT", "/api/v1/brokers/b/members/0", bridge, "Content-Type", "application/json; charset=utf-8").ok(t, 201)
	e.admin("POST", "/api/v1/brokers/b/members/0/heartbeat", `{}`, "Content-Type", "text/plain").problem(t, 415, "unsupported-media-type")
}

// A body that does not come is not waited for without end.
func TestBodyThatDoesNotCome(t *testing.T) {
	e := newEnv(t, func(d *Deps) { d.Limits.BodyTimeout = 50 * time.Millisecond })
	conn, err := net.Dial("tcp", e.srv.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "PUT /api/v1/brokers/b/members/0 HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAuthorization: Bearer %s\r\nContent-Length: 100\r\n\r\n{", e.token)
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != 408 {
		t.Errorf("got %s", resp.Status)
	}
}

// A literal % is not HTTP: the server refuses it before this face sees it.
func TestLiteralPercentInThePath(t *testing.T) {
	e := newEnv(t)
	conn, err := net.Dial("tcp", e.srv.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "GET /api/v1/topics/%%RETRY%%g/route HTTP/1.1\r\nHost: localhost\r\n\r\n")
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != 400 {
		t.Errorf("got %s", resp.Status)
	}
}
