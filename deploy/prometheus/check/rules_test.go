// Package check holds the alerts against Prometheus itself. It is a module of its own, so
// that what it takes is not the server's.
package check

import (
	"context"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
)

const rulesFile = "../rules.yml"

// alerts reads the rules as Prometheus does.
func alerts(t *testing.T) []rulefmt.Rule {
	t.Helper()
	groups, errs := rulefmt.ParseFile(rulesFile, false, model.UTF8Validation, parser.NewParser(parser.Options{}), slog.New(slog.DiscardHandler))
	for _, err := range errs {
		t.Error(err)
	}
	if t.Failed() {
		t.FailNow()
	}
	var out []rulefmt.Rule
	for _, g := range groups.Groups {
		out = append(out, g.Rules...)
	}
	return out
}

func TestRulesAreWellFormed(t *testing.T) {
	seen := make(map[string]bool)
	for _, r := range alerts(t) {
		switch {
		case r.Alert == "" || seen[r.Alert]:
			t.Errorf("the rule %q has no name of its own", r.Alert)
		case !strings.Contains("critical warning info", r.Labels["severity"]) || r.Labels["severity"] == "":
			t.Errorf("%s has the severity %q", r.Alert, r.Labels["severity"])
		case r.Annotations["summary"] == "" || r.Annotations["runbook_url"] == "" || r.Annotations["runbook_url_zh"] == "":
			t.Errorf("%s lacks an annotation", r.Alert)
		}
		seen[r.Alert] = true
	}
}

// fires reports for how many series an alert's expression holds at the end of what was
// scraped.
func fires(t *testing.T, engine *promql.Engine, st *history, expr string) int {
	t.Helper()
	q, err := engine.NewInstantQuery(context.Background(), st.storage, nil, expr, st.now)
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	res := q.Exec(context.Background())
	if res.Err != nil {
		t.Fatal(res.Err)
	}
	v, err := res.Vector()
	if err != nil {
		t.Fatal(err)
	}
	return len(v)
}

func newEngine(t *testing.T) *promql.Engine {
	t.Helper()
	e := promql.NewEngine(promql.EngineOpts{
		Logger: slog.New(slog.DiscardHandler), MaxSamples: 1_000_000, Timeout: time.Minute, Parser: parser.NewParser(parser.Options{}),
	})
	t.Cleanup(func() { _ = e.Close() })
	return e
}

// program is where the server is, built before the tests by whoever runs them.
func program(t *testing.T) string {
	t.Helper()
	p := os.Getenv("FINGERPOST")
	if p == "" {
		t.Fatal("FINGERPOST has to name the program: go build it first, as .ci/run metrics does")
	}
	return p
}
