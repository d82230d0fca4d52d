package peers

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"fingerpost/internal/nsclient"
	"fingerpost/registry"
	"fingerpost/remoting/wire"
)

// peer is one peer. All but the connection belongs to the goroutine of run.
type peer struct {
	w    *Watcher
	addr string
	kick chan chan struct{} // wants a look; closed when it is over
	last atomic.Pointer[Report]

	mu     sync.Mutex
	client *nsclient.Client // guarded by mu; nil if there is none

	st      Status
	board   *board
	missing missing // as of the last look
	rounds  rounds
	notes   map[string]bool

	nextLook  time.Time // the regular one
	again     time.Time // an earlier one, if something is to be looked at again
	published time.Time
	unequal   bool // whether the digests of the topics differed at the last look
	told      int  // differences that were reported as an event
}

func newPeer(w *Watcher, addr string) *peer {
	p := &peer{
		w: w, addr: addr, kick: make(chan chan struct{}), board: newBoard(w.o.Recheck),
		st: Status{Addr: addr, State: Unknown, Since: w.began}, notes: make(map[string]bool),
	}
	p.rounds = rounds{
		every: time.Second / time.Duration(w.o.RoutesPerSecond), recheck: w.o.Recheck, interval: w.o.Interval,
		waiting: make(map[string]bool),
	}
	p.last.Store(&Report{Status: p.st})
	return p
}

func (p *peer) report() *Report { return p.last.Load() }

const (
	// publishEvery is how often a report may change by what single routes show, and
	// progressEvery by how many have been asked for.
	publishEvery  = time.Second
	progressEvery = 5 * time.Second
)

// run looks at the peer until ctx ends.
func (p *peer) run(ctx context.Context) {
	defer p.hangUp(nil)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		timer.Reset(time.Until(p.next()))
		select {
		case <-ctx.Done():
			return
		case done := <-p.kick:
			p.look(ctx)
			close(done)
			continue
		case <-timer.C:
		}
		switch now := time.Now(); {
		case !now.Before(p.lookAt()):
			p.look(ctx)
		default:
			if topic, ok := p.rounds.take(now); ok {
				p.ask(ctx, topic)
			}
			if at, ok := p.publishAt(); ok && !now.Before(at) {
				p.publish(now)
			}
		}
	}
}

func (p *peer) lookAt() time.Time {
	if !p.again.IsZero() && p.again.Before(p.nextLook) {
		return p.again
	}
	return p.nextLook
}

// next returns when there is something to do.
func (p *peer) next() time.Time {
	at := p.lookAt()
	if t, ok := p.rounds.due(); ok && t.Before(at) {
		at = t
	}
	if t, ok := p.publishAt(); ok && t.Before(at) {
		at = t
	}
	return at
}

// publishAt returns when a new report is due; ok is false if there is nothing new.
func (p *peer) publishAt() (at time.Time, ok bool) {
	asked, _, done := p.rounds.progress()
	switch r := p.report(); {
	case p.board.dirty, !r.RoutesDone.Equal(done):
		return p.published.Add(publishEvery), true
	case r.RoutesAsked != asked:
		return p.published.Add(progressEvery), true
	}
	return at, false
}

// look asks the peer for everything but routes, and compares.
func (p *peer) look(ctx context.Context) {
	began := time.Now()
	p.again = time.Time{}
	err := p.with(ctx, func(c *nsclient.Client) error { return p.compare(ctx, c) })
	if ctx.Err() != nil {
		return
	}
	now := time.Now()
	if !now.Before(p.nextLook) {
		p.nextLook = now.Add(jittered(p.w.o.Interval))
	}
	state := Reachable
	switch {
	case errors.Is(err, errSelf):
		state, p.st.LastError = Self, ""
	case err != nil:
		state, p.st.LastError = Unreachable, err.Error()
		p.again = now.Add(p.w.o.Recheck)
		p.rounds.stop()
	default:
		p.st.LastError, p.st.CheckedAt, p.st.Took = "", now, now.Sub(began)
	}
	p.turn(state, now)
	if at, ok := p.board.oldest(); ok && err == nil {
		p.sooner(at.Add(p.w.o.Recheck))
	}
	p.publish(now)
}

