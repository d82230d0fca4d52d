package cli

import (
	"context"
	"time"

	"fingerpost/api"
)

// Source is where a command reads from: a Fingerpost's API, or the remoting port of any
// name server.
type Source struct {
	Server
	Remoting string `placeholder:"HOST:PORT" help:"Read from the remoting port of this name server instead, which may be the Java one; by default FINGERPOST_REMOTING."`
	Output
}

// reading is what can be read of a name server of either kind.
type reading interface {
	route(ctx context.Context, topic, zone string) (answer, error)
	topics(ctx context.Context, f topicsAsked) (answer, error)
	topic(ctx context.Context, topic string) (answer, error)
	brokers(ctx context.Context, f brokersAsked) (answer, error)
	clusters(ctx context.Context) (answer, error)
	config(ctx context.Context, match string) (answer, error)
	namespaces(ctx context.Context) (answer, error)
	keys(ctx context.Context, namespace string) (answer, error)
	key(ctx context.Context, namespace, key string) (*api.KVEntry, error)
}

// topicsAsked is which topics are listed.
type topicsAsked struct {
	match                    string
	clusters, brokers, types []string
	stale                    bool
	limit                    int
}

// brokersAsked is which brokers are listed.
type brokersAsked struct {
	match           string
	clusters, zones []string
}

// read reads and shows.
func (s *Source) read(e *Env, f func(context.Context, reading) (answer, error)) error {
	return s.reading(e, func(ctx context.Context, r reading) error {
		a, err := f(ctx, r)
		if err != nil {
			return err
		}
		return s.show(e, a)
	})
}

// reading opens the source, and closes it again.
func (s *Source) reading(e *Env, f func(context.Context, reading) error) error {
	addr := s.Remoting
	if addr == "" && s.URL == "" && e.Getenv(ServerEnv) == "" {
		addr = e.Getenv(RemotingEnv)
	}
	if s.Remoting != "" && s.URL != "" {
		return Misuse("--server and --remoting name two places to read from: give one")
	}
	if addr != "" {
		return overRemoting(e, addr, s.Timeout, f)
	}
	return s.with(e, func(ctx context.Context, t *target) error { return f(ctx, restReading{t}) })
}

// overRemoting reads from a remoting port under the time limit.
func overRemoting(e *Env, addr string, wait time.Duration, f func(context.Context, reading) error) error {
	ctx, cancel := context.WithTimeout(e.Ctx, wait)
	defer cancel()
	r, err := dialRemoting(ctx, addr, wait)
	if err != nil {
		return remotingFailed(err, addr)
	}
	defer r.close()
	return remotingFailed(f(ctx, r), addr)
}
