package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"time"

	"fingerpost/api"
	"fingerpost/internal/faultnet"
	"fingerpost/internal/nstest"
	"fingerpost/remoting/wire"
)

// soaking is how a run of soak goes.
type soaking struct {
	time             time.Duration
	brokers, lookers int
	binary           string
	out              io.Writer
	lookups          latencies // since the last sample
}

func usualSoak(out io.Writer) *soaking {
	return &soaking{time: time.Hour, brokers: 100, lookers: 20, out: out}
}

// samples is how many are taken, as far as they are a second apart. The first fifth is
// left out of the judgement: caches and pools fill in that time.
const samples = 60

// fewest is how many samples it takes to tell a trend.
const fewest = 15

// sample is the server at one moment, and what was answered since the last one.
type sample struct {
	usageOf
	p99 time.Duration
}

// soak puts a steady load on a server, with brokers that flap, and looks whether anything
// grows. It returns whether nothing does.
func soak(s *soaking) (ok bool, err error) {
	load := &siege{brokers: s.brokers, lifetime: 30 * time.Second, out: s.out, failed: make(chan error, 16)}
	if load.child, err = startChild(s.binary); err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, load.child.stop()) }()
	client := &http.Client{Timeout: patience, Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	ctx, stop := context.WithCancel(context.Background())
	defer func() {
		stop()
		load.group.Wait()
	}()
	for i := range s.brokers {
		load.run(func() error { return load.broker(ctx, i, func() {}) })
	}
	for i := range s.lookers {
		load.run(func() error { return s.look(ctx, load.child.addr, i) })
	}
	load.run(func() error { return s.flap(ctx, load.child.addr) })
	load.run(func() error { return s.readREST(ctx, load.child.url) })
	every := max(s.time/samples, time.Second)
	fmt.Fprintf(s.out, "soak: %d brokers, %d connections that look up, flapping brokers and REST beside, for %s, a sample every %s\n", s.brokers, s.lookers, s.time, every)
	fmt.Fprintf(s.out, "%9s %10s %12s %9s %9s %12s %12s\n", "after", "goroutines", "descriptors", "heap MiB", "RSS MiB", "lookups p99", "beats p99")
	tick := time.NewTicker(every)
	defer tick.Stop()
	var all []sample
	for began := time.Now(); time.Since(began) < s.time; {
		select {
		case err := <-load.failed:
			return false, err
		case <-tick.C:
		}
		u, err := load.child.usage(ctx, client)
		if err != nil {
			return false, err
		}
		all = append(all, sample{u, s.lookups.reset(0.99)})
		fmt.Fprintf(s.out, "%9s %10d %12d %9d %9d %12s %12s\n", time.Since(began).Round(time.Second), u.goroutines, u.descriptors, u.heap>>20, u.rss>>20, all[len(all)-1].p99, load.beats.reset(0.99))
	}
	return judgeTrend(s.out, all), nil
}

// trend is what may not grow, and by how much the end may exceed the beginning all the
// same: a share of it and an amount.
type trend struct {
	name  string
	of    func(sample) float64
	share float64
	slack float64
}

var trends = []trend{
	{"goroutines", func(s sample) float64 { return float64(s.goroutines) }, 0.1, 20},
	{"descriptors", func(s sample) float64 { return float64(s.descriptors) }, 0.1, 20},
	{"heap MiB", func(s sample) float64 { return float64(s.heap) / (1 << 20) }, 0.2, 8},
	{"RSS MiB", func(s sample) float64 { return float64(s.rss) / (1 << 20) }, 0.2, 16},
	// A machine has slow minutes; four times as slow in the middle of a third is no such.
	{"lookups p99 ms", func(s sample) float64 { return float64(s.p99) / float64(time.Millisecond) }, 3, 50},
}

