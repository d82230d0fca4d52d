package handlers

import (
	"encoding/json"
	"slices"

	"fingerpost/api"
	"fingerpost/internal/convert"
	"fingerpost/registry"
)

// patchMember changes what a member has registered, without its saying all of it.
//
//	@Summary	Change what a member registered
//	@Description	A JSON merge patch: what is left out stays, null removes.
//	@Tags	members
//	@Param	brokerName	path	string	true	"the broker name"
//	@Param	brokerId	path	integer	true	"0 is the master"
//	@Param	If-Match	header	string	false	"the ETag that the resource must still have"
//	@Param	body	body	api.MemberPatch	true	"the changes"
//	@Success	200	{object}	api.Registered	"the member"
//	@Failure	404	{object}	api.Problem	"member-not-found"
//	@Failure	409	{object}	api.Problem	"member-taken-over, member-held-by-other, member-held-by-remoting, stale-state-version, address-in-use"
//	@Failure	412	{object}	api.Problem	"precondition-failed"
//	@Router	/api/v1/brokers/{brokerName}/members/{brokerId} [patch]
func (h *Handler) patchMember(c *call) (reply, error) {
	name, id, err := c.place()
	if err != nil {
		return reply{}, err
	}
	body, nulls, err := c.mergePatch()
	if err != nil {
		return reply{}, err
	}
	var warnings []api.Note
	edit := func(s *registry.Snapshot, l *registry.Live) (reg registry.Registration, err error) {
		c.snap = s
		if err = c.memberMatches(s.Group(name), l); err == nil {
			reg, warnings, err = c.amended(l, &body, nulls)
		}
		return reg, err
	}
	var res registry.Registered
	if c.dry {
		res, err = h.tryAmend(c, name, id, edit)
	} else {
		res, err = h.deps.Registry.Amend(name, id, c.claim(), edit, c.cause(c.op.action))
	}
	return c.registered(res, warnings), err
}

// tryAmend tells what an amendment would do.
func (h *Handler) tryAmend(c *call, name string, id int64, edit func(*registry.Snapshot, *registry.Live) (registry.Registration, error)) (registry.Registered, error) {
	if _, err := c.snap.WouldRemove(name, id, c.claim()); err != nil {
		return registry.Registered{}, err
	}
	reg, err := edit(c.snap, c.snap.Member(name, id))
	if err != nil {
		return registry.Registered{}, err
	}
	return h.deps.Registry.Try(reg)
}

// mergePatch reads the body, and which of its members are null.
func (c *call) mergePatch() (api.MemberPatch, map[string]bool, error) {
	var body api.MemberPatch
	raw, err := c.body(c.h.limits.RegistrationBody, "application/json", "application/merge-patch+json")
	if err != nil {
		return body, nil, err
	}
	if err := decodeInto(raw, &body); err != nil {
		return body, nil, err
	}
	var members map[string]json.RawMessage
	_ = json.Unmarshal(raw, &members) // has just been decoded
	nulls := make(map[string]bool)
	bad := &problem{code: "validation-failed"}
	for _, k := range sortedKeys(members) {
		if string(members[k]) != "null" {
			continue
		}
		nulls[k] = true
		if k != "haServerAddr" && k != "zoneName" {
			bad.errors = append(bad.errors, fieldError{pointer: pointerTo(k), code: "not-removable", detail: text{"cannot be removed", "不能移除"}})
			bad.detail = text{k + " cannot be removed.", k + " 不能移除。"}
		}
	}
	if len(bad.errors) > 0 {
		return body, nil, bad
	}
	return body, nulls, nil
}

// memberMatches refuses a change of a member that has changed since it was read.
func (c *call) memberMatches(g *registry.Group, l *registry.Live) error {
	have := c.r.Header["If-Match"]
	if len(have) == 0 || matchesBase(have, c.revision(max(g.Revision, l.Revision))) {
		return nil
	}
	return memberMoved()
}

func memberMoved() error {
	return refuse("precondition-failed", "The member has changed since it was read.", "该成员在读取之后已被修改。")
}

