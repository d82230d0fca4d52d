package handlers

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"fingerpost/api"
	"fingerpost/internal/nsclient"
	"fingerpost/internal/peers"
	"fingerpost/registry"
	"fingerpost/remoting"
)

// peer is another NameServer, at the address peer:9876 as far as the server under test
// knows. Its zero value is one that runs.
type peer struct {
	reg  *registry.Registry
	addr string

	mu    sync.Mutex
	down  bool
	conns []net.Conn
}

// Text and Update make a peer its own settings.
func (p *peer) Text() []byte { return []byte("orderMessageEnable=false\n") }

// Update is not asked for.
func (p *peer) Update([]byte, registry.Cause) ([]string, error) { return nil, errors.New("no") }

func (p *peer) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.down || addr != "peer:9876" {
		return nil, errors.New("connection refused")
	}
	c, err := new(net.Dialer).DialContext(ctx, network, p.addr)
	p.conns = append(p.conns, c)
	return c, err
}

// withPeer runs a peer and gives it to the server, besides others that do not answer. What
// is found twice counts, however short the time between.
func withPeer(t testing.TB, p *peer, more ...string) option {
	return func(d *Deps) {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		p.reg, p.addr = registry.New(registry.Options{}), ln.Addr().String()
		srv := &remoting.Server{Registry: p.reg, Settings: p, Log: slog.New(slog.DiscardHandler)}
		d.Peers = peers.New(peers.Options{
			Registry: d.Registry, Addrs: append([]string{"peer:9876"}, more...), Interval: time.Hour, Recheck: time.Nanosecond,
			Settings: func() map[string]string { return map[string]string{"orderMessageEnable": "false"} },
			Client:   nsclient.Options{Dial: p.dial, Timeout: 30 * time.Second},
		})
		ctx, cancel := context.WithCancel(context.Background())
		var wg sync.WaitGroup
		wg.Go(func() {
			if err := srv.Serve(ln); err != nil {
				t.Error(err)
			}
		})
		wg.Go(func() { d.Peers.Run(ctx) })
		t.Cleanup(func() {
			cancel()
			if err := srv.Shutdown(context.Background()); err != nil {
				t.Error(err)
			}
			wg.Wait()
		})
	}
}

// check looks at the peer twice, so that what it finds counts.
func (e *env) check() api.Peer {
	e.t.Helper()
	var p api.Peer
	for range 2 {
		e.admin("POST", "/api/v1/peers/peer:9876/check", "").ok(e.t, 200).into(e.t, &p)
	}
	return p
}

