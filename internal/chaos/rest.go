package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"fingerpost/api"
)

// rest asks the HTTP port, each time for as long as it may take.
type rest struct {
	client *api.Client
	ctx    context.Context // ends with the run's machinery, not with its time
}

func newREST(ctx context.Context, url string) (*rest, error) {
	c, err := api.New(url, api.Options{})
	return &rest{c, ctx}, err
}

// within calls f with a context that ends after patience.
func (r *rest) within(f func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeout(r.ctx, patience)
	defer cancel()
	return f(ctx)
}

func (r *rest) wipe(broker string) error {
	return r.within(func(ctx context.Context) error {
		_, err := r.client.WipeWritePerm(ctx, broker, api.Apply)
		return err
	})
}

func (r *rest) restore(broker string) error {
	return r.within(func(ctx context.Context) error {
		_, err := r.client.RestoreWritePerm(ctx, broker, "previous", api.Apply)
		return err
	})
}

func (r *rest) deleteTopic(topic string) error {
	return r.within(func(ctx context.Context) error {
		_, err := r.client.DeleteTopic(ctx, topic, "", api.Apply)
		return err
	})
}

func (r *rest) putKV(ns, key, value string) error {
	return r.within(func(ctx context.Context) error {
		_, err := r.client.PutKV(ctx, ns, key, value, api.KVWrite{})
		return err
	})
}

// deleteKV deletes a key, which need not be set.
func (r *rest) deleteKV(ns, key string) error {
	return absentIsFine(r.within(func(ctx context.Context) error { return r.client.DeleteKV(ctx, ns, key, api.Write{}) }))
}

func absentIsFine(err error) error {
	if p, ok := errors.AsType[*api.Problem](err); ok && p.Status == http.StatusNotFound {
		return nil
	}
	return err
}

// flapREST does something to one of the worker's REST members.
func (w *worker) flapREST(*member) error {
	m := w.restMembers[w.rng.IntN(len(w.restMembers))]
	if m.state == gone {
		return w.joinREST(m)
	}
	switch w.rng.IntN(4) {
	case 0:
		return w.beatREST(m)
	case 1:
		m.g.queues[0] = 1 + (m.g.queues[0]+int32(w.rng.IntN(15)))%16
		return w.joinREST(m)
	default:
		return w.leaveREST(m)
	}
}

// joinREST registers the member, or changes what it has registered.
func (w *worker) joinREST(m *member) error {
	began := time.Now()
	g := m.g
	number := func(n int32) *int32 { return &n }
	millis := lifetime.Milliseconds()
	reg := api.Registration{ClusterName: g.cluster, BrokerAddr: m.addr, HeartbeatTimeoutMillis: &millis, TopicConfigTable: map[string]api.TopicConfig{}}
	for _, t := range g.shared {
		reg.TopicConfigTable[t] = api.TopicConfig{ReadQueueNums: number(8), WriteQueueNums: number(8)}
	}
	reg.TopicConfigTable[g.own[0]] = api.TopicConfig{ReadQueueNums: number(g.queues[0]), WriteQueueNums: number(g.queues[0])}
	err := w.rest.within(func(ctx context.Context) error {
		_, err := w.rest.client.Register(ctx, g.name, m.id, reg, api.RegisterOptions{})
		return err
	})
	if err != nil {
		return w.wrong(g, "registering %v over REST: %v", m, err)
	}
	if err := w.placed(m, m.addr); err != nil {
		return err
	}
	m.settle(began)
	g.note("registered %v over REST with %d queues", m, g.queues[0])
	return w.served(g, g.own[0], g.queues[0], 6)
}

func (w *worker) beatREST(m *member) error {
	began := time.Now()
	err := w.rest.within(func(ctx context.Context) error {
		_, err := w.rest.client.Heartbeat(ctx, m.g.name, m.id, nil)
		return err
	})
	if err != nil {
		return w.wrong(m.g, "the heartbeat of %v over REST: %v", m, err)
	}
	m.heard(began)
	return nil
}

func (w *worker) leaveREST(m *member) error {
	m.leave(gone)
	err := w.rest.within(func(ctx context.Context) error {
		return w.rest.client.Unregister(ctx, m.g.name, m.id, api.UnregisterOptions{})
	})
	if err != nil {
		return w.wrong(m.g, "unregistering %v over REST: %v", m, err)
	}
	m.g.note("unregistered %v over REST", m)
	return w.placed(m, "")
}

// readREST asks the HTTP port one question and checks the answer.
func (r *reader) readREST(ctx context.Context) error {
	r.before = r.world.look(r.before)
	switch n := r.rng.IntN(10); {
	case n < 6:
		topic := r.world.topics[r.rng.IntN(len(r.world.topics))]
		rt, err := r.rest.client.Route(ctx, topic, api.RouteOptions{})
		if p, ok := errors.AsType[*api.Problem](err); ok && p.Status == http.StatusNotFound {
			return r.checkRoute(topic, "REST", nil, nil)
		} else if err != nil {
			return fmt.Errorf("the route of %s over REST: %w", topic, err)
		}
		queues := make([]string, 0, len(rt.QueueDatas))
		for _, q := range rt.QueueDatas {
			queues = append(queues, q.BrokerName)
		}
		brokers := make(map[string]map[int64]string, len(rt.BrokerDatas))
		for _, b := range rt.BrokerDatas {
			addrs := make(map[int64]string, len(b.BrokerAddrs))
			for id, addr := range b.BrokerAddrs {
				var n int64
				if _, err := fmt.Sscan(id, &n); err != nil {
					return fmt.Errorf("the route of %s over REST has the id %q", topic, id)
				}
				addrs[n] = addr
			}
			brokers[b.BrokerName] = addrs
		}
		return r.checkRoute(topic, "REST", queues, brokers)
	case n < 7:
		list, err := r.rest.client.Brokers(ctx, api.BrokersOptions{List: api.List{Limit: 10_000}})
		if err != nil {
			return fmt.Errorf("the brokers over REST: %w", err)
		}
		all := make(map[string]map[int64]string, len(list.Items))
		for _, b := range list.Items {
			addrs := make(map[int64]string, len(b.Members))
			for _, m := range b.Members {
				addrs[m.BrokerID] = m.BrokerAddr
			}
			all[b.BrokerName] = addrs
		}
		if !slices.IsSortedFunc(list.Items, func(a, b api.BrokerSet) int { return compareText(a.BrokerName, b.BrokerName) }) {
			return errors.New("the brokers over REST are not in order of name")
		}
		return r.checkMembers("REST", all)
	default:
		return r.checkDigest(ctx)
	}
}

// checkDigest asks for the digest: at one revision there is one.
func (r *reader) checkDigest(ctx context.Context) error {
	d, err := r.rest.client.Digest(ctx, api.Read{})
	if err != nil {
		return fmt.Errorf("the digest over REST: %w", err)
	}
	if r.lastDigest.Revision == d.Revision && r.lastDigest.All != d.All {
		return fmt.Errorf("revision %s has the digests %s and %s", d.Revision, r.lastDigest.All, d.All)
	}
	r.lastDigest = *d
	return nil
}
