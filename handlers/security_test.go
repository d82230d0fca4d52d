package handlers

import (
	"fmt"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/crypto/bcrypt"

	"fingerpost/api"
	"fingerpost/internal/auth"
	"fingerpost/registry"
)

// Every operation, asked by everybody, gives what its row says; and nobody changes
// anything without a credential.
func TestRoleMatrix(t *testing.T) {
	rows := make(map[string]Operation)
	for _, o := range Operations() {
		rows[o.Method+" "+o.Pattern] = o
	}
	for _, x := range examples {
		for _, who := range []string{"", "viewer", "registrar", "admin"} {
			role, _ := auth.ParseRole(who)
			e := furnished(t, func(d *Deps) {
				d.Auth = keeperOf(auth.Options{}, "viewer viewer", "registrar registrar bridge-*", "admin admin")
			})
			before := e.reg.Snapshot().Digest()
			a := e.ask(x, who)
			want := x.status
			if want == 0 {
				want = 200
			}
			switch need := rows[x.op].Role; {
			case role >= need:
			case who == "":
				want = 401
			default:
				want = 403
			}
			if a.StatusCode != want {
				t.Errorf("%s %s as %q: %s, want %d", x.op, x.path, who, a, want)
			}
			if want >= 400 && !strings.HasPrefix(x.op, "GET /api/v1/watch") && !strings.Contains(x.path, "format=text") {
				a.problem(t, want, map[int]string{401: "unauthenticated", 403: "forbidden"}[want])
			}
			if (who == "" || want >= 400) && e.reg.Snapshot().Digest() != before {
				t.Errorf("%s as %q changed the registry", x.op, who)
			}
			if want == 401 && a.Header.Get("WWW-Authenticate") == "" {
				t.Errorf("%s: no challenge", x.op)
			}
			e.h.Close()
			e.srv.Close()
		}
	}
}

func TestNobodyNeedsACredentialInALaboratory(t *testing.T) {
	k, err := auth.New(auth.Options{NoAuth: true})
	if err != nil {
		t.Fatal(err)
	}
	e := newEnv(t, func(d *Deps) { d.Auth = k })
	a := e.do("PUT", "/api/v1/brokers/b/members/0", bridge).ok(t, 201)
	if !strings.Contains(string(a.body), `"owner":"anonymous"`) {
		t.Errorf("got %s", a)
	}
}

func TestWrongCredentialsAreRefusedAndThenHeldBack(t *testing.T) {
	e := newEnv(t)
	e.stopClock()
	for _, header := range []string{"Bearer nonsense", "Basic eDp5", "Digest x", "Bearer"} {
		e.get("/livez", "Authorization", header).problem(t, 401, "unauthenticated")
	}
	e.get("/api/v1/topics", "Authorization", "Bearer fp_wrong").problem(t, 401, "unauthenticated")
	a := e.get("/api/v1/topics", "Authorization", "Bearer "+e.token)
	a.problem(t, 429, "rate-limited")
	if a.Header.Get("Retry-After") != "12" {
		t.Errorf("Retry-After is %q", a.Header.Get("Retry-After"))
	}
	e.get("/api/v1/topics").ok(t, 200) // who shows nothing is not held back
	if log := e.log.String(); strings.Contains(log, "nonsense") || strings.Contains(log, e.token) || strings.Contains(log, "fp_wrong") || !strings.Contains(log, "a credential was refused") {
		t.Error("the log tells a credential, or nothing")
	}
}

func TestPasswords(t *testing.T) {
	hash, err := bcrypt.GenerateFromPassword([]byte("s3cret"), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "users")
	if err := os.WriteFile(file, fmt.Appendf(nil, "# people\nops admin %s\n", hash), 0o600); err != nil {
		t.Fatal(err)
	}
	k, err := auth.New(auth.Options{UsersFile: file})
	if err != nil {
		t.Fatal(err)
	}
	e := newEnv(t, func(d *Deps) { d.Auth = k })
	ask := func(name, password string) *answer {
		req, _ := http.NewRequestWithContext(t.Context(), "GET", e.srv.URL+"/api/v1/whoami", nil)
		req.SetBasicAuth(name, password)
		return e.send(req)
	}
	for range 2 { // the second time it is remembered
		if a := ask("ops", "s3cret").ok(t, 200); string(a.body) != `{"principal":"user:ops","role":"admin","brokers":[],"method":"basic"}`+"\n" {
			t.Errorf("got %s", a)
		}
	}
	ask("ops", "wrong").problem(t, 401, "unauthenticated")
	ask("nobody", "s3cret").problem(t, 401, "unauthenticated")
}

