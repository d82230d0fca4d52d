package handlers

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fingerpost/api"
	"fingerpost/internal/auth"
	"fingerpost/registry"
)

// watcher reads a stream of NDJSON.
type watcher struct {
	t     testing.TB
	items *bufio.Scanner
	end   context.CancelFunc
}

// watch opens a stream; what it has read past hello is up to the caller.
func (e *env) watch(query string, headers ...string) *watcher {
	e.t.Helper()
	ctx, cancel := context.WithCancel(e.t.Context())
	req, err := http.NewRequestWithContext(ctx, "GET", e.srv.URL+"/api/v1/watch?format=ndjson&"+query, nil)
	if err != nil {
		e.t.Fatal(err)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := client.Do(req)
	if err != nil {
		e.t.Fatal(err)
	}
	e.t.Cleanup(func() {
		cancel()
		resp.Body.Close()
	})
	if resp.StatusCode != 200 {
		e.t.Fatalf("%s: %s", query, resp.Status)
	}
	w := &watcher{t: e.t, items: bufio.NewScanner(resp.Body), end: cancel}
	w.items.Buffer(nil, 1<<20)
	if it := w.any(); it.Event != "hello" || !strings.HasPrefix(it.Revision, e.reg.Epoch()+".") {
		e.t.Fatalf("the first item is %+v", it)
	}
	return w
}

// next returns the next item that is no bookmark: those come with time, not with changes.
func (w *watcher) next() api.WatchItem {
	w.t.Helper()
	for {
		if it := w.any(); it.Event != api.ItemBookmark {
			return it
		}
	}
}

func (w *watcher) any() api.WatchItem {
	w.t.Helper()
	if !w.items.Scan() {
		w.t.Fatalf("the stream ended: %v", w.items.Err())
	}
	var it api.WatchItem
	if err := json.Unmarshal(w.items.Bytes(), &it); err != nil {
		w.t.Fatal(err)
	}
	return it
}

// words says what an item is, in short.
func words(it api.WatchItem) string {
	out := []string{it.Event}
	if it.Reason != "" {
		out = append(out, it.Reason)
	}
	for _, c := range it.Changes {
		out = append(out, c.Kind+":"+c.Op+":"+c.Topic+c.BrokerName)
	}
	return strings.Join(out, " ")
}

func TestWatch(t *testing.T) {
	e := newEnv(t)
	all, orders, members := e.watch(""), e.watch("topic=Order*&kind=topic"), e.watch("kind=member")
	e.broker("broker-a", 0, "10.0.0.1:10911", "Orders")
	e.declare("Other", "broker-a", 1)
	e.declare("Orders", "broker-a", 3)
	for i, want := range []string{
		"change cluster:created: member:created:broker-a topic:created:TBW102broker-a topic:created:Ordersbroker-a",
		"change topic:created:Otherbroker-a", "change topic:changed:Ordersbroker-a",
	} {
		it := all.next()
		if words(it) != want || it.Revision != fmt.Sprintf("%s.%d", e.reg.Epoch(), i+1) {
			t.Errorf("got %s at %s, want %s", words(it), it.Revision, want)
		}
	}
	if it := orders.next(); words(it) != "change topic:created:Ordersbroker-a" || it.Cause.Face != "remoting" {
		t.Errorf("orders: %+v", it)
	}
	it := orders.next()
	if words(it) != "change topic:changed:Ordersbroker-a" || fmt.Sprint(it.Changes[0].Before, it.Changes[0].After) != "map[readQueueNums:8 writeQueueNums:8] map[readQueueNums:3 writeQueueNums:3]" {
		t.Errorf("orders: %+v", it)
	}
	if it := members.next(); words(it) != "change member:created:broker-a" {
		t.Errorf("members: %s", words(it))
	}
	e.admin("PUT", "/api/v1/kv/n/k", `{"value":"v"}`).ok(t, 201)
	if it := all.next(); words(it) != "change kv:created:" || *it.Changes[0].Key != "k" || it.Cause.Actor != "token:admin" || it.Cause.RequestID == nil {
		t.Errorf("got %+v", it)
	}
}

func TestWatchResumes(t *testing.T) {
	e := newEnv(t)
	e.broker("broker-a", 0, "10.0.0.1:10911", "T")
	at := fmt.Sprintf("%s.%d", e.reg.Epoch(), e.reg.Snapshot().Revision)
	e.declare("A", "broker-a", 1)
	e.declare("B", "broker-a", 1)
	w := e.watch("since=" + at)
	for _, want := range []string{"A", "B"} {
		if it := w.next(); words(it) != "change topic:created:"+want+"broker-a" {
			t.Errorf("got %s", words(it))
		}
	}
	e.declare("C", "broker-a", 1)
	if it := w.next(); words(it) != "change topic:created:Cbroker-a" {
		t.Errorf("got %s", words(it))
	}
	w = e.watch("", "Last-Event-ID", at)
	if it := w.next(); words(it) != "change topic:created:Abroker-a" {
		t.Errorf("by Last-Event-ID: %s", words(it))
	}
	for since, reason := range map[string]string{"earlier0.5": "restarted", e.reg.Epoch() + ".999": "compacted"} {
		w := e.watch("since=" + since)
		if it := w.next(); words(it) != "reset "+reason || !strings.HasSuffix(it.Revision, ".4") {
			t.Errorf("since %s: %+v", since, it)
		}
	}
	e.get("/api/v1/watch?since=5").problem(t, 400, "validation-failed")
}

func TestWatchBeginsWithTheState(t *testing.T) {
	e := newEnv(t)
	var topics []string
	for i := range 300 {
		topics = append(topics, fmt.Sprintf("T%03d", i))
	}
	e.broker("broker-a", 0, "10.0.0.1:10911", topics...)
	e.reg.WipeWritePerm("broker-a", registry.Cause{})
	w := e.watch("snapshot=true&kind=topic&topic=T*")
	n := 0
	for {
		it := w.any()
		if it.Event == "bookmark" {
			if it.Revision != e.reg.Epoch()+".2" {
				t.Errorf("the bookmark is at %s", it.Revision)
			}
			break
		}
		if it.Event != "snapshot" || len(it.Changes) > 200 || it.Changes[0].Op != "created" || it.Changes[0].After["perm"] == 6.0 {
			t.Fatalf("got %s %v", it.Event, it.Changes[0])
		}
		n += len(it.Changes)
	}
	if n != 301 {
		t.Errorf("%d topics", n)
	}
	e.declare("T000", "broker-a", 2)
	if it := w.next(); words(it) != "change topic:changed:T000broker-a" {
		t.Errorf("after the state: %s", words(it))
	}
	w = e.watch("snapshot=true&kind=member&kind=writePerm&kind=cluster")
	if it := w.next(); words(it) != "snapshot cluster:created: member:created:broker-a writePerm:wiped:broker-a" {
		t.Errorf("got %s", words(it))
	}
}

// A browser that comes back asks for the state again and says what it heard last: the state
// comes behind what was missed, which would take things back.
func TestWatchResumesWithTheState(t *testing.T) {
	e := newEnv(t)
	e.broker("broker-a", 0, "10.0.0.1:10911", "T")
	at := fmt.Sprintf("%s.%d", e.reg.Epoch(), e.reg.Snapshot().Revision)
	e.declare("T", "broker-a", 1)
	e.declare("T", "broker-a", 2)
	for query, want := range map[string]string{"": "change change snapshot bookmark", "&quiet=1m": "change snapshot bookmark"} {
		w := e.watch("snapshot=true&kind=topic&topic=T"+query, "Last-Event-ID", at)
		var got []string
		for len(got) == 0 || got[len(got)-1] != "bookmark" {
			got = append(got, w.any().Event)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("with %q come %v, want %s", query, got, want)
		}
	}
}

// A watch ends when the session is over with which it began.
func TestWatchEndsWithTheSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		keeper, err := auth.New(auth.Options{AdminTokenFile: filepath.Join(t.TempDir(), "admin-token"), AnonymousRole: auth.Viewer})
		if err != nil {
			t.Fatal(err)
		}
		h, err := New(Deps{Registry: registry.New(registry.Options{}), Auth: keeper, Settings: newFakeSettings(), Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		defer h.Close()
		secret, _ := h.sessions.Begin(auth.Principal{Name: "token:admin", Role: auth.Admin})
		r := httptest.NewRequestWithContext(t.Context(), "GET", "http://localhost/api/v1/watch", nil)
		r.Header.Set("Cookie", sessionCookie+"="+secret)
		over := make(chan struct{})
		go func() {
			defer close(over)
			h.ServeHTTP(httptest.NewRecorder(), r)
		}()
		time.Sleep(10 * allowedEvery)
		select {
		case <-over:
			t.Fatal("the watch ended before its time")
		default:
		}
		h.sessions.End(secret)
		time.Sleep(allowedEvery + time.Second)
		select {
		case <-over:
		default:
			t.Error("the watch goes on without the session")
		}
	})
}

