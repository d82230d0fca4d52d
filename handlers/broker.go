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

// group finds the broker that the path names.
func (c *call) group() (*registry.Group, error) {
	name, err := c.part("brokerName")
	if err != nil {
		return nil, err
	}
	c.subject = name
	if g := c.snap.Group(name); g != nil {
		return g, nil
	}
	return nil, c.noBroker(name)
}

func (c *call) noBroker(name string) error {
	p := refuse("broker-not-found", "No broker %s is registered.", "没有注册 Broker %s。", name)
	names := make([]string, 0, len(c.snap.Groups()))
	for _, g := range c.snap.Groups() {
		names = append(names, g.Name)
	}
	p.suggestions, p.remoting = nearest(name, names), remotingNotFound
	return p
}

// member finds the member that the path names.
func (c *call) member() (*registry.Group, registry.Member, error) {
	g, err := c.group()
	if err != nil {
		return nil, registry.Member{}, err
	}
	id, err := c.memberID()
	if err != nil {
		return nil, registry.Member{}, err
	}
	c.subject = g.Name + "/" + strconv.FormatInt(id, 10)
	i := slices.IndexFunc(g.Members, func(m registry.Member) bool { return m.ID == id })
	if i < 0 {
		p := refuse("member-not-found", "Broker %s has no member %d.", "Broker %s 没有成员 %d。", g.Name, id)
		p.remoting = remotingNotFound
		return nil, registry.Member{}, p
	}
	return g, g.Members[i], nil
}

// memberID reads the id in the path. Reads take what the remoting port can hold.
func (c *call) memberID() (int64, error) {
	s, err := c.part("brokerId")
	if err != nil {
		return 0, err
	}
	id, err := strconv.ParseInt(s, 10, 64)
	if err != nil || s[0] == '+' {
		return 0, malformedPath("brokerId", "must be a whole number", "必须是整数")
	}
	return id, nil
}

// goneFor is how long a member that left is still shown where it is asked for.
const goneFor = 10 * time.Minute

// gone returns the members that left lately and are not back, newest first.
func (c *call) gone(v *convert.View) []api.Member {
	changes, _ := c.h.deps.Registry.History()
	type place struct {
		name string
		id   int64
	}
	seen := make(map[place]bool)
	out := []api.Member{}
	for _, ch := range slices.Backward(changes) {
		if v.Now.Sub(ch.Time) > goneFor {
			break
		}
		for _, m := range ch.Members {
			p := place{m.Broker, m.ID}
			if seen[p] || m.Op == registry.OpRejected {
				continue
			}
			seen[p] = true
			if m.After == nil && m.Before != nil && c.snap.Member(m.Broker, m.ID) == nil {
				out = append(out, v.Gone(m.Before, ch.Time))
			}
		}
	}
	return out
}

// listBrokers answers the broker sets.
//
//	@Summary	Broker sets with their members
//	@Tags	brokers
//	@Success	200	{object}	api.BrokerList	"the broker sets"
//	@Router	/api/v1/brokers [get]
func (h *Handler) listBrokers(c *call) (reply, error) {
	f, pg := c.nameFilter(), c.page("brokerName")
	clusters, zones := c.query.all("cluster"), c.query.all("zone")
	states := c.query.words("state", "live", "late", "expired", "all")
	sources := c.query.words("source", "remoting", "rest")
	if len(states) > 0 && c.query.has(paramWait) {
		// It would be answered at once, and asked again at once.
		c.query.bad(paramWait, "not-with-state", "cannot go with state, which changes with the clock alone: leave one of them out", "不能与只随时间变化的 state 同时使用：请去掉其中之一")
	}
	if err := c.query.err(); err != nil {
		return reply{}, err
	}
	v := c.view()
	fits := func(m *api.Member) bool {
		return (len(clusters) == 0 || slices.Contains(clusters, m.ClusterName)) &&
			(len(zones) == 0 || m.ZoneName != nil && slices.ContainsFunc(zones, func(z string) bool { return strings.EqualFold(z, *m.ZoneName) })) &&
			(len(sources) == 0 || slices.Contains(sources, m.Source)) &&
			(len(states) == 0 || slices.Contains(states, m.State) || slices.Contains(states, "all"))
	}
	sets := make(map[string]api.BrokerSet)
	for _, g := range c.snap.Groups() {
		set := v.BrokerSet(g)
		set.Members = slices.DeleteFunc(set.Members, func(m api.Member) bool { return !fits(&m) })
		if f.fits(g.Name) && len(set.Members) > 0 {
			sets[g.Name] = set
		}
	}
	if slices.Contains(states, "all") || slices.Contains(states, "expired") {
		for _, m := range c.gone(v) {
			if f.fits(m.BrokerName) && fits(&m) {
				addGone(sets, m)
			}
		}
	}
	return c.brokerList(v, sets, pg, len(states) == 0), nil
}

