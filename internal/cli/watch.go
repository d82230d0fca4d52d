package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"fingerpost/api"
	"fingerpost/internal/texttable"
)

// Filter narrows changes.
type Filter struct {
	Kind    []string `help:"Only changes of these kinds: member, topic, cluster, writePerm, kv, config, server."`
	Topic   []string `help:"Only changes of these topics; * and ? may stand in names."`
	Broker  []string `help:"Only changes of these brokers; * and ? may stand in names."`
	Cluster []string `help:"Only changes of these clusters; * and ? may stand in names."`
}

func (f *Filter) changes() (api.ChangeFilter, error) {
	for _, k := range f.Kind {
		if !slices.Contains(api.Kinds(), k) {
			return api.ChangeFilter{}, Misuse("--kind: must be of %s, not %q", strings.Join(api.Kinds(), ", "), k)
		}
	}
	return api.ChangeFilter{Kinds: f.Kind, Topics: f.Topic, Brokers: f.Broker, Clusters: f.Cluster}, nil
}

// Watch is `fingerpost watch`.
type Watch struct {
	Filter
	Since    string        `placeholder:"REVISION" help:"Begin after this revision instead of now."`
	Snapshot bool          `help:"Show what stands now before any change."`
	Quiet    time.Duration `help:"Collect changes until nothing has come for so long."`
	Count    int           `help:"End after so many change sets; 0 goes on until broken off."`
	Server
	Output
}

// The pauses before a stream that ended is asked for again.
const (
	firstPause   = time.Second
	longestPause = 30 * time.Second
)

// Run shows what changes, as it changes, until the user breaks off. A stream that ends
// by itself is continued where it ended.
func (c *Watch) Run(e *Env) error {
	filter, err := c.changes()
	if err != nil {
		return err
	}
	t, err := c.dial(e)
	if err != nil {
		return err
	}
	defer t.CloseIdleConnections()
	w := &watcher{Watch: c, e: e, state: api.Watch{ChangeFilter: filter, Since: c.Since, Snapshot: c.Snapshot, Quiet: c.Quiet}}
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		began := w.items
		err := w.stream(t)
		switch {
		case err == nil, e.Ctx.Err() != nil:
			return nil // enough, or broken off: both are a good end of a watch
		case w.wrote != nil:
			return w.wrote
		case w.items == 0 || refused(err):
			return explained(err, t.url)
		case w.items > began:
			pause = firstPause
		}
		fmt.Fprintf(e.Stderr, "fingerpost: the stream ended (%v); asking again in %s\n", explained(err, t.url), pause)
		select {
		case <-time.After(pause):
		case <-e.Ctx.Done():
			return nil
		}
	}
}

// refused reports whether asking again would bring the same answer.
func refused(err error) bool {
	var p *api.Problem
	return errors.As(err, &p) && p.Status/100 == 4 && p.RetryAfter == 0
}

// watcher is one run of a watch over as many streams as it takes.
type watcher struct {
	*Watch
	e     *Env
	state api.Watch
	items int   // all that came
	sets  int   // of those, change sets
	wrote error // what became of writing
}

// stream shows one stream. nil means that enough has come.
func (w *watcher) stream(t *target) error {
	for it, err := range t.Watch(w.e.Ctx, &w.state) {
		if err != nil {
			return err
		}
		w.items++
		if w.wrote = w.item(&it); w.wrote != nil {
			return w.wrote
		}
		if it.Event == api.ItemChange {
			if w.sets++; w.sets == w.Count {
				return nil
			}
		}
	}
	return nil
}

func (w *watcher) item(it *api.WatchItem) error {
	if w.Form == "json" {
		enc := json.NewEncoder(w.e.Stdout)
		enc.SetEscapeHTML(false)
		return enc.Encode(it)
	}
	var b strings.Builder
	head := shortTime(it.Time) + "  " + it.Revision + "  "
	switch it.Event {
	case api.ItemHello:
		b.WriteString("# watching from " + it.Revision + "\n")
	case api.ItemReset:
		b.WriteString("# changes were missed (" + it.Reason + "): read again what you keep\n")
	case api.ItemSnapshot, api.ItemChange:
		for i := range it.Changes {
			b.WriteString(head + changeText(&it.Changes[i]))
			if it.Cause != nil && it.Event == api.ItemChange {
				b.WriteString("  by " + causeText(it.Cause))
			}
			b.WriteByte('\n')
		}
		if it.Truncated {
			b.WriteString("# there is more: fingerpost events " + it.Revision + "\n")
		}
	}
	_, err := w.e.Stdout.Write([]byte(b.String()))
	return err
}

func shortTime(t *api.Time) string {
	if t == nil {
		return "--:--:--"
	}
	return t.Local().Format(time.TimeOnly)
}

func causeText(c *api.Cause) string {
	who := c.Actor
	if who == "" {
		who = "the server"
	}
	return texttable.Cell(who) + " over " + texttable.Cell(c.Face) + " (" + texttable.Cell(c.Action) + ")"
}

