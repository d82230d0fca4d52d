package handlers

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"fingerpost/api"
	"fingerpost/internal/convert"
	"fingerpost/registry"
)

// changeFilter reads which changes are asked for.
func (c *call) changeFilter() *convert.Filter {
	return &convert.Filter{
		Kinds: c.query.words("kind", api.Kinds()...), Topics: c.query.all("topic"),
		Brokers: c.query.all("broker"), Clusters: c.query.all("cluster"),
	}
}

// eventFilter is what the history can be narrowed by besides a change filter.
type eventFilter struct {
	actors, faces, actions []string
	since, until           time.Time
}

func (f *eventFilter) fits(c *registry.Change) bool {
	return (len(f.actors) == 0 || slices.ContainsFunc(f.actors, func(p string) bool { return convert.Match(p, c.Cause.Actor) })) &&
		(len(f.faces) == 0 || slices.Contains(f.faces, c.Cause.Face)) &&
		(len(f.actions) == 0 || slices.Contains(f.actions, c.Cause.Action)) &&
		(f.since.IsZero() || !c.Time.Before(f.since)) && (f.until.IsZero() || !c.Time.After(f.until))
}

// listEvents answers change sets of the history, newest first unless asked otherwise.
//
//	@Summary	Change sets that are still remembered
//	@Description	Newest first.
//	@Tags	changes
//	@Success	200	{object}	api.EventList	"the change sets"
//	@Router	/api/v1/events [get]
func (h *Handler) listEvents(c *call) (reply, error) {
	f := c.changeFilter()
	more := eventFilter{
		actors: c.query.all("actor"), faces: c.query.words("face", "remoting", "rest", "dashboard", "server"), actions: c.query.all("action"),
		since: c.query.moment("since"), until: c.query.moment("until"),
	}
	sort := c.query.word("sort", "-revision", "revision")
	limit, after := c.query.number("limit", defaultLimit, 1, maxLimit), c.query.one("after")
	from := c.eventCursor(after)
	if err := c.query.err(); err != nil {
		return reply{}, err
	}
	changes, compacted := h.deps.Registry.History()
	v := c.view()
	out := api.EventList{Revision: v.At(), Items: []api.ChangeSet{}, OldestRevision: v.Revision(compacted + 1)}
	if sort == "-revision" {
		slices.Reverse(changes)
	}
	var last uint64
	for _, x := range changes {
		if !more.fits(x) || !v.Passes(x, f) {
			continue
		}
		out.Total++
		if after != "" && !(x.Number < from == (sort == "-revision") && x.Number != from) {
			continue
		}
		if len(out.Items) == limit {
			out.Next = cursor{Value: int64(last)}.String()
			continue
		}
		set, _ := v.ChangeSet(x, f, convert.StreamLimit)
		out.Items = append(out.Items, set)
		last = x.Number
	}
	return c.eventReply(out), nil
}

// eventCursor reads the number of the last change of an earlier page: refusals and the
// like have the revision that they found, so that this does not tell them apart.
func (c *call) eventCursor(after string) uint64 {
	if after == "" {
		return 0
	}
	k := c.query.cursor(after)
	if k.Name != "" || k.Value < 0 {
		c.query.badCursor() // of another list
	}
	return uint64(k.Value)
}

func (c *call) eventReply(out api.EventList) reply {
	rep := c.listReply(out, out.Next, c.snap.Revision, seqOf(out.Items))
	rep.etag = "" // what only reports moves no revision
	rep.text = func() []byte {
		tb := newTable("REVISION", "TIME", "FACE", "ACTION", "ACTOR", "CHANGES", "FIRST")
		for i := range out.Items {
			s := &out.Items[i]
			tb.row(s.Revision, s.Time, s.Cause.Face, s.Cause.Action, s.Cause.Actor, counts(s.Counts), summary(s.Changes))
		}
		tb.note("revision %s  total %d  oldest kept %s", out.Revision, out.Total, out.OldestRevision)
		return tb.bytes()
	}
	return rep
}

func counts(m map[string]int) []string {
	var out []string
	for _, k := range sortedKeys(m) {
		out = append(out, k+"="+itoa(m[k]))
	}
	return out
}

// summary says in a few words what the first change of a set is.
func summary(changes []api.Change) string {
	if len(changes) == 0 {
		return ""
	}
	x := &changes[0]
	words := []string{x.Kind, x.Op, x.BrokerName}
	if x.BrokerID != nil {
		words[2] += "/" + strconv.FormatInt(*x.BrokerID, 10)
	}
	words = append(words, x.Topic, x.Code)
	if x.Key != nil {
		words = append(words, *x.Key)
	}
	return strings.Join(slices.DeleteFunc(words, func(w string) bool { return w == "" }), " ")
}

