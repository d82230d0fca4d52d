package handlers

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"fingerpost/api"
	"fingerpost/internal/auth"
	"fingerpost/internal/convert"
	"fingerpost/registry"
)

// Bounds of a REST member's time to live.
const (
	defaultTTL = 60 * time.Second
	minTTL     = 5 * time.Second
	maxTTL     = 24 * time.Hour
)

// putMember registers a member, or replaces what it has registered.
//
//	@Summary	Register a member, or replace what it registered
//	@Description	[103] Advertises an address: clients then speak RocketMQ's protocol to it. topicConfigTable, if given, is all that the broker serves.
//	@Tags	members
//	@Param	brokerName	path	string	true	"the broker name"
//	@Param	brokerId	path	integer	true	"0 is the master"
//	@Param	If-Match	header	string	false	"the ETag that the resource must still have"
//	@Param	body	body	api.Registration	true	"the registration"
//	@Success	200	{object}	api.Registered	"it was there"
//	@Success	201	{object}	api.Registered	"it is new"
//	@Failure	409	{object}	api.Problem	"member-held-by-remoting, member-held-by-other, stale-state-version, broker-in-other-cluster, address-in-use"
//	@Failure	412	{object}	api.Problem	"precondition-failed"
//	@Router	/api/v1/brokers/{brokerName}/members/{brokerId} [put]
func (h *Handler) putMember(c *call) (reply, error) {
	name, id, err := c.place()
	if err != nil {
		return reply{}, err
	}
	body, err := decode[api.Registration](c, h.limits.RegistrationBody)
	if err != nil {
		return reply{}, err
	}
	reg, warnings, err := c.registration(name, id, &body)
	if err != nil {
		return reply{}, err
	}
	empty := c.snap.Member(name, id) == nil
	res, err := h.registerMember(c, reg)
	rep := c.registered(res, warnings)
	if err == nil && empty && !c.dry {
		rep.status, rep.location = http.StatusCreated, h.linkBase+c.r.URL.EscapedPath()
	}
	return rep, err
}

// registerMember registers, or tells what that would do, or refuses because the member
// has changed since it was read.
func (h *Handler) registerMember(c *call, reg registry.Registration) (registry.Registered, error) {
	var seen *registry.Live
	if len(c.r.Header["If-Match"]) > 0 {
		if seen = c.snap.Member(reg.Name, reg.ID); seen == nil {
			return registry.Registered{}, memberMoved()
		}
		if err := c.memberMatches(c.snap.Group(reg.Name), seen); err != nil {
			return registry.Registered{}, err
		}
	}
	switch {
	case c.dry:
		return h.deps.Registry.Try(reg)
	case seen == nil:
		return h.deps.Registry.Register(reg, nil, c.cause(c.op.action))
	}
	res, moved, err := h.deps.Registry.RegisterOver(seen, reg, c.cause(c.op.action))
	if moved {
		err = memberMoved()
	}
	return res, err
}

// place reads the path of a member that is to be written, and checks that the caller
// may keep members of that name.
func (c *call) place() (name string, id int64, err error) {
	if name, err = c.part("brokerName"); err != nil {
		return "", 0, err
	}
	if id, err = c.memberID(); err != nil {
		return "", 0, err
	}
	c.subject = name + "/" + strconv.FormatInt(id, 10)
	switch {
	case !isName(name) || len(name) > 255:
		return "", 0, invalidPart("brokerName", "must be 1 to 255 long, printable, without blanks and / ? #", "长度 1 到 255，可打印，且不含空白和 / ? #")
	case id < 0 || id > maxBrokerID:
		return "", 0, invalidPart("brokerId", "must be from 0 to 9007199254740991", "必须在 0 到 9007199254740991 之间")
	}
	return name, id, c.mayKeep(name)
}

// maxBrokerID is the largest that every reader of JSON can tell from its neighbours.
const maxBrokerID = 1<<53 - 1

func (c *call) mayKeep(name string) error {
	if c.who.MayRegister(name) {
		return nil
	}
	return refuse("forbidden", "%s may keep brokers named %s, not %s.", "%s 只能维护名为 %s 的 Broker，不能维护 %s。",
		c.who.Name, strings.Join(c.who.Brokers, ", "), name)
}

func invalidPart(name, en, zh string) error {
	return &problem{
		code: "validation-failed", detail: text{"The part " + name + " of the path " + en + ".", "路径中的 " + name + " " + zh + "。"},
		errors: []fieldError{{parameter: name, code: "out-of-range", detail: text{en, zh}}},
	}
}

