package remoting

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"hash/maphash"
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"fingerpost/registry"
	"fingerpost/remoting/wire"
)

// Limits bound what a peer controls. A zero field means its default.
type Limits struct {
	// Frame is the largest frame in bytes, 16 MiB by default as for every peer;
	// Header its largest header.
	Frame, Header int
	// Inflated is the largest content of a compressed registration, Topics the most
	// topics in one.
	Inflated, Topics int
	// Connections is the most at once, PerAddress the most of them from one
	// address; 0 is no limit.
	Connections, PerAddress int
	// BrokerConnections is how many of Connections are kept for brokers, a tenth of
	// them at most: whoever comes into one has to begin with what brokers send.
	BrokerConnections int
	// InFlight is the most bytes of large requests of brokers over all connections
	// (512 MiB), ClientInFlight of all others (64 MiB), and each never less than one
	// frame of the largest size.
	InFlight, ClientInFlight int64
	// OverloadDelay is how long work may wait for a processor before clients are
	// answered code 2; 0 is for ever.
	OverloadDelay time.Duration
	// WriteTimeout is how long a peer may take to read an answer (30 s).
	WriteTimeout time.Duration
}

func (l *Limits) frame() wire.FrameLimits { return wire.FrameLimits{Frame: l.Frame, Header: l.Header} }

func (l *Limits) writeTimeout() time.Duration {
	if l.WriteTimeout <= 0 {
		return 30 * time.Second
	}
	return l.WriteTimeout
}

// TLSMode says which connections may or must use TLS.
type TLSMode uint8

// The modes, as the peers name them.
const (
	TLSPermissive TLSMode = iota
	TLSDisabled
	TLSEnforcing
)

// TLS is how connections are encrypted.
type TLS struct {
	Mode TLSMode
	// Config returns the configuration for a new connection, or nil if there is no
	// certificate. It may be called at any time.
	Config func() *tls.Config
	// HandshakeTimeout is how long a handshake that has begun may take, and a PROXY
	// header (10 s).
	HandshakeTimeout time.Duration
}

func (t *TLS) handshakeTimeout() time.Duration {
	if t.HandshakeTimeout <= 0 {
		return 10 * time.Second
	}
	return t.HandshakeTimeout
}

// Server serves the remoting port. The fields are set before Serve and not changed
// after; Registry, Settings and Log are required.
type Server struct {
	Registry *registry.Registry
	Settings Settings
	Log      *slog.Logger
	Limits   Limits
	TLS      TLS
	// HeaderType is the form of the headers of all answers.
	HeaderType wire.HeaderType
	// Idle returns how long a connection may be silent; 0 is for ever. It is asked
	// often, so that a changed setting counts for connections that are open. nil
	// means 120 s, as peers expect.
	Idle func() time.Duration
	// TrustedProxies are balancers whose PROXY headers are believed.
	TrustedProxies []netip.Prefix
	// Access says who may send what.
	Access Access
	// Stats counts what happens.
	Stats Stats

	ready     sync.Once
	seed      maphash.Seed
	templates struct{ success, noRoute, busy template }
	budgets   struct{ brokers, others *semaphore.Weighted }
	turns     turns
	load      load
	tooMuch   func() bool // by which the load is judged, nil for the waiting of goroutines
	guard     *guard      // nil where nothing is restricted
	ctx       context.Context
	cancel    context.CancelFunc
	away      atomic.Uint32 // who is told to go away
	opaque    atomic.Int32
	ids       atomic.Uint64
	wg        sync.WaitGroup
	repeats   repeats
	dial      func(ctx context.Context, addr string) (net.Conn, error) // to brokers, for notices

	mu      sync.Mutex
	ln      net.Listener
	stopped bool
	conns   map[*conn]struct{}
	perAddr map[netip.Addr]int
}

const (
	// defaultInFlight is room for thirty registrations of the largest size at once.
	defaultInFlight = 512 << 20
	// defaultClientInFlight is more than clients ever need: what they send is small.
	defaultClientInFlight = 64 << 20
)

func (s *Server) init() {
	s.ready.Do(func() {
		s.seed = maphash.MakeSeed()
		s.turns.init()
		s.templates.success = newTemplate(s.HeaderType, wire.Success, false)
		s.templates.noRoute = newTemplate(s.HeaderType, wire.TopicNotExist, true)
		s.templates.busy = newTemplate(s.HeaderType, wire.SystemBusy, true)
		if s.Limits.InFlight <= 0 {
			s.Limits.InFlight = defaultInFlight
		}
		if s.Limits.ClientInFlight <= 0 {
			s.Limits.ClientInFlight = defaultClientInFlight
		}
		// One request of the largest size must always find room.
		largest := int64(s.Limits.Frame)
		if largest <= 0 {
			largest = wire.DefaultMaxFrame
		}
		s.Limits.InFlight = max(s.Limits.InFlight, largest)
		s.Limits.ClientInFlight = max(s.Limits.ClientInFlight, largest)
		s.budgets.brokers = semaphore.NewWeighted(s.Limits.InFlight)
		s.budgets.others = semaphore.NewWeighted(s.Limits.ClientInFlight)
		s.guard = newGuard(&s.Access)
		s.ctx, s.cancel = context.WithCancel(context.Background())
		s.conns = make(map[*conn]struct{})
		s.perAddr = make(map[netip.Addr]int)
		if s.dial == nil {
			d := net.Dialer{Timeout: connectTimeout}
			s.dial = func(ctx context.Context, addr string) (net.Conn, error) { return d.DialContext(ctx, "tcp", addr) }
		}
	})
}

