package handlers

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"fingerpost/registry"
)

// hung is how long tests wait for what comes at once, unless something is broken or the
// machine is very busy.
const hung = 3 * time.Minute

// waiting waits until n long polls are in the hub.
func (e *env) waiting(n int) {
	e.t.Helper()
	for deadline := time.Now().Add(hung); ; time.Sleep(time.Millisecond) {
		if _, have := e.h.watched.counts(); have == n {
			return
		}
		if time.Now().After(deadline) {
			e.t.Fatalf("there are not %d waiting", n)
		}
	}
}

// declare gives a topic one queue more than it had.
func (e *env) declare(topic, broker string, queues int32) {
	e.t.Helper()
	q := registry.QueueData{Broker: broker, QueueSpec: registry.QueueSpec{ReadQueues: queues, WriteQueues: queues, Perm: 6}}
	if _, err := e.reg.DeclareTopic(topic, []registry.QueueData{q}, registry.Cause{Face: "test"}); err != nil {
		e.t.Fatal(err)
	}
}

func TestWaitForARoute(t *testing.T) {
	e := newEnv(t)
	e.broker("broker-a", 0, "10.0.0.1:10911", "T", "U")
	tag := e.get("/api/v1/topics/T/route").Header.Get("Etag")
	for name, change := range map[string]func(){
		"its queues":     func() { e.declare("T", "broker-a", 9) },
		"a member":       func() { e.broker("broker-a", 1, "10.0.0.2:10911") },
		"the permission": func() { e.reg.WipeWritePerm("broker-a", registry.Cause{}) },
	} {
		done := make(chan *answer, 1)
		go func() { done <- e.get("/api/v1/topics/T/route?wait=60s", "If-None-Match", tag) }()
		e.waiting(1)
		e.declare("U", "broker-a", int32(len(name))) // not its concern
		select {
		case a := <-done:
			t.Fatalf("%s: woken by another topic: %s", name, a)
		default:
		}
		change()
		a := (<-done).ok(t, 200)
		if a.Header.Get("Etag") == tag {
			t.Errorf("%s: the same ETag", name)
		}
		if r := a.Header.Get("Namesrv-Revision"); r != fmt.Sprintf("%s.%d", e.reg.Epoch(), e.reg.Snapshot().Revision) {
			t.Errorf("%s: the revision is %s", name, r)
		}
		tag = a.Header.Get("Etag")
		e.waiting(0)
	}
	done := make(chan *answer, 1)
	go func() { done <- e.get("/api/v1/topics/T/route?wait=60s", "If-None-Match", tag) }()
	e.waiting(1)
	e.reg.DeleteTopic("T", "", registry.Cause{})
	(<-done).problem(t, 404, "topic-not-found")
}

func TestWaitEnds(t *testing.T) {
	e := newEnv(t)
	e.broker("broker-a", 0, "10.0.0.1:10911", "T")
	tag := e.get("/api/v1/topics/T/route").Header.Get("Etag")
	began := time.Now()
	a := e.get("/api/v1/topics/T/route?wait=500ms", "If-None-Match", tag)
	if a.StatusCode != http.StatusNotModified || time.Since(began) < 500*time.Millisecond {
		t.Errorf("after %s: %s", time.Since(began), a)
	}
	// Without an ETag, or with one of another process, there is nothing to wait for.
	e.get("/api/v1/topics/T/route?wait=60s").ok(t, 200)
	e.get("/api/v1/topics/T/route?wait=60s", "If-None-Match", `"earlier.0123456789abcdef"`).ok(t, 200)
	for _, bad := range []string{"x", "499ms", "301s", "-5s"} {
		e.get("/api/v1/topics/T/route?wait="+bad).problem(t, 400, "validation-failed")
	}
	// The end of the face ends the wait.
	done := make(chan *answer, 1)
	go func() { done <- e.get("/api/v1/topics/T/route?wait=60s", "If-None-Match", tag) }()
	e.waiting(1)
	e.h.Close()
	if a := <-done; a.StatusCode != http.StatusNotModified {
		t.Errorf("at the end: %s", a)
	}
}

