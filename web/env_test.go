package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"go.uber.org/goleak"

	"fingerpost/api"
	"fingerpost/registry"
)

func TestMain(m *testing.M) {
	if os.Getenv(fanOutURL) != "" {
		if err := clientsOfFanOut(); err != nil {
			fmt.Fprintln(os.Stdout, err)
			os.Exit(1)
		}
	}
	goleak.VerifyTestMain(m)
}

// env is a feed behind a real http.Server whose connections are pipes, so that it fits
// into a synctest bubble: there time stands still until everybody waits, and a pipe has
// no buffer that would hide a reader that does not read.
type env struct {
	t    testing.TB
	reg  *registry.Registry
	feed *Feed
	ln   *pipeListener
	srv  *http.Server
	done chan struct{}

	mu   sync.Mutex
	role string // what Authenticate says; "" is nobody
}

func newEnv(t testing.TB, o FeedOptions) *env {
	t.Helper()
	e := &env{t: t, reg: o.Registry, role: "viewer", ln: newPipeListener(), done: make(chan struct{})}
	if e.reg == nil {
		e.reg = registry.New(registry.Options{})
	}
	o.Registry = e.reg
	o.Authenticate = func(*http.Request) (string, bool) {
		e.mu.Lock()
		defer e.mu.Unlock()
		return e.role, e.role != ""
	}
	o.Version = "test"
	var err error
	if e.feed, err = NewFeed(o); err != nil {
		t.Fatal(err)
	}
	e.srv = &http.Server{Handler: e.feed, ReadHeaderTimeout: time.Second}
	e.srv.RegisterOnShutdown(func() { e.feed.Close() })
	go func() {
		defer close(e.done)
		_ = e.srv.Serve(e.ln) // ends with ErrServerClosed
	}()
	return e
}

func (e *env) setRole(role string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.role = role
}

// close stops everything and waits for it.
func (e *env) close() {
	e.feed.Close()
	_ = e.srv.Close()
	<-e.done
}

// client is one socket as a client sees it.
type client struct {
	*websocket.Conn
	t    testing.TB
	pipe net.Conn
}

// dial opens a socket and takes its hello.
func (e *env) dial() *client {
	e.t.Helper()
	c, _, err := e.tryDial(&websocket.DialOptions{Subprotocols: []string{api.FeedProtocol}})
	if err != nil {
		e.t.Fatal(err)
	}
	if m := c.next(); m.Op != opHello {
		e.t.Fatalf("the first message is %s, not hello", m.Op)
	}
	return c
}

func (e *env) tryDial(o *websocket.DialOptions) (*client, *http.Response, error) {
	var pipe net.Conn
	o.HTTPClient = &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(context.Context, string, string) (net.Conn, error) {
			pipe = e.ln.dial()
			return pipe, nil
		},
	}}
	conn, res, err := websocket.Dial(context.Background(), "ws://feed.test/ws", o)
	if err != nil {
		return nil, res, err
	}
	conn.SetReadLimit(1 << 20)
	return &client{Conn: conn, t: e.t, pipe: pipe}, res, nil
}

// message is a message from the server, strictly decoded.
func (c *client) read() (api.FeedMessage, error) {
	var m api.FeedMessage
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	kind, b, err := c.Read(ctx)
	if err != nil {
		return m, err
	}
	if kind != websocket.MessageText {
		return m, fmt.Errorf("a message that is no text")
	}
	if len(b) > 256<<10 {
		return m, fmt.Errorf("a frame of %d bytes", len(b))
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&m); err != nil {
		return m, fmt.Errorf("decode %.200s: %w", b, err)
	}
	return m, nil
}

func (c *client) next() api.FeedMessage {
	c.t.Helper()
	m, err := c.read()
	if err != nil {
		c.t.Fatal(err)
	}
	return m
}

// want takes messages until one of the op comes; bookmarks in between do not count.
func (c *client) want(op string) api.FeedMessage {
	c.t.Helper()
	for {
		m := c.next()
		if m.Op == op {
			return m
		}
		if m.Op != opBookmark {
			c.t.Fatalf("got %s, want %s", m.Op, op)
		}
	}
}

func (c *client) send(text string) {
	c.t.Helper()
	if err := c.Write(context.Background(), websocket.MessageText, []byte(text)); err != nil {
		c.t.Fatal(err)
	}
}

// subscribe subscribes and takes the ack.
func (c *client) subscribe(r api.FeedRequest) api.FeedMessage {
	c.t.Helper()
	r.Op = api.FeedSubscribe
	c.send(string(mustJSON(r)))
	return c.want(opAck)
}

// wantClose takes messages until the socket is closed, and returns how.
func (c *client) wantClose() websocket.CloseError {
	c.t.Helper()
	for {
		_, err := c.read()
		if err == nil {
			continue
		}
		if ce, ok := errors.AsType[websocket.CloseError](err); ok {
			return ce
		}
		c.t.Fatalf("the socket ended without a close frame: %v", err)
	}
}

// pipeListener hands out pipes.
type pipeListener struct {
	conns chan net.Conn
	once  sync.Once
	done  chan struct{}
}

func newPipeListener() *pipeListener {
	return &pipeListener{conns: make(chan net.Conn), done: make(chan struct{})}
}

func (l *pipeListener) dial() net.Conn {
	ours, theirs := net.Pipe()
	l.conns <- theirs
	return ours
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, io.EOF
	}
}

func (l *pipeListener) Close() error {
	l.once.Do(func() { close(l.done) })
	return nil
}

func (l *pipeListener) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "unix"} }

