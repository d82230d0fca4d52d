package remoting_test

import (
	"bytes"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"fingerpost/internal/nstest"
	"fingerpost/registry"
	"fingerpost/remoting"
	"fingerpost/remoting/wire"
)

// golden compares a text with a file of testdata, or writes it with -update.
func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v; -update writes it", err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s differs (-file +now); if that is right, -update writes it\n%s", file, diff)
	}
}

// said writes an answer in one line.
func said(c *wire.Command) string {
	b := fmt.Appendf(nil, "%d", c.Code)
	if c.HasRemark {
		b = fmt.Appendf(b, " %q", c.Remark)
	}
	if c.HasExt {
		b = append(b, " {"...)
		for i, f := range c.Ext {
			if i > 0 {
				b = append(b, ' ')
			}
			b = fmt.Appendf(b, "%s=%q", f.Name, f.Value)
		}
		b = append(b, '}')
	}
	if c.Body != nil {
		b = append(append(b, " body "...), c.Body...)
	}
	return strings.ReplaceAll(string(b), "\n", `\n`)
}

// moved tells in one line how a dump of the registry changed, revisions apart.
func moved(before, after string) string {
	lines := func(dump string) []string {
		_, rest, _ := strings.Cut(dump, "\n")
		var out []string
		parent := ""
		for l := range strings.Lines(rest) {
			l = strings.TrimSuffix(l, "\n")
			if s, inner := strings.CutPrefix(l, "  "); inner {
				l = parent + " " + s
			} else {
				parent = strings.Join(strings.Fields(l)[:2], " ")
			}
			out = append(out, l)
		}
		return out
	}
	was, is := lines(before), lines(after)
	var out []string
	for _, l := range was {
		if !contains(is, l) {
			out = append(out, "-"+l)
		}
	}
	for _, l := range is {
		if !contains(was, l) {
			out = append(out, "+"+l)
		}
	}
	if len(out) == 0 {
		return "nothing"
	}
	return strings.Join(out, "; ")
}

func contains(list []string, s string) bool {
	return slices.Contains(list, s)
}

const (
	requestsPreface = `Requests that lack something or have it garbled: what is answered (code, remark, fields,
body) and what it changes in the registry. Before each stand: group b1 of cluster c1 with
id 0 at a0:1 (topics T1, T2) and id 1 at a1:1; group b2 of c2 with id 0 at a2:1 (T1, T3,
filter server f1, zone z9); the key K1 of namespace N1. Requests say version V5_5_0 unless
named, "=null" is a JSON null. The time of "now" is 946684800000.

`
	framesPreface = `Bytes that are no proper frame, or one with an unusual header: what is answered and what
becomes of the connection and of a good request on it. On a new connection they are the
first bytes, from a trusted balancer; on a used one a good request came before.

`
)

// What is answered to each request that lacks something or has it garbled, and what that
// changes. A refusal changes nothing, and whatever came, the next request is served. The
// clock stands still in a bubble, so the table is the same every time.
func TestBadRequests(t *testing.T) {
	var out strings.Builder
	out.WriteString(requestsPreface)
	for _, c := range badCases() {
		synctest.Test(t, func(t *testing.T) {
			b := startPipes(t)
			b.conf.update = theUpdate
			defer b.prepare(t, c)()
			before, was := b.dump(), b.reg.Snapshot()
			client := b.client(wire.JSONHeader)
			if err := client.Write(c.plea.frame(theOpaque)); err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			resp, err := client.Receive()
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			checkAnswer(t, c.name, resp, theOpaque)
			after, is := b.dump(), b.reg.Snapshot()
			if resp.Code != int32(wire.Success) && (before != after || was.Digest() != is.Digest() || was.Revision != is.Revision) {
				t.Errorf("%s: refused, and yet it changed %s", c.name, moved(before, after))
			}
			text := said(resp)
			if c.plea.code == 319 {
				text = strings.Replace(text, string(resp.Body), "(all settings)", 1)
			}
			fmt.Fprintf(&out, "%s\n\tanswer  %s\n\tchanges %s\n", c.name, text, moved(before, after))
			checkRoutes(t, is)
			succeed(t, client, wire.GetBrokerClusterInfo, nil, nil)
			succeed(t, b.client(wire.BinaryHeader), wire.GetBrokerClusterInfo, nil, nil)
		})
	}
	golden(t, "testdata/bad-requests.txt", out.String())
}

// theUpdate answers a change of settings as the settings do.
func theUpdate(text string) ([]string, error) {
	switch {
	case strings.HasPrefix(text, "kvConfigPath"):
		return nil, &registry.Error{Kind: registry.Denied, Field: "kvConfigPath", Message: "kvConfigPath may not be changed"}
	case strings.Contains(text, `\u12`):
		return nil, &registry.Error{Kind: registry.Invalid, Code: "malformed-properties", Message: "line 1: \\u wants four digits"}
	case strings.HasSuffix(text, "=abc"):
		return nil, &registry.Error{Kind: registry.Invalid, Field: "waitSecondsForService", Message: "waitSecondsForService must be a number"}
	case strings.HasPrefix(text, "noSuchKey"):
		return []string{"noSuchKey is no setting"}, nil
	}
	return nil, nil
}

