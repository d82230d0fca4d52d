package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/pprof"
	"time"

	"fingerpost/api"
	"fingerpost/config"
	"fingerpost/handlers"
	"fingerpost/registry"
)

// What the HTTP face shows of the other pieces.

// httpSettings shows the settings to the HTTP face.
type httpSettings struct {
	store    *config.Store
	registry *registry.Registry
}

// Items returns every setting.
func (s httpSettings) Items() []api.ConfigItem {
	items, _ := s.store.Items()
	out := make([]api.ConfigItem, len(items))
	for i, it := range items {
		out[i] = api.ConfigItem{
			Key: it.Key, Value: it.Value, Default: it.Default, Source: it.Origin.String(), Type: it.Type(), Range: it.Range(),
			Mutable: !it.Closed, RestartRequired: !it.Closed && !it.Mutable(), Secret: it.Is(config.Secret), Doc: it.Doc, DocZH: it.DocZH(),
		}
	}
	return out
}

// Text returns them as Java properties.
func (s httpSettings) Text() []byte { return s.store.Text() }

// Version counts the changes.
func (s httpSettings) Version() uint64 { return s.store.Version() }

// Patch changes settings.
func (s httpSettings) Patch(values map[string]*string, version uint64, dry bool, cause registry.Cause) (api.ConfigUpdate, error) {
	res, err := s.store.Patch(values, version, dry, cause)
	if err != nil {
		return api.ConfigUpdate{}, err
	}
	list := func(keys []string) []string { return append([]string{}, keys...) } // never null
	snap := s.registry.Snapshot()
	return api.ConfigUpdate{
		Applied: list(res.Applied), Unchanged: list(res.Unchanged), RestartRequired: list(res.RestartRequired), Overridden: list(res.Overridden),
		DryRun: dry, Revision: registry.FormatRevision(snap.Epoch, snap.Revision),
	}, nil
}

func apiVersion() api.Version {
	v, c := buildVersion()
	return api.Version{Name: "fingerpost", Version: v, Commit: c, Compatibility: compatibility}
}

// connections are those of the remoting port.
func (n *node) connections() []api.Connection {
	open := n.remoting.Connections()
	out := make([]api.Connection, len(open))
	for i, c := range open {
		holds := make([]string, len(c.Holds))
		for j, m := range c.Holds {
			holds[j] = fmt.Sprintf("%s/%d", m.Name, m.ID)
		}
		out[i] = api.Connection{
			ID: fmt.Sprintf("c%d", c.ID), RemoteAddress: c.RemoteAddr, Kind: c.Kind, Language: c.Language, Version: c.Version, TLS: c.TLS,
			FirstSeenAt: api.TimeOf(c.Since), LastSeenAt: api.TimeOf(c.LastUsed), LastCode: int(c.LastCode), LastName: c.LastName, Requests: c.Requests, Brokers: holds,
		}
	}
	return out
}

// counters are numbers of the remoting port.
func (n *node) counters() []handlers.Counter {
	s := &n.remoting.Stats
	grows := func(name string, read func() uint64) handlers.Counter {
		return handlers.Counter{Name: name, Read: func() float64 { return float64(read()) }}
	}
	return []handlers.Counter{
		grows("routeHits", s.RouteHits.Load),
		grows("routeMisses", s.RouteMisses.Load),
		grows("registrations", func() uint64 { return s.Registered.Load() + s.Reaffirmed.Load() }),
		grows("registrationsRefused", s.Refused.Load),
		grows("connectionsAccepted", s.Accepted.Load),
		grows("connectionsRejected", s.Rejected.Load),
		grows("badFrames", s.BadFrames.Load),
		grows("requestsCutShort", s.CutShort.Load),
		grows("answersUnasked", s.Unasked.Load),
		{Name: "connections", Gauge: true, Read: func() float64 { return float64(n.remoting.Open()) }},
	}
}

const (
	// stuckAfter is how long the search for silent brokers may be overdue.
	stuckAfter = 30 * time.Second
)

// checks are what the probes look at.
func (n *node) checks() []handlers.Check {
	return []handlers.Check{
		{Name: "expiry", Probe: handlers.Live, Run: func(context.Context) error {
			if late := n.reaper.stuck(); late > stuckAfter {
				return fmt.Errorf("silent brokers have not been searched for since %s", late.Truncate(time.Second))
			}
			return nil
		}},
		{Name: "nsaddr-dns", Probe: handlers.Healthy, Run: n.nameResolved},
		{Name: "kv-persist", Probe: handlers.Ready, Run: n.kvSaved.check},
		{Name: "config-persist", Probe: handlers.Ready, Run: n.settingsSaved.check},
		{Name: "mass-expiry", Probe: handlers.Healthy, Run: func(context.Context) error {
			if a := n.registry.Snapshot().Alarm(); a != nil {
				return fmt.Errorf("%s ago %s", time.Since(a.Since).Truncate(time.Second), a)
			}
			return nil
		}},
		{Name: "registry-persist", Probe: handlers.Healthy, Run: n.warmSaved},
		{Name: "certificates", Probe: handlers.Healthy, Run: func(context.Context) error {
			for _, c := range n.certificates {
				if err := c.check(); err != nil {
					return err
				}
			}
			return nil
		}},
	}
}

// nameResolved returns that DNS does not tell where the name servers are.
func (n *node) nameResolved(ctx context.Context) error {
	if n.nsaddr == nil {
		return nil
	}
	return n.nsaddr.Check(ctx)
}

// warmSaved returns that what is known could not be saved for the next start.
func (n *node) warmSaved(ctx context.Context) error {
	if n.warm == nil {
		return nil
	}
	return n.warm.saved.check(ctx)
}

// profiles serves what the Go runtime knows of the process.
func profiles() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	return mux
}
