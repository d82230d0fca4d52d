package main

import (
	"github.com/prometheus/client_golang/prometheus"

	"fingerpost/api"
	"fingerpost/handlers"
	"fingerpost/web"
)

// observeFeed shows the dashboard's feed in the statistics and in the metrics, there
// under the names that the REST face gives its own watches.
func observeFeed(d *handlers.Deps, feed *web.Feed) {
	open := func() float64 { return float64(feed.Stats().Sockets) }
	d.Counters = append(d.Counters, handlers.Counter{Name: "dashboards", Gauge: true, Read: open})
	d.Registerer.MustRegister(
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: handlers.FamilyWatchers, Help: handlers.HelpWatchers, ConstLabels: prometheus.Labels{"transport": websocket},
		}, open),
		feedResets{feed, prometheus.NewDesc(handlers.FamilyWatchResets, handlers.HelpWatchResets, []string{"reason"}, prometheus.Labels{"face": "dashboard"})},
		prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: handlers.MetricsPrefix + "feed_frames_total", Help: "Frames sent to dashboards.",
		}, func() float64 { return float64(feed.Stats().Frames) }),
		prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: handlers.MetricsPrefix + "feed_bytes_total", Help: "Bytes sent to dashboards, before compression.",
		}, func() float64 { return float64(feed.Stats().Bytes) }),
	)
}

// websocket is the transport of the feed in the label of that name.
const websocket = "websocket"

// feedLag returns the histogram of how long changes take to the dashboards' queues.
func feedLag() prometheus.Histogram {
	return prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: handlers.FamilyWatchLag, Help: handlers.HelpWatchLag, Buckets: handlers.LagBuckets(), ConstLabels: prometheus.Labels{"transport": websocket},
	})
}

// feedResets collects the resets of a feed by reason.
type feedResets struct {
	feed *web.Feed
	desc *prometheus.Desc
}

// Describe names the one metric there is.
func (c feedResets) Describe(to chan<- *prometheus.Desc) { to <- c.desc }

// Collect reads the feed's own numbers.
func (c feedResets) Collect(to chan<- prometheus.Metric) {
	resets := c.feed.Stats().Resets
	for _, reason := range []string{api.ResetCompacted, api.ResetLagged, api.ResetRestarted} {
		to <- prometheus.MustNewConstMetric(c.desc, prometheus.CounterValue, float64(resets[reason]), reason)
	}
}
