package handlers

import (
	"context"
	"slices"
	"strconv"
	"sync"
	"time"

	"fingerpost/api"
)

const (
	// sampleEvery and samples make 15 minutes.
	sampleEvery = 5 * time.Second
	samples     = 180
)

// series keeps short histories of numbers, for sparklines.
type series struct {
	h        *Handler
	counters []Counter

	mu     sync.Mutex
	at     time.Time
	last   []float64   // what each counter read at the last sample
	points [][]float64 // of each counter, oldest first
}

func newSeries(h *Handler) *series {
	reg := h.deps.Registry
	s := &series{h: h, counters: append(slices.Clone(h.deps.Counters),
		Counter{Name: "revision", Read: func() float64 { return float64(reg.Snapshot().Revision) }},
		Counter{Name: "topics", Gauge: true, Read: func() float64 { return float64(reg.Snapshot().TopicCount()) }},
		Counter{Name: "brokers", Gauge: true, Read: func() float64 { return float64(len(reg.Snapshot().Groups())) }},
		Counter{Name: "members", Gauge: true, Read: h.memberCount},
		Counter{Name: "watchers", Gauge: true, Read: func() float64 { n, _ := h.watched.counts(); return float64(n) }},
		Counter{Name: "longPolls", Gauge: true, Read: func() float64 { _, n := h.watched.counts(); return float64(n) }},
		Counter{Name: "httpInFlight", Gauge: true, Read: func() float64 { return float64(h.flying.Load()) }},
		Counter{Name: "httpRequests", Read: func() float64 { return float64(h.answered.Load()) }},
	)}
	s.last, s.points = make([]float64, len(s.counters)), make([][]float64, len(s.counters))
	for i, c := range s.counters {
		s.last[i] = c.Read()
	}
	s.at = time.Now()
	return s
}

func (h *Handler) memberCount() float64 {
	n := 0
	for _, g := range h.deps.Registry.Snapshot().Groups() {
		n += len(g.Members)
	}
	return float64(n)
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
		}
	}
}

func (s *series) sample(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	seconds := now.Sub(s.at).Seconds()
	s.at = now
	for i, c := range s.counters {
		v := c.Read()
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

func (s *series) snapshot() (at time.Time, out map[string]api.Series) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out = make(map[string]api.Series, len(s.counters))
	for i, c := range s.counters {
		x := api.Series{Kind: "counter", Value: c.Read(), Points: slices.Clone(s.points[i])}
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
	at, all := h.series.snapshot()
	v := c.view()
	out := api.Stats{
		Revision: v.At(), At: api.TimeOf(at), StepMillis: sampleEvery.Milliseconds(), Series: all,
		StaleTopics: h.stale.count(c.snap), TopicTypes: make(map[string]int),
	}
	for _, n := range c.snap.TopicNames() {
		out.TopicTypes[v.TopicType(n)]++
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
