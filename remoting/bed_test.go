package remoting_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"fingerpost/internal/nstest"
	"fingerpost/registry"
	"fingerpost/remoting"
	"fingerpost/remoting/wire"
)

// patience is how long a test waits for what must come: long enough for any machine.
const patience = 30 * time.Second

// bed is a server under test with everything around it.
type bed struct {
	tb   testing.TB
	srv  *remoting.Server
	reg  *registry.Registry
	log  *logbook
	conf *settings
	ln   net.Listener
	done chan error // what Serve returned
}

// change makes the server of a test differ from the usual one.
type change func(*bed)

// withRules changes the registry's rules at the start.
func withRules(set func(*registry.Rules)) change {
	return func(b *bed) {
		rules := b.reg.Snapshot().Rules()
		set(&rules)
		b.reg.SetRules(rules, nil, registry.Cause{})
	}
}

// with changes the server before it starts.
func with(set func(*remoting.Server)) change { return func(b *bed) { set(b.srv) } }

// startTCP runs a server on loopback until the test ends.
func startTCP(tb testing.TB, changes ...change) *bed {
	tb.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	return start(tb, ln, changes...)
}

// startPipes runs a server in memory, also in a synctest bubble.
func startPipes(tb testing.TB, changes ...change) *bed {
	tb.Helper()
	return start(tb, newPipes(), changes...)
}

func start(tb testing.TB, ln net.Listener, changes ...change) *bed {
	tb.Helper()
	b := &bed{
		tb: tb, reg: registry.New(registry.Options{}), log: newLogbook(),
		conf: &settings{text: "listenPort=9876\n"}, ln: ln, done: make(chan error, 1),
	}
	b.srv = &remoting.Server{Registry: b.reg, Settings: b.conf, Log: slog.New(b.log)}
	for _, c := range changes {
		c(b)
	}
	go func() { b.done <- b.srv.Serve(ln) }()
	tb.Cleanup(b.stop)
	return b
}

// stop shuts the server down. It may have been shut down before.
func (b *bed) stop() {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := b.srv.Shutdown(ctx); err != nil {
		b.tb.Errorf("shutdown: %v", err)
	}
	if err := <-b.done; err != nil {
		b.tb.Errorf("Serve: %v", err)
	}
	b.done <- nil
	for _, e := range b.log.find("panic") {
		if e.attrs["panic"] != wantedPanic {
			b.tb.Errorf("the log tells of a panic: %s %v", e.msg, e.attrs)
		}
	}
	checkRoutes(b.tb, b.reg.Snapshot())
}

// wantedPanic is what a test that wants a panic panics with.
const wantedPanic = "as the test wants it"

// conn opens a connection to the server.
func (b *bed) conn() net.Conn {
	b.tb.Helper()
	if p, ok := b.ln.(*pipes); ok {
		return p.dial(nil)
	}
	c, err := net.DialTimeout("tcp", b.ln.Addr().String(), patience)
	if err != nil {
		b.tb.Fatal(err)
	}
	return c
}

// client connects a client that the test's end closes.
func (b *bed) client(t wire.HeaderType) *nstest.Client {
	b.tb.Helper()
	c := nstest.NewClient(b.conn(), t)
	b.tb.Cleanup(func() { c.Close() })
	return c
}

// dump returns the registry as text.
func (b *bed) dump() string {
	b.tb.Helper()
	var out bytes.Buffer
	if err := b.reg.Snapshot().Dump(&out); err != nil {
		b.tb.Fatal(err)
	}
	return out.String()
}

// changes subscribes to the registry until the test ends.
func (b *bed) changes() <-chan *registry.Change {
	_, sub := b.reg.Subscribe(1024)
	b.tb.Cleanup(sub.Close)
	return sub.C
}

// await returns the next change for which want holds.
func await(tb testing.TB, c <-chan *registry.Change, want func(*registry.Change) bool) *registry.Change {
	tb.Helper()
	late := time.After(patience)
	for {
		select {
		case ch, ok := <-c:
			if !ok {
				tb.Fatal("the subscription ended")
			}
			if want(ch) {
				return ch
			}
		case <-late:
			tb.Fatal("the change did not come")
		}
	}
}

// memberGone holds of a change in which the broker's member left in that way.
func memberGone(op registry.Op, broker string) func(*registry.Change) bool {
	return func(c *registry.Change) bool {
		for _, m := range c.Members {
			if m.Op == op && m.Broker == broker {
				return true
			}
		}
		return false
	}
}

// checkRoutes holds every route to what clients rely on: no queue without its broker
// and no broker without an address.
func checkRoutes(tb testing.TB, s *registry.Snapshot) {
	tb.Helper()
	for t := range s.Topics() {
		rt := s.RouteOf(t)
		brokers := map[string]bool{}
		for _, b := range rt.Brokers {
			brokers[b.Name] = true
			if len(b.Addrs) == 0 {
				tb.Errorf("topic %q: broker %q has no address", t.Name, b.Name)
			}
		}
		for _, q := range rt.Queues {
			if !brokers[q.Broker] {
				tb.Errorf("topic %q: queues of %q, which is no broker of the route", t.Name, q.Broker)
			}
		}
	}
	for l := range s.Lives() {
		if s.Group(l.Name) == nil && s.Placed(l) {
			tb.Errorf("%s %s is live in no group", l.Cluster, l.Addr)
		}
	}
}

