package main

import (
	"net"
	"sync"
)

// gate is a listener that can be shut and opened again at the same address. While it is
// shut the system refuses connections, so that a peer that knows more addresses goes on
// to the next one within the same request.
type gate struct {
	listen func() (net.Listener, error) // at the address that was bound first
	addr   net.Addr

	mu      sync.Mutex
	ln      net.Listener  // nil while it is shut
	changed chan struct{} // closed when ln changes
	closed  bool
}

// newGate makes a gate that is open. again listens once more at the same address.
func newGate(ln net.Listener, again func() (net.Listener, error)) *gate {
	return &gate{listen: again, addr: ln.Addr(), ln: ln, changed: make(chan struct{})}
}

// Accept waits for the next connection, and while the gate is shut for it to be opened.
func (g *gate) Accept() (net.Conn, error) {
	for {
		g.mu.Lock()
		ln, changed, closed := g.ln, g.changed, g.closed
		g.mu.Unlock()
		switch {
		case closed:
			return nil, net.ErrClosed
		case ln == nil:
			<-changed
			continue
		}
		c, err := ln.Accept()
		if err == nil {
			return c, nil
		}
		g.mu.Lock()
		replaced := g.ln != ln && !g.closed
		g.mu.Unlock()
		if !replaced {
			return nil, err
		}
	}
}

// Addr returns the address, which the gate keeps while it is shut.
func (g *gate) Addr() net.Addr { return g.addr }

// Close ends Accept for good.
func (g *gate) Close() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return net.ErrClosed
	}
	g.closed = true
	return g.replace(nil)
}

// Shut refuses connections from now on. It may be shut already.
func (g *gate) Shut() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed || g.ln == nil {
		return nil
	}
	return g.replace(nil)
}

// Open takes connections again. It fails if somebody else has taken the address.
func (g *gate) Open() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed || g.ln != nil {
		return nil
	}
	ln, err := g.listen()
	if err != nil {
		return err
	}
	return g.replace(ln)
}

// replace puts another listener in place; g.mu is held.
func (g *gate) replace(ln net.Listener) error {
	old := g.ln
	g.ln = ln
	close(g.changed)
	g.changed = make(chan struct{})
	if old == nil {
		return nil
	}
	return old.Close()
}
