package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"path/filepath"
	"strings"
	"time"

	"fingerpost/config"
	"fingerpost/handlers"
	"fingerpost/internal/auth"
	"fingerpost/openapi"
	"fingerpost/remoting/wire"
	"fingerpost/static"
	"fingerpost/web"
)

// maxHeaderBytes bounds the header of an HTTP request.
const maxHeaderBytes = 64 << 10

// httpFace is the HTTP face as it runs.
type httpFace struct {
	handler   *handlers.Handler
	dashboard *web.Dashboard
	feed      *web.Feed
	server    *http.Server
	ln        net.Listener
	url       string
}

// listenHTTP takes the HTTP address. It returns nil where the settings switch HTTP off
// or leave it open to the network without a credential: that is logged, and the remoting
// port serves all the same.
func (n *node) listenHTTP(ctx context.Context, cfg *config.Config) (net.Listener, error) {
	if cfg.HTTP.Listen == "" {
		n.log.Info("HTTP is off", "setting", "http.listen")
		return nil, nil
	}
	if exposed(cfg) {
		n.log.Error("HTTP is not served: it would be open to the network without a credential; name a file in auth.tokensFile, auth.usersFile or auth.certRolesFile, or say by auth.anonymousRole what strangers may do",
			"listen", cfg.HTTP.Listen)
		return nil, nil
	}
	ln, err := listen(ctx, cfg.HTTP.Listen, "http.listen")
	if err != nil {
		return nil, err
	}
	n.stopping.add("the HTTP listener", func(context.Context) error { return closed(ln.Close()) })
	return ln, nil
}

// newHTTP makes what answers on a listener.
func (n *node) newHTTP(cfg *config.Config, ln net.Listener) (*httpFace, error) {
	w := &httpFace{ln: ln, url: urlOf(cfg, ln.Addr()), server: &http.Server{
		ReadHeaderTimeout: cfg.HTTP.HeaderTimeout,
		IdleTimeout:       cfg.HTTP.IdleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          slog.NewLogLogger(n.log.With("face", "rest").Handler(), slog.LevelDebug),
	}}
	if cfg.HTTP.CertFile != "" {
		c := &certificate{
			face: "rest", cert: cfg.HTTP.CertFile, key: cfg.HTTP.KeyFile, trust: cfg.HTTP.ClientCAFile,
			min: tlsVersions[cfg.HTTP.MinVersion], protocols: []string{"h2", "http/1.1"}, log: n.log,
		}
		if c.trust != "" {
			c.clients = tls.VerifyClientCertIfGiven
		}
		if err := c.load(); err != nil {
			return nil, fmt.Errorf("TLS for HTTP: %w", err)
		}
		n.certificates = append(n.certificates, c)
		w.server.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12, GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { return c.current(), nil }}
	}
	keeper, err := n.credentials(cfg)
	if err != nil {
		return nil, err
	}
	if err := w.mount(n, cfg, keeper); err != nil {
		return nil, err
	}
	w.server.Handler = w.handler
	return w, nil
}

// mount makes the API, the dashboard and its feed, which all ask the API who a caller is.
func (w *httpFace) mount(n *node, cfg *config.Config, keeper *auth.Keeper) error {
	roleOf := func(r *http.Request) (string, bool) {
		_, role, ok := w.handler.Authenticate(r)
		return role, ok
	}
	var err error
	w.dashboard, err = web.NewDashboard(static.FS, func(r *http.Request) bool { _, ok := roleOf(r); return ok })
	if err != nil {
		return err
	}
	v, _ := buildVersion()
	o := web.FeedOptions{
		Registry: n.registry, Authenticate: roleOf,
		ClientAddr: func(r *http.Request) string { return w.handler.ClientAddr(r) },
		Version:    v, Assets: w.dashboard.Version(), VersionName: versionName,
		MaxSockets: cfg.HTTP.MaxWatchers, MaxPerAddress: cfg.HTTP.MaxWatchersPerAddress, Log: n.log.With("face", "dashboard"),
	}
	if cfg.HTTP.ExternalURL != "" {
		o.Origins = []string{cfg.HTTP.ExternalURL}
	}
	lag := feedLag()
	o.Lag = func(d time.Duration) { lag.Observe(d.Seconds()) }
	if w.feed, err = web.NewFeed(o); err != nil {
		return err
	}
	d := n.deps(cfg, keeper)
	d.Dashboard, d.Feed = w.dashboard, w.feed
	observeFeed(&d, w.feed)
	d.Registerer.MustRegister(lag)
	d.OpenAPI, d.Swagger = openapi.Handler(cfg.HTTP.BasePath), openapi.SwaggerHandler(cfg.HTTP.BasePath)
	if w.handler, err = handlers.New(d); err != nil {
		w.feed.Close()
	}
	return err
}

// versionName names the version number that a peer sent.
func versionName(v int) string { return wire.Version(v).String() }