// claim is what the caller may do to members' places.
func (c *call) claim() registry.Claim {
	return registry.Claim{Owner: c.who.Name, Any: c.who.Role == auth.Admin}
}

// adminOnly reads a flag that only admins may set.
func (c *call) adminOnly(param string) (bool, error) {
	set := c.query.flag(param)
	if err := c.query.err(); err != nil {
		return false, err
	}
	if set && c.who.Role < auth.Admin {
		return false, refuse("forbidden", "%s needs the role admin.", "%s 需要 admin 角色。", param)
	}
	return set, nil
}

// registration makes the registry's form of a registration.
func (c *call) registration(name string, id int64, body *api.Registration) (registry.Registration, []api.Note, error) {
	takeover, err := c.adminOnly("takeover")
	if err != nil {
		return registry.Registration{}, nil, err
	}
	ttl, warnings := c.ttl(body.HeartbeatTimeoutMillis)
	reg := registry.Registration{Takeover: takeover, KeepVersion: body.DataVersion == nil, MemberInfo: registry.MemberInfo{
		Cluster: body.ClusterName, Addr: body.BrokerAddr, Name: name, ID: id, HAAddr: body.HAServerAddr, HasHA: body.HAServerAddr != "",
		Timeout: ttl, Acting: registry.ActingOff, Source: registry.FromREST, Owner: c.who.Name, Language: agent(c.r),
	}}
	if body.EnableActingMaster {
		reg.Acting = registry.ActingOn
	}
	if body.ZoneName != nil {
		reg.Zone, reg.HasZone = *body.ZoneName, true
	}
	if body.FilterServerList != nil {
		reg.Filters, reg.HasFilters = *body.FilterServerList, true
	}
	if v := body.DataVersion; v != nil {
		reg.Version = registry.DataVersion{State: v.StateVersion, Timestamp: v.Timestamp, Counter: v.Counter}
	}
	if body.TopicConfigTable != nil {
		if reg.Topics, err = c.statement(&reg.MemberInfo, body.TopicConfigTable); err != nil {
			return reg, nil, err
		}
		reg.Replace = true
	}
	return reg, append(warnings, c.warnings(reg.Addr, body.TopicConfigTable)...), nil
}

// ttl clamps how long a member lives.
func (c *call) ttl(millis *int64) (time.Duration, []api.Note) {
	if millis == nil {
		return defaultTTL, []api.Note{}
	}
	clamped := max(minTTL.Milliseconds(), min(*millis, maxTTL.Milliseconds()))
	if clamped == *millis {
		return time.Duration(clamped) * time.Millisecond, []api.Note{}
	}
	return time.Duration(clamped) * time.Millisecond, []api.Note{c.warn("ttl-clamped",
		"heartbeatTimeoutMillis %d is outside of 5000 to 86400000; %d is used.", "heartbeatTimeoutMillis %d 不在 5000 到 86400000 之间，按 %d 处理。", *millis, clamped)}
}

func (c *call) warn(code, en, zh string, args ...any) api.Note {
	return api.Note{Code: code, Detail: say(en, zh, args...).in(language(c.r))}
}

// warnings are about what is allowed and may not be meant.
func (c *call) warnings(addr string, topics map[string]api.TopicConfig) []api.Note {
	var out []api.Note
	if host := hostname(addr); host == "localhost" || strings.HasPrefix(host, "127.") || host == "::1" {
		out = append(out, c.warn("loopback-address", "%s can only be reached from its own host.", "%s 只能从本机访问。", addr))
	}
	v := c.view()
	for _, t := range sortedKeys(topics) {
		if v.TopicType(t) == convert.TypeSystem && len(out) < maxErrors {
			out = append(out, c.warn("topic-name-reserved", "%s is a name that brokers use for themselves.", "%s 是 Broker 内部使用的名称。", t))
		}
	}
	return out
}

