package handlers

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"fingerpost/api"
	"fingerpost/internal/auth"
	"fingerpost/registry"
)

// wired passes requests to a handler without a socket, so that time can be simulated.
type wired struct {
	h    http.Handler
	mu   sync.Mutex // guards what follows
	down error      // what requests fail with
	sent []string
	at   []time.Time // of each
}

func (w *wired) RoundTrip(r *http.Request) (*http.Response, error) {
	w.mu.Lock()
	w.sent, w.at = append(w.sent, r.Method), append(w.at, time.Now())
	down := w.down
	w.mu.Unlock()
	if down != nil {
		return nil, down
	}
	in := r.Clone(r.Context())
	in.RequestURI = r.URL.RequestURI()
	in.Host, in.RemoteAddr = r.URL.Host, "127.0.0.1:1"
	if in.Body == nil {
		in.Body = http.NoBody
	}
	rec := httptest.NewRecorder()
	w.h.ServeHTTP(rec, in)
	return rec.Result(), nil
}

// fail makes requests fail from now on, or work if err is nil, and forgets when they came.
func (w *wired) fail(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.down, w.at = err, nil
}

// kept is a KeepAlive that runs in simulated time.
type kept struct {
	reg    *registry.Registry
	wire   *wired
	stop   context.CancelFunc
	events []api.KeepAliveEvent
	end    error
	ended  bool
}

// keep runs f beside a member that is kept alive.
func keep(t *testing.T, addr string, f func(*kept)) {
	t.Helper()
	keeper := keeperOf(auth.Options{}, "bridge registrar bridge-*")
	synctest.Test(t, func(t *testing.T) {
		k := &kept{reg: registry.New(registry.Options{})}
		h, err := New(Deps{Registry: k.reg, Auth: keeper, Settings: newFakeSettings(), Log: slog.New(slog.DiscardHandler), Site: Site{Loopback: true}})
		if err != nil {
			t.Fatal(err)
		}
		defer h.Close()
		k.wire = &wired{h: h}
		c, err := api.New("http://127.0.0.1", api.Options{Token: tokenOf("bridge"), HTTP: &http.Client{Transport: k.wire}})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		k.stop = cancel
		done := make(chan struct{})
		go func() {
			defer close(done)
			k.end = c.KeepAlive(ctx, api.KeepAlive{
				BrokerName: "bridge-1", Notify: func(ev api.KeepAliveEvent) { k.events = append(k.events, ev) },
				Registration: api.Registration{ClusterName: "c", BrokerAddr: addr, TopicConfigTable: map[string]api.TopicConfig{"T": spec(4)}},
			})
			k.ended = true
		}()
		synctest.Wait()
		f(k)
		cancel()
		<-done
	})
}