// amended is the registration that a patch makes of the present one.
func (c *call) amended(l *registry.Live, p *api.MemberPatch, nulls map[string]bool) (registry.Registration, []api.Note, error) {
	reg := registry.Registration{MemberInfo: l.MemberInfo, KeepVersion: p.DataVersion == nil}
	warnings := []api.Note{}
	reg.Addr = valueOr(p.BrokerAddr, reg.Addr)
	if p.HAServerAddr != nil || nulls["haServerAddr"] {
		reg.HAAddr, reg.HasHA = valueOr(p.HAServerAddr, ""), p.HAServerAddr != nil
	}
	if p.ZoneName != nil || nulls["zoneName"] {
		reg.Zone, reg.HasZone = valueOr(p.ZoneName, ""), p.ZoneName != nil
	}
	if p.EnableActingMaster != nil {
		reg.Acting = registry.ActingOff
		if *p.EnableActingMaster {
			reg.Acting = registry.ActingOn
		}
	}
	if p.HeartbeatTimeoutMillis != nil {
		reg.Timeout, warnings = c.ttl(p.HeartbeatTimeoutMillis)
	}
	if v := p.DataVersion; v != nil {
		reg.Version = registry.DataVersion{State: v.StateVersion, Timestamp: v.Timestamp, Counter: v.Counter}
	}
	if g := c.snap.Group(l.Name); g != nil && reg.Addr != l.Addr {
		// The filter servers go along with a member that moves.
		i := slices.IndexFunc(g.Members, func(m registry.Member) bool { return m.ID == l.ID })
		reg.Filters, reg.HasFilters = g.Members[i].Filters, true
	}
	if p.TopicConfigTable == nil {
		return reg, append(warnings, c.warnings(reg.Addr, nil)...), nil
	}
	table, err := c.amendedTopics(l.Name, p.TopicConfigTable)
	if err != nil {
		return reg, nil, err
	}
	reg.Replace = true
	reg.Topics, err = c.statement(&reg.MemberInfo, table)
	return reg, append(warnings, c.warnings(reg.Addr, nil)...), err
}

// amendedTopics is the whole table after the changes to some topics of it.
func (c *call) amendedTopics(broker string, patch map[string]*api.TopicConfigPatch) (map[string]api.TopicConfig, error) {
	out := make(map[string]api.TopicConfig, c.snap.BrokerTopicCount(broker))
	for t, conf := range c.snap.BrokerTopics(broker) {
		out[t.Name] = api.TopicConfig{
			ReadQueueNums: &conf.ReadQueues, WriteQueueNums: &conf.WriteQueues, Perm: &conf.Perm,
			TopicSysFlag: &conf.SysFlag, Order: conf.Order, Attributes: convert.Attributes(conf.Attributes),
		}
	}
	for _, name := range sortedKeys(patch) {
		p := patch[name]
		if p == nil {
			delete(out, name)
			continue
		}
		t := out[name]
		t.ReadQueueNums, t.WriteQueueNums = orElse(p.ReadQueueNums, t.ReadQueueNums), orElse(p.WriteQueueNums, t.WriteQueueNums)
		t.Perm, t.TopicSysFlag = orElse(p.Perm, t.Perm), orElse(p.TopicSysFlag, t.TopicSysFlag)
		t.Order = valueOr(p.Order, t.Order)
		t.Attributes = amendedAttributes(t.Attributes, p.Attributes)
		out[name] = t
	}
	for _, name := range sortedKeys(patch) {
		if t, ok := out[name]; ok && (t.ReadQueueNums == nil || t.WriteQueueNums == nil) {
			return nil, &problem{
				code: "validation-failed", detail: say("%s is new and needs readQueueNums and writeQueueNums.", "%s 是新 Topic，需要 readQueueNums 和 writeQueueNums。", name),
				errors: []fieldError{{pointer: pointerTo("topicConfigTable", name), code: "required", detail: text{"is new and needs readQueueNums and writeQueueNums", "是新 Topic，需要 readQueueNums 和 writeQueueNums"}}},
			}
		}
	}
	return out, nil
}

func orElse[T any](p, otherwise *T) *T {
	if p != nil {
		return p
	}
	return otherwise
}

func amendedAttributes(have map[string]string, patch map[string]*string) map[string]string {
	for k, v := range patch {
		if have == nil {
			have = make(map[string]string)
		}
		if v == nil {
			delete(have, k)
		} else {
			have[k] = *v
		}
	}
	return have
}
