package remoting_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"fingerpost/internal/nstest"
	"fingerpost/registry"
	"fingerpost/remoting"
	"fingerpost/remoting/wire"
)

// Protocols that have no business here are told by name, once, and closed.
func TestForeignProtocols(t *testing.T) {
	tests := []struct{ first, line, name, use string }{
		{"GET / HTTP/1.1\r\n\r\n", "another protocol", "HTTP", "HTTP port"},
		{"POST /api HTTP/1.1\r\n", "another protocol", "HTTP", "HTTP port"},
		{"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "another protocol", "gRPC", "proxy"},
		{"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03abcdef", "a TLS connection is closed", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.first[:3], func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := startPipes(t)
				neighbour := b.client(wire.JSONHeader)
				for range 3 {
					p := newTap(b.conn())
					if got, over := p.send(t, []byte(tt.first)); len(got) > 0 || !over {
						t.Errorf("answers %s, closed %v", allSaid(got), over)
					}
					p.close()
				}
				b.log.wants(t, tt.line, "peer", "pipe", "protocol", tt.name, "use", tt.use)
				if tt.name == "" {
					b.log.wants(t, tt.line, "setting", "tls.server.certPath")
				}
				if n := b.srv.Stats.WrongProtocol.Load(); n != 3 {
					t.Errorf("%d are counted, want 3", n)
				}
				succeed(t, neighbour, wire.GetAllTopicListFromNamesrv, nil, nil)
			})
		})
	}
}

// certificate is one for these tests, made once.
var certificate = sync.OnceValue(func() tls.Certificate {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	tmpl := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, DNSNames: []string{"test"},
		NotBefore: time.Unix(0, 0), NotAfter: time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC),
	}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, &key.PublicKey, key)
	if err != nil {
		panic(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		panic(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}
})

func withTLS(mode remoting.TLSMode, certified bool) change {
	return with(func(s *remoting.Server) {
		s.TLS.Mode = mode
		if certified {
			conf := &tls.Config{Certificates: []tls.Certificate{certificate()}}
			s.TLS.Config = func() *tls.Config { return conf }
		}
	})
}

// encrypted speaks TLS over a connection.
func encrypted(tb testing.TB, c net.Conn) *nstest.Client {
	pool := x509.NewCertPool()
	pool.AddCert(certificate().Leaf)
	t := nstest.NewClient(tls.Client(c, &tls.Config{RootCAs: pool, ServerName: "test"}), wire.JSONHeader)
	tb.Cleanup(func() { t.Close() })
	return t
}

func TestTLSModes(t *testing.T) {
	tests := []struct {
		name             string
		mode             remoting.TLSMode
		certified        bool
		plain, encrypted bool
	}{
		{"permissive", remoting.TLSPermissive, true, true, true},
		{"permissive without a certificate", remoting.TLSPermissive, false, true, false},
		{"enforcing", remoting.TLSEnforcing, true, false, true},
		{"enforcing without a certificate", remoting.TLSEnforcing, false, false, false},
		{"disabled", remoting.TLSDisabled, true, true, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := startTCP(t, withTLS(tt.mode, tt.certified))
			b.conf.text = strings.Repeat("key=value\n", 50_000)
			ask := func(c *nstest.Client, key string) error {
				_, err := nstest.Must(c.Call(wire.PutKVConfig, fields("namespace", "n", "key", key, "value", "v"), nil))
				return err
			}
			plain := b.client(wire.JSONHeader)
			if err := ask(plain, "plain"); (err == nil) != tt.plain {
				t.Errorf("plain: %v", err)
			}
			secret := encrypted(t, b.conn())
			if err := ask(secret, "encrypted"); (err == nil) != tt.encrypted {
				t.Errorf("TLS: %v", err)
			}
			// What was refused has not been done.
			for key, want := range map[string]bool{"plain": tt.plain, "encrypted": tt.encrypted} {
				if _, ok := b.reg.Snapshot().KV("n", key); ok != want {
					t.Errorf("the %s request was done: %v", key, ok)
				}
			}
			if tt.encrypted {
				var shown []bool
				for _, c := range b.srv.Connections() {
					shown = append(shown, c.TLS)
				}
				if !shown[len(shown)-1] {
					t.Error("the connection is not shown as encrypted")
				}
				if resp := succeed(t, secret, wire.GetNamesrvConfig, nil, nil); string(resp.Body) != b.conf.text {
					t.Errorf("a large answer has %d bytes", len(resp.Body))
				}
			} else {
				b.log.wants(t, "a TLS connection is closed", "setting", "tls.server.mode")
			}
			if !tt.plain {
				b.log.wants(t, "a connection without TLS is closed", "peer", plain.Conn().LocalAddr().String())
			}
		})
	}
}