// serve answers until shutdown.
func (w *httpFace) serve() error {
	var err error
	if w.server.TLSConfig != nil {
		err = w.server.ServeTLS(w.ln, "", "")
	} else {
		err = w.server.Serve(w.ln)
	}
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// shutdown ends waits and watches, lets requests finish, and cuts off what is left
// when ctx ends.
func (w *httpFace) shutdown(ctx context.Context) error {
	w.handler.Close()
	w.feed.Close()
	if err := w.server.Shutdown(ctx); err != nil {
		return errors.Join(fmt.Errorf("some requests had to be cut off: %w", err), w.server.Close())
	}
	return nil
}

// addr returns the address of the settings with the real port.
func (w *httpFace) addr(c *config.Config) string {
	host, _, _ := net.SplitHostPort(c.HTTP.Listen)
	_, port, _ := net.SplitHostPort(w.ln.Addr().String())
	return net.JoinHostPort(host, port)
}

// exposed reports whether HTTP would be open to the network although nobody has said
// who may do what.
func exposed(c *config.Config) bool {
	return !loopback(c.HTTP.Listen) && !c.HTTP.InsecureNoAuth && !hasCredentials(c) && c.Auth.AnonymousRole == "auto"
}

func hasCredentials(c *config.Config) bool {
	return c.Auth.TokensFile != "" || c.Auth.UsersFile != "" || c.Auth.CertRolesFile != ""
}

// loopback reports whether only this machine can reach an address to listen on.
func loopback(listen string) bool {
	host, _, err := net.SplitHostPort(listen)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.Unmap().IsLoopback()
}

// adminToken is the file of the token that is made at the first start, below dataDir.
const adminToken = "admin-token"

// credentials opens the files that say who may do what. Where none is named, a token is
// made for changes; a folder that does not allow it is no reason not to serve.
func (n *node) credentials(cfg *config.Config) (*auth.Keeper, error) {
	o := auth.Options{
		TokensFile: cfg.Auth.TokensFile, UsersFile: cfg.Auth.UsersFile, CertRolesFile: cfg.Auth.CertRolesFile,
		NoAuth: cfg.HTTP.InsecureNoAuth, Log: n.log.With("face", "rest"),
	}
	if cfg.Auth.AnonymousRole == "viewer" || cfg.Auth.AnonymousRole == "auto" && loopback(cfg.HTTP.Listen) && !hasCredentials(cfg) {
		o.AnonymousRole = auth.Viewer
	}
	if o.NoAuth {
		n.log.Warn("everybody may change everything over HTTP", "setting", "http.insecureNoAuth")
	}
	if hasCredentials(cfg) || o.NoAuth {
		return auth.New(o)
	}
	o.AdminTokenFile = filepath.Join(cfg.DataDir, adminToken)
	k, err := auth.New(o)
	if err != nil {
		n.log.Error("there is no token for changes over HTTP, so nobody may make any", "file", o.AdminTokenFile, "err", err)
		o.AdminTokenFile = ""
		return auth.New(o)
	}
	if k.MadeAdminToken() {
		n.log.Info("a token for changes over HTTP was made", "file", o.AdminTokenFile)
	}
	return k, nil
}

// deps are what the HTTP face is given.
func (n *node) deps(cfg *config.Config, keeper *auth.Keeper) handlers.Deps {
	h := cfg.HTTP
	metrics := n.metrics()
	d := handlers.Deps{
		Registry: n.registry, Auth: keeper, Settings: httpSettings{n.store, n.registry}, Log: n.log,
		Drain: n.drainer, Connections: n.connections, Counters: n.counters(), Checks: append(n.checks(), n.peerChecks()...), Peers: n.peers,
		Metrics: n.scrape(metrics), MetricsNeedViewer: h.MetricsAuth, Registerer: metrics,
		Site: handlers.Site{
			BasePath: h.BasePath, ExternalURL: h.ExternalURL, Loopback: loopback(h.Listen), AllowedHosts: h.AllowedHosts,
			CORSOrigins: h.CORSOrigins, TLS: h.CertFile != "" || strings.HasPrefix(h.ExternalURL, "https://"),
		},
		Limits: handlers.Limits{
			Body: int64(h.MaxBody), RegistrationBody: int64(h.MaxRegistrationBody), BatchBody: int64(h.MaxBatchBody), KVValue: int64(h.MaxKVValue),
			BodyTimeout: h.BodyTimeout, InFlight: h.MaxInFlight, Heavy: h.MaxHeavy,
			Watchers: h.MaxWatchers, WatchersPerAddress: h.MaxWatchersPerAddress, Waiters: h.MaxWaiters,
			WritesPerSecond: h.WritesPerSecond, WritesBurst: h.WritesBurst, HeartbeatsPerSecond: h.HeartbeatsPerSecond,
			FailedLoginsPerMinute: h.FailedLoginsPerMinute, Topics: h.MaxTopics, KVEntries: h.MaxKVEntries,
		},
		Version:     apiVersion(),
		VersionName: versionName,
		Environment: func() string { return n.store.Current().ProductEnvName },
	}
	for _, p := range h.TrustedProxies {
		d.Site.TrustedProxies = append(d.Site.TrustedProxies, prefix(p))
	}
	if h.Pprof {
		d.Pprof = profiles()
	}
	if h.NSAddrEnabled {
		d.NSAddr = n.nameServers
	}
	return d
}

// urlOf returns where a browser on this machine finds the server.
func urlOf(cfg *config.Config, addr net.Addr) string {
	if cfg.HTTP.ExternalURL != "" {
		return strings.TrimSuffix(cfg.HTTP.ExternalURL, "/")
	}
	at := *cfg
	at.HTTP.Listen = addr.String()
	return baseURL(&at)
}