func TestWatchAsEvents(t *testing.T) {
	e := newEnv(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	req, _ := http.NewRequestWithContext(ctx, "GET", e.srv.URL+"/api/v1/watch", nil)
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	for k, v := range map[string]string{"Content-Type": "text/event-stream", "Cache-Control": "no-store", "X-Accel-Buffering": "no"} {
		if resp.Header.Get(k) != v {
			t.Errorf("%s is %q", k, resp.Header.Get(k))
		}
	}
	r := bufio.NewReader(resp.Body)
	read := func(n int) (out []string) {
		for range n {
			l, err := r.ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, strings.TrimSuffix(l, "\n"))
		}
		return out
	}
	if l := read(5); l[0] != "retry: 2000" || l[1] != "id: "+e.reg.Epoch()+".0" || l[2] != "event: hello" || !strings.HasPrefix(l[3], `data: {"event":"hello"`) || l[4] != "" {
		t.Errorf("got %q", l)
	}
	e.broker("broker-a", 0, "10.0.0.1:10911")
	if l := read(4); l[0] != "id: "+e.reg.Epoch()+".1" || l[1] != "event: change" || !strings.HasPrefix(l[2], `data: {"event":"change"`) {
		t.Errorf("got %q", l)
	}
}

// A broker that goes up and down is, with a quiet period, told of in few items, of which
// the last tells the truth.
func TestQuietWatch(t *testing.T) {
	e := newEnv(t)
	e.broker("broker-a", 0, "10.0.0.1:10911", "T")
	w := e.watch("quiet=100ms&kind=member")
	for range 20 {
		if _, err := e.reg.Unregister("DefaultCluster", "broker-a", "10.0.0.1:10911", 0, registry.Cause{}); err != nil {
			t.Fatal(err)
		}
		e.broker("broker-a", 0, "10.0.0.1:10911", "T")
	}
	var last api.WatchItem
	for collapsed := 0; collapsed < 40; collapsed += last.Collapsed {
		if last = w.next(); len(last.Changes) != 1 || last.Collapsed < 1 {
			t.Fatalf("got %+v", last)
		}
	}
	if c := last.Changes[0]; c.Op != "created" || c.After["brokerAddr"] != "10.0.0.1:10911" || last.Counts["member"] != 1 {
		t.Errorf("the last is %+v", last)
	}
}