// sooner asks for another look before the regular one.
func (p *peer) sooner(at time.Time) {
	if p.again.IsZero() || at.Before(p.again) {
		p.again = at
	}
}

func jittered(d time.Duration) time.Duration {
	return d + time.Duration((rand.Float64()-0.5)*0.2*float64(d))
}

// errSelf is what comes of asking oneself.
var errSelf = errors.New("the peer is this server")

// compare is one look over one connection.
func (p *peer) compare(ctx context.Context, c *nsclient.Client) error {
	node, err := c.Node(ctx)
	if err != nil {
		return err
	}
	s := p.w.o.Registry.Snapshot()
	if node.Epoch == s.Epoch {
		p.forget()
		return errSelf
	}
	p.introduce(node)
	delete(p.notes, NoteEqualDigests)
	delete(p.notes, NoteTopicsNotListed)
	kinds := map[Kind]bool{KindBroker: true, KindMember: true}
	var found []Difference
	found, p.missing = brokers(s, node.ClusterInfo, old(node))
	more, err := p.compareTopics(ctx, c, node)
	if err != nil {
		return err
	}
	found = append(found, more...)
	kinds[KindTopic] = !p.notes[NoteTopicsNotListed]
	settings, err := c.Config(ctx)
	switch {
	case err == nil:
		kinds[KindSetting] = true
		found = append(found, texts(p.w.o.Settings(), settings, true, func(key string) Subject { return Subject{Kind: KindSetting, Key: key} })...)
	case !refused(err):
		return err
	}
	kinds[KindKV] = true
	more, err = p.compareKV(ctx, c, node)
	if err != nil {
		return err
	}
	p.board.settle(kinds, append(found, more...), time.Now())
	return nil
}

// introduce notes who the peer is and what it has.
func (p *peer) introduce(n *nsclient.Node) {
	p.st.Software, p.st.Version = Other, n.Version.String()
	switch {
	case n.Epoch != "":
		p.st.Software, p.st.Version = Fingerpost, ""
	case n.Language == wire.Java:
		p.st.Software = Java
	}
	p.st.Clusters, p.st.Brokers, p.st.Members = len(n.Clusters), len(n.Brokers), 0
	for i := range n.Brokers {
		p.st.Members += len(n.Brokers[i].Addrs)
	}
}

// old reports whether the peer is a server before 5.0.
func old(n *nsclient.Node) bool { return n.Epoch == "" && n.Version < wire.V5_0_0 }

// compareTopics compares which topics there are, and prepares the rounds through their
// routes. Two servers of ours with equal digests need neither.
func (p *peer) compareTopics(ctx context.Context, c *nsclient.Client, n *nsclient.Node) ([]Difference, error) {
	ours := n.Epoch != ""
	if ours && n.Topics == p.w.o.Registry.Snapshot().Digests().Topics {
		p.st.Topics, p.unequal = p.w.o.Registry.Snapshot().TopicCount(), false
		p.notes[NoteEqualDigests] = true
		p.board.keepTopics(func(string) bool { return false })
		p.rounds.stop()
		p.rounds.done = time.Now()
		return nil, nil
	}
	names, err := c.Topics(ctx)
	if err != nil && !refused(err) {
		return nil, err
	}
	s := p.w.o.Registry.Snapshot()
	var lists topicLists
	if err != nil {
		p.st.Topics = -1
		p.notes[NoteTopicsNotListed] = true
		lists.both = s.TopicNames() // of each the route tells whether it is there
	} else {
		p.st.Topics = len(names)
		lists = topics(s, sorted(names), p.missing)
	}
	p.board.keepTopics(func(topic string) bool { return in(lists.both, topic) || in(lists.doubtful, topic) })
	// Between servers of ours a difference that is seen once may be one of time only, and
	// all routes are much to ask for because of it.
	if ours && !p.unequal {
		p.unequal = true
		p.sooner(time.Now().Add(p.w.o.Recheck))
		return lists.found, nil
	}
	p.rounds.begin(lists.both, lists.doubtful)
	return lists.found, nil
}

