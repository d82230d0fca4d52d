package main

import (
	"fmt"
	"strconv"
	"strings"
)

func (g *gen) heartbeat() *Step {
	b := g.any()
	if b == nil || g.chance(0.15) {
		b = g.stranger()
	}
	st := g.req(rcHeartbeat, "brokerName", b.name, "brokerAddr", b.addr, "clusterName", b.cluster)
	if g.chance(0.3) {
		st.Ext["brokerId"] = strconv.Itoa(b.id)
		st.Ext["epoch"] = "3"
		st.Ext["maxOffset"] = "100"
		st.Ext["heartbeatTimeoutMills"] = "120000"
	}
	g.ownConn(st, b)
	return st
}

// ownConn sends what counts as a heartbeat where it ties the broker to no other connection.
func (g *gen) ownConn(st *Step, b *mbroker) {
	for _, o := range g.live {
		if o.cluster == b.cluster && o.addr == b.addr && !g.stray() {
			st.Conn = o.conn
		}
	}
}

func (g *gen) dataVersion() *Step {
	b := g.any()
	if b == nil || g.chance(0.15) {
		b = g.stranger()
	}
	st := g.req(rcDataVersion, "brokerName", b.name, "brokerAddr", b.addr, "clusterName", b.cluster, "brokerId", strconv.Itoa(b.id))
	dv := b.dv
	switch x := g.Intn(10); {
	case x < 5:
	case x < 6:
		dv.Counter++
	case x < 7:
		dv.State++
	case x < 8:
		dv.Time++
	}
	if !g.chance(0.05) {
		t := dv.json()
		switch g.Intn(12) {
		case 0:
			t = fmt.Sprintf(`{"timestamp":%d,"counter":%d}`, baseTime+dv.Time, dv.Counter)
		case 1:
			t = fmt.Sprintf(`{"timestamp":%d,"stateVersion":%d}`, baseTime+dv.Time, dv.State)
		}
		st.Body = &t
	}
	g.ownConn(st, b)
	return st
}

func (g *gen) route() *Step {
	t := g.topic()
	if b := g.any(); b != nil && len(b.topics) > 0 && g.chance(0.6) {
		t = b.topics[g.Intn(len(b.topics))].Name
	}
	st := g.req(rcRoute, "topic", t)
	if g.chance(0.2) {
		st.Ext["acceptStandardJsonOnly"] = pick(g, "true", "true", "false", "TRUE", "yes")
	}
	if g.chance(0.2) {
		st.Ext[extZoneMode] = pick(g, "true", "true", "true", "true", "false", "TRUE", "yes")
		st.Ext[extZone] = pick(g, "z1", "z1", "z2", "Z2", "", " ", "区")
		if g.chance(0.05) {
			delete(st.Ext, extZone)
		}
	}
	return st
}

func (g *gen) lists() *Step {
	return g.req(pick(g, rcCluster, rcCluster, rcAllTopics, rcSysTopics, rcUnitTopics, rcUnitSub, rcUnitSubNo))
}

func (g *gen) topicsOf() *Step { return g.req(rcTopicsOf, "cluster", pick(g, g.cluster(), "nowhere")) }

func (g *gen) memberGroup() *Step {
	return g.req(rcMemberGroup, "clusterName", g.cluster(), "brokerName", pick(g, g.name(), g.name(), "none"))
}

func (g *gen) perm() *Step {
	code := rcWipePerm
	if g.plain && g.chance(0.5) || g.stray() {
		code = rcAddPerm
	}
	return g.req(code, "brokerName", pick(g, g.name(), g.name(), g.name(), "none"))
}

func (g *gen) delTopic() *Step {
	t := g.topic()
	if b := g.any(); b != nil && len(b.topics) > 0 && g.chance(0.6) {
		t = b.topics[g.Intn(len(b.topics))].Name
	}
	st := g.req(rcDelTopic, "topic", t)
	if g.chance(0.7) {
		st.Ext["clusterName"] = pick(g, g.cluster(), g.cluster(), "nowhere", "")
	}
	return st
}

func (g *gen) regTopic() *Step {
	st := g.req(rcRegTopic, "topic", g.topic())
	var qs []string
	for range g.Intn(4) {
		b := g.any()
		if b == nil {
			break
		}
		n, perm := b.name, 6
		if g.stray() {
			n = "none"
		}
		if !g.plain {
			perm = pick(g, 6, 4, 2)
		}
		qs = append(qs, fmt.Sprintf(`{"brokerName":%s,"perm":%d,"readQueueNums":%d,"topicSysFlag":%d,"writeQueueNums":%d}`,
			quoteJSON(n), perm, pick(g, 1, 4, 8), flagOf(st.Ext["topic"]), pick(g, 1, 4, 8)))
	}
	t := `{"brokerDatas":[],"filterServerTable":{},"queueDatas":[` + strings.Join(qs, ",") + `]}`
	switch g.Intn(20) {
	case 0:
		return st // no body
	case 1:
		t = "{}"
	case 2:
		t = `{"queueDatas":null}`
	}
	st.Body = &t
	return st
}

func (g *gen) unknown() *Step {
	st := g.req(pick(g, 0, 1, 10, 34, 99, 107, 200, 207, 225, 300, 320, 351, 900, 902, 905, 1001, 9999, 32767, -1, -300))
	return st
}

func (g *gen) pipeline() *Step {
	st := &Step{Op: "pipe", Conn: pick(g, "adm", "k1")}
	for i := 0; i < 3+g.Intn(6); i++ {
		p := pick(g, (*gen).route, (*gen).lists, (*gen).topicsOf, (*gen).memberGroup, (*gen).getConfig, (*gen).unknown)(g)
		p.Conn, p.Chunk = "", 0
		st.Pipe = append(st.Pipe, p)
	}
	if g.chance(0.2) {
		st.Chunk = 11
	}
	return st
}

func (g *gen) oneway() *Step {
	st := pick(g, (*gen).register, (*gen).register, (*gen).unregister, (*gen).kv, (*gen).route, (*gen).perm)(g)
	st.Oneway = true
	return st
}

func (g *gen) tls() *Step {
	st := pick(g, (*gen).route, (*gen).lists, (*gen).unknown)(g)
	st.Op, st.Conn = "tls", ""
	return st
}
