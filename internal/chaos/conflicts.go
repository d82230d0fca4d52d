package main

import (
	"fmt"
	"slices"
	"strconv"

	"fingerpost/internal/nstest"
	"fingerpost/remoting/wire"
)

// intruder registers something in the group's name over a connection of its own.
func (w *worker) intruder(m *member, s statement) (*nstest.Client, error) {
	c, err := nstest.Dial(w.srv.addr, m.g.header)
	if err != nil {
		return nil, err
	}
	return c, w.say(m, c, s)
}

// disturbAll tells readers that any member of the group may be missing.
func (g *group) disturbAll() {
	for _, m := range g.members {
		m.disturb()
	}
}

// again registers those members that are there, after their group was disturbed.
func (w *worker) again(g *group) error {
	for _, m := range g.members {
		if m.state == alive {
			if err := w.register(m); err != nil {
				return err
			}
		}
	}
	return nil
}

// usurp lets another address take the member's place, and the member take it back.
func (w *worker) usurp(m *member) error {
	m.g.disturbAll()
	s := m.usual()
	s.addr += "9"
	m.g.note("%s takes the place of %v", s.addr, m)
	c, err := w.intruder(m, s)
	if err != nil {
		return err
	}
	defer c.Close()
	if err := w.placed(m, s.addr); err != nil {
		return err
	}
	return w.again(m.g)
}

// stale lets another address take the place with a higher state version: the member's own
// registrations are then refused, until that one has left.
func (w *worker) stale(m *member) error {
	m.g.disturbAll()
	s := m.usual()
	s.addr, s.state = s.addr+"8", 7
	m.g.note("%s takes the place of %v with state 7", s.addr, m)
	c, err := w.intruder(m, s)
	if err != nil {
		return err
	}
	defer c.Close()
	if err := w.say(m, m.link.client, m.usual()); err != nil {
		return err
	}
	if err := w.placed(m, s.addr); err != nil {
		return err
	}
	_, err = nstest.Must(c.Call(wire.UnregisterBroker, m.g.identity(s), nil))
	if err := w.unbroken(m, "unregistering the other address", err); err != nil {
		return err
	}
	if err := w.placed(m, ""); err != nil {
		return err
	}
	return w.again(m.g)
}

// twoClusters lets a broker of another cluster use the group's name for a while.
func (w *worker) twoClusters(m *member) error {
	m.g.disturbAll()
	s := statement{cluster: "elsewhere", addr: m.addr + "7", id: 7, timeout: lifetime}
	m.g.note("%s uses the name in another cluster", s.addr)
	c, err := w.intruder(m, s)
	if err != nil {
		return err
	}
	defer c.Close()
	all, err := w.membersOf(m.g)
	if err != nil {
		return err
	}
	if !slices.Contains(all, wire.BrokerAddr{ID: 7, Addr: s.addr}) {
		return w.wrong(m.g, "the member of another cluster is not in the group: %v", all)
	}
	_, err = nstest.Must(c.Call(wire.UnregisterBroker, m.g.identity(s), nil))
	if err := w.unbroken(m, "unregistering the member of another cluster", err); err != nil {
		return err
	}
	if err := w.again(m.g); err != nil {
		return err
	}
	if got := w.srv.registry.Snapshot().Group(m.g.name); got == nil || got.Cluster != m.g.cluster {
		return w.wrong(m.g, "the group is left as %+v, not in cluster %s", got, m.g.cluster)
	}
	return nil
}

// wipe takes the group's write permission away and gives it back, by one face or the
// other, and looks at a route after each.
func (w *worker) wipe(m *member) error {
	g := m.g
	if g.master().state != alive {
		return w.heartbeat(m) // without a master there is nothing to wipe for sure
	}
	name := wire.Fields{{Name: wire.FieldBrokerName, Value: g.name}}
	g.note("wipes the write permission")
	if w.rng.IntN(2) == 0 {
		resp, err := w.ask(g, wire.WipeWritePermOfBroker, name, nil)
		if err != nil {
			return err
		}
		want := len(g.own) + len(g.shared)
		if n, _ := strconv.Atoi(resp.Ext.Text(wire.FieldWipeTopicCount).Value); n != want {
			return w.wrong(g, "%d topics were wiped, not %d", n, want)
		}
	} else if err := w.rest.wipe(g.name); err != nil {
		return w.wrong(g, "wiping over REST: %v", err)
	}
	if err := w.served(g, g.own[0], g.queues[0], wire.DefaultPerm&^2); err != nil {
		return err
	}
	g.note("restores the write permission")
	switch w.rng.IntN(3) {
	case 0:
		if _, err := w.ask(g, wire.AddWritePermOfBroker, name, nil); err != nil {
			return err
		}
	case 1:
		if err := w.rest.restore(g.name); err != nil {
			return w.wrong(g, "restoring over REST: %v", err)
		}
	default:
		// A registration that says something new does so too.
		g.counter++
		if err := w.repeat(g.master()); err != nil {
			return err
		}
	}
	return w.served(g, g.own[0], g.queues[0], wire.DefaultPerm)
}

