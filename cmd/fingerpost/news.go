package main

import (
	"context"
	"log/slog"

	"fingerpost/registry"
)

// newsBuffer is how many changes may wait to be logged.
const newsBuffer = 4096

// news logs what happens to the registry, one line for each thing an operator acts on,
// whichever face it came through. Values of keys and settings are never logged.
type news struct {
	registry *registry.Registry
	log      *slog.Logger
}

// run logs until ctx ends.
func (n *news) run(ctx context.Context) {
	_, sub := n.registry.Subscribe(newsBuffer)
	for {
		select {
		case <-ctx.Done():
			sub.Close() // what waits in it is still told
			for c := range sub.C {
				n.tell(c)
			}
			return
		case c, ok := <-sub.C:
			if !ok {
				n.log.Warn("some changes were not logged: there were too many at once")
				_, sub = n.registry.Subscribe(newsBuffer)
				continue
			}
			n.tell(c)
		}
	}
}

func (n *news) tell(c *registry.Change) {
	log := n.log.With("face", c.Cause.Face, "op", c.Cause.Action, "revision", c.Revision)
	switch {
	case c.Cause.Actor == "":
	case c.Cause.Face == "remoting":
		log = log.With("peer", c.Cause.Actor)
	default:
		log = log.With("principal", c.Cause.Actor)
	}
	if c.Cause.RequestID != "" {
		log = log.With("req_id", c.Cause.RequestID)
	}
	for i := range c.Members {
		tellMember(log, &c.Members[i])
	}
	for _, k := range c.Clusters {
		log.Info("cluster "+k.Op.String(), "cluster", k.Cluster)
	}
	for _, s := range c.Server {
		if s.Op == registry.OpMassExpiry {
			log.Warn("most brokers vanished at once", "detail", s.Detail)
		}
		if s.Op == registry.OpMassExpiryOver {
			log.Info("the alarm of vanished brokers is over", "detail", s.Detail)
		}
	}
	for _, w := range c.WritePerms {
		log.Info("write permission "+w.Op.String(), "broker", w.Broker, "topics", w.Topics)
	}
	for _, k := range c.KV {
		log.Info("key "+k.Op.String(), "namespace", k.Namespace, "key", k.Key, "length", len(k.After))
	}
	for _, s := range c.Config {
		log.Info("setting changed", "key", s.Key)
	}
	for _, p := range c.Peers {
		tellPeer(log, &p)
	}
	tellTopics(log, c.Topics)
}

func tellPeer(log *slog.Logger, p *registry.PeerChange) {
	log = log.With("peer", p.Peer)
	switch p.Op {
	case registry.OpUnreachable:
		log.Warn("peer unreachable", "err", p.Detail)
	case registry.OpReachable:
		log.Info("peer reachable")
	case registry.OpDiverged:
		log.Warn("peer diverged", "differences", p.After, "before", p.Before, "detail", p.Detail)
	default:
		log.Info("peer "+p.Op.String(), "differences", p.After, "before", p.Before)
	}
}

func tellMember(log *slog.Logger, m *registry.MemberChange) {
	info := m.After
	if info == nil {
		info = m.Before
	}
	if info != nil {
		log = log.With("broker", m.Broker, "broker_id", m.ID, "cluster", info.Cluster, "addr", info.Addr)
	} else {
		log = log.With("broker", m.Broker, "broker_id", m.ID)
	}
	if m.Code != "" {
		log = log.With("code", m.Code, "detail", m.Detail)
	}
	switch {
	case m.Op == registry.OpRejected || m.Op == registry.OpExpired || m.Op == registry.OpOwnerChanged:
		log.Warn("broker " + m.Op.String())
	case m.Op == registry.OpChanged && m.Code == "" && m.Before != nil && m.After != nil && m.Before.Addr == m.After.Addr && m.Before.Cluster == m.After.Cluster:
		log.Debug("broker " + m.Op.String()) // its topics, told apart below
	default:
		log.Info("broker " + m.Op.String())
	}
}

// namedTopics is how many topics a line names.
const namedTopics = 5

// tellTopics sums up the topics of a change, which may be very many.
func tellTopics(log *slog.Logger, topics []registry.TopicChange) {
	if len(topics) == 0 {
		return
	}
	var created, changed, deleted int
	var named []string
	for i := range topics {
		switch topics[i].Op {
		case registry.OpCreated:
			created++
		case registry.OpDeleted:
			deleted++
		default:
			changed++
		}
	}
	for i := range min(len(topics), namedTopics) {
		named = append(named, topics[i].Topic)
	}
	log.Info("topics changed", "created", created, "changed", changed, "deleted", deleted,
		"broker", topics[0].Broker, "topics", named)
}
