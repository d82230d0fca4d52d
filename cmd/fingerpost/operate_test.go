package main

import (
	"encoding/json"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fingerpost/handlers"
	"fingerpost/internal/nstest"
)

// scrapeOfEverything returns the names of all families that a server has which uses all
// that there is to be measured.
func scrapeOfEverything(t *testing.T) map[string]bool {
	t.Helper()
	dir := t.TempDir()
	newPair(t, dir+"/cert", dir+"/key", "ns")
	p := start(t, dir, "--peers", start(t, t.TempDir()).remoting(t), "--warm-restart-enabled", "--tls-server-cert-path", dir+"/cert", "--tls-server-key-path", dir+"/key")
	b := nstest.StartBroker(t, p.remoting(t), nstest.BrokerConfig{Cluster: "c", Name: "a", Addr: "127.0.0.1:1"})
	if _, err := b.Register(); err != nil {
		t.Fatal(err)
	}
	text := scrapeOf(t, p)
	for patience := time.Now().Add(time.Minute); !strings.Contains(text, "peer_up{"); text = scrapeOf(t, p) {
		if time.Now().After(patience) {
			t.Fatal("the peer is not asked")
		}
	}
	out := make(map[string]bool)
	for line := range strings.Lines(text) {
		if f := strings.Fields(line); len(f) == 4 && f[1] == "TYPE" {
			out[f[2]] = true
		}
	}
	return out
}

var (
	documented = regexp.MustCompile("(?m)^\\| `([a-z_0-9]+)` \\|")
	// A name in an expression that is not a label, a function or a word of the language.
	metricName = regexp.MustCompile(`\b(rocketmq_namesrv_[a-z0-9_]+|go_[a-z0-9_]+|process_[a-z0-9_]+)`)
	alertName  = regexp.MustCompile(`(?m)^ +- alert: (\w+)$`)
	part       = regexp.MustCompile(`_(bucket|sum|count)$`)
)

// TestOperatorsFilesNameWhatThereIs holds the manual, the alerts and the dashboard against
// a scrape, and the alerts against their pages.
func TestOperatorsFilesNameWhatThereIs(t *testing.T) {
	read := func(name string) string {
		t.Helper()
		text, err := os.ReadFile("../../" + name)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	there := scrapeOfEverything(t)
	ours := []string{}
	for name := range there {
		if short, ok := strings.CutPrefix(name, handlers.MetricsPrefix); ok {
			ours = append(ours, short)
		}
	}
	slices.Sort(ours)
	for _, page := range []string{"docs/metrics.md", "docs/zh-CN/metrics.md"} {
		listed := []string{}
		for _, m := range documented.FindAllStringSubmatch(read(page), -1) {
			listed = append(listed, m[1])
		}
		if diff := cmp.Diff(ours, listed); diff != "" {
			t.Errorf("the list in %s, which is in order (-scrape +page):\n%s", page, diff)
		}
	}
	check := func(where, text string) {
		t.Helper()
		for _, m := range metricName.FindAllString(text, -1) {
			if !there[m] && !there[part.ReplaceAllString(m, "")] {
				t.Errorf("%s names %s, which no server has", where, m)
			}
		}
	}
	rules := read("deploy/prometheus/rules.yml")
	check("rules.yml", rules)
	alerts := alertName.FindAllStringSubmatch(rules, -1)
	if len(alerts) == 0 {
		t.Error("rules.yml has no alert")
	}
	for _, page := range []string{"docs/alerts.md", "docs/zh-CN/alerts.md"} {
		text, entries := read(page), strings.Count(read(page), "\n## ")
		for _, a := range alerts {
			if !strings.Contains(text, "\n## "+a[1]+"\n") || !strings.Contains(rules, page+"#"+strings.ToLower(a[1])) {
				t.Errorf("%s has no entry for %s, or the rule does not link to it", page, a[1])
			}
		}
		if entries != len(alerts) {
			t.Errorf("%s has %d entries for %d alerts", page, entries, len(alerts))
		}
	}
	checkDashboard(t, []byte(read("deploy/grafana/fingerpost.json")), check)
}

// checkDashboard holds a dashboard of Grafana to what it needs to be shown: panels with
// titles and places that do not overlap, queries of metrics that there are.
func checkDashboard(t *testing.T, text []byte, check func(where, text string)) {
	t.Helper()
	var d struct {
		Panels []struct {
			ID          int
			Type, Title string
			GridPos     struct{ X, Y, W, H int }
			Targets     []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	taken, ids := make(map[[2]int]string), make(map[int]bool)
	for _, p := range d.Panels {
		if p.Title == "" || ids[p.ID] || p.GridPos.X+p.GridPos.W > 24 {
			t.Errorf("the panel %d %q has no title, the id of another, or no room", p.ID, p.Title)
		}
		ids[p.ID] = true
		for x := range p.GridPos.W {
			for y := range p.GridPos.H {
				at := [2]int{p.GridPos.X + x, p.GridPos.Y + y}
				if other := taken[at]; other != "" {
					t.Fatalf("%q lies over %q", p.Title, other)
				}
				taken[at] = p.Title
			}
		}
		if (len(p.Targets) == 0) != (p.Type == "row") {
			t.Errorf("%q is a %s with %d queries", p.Title, p.Type, len(p.Targets))
		}
		for _, q := range p.Targets {
			check("the panel "+p.Title, q.Expr)
			if !strings.Contains(q.Expr, `instance=~"$instance"`) {
				t.Errorf("%q does not ask for the chosen nodes: %s", p.Title, q.Expr)
			}
		}
	}
	if rows := slices.Sorted(maps.Values(taken)); !slices.Contains(rows, "Overview") {
		t.Error("there is no overview")
	}
}
