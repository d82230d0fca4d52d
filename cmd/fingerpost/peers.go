package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"

	"fingerpost/config"
	"fingerpost/handlers"
	"fingerpost/internal/nsclient"
	"fingerpost/internal/peers"
)

// watchPeers begins to compare this server with the peers of the settings.
func (n *node) watchPeers(cfg *config.Config) error {
	if len(cfg.Peers) == 0 {
		return nil
	}
	secure, err := n.peerTLS(cfg)
	if err != nil {
		return fmt.Errorf("TLS to peers: %w", err)
	}
	n.peers = peers.New(peers.Options{
		Registry: n.registry, Addrs: cfg.Peers, Settings: n.sharedSettings,
		Client: nsclient.Options{TLS: secure}, Interval: cfg.Compare.Interval, RoutesPerSecond: cfg.Compare.RoutesPerSecond, WarmUp: cfg.Compare.WarmUp,
	})
	n.loop("the comparison with peers", n.peers.Run)
	return nil
}

// peerTLS returns how connections to peers are encrypted, nil if they are not. Where the
// remoting port has a certificate, it is shown to peers that ask for one.
func (n *node) peerTLS(cfg *config.Config) (*tls.Config, error) {
	if cfg.Compare.TLS == "off" {
		return nil, nil
	}
	conf := &tls.Config{
		MinVersion:         tls.VersionTLS12,
		InsecureSkipVerify: cfg.Compare.TLS == "unverified", //nolint:gosec // as the setting says
	}
	if file := cfg.TLS.TrustCertPath; file != "" && cfg.Compare.TLS == "on" {
		pem, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		conf.RootCAs = x509.NewCertPool()
		if !conf.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("%s holds no certificate in PEM form", file)
		}
	}
	conf.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
		if own := n.remoting.TLS.Config(); own != nil && len(own.Certificates) > 0 {
			return &own.Certificates[0], nil
		}
		return new(tls.Certificate), nil // none
	}
	return conf, nil
}

// sharedSettings are those on which the nodes of a set should agree: what the Java server
// has too and takes while it runs. Paths, ports and sizes are each node's own.
func (n *node) sharedSettings() map[string]string {
	out := make(map[string]string)
	items, _ := n.store.Items()
	for _, it := range items {
		if it.Is(config.Peer) && it.Is(config.Live) && !it.Is(config.NoEffect|config.Secret) {
			out[it.Key] = it.Value
		}
	}
	return out
}

// peerChecks are what the probes look at if there are peers.
func (n *node) peerChecks() []handlers.Check {
	if n.peers == nil {
		return nil
	}
	return []handlers.Check{
		{Name: "caught-up", Probe: handlers.Ready, Run: func(context.Context) error {
			have, want, done := n.peers.CatchingUp()
			switch {
			case done:
				return nil
			case want == 0:
				return errors.New("catching up: the peers are being asked which brokers they know")
			}
			return fmt.Errorf("catching up %d/%d: brokers known here, and to the peer that knows most", have, want)
		}},
		{Name: "peers-agree", Probe: handlers.Healthy, Run: func(context.Context) error {
			for _, p := range n.peers.List() {
				if count := p.Differences(); p.State == peers.Reachable && count > 0 {
					return fmt.Errorf("peer %s differs in %d places", p.Addr, count)
				}
			}
			return nil
		}},
	}
}