// moment reads an instant, or how long ago it was.
func (q *query) moment(name string) time.Time {
	if !q.has(name) {
		return time.Time{}
	}
	v := q.one(name)
	if t, err := time.Parse(time.RFC3339, v); err == nil {
		return t
	}
	if d, err := time.ParseDuration(v); err == nil && d >= 0 {
		return time.Now().Add(-d)
	}
	q.bad(name, "not-a-time", "must be a time such as 2025-11-29T06:50:00Z, or how long ago, such as 10m, not %s",
		"必须是 2025-11-29T06:50:00Z 这样的时间，或 10m 这样的时长（多久之前），而不是 %s", strconv.Quote(v))
	return time.Time{}
}

// getEvent answers one change set in full, in pages.
//
//	@Summary	One change set, whole, in pages
//	@Tags	changes
//	@Param	revision	path	string	true	"a revision such as k7f2mq3a.1843, or its number alone"
//	@Success	200	{object}	api.EventPage	"the change set"
//	@Failure	404	{object}	api.Problem	"event-not-found"
//	@Failure	410	{object}	api.Problem	"revision-compacted"
//	@Router	/api/v1/events/{revision} [get]
func (h *Handler) getEvent(c *call) (reply, error) {
	revision, err := c.eventRevision()
	if err != nil {
		return reply{}, err
	}
	f := c.changeFilter()
	limit, from := c.query.number("limit", defaultLimit, 1, maxLimit), c.query.number("after", 0, 0, 1<<31-1)
	if err := c.query.err(); err != nil {
		return reply{}, err
	}
	changes, _ := h.deps.Registry.History()
	i := slices.IndexFunc(changes, func(x *registry.Change) bool { return x.Step && x.Revision == revision })
	if i < 0 {
		return reply{}, compacted(c.revision(revision))
	}
	v := c.view()
	set, _ := v.ChangeSet(changes[i], f, 0)
	out := api.EventPage{ChangeSet: set}
	for x := range v.Changes(changes[i], f) {
		if out.Total++; out.Total > from && len(out.Changes) < limit {
			out.Changes = append(out.Changes, x)
		}
	}
	out.Truncated = false
	if from+limit < out.Total {
		out.Next = itoa(from + limit)
	}
	rep := c.listReply(out, out.Next, revision, seqOf(out.Changes))
	rep.text = func() []byte {
		tb := newTable("KIND", "OP", "CLUSTER", "BROKER", "TOPIC", "BEFORE", "AFTER")
		for i := range out.Changes {
			x := &out.Changes[i]
			tb.row(x.Kind, x.Op, x.Cluster, summary(out.Changes[i : i+1])[len(x.Kind)+1+len(x.Op):], x.Topic, flat(x.Before), flat(x.After))
		}
		tb.note("revision %s  %s  by %s over %s  %s", out.Revision, out.Time, out.Cause.Actor, out.Cause.Face, out.Cause.Action)
		return tb.bytes()
	}
	return rep, nil
}

func flat(m map[string]any) string {
	if m == nil {
		return ""
	}
	return strings.TrimSpace(string(encodeJSON(m, false)))
}

// eventRevision reads the revision in the path, with or without its epoch.
func (c *call) eventRevision() (uint64, error) {
	s, err := c.part("revision")
	if err != nil {
		return 0, err
	}
	epoch, n, dotted := strings.Cut(s, ".")
	if !dotted {
		epoch, n = c.snap.Epoch, s
	}
	revision, err := strconv.ParseUint(n, 10, 64)
	switch {
	case err != nil:
		return 0, malformedPath("revision", "must be a revision such as "+c.revision(c.snap.Revision), "必须是 "+c.revision(c.snap.Revision)+" 这样的版本")
	case epoch != c.snap.Epoch:
		return 0, compacted(s)
	case revision > c.snap.Revision:
		return 0, refuse("event-not-found", "The revision %s has not been reached; the last is %s.", "尚未到达版本 %s；当前为 %s。", s, c.revision(c.snap.Revision))
	}
	return revision, nil
}

func compacted(revision string) error {
	return refuse("revision-compacted", "The change set %s is no longer kept.", "变更 %s 已不再保留。", revision)
}
