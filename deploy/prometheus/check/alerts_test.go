package check

import (
	"strings"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
)

// made are samples instead of faults, for what would take a slow machine, a bug or a
// passing of days: by series what one step adds to a counter, or what a gauge is.
var made = map[string]map[string]float64{
	"FingerpostPanics":          {`panics_total{face="rest"}`: 1},
	"FingerpostBrokersExpired":  {`expiry_events_total{source="remoting"}`: 1},
	"FingerpostBrokersLate":     {`late_brokers`: 2},
	"FingerpostSlowPeers":       {`connections_closed_total{reason="slow_reader"}`: 1},
	"FingerpostBusy":            {`requests_total{face="remoting",op="GET_ROUTEINFO_BY_TOPIC",result="busy"}`: 3},
	"FingerpostSlowRequests":    {`request_duration_seconds_bucket{class="route",face="remoting",le="1"}`: 9, `request_duration_seconds_bucket{class="route",face="remoting",le="+Inf"}`: 9},
	"FingerpostAccessDenied":    {`access_denied_total{class="admin",reason="address"}`: 1},
	"FingerpostCertificateEnds": {`tls_certificate_not_after_timestamp_seconds{face="remoting"}`: float64(time.Now().Add(3 * 24 * time.Hour).Unix())},
	"FingerpostWatchersLag":     {`watch_lag_seconds_bucket{transport="stream",le="5"}`: 9, `watch_lag_seconds_bucket{transport="stream",le="+Inf"}`: 9},
	"FingerpostWatchResets":     {`watch_resets_total{face="rest",reason="lagged"}`: 3},
	"FingerpostTooManyFiles":    {`process_open_fds`: 95, `process_max_fds`: 100},
	"FingerpostMassExpiry":      {`mass_expiries_total`: 1},
	"FingerpostPeersDiffer":     {`peer_differences{kind="broker",peer="10.0.0.2:9876"}`: 1},
}

// adding returns the scrape after n steps of what is made.
func adding(s scrape, what map[string]float64, n int) scrape {
	out := make(scrape, len(s))
	for k, x := range s {
		out[k] = x
	}
	for series, v := range what {
		name, rest, _ := strings.Cut(strings.TrimSuffix(series, "}"), "{")
		grows := strings.HasSuffix(name, "_total") || strings.HasSuffix(name, "_bucket")
		if !strings.HasPrefix(name, "process_") {
			name = "rocketmq_namesrv_" + name
		}
		pairs := []string{labels.MetricName, name}
		for _, l := range strings.Split(rest, ",") {
			if k, v, ok := strings.Cut(l, "="); ok {
				pairs = append(pairs, k, strings.Trim(v, `"`))
			}
		}
		one := make(scrape)
		one.add(v, grows, pairs...)
		for k, x := range one {
			if grows {
				x.value = out[k].value + float64(n)*v
			}
			out[k] = x
		}
	}
	return out
}

// TestEveryAlertFires makes the fault of each alert on a running server, or where that
// cannot be done its samples, and asks Prometheus: nothing before, the alert for as long
// as it has to stand after.
func TestEveryAlertFires(t *testing.T) {
	engine := newEngine(t)
	known := make(map[string]bool)
	for _, r := range alerts(t) {
		known[r.Alert] = true
		t.Run(r.Alert, func(t *testing.T) {
			f, real := faults[r.Alert]
			if _, samples := made[r.Alert]; real == samples {
				t.Fatalf("%s has to have a fault or samples, one of both", r.Alert)
			}
			s := start(t, f.args...)
			if f.before != nil {
				f.before(s)
			}
			before := scrapeOf(t, s.url)
			length := time.Duration(r.For) + 20*time.Minute
			h := newHistory(t, quiet+length)
			// Some faults are there from the beginning; what counts is what follows.
			from := r.Alert == "FingerpostNotReady" || r.Alert == "FingerpostPeerDown"
			for range int(quiet / step) {
				if !from {
					h.next(t, before)
				} else {
					h.now = h.now.Add(step)
				}
			}
			if n := fires(t, engine, h, r.Expr); n != 0 {
				t.Fatalf("it fires for %d series although nothing is wrong", n)
			}
			goOn := func(n int) scrape { return adding(before, made[r.Alert], n) }
			switch {
			case r.Alert == "FingerpostRestarting":
				goOn = func(n int) scrape {
					if n <= 4 {
						s.again()
						before = scrapeOf(t, s.url)
					}
					return before
				}
			case real:
				f.fault(s)
				after := scrapeOf(t, s.url)
				goOn = func(n int) scrape { return on(before, after, n) }
			}
			stands(t, r, h, int(length/step), goOn, func() bool { return fires(t, engine, h, r.Expr) > 0 })
		})
	}
	for name := range faults {
		if !known[name] {
			t.Errorf("there is a fault for %s, which is no alert", name)
		}
	}
	for name := range made {
		if !known[name] {
			t.Errorf("there are samples for %s, which is no alert", name)
		}
	}
}

// stands goes on with a fault until the alert has held for as long as it has to.
func stands(t *testing.T, r rulefmt.Rule, h *history, steps int, goOn func(n int) scrape, fires func() bool) {
	t.Helper()
	need := max(1, int(time.Duration(r.For)/step))
	held := 0
	for n := 1; n <= steps; n++ {
		h.next(t, goOn(n))
		if held = held + 1; !fires() {
			held = 0
		}
		if held >= need {
			return
		}
	}
	t.Errorf("it does not stand for %s", r.For)
}
