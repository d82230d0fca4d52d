package load

import (
	"fmt"
	"math"
	"net"
	"runtime"
	"syscall"
	"time"
	"unsafe"

	"fingerpost/interop/bench/internal/proto"
)

// The measuring client is one epoll loop per worker thread on raw
// non-blocking sockets. A response costs one header scan (code, opaque, flag)
// and its body is skipped in the read buffer; a request costs one copy of a
// pre-encoded frame with the opaque and topic digits patched. All requests
// made possible by one read leave in one write.

const readBufSize = 256 << 10

type slot struct {
	opaque uint32
	topic  int32
	live   bool
	verify bool
	start  int64 // ns; the intended time in open loop
}

type conn struct {
	fd    int
	dead  bool
	slots []slot
	free  []int32
	gen   uint32

	out    []byte
	outOff int
	pollW  bool
	dirty  bool

	part []byte // partial length/word/header
	// current frame, header parsed
	inBody  bool
	skip    int
	cur     proto.Resp
	curLen  int // body length
	curWire int
	capt    bool
	body    []byte
}

// gen produces request frames.
type gen struct {
	ser      proto.Serialize
	tmpl     proto.Frame
	topicOff int
	topics   int
	frames   []proto.Frame // instead of tmpl
}

func (g *gen) append(dst []byte, r uint64, opaque uint32) ([]byte, int32) {
	base := len(dst)
	if g.frames != nil {
		i := int((r >> 32) * uint64(len(g.frames)) >> 32)
		dst = append(dst, g.frames[i].Head...)
		proto.PatchOpaque(g.ser, dst[base:], g.frames[i].OpaqueOff, opaque)
		return dst, int32(i)
	}
	i := (r >> 32) * uint64(g.topics) >> 32
	dst = append(dst, g.tmpl.Head...)
	b := dst[base:]
	proto.PatchOpaque(g.ser, b, g.tmpl.OpaqueOff, opaque)
	proto.PutDigits(b[g.topicOff:g.topicOff+proto.TopicDigits], i)
	return dst, int32(i)
}

type workerCfg struct {
	sa       syscall.Sockaddr
	conns    int
	inflight int
	gen      *gen
	wantCode int
	wantBody int // -1: unchecked
	verify   func(body []byte, topic int) error
	every    uint64
	rate     float64 // per worker; 0 = closed loop
	seed     uint64
	start    time.Time // clock zero
	t0, t1   int64     // window, ns since start
	drain    int64
}

type worker struct {
	workerCfg
	ep    int
	conns []*conn
	buf   []byte
	rng   uint64
	seq   uint64
	outst int
	rr    int
	next  float64 // open loop schedule, ns

	hist                       Hist
	lag                        Hist // open loop: send time - intended time
	done                       uint64
	codes                      map[int]uint64
	wrong, verified, unsent    uint64
	timeouts, badFrames, deadC uint64
	respBytes, reqBytes        uint64
	firstErr                   error
}

func (w *worker) now() int64 { return int64(time.Since(w.start)) }

