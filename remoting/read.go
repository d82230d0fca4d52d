package remoting

import (
	"context"
	"errors"
	"io"
	"os"
	"time"

	"fingerpost/remoting/wire"
)

const (
	// trustedSize is how much of a frame has to come before room is made for all of it.
	trustedSize = 64 << 10
	// largeArrival is how long a large request may take from then on, and how long it
	// waits before for others to be done with: brokers give theirs up after 24 s.
	largeArrival = 30 * time.Second
	// idleCheck is the longest that a connection sleeps without asking whether the idle
	// limit has changed.
	idleCheck = 30 * time.Second
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
			c.traffic.received.Store(c.traffic.received.Load() + uint64(n))
			return nil
		}
		if errors.Is(err, os.ErrDeadlineExceeded) {
			err = c.overdue()
		}
		if err != nil {
			return err
		}
	}
}

// makeRoom prepares for the rest of a frame. What a peer claims is believed only once
// a good part of it has come, and then the whole is taken from a budget that
// connections share, those of brokers one and all others another.
func (c *conn) makeRoom() error {
	have := len(c.in.b)
	switch {
	case c.need > trustedSize && have >= trustedSize:
		if err := c.grant(int64(c.need)); err != nil {
			return err
		}
		c.in.reserve(c.need)
	case have == cap(c.in.b):
		c.in.reserve(max(2*have, min(c.need, trustedSize)))
	}
	return nil
}

func (c *conn) grant(n int64) error {
	if c.granted > 0 {
		return nil
	}
	budget, setting := c.srv.budgets.others, "remoting.maxClientInFlightBytes"
	if c.ofBroker() {
		budget, setting = c.srv.budgets.brokers, "remoting.maxInFlightBytes"
	}
	if !budget.TryAcquire(n) {
		ctx, cancel := context.WithTimeout(c.srv.ctx, largeArrival)
		defer cancel()
		if err := budget.Acquire(ctx, n); err != nil {
			if c.srv.ctx.Err() != nil {
				return io.EOF
			}
			c.srv.Stats.Stalled.Add(1)
			c.warn("a large request found no room beside others and its connection is closed",
				"size", n, "setting", setting)
			return errHandled
		}
	}
	c.granted, c.budget = n, budget
	c.lastRead = time.Now() // the peer did not wait, we did
	return c.expect("large request", largeArrival)
}

// ofBroker reports whether the frame that has begun to come is what brokers send.
func (c *conn) ofBroker() bool {
	f, ok := wire.SplitHeader(c.in.b)
	if !ok || c.cmd.Decode(f) != nil {
		return false
	}
	return kindOf(wire.RequestCode(c.cmd.Code)).class == ForBroker
}

// expect bounds the time for what the peer has begun, until arriveBy is cleared.
func (c *conn) expect(what string, within time.Duration) error {
	c.begun, c.arriveBy = what, time.Now().Add(within)
	return c.overdue()
}

// release gives back what grant took.
func (c *conn) release() {
	if c.granted > 0 {
		c.budget.Release(c.granted)
		c.granted, c.arriveBy = 0, time.Time{}
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
		return c.nc.Read(c.free())
	}
	c.readN, c.readErr = 0, nil
	if err := c.raw.Read(c.readOnce); err != nil {
		return 0, err
	}
	if c.readN == 0 && c.readErr == nil {
		return 0, io.EOF
	}
	return c.readN, c.readErr
}

// lendBuffers makes sure of a buffer to read into.
func (c *conn) lendBuffers() []byte {
	if c.in == nil {
		c.in = newBuffer()
	}
	return c.free()
}

// free returns the room to read into. A large request gets no more than its own: the
// room was taken from the budget for it, and goes back with it.
func (c *conn) free() []byte {
	end := cap(c.in.b)
	if c.granted > 0 {
		end = c.need
	}
	return c.in.b[len(c.in.b):end]
}

// returnBuffers lets go of empty buffers, because there is nothing to read just now.
func (c *conn) returnBuffers() {
	if c.in != nil && len(c.in.b) == 0 {
		c.in.free()
		c.in = nil
		if c.out != nil && len(c.out.b) == 0 {
			c.out.freeOutput()
			c.out = nil
		}
	}
}

// overdue sets the read deadline, also when the last one is over: a connection that has
// been used meanwhile gets a new one, a silent one ends. Setting a deadline only then
// costs nothing per request.
func (c *conn) overdue() error {
	now := time.Now()
	next := now.Add(idleCheck)
	if idle := c.srv.idle(); idle > 0 {
		at := c.lastUse().Add(idle)
		if !at.After(now) {
			return errIdle
		}
		next = earlier(next, at)
	}
	if !c.arriveBy.IsZero() {
		if !c.arriveBy.After(now) {
			return errStalled
		}
		next = earlier(next, c.arriveBy)
	}
	if err := c.base.SetReadDeadline(next); err != nil {
		return err
	}
	// Shutdown and Dismiss set a deadline too, after they have said why: one of the two
	// is seen.
	if c.srv.ctx.Err() != nil || c.sentOff() {
		return io.EOF
	}
	return nil
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
