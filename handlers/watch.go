package handlers

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"fingerpost/api"
	"fingerpost/internal/convert"
	"fingerpost/registry"
)

const (
	// watchBuffer is how many change sets may wait for a watcher. They are shared by
	// all, so what waits costs a pointer each.
	watchBuffer = 256
	// bookmarkEvery is how often a watcher hears that it has missed nothing.
	bookmarkEvery = 15 * time.Second
	// allowedEvery is how often it is asked whether a watcher still may.
	allowedEvery = time.Minute
	// maxQuiet bounds ?quiet=.
	maxQuiet = time.Minute
)

// stream is one watch: what it wants, and where it goes.
type stream struct {
	c      *call
	filter *convert.Filter
	rc     *http.ResponseController
	sub    *registry.Subscription
	// at is the revision up to which the watcher has been told.
	at     uint64
	quiet  *quietPeriod // nil: each change set by itself
	shared bool         // nothing is filtered, so what is encoded fits all
}

// watch streams change sets for as long as the caller listens.
//
//	@Summary	Changes as they happen
//	@Description	Server-sent events, or one JSON value a line. Begins with hello; what was missed since a revision comes first; bookmark each 15 s; reset means that something was missed and has to be read again. The websocket at /ws, subprotocol namesrv.v1, carries the same change sets.
//	@Tags	changes
//	@Param	Last-Event-ID	header	string	false	"the revision to go on from, as browsers send it"
//	@Success	200	{object}	api.WatchItem	"the items, without an end"
//	@Failure	429	{object}	api.Problem	"too-many-watchers, rate-limited"
//	@Failure	503	{object}	api.Problem	"shutting-down, overloaded"
//	@Router	/api/v1/watch [get]
func (h *Handler) watch(c *call) error {
	s := &stream{c: c, filter: c.changeFilter(), rc: http.NewResponseController(c.ResponseWriter)}
	snapshot := c.query.flag("snapshot")
	if d := c.query.duration("quiet", time.Millisecond, maxQuiet); d > 0 {
		s.quiet = newQuietPeriod(d)
	}
	since := firstOf(c.query.one("since"), c.r.Header.Get("Last-Event-ID"))
	revision, foreign := c.sinceRevision(since)
	if err := c.query.err(); err != nil {
		return err
	}
	if h.ctx.Err() != nil {
		return &problem{code: "shutting-down", retryAfter: 2 * time.Second}
	}
	leave, err := h.watched.join(c.address())
	if err != nil {
		return err
	}
	defer leave()
	c.land()
	s.shared = s.filter.Open() && s.quiet == nil
	missed, reset := s.subscribe(since != "", revision, foreign)
	defer func() { s.sub.Close() }()
	s.begin()
	if c.r.Method == http.MethodHead || !s.open(reset, snapshot, missed) {
		return nil
	}
	s.run(h.ctx)
	return nil
}

// sinceRevision reads a revision to go on from; foreign tells that it is of another process.
func (c *call) sinceRevision(s string) (revision uint64, foreign bool) {
	if s == "" {
		return 0, false
	}
	epoch, n, ok := strings.Cut(s, ".")
	revision, err := strconv.ParseUint(n, 10, 64)
	if !ok || err != nil {
		c.query.bad("since", "not-a-revision", "must be a revision such as %s, not %s", "必须是 %s 这样的版本，而不是 %s", c.revision(c.snap.Revision), strconv.Quote(s))
	}
	return revision, epoch != c.snap.Epoch
}

// subscribe joins the changes, from a revision on if one is given and it is still there.
// reset says why it is not.
func (s *stream) subscribe(resume bool, revision uint64, foreign bool) (missed []*registry.Change, reset string) {
	reg := s.c.h.deps.Registry
	switch {
	case resume && foreign:
		reset = api.ResetRestarted
	case resume:
		var ok bool
		if missed, s.c.snap, s.sub, ok = reg.SubscribeSince(revision, watchBuffer); ok {
			s.at = revision
			return missed, ""
		}
		reset = api.ResetCompacted
	}
	s.c.snap, s.sub = reg.Subscribe(watchBuffer)
	s.at = s.c.snap.Revision
	return nil, reset
}

func (s *stream) begin() {
	hd := s.c.Header()
	hd["Content-Type"] = []string{formTypes[s.c.form]}
	hd["Cache-Control"] = noStore
	s.c.vary()
	hd["X-Accel-Buffering"] = []string{"no"}
	hd["Namesrv-Revision"] = []string{s.c.revision(s.c.snap.Revision)}
	s.c.WriteHeader(http.StatusOK)
}

// open sends what comes before the live changes. It reports whether the peer is there.
func (s *stream) open(reset string, snapshot bool, missed []*registry.Change) bool {
	ok := s.item(api.WatchItem{Event: api.ItemHello, Revision: s.c.revision(s.c.snap.Revision), Time: api.TimeOf(time.Now())})
	if reset != "" {
		ok = ok && s.reset(reset)
	}
	for _, ch := range missed {
		ok = ok && s.change(ch)
	}
	if snapshot {
		if s.quiet.pending() {
			ok = ok && s.item(s.quiet.take())
		}
		ok = ok && s.present() // what was missed is in it: later it would take things back
	}
	return ok && s.flush()
}