func TestPeers(t *testing.T) {
	reg := prometheus.NewRegistry()
	p := new(peer)
	e := newEnv(t, withPeer(t, p), func(d *Deps) { d.Registerer = reg })
	metric := func(name string, labels ...string) float64 {
		t.Helper()
		return gauge(t, reg, name, labels...)
	}
	if got := e.check(); got.State != "reachable" || got.Software != "fingerpost" || got.Differences != 0 || got.CheckedAt == nil || got.TopicCount == nil {
		t.Errorf("equal: %+v", got)
	}
	if up, n := metric("peer_up"), metric("peer_differences", "broker"); up != 1 || n != 0 {
		t.Errorf("metrics of equal nodes: %v, %v", up, n)
	}
	e.broker("broker-a", 0, "10.0.0.1:10911", "T")
	if got := e.check(); got.Differences != 1 || got.ByKind["broker"] != 1 {
		t.Errorf("a broker more: %+v", got)
	}
	if n := metric("peer_differences", "broker"); n != 1 {
		t.Errorf("the metric says %v", n)
	}
	var diff api.PeerDiff
	e.get("/api/v1/peers/peer:9876/diff").ok(t, 200).into(t, &diff)
	if diff.Total != 1 || diff.Next != "" || diff.Items[0].Since == nil {
		t.Fatalf("%+v", diff)
	}
	diff.Items[0].Since = nil
	if d := cmp.Diff(api.PeerDifference{
		Kind: "broker", BrokerName: "broker-a", Difference: "only-here", TopicCount: 2,
		Here: map[string]any{"clusterName": "DefaultCluster", "zoneName": "", "enableActingMaster": false, "brokerAddrs": []any{"10.0.0.1:10911"}},
	}, diff.Items[0]); d != "" {
		t.Error(d)
	}
	if s := string(e.get("/api/v1/peers/peer:9876/diff?format=text").ok(t, 200).body); !strings.Contains(s, "only-here") || !strings.Contains(s, "# peer peer:9876 reachable  total 1") {
		t.Errorf("as text:\n%s", s)
	}
	if s := string(e.get("/api/v1/peers?format=text").ok(t, 200).body); !strings.Contains(s, "peer:9876  reachable  fingerpost") {
		t.Errorf("as text:\n%s", s)
	}
	for query, total := range map[string]int{"kind=topic": 0, "kind=broker&kind=kv": 1, "broker=broker-*": 1, "broker=x": 0, "topic=T": 0, "after=1": 1} {
		var diff api.PeerDiff
		if e.get("/api/v1/peers/peer:9876/diff?"+query).ok(t, 200).into(t, &diff); diff.Total != total || query == "after=1" && len(diff.Items) != 0 {
			t.Errorf("%s: %+v", query, diff)
		}
	}
	set, events := api.EventList{}, e.get("/api/v1/events?kind=peer").ok(t, 200)
	if events.into(t, &set); set.Total != 1 || set.Items[0].Changes[0].Op != "diverged" || set.Items[0].Changes[0].Peer != "peer:9876" {
		t.Errorf("events: %s", events)
	}
	p.change(true)
	if got := e.check(); got.State != "unreachable" || !strings.Contains(got.LastError, "refused") || got.Differences != 1 {
		t.Errorf("down: %+v", got)
	}
	if up := metric("peer_up"); up != 0 {
		t.Errorf("peer_up is %v", up)
	}
}

// change takes the peer away, or brings it back.
func (p *peer) change(down bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.down = down
	for _, c := range p.conns {
		_ = c.Close()
	}
	p.conns = nil
}

// gauge reads a number of the peer, of the kind that follows.
func gauge(t *testing.T, reg *prometheus.Registry, name string, kind ...string) float64 {
	t.Helper()
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() != MetricsPrefix+name {
			continue
		}
		for _, m := range f.GetMetric() {
			labels := make(map[string]string)
			for _, l := range m.GetLabel() {
				labels[l.GetName()] = l.GetValue()
			}
			if labels["peer"] == "peer:9876" && (len(kind) == 0 || labels["kind"] == kind[0]) {
				return m.GetGauge().GetValue()
			}
		}
	}
	t.Fatalf("there is no metric %s %v", name, kind)
	return 0
}

func TestPeersBadInput(t *testing.T) {
	e := newEnv(t, withPeer(t, new(peer)))
	for _, x := range []struct {
		method, path string
		status       int
		code, where  string
	}{
		{"GET", "/api/v1/peers/other:9876/diff", 404, "peer-not-found", ""},
		{"POST", "/api/v1/peers/other:9876/check", 404, "peer-not-found", ""},
		{"POST", "/api/v1/peers/other%2Fx/check", 400, "malformed-path", "peer"},
		{"GET", "/api/v1/peers/peer:9876/diff?kind=route&kind=roads", 400, "validation-failed", "kind"},
		{"GET", "/api/v1/peers/peer:9876/diff?after=x", 400, "validation-failed", "after"},
		{"GET", "/api/v1/peers/peer:9876/diff?limit=0", 400, "validation-failed", "limit"},
		{"GET", "/api/v1/peers?kind=x", 400, "unknown-parameter", "kind"},
		{"DELETE", "/api/v1/brokers/b/write-perm?fanout=all", 400, "validation-failed", "fanout"},
		{"DELETE", "/api/v1/brokers/b/write-perm?fanout=10.0.0.1:9876", 400, "validation-failed", "fanout"},
	} {
		p := e.admin(x.method, x.path, "").problem(t, x.status, x.code)
		if x.where != "" && (len(p.Errors) != 1 || p.Errors[0].Parameter != x.where) {
			t.Errorf("%s: %+v", x.path, p.Errors)
		}
	}
	if p := e.admin("GET", "/api/v1/peers/peer:987/diff", "").problem(t, 404, "peer-not-found"); len(p.Suggestions) != 1 || p.Suggestions[0] != "peer:9876" {
		t.Errorf("suggested %v", p.Suggestions)
	}
	e.get("/api/v1/peers/peer:9876/diff").ok(t, 200)
	e.do("POST", "/api/v1/peers/peer:9876/check", "").problem(t, 401, "unauthenticated")
}

