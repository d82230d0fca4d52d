package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"fingerpost/remoting/wire"
)

// plan is how a run of chaos goes.
type plan struct {
	seed uint64
	// time is how long it goes on, unless steps is the number of steps of each worker.
	time  time.Duration
	steps int
	// rate is the number of steps a second, with a quarter as many reads; 0 is as many as
	// possible.
	rate                     int
	workers, groups, readers int
	out, log                 io.Writer
}

// usual is what `make chaos` does.
func usual(out io.Writer) plan {
	return plan{time: 10 * time.Minute, rate: 1000, workers: 64, groups: 3, readers: 4, out: out, log: io.Discard}
}

// restGroups is the number of groups of each worker that it registers over HTTP.
const restGroups = 1

// run is one run of chaos: a server, what is done to it, and who looks.
type run struct {
	plan
	srv    *server
	tally  *tally
	world  *world
	crew   []*worker
	rests  []*rest
	cancel context.CancelFunc // of the requests of rests
}

// chaos runs a plan. It returns whether everything was as it should be.
func chaos(p plan) (bool, error) {
	before := measure()
	fmt.Fprintf(p.out, "chaos: seed %d, %d brokers of %d groups, by %d workers\n", p.seed, p.workers*(2*p.groups+restGroups), p.workers*(p.groups+restGroups), p.workers)
	began := time.Now()
	t, err := chaosBeforeLeaks(&p)
	if err != nil {
		return false, err
	}
	fmt.Fprintf(p.out, "took %s\n", time.Since(began).Round(time.Second))
	if t.clean() {
		after, err := before.restored()
		fmt.Fprintf(p.out, "%-20s %12s %12s\n%s", "left behind", "before", "after", before.beside(after))
		if err != nil {
			t.violate(err.Error())
		}
	}
	t.report(p.out)
	return t.clean(), nil
}

// chaosBeforeLeaks runs everything and lets go of all of it.
func chaosBeforeLeaks(p *plan) (*tally, error) {
	srv, err := startServer(slog.New(slog.NewTextHandler(p.log, nil)))
	if err != nil {
		return nil, err
	}
	r := &run{plan: *p, srv: srv}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	r.tally = newTally(stop)
	if err = r.prepare(); err == nil {
		err = r.play(ctx)
	}
	r.cancel()
	for _, c := range r.rests {
		c.client.CloseIdleConnections()
	}
	if closing := srv.close(); closing != nil && err == nil {
		r.tally.violate("stopping the server: " + closing.Error())
	}
	if p := srv.remoting.Stats.Panics.Load(); p != 0 {
		r.tally.violate(fmt.Sprintf("%d panics in the remoting face", p))
	}
	return r.tally, err
}

// prepare makes the world and its workers.
func (r *run) prepare() error {
	ctx, cancel := context.WithCancel(context.Background())
	r.cancel = cancel
	r.world = &world{byName: make(map[string]*group)}
	for i := range 20 {
		r.world.topics = append(r.world.topics, fmt.Sprintf("shared-%d", i))
	}
	for n := range r.plan.workers {
		client, err := r.newREST(ctx)
		if err != nil {
			return err
		}
		w := &worker{n: n, srv: r.srv, tally: r.tally, kv: make(map[string]string), rng: rand.New(rand.NewPCG(r.seed, uint64(n))), rest: client, beaten: time.Now()}
		for i := range r.groups {
			w.groups = append(w.groups, r.newGroup(w.rng, n, i))
		}
		for i := range restGroups {
			g := r.newGroup(w.rng, n, r.groups+i)
			g.own, g.members = g.own[:1], g.members[:1]
			w.restMembers = append(w.restMembers, g.members[0])
		}
		r.crew = append(r.crew, w)
	}
	for _, g := range r.world.groups {
		r.world.byName[g.name] = g
		r.world.members = append(r.world.members, g.members...)
	}
	return nil
}

func (r *run) newREST(ctx context.Context) (*rest, error) {
	c, err := newREST(ctx, r.srv.url)
	if err == nil {
		r.rests = append(r.rests, c)
	}
	return c, err
}

