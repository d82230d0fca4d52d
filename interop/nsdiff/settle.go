package main

import (
	"errors"
	"fmt"
	"sort"
	"strings"
	"sync"
	"time"
)

// ---- settling

const sentinel = "nsdiff.sentinel"

func sentinelHead(code int, suffix string) *header {
	return &header{code: code, version: v5_5_0, hasExt: true, ext: map[string]string{
		"clusterName": sentinel, "brokerName": sentinel + suffix,
		"brokerAddr": sentinel + suffix + ":1", "haServerAddr": sentinel, "brokerId": "0",
	}}
}

var emptyBody = []byte(`{"filterServerList":[],"topicConfigSerializeWrapper":{"dataVersion":{"counter":1,"stateVersion":0,"timestamp":1600000000000},"topicConfigTable":{}}}`)

// sentinelGone asks the member group (a read under the registry's lock) until the sentinel has left it. A server that
// has no member groups is asked for the cluster info instead.
func (s *side) sentinelGone(l *link, suffix string, again func()) bool {
	end := time.Now().Add(2 * time.Second)
	for n := 1; ; n++ {
		if !s.noGroups {
			f, err := l.call(sentinelHead(rcMemberGroup, suffix), nil, time.Second)
			s.noGroups = err != nil || f.hdr.code != 0
			if err == nil && f.hdr.code == 0 {
				if d, _, err := parseJSON(string(f.body)); err == nil {
					if g := d.get("brokerMemberGroup").get("brokerAddrs"); g != nil && len(g.mem) == 0 {
						return true
					}
				}
			}
		}
		if s.noGroups {
			f, err := l.call(&header{code: rcCluster, version: v5_5_0, hasExt: true}, nil, 3*time.Second)
			if err != nil {
				return false
			}
			if d, _, err := parseJSON(string(f.body)); err == nil && d.get("brokerAddrTable").get(sentinel+suffix) == nil {
				_, err = l.call(&header{code: rcAllTopics, version: v5_5_0, hasExt: true}, nil, 3*time.Second)
				return err == nil
			}
		}
		if time.Now().After(end) {
			return false
		}
		if n%20 == 0 && again != nil {
			again()
		}
		time.Sleep(time.Duration(min(n, 10)) * 100 * time.Microsecond)
	}
}

// unregisterBarrier returns once the server has worked off every unregistration submitted before it: a broker of the
// tester's own is registered and unregistered behind them in the same queue.
func (s *side) unregisterBarrier() bool {
	l, err := s.observer()
	if err != nil {
		return false
	}
	if _, err := l.call(sentinelHead(rcRegister, ""), emptyBody, 3*time.Second); err != nil {
		return false
	}
	un := func() { l.call(sentinelHead(rcUnregister, ""), nil, 3*time.Second) }
	un()
	return s.sentinelGone(l, "", un)
}

// closeBarrier does the same for closed connections: the sentinel's own connection is closed behind the others.
func (s *side) closeBarrier() bool {
	l, err := s.observer()
	if err != nil {
		return false
	}
	t, err := dial(s.addr)
	if err != nil {
		return false
	}
	_, err = t.call(sentinelHead(rcRegister, ".c"), emptyBody, 3*time.Second)
	t.end(errors.New("closed by the tester"))
	if err != nil {
		return false
	}
	ok := s.sentinelGone(l, ".c", nil)
	if !ok { // leave nothing behind, whatever the server did with the closed connection
		l.call(sentinelHead(rcUnregister, ".c"), nil, 3*time.Second)
		s.sentinelGone(l, ".c", nil)
	}
	return ok
}

func (s *side) members(cluster, name string) map[string]string {
	if s.noGroups {
		f, err := s.ask(rcCluster, v5_5_0, nil, nil)
		if err != nil {
			return nil
		}
		d, _, err := parseJSON(string(f.body))
		if err != nil {
			return nil
		}
		return brokersOf(d)[name].addrs
	}
	f, err := s.ask(rcMemberGroup, v5_5_0, map[string]string{"clusterName": cluster, "brokerName": name}, nil)
	if err != nil {
		return nil
	}
	d, _, err := parseJSON(string(f.body))
	if err != nil {
		return nil
	}
	out := map[string]string{}
	if g := d.get("brokerMemberGroup").get("brokerAddrs"); g != nil {
		for _, m := range g.mem {
			out[m.key] = m.val.strOr("")
		}
	}
	return out
}

// waitGone waits until one of the candidates has lost its place in its member group.
func (s *side) waitGone(cands []candidate, d time.Duration) bool {
	end := time.Now().Add(d)
	for n := 0; ; n++ {
		for _, c := range cands {
			has := false
			for _, a := range s.members(c.cluster, c.name) {
				has = has || a == c.addr
			}
			if !has {
				return true
			}
		}
		if time.Now().After(end) {
			return false
		}
		time.Sleep(time.Duration(min(n+1, 20)) * 500 * time.Microsecond)
	}
}

