package main

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"fingerpost/handlers"
)

// saves remembers how the saving of a file goes.
type saves struct {
	fitness
	errors atomic.Uint64

	timing sync.Mutex
	took   prometheus.Histogram
	worked time.Time // when a save last did
}

// observe gives the metrics of the file, whose names begin with prefix.
func (s *saves) observe(reg prometheus.Registerer, prefix, what string) {
	prefix = handlers.MetricsPrefix + prefix + "_persist_"
	s.timing.Lock()
	s.took = prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: prefix + "seconds", Help: "How long it took to save " + what + ", also in vain.",
		Buckets: []float64{.001, .005, .01, .05, .1, .5, 1, 5, 30},
	})
	s.timing.Unlock()
	reg.MustRegister(s.took,
		prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: prefix + "errors_total", Help: "How often it failed to save " + what + ".",
		}, func() float64 { return float64(s.errors.Load()) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: prefix + "failing", Help: "1 if it failed last time to save " + what + ".",
		}, func() float64 {
			if s.failing() {
				return 1
			}
			return 0
		}),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: prefix + "last_success_timestamp_seconds", Help: "When it last worked to save " + what + "; 0 if nothing was to be saved yet.",
		}, func() float64 {
			s.timing.Lock()
			defer s.timing.Unlock()
			if s.worked.IsZero() {
				return 0
			}
			return float64(s.worked.UnixMilli()) / 1e3
		}))
}

// do saves, and notes how that went.
func (s *saves) do(save func() error) error {
	began := time.Now()
	err := save()
	ended := time.Now()
	s.timing.Lock()
	defer s.timing.Unlock()
	if err != nil {
		s.errors.Add(1)
	} else {
		s.worked = ended
	}
	if s.took != nil {
		s.took.Observe(ended.Sub(began).Seconds())
	}
	return s.note(err)
}
