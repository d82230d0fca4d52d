package handlers

import (
	"github.com/prometheus/client_golang/prometheus"

	"fingerpost/internal/peers"
)

// peerMetrics are read from the latest reports when they are scraped, so that they say
// what the API says. The label peer is an address of the settings: as many as there are
// peers.
type peerMetrics struct {
	watcher                  *peers.Watcher
	up, differences, checked *prometheus.Desc
}

func newPeerMetrics(w *peers.Watcher) *peerMetrics {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc(MetricsPrefix+name, help, labels, nil)
	}
	return &peerMetrics{
		watcher:     w,
		up:          desc("peer_up", "Whether a peer answered when it was last asked.", "peer"),
		differences: desc("peer_differences", "Differences between this server and a peer that have been seen twice, by kind.", "peer", "kind"),
		checked:     desc("peer_last_check_timestamp_seconds", "When a peer last answered all that it was asked, 0 if never.", "peer"),
	}
}

// Describe sends the descriptions.
func (m *peerMetrics) Describe(out chan<- *prometheus.Desc) {
	out <- m.up
	out <- m.differences
	out <- m.checked
}

// Collect sends the numbers. A peer that is this server, or was not asked yet, has none.
func (m *peerMetrics) Collect(out chan<- prometheus.Metric) {
	for _, s := range m.watcher.List() {
		up := 0.0
		switch s.State {
		case peers.Unknown, peers.Self:
			continue
		case peers.Reachable:
			up = 1
		case peers.Unreachable:
		}
		out <- prometheus.MustNewConstMetric(m.up, prometheus.GaugeValue, up, s.Addr)
		at := 0.0
		if !s.CheckedAt.IsZero() {
			at = float64(s.CheckedAt.UnixMilli()) / 1000
		}
		out <- prometheus.MustNewConstMetric(m.checked, prometheus.GaugeValue, at, s.Addr)
		for _, k := range peers.Kinds() {
			out <- prometheus.MustNewConstMetric(m.differences, prometheus.GaugeValue, float64(s.Counts[k]), s.Addr, string(k))
		}
	}
}