// call sends a request and wants the answer to come.
func call(tb testing.TB, c *nstest.Client, code wire.RequestCode, ext wire.Fields, body []byte) *wire.Command {
	tb.Helper()
	resp, err := c.Call(code, ext, body)
	if err != nil {
		tb.Fatal(err)
	}
	return resp
}

// succeed is call for a request that must be answered with success.
func succeed(tb testing.TB, c *nstest.Client, code wire.RequestCode, ext wire.Fields, body []byte) *wire.Command {
	tb.Helper()
	resp, err := nstest.Must(c.Call(code, ext, body))
	if err != nil {
		tb.Fatal(err)
	}
	return resp
}

// ended waits until the server has closed the connection without saying any more.
func ended(tb testing.TB, c *nstest.Client) {
	tb.Helper()
	resp, err := c.Receive()
	switch {
	case err == nil:
		tb.Fatalf("got an answer, code %d %q, instead of the end", resp.Code, resp.Remark)
	case errors.Is(err, io.EOF), strings.Contains(err.Error(), "reset by peer"), strings.Contains(err.Error(), "closed pipe"):
	default:
		tb.Fatalf("the connection did not end: %v", err)
	}
}

// fields makes extension fields of names and values.
func fields(nameValue ...string) wire.Fields {
	f := make(wire.Fields, 0, len(nameValue)/2)
	for i := 0; i < len(nameValue); i += 2 {
		f = append(f, wire.Field{Name: nameValue[i], Value: nameValue[i+1]})
	}
	return f
}

// broker is a registration in short.
type broker struct {
	cluster, name string
	id            int64
	addr, ha      string
	acting        wire.Bool
	zone          string
	timeout       int64
	topics        []wire.TopicConfig
	mappings      []wire.TopicMapping
	filters       []string
	state         int64
	counter       int64
}

const stamp = 1_600_000_000_000 // the timestamp of data versions

func (r broker) ext() wire.Fields {
	h := wire.RegisterBrokerHeader{
		Broker: wire.BrokerIdentity{
			Cluster: wire.TextOf(r.cluster), Name: wire.TextOf(r.name), Addr: wire.TextOf(r.addr), ID: wire.IntOf(r.id),
		},
		HAServerAddr: wire.TextOf(r.ha), EnableActingMaster: r.acting,
		ZoneName: wire.Text{Value: r.zone, Present: r.zone != ""},
	}
	if r.timeout != 0 {
		h.HeartbeatTimeoutMillis = wire.IntOf(r.timeout)
	}
	return h.Fields()
}

func (r broker) body() []byte {
	b := wire.RegisterBody{
		DataVersion:   wire.DataVersion{StateVersion: r.state, Timestamp: stamp, Counter: r.counter},
		FilterServers: r.filters, Topics: r.topics, Mappings: r.mappings,
	}
	return b.AppendJSON(nil)
}

func (r broker) identity() wire.Fields {
	return fields("clusterName", r.cluster, "brokerName", r.name, "brokerAddr", r.addr)
}

// register registers the broker over c.
func (r broker) register(tb testing.TB, c *nstest.Client) *wire.Command {
	tb.Helper()
	return succeed(tb, c, wire.RegisterBroker, r.ext(), r.body())
}

// topics makes plain topics of 4 queues.
func topics(names ...string) []wire.TopicConfig {
	out := make([]wire.TopicConfig, len(names))
	for i, n := range names {
		out[i] = topic(n, 4, 6)
	}
	return out
}

func topic(name string, queues, perm int32) wire.TopicConfig {
	return wire.TopicConfig{Name: name, ReadQueues: queues, WriteQueues: queues, Perm: perm}
}

// settings are those of a server whose settings are another package's business.
type settings struct {
	mu     sync.Mutex
	text   string
	update func(text string) (warnings []string, err error)
	panics bool
	causes []registry.Cause
}

// Text returns the text.
func (s *settings) Text() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.panics {
		panic(wantedPanic)
	}
	return []byte(s.text)
}

// Update appends the text, or does what the test says.
func (s *settings) Update(text []byte, cause registry.Cause) ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.causes = append(s.causes, cause)
	if s.update != nil {
		return s.update(string(text))
	}
	s.text += string(text) + "\n"
	return nil, nil
}

// pipes is a listener whose connections are in memory.
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
func (p *pipes) Addr() net.Addr { return pipeAddr{} }

// dial connects; the server sees the connection come from the address, if one is given.
func (p *pipes) dial(from net.Addr) net.Conn {
	client, server := net.Pipe()
	if from != nil {
		server = addressed{server, from}
	}
	select {
	case p.conns <- server:
	case <-p.closed:
		server.Close()
	}
	return client
}

func (b *bed) dialFrom(ip string) *nstest.Client {
	b.tb.Helper()
	from := net.TCPAddrFromAddrPort(netip.AddrPortFrom(netip.MustParseAddr(ip), 40000))
	c := nstest.NewClient(b.ln.(*pipes).dial(from), wire.JSONHeader)
	b.tb.Cleanup(func() { c.Close() })
	return c
}

type pipeAddr struct{}

func (pipeAddr) Network() string { return "pipe" }
func (pipeAddr) String() string  { return "pipe" }

type addressed struct {
	net.Conn
	from net.Addr
}

// RemoteAddr returns the address that the test wants.
func (a addressed) RemoteAddr() net.Addr { return a.from }