func TestSessions(t *testing.T) {
	e := newEnv(t, withTokens("ops admin"))
	e.do("POST", "/api/v1/session", `{"token":"wrong"}`).problem(t, 401, "unauthenticated")
	e.do("POST", "/api/v1/session", `{}`).problem(t, 400, "validation-failed")
	a := e.do("POST", "/api/v1/session", `{"token":"`+tokenOf("ops")+`"}`).ok(t, 200)
	var who api.WhoAmI
	a.into(t, &who)
	if who.Method != "session" || who.Role != "admin" || who.Principal != "token:ops" || who.SessionEndsAt == nil {
		t.Errorf("got %s", a)
	}
	cookie := a.Header.Get("Set-Cookie")
	for _, want := range []string{"HttpOnly", "SameSite=Strict", "Path=/"} {
		if !strings.Contains(cookie, want) {
			t.Errorf("the cookie %q is not %s", cookie, want)
		}
	}
	name, _, _ := strings.Cut(cookie, ";")
	if strings.Contains(e.log.String(), strings.TrimPrefix(name, sessionCookie+"=")) {
		t.Error("the log tells the session's secret")
	}
	e.get("/api/v1/whoami", "Cookie", name).ok(t, 200).into(t, &who)
	if who.Method != "session" {
		t.Errorf("got %+v", who)
	}
	// A page changes settings only on what it has shown.
	e.do("PATCH", "/api/v1/config", `{"scanNotActiveBrokerInterval":1}`, "Cookie", name).problem(t, 428, "precondition-required")
	e.do("PUT", "/api/v1/kv/n/k", `{"value":"v"}`, "Cookie", name).ok(t, 201)
	changes, _ := e.reg.History()
	if c := changes[len(changes)-1].Cause; c.Face != "dashboard" || c.Actor != "token:ops" {
		t.Errorf("the cause is %+v", c)
	}
	if p, role, ok := e.h.Authenticate(requestWith("Cookie", name)); p != "token:ops" || role != "admin" || !ok {
		t.Errorf("for handlers beside: %s %s %v", p, role, ok)
	}
	e.do("DELETE", "/api/v1/session", "", "Cookie", name).ok(t, 204)
	e.get("/api/v1/whoami", "Cookie", name).ok(t, 200).into(t, &who)
	if who.Method != "anonymous" {
		t.Errorf("after the end: %+v", who)
	}
	if _, _, ok := e.h.Authenticate(requestWith("Authorization", "Bearer wrong")); ok {
		t.Error("a wrong token counts")
	}
}

func requestWith(name, value string) *http.Request {
	r, _ := http.NewRequest("GET", "http://localhost/ws", nil)
	r.RemoteAddr = "127.0.0.1:1"
	r.Header.Set(name, value)
	return r
}

func TestForeignHostsAreRefused(t *testing.T) {
	e := newEnv(t, func(d *Deps) {
		d.Site.AllowedHosts = []string{"names.example"}
		d.Site.ExternalURL = "https://mq.example/names"
	})
	for host, ok := range map[string]bool{
		"localhost": true, "127.0.0.1:1234": true, "[::1]:8876": true, "names.example": true, "NAMES.example:80": true, "mq.example": true,
		"rebound.attacker.example": false, "127.0.0.1.attacker.example": false, "attacker.example:8876": false,
	} {
		a := e.get("/api/v1/topics", "Host", host)
		if ok {
			a.ok(t, 200)
		} else {
			a.problem(t, 403, "host-not-allowed")
		}
	}
	for _, probe := range []string{"/livez", "/readyz", "/healthz"} {
		e.get(probe, "Host", "10.1.2.3:8876").ok(t, 200)
		e.get(probe+"?verbose", "Host", "10.1.2.3:8876").problem(t, 403, "host-not-allowed")
	}
	open := newEnv(t, func(d *Deps) { d.Site.Loopback = false })
	open.get("/api/v1/topics", "Host", "anything.example").ok(t, 200)
}

