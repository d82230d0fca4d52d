package handlers

import (
	"errors"
	"strings"
	"testing"

	"fingerpost/api"
	"fingerpost/registry"
)

func TestKV(t *testing.T) {
	e := newEnv(t)
	const path = "/api/v1/kv/ORDER_TOPIC_CONFIG/a%2Fb"
	var s api.KVSet
	a := e.admin("PUT", path, "broker-a:4;broker-b:4", "Content-Type", "text/plain").ok(t, 201)
	a.into(t, &s)
	if !s.Created || s.Key != "a/b" || s.Value != "broker-a:4;broker-b:4" || len(s.Warnings) != 0 {
		t.Errorf("got %s", a)
	}
	e.admin("PUT", path, `{"value":"x"}`, "If-None-Match", "*").problem(t, 412, "precondition-failed")
	e.admin("PUT", path, `{"value":"x"}`, "If-Match", `"`+e.reg.Epoch()+`.99"`).problem(t, 412, "precondition-failed")
	e.admin("PUT", path, `{"value":"x"}`, "If-Match", `"other.1"`).problem(t, 412, "precondition-failed")
	e.admin("PUT", path, `{"value":"x"}`, "If-Match", `nonsense`).problem(t, 400, "validation-failed")
	e.admin("PUT", "/api/v1/kv/n/new", `{"value":"x"}`, "If-Match", `*`).problem(t, 412, "precondition-failed")
	e.admin("PUT", path+"?dryRun=true", `{"value":"x"}`).ok(t, 200)
	b := e.admin("PUT", path, `{"value":"no order"}`, "If-Match", a.Header.Get("Etag")).ok(t, 200)
	b.into(t, &s)
	if s.Created || len(s.Warnings) != 1 || s.Warnings[0].Code != "order-conf-malformed" {
		t.Errorf("got %s", b)
	}
	g := e.get(path).ok(t, 200)
	if g.Header.Get("Etag") != b.Header.Get("Etag") {
		t.Error("the ETag of the answer is not that of the key")
	}
	for _, form := range []string{path + "?raw", path + "?format=text"} {
		if r := e.get(form).ok(t, 200); string(r.body) != "no order" {
			t.Errorf("%s: %q", form, r.body)
		}
	}
	var ns api.KVNamespaces
	e.get("/api/v1/kv").ok(t, 200).into(t, &ns)
	if len(ns.Items) != 1 || ns.Items[0] != (api.KVNamespace{Namespace: "ORDER_TOPIC_CONFIG", Keys: 1, Bytes: 11}) {
		t.Errorf("got %+v", ns)
	}
	var table api.KVTable
	e.get("/api/v1/kv/ORDER_TOPIC_CONFIG").ok(t, 200).into(t, &table)
	if table.Table["a/b"] != "no order" {
		t.Errorf("got %+v", table)
	}
	e.admin("DELETE", path+"?dryRun=true", "").ok(t, 204)
	e.admin("DELETE", path, "", "If-Match", a.Header.Get("Etag")).problem(t, 412, "precondition-failed")
	e.admin("DELETE", path, "").ok(t, 204)
	e.admin("DELETE", path, "").problem(t, 404, "kv-not-found")
	e.get("/api/v1/kv/ORDER_TOPIC_CONFIG").ok(t, 200)
}