func TestQuietPeriod(t *testing.T) {
	set := func(op string, before, after map[string]any) *api.ChangeSet {
		id := int64(0)
		return &api.ChangeSet{Revision: "e.9", Changes: []api.Change{{Kind: "member", Op: op, BrokerName: "b", BrokerID: &id, Before: before, After: after}}}
	}
	synctest.Test(t, func(t *testing.T) {
		q := newQuietPeriod(time.Second)
		began := time.Now()
		q.add(set("changed", map[string]any{"zone": "1"}, map[string]any{"zone": "2"}))
		time.Sleep(600 * time.Millisecond)
		q.add(set("changed", map[string]any{"addr": "x", "zone": "2"}, map[string]any{"addr": "y", "zone": "3"}))
		<-q.due()
		if d := time.Since(began); d != 1600*time.Millisecond {
			t.Errorf("due after %s", d)
		}
		it := q.take()
		if fmt.Sprint(it.Collapsed, it.Changes[0].Before, it.Changes[0].After) != "2 map[addr:x zone:1] map[addr:y zone:3]" || q.pending() || q.due() != nil {
			t.Errorf("got %+v", it)
		}
		// What never falls quiet comes after ten times the period.
		began = time.Now()
		for time.Since(began) < 9900*time.Millisecond {
			q.add(set("deleted", map[string]any{"addr": "y"}, nil))
			time.Sleep(900 * time.Millisecond)
		}
		<-q.due()
		if d := time.Since(began); d != 10*time.Second {
			t.Errorf("due after %s", d)
		}
		if it := q.take(); it.Collapsed != 11 || it.Changes[0].After != nil {
			t.Errorf("got %+v", it)
		}
		var none *quietPeriod
		if none.drop(); none.due() != nil || none.pending() {
			t.Error("no period waits for something")
		}
	})
}