// Where topics may not be listed, no difference tells their names.
func TestPeersHideTopics(t *testing.T) {
	e := newEnv(t, withPeer(t, new(peer)))
	rules := e.reg.Snapshot().Rules()
	rules.EnableTopicList = false
	e.reg.SetRules(rules, nil, registry.Cause{})
	e.get("/api/v1/peers/peer:9876/diff").problem(t, 403, "listing-disabled")
	e.get("/api/v1/peers").ok(t, 200)
	e.admin("GET", "/api/v1/peers/peer:9876/diff", "").ok(t, 200)
}

func TestNoPeers(t *testing.T) {
	e := newEnv(t)
	var list api.PeerList
	if e.get("/api/v1/peers").ok(t, 200).into(t, &list); list.Total != 0 || list.Items == nil {
		t.Errorf("%+v", list)
	}
	e.broker("broker-a", 0, "10.0.0.1:10911", "T")
	p := e.admin("DELETE", "/api/v1/brokers/broker-a/write-perm?fanout=peers", "").problem(t, 400, "validation-failed")
	if len(p.Errors) != 1 || p.Errors[0].Code != "no-peers" || e.reg.Snapshot().Wiped("broker-a") != nil {
		t.Errorf("%+v", p)
	}
}

// Changes are made here and on each peer; what becomes of them there is told for each.
func TestFanOut(t *testing.T) {
	p := new(peer)
	e := newEnv(t, withPeer(t, p, "away:9876"))
	setUp := func() {
		e.broker("broker-a", 0, "10.0.0.1:10911", "T", "U")
		there := &env{t: t, reg: p.reg}
		there.broker("broker-a", 0, "10.0.0.1:10911", "T", "U")
	}
	setUp()
	results := func(method, path, body string, status int) []api.PeerResult {
		t.Helper()
		var out api.PeerResults
		e.admin(method, path, body).ok(t, status).into(t, &out)
		if len(out.Results) != 2 || out.Results[0].Peer != "away:9876" || out.Results[0].Status != 503 || out.Results[0].Problem == nil ||
			out.Results[0].Problem.Code != "peer-unreachable" || out.Results[1].Peer != "peer:9876" || len(out.Failed()) == 0 {
			t.Fatalf("%s %s: %+v", method, path, out)
		}
		return out.Results[1:]
	}
	both := func(what string, holds func(*registry.Snapshot) bool, here, there bool) {
		t.Helper()
		if h, th := holds(e.reg.Snapshot()), holds(p.reg.Snapshot()); h != here || th != there {
			t.Errorf("%s: here %v, there %v", what, h, th)
		}
	}
	wiped := func(s *registry.Snapshot) bool { return s.Wiped("broker-a") != nil }
	topic := func(s *registry.Snapshot) bool { return s.Topic("T") != nil }
	key := func(s *registry.Snapshot) bool { e, ok := s.KV("n", "k"); return ok && e.Value == "v" }

	const perm, kv = "/api/v1/brokers/broker-a/write-perm?fanout=peers", "/api/v1/kv/n/k?fanout=peers"
	if r := results("DELETE", perm+"&dryRun", "", 200); r[0].Status != 200 || r[0].TopicCount != nil {
		t.Errorf("%+v", r)
	}
	both("dry wipe", wiped, false, false)
	if r := results("DELETE", perm, "", 200); r[0].Status != 200 || *r[0].TopicCount != 3 {
		t.Errorf("%+v", r)
	}
	both("wipe", wiped, true, true)
	results("PUT", perm, "", 200)
	both("restore", wiped, false, false)
	results("DELETE", "/api/v1/topics/T?fanout=peers&dryRun", "", 200)
	both("dry removal", topic, true, true)
	results("DELETE", "/api/v1/topics/T?fanout=peers", "", 200)
	both("removal", topic, false, false)
	results("PUT", kv+"&dryRun", `{"value":"v"}`, 200)
	both("dry key", key, false, false)
	results("PUT", kv, `{"value":"v"}`, 201)
	both("key", key, true, true)
	results("DELETE", kv+"&dryRun", "", 200)
	both("dry removal of the key", key, true, true)
	results("DELETE", kv, "", 200)
	both("removal of the key", key, false, false)

	// What only this server has is told of the peer in a dry run.
	e.admin("PUT", "/api/v1/kv/n/k", `{"value":"v"}`).ok(t, 201)
	if r := results("DELETE", kv+"&dryRun", "", 200); r[0].Status != 404 || r[0].Problem.Code != "kv-not-found" {
		t.Errorf("%+v", r)
	}
	e.broker("broker-b", 0, "10.0.0.2:10911", "V")
	for path, code := range map[string]string{"/api/v1/brokers/broker-b/write-perm": "broker-not-found", "/api/v1/topics/V": "topic-not-found"} {
		if r := results("DELETE", path+"?fanout=peers&dryRun", "", 200); r[0].Status != 404 || r[0].Problem.Code != code {
			t.Errorf("%+v", r)
		}
	}
	// What is refused here is asked of nobody.
	e.admin("DELETE", "/api/v1/topics/nope?fanout=peers", "").problem(t, 404, "topic-not-found")
	// Without fanout the answers are as ever.
	e.admin("DELETE", "/api/v1/kv/n/k", "").ok(t, 204)
	if s := string(e.admin("DELETE", perm+"&format=text", "").ok(t, 200).body); !strings.Contains(s, "# peer away:9876 503 peer-unreachable") || !strings.Contains(s, "# peer peer:9876 200") {
		t.Errorf("as text:\n%s", s)
	}
}