func TestPagesOfOtherOriginsChangeNothing(t *testing.T) {
	e := newEnv(t, func(d *Deps) {
		d.Auth, _ = auth.New(auth.Options{NoAuth: true})
		d.Site.CORSOrigins = []string{"https://friend.example"}
		d.Site.ExternalURL = "https://mq.example"
	})
	put := func(headers ...string) *answer {
		return e.do("PUT", "/api/v1/kv/n/k", `{"value":"v"}`, headers...)
	}
	put("Origin", "https://attacker.example", "Sec-Fetch-Site", "cross-site").problem(t, 403, "cross-origin-blocked")
	put("Origin", "https://attacker.example").problem(t, 403, "cross-origin-blocked")
	put("Origin", "null", "Sec-Fetch-Site", "same-site").problem(t, 403, "cross-origin-blocked")
	if e.reg.Snapshot().Revision != 0 {
		t.Fatal("something was changed")
	}
	put("Origin", "https://mq.example", "Sec-Fetch-Site", "cross-site").ok(t, 201) // behind a proxy that changes Host
	a := put("Origin", "https://friend.example", "Sec-Fetch-Site", "cross-site").ok(t, 200)
	if a.Header.Get("Access-Control-Allow-Origin") != "https://friend.example" || a.Header.Get("Access-Control-Allow-Credentials") != "" {
		t.Errorf("headers %v", a.Header)
	}
	put().ok(t, 200) // no browser at all
	for _, path := range []string{"/api/v1/topics", "/api/v1/topics/none"} {
		for _, origin := range []string{"https://friend.example", "https://attacker.example"} {
			// Otherwise a cache gives one page what is meant for another.
			if v := e.get(path, "Origin", origin).Header.Get("Vary"); !strings.HasSuffix(v, ", Origin") {
				t.Errorf("%s for %s varies by %q", path, origin, v)
			}
		}
	}

	if h := e.get("/api/v1/topics", "Origin", "https://attacker.example").ok(t, 200).Header; h.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("headers for a stranger: %v", h)
	}
	pre := e.do("OPTIONS", "/api/v1/kv/n/k", "", "Origin", "https://friend.example", "Access-Control-Request-Method", "PUT").ok(t, 204)
	if !strings.Contains(pre.Header.Get("Access-Control-Allow-Methods"), "PUT") || !strings.Contains(pre.Header.Get("Access-Control-Allow-Headers"), "Authorization") {
		t.Errorf("preflight %v", pre.Header)
	}
	e.do("OPTIONS", "/api/v1/kv/n/k", "", "Origin", "https://attacker.example", "Access-Control-Request-Method", "PUT").ok(t, 204)
	// A form can send text/plain, but only by POST, and there is no such operation.
	e.do("POST", "/api/v1/kv/n/k", "v", "Content-Type", "text/plain").problem(t, 405, "method-not-allowed")
}

