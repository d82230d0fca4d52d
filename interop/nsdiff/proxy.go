package main

import (
	"encoding/binary"
	"io"
	"net"
	"sync"
	"time"
)

// The fault proxy stands in front of B and spoils what passes, one kind of fault at a time, to see whether the
// comparison notices.

type proxy struct {
	addr, to string
	ln       net.Listener
	mu       sync.Mutex
	m        *mutation
	on       bool
	pushes   int
	held     []net.Conn
}

func newProxy(to string) (*proxy, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &proxy{addr: ln.Addr().String(), to: to, ln: ln, on: true}
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			go p.serve(c)
		}
	}()
	return p, nil
}

func (p *proxy) set(name string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.m = nil
	for _, m := range mutationList {
		if m.name == name {
			p.m = m
		}
	}
	return p.m != nil
}

func (p *proxy) enable(on bool) {
	p.mu.Lock()
	p.on = on
	held := p.held
	if !on {
		p.held = nil
	}
	p.mu.Unlock()
	if !on {
		for _, c := range held {
			c.Close()
		}
	}
}

func (p *proxy) cur() *mutation {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.on {
		return nil
	}
	return p.m
}

func (p *proxy) onPush(side string, q pushed) []pushed {
	m := p.cur()
	if m == nil || m.push == nil || side != "B" {
		return []pushed{q}
	}
	p.mu.Lock()
	p.pushes++
	n := p.pushes
	p.mu.Unlock()
	return m.push(n, q)
}

func (p *proxy) serve(c net.Conn) {
	s, err := net.DialTimeout("tcp", p.to, 5*time.Second)
	if err != nil {
		c.Close()
		return
	}
	var mu sync.Mutex
	asked := map[int]*header{}
	done := make(chan struct{}, 2)
	var hold bool
	go func() { // client → server
		defer func() { done <- struct{}{} }()
		pass(c, s, func(b []byte) ([]byte, bool) {
			f := parseFrame(b)
			m := p.cur()
			if f.err != nil {
				if m != nil && m.hole {
					return nil, true
				}
				return nil, false
			}
			h := f.hdr
			if m != nil && m.req != nil {
				code := h.code
				if body, changed := m.req(&h, f.body); changed {
					if h.code != code {
						h.langCode = -1
					}
					mu.Lock()
					asked[h.opaque] = &h
					mu.Unlock()
					h.extOrder = nil
					return encodeRequest(f.enc, &h, body), true
				}
			}
			mu.Lock()
			asked[h.opaque] = &h
			mu.Unlock()
			return append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...), true
		}, func() bool { m := p.cur(); return m != nil && m.hole })
		if m := p.cur(); m != nil && m.deaf {
			hold = true
			return
		}
		if t, ok := s.(*net.TCPConn); ok {
			t.CloseWrite()
		}
	}()
	go func() { // server → client
		defer func() { done <- struct{}{} }()
		pass(s, c, func(b []byte) ([]byte, bool) {
			same := append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...)
			f := parseFrame(b)
			m := p.cur()
			if m == nil || m.resp == nil || f.err != nil {
				return same, true
			}
			mu.Lock()
			q := asked[f.hdr.opaque]
			mu.Unlock()
			r := m.resp(q, f)
			switch {
			case r&rClose != 0:
				time.AfterFunc(2*time.Millisecond, func() { c.Close(); s.Close() })
				return same, true
			case r&rTwice != 0:
				return append(same, same...), true
			case r&rBinary != 0:
				return packFrame(encRMQ, rmqHead(&f.hdr), f.body), true
			case r&rChanged != 0:
				if f.hdr.extOrder == nil {
					f.hdr.extOrder = sortedKeys(f.hdr.ext)
				}
				return packFrame(encJSON, jsonHead(&f.hdr), f.body), true
			}
			return same, true
		}, func() bool { return false })
		c.Close()
	}()
	<-done
	<-done
	if hold {
		p.mu.Lock()
		p.held = append(p.held, s)
		p.mu.Unlock()
		return
	}
	c.Close()
	s.Close()
}

// pass copies frames from one connection to the other through fn; what is not a frame is copied as it is (or swallowed).
func pass(from, to net.Conn, fn func([]byte) ([]byte, bool), swallow func() bool) {
	buf := make([]byte, 0, 64<<10)
	tmp := make([]byte, 64<<10)
	plain := false
	for {
		n, err := from.Read(tmp)
		if n > 0 {
			buf = append(buf, tmp[:n]...)
			for !plain && len(buf) >= 4 {
				l := int32(binary.BigEndian.Uint32(buf))
				if l < 4 || l > 16<<20 {
					plain = true
					break
				}
				if len(buf) < 4+int(l) {
					break
				}
				out, ok := fn(append([]byte{}, buf[4:4+l]...))
				if !ok {
					plain = true
					break
				}
				if len(out) > 0 {
					if _, err := to.Write(out); err != nil {
						return
					}
				}
				buf = append(buf[:0], buf[4+l:]...)
			}
			if plain {
				if !swallow() {
					if _, err := to.Write(buf); err != nil {
						return
					}
				}
				buf = buf[:0]
			}
		}
		if err != nil {
			if !plain && len(buf) > 0 {
				to.Write(buf)
			}
			if err != io.EOF {
				return
			}
			return
		}
	}
}
