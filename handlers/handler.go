package handlers

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"

	"fingerpost/internal/auth"
)

// Handler is the HTTP face. Its methods may be called by anybody at any time.
type Handler struct {
	deps     Deps
	limits   Limits
	log      *slog.Logger
	mux      http.Handler
	ops      []*operation
	origins  *http.CrossOriginProtection
	sessions auth.Sessions
	limiters *limiters
	watched  watchers
	metrics  *metrics
	hub      *hub
	series   *series
	stale    staleMemo
	types    typeMemo
	encoded  encodings

	lastRevision atomic.Pointer[revisionHeader]

	anonymous  auth.Principal
	epoch      []string
	challenges []string
	linkBase   string // what links to this server begin with

	ids      atomic.Uint64
	flying   atomic.Int64
	answered atomic.Uint64
	draining atomic.Bool

	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	wg     sync.WaitGroup
}

// New returns the HTTP face. It runs until Close. It fails for an origin that is none.
func New(d Deps) (*Handler, error) {
	if d.Registry == nil || d.Auth == nil || d.Settings == nil || d.Log == nil {
		return nil, errors.New("handlers: Registry, Auth, Settings and Log are required")
	}
	d.Site.BasePath = strings.TrimSuffix(d.Site.BasePath, "/")
	h := &Handler{
		deps: d, limits: d.Limits.withDefaults(), log: d.Log.With("face", faceREST), anonymous: d.Auth.Anonymous(),
		epoch: []string{d.Registry.Epoch()}, challenges: []string{`Bearer realm="fingerpost"`},
		linkBase: firstOf(strings.TrimSuffix(d.Site.ExternalURL, "/"), d.Site.BasePath),
	}
	h.sessions.Keeper = d.Auth
	h.watched.limits = h.limits
	h.limiters = newLimiters(h.limits)
	h.metrics = newMetrics(h)
	if d.Registerer != nil && d.Peers != nil {
		d.Registerer.MustRegister(newPeerMetrics(d.Peers))
	}
	var err error
	if h.origins, err = h.crossOrigin(); err != nil {
		return nil, err
	}
	var b [8]byte
	rand.Read(b[:]) // never fails
	h.ids.Store(binary.LittleEndian.Uint64(b[:]))
	h.ctx, h.cancel = context.WithCancel(context.Background())
	h.hub = newHub(d.Registry)
	h.series = newSeries(h)
	h.ops = h.served()
	h.mux = h.mount()
	h.wg.Go(func() { h.hub.run(h.ctx) })
	h.wg.Go(func() { h.series.run(h.ctx) })
	return h, nil
}

// ServeHTTP answers a request.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) { h.mux.ServeHTTP(w, r) }

// Drain says that the process is about to stop: from now on /readyz says so.
func (h *Handler) Drain() { h.draining.Store(true) }

// Close ends waits and watches, and waits for the face's own goroutines. Requests are
// still answered, but for those that would wait.
func (h *Handler) Close() {
	h.Drain()
	h.cancel()
	h.wg.Wait()
}
