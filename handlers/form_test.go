package handlers

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"fingerpost/api"
	"fingerpost/registry"
)

func TestForms(t *testing.T) {
	e := newEnv(t)
	e.broker("broker-a", 0, "10.0.0.1:10911", "T")
	for _, x := range []struct{ query, accept, want string }{
		{"", "", "application/json"},
		{"", "*/*", "application/json"},
		{"", "application/*", "application/json"},
		{"", "text/*", "text/plain; charset=utf-8"},
		{"", "text/plain", "text/plain; charset=utf-8"},
		{"", "application/x-ndjson", "application/x-ndjson"},
		{"", "text/html,application/xhtml+xml,*/*;q=0.8", "application/json"},
		{"", "text/plain;q=0.4, application/json;q=0.5", "application/json"},
		{"", "text/plain;q=0.6, application/json;q=0.5", "text/plain; charset=utf-8"},
		{"", "application/problem+json, application/json", "application/json"},
		{"?format=text", "application/json", "text/plain; charset=utf-8"},
		{"?format=json", "text/plain", "application/json"},
		{"?format=ndjson", "", "application/x-ndjson"},
		{"?format=sse", "", ""},
		{"?format=xml", "", ""},
		{"", "image/png", ""},
		{"", "application/json;q=0", ""},
		{"", "text/event-stream", ""},
	} {
		var h []string
		if x.accept != "" {
			h = []string{"Accept", x.accept}
		}
		a := e.get("/api/v1/topics"+x.query, h...)
		if x.want == "" {
			a.problem(t, 406, "not-acceptable")
		} else if got := a.ok(t, 200).Header.Get("Content-Type"); got != x.want {
			t.Errorf("%s with Accept %q is %s, want %s", x.query, x.accept, got, x.want)
		}
		if v := a.Header.Get("Vary"); v != "Accept, Accept-Encoding, Accept-Language, Authorization, Cookie" {
			t.Errorf("Vary is %q", v)
		}
	}
	plain, pretty := e.get("/api/v1/topics/T/route"), e.get("/api/v1/topics/T/route?pretty")
	var compact bytes.Buffer
	if err := json.Compact(&compact, pretty.body); err != nil || compact.String()+"\n" != string(plain.body) || !bytes.Contains(pretty.body, []byte("\n  \"brokerDatas\": [")) {
		t.Errorf("pretty: %s", pretty.body)
	}
	for _, agent := range []string{"curl/8.5", "Wget/1.2", "Mozilla/5.0"} {
		if a := e.get("/api/v1/topics/T/route", "User-Agent", agent); !bytes.Equal(a.body, plain.body) {
			t.Errorf("the answer depends on %s", agent)
		}
	}
}

func TestCompression(t *testing.T) {
	e := newEnv(t)
	var topics []string
	for i := range 50 {
		topics = append(topics, fmt.Sprintf("Topic%d", i))
	}
	e.broker("broker-a", 0, "10.0.0.1:10911", topics...)
	plain := e.get("/api/v1/kv")
	if plain.Header.Get("Content-Encoding") != "" {
		t.Error("a small answer is compressed")
	}
	const path = "/api/v1/routes?prefix=Topic"
	a, z := e.get(path), e.get(path, "Accept-Encoding", "gzip")
	r, err := gzip.NewReader(bytes.NewReader(z.body))
	if err != nil {
		t.Fatal(err)
	}
	if b, err := io.ReadAll(r); err != nil || !bytes.Equal(b, a.body) || z.Header.Get("Content-Encoding") != "gzip" {
		t.Errorf("the compressed form differs: %v", err)
	}
	if a.Header.Get("Etag") == z.Header.Get("Etag") {
		t.Error("two forms with different bytes have one strong ETag")
	}
	for _, tag := range []string{a.Header.Get("Etag"), z.Header.Get("Etag"), "W/" + a.Header.Get("Etag"), `"x", ` + a.Header.Get("Etag"), "*"} {
		for _, enc := range []string{"gzip", "identity", "gzip;q=0"} {
			if b := e.get(path, "If-None-Match", tag, "Accept-Encoding", enc); b.StatusCode != 304 || b.Header.Get("Etag") == "" {
				t.Errorf("%s with %s: %s", tag, enc, b.Status)
			}
		}
	}
}

