package main

import (
	"strings"
	"time"
)

// scene is what the oracle was like before a step, and what the step is: enough to say whether it is one after which the
// two sides may part in one of the expected ways.
type scene struct {
	r  *runner
	st *Step     // nil when the whole state is compared
	h  []*header // the requests of the step: none, one, or those of a pipe
	// groups is the oracle's cluster info: before the step while stirs is asked, after it while covers is asked.
	groups map[string]member2
	// lists says which clusters list a broker name.
	lists   map[string][]string
	stirred map[string]bool // by anchor
	// crowded: the connection that closes holds several brokers, or one under several names.
	crowded bool
	ob      *outcome // B's answer, once it is there
}

func (r *runner) scene(st *Step) *scene {
	s := &scene{r: r, st: st, stirred: map[string]bool{}}
	s.look()
	if st == nil {
		return s
	}
	switch st.Op {
	case "req", "reg", "expire", "tls":
		h, _, _ := st.compile(r.env)
		s.h = []*header{h}
	case "pipe":
		for _, p := range st.Pipe {
			h, _, _ := p.compile(r.env)
			s.h = append(s.h, h)
		}
	}
	for _, e := range r.expected {
		if e.stirs != nil && e.stirs(s) {
			s.stirred[e.anchor] = true
		}
	}
	return s
}

// look reads the oracle's cluster info as it was last compared.
func (s *scene) look() {
	s.groups, s.lists = brokersOf(s.r.before), map[string][]string{}
	if t := s.r.before.get("clusterAddrTable"); t != nil {
		for _, m := range t.mem {
			for _, n := range m.val.arr {
				s.lists[n.strOr("")] = append(s.lists[n.strOr("")], m.key)
			}
		}
	}
}

// any says whether f holds for one of the step's requests with that code.
func (s *scene) any(code int, f func(h *header) bool) bool {
	for _, h := range s.h {
		if h.code == code && f(h) {
			return true
		}
	}
	return false
}

// reg is the step's registration, nil for any other step.
func (s *scene) reg() *header {
	if s.st != nil && len(s.h) == 1 && s.h[0].code == rcRegister {
		return s.h[0]
	}
	return nil
}

func keyOf(h *header) regKey { return regKey{h.ext["clusterName"], h.ext["brokerAddr"]} }

// version is the data version that the oracle keeps for an address, nil if it keeps none.
func (s *scene) version(k regKey) *node {
	f, err := s.r.a.ask(rcDataVersion, v5_5_0, map[string]string{
		"clusterName": k.cluster, "brokerAddr": k.addr,
		"brokerName": "?", "brokerId": "0",
	}, nil)
	if err != nil || len(f.body) == 0 {
		return nil
	}
	d, _, err := parseJSON(string(f.body))
	if err != nil {
		return nil
	}
	return d
}

// placed are the names in whose groups an address of a cluster stands.
func (s *scene) placed(k regKey) []string {
	var names []string
	for _, n := range sortedKeys(s.groups) {
		for _, a := range s.groups[n].addrs {
			if a == k.addr && s.groups[n].cluster == k.cluster {
				names = append(names, n)
				break
			}
		}
	}
	return names
}

// holds says whether an address stands in a group.
func (s *scene) holds(name, addr string) bool {
	for _, a := range s.groups[name].addrs {
		if a == addr {
			return true
		}
	}
	return false
}

// refusedByB says whether B answered the step's request with code 1.
func (s *scene) refusedByB() bool {
	return s.ob != nil && len(s.ob.frames) == 1 && s.ob.frames[0] != nil && s.ob.frames[0].hdr.code == 1
}

// isRaw says whether the step is the case of that name among the bytes that are no proper frame.
func (s *scene) isRaw(name string) bool { return s.st != nil && s.st.Op == "raw" && s.st.Name == name }

// names says whether a difference is about a member of that name somewhere.
func (d *diff) names(name string) bool { return strings.Contains(d.Where, "["+name+"]") }

// about says whether a difference is one of the answers to a request with one of these codes.
func (d *diff) about(codes ...int) bool {
	if d.Asked == nil {
		return false
	}
	for _, c := range codes {
		if d.Asked.code == c {
			return true
		}
	}
	return false
}

// versions asks both sides for data versions, each over the connection on which the broker registered: elsewhere the
// question would count as the broker's heartbeat, and tie it to a connection that is not its own.
func (r *runner) versions(keys []regKey, st *Step) (x, y []*frame) {
	ext := func(k regKey) *header {
		return &header{code: rcDataVersion, version: v5_5_0, hasExt: true, ext: map[string]string{
			"clusterName": k.cluster,
			"brokerAddr":  k.addr, "brokerName": "?", "brokerId": "0",
		}}
	}
	byConn := map[string][]int{}
	for i, k := range keys {
		conn := r.regs[k].conn
		if m := r.moved[k]; m != "" {
			conn = m
		}
		if st != nil && st.Reg != nil && st.Op == "reg" {
			if h, _, _ := st.compile(r.env); keyOf(h) == k {
				conn = st.Conn
			}
		}
		byConn[conn] = append(byConn[conn], i)
	}
	r.both(func(s *side) {
		out := make([]*frame, len(keys))
		for _, conn := range sortedKeys(byConn) {
			l := s.links[conn]
			if l == nil || l.closed() {
				var err error
				if l, err = s.observer(); err != nil {
					continue
				}
			}
			var hs []*header
			for _, i := range byConn[conn] {
				hs = append(hs, ext(keys[i]))
			}
			fs, _ := l.callMany(hs, nil, 5*time.Second)
			for n, i := range byConn[conn] {
				out[i] = fs[n]
			}
		}
		if s == r.a {
			x = out
		} else {
			y = out
		}
	})
	return x, y
}
