package remoting

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"runtime/debug"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sync/semaphore"

	"fingerpost/registry"
	"fingerpost/remoting/wire"
)

// conn is one connection. Its fields belong to the goroutine that runs serve, except
// where it says otherwise. It is the registry's Holder for what registers over it.
type conn struct {
	srv *Server
	id  uint64
	// base is the connection as accepted; anybody may close it or set deadlines. nc is
	// what is read and written: base or TLS over it. raw is base's descriptor where
	// reading can wait without a buffer, nil over TLS and on systems that cannot.
	base    net.Conn
	nc      net.Conn
	raw     syscall.RawConn
	peer    string     // the address in logs and events: the carried one behind a balancer
	addr    netip.Addr // its IP, by which connections and complaints are counted
	counted bool       // in Server.perAddr

	in   *buffer // bytes that have come and not been served, nil while there are none
	from int     // where they begin
	need int     // the size of the frame they begin, if that is known
	out  *buffer // answers not yet written

	route   wire.RouteRequest
	cmd     wire.Command
	decoder wire.RegisterDecoder

	lastRead   time.Time // when bytes last came
	lastWrite  time.Time // when a write that may have taken long was done
	writeUntil time.Time // the write deadline that is set
	granted    int64     // bytes taken from budget
	budget     *semaphore.Weighted
	begun      string    // what the peer has begun and has to end
	arriveBy   time.Time // by then, or zero if it may take its time
	readOnce   func(fd uintptr) bool
	readN      int
	readErr    error

	// What has been served since the last flush, and the last code.
	batch struct {
		hits, misses, busy, requests uint64
		measured                     bool // one of them by itself
	}
	last  int32
	noted bool // the peer's language and version are known, and its lookups are free

	registered bool // a broker has registered over it

	sampled time.Time // when lookups were last measured

	spare  bool // its place is kept for brokers, which it has not shown itself to be
	shed   bool // what came last is turned away unless it is a broker's
	turned bool // something was

	// What others may read at any time.
	since     time.Time
	shown     atomic.Pointer[string] // peer
	encrypted atomic.Bool
	broker    atomic.Bool
	admin     atomic.Bool
	dismissed atomic.Bool // to be closed when nothing is under way
	language  atomic.Uint32
	version   atomic.Int32
	lastCode  atomic.Int32
	requests  atomic.Uint64
	lastUsed  atomic.Int64 // unix milliseconds
	traffic   traffic
}

// Evict closes the connection: what it held has been silent for too long.
func (c *conn) Evict(reason string) {
	c.srv.Stats.Evicted.Add(1)
	c.srv.Log.Info("a connection is closed with its broker", "peer", *c.shown.Load(), "why", reason)
	// A close waits for a read that is going on, and that one perhaps for its turn.
	go c.base.Close()
}

func (c *conn) cause(action string) registry.Cause {
	return registry.Cause{Face: "remoting", Action: action, Actor: c.peer}
}

// serve runs the conversation until it ends.
func (c *conn) serve() {
	defer c.end()
	err := c.begin()
	if err == nil {
		err = c.open()
	}
	for err == nil {
		if err = c.fill(); err == nil {
			err = c.drain()
		}
		if err == nil && c.sentOff() {
			err = io.EOF
		}
	}
	c.explain(err)
}

func (c *conn) end() {
	if p := recover(); p != nil {
		c.srv.Stats.Panics.Add(1)
		c.srv.Log.Error("a connection ended in a panic", "peer", c.peer, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
	}
	c.nc.Close()
	c.release()
	if c.in != nil {
		c.in.free()
	}
	if c.out != nil {
		c.out.freeOutput()
	}
	c.srv.forget(c)
}

// Reasons of ours to end a connection.
var (
	errIdle    = errors.New("nothing was said for too long")
	errStalled = errors.New("what was begun did not arrive in time")
)

// explain logs why a connection ended, where that is anybody's business.
func (c *conn) explain(err error) {
	var frame *wire.FrameError
	var header *wire.HeaderError
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, net.ErrClosed):
		c.noteCut()
	case errors.Is(err, errHandled):
	case errors.Is(err, errIdle):
		c.srv.Stats.Idle.Add(1)
		c.srv.Log.Debug("a silent connection is closed", "peer", c.peer, "after", c.srv.idle())
	case errors.Is(err, errStalled):
		c.srv.Stats.Stalled.Add(1)
		c.warn("a connection is closed: what it began did not arrive in time", "begun", c.begun)
	case errors.As(err, &frame) && frame.Fault == wire.FrameOverLimit:
		c.srv.Stats.BadFrames.Add(1)
		c.srv.Stats.OverLimit.Add(1)
		c.warn("a request over the frame limit is refused and its connection closed",
			"size", frame.Size, "limit", frame.Limit, "setting", "remoting.frameMaxLength")
	case errors.As(err, &frame), errors.As(err, &header):
		c.srv.Stats.BadFrames.Add(1)
		c.warn("a connection is closed: what came is no request", "err", err)
	case errors.Is(err, os.ErrDeadlineExceeded):
		c.srv.Stats.SlowReaders.Add(1)
		c.warn("a connection is closed: its peer does not read the answers", "after", c.srv.Limits.writeTimeout())
	default:
		c.noteCut()
		c.srv.Log.Debug("a connection ended", "peer", c.peer, "err", err)
	}
}