// changeText writes one change in one line: what, what happened, which one, and what of
// it changed.
func changeText(c *api.Change) string {
	parts := []string{c.Kind, c.Op}
	name := ""
	switch {
	case c.Topic != "":
		name = c.Topic
		if c.BrokerName != "" {
			name += " on " + c.BrokerName
		}
	case c.Key != nil:
		name = *c.Key
		if c.Namespace != nil && *c.Namespace != "" {
			name = *c.Namespace + "/" + name
		}
	case c.BrokerName != "" && c.BrokerID != nil:
		name = fmt.Sprintf("%s/%d", c.BrokerName, *c.BrokerID)
	case c.BrokerName != "":
		name = c.BrokerName
	default:
		name = c.Cluster
	}
	if name != "" {
		parts = append(parts, texttable.Cell(name))
	}
	if c.TopicCount != nil {
		parts = append(parts, fmt.Sprintf("topics=%d", *c.TopicCount))
	}
	keys := make(map[string]bool)
	for k := range maps.Keys(c.Before) {
		keys[k] = true
	}
	for k := range maps.Keys(c.After) {
		keys[k] = true
	}
	for _, k := range slices.Sorted(maps.Keys(keys)) {
		before, had := c.Before[k]
		after, has := c.After[k]
		switch {
		case had && has:
			parts = append(parts, fmt.Sprintf("%s=%s->%s", k, valueText(before), valueText(after)))
		case has:
			parts = append(parts, fmt.Sprintf("%s=%s", k, valueText(after)))
		}
	}
	if c.Code != "" {
		parts = append(parts, "["+c.Code+"]", texttable.Cell(c.Detail))
	}
	return strings.Join(parts, " ")
}

// longestValue bounds a value in a line.
const longestValue = 60

func valueText(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return "?"
	}
	s := []rune(strings.Trim(string(b), `"`))
	if len(s) > longestValue {
		return string(s[:longestValue]) + "…"
	}
	return texttable.Cell(string(s))
}

// Events is `fingerpost events`.
type Events struct {
	Revision string `arg:"" optional:"" help:"Show every change of the change set with this revision."`
	Filter
	Actor  []string `help:"Only what these principals or addresses did."`
	Face   []string `help:"Only what came through these faces: remoting, rest, dashboard, server."`
	Action []string `help:"Only these actions, such as putKV."`
	Since  string   `placeholder:"TIME" help:"Only what happened since this instant, in RFC 3339 or as 10m for ten minutes ago."`
	Until  string   `placeholder:"TIME" help:"Only what happened until this instant."`
	Limit  int      `default:"50" help:"At most so many; 0 lists all that are kept."`
	Server
	Output
}

// Run lists change sets, newest first, or shows one.
func (c *Events) Run(e *Env) error {
	filter, err := c.changes()
	if err != nil {
		return err
	}
	if c.Limit < 0 {
		return Misuse("--limit: must be at least 0, not %d", c.Limit)
	}
	return c.with(e, func(ctx context.Context, t *target) error {
		show := c.list
		if c.Revision != "" {
			show = c.one
		}
		a, err := show(ctx, t, filter)
		if err != nil {
			return err
		}
		return c.show(e, a)
	})
}

func (c *Events) list(ctx context.Context, t *target, filter api.ChangeFilter) (answer, error) {
	o := api.EventsOptions{ChangeFilter: filter, Actors: c.Actor, Faces: c.Face, Actions: c.Action, Since: c.Since, Until: c.Until}
	out := api.EventList{Items: []api.ChangeSet{}}
	err := paged(c.Limit, func(limit int, after string) (int, string, error) {
		o.Limit, o.After = limit, after
		page, err := t.Events(ctx, o)
		if err != nil {
			return 0, "", err
		}
		out.Revision, out.Total, out.OldestRevision, out.Next = page.Revision, page.Total, page.OldestRevision, page.Next
		out.Items = append(out.Items, page.Items...)
		return len(page.Items), page.Next, nil
	})
	tb := texttable.New("REVISION", "TIME", "BY", "OVER", "ACTION", "CHANGES", "FIRST")
	for i := range out.Items {
		s := &out.Items[i]
		first := ""
		if len(s.Changes) > 0 {
			first = changeText(&s.Changes[0])
		}
		tb.Row(s.Revision, when(s.Time), s.Cause.Actor, s.Cause.Face, s.Cause.Action, countsText(s.Counts), first)
	}
	tb.Note("total %d  shown %d  oldest kept %s", out.Total, len(out.Items), out.OldestRevision)
	return answer{out, tb}, err
}

func countsText(counts map[string]int) []string {
	var out []string
	for _, k := range slices.Sorted(maps.Keys(counts)) {
		out = append(out, fmt.Sprintf("%s:%d", k, counts[k]))
	}
	return out
}

func (c *Events) one(ctx context.Context, t *target, filter api.ChangeFilter) (answer, error) {
	out := api.EventPage{}
	var changes []api.Change
	err := paged(0, func(limit int, after string) (int, string, error) {
		page, err := t.Event(ctx, c.Revision, api.EventOptions{ChangeFilter: filter, Limit: limit, After: after})
		if err != nil {
			return 0, "", err
		}
		out, changes = *page, append(changes, page.Changes...)
		return len(page.Changes), page.Next, nil
	})
	out.Changes, out.Next = changes, ""
	tb := texttable.New("CHANGE")
	for i := range changes {
		tb.Row(changeText(&changes[i]))
	}
	tb.Note("revision %s  %s  by %s", out.Revision, when(out.Time), causeText(&out.Cause))
	return answer{out, tb}, err
}