// statement makes the registry's form of a table of topics.
func (c *call) statement(m *registry.MemberInfo, table map[string]api.TopicConfig) (*registry.Statement, error) {
	if len(table) > c.h.limits.Topics {
		return nil, refuse("body-too-large", "A registration may have %d topics, not %d.", "一次注册最多 %d 个 Topic，而不是 %d 个。", c.h.limits.Topics, len(table))
	}
	bad := &problem{code: "validation-failed"}
	st := c.snap.NewStatement(m.Cluster, m.Addr)
	for _, name := range sortedKeys(table) {
		t := table[name]
		if *t.ReadQueueNums == 0 && *t.WriteQueueNums == 0 {
			bad.errors = append(bad.errors, noQueues("topicConfigTable", name))
		}
		st.Add(name, registry.TopicConfig{Order: t.Order, Attributes: registry.FormatAttributes(t.Attributes), QueueSpec: registry.QueueSpec{
			ReadQueues: *t.ReadQueueNums, WriteQueues: *t.WriteQueueNums, Perm: valueOr(t.Perm, registry.PermReadWrite), SysFlag: valueOr(t.TopicSysFlag, 0),
		}})
	}
	if len(bad.errors) > 0 {
		bad.detail = text{*bad.errors[0].pointer + " " + bad.errors[0].detail.en + ".", *bad.errors[0].pointer + " " + bad.errors[0].detail.zh + "。"}
		return nil, bad
	}
	return st, nil
}

func noQueues(path ...string) fieldError {
	return fieldError{pointer: pointerTo(path...), code: "no-queues", detail: text{"must have a queue to read or to write", "读队列和写队列不能都为 0"}}
}

func valueOr[T any](p *T, otherwise T) T {
	if p == nil {
		return otherwise
	}
	return *p
}

// agent is what the caller's program says of itself, shortened, as the member's language.
func agent(r *http.Request) string {
	s := strings.ToValidUTF8(r.UserAgent(), "")
	s = strings.Map(func(c rune) rune {
		if unicode.IsControl(c) {
			return -1
		}
		return c
	}, s)
	return strings.ToValidUTF8(s[:min(len(s), 64)], "")
}

// registered answers a registration with the member as it now stands.
func (c *call) registered(res registry.Registered, warnings []api.Note) reply {
	if res.Live == nil {
		return reply{}
	}
	c.snap = c.h.deps.Registry.Snapshot()
	if res.TopicsIgnored {
		warnings = append(warnings, c.warn("slave-topics-ignored", "Topics of a slave do not count: those of its master do.", "从节点的 Topic 不生效，以主节点为准。"))
	}
	out := api.Registered{
		Member: c.registeredMember(res.Live), Warnings: warnings,
		Topics:              api.TopicCounts{Created: res.NewTopics, Changed: res.ChangedTopics, Removed: res.RemovedTopics, Unchanged: res.SameTopics},
		NextHeartbeatMillis: pace3(res.Live.Timeout), MasterAddr: res.MasterAddr, MasterHAServerAddr: res.MasterHAAddr,
	}
	if m, ok := res.Order[registry.OrderNamespace]; ok {
		out.OrderTopicConfig = m
	}
	rep := reply{body: out, revision: res.Revision, text: func() []byte {
		tb := memberTable()
		memberRow(tb, &out.Member)
		tb.note("topics created %d changed %d removed %d unchanged %d  next heartbeat in %s", out.Topics.Created, out.Topics.Changed,
			out.Topics.Removed, out.Topics.Unchanged, left(out.NextHeartbeatMillis))
		for _, w := range warnings {
			tb.note("warning %s: %s", w.Code, w.Detail)
		}
		return tb.bytes()
	}}
	if g := c.snap.Group(res.Live.Name); g != nil && !c.dry {
		rep.etag, rep.weak = c.memberTag(g, res.Live, &out.Member), true
	}
	return rep
}

func (c *call) registeredMember(l *registry.Live) api.Member {
	v := c.view()
	if g := c.snap.Group(l.Name); g != nil {
		if i := slices.IndexFunc(g.Members, func(m registry.Member) bool { return m.ID == l.ID && m.Addr == l.Addr && m.Cluster == l.Cluster }); i >= 0 && !c.dry {
			return v.Member(g, g.Members[i])
		}
	}
	return v.Registration(l)
}

// pace3 is when the next heartbeat is due: three of them may be lost.
func pace3(ttl time.Duration) int64 { return ttl.Milliseconds() / 3 }

// deleteMember takes a member out at once.
//
//	@Summary	Unregister a member
//	@Description	[104] At once.
//	@Tags	members
//	@Param	brokerName	path	string	true	"the broker name"
//	@Param	brokerId	path	integer	true	"0 is the master"
//	@Success	204	"it is gone"
//	@Failure	404	{object}	api.Problem	"member-not-found"
//	@Failure	409	{object}	api.Problem	"member-held-by-remoting, member-held-by-other"
//	@Router	/api/v1/brokers/{brokerName}/members/{brokerId} [delete]
func (h *Handler) deleteMember(c *call) (reply, error) {
	name, id, err := c.place()
	if err != nil {
		return reply{}, err
	}
	by := c.claim()
	if by.Force, err = c.adminOnly("force"); err != nil {
		return reply{}, err
	}
	if c.dry {
		_, err = c.snap.WouldRemove(name, id, by)
	} else {
		_, err = h.deps.Registry.Remove(name, id, by, c.cause(c.op.action))
	}
	return reply{status: http.StatusNoContent, revision: h.deps.Registry.Snapshot().Revision}, err
}

