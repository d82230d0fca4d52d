package handlers

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"fingerpost/api"
	"fingerpost/internal/auth"
	"fingerpost/internal/peers"
	"fingerpost/registry"
)

// Deps are what the HTTP face is given. Registry, Auth, Settings and Log are required.
type Deps struct {
	Registry *registry.Registry
	Auth     *auth.Keeper
	Settings Settings
	Log      *slog.Logger

	// Connections lists the connections of the remoting port; nil lists none.
	Connections func() []api.Connection
	// Peers are the other NameServers of the set; nil is none.
	Peers *peers.Watcher
	// Counters are numbers of other faces that the statistics show.
	Counters []Counter
	// Checks are what the probes look at, besides whether the server is draining and
	// whether routes are answered yet.
	Checks []Check

	// Drain takes the node out of service; nil cannot.
	Drain Drainer

	// Dashboard serves everything below /ui/, Feed the websocket at /ws, OpenAPI the
	// description, Swagger the same in its older form, Metrics the scrape. Each may
	// be nil: then there is no such place.
	Dashboard, Feed, OpenAPI, Swagger, Metrics http.Handler
	// MetricsNeedViewer asks a role of those who scrape.
	MetricsNeedViewer bool
	// Pprof serves everything below /debug/pprof/, for admins; nil is not there.
	Pprof http.Handler
	// NSAddr returns the addresses that clients of a unit ("" is none) are to use,
	// separated by semicolons, "" if none is known, and whether there is such a unit;
	// nil switches /rocketmq/nsaddr off.
	NSAddr func(unit string) (string, bool)
	// Registerer takes the metrics of this face; nil keeps none.
	Registerer prometheus.Registerer

	Site   Site
	Limits Limits
	// Version is what is running. Epoch and times are filled in.
	Version api.Version
	// VersionName names the version number that a peer sent; nil names none.
	VersionName func(int) string
	// Environment returns the name of the environment; nil is none.
	Environment func() string
}

// Settings are the server's settings, as the HTTP face needs them.
type Settings interface {
	// Items returns every setting in the order of the manual, secrets hidden.
	Items() []api.ConfigItem
	// Text returns them as Java properties, as request 319 answers.
	Text() []byte
	// Version counts the changes: it is what a conditional change names.
	Version() uint64
	// Patch changes settings as a JSON merge patch does, all or none; nil takes a
	// value out of the file. A version other than 0 must be the present one. With dry
	// nothing is changed. Errors are *registry.Error, joined if several: Invalid and
	// Denied with the key in Field, Conflict, Unsaved.
	Patch(values map[string]*string, version uint64, dry bool, cause registry.Cause) (api.ConfigUpdate, error)
}

// Counter is a number that the statistics show.
type Counter struct {
	// Name is such as "routeHits".
	Name string
	// Gauge tells a number that goes up and down from one that only grows.
	Gauge bool
	// Read returns it; it is called every few seconds and must not wait.
	Read func() float64
}

// Probe says which probe a check belongs to. A check of /livez is not repeated in
// /readyz; /healthz shows all.
type Probe uint8

// The probes.
const (
	// Live checks fail when the process should be restarted.
	Live Probe = iota
	// Ready checks fail when no traffic should come.
	Ready
	// Healthy checks fail when somebody should look.
	Healthy
)

// Check is one thing that a probe looks at.
type Check struct {
	// Name is such as "kv-persist".
	Name  string
	Probe Probe
	// Run returns what is wrong, in English and fit for the public, or nil. It must
	// not wait beyond ctx.
	Run func(ctx context.Context) error
}

// Site is where the server stands in the web.
type Site struct {
	// BasePath is the path below which everything is served, such as "/mq"; "" is none.
	BasePath string
	// ExternalURL is how browsers reach the server through a proxy; "" if directly.
	ExternalURL string
	// Loopback tells that the listener is bound to a loopback address: then only
	// loopback names and AllowedHosts are answered. Elsewhere AllowedHosts counts if
	// it is not empty.
	Loopback     bool
	AllowedHosts []string
	// CORSOrigins are web origins whose pages may call the API.
	CORSOrigins []string
	// TrustedProxies are those whose X-Forwarded-For is believed.
	TrustedProxies []netip.Prefix
	// TLS tells that browsers come over https.
	TLS bool
}

// Limits bound what callers can ask for. A zero field means its default.
type Limits struct {
	// Body, RegistrationBody, BatchBody and KVValue are sizes of bodies in bytes:
	// 64 KiB, 8 MiB, 256 KiB, 64 KiB.
	Body, RegistrationBody, BatchBody, KVValue int64
	// BodyTimeout is how long a body may take (30 s).
	BodyTimeout time.Duration
	// InFlight is the most requests at once (4096), Heavy the most of those that look
	// at the whole registry (4).
	InFlight, Heavy int
	// Watchers is the most open watches (2000), WatchersPerAddress those of one
	// address (64), Waiters the most long polls (20000).
	Watchers, WatchersPerAddress, Waiters int
	// WritesPerSecond and WritesBurst are for each principal (50, 100),
	// HeartbeatsPerSecond too (2000).
	WritesPerSecond, WritesBurst, HeartbeatsPerSecond int
	// FailedLoginsPerMinute is for each address (5).
	FailedLoginsPerMinute int
	// Topics is the most topics of one registration (100000), KVEntries the most
	// keys in all (10000).
	Topics, KVEntries int
}

func (l Limits) withDefaults() Limits {
	for _, d := range []struct {
		p *int64
		v int64
	}{{&l.Body, 64 << 10}, {&l.RegistrationBody, 8 << 20}, {&l.BatchBody, 256 << 10}, {&l.KVValue, 64 << 10}} {
		if *d.p <= 0 {
			*d.p = d.v
		}
	}
	for _, d := range []struct {
		p *int
		v int
	}{
		{&l.InFlight, 4096},
		{&l.Heavy, 4},
		{&l.Watchers, 2000},
		{&l.WatchersPerAddress, 64},
		{&l.Waiters, 20_000},
		{&l.WritesPerSecond, 50},
		{&l.WritesBurst, 100},
		{&l.HeartbeatsPerSecond, 2000},
		{&l.FailedLoginsPerMinute, 5},
		{&l.Topics, 100_000},
		{&l.KVEntries, 10_000},
	} {
		if *d.p <= 0 {
			*d.p = d.v
		}
	}
	if l.BodyTimeout <= 0 {
		l.BodyTimeout = 30 * time.Second
	}
	return l
}
