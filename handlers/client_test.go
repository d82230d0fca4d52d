package handlers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"fingerpost/api"
)

// client returns a typed client that asks as the admin.
func (e *env) client() *api.Client {
	e.t.Helper()
	c, err := api.New(e.srv.URL, api.Options{Token: e.token, Language: "en"})
	if err != nil {
		e.t.Fatal(err)
	}
	e.t.Cleanup(c.CloseIdleConnections)
	return c
}

// worked returns a value that came without an error.
func worked[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// refusal is the problem that an error is, which must have that code.
func refusal(t testing.TB, err error, status int, code string) *api.Problem {
	t.Helper()
	p, ok := errors.AsType[*api.Problem](err)
	if !ok || p.Status != status || p.Code != code {
		t.Fatalf("got %v, want %d %s", err, status, code)
	}
	return p
}

func spec(queues int32) api.TopicConfig {
	return api.TopicConfig{ReadQueueNums: &queues, WriteQueueNums: &queues}
}

// Every operation of the API has a method of the client, which reads its answer.
func TestClientReachesEveryOperation(t *testing.T) {
	e := newEnv(t, withPeer(t, new(peer)), func(d *Deps) { d.Drain = &fakeDrainer{state: api.Drain{State: api.DrainServing}} })
	c, ctx := e.client(), t.Context()
	e.broker("broker-a", 0, "10.0.0.1:10911", "T")
	reg := api.Registration{ClusterName: "DefaultCluster", BrokerAddr: "10.0.0.9:10911", TopicConfigTable: map[string]api.TopicConfig{"B": spec(4)}}
	zero, four := int64(0), int32(4)
	if r := worked(c.Register(ctx, "bridge-1", 0, reg, api.RegisterOptions{}))(t); r.Topics.Created != 1 || r.NextHeartbeatMillis != 20_000 || r.Owner != "token:admin" {
		t.Errorf("registered: %+v", r)
	}
	zone := "z"
	if r := worked(c.Patch(ctx, "bridge-1", 0, api.MemberPatch{ZoneName: &zone}, api.Write{}))(t); r.ZoneName == nil || *r.ZoneName != "z" {
		t.Errorf("patched: %+v", r)
	}
	if p := worked(c.Heartbeat(ctx, "bridge-1", 0, nil))(t); p.NextHeartbeatMillis != 20_000 {
		t.Errorf("pulse: %+v", p)
	}
	beats := worked(c.Heartbeats(ctx, api.HeartbeatBatch{Members: []api.MemberBeat{{BrokerName: "bridge-1", BrokerID: &zero}, {BrokerName: "gone", BrokerID: &zero}}}))(t)
	if beats.Items[0].Status != 200 || beats.Items[1].Problem.Code != "member-not-found" {
		t.Errorf("beats: %+v", beats)
	}
	if m := worked(c.Member(ctx, "bridge-1", 0, api.Read{}))(t); m.Source != "rest" || m.Language != "fingerpost-go" {
		t.Errorf("member: %+v", m)
	}
	if l := worked(c.Brokers(ctx, api.BrokersOptions{Sources: []string{"rest"}}))(t); l.Total != 1 {
		t.Errorf("brokers: %+v", l)
	}
	worked(c.Broker(ctx, "broker-a", api.Read{}))(t)
	if l := worked(c.BrokerTopics(ctx, "bridge-1", api.List{}))(t); l.Items[0].Topic != "B" {
		t.Errorf("broker's topics: %+v", l)
	}
	if l := worked(c.Clusters(ctx, api.List{}))(t); l.Items[0].ClusterName != "DefaultCluster" {
		t.Errorf("clusters: %+v", l)
	}
	worked(c.Cluster(ctx, "DefaultCluster", api.Read{}))(t)
	if i := worked(c.ClusterInfo(ctx, api.Read{}))(t); len(i.BrokerAddrTable) != 2 {
		t.Errorf("cluster info: %+v", i)
	}
	if r := worked(c.Route(ctx, "B", api.RouteOptions{Zone: "z", ActingMaster: "off"}))(t); r.BrokerDatas[0].BrokerAddrs["0"] != "10.0.0.9:10911" {
		t.Errorf("route: %+v", r)
	}
	if l := worked(c.Routes(ctx, api.RoutesOptions{Topics: []string{"B", "no"}}))(t); l.Total != 1 || l.NotFound[0] != "no" {
		t.Errorf("routes: %+v", l)
	}
	worked(c.QueryRoutes(ctx, api.RouteQuery{Topics: []string{"B"}}))(t)
	worked(c.ExplainRoute(ctx, "B", ""))(t)
	no := false
	if l := worked(c.Topics(ctx, api.TopicsOptions{List: api.List{Limit: 1, Sort: "-topic"}, TopicFilter: api.TopicFilter{Types: []string{"normal"}}, Stale: &no}))(t); l.Items[0].Topic != "T" || l.Next == "" {
		t.Errorf("topics: %+v", l)
	}
	worked(c.Topic(ctx, "T", api.Read{}))(t)
	queues := api.QueueSpec{ReadQueueNums: &four, WriteQueueNums: &four, Perm: new(int32(6))}
	if s := worked(c.PutTopicPart(ctx, "%RETRY%g", "broker-a", queues, api.Apply))(t); s.Topic != "%RETRY%g" {
		t.Errorf("part: %+v", s)
	}
	if d := worked(c.DeleteTopicPart(ctx, "%RETRY%g", "broker-a", api.DryRun))(t); !d.DryRun {
		t.Errorf("dry: %+v", d)
	}
	worked(c.DeleteTopic(ctx, "%RETRY%g", "DefaultCluster", api.Apply))(t)
	if l := worked(c.Conflicts(ctx, api.ConflictOptions{Kinds: []string{"place-contested"}, Active: true}))(t); l.Total != 0 {
		t.Errorf("conflicts: %+v", l)
	}
	worked(c.StaleTopics(ctx, api.StaleOptions{StaleFilter: api.StaleFilter{OlderThan: time.Hour}}))(t)
	if d := worked(c.DeleteStaleTopics(ctx, api.StaleFilter{}, api.Write{}))(t); d.DryRun {
		t.Errorf("stale: %+v", d)
	}
	if w := worked(c.WipeWritePerm(ctx, "broker-a", api.Apply))(t); w.Lasts != api.UntilNextChangedRegistration {
		t.Errorf("wiped: %+v", w)
	}
	if w := worked(c.WritePerm(ctx, "broker-a"))(t); w.WritePerm != "wiped" {
		t.Errorf("write perm: %+v", w)
	}
	worked(c.RestoreWritePerm(ctx, "broker-a", api.RestorePrevious, api.Apply))(t)
	worked(c.PutKV(ctx, "n", "a/b", "v", api.KVWrite{Create: true}))(t)
	if kv := worked(c.KV(ctx, "n", "a/b", api.Read{}))(t); kv.Value != "v" {
		t.Errorf("kv: %+v", kv)
	}
	worked(c.KVNamespaces(ctx, api.Read{}))(t)
	worked(c.KVTable(ctx, "n", api.Read{}))(t)
	worked(0, c.DeleteKV(ctx, "n", "a/b", api.Write{}))(t)
	worked(c.Config(ctx, api.List{Prefix: "scan"}))(t)
	if u := worked(c.PatchConfig(ctx, map[string]any{"scanNotActiveBrokerInterval": 7000}, api.Write{Effect: api.DryRun}))(t); u.Applied[0] != "scanNotActiveBrokerInterval" {
		t.Errorf("config: %+v", u)
	}
	if l := worked(c.Peers(ctx))(t); l.Total != 1 || l.Items[0].Peer != "peer:9876" {
		t.Errorf("peers: %+v", l)
	}
	if p := worked(c.CheckPeer(ctx, "peer:9876"))(t); p.State != "reachable" {
		t.Errorf("check: %+v", p)
	}
	worked(c.PeerDiff(ctx, "peer:9876", api.PeerDiffOptions{Kinds: []string{"broker"}, Limit: 1}))(t)
	worked(c.Digest(ctx, api.Read{}))(t)
	if d := worked(c.TopicDigests(ctx, api.Read{}))(t); len(d) < 2 {
		t.Errorf("digests: %+v", d)
	}
	events := worked(c.Events(ctx, api.EventsOptions{List: api.List{Limit: 2}, Faces: []string{"rest"}}))(t)
	worked(c.Event(ctx, events.Items[1].Revision, api.EventOptions{Limit: 1}))(t)
	for it, err := range c.Watch(ctx, new(api.Watch)) {
		if err != nil || it.Event != api.ItemHello {
			t.Errorf("watch: %+v, %v", it, err)
		}
		break
	}
	worked(c.Connections(ctx, api.ConnectionsOptions{Kinds: []string{"broker"}}))(t)
	worked(c.Stats(ctx))(t)
	worked(c.DrainState(ctx))(t)
	if d := worked(c.Drain(ctx))(t); d.State != api.DrainDraining || d.By != "token:admin" {
		t.Errorf("drain: %+v", d)
	}
	worked(c.CancelDrain(ctx))(t)
	if x := worked(c.Export(ctx))(t); len(x.Brokers) != 2 {
		t.Errorf("export: %+v", x)
	}
	worked(c.Version(ctx))(t)
	if w := worked(c.WhoAmI(ctx))(t); w.Role != "admin" {
		t.Errorf("whoami: %+v", w)
	}
	for _, probe := range []string{api.Livez, api.Readyz, api.Healthz} {
		worked(c.Health(ctx, probe))(t)
	}
	worked(c.ProblemPage(ctx, "topic-not-found"))(t)
	worked(0, c.Unregister(ctx, "bridge-1", 0, api.UnregisterOptions{}))(t)

	elsewhere := []string{"/", "/api/v1/session"} // for people and their browsers
	asked := map[string]bool{}
	for line := range strings.Lines(e.log.String()) {
		var l struct{ Msg, Method, Op string }
		if json.Unmarshal([]byte(line), &l) == nil && l.Msg == "request" {
			asked[l.Method+" "+l.Op] = true
		}
	}
	for _, o := range Operations() {
		// The watch that was broken off is logged when the server notices.
		if o.Pattern != "/api/v1/watch" && !slices.Contains(elsewhere, o.Pattern) && !asked[o.Method+" "+o.Pattern] {
			t.Errorf("the client does not reach %s %s", o.Method, o.Pattern)
		}
	}
}

// What was read can be waited for, and changed only if it is still so.
func TestClientStates(t *testing.T) {
	e := newEnv(t)
	c, ctx := e.client(), t.Context()
	e.broker("broker-a", 0, "10.0.0.1:10911", "T")
	var seen api.State
	how := api.RouteOptions{Read: api.Read{State: &seen}}
	worked(c.Route(ctx, "T", how))(t)
	if seen.ETag == "" || !strings.HasPrefix(seen.Revision, e.reg.Epoch()+".") {
		t.Fatalf("the state is %+v", seen)
	}
	if r, err := c.Route(ctx, "T", how); !errors.Is(err, api.ErrUnchanged) || len(r.BrokerDatas) != 0 {
		t.Errorf("unchanged: %v, %v", r, err)
	}
	how.Wait = time.Minute
	done := make(chan *api.TopicRoute, 1)
	go func() {
		r, err := c.Route(ctx, "T", how)
		if err != nil {
			t.Error(err)
		}
		done <- r
	}()
	e.waiting(1)
	e.declare("T", "broker-a", 9)
	if r := <-done; r.QueueDatas[0].ReadQueueNums != 9 {
		t.Errorf("after the wait: %+v", r)
	}

	var mine, theirs api.State
	worked(c.PutKV(ctx, "n", "k", "1", api.KVWrite{Write: api.Write{State: &mine}, Create: true}))(t)
	worked(c.KV(ctx, "n", "k", api.Read{State: &theirs}))(t)
	_, err := c.PutKV(ctx, "n", "k", "0", api.KVWrite{Create: true})
	refusal(t, err, 412, "precondition-failed")
	worked(c.PutKV(ctx, "n", "k", "dry", api.KVWrite{Write: api.Write{State: &mine, Effect: api.DryRun}}))(t)
	worked(c.PutKV(ctx, "n", "k", "2", api.KVWrite{Write: api.Write{State: &mine}}))(t)
	worked(c.PutKV(ctx, "n", "k", "3", api.KVWrite{Write: api.Write{State: &mine}}))(t)
	_, err = c.PutKV(ctx, "n", "k", "4", api.KVWrite{Write: api.Write{State: &theirs}})
	refusal(t, err, 412, "precondition-failed")
	refusal(t, c.DeleteKV(ctx, "n", "k", api.Write{State: &theirs}), 412, "precondition-failed")
	worked(0, c.DeleteKV(ctx, "n", "k", api.Write{State: &mine}))(t)
	if mine.ETag != "" {
		t.Errorf("the removed key has the state %+v", mine)
	}
}

// An empty table of topics is a statement, a missing one is none.
func TestClientStatesThatThereAreNoTopics(t *testing.T) {
	e := newEnv(t)
	c, ctx := e.client(), t.Context()
	reg := api.Registration{ClusterName: "c", BrokerAddr: "10.0.0.9:1", TopicConfigTable: map[string]api.TopicConfig{"B": spec(4)}}
	worked(c.Register(ctx, "b", 0, reg, api.RegisterOptions{}))(t)
	reg.TopicConfigTable = nil
	if r := worked(c.Register(ctx, "b", 0, reg, api.RegisterOptions{}))(t); r.TopicCount != 1 {
		t.Errorf("without a table: %+v", r)
	}
	reg.TopicConfigTable = map[string]api.TopicConfig{}
	if r := worked(c.Register(ctx, "b", 0, reg, api.RegisterOptions{}))(t); r.Topics.Removed != 1 || r.TopicCount != 0 {
		t.Errorf("with an empty one: %+v", r)
	}
}

func TestClientProblems(t *testing.T) {
	e := newEnv(t, func(d *Deps) { d.Limits.InFlight = 1 << 20 })
	c, ctx := e.client(), t.Context()
	e.broker("broker-a", 0, "10.0.0.1:10911", "OrderCreated")
	_, err := c.Route(ctx, "OrderCreatd", api.RouteOptions{})
	if p := refusal(t, err, 404, "topic-not-found"); p.Suggestions[0] != "OrderCreated" || !strings.HasPrefix(p.Error(), "topic-not-found: ") {
		t.Errorf("got %+v", p)
	}
	_, err = c.Register(ctx, "b", 0, api.Registration{ClusterName: "c", BrokerAddr: "x"}, api.RegisterOptions{})
	if p := refusal(t, err, 400, "validation-failed"); len(p.Errors) != 1 || *p.Errors[0].Pointer != "/brokerAddr" {
		t.Errorf("got %+v", p)
	}
	for range e.h.limits.WritesBurst + 100 {
		if _, err = c.WipeWritePerm(ctx, "broker-a", api.DryRun); err != nil {
			break
		}
	}
	if p := refusal(t, err, 429, "rate-limited"); p.RetryAfter < time.Second {
		t.Errorf("come again after %s", p.RetryAfter)
	}
	for _, part := range []string{"", ".", ".."} {
		if _, err := c.Topic(ctx, part, api.Read{}); err == nil {
			t.Errorf("%q is taken as a part of a path", part)
		}
	}
	e.h.Drain()
	if h := worked(c.Health(ctx, api.Readyz))(t); h.Status != "failing" {
		t.Errorf("health: %+v", h)
	}

	small := worked(api.New(e.srv.URL, api.Options{MaxBody: 100}))(t)
	defer small.CloseIdleConnections()
	if _, err := small.Topics(ctx, api.TopicsOptions{}); err == nil || !strings.Contains(err.Error(), "longer than Options.MaxBody") {
		t.Errorf("a long answer: %v", err)
	}
	for _, err := range small.Watch(ctx, &api.Watch{Snapshot: true}) {
		if err != nil && !strings.Contains(err.Error(), "longer than Options.MaxBody") {
			t.Errorf("a long item: %v", err)
		}
	}
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/elsewhere", http.StatusFound)
	}))
	defer other.Close()
	astray := worked(api.New(other.URL, api.Options{Name: "a", Password: "b"}))(t)
	defer astray.CloseIdleConnections()
	_, err = astray.Version(ctx)
	refusal(t, err, http.StatusFound, api.CodeForeignAnswer)
}