func TestEveryResourceWakes(t *testing.T) {
	e := newEnv(t)
	e.broker("broker-a", 0, "10.0.0.1:10911", "T")
	put := func(k, v string) {
		if _, _, err := e.reg.PutKV("n", k, v, registry.KVCondition{}, registry.Cause{}); err != nil {
			t.Fatal(err)
		}
	}
	put("k", "0")
	rules := registry.DefaultRules()
	for i, x := range []struct {
		path   string
		change func()
	}{
		{"topics", func() { e.declare("V", "broker-a", 1) }},
		{"topics?type=normal&limit=1", func() { e.declare("V", "broker-a", 2) }},
		{"topics/T", func() { e.declare("T", "broker-a", 3) }},
		{"routes?topic=T", func() { e.declare("T", "broker-a", 4) }},
		{"brokers", func() { e.broker("broker-b", 0, "10.0.0.2:1") }},
		{"brokers/broker-a", func() { e.broker("broker-a", 1, "10.0.0.3:1") }},
		{"brokers/broker-a/members/0", func() {
			e.register(registry.MemberInfo{Cluster: "DefaultCluster", Name: "broker-a", Addr: "10.0.0.1:10911", Timeout: 99 * time.Second})
		}},
		{"brokers/broker-a/topics", func() { e.declare("T", "broker-a", 5) }},
		{"clusters", func() { e.broker("broker-c", 0, "10.0.0.4:1") }},
		{"clusters/DefaultCluster", func() { e.broker("broker-d", 0, "10.0.0.5:1") }},
		{"cluster-info", func() { e.broker("broker-e", 0, "10.0.0.6:1") }},
		{"kv", func() { put("k", "1") }},
		{"kv/n", func() { put("k", "2") }},
		{"kv/n/k", func() { put("k", "3") }},
		{"digest", func() { put("k", "4") }},
		{"config", func() {
			v := "8000"
			if _, err := e.set.Patch(map[string]*string{"scanNotActiveBrokerInterval": &v}, 0, false, registry.Cause{}); err != nil {
				t.Fatal(err)
			}
			e.reg.SetRules(rules, []registry.ConfigChange{{Key: "scanNotActiveBrokerInterval", After: v}}, registry.Cause{})
		}},
	} {
		sep := "?"
		if strings.Contains(x.path, "?") {
			sep = "&"
		}
		tag := e.get("/api/v1/"+x.path).ok(t, 200).Header.Get("Etag")
		done := make(chan *answer, 1)
		go func() { done <- e.get("/api/v1/"+x.path+sep+"wait=60s", "If-None-Match", tag) }()
		e.waiting(1)
		x.change()
		select {
		case a := <-done:
			a.ok(t, 200)
			if a.Header.Get("Etag") == tag {
				t.Errorf("%d %s: the ETag is the same", i, x.path)
			}
		case <-time.After(hung):
			t.Fatalf("%s did not wake", x.path)
		}
		e.waiting(0)
	}
}

// What is waited for may be other things by the time it is looked at, such as a broker that
// has come to serve the topic. A change of those just before they are waited for counts.
func TestChangeBeforeOtherKeysAreWaitedFor(t *testing.T) {
	e := newEnv(t)
	// The hub wakes everybody when it begins: what wakes second is a change.
	w := e.h.hub.join([]hubKey{waitFor(keyKV, "n")})
	for e.reg.Counts().Subscribers == 0 {
		time.Sleep(time.Millisecond)
	}
	for i := range 2 {
		if _, _, err := e.reg.PutKV("n", "k", fmt.Sprint(i), registry.KVCondition{}, registry.Cause{}); err != nil {
			t.Fatal(err)
		}
		<-w.c
	}
	e.h.hub.leave(w)
	looked := 0
	c := &call{h: e.h, ResponseWriter: httptest.NewRecorder(), snap: e.reg.Snapshot(), r: requestWith("If-None-Match", `"1"`)}
	c.query.values = map[string][]string{paramWait: {"60s"}}
	c.op = &operation{do: func(*Handler, *call) (reply, error) {
		if looked++; looked > 1 {
			return reply{etag: "2"}, nil // the other broker has changed meanwhile, which woke nobody
		}
		return reply{etag: "1", keys: []hubKey{waitFor(keyTopic, "T"), waitFor(keyBroker, "b")}}, nil
	}}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	c.r = c.r.WithContext(ctx)
	rep, err := e.h.await(c, reply{etag: "1", keys: []hubKey{waitFor(keyTopic, "T")}})
	if err != nil || rep.etag != "2" {
		t.Errorf("got %q, %v: the change was slept through", rep.etag, err)
	}
}

// What has no ETag cannot be waited for: an answer at once would be asked for again at once.
func TestBrokersByStateAreNotWaitedFor(t *testing.T) {
	e := newEnv(t)
	p := e.get("/api/v1/brokers?state=late&wait=30s").problem(t, 400, "validation-failed")
	if len(p.Errors) != 1 || p.Errors[0].Parameter != "wait" {
		t.Errorf("got %+v", p)
	}
}

