package main

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	"fingerpost/api"
	"fingerpost/internal/nstest"
)

// visit sends a request as a browser does for a page: with a Host, an Origin and cookies.
type visit struct {
	method, url, host, origin, site, body string
	cookie                                *http.Cookie
	headers                               map[string]string
}

func (v visit) do(t *testing.T) (*http.Response, string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, v.method, v.url, strings.NewReader(v.body))
	if err != nil {
		t.Fatal(err)
	}
	set := func(name, value string) {
		if value != "" {
			req.Header.Set(name, value)
		}
	}
	set("Origin", v.origin)
	set("Sec-Fetch-Site", v.site)
	if v.body != "" {
		set("Content-Type", "application/json")
	}
	for k, x := range v.headers {
		set(k, x)
	}
	if v.cookie != nil {
		req.AddCookie(v.cookie)
	}
	req.Host = v.host
	c := http.Client{Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	resp, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusSwitchingProtocols {
		return resp, ""
	}
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(b)
}

// handshake are the headers by which a browser opens the feed.
var handshake = map[string]string{
	"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
	"Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==", "Sec-WebSocket-Protocol": api.FeedProtocol,
}

// A page of another origin neither writes nor opens the feed, and no page reaches the
// server under a name of its own.
func TestPagesFromElsewhere(t *testing.T) {
	p := start(t, t.TempDir(), "--http-insecure-no-auth") // so that nothing but the origin protects it
	base := p.url(t)
	digest := func() string {
		_, body := get(t, base+"/api/v1/digest", "")
		return body
	}
	before := digest()
	for _, c := range []struct {
		name string
		visit
		code string
	}{
		{"write", visit{method: "PUT", url: base + "/api/v1/kv/n/k", body: `{"value":"v"}`, origin: "https://attacker.example", site: "cross-site"}, "cross-origin-blocked"},
		{"write, old browser", visit{method: "DELETE", url: base + "/api/v1/topics/T", origin: "https://attacker.example"}, "cross-origin-blocked"},
		{"sandboxed page", visit{method: "PUT", url: base + "/api/v1/kv/n/k", body: `{"value":"v"}`, origin: "null", site: "cross-site"}, "cross-origin-blocked"},
		{"rebinding, read", visit{method: "GET", url: base + "/api/v1/topics", host: "attacker.example:8876", site: "same-origin"}, "host-not-allowed"},
		{"rebinding, write", visit{method: "PUT", url: base + "/api/v1/kv/n/k", body: `{"value":"v"}`, host: "attacker.example", origin: "http://attacker.example", site: "same-origin"}, "host-not-allowed"},
		{"rebinding, feed", visit{method: "GET", url: base + "/ws", host: "attacker.example", origin: "http://attacker.example", headers: handshake}, "host-not-allowed"},
	} {
		resp, body := c.do(t)
		if resp.StatusCode != http.StatusForbidden || !strings.Contains(body, `"`+c.code+`"`) {
			t.Errorf("%s: %s %s, want %s", c.name, resp.Status, body, c.code)
		}
	}
	if resp, _ := (visit{method: "GET", url: base + "/ws", origin: "https://attacker.example", headers: handshake}).do(t); resp.StatusCode != http.StatusForbidden {
		t.Errorf("the feed for another origin: %s", resp.Status)
	}
	if after := digest(); after != before {
		t.Errorf("something was changed: %s, %s", before, after)
	}
	if resp, body := (visit{method: "PUT", url: base + "/api/v1/kv/n/k", body: `{"value":"v"}`, origin: base, site: "same-origin"}).do(t); resp.StatusCode != http.StatusCreated {
		t.Errorf("the server's own page: %s %s", resp.Status, body)
	}
}

