package handlers

import (
	"cmp"
	"iter"
	"slices"
	"strings"
	"time"

	"fingerpost/api"
	"fingerpost/internal/convert"
	"fingerpost/registry"
)

// getDigest answers what identifies the content of the tables.
//
//	@Summary	What tells two nodes' content apart
//	@Description	With perTopic the digest of each route, one a line.
//	@Tags	server
//	@Success	200	{object}	api.Digest	"the digests"
//	@Failure	403	{object}	api.Problem	"listing-disabled, forbidden, host-not-allowed"
//	@Router	/api/v1/digest [get]
func (h *Handler) getDigest(c *call) (reply, error) {
	perTopic := c.query.flag("perTopic")
	if err := c.query.err(); err != nil {
		return reply{}, err
	}
	v := c.view()
	if perTopic {
		if err := c.mayList(); err != nil {
			return reply{}, err
		}
		return c.topicDigests(v), nil
	}
	out := h.digest(c)
	return reply{body: out, etag: v.At(), keys: []hubKey{waitFor(keyAll, "")}, text: func() []byte {
		tb := newTable("TABLE", "DIGEST", "COUNT")
		tb.row("all", out.All, "")
		tb.row("topics", out.Topics, out.TopicCount)
		tb.row("brokers", out.Brokers, out.BrokerCount)
		tb.row("kv", out.KV, out.KVCount)
		tb.note("revision %s", out.Revision)
		return tb.bytes()
	}}, nil
}

func (h *Handler) digest(c *call) api.Digest {
	d := c.snap.Digests()
	out := api.Digest{
		Revision: c.revision(c.snap.Revision), All: d.All, Topics: d.Topics, Brokers: d.Brokers, KV: d.KV,
		TopicCount: c.snap.TopicCount(), BrokerCount: len(c.snap.Groups()), KVCount: c.kvEntries(),
	}
	for _, g := range c.snap.Groups() {
		out.MemberCount += len(g.Members)
	}
	return out
}

func (c *call) topicDigests(v *convert.View) reply {
	items := make([]api.TopicDigest, 0, v.TopicCount())
	for _, n := range v.TopicNames() {
		items = append(items, api.TopicDigest{Topic: n, Digest: v.RouteDigest(v.Snapshot.Topic(n))})
	}
	if !c.query.has(paramFormat) && c.r.Header.Get("Accept") != "application/json" {
		c.form = formLines
	}
	return reply{body: items, lines: seqOf(items), etag: v.At(), keys: []hubKey{waitFor(keyAll, "")}, text: func() []byte {
		tb := newTable("TOPIC", "DIGEST")
		for _, i := range items {
			tb.row(i.Topic, i.Digest)
		}
		return tb.bytes()
	}}
}

// getExport answers everything there is, for a support bundle or a comparison elsewhere.
//
//	@Summary	Everything
//	@Description	The whole registry at one revision, for a support bundle or a comparison elsewhere; secrets are left out.
//	@Tags	server
//	@Success	200	{object}	api.Export	"everything"
//	@Failure	503	{object}	api.Problem	"overloaded"
//	@Router	/api/v1/export [get]
func (h *Handler) getExport(c *call) (reply, error) {
	back, err := h.limiters.turn()
	if err != nil {
		return reply{}, err
	}
	defer back()
	v := c.view()
	head := api.ExportHead{Revision: v.At(), Time: api.TimeOf(v.Now), Version: h.version(c.snap), Digest: h.digest(c)}
	out := api.Export{
		Revision: head.Revision, Time: head.Time, Version: head.Version, Digest: head.Digest,
		Brokers: []api.BrokerSet{}, Topics: make([]api.ExportedTopic, 0, v.TopicCount()), KV: c.snap.AllKV(), Config: h.deps.Settings.Items(),
	}
	for _, g := range v.Groups() {
		out.Brokers = append(out.Brokers, v.BrokerSet(g))
	}
	for _, n := range v.TopicNames() {
		out.Topics = append(out.Topics, api.ExportedTopic{Topic: n, Parts: v.TopicParts(v.Snapshot.Topic(n))})
	}
	c.Header().Set("Content-Disposition", `attachment; filename="fingerpost-`+head.Revision+`"`)
	return reply{body: out, lines: exportLines(c, &head, &out)}, nil
}

