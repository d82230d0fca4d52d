package main

import (
	"sort"
	"strconv"
	"strings"
	"time"
)

// ---- state

// light compares cluster info, topic list and all routes, and the data version that the step touched.
func (r *runner) light(c *comparer, sc *scene, oa *outcome) {
	st := sc.st
	hs := []*header{{code: rcCluster, version: v5_5_0, hasExt: true}, {code: rcAllTopics, version: v5_5_0, hasExt: true}}
	for _, t := range sortedKeys(r.uni.topics) {
		hs = append(hs, &header{code: rcRoute, version: v5_5_0, hasExt: true, ext: map[string]string{"topic": t}})
	}
	if st.codeOf() == rcUpdateConfig {
		hs = append(hs, &header{code: rcGetConfig, version: v5_5_0, hasExt: true})
	}
	var keys []regKey
	if st.Op == "req" || st.Op == "reg" {
		if h, _, _ := st.compile(r.env); h.ext["clusterName"] != "" && h.ext["brokerAddr"] != "" {
			keys = append(keys, keyOf(h))
		}
	}
	var fa, va []*frame
	d := r.eventually(sc, func(c *comparer) {
		x, y := r.askBoth(hs)
		c.addrs = r.knownAddrs()
		for i, h := range hs {
			c.asked = &asked{h.code, h.version, h.ext}
			c.answer(h.code, sortedMaps(h.code, h.version, h.ext), "state after this step, "+strings.TrimSpace(codeName(h.code)+" "+h.ext["topic"])+":", x[i], y[i])
			if h.code == rcRoute {
				r.noteStale(h.ext["topic"], x[i])
			}
		}
		p, q := r.versions(keys, st)
		for i, k := range keys {
			c.asked = &asked{rcDataVersion, v5_5_0, map[string]string{"clusterName": k.cluster, "brokerAddr": k.addr}}
			c.answer(rcDataVersion, false, "state after this step, "+codeName(rcDataVersion)+":", p[i], q[i])
		}
		c.asked = nil
		fa, va = x, p
		r.learnCluster(st, fa[0])
	})
	c.diffs = append(c.diffs, d...)
	if fa[0] != nil {
		var dv *frame
		if len(va) > 0 {
			dv = va[0]
		}
		r.cover.change(st, r.previous, r.before, oa, dv, r.env)
		r.previous = r.before
	}
}

// learnCluster keeps the oracle's cluster info.
func (r *runner) learnCluster(st *Step, f *frame) {
	if f == nil {
		return
	}
	if after, _, err := parseJSON(string(f.body)); err == nil {
		r.noteDisplaced(st, r.before, after)
		r.before = after
	}
}

// askBoth asks both sides over the connections that only look.
func (r *runner) askBoth(hs []*header) (x, y []*frame) {
	r.both(func(s *side) {
		out := make([]*frame, len(hs))
		if l, err := s.observer(); err == nil {
			mine := make([]*header, len(hs))
			for i, h := range hs {
				own := *h
				mine[i] = &own
			}
			out, _ = l.callMany(mine, nil, 10*time.Second)
		}
		if s == r.a {
			x = out
		} else {
			y = out
		}
	})
	return x, y
}

// eventually repeats a comparison for a while as long as it finds hard differences that are not expected ones.
func (r *runner) eventually(sc *scene, f func(c *comparer)) []diff {
	var c *comparer
	waits := []time.Duration{0, 40, 150, 600}
	if r.quick {
		waits = []time.Duration{0, 25, 80}
	}
	for _, d := range waits {
		if d > 0 {
			time.Sleep(d * time.Millisecond)
		}
		c = &comparer{now: time.Now(), mixed: r.mixedFlags}
		f(c)
		for i := range c.diffs {
			c.diffs[i].Part = c.diffs[i].Class != cExpected
		}
		r.forgive(sc, c.diffs)
		hard := false
		for _, x := range c.diffs {
			hard = hard || x.Class == cHard
		}
		if !hard {
			if d > 0 {
				r.late++
			}
			return c.diffs
		}
	}
	return c.diffs
}

type stateReq struct {
	what string
	h    header
}

