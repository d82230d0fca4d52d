package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"fingerpost/internal/nstest"
	"fingerpost/remoting/wire"
)

// calm is the end of a run: everybody comes back, and what the server then holds is what
// a new server holds that is told the same once. Then everybody leaves, and nothing is
// left.
func (r *run) calm(ctx context.Context, follow *follower) error {
	if err := r.all((*worker).gather); err != nil {
		return err
	}
	if err := r.compareWithNew(); err != nil {
		return err
	}
	if err := r.all((*worker).disperse); err != nil {
		return err
	}
	late := time.After(patience)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		s := r.srv.registry.Snapshot()
		if len(s.Groups())+s.TopicCount() == 0 {
			break
		}
		select {
		case <-ctx.Done():
			return nil
		case <-late:
			r.tally.violate(fmt.Sprintf("everybody has left, but there are %d groups and %d topics", len(s.Groups()), s.TopicCount()))
			return errViolation
		case <-tick.C:
		}
	}
	if n := follow.registry.Snapshot().Revision; n == 0 {
		return errors.New("nothing has happened")
	}
	return nil
}

// all lets every worker do something, and returns what went wrong first.
func (r *run) all(do func(*worker) error) error {
	var together sync.WaitGroup
	failed := make(chan error, len(r.crew))
	for _, w := range r.crew {
		together.Go(func() {
			if err := do(w); err != nil {
				failed <- err
			}
		})
	}
	together.Wait()
	select {
	case err := <-failed:
		return err
	default:
		return nil
	}
}

// gather brings all of the worker's members back.
func (w *worker) gather() error {
	for _, m := range w.restMembers {
		if m.state == alive {
			if err := w.leaveREST(m); err != nil {
				return err
			}
		}
	}
	for _, g := range w.groups {
		for _, m := range g.members {
			if m.state != alive {
				if err := w.join(m); err != nil {
					return err
				}
			}
		}
		// The last word of the master is what counts for the topics.
		if err := w.register(g.master()); err != nil {
			return err
		}
		if err := w.register(g.members[1]); err != nil {
			return err
		}
	}
	return nil
}

// compareWithNew tells a new server once what this one was told in the end. Both must hold
// the same, whatever the way there.
func (r *run) compareWithNew() error {
	fresh, err := startServer(slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	c, err := nstest.Dial(fresh.addr, wire.JSONHeader)
	if err != nil {
		return errors.Join(err, fresh.close())
	}
	for _, w := range r.crew {
		if err := w.repeatTo(c); err != nil {
			return errors.Join(err, c.Close(), fresh.close())
		}
	}
	now, then := r.srv.registry.Snapshot(), fresh.registry.Snapshot()
	// A namespace whose last key went stays; the new server never had it.
	a, b := now.Digests(), then.Digests()
	a.KV, b.KV, a.All, b.All = "", "", "", ""
	if a != b {
		r.tally.violate(fmt.Sprintf("after all the registry has the digests %+v, and one that was told the end alone %+v", a, b),
			replicaOf(now).differs(replicaOf(then)))
	} else if x, y := replicaOf(now), replicaOf(then); x.digest() != y.digest() {
		r.tally.violate("after all the registry differs from one that was told the end alone: " + x.differs(y))
	}
	fmt.Fprintf(r.out, "in the end %d groups, %d topics, digest %s, as a new server has that is told the end alone\n",
		len(now.Groups()), now.TopicCount(), now.Digest())
	return errors.Join(c.Close(), fresh.close())
}

// repeatTo sends what the worker's members last said to another server.
func (w *worker) repeatTo(c *nstest.Client) error {
	for _, g := range w.groups {
		for _, m := range g.members {
			ext, body, err := g.registration(m.usual())
			if err != nil {
				return err
			}
			if _, err := nstest.Must(c.Call(wire.RegisterBroker, ext, body)); err != nil {
				return err
			}
		}
	}
	for k, v := range w.kv {
		ext := wire.Fields{{Name: wire.FieldNamespace, Value: w.namespace()}, {Name: wire.FieldKey, Value: k}, {Name: wire.FieldValue, Value: v}}
		if _, err := nstest.Must(c.Call(wire.PutKVConfig, ext, nil)); err != nil {
			return err
		}
	}
	return nil
}

// disperse lets all members leave, half of them without a word.
func (w *worker) disperse() error {
	for i, g := range w.groups {
		for _, m := range g.members {
			if i%2 == 0 {
				if err := w.unregister(m); err != nil {
					return err
				}
			}
		}
	}
	w.hangUp()
	return nil
}

// hangUp closes all connections of the worker.
func (w *worker) hangUp() {
	for _, g := range w.groups {
		for _, m := range g.members {
			if m.link != nil {
				l := m.link
				w.drop(l)
				// What was broken on purpose may be closed already.
				_ = l.client.Close()
			}
		}
	}
	if w.control != nil {
		_ = w.control.Close()
	}
}