func (w *worker) rand() uint64 {
	w.rng += 0x9e3779b97f4a7c15
	z := w.rng
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

func sockaddr(addr string) (syscall.Sockaddr, error) {
	a, err := net.ResolveTCPAddr("tcp4", addr)
	if err != nil {
		return nil, err
	}
	s := &syscall.SockaddrInet4{Port: a.Port}
	copy(s.Addr[:], a.IP.To4())
	return s, nil
}

func dialRaw(sa syscall.Sockaddr) (int, error) {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	for {
		err = syscall.Connect(fd, sa)
		if err != syscall.EINTR {
			break
		}
	}
	if err != nil {
		syscall.Close(fd)
		return -1, err
	}
	syscall.SetsockoptInt(fd, syscall.IPPROTO_TCP, syscall.TCP_NODELAY, 1)
	if err := syscall.SetNonblock(fd, true); err != nil {
		syscall.Close(fd)
		return -1, err
	}
	return fd, nil
}

func newWorker(cfg workerCfg) (*worker, error) {
	w := &worker{workerCfg: cfg, buf: make([]byte, readBufSize), rng: cfg.seed*0x9e3779b97f4a7c15 + 12345, codes: map[int]uint64{}}
	ep, err := syscall.EpollCreate1(syscall.EPOLL_CLOEXEC)
	if err != nil {
		return nil, err
	}
	w.ep = ep
	for i := 0; i < cfg.conns; i++ {
		fd, err := dialRaw(cfg.sa)
		if err != nil {
			w.close()
			return nil, fmt.Errorf("connect: %w", err)
		}
		c := &conn{fd: fd, slots: make([]slot, cfg.inflight)}
		for s := cfg.inflight - 1; s >= 0; s-- {
			c.free = append(c.free, int32(s))
		}
		ev := syscall.EpollEvent{Events: syscall.EPOLLIN, Fd: int32(i)}
		if err := syscall.EpollCtl(ep, syscall.EPOLL_CTL_ADD, fd, &ev); err != nil {
			w.close()
			return nil, err
		}
		w.conns = append(w.conns, c)
	}
	return w, nil
}

func (w *worker) close() {
	for _, c := range w.conns {
		syscall.Close(c.fd)
	}
	syscall.Close(w.ep)
}

func (w *worker) fail(c *conn, err error) {
	if c.dead {
		return
	}
	c.dead = true
	w.deadC++
	if w.firstErr == nil {
		w.firstErr = err
	}
	for i := range c.slots {
		if c.slots[i].live {
			c.slots[i].live = false
			w.outst--
			w.timeouts++
		}
	}
	c.free = c.free[:0]
	syscall.EpollCtl(w.ep, syscall.EPOLL_CTL_DEL, c.fd, nil)
}

func epollWait(ep int, ev []syscall.EpollEvent, ns int64) int {
	ts := syscall.NsecToTimespec(ns)
	for {
		var n uintptr
		var e syscall.Errno
		if ns == 0 {
			n, _, e = syscall.RawSyscall6(441, uintptr(ep), uintptr(unsafe.Pointer(&ev[0])), uintptr(len(ev)), uintptr(unsafe.Pointer(&ts)), 0, 0)
		} else {
			n, _, e = syscall.Syscall6(441, uintptr(ep), uintptr(unsafe.Pointer(&ev[0])), uintptr(len(ev)), uintptr(unsafe.Pointer(&ts)), 0, 0)
		}
		if e == syscall.EINTR {
			continue
		}
		if e != 0 {
			return 0
		}
		return int(n)
	}
}

func (w *worker) run() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	syscall.RawSyscall(syscall.SYS_PRCTL, 29 /* PR_SET_TIMERSLACK */, 1, 0)
	defer w.close()
	ev := make([]syscall.EpollEvent, 256)
	now := w.now()
	if w.rate == 0 {
		for i, c := range w.conns {
			for len(c.free) > 0 {
				w.issue(c, w.now())
			}
			w.flush(c, i)
		}
	} else {
		w.next = float64(now)
	}
	stopped := false
	var touched []int
	for {
		now = w.now()
		if !stopped && now >= w.t1 {
			stopped = true
			if w.rate > 0 {
				// Requests whose intended time passed but which never left:
				// they waited at least until now.
				for ; w.next < float64(w.t1); w.next += w.gap() {
					if w.next >= float64(w.t0) {
						w.unsent++
						w.hist.Add(time.Duration(float64(now) - w.next))
					}
				}
			}
		}
		if stopped && (w.outst == 0 || now >= w.t1+w.drain) {
			break
		}
		wait := int64(20e6)
		if w.rate > 0 && !stopped {
			touched = touched[:0]
			for w.next <= float64(now) {
				i := w.pick()
				if i < 0 {
					break
				}
				c := w.conns[i]
				w.issue(c, int64(w.next))
				if int64(w.next) >= w.t0 {
					w.lag.Add(time.Duration(now - int64(w.next)))
				}
				if !c.dirty {
					c.dirty = true
					touched = append(touched, i)
				}
				w.next += w.gap()
			}
			for _, i := range touched {
				w.conns[i].dirty = false
				w.flush(w.conns[i], i)
			}
			if d := int64(w.next) - w.now(); d <= 0 {
				if w.pick() >= 0 {
					wait = 0
				} // else every slot is taken: wait for a response
			} else {
				wait = min(wait, d)
			}
		}
		if d := w.t1 - now; !stopped && d < wait {
			wait = max(d, 0)
		}
		n := epollWait(w.ep, ev, wait)
		for _, e := range ev[:n] {
			c := w.conns[e.Fd]
			if c.dead {
				continue
			}
			if e.Events&syscall.EPOLLOUT != 0 {
				w.flush(c, int(e.Fd))
			}
			if e.Events&(syscall.EPOLLIN|syscall.EPOLLHUP|syscall.EPOLLERR) != 0 {
				w.readable(c, int(e.Fd), stopped)
			}
		}
		if len(w.conns) == int(w.deadC) {
			break
		}
	}
	w.timeouts += uint64(w.outst)
}

// pick returns the next connection with a free slot, round robin, or -1.
func (w *worker) pick() int {
	for range w.conns {
		w.rr++
		if w.rr >= len(w.conns) {
			w.rr = 0
		}
		if len(w.conns[w.rr].free) > 0 {
			return w.rr
		}
	}
	return -1
}

// gap is an exponential inter-arrival time (Poisson arrivals).
func (w *worker) gap() float64 {
	u := (float64(w.rand()>>11) + 0.5) / (1 << 53)
	return -math.Log(u) * 1e9 / w.rate
}
