package main

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"

	"fingerpost/config"
	"fingerpost/internal/discovery"
)

// newDiscovery makes the list of addresses for clients that ask for it, and keeps it up
// to date. Where nobody is to be told anything there is none.
func (n *node) newDiscovery(cfg *config.Config) error {
	h := &cfg.HTTP
	if !h.NSAddrEnabled && h.NSAddrListen == "" {
		return nil
	}
	units := make(map[string][]string)
	for _, u := range h.NSAddrUnits {
		unit, addr, _ := strings.Cut(u, "=")
		units[unit] = append(units[unit], addr)
	}
	var err error
	n.nsaddr, err = discovery.New(discovery.Options{
		Units: units, Addresses: h.NSAddrAddresses, Name: h.NSAddrDNS, Peers: cfg.Peers, Self: ownAddrs(cfg),
		Leaving: func() bool { return n.leaving.Load() || n.drainer.out() }, Log: n.log,
	})
	if err == nil && h.NSAddrDNS != "" {
		n.loop("the search for name servers", n.nsaddr.Run)
	}
	return err
}

// ownAddrs are the addresses under which this node is known, the one for clients first:
// the one of the settings, else the one that the remoting port binds to.
func ownAddrs(cfg *config.Config) (own []string) {
	if cfg.HTTP.NSAddrSelf != "" {
		own = append(own, cfg.HTTP.NSAddrSelf)
	}
	if ip, err := netip.ParseAddr(strings.Trim(cfg.BindAddress, "[]")); err != nil || !ip.IsUnspecified() {
		own = append(own, listenAddr(cfg))
	}
	return own
}

// nameServers answers clients over the HTTP face.
func (n *node) nameServers(unit string) (string, bool) { return n.nsaddr.For(unit), true }

// listenDiscovery serves the list at an address of its own, to anybody and nothing
// else: clients ask port 8080 unless their domain names another, and show no credential.
func (n *node) listenDiscovery(ctx context.Context, cfg *config.Config) error {
	if cfg.HTTP.NSAddrListen == "" {
		return nil
	}
	ln, err := listen(ctx, cfg.HTTP.NSAddrListen, "http.nsaddr.listen")
	if err != nil {
		return err
	}
	s := &http.Server{
		Handler: n.nsaddr, ReadHeaderTimeout: cfg.HTTP.HeaderTimeout, IdleTimeout: cfg.HTTP.IdleTimeout, MaxHeaderBytes: maxHeaderBytes,
		ReadTimeout: cfg.HTTP.BodyTimeout, WriteTimeout: cfg.HTTP.BodyTimeout,
		ErrorLog: slog.NewLogLogger(n.log.With("face", "nsaddr").Handler(), slog.LevelDebug),
	}
	n.face("the address list", func() error {
		if err := s.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
			return err
		}
		return nil
	}, func(ctx context.Context) error { return errors.Join(closed(ln.Close()), s.Shutdown(ctx)) })
	host, _, _ := net.SplitHostPort(cfg.HTTP.NSAddrListen)
	_, port, _ := net.SplitHostPort(ln.Addr().String())
	n.log.Info("the address list is served", "at", net.JoinHostPort(host, port), "path", discovery.Path)
	return nil
}