func TestClientRefusesWrongOptions(t *testing.T) {
	for _, u := range []string{"", "127.0.0.1:8876", "ftp://x", "http://", "http://a:b@x", "http://x?y", "http://x#y", "http://x:y:z"} {
		if _, err := api.New(u, api.Options{}); err == nil {
			t.Errorf("%q is taken", u)
		}
	}
	if _, err := api.New("http://x", api.Options{Token: "t", Name: "n"}); err == nil {
		t.Error("two credentials are taken")
	}
}

// A watch that was cut off goes on where it was; what cannot be gone on from is a reset.
func TestClientWatch(t *testing.T) {
	e := newEnv(t)
	c := e.client()
	e.broker("broker-a", 0, "10.0.0.1:10911", "T")
	w := &api.Watch{ChangeFilter: api.ChangeFilter{Kinds: []string{api.KindTopic}, Topics: []string{"T*"}}, Snapshot: true}
	// read returns what comes until an item that ends the reading.
	read := func(ctx context.Context, last string) (all []string) {
		t.Helper()
		for it, err := range c.Watch(ctx, w) {
			if err != nil {
				t.Fatal(err)
			}
			if all = append(all, words(it)); all[len(all)-1] == last {
				break
			}
		}
		return all
	}
	got := read(t.Context(), "bookmark")
	if want := []string{"hello", "snapshot topic:created:TBW102broker-a topic:created:Tbroker-a", "bookmark"}; len(got) != 3 || got[0] != want[0] || !strings.Contains(got[1], "topic:created:Tbroker-a") {
		t.Errorf("got %q", got)
	}
	if w.Since != fmt.Sprintf("%s.%d", e.reg.Epoch(), e.reg.Snapshot().Revision) {
		t.Errorf("the watch is at %s", w.Since)
	}
	e.declare("T1", "broker-a", 1)
	e.declare("T2", "broker-a", 1)
	if got := read(t.Context(), "change topic:created:T1broker-a"); len(got) != 2 {
		t.Errorf("got %q", got)
	}
	if got := read(t.Context(), "change topic:created:T2broker-a"); len(got) != 2 {
		t.Errorf("got %q", got)
	}
	w.Since = "earlier0.5"
	if got := read(t.Context(), "reset restarted"); len(got) != 2 || !strings.HasPrefix(w.Since, e.reg.Epoch()) {
		t.Errorf("got %q at %s", got, w.Since)
	}
	_, err := oneItem(t.Context(), c, &api.Watch{Since: "x"})
	refusal(t, err, 400, "validation-failed")

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var last error
	for _, err := range c.Watch(ctx, w) {
		cancel()
		last = err
	}
	if !errors.Is(last, context.Canceled) {
		t.Errorf("cancelled: %v", last)
	}
	for it, err := range c.Watch(t.Context(), w) {
		if it.Event == api.ItemHello {
			e.h.Close()
		}
		last = err
	}
	if !errors.Is(last, io.EOF) {
		t.Errorf("the end of the server: %v", last)
	}
}

func oneItem(ctx context.Context, c *api.Client, w *api.Watch) (api.WatchItem, error) {
	for it, err := range c.Watch(ctx, w) {
		return it, err
	}
	return api.WatchItem{}, nil
}