// Brokers over TLS live and die like others.
func TestBrokerOverTLS(t *testing.T) {
	b := startTCP(t, withTLS(remoting.TLSEnforcing, true))
	changes := b.changes()
	c := encrypted(t, b.conn())
	one("b1", "a:1").register(t, c)
	for range 3 {
		route(t, c, "T-b1")
	}
	c.Close()
	await(t, changes, memberGone(registry.OpDisconnected, "b1"))
}

// A handshake that is not finished, or makes no sense, ends the connection in time.
func TestStuckHandshakes(t *testing.T) {
	hello := func() []byte { // what a client says first
		near, far := net.Pipe()
		go func() {
			tls.Client(near, &tls.Config{ServerName: "test"}).Handshake()
			near.Close()
		}()
		var b [2048]byte
		n, _ := far.Read(b[:])
		far.Close()
		return bytes.Clone(b[:n])
	}
	synctest.Test(t, func(t *testing.T) {
		b := startPipes(t, withTLS(remoting.TLSPermissive, true))
		whole := hello()
		for _, part := range [][]byte{whole[:20], whole[:len(whole)-1]} {
			p := newTap(b.conn())
			defer p.close()
			go p.conn.Write(part)
			time.Sleep(10*time.Second - 1)
			synctest.Wait()
			if p.ended() {
				t.Error("closed too early")
			}
			time.Sleep(time.Nanosecond)
			synctest.Wait()
			if !p.ended() {
				t.Error("not closed in time")
			}
		}
		b.log.wants(t, "a TLS handshake failed")
		p := newTap(b.conn())
		defer p.close()
		go p.conn.Write([]byte("\x16\x03\x01\x00\x05nonsense and more"))
		synctest.Wait()
		if !p.ended() {
			t.Error("nonsense is not closed at once")
		}
		if n := b.srv.Stats.WrongProtocol.Load(); n != 3 {
			t.Errorf("%d are counted, want 3", n)
		}
		// A silent connection waits for the idle limit, not the handshake's.
		quiet := newTap(b.conn())
		defer quiet.close()
		time.Sleep(119 * time.Second)
		synctest.Wait()
		if quiet.ended() {
			t.Error("a silent connection is closed before the idle limit")
		}
	})
}

// Idleness and slow reading are the same inside TLS.
func TestTimesInsideTLS(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limit := newIdleLimit(10 * time.Second)
		b := startPipes(t, withTLS(remoting.TLSPermissive, true), limit.change())
		c := encrypted(t, b.conn())
		for range 5 { // the handshake's deadlines are over
			succeed(t, c, wire.GetAllTopicListFromNamesrv, nil, nil)
			time.Sleep(9 * time.Second)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if n := b.srv.Stats.Idle.Load(); n != 1 {
			t.Errorf("%d idle connections are counted", n)
		}
		limit.set(time.Hour)
		slow := encrypted(t, b.conn())
		succeed(t, slow, wire.GetAllTopicListFromNamesrv, nil, nil)
		time.Sleep(time.Minute)
		if err := slow.Send(&wire.Command{Code: int32(wire.GetBrokerClusterInfo), Version: wire.V5_5_0}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(35 * time.Second)
		synctest.Wait()
		if n := b.srv.Stats.SlowReaders.Load(); n != 1 {
			t.Errorf("%d slow readers are counted", n)
		}
	})
}

var balancer = netip.MustParsePrefix("10.0.0.0/24")

func withBalancer() change {
	return with(func(s *remoting.Server) { s.TrustedProxies = []netip.Prefix{balancer} })
}