// The bound of a value and of the table's size; and a disk that refuses.
func TestKVRefusals(t *testing.T) {
	broken := false
	e := newEnv(t, func(d *Deps) {
		d.Registry = registry.New(registry.Options{KV: registry.KV{"n": {"old": "1"}}, SaveKV: func(registry.KV) error {
			if broken {
				return errors.New("/secret/path: no space left")
			}
			return nil
		}})
		d.Limits.KVEntries = 2
	})
	big := strings.Repeat("x", 64<<10)
	e.admin("PUT", "/api/v1/kv/n/k", big, "Content-Type", "text/plain").ok(t, 201)
	e.admin("PUT", "/api/v1/kv/n/k", big+"x", "Content-Type", "text/plain").problem(t, 413, "body-too-large")
	e.admin("PUT", "/api/v1/kv/n/third", "x", "Content-Type", "text/plain").problem(t, 413, "body-too-large")
	e.admin("PUT", "/api/v1/kv/n/k", "\xff", "Content-Type", "text/plain").problem(t, 400, "validation-failed")
	e.admin("PUT", "/api/v1/kv/n/k", "x", "Content-Type", "application/x-www-form-urlencoded").problem(t, 415, "unsupported-media-type")
	// A key that was there at the start can be changed on condition too.
	tag := e.get("/api/v1/kv/n/old").Header.Get("Etag")
	broken = true
	p := e.admin("PUT", "/api/v1/kv/n/old", `{"value":"2"}`, "If-Match", tag).problem(t, 503, "not-saved")
	if strings.Contains(p.Detail, "secret") || !strings.Contains(e.log.String(), "no space left") {
		t.Errorf("the cause belongs into the log alone: %s", p.Detail)
	}
	broken = false
	e.admin("PUT", "/api/v1/kv/n/old", `{"value":"2"}`, "If-Match", tag).ok(t, 200)
	e.admin("PUT", "/api/v1/kv/n/old", `{"value":"3"}`, "If-Match", tag).problem(t, 412, "precondition-failed")
}

func TestConfig(t *testing.T) {
	e := newEnv(t)
	a := e.get("/api/v1/config").ok(t, 200)
	var c api.Config
	a.into(t, &c)
	if c.Total != 2 || c.Items[1].Key != "scanNotActiveBrokerInterval" {
		t.Errorf("got %s", a)
	}
	if text := e.get("/api/v1/config?format=text"); string(text.body) != "kvConfigPath=/var/lib/kv.json\nscanNotActiveBrokerInterval=5000\n" {
		t.Errorf("as text: %s", text)
	}
	if text := e.get("/api/v1/config?q=Broker&format=text"); string(text.body) != "scanNotActiveBrokerInterval=5000\n" {
		t.Errorf("a filter, as text: %s", text)
	}
	var u api.ConfigUpdate
	e.admin("PATCH", "/api/v1/config?dryRun=true", `{"scanNotActiveBrokerInterval":7000}`).ok(t, 200).into(t, &u)
	if len(u.Applied) != 1 || !u.DryRun {
		t.Errorf("got %+v", u)
	}
	b := e.admin("PATCH", "/api/v1/config", `{"scanNotActiveBrokerInterval":7000}`, "If-Match", a.Header.Get("Etag")).ok(t, 200)
	if b.Header.Get("Etag") != e.get("/api/v1/config").Header.Get("Etag") {
		t.Error("the ETag of the answer is not that of the settings")
	}
	e.admin("PATCH", "/api/v1/config", `{"scanNotActiveBrokerInterval":"1"}`, "If-Match", a.Header.Get("Etag")).problem(t, 412, "precondition-failed")
	p := e.admin("PATCH", "/api/v1/config", `{"kvConfigPath":"/tmp/evil"}`).problem(t, 403, "config-key-protected")
	if *p.Errors[0].Pointer != "/kvConfigPath" || *p.RemotingCode != 16 {
		t.Errorf("got %+v", p)
	}
	e.admin("PATCH", "/api/v1/config", `{"nothing":1}`).problem(t, 400, "validation-failed")
	e.admin("PATCH", "/api/v1/config", `{"scanNotActiveBrokerInterval":[1]}`).problem(t, 400, "validation-failed")
	e.admin("PATCH", "/api/v1/config", `[1]`).problem(t, 400, "validation-failed")
	e.admin("PATCH", "/api/v1/config", `{"a":1,"a":2}`).problem(t, 400, "malformed-json")
	if e.set.values["kvConfigPath"] != "/var/lib/kv.json" || e.set.values["scanNotActiveBrokerInterval"] != "7000" {
		t.Errorf("the settings are %v", e.set.values)
	}
}
