package main

import "strings"

// memory is what a sequence has done that cannot be seen in the oracle any more, but decides whether a difference is an
// expected one.
type memory struct {
	// moved: the broker has sent a heartbeat over another connection than the one it registered on; that one.
	moved map[regKey]string
	// displaced are addresses that lost their place in a group to another registration.
	displaced map[string]bool
	// stale are static-topic mappings, by topic and broker, that have outlived the topic or the broker's part of it.
	stale map[[2]string]bool
	// sent are the mappings of the last registration, as canonical JSON.
	sent map[[2]string]string
}

func newMemory() memory {
	return memory{
		moved: map[regKey]string{}, displaced: map[string]bool{}, stale: map[[2]string]bool{},
		sent: map[[2]string]string{},
	}
}

// track notes what a step did to who is registered over which connection.
func (r *runner) track(st *Step, oa *outcome) {
	for _, p := range st.Pipe {
		if p.codeOf() == rcUnregister {
			h, _, _ := p.compile(r.env)
			r.forget(keyOf(h))
		}
	}
	if st.Op != "req" && st.Op != "reg" && st.Op != "expire" {
		return
	}
	h, _, _ := st.compile(r.env)
	k := keyOf(h)
	switch h.code {
	case rcRegister:
		if st.Oneway || len(oa.frames) == 1 && oa.frames[0] != nil && oa.frames[0].hdr.code == 0 {
			r.forget(k)
			r.regs[k] = regInfo{st.Conn, h.ext["brokerName"]}
			r.noteSent(st)
		}
	case rcUnregister:
		r.forget(k)
	case rcHeartbeat, rcDataVersion:
		if reg, known := r.regs[k]; known && reg.conn != st.Conn {
			r.moved[k] = st.Conn
		}
	}
}

// noteSent keeps the mappings of a registration, if its form carries them.
func (r *runner) noteSent(st *Step) {
	clear(r.sent)
	if st.Reg == nil || st.Reg.Form != "full" || st.Reg.isComp() && st.Ver < v5_0_0 {
		return
	}
	for _, m := range st.Reg.Maps {
		if n, _, err := parseJSON(r.env.sub(m.json())); err == nil {
			r.sent[[2]string{r.env.sub(m.Topic), r.env.sub(m.Bname)}] = n.canon()
		}
	}
}

func (r *runner) forget(k regKey) {
	delete(r.regs, k)
	delete(r.moved, k)
}

// noteDisplaced compares the oracle's cluster info before and after a registration.
func (r *runner) noteDisplaced(st *Step, before, after *node) {
	if st == nil || st.codeOf() != rcRegister {
		return
	}
	there := map[string]bool{}
	for _, g := range brokersOf(after) {
		for _, a := range g.addrs {
			there[a] = true
		}
	}
	for _, g := range brokersOf(before) {
		for _, a := range g.addrs {
			if !there[a] {
				r.displaced[a] = true
			}
		}
	}
}

// noteStale looks through the oracle's answer to a route request for mappings of brokers that no longer serve the topic.
func (r *runner) noteStale(topic string, f *frame) {
	if !strings.HasPrefix(topic, "ST") {
		return // no other topic has mappings
	}
	serves := map[string]bool{}
	var mapped []string
	if f != nil && f.hdr.code == 0 {
		d, _, err := parseJSON(string(f.body))
		if err != nil {
			return
		}
		for _, q := range d.get("queueDatas").arr {
			serves[q.get("brokerName").strOr("")] = true
		}
		all := d.get("topicQueueMappingByBroker")
		mapped = all.keys()
		for _, name := range mapped {
			k := [2]string{topic, name}
			if text, just := r.sent[k]; just && text == all.get(name).canon() { // the oracle has taken it anew
				delete(r.stale, k)
				delete(r.sent, k)
			}
		}
	}
	for name := range r.uni.names {
		mapped = append(mapped, name)
	}
	for _, name := range append(mapped, "other") {
		if k := [2]string{topic, name}; !serves[name] {
			r.stale[k] = true
			delete(r.sent, k) // a mapping that came before its topic
		}
	}
}
