package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"fingerpost/api"
	"fingerpost/internal/auth"
	"fingerpost/internal/nstest"
	"fingerpost/remoting/wire"
)

// What these tests show is promised in docs/rest.md: the whole program, seen from outside.

// admin starts a server and returns a client of it that may do everything.
func admin(t *testing.T, args ...string) (*program, *api.Client) {
	t.Helper()
	p := start(t, t.TempDir(), args...)
	return p, asking(t, p.url(t), firstToken(t, p))
}

// firstToken is the token that the first start made.
func firstToken(t *testing.T, p *program) string {
	t.Helper()
	token, err := auth.ReadAdminToken(filepath.Join(p.dir, ".local/state/fingerpost/admin-token"))
	if err != nil {
		t.Fatal(err)
	}
	return token
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

func text(s string) wire.Text { return wire.TextOf(s) }

// route asks as a client of 5.x does.
func route(t *testing.T, c *nstest.Client, topic string) []byte {
	t.Helper()
	return must(t)(c.Call(wire.GetRouteInfoByTopic, wire.Fields{{Name: "topic", Value: topic}}, nil)).Body
}

// A route over REST is, but for its final newline, what a client of 5.x gets at the same
// revision.
func TestRouteIsByteForByteThatOfRemoting(t *testing.T) {
	p, c := admin(t, "--order-message-enable=true", "--support-acting-master=true")
	conn := client(t, p)
	for i, name := range []string{"broker-b", "broker-a", "broker-c"} {
		b := nstest.StartBroker(t, p.remoting(t), nstest.BrokerConfig{Cluster: "c", Name: name, Zone: text("zone-" + name), EnableActingMaster: wire.BoolOf(i == 0), ID: int64(i % 2)})
		b.Topic("Plain", 4)
		b.Topic("Ordered", int32(i+1))
		b.Topic("%RETRY%g", 1)
		must(t)(b.Register())
	}
	worked(c.PutKV(t.Context(), "ORDER_TOPIC_CONFIG", "Ordered", "broker-a:4;broker-b:4", api.KVWrite{}))(t)
	worked(c.WipeWritePerm(t.Context(), "broker-b", api.Apply))(t)
	one := int32(1)
	reg := api.Registration{
		ClusterName: "c", BrokerAddr: "10.0.0.9:10911", FilterServerList: &[]string{"10.0.0.9:7000"},
		TopicConfigTable: map[string]api.TopicConfig{"Plain": {ReadQueueNums: &one, WriteQueueNums: &one}, "Alone": {ReadQueueNums: &one, WriteQueueNums: &one}},
	}
	worked(c.Register(t.Context(), "bridge-1", 0, reg, api.RegisterOptions{}))(t)
	for _, topic := range []string{"Plain", "Ordered", "%RETRY%g", "Alone"} {
		before := worked(c.Digest(t.Context(), api.Read{}))(t).Revision
		_, rest := get(t, p.url(t)+"/api/v1/topics/"+strings.ReplaceAll(topic, "%", "%25")+"/route", "")
		remote := route(t, conn, topic)
		if after := worked(c.Digest(t.Context(), api.Read{}))(t).Revision; after != before {
			t.Fatalf("something changed meanwhile: %s, %s", before, after)
		}
		if !bytes.HasPrefix(remote, []byte(`{"brokerDatas":[{`)) || rest != string(remote)+"\n" {
			t.Errorf("%s:\n%s\n%s", topic, rest, remote)
		}
	}
}

// Every change over remoting is one change set that names who made it.
func TestRemotingChangesAreEvents(t *testing.T) {
	p, c := admin(t)
	b := nstest.StartBroker(t, p.remoting(t), nstest.BrokerConfig{Cluster: "c", Name: "broker-a"})
	b.Topic("T", 4)
	b.Topic("T2", 4)
	tool := client(t, p)
	fields := func(pairs ...string) (f wire.Fields) {
		for i := 0; i < len(pairs); i += 2 {
			f = append(f, wire.Field{Name: pairs[i], Value: pairs[i+1]})
		}
		return f
	}
	for _, x := range []struct {
		action string
		by     *nstest.Client
		do     func() (*wire.Command, error)
		kinds  string
	}{
		{"registerBroker", b.Client(), b.Register, "cluster member topic"},
		{"putKVConfig", tool, func() (*wire.Command, error) {
			return tool.Call(wire.PutKVConfig, fields("namespace", "n", "key", "k", "value", "v"), nil)
		}, "kv"},
		{"deleteKVConfig", tool, func() (*wire.Command, error) {
			return tool.Call(wire.DeleteKVConfig, fields("namespace", "n", "key", "k"), nil)
		}, "kv"},
		{"wipeWritePerm", tool, func() (*wire.Command, error) {
			return tool.Call(wire.WipeWritePermOfBroker, fields("brokerName", "broker-a"), nil)
		}, "topic writePerm"},
		{"addWritePerm", tool, func() (*wire.Command, error) {
			return tool.Call(wire.AddWritePermOfBroker, fields("brokerName", "broker-a"), nil)
		}, "topic writePerm"},
		{"registerTopic", tool, func() (*wire.Command, error) {
			return tool.Call(wire.RegisterTopicInNamesrv, fields("topic", "U"), []byte(`{"queueDatas":[{"brokerName":"broker-a","perm":6,"readQueueNums":1,"writeQueueNums":1,"topicSysFlag":0}]}`))
		}, "topic"},
		{"deleteTopic", tool, func() (*wire.Command, error) {
			return tool.Call(wire.DeleteTopicInNamesrv, fields("topic", "U"), nil)
		}, "topic"},
		{"updateConfig", tool, func() (*wire.Command, error) {
			return tool.Call(wire.UpdateNamesrvConfig, nil, []byte("productEnvName=lab"))
		}, "config"},
		{"unregisterBroker", b.Client(), b.Unregister, "cluster member topic"},
	} {
		before := worked(c.Events(t.Context(), api.EventsOptions{}))(t).Total
		must(t)(x.do())
		l := worked(c.Events(t.Context(), api.EventsOptions{}))(t)
		if l.Total != before+1 {
			t.Errorf("%s: %d change sets: %+v", x.action, l.Total-before, l.Items)
			continue
		}
		set := l.Items[0]
		if want := (api.Cause{Face: "remoting", Action: x.action, Actor: x.by.Conn().LocalAddr().String()}); set.Cause != want {
			t.Errorf("%s: the cause is %+v, want %+v", x.action, set.Cause, want)
		}
		for kind := range strings.FieldsSeq(x.kinds) {
			if set.Counts[kind] == 0 {
				t.Errorf("%s: no change of %s in %v", x.action, kind, set.Counts)
			}
		}
		if after := worked(c.Digest(t.Context(), api.Read{}))(t).Revision; after != set.Revision {
			t.Errorf("%s: the revision is %s, the change set's %s", x.action, after, set.Revision)
		}
	}
}

// What was changed over REST is what remoting answers next.
func TestRESTChangesShowOverRemoting(t *testing.T) {
	p, c := admin(t)
	conn, ctx := client(t, p), t.Context()
	one := int32(1)
	queues := api.TopicConfig{ReadQueueNums: &one, WriteQueueNums: &one}
	reg := api.Registration{ClusterName: "c", BrokerAddr: "10.0.0.9:10911", TopicConfigTable: map[string]api.TopicConfig{"T": queues}}
	worked(c.Register(ctx, "bridge-1", 0, reg, api.RegisterOptions{}))(t)
	if b := route(t, conn, "T"); !bytes.Contains(b, []byte(`"10.0.0.9:10911"`)) {
		t.Errorf("the route is %s", b)
	}
	worked(c.WipeWritePerm(ctx, "bridge-1", api.Apply))(t)
	if b := route(t, conn, "T"); !bytes.Contains(b, []byte(`"perm":4`)) {
		t.Errorf("after the wipe: %s", b)
	}
	worked(c.RestoreWritePerm(ctx, "bridge-1", api.RestorePrevious, api.Apply))(t)
	if b := route(t, conn, "T"); !bytes.Contains(b, []byte(`"perm":6`)) {
		t.Errorf("after the restoration: %s", b)
	}
	worked(c.PutTopicPart(ctx, "U", "bridge-1", api.QueueSpec{ReadQueueNums: &one, WriteQueueNums: &one, Perm: new(int32(6))}, api.Apply))(t)
	list := func() string { return string(must(t)(conn.Call(wire.GetAllTopicListFromNamesrv, nil, nil)).Body) }
	if l := list(); !strings.Contains(l, `"U"`) {
		t.Errorf("topics: %s", l)
	}
	worked(c.DeleteTopic(ctx, "U", "", api.Apply))(t)
	if l := list(); strings.Contains(l, `"U"`) {
		t.Errorf("after the removal: %s", l)
	}
	worked(c.PutKV(ctx, "n", "k", "v", api.KVWrite{}))(t)
	resp := must(t)(conn.Call(wire.GetKVConfig, wire.Fields{{Name: "namespace", Value: "n"}, {Name: "key", Value: "k"}}, nil))
	if v, _ := resp.Ext.Get("value"); v != "v" {
		t.Errorf("the value is %q", v)
	}
	worked(c.PatchConfig(ctx, map[string]any{"productEnvName": "lab"}, api.Write{}))(t)
	if s := settings(t, conn); !strings.Contains(s, "productEnvName=lab\n") {
		t.Errorf("settings: %s", s)
	}
	if err := c.Unregister(ctx, "bridge-1", 0, api.UnregisterOptions{}); err != nil {
		t.Fatal(err)
	}
	if resp, err := conn.Call(wire.GetRouteInfoByTopic, wire.Fields{{Name: "topic", Value: "T"}}, nil); err != nil || resp.Code != int32(wire.TopicNotExist) {
		t.Errorf("after it left: %+v, %v", resp, err)
	}
}

// freePort is one that nobody listens on at present.
func freePort(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	return ln.Addr().String()
}

// A server that was killed and started again tells its watchers, and no ETag of the old
// process counts.
func TestKilledAndStartedAgain(t *testing.T) {
	dir, addr := t.TempDir(), freePort(t)
	killed, p := process(t, dir, "--http-listen="+addr)
	p.remoting(t)
	token := firstToken(t, p)
	c := asking(t, "http://"+addr, token)
	ctx := t.Context()
	one := int32(1)
	reg := api.Registration{ClusterName: "c", BrokerAddr: "10.0.0.9:10911", TopicConfigTable: map[string]api.TopicConfig{"T": {ReadQueueNums: &one, WriteQueueNums: &one}}}
	worked(c.Register(ctx, "bridge-1", 0, reg, api.RegisterOptions{}))(t)
	worked(c.PutKV(ctx, "n", "k", "v", api.KVWrite{}))(t)
	var seenRoute, seenKV, seenTopics, seenConfig api.State
	// read reads everything again, on condition that it has changed.
	read := func() (errs []error) {
		_, err := c.Route(ctx, "T", api.RouteOptions{Read: api.Read{State: &seenRoute}})
		errs = append(errs, err)
		_, err = c.KV(ctx, "n", "k", api.Read{State: &seenKV})
		errs = append(errs, err)
		_, err = c.Topics(ctx, api.TopicsOptions{List: api.List{Read: api.Read{State: &seenTopics}}})
		errs = append(errs, err)
		_, err = c.Config(ctx, api.List{Read: api.Read{State: &seenConfig}})
		return append(errs, err)
	}
	for i, err := range append(read(), read()...) {
		if want := i >= 4; errors.Is(err, api.ErrUnchanged) != want || !want && err != nil {
			t.Fatalf("read %d: %v", i, err)
		}
	}
	watch := &api.Watch{Snapshot: true}
	var last error
	for it, err := range c.Watch(ctx, watch) {
		if it.Event == api.ItemBookmark {
			killed.Process.Kill()
		}
		last = err
	}
	if !errors.Is(last, io.EOF) && !errors.Is(last, io.ErrUnexpectedEOF) {
		t.Logf("the watch ended with %v", last) // the kernel may also say that it was reset
	}
	killed.Wait()
	old := watch.Since

	_, p = process(t, dir, "--http-listen="+addr)
	p.remoting(t)
	worked(c.Register(ctx, "bridge-1", 0, reg, api.RegisterOptions{}))(t)
	for i, err := range read() {
		if err != nil {
			t.Errorf("with an ETag of the old process, read %d: %v", i, err)
		}
	}
	if kv := worked(c.KV(ctx, "n", "k", api.Read{}))(t); kv.Value != "v" {
		t.Errorf("the key is %q", kv.Value)
	}
	var events []string
	for it, err := range c.Watch(ctx, watch) {
		if err != nil {
			t.Fatal(err)
		}
		if events = append(events, it.Event+it.Reason); it.Event != api.ItemHello {
			break
		}
	}
	if fmt.Sprint(events) != "[hello resetrestarted]" || watch.Since == old {
		t.Errorf("the watcher heard %q and is at %s", events, watch.Since)
	}
}

// One registration of 10,000 topics is one revision and one change set, cut short on
// streams and whole in pages.
func TestLargeRegistrationIsOneChange(t *testing.T) {
	p, c := admin(t)
	ctx := t.Context()
	hello := make(chan struct{}, 2)
	first := func(w *api.Watch) <-chan api.WatchItem {
		out := make(chan api.WatchItem, 1)
		go func() {
			defer close(out)
			for it, err := range c.Watch(ctx, w) {
				switch {
				case err != nil:
					t.Error(err)
					return
				case it.Event == api.ItemHello:
					hello <- struct{}{}
				case it.Event == api.ItemChange:
					out <- it
					return
				}
			}
		}()
		return out
	}
	everything := first(new(api.Watch))
	one := first(&api.Watch{ChangeFilter: api.ChangeFilter{Kinds: []string{api.KindTopic}, Topics: []string{"T09999"}}})
	<-hello
	<-hello
	before := worked(c.Events(ctx, api.EventsOptions{}))(t).Total
	b := nstest.StartBroker(t, p.remoting(t), nstest.BrokerConfig{Cluster: "c", Name: "broker-a"})
	for i := range 10_000 {
		b.Topic(fmt.Sprintf("T%05d", i), 4)
	}
	must(t)(b.Register())
	it := <-everything
	if !it.Truncated || len(it.Changes) != 200 || it.Counts[api.KindTopic] != 10_000 {
		t.Errorf("the stream's item: %d changes, truncated %v, %v", len(it.Changes), it.Truncated, it.Counts)
	}
	if it := <-one; len(it.Changes) != 1 || it.Changes[0].Topic != "T09999" {
		t.Errorf("the filtered stream's item: %+v", it)
	}
	l := worked(c.Events(ctx, api.EventsOptions{}))(t)
	if l.Total != before+1 || l.Items[0].Revision != it.Revision || l.Revision != it.Revision {
		t.Fatalf("%d change sets, revision %s", l.Total-before, l.Revision)
	}
	seen := map[string]bool{}
	o := api.EventOptions{ChangeFilter: api.ChangeFilter{Kinds: []string{api.KindTopic}}, Limit: 3000}
	for {
		page := worked(c.Event(ctx, it.Revision, o))(t)
		for _, ch := range page.Changes {
			seen[ch.Topic] = true
		}
		if o.After = page.Next; o.After == "" {
			break
		}
	}
	if len(seen) != 10_000 {
		t.Errorf("the pages have %d topics", len(seen))
	}
}

// Watchers that take nothing cost a bounded room and are told; others hear everything.
func TestStuckWatchersAreBounded(t *testing.T) {
	p, c := admin(t)
	ctx, tool := t.Context(), client(t, p)
	b := nstest.StartBroker(t, p.remoting(t), nstest.BrokerConfig{Cluster: "c", Name: "broker-a"})
	for i := range 400 {
		b.Topic(fmt.Sprintf("A-topic-with-a-rather-long-name-so-that-buffers-fill-up-%d", i), 4)
	}
	must(t)(b.Register())
	const stuck, rounds = 8, 2500
	began := time.Now()
	var conns []net.Conn
	for range stuck {
		conn, err := net.Dial("tcp", strings.TrimPrefix(p.url(t), "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		_ = conn.(*net.TCPConn).SetReadBuffer(32 << 10)
		fmt.Fprintf(conn, "GET /api/v1/watch?format=ndjson HTTP/1.1\r\nHost: localhost\r\n\r\n")
		conns = append(conns, conn)
	}
	heap := func() uint64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	quick, cancel := context.WithCancel(ctx)
	defer cancel()
	heard, ready, done := 0, make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for it, err := range c.Watch(quick, &api.Watch{ChangeFilter: api.ChangeFilter{Kinds: []string{api.KindWritePerm}}}) {
			switch {
			case err != nil:
				return
			case it.Event == api.ItemHello:
				close(ready)
			case it.Event == api.ItemReset:
				t.Error("the quick watcher was reset")
			case it.Event == api.ItemChange:
				if heard++; heard == rounds {
					return
				}
			}
		}
	}()
	<-ready
	for i := range rounds {
		code := wire.WipeWritePermOfBroker
		if i%2 == 1 {
			code = wire.AddWritePermOfBroker
		}
		must(t)(tool.Call(code, wire.Fields{{Name: "brokerName", Value: "broker-a"}}, nil))
	}
	<-done
	if heard != rounds {
		t.Errorf("the quick watcher heard %d of %d", heard, rounds)
	}
	// All change sets together are more than 70 MiB, once, and 100 MiB as JSON for each
	// watcher. The history keeps 16 MiB; the eight queues share at most 256 change sets.
	if grown := int64(heap()) - int64(before); grown > 48<<20 {
		t.Errorf("the heap grew by %d MiB", grown>>20)
	}
	for _, conn := range conns {
		buf := make([]byte, 64<<10)
		var tail []byte
		for !bytes.Contains(tail, []byte(`"reason":"lagged"`)) {
			n, err := conn.Read(buf)
			if err != nil && time.Since(began) > 30*time.Second {
				break // who takes nothing for that long is closed, reset or not
			}
			if err != nil {
				t.Fatalf("no reset: %v", err)
			}
			tail = append(tail[max(0, len(tail)-100):], buf[:n]...)
		}
	}
}