// addGone puts a member that left into its set, which may itself be gone.
func addGone(sets map[string]api.BrokerSet, m api.Member) {
	set, ok := sets[m.BrokerName]
	if !ok {
		set = api.BrokerSet{
			BrokerName: m.BrokerName, ClusterName: m.ClusterName, ZoneName: m.ZoneName,
			WritePerm: convert.Granted, Problems: []string{convert.ProblemNoMaster}, Revision: m.Revision,
		}
	}
	set.Members = append(set.Members, m)
	slices.SortStableFunc(set.Members, func(a, b api.Member) int { return int(max(-1, min(1, a.BrokerID-b.BrokerID))) })
	sets[m.BrokerName] = set
}

// brokerList makes the answer. What is asked for by state changes with the clock alone
// and therefore has no ETag.
func (c *call) brokerList(v *convert.View, sets map[string]api.BrokerSet, pg page, steady bool) reply {
	part, next := pg.cut(sortedKeys(sets))
	out := api.BrokerList{Revision: v.At(), Total: len(sets), Items: make([]api.BrokerSet, 0, len(part)), Next: next}
	for _, n := range part {
		out.Items = append(out.Items, sets[n])
	}
	rep := c.listReply(out, next, max(c.snap.MembersRevision(), c.snap.TopicsRevision()), seqOf(out.Items))
	rep.weak, rep.keys = true, []hubKey{waitFor(keyMembers, ""), waitFor(keyTopics, "")}
	if !steady {
		rep.etag = ""
	}
	rep.text = func() []byte {
		tb := memberTable()
		for _, s := range out.Items {
			for i := range s.Members {
				memberRow(tb, &s.Members[i])
			}
		}
		tb.note("revision %s  broker names %d", out.Revision, out.Total)
		return tb.bytes()
	}
	return c.trimmed(rep)
}

func memberTable() *table {
	return newTable("BROKER", "ID", "ROLE", "CLUSTER", "ZONE", "ADDRESS", "SOURCE", "STATE", "LEFT", "TOPICS", "WRITE", "VERSION")
}

func memberRow(tb *table, m *api.Member) {
	zone := ""
	if m.ZoneName != nil {
		zone = *m.ZoneName
	}
	tb.row(m.BrokerName, m.BrokerID, m.Role, m.ClusterName, zone, m.BrokerAddr, m.Source, m.State, left(m.LeftMillis), m.TopicCount, m.WritePerm, m.Version)
}

// getBroker answers one broker set with its members.
//
//	@Summary	One broker set
//	@Description	[901]
//	@Tags	brokers
//	@Param	brokerName	path	string	true	"the broker name"
//	@Success	200	{object}	api.BrokerSet	"the broker set"
//	@Failure	404	{object}	api.Problem	"broker-not-found"
//	@Router	/api/v1/brokers/{brokerName} [get]
func (h *Handler) getBroker(c *call) (reply, error) {
	g, err := c.group()
	if err != nil {
		return reply{}, err
	}
	v := c.view()
	set := v.BrokerSet(g)
	rev := g.Revision
	for _, m := range g.Members {
		rev = max(rev, c.snap.LiveOf(m).Revision)
	}
	if w := c.snap.Wiped(g.Name); w != nil {
		rev = max(rev, w.Revision)
	}
	return reply{
		body: set, etag: c.revision(max(rev, c.topicsShown())), weak: true,
		keys: []hubKey{waitFor(keyMembers, ""), waitFor(keyTopics, "")},
		text: func() []byte {
			tb := memberTable()
			for i := range set.Members {
				memberRow(tb, &set.Members[i])
			}
			tb.note("broker %s  revision %s  digest %s", cell(set.BrokerName), set.Revision, set.Digest)
			for _, p := range set.Problems {
				tb.note("problem %s", p)
			}
			return tb.bytes()
		},
	}, nil
}

// topicsShown is the revision of what an answer with a topic count shows.
func (c *call) topicsShown() uint64 { return c.snap.TopicsRevision() }

// getMember answers one member.
//
//	@Summary	One member
//	@Description	[322]
//	@Tags	members
//	@Param	brokerName	path	string	true	"the broker name"
//	@Param	brokerId	path	integer	true	"0 is the master"
//	@Success	200	{object}	api.Member	"the member"
//	@Failure	404	{object}	api.Problem	"broker-not-found, member-not-found"
//	@Router	/api/v1/brokers/{brokerName}/members/{brokerId} [get]
func (h *Handler) getMember(c *call) (reply, error) {
	g, m, err := c.member()
	if err != nil {
		return reply{}, err
	}
	return c.memberReply(g, m), nil
}

func (c *call) memberReply(g *registry.Group, m registry.Member) reply {
	out := c.view().Member(g, m)
	return reply{
		body: out, etag: c.memberTag(g, c.snap.LiveOf(m), &out), weak: true, keys: []hubKey{waitFor(keyMembers, ""), waitFor(keyTopics, "")},
		text: func() []byte {
			tb := memberTable()
			memberRow(tb, &out)
			return tb.bytes()
		},
	}
}

// memberTag names the state of a member, without what moves with the clock. Behind the
// revision, which alone counts for If-Match, stands what is shown of its topics.
func (c *call) memberTag(g *registry.Group, l *registry.Live, out *api.Member) string {
	return c.revision(max(g.Revision, l.Revision)) + "-" + itoa(out.TopicCount) + "-" + out.WritePerm
}
