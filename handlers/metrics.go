package handlers

import (
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"fingerpost/api"
)

// MetricsPrefix begins the names of all metrics of the server.
const MetricsPrefix = "rocketmq_namesrv_"

// Families are metrics that more than one face has, each under its own value of the
// label face or source. The help is one, because it belongs to the name.
const (
	FamilyRequests      = MetricsPrefix + "requests_total"
	HelpRequests        = "Requests by face, operation and result."
	FamilyDurations     = MetricsPrefix + "request_duration_seconds"
	HelpDurations       = "How long requests took by face and class; waits and watches are left out, lookups over remoting are samples."
	FamilyPanics        = MetricsPrefix + "panics_total"
	HelpPanics          = "Requests that ended in a panic by face."
	FamilyRegistrations = MetricsPrefix + "registrations_total"
	HelpRegistrations   = "Registrations by source and result."
	FamilyHeartbeats    = MetricsPrefix + "heartbeats_total"
	HelpHeartbeats      = "Heartbeats of registered members by source."
	FamilyWatchers      = MetricsPrefix + "watchers"
	HelpWatchers        = "Open watches by transport."
	FamilyWatchResets   = MetricsPrefix + "watch_resets_total"
	HelpWatchResets     = "Watches that had to begin anew, by the reason."
	FamilyWatchLag      = MetricsPrefix + "watch_lag_seconds"
	HelpWatchLag        = "From a change to its being handed to watchers, by transport; batches count by their oldest change."
)

const (
	faceREST          = "rest"
	registeredOK      = "registered"
	registeredNot     = "refused"
	registeredInvalid = "invalid"
	transportStream   = "stream"
	transportLongPoll = "longpoll"
	labelFace         = "face"
	labelSource       = "source"
)

// LagBuckets are the upper bounds in seconds of the histograms of [FamilyWatchLag].
func LagBuckets() []float64 { return []float64{.001, .005, .01, .025, .05, .1, .2, .5, 1, 5, 30} }

// metrics are the numbers of this face. No label holds a topic, an address or a
// principal: operations are known by the pattern of their path.
type metrics struct {
	requests      *prometheus.CounterVec
	durations     *prometheus.HistogramVec
	registrations *prometheus.CounterVec
	heartbeats    prometheus.Counter
	authFailures  *prometheus.CounterVec
	limited       *prometheus.CounterVec
	resets        *prometheus.CounterVec
	lag           prometheus.Histogram
	panics        prometheus.Counter

	none opMetrics // of what is routed nowhere
}

// opMetrics are the series of one operation, looked up once: by class of status. All but
// the good ones come into being with the first request that ends so, or a scrape would
// have hundreds of lines of nothing.
type opMetrics struct {
	op      string
	results [6]atomic.Pointer[prometheus.Counter]
	took    prometheus.Observer
}

var resultWords = [6]string{"unknown", "informational", "ok", "not_modified", "refused", "failed"}

const resultOK = 2

