package main

import (
	"context"
	"errors"
	"fmt"

	"fingerpost/config"
	"fingerpost/handlers"
	"fingerpost/internal/peers"
)

// watchPeers begins to compare this server with the peers of the settings.
func (n *node) watchPeers(cfg *config.Config) {
	if len(cfg.Peers) == 0 {
		return
	}
	n.peers = peers.New(peers.Options{
		Registry: n.registry, Addrs: cfg.Peers, Settings: n.sharedSettings,
		Interval: cfg.Compare.Interval, RoutesPerSecond: cfg.Compare.RoutesPerSecond, WarmUp: cfg.Compare.WarmUp,
	})
	n.loop("the comparison with peers", n.peers.Run)
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