// put registers a master with topics t0 to t(n-1) of w write queues.
func put(t testing.TB, r *registry.Registry, broker string, n int, w int32, counter int64) {
	t.Helper()
	info := registry.MemberInfo{
		Cluster: "c", Name: broker, Addr: broker + ":10911", Timeout: 2 * time.Minute,
		Version: registry.DataVersion{Counter: counter}, PeerVersion: 1,
	}
	st := r.Snapshot().NewStatement(info.Cluster, info.Addr)
	for i := range n {
		st.Add(fmt.Sprintf("t%d", i), registry.TopicConfig{QueueSpec: registry.QueueSpec{ReadQueues: 8, WriteQueues: w, Perm: 6}})
	}
	_, err := r.Register(registry.Registration{MemberInfo: info, Topics: st, Replace: true}, nil, cause("registerBroker"))
	if err != nil {
		t.Fatal(err)
	}
}

// topic sets one topic's queues, which is one change of one thing.
func topic(t testing.TB, r *registry.Registry, name, broker string, w int32) {
	t.Helper()
	_, err := r.DeclareTopic(name, []registry.QueueData{{Broker: broker, QueueSpec: registry.QueueSpec{ReadQueues: 8, WriteQueues: w, Perm: 6}}}, cause("setTopic"))
	if err != nil {
		t.Fatal(err)
	}
}

func cause(action string) registry.Cause {
	return registry.Cause{Face: "rest", Action: action, Actor: "token:test"}
}

// mirror is what a client knows: it does with messages what the dashboard's store does.
type mirror struct {
	members  map[string]string // address by broker/id
	queues   map[string]string // queues by topic, broker
	wiped    map[string]bool
	revision string
	layouts  [][]api.QueueData
	staged   *mirror
	broken   bool // a reset came, or a truncated set: what is here may be wrong
}

func newMirror() *mirror {
	return &mirror{members: map[string]string{}, queues: map[string]string{}, wiped: map[string]bool{}}
}

func (m *mirror) take(msg api.FeedMessage) error {
	switch msg.Op {
	case opSnapshot:
		return m.snapshot(msg)
	case opReset:
		m.broken = true
	case opChanges:
		for _, set := range msg.Items {
			if older(set.Revision, m.revision) {
				return fmt.Errorf("change set %s comes after %s: twice, or out of order", set.Revision, m.revision)
			}
			for _, c := range set.Changes {
				m.change(c)
			}
			m.revision = set.Revision
			m.broken = m.broken || set.Truncated
		}
	}
	return nil
}

func older(a, b string) bool {
	return b != "" && revisionOf(a) <= revisionOf(b)
}

func revisionOf(s string) (n uint64) {
	_, after, _ := strings.Cut(s, ".")
	_, _ = fmt.Sscan(after, &n) // revisions are ours
	return n
}

func (m *mirror) snapshot(msg api.FeedMessage) error {
	if msg.First {
		m.staged = newMirror()
	}
	s := m.staged
	if s == nil {
		return fmt.Errorf("a snapshot that does not begin with its first part")
	}
	for _, x := range msg.Members {
		s.members[fmt.Sprintf("%s/%d", x.BrokerName, x.BrokerID)] = x.BrokerAddr
	}
	for _, x := range msg.WritePerms {
		s.wiped[x.BrokerName] = true
	}
	s.layouts = append(s.layouts, msg.Layouts...)
	for _, x := range msg.Topics {
		for _, q := range s.layouts[x.Layout] {
			s.queues[x.Topic+" "+q.BrokerName] = fmt.Sprint(q.ReadQueueNums, q.WriteQueueNums, q.Perm, q.TopicSysFlag)
		}
	}
	if msg.Last {
		*m = *s
		m.staged, m.revision = nil, msg.Revision
	}
	return nil
}

func (m *mirror) change(c api.Change) {
	switch c.Kind {
	case api.KindMember:
		key := fmt.Sprintf("%s/%d", c.BrokerName, *c.BrokerID)
		switch c.Op {
		case "deleted", "expired", "disconnected":
			delete(m.members, key)
		case "rejected":
		default:
			if a, ok := c.After["brokerAddr"].(string); ok {
				m.members[key] = a
			}
		}
	case api.KindTopic:
		key := c.Topic + " " + c.BrokerName
		if c.Op == "deleted" {
			delete(m.queues, key)
			return
		}
		old := strings.Fields(m.queues[key])
		q := make([]string, 4)
		for i, f := range []string{"readQueueNums", "writeQueueNums", "perm", "topicSysFlag"} {
			switch {
			case c.After[f] != nil:
				q[i] = fmt.Sprint(c.After[f])
			case i < len(old):
				q[i] = old[i]
			}
		}
		m.queues[key] = strings.Join(q, " ")
	case api.KindWritePerm:
		if c.Op == "wiped" {
			m.wiped[c.BrokerName] = true
		} else {
			delete(m.wiped, c.BrokerName)
		}
	}
}

// text is the content as sorted lines.
func (m *mirror) text() string {
	var out []string
	for k, v := range m.members {
		out = append(out, "member "+k+" "+v)
	}
	for k, v := range m.queues {
		out = append(out, "queue "+k+" "+v)
	}
	slices.Sort(out)
	return strings.Join(out, "\n")
}

// textOf is the same of a snapshot of the registry.
func textOf(s *registry.Snapshot) string {
	var out []string
	for _, g := range s.Groups() {
		for _, m := range g.Members {
			out = append(out, fmt.Sprintf("member %s/%d %s", g.Name, m.ID, m.Addr))
		}
	}
	for t := range s.Topics() {
		for _, q := range t.Queues() {
			out = append(out, fmt.Sprintf("queue %s %s %d %d %d %d", t.Name, q.Broker, q.ReadQueues, q.WriteQueues, q.Perm, q.SysFlag))
		}
	}
	slices.Sort(out)
	return strings.Join(out, "\n")
}