func exportLines(c *call, head *api.ExportHead, x *api.Export) iter.Seq[any] {
	return func(yield func(any) bool) {
		if !yield(api.ExportLine{Head: head}) {
			return
		}
		for i := range x.Brokers {
			if !yield(api.ExportLine{Broker: &x.Brokers[i]}) {
				return
			}
		}
		for i := range x.Topics {
			if !yield(api.ExportLine{Topic: &x.Topics[i]}) {
				return
			}
		}
		for _, ns := range sortedKeys(x.KV) {
			for _, k := range sortedKeys(x.KV[ns]) {
				e, _ := c.snap.KV(ns, k) // of the same snapshot
				if !yield(api.ExportLine{KV: &api.KVEntry{Namespace: ns, Key: k, Value: e.Value, Revision: c.revision(e.Revision)}}) {
					return
				}
			}
		}
		for i := range x.Config {
			if !yield(api.ExportLine{Config: &x.Config[i]}) {
				return
			}
		}
	}
}

// listConnections answers the connections of the remoting port.
//
//	@Summary	Connections to the remoting port
//	@Tags	server
//	@Success	200	{object}	api.ConnectionList	"the connections"
//	@Router	/api/v1/connections [get]
func (h *Handler) listConnections(c *call) (reply, error) {
	kinds := c.query.words("kind", "broker", "client", "admin", "unknown")
	q := strings.ToLower(c.query.one("q"))
	pg := c.page("id")
	if err := c.query.err(); err != nil {
		return reply{}, err
	}
	byID := make(map[string]api.Connection)
	if h.deps.Connections != nil {
		for _, x := range h.deps.Connections() {
			if (len(kinds) == 0 || slices.Contains(kinds, x.Kind)) && (q == "" || strings.Contains(strings.ToLower(x.RemoteAddress+" "+x.Language+" "+x.Version+" "+strings.Join(x.Brokers, " ")), q)) {
				byID[x.ID] = x
			}
		}
	}
	part, next := pg.cut(sortedKeys(byID))
	out := api.ConnectionList{Revision: c.revision(c.snap.Revision), Total: len(byID), Items: make([]api.Connection, 0, len(part)), Next: next}
	for _, id := range part {
		out.Items = append(out.Items, byID[id])
	}
	rep := c.listReply(out, next, 0, seqOf(out.Items))
	rep.etag = "" // connections come and go without a revision
	rep.text = func() []byte {
		tb := newTable("ID", "REMOTE", "KIND", "LANGUAGE", "VERSION", "TLS", "SINCE", "REQUESTS", "LAST", "BROKERS")
		for i := range out.Items {
			x := &out.Items[i]
			tb.row(x.ID, x.RemoteAddress, x.Kind, x.Language, x.Version, x.TLS, x.FirstSeenAt, x.Requests, firstOf(x.LastName, itoa(x.LastCode)), x.Brokers)
		}
		return tb.bytes()
	}
	return rep, nil
}

// listStale answers topics that may be leftovers.
//
//	@Summary	Topics that may be leftovers
//	@Description	Each with a reason: the broker no longer names it, the broker has no master, or nobody lets producers write.
//	@Tags	topics
//	@Success	200	{object}	api.StaleList	"the leftovers"
//	@Failure	403	{object}	api.Problem	"listing-disabled, forbidden, host-not-allowed"
//	@Router	/api/v1/stale-topics [get]
func (h *Handler) listStale(c *call) (reply, error) {
	if err := c.mayList(); err != nil {
		return reply{}, err
	}
	found, err := c.staleParts()
	if err != nil {
		return reply{}, err
	}
	limit, rest := c.query.number("limit", defaultLimit, 1, maxLimit), found
	if after := c.query.one("after"); after != "" {
		rest = staleBehind(found, c.query.cursor(after))
	}
	if err := c.query.err(); err != nil {
		return reply{}, err
	}
	out := api.StaleList{Revision: c.revision(c.snap.Revision), Total: len(found), Items: []api.StaleTopic{}}
	if len(rest) > limit {
		rest = rest[:limit]
		last := rest[limit-1]
		out.Next = cursor{Value: int64(last.Reason), Name: last.Topic + staleJoint + last.Broker}.String()
	}
	for _, x := range rest {
		out.Items = append(out.Items, staleItem(x))
	}
	rep := c.listReply(out, out.Next, 0, seqOf(out.Items))
	rep.etag = c.staleTag(found)
	rep.keys = []hubKey{waitFor(keyTopics, ""), waitFor(keyMembers, "")}
	rep.text = func() []byte {
		tb := newTable("TOPIC", "BROKER", "REASON", "SINCE", "PERM", "REMOVABLE")
		for _, s := range out.Items {
			tb.row(s.Topic, s.BrokerName, s.Reason, s.SinceAt, convert.PermText(s.LastSaid.Perm), s.Removable)
		}
		tb.note("revision %s  total %d", out.Revision, out.Total)
		return tb.bytes()
	}
	return rep, nil
}

