package main

import (
	"log/slog"
	"net/http"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"fingerpost/handlers"
	"fingerpost/remoting"
)

// What the metrics show of the remoting port, the files and the certificates. The
// registry's numbers and those of HTTP are handlers'.

const faceRemoting = "remoting"

// maxScrapes is how many scrapes are answered at once: more than any set of scrapers asks
// for, and few enough that nobody can make the server count itself all day.
const maxScrapes = 4

// metrics returns a registry with everything that is not handlers'.
func (n *node) metrics() *prometheus.Registry {
	reg := prometheus.NewRegistry()
	reg.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		newPortMetrics(n.remoting), newCertificateMetrics(func() []*certificate { return n.certificates }))
	n.kvSaved.observe(reg, "kv", "the key-value table")
	n.settingsSaved.observe(reg, "config", "the settings")
	if n.warm != nil {
		n.warm.saved.observe(reg, "registry", "what is known for the next start")
	}
	return reg
}

// scrape answers Prometheus.
func (n *node) scrape(reg *prometheus.Registry) http.Handler {
	return promhttp.HandlerFor(reg, promhttp.HandlerOpts{
		MaxRequestsInFlight: maxScrapes, ErrorHandling: promhttp.ContinueOnError, ErrorLog: slog.NewLogLogger(n.log.With("face", "rest").Handler(), slog.LevelError),
	})
}

// portMetrics collects the numbers of the remoting port.
type portMetrics struct {
	server *remoting.Server

	requests, durations, registrations, bodies, heartbeats, panics *prometheus.Desc
	active, encrypted, accepted, rejected, closed                  *prometheus.Desc
	frames, bytes, notices, denied                                 *prometheus.Desc
	handshakes, overloaded                                         *prometheus.Desc
}

func newPortMetrics(s *remoting.Server) *portMetrics {
	face, source := prometheus.Labels{"face": faceRemoting}, prometheus.Labels{"source": faceRemoting}
	own := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc(handlers.MetricsPrefix+name, help, labels, nil)
	}
	return &portMetrics{
		server:        s,
		requests:      prometheus.NewDesc(handlers.FamilyRequests, handlers.HelpRequests, []string{"op", "result"}, face),
		durations:     prometheus.NewDesc(handlers.FamilyDurations, handlers.HelpDurations, []string{"class"}, face),
		registrations: prometheus.NewDesc(handlers.FamilyRegistrations, handlers.HelpRegistrations, []string{"result"}, source),
		heartbeats:    prometheus.NewDesc(handlers.FamilyHeartbeats, handlers.HelpHeartbeats, nil, source),
		panics:        prometheus.NewDesc(handlers.FamilyPanics, handlers.HelpPanics, nil, face),
		bodies:        own("registration_body_bytes", "Sizes of the bodies of registrations over remoting, as they came."),
		active:        own("active_connections", "Connections to the remoting port by kind.", "kind"),
		encrypted:     own("tls_connections", "Connections to the remoting port that use TLS."),
		accepted:      own("connections_accepted_total", "Connections to the remoting port that were accepted."),
		rejected:      own("connections_rejected_total", "Connections to the remoting port that were refused because there were too many."),
		closed:        own("connections_closed_total", "Connections to the remoting port that the server closed, by reason.", "reason"),
		frames:        own("frames_refused_total", "Frames over remoting that were refused, dropped or never ended, by reason.", "reason"),
		bytes:         own("bytes_total", "Bytes over the remoting port by direction; of connections with TLS what was inside.", "direction"),
		denied:        own("access_denied_total", "Requests over remoting that the rules of access refused, by class and reason.", "class", "reason"),
		handshakes:    own("tls_handshakes_failed_total", "TLS handshakes on the remoting port that failed."),
		overloaded:    own("overloaded", "Whether clients are told to come again (1) because too much is asked at once."),
		notices:       own("min_id_notices_total", "Notices of a changed smallest broker id by result.", "result"),
	}
}

