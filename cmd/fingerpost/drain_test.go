package main

import (
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"fingerpost/api"
	"fingerpost/internal/nstest"
	"fingerpost/registry"
	"fingerpost/remoting/wire"
)

// crowd is connections as a drain sees them: clients that pause, and some that never do.
type crowd struct {
	mu                   sync.Mutex
	brokers, quiet, busy int
	away, shut           bool
	openFails            error
	batches              []int
}

func (c *crowd) Kinds() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return map[string]int{"broker": c.brokers, "client": c.quiet + c.busy}
}

func (c *crowd) Dismiss(quiet time.Duration, most int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := min(c.quiet, most)
	if quiet == 0 {
		n, c.busy = n+c.busy, 0
	}
	c.quiet -= min(c.quiet, most)
	c.batches = append(c.batches, n)
	return n
}

func (c *crowd) SendAway(on bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.away = on
}

func (c *crowd) Shut() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.shut = true
	return nil
}

func (c *crowd) Open() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.openFails == nil {
		c.shut = false
	}
	return c.openFails
}

// seen is how things stand, for the test's goroutine.
func (c *crowd) seen() (now struct {
	quiet, busy int
	away, shut  bool
},
) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now.quiet, now.busy, now.away, now.shut = c.quiet, c.busy, c.away, c.shut
	return now
}

// drain makes a drainer of the crowd, and returns what it reports.
func (c *crowd) drain(grace time.Duration) (*drainer, *[]registry.Op) {
	var ops []registry.Op
	return &drainer{
		peers: c, door: c, log: slog.New(slog.DiscardHandler),
		report:  func(ch registry.Change) { ops = append(ops, ch.Server[0].Op) },
		timeout: func() time.Duration { return time.Minute },
		grace:   func() time.Duration { return grace },
	}, &ops
}

// Clients leave little by little in the first half of the time, those that never pause
// are told to go and then cut off, and brokers stay.
func TestDrainInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &crowd{brokers: 3, quiet: 60_000, busy: 2}
		d, ops := c.drain(5 * time.Second)
		d.Begin(registry.Cause{Actor: "token:ops"})
		d.Begin(registry.Cause{Actor: "token:other"})
		s := d.State()
		if s.State != api.DrainDraining || s.By != "token:ops" || s.DeadlineAt.Sub(s.SinceAt.Time) != 65*time.Second || s.Connections.Clients() != 60_002 {
			t.Errorf("%+v", s)
		}
		time.Sleep(4 * time.Second)
		synctest.Wait()
		if c.seen().shut {
			t.Error("the port is shut before the grace is over")
		}
		time.Sleep(16 * time.Second) // half of the first half
		synctest.Wait()
		if !c.seen().shut || c.seen().away || c.seen().quiet < 25_000 || c.seen().quiet > 35_000 {
			t.Errorf("after 15 s: shut %v, told to go %v, %d left", c.seen().shut, c.seen().away, c.seen().quiet)
		}
		time.Sleep(20 * time.Second)
		synctest.Wait()
		if !c.seen().away || c.seen().quiet != 0 || c.seen().busy != 2 || d.State().State != api.DrainDraining {
			t.Errorf("after 35 s: told to go %v, %d and %d left, %s", c.seen().away, c.seen().quiet, c.seen().busy, d.State().State)
		}
		time.Sleep(25 * time.Second)
		synctest.Wait()
		if s := d.State(); s.State != api.DrainDrained || s.Connections.Clients() != 0 || s.Connections.Broker != 3 {
			t.Errorf("at the deadline: %+v", s)
		}
		for i, n := range c.batches[:200] {
			if n > 250 {
				t.Errorf("batch %d closes %d at once", i, n)
			}
		}
		if err := d.close(t.Context()); err != nil || len(*ops) != 1 {
			t.Errorf("%v, %v", err, *ops)
		}
	})
}