// A watcher that does not read loses its place, and says so when it reads again; nobody
// else notices.
func TestSlowWatcherIsReset(t *testing.T) {
	e := newEnv(t)
	var topics []string
	for i := range 400 {
		topics = append(topics, fmt.Sprintf("A-topic-with-a-rather-long-name-so-that-buffers-fill-up-%d", i))
	}
	e.broker("broker-a", 0, "10.0.0.1:10911", topics...)
	conn, err := net.Dial("tcp", e.srv.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.(*net.TCPConn).SetReadBuffer(64 << 10)
	fmt.Fprintf(conn, "GET /api/v1/watch?format=ndjson HTTP/1.1\r\nHost: localhost\r\n\r\n")
	quick := e.watch("kind=writePerm")
	// Each change is some 50 KiB on the wire, so a stuck peer's buffers fill long before the end.
	// The quick one is never further behind than its buffer reaches, however busy the machine.
	const rounds, step = 400, watchBuffer / 4
	for i, heard := 0, 0; heard < rounds; {
		for ; i < min(rounds, heard+step); i++ {
			if i%2 == 0 {
				e.reg.WipeWritePerm("broker-a", registry.Cause{})
			} else {
				e.reg.RestoreWritePerm("broker-a", registry.Cause{})
			}
		}
		for ; heard < i; heard++ {
			if it := quick.next(); it.Event != "change" {
				t.Fatalf("the quick one got %s after %d", words(it), heard)
			}
		}
	}
	sc := bufio.NewScanner(conn)
	sc.Buffer(nil, 1<<20)
	n := 0
	for sc.Scan() {
		line := sc.Text()
		if strings.HasPrefix(line, `{"event":"reset"`) {
			if !strings.Contains(line, `"reason":"lagged"`) || !strings.Contains(line, fmt.Sprintf(`"revision":"%s.%d"`, e.reg.Epoch(), rounds+1)) {
				t.Errorf("got %s", line)
			}
			break
		}
		if strings.HasPrefix(line, `{"event":"change"`) {
			n++
		}
	}
	if n >= rounds || n == 0 {
		t.Errorf("the slow one got %d of %d changes", n, rounds)
	}
	// It stays connected and hears what comes next.
	e.declare("Next", "broker-a", 1)
	for sc.Scan() {
		if strings.Contains(sc.Text(), `"topic":"Next"`) {
			return
		}
	}
	t.Errorf("nothing came after the reset: %v", sc.Err())
}

func TestWatchesAreCounted(t *testing.T) {
	e := newEnv(t, func(d *Deps) { d.Limits.Watchers, d.Limits.WatchersPerAddress = 3, 2 })
	first := e.watch("")
	e.watch("")
	e.get("/api/v1/watch").problem(t, 429, "too-many-watchers")
	first.end()
	for deadline := time.Now().Add(hung); ; time.Sleep(time.Millisecond) {
		if n, _ := e.h.watched.counts(); n == 1 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("a watch that ended is still counted")
		}
	}
	last := e.watch("")
	e.h.Close()
	for last.items.Scan() {
	}
	e.get("/api/v1/watch").problem(t, 503, "shutting-down")
}
