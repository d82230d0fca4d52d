package main

import (
	"fmt"
	"sort"
	"strings"
	"time"
)

func (t *tester) badInput() error {
	r := t.r
	cell := func(s string) string {
		for i, a := range r.env.addrs {
			s = strings.ReplaceAll(s, a, fmt.Sprintf("@a%d@", i))
		}
		if r.env.u != "" {
			s = strings.ReplaceAll(s, r.env.u, "")
		}
		return strings.NewReplacer("|", "\\|", "\n", "⏎", "\r", "␍", "@u@", "").Replace(s)
	}
	tab := &answerTable{}
	defer func() {
		if t.table != nil {
			tab.write(t.table)
		}
	}()
	if err := t.fresh(); err != nil {
		return err
	}
	for _, c := range rawCases() {
		for _, warm := range []bool{false, true} {
			st := cloneStep(c)
			st.Raw.Warm = warm
			where := map[bool]string{true: " (used connection)", false: " (new connection)"}[warm]
			if warm && strings.HasPrefix(c.Name, "cold") || !warm && strings.HasPrefix(c.Name, "warm") {
				continue
			}
			st.Tag = ""
			res := r.step(st)
			r.cover.step(st, res.oa)
			if t.verbose {
				fmt.Printf("  %s: %s\n", st.Name, labelOf(st, res.oa))
				t.show(res.diffs)
			}
			_, fresh := t.rp.record(res.diffs, t.profile, 0, 0, st.String()+where)
			t.handle(fresh, []*Step{st}, false, false)
			ans := "none"
			if len(res.oa.frames) > 0 {
				var p []string
				for _, f := range res.oa.frames {
					d := describeFrame(f)
					if st.Raw.noOpaque() {
						d += " (opaque: a running number of the server)"
					} else if o := f.hdr.opaque; o != 424242 && o != 424243 {
						d += fmt.Sprintf(" opaque=%d", o)
					}
					p = append(p, d)
				}
				ans = strings.Join(p, "; ")
			}
			conn := "kept"
			if res.oa.closed {
				conn = "closed"
			}
			tab.raw(cell(st.Name), warm, cell(clip(ans, 400)), conn, res.oa.probe)
		}
	}
	// fatal ones last
	cases := badCases()
	sort.SliceStable(cases, func(i, j int) bool { return !cases[i].fatal && cases[j].fatal })
	for _, c := range cases {
		if c.fatal && !t.restartable() && !t.poison {
			continue
		}
		if err := t.fresh(); err != nil {
			return fmt.Errorf("before case %q: %w", c.step.Name, err)
		}
		r.noState = true
		for _, s := range append(catalogSetup(), c.pre...) {
			if res := r.step(s); t.newHard(res.diffs) {
				t.rp.record(res.diffs, t.profile, 0, 0, "set-up: "+s.String())
			}
		}
		r.noState = false
		if f, err := r.a.ask(rcCluster, v5_5_0, nil, nil); err == nil {
			r.before, _, _ = parseJSON(string(f.body))
		}
		before := t.tokens()
		res := r.step(c.step)
		if c.step.codeOf() == rcUnregister && len(res.oa.frames) > 0 {
			r.both(func(s *side) { s.unregisterBarrier() })
		}
		r.cover.step(c.step, res.oa)
		after := t.tokens()
		ds := res.diffs
		if !t.newHard(ds) {
			ds = append(ds, r.full(res.scene)...)
		}
		_, fresh := t.rp.record(ds, t.profile, 0, 0, c.step.String())
		if t.verbose {
			fmt.Printf("  %s: %s\n", c.step.Name, clip(fate(res.oa), 300))
			t.show(ds)
		}
		for _, f := range fresh {
			if t.rp.counts(f.Example) {
				fmt.Printf("  difference: %s\n    case: %s\n%s\n", f.Sig, c.step, indent(f.Example.String(), "    "))
				t.rp.save(f, append(append(catalogSetup(), c.pre...), c.step))
			}
		}
		ans := strings.TrimPrefix(fate(res.oa), "connection kept, ")
		if c.step.codeOf() == rcGetConfig {
			ans = "code=0 body=(all settings, sorted, key=value lines)"
		}
		tab.request(c.step.codeOf(), cell(c.step.Name), cell(clip(ans, 700)), cell(effect(before, after)))
		if c.fatal && t.restartable() {
			t.r.a.stop()
			t.r.b.stop()
			if err := t.start(); err != nil {
				return err
			}
		}
	}
	t.rp.seqs++
	return nil
}