// after lets time pass.
func (k *kept) after(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// said are the methods sent since it was last asked.
func (k *kept) said() string {
	k.wire.mu.Lock()
	defer k.wire.mu.Unlock()
	s := strings.Join(k.wire.sent, " ")
	k.wire.sent = nil
	return s
}

func TestKeepAlive(t *testing.T) {
	keep(t, "10.0.0.9:10911", func(k *kept) {
		if s := k.said(); s != "PUT" || k.reg.Snapshot().Topic("T") == nil {
			t.Fatalf("sent %s", s)
		}
		// The server asks for 20 s; a tenth more or less, so that 60 s hold three at most.
		k.after(17 * time.Second)
		if s := k.said(); s != "" {
			t.Errorf("before the time: %s", s)
		}
		k.after(6 * time.Second)
		if s := k.said(); s != "POST" {
			t.Errorf("after 23 s: %s", s)
		}
		for range 20 {
			k.after(60 * time.Second)
			k.reg.Sweep(5*time.Second, registry.Cause{})
			if n := strings.Count(k.said(), "POST"); n < 2 || n > 4 {
				t.Errorf("%d heartbeats in a minute", n)
			}
		}
		if k.reg.Snapshot().Member("bridge-1", 0) == nil {
			t.Error("the member is gone")
		}
		for _, ev := range k.events {
			if ev.Next < 18*time.Second || ev.Next > 22*time.Second || ev.Err != nil {
				t.Errorf("%+v", ev)
			}
		}
		k.stop()
		synctest.Wait()
		if s := k.said(); s != "DELETE" || k.end != nil || k.reg.Snapshot().Topic("T") != nil {
			t.Errorf("at the end: %s, %v", s, k.end)
		}
	})
}

// A server that has forgotten the member is told again.
func TestKeepAliveRegistersAgain(t *testing.T) {
	keep(t, "10.0.0.9:10911", func(k *kept) {
		if _, err := k.reg.Remove("bridge-1", 0, registry.Claim{Any: true}, registry.Cause{}); err != nil {
			t.Fatal(err)
		}
		k.said()
		k.after(23 * time.Second)
		if s := k.said(); s != "POST PUT" || k.reg.Snapshot().Topic("T") == nil {
			t.Errorf("sent %s", s)
		}
		// And so is one whose topics of it are others.
		m := k.reg.Snapshot().Member("bridge-1", 0).MemberInfo
		st := k.reg.Snapshot().NewStatement(m.Cluster, m.Addr)
		m.Version.Counter += 7
		if _, err := k.reg.Register(registry.Registration{MemberInfo: m, Topics: st, Replace: true}, nil, registry.Cause{}); err != nil {
			t.Fatal(err)
		}
		k.after(23 * time.Second)
		if s := k.said(); s != "POST PUT" || k.reg.Snapshot().Topic("T") == nil {
			t.Errorf("sent %s", s)
		}
		k.after(23 * time.Second)
		if s := k.said(); s != "POST" {
			t.Errorf("then sent %s", s)
		}
	})
}

func TestKeepAliveBacksOff(t *testing.T) {
	keep(t, "10.0.0.9:10911", func(k *kept) {
		k.wire.fail(errors.New("no route to host"))
		for range 17 {
			k.after(5 * time.Second)
			k.reg.Sweep(5*time.Second, registry.Cause{})
		}
		var gaps []time.Duration
		for i := range len(k.wire.at) - 1 {
			gaps = append(gaps, k.wire.at[i+1].Sub(k.wire.at[i]))
		}
		if got := fmt.Sprint(gaps); !strings.HasPrefix(got, "[1s 2s 4s 8s 15s 15s") {
			t.Errorf("repeated after %s", got)
		}
		k.wire.fail(nil)
		if k.reg.Snapshot().Member("bridge-1", 0) != nil {
			t.Error("the member outlived its time")
		}
		k.said()
		k.after(15 * time.Second)
		if s := k.said(); s != "POST PUT" || k.reg.Snapshot().Member("bridge-1", 0) == nil {
			t.Errorf("after the failure: %s", s)
		}
	})
}

// Where another has the place there is nothing to wait for.
func TestKeepAliveStops(t *testing.T) {
	keep(t, "10.0.0.9:10911", func(k *kept) {
		k.said()
		m := registry.MemberInfo{Cluster: "c", Name: "bridge-1", Addr: "10.0.0.8:1", Timeout: time.Minute}
		if _, err := k.reg.Register(registry.Registration{MemberInfo: m}, nil, registry.Cause{}); err != nil {
			t.Fatal(err)
		}
		k.after(23 * time.Second)
		if !k.ended {
			t.Fatal("it goes on")
		}
		refusal(t, k.end, http.StatusConflict, "member-taken-over")
		if s := k.said(); s != "POST" {
			t.Errorf("sent %s", s)
		}
	})
	keep(t, "nonsense", func(k *kept) {
		if !k.ended {
			t.Fatal("it goes on")
		}
		refusal(t, k.end, http.StatusBadRequest, "validation-failed")
	})
}
