package remoting

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"encoding/binary"
	"io"
	"net"
	"net/netip"
	"slices"
	"time"

	"github.com/pires/go-proxyproto"
)

// firstBytes have to come before anything is looked at, as Java's NameServer has it: a
// legal first frame is longer.
const firstBytes = 12

const tlsHandshake = 0x16

var proxyV2 = []byte("\r\n\r\n\x00\r\nQUIT\n")

// open deals with what may come before the first frame, told by its first bytes: a
// PROXY header, a TLS handshake, and protocols that have no business here.
func (c *conn) open() error {
	if err := c.fillFirst(); err != nil {
		return err
	}
	if bytes.HasPrefix(c.in.b, []byte("PROXY")) || bytes.HasPrefix(c.in.b, proxyV2) {
		if err := c.readProxyHeader(); err != nil {
			return err
		}
		if err := c.fillFirst(); err != nil {
			return err
		}
	}
	if c.in.b[0] == tlsHandshake {
		return c.startTLS()
	}
	if c.srv.TLS.Mode == TLSEnforcing {
		return c.wrong("a connection without TLS is closed", "setting", "tls.server.mode=enforcing")
	}
	if name, use := foreign(c.in.b); name != "" {
		return c.wrong("another protocol on the remoting port; the connection is closed", "protocol", name, "use", use)
	}
	return c.drain()
}

// fillFirst waits for as many bytes as it takes to tell what follows.
func (c *conn) fillFirst() error {
	for c.in == nil || len(c.in.b) < firstBytes {
		if err := c.fill(); err != nil {
			return err
		}
	}
	return nil
}

// wrong counts and logs a connection that spoke something else, and ends it.
func (c *conn) wrong(msg string, args ...any) error {
	c.srv.Stats.WrongProtocol.Add(1)
	c.warn(msg, args...)
	return errHandled
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
	const refused = "a connection is closed: its PROXY header is not accepted"
	if !c.trusted() {
		return c.wrong(refused, "err", "the peer is not in remoting.trustedProxies")
	}
	begun, by := c.begun, c.arriveBy // of a first request, which is still to come
	if err := c.expect("PROXY header", c.srv.TLS.handshakeTimeout()); err != nil {
		return err
	}
	size := proxyHeaderSize(c.in.b)
	for ; size > len(c.in.b); size = proxyHeaderSize(c.in.b) {
		if err := c.fill(); err != nil {
			return err
		}
	}
	c.begun, c.arriveBy = begun, by
	if err := c.overdue(); err != nil {
		return err
	}
	h, err := proxyproto.Read(bufio.NewReader(bytes.NewReader(c.in.b[:size])))
	if err != nil {
		return c.wrong(refused, "err", err)
	}
	c.in.b = c.in.b[:copy(c.in.b, c.in.b[size:])]
	if !h.Command.IsProxy() || h.SourceAddr == nil {
		return nil // the balancer speaks for itself, or does not know for whom
	}
	c.peer = h.SourceAddr.String()
	shown := c.peer
	c.shown.Store(&shown)
	c.addr = ipOf(h.SourceAddr)
	c.srv.mu.Lock()
	ok := c.srv.admit(c)
	c.srv.mu.Unlock()
	if !ok {
		c.srv.refuse(c, settingPerAddress)
		return errHandled
	}
	return nil
}

// proxyHeaderSize returns the size of the PROXY header that b begins, or more than b
// has if that cannot be told yet. A header that cannot be right is said to be all of b.
func proxyHeaderSize(b []byte) int {
	if bytes.HasPrefix(b, proxyV2) {
		const fixed = 16 // its last two bytes are the length of the rest
		if len(b) < fixed {
			return fixed
		}
		return fixed + int(binary.BigEndian.Uint16(b[fixed-2:]))
	}
	const longest = 107 // of a line of version 1
	if i := bytes.IndexByte(b, '\n'); i >= 0 {
		return i + 1
	}
	if len(b) >= longest {
		return len(b)
	}
	return len(b) + 1
}

// trusted reports whether the connection comes from a balancer.
func (c *conn) trusted() bool {
	return slices.ContainsFunc(c.srv.TrustedProxies, func(p netip.Prefix) bool { return p.Contains(c.addr) })
}

// ipOf returns the address without its port, or the zero Addr for what has none.
func ipOf(a net.Addr) netip.Addr {
	ap, err := netip.ParseAddrPort(a.String())
	if err != nil {
		return netip.Addr{}
	}
	return ap.Addr().Unmap()
}

// startTLS runs the handshake and goes on with what is inside.
func (c *conn) startTLS() error {
	var conf *tls.Config
	if c.srv.TLS.Mode != TLSDisabled && c.srv.TLS.Config != nil {
		conf = c.srv.TLS.Config()
	}
	if conf == nil {
		return c.wrong("a TLS connection is closed: this server has no certificate or TLS is off",
			"setting", "tls.server.mode, tls.server.certPath, tls.server.keyPath")
	}
	plain := c.base
	t := tls.Server(&prefixed{Conn: plain, head: bytes.Clone(c.in.b)}, conf)
	c.in.b = c.in.b[:0]
	plain.SetDeadline(time.Now().Add(c.srv.TLS.handshakeTimeout()))
	if err := t.HandshakeContext(c.srv.ctx); err != nil {
		if c.srv.ctx.Err() != nil {
			return io.EOF
		}
		c.srv.Stats.Handshakes.Add(1)
		return c.wrong("a TLS handshake failed", "err", err)
	}
	plain.SetDeadline(time.Time{})
	c.writeUntil = time.Time{}
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