func TestClientAddressBehindAProxy(t *testing.T) {
	e := newEnv(t, withTokens("ops admin"), func(d *Deps) { d.Site.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")} })
	e.do("PUT", "/api/v1/kv/n/k", `{"value":"v"}`, "Authorization", "Bearer "+tokenOf("ops"), "X-Forwarded-For", "6.6.6.6, 203.0.113.7").ok(t, 201)
	if !strings.Contains(e.log.String(), `"addr":"203.0.113.7"`) {
		t.Errorf("the log is %s", e.log)
	}
	var counted []string
	e = newEnv(t, withTokens("ops viewer"), func(d *Deps) {
		d.Site.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
		d.Feed = http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { counted = append(counted, e.h.ClientAddr(r)) })
	})
	for _, by := range []string{"6.6.6.6, 203.0.113.7", "203.0.113.8", ""} {
		e.do("GET", "/ws", "", "Authorization", "Bearer "+tokenOf("ops"), "X-Forwarded-For", by).ok(t, 200)
	}
	if diff := cmp.Diff([]string{"203.0.113.7", "203.0.113.8", "127.0.0.1"}, counted); diff != "" {
		t.Errorf("the feed counts by (-want +got):\n%s", diff)
	}
	plain := newEnv(t)
	plain.admin("PUT", "/api/v1/kv/n/k", `{"value":"v"}`, "X-Forwarded-For", "203.0.113.7").ok(t, 201)
	if strings.Contains(plain.log.String(), "203.0.113.7") {
		t.Error("a header of nobody's was believed")
	}
}

// stopClock lets no time pass for the limits.
func (e *env) stopClock() {
	now := time.Now()
	e.h.limiters.now = func() time.Time { return now }
}

func TestWritesAreLimited(t *testing.T) {
	e := newEnv(t, withTokens("a admin", "b admin"), func(d *Deps) { d.Limits.WritesPerSecond, d.Limits.WritesBurst, d.Limits.HeartbeatsPerSecond = 1, 3, 2 })
	e.stopClock()
	put := func(who string) *answer {
		return e.do("PUT", "/api/v1/kv/n/k", `{"value":"v"}`, "Authorization", "Bearer "+tokenOf(who))
	}
	limited := 0
	for range 6 {
		if a := put("a"); a.StatusCode == 429 {
			a.problem(t, 429, "rate-limited")
			limited++
			if a.Header.Get("Retry-After") == "" {
				t.Error("no Retry-After")
			}
		}
	}
	if limited != 3 {
		t.Errorf("%d of 6 were limited", limited)
	}
	if a := put("b"); a.StatusCode != 200 {
		t.Errorf("another principal: %s", a)
	}
	for range 200 { // reads never are
		e.get("/api/v1/topics").ok(t, 200)
	}
	many := `{"members":[` + strings.Repeat(`{"brokerName":"b","brokerId":0},`, 20) + `{"brokerName":"b","brokerId":0}]}`
	a := e.do("POST", "/api/v1/heartbeats", many, "Authorization", "Bearer "+tokenOf("b"))
	// To come again would not help: so many are never let through at once.
	if p := a.problem(t, 429, "rate-limited"); !strings.Contains(p.Detail, "at most 4 heartbeats") || a.Header.Get("Retry-After") != "" {
		t.Errorf("got %s after %q s", p.Detail, a.Header.Get("Retry-After"))
	}
}

func TestTooManyInFlight(t *testing.T) {
	e := newEnv(t, func(d *Deps) { d.Limits.InFlight = 1 })
	e.h.flying.Add(1)
	a := e.get("/api/v1/topics")
	a.problem(t, 503, "overloaded")
	if a.Header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	e.get("/livez").ok(t, 200)
	e.get("/readyz").ok(t, 200)
	e.h.flying.Add(-1)
	e.get("/api/v1/topics").ok(t, 200)
	for range e.h.limits.Heavy {
		back, err := e.h.limiters.turn()
		if err != nil {
			t.Fatal(err)
		}
		defer back()
	}
	e.get("/api/v1/stale-topics").problem(t, 503, "overloaded")
}

// Each attempt to change something leaves one line, with who, what and what came of it,
// and without values.
func TestAudit(t *testing.T) {
	e := newEnv(t, withTokens("ops admin", "looker viewer"))
	e.do("PUT", "/api/v1/kv/n/k", `{"value":"hunter2"}`, "Authorization", "Bearer "+tokenOf("ops"), "X-Request-Id", "r-1").ok(t, 201)
	e.do("DELETE", "/api/v1/kv/n/k?dryRun=true", "", "Authorization", "Bearer "+tokenOf("ops")).ok(t, 204)
	e.do("PUT", "/api/v1/kv/n/k", `{"value":"hunter3"}`, "Authorization", "Bearer "+tokenOf("looker")).problem(t, 403, "forbidden")
	e.do("PATCH", "/api/v1/config", `{"kvConfigPath":"/secret"}`, "Authorization", "Bearer "+tokenOf("ops")).problem(t, 403, "config-key-protected")
	var audits []string
	for line := range strings.Lines(e.log.String()) {
		if strings.Contains(line, `"msg":"audit"`) {
			audits = append(audits, line)
		}
	}
	for i, want := range [][]string{
		{`"action":"putKV"`, `"subject":"n/k"`, `"result":"ok"`, `"status":201`, `"principal":"token:ops"`, `"role":"admin"`, `"addr":"127.0.0.1"`, `"revision":"` + e.reg.Epoch() + `.1"`, `"dry_run":false`, `"req_id":"r-1"`},
		{`"action":"deleteKV"`, `"dry_run":true`, `"status":204`},
		{`"result":"forbidden"`, `"status":403`, `"principal":"token:looker"`},
		{`"action":"patchConfig"`, `"subject":"kvConfigPath"`, `"result":"config-key-protected"`},
	} {
		if i >= len(audits) {
			t.Fatalf("%d lines", len(audits))
		}
		for _, w := range want {
			if !strings.Contains(audits[i], w) {
				t.Errorf("line %d has no %s: %s", i, w, audits[i])
			}
		}
	}
	if log := e.log.String(); strings.Contains(log, "hunter") || strings.Contains(log, "/secret") || strings.Contains(log, tokenOf("ops")) {
		t.Error("the log tells a value")
	}
}

func TestPanicsAreAnsweredAsNothing(t *testing.T) {
	e := newEnv(t, func(d *Deps) {
		d.Connections = func() []api.Connection { panic("secret detail") }
		d.Environment = func() string { panic(http.ErrAbortHandler) }
	})
	p := e.get("/api/v1/connections").problem(t, 500, "internal-error")
	if strings.Contains(fmt.Sprint(p), "secret") || !strings.Contains(e.log.String(), "secret detail") || !strings.Contains(e.log.String(), strings.TrimPrefix(p.Instance, "urn:request:")) {
		t.Errorf("got %+v", p)
	}
	if n := e.h.flying.Load(); n != 0 {
		t.Errorf("%d are still in flight", n)
	}
}

// Every kind of the registry's refusals has a row, and so has every code that it names.
func TestEveryKindOfRefusalHasACode(t *testing.T) {
	for _, k := range registry.Kinds() {
		row, ok := kinds[k]
		if !ok || catalogue[row.code].status == 0 {
			t.Errorf("%s has no code, or its code %q has no status", k, row.code)
		}
	}
}
