package check

import (
	"context"
	"maps"
	"net/http"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/tsdb"
)

// step is how often Prometheus scrapes in these tests, quiet for how long nothing was
// wrong before a fault.
const (
	step  = 15 * time.Second
	quiet = 70 * time.Minute
)

// sample is one series of a scrape.
type sample struct {
	labels labels.Labels
	value  float64
	grows  bool // a counter, or a part of a histogram
}

// scrape is what a server told, by the text of the labels. What cannot be asked is down.
type scrape map[string]sample

func (s scrape) add(value float64, grows bool, pairs ...string) {
	ls := labels.FromStrings(append(pairs, "job", "fingerpost", "instance", "node")...)
	s[ls.String()] = sample{ls, value, grows}
}

// scrapeOf asks a server as Prometheus does.
func scrapeOf(t *testing.T, url string) scrape {
	t.Helper()
	out := make(scrape)
	resp, err := http.Get(url + "/metrics")
	if err != nil {
		out.add(0, false, labels.MetricName, "up")
		return out
	}
	defer resp.Body.Close()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	out.add(1, false, labels.MetricName, "up")
	for name, f := range families {
		for _, m := range f.GetMetric() {
			out.addMetric(name, m)
		}
	}
	return out
}

func (s scrape) addMetric(name string, m *dto.Metric) {
	with := func(name string, more ...string) []string {
		pairs := append([]string{labels.MetricName, name}, more...)
		for _, l := range m.GetLabel() {
			pairs = append(pairs, l.GetName(), l.GetValue())
		}
		return pairs
	}
	switch {
	case m.Gauge != nil:
		s.add(m.Gauge.GetValue(), false, with(name)...)
	case m.Counter != nil:
		s.add(m.Counter.GetValue(), true, with(name)...)
	case m.Untyped != nil:
		s.add(m.Untyped.GetValue(), false, with(name)...)
	case m.Histogram != nil:
		for _, b := range m.Histogram.GetBucket() {
			s.add(float64(b.GetCumulativeCount()), true, with(name+"_bucket", "le", model.SampleValue(b.GetUpperBound()).String())...)
		}
		s.add(float64(m.Histogram.GetSampleCount()), true, with(name+"_bucket", "le", "+Inf")...)
		s.add(float64(m.Histogram.GetSampleCount()), true, with(name+"_count")...)
	}
}

// history is what Prometheus has stored by now.
type history struct {
	storage *tsdb.DB
	now     time.Time
}

// newHistory returns one that ends about now when so much has been added.
func newHistory(t *testing.T, length time.Duration) *history {
	t.Helper()
	opts := tsdb.DefaultOptions()
	opts.MinBlockDuration = (24 * time.Hour).Milliseconds()
	opts.MaxBlockDuration = opts.MinBlockDuration
	db, err := tsdb.Open(t.TempDir(), nil, nil, opts, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return &history{db, time.Now().Add(-length)}
}

// next stores one scrape.
func (h *history) next(t *testing.T, s scrape) {
	t.Helper()
	h.now = h.now.Add(step)
	app := h.storage.Appender(context.Background())
	for x := range maps.Values(s) {
		if _, err := app.Append(0, x.labels, h.now.UnixMilli(), x.value); err != nil {
			t.Fatal(err)
		}
	}
	if err := app.Commit(); err != nil {
		t.Fatal(err)
	}
}

// on returns what the server tells when what happened between two scrapes has happened n
// times.
func on(before, after scrape, n int) scrape {
	out := make(scrape, len(after))
	for k, x := range after {
		if x.grows {
			x.value = before[k].value + float64(n)*(x.value-before[k].value)
		}
		out[k] = x
	}
	return out
}