// A drain that is undone at once shuts nothing afterwards.
func TestDrainUndoneAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for range 100 {
			c := &crowd{quiet: 1}
			d, _ := c.drain(0)
			d.Begin(registry.Cause{})
			if err := d.Cancel(registry.Cause{}); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			// The client may have gone before; the port is open whatever came first.
			if now := c.seen(); now.shut || now.away || d.State().State != api.DrainServing {
				t.Fatalf("%+v, %s", now, d.State().State)
			}
		}
	})
}

// A drain can be undone at any time until the stop, unless somebody has taken the port.
func TestDrainUndone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &crowd{quiet: 1, busy: 1}
		d, ops := c.drain(0)
		if err := d.Cancel(registry.Cause{}); err != nil || len(*ops) != 0 {
			t.Errorf("in service already: %v, %v", err, *ops)
		}
		d.Begin(registry.Cause{Actor: "x"})
		time.Sleep(40 * time.Second)
		synctest.Wait()
		c.openFails = errors.New("taken")
		if err := d.Cancel(registry.Cause{}); err == nil || d.State().State != api.DrainDraining {
			t.Errorf("%v, %s", err, d.State().State)
		}
		c.openFails = nil
		if err := d.Cancel(registry.Cause{}); err != nil {
			t.Error(err)
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		if s := d.State(); s.State != api.DrainServing || s.SinceAt != nil || s.By != "" || c.seen().shut || c.seen().away || c.seen().busy != 1 {
			t.Errorf("%+v, shut %v, told to go %v, %d busy", s, c.seen().shut, c.seen().away, c.seen().busy)
		}
		if len(*ops) != 2 || (*ops)[0] != registry.OpDraining || (*ops)[1] != registry.OpServing {
			t.Errorf("%v", *ops)
		}
		d.Begin(registry.Cause{})
		if d.State().State != api.DrainDraining {
			t.Error("cannot be drained again")
		}
		_ = d.close(t.Context())
	})
}

// A gate that is shut refuses, and takes connections again at the same address.
func TestGate(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := ln.Addr().String()
	g := newGate(ln, func() (net.Listener, error) { return net.Listen("tcp", addr) })
	accepted, ended := make(chan net.Conn), make(chan error, 1)
	go func() {
		for {
			c, err := g.Accept()
			if err != nil {
				ended <- err
				return
			}
			accepted <- c
		}
	}()
	for range 3 {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		(<-accepted).Close()
		c.Close()
		if err := errors.Join(g.Shut(), g.Shut()); err != nil {
			t.Fatal(err)
		}
		if c, err := net.Dial("tcp", addr); err == nil {
			c.Close()
			t.Error("a gate that is shut lets in")
		}
		if err := errors.Join(g.Open(), g.Open()); err != nil || g.Addr().String() != addr {
			t.Fatal(err)
		}
	}
	if err := g.Close(); err != nil {
		t.Error(err)
	}
	if err := <-ended; !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
	if err := errors.Join(g.Shut(), g.Open()); err != nil || !errors.Is(g.Close(), net.ErrClosed) {
		t.Error("a closed gate can be opened", err)
	}
}

// asksAlways is a client that asks one route after another until its connection ends. It
// ends with errPaused where the machine stood still for so long that it did not.
func asksAlways(t *testing.T, addr string) chan error {
	t.Helper()
	ended := make(chan error, 1)
	c, err := nstest.Dial(addr, wire.JSONHeader)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		defer c.Close()
		paused := false
		for last := time.Now(); ; {
			answer, err := c.Call(wire.GetRouteInfoByTopic, wire.Fields{{Name: wire.FieldTopic, Value: "OrderCreated"}}, nil)
			now := time.Now()
			paused = paused || now.Sub(last) > 100*time.Millisecond
			last = now
			switch {
			case err == nil && wire.ResponseCode(answer.Code) == wire.GoAway:
				err = errGoAway
			case err != nil && paused:
				err = errPaused
			}
			if err != nil {
				ended <- err
				return
			}
		}
	}()
	return ended
}

var (
	errGoAway = errors.New("told to go away")
	errPaused = errors.New("closed after a pause")
)

