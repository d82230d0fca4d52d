package remoting

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"

	"fingerpost/registry"
	"fingerpost/remoting/wire"
)

const (
	// noticeBacklog is how many changes may wait for the notifier, and how many
	// notices for one broker.
	noticeBacklog = 256
	perBroker     = 16
	// connectTimeout and noticeTimeout are the peers' own for such notices.
	connectTimeout = 3 * time.Second
	noticeTimeout  = 3 * time.Second
	// noticeIdle ends the connection to a broker that has had no notice for a while.
	noticeIdle = 60 * time.Second
	// maxNotified bounds how many brokers are connected to at once.
	maxNotified = 1024
)

// notifier sends 905 to brokers, each over a connection of its own, so that a dead or
// slow broker delays nobody's notice but its own.
type notifier struct {
	srv *Server
	ctx context.Context
	wg  sync.WaitGroup

	mu      sync.Mutex
	targets map[string]chan wire.MinBrokerIDChange
}

// notifyLoop sends the notices that changes of the registry call for, until ctx ends.
// It begins with a subscription that is older than the first request.
func (s *Server) notifyLoop(ctx context.Context, sub *registry.Subscription) {
	n := &notifier{srv: s, ctx: ctx, targets: make(map[string]chan wire.MinBrokerIDChange)}
	defer n.wg.Wait()
	for {
		n.follow(sub)
		sub.Close()
		if ctx.Err() != nil {
			return
		}
		s.Log.Warn("notices of changed smallest broker ids may have been lost: too many changes at once")
		_, sub = s.Registry.Subscribe(noticeBacklog)
	}
}

func (n *notifier) follow(sub *registry.Subscription) {
	for {
		select {
		case <-n.ctx.Done():
			return
		case ch, ok := <-sub.C:
			if !ok {
				return
			}
			for _, m := range ch.MinIDs {
				n.send(m)
			}
		}
	}
}

func (n *notifier) send(m registry.MinIDChange) {
	notice := wire.MinBrokerIDChange{MinBrokerID: m.MinID, MinBrokerAddr: m.MinAddr}
	if m.HasHA {
		notice.HABrokerAddr = wire.TextOf(m.HAAddr)
	}
	if m.OfflineAddr != "" {
		notice.OfflineBrokerAddr = wire.TextOf(m.OfflineAddr)
	}
	for _, addr := range m.NoticeToAddr {
		n.enqueue(addr, notice)
	}
}

// enqueue hands a notice to the goroutine of its broker, starting one if need be.
func (n *notifier) enqueue(addr string, notice wire.MinBrokerIDChange) {
	n.mu.Lock()
	defer n.mu.Unlock()
	c, ok := n.targets[addr]
	if !ok {
		if len(n.targets) >= maxNotified {
			n.lost(addr, "too many brokers to be told at once")
			return
		}
		c = make(chan wire.MinBrokerIDChange, perBroker)
		n.targets[addr] = c
		n.wg.Go(func() { n.tell(addr, c) })
	}
	select {
	case c <- notice:
	default:
		n.lost(addr, "the broker does not take its notices")
	}
}

func (n *notifier) lost(addr, why string) {
	n.srv.Stats.LostNotices.Add(1)
	n.srv.Log.Warn("a notice of a changed smallest broker id is lost", "addr", addr, "why", why)
}

// tell sends the notices of one broker in order, until there has been none for a while.
func (n *notifier) tell(addr string, notices chan wire.MinBrokerIDChange) {
	var nc net.Conn
	defer func() {
		if nc != nil {
			nc.Close()
		}
	}()
	idle := time.NewTimer(noticeIdle)
	defer idle.Stop()
	for {
		select {
		case <-n.ctx.Done():
			return
		case <-idle.C:
			n.mu.Lock()
			empty := len(notices) == 0
			if empty {
				delete(n.targets, addr)
			}
			n.mu.Unlock()
			if empty {
				return
			}
			idle.Reset(noticeIdle)
		case notice := <-notices:
			var err error
			if nc, err = n.deliver(nc, addr, notice); err != nil {
				n.lost(addr, err.Error())
			} else {
				n.srv.Stats.Notices.Add(1)
			}
			idle.Reset(noticeIdle)
		}
	}
}

// deliver writes one notice, connecting if there is no connection or it has gone stale,
// and returns the connection to use next.
func (n *notifier) deliver(nc net.Conn, addr string, notice wire.MinBrokerIDChange) (net.Conn, error) {
	cmd := wire.Request(wire.NotifyMinBrokerIDChange, notice.Fields(), nil)
	cmd.Flag, cmd.Opaque = wire.FlagOneway, n.srv.nextOpaque()
	frame, err := cmd.AppendTo(nil, n.srv.HeaderType)
	if err != nil {
		return nc, err
	}
	if nc != nil && stale(nc) {
		nc.Close()
		nc = nil
	}
	if nc == nil {
		if nc, err = n.srv.dial(n.ctx, addr); err != nil {
			return nil, err
		}
	}
	nc.SetWriteDeadline(time.Now().Add(noticeTimeout))
	if _, err = nc.Write(frame); err != nil {
		nc.Close()
		return nil, err
	}
	return nc, nil
}

// stale reports whether the broker has closed the connection: a oneway write into it
// would vanish.
func stale(nc net.Conn) bool {
	nc.SetReadDeadline(time.Now().Add(time.Millisecond))
	var b [1]byte
	_, err := nc.Read(b[:])
	ne, ok := errors.AsType[net.Error](err)
	return err != nil && !(ok && ne.Timeout())
}
