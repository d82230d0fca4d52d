package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"fingerpost/api"
	"fingerpost/internal/nstest"
	"fingerpost/remoting/wire"
)

// reader asks as clients and tools do and checks every answer.
type reader struct {
	world  *world
	srv    *server
	tally  *tally
	rng    *rand.Rand
	before marks
	client *nstest.Client // of a reader of the remoting port
	rest   *rest          // of a reader of the HTTP port

	lastDigest api.Digest
	missing    *group // of the last violation, for its context
}

// run reads until the context ends, at the pace of tick.
func (r *reader) run(ctx context.Context, tick <-chan time.Time) error {
	if r.rest == nil {
		var err error
		if r.client, err = nstest.Dial(r.srv.addr, wire.JSONHeader); err != nil {
			return err
		}
		defer r.client.Close()
	}
	for ctx.Err() == nil {
		if tick != nil {
			select {
			case <-tick:
			case <-ctx.Done():
				return nil
			}
		}
		var err error
		if r.rest != nil {
			err = r.rest.within(r.readREST)
		} else {
			err = r.read()
		}
		if err != nil {
			context := []string{}
			if r.missing != nil {
				context = append(r.missing.steps(), told(r.srv.registry, r.missing.name)...)
			}
			r.tally.violate(err.Error(), context...)
			return errViolation
		}
		r.tally.reads.Add(1)
	}
	return nil
}

// read asks the remoting port one question and checks the answer.
func (r *reader) read() error {
	r.before = r.world.look(r.before)
	switch n := r.rng.IntN(10); {
	case n < 6:
		return r.readRoute()
	case n < 8:
		return r.readClusters()
	case n < 9:
		return r.readGroup()
	default:
		return r.readTopics()
	}
}

func (r *reader) call(code wire.RequestCode, ext wire.Fields) (*wire.Command, error) {
	resp, err := r.client.Call(code, ext, nil)
	if err != nil {
		return nil, fmt.Errorf("a reader's connection, which nobody broke: %w", err)
	}
	return resp, nil
}

func (r *reader) readRoute() error {
	topic := r.world.topics[r.rng.IntN(len(r.world.topics))]
	resp, err := r.call(wire.GetRouteInfoByTopic, wire.Fields{{Name: wire.FieldTopic, Value: topic}})
	switch {
	case err != nil:
		return err
	case wire.ResponseCode(resp.Code) == wire.TopicNotExist:
		return r.checkRoute(topic, "remoting", nil, nil)
	case wire.ResponseCode(resp.Code) != wire.Success:
		return fmt.Errorf("the route of %s was answered with code %d %s", topic, resp.Code, resp.Remark)
	}
	rt, err := wire.DecodeRoute(resp.Body)
	if err != nil {
		return fmt.Errorf("the route of %s: %w", topic, err)
	}
	queues := make([]string, 0, len(rt.Queues))
	for _, q := range rt.Queues {
		queues = append(queues, q.Broker)
	}
	return r.checkRoute(topic, "remoting", queues, tableOf(rt.Brokers))
}

func tableOf(all []wire.BrokerData) map[string]map[int64]string {
	out := make(map[string]map[int64]string, len(all))
	for _, b := range all {
		addrs := make(map[int64]string, len(b.Addrs))
		for _, a := range b.Addrs {
			addrs[a.ID] = a.Addr
		}
		out[b.Name] = addrs
	}
	return out
}

// checkRoute checks a route: the names of the queues, in the order of the answer, and the
// brokers with their addresses by id.
func (r *reader) checkRoute(topic, face string, queues []string, brokers map[string]map[int64]string) error {
	r.missing = nil
	if !slices.IsSorted(queues) || len(slices.Compact(slices.Clone(queues))) != len(queues) {
		return fmt.Errorf("%s: the queues of %s are not in order, or a broker has them twice: %q", face, topic, queues)
	}
	for _, name := range queues {
		if len(brokers[name]) == 0 {
			r.missing = r.world.byName[name]
			return fmt.Errorf("%s: the route of %s has queues of %s, but no address of it: %v", face, topic, name, slices.Sorted(maps.Keys(brokers)))
		}
	}
	for name := range brokers {
		if !slices.Contains(queues, name) {
			r.missing = r.world.byName[name]
			return fmt.Errorf("%s: the route of %s has the broker %s without queues", face, topic, name)
		}
	}
	var err error
	r.world.held(r.before, func(m *member) bool {
		if m.id == 0 && m.g.serves(topic) && brokers[m.g.name][0] != m.addr {
			r.missing = m.g
			err = fmt.Errorf("%s: %v is alive, but the route of %s has %v of its group", face, m, topic, brokers[m.g.name])
		}
		return err == nil
	})
	return err
}

