package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"fingerpost/internal/nstest"
	"fingerpost/remoting/wire"
)

// siege is how a run of overload goes, and what it finds.
type siege struct {
	time                   time.Duration
	idle, brokers, storm   int
	lifetime               time.Duration
	quick                  time.Duration // what counts as quickly answered
	memory                 int64         // bytes that the server may take
	binary                 string
	out                    io.Writer
	beats                  latencies
	fine, busy             latencies // lookups answered 0, and 2
	other                  atomic.Uint64
	missing                atomic.Uint64 // heartbeats that found their broker gone
	failed                 chan error
	child                  *child
	group                  sync.WaitGroup
	stop                   context.CancelFunc
	connected, quietLookup atomic.Uint64
}

// usualSiege is what `make overload` does. The memory is that of the two budgets for large
// requests, remoting.maxInFlightBytes and remoting.maxClientInFlightBytes: it bounds what
// peers can make the server hold.
func usualSiege(out io.Writer) *siege {
	return &siege{
		time: 3 * time.Minute, idle: 10_000, brokers: 500, storm: 200, lifetime: 10 * time.Second,
		quick: 100 * time.Millisecond, memory: (512 + 64) << 20, out: out, failed: make(chan error, 16),
	}
}

// besiege runs it. It returns whether the server did what it has to.
func besiege(s *siege) (ok bool, err error) {
	if err := roomFor(max(s.idle, s.storm) + s.brokers + 300); err != nil {
		return false, err
	}
	if s.child, err = startChild(s.binary); err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, s.child.stop()) }()
	ctx, stop := context.WithCancel(context.Background())
	s.stop = stop
	defer func() {
		stop()
		s.group.Wait()
	}()
	fmt.Fprintf(s.out, "overload: %d brokers that live %s, %d idle connections, %d connections that look up all the time, for %s\n", s.brokers, s.lifetime, s.idle, s.storm, s.time)
	var ready sync.WaitGroup
	for i := range s.brokers {
		ready.Add(1)
		s.run(func() error { return s.broker(ctx, i, ready.Done) })
	}
	ready.Wait()
	for i := range s.idle {
		s.run(func() error { return s.idler(ctx, i) })
	}
	for i := range s.storm {
		s.run(func() error { return s.stormer(ctx, i) })
	}
	if err := s.watch(ctx); err != nil {
		return false, err
	}
	return s.judge()
}

func (s *siege) run(f func() error) {
	s.group.Go(func() {
		if err := f(); err != nil {
			select {
			case s.failed <- err:
			default: // one is enough
			}
		}
	})
}

// watch prints now and then how it goes, until the time is over or something fails.
func (s *siege) watch(ctx context.Context) error {
	fmt.Fprintf(s.out, "%8s %8s %12s %12s %10s %12s %10s\n", "after", "idle", "beats p99", "lookups", "code 2", "lookups p99", "RSS MiB")
	tick, end, began := time.NewTicker(max(s.time/18, time.Second)), time.After(s.time), time.Now()
	defer tick.Stop()
	for {
		select {
		case err := <-s.failed:
			return err
		case <-end:
			return nil
		case <-tick.C:
			u, err := s.child.usage(ctx, nil)
			if err != nil {
				return err
			}
			fmt.Fprintf(s.out, "%8s %8d %12s %12d %10d %12s %10d\n", time.Since(began).Round(time.Second), s.connected.Load(),
				s.beats.at(0.99), s.fine.total()+s.busy.total(), s.busy.total(), s.fine.at(0.99), u.rss>>20)
		}
	}
}

// judge says what came of it.
func (s *siege) judge() (bool, error) {
	u, err := s.child.usage(context.Background(), nil)
	if err != nil {
		return false, err
	}
	expired := s.child.count("broker expired")
	ok := true
	say := func(good bool, format string, args ...any) {
		word := "ok   "
		if !good {
			word, ok = "WRONG", false
		}
		fmt.Fprintf(s.out, word+" "+format+"\n", args...)
	}
	say(expired == 0 && s.missing.Load() == 0, "%d brokers expired, %d heartbeats found theirs gone", expired, s.missing.Load())
	say(s.beats.at(0.99) < s.quick, "heartbeats: %d, p50 %s, p99 %s, to be under %s", s.beats.total(), s.beats.at(0.5), s.beats.at(0.99), s.quick)
	say(s.busy.total() == 0 || s.busy.at(0.99) < s.quick, "lookups answered with code 2: %d, p50 %s, p99 %s, to be under %s", s.busy.total(), s.busy.at(0.5), s.busy.at(0.99), s.quick)
	say(s.other.Load() == 0, "lookups answered otherwise: %d", s.other.Load())
	say(s.connected.Load() == uint64(s.idle), "idle connections open: %d of %d", s.connected.Load(), s.idle)
	say(u.peak < s.memory, "memory: %d MiB at most, bound %d MiB", u.peak>>20, s.memory>>20)
	fmt.Fprintf(s.out, "     lookups answered with a route: %d, p50 %s, p99 %s\n", s.fine.total(), s.fine.at(0.5), s.fine.at(0.99))
	fmt.Fprintf(s.out, "overload: %d heartbeats, %d lookups, %d of them code 2, %d expired\n", s.beats.total(), s.fine.total()+s.busy.total(), s.busy.total(), expired)
	return ok, nil
}

