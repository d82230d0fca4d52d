package nstest

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"time"

	"fingerpost/remoting/wire"
)

// DefaultTimeout is how long a client waits for one answer: long enough for any
// machine, so that it only ends a test whose server is broken.
const DefaultTimeout = 20 * time.Second

// Client is one connection to a NameServer, used by one goroutine.
type Client struct {
	// Header is the encoding of the requests; the server chooses that of its answers.
	Header wire.HeaderType
	// Version is what requests say of their sender, V5_5_0 unless set.
	Version wire.Version
	// Language is what requests say of their sender, JAVA unless set.
	Language wire.Language
	// Timeout bounds the wait for an answer; 0 means DefaultTimeout.
	Timeout time.Duration

	conn   net.Conn
	r      *bufio.Reader
	out    []byte
	opaque int32
}

// Dial connects to the NameServer at addr and speaks with headers of type t.
func Dial(addr string, t wire.HeaderType) (*Client, error) {
	conn, err := net.DialTimeout("tcp", addr, DefaultTimeout)
	if err != nil {
		return nil, err
	}
	return NewClient(conn, t), nil
}

// NewClient speaks over a connection that is already there.
func NewClient(conn net.Conn, t wire.HeaderType) *Client {
	return &Client{Header: t, Version: wire.V5_5_0, conn: conn, r: bufio.NewReader(conn)}
}

// Call sends a request and returns its answer. An answer with a code other than
// success is no error here; see [Must].
func (c *Client) Call(code wire.RequestCode, ext wire.Fields, body []byte) (*wire.Command, error) {
	req := c.request(code, ext, body)
	if err := c.Send(req); err != nil {
		return nil, err
	}
	resp, err := c.Receive()
	switch {
	case err != nil:
		return nil, fmt.Errorf("answer to %s: %w", code, err)
	case !resp.IsResponse():
		return nil, fmt.Errorf("answer to %s: got a request of code %d", code, resp.Code)
	case resp.Opaque != req.Opaque:
		return nil, fmt.Errorf("answer to %s: opaque %d, not %d", code, resp.Opaque, req.Opaque)
	}
	return resp, nil
}

// Oneway sends a request that wants no answer.
func (c *Client) Oneway(code wire.RequestCode, ext wire.Fields, body []byte) error {
	req := c.request(code, ext, body)
	req.Flag = wire.FlagOneway
	return c.Send(req)
}

func (c *Client) request(code wire.RequestCode, ext wire.Fields, body []byte) *wire.Command {
	c.opaque++
	return &wire.Command{
		Code: int32(code), Language: c.Language, Version: c.Version, Opaque: c.opaque,
		Ext: ext, HasExt: ext != nil, Body: body,
	}
}

// Send writes commands as they are, all in one write.
func (c *Client) Send(commands ...*wire.Command) error {
	c.out = c.out[:0]
	for _, cmd := range commands {
		var err error
		if c.out, err = cmd.AppendTo(c.out, c.Header); err != nil {
			return err
		}
	}
	return c.Write(c.out)
}

// Write writes bytes, which need not be frames.
func (c *Client) Write(b []byte) error {
	if err := c.conn.SetWriteDeadline(time.Now().Add(c.timeout())); err != nil {
		return err
	}
	_, err := c.conn.Write(b)
	return err
}

// Receive reads the next command that the server sends. The error is io.EOF when it
// has closed the connection.
func (c *Client) Receive() (*wire.Command, error) {
	// If it fails the connection has ended, and what came before is still to be read.
	_ = c.conn.SetReadDeadline(time.Now().Add(c.timeout()))
	frame, _, err := wire.ReadFrame(c.r, nil, wire.FrameLimits{Frame: 1 << 30})
	if err != nil {
		return nil, err
	}
	cmd := &wire.Command{}
	return cmd, cmd.Decode(frame)
}

func (c *Client) timeout() time.Duration {
	if c.Timeout > 0 {
		return c.Timeout
	}
	return DefaultTimeout
}

// Conn returns the connection, for tests that break it.
func (c *Client) Conn() net.Conn { return c.conn }

// Close ends the connection.
func (c *Client) Close() error { return c.conn.Close() }

// ErrRefused is an answer whose code is not success.
var ErrRefused = errors.New("refused")

// Must returns an answer that says success; any other becomes an error that wraps
// ErrRefused and holds its code and remark. It takes the two results of Call.
func Must(resp *wire.Command, err error) (*wire.Command, error) {
	if err != nil {
		return nil, err
	}
	if code := wire.ResponseCode(resp.Code); code != wire.Success {
		return nil, fmt.Errorf("%w: %s: %s", ErrRefused, code, resp.Remark)
	}
	return resp, nil
}
