package web

import (
	"errors"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"fingerpost/internal/convert"
	"fingerpost/registry"
)

// FeedOptions are what a [Feed] needs. Registry and Authenticate are required.
type FeedOptions struct {
	Registry *registry.Registry
	// Authenticate returns the caller's role; ok is false for a caller who may not
	// read. It is asked when a socket opens and again each minute with the same
	// request; a socket whose role is lost or changed is closed.
	Authenticate func(*http.Request) (role string, ok bool)
	// ClientAddr returns the address by which sockets are counted; the peer's by default.
	ClientAddr func(*http.Request) string
	// Origins are further web origins, such as https://ns.example.com, whose pages may
	// open the feed. The origin that equals the request's own host always may.
	Origins []string
	// Version and Assets are told to clients.
	Version, Assets string
	// VersionName names the version number that a peer sent; nil names none.
	VersionName func(int) string
	// MaxSockets is the most sockets at once (2000), MaxPerAddress those of one
	// address (64).
	MaxSockets, MaxPerAddress int
	// Lag is told of each batch how long ago its oldest change was made when it was
	// handed to the sockets; nil wants to know nothing. It must not wait.
	Lag func(time.Duration)
	// Log takes what happens to sockets, at debug; slog.DiscardHandler by default.
	Log *slog.Logger
}

// Times of the feed. The dashboard's countdown of leases wants to hear of heartbeats
// before a second one is due; peers send one each 30 s.
const (
	batchEvery   = 100 * time.Millisecond
	heardEvery   = 5 * time.Second
	heartbeat    = 15 * time.Second
	pingEvery    = 20 * time.Second
	sessionEvery = time.Minute
	writeWithin  = 30 * time.Second
	closeWithin  = 5 * time.Second
	snapWithin   = time.Minute
)

// Feed is the websocket: a handler for GET /ws. Make it with [NewFeed], end it with Close.
type Feed struct {
	o FeedOptions

	frames, bytes atomic.Uint64

	mu       sync.Mutex
	sockets  map[*socket]struct{}
	perAddr  map[string]int
	channels map[string]*channel
	pending  []*registry.Change // of the present batch
	cache    *sharedSnapshot
	heard    map[string]int64 // when each member was last said to be heard of
	resets   map[string]uint64
	closed   bool

	done chan struct{}
	wg   sync.WaitGroup // the pump and the sockets
}

// NewFeed begins to follow the registry. It fails if something required is missing.
func NewFeed(o FeedOptions) (*Feed, error) {
	switch {
	case o.Registry == nil:
		return nil, errors.New("make a feed: the registry is missing")
	case o.Authenticate == nil:
		return nil, errors.New("make a feed: the authentication is missing")
	}
	if o.MaxSockets <= 0 {
		o.MaxSockets = 2000
	}
	if o.MaxPerAddress <= 0 {
		o.MaxPerAddress = 64
	}
	if o.ClientAddr == nil {
		o.ClientAddr = peerHost
	}
	if o.Lag == nil {
		o.Lag = func(time.Duration) {}
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	f := &Feed{
		o: o, sockets: make(map[*socket]struct{}), perAddr: make(map[string]int),
		channels: make(map[string]*channel), heard: make(map[string]int64), resets: make(map[string]uint64),
		done: make(chan struct{}),
	}
	_, sub := o.Registry.Subscribe(pumpBuffer)
	f.wg.Go(func() { f.pump(sub) })
	return f, nil
}

func peerHost(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}

// Close says goodbye to every socket (1001) and waits until all goroutines are gone,
// which a peer that does not answer delays by some seconds. http.Server.Shutdown does
// not know hijacked connections: pass Close to its RegisterOnShutdown. It may be
// called twice.
func (f *Feed) Close() {
	f.mu.Lock()
	if !f.closed {
		f.closed = true
		close(f.done)
		for s := range f.sockets {
			s.end(goingAway)
		}
	}
	f.mu.Unlock()
	f.wg.Wait()
}

// FeedStats are numbers of a feed.
type FeedStats struct {
	// Sockets are open now.
	Sockets int
	// Frames and Bytes were written since the start.
	Frames, Bytes uint64
	// Resets are the resets sent, by reason.
	Resets map[string]uint64
}

// Stats returns the numbers as they are now.
func (f *Feed) Stats() FeedStats {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := FeedStats{Sockets: len(f.sockets), Frames: f.frames.Load(), Bytes: f.bytes.Load(), Resets: make(map[string]uint64, len(f.resets))}
	maps.Copy(out.Resets, f.resets)
	return out
}

// admit counts a socket in. The reason tells why it may not stay.
func (f *Feed) admit(s *socket) (reason closeReason, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.closed:
		return goingAway, false
	case len(f.sockets) >= f.o.MaxSockets:
		return closeReason{tooMany.code, "too many watchers"}, false
	case f.perAddr[s.addr] >= f.o.MaxPerAddress:
		return closeReason{tooMany.code, "too many watchers from this address"}, false
	}
	f.wg.Add(1)
	f.sockets[s] = struct{}{}
	f.perAddr[s.addr]++
	return closeReason{}, true
}

func (f *Feed) leave(s *socket) {
	defer f.wg.Done()
	f.mu.Lock()
	defer f.mu.Unlock()
	for id := range s.subs {
		f.unsubscribe(s, id)
	}
	delete(f.sockets, s)
	if f.perAddr[s.addr]--; f.perAddr[s.addr] == 0 {
		delete(f.perAddr, s.addr)
	}
}

// view is the present state, for converting what is sent.
func (f *Feed) view(s *registry.Snapshot) *convert.View {
	return &convert.View{Snapshot: s, Now: time.Now(), VersionName: f.o.VersionName}
}