// show prints the differences that fail.
func (t *tester) show(ds []diff) {
	for _, d := range ds {
		if t.rp.counts(d) {
			fmt.Println(indent(d.String(), "    "))
		}
	}
}

// tokens is the oracle's state as a set of short facts.
func (t *tester) tokens() map[string]bool {
	r := t.r
	out := map[string]bool{}
	ask := func(code int, ext map[string]string) *node {
		f, err := r.a.ask(code, v5_5_0, ext, nil)
		if err != nil || len(f.body) == 0 {
			return nil
		}
		d, _, _ := parseJSON(string(f.body))
		return d
	}
	ci := ask(rcCluster, nil)
	for n, b := range brokersOf(ci) {
		out[fmt.Sprintf("broker %s(%s)", n, b.cluster)] = true
		for id, a := range b.addrs {
			out[fmt.Sprintf("%s[%s]=%s", n, id, a)] = true
		}
		if b.zone != "" {
			out[n+" zone "+b.zone] = true
		}
		if b.acting {
			out[n+" acting"] = true
		}
	}
	if ct := ci.get("clusterAddrTable"); ct != nil {
		for _, m := range ct.mem {
			for _, n := range m.val.arr {
				out[fmt.Sprintf("cluster %s∋%s", m.key, n.strOr("null"))] = true
			}
		}
	}
	if d := ask(rcAllTopics, nil); d != nil && d.get("topicList") != nil {
		for _, tn := range d.get("topicList").arr {
			out["topic "+tn.strOr("null")] = true
			if rt := ask(rcRoute, map[string]string{"topic": tn.strOr("")}); rt != nil && rt.get("queueDatas") != nil {
				for _, q := range rt.get("queueDatas").arr {
					out[fmt.Sprintf("%s@%s r%s w%s perm%s", tn.strOr(""), q.get("brokerName").strOr("null"), q.get("readQueueNums").strOr("?"), q.get("writeQueueNums").strOr("?"), q.get("perm").strOr("?"))] = true
				}
				if m := rt.get("topicQueueMappingByBroker"); m != nil {
					out["mapping "+tn.strOr("")+" "+m.canon()] = true
				}
				if m := rt.get("filterServerTable"); m != nil {
					for _, x := range m.mem {
						out["filter "+x.key+" "+x.val.canon()] = true
					}
				}
			}
		}
	}
	for _, k := range []string{"c1", "c2", ""} {
		for i := 0; i < 4; i++ {
			if d := ask(rcDataVersion, map[string]string{"clusterName": k, "brokerAddr": r.env.addrs[i], "brokerName": "?", "brokerId": "0"}); d != nil {
				ts := d.get("timestamp").strOr("null")
				if (&comparer{now: time.Now()}).isNow(ts) {
					ts = "now"
				}
				out[fmt.Sprintf("live %s %s (state %s, counter %s, time %s)", k, r.env.addrs[i], d.get("stateVersion").strOr("null"), d.get("counter").strOr("null"), ts)] = true
			}
		}
	}
	for _, ns := range []string{r.env.u} {
		if d := ask(rcKVList, map[string]string{"namespace": "N1" + ns}); d != nil && d.get("table") != nil {
			for _, m := range d.get("table").mem {
				out["kv "+m.key+"="+m.val.strOr("null")] = true
			}
		}
	}
	return out
}

func effect(before, after map[string]bool) string {
	var p []string
	for _, k := range sortedKeys(before) {
		if !after[k] {
			p = append(p, "−"+k)
		}
	}
	for _, k := range sortedKeys(after) {
		if !before[k] {
			p = append(p, "+"+k)
		}
	}
	if len(p) == 0 {
		return "none"
	}
	return clip(strings.Join(p, "; "), 420)
}