// beatMember renews a member's time.
//
//	@Summary	Renew a member's time
//	@Description	[904, 322] Needs no body. The answer sets the pace: 404 means that the member has to register again.
//	@Tags	members
//	@Param	brokerName	path	string	true	"the broker name"
//	@Param	brokerId	path	integer	true	"0 is the master"
//	@Param	body	body	api.Heartbeat	false	"the version that the sender's topics have"
//	@Success	200	{object}	api.Pulse	"when to come again"
//	@Failure	404	{object}	api.Problem	"member-not-found"
//	@Failure	409	{object}	api.Problem	"member-taken-over, member-held-by-other"
//	@Router	/api/v1/brokers/{brokerName}/members/{brokerId}/heartbeat [post]
func (h *Handler) beatMember(c *call) (reply, error) {
	name, id, err := c.place()
	if err != nil {
		return reply{}, err
	}
	var body api.Heartbeat
	if c.r.ContentLength != 0 {
		if body, err = c.beatBody(); err != nil {
			return reply{}, err
		}
	}
	pulse, err := h.beat(c, name, id, body.DataVersion)
	return reply{body: pulse, text: func() []byte {
		tb := newTable("BROKER", "ID", "NEXT", "EXPIRES", "CHANGED")
		tb.row(name, id, left(pulse.NextHeartbeatMillis), pulse.ExpiresAt, pulse.Changed)
		return tb.bytes()
	}}, err
}

// beatBody reads the body of a heartbeat, which may turn out to be empty.
func (c *call) beatBody() (api.Heartbeat, error) {
	if c.r.Header.Get("Content-Type") == "" {
		raw, err := c.read(c.h.limits.Body)
		if err != nil || len(raw) == 0 {
			return api.Heartbeat{}, err
		}
	}
	return decode[api.Heartbeat](c, c.h.limits.Body)
}

func (h *Handler) beat(c *call, name string, id int64, v *api.DataVersion) (*api.Pulse, error) {
	var said *registry.DataVersion
	if v != nil {
		said = &registry.DataVersion{State: v.StateVersion, Timestamp: v.Timestamp, Counter: v.Counter}
	}
	l, changed, err := h.deps.Registry.Renew(name, id, c.claim(), said)
	if err != nil {
		return nil, err
	}
	h.metrics.heartbeats.Inc()
	return &api.Pulse{
		NextHeartbeatMillis: pace3(l.Timeout), ExpiresAt: api.TimeOf(l.ExpiresAt()), DataVersion: convert.DataVersion(l.Version),
		Changed: changed, Revision: c.revision(c.snap.Revision),
	}, nil
}

// beatMembers renews many members; each has an outcome of its own.
//
//	@Summary	Renew many members
//	@Description	Each has an outcome of its own.
//	@Tags	members
//	@Param	body	body	api.HeartbeatBatch	true	"the members"
//	@Success	200	{object}	api.BeatResults	"the outcomes, in order"
//	@Router	/api/v1/heartbeats [post]
func (h *Handler) beatMembers(c *call) (reply, error) {
	body, err := decode[api.HeartbeatBatch](c, h.limits.BatchBody)
	if err != nil {
		return reply{}, err
	}
	c.subject = itoa(len(body.Members)) + " members"
	if err := h.limiters.more(c, len(body.Members)-1); err != nil {
		return reply{}, err
	}
	out := api.BeatResults{Revision: c.revision(c.snap.Revision), Items: make([]api.BeatResult, len(body.Members))}
	for i, m := range body.Members {
		r := api.BeatResult{BrokerName: m.BrokerName, BrokerID: *m.BrokerID, Status: http.StatusOK}
		err := c.mayKeep(m.BrokerName)
		if err == nil {
			r.Pulse, err = h.beat(c, m.BrokerName, *m.BrokerID, m.DataVersion)
		}
		if err != nil {
			p := problemOf(err)
			r.Status, r.Problem = p.status(), p.render(language(c.r), c.id, h.linkBase)
		}
		out.Items[i] = r
	}
	return reply{body: out, lines: seqOf(out.Items)}, nil
}
