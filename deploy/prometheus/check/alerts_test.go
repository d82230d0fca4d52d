package check

import (
	"maps"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
)

// made are samples instead of a fault: the labels of a counter that grows by one a step.
// What makes a server panic is a mistake that nobody knows of yet, or it would be mended;
// that a panic is counted is shown by the tests of the faces, which put in what panics.
var made = map[string][]string{
	"FingerpostPanics": {labels.MetricName, "rocketmq_namesrv_panics_total", "face", "rest"},
}

// adding returns the scrape after n steps of what is made. The server has to have the
// series.
func adding(t *testing.T, s scrape, pairs []string, n int) scrape {
	t.Helper()
	out := maps.Clone(s)
	out.add(float64(n), true, pairs...)
	if len(out) != len(s) {
		t.Fatalf("the server does not show %q", pairs)
	}
	return out
}

// TestEveryAlertFires makes the fault of each alert on a running server, or of the one for
// which that cannot be done its samples, and asks Prometheus: nothing before, the alert
// for as long as it has to stand after.
func TestEveryAlertFires(t *testing.T) {
	engine := newEngine(t)
	known := make(map[string]bool)
	for _, r := range alerts(t) {
		known[r.Alert] = true
		t.Run(r.Alert, func(t *testing.T) {
			t.Parallel() // most of the time is waiting
			f, real := faults[r.Alert]
			if _, samples := made[r.Alert]; real == samples {
				t.Fatalf("%s has to have a fault or samples, one of both", r.Alert)
			}
			s := start(t, f)
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
			goOn := func(n int) scrape { return adding(t, before, made[r.Alert], n) }
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