// noteCut counts a connection that has ended although its peer had begun a request. When
// the server stops it is not the peer who ends it.
func (c *conn) noteCut() {
	if c.in != nil && len(c.in.b) > c.from && c.srv.ctx.Err() == nil {
		c.srv.Stats.CutShort.Add(1)
	}
}

// drain serves every complete request that has come and writes the answers.
func (c *conn) drain() error {
	c.shed = c.srv.load.over.Load() && !c.broker.Load()
	for {
		f, size, ok, err := wire.SplitFrame(c.in.b[c.from:], c.srv.Limits.frame())
		if err != nil {
			c.flush()
			return err
		}
		if !ok {
			c.need = size
			break
		}
		if c.out == nil {
			c.out = newOutput()
		}
		c.batch.requests++
		if c.shed && !c.busyRoute(f) || !c.shed && !c.fastRoute(f) {
			if err := c.serveRequest(f); err != nil {
				c.flush()
				return err
			}
		}
		c.from += size
		if len(c.out.b) >= flushAt {
			if err := c.flushSome(); err != nil {
				return err
			}
		}
	}
	c.sample()
	c.settle()
	if err := c.flush(); err != nil {
		return err
	}
	c.rest()
	return nil
}

// settle moves what is left of the input to the front, or lets the buffer go.
func (c *conn) settle() {
	c.forgetRequest()
	rest := c.in.b[c.from:]
	if c.from > 0 {
		c.release()
	}
	if len(rest) == 0 {
		if cap(c.in.b) > smallBuffer {
			c.in.free()
			c.in = nil
		} else {
			c.in.b = c.in.b[:0]
		}
	} else if c.from > 0 {
		c.in.b = c.in.b[:copy(c.in.b, rest)]
	}
	c.from = 0
}

// forgetRequest drops what points into the input and what was copied of it: a silent
// connection must not keep the memory of its last request.
func (c *conn) forgetRequest() {
	c.route = wire.RouteRequest{}
	if c.cmd.Body != nil || c.cmd.HasExt || len(c.cmd.Ext) > 0 || c.cmd.HasRemark {
		clear(c.cmd.Ext[:cap(c.cmd.Ext)]) // also what was taken back
		c.cmd = wire.Command{Ext: c.cmd.Ext[:0]}
	}
}

// serveRequest decodes a request and answers it, whatever it is.
func (c *conn) serveRequest(f wire.Frame) error {
	req := &c.cmd
	if err := req.Decode(f); err != nil {
		return err
	}
	if req.IsResponse() {
		c.batch.requests--
		c.srv.Stats.Unasked.Add(1)
		return nil
	}
	code := wire.RequestCode(req.Code)
	spare := c.spare
	full := spare && !c.keepPlace(code)
	c.note(req)
	at, row := time.Now(), rowFor(code)
	a := answer{typed: typed[code]}
	switch {
	case req.Version.UnderstandsGoAway() && c.away():
		a.typed = false
		a.fail(wire.GoAway, remarkGoAway)
	case c.turnedAway(code, &a):
	case c.srv.guard == nil || c.admitted(code, req, &a):
		c.answer(code, req, &a)
	default:
		full = full || spare // what it begins with is a broker's, and it is none
	}
	if code != wire.GetRouteInfoByTopic || a.code != wire.Success && a.code != wire.TopicNotExist {
		c.srv.Stats.count(row, a.code)
	}
	c.batch.measured = true
	c.srv.Stats.Durations[row.class].Observe(time.Since(at))
	if !req.IsOneway() {
		if err := c.write(req, &a); err != nil {
			return err
		}
	}
	if full {
		return errHandled
	}
	return nil
}

