package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"fingerpost/api"
	"fingerpost/handlers"
	"fingerpost/internal/auth"
	"fingerpost/registry"
	"fingerpost/remoting"
	"fingerpost/web"
)

// sweepEvery is how often the server looks for silent brokers: often, so that expiry is
// one of the things that happen all the time.
const sweepEvery = 100 * time.Millisecond

// server is the registry with its faces on loopback ports, as the program has them.
type server struct {
	registry *registry.Registry
	remoting *remoting.Server
	addr     string // of the remoting port
	url      string // of the HTTP port

	handler *handlers.Handler
	feed    *web.Feed
	http    *http.Server
	stop    context.CancelFunc
	running sync.WaitGroup
	failed  chan error
}

// startServer starts one. Its log goes to log.
func startServer(log *slog.Logger) (*server, error) {
	s := &server{registry: registry.New(registry.Options{}), failed: make(chan error, 2)}
	s.remoting = &remoting.Server{
		Registry: s.registry, Settings: fixed{}, Log: log,
		// Nobody is silent for long by mistake: what ends a connection is meant.
		Idle: func() time.Duration { return 0 },
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	httpLn, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, errors.Join(err, ln.Close())
	}
	s.addr, s.url = ln.Addr().String(), "http://"+httpLn.Addr().String()
	if err := s.newHTTP(log); err != nil {
		return nil, errors.Join(err, ln.Close(), httpLn.Close())
	}
	var ctx context.Context
	ctx, s.stop = context.WithCancel(context.Background())
	s.running.Go(func() { s.sweep(ctx) })
	s.running.Go(func() { s.fail("remoting", s.remoting.Serve(ln)) })
	s.running.Go(func() {
		if err := s.http.Serve(httpLn); !errors.Is(err, http.ErrServerClosed) {
			s.fail("HTTP", err)
		}
	})
	return s, nil
}

func (s *server) newHTTP(log *slog.Logger) error {
	keeper, err := auth.New(auth.Options{NoAuth: true})
	if err != nil {
		return err
	}
	s.feed, err = web.NewFeed(web.FeedOptions{
		Registry: s.registry, Version: "chaos", Log: log,
		Authenticate: func(*http.Request) (string, bool) { return "admin", true },
	})
	if err != nil {
		return err
	}
	const most = 1 << 20 // nobody is to be told to slow down: that is another test's business
	s.handler, err = handlers.New(handlers.Deps{
		Registry: s.registry, Auth: keeper, Settings: fixed{}, Log: log, Feed: s.feed,
		Site:    handlers.Site{Loopback: true},
		Limits:  handlers.Limits{WritesPerSecond: most, WritesBurst: most, HeartbeatsPerSecond: most, Heavy: 64},
		Version: api.Version{Name: "fingerpost", Version: "chaos", Compatibility: "5.5.0"},
	})
	if err != nil {
		s.feed.Close()
		return err
	}
	s.http = &http.Server{
		Handler: s.handler, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 5 * time.Minute,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	return nil
}

func (s *server) sweep(ctx context.Context) {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			s.registry.Sweep(sweepEvery, registry.Cause{Face: "server", Action: "expire"})
		}
	}
}

func (s *server) fail(face string, err error) {
	if err != nil {
		s.failed <- fmt.Errorf("%s ended by itself: %w", face, err)
	}
}

// close ends the server and waits for all that it began. It returns what was not as it
// should be.
func (s *server) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	s.stop()
	s.handler.Close()
	s.feed.Close()
	err := errors.Join(s.remoting.Shutdown(ctx), s.http.Shutdown(ctx))
	s.running.Wait()
	select {
	case failed := <-s.failed:
		err = errors.Join(err, failed)
	default:
	}
	return err
}

// fixed are settings that nobody changes here.
type fixed struct{}

// Items returns none.
func (fixed) Items() []api.ConfigItem { return []api.ConfigItem{} }

// Text returns what admin tools get: they fail on nothing at all.
func (fixed) Text() []byte { return []byte("listenPort=9876\n") }

// Version returns the only one.
func (fixed) Version() uint64 { return 1 }

// Update refuses.
func (fixed) Update([]byte, registry.Cause) ([]string, error) { return nil, errFixed }

// Patch refuses.
func (fixed) Patch(map[string]*string, uint64, bool, registry.Cause) (api.ConfigUpdate, error) {
	return api.ConfigUpdate{}, errFixed
}

var errFixed = &registry.Error{Kind: registry.Denied, Field: "listenPort", Message: "the settings of this server are fixed"}