// Describe sends what is collected.
func (m *portMetrics) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		m.requests, m.durations, m.registrations, m.bodies, m.heartbeats, m.panics, m.active, m.encrypted, m.accepted, m.rejected,
		m.closed, m.frames, m.bytes, m.notices, m.denied, m.handshakes, m.overloaded,
	} {
		to <- d
	}
}

// Collect reads the server's own numbers.
func (m *portMetrics) Collect(to chan<- prometheus.Metric) {
	counter := func(d *prometheus.Desc, n uint64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(n), labels...)
	}
	s := &m.server.Stats
	for _, a := range s.Answers() {
		counter(m.requests, a.Count, a.Op, a.Result)
	}
	for _, c := range remoting.Classes() {
		count, sum, buckets := s.Durations[c].Read()
		to <- prometheus.MustNewConstHistogram(m.durations, count, sum, buckets, c.String())
	}
	count, sum, buckets := s.Bodies.Read()
	to <- prometheus.MustNewConstHistogram(m.bodies, count, sum, buckets)
	counter(m.registrations, s.Registered.Load(), "registered")
	counter(m.registrations, s.Reaffirmed.Load(), "reaffirmed")
	counter(m.registrations, s.Refused.Load(), "refused")
	counter(m.registrations, s.Invalid.Load(), "invalid")
	counter(m.heartbeats, s.Heartbeats.Load())
	counter(m.panics, s.Panics.Load())

	traffic, kinds, encrypted := m.server.Survey()
	for k, n := range kinds {
		to <- prometheus.MustNewConstMetric(m.active, prometheus.GaugeValue, float64(n), k)
	}
	to <- prometheus.MustNewConstMetric(m.encrypted, prometheus.GaugeValue, float64(encrypted))
	counter(m.bytes, traffic.Received, "received")
	counter(m.bytes, traffic.Sent, "sent")
	counter(m.accepted, s.Accepted.Load())
	counter(m.rejected, s.Rejected.Load())
	for reason, n := range map[string]*atomic.Uint64{
		"idle": &s.Idle, "slow_reader": &s.SlowReaders, "stalled": &s.Stalled, "wrong_protocol": &s.WrongProtocol,
		"bad_frame": &s.BadFrames, "evicted": &s.Evicted,
	} {
		counter(m.closed, n.Load(), reason)
	}
	over := s.OverLimit.Load() // before the sum that contains it
	counter(m.frames, over, "over_limit")
	counter(m.frames, s.BadFrames.Load()-over, "unreadable")
	counter(m.frames, s.Unasked.Load(), "unasked")
	counter(m.frames, s.CutShort.Load(), "cut_short")
	for _, d := range s.Denied() {
		counter(m.denied, d.Count, d.Class.String(), d.Reason)
	}
	counter(m.handshakes, s.Handshakes.Load())
	busy := 0.0
	if m.server.Overloaded() {
		busy = 1
	}
	to <- prometheus.MustNewConstMetric(m.overloaded, prometheus.GaugeValue, busy)
	counter(m.notices, s.Notices.Load(), "sent")
	counter(m.notices, s.LostNotices.Load(), "lost")
}

// certificateMetrics collects when certificates end.
type certificateMetrics struct {
	certificates func() []*certificate
	desc         *prometheus.Desc
}

func newCertificateMetrics(certificates func() []*certificate) certificateMetrics {
	return certificateMetrics{certificates, prometheus.NewDesc(handlers.MetricsPrefix+"tls_certificate_not_after_timestamp_seconds",
		"When the certificate in use ends, by the face that shows it.", []string{"face"}, nil)}
}

// Describe names the one metric there is.
func (m certificateMetrics) Describe(to chan<- *prometheus.Desc) { to <- m.desc }

// Collect asks each certificate, which looks for a new one of its own.
func (m certificateMetrics) Collect(to chan<- prometheus.Metric) {
	for _, c := range m.certificates() {
		to <- prometheus.MustNewConstMetric(m.desc, prometheus.GaugeValue, float64(c.ends().Unix()), c.face)
	}
}