// deleteTopic deletes one of the group's own topics; the next registration brings it back.
func (w *worker) deleteTopic(m *member) error {
	g := m.g
	if g.master().state != alive {
		return w.heartbeat(m)
	}
	i := w.rng.IntN(len(g.own))
	g.note("deletes %s", g.own[i])
	if w.rng.IntN(2) == 0 {
		if _, err := w.ask(g, wire.DeleteTopicInNamesrv, wire.Fields{{Name: wire.FieldTopic, Value: g.own[i]}}, nil); err != nil {
			return err
		}
	} else if err := w.rest.deleteTopic(g.own[i]); err != nil {
		return w.wrong(g, "deleting %s over REST: %v", g.own[i], err)
	}
	rt, err := w.route(g, g.own[i])
	switch {
	case err != nil:
		return err
	case rt != nil:
		return w.wrong(g, "the deleted topic %s still has the route %+v", g.own[i], rt)
	}
	if err := w.repeat(g.master()); err != nil {
		return err
	}
	return w.served(g, g.own[i], g.queues[i], wire.DefaultPerm)
}

// declare registers a topic by itself, and deletes it again.
func (w *worker) declare(m *member) error {
	g := m.g
	if g.master().state != alive {
		return w.heartbeat(m) // a group that has just lost its master becomes read-only
	}
	topic := g.name + "-declared"
	body := (&wire.Route{Queues: []wire.QueueData{{Broker: g.name, ReadQueues: 3, WriteQueues: 3, Perm: wire.DefaultPerm}}}).AppendJSON(nil, wire.Strict)
	g.note("declares %s", topic)
	if _, err := w.ask(g, wire.RegisterTopicInNamesrv, wire.Fields{{Name: wire.FieldTopic, Value: topic}}, body); err != nil {
		return err
	}
	if err := w.served(g, topic, 3, wire.DefaultPerm); err != nil {
		return err
	}
	_, err := w.ask(g, wire.DeleteTopicInNamesrv, wire.Fields{{Name: wire.FieldTopic, Value: topic}, {Name: wire.FieldClusterName, Value: g.cluster}}, nil)
	return err
}

func (w *worker) namespace() string { return fmt.Sprintf("chaos-%d", w.n) }

// changeKV puts, reads or deletes a key, by one face or the other, and compares.
func (w *worker) changeKV(m *member) error {
	key := fmt.Sprint("k", w.rng.IntN(8))
	ext := wire.Fields{{Name: wire.FieldNamespace, Value: w.namespace()}, {Name: wire.FieldKey, Value: key}}
	byREST := w.rng.IntN(2) == 0
	if w.rng.IntN(3) == 0 {
		delete(w.kv, key)
		if byREST {
			if err := w.rest.deleteKV(w.namespace(), key); err != nil {
				return w.wrong(m.g, "deleting key %s over REST: %v", key, err)
			}
		} else if _, err := w.ask(m.g, wire.DeleteKVConfig, ext, nil); err != nil {
			return err
		}
	} else {
		value := fmt.Sprint(w.rng.Uint64())
		w.kv[key] = value
		if byREST {
			if err := w.rest.putKV(w.namespace(), key, value); err != nil {
				return w.wrong(m.g, "putting key %s over REST: %v", key, err)
			}
		} else if _, err := w.ask(m.g, wire.PutKVConfig, append(ext, wire.Field{Name: wire.FieldValue, Value: value}), nil); err != nil {
			return err
		}
	}
	resp, err := w.ask(m.g, wire.GetKVConfig, ext, nil)
	if err != nil {
		return err
	}
	got := resp.Ext.Text(wire.FieldValue).Value
	if want, set := w.kv[key]; got != want || set == (wire.ResponseCode(resp.Code) == wire.QueryNotFound) {
		return w.wrong(m.g, "key %s of %s is %q (code %d), not %q", key, w.namespace(), got, resp.Code, want)
	}
	return nil
}
