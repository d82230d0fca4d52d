package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"fingerpost/config"
	"fingerpost/internal/discovery"
	"fingerpost/internal/kvfile"
	"fingerpost/internal/peers"
	"fingerpost/registry"
	"fingerpost/remoting"
	"fingerpost/remoting/wire"
	"fingerpost/web"
)

// gcPercent is how much may be allocated until garbage is collected, in percent of what is
// alive, unless GOGC says otherwise. What is alive is small, tens of megabytes for hundreds of
// thousands of topics, and brokers that come and go leave much behind: with Go's 100 taking
// in a broker costs a sixth more processor time (docs/performance.md).
const gcPercent = 200

// serveCmd is `fingerpost serve`, and `fingerpost` alone.
type serveCmd struct {
	settingsFrom
	PrintConfigItem bool   `name:"printConfigItem" aliases:"print-config-item" short:"p" help:"Print all settings as key=value and end."`
	NamesrvAddr     string `name:"namesrvAddr" aliases:"namesrv-addr" short:"n" placeholder:"ADDR" help:"Taken because RocketMQ's start script passes it; without effect."`
}

// Run serves until the context ends.
func (s *serveCmd) Run(a *app) error {
	if s.PrintConfigItem {
		store, _, err := a.load(&s.settingsFrom, watchProperties)
		if err != nil {
			return err
		}
		return a.printItems(store)
	}
	began := time.Now()
	if a.getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	n := &node{began: began}
	file := &propertiesFile{saved: &n.settingsSaved}
	store, notes, err := a.load(&s.settingsFrom, func(path string, whole func([]byte) error) config.File {
		file.File = kvfile.New(path, nil, whole)
		n.settingsSaved.watch(file.File)
		return file
	})
	if err != nil {
		return err
	}
	level := new(slog.LevelVar)
	log, closeLog := newLog(a.stderr, store.Current(), level, a.getenv("NO_COLOR") != "")
	defer closeLog()
	file.log = log
	for _, n := range notes {
		if n.Warn {
			log.Warn(n.Text)
		} else {
			log.Info(n.Text)
		}
	}
	store.Subscribe("log.level", func(c config.Change) error {
		level.Set(c.New.LogLevel)
		return nil
	})
	n.store, n.log, n.stopping.log = store, log, log
	if n.supervisor, err = newSupervisor(a.getenv); err != nil {
		// Whoever set it may not even know of us: a shell inside of a service inherits it.
		log.Warn("no service manager will hear of this server", "err", err)
	}
	if err := n.start(a.ctx); err != nil {
		return errors.Join(err, n.stop(false))
	}
	n.loop("the rest of the start", n.settle)
	return n.serve(a.ctx)
}

// settle does what nobody who wants an answer has to wait for: the dashboard is compressed
// for its first reader, and what only starting took, such as the model of the command line,
// goes back to the system.
func (n *node) settle(ctx context.Context) {
	if n.http != nil {
		n.http.dashboard.Compress(ctx)
	}
	if ctx.Err() == nil {
		debug.FreeOSMemory()
	}
}

// node is a running server.
type node struct {
	store    *config.Store
	log      *slog.Logger
	began    time.Time
	registry *registry.Registry
	remoting *remoting.Server
	http     *httpFace      // nil if there is none
	peers    *peers.Watcher // nil if there are none
	reaper   *reaper
	drainer  *drainer
	nsaddr   *discovery.List // nil if nobody is told
	leaving  atomic.Bool     // set when a polite stop begins
	stopping steps
	// supervisor is who started the process, if it wants to hear of it.
	supervisor supervisor

	kvSaved, settingsSaved saves
	warm                   *warm // nil if nothing outlives a restart
	certificates           []*certificate

	// failed gets the error of a face that ended by itself.
	failed chan error
}

