package peers_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"fingerpost/internal/nsclient"
	"fingerpost/internal/peers"
	"fingerpost/registry"
	"fingerpost/remoting"
	"fingerpost/remoting/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// set is the NameServers of a test, each with its registry and the remoting port, joined
// by pipes, so that all of it runs in a bubble.
type set struct {
	t     *testing.T
	mu    sync.Mutex // for dial and restart
	nodes map[string]*node

	versions int64
}

// node is one of them.
type node struct {
	set  *set
	addr string
	reg  *registry.Registry
	ln   *pipes
	stop func()

	mu       sync.Mutex
	settings string
	down     bool
	java     bool // knows nothing of what only ours ask
	asked    map[wire.RequestCode]int
	odd      func(net.Conn) // answers instead of the server
}

func newSet(t *testing.T, addrs ...string) *set {
	s := &set{t: t, nodes: make(map[string]*node)}
	for _, a := range addrs {
		s.nodes[a] = s.start(a)
	}
	return s
}

func (s *set) start(addr string) *node {
	n := &node{
		set: s, addr: addr, reg: registry.New(registry.Options{}), ln: newPipes(), settings: "listenPort=9876\norderMessageEnable=false\n",
		asked: make(map[wire.RequestCode]int),
	}
	srv := &remoting.Server{Registry: n.reg, Settings: n, Log: slog.New(slog.DiscardHandler)}
	done := make(chan error, 1)
	go func() { done <- srv.Serve(n.ln) }()
	n.stop = sync.OnceFunc(func() {
		if err := srv.Shutdown(context.Background()); err != nil {
			s.t.Error(err)
		}
		if err := <-done; err != nil {
			s.t.Error(err)
		}
	})
	s.t.Cleanup(n.stop)
	return n
}

// restart stands for a new process at the address, which has forgotten everything.
func (s *set) restart(addr string) {
	s.nodes[addr].stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.nodes[addr] = s.start(addr)
}

// Text and Update make a node its own settings.
func (n *node) Text() []byte {
	n.mu.Lock()
	defer n.mu.Unlock()
	return []byte(n.settings)
}

func (n *node) Update([]byte, registry.Cause) ([]string, error) { return nil, nil }

// change changes what a node is like.
func (n *node) change(f func(*node)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	f(n)
}

// dial connects to a node, and counts what is asked over the connection.
func (s *set) dial(_ context.Context, _, addr string) (net.Conn, error) {
	s.mu.Lock()
	n := s.nodes[addr]
	s.mu.Unlock()
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.down {
		return nil, errors.New("connection refused")
	}
	client, server := net.Pipe()
	if n.odd != nil {
		go n.odd(server)
		return client, nil
	}
	select {
	case n.ln.conns <- server:
	case <-n.ln.closed:
		return nil, errors.New("connection refused")
	}
	return &counted{client, n}, nil
}

// counted looks at the requests that go over a connection.
type counted struct {
	net.Conn
	n *node
}

func (c *counted) Write(b []byte) (int, error) {
	f, _, ok, err := wire.SplitFrame(b, wire.FrameLimits{})
	if !ok || err != nil {
		return 0, fmt.Errorf("no frame: %w", err)
	}
	var cmd wire.Command
	if err := cmd.Decode(f); err != nil {
		return 0, err
	}
	c.n.mu.Lock()
	c.n.asked[wire.RequestCode(cmd.Code)]++
	java := c.n.java
	c.n.mu.Unlock()
	out := b
	if java {
		cmd.Ext = slices.DeleteFunc(cmd.Ext, func(x wire.Field) bool { return x.Name == wire.FieldDigests })
		if out, err = cmd.AppendTo(nil, f.Type); err != nil {
			return 0, err
		}
	}
	if _, err := c.Conn.Write(out); err != nil {
		return 0, err
	}
	return len(b), nil
}

// requests returns how often something was asked of a node since it was last asked.
func (n *node) requests(code wire.RequestCode) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	count := n.asked[code]
	n.asked[code] = 0
	return count
}

// watch compares the first node with all others until the test ends.
func (s *set) watch(at string, change func(*peers.Options)) *peers.Watcher {
	n := s.nodes[at]
	o := peers.Options{
		Registry: n.reg, Client: nsclient.Options{Dial: s.dial},
		Settings: func() map[string]string { return nsclient.Settings(string(n.Text())) },
	}
	for a := range s.nodes {
		if a != at {
			o.Addrs = append(o.Addrs, a)
		}
	}
	if change != nil {
		change(&o)
	}
	w := peers.New(o)
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { w.Run(ctx) })
	s.t.Cleanup(func() { cancel(); wg.Wait() })
	return w
}

// broker is what a test registers.
type broker struct {
	name    string
	id      int64
	addr    string
	cluster string   // "c" unless set
	topics  []string // each with 4 queues, or with as many as follow a colon
}

// register registers a broker with nodes.
func (s *set) register(b broker, with ...string) {
	s.t.Helper()
	if b.cluster == "" {
		b.cluster = "c"
	}
	for _, a := range with {
		reg := registry.Registration{MemberInfo: registry.MemberInfo{
			Cluster: b.cluster, Name: b.name, ID: b.id, Addr: b.addr, Timeout: 24 * time.Hour, Source: registry.FromREST,
			Version: registry.DataVersion{Counter: s.version()},
		}, Replace: true, Topics: s.nodes[a].reg.Snapshot().NewStatement(b.cluster, b.addr)}
		for _, t := range b.topics {
			name, queues, _ := strings.Cut(t, ":")
			n := int32(4)
			if queues != "" {
				if _, err := fmt.Sscan(queues, &n); err != nil {
					s.t.Fatal(err)
				}
			}
			reg.Topics.Add(name, registry.TopicConfig{QueueSpec: registry.QueueSpec{ReadQueues: n, WriteQueues: n, Perm: 6}})
		}
		if _, err := s.nodes[a].reg.Register(reg, nil, registry.Cause{}); err != nil {
			s.t.Fatal(err)
		}
	}
}

// version returns a data version that no registration had: those of one broker never agree
// between nodes, as little as heartbeats do.
func (s *set) version() int64 {
	s.versions++
	return s.versions
}

// found returns the differences that count with a peer, one a line.
func found(t *testing.T, w *peers.Watcher, addr string) string {
	t.Helper()
	r, ok := w.Report(addr)
	if !ok {
		t.Fatalf("there is no peer %s", addr)
	}
	var lines []string
	for _, d := range r.Items {
		lines = append(lines, d.String())
	}
	return strings.Join(lines, "\n")
}

// events returns what the first node's history tells of peers.
func events(r *registry.Registry) (out []string) {
	changes, _ := r.History()
	for _, c := range changes {
		for _, p := range c.Peers {
			out = append(out, fmt.Sprintf("%s %s %d→%d %s", p.Peer, p.Op, p.Before, p.After, p.Detail))
		}
	}
	return out
}

// pipes is a listener in memory.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newPipes() *pipes { return &pipes{conns: make(chan net.Conn), closed: make(chan struct{})} }

// Accept returns the server's end of the next connection.
func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

// Close ends Accept.
func (p *pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

// Addr returns something.
func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "unix"} }

func (s *set) put(addr, ns, key, value string) {
	s.t.Helper()
	if _, _, err := s.nodes[addr].reg.PutKV(ns, key, value, registry.KVCondition{}, registry.Cause{}); err != nil {
		s.t.Fatal(err)
	}
}
