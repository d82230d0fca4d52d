package main

import (
	"fmt"
	"sort"
	"strconv"
	"strings"
)

func (r *runner) compareOutcome(c *comparer, st *Step, oa, ob *outcome) {
	if oa.err != ob.err {
		c.add(cHard, "connection", "connection error", oa.err, ob.err)
		return
	}
	code := st.codeOf()
	gen := strconv.Itoa(code)
	if st.Op == "raw" {
		gen = "raw"
	}
	if oa.closed != ob.closed {
		c.add(cHard, "connection closed by the server", gen+" closed", fate(oa), fate(ob))
	} else if oa.silent != ob.silent {
		c.add(cHard, "answer", gen+" silent", fate(oa), fate(ob))
	}
	if oa.probe != ob.probe {
		c.add(cHard, "a good request afterwards", gen+" probe", oa.probe, ob.probe)
	}
	if oa.gone != ob.gone {
		c.add(cHard, "expired broker dropped", "expire", fmt.Sprint(oa.gone), fmt.Sprint(ob.gone))
	}
	if x, y := strings.Join(oa.extra, "; "), strings.Join(ob.extra, "; "); x != y {
		c.add(cHard, "extra frames", gen+" extra frames", x, y)
	}
	if len(oa.frames) != len(ob.frames) {
		var x, y []string
		for _, f := range oa.frames {
			x = append(x, describeFrame(f))
		}
		for _, f := range ob.frames {
			y = append(y, describeFrame(f))
		}
		c.add(cHard, "answers", gen+" number of answers", strings.Join(x, "; "), strings.Join(y, "; "))
		return
	}
	c.addrs = r.knownAddrs()
	if st.Op == "raw" {
		byOpaque := func(fs []*frame) {
			sort.SliceStable(fs, func(i, j int) bool { return fs[i].hdr.opaque < fs[j].hdr.opaque })
		}
		byOpaque(oa.frames)
		byOpaque(ob.frames)
		c.anyOpaque = st.Raw.noOpaque()
	}
	for i := range oa.frames {
		s := st
		w := ""
		if st.Op == "pipe" {
			s = st.Pipe[i]
			w = fmt.Sprintf("request %d (%s)", i+1, codeName(s.codeOf()))
		}
		code := s.codeOf()
		if st.Op == "raw" && oa.frames[i] != nil {
			code = 0
		}
		if oa.frames[i] == nil && ob.frames[i] == nil {
			continue
		}
		h, _, _ := s.compile(r.env)
		c.asked = &asked{code, s.Ver, h.ext}
		c.answer(code, sortedMaps(code, s.Ver, s.Ext), w, oa.frames[i], ob.frames[i])
	}
	c.asked = nil
}

// sortedMaps says whether the oracle sorts the members of maps in its answer: it does in the standard JSON form of a
// route, unless the zone filter has rewritten the answer.
func sortedMaps(code, ver int, ext map[string]string) bool {
	if code != rcRoute || strings.EqualFold(ext[extZoneMode], "true") && strings.TrimSpace(ext[extZone]) != "" {
		return false
	}
	return ver >= v4_9_4 || strings.EqualFold(ext["acceptStandardJsonOnly"], "true")
}

func fate(o *outcome) string {
	s := "connection kept"
	if o.closed {
		s = "connection closed"
	}
	if len(o.frames) == 0 || o.frames[0] == nil {
		s += ", no answer"
	} else {
		s += ", " + describeFrame(o.frames[0])
	}
	return s
}

func (r *runner) knownAddrs() map[string]bool {
	out := map[string]bool{}
	if t := r.before.get("brokerAddrTable"); t != nil {
		for _, m := range t.mem {
			if as := m.val.get("brokerAddrs"); as != nil {
				for _, x := range as.mem {
					out[x.val.strOr("")] = true
				}
			}
		}
	}
	return out
}

// mixedFlags says whether the brokers of a topic disagree about its flags: then the oracle's unit lists go by the
// first one in hash order.
func (r *runner) mixedFlags(topic string) bool {
	f, err := r.a.ask(rcRoute, v5_5_0, map[string]string{"topic": topic}, nil)
	if err == nil && f.hdr.code == 1 {
		return true // it answers no route yet (needWaitForService), so it cannot be told: then any choice is as good
	}
	if err != nil || f.hdr.code != 0 {
		return false
	}
	d, _, err := parseJSON(string(f.body))
	if err != nil || d.get("queueDatas") == nil {
		return false
	}
	seen := map[string]bool{}
	for _, q := range d.get("queueDatas").arr {
		seen[q.get("topicSysFlag").strOr("")] = true
	}
	return len(seen) > 1
}