const (
	v2Signature = "\r\n\r\n\x00\r\nQUIT\n"
	v2TCP4      = v2Signature + "\x21\x11\x00\x0c" + "\xcb\x00\x71\x07" + "\x0a\x00\x00\x05" + "\x9c\x40" + "\x26\x94"
)

// proxyHeaders are ways to say that 203.0.113.7 (or another) is behind the balancer, and
// what address is then shown.
var proxyHeaders = []struct{ name, header, shown string }{
	{"v1", "PROXY TCP4 203.0.113.7 10.0.0.5 40000 9876\r\n", "203.0.113.7:40000"},
	{"v1 IPv6", "PROXY TCP6 2001:db8::7 2001:db8::1 40000 9876\r\n", "[2001:db8::7]:40000"},
	{"v1 unknown", "PROXY UNKNOWN\r\n", "10.0.0.5:40000"},
	{"v2", v2TCP4, "203.0.113.7:40000"},
	{"v2 local", v2Signature + "\x20\x00\x00\x00", "10.0.0.5:40000"},
	{"v2 with extensions", strings.Replace(v2TCP4, "\x00\x0c", "\x0f\xaf", 1) + "\xea\x0f\xa0" + strings.Repeat("x", 4000), "203.0.113.7:40000"},
}

func TestProxyHeaders(t *testing.T) {
	for _, tt := range proxyHeaders {
		for _, step := range []int{1 << 20, 1, 11, 13} {
			t.Run(fmt.Sprint(tt.name, " in pieces of ", step), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					b := startPipes(t, withBalancer())
					changes := b.changes()
					c := b.dialFrom("10.0.0.5")
					r := one("b1", "a:1")
					frame, err := (&wire.Command{Code: int32(wire.RegisterBroker), Version: wire.V5_5_0, Ext: r.ext(), Body: r.body()}).AppendTo([]byte(tt.header), wire.JSONHeader)
					if err != nil {
						t.Fatal(err)
					}
					for len(frame) > 0 {
						n := min(step, len(frame))
						if err := c.Write(frame[:n]); err != nil {
							t.Fatal(err)
						}
						frame = frame[n:]
					}
					if resp, err := nstest.Must(c.Receive()); err != nil {
						t.Fatalf("%v, %v", resp, err)
					}
					if got := b.srv.Connections()[0].RemoteAddr; got != tt.shown {
						t.Errorf("shown as %s, want %s", got, tt.shown)
					}
					ch := await(t, changes, func(*registry.Change) bool { return true })
					if ch.Cause.Actor != tt.shown {
						t.Errorf("the cause is %s, want %s", ch.Cause.Actor, tt.shown)
					}
					c.Close()
					if ch := await(t, changes, memberGone(registry.OpDisconnected, "b1")); ch.Cause.Actor != tt.shown {
						t.Errorf("the cause of the end is %s, want %s", ch.Cause.Actor, tt.shown)
					}
				})
			})
		}
	}
}

func TestProxyHeaderFromAnybodyElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := startPipes(t, withBalancer())
		for _, tt := range proxyHeaders {
			c := b.dialFrom("10.0.1.5")
			go c.Write(append([]byte(tt.header), rawFrame(0, []byte(goodHead), nil)...))
			ended(t, c)
		}
		b.log.wants(t, "PROXY header is not accepted", "peer", "10.0.1.5", "err", "trustedProxies")
		// The balancer itself may do without.
		succeed(t, b.dialFrom("10.0.0.5"), wire.GetAllTopicListFromNamesrv, nil, nil)
	})
}

func TestBadProxyHeaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := startPipes(t, withBalancer())
		for _, header := range []string{
			"PROXY TCP4 nonsense\r\n", "PROXY TCP4 1.2.3.4 5.6.7.8 11 99999\r\n", "PROXY TCP4 " + strings.Repeat("1", 200) + "\r\n",
			v2Signature + "\x31\x11\x00\x0c............", v2Signature + "\x21\x11\x00\x02..", "PROXY\n" + strings.Repeat("x", 20), "PROXYPROXYPROXY\r\n",
		} {
			p := newTap(b.ln.(*pipes).dial(&net.TCPAddr{IP: net.IPv4(10, 0, 0, 5)}))
			if got, over := p.send(t, append([]byte(header), rawFrame(0, []byte(goodHead), nil)...)); len(got) > 0 || !over {
				t.Errorf("%q: %s, closed %v", header, allSaid(got), over)
			}
			p.close()
		}
		// One that does not end is given ten seconds.
		for _, begun := range []string{"PROXY TCP4 1.2.3.4 5", v2TCP4[:15], v2TCP4[:20]} {
			p := newTap(b.ln.(*pipes).dial(&net.TCPAddr{IP: net.IPv4(10, 0, 0, 6)}))
			if _, over := p.send(t, []byte(begun)); over {
				t.Errorf("%q is closed at once", begun)
			}
			time.Sleep(5 * time.Second)
			p.send(t, []byte(" "))
			time.Sleep(5 * time.Second)
			synctest.Wait()
			if !p.ended() {
				t.Errorf("%q may go on for ever", begun)
			}
			p.close()
		}
		b.log.wants(t, "did not arrive in time", "peer", "10.0.0.6", "begun", "PROXY header")
		if n := b.srv.Stats.Stalled.Load(); n != 3 {
			t.Errorf("%d are counted, want 3", n)
		}
		// Afterwards the idle limit counts as for anybody.
		p := newTap(b.ln.(*pipes).dial(&net.TCPAddr{IP: net.IPv4(10, 0, 0, 7)}))
		defer p.close()
		p.send(t, []byte(v2TCP4))
		time.Sleep(119 * time.Second)
		if got, over := p.send(t, rawFrame(0, []byte(goodHead), nil)); over || len(got) != 1 {
			t.Errorf("two minutes after its header: %s, closed %v", allSaid(got), over)
		}
	})
}

// Connections behind a balancer are counted by the carried address.
func TestLimitPerCarriedAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := startPipes(t, withBalancer(), limits(func(l *remoting.Limits) { l.PerAddress = 2 }))
		from := func(ip string) *nstest.Client {
			c := b.dialFrom("10.0.0.5")
			go c.Write([]byte("PROXY TCP4 " + ip + " 10.0.0.5 40000 9876\r\n"))
			synctest.Wait()
			return c
		}
		var open []*nstest.Client
		for _, ip := range []string{"203.0.113.1", "203.0.113.1", "203.0.113.2", "203.0.113.3"} {
			c := from(ip)
			succeed(t, c, wire.GetAllTopicListFromNamesrv, nil, nil)
			open = append(open, c)
		}
		refused(t, from("203.0.113.1"))
		b.log.wants(t, "there are too many", "peer", "203.0.113.1")
		open[0].Close()
		synctest.Wait()
		succeed(t, from("203.0.113.1"), wire.GetAllTopicListFromNamesrv, nil, nil)
		refused(t, from("203.0.113.1"))
		for _, c := range open[1:] {
			succeed(t, c, wire.GetAllTopicListFromNamesrv, nil, nil)
		}
	})
}

// Behind a balancer too a wrong protocol is told by name, and TLS is taken.
func TestWhatFollowsAProxyHeader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := startPipes(t, withBalancer(), withTLS(remoting.TLSPermissive, true))
		c := b.dialFrom("10.0.0.5")
		for _, part := range []string{v2TCP4, "G", "ET / HTTP/1.1\r\n\r\n"} {
			if err := c.Write([]byte(part)); err != nil {
				t.Fatal(err)
			}
		}
		ended(t, c)
		b.log.wants(t, "another protocol on the remoting port", "peer", "203.0.113.7:40000", "protocol", "HTTP")
		conn := b.ln.(*pipes).dial(&net.TCPAddr{IP: net.IPv4(10, 0, 0, 5)})
		if _, err := io.WriteString(conn, v2TCP4); err != nil {
			t.Fatal(err)
		}
		succeed(t, encrypted(t, conn), wire.GetAllTopicListFromNamesrv, nil, nil)
		if cs := b.srv.Connections(); len(cs) != 1 || !cs[0].TLS || cs[0].RemoteAddr != "203.0.113.7:40000" {
			t.Errorf("connections %+v", cs)
		}
	})
}