// newGroup makes group i of worker n.
func (r *run) newGroup(rng *rand.Rand, n, i int) *group {
	g := &group{
		name: fmt.Sprintf("w%02d-g%02d", n, i), cluster: fmt.Sprintf("cluster-%d", n%4),
		header: wire.HeaderType(rng.IntN(2)), compressed: rng.IntN(3) == 0, counter: 1,
	}
	switch rng.IntN(3) {
	case 0:
		g.acting = wire.BoolOf(false)
	case 1:
		g.acting = wire.BoolOf(true)
	}
	for _, t := range r.world.topics {
		if rng.IntN(2) == 0 {
			g.shared = append(g.shared, t)
		}
	}
	for k := range 3 {
		g.own = append(g.own, fmt.Sprintf("%s-t%d", g.name, k))
		g.queues = append(g.queues, 8)
	}
	for id := range int64(2) {
		m := &member{g: g, id: id, addr: fmt.Sprintf("10.%d.%d.%d:10911", n, i, id)}
		m.mark.Store(1) // not there yet
		g.members = append(g.members, m)
	}
	r.world.groups = append(r.world.groups, g)
	return g
}

// play does everything: the chaos, then the calm after it.
func (r *run) play(ctx context.Context) error {
	var workers, others sync.WaitGroup
	lookCtx, endLooking := context.WithCancel(ctx)
	defer endLooking()
	workCtx := ctx
	if r.steps == 0 {
		var cancel context.CancelFunc
		workCtx, cancel = context.WithTimeout(ctx, r.time)
		defer cancel()
	}
	failed := make(chan error, 64)
	keep := func(err error) {
		if err != nil {
			failed <- err
			r.tally.stop()
		}
	}
	follow := newFollower(r.srv.registry, r.tally)
	defer func() { follow.sub.Close() }()
	others.Go(func() { keep(follow.run(lookCtx)) })
	for i := range r.readers + 1 {
		rd := &reader{world: r.world, srv: r.srv, tally: r.tally, rng: rand.New(rand.NewPCG(r.seed, uint64(1000+i)))}
		if i >= r.readers {
			var err error
			if rd.rest, err = r.newREST(context.WithoutCancel(ctx)); err != nil {
				return err
			}
		}
		tick, stop := r.pace(4 * (r.readers + 1))
		defer stop()
		others.Go(func() { keep(rd.run(lookCtx, tick)) })
	}
	watchClient, err := r.newREST(context.WithoutCancel(ctx))
	if err != nil {
		return err
	}
	watch := &watcher{rest: watchClient, tally: r.tally}
	others.Go(func() { keep(watch.run(lookCtx)) })
	for _, w := range r.crew {
		tick, stop := r.pace(len(r.crew))
		defer stop()
		workers.Go(func() { keep(w.run(workCtx, r.steps, tick)) })
	}
	r.tellProgress(workCtx, &workers)
	if ctx.Err() == nil {
		keep(r.calm(ctx, follow))
	}
	endLooking()
	others.Wait()
	fmt.Fprintf(r.out, "events: %d heard, %d states compared with them, %d times too slow; over REST %d heard, %d resets\n",
		follow.heard, follow.compared, follow.lagged, watch.heard, watch.resets)
	for _, w := range r.crew {
		w.hangUp()
	}
	select {
	case err := <-failed:
		if errors.Is(err, errViolation) {
			err = nil // it has been told
		}
		return err
	default:
		return nil
	}
}

// pace returns a share of the rate, or nil if there is none to keep.
func (r *run) pace(among int) (<-chan time.Time, func()) {
	if r.rate <= 0 {
		return nil, func() {}
	}
	t := time.NewTicker(time.Second * time.Duration(among) / time.Duration(r.rate))
	return t.C, t.Stop
}

// tellProgress waits for the workers and says now and then how far they are.
func (r *run) tellProgress(ctx context.Context, workers *sync.WaitGroup) {
	done := make(chan struct{})
	go func() {
		workers.Wait()
		close(done)
	}()
	tick := time.NewTicker(30 * time.Second)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return
		case <-tick.C:
			if ctx.Err() == nil {
				fmt.Fprintf(r.out, "… %d faults, %d reads checked, %d connections, revision %d\n",
					r.tally.total(), r.tally.reads.Load(), r.srv.remoting.Open(), r.srv.registry.Snapshot().Revision)
			}
		}
	}
}