func TestMethods(t *testing.T) {
	e := newEnv(t)
	a := e.do("POST", "/api/v1/topics", "{}")
	a.problem(t, 405, "method-not-allowed")
	if a.Header.Get("Allow") != "GET, HEAD, OPTIONS" {
		t.Errorf("Allow is %q", a.Header.Get("Allow"))
	}
	a = e.do("OPTIONS", "/api/v1/brokers/x%2Dy/members/0", "").ok(t, 204)
	if a.Header.Get("Allow") != "DELETE, GET, HEAD, OPTIONS, PATCH, PUT" {
		t.Errorf("Allow is %q", a.Header.Get("Allow"))
	}
	for _, o := range Operations() {
		if o.Method != http.MethodGet || strings.Contains(o.Pattern, "{") || o.Pattern == "/api/v1/watch" {
			continue
		}
		path := o.Pattern + "?format=" + o.Forms[0]
		if g, h := e.get(path), e.do("HEAD", path, ""); h.StatusCode != g.StatusCode || len(h.body) != 0 || h.Header.Get("Content-Type") != g.Header.Get("Content-Type") {
			t.Errorf("HEAD %s: %s %v, GET %s", path, h.Status, h.Header, g.Status)
		}
	}
	if a := e.do("HEAD", "/api/v1/watch", "").ok(t, 200); a.Header.Get("Content-Type") != "text/event-stream" {
		t.Errorf("HEAD of a watch: %v", a.Header)
	}
	e.get("/api/v2/topics").problem(t, 404, "no-such-endpoint")
	e.get("/api/v1/topics/").problem(t, 404, "no-such-endpoint")
	e.do("OPTIONS", "/nothing", "").problem(t, 404, "no-such-endpoint")
}

func TestBelowAPath(t *testing.T) {
	e := newEnv(t, func(d *Deps) { d.Site.BasePath = "/mq/" })
	e.broker("broker-a", 0, "10.0.0.1:10911", "T", "U")
	e.get("/mq/api/v1/topics/T/route").ok(t, 200)
	e.get("/mq/api/v1/topics/%25x%5Fy/route").problem(t, 404, "topic-not-found")
	e.get("/api/v1/topics/T/route").problem(t, 404, "no-such-endpoint")
	e.get("/mqx").problem(t, 404, "no-such-endpoint")
	if a := e.get("/mq"); a.StatusCode != 308 || a.Header.Get("Location") != "/mq/" {
		t.Errorf("got %s", a)
	}
	if p := e.get("/mq/api/v1/topics/x").problem(t, 404, "topic-not-found"); p.Type != "/mq/problems/topic-not-found" {
		t.Errorf("the type is %s", p.Type)
	}
	if l := e.get("/mq/api/v1/topics?limit=1").Header.Get("Link"); l != `</mq/api/v1/topics?after=T&limit=1>; rel="next"` {
		t.Errorf("the link is %s", l)
	}
	if c := e.do("POST", "/mq/api/v1/session", `{"token":"`+e.token+`"}`).Header.Get("Set-Cookie"); !strings.Contains(c, "Path=/mq;") {
		t.Errorf("the cookie is %s", c)
	}
	out := newEnv(t, func(d *Deps) { d.Site.ExternalURL = "https://mq.example/names/" })
	if p := out.get("/api/v1/topics/x").problem(t, 404, "topic-not-found"); p.Type != "https://mq.example/names/problems/topic-not-found" {
		t.Errorf("the type is %s", p.Type)
	}
}

