package handlers

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics are the numbers of this face. No label holds a topic, an address or a
// principal: operations are known by the pattern of their path.
type metrics struct {
	requests     *prometheus.CounterVec
	durations    *prometheus.HistogramVec
	authFailures *prometheus.CounterVec
	resets       *prometheus.CounterVec
	panics       prometheus.Counter

	none opMetrics // of what is routed nowhere
}

// opMetrics are the series of one operation, looked up once: by class of status.
type opMetrics struct {
	results [6]prometheus.Counter
	took    prometheus.Observer
}

// Names of metrics that other faces share, each under its own value of the label face.
const (
	metricsPrefix = "rocketmq_namesrv_"
	faceREST      = "rest"
)

var resultWords = [6]string{"unknown", "informational", "ok", "not_modified", "refused", "failed"}

func newMetrics(reg prometheus.Registerer, watched *watchers) *metrics {
	face := prometheus.Labels{"face": faceREST}
	m := &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: metricsPrefix + "requests_total",
			Help: "Requests by face, operation and result.", ConstLabels: face,
		}, []string{"op", "result"}),
		durations: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: metricsPrefix + "request_duration_seconds",
			Help: "How long requests took by face and operation; waits and watches are left out.", ConstLabels: face,
			Buckets: []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, 1, 5},
		}, []string{"op"}),
		authFailures: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: metricsPrefix + "auth_failures_total",
			Help: "Credentials that were refused, by the scheme in which they came.",
		}, []string{"reason"}),
		resets: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: metricsPrefix + "watch_resets_total",
			Help: "Watches that had to begin anew, by the reason.", ConstLabels: face,
		}, []string{"reason"}),
		panics: prometheus.NewCounter(prometheus.CounterOpts{
			Name: metricsPrefix + "panics_total",
			Help: "Requests that ended in a panic by face.", ConstLabels: face,
		}),
	}
	gauge := func(transport string, read func() int) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: metricsPrefix + "watchers",
			Help: "Open watches by transport.", ConstLabels: prometheus.Labels{"transport": transport},
		},
			func() float64 { return float64(read()) })
	}
	if reg != nil {
		reg.MustRegister(m.requests, m.durations, m.authFailures, m.resets, m.panics,
			gauge("stream", func() int { n, _ := watched.counts(); return n }),
			gauge("longpoll", func() int { _, n := watched.counts(); return n }))
	}
	m.none = m.of("none")
	return m
}

func (m *metrics) of(op string) opMetrics {
	out := opMetrics{took: m.durations.WithLabelValues(op)}
	for i, w := range resultWords {
		out.results[i] = m.requests.WithLabelValues(op, w)
	}
	return out
}

// attach gives an operation its series.
func (m *metrics) attach(o *operation) { o.metrics = m.of(o.Method + " " + o.Pattern) }

func (m *metrics) observe(c *call, took time.Duration) {
	of := &m.none
	if c.op != nil {
		of = &c.op.metrics
	}
	class := c.status / 100
	if class < 0 || class >= len(of.results) {
		class = 0
	}
	of.results[class].Inc()
	if c.counted || c.op == nil {
		of.took.Observe(took.Seconds())
	}
}