// A node is taken out of service and back by the command: readiness, new connections,
// clients that pause, one that does not, and the brokers that stay.
func TestDrainCommand(t *testing.T) {
	d := newDesk(t, "--drain-timeout=2s")
	idle, err := nstest.Dial(d.addr, wire.JSONHeader)
	if err != nil {
		t.Fatal(err)
	}
	defer idle.Close()
	if _, err := nstest.Must(idle.Call(wire.GetRouteInfoByTopic, wire.Fields{{Name: wire.FieldTopic, Value: "OrderCreated"}}, nil)); err != nil {
		t.Fatal(err)
	}
	busy := asksAlways(t, d.addr)
	status, stdout, stderr := d.run(t, "drain", "--status")
	if status != 0 || !strings.Contains(stdout, "serving") {
		t.Fatalf("exit status %d, %s%s", status, stdout, stderr)
	}
	status, stdout, stderr = d.run(t, "drain")
	if status != 0 || !strings.Contains(stdout, "drained") || !strings.Contains(stderr, "draining: ") || !strings.Contains(stdout, "the process may be stopped") {
		t.Fatalf("exit status %d, %s%s", status, stdout, stderr)
	}
	switch err := <-busy; {
	case errors.Is(err, errPaused):
		t.Log("the machine was too busy for a client that never pauses")
	case !errors.Is(err, errGoAway):
		t.Errorf("the client that never pauses ended with %v", err)
	}
	if _, err := idle.Call(wire.GetRouteInfoByTopic, nil, nil); err == nil {
		t.Error("the client that pauses is still connected")
	}
	if code, body := get(t, d.base+"/readyz", ""); code != http.StatusServiceUnavailable || !strings.Contains(body, "taken out of service") {
		t.Errorf("%d %s", code, body)
	}
	if c, err := net.Dial("tcp", d.addr); err == nil {
		c.Close()
		t.Error("the port takes new connections")
	}
	c := asking(t, d.base, "")
	state, err := c.DrainState(t.Context())
	if err != nil || state.Connections.Broker != 2 || state.Connections.Clients() != 0 || state.By != "token:admin" {
		t.Errorf("%+v, %v", state, err)
	}
	if brokers, err := c.Brokers(t.Context(), api.BrokersOptions{}); err != nil || brokers.Total != 2 {
		t.Errorf("%+v, %v", brokers, err)
	}
	if status, stdout, stderr = d.run(t, "drain", "--cancel"); status != 0 || !strings.Contains(stdout, "serving") {
		t.Errorf("exit status %d, %s%s", status, stdout, stderr)
	}
	if code, body := get(t, d.base+"/readyz", ""); code != http.StatusOK {
		t.Errorf("%d %s", code, body)
	}
	if status, _, stderr := d.run(t, "route", "OrderCreated", "--remoting", d.addr); status != 0 {
		t.Error(stderr)
	}
	if status, stdout, _ := d.run(t, "events", "--kind", "server"); status != 0 || !strings.Contains(stdout, "server draining") || !strings.Contains(stdout, "server serving") {
		t.Error(stdout)
	}
	if status, _, stderr := once(t, d.dir, d.env[:1], "drain"); status != 4 {
		t.Errorf("without a token: exit status %d, %s", status, stderr)
	}
}

// A stop closes a client that pauses before anything else, and does not wait for longer
// than there is one.
func TestStopLetsClientsGo(t *testing.T) {
	p := start(t, t.TempDir(), "--shutdown-drain=1h")
	idle, err := net.Dial("tcp", p.remoting(t))
	if err != nil {
		t.Fatal(err)
	}
	defer idle.Close()
	gone := make(chan error, 1)
	go func() {
		_, err := io.Copy(io.Discard, idle)
		gone <- err
	}()
	if s := p.end(t); s != 0 {
		t.Errorf("exit status %d:\n%s", s, p.stderr)
	}
	if err := <-gone; err != nil {
		t.Error(err)
	}
}