// present sends the present state of what is watched, and that it is complete.
func (s *stream) present() bool {
	v := s.c.view()
	var part []api.Change
	send := func() bool {
		it := api.WatchItem{Event: api.ItemSnapshot, Revision: v.At(), Time: api.TimeOf(v.Now), Changes: part}
		part = nil
		return s.item(it)
	}
	for ch := range v.Present(s.filter) {
		if part = append(part, ch); len(part) == convert.StreamLimit && !send() {
			return false
		}
	}
	if len(part) > 0 && !send() {
		return false
	}
	s.at = s.c.snap.Revision
	return s.bookmark()
}

func (s *stream) bookmark() bool {
	return s.item(api.WatchItem{Event: api.ItemBookmark, Revision: s.c.revision(s.at), Time: api.TimeOf(time.Now())})
}

// reset tells the watcher that it missed something: it reads again what it keeps, and
// the stream goes on from here.
func (s *stream) reset(reason string) bool {
	s.c.h.metrics.resets.WithLabelValues(reason).Inc()
	s.at = s.c.snap.Revision
	return s.item(api.WatchItem{Event: api.ItemReset, Revision: s.c.revision(s.at), Time: api.TimeOf(time.Now()), Reason: reason})
}

// run passes changes on until somebody has enough.
func (s *stream) run(ctx context.Context) {
	tick := time.NewTicker(bookmarkEvery)
	defer tick.Stop()
	allowed := time.NewTicker(allowedEvery)
	defer allowed.Stop()
	for {
		ok := true
		var oldest time.Time // of what is passed on now
		select {
		case ch, live := <-s.sub.C:
			if live && s.quiet == nil {
				oldest = ch.Time
			}
			ok = s.hear(ch, live)
		case <-s.quiet.due():
			ok = s.item(s.quiet.take())
		case <-tick.C:
			ok = s.quiet.pending() || s.bookmark()
		case <-allowed.C:
			ok = s.c.still()
		case <-s.c.context().Done():
			return
		case <-ctx.Done():
			return
		}
		if !ok || !s.flush() {
			return
		}
		if !oldest.IsZero() {
			s.c.h.metrics.lag.Observe(time.Since(oldest).Seconds())
		}
	}
}

// hear takes in a change, and all that wait behind it, before anything is flushed.
func (s *stream) hear(ch *registry.Change, live bool) bool {
	for {
		if !live {
			return s.lagged()
		}
		if !s.change(ch) {
			return false
		}
		select {
		case ch, live = <-s.sub.C:
		default:
			return true
		}
	}
}

// lagged begins anew after the watcher fell behind.
func (s *stream) lagged() bool {
	s.quiet.drop()
	s.c.snap, s.sub = s.c.h.deps.Registry.Subscribe(watchBuffer)
	return s.reset(api.ResetLagged)
}

// change sends what passes the filter of a change.
func (s *stream) change(ch *registry.Change) bool {
	s.at = ch.Revision
	if s.shared {
		return s.send(api.ItemChange, s.c.h.encoded.of(s, ch))
	}
	s.c.snap = s.c.h.deps.Registry.Snapshot()
	set, any := s.c.view().ChangeSet(ch, s.filter, convert.StreamLimit)
	switch {
	case !any:
		return true
	case s.quiet == nil:
		return s.item(itemOf(&set))
	}
	if s.quiet.add(&set) {
		return true
	}
	return s.item(s.quiet.take())
}

func itemOf(set *api.ChangeSet) api.WatchItem {
	return api.WatchItem{
		Event: api.ItemChange, Revision: set.Revision, Time: set.Time, Cause: &set.Cause,
		Counts: set.Counts, Truncated: set.Truncated, Changes: set.Changes,
	}
}

// encodings remembers the last change as it goes to all who want everything: they come
// to it at about the same time.
type encodings struct {
	last atomic.Pointer[encoding]
}

type encoding struct {
	change *registry.Change
	json   []byte
}

func (e *encodings) of(s *stream, ch *registry.Change) []byte {
	if x := e.last.Load(); x != nil && x.change == ch {
		return x.json
	}
	s.c.snap = s.c.h.deps.Registry.Snapshot()
	set, _ := s.c.view().ChangeSet(ch, nil, convert.StreamLimit)
	x := &encoding{ch, encodeJSON(itemOf(&set), false)}
	e.last.Store(x)
	return x.json
}

func (s *stream) item(it api.WatchItem) bool { return s.send(it.Event, encodeJSON(it, false)) }

// send writes an item, which ends with a newline. The peer has to take it within a time.
func (s *stream) send(event string, json []byte) bool {
	_ = s.rc.SetWriteDeadline(time.Now().Add(writeTimeout)) // a recorder has none
	if s.c.form == formEvents {
		head := "id: " + s.c.revision(s.at) + "\nevent: " + event + "\ndata: "
		if event == api.ItemHello {
			head = "retry: 2000\n" + head
		}
		json = append(append([]byte(head), json...), '\n')
	}
	_, err := s.c.Write(json)
	return err == nil
}

func (s *stream) flush() bool { return s.rc.Flush() == nil }
