package faultnet

import (
	"errors"
	"net"
	"sync"
)

// ErrCut is what a write returns that a [Cut] connection did not pass on in full.
var ErrCut = errors.New("the connection was cut on purpose")

// Reset ends a connection so that its peer gets a reset instead of an end, also of what
// was sent and not read yet. A connection that has no reset, such as one in memory, is
// closed.
func Reset(c net.Conn) error {
	if t, ok := base(c).(interface{ SetLinger(sec int) error }); ok {
		// It fails on a connection that has ended, which Close then says.
		_ = t.SetLinger(0)
	}
	return c.Close()
}

// HalfClose ends the sending half: the peer reads an end and can still answer. A
// connection without halves is closed.
func HalfClose(c net.Conn) error {
	if t, ok := base(c).(interface{ CloseWrite() error }); ok {
		return t.CloseWrite()
	}
	return c.Close()
}

// base returns the connection below the wrappers of this package.
func base(c net.Conn) net.Conn {
	for {
		w, ok := c.(interface{ wrapped() net.Conn })
		if !ok {
			return c
		}
		c = w.wrapped()
	}
}

// Pieces returns c such that every write is passed on in writes of at most n bytes and
// no read returns more than n. n is at least 1.
func Pieces(c net.Conn, n int) net.Conn { return &pieces{c, max(n, 1)} }

type pieces struct {
	net.Conn
	n int
}

func (p *pieces) wrapped() net.Conn { return p.Conn }

// Write passes on b piece by piece.
func (p *pieces) Write(b []byte) (done int, err error) {
	for len(b) > 0 && err == nil {
		var k int
		k, err = p.Conn.Write(b[:min(p.n, len(b))])
		done += k
		b = b[k:]
	}
	return done, err
}

// Read returns one piece.
func (p *pieces) Read(b []byte) (int, error) { return p.Conn.Read(b[:min(p.n, len(b))]) }

// Cut returns c such that the first n bytes that are written are passed on, and then end
// is called with c: [Reset], [HalfClose] or its Close. The write that reaches the place
// returns ErrCut unless it was the last byte that it wrote, later ones always.
func Cut(c net.Conn, n int, end func(net.Conn) error) net.Conn {
	return &cut{Conn: c, left: n, end: end}
}

type cut struct {
	net.Conn
	end func(net.Conn) error

	mu   sync.Mutex
	left int // bytes that are still passed on, -1 when end was called
}

func (c *cut) wrapped() net.Conn { return c.Conn }

// Write passes on what may still pass.
func (c *cut) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.left < 0 {
		return 0, ErrCut
	}
	n, err := c.Conn.Write(b[:min(c.left, len(b))])
	c.left -= n
	if err != nil || c.left > 0 {
		return n, err
	}
	c.left = -1
	if err := c.end(c.Conn); err != nil {
		return n, err
	}
	if n < len(b) {
		return n, ErrCut
	}
	return n, nil
}

// Stalled is a connection that stops sending in the middle. Make it with [Stall].
type Stalled struct {
	net.Conn
	mu     sync.Mutex
	left   int // bytes that are still passed on
	there  chan struct{}
	reach  sync.Once
	resume chan struct{}
	free   sync.Once
	closed chan struct{}
	close  sync.Once
}

// Stall returns c such that the first n bytes that are written are passed on and the rest
// waits for Resume.
func Stall(c net.Conn, n int) *Stalled {
	return &Stalled{Conn: c, left: n, there: make(chan struct{}), resume: make(chan struct{}), closed: make(chan struct{})}
}

func (s *Stalled) wrapped() net.Conn { return s.Conn }

// Reached is closed when the first n bytes have been passed on and more is to be.
func (s *Stalled) Reached() <-chan struct{} { return s.there }

// Resume lets everything pass from now on. It may be called twice.
func (s *Stalled) Resume() { s.free.Do(func() { close(s.resume) }) }

// Write passes on b, if need be after Resume. It returns net.ErrClosed if Close comes
// first. Deadlines do not end its wait.
func (s *Stalled) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	first := b[:min(s.left, len(b))]
	n, err := s.Conn.Write(first)
	s.left -= n
	if err != nil || n == len(b) {
		return n, err
	}
	s.reach.Do(func() { close(s.there) })
	select {
	case <-s.resume:
	case <-s.closed:
		return n, net.ErrClosed
	}
	m, err := s.Conn.Write(b[n:])
	return n + m, err
}

// Close ends the connection and a write that waits.
func (s *Stalled) Close() error {
	s.close.Do(func() { close(s.closed) })
	return s.Conn.Close()
}
