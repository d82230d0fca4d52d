package main

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"fingerpost/handlers"
)

// saves remembers how the saving of a file goes.
type saves struct {
	failed atomic.Bool
	errors atomic.Uint64

	mu   sync.Mutex
	took prometheus.Histogram
	last time.Time // when a save last worked
}

// observe gives the metrics of the file, whose names begin with prefix.
func (s *saves) observe(reg prometheus.Registerer, prefix, what string) {
	prefix = handlers.MetricsPrefix + prefix + "_persist_"
	s.mu.Lock()
	s.took = prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: prefix + "seconds", Help: "How long it took to save " + what + ", also in vain.",
		Buckets: []float64{.001, .005, .01, .05, .1, .5, 1, 5, 30},
	})
	s.mu.Unlock()
	reg.MustRegister(s.took,
		prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: prefix + "errors_total", Help: "How often it failed to save " + what + ".",
		}, func() float64 { return float64(s.errors.Load()) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: prefix + "failing", Help: "1 if it failed last time to save " + what + ".",
		}, func() float64 {
			if s.failed.Load() {
				return 1
			}
			return 0
		}),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: prefix + "last_success_timestamp_seconds", Help: "When it last worked to save " + what + "; 0 if nothing was to be saved yet.",
		}, func() float64 {
			s.mu.Lock()
			defer s.mu.Unlock()
			if s.last.IsZero() {
				return 0
			}
			return float64(s.last.UnixMilli()) / 1e3
		}))
}

// do saves, and notes how that went.
func (s *saves) do(save func() error) error {
	began := time.Now()
	err := save()
	ended := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.errors.Add(1)
	} else {
		s.last = ended
	}
	if s.took != nil {
		s.took.Observe(ended.Sub(began).Seconds())
	}
	return s.note(err)
}

// note takes the result of a save, or of what has to work before one, and passes it on.
func (s *saves) note(err error) error {
	s.failed.Store(err != nil)
	return err
}

// check returns that the last save failed, in words fit for the public.
func (s *saves) check(context.Context) error {
	if s.failed.Load() {
		return errors.New("the last change could not be saved; the log says why")
	}
	return nil
}
