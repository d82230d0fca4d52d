package discovery

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func list(t *testing.T, o Options) *List {
	t.Helper()
	o.Log = slog.New(slog.DiscardHandler)
	l, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// Which source counts, and that a node on its way out is not told.
func TestSources(t *testing.T) {
	var leaving atomic.Bool
	for name, c := range map[string]struct {
		o            Options
		unit         string
		want, leaves string
	}{
		"nothing":            {},
		"self":               {o: Options{Self: []string{"a:1"}}, want: "a:1"},
		"peers":              {o: Options{Self: []string{"a:1"}, Peers: []string{"b:1", "c:1"}}, want: "a:1;b:1;c:1", leaves: "b:1;c:1"},
		"self among peers":   {o: Options{Self: []string{"x:1", "b:1"}, Peers: []string{"b:1", "c:1"}}, want: "b:1;c:1", leaves: "c:1"},
		"no self":            {o: Options{Peers: []string{"b:1"}}, want: "b:1", leaves: "b:1"},
		"addresses":          {o: Options{Self: []string{"a:1"}, Peers: []string{"b:1"}, Addresses: []string{"d:1", "a:1"}, Name: "n:1"}, want: "d:1;a:1", leaves: "d:1"},
		"unit":               {o: Options{Addresses: []string{"d:1"}, Units: map[string][]string{"east": {"e:1", "f:1"}}}, unit: "east", want: "e:1;f:1", leaves: "e:1;f:1"},
		"unit without":       {o: Options{Addresses: []string{"d:1"}, Units: map[string][]string{"east": {"e:1"}}}, unit: "west", want: "d:1", leaves: "d:1"},
		"not yet resolved":   {o: Options{Name: "n:1", Peers: []string{"b:1"}}},
		"unit of an old one": {o: Options{Peers: []string{"b:1"}}, unit: "x", want: "b:1", leaves: "b:1"},
	} {
		c.o.Leaving = leaving.Load
		l := list(t, c.o)
		leaving.Store(false)
		if got := l.For(c.unit); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		leaving.Store(true)
		if got := l.For(c.unit); got != c.leaves {
			t.Errorf("%s, leaving: %q, want %q", name, got, c.leaves)
		}
		if got := func() string { leaving.Store(false); return l.For(c.unit) }(); got != c.want {
			t.Errorf("%s, again: %q, want %q", name, got, c.want)
		}
	}
	if _, err := New(Options{Name: "no-port"}); err == nil {
		t.Error("a name without a port is taken")
	}
}

// dns answers what it is told to.
type dns struct {
	mu    sync.Mutex
	addrs []string
	err   error
	hangs bool
	asked int
}

func (d *dns) lookup(ctx context.Context, _ string) ([]netip.Addr, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.asked++
	if d.hangs {
		d.mu.Unlock()
		defer d.mu.Lock()
		<-ctx.Done()
		return nil, ctx.Err()
	}
	var out []netip.Addr
	for _, a := range d.addrs {
		out = append(out, netip.MustParseAddr(a))
	}
	return out, d.err
}

// DNS is asked in the background; where it fails, says nothing or hangs, the last good
// answer stays and the check says so.
func TestDNS(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &dns{addrs: []string{"10.0.0.2", "::ffff:10.0.0.1", "10.0.0.2", "fd00::1"}}
		leaving := false
		// The times to come are set between two questions.
		set := func(f func()) {
			d.mu.Lock()
			defer d.mu.Unlock()
			f()
		}
		l := list(t, Options{
			Name: "headless.mq.svc:9876", Lookup: d.lookup, Leaving: func() bool { return leaving },
			Local: func() ([]netip.Addr, error) { return []netip.Addr{netip.MustParseAddr("10.0.0.2")}, nil },
		})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); l.Run(ctx) }()
		synctest.Wait()
		all := "10.0.0.1:9876;10.0.0.2:9876;[fd00::1]:9876"
		step := func(name, want string, failing bool) {
			t.Helper()
			if got := l.For(""); got != want {
				t.Errorf("%s: %q, want %q", name, got, want)
			}
			if err := l.Check(ctx); (err != nil) != failing {
				t.Errorf("%s: %v", name, err)
			}
		}
		step("first", all, false)
		leaving = true
		step("leaving", "10.0.0.1:9876;[fd00::1]:9876", false)
		leaving = false
		set(func() { d.err = errors.New("SERVFAIL") })
		step("before it is asked again", all, false)
		time.Sleep(Refresh)
		synctest.Wait()
		step("failing", all, true)
		set(func() { d.err, d.addrs = nil, nil })
		time.Sleep(Refresh)
		synctest.Wait()
		step("empty", all, true)
		asked := 0
		set(func() { d.hangs, asked = true, d.asked })
		time.Sleep(Refresh + lookupTimeout)
		synctest.Wait()
		step("hanging", all, true)
		if n := d.asked - asked; n != 1 {
			t.Errorf("asked %d times meanwhile", n)
		}
		set(func() { d.hangs, d.addrs = false, []string{"10.0.0.3"} })
		time.Sleep(Refresh)
		synctest.Wait()
		step("back", "10.0.0.3:9876", false)
		var many []string
		for i := range 300 {
			many = append(many, netip.AddrFrom4([4]byte{10, 1, byte(i >> 8), byte(i)}).String())
		}
		set(func() { d.addrs = many })
		time.Sleep(Refresh)
		synctest.Wait()
		if n := strings.Count(l.For(""), ";") + 1; n != maxAddresses {
			t.Errorf("%d addresses", n)
		}
		cancel()
		<-done
	})
}

// A listener of its own answers the paths that clients ask, and nothing else.
func TestServe(t *testing.T) {
	l := list(t, Options{Addresses: []string{"a:1", "b:1"}, Units: map[string][]string{"east": {"e:1"}}})
	for _, c := range []struct {
		method, path string
		status       int
		body         string
	}{
		{"GET", "/rocketmq/nsaddr", 200, "a:1;b:1"},
		{"GET", "/rocketmq/nsaddr?k=v", 200, "a:1;b:1"},
		{"GET", "/rocketmq/nsaddr-east?nofix=1", 200, "e:1"},
		{"GET", "/rocketmq/nsaddr-west?nofix=1&a=b", 200, "a:1;b:1"},
		{"GET", "/rocketmq/nsaddr-", 404, ""},
		{"GET", "/rocketmq/nsaddrx", 404, ""},
		{"GET", "/rocketmq/nsaddr/", 404, ""},
		{"GET", "/", 404, ""},
		{"POST", "/rocketmq/nsaddr", 405, ""},
	} {
		w := httptest.NewRecorder()
		l.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), c.method, c.path, nil))
		if w.Code != c.status || c.status == http.StatusOK && w.Body.String() != c.body {
			t.Errorf("%s %s: %d %q", c.method, c.path, w.Code, w.Body)
		}
	}
	w := httptest.NewRecorder()
	list(t, Options{Name: "n:1"}).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", Path, nil))
	if w.Code != http.StatusServiceUnavailable || strings.Contains(w.Body.String(), ":") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}