// Every code has a page, in both languages and each form.
func TestPagesOfProblems(t *testing.T) {
	e := newEnv(t)
	for _, c := range codes() {
		var en, zh api.ProblemPage
		e.get("/problems/"+c).ok(t, 200).into(t, &en)
		a := e.get("/problems/"+c, "Accept-Language", "zh").ok(t, 200)
		a.into(t, &zh)
		if en.Title == "" || en.Means == "" || en.Do == "" || zh.Title == en.Title || zh.Means == en.Means || zh.Do == en.Do || zh.Title == "" || en.Status < 400 {
			t.Errorf("%s: %+v %+v", c, en, zh)
		}
		if a.Header.Get("Content-Language") != "zh-CN" {
			t.Errorf("%s: the language is %q", c, a.Header.Get("Content-Language"))
		}
		page := e.get("/problems/"+c, "Accept", "text/html,*/*;q=0.8", "Accept-Language", "zh").ok(t, 200)
		if page.Header.Get("Content-Type") != "text/html; charset=utf-8" || !strings.Contains(string(page.body), `<html lang="zh-CN">`) || !strings.Contains(string(page.body), "<h1>"+zh.Title+"</h1>") ||
			!strings.Contains(page.Header.Get("Content-Security-Policy"), "default-src 'none'") {
			t.Errorf("%s as HTML: %s", c, page)
		}
		if text := e.get("/problems/"+c+"?format=text").ok(t, 200); !strings.Contains(string(text.body), en.Means) {
			t.Errorf("%s as text: %s", c, text)
		}
	}
	e.get("/problems/topic-not-fount").problem(t, 404, "no-such-endpoint")
}

func TestProbes(t *testing.T) {
	var bad error
	rules := registry.DefaultRules()
	rules.NeedWaitForService, rules.WaitForService = true, time.Hour
	e := newEnv(t, func(d *Deps) {
		d.Registry = registry.New(registry.Options{Rules: &rules})
		d.Checks = []Check{
			{"reaper", Live, func(context.Context) error { return nil }},
			{"kv-loaded", Ready, func(context.Context) error { return nil }},
			{"kv-persist", Healthy, func(context.Context) error { return bad }},
		}
	})
	e.get("/livez").ok(t, 200)
	a := e.get("/readyz").ok(t, 503)
	if !strings.HasPrefix(string(a.body), "[-] warmed-up failed: routes are answered in ") || a.Header.Get("Retry-After") == "" {
		t.Errorf("got %s", a)
	}
	e.get("/api/v1/topics/x/route").problem(t, 503, "name-server-not-ready")
	e.reg.SetRules(registry.DefaultRules(), nil, registry.Cause{})
	if a := e.get("/readyz").ok(t, 200); string(a.body) != "ok\n" {
		t.Errorf("got %s", a)
	}
	bad = errors.New("the disk is full")
	if a := e.get("/healthz?verbose").ok(t, 503); string(a.body) != "[+] serving ok\n[+] not-draining ok\n[+] warmed-up ok\n[+] reaper ok\n[+] kv-loaded ok\n[-] kv-persist failed: the disk is full\nfailing\n" {
		t.Errorf("got %s", a)
	}
	var h api.Health
	e.get("/healthz?format=json").ok(t, 503).into(t, &h)
	if h.Status != "failing" || len(h.Checks) != 1 || h.Checks[0].Name != "kv-persist" {
		t.Errorf("got %+v", h)
	}
	e.get("/readyz").ok(t, 200)
	e.h.Drain()
	e.get("/readyz").ok(t, 503)
	e.get("/livez").ok(t, 200)
	e.get("/api/v1/topics").ok(t, 200)
}

