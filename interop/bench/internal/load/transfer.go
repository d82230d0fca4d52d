package load

import (
	"encoding/binary"
	"errors"
	"fmt"
	"syscall"
	"time"
	"unsafe"

	"fingerpost/interop/bench/internal/proto"
)

// issue appends one request to c's output; start is its (intended) time.
func (w *worker) issue(c *conn, start int64) {
	s := c.free[len(c.free)-1]
	c.free = c.free[:len(c.free)-1]
	n := uint32(len(c.slots))
	c.gen++
	if c.gen >= (proto.OpaqueMax-proto.OpaqueBase)/n {
		c.gen = 1
	}
	op := proto.OpaqueBase + c.gen*n + uint32(s)
	l := len(c.out)
	var topic int32
	c.out, topic = w.gen.append(c.out, w.rand(), op)
	w.seq++
	c.slots[s] = slot{opaque: op, topic: topic, live: true, start: start, verify: w.every > 0 && w.verify != nil && w.seq%w.every == 0}
	w.outst++
	if start >= w.t0 && start < w.t1 {
		w.reqBytes += uint64(len(c.out) - l)
	}
}

func rawRW(trap uintptr, fd int, b []byte) (int, syscall.Errno) {
	n, _, e := syscall.RawSyscall(trap, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)))
	return int(n), e
}

func (w *worker) flush(c *conn, idx int) {
	for c.outOff < len(c.out) {
		n, e := rawRW(syscall.SYS_WRITE, c.fd, c.out[c.outOff:])
		if e == syscall.EINTR {
			continue
		}
		if e == syscall.EAGAIN {
			if !c.pollW {
				c.pollW = true
				ev := syscall.EpollEvent{Events: syscall.EPOLLIN | syscall.EPOLLOUT, Fd: int32(idx)}
				syscall.EpollCtl(w.ep, syscall.EPOLL_CTL_MOD, c.fd, &ev)
			}
			return
		}
		if e != 0 {
			w.fail(c, e)
			return
		}
		c.outOff += n
	}
	c.out = c.out[:0]
	c.outOff = 0
	if c.pollW {
		c.pollW = false
		ev := syscall.EpollEvent{Events: syscall.EPOLLIN, Fd: int32(idx)}
		syscall.EpollCtl(w.ep, syscall.EPOLL_CTL_MOD, c.fd, &ev)
	}
}

func (w *worker) readable(c *conn, idx int, stopped bool) {
	n, e := rawRW(syscall.SYS_READ, c.fd, w.buf)
	if e == syscall.EAGAIN || e == syscall.EINTR {
		return
	}
	if e != 0 {
		w.fail(c, e)
		return
	}
	if n == 0 {
		w.fail(c, errors.New("server closed the connection"))
		return
	}
	now := w.now()
	refill := w.rate == 0 && !stopped
	b := w.buf[:n]
	for len(b) > 0 && !c.dead {
		if c.inBody {
			k := min(c.skip, len(b))
			if c.capt {
				c.body = append(c.body, b[:k]...)
			}
			c.skip -= k
			b = b[k:]
			if c.skip == 0 {
				c.inBody = false
				w.complete(c, now, refill)
			}
			continue
		}
		var h []byte // from the length prefix on
		if len(c.part) > 0 {
			need := 8
			if len(c.part) >= 8 {
				need = 8 + int(binary.BigEndian.Uint32(c.part[4:])&0xffffff)
			}
			k := min(need-len(c.part), len(b))
			c.part = append(c.part, b[:k]...)
			b = b[k:]
			if len(c.part) < 8 {
				break
			}
			need = 8 + int(binary.BigEndian.Uint32(c.part[4:])&0xffffff)
			if len(c.part) < need {
				if len(b) > 0 {
					continue
				}
				break
			}
			h = c.part
		} else {
			if len(b) < 8 {
				c.part = append(c.part[:0], b...)
				break
			}
			need := 8 + int(binary.BigEndian.Uint32(b[4:])&0xffffff)
			if len(b) < need {
				c.part = append(c.part[:0], b...)
				break
			}
			h = b[:need]
			b = b[need:]
		}
		total := int(binary.BigEndian.Uint32(h))
		word := binary.BigEndian.Uint32(h[4:])
		r, ok := proto.ParseRespHeader(word, h[8:])
		bodyLen := total - 4 - (len(h) - 8)
		if !ok || bodyLen < 0 || total > 64<<20 {
			w.badFrames++
			w.fail(c, fmt.Errorf("bad response frame: %q", h))
			return
		}
		c.part = c.part[:0]
		c.cur, c.curLen, c.curWire = r, bodyLen, total+4
		c.capt = false
		if r.Flag&1 == 1 {
			s := &c.slots[(r.Opaque-proto.OpaqueBase)%uint32(len(c.slots))]
			c.capt = s.live && s.opaque == r.Opaque && s.verify
		}
		c.body = c.body[:0]
		if bodyLen == 0 {
			w.complete(c, now, refill)
		} else {
			c.inBody, c.skip = true, bodyLen
		}
	}
	if len(c.out) > 0 && !c.dead {
		w.flush(c, idx)
	}
}

func (w *worker) complete(c *conn, now int64, refill bool) {
	r := c.cur
	if r.Flag&1 == 0 {
		return // a request of the server; not ours to answer
	}
	si := (r.Opaque - proto.OpaqueBase) % uint32(len(c.slots))
	s := &c.slots[si]
	if !s.live || s.opaque != r.Opaque {
		w.wrong++
		if w.firstErr == nil {
			w.firstErr = fmt.Errorf("response with unknown opaque %d", r.Opaque)
		}
		return
	}
	s.live = false
	w.outst--
	c.free = append(c.free, int32(si))
	var in bool
	if w.rate == 0 {
		in = now >= w.t0 && now < w.t1
	} else {
		in = s.start >= w.t0 && s.start < w.t1
	}
	if in {
		w.done++
		w.hist.Add(time.Duration(now - s.start))
		w.respBytes += uint64(c.curWire)
	}
	if r.Code != w.wantCode {
		w.codes[r.Code]++
	} else if w.wantBody >= 0 && c.curLen != w.wantBody {
		w.wrong++
		if w.firstErr == nil {
			w.firstErr = fmt.Errorf("topic %d: body of %d bytes, want %d", s.topic, c.curLen, w.wantBody)
		}
	} else if c.capt {
		w.verified++
		if err := w.verify(c.body, int(s.topic)); err != nil {
			w.wrong++
			if w.firstErr == nil {
				w.firstErr = err
			}
		}
	}
	if refill {
		w.issue(c, now)
	}
}
