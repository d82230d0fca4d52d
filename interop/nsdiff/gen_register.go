package main

import (
	"fmt"
	"strconv"
	"strings"
)

// register makes a registration: of a broker that is there, with or without a change, or of one that comes.
func (g *gen) register() *Step {
	b, mode := g.candidate()
	r := &RegSpec{Cluster: b.cluster, Name: b.name, Addr: b.addr, HA: "ha:" + b.addr, ID: strconv.Itoa(b.id), Form: "full"}
	if g.chance(0.03) {
		r.HA = ""
	}
	st := &Step{Op: "reg", Ver: g.version(), Reg: r}
	if b.conn == "" || g.chance(0.08) {
		b.conn = "k" + strings.Trim(b.addr, "@a")
		switch {
		case g.stray():
			b.conn = fmt.Sprintf("k%d", g.Intn(8)) // perhaps another broker's
		case len(b.conn) > 2 || g.chance(0.08):
			g.xconn++
			b.conn = fmt.Sprintf("m%d", g.xconn)
		}
	}
	st.Conn = b.conn
	same := g.speakOf(b, mode)
	dv := b.dv
	r.DV = &dv
	if g.chance(0.03) {
		r.DV = nil
		same = false
	}
	if !same || g.stray() {
		b.topics = g.topicsFor(b, mode)
	}
	if len(b.topics) == 1 && g.member(b.name, b.id) == nil && !g.stray() {
		b.topics = append(b.topics, g.topicSpec(topicNames[5]))
		if b.topics[0].Name == topicNames[5] {
			b.topics[1].Name = topicNames[4]
		}
	}
	r.Topics = append([]TopicSpec{}, b.topics...)
	g.headerExtras(b, r)
	g.bodyForm(st, b, same)
	b.comp = r.Comp == "true"
	if g.chance(0.12) {
		st.Enc = "rmq"
	}
	if g.chance(0.05) {
		st.Lang = "CPP"
	}
	if g.chance(0.03) {
		st.Chunk = pick(g, 1, 5, 64)
	}
	g.learn(b, r)
	return st
}

// candidate picks who registers, and says in what role.
func (g *gen) candidate() (*mbroker, string) {
	name := g.name()
	b := &mbroker{name: name, id: g.id(), dv: DV{State: int64(g.Intn(3)), Counter: int64(g.Intn(3))}}
	mode := "new"
	if old := g.any(); old != nil {
		switch x := g.Intn(100); {
		case x < 34:
			mode = "refresh"
			*b = *old
			return b, mode
		case x < 48:
			mode = "switch id"
			*b = *old
			b.id = g.id()
			return b, mode
		case x < 66:
			mode = "takeover"
			*b = *old
			b.addr, b.conn = g.addr(b.name), ""
			return b, mode
		case x < 80:
			mode = "group" // another member of the same broker name
			*b = *old
			b.addr, b.id, b.conn = g.addr(b.name), g.id(), ""
			return b, mode
		}
	}
	b.cluster, b.addr = g.home(name), g.addr(name)
	return b, mode
}

// member is who holds a place, as far as the model knows.
func (g *gen) member(name string, id int) *mbroker {
	for _, o := range g.live {
		if o.name == name && o.id == id {
			return o
		}
	}
	return nil
}

// speakOf gives b its data version. same: it is the one that its address spoke of last, so that its topics should be.
func (g *gen) speakOf(b *mbroker, mode string) (same bool) {
	last, spoke := g.said[b.cluster+b.addr]
	switch x := g.Intn(100); {
	case mode == "refresh" && x < 35 && !b.comp && spoke && last == b.dv:
		return true
	case x < 70:
		b.dv.Counter++
	case x < 82:
		b.dv.State++
	case x < 90:
		if b.dv.State > 0 {
			b.dv.State--
		}
	case x < 95:
		b.dv.Time++
	}
	holder := g.member(b.name, b.id)
	if holder != nil && holder.addr != b.addr && holder.dv.State > b.dv.State && g.chance(0.75) {
		b.dv.State = holder.dv.State // else the registration is refused, which is an answer worth comparing too
	}
	for spoke && last == b.dv {
		b.dv.Counter++
	}
	return false
}

