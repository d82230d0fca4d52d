// Package nsclient asks other NameServers over remoting: ours or the Java one, which it
// need not tell apart. It serves the comparison of a set's nodes, changes that go to all
// of them, and a command line that speaks to a node without an HTTP face.
//
// Everything is bounded: connecting, each exchange, and the size of an answer. Nothing
// is repeated by itself: what failed may have been done.
package nsclient

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"fingerpost/remoting/wire"
)

// DefaultTimeout bounds connecting and each exchange unless Options say otherwise: the
// Java tools wait 3 s for most answers and 5 s for lists.
const DefaultTimeout = 5 * time.Second

// Options say how to reach a NameServer. The zero value is plain TCP with the defaults.
type Options struct {
	// Timeout bounds connecting, and each exchange from the request's first byte to the
	// answer's last; 0 is DefaultTimeout. A context that ends earlier wins.
	Timeout time.Duration
	// MaxFrame is the largest answer in bytes; 0 is 16 MiB, the limit of all peers.
	MaxFrame int
	// TLS encrypts the connection; nil leaves it plain. A name to check the certificate
	// by is taken from the address if it has none.
	TLS *tls.Config
	// Dial connects; nil is TCP.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
}

func (o *Options) timeout() time.Duration {
	if o.Timeout <= 0 {
		return DefaultTimeout
	}
	return o.Timeout
}

// Client is one connection to a NameServer. Its methods may be called by anybody at any
// time; requests go one after another. After an error that is no [Error] the connection
// is of no more use: Close it and Dial again.
type Client struct {
	addr string
	opts Options
	conn net.Conn
	turn chan struct{} // holds one token, taken for an exchange

	r      *bufio.Reader
	out    []byte
	opaque int32
	broken error
}

// Dial connects to the NameServer at addr, a host and a port. The error is that of the
// network or the context.
func Dial(ctx context.Context, addr string, o Options) (*Client, error) {
	ctx, cancel := context.WithTimeout(ctx, o.timeout())
	defer cancel()
	dial := o.Dial
	if dial == nil {
		dial = new(net.Dialer).DialContext
	}
	conn, err := dial(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	if o.TLS != nil {
		if conn, err = encrypt(ctx, conn, addr, o.TLS); err != nil {
			return nil, err
		}
	}
	c := &Client{addr: addr, opts: o, conn: conn, turn: make(chan struct{}, 1), r: bufio.NewReader(conn)}
	c.turn <- struct{}{}
	return c, nil
}

func encrypt(ctx context.Context, conn net.Conn, addr string, cfg *tls.Config) (net.Conn, error) {
	if cfg.ServerName == "" {
		host, _, err := net.SplitHostPort(addr)
		if err != nil {
			return nil, errors.Join(err, conn.Close())
		}
		cfg = cfg.Clone()
		cfg.ServerName = host
	}
	secure := tls.Client(conn, cfg)
	if err := secure.HandshakeContext(ctx); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return secure, nil
}

// Addr returns the address that was dialled.
func (c *Client) Addr() string { return c.addr }

// Close ends the connection, and with it an exchange that is under way.
func (c *Client) Close() error { return c.conn.Close() }

// Error is an answer that says no.
type Error struct {
	// Request is what was asked, Code the answer, and Remark the server's own words, of
	// which a long one is cut off.
	Request wire.RequestCode
	Code    wire.ResponseCode
	Remark  string
}

// maxRemark is how much of a remark is kept, in bytes: it is shown to people and stands in
// the events, and a header may be a megabyte.
const maxRemark = 1 << 10

func clip(remark string) string {
	if len(remark) <= maxRemark {
		return remark
	}
	return strings.ToValidUTF8(remark[:maxRemark], "") + "…"
}

// Error says what was asked and how the server answered.
func (e *Error) Error() string {
	if e.Remark == "" {
		return fmt.Sprintf("%s: %s", e.Request, e.Code)
	}
	return fmt.Sprintf("%s: %s: %s", e.Request, e.Code, e.Remark)
}

// Is reports whether err is an [Error] with that code.
func Is(err error, code wire.ResponseCode) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Code == code
}

// errUnasked is an answer to something else than what was asked.
var errUnasked = errors.New("the server answered what was not asked")

// Call sends a request and returns its answer. The error is an *[Error] if the server
// refused, and the connection is good for more; with any other error, which is that of
// the network, of the context, or of an answer that is none, it is not. An answer's body
// belongs to the caller.
func (c *Client) Call(ctx context.Context, code wire.RequestCode, ext wire.Fields, body []byte) (*wire.Command, error) {
	select {
	case <-c.turn:
		defer func() { c.turn <- struct{}{} }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if c.broken != nil {
		return nil, c.broken
	}
	resp, err := c.exchange(ctx, code, ext, body)
	if err != nil {
		c.broken = fmt.Errorf("%s of %s: %w", code, c.addr, err)
		_ = c.conn.Close() // a late answer must not be taken for another's
		return nil, c.broken
	}
	if got := wire.ResponseCode(resp.Code); got != wire.Success {
		return nil, &Error{Request: code, Code: got, Remark: clip(resp.Remark)}
	}
	return resp, nil
}

func (c *Client) exchange(ctx context.Context, code wire.RequestCode, ext wire.Fields, body []byte) (*wire.Command, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, c.opts.timeout())
	defer cancel()
	stop := context.AfterFunc(ctx, func() { _ = c.conn.SetDeadline(time.Unix(1, 0)) })
	resp, err := c.roundTrip(code, ext, body)
	if !stop() {
		return nil, context.Cause(ctx) // the connection knows only that it was cut
	}
	return resp, err
}

func (c *Client) roundTrip(code wire.RequestCode, ext wire.Fields, body []byte) (*wire.Command, error) {
	c.opaque++
	req := wire.Request(code, ext, body)
	req.Language, req.Opaque = wire.Go, c.opaque
	var err error
	if c.out, err = req.AppendTo(c.out[:0], wire.JSONHeader); err != nil {
		return nil, err
	}
	if _, err = c.conn.Write(c.out); err != nil {
		return nil, err
	}
	frame, _, err := wire.ReadFrame(c.r, nil, wire.FrameLimits{Frame: c.opts.MaxFrame})
	if err != nil {
		return nil, err
	}
	resp := &wire.Command{}
	switch err := resp.Decode(frame); {
	case err != nil:
		return nil, err
	case !resp.IsResponse() || resp.Opaque != req.Opaque:
		return nil, errUnasked
	}
	return resp, nil
}
