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
			Name: "rocketmq_namesrv_watchers",
			Help: "Open watches by transport.", ConstLabels: prometheus.Labels{"transport": "websocket"},
		}, open),
		feedResets{feed, prometheus.NewDesc("rocketmq_namesrv_watch_resets_total",
			"Watches that had to begin anew, by the reason.", []string{"reason"}, prometheus.Labels{"face": "dashboard"})},
	)
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
