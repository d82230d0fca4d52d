package remoting

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/netip"
	"time"

	"github.com/pires/go-proxyproto"
)

// firstBytes have to come before anything is looked at, as Java's NameServer has it: a
// legal first frame is longer.
const firstBytes = 12

// handshakeTimeout bounds a TLS handshake and a PROXY header that has begun.
const handshakeTimeout = 10 * time.Second

const tlsHandshake = 0x16

var proxyV2 = []byte("\r\n\r\n\x00\r\nQUIT\n")

// open deals with what may come before the first frame, told by its first bytes: a
// PROXY header, a TLS handshake, and protocols that have no business here.
func (c *conn) open() error {
	for c.in == nil || len(c.in.b) < firstBytes {
		if err := c.fill(); err != nil {
			return err
		}
	}
	if bytes.HasPrefix(c.in.b, []byte("PROXY")) || bytes.HasPrefix(c.in.b, proxyV2) {
		if err := c.readProxyHeader(); err != nil {
			c.srv.Stats.WrongProtocol.Add(1)
			c.srv.Log.Warn("a connection is closed: its PROXY header is not accepted", "peer", c.peer, "err", err)
			return errHandled
		}
		for len(c.in.b) < 1 {
			if err := c.fill(); err != nil {
				return err
			}
		}
	}
	if c.in.b[0] == tlsHandshake {
		return c.startTLS()
	}
	if c.srv.TLS.Mode == TLSEnforcing {
		c.srv.Stats.WrongProtocol.Add(1)
		c.srv.Log.Warn("a connection without TLS is closed", "peer", c.peer, "setting", "tls.server.mode=enforcing")
		return errHandled
	}
	if name, use := foreign(c.in.b); name != "" {
		c.srv.Stats.WrongProtocol.Add(1)
		c.srv.Log.Warn(name+" on the remoting port; the connection is closed", "peer", c.peer, "use", use)
		return errHandled
	}
	return c.drain()
}

// foreign names a protocol that people send here by mistake, and what they want.
func foreign(b []byte) (name, use string) {
	if bytes.HasPrefix(b, []byte("PRI * HTTP")) {
		return "HTTP/2 or gRPC", "a RocketMQ proxy for gRPC clients, the HTTP port for REST"
	}
	for _, method := range []string{"GET ", "POST", "PUT ", "HEAD", "DELE", "OPTI", "PATC", "CONN", "TRAC"} {
		if bytes.HasPrefix(b, []byte(method)) {
			return "HTTP", "the HTTP port for REST and the dashboard"
		}
	}
	return "", ""
}

// readProxyHeader takes a PROXY header from a balancer that is trusted; from then on
// the carried address is the peer's.
func (c *conn) readProxyHeader() error {
	if !c.trusted() {
		return fmt.Errorf("%s is not in remoting.trustedProxies", c.peer)
	}
	c.nc.SetReadDeadline(time.Now().Add(handshakeTimeout))
	c.deadlineAt = time.Now()
	br := bufio.NewReaderSize(io.MultiReader(bytes.NewReader(bytes.Clone(c.in.b)), c.nc), smallBuffer)
	h, err := proxyproto.Read(br)
	if err != nil {
		return err
	}
	c.in.b = c.in.b[:0]
	rest, err := br.Peek(br.Buffered())
	if err != nil {
		return err
	}
	c.in.reserve(len(rest))
	c.in.b = append(c.in.b, rest...)
	if h.Command.IsProxy() && h.SourceAddr != nil {
		c.peer = h.SourceAddr.String()
		shown := c.peer
		c.shown.Store(&shown)
	}
	return nil
}

func (c *conn) trusted() bool {
	a, ok := remoteIP(c.base)
	if !ok {
		return false
	}
	for _, p := range c.srv.TrustedProxies {
		if p.Contains(a) {
			return true
		}
	}
	return false
}

func remoteIP(nc net.Conn) (netip.Addr, bool) {
	ap, err := netip.ParseAddrPort(nc.RemoteAddr().String())
	return ap.Addr().Unmap(), err == nil
}

// startTLS runs the handshake and goes on with what is inside.
func (c *conn) startTLS() error {
	var conf *tls.Config
	if c.srv.TLS.Mode != TLSDisabled && c.srv.TLS.Config != nil {
		conf = c.srv.TLS.Config()
	}
	if conf == nil {
		c.srv.Stats.WrongProtocol.Add(1)
		c.srv.Log.Warn("a TLS connection is closed: this server has no certificate or TLS is off", "peer", c.peer,
			"setting", "tls.server.mode, tls.server.certPath, tls.server.keyPath")
		return errHandled
	}
	plain := c.base
	t := tls.Server(&prefixed{Conn: plain, head: bytes.Clone(c.in.b)}, conf)
	c.in.b = c.in.b[:0]
	plain.SetDeadline(time.Now().Add(handshakeTimeout))
	if err := t.HandshakeContext(c.srv.ctx); err != nil {
		c.srv.Stats.WrongProtocol.Add(1)
		c.srv.Log.Warn("a TLS handshake failed", "peer", c.peer, "err", err)
		return errHandled
	}
	plain.SetDeadline(time.Time{})
	c.writeUntil, c.deadlineAt = time.Time{}, time.Time{}
	c.nc, c.raw = t, nil
	c.encrypted.Store(true)
	c.lastRead = time.Now()
	return c.overdue()
}

// prefixed is a connection some of whose bytes have been read already.
type prefixed struct {
	net.Conn
	head []byte
}

// Read returns the bytes read already, then those of the connection.
func (p *prefixed) Read(b []byte) (int, error) {
	if len(p.head) > 0 {
		n := copy(b, p.head)
		p.head = p.head[n:]
		return n, nil
	}
	return p.Conn.Read(b)
}