type candidate struct{ cluster, addr, name string }

// liveOn lists the brokers that the oracle holds live over a virtual connection, and of these the ones whose
// disappearance would be seen in the member group.
func (r *runner) liveOn(conn string) (live, visible []candidate) {
	var ks []regKey
	for k, v := range r.regs {
		if v.conn == conn {
			ks = append(ks, k)
		}
	}
	sort.Slice(ks, func(i, j int) bool { return ks[i].cluster+ks[i].addr < ks[j].cluster+ks[j].addr })
	if len(ks) == 0 {
		return
	}
	f, err := r.a.ask(rcCluster, v5_5_0, nil, nil)
	var ci *node
	if err == nil {
		ci, _, _ = parseJSON(string(f.body))
	}
	for _, k := range ks {
		f, err := r.a.ask(rcDataVersion, v5_5_0, map[string]string{"clusterName": k.cluster, "brokerAddr": k.addr, "brokerName": "?", "brokerId": "0"}, nil)
		if err != nil || len(f.body) == 0 {
			continue
		}
		live = append(live, candidate{k.cluster, k.addr, r.regs[k].name})
		if t := ci.get("brokerAddrTable"); t != nil {
			for _, m := range t.mem {
				if m.val.get("cluster").strOr("") != k.cluster {
					continue
				}
				if as := m.val.get("brokerAddrs"); as != nil {
					for _, x := range as.mem {
						if x.val.strOr("") == k.addr {
							visible = append(visible, candidate{k.cluster, k.addr, m.key})
						}
					}
				}
			}
		}
	}
	return
}

// effective says whether a request can change anything at all.
func (st *Step) effective() bool {
	switch st.codeOf() {
	case rcRegister, rcUnregister, rcWipePerm, rcAddPerm, rcDelTopic, rcRegTopic, rcUpdateConfig, rcPutKV, rcDelKV:
		return true
	}
	return false
}

// digests is everything on either side that a oneway request might change, as text.
// done: the step has been sent, so a registration is bound to its own connection.
func (r *runner) digests(st *Step, done bool) (a, b string) {
	h, _, _ := st.compile(r.env)
	sent := st
	if !done {
		sent = nil
	}
	va, vb := r.versions([]regKey{keyOf(h)}, sent)
	hs := []*header{
		{code: rcCluster},
		{code: rcAllTopics},
		{code: rcGetConfig},
		{code: rcKVList, ext: map[string]string{"namespace": h.ext["namespace"]}},
	}
	for t := range r.uni.topics {
		hs = append(hs, &header{code: rcRoute, ext: map[string]string{"topic": t}})
	}
	for _, x := range hs {
		x.version, x.hasExt = v5_5_0, true
	}
	fa, fb := r.askBoth(hs)
	text := func(fs []*frame, v *frame) string {
		var p []string
		for i, f := range fs {
			if f != nil {
				p = append(p, hs[i].ext["topic"]+fmt.Sprint(f.hdr.code)+string(f.body))
			}
		}
		if v != nil {
			p = append(p, string(v.body))
		}
		sort.Strings(p)
		return strings.Join(p, "\n") + "\n"
	}
	return text(fa, va[0]), text(fb, vb[0])
}

// settleOneway waits for the effect of a request that gets no answer: until both sides have changed, or until neither
// has for a while.
func (r *runner) settleOneway(st *Step, beforeA, beforeB string) {
	begin := time.Now()
	for {
		time.Sleep(4 * time.Millisecond)
		a, b := r.digests(st, true)
		ca, cb := a != beforeA, b != beforeB
		el := time.Since(begin)
		if ca && cb || !ca && !cb && el > 100*time.Millisecond || el > 2*time.Second {
			return
		}
	}
}

func (r *runner) dropConn(conn string) {
	for k, v := range r.regs {
		if moved, has := r.moved[k]; v.conn == conn || has && moved == conn {
			r.forget(k)
		}
	}
}

func (r *runner) settleClose(visible []candidate) {
	r.both(func(s *side) {
		if len(visible) > 0 && !s.waitGone(visible, 400*time.Millisecond) {
			r.note("a closed connection had no visible effect within 400 ms")
		}
		if !s.closeBarrier() {
			r.note("close barrier timed out on " + s.name)
		}
		if !s.unregisterBarrier() {
			r.note("unregister barrier timed out on " + s.name)
		}
	})
}

var noteMu sync.Mutex

func (r *runner) note(s string) {
	noteMu.Lock()
	r.waits[s]++
	noteMu.Unlock()
}