func newMetrics(h *Handler) *metrics {
	face := prometheus.Labels{labelFace: faceREST}
	rest := prometheus.Labels{labelSource: faceREST}
	m := &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{Name: FamilyRequests, Help: HelpRequests, ConstLabels: face}, []string{"op", "result"}),
		durations: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: FamilyDurations, Help: HelpDurations, ConstLabels: face,
			Buckets: []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, 1, 5},
		}, []string{"class"}),
		registrations: prometheus.NewCounterVec(prometheus.CounterOpts{Name: FamilyRegistrations, Help: HelpRegistrations, ConstLabels: rest}, []string{"result"}),
		heartbeats:    prometheus.NewCounter(prometheus.CounterOpts{Name: FamilyHeartbeats, Help: HelpHeartbeats, ConstLabels: rest}),
		authFailures: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: MetricsPrefix + "auth_failures_total",
			Help: "Credentials that were refused, by the scheme in which they came.",
		}, []string{"reason"}),
		limited: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: MetricsPrefix + "limited_total",
			Help: "Requests over HTTP that were refused because of a limit, by the code of the problem.",
		}, []string{"reason"}),
		resets: prometheus.NewCounterVec(prometheus.CounterOpts{Name: FamilyWatchResets, Help: HelpWatchResets, ConstLabels: face}, []string{"reason"}),
		lag: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: FamilyWatchLag, Help: HelpWatchLag, Buckets: LagBuckets(), ConstLabels: prometheus.Labels{"transport": transportStream},
		}),
		panics: prometheus.NewCounter(prometheus.CounterOpts{Name: FamilyPanics, Help: HelpPanics, ConstLabels: face}),
	}
	for _, w := range []string{registeredOK, registeredNot, registeredInvalid} {
		m.registrations.WithLabelValues(w)
	}
	for _, w := range []string{"bearer", "basic", "session", "other"} {
		m.authFailures.WithLabelValues(w)
	}
	for w := range limitCodes {
		m.limited.WithLabelValues(w)
	}
	for _, w := range []string{api.ResetCompacted, api.ResetLagged, api.ResetRestarted} {
		m.resets.WithLabelValues(w)
	}
	gauge := func(transport string, read func() int) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: FamilyWatchers, Help: HelpWatchers, ConstLabels: prometheus.Labels{"transport": transport}},
			func() float64 { return float64(read()) })
	}
	if reg := h.deps.Registerer; reg != nil {
		reg.MustRegister(m.requests, m.durations, m.registrations, m.heartbeats, m.authFailures, m.limited, m.resets, m.lag, m.panics,
			gauge(transportStream, func() int { n, _ := h.watched.counts(); return n }),
			gauge(transportLongPoll, func() int { _, n := h.watched.counts(); return n }),
			prometheus.NewGaugeFunc(prometheus.GaugeOpts{
				Name: MetricsPrefix + "http_in_flight", Help: "Requests over HTTP that are being answered; waits and watches are left out.",
			}, func() float64 { return float64(h.flying.Load()) }),
			newCensus(h))
	}
	m.init(&m.none, "none", "other")
	return m
}

// limitCodes are the problems of requests that a limit refused.
var limitCodes = map[string]bool{
	"overloaded": true, "rate-limited": true, "too-many-watchers": true, "body-too-large": true, "request-timeout": true,
}

func (m *metrics) init(o *opMetrics, op, class string) {
	o.op, o.took = op, m.durations.WithLabelValues(class)
	o.results[resultOK].Store(new(m.requests.WithLabelValues(op, resultWords[resultOK])))
}

// attach gives an operation its series.
func (m *metrics) attach(o *operation) { m.init(&o.metrics, o.Method+" "+o.Pattern, o.class()) }

// class groups operations that take about as long.
func (o *operation) class() string {
	switch {
	case o.action == actionRegister:
		return "register"
	case o.pace == beating:
		return "heartbeat"
	case o.pace == writing:
		return "write"
	case o.pace == heavy:
		return "heavy"
	case !o.api:
		return "other" // pages, probes, the scrape
	case slices.Contains(o.Params, "limit"):
		return "list"
	}
	return "read"
}

const actionRegister = "registerMember"

func (m *metrics) observe(c *call, took time.Duration) {
	of := &m.none
	if c.op != nil {
		of = &c.op.metrics
	}
	class := c.status / 100
	if class < 0 || class >= len(of.results) {
		class = 0
	}
	n := of.results[class].Load()
	if n == nil {
		n = new(m.requests.WithLabelValues(of.op, resultWords[class]))
		of.results[class].Store(n)
	}
	(*n).Inc()
	if limitCodes[c.result] {
		m.limited.WithLabelValues(c.result).Inc()
	}
	if c.counted || c.op == nil {
		of.took.Observe(took.Seconds())
	}
	if c.op != nil && c.op.action == actionRegister && !c.dry {
		m.registrations.WithLabelValues(registrationResult(c.status)).Inc()
	}
}

func registrationResult(status int) string {
	switch {
	case status < http.StatusMultipleChoices:
		return registeredOK
	case status == http.StatusConflict:
		return registeredNot
	}
	return registeredInvalid
}