// full compares the whole observable state. After a step (of which sc is the scene) that may differ from the oracle in an
// expected way, so may the state; without one only what may always differ is expected.
func (r *runner) full(sc *scene) []diff {
	if sc == nil {
		sc = r.scene(nil)
	}
	return r.eventually(sc, func(c *comparer) {
		ask := func(qs []stateReq) (x, y []*frame) {
			hs := make([]*header, len(qs))
			for i := range qs {
				h := qs[i].h
				h.hasExt = true
				hs[i] = &h
			}
			return r.askBoth(hs)
		}
		base := []stateReq{}
		for _, code := range []int{rcCluster, rcAllTopics, rcSysTopics, rcUnitTopics, rcUnitSub, rcUnitSubNo, rcGetConfig} {
			base = append(base, stateReq{codeName(code), header{code: code, version: v5_5_0}})
		}
		x, y := ask(base)
		at := func(fs []*frame, i int) *frame {
			if i < len(fs) {
				return fs[i]
			}
			return nil
		}
		topics, clusters, names := map[string]bool{}, map[string]bool{}, map[string]bool{}
		for k := range r.uni.topics {
			topics[k] = true
		}
		for k := range r.uni.clusters {
			clusters[k] = true
		}
		for k := range r.uni.names {
			names[k] = true
		}
		for side, fs := range [][]*frame{x, y} {
			if f := at(fs, 0); f != nil {
				if d, _, err := parseJSON(string(f.body)); err == nil {
					for _, k := range d.get("clusterAddrTable").keys() {
						clusters[k] = true
					}
					for _, k := range d.get("brokerAddrTable").keys() {
						names[k] = true
					}
					if side == 0 {
						r.before = d
					}
				}
			}
			if f := at(fs, 1); f != nil {
				if d, _, err := parseJSON(string(f.body)); err == nil && d.get("topicList") != nil {
					for _, t := range d.get("topicList").arr {
						topics[t.strOr("")] = true
					}
				}
			}
		}
		c.addrs = r.knownAddrs()
		for i, q := range base {
			c.asked = &asked{q.h.code, q.h.version, q.h.ext}
			c.answer(q.h.code, false, "state, "+q.what+":", at(x, i), at(y, i))
		}
		var qs []stateReq
		add := func(code, ver int, ext map[string]string) {
			var p []string
			for _, k := range sortedKeys(ext) {
				p = append(p, k+"="+ext[k])
			}
			qs = append(qs, stateReq{codeName(code) + " " + strings.Join(p, " ") + " v=" + verName(ver), header{code: code, version: ver, ext: ext}})
		}
		for _, t := range sortedKeys(topics) {
			add(rcRoute, v4_8_0, map[string]string{"topic": t})
			add(rcRoute, v5_5_0, map[string]string{"topic": t})
			add(rcRoute, v5_5_0, map[string]string{"topic": t, extZoneMode: "true", extZone: "z1"})
		}
		for _, k := range sortedKeys(clusters) {
			add(rcTopicsOf, v5_5_0, map[string]string{"cluster": k})
		}
		for _, k := range sortedKeys(names) {
			add(rcMemberGroup, v5_5_0, map[string]string{"clusterName": "c1", "brokerName": k})
		}
		var lk []regKey
		for k := range r.uni.live {
			lk = append(lk, k)
		}
		sort.Slice(lk, func(i, j int) bool { return lk[i].cluster+"|"+lk[i].addr < lk[j].cluster+"|"+lk[j].addr })
		for _, k := range sortedKeys(r.uni.spaces) {
			add(rcKVList, v5_5_0, map[string]string{"namespace": k})
		}
		var kk [][2]string
		for k := range r.uni.kv {
			kk = append(kk, k)
		}
		sort.Slice(kk, func(i, j int) bool { return kk[i][0]+"|"+kk[i][1] < kk[j][0]+"|"+kk[j][1] })
		for _, k := range kk {
			add(rcGetKV, v5_5_0, map[string]string{"namespace": k[0], "key": k[1]})
		}
		p, q := ask(qs)
		for i, s := range qs {
			c.asked = &asked{s.h.code, s.h.version, s.h.ext}
			c.answer(s.h.code, sortedMaps(s.h.code, s.h.version, s.h.ext), "state, "+s.what+":", at(p, i), at(q, i))
			if f := at(p, i); f != nil && s.h.code == rcRoute {
				r.cover.route(r.before, f)
			}
		}
		p, q = r.versions(lk, nil)
		for i, k := range lk {
			c.asked = &asked{rcDataVersion, v5_5_0, map[string]string{"clusterName": k.cluster, "brokerAddr": k.addr}}
			c.answer(rcDataVersion, false, "state, "+codeName(rcDataVersion)+" "+k.cluster+" "+k.addr+":", p[i], q[i])
		}
		c.asked = nil
	})
}

// readConfig learns from A whether pushes are on and how often it scans for dead brokers.
func (r *runner) readConfig() {
	f, err := r.a.ask(rcGetConfig, v5_5_0, nil, nil)
	if err != nil {
		return
	}
	for _, ln := range strings.Split(string(f.body), "\n") {
		k, v, _ := strings.Cut(ln, "=")
		switch k {
		case "notifyMinBrokerIdChanged":
			r.pushOn = v == "true"
		case "scanNotActiveBrokerInterval":
			if n, err := strconv.Atoi(v); err == nil && n > 0 {
				r.scan = time.Duration(n) * time.Millisecond
			}
		}
	}
}