// judgeTrend compares the medians of the first and the last third, after the first fifth
// is left out: single samples, which garbage collection and the machine make jump, do not
// count.
func judgeTrend(out io.Writer, all []sample) bool {
	if len(all) < fewest {
		fmt.Fprintf(out, "soak: %d samples are too few to see a trend, %d are needed\n", len(all), fewest)
		return false
	}
	all = all[len(all)/5:]
	third := len(all) / 3
	ok := true
	for _, t := range trends {
		first, last := t.median(all[:third]), t.median(all[len(all)-third:])
		most := first*(1+t.share) + t.slack
		word := "ok   "
		if last > most {
			word, ok = "WRONG", false
		}
		fmt.Fprintf(out, "%s %s: %.1f at the beginning, %.1f at the end, at most %.1f\n", word, t.name, first, last, most)
	}
	if ok {
		fmt.Fprintf(out, "soak: nothing grew in %d samples\n", len(all))
	}
	return ok
}

func (t trend) median(of []sample) float64 {
	values := make([]float64, len(of))
	for i, s := range of {
		values[i] = t.of(s)
	}
	slices.Sort(values)
	return values[len(values)/2]
}

// look asks for routes ten times a second.
func (s *soaking) look(ctx context.Context, addr string, i int) error {
	c, err := nstest.Dial(addr, wire.HeaderType(i%2))
	if err != nil {
		return err
	}
	defer c.Close()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		began := time.Now()
		if _, err := c.Call(wire.GetRouteInfoByTopic, wire.Fields{{Name: wire.FieldTopic, Value: siegeTopic(rand.IntN(110))}}, nil); err != nil {
			return fmt.Errorf("a lookup: %w", err)
		}
		s.lookups.add(time.Since(began))
	}
}

// flap registers brokers that leave again in every way, ten a second.
func (s *soaking) flap(ctx context.Context, addr string) error {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		c, err := nstest.Dial(addr, wire.JSONHeader)
		if err != nil {
			return err
		}
		g := &group{
			name: fmt.Sprintf("flapping-%d", n%50), cluster: "soak", counter: int64(n), compressed: n%3 == 0,
			shared: []string{siegeTopic(n), siegeTopic(n + 1)}, own: []string{fmt.Sprintf("flapped-%d", n)}, queues: []int32{4},
		}
		st := statement{cluster: g.cluster, addr: fmt.Sprintf("10.2.0.%d:10911", n%50), timeout: lifetime}
		ext, body, err := g.registration(st)
		if err == nil {
			_, err = nstest.Must(c.Call(wire.RegisterBroker, ext, body))
		}
		if err != nil {
			return errors.Join(fmt.Errorf("a flapping broker: %w", err), c.Close())
		}
		end := [...]func(net.Conn) error{faultnet.Reset, net.Conn.Close, faultnet.HalfClose}[n%3]
		if n%4 == 0 {
			_, err = c.Call(wire.UnregisterBroker, g.identity(st), nil)
		} else if n%5 == 0 {
			err = c.Write([]byte("\x00\x00\x01\x00\x00\x00\x00\x40{\"code\":103"))
		}
		if err := errors.Join(err, end(c.Conn())); err != nil {
			return fmt.Errorf("a flapping broker: %w", err)
		}
		if n%3 == 2 {
			if err := c.Close(); err != nil {
				return err
			}
		}
	}
}

// readREST reads what a dashboard and its users read.
func (s *soaking) readREST(ctx context.Context, url string) error {
	c, err := api.New(url, api.Options{})
	if err != nil {
		return err
	}
	defer c.CloseIdleConnections()
	tick := time.NewTicker(300 * time.Millisecond)
	defer tick.Stop()
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		switch n % 4 {
		case 0:
			_, err = c.Brokers(ctx, api.BrokersOptions{})
		case 1:
			_, err = c.Topics(ctx, api.TopicsOptions{})
		case 2:
			_, err = c.Events(ctx, api.EventsOptions{})
		default:
			_, err = c.Digest(ctx, api.Read{})
		}
		if err != nil && ctx.Err() == nil {
			return fmt.Errorf("reading over REST: %w", err)
		}
	}
}