// The typed client asks for the peers too if it is told to.
func TestClientOnPeersToo(t *testing.T) {
	p := new(peer)
	e := newEnv(t, withPeer(t, p, "away:9876"))
	c, ctx := e.client().OnPeersToo(), t.Context()
	set := worked(c.PutKV(ctx, "n", "k", "v", api.KVWrite{}))(t)
	if failed := set.Failed(); len(set.Results) != 2 || len(failed) != 1 || failed[0].Peer != "away:9876" {
		t.Errorf("%+v", set)
	}
	err := c.DeleteKV(ctx, "n", "k", api.Write{})
	if f, ok := errors.AsType[*api.PeersFailed](err); !ok || len(f.Failed) != 1 || !strings.Contains(err.Error(), "away:9876") {
		t.Errorf("%v", err)
	}
	if _, ok := p.reg.Snapshot().KV("n", "k"); ok {
		t.Error("the peer still has the key")
	}
}

// A peer that has never answered has no time of a comparison, in a table as in JSON.
func TestPeerThatNeverAnswered(t *testing.T) {
	e := newEnv(t, withPeer(t, &peer{down: true}))
	for _, r := range []*answer{
		e.admin("POST", "/api/v1/peers/peer:9876/check?format=text", ""), // before the others, which do not wait
		e.get("/api/v1/peers?format=text"),
		e.get("/api/v1/peers/peer:9876/diff?format=text"),
	} {
		if s := string(r.ok(t, 200).body); !strings.Contains(s, "peer:9876") || !strings.Contains(s, "unreachable") {
			t.Errorf("said of a peer that never answered:\n%s", s)
		}
	}
}