func TestIndexAndMounted(t *testing.T) {
	served := func(name string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, name+r.URL.Path) })
	}
	e := newEnv(t, withTokens("ops admin"), func(d *Deps) {
		d.Dashboard, d.Feed, d.OpenAPI, d.Metrics, d.Pprof = served("ui"), served("feed"), served("openapi"), served("metrics"), served("pprof")
		d.MetricsNeedViewer = true
		d.NSAddr = func(unit string) (string, bool) { return "10.0.0.1:9876;10.0.0.2:9876", unit != "none" }
	})
	if a := e.get("/", "Accept", "text/html,*/*;q=0.8"); a.StatusCode != 302 || a.Header.Get("Location") != "/ui/" {
		t.Errorf("a browser gets %s", a)
	}
	index := string(e.get("/").ok(t, 200).body)
	for _, o := range e.h.ops {
		if !strings.Contains(index, o.Pattern) {
			t.Errorf("the index has no %s", o.Pattern)
		}
	}
	for path, want := range map[string]string{
		"/ui/app.js?v=1": "ui/ui/app.js", "/ws": "feed/ws", "/openapi.json": "openapi/openapi.json", "/metrics": "metrics/metrics",
		"/rocketmq/nsaddr": "10.0.0.1:9876;10.0.0.2:9876", "/rocketmq/nsaddr-unit1?nofix=1": "10.0.0.1:9876;10.0.0.2:9876",
	} {
		if a := e.get(path).ok(t, 200); string(a.body) != want {
			t.Errorf("%s: %s", path, a)
		}
	}
	e.get("/rocketmq/nsaddr-none").problem(t, 404, "no-such-endpoint")
	unknown := newEnv(t, func(d *Deps) {
		d.NSAddr, d.Site.BasePath = func(string) (string, bool) { return "", true }, "/mq"
	})
	for _, path := range []string{"/rocketmq/nsaddr?nofix=1", "/mq/rocketmq/nsaddr"} {
		if p := unknown.get(path).problem(t, 503, "name-server-not-ready"); p.Detail == "" {
			t.Errorf("%s: %+v", path, p)
		}
	}
	unknown.h.Drain()
	if a := unknown.get("/rocketmq/nsaddr-x"); a.Header.Get("Retry-After") != "10" {
		t.Errorf("%s", a)
	}
	unknown.get("/rocketmq/nsaddr-x").problem(t, 503, "shutting-down")
	e.get("/debug/pprof/heap").problem(t, 401, "unauthenticated")
	e.do("GET", "/debug/pprof/heap", "", "Authorization", "Bearer "+tokenOf("ops")).ok(t, 200)
	bare := newEnv(t)
	for _, path := range []string{"/ui/", "/ws", "/openapi.json", "/metrics", "/debug/pprof/", "/rocketmq/nsaddr"} {
		bare.get(path).problem(t, 404, "no-such-endpoint")
	}
}

func TestTables(t *testing.T) {
	tb := newTable("NAME", "N", "LAST")
	tb.row("中文主题", 1, "x")
	tb.row("a\tb\n", 22, "")
	tb.note("two")
	want := "NAME      N   LAST\n中文主题  1   x\na·b·      22  -\n# two\n"
	if got := string(tb.bytes()); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestSuggestions(t *testing.T) {
	names := []string{"OrderCreated", "OrderPaid", "PayDone", "ordercreated2"}
	for name, want := range map[string]string{
		"OrderCreatd": "[OrderCreated ordercreated2]", "ordercreated": "[OrderCreated ordercreated2]", "OrderPiad": "[OrderPaid]", "Zebra": "[]", "x": "[]", "": "[]",
	} {
		if got := fmt.Sprint(nearest(name, names)); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

func TestRequestIDs(t *testing.T) {
	e := newEnv(t)
	seen := make(map[string]bool)
	for range 50 {
		id := e.get("/api/v1/version").Header.Get("X-Request-Id")
		if len(id) != 16 || seen[id] {
			t.Fatalf("the id is %q", id)
		}
		seen[id] = true
	}
	for id, kept := range map[string]bool{"abc.DEF-1_2": true, "a b": false, "ä": false, strings.Repeat("x", 64): true, strings.Repeat("x", 65): false} {
		if got := e.get("/api/v1/version", "X-Request-Id", id).Header.Get("X-Request-Id"); (got == id) != kept {
			t.Errorf("%q became %q", id, got)
		}
	}
}