// Behind a proxy that ends TLS and puts another Host in, everything works once the
// server knows the URL that browsers use.
func TestBehindAProxy(t *testing.T) {
	var target *url.URL
	front := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target) // and with it the Host
			r.SetXForwarded()
		}, FlushInterval: -1}).ServeHTTP(w, r)
	}))
	defer front.Close()
	p := start(t, t.TempDir(), "--http-external-url="+front.URL, "--http-trusted-proxies=127.0.0.1")
	var err error
	if target, err = url.Parse(p.url(t)); err != nil {
		t.Fatal(err)
	}
	b := nstest.StartBroker(t, p.remoting(t), nstest.BrokerConfig{Cluster: "c", Name: "broker-a"})
	b.Topic("One", 1)
	b.Topic("Two", 1)
	must(t)(b.Register())

	resp, body := visit{method: "GET", url: front.URL + "/api/v1/topics?limit=1"}.do(t)
	if link := resp.Header.Get("Link"); resp.StatusCode != 200 || !strings.HasPrefix(link, "<"+front.URL+"/api/v1/topics?") {
		t.Fatalf("a list: %s, link %q, %s", resp.Status, link, body)
	}
	if resp, body := (visit{method: "GET", url: front.URL + "/ui/"}).do(t); resp.StatusCode != 200 || !strings.Contains(strings.ToLower(body), "<!doctype html>") {
		t.Errorf("the dashboard: %s", resp.Status)
	}
	login := visit{method: "POST", url: front.URL + "/api/v1/session", origin: front.URL, site: "same-origin", body: fmt.Sprintf(`{"token":%q}`, firstToken(t, p))}
	resp, body = login.do(t)
	if resp.StatusCode/100 != 2 || len(resp.Cookies()) != 1 {
		t.Fatalf("the login: %s %s", resp.Status, body)
	}
	cookie := resp.Cookies()[0]
	if !cookie.Secure || !cookie.HttpOnly || cookie.SameSite != http.SameSiteStrictMode {
		t.Errorf("the cookie is %+v", cookie)
	}
	write := visit{method: "PUT", url: front.URL + "/api/v1/kv/n/k", origin: front.URL, site: "same-origin", body: `{"value":"v"}`, cookie: cookie}
	if resp, body := write.do(t); resp.StatusCode != http.StatusCreated || resp.Header.Get("Location") != front.URL+"/api/v1/kv/n/k" {
		t.Errorf("a change: %s %q %s", resp.Status, resp.Header.Get("Location"), body)
	}
	write.site = "" // an old browser, which tells the origin alone
	if resp, body := write.do(t); resp.StatusCode != http.StatusOK {
		t.Errorf("a change by an old browser: %s %s", resp.Status, body)
	}
	write.origin, write.site = "https://attacker.example", "cross-site"
	if resp, body := write.do(t); resp.StatusCode != http.StatusForbidden {
		t.Errorf("a change for another origin: %s %s", resp.Status, body)
	}
	feed := visit{method: "GET", url: front.URL + "/ws", origin: front.URL, headers: handshake, cookie: cookie}
	if resp, body := feed.do(t); resp.StatusCode != http.StatusSwitchingProtocols {
		t.Errorf("the feed: %s %s", resp.Status, body)
	}
	feed.origin = "https://attacker.example"
	if resp, _ := feed.do(t); resp.StatusCode != http.StatusForbidden {
		t.Errorf("the feed for another origin: %s", resp.Status)
	}
	_, body = visit{method: "GET", url: front.URL + "/api/v1/topics/none/route"}.do(t)
	var problem api.Problem
	if err := json.Unmarshal([]byte(body), &problem); err != nil || problem.Type != front.URL+"/problems/topic-not-found" {
		t.Errorf("a problem: %s", body)
	}
	if resp, body := (visit{method: "GET", url: problem.Type}).do(t); resp.StatusCode != 200 || !strings.Contains(body, `"code":"topic-not-found"`) {
		t.Errorf("its page: %s %s", resp.Status, body)
	}
	// A watch comes through as it happens.
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c, err := api.New(front.URL, api.Options{HTTP: front.Client()})
	if err != nil {
		t.Fatal(err)
	}
	for it, err := range c.Watch(ctx, &api.Watch{ChangeFilter: api.ChangeFilter{Kinds: []string{api.KindTopic}}}) {
		if err != nil {
			t.Fatal(err)
		}
		if it.Event == api.ItemHello {
			b.Topic("Three", 1)
			must(t)(b.Register())
			continue
		}
		if it.Event != api.ItemChange || it.Changes[0].Topic != "Three" {
			t.Errorf("the watch: %+v", it)
		}
		break
	}
}