// staleJoint stands between the topic and the broker in a cursor.
const staleJoint = "\x00"

// staleBehind returns those behind the last of an earlier page, which may be gone by now.
func staleBehind(found []registry.Stale, k cursor) []registry.Stale {
	topic, broker, _ := strings.Cut(k.Name, staleJoint)
	i, same := slices.BinarySearchFunc(found, k, func(x registry.Stale, k cursor) int {
		return cmp.Or(strings.Compare(x.Topic, topic), strings.Compare(x.Broker, broker), cmp.Compare(int64(x.Reason), k.Value))
	})
	if same {
		i++
	}
	return found[i:]
}

// staleParts returns the leftovers that are asked for.
func (c *call) staleParts() ([]registry.Stale, error) {
	reasons := c.query.words("reason", staleWords()...)
	olderThan := c.query.duration("olderThan", 0, 365*24*time.Hour)
	topics, brokers := c.query.all("topic"), c.query.all("broker")
	if err := c.query.err(); err != nil {
		return nil, err
	}
	back, err := c.h.limiters.turn()
	if err != nil {
		return nil, err
	}
	defer back()
	now := time.Now()
	return slices.DeleteFunc(c.snap.Stale(now), func(x registry.Stale) bool {
		return len(reasons) > 0 && !slices.Contains(reasons, x.Reason.String()) || now.Sub(x.Since) < olderThan ||
			len(topics) > 0 && !slices.ContainsFunc(topics, func(p string) bool { return convert.Match(p, x.Topic) }) ||
			len(brokers) > 0 && !slices.Contains(brokers, x.Broker)
	}), nil
}

func staleWords() []string {
	var out []string
	for _, r := range registry.StaleReasons() {
		out = append(out, r.String())
	}
	return out
}

func staleItem(x registry.Stale) api.StaleTopic {
	return api.StaleTopic{
		Topic: x.Topic, BrokerName: x.Broker, Reason: x.Reason.String(), SinceAt: api.TimeOf(x.Since),
		Removable: x.Reason == registry.NotInLastRegistration,
		LastSaid:  api.QueueSaid{ReadQueueNums: x.Said.ReadQueues, WriteQueueNums: x.Said.WriteQueues, Perm: x.Said.Perm, TopicSysFlag: x.Said.SysFlag},
	}
}

// staleTag names a set of leftovers by its content: it changes with time alone.
func (c *call) staleTag(found []registry.Stale) string {
	return c.snap.Epoch + "." + staleDigest(found)
}

func staleDigest(found []registry.Stale) string {
	var b strings.Builder
	for _, x := range found {
		b.WriteString(x.Topic + "\x00" + x.Broker + "\x00" + x.Reason.String() + "\x00")
	}
	return convert.Digest([]byte(b.String()))
}

// deleteStale removes leftovers that brokers no longer name; unless told otherwise it
// only says which.
//
//	@Summary	Remove leftovers that brokers no longer name
//	@Description	Unless dryRun=false it only says which.
//	@Tags	topics
//	@Param	If-Match	header	string	false	"the ETag that the resource must still have"
//	@Success	200	{object}	api.StaleDeleted	"what was, or would be, removed"
//	@Failure	412	{object}	api.Problem	"precondition-failed"
//	@Router	/api/v1/stale-topics [delete]
func (h *Handler) deleteStale(c *call) (reply, error) {
	c.dry = c.query.choice(paramDryRun, true)
	found, err := c.staleParts()
	if err != nil {
		return reply{}, err
	}
	if have := c.r.Header["If-Match"]; len(have) > 0 && !matchesBase(have, c.staleTag(found)) {
		return reply{}, refuse("precondition-failed", "The set of leftovers has changed since it was read.", "残留 Topic 的集合在读取之后已改变。")
	}
	found = slices.DeleteFunc(found, func(x registry.Stale) bool { return x.Reason != registry.NotInLastRegistration })
	c.subject = itoa(len(found)) + " leftovers"
	revision := c.snap.Revision
	if !c.dry {
		found, revision = h.deps.Registry.DeleteStale(found, c.cause(c.op.action))
	}
	out := api.StaleDeleted{Removed: []api.StaleTopic{}, DryRun: c.dry, Revision: c.revision(revision)}
	for _, x := range found {
		out.Removed = append(out.Removed, staleItem(x))
	}
	return reply{body: out, revision: revision}, nil
}
