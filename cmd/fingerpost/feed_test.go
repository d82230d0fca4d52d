package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"fingerpost/handlers"
	"fingerpost/registry"
	"fingerpost/web"
)

func TestFeedIsObserved(t *testing.T) {
	feed, err := web.NewFeed(web.FeedOptions{
		Registry:     registry.New(registry.Options{}),
		Authenticate: func(*http.Request) (string, bool) { return "viewer", true },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer feed.Close()
	metrics := prometheus.NewRegistry()
	d := handlers.Deps{Registerer: metrics}
	observeFeed(&d, feed)
	if len(d.Counters) != 1 || d.Counters[0].Name != "dashboards" || d.Counters[0].Read() != 0 {
		t.Errorf("the counters are %+v", d.Counters)
	}
	w := httptest.NewRecorder()
	promhttp.HandlerFor(metrics, promhttp.HandlerOpts{}).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
	text := w.Body.String()
	for _, line := range []string{
		`rocketmq_namesrv_watchers{transport="websocket"} 0`,
		`rocketmq_namesrv_watch_resets_total{face="dashboard",reason="lagged"} 0`,
	} {
		if !strings.Contains(text, line) {
			t.Errorf("the metrics lack %s", line)
		}
	}
}
