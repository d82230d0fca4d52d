package remoting

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

const (
	// trustedSize is how much of a frame has to come before room is made for all of it.
	trustedSize = 64 << 10
	// budgetWait is how long a large request waits for others to be done with.
	budgetWait = 30 * time.Second
)

// fill reads more bytes. With nothing left to serve it waits without a buffer.
func (c *conn) fill() error {
	if c.in != nil && len(c.in.b) > 0 {
		if err := c.makeRoom(); err != nil {
			return err
		}
	}
	for {
		n, err := c.read()
		if n > 0 {
			c.in.b = c.in.b[:len(c.in.b)+n]
			c.lastRead = time.Now()
			c.lastUsed.Store(c.lastRead.UnixMilli())
			return nil
		}
		if errors.Is(err, os.ErrDeadlineExceeded) {
			if err = c.overdue(); err == nil {
				continue
			}
		}
		if err == nil {
			err = io.EOF
		}
		return err
	}
}

// makeRoom prepares for the rest of a frame. What a peer claims is believed only once
// a good part of it has come, and then the whole is taken from the budget that all
// connections share.
func (c *conn) makeRoom() error {
	have := len(c.in.b)
	switch {
	case c.need > trustedSize && have >= trustedSize:
		if err := c.grant(int64(c.need)); err != nil {
			return err
		}
		c.in.reserve(c.need)
	case have == cap(c.in.b):
		c.in.reserve(2 * have)
	}
	return nil
}

func (c *conn) grant(n int64) error {
	if c.granted > 0 {
		return nil
	}
	if !c.srv.budget.TryAcquire(n) {
		ctx, cancel := context.WithTimeout(c.srv.ctx, budgetWait)
		defer cancel()
		if err := c.srv.budget.Acquire(ctx, n); err != nil {
			c.srv.Log.Warn("a large request found no room beside others and its connection is closed",
				"peer", c.peer, "size", n, "setting", "remoting.maxInFlightBytes")
			return fmt.Errorf("%w: no room for %d bytes", errHandled, n)
		}
	}
	c.granted = n
	return nil
}

// release gives back what grant took.
func (c *conn) release() {
	if c.granted > 0 {
		c.srv.budget.Release(c.granted)
		c.granted = 0
	}
}

// errHandled ends a connection whose end has been logged.
var errHandled = errors.New("the connection is refused")

// read reads once into the free part of the buffer, getting one if there is none.
func (c *conn) read() (int, error) {
	if c.raw == nil {
		if c.in == nil {
			c.in = newBuffer()
		}
		return c.nc.Read(c.in.b[len(c.in.b):cap(c.in.b)])
	}
	c.readN, c.readErr = 0, nil
	if err := c.raw.Read(c.readOnce); err != nil {
		return 0, err
	}
	return c.readN, c.readErr
}

// lendBuffers makes sure of a buffer to read into.
func (c *conn) lendBuffers() []byte {
	if c.in == nil {
		c.in = newBuffer()
	}
	return c.in.b[len(c.in.b):cap(c.in.b)]
}

// returnBuffers lets go of empty buffers, because there is nothing to read just now.
func (c *conn) returnBuffers() {
	if c.in != nil && len(c.in.b) == 0 {
		c.in.free()
		c.in = nil
		if c.out != nil && len(c.out.b) == 0 {
			c.out.free()
			c.out = nil
		}
	}
}

// overdue decides at a read deadline: a connection that has been used meanwhile gets
// a new one, a silent one ends. Setting a deadline only then costs nothing per request.
func (c *conn) overdue() error {
	if c.srv.ctx.Err() != nil {
		return io.EOF
	}
	idle := c.srv.idle()
	if idle <= 0 {
		return c.base.SetReadDeadline(time.Time{})
	}
	at := c.lastRead.Add(idle)
	if !at.After(time.Now()) {
		return errIdle
	}
	c.deadlineAt = at
	return c.base.SetReadDeadline(at)
}