func siegeTopic(i int) string { return fmt.Sprintf("topic-%d", i%100) }

// broker registers a broker and keeps it alive with a heartbeat a second.
func (s *siege) broker(ctx context.Context, i int, ready func()) error {
	c, err := nstest.Dial(s.child.addr, wire.JSONHeader)
	if err != nil {
		ready()
		return err
	}
	defer c.Close()
	g := &group{name: fmt.Sprintf("broker-%03d", i), cluster: "siege", counter: 1, own: []string{fmt.Sprintf("own-%d", i)}, queues: []int32{8}}
	for k := range 10 {
		g.shared = append(g.shared, siegeTopic(i*7+k*11))
	}
	st := statement{cluster: g.cluster, addr: fmt.Sprintf("10.1.%d.%d:10911", i/250, i%250), timeout: s.lifetime}
	ext, body, err := g.registration(st)
	if err == nil {
		_, err = nstest.Must(c.Call(wire.RegisterBroker, ext, body))
	}
	ready()
	if err != nil {
		return err
	}
	version := wire.DataVersion{Timestamp: 1_700_000_000_000, Counter: 1}.AppendJSON(nil)
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		began := time.Now()
		// Each tenth asks for the data version instead, whose answer tells whether the
		// server still knows the broker.
		if n%10 != 9 {
			_, err = nstest.Must(c.Call(wire.BrokerHeartbeat, g.identity(st), nil))
		} else {
			var resp *wire.Command
			if resp, err = nstest.Must(c.Call(wire.QueryDataVersion, g.identity(st), version)); err == nil && resp.Body == nil {
				s.missing.Add(1)
			}
		}
		if err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return fmt.Errorf("a heartbeat of broker %d: %w", i, err)
		}
		s.beats.add(time.Since(began))
	}
}

// idler keeps a connection that looks something up every 50 s, so that it does not count
// as silent.
func (s *siege) idler(ctx context.Context, i int) error {
	c, err := nstest.Dial(s.child.addr, wire.JSONHeader)
	if err != nil {
		return fmt.Errorf("idle connection %d: %w", i, err)
	}
	defer c.Close()
	s.connected.Add(1)
	tick := time.NewTicker(40*time.Second + time.Duration(rand.IntN(20_000))*time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if _, err := c.Call(wire.GetRouteInfoByTopic, wire.Fields{{Name: wire.FieldTopic, Value: siegeTopic(i)}}, nil); err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return fmt.Errorf("idle connection %d is not served: %w", i, err)
		}
		s.quietLookup.Add(1)
	}
}

// stormer looks up routes, many at a time, without ever waiting.
func (s *siege) stormer(ctx context.Context, i int) error {
	conn, err := dial(s.child.addr)
	if err != nil {
		return err
	}
	c := nstest.NewClient(conn, wire.JSONHeader)
	c.Timeout = patience
	defer c.Close()
	const depth = 16
	batch := make([]*wire.Command, depth)
	for k := range batch {
		batch[k] = &wire.Command{
			Code: int32(wire.GetRouteInfoByTopic), Version: wire.V5_5_0, Opaque: int32(k), HasExt: true,
			Ext: wire.Fields{{Name: wire.FieldTopic, Value: siegeTopic(i + k)}},
		}
	}
	for ctx.Err() == nil {
		began := time.Now()
		if err := c.Send(batch...); err != nil {
			return fmt.Errorf("lookups: %w", err)
		}
		for range batch {
			resp, err := c.Receive()
			if err != nil {
				if ctx.Err() != nil {
					return nil
				}
				return fmt.Errorf("lookups: %w", err)
			}
			took := time.Since(began)
			switch wire.ResponseCode(resp.Code) {
			case wire.Success:
				s.fine.add(took)
			case wire.SystemBusy:
				s.busy.add(took)
			default:
				s.other.Add(1)
			}
		}
	}
	return nil
}
