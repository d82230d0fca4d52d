package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"time"

	"fingerpost/internal/faultnet"
	"fingerpost/internal/nstest"
	"fingerpost/remoting/wire"
)

// worker owns groups and does everything that happens to them, one thing at a time.
type worker struct {
	n      int
	srv    *server
	tally  *tally
	rng    *rand.Rand
	groups []*group
	// control is a connection of its own over which it asks.
	control *nstest.Client
	kv      map[string]string // what it has put into its namespace
	rest    *rest
	beaten  time.Time // when it last looked for members that want a heartbeat
	// restMembers are those that it registers over HTTP.
	restMembers []*member
}

// errViolation ends a worker that has found something wrong and said so.
var errViolation = errors.New("a violation was found")

// run takes steps until the context ends or as many are done, at the pace of tick.
func (w *worker) run(ctx context.Context, steps int, tick <-chan time.Time) error {
	var err error
	if w.control, err = nstest.Dial(w.srv.addr, wire.JSONHeader); err != nil {
		return err
	}
	for i := 0; steps == 0 || i < steps; i++ {
		if tick != nil {
			select {
			case <-tick:
			case <-ctx.Done():
			}
		}
		if ctx.Err() != nil {
			return nil
		}
		if err := w.step(); err != nil {
			return err
		}
	}
	return nil
}

// action is one thing that may happen to a member that is settled.
type action struct {
	weight int
	name   string
	fault  bool
	do     func(*worker, *member) error
}

// actions are all of them. The weights make most members most of the time be there.
var actions = []action{
	{12, "heartbeat", false, (*worker).heartbeat},
	{5, "query of the data version", false, (*worker).probe},
	{8, "registration repeated", false, (*worker).repeat},
	{8, "registration changed", true, (*worker).change},
	{4, "request stalled in the middle", true, (*worker).stall},
	{4, "heartbeat over a stranger's connection", true, (*worker).strangersBeat},
	{6, "unregistered", true, (*worker).unregister},
	{6, "connection closed", true, func(w *worker, m *member) error { return w.end(m, "closed", net.Conn.Close) }},
	{6, "connection reset", true, func(w *worker, m *member) error { return w.end(m, "reset", faultnet.Reset) }},
	{5, "connection half-closed after a request", true, (*worker).halfClose},
	{5, "registration cut and reset", true, func(w *worker, m *member) error { return w.cut(m, faultnet.Reset) }},
	{3, "registration cut and closed", true, func(w *worker, m *member) error { return w.cut(m, net.Conn.Close) }},
	{3, "registration cut and half-closed", true, func(w *worker, m *member) error { return w.cut(m, faultnet.HalfClose) }},
	{10, "connection reset and made anew at once", true, (*worker).flap},
	{4, "fell silent until expired", true, (*worker).expire},
	{4, "another address takes the place", true, (*worker).usurp},
	{3, "refused for a higher state version", true, (*worker).stale},
	{3, "the name in two clusters", true, (*worker).twoClusters},
	{4, "write permission wiped and restored", true, (*worker).wipe},
	{4, "topic deleted and registered again", true, (*worker).deleteTopic},
	{2, "topic declared by itself", true, (*worker).declare},
	{3, "garbage instead of a request", true, (*worker).garbage},
	{2, "HTTP request cut in the middle", true, (*worker).cutHTTP},
	{1, "all of a worker reset at once", true, (*worker).burst},
	{4, "key-value table changed", true, (*worker).changeKV},
	{4, "REST member flapped", true, (*worker).flapREST},
}

var totalWeight = func() (n int) {
	for _, a := range actions {
		n += a.weight
	}
	return n
}()

// step does one thing to one member.
func (w *worker) step() error {
	if err := w.keepAlive(); err != nil {
		return err
	}
	g := w.groups[w.rng.IntN(len(w.groups))]
	m := g.members[w.rng.IntN(len(g.members))]
	switch m.state {
	case gone:
		w.tally.call("registered")
		return w.join(m)
	case leaving:
		// Half of them come back before the server has noticed that they left.
		if w.rng.IntN(2) == 0 {
			w.tally.fault("back before it was missed")
			return w.join(m)
		}
		return w.missed(m)
	default:
		a := pick(w.rng)
		if a.fault {
			w.tally.fault(a.name)
		} else {
			w.tally.call(a.name)
		}
		return a.do(w, m)
	}
}

func pick(rng *rand.Rand) action {
	n := rng.IntN(totalWeight)
	for _, a := range actions {
		if n -= a.weight; n < 0 {
			return a
		}
	}
	return actions[0]
}

// keepAlive sends the heartbeats that are due, as a broker does whatever else it does.
func (w *worker) keepAlive() error {
	now := time.Now()
	if now.Sub(w.beaten) < time.Second {
		return nil
	}
	w.beaten = now
	for _, g := range w.groups {
		for _, m := range g.members {
			if m.due(now) {
				if err := w.heartbeat(m); err != nil {
					return err
				}
			}
		}
	}
	for _, m := range w.restMembers {
		if m.due(now) {
			if err := w.beatREST(m); err != nil {
				return err
			}
		}
	}
	return nil
}

// wrong reports a violation that concerns the group and returns errViolation.
func (w *worker) wrong(g *group, format string, args ...any) error {
	w.tally.violate(fmt.Sprintf(format, args...), append(g.steps(), told(w.srv.registry, g.name)...)...)
	return errViolation
}