// answer runs the handler. A panic costs its request and nothing else.
func (c *conn) answer(code wire.RequestCode, req *wire.Command, a *answer) {
	defer func() {
		if p := recover(); p != nil {
			c.srv.Stats.Panics.Add(1)
			c.srv.Log.Error("a request ended in a panic", "peer", c.peer, "code", code.String(), "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			*a = answer{}
			a.fail(wire.SystemError, remarkInternal)
		}
	}()
	h, ok := dispatch[code]
	if !ok {
		c.unknownCode(req.Code, a)
		return
	}
	h(c, req, a)
}

func (c *conn) write(req *wire.Command, a *answer) error {
	cmd := wire.Response(a.code, req.Opaque)
	if req.NoOpaque {
		cmd.Opaque = c.srv.nextOpaque()
	}
	cmd.Remark, cmd.HasRemark = a.remark, a.hasRemark
	cmd.Ext, cmd.HasExt = a.ext, a.typed
	large := len(a.body) >= directBody
	if !large {
		cmd.Body = a.body
	}
	start := len(c.out.b)
	b, err := cmd.AppendTo(c.out.b, c.srv.HeaderType)
	if err != nil {
		// The answer does not fit its header; say so rather than nothing.
		a = &answer{}
		a.fail(wire.SystemError, "the answer cannot be written: "+err.Error())
		cmd.Code, cmd.Remark, cmd.HasRemark, cmd.Ext, cmd.HasExt, cmd.Body = int32(a.code), a.remark, true, nil, false, nil
		if b, err = cmd.AppendTo(c.out.b, c.srv.HeaderType); err != nil {
			return err
		}
		large = false
	}
	c.out.b = b
	if !large {
		return nil
	}
	// The body is sent from where it lies, in one go with all that is waiting.
	frame := c.out.b[start:]
	size := len(frame) - 4 + len(a.body)
	frame[0], frame[1], frame[2], frame[3] = byte(size>>24), byte(size>>16), byte(size>>8), byte(size)
	c.extendWrite()
	bufs := net.Buffers{c.out.b, a.body}
	n, err := bufs.WriteTo(c.nc)
	c.traffic.sent.Store(c.traffic.sent.Load() + uint64(n))
	c.out.b = c.out.b[:0]
	c.lastWrite = time.Now()
	return err
}

// note keeps what is known of the peer for people who look at connections.
func (c *conn) note(req *wire.Command) {
	c.last, c.noted = req.Code, c.srv.guard.lookupsFree(c.addr)
	c.language.Store(uint32(req.Language))
	c.version.Store(int32(req.Version))
	switch wire.RequestCode(req.Code) {
	case wire.RegisterBroker, wire.BrokerHeartbeat, wire.QueryDataVersion, wire.GetRouteInfoByTopic:
	default:
		c.admin.Store(true)
	}
}

// flush writes the answers that are waiting.
func (c *conn) flush() error {
	if c.batch.requests > 0 {
		c.requests.Store(c.requests.Load() + c.batch.requests)
		if c.lastCode.Load() != c.last { // reading is cheaper than writing
			c.lastCode.Store(c.last)
		}
	}
	if c.batch.hits > 0 {
		c.srv.Stats.RouteHits.Add(c.batch.hits)
	}
	if c.batch.misses > 0 {
		c.srv.Stats.RouteMisses.Add(c.batch.misses)
	}
	if c.batch.busy > 0 {
		c.srv.Stats.busyRoutes(c.batch.busy)
	}
	c.batch.hits, c.batch.misses, c.batch.busy, c.batch.requests, c.batch.measured = 0, 0, 0, 0, false
	if c.out == nil || len(c.out.b) == 0 {
		return nil
	}
	c.extendWrite()
	n, err := c.nc.Write(c.out.b)
	c.traffic.sent.Store(c.traffic.sent.Load() + uint64(n))
	if cap(c.out.b) > 4*flushAt {
		c.out = nil // grown by one huge answer
	} else {
		c.out.b = c.out.b[:0]
	}
	return err
}

// flushSome writes answers although more requests are waiting, which may be many.
func (c *conn) flushSome() error {
	err := c.flush()
	c.lastWrite = time.Now()
	c.batch.measured = true // only a part of what came in one read is left
	return err
}

// lastUse is when the peer last did something: sent bytes, or read what took a while.
func (c *conn) lastUse() time.Time {
	if c.lastWrite.After(c.lastRead) {
		return c.lastWrite
	}
	return c.lastRead
}

// extendWrite moves the write deadline on, at most every quarter of the timeout, so
// that a peer has between three quarters and the whole of it to read.
func (c *conn) extendWrite() {
	timeout := c.srv.Limits.writeTimeout()
	if now := c.lastUse(); c.writeUntil.Sub(now) < timeout*3/4 {
		c.writeUntil = now.Add(timeout)
		c.nc.SetWriteDeadline(c.writeUntil)
	}
}