// start does everything up to serving, in this order: files, registry, listeners,
// faces. Where it fails, stop undoes what was done.
func (n *node) start(ctx context.Context) error {
	cfg := n.store.Current()
	n.stopping.add("the service manager's socket", func(context.Context) error { return n.supervisor.close() })
	if err := n.openRegistry(cfg); err != nil {
		return err
	}
	ln, err := listen(ctx, listenAddr(cfg), "bindAddress or listenPort")
	if err != nil {
		return err
	}
	entry := newGate(ln, func() (net.Listener, error) {
		return listen(context.Background(), ln.Addr().String(), "bindAddress or listenPort")
	})
	n.stopping.add("the remoting listener", func(context.Context) error { return closed(entry.Close()) })
	if tcp, ok := ln.Addr().(*net.TCPAddr); ok && cfg.ListenPort == 0 {
		n.store.Bound(tcp.Port)
	}
	httpLn, err := n.listenHTTP(ctx, cfg)
	if err != nil {
		return err
	}
	if err := n.newRemoting(cfg); err != nil {
		return err
	}
	n.failed = make(chan error, 1)
	n.drainer = &drainer{
		peers: n.remoting, door: entry, log: n.log, report: n.registry.Report,
		timeout: func() time.Duration { return n.store.Current().DrainTimeout },
		grace:   func() time.Duration { return n.store.Current().ShutdownGrace },
	}
	n.stopping.add("the drain", n.drainer.close)
	if err := n.newDiscovery(cfg); err != nil {
		return err
	}
	if err := n.listenDiscovery(ctx, cfg); err != nil {
		return err
	}
	n.loop("the log of changes", (&news{n.registry, n.log}).run)
	n.reaper = &reaper{registry: n.registry, log: n.log, began: n.began, interval: func() time.Duration { return n.store.Current().ScanInterval }}
	n.loop("the search for silent brokers", n.reaper.run)
	if err := n.watchPeers(cfg); err != nil {
		return err
	}
	// Brokers come first: making the HTTP face takes longer than all of the above.
	n.face("remoting", func() error {
		return n.remoting.Serve(bufferedListener{entry, cfg.SendBuffer, cfg.ReceiveBuffer})
	}, n.remoting.Shutdown)
	if httpLn != nil {
		if n.http, err = n.newHTTP(cfg, httpLn); err != nil {
			return err
		}
		n.face("HTTP", n.http.serve, n.http.shutdown)
	}
	if n.warm != nil {
		// Stopped first: what the faces do when they stop is no news of the brokers.
		n.loop("the saving of what is known", n.warm.run)
		n.stopping.add("the last save of what is known", func(context.Context) error { n.warm.finish(); return nil })
	}
	n.registry.Report(registry.Change{Cause: registry.Cause{Face: "server", Action: "start"}, Server: []registry.ServerChange{{Op: registry.OpStarted}}})
	n.announce()
	if n.supervisor.patience > 0 {
		n.loop("the signs of life", func(ctx context.Context) {
			n.supervisor.keepAlive(ctx, func() bool { return n.reaper.stuck() <= stuckAfter })
		})
	}
	return nil
}

// announce says where the server is to be found, with the real ports.
func (n *node) announce() {
	v, _ := buildVersion()
	where := []any{"remoting", listenAddr(n.store.Current())}
	if n.http != nil {
		where = append(where, "http", n.http.addr(n.store.Current()))
	}
	n.log.Info("serving", append(where, "version", v, "after", time.Since(n.began).Round(time.Millisecond))...)
	if n.http != nil {
		n.log.Info("the dashboard is at " + n.http.url + web.Mount)
	}
	status := "remoting on " + listenAddr(n.store.Current())
	if n.http != nil {
		status += ", HTTP on " + n.http.addr(n.store.Current())
	}
	n.supervisor.ready(status)
}

// openRegistry loads the key-value file and makes the registry.
func (n *node) openRegistry(cfg *config.Config) error {
	file := kvfile.NewTable(cfg.KVConfigPath, nil)
	table, note, err := kvfile.LoadTable(file)
	if err != nil {
		return err
	}
	if note != "" {
		n.log.Warn(note)
	}
	n.kvSaved.watch(file)
	rules := cfg.Rules()
	n.registry = registry.New(registry.Options{
		Rules: &rules,
		KV:    registry.KV(table),
		SaveKV: func(kv registry.KV) error {
			return n.kvSaved.do(func() error { return kvfile.SaveTable(file, kvfile.Table(kv)) })
		},
	})
	if cfg.WarmRestart.Enabled {
		n.warm = newWarm(cfg, nil, n.log)
		n.warm.interval = func() time.Duration { return n.store.Current().WarmRestart.Interval }
		n.warm.begin(n.registry, cfg.WarmRestart.Limit)
	}
	n.store.Subscribe("registry", func(c config.Change) error {
		n.registry.SetRules(c.New.Rules(), c.Keys, c.Cause)
		return nil
	})
	return nil
}

// newRemoting makes the server of the remoting port.
func (n *node) newRemoting(cfg *config.Config) error {
	r := cfg.Remoting
	n.remoting = &remoting.Server{
		Registry: n.registry,
		Settings: n.store,
		Log:      n.log.With("face", "remoting"),
		Limits: remoting.Limits{
			Frame: int(r.FrameMaxLength), Header: int(r.HeaderMaxLength), Inflated: int(r.InflatedMaxLength), Topics: r.MaxTopics,
			Connections: r.MaxConnections, PerAddress: r.MaxConnectionsPerAddress,
			BrokerConnections: r.BrokerConnections,
			InFlight:          int64(r.MaxInFlightBytes), ClientInFlight: int64(r.MaxClientInFlightBytes),
			OverloadDelay: r.OverloadDelay, WriteTimeout: r.WriteTimeout,
		},
		TLS: remoting.TLS{
			Mode: tlsModes[cfg.TLS.Mode], Config: func() *tls.Config { return nil }, HandshakeTimeout: cfg.TLS.HandshakeTimeout,
		},
		Idle: func() time.Duration { return n.store.Current().IdleTimeout },
	}
	if r.SerializeType == "ROCKETMQ" {
		n.remoting.HeaderType = wire.BinaryHeader
	}
	for _, p := range r.TrustedProxies {
		n.remoting.TrustedProxies = append(n.remoting.TrustedProxies, prefix(p))
	}
	var err error
	if n.remoting.Access, err = n.access(&cfg.Access); err != nil {
		return err
	}
	if cfg.TLS.CertPath == "" || cfg.TLS.Mode == "disabled" {
		return nil
	}
	c := &certificate{
		face: faceRemoting, cert: cfg.TLS.CertPath, key: cfg.TLS.KeyPath, trust: cfg.TLS.TrustCertPath,
		clients: clientAuth(&cfg.TLS), min: tlsVersions[cfg.TLS.MinVersion], log: n.log,
	}
	if err := c.load(); err != nil {
		return fmt.Errorf("TLS on the remoting port: %w", err)
	}
	n.certificates = append(n.certificates, c)
	n.remoting.TLS.Config = c.current
	return nil
}