// told returns the latest changes of the registry that name a broker.
func told(r historian, broker string) []string {
	changes, _ := r.History()
	out := []string{}
	for _, c := range slices.Backward(changes) {
		if len(out) >= 8 {
			break
		}
		for _, m := range c.Members {
			if m.Broker == broker {
				out = append(out, fmt.Sprintf("revision %d: %s member %d by %s of %s, before %v, after %v %s", c.Revision, m.Op, m.ID, c.Cause.Action, c.Cause.Actor, m.Before, m.After, m.Detail))
			}
		}
	}
	slices.Reverse(out)
	return append([]string{"the latest changes of its members in the registry:"}, out...)
}

// connect makes a connection for the member, and for the whole group if it is a container.
// Some connections are slow in pieces.
func (w *worker) connect(m *member) error {
	conn, err := dial(w.srv.addr)
	if err != nil {
		return err
	}
	if n := w.rng.IntN(12); n < 2 {
		w.tally.fault("connection in pieces of a few bytes")
		conn = faultnet.Pieces(conn, 1+n*23)
	}
	m.link = &link{client: nstest.NewClient(conn, m.g.header), members: []*member{m}}
	return nil
}

// join registers the member, over a new connection if it has none.
func (w *worker) join(m *member) error {
	if m.link == nil {
		// In every fourth group both brokers live in one process and share a connection.
		if o := m.other(); o != nil && o.link != nil && w.contained(m.g) {
			m.link = o.link
			m.link.members = append(m.link.members, m)
		} else if err := w.connect(m); err != nil {
			return err
		}
	}
	m.disturb()
	return w.register(m)
}

func (w *worker) contained(g *group) bool { return slices.Index(w.groups, g)%4 == 0 }

// other is the second member of the group.
func (m *member) other() *member {
	for _, o := range m.g.members {
		if o != m {
			return o
		}
	}
	return nil
}

// register sends the member's usual registration, after which it is settled.
func (w *worker) register(m *member) error {
	began := time.Now()
	if err := w.say(m, m.link.client, m.usual()); err != nil {
		return err
	}
	if err := w.placed(m, m.addr); err != nil {
		return err
	}
	m.settle(began)
	m.g.note("registered %v", m)
	return nil
}

// say registers what the statement says over a connection.
func (w *worker) say(m *member, c *nstest.Client, s statement) error {
	ext, body, err := m.g.registration(s)
	if err != nil {
		return err
	}
	_, err = nstest.Must(c.Call(wire.RegisterBroker, ext, body))
	return w.unbroken(m, "registering", err)
}

// unbroken takes an error over a connection that nobody has broken for a violation.
func (w *worker) unbroken(m *member, what string, err error) error {
	if err == nil {
		return nil
	}
	return w.wrong(m.g, "%s of %v failed: %v", what, m, err)
}

// ask sends a request over the worker's own connection.
func (w *worker) ask(g *group, code wire.RequestCode, ext wire.Fields, body []byte) (*wire.Command, error) {
	resp, err := w.control.Call(code, ext, body)
	if err != nil {
		return nil, w.wrong(g, "%s over a connection that nobody broke: %v", code, err)
	}
	return resp, nil
}

// membersOf asks for the members of the group.
func (w *worker) membersOf(g *group) ([]wire.BrokerAddr, error) {
	resp, err := w.ask(g, wire.GetBrokerMemberGroup, wire.Fields{{Name: wire.FieldClusterName, Value: g.cluster}, {Name: wire.FieldBrokerName, Value: g.name}}, nil)
	if err != nil {
		return nil, err
	}
	out, err := wire.DecodeMemberGroup(resp.Body)
	if err != nil {
		return nil, w.wrong(g, "the answer to %s: %v", wire.GetBrokerMemberGroup, err)
	}
	return out.Addrs, nil
}

// placed checks that the address has the member's place; "" that nobody has it.
func (w *worker) placed(m *member, addr string) error {
	all, err := w.membersOf(m.g)
	if err != nil {
		return err
	}
	got := ""
	for _, a := range all {
		if a.ID == m.id {
			got = a.Addr
		}
	}
	if got != addr {
		return w.wrong(m.g, "the place of %v is held by %q, not by %q", m, got, addr)
	}
	return nil
}

// missed looks whether the server has noticed that the member left.
func (w *worker) missed(m *member) error {
	all, err := w.membersOf(m.g)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(all, func(a wire.BrokerAddr) bool { return a.Addr == m.addr }) {
		if time.Since(m.since) > patience {
			return w.wrong(m.g, "%v is still registered %s after it left", m, time.Since(m.since).Round(time.Second))
		}
		return nil
	}
	m.state = gone
	m.g.note("missed %v", m)
	return nil
}

// drop forgets a connection that was ended, and takes out who lived by it.
func (w *worker) drop(l *link) {
	for _, m := range l.members {
		m.link = nil
		if m.state == alive {
			m.leave(leaving)
		}
	}
}

// route asks for a topic's route. It is nil if there is none.
func (w *worker) route(g *group, topic string) (*wire.Route, error) {
	resp, err := w.ask(g, wire.GetRouteInfoByTopic, wire.Fields{{Name: wire.FieldTopic, Value: topic}}, nil)
	if err != nil {
		return nil, err
	}
	switch wire.ResponseCode(resp.Code) {
	case wire.TopicNotExist:
		return nil, nil
	case wire.Success:
		rt, err := wire.DecodeRoute(resp.Body)
		if err != nil {
			return nil, w.wrong(g, "the route of %s: %v", topic, err)
		}
		return rt, nil
	default:
		return nil, w.wrong(g, "the route of %s was answered with %d %s", topic, resp.Code, resp.Remark)
	}
}
