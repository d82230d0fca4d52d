package main

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"fingerpost/handlers"
	"fingerpost/internal/nstest"
	"fingerpost/remoting/wire"
)

// scrapeOf returns what a running server answers to Prometheus.
func scrapeOf(t *testing.T, p *program) string {
	t.Helper()
	url := p.stderr.line(t, "serving")["http"].(string)
	_, body := get(t, "http://"+url+"/metrics", "")
	return body
}

// The metrics of a server are well formed.
func TestMetricsAreWellFormed(t *testing.T) {
	p := start(t, t.TempDir())
	c, err := nstest.Dial(p.remoting(t), wire.JSONHeader)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Call(wire.GetBrokerClusterInfo, nil, nil); err != nil {
		t.Fatal(err)
	}
	text := scrapeOf(t, p)
	problems, err := promlint.New(strings.NewReader(text)).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range problems {
		t.Errorf("%s: %s", x.Metric, x.Text)
	}
	for _, line := range []string{
		`rocketmq_namesrv_requests_total{face="remoting",op="GET_BROKER_CLUSTER_INFO",result="ok"} 1`,
		`rocketmq_namesrv_active_connections{kind="admin"} 1`,
		`rocketmq_namesrv_request_duration_seconds_count{class="list",face="remoting"} 1`,
		`rocketmq_namesrv_watchers{transport="websocket"} 0`,
		`rocketmq_namesrv_kv_persist_failing 0`,
		`rocketmq_namesrv_ready 1`,
		`go_goroutines `, `process_cpu_seconds_total `,
	} {
		if !strings.Contains(text, "\n"+line) {
			t.Errorf("the scrape lacks %s", line)
		}
	}
	if n := len(text); n > 200_000 {
		t.Errorf("a scrape of an empty server has %d bytes", n)
	}
}

// What peers send without asking anything is in the scrape: answers, and requests that
// they never ended.
func TestWhatIsNoRequestIsShown(t *testing.T) {
	p := start(t, t.TempDir())
	c, err := nstest.Dial(p.remoting(t), wire.JSONHeader)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.Send(wire.Response(wire.Success, 7)); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Call(wire.GetBrokerClusterInfo, nil, nil); err != nil {
		t.Fatal(err)
	}
	if err := c.Write([]byte{0, 0, 0, 100, 0, 0}); err != nil {
		t.Fatal(err)
	}
	c.Close()
	want := []string{`{reason="unasked"} 1`, `{reason="cut_short"} 1`}
	for end := time.Now().Add(time.Minute); len(want) > 0; time.Sleep(10 * time.Millisecond) {
		text := scrapeOf(t, p)
		want = slices.DeleteFunc(want, func(w string) bool { return strings.Contains(text, "\nrocketmq_namesrv_frames_refused_total"+w+"\n") })
		if time.Now().After(end) {
			t.Fatalf("the scrape lacks %q", want)
		}
	}
}

func TestSavesAreObserved(t *testing.T) {
	var s saves
	reg := prometheus.NewRegistry()
	s.observe(reg, "kv", "the table")
	if err := s.do(func() error { return nil }); err != nil {
		t.Error(err)
	}
	full := errors.New("disk full")
	if err := s.do(func() error { return full }); !errors.Is(err, full) {
		t.Errorf("got %v", err)
	}
	const p = handlers.MetricsPrefix + "kv_persist_"
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	if len(families) != 4 {
		t.Errorf("there are %d families, want 4", len(families))
	}
	for _, f := range families {
		m := f.GetMetric()[0]
		switch f.GetName() {
		case p + "errors_total":
			if n := m.GetCounter().GetValue(); n != 1 {
				t.Errorf("%v saves failed, want 1", n)
			}
		case p + "failing":
			if m.GetGauge().GetValue() != 1 {
				t.Error("it does not say that the last save failed")
			}
		case p + "seconds":
			if n := m.GetHistogram().GetSampleCount(); n != 2 {
				t.Errorf("%d saves were timed, want 2", n)
			}
		case p + "last_success_timestamp_seconds":
			if m.GetGauge().GetValue() <= 0 {
				t.Error("no save has worked")
			}
		}
	}
}