func (r *reader) readClusters() error {
	resp, err := r.call(wire.GetBrokerClusterInfo, nil)
	if err != nil {
		return err
	}
	info, err := wire.DecodeClusterInfo(resp.Body)
	if err != nil {
		return fmt.Errorf("the clusters: %w", err)
	}
	all := tableOf(info.Brokers)
	listed := 0
	for _, c := range info.Clusters {
		for _, name := range c.Brokers {
			listed++
			if all[name] == nil {
				return fmt.Errorf("cluster %s names %s, which is no broker of the answer", c.Name, name)
			}
		}
	}
	if listed != len(all) {
		return fmt.Errorf("the clusters name %d brokers of %d", listed, len(all))
	}
	return r.checkMembers("remoting", all)
}

// checkMembers checks that everybody who is alive is there.
func (r *reader) checkMembers(face string, all map[string]map[int64]string) error {
	r.missing = nil
	for name, addrs := range all {
		for id, addr := range addrs {
			if id >= 100 || strings.HasPrefix(name, "never") {
				r.missing = r.world.byName[name]
				return fmt.Errorf("%s: %s/%d at %s is registered, of which only a part of a registration was sent", face, name, id, addr)
			}
		}
		if len(addrs) == 0 {
			r.missing = r.world.byName[name]
			return fmt.Errorf("%s: the group %s has no member", face, name)
		}
	}
	var err error
	r.world.held(r.before, func(m *member) bool {
		if all[m.g.name][m.id] != m.addr {
			r.missing = m.g
			err = fmt.Errorf("%s: %v is alive, but its group is answered as %v", face, m, all[m.g.name])
		}
		return err == nil
	})
	return err
}

func (r *reader) readGroup() error {
	g := r.world.groups[r.rng.IntN(len(r.world.groups))]
	resp, err := r.call(wire.GetBrokerMemberGroup, wire.Fields{{Name: wire.FieldClusterName, Value: g.cluster}, {Name: wire.FieldBrokerName, Value: g.name}})
	if err != nil {
		return err
	}
	got, err := wire.DecodeMemberGroup(resp.Body)
	if err != nil {
		return fmt.Errorf("the members of %s: %w", g.name, err)
	}
	r.missing = nil
	r.world.held(r.before, func(m *member) bool {
		if m.g == g && !slices.Contains(got.Addrs, wire.BrokerAddr{ID: m.id, Addr: m.addr}) {
			r.missing = g
			err = fmt.Errorf("%v is alive, but its group is answered as %v", m, got.Addrs)
		}
		return err == nil
	})
	return err
}

func (r *reader) readTopics() error {
	resp, err := r.call(wire.GetAllTopicListFromNamesrv, nil)
	if err != nil {
		return err
	}
	list, err := wire.DecodeTopicList(resp.Body)
	if err != nil {
		return fmt.Errorf("the list of topics: %w", err)
	}
	names := make(map[string]bool, len(list.Topics))
	for _, t := range list.Topics {
		if names[t] {
			return fmt.Errorf("the list of topics has %s twice", t)
		}
		names[t] = true
	}
	r.missing = nil
	r.world.held(r.before, func(m *member) bool {
		for _, t := range m.g.shared {
			if m.id == 0 && !names[t] {
				r.missing = m.g
				err = errors.New(m.String() + " is alive and serves " + t + ", which is not in the list of topics")
			}
		}
		return err == nil
	})
	return err
}

func compareText(a, b string) int { return cmp.Compare(a, b) }