// maxNamespaces is how many namespaces are compared in one look.
const maxNamespaces = 100

// compareKV compares the namespaces that we have, and the order configuration in any case.
// Others that a Java server has cannot be asked for: it has no list of them.
func (p *peer) compareKV(ctx context.Context, c *nsclient.Client, n *nsclient.Node) (found []Difference, err error) {
	s := p.w.o.Registry.Snapshot()
	if n.Epoch != "" && n.KV == s.Digests().KV {
		return nil, nil
	}
	for _, ns := range namespaces(s) {
		here := make(map[string]string)
		if table, err := s.KVNamespace(ns); err == nil {
			for k, e := range table {
				here[k] = e.Value
			}
		}
		entries, err := c.KVList(ctx, ns)
		switch {
		case refused(err) && !nsclient.Is(err, wire.QueryNotFound):
			continue
		case err != nil && !refused(err):
			return nil, err
		}
		there := make(map[string]string, len(entries))
		for _, e := range entries {
			there[e.Name] = e.Value
		}
		found = append(found, texts(here, there, false, func(key string) Subject {
			return Subject{Kind: KindKV, Namespace: ns, Key: key}
		})...)
	}
	if n.Epoch != "" && len(found) == 0 {
		// Ours say at least that they have what we cannot name.
		found = append(found, Difference{
			Subject: Subject{Kind: KindKV, How: Value}, Here: Facts{"digest": s.Digests().KV}, There: Facts{"digest": n.KV},
		})
	}
	return found, nil
}

// ask asks for one route and compares it.
func (p *peer) ask(ctx context.Context, topic string) {
	var rt *wire.Route
	err := p.with(ctx, func(c *nsclient.Client) (err error) {
		rt, err = c.Route(ctx, topic)
		return err
	})
	now, s := time.Now(), p.w.o.Registry.Snapshot()
	var found []Difference
	switch {
	case ctx.Err() != nil:
		return
	case err == nil:
		found = route(s, topic, rt, p.missing)
	case nsclient.Is(err, wire.TopicNotExist):
		if d, missed := missedThere(s, topic, p.missing); missed && p.notes[NoteTopicsNotListed] {
			found = append(found, d) // otherwise it went since the list was read
		}
	case refused(err):
		p.ready(false)
		p.rounds.stop()
		return
	case !sound(err):
		p.rounds.stop()
		p.sooner(now.Add(p.w.o.Recheck)) // which finds out what is wrong
		return
	}
	p.ready(true)
	p.board.settleTopic(topic, found, now)
	p.rounds.asked(topic, now, p.board)
}

// ready notes whether the peer answers routes.
func (p *peer) ready(yes bool) {
	p.board.dirty = p.board.dirty || p.notes[NoteRoutesNotReady] == yes
	p.notes[NoteRoutesNotReady] = !yes
}

// turn notes a change of state, and forgets what was seen once if it cannot be looked at.
func (p *peer) turn(state State, now time.Time) {
	before := p.st.State
	if before == state {
		return
	}
	p.st.State, p.st.Since = state, now
	switch {
	case state == Unreachable:
		p.tell(registry.PeerChange{Op: registry.OpUnreachable, Detail: p.st.LastError})
	case before == Unreachable:
		p.tell(registry.PeerChange{Op: registry.OpReachable})
	}
}

// forget is for a peer that turned out to be this server.
func (p *peer) forget() {
	p.board = newBoard(p.w.o.Recheck)
	p.rounds.stop()
	clear(p.notes)
	p.st = Status{Addr: p.addr, State: p.st.State, Since: p.st.Since, Software: Fingerpost, Topics: -1}
}
