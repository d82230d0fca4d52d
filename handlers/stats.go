package handlers

import (
	"context"
	"slices"
	"strconv"
	"sync"
	"time"

	"fingerpost/api"
	"fingerpost/internal/convert"
)

const (
	// sampleEvery and samples make 15 minutes.
	sampleEvery = 5 * time.Second
	samples     = 180
)

// series keeps short histories of numbers, for sparklines.
type series struct {
	h        *Handler
	counters []counter

	mu     sync.Mutex
	at     time.Time
	last   []float64   // what each counter read at the last sample
	points [][]float64 // of each counter, oldest first
}

// counter is a number and how it is read. Those of the registry are of one snapshot.
type counter struct {
	Counter
	read func(*tables) float64
}

func newSeries(h *Handler) *series {
	s := &series{h: h}
	for _, c := range h.deps.Counters {
		s.counters = append(s.counters, counter{c, func(*tables) float64 { return c.Read() }})
	}
	add := func(name string, gauge bool, read func(*tables) float64) {
		s.counters = append(s.counters, counter{Counter{Name: name, Gauge: gauge}, read})
	}
	add("revision", false, func(t *tables) float64 { return float64(t.revision) })
	add("topics", true, func(t *tables) float64 { return float64(t.topics) })
	add("brokers", true, func(t *tables) float64 { return float64(t.groups) })
	add("members", true, func(t *tables) float64 { return float64(t.members) })
	add("watchers", true, func(*tables) float64 { n, _ := h.watched.counts(); return float64(n) })
	add("longPolls", true, func(*tables) float64 { _, n := h.watched.counts(); return float64(n) })
	add("httpInFlight", true, func(*tables) float64 { return float64(h.flying.Load()) })
	add("httpRequests", false, func(*tables) float64 { return float64(h.answered.Load()) })
	s.last, s.points = make([]float64, len(s.counters)), make([][]float64, len(s.counters))
	t := h.tables()
	for i, c := range s.counters {
		s.last[i] = c.read(t)
	}
	s.at = time.Now()
	return s
}

// tables are those that stand now.
func (h *Handler) tables() *tables {
	return tablesOf(&convert.View{Snapshot: h.deps.Registry.Snapshot(), Now: time.Now()})
}

func (s *series) run(ctx context.Context) {
	tick := time.NewTicker(sampleEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			s.sample(now)
			s.h.stale.refresh(s.h.deps.Registry.Snapshot())
		}
	}
}

func (s *series) sample(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	seconds := now.Sub(s.at).Seconds()
	s.at = now
	t := s.h.tables()
	for i, c := range s.counters {
		v := c.read(t)
		p := v
		if !c.Gauge {
			p = (v - s.last[i]) / seconds
		}
		s.last[i] = v
		if len(s.points[i]) == samples {
			s.points[i] = append(s.points[i][:0], s.points[i][1:]...)
		}
		s.points[i] = append(s.points[i], p)
	}
}

// snapshot returns the numbers as they are now, those of the registry as t has them.
func (s *series) snapshot(t *tables) (at time.Time, out map[string]api.Series) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out = make(map[string]api.Series, len(s.counters))
	for i, c := range s.counters {
		x := api.Series{Kind: "counter", Value: c.read(t), Points: slices.Clone(s.points[i])}
		if c.Gauge {
			x.Kind = "gauge"
		}
		if x.Points == nil {
			x.Points = []float64{}
		}
		out[c.Name] = x
	}
	return s.at, out
}

// getStats answers counters and their last 15 minutes.
//
//	@Summary	Counters and their last 15 minutes
//	@Tags	server
//	@Success	200	{object}	api.Stats	"the numbers"
//	@Router	/api/v1/stats [get]
func (h *Handler) getStats(c *call) (reply, error) {
	v := c.view()
	at, all := h.series.snapshot(tablesOf(v))
	out := api.Stats{
		Revision: v.At(), At: api.TimeOf(at), StepMillis: sampleEvery.Milliseconds(), Series: all,
		StaleTopics: h.stale.count(c.snap), TopicTypes: h.types.of(v),
	}
	return reply{body: out, text: func() []byte {
		tb := newTable("SERIES", "KIND", "VALUE", "LAST")
		for _, n := range sortedKeys(all) {
			x := all[n]
			last := 0.0
			if len(x.Points) > 0 {
				last = x.Points[len(x.Points)-1]
			}
			tb.row(n, x.Kind, number(x.Value), number(last))
		}
		tb.note("revision %s  a sample each %s", out.Revision, sampleEvery)
		return tb.bytes()
	}}, nil
}

func number(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