// Any number may wait without being in the way of others: they are not in flight.
func TestWaitersAreNotInFlight(t *testing.T) {
	e := newEnv(t, func(d *Deps) { d.Limits.InFlight, d.Limits.Waiters = 4, 8 })
	e.broker("broker-a", 0, "10.0.0.1:10911", "T")
	tag := e.get("/api/v1/topics/T/route").Header.Get("Etag")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() { e.get("/api/v1/topics/T/route?wait=60s", "If-None-Match", tag).ok(t, 200) })
	}
	e.waiting(8)
	e.get("/api/v1/topics/T/route").ok(t, 200)
	p := e.get("/api/v1/topics/T/route?wait=60s", "If-None-Match", tag)
	p.problem(t, 429, "too-many-watchers")
	if p.Header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	e.declare("T", "broker-a", 1)
	wg.Wait()
}

// Nor are websockets: any number may be open, and they are no requests that are being answered.
func TestSocketsAreNotInFlight(t *testing.T) {
	end := make(chan struct{})
	e := newEnv(t, func(d *Deps) {
		d.Limits.InFlight = 4
		d.Feed = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusSwitchingProtocols)
			conn, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			<-end
			_ = conn.Close()
		})
	})
	var wg sync.WaitGroup
	open := make(chan struct{})
	for range 8 {
		wg.Go(func() {
			resp, err := client.Get(e.srv.URL + "/ws")
			if err != nil {
				t.Error(err)
				return
			}
			open <- struct{}{}
			_ = resp.Body.Close()
		})
		<-open
	}
	e.get("/api/v1/version").ok(t, 200)
	if n := e.h.flying.Load(); n > 1 {
		t.Errorf("%d requests are in flight", n)
	}
	close(end)
	wg.Wait()
}

// herd lets n long polls wait, each for a topic of its own, without sockets.
func herd(tb testing.TB, n int) (e *env, end func()) {
	e = newEnv(tb, func(d *Deps) { d.Limits.InFlight = n + 100 })
	topics := make([]string, n)
	for i := range topics {
		topics[i] = fmt.Sprintf("T%d", i)
	}
	e.broker("broker-a", 0, "10.0.0.1:10911", topics...)
	var wg sync.WaitGroup
	for _, name := range topics {
		wg.Go(func() {
			path := "http://localhost/api/v1/topics/" + name + "/route"
			ask := func(path, tag string) *httptest.ResponseRecorder {
				r := httptest.NewRequestWithContext(tb.Context(), "GET", path, nil)
				r.Header.Set("If-None-Match", tag)
				w := httptest.NewRecorder()
				e.h.ServeHTTP(w, r)
				return w
			}
			tag := ask(path, "").Header().Get("Etag")
			for e.h.ctx.Err() == nil {
				if w := ask(path+"?wait=300s", tag); w.Code == http.StatusOK {
					tag = w.Header().Get("Etag")
				}
			}
		})
	}
	e.waiting(n)
	return e, func() {
		e.h.Close()
		wg.Wait()
	}
}

func (h *hub) wakes() uint64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.woken
}

// One change of one topic wakes the one who waits for it, among 5,000.
func TestOneChangeWakesOne(t *testing.T) {
	e, end := herd(t, 5000)
	defer end()
	for i := range 5 {
		before := e.h.hub.wakes()
		e.declare(fmt.Sprintf("T%d", 7*i), "broker-a", 2)
		for e.h.hub.wakes() == before {
			time.Sleep(time.Millisecond)
		}
		e.waiting(5000)
		if n := e.h.hub.wakes() - before; n != 1 {
			t.Fatalf("%d were woken", n)
		}
	}
}

func BenchmarkLongPollHerd(b *testing.B) {
	e, end := herd(b, 5000)
	defer end()
	began := e.h.hub.wakes()
	i := 0
	for b.Loop() {
		i++
		before := e.h.hub.wakes()
		// Each time other queues than the topic has: it begins with 8, and 97 is no part of 5000.
		e.declare(fmt.Sprintf("T%d", i*7919%5000), "broker-a", int32(i%97+9))
		for e.h.hub.wakes() == before {
			time.Sleep(10 * time.Microsecond)
		}
	}
	b.StopTimer()
	b.ReportMetric(float64(e.h.hub.wakes()-began)/float64(i), "wakes/op")
}