// prepare brings about the state before a case, over connections that the returned
// function ends.
func (b *bed) prepare(t *testing.T, c badCase) (end func()) {
	t.Helper()
	var conns []*nstest.Client
	state := theState()
	for i, p := range append(state, c.pre...) {
		client := nstest.NewClient(b.conn(), wire.JSONHeader)
		conns = append(conns, client)
		if err := client.Write(p.frame(1)); err != nil {
			t.Fatal(err)
		}
		if resp, err := client.Receive(); err != nil || i < len(state) && resp.Code != 0 {
			t.Fatalf("before %s: %v, %v", c.name, resp, err)
		}
	}
	if c.rules != nil {
		rules := b.reg.Snapshot().Rules()
		c.rules(&rules)
		b.reg.SetRules(rules, nil, registry.Cause{})
	}
	return func() {
		for _, c := range conns {
			c.Close()
		}
	}
}

// checkAnswer checks what every answer has.
func checkAnswer(t *testing.T, name string, resp *wire.Command, opaque int32) {
	t.Helper()
	if resp.Flag != wire.FlagResponse || resp.Opaque != opaque || resp.Version != wire.V5_5_0 || resp.Language != 0 {
		t.Errorf("%s: the answer has flag %d, opaque %d, version %d, language %v", name, resp.Flag, resp.Opaque, resp.Version, resp.Language)
	}
}

// tap is a client's end of a connection from which everything is read at once.
type tap struct {
	conn net.Conn
	done chan struct{}
	mu   sync.Mutex
	got  []byte
	over bool
}

func newTap(c net.Conn) *tap {
	p := &tap{conn: c, done: make(chan struct{})}
	go func() {
		defer close(p.done)
		b := make([]byte, 4096)
		for {
			n, err := c.Read(b)
			p.mu.Lock()
			p.got = append(p.got, b[:n]...)
			p.over = err != nil
			p.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	return p
}

// received returns all that has come.
func (p *tap) received() []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	return bytes.Clone(p.got)
}

// ended reports whether the server has ended the connection.
func (p *tap) ended() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.over
}

func (p *tap) close() {
	p.conn.Close()
	<-p.done
}

// send writes and returns what came back when everything has come to rest, and whether
// the server has ended the connection.
func (p *tap) send(t *testing.T, b []byte) (answers []*wire.Command, over bool) {
	t.Helper()
	p.mu.Lock()
	at := len(p.got)
	p.mu.Unlock()
	go p.conn.Write(b) // what is left unread is given up when the connection ends
	synctest.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	for rest := p.got[at:]; len(rest) > 0; {
		f, size, ok, err := wire.SplitFrame(rest, wire.FrameLimits{})
		if err != nil || !ok {
			t.Fatalf("what came back is no frame: %q, %v", rest, err)
		}
		c := &wire.Command{}
		if err := c.Decode(f); err != nil {
			t.Fatal(err)
		}
		c.Body = bytes.Clone(c.Body)
		answers, rest = append(answers, c), rest[size:]
	}
	return answers, p.over
}

// What becomes of a connection on which something comes that is no proper frame, and of
// the next request on it. Nothing of it changes the registry or hurts anybody else.
func TestBadFrames(t *testing.T) {
	var out strings.Builder
	out.WriteString(framesPreface)
	for _, c := range rawCases() {
		for _, used := range []bool{false, true} {
			if used && c.cold || !used && c.warm {
				continue
			}
			synctest.Test(t, func(t *testing.T) {
				b := startPipes(t, with(func(s *remoting.Server) {
					s.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
				}))
				defer b.prepare(t, badCase{name: c.name})()
				before := b.dump()
				p := newTap(b.ln.(*pipes).dial(&net.TCPAddr{IP: net.IPv4(10, 1, 1, 1), Port: 5}))
				defer p.close()
				name := c.name + " (new connection)"
				probe := rawFrame(0, []byte(strings.Replace(goodHead, "424242", "99", 1)), nil)
				if used {
					name = c.name + " (used connection)"
					p.send(t, probe)
				}
				answers, over := p.send(t, c.bytes)
				fmt.Fprintf(&out, "%s\n\tanswer  %s\n\tthen    %s\n", name, allSaid(answers), fate(t, p, over, probe))
				if after := b.dump(); before != after && !strings.Contains(c.name, "put KV") {
					t.Errorf("%s changed %s", name, moved(before, after))
				}
				succeed(t, b.client(wire.JSONHeader), wire.GetRouteInfoByTopic, fields("topic", "T1"), nil)
			})
		}
	}
	golden(t, "testdata/bad-frames.txt", out.String())
}

// fate tells what became of the connection, and of a good request on it.
func fate(t *testing.T, p *tap, over bool, probe []byte) string {
	t.Helper()
	if over {
		return "closed"
	}
	answers, over := p.send(t, probe)
	switch {
	case over:
		return "kept; a good request ends it"
	case len(answers) == 0:
		return "kept; a good request gets no answer"
	}
	return "kept; a good request gets " + allSaid(answers)
}

func allSaid(answers []*wire.Command) string {
	if len(answers) == 0 {
		return "none"
	}
	var out []string
	for _, a := range answers {
		s := said(a)
		if a.Opaque != theOpaque && a.Opaque != 99 {
			s += fmt.Sprint(" opaque ", a.Opaque)
		}
		out = append(out, s)
	}
	return strings.Join(out, ", ")
}