// Serve accepts connections until Shutdown, after which it returns nil. Any other end
// is an error. The listener is closed by Shutdown, whichever of the two comes first.
func (s *Server) Serve(ln net.Listener) error {
	s.init()
	s.mu.Lock()
	if s.stopped {
		s.mu.Unlock()
		ln.Close()
		return nil
	}
	s.ln = ln
	_, sub := s.Registry.Subscribe(noticeBacklog)
	// What Shutdown waits for is started under the lock, or it might be missed.
	s.wg.Go(func() { s.notifyLoop(s.ctx, sub) })
	if s.Limits.OverloadDelay > 0 {
		s.wg.Go(s.watchLoad)
	}
	s.mu.Unlock()
	for pause := time.Duration(0); ; {
		nc, err := ln.Accept()
		switch {
		case err == nil:
			pause = 0
			s.take(nc)
		case s.ctx.Err() != nil || s.isStopped():
			return nil
		case errors.Is(err, net.ErrClosed):
			return fmt.Errorf("accept: %w", err)
		default:
			// Out of descriptors, most likely: it passes when a connection ends.
			pause = min(max(2*pause, 5*time.Millisecond), time.Second)
			s.Log.Warn("a connection could not be accepted", "err", err, "pause", pause)
			select {
			case <-time.After(pause):
			case <-s.ctx.Done():
			}
		}
	}
}

func (s *Server) isStopped() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stopped
}

// take starts a connection, or closes it if there are too many.
func (s *Server) take(nc net.Conn) {
	now := time.Now()
	c := &conn{srv: s, id: s.ids.Add(1), base: nc, nc: nc, peer: nc.RemoteAddr().String(), since: now, lastRead: now}
	shown := c.peer
	c.shown.Store(&shown)
	c.decoder.MaxInflated, c.decoder.MaxTopics = s.Limits.Inflated, s.Limits.Topics
	c.lastUsed.Store(now.UnixMilli())
	c.addr = ipOf(nc.RemoteAddr())
	// Behind a balancer the address that counts is the one that its header carries.
	proxied := c.trusted()
	s.mu.Lock()
	limit := ""
	switch {
	case s.stopped:
		s.mu.Unlock()
		nc.Close()
		return
	case s.Limits.Connections > 0 && len(s.conns) >= s.Limits.Connections:
		limit = "remoting.maxConnections"
	case !proxied && !s.admit(c):
		limit = settingPerAddress
	}
	if limit != "" {
		s.mu.Unlock()
		s.refuse(c, limit)
		nc.Close()
		return
	}
	c.spare = s.Limits.Connections > 0 && len(s.conns) >= s.Limits.Connections-s.Limits.brokerPlaces()
	s.conns[c] = struct{}{}
	s.Stats.Accepted.Add(1)
	c.attachRaw()
	s.wg.Go(c.serve)
	s.mu.Unlock()
}

const settingPerAddress = "remoting.maxConnectionsPerAddress"

// admit counts a connection for its address, unless there are too many. s.mu is held.
func (s *Server) admit(c *conn) bool {
	if s.Limits.PerAddress > 0 && s.perAddr[c.addr] >= s.Limits.PerAddress {
		return false
	}
	s.perAddr[c.addr]++
	c.counted = true
	return true
}

func (s *Server) refuse(c *conn, limit string) {
	s.Stats.Rejected.Add(1)
	c.warn("a connection is refused: there are too many", "setting", limit)
}

// forget takes a connection that has ended off the books, and with it what lived by
// it. When the whole server stops nobody's broker has gone.
func (s *Server) forget(c *conn) {
	if !s.isStopped() {
		s.Registry.Release(c, c.cause("connectionClosed"))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, c)
	s.Stats.ended.received.Add(c.traffic.received.Load())
	s.Stats.ended.sent.Add(c.traffic.sent.Load())
	if c.counted {
		if s.perAddr[c.addr]--; s.perAddr[c.addr] == 0 {
			delete(s.perAddr, c.addr)
		}
	}
}

// Leave begins a graceful stop: from now on peers that understand it are told to
// connect again elsewhere. Connections are still accepted and older peers served.
func (s *Server) Leave() { s.away.Store(awayAll) }

// Shutdown stops accepting, lets every connection finish the requests it has read,
// and waits for their ends, or for ctx, after which it cuts them off and says so.
func (s *Server) Shutdown(ctx context.Context) error {
	s.init()
	s.mu.Lock()
	s.stopped = true
	if s.ln != nil {
		s.ln.Close()
	}
	s.cancel()
	for c := range s.conns {
		// Wakes a reader; overdue then ends it.
		c.base.SetReadDeadline(time.Now())
	}
	s.mu.Unlock()
	done := make(chan struct{})
	go func() {
		s.wg.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
	}
	s.mu.Lock()
	n := len(s.conns)
	for c := range s.conns {
		c.base.Close()
	}
	s.mu.Unlock()
	<-done
	return fmt.Errorf("%d remoting connections had to be cut off: %w", n, ctx.Err())
}

func (s *Server) idle() time.Duration {
	if s.Idle == nil {
		return 120 * time.Second
	}
	return s.Idle()
}

func (s *Server) nextOpaque() int32 { return s.opaque.Add(1) }