func (g *gen) topicsFor(b *mbroker, mode string) []TopicSpec {
	var out []TopicSpec
	seen := map[string]bool{}
	add := func(n string) {
		if !seen[n] {
			seen[n] = true
			out = append(out, g.topicSpec(n))
		}
	}
	switch x := g.Intn(100); {
	case mode == "refresh" && x < 40:
		return b.topics
	case x < 12:
		add(g.topic())
	case x < 20:
	case x < 30:
		for _, n := range topicNames {
			if g.chance(0.7) {
				add(n)
			}
		}
	default:
		for range 2 + g.Intn(3) {
			add(g.topic())
		}
	}
	return out
}

func (g *gen) headerExtras(b *mbroker, r *RegSpec) {
	act := 0.25
	if g.profile == "actingmaster" {
		act = 0.8
	}
	if g.chance(act) {
		r.Acting = pick(g, "true", "true", "true", "true", "false", "TRUE", "yes")
	}
	if g.chance(0.3) {
		z := pick(g, "z1", "z1", "z1", "z2", "z2", "Z1", "", "区", "a/b\x7f\x01<😀>")
		r.Zone = &z
	}
	if g.refused(b) && !g.stray() { // says nothing new of its group, which would show that the oracle listens all the same
		r.Acting, r.Zone = g.groups[b.name].acting, g.groups[b.name].zone
	}
	if g.chance(0.3) {
		r.Timeout = pick(g, "120000", "1000000", "600000")
	}
	switch x := g.Intn(100); {
	case x < 35:
		r.CRC = "right"
	case x < 40:
		r.CRC = "wrong"
	case x < 43:
		r.CRC = "0"
	}
	switch x := g.Intn(100); {
	case x < 55:
	case x < 75:
		r.Filters = []string{"f:" + b.name}
	case x < 90:
		r.Filters = []string{"f1", "f2", "过滤"}
	default:
		r.NoFilt = true
	}
}

// refused: another address holds the place with a later state.
func (g *gen) refused(b *mbroker) bool {
	o := g.member(b.name, b.id)
	return o != nil && o.addr != b.addr && o.cluster == b.cluster && o.dv.State > b.dv.State
}

// bodyForm chooses how the body is written. A registration that repeats a version (same) keeps to what carries all of it.
func (g *gen) bodyForm(st *Step, b *mbroker, same bool) {
	r := st.Reg
	switch {
	case st.Ver < v3_0_11:
		r.Form = "old"
	case g.chance(0.05) && !same:
		r.Form = "none"
		r.Topics, r.Filters, r.DV = nil, nil, &DV{Time: -baseTime}
		b.topics, b.dv = nil, *r.DV
	case g.chance(0.25) && !same:
		r.Comp = "true"
	default:
		if g.chance(0.5) {
			r.Comp = "false"
		}
	}
	if r.Form == "full" && g.chance(0.15) && !same {
		g.mapping(r, b)
	}
	if r.Form == "full" && r.Comp != "true" && g.chance(0.01) {
		r.NoTable = true
		r.Topics, b.topics = nil, nil
	}
}

// mapping adds a static topic, mostly together with the topic itself.
func (g *gen) mapping(r *RegSpec, b *mbroker) {
	n := pick(g, "ST1@u@", "ST2@u@")
	bn := b.name
	if g.chance(0.1) {
		bn = "other"
	}
	m := MapSpec{Topic: n, Bname: bn, Total: 2 + g.Intn(6), Epoch: int64(g.Intn(4)), Dirty: g.chance(0.1)}
	for i := range g.Intn(4) {
		m.IDs = append(m.IDs, [2]int{i, g.Intn(8)})
	}
	if g.chance(0.1) {
		m.Scope = "s1"
	}
	r.Maps = []MapSpec{m}
	r.Detail = g.chance(0.5)
	if g.chance(0.7) && (len(r.Topics) > 0 || g.member(b.name, b.id) != nil) {
		for _, t := range r.Topics {
			if t.Name == n {
				return
			}
		}
		r.Topics = append(r.Topics, g.topicSpec(n))
		b.topics = append([]TopicSpec{}, r.Topics...)
	}
}

// learn keeps the model: one address one place, the last writer wins, unless it is refused.
func (g *gen) learn(b *mbroker, r *RegSpec) {
	if r.CRC == "wrong" || g.refused(b) {
		return
	}
	g.dropLive(func(o *mbroker) bool {
		return o.cluster == b.cluster && o.addr == b.addr || o.name == b.name && o.id == b.id
	})
	g.live = append(g.live, b)
	g.groups[b.name] = mgroup{r.Zone, r.Acting}
	if r.DV != nil {
		g.said[b.cluster+b.addr] = b.dv
	} else {
		delete(g.said, b.cluster+b.addr)
	}
}