var tlsModes = map[string]remoting.TLSMode{
	"disabled": remoting.TLSDisabled, "permissive": remoting.TLSPermissive, "enforcing": remoting.TLSEnforcing,
}

// clientAuth says what is asked of a peer's certificate. Without tls.server.authClient
// any certificate will do, as with the peers.
func clientAuth(t *config.TLS) tls.ClientAuthType {
	switch {
	case t.NeedClientAuth == "optional" && t.AuthClient:
		return tls.VerifyClientCertIfGiven
	case t.NeedClientAuth == "optional":
		return tls.RequestClientCert
	case t.NeedClientAuth == "require" && t.AuthClient:
		return tls.RequireAndVerifyClientCert
	case t.NeedClientAuth == "require":
		return tls.RequireAnyClientCert
	}
	return tls.NoClientCert
}

// prefix reads an address or network of a setting, whose form was checked.
func prefix(text string) netip.Prefix {
	if p, err := netip.ParsePrefix(text); err == nil {
		return p
	}
	addr, _ := netip.ParseAddr(text)
	return netip.PrefixFrom(addr, addr.BitLen())
}

// loop runs f in the background until the step of that name stops it.
func (n *node) loop(name string, f func(context.Context)) {
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { f(ctx) })
	n.stopping.add(name, func(context.Context) error {
		cancel()
		wg.Wait()
		return nil
	})
}

// face serves in the background until the step of that name shuts it down. If it ends
// by itself the process ends too.
func (n *node) face(name string, serve func() error, shutdown func(context.Context) error) {
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := serve(); err != nil {
			select {
			case n.failed <- fmt.Errorf("%s: %w", name, err):
			default: // another face has failed already
			}
		}
	})
	n.stopping.add(name, func(ctx context.Context) error {
		err := shutdown(ctx)
		wg.Wait()
		return err
	})
}

// serve waits for the end, and ends.
func (n *node) serve(ctx context.Context) error {
	select {
	case err := <-n.failed:
		return errors.Join(err, n.stop(false))
	case <-ctx.Done():
		n.log.Info("stopping", "reason", context.Cause(ctx).Error())
		return n.stop(true)
	}
}

// stop ends everything that start began. A polite stop first goes on answering for as
// long as the settings ask for, while it says that it is about to leave.
func (n *node) stop(polite bool) error {
	cfg := n.store.Current()
	n.supervisor.leaving(n.farewell(cfg, polite))
	if polite {
		n.registry.Report(registry.Change{Cause: registry.Cause{Face: "server", Action: "stop"}, Server: []registry.ServerChange{{Op: registry.OpStopping}}})
		n.leave(cfg)
	}
	ctx, cancel := context.WithTimeout(context.Background(), cfg.ShutdownTimeout)
	defer cancel()
	err := n.stopping.stop(ctx)
	if polite && err == nil {
		n.log.Info("stopped")
	}
	return err
}

// farewell returns how long stop may take.
func (n *node) farewell(cfg *config.Config, polite bool) time.Duration {
	took := cfg.ShutdownTimeout + time.Duration(len(n.stopping.list))*lastWord
	if polite {
		took += cfg.ShutdownGrace + cfg.ShutdownDrain
		if cfg.ShutdownGracefully {
			took += cfg.ShutdownWait
		}
	}
	return took
}

// leave gives peers time to go elsewhere.
func (n *node) leave(cfg *config.Config) {
	n.leaving.Store(true)
	if n.http != nil {
		n.http.handler.Drain()
	}
	if cfg.ShutdownGrace > 0 {
		n.log.Info("answering on before stopping", "for", cfg.ShutdownGrace)
		time.Sleep(cfg.ShutdownGrace)
	}
	if cfg.ShutdownGracefully {
		if n.warm != nil { // peers that go take their registrations with them
			n.warm.finishWithin(cfg.ShutdownTimeout)
		}
		n.log.Info("telling peers to go elsewhere", "for", cfg.ShutdownWait)
		n.remoting.Leave()
		time.Sleep(cfg.ShutdownWait)
	}
	if cfg.ShutdownDrain > 0 {
		n.drainer.clear(context.Background(), cfg.ShutdownDrain)
	}
}

// closed takes a listener that is closed already as closed.
func closed(err error) error {
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}
