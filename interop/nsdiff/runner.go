package main

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
)

// runner drives both servers in lockstep.
type runner struct {
	a, b  *side
	hub   *pushHub
	env   *env
	uniq  int
	runID string

	seq      bool // drive one side after the other (pushes cannot be attributed otherwise)
	pushWait time.Duration
	pushOn   bool
	scan     time.Duration
	every    int // full state comparison every N steps
	noState  bool

	regs     map[regKey]regInfo // who registered what over which virtual connection
	expected []expected         // how the two sides may differ
	memory                      // what else of the sequence decides about expected differences
	uni      *universe
	before   *node // last cluster info of A
	previous *node // the one before the last step that changed something
	cover    *coverage
	late     int // comparisons that were equal only after waiting
	waits    map[string]int
	quick    bool // while shrinking: shorter waits for late equality
}

type regInfo struct{ conn, name string }

func (r *runner) both(f func(s *side)) {
	if r.seq {
		for _, s := range []*side{r.a, r.b} {
			r.hub.mu.Lock()
			r.hub.cur = s.name
			r.hub.mu.Unlock()
			f(s)
			if r.pushOn {
				time.Sleep(r.pushWait)
			}
		}
		return
	}
	var wg sync.WaitGroup
	for _, s := range []*side{r.a, r.b} {
		wg.Add(1)
		go func() { defer wg.Done(); f(s) }()
	}
	wg.Wait()
}

// ---- one step

type stepResult struct {
	diffs []diff
	label string // coverage label of A's outcome
	stop  bool   // the states have parted over an expected difference: the sequence cannot go on
	scene *scene
	oa    *outcome
	ob    *outcome
}

func (r *runner) step(st *Step) *stepResult {
	res := &stepResult{}
	r.uni.learn(st, r.env)
	cur := *st
	var visible []candidate
	closing := st.closes()
	sc := r.scene(&cur)
	if closing && st.Op != "closemany" {
		var live []candidate
		live, visible = r.liveOn(st.Conn)
		if st.Op == "rst" && len(live) > 1 {
			cur.Op = "close" // a reset raises two events in the oracle; with several brokers the outcome is a race
		}
		// which of several brokers on one connection, or names of one address, goes, depends on hash order
		sc.crowded = len(live) > 1 || len(visible) > 1
	}
	var each [][]candidate
	if st.Op == "closemany" {
		cur.Conns = nil
		for _, n := range st.Conns {
			l, v := r.liveOn(n)
			if len(l) <= 1 && len(v) <= 1 { // the others are left open: their outcome is a choice
				cur.Conns = append(cur.Conns, n)
				if len(v) == 1 {
					each = append(each, v)
				}
			}
		}
	}
	var digA, digB string
	if st.Oneway && st.effective() {
		digA, digB = r.digests(&cur, false)
	}
	var oa, ob *outcome
	r.both(func(s *side) {
		o := s.exec(&cur, r.env)
		if s == r.a {
			oa = o
		} else {
			ob = o
		}
	})
	res.scene, res.oa, res.ob, sc.ob = sc, oa, ob, ob
	r.balance(&cur, oa, ob)

	c := &comparer{now: time.Now(), mixed: r.mixedFlags}
	if digA != "" {
		r.settleOneway(&cur, digA, digB)
	}
	for _, v := range each {
		r.both(func(s *side) { s.waitGone(v, 400*time.Millisecond) })
	}
	if st.Op == "expire" {
		sc.crowded = r.namesOf(&cur) > 1
	}
	r.settle(&cur, oa, ob, closing, visible)

	r.compareOutcome(c, &cur, oa, ob)
	answers := len(c.diffs)
	for i, d := range c.diffs {
		for _, end := range []string{" closed", " silent", " probe", "expire", " extra frames", "connection error", " answer", " number of answers"} {
			c.diffs[i].Part = c.diffs[i].Part || strings.HasSuffix(d.Gen, end)
		}
	}
	if len(oa.frames) == 1 && oa.frames[0] != nil && cur.codeOf() == rcUpdateConfig {
		r.readConfig()
	}
	r.track(&cur, oa)
	if closing || oa.closed {
		r.dropConn(cur.Conn)
		for _, n := range cur.Conns {
			r.dropConn(n)
		}
	}
	r.comparePushes(c, &cur)
	// frames nobody asked for, connections lost
	if x, y := r.a.strays(), r.b.strays(); strings.Join(x, "\n") != strings.Join(y, "\n") {
		c.add(cHard, "unasked frames", "unasked frames", strings.Join(x, "; "), strings.Join(y, "; "))
	}
	if x, y := r.openLinks(); x != y {
		c.add(cHard, "open connections", "open connections", x, y)
	}
	if cur.mutates() && !r.noState {
		r.light(c, sc, oa)
	}
	for i := answers; i < len(c.diffs); i++ {
		c.diffs[i].Part = c.diffs[i].Part || c.diffs[i].Class != cExpected
	}
	res.stop = r.forgive(sc, c.diffs)
	res.diffs = c.diffs
	res.label = labelOf(&cur, oa)
	return res
}

// comparePushes compares what the virtual brokers were told after a step, if the settings are such that they are told.
func (r *runner) comparePushes(c *comparer, st *Step) {
	if !r.pushOn || !st.mutates() {
		return
	}
	pa, pb := r.hub.settled(r.pushWait, r.quick)
	c.pushes("after this step:", pa, pb, r.env.addrs)
	if len(pa) > 0 {
		r.cover.situation(fmt.Sprintf("push to %d brokers", len(pa)))
		for _, p := range pa {
			r.cover.push(p.f)
		}
	}
}

func (r *runner) openLinks() (string, string) {
	var x, y string
	for i := 0; i < 20; i++ {
		x, y = strings.Join(r.a.openLinks(), " "), strings.Join(r.b.openLinks(), " ")
		if x == y {
			break
		}
		time.Sleep(25 * time.Millisecond)
	}
	return x, y
}

func (st *Step) mutates() bool {
	switch st.Op {
	case "close", "rst", "half", "closemany", "expire":
		return true
	case "raw":
		return st.Conn != ""
	case "pipe":
		for _, p := range st.Pipe {
			if p.mutates() {
				return true
			}
		}
		return false
	}
	switch st.codeOf() {
	case rcRegister, rcUnregister, rcWipePerm, rcAddPerm, rcDelTopic, rcRegTopic, rcUpdateConfig:
		return true
	}
	return false
}

// balance gives the slower side more time where only one of them has reacted.
func (r *runner) balance(st *Step, oa, ob *outcome) {
	more := func(x, y *outcome, s *side) {
		if x.silent && !y.silent && y.err == "" && x.link != nil {
			if st.Op == "raw" {
				s.rawListen(x, 2*time.Second)
			} else if len(x.opaques) > 0 {
				s.collect(x, x.link, 2*time.Second)
			}
		}
	}
	if st.Op == "raw" || st.Quiet > 0 {
		more(oa, ob, r.a)
		more(ob, oa, r.b)
	}
	if st.Op == "raw" {
		r.both(func(s *side) {
			o := oa
			if s == r.b {
				o = ob
			}
			s.rawProbe(o, 250*time.Millisecond, false)
		})
		if oa.probe != ob.probe {
			if oa.probe == "no answer" {
				r.a.rawProbe(oa, 2*time.Second, true)
			}
			if ob.probe == "no answer" {
				r.b.rawProbe(ob, 2*time.Second, true)
			}
		}
		for _, p := range []struct {
			s *side
			o *outcome
		}{{r.a, oa}, {r.b, ob}} {
			if p.o.link != nil {
				p.o.link.end(errors.New("closed by the tester"))
				if st.Conn != "" {
					delete(p.s.links, st.Conn)
				}
			}
		}
	}
}

// namesOf counts the broker names that hold the address of a registration in its cluster.
func (r *runner) namesOf(st *Step) int {
	f, err := r.a.ask(rcCluster, v5_5_0, nil, nil)
	if err != nil {
		return 0
	}
	ci, _, err := parseJSON(string(f.body))
	if err != nil {
		return 0
	}
	h, _, _ := st.compile(r.env)
	n := 0
	for _, b := range brokersOf(ci) {
		for _, a := range b.addrs {
			if b.cluster == h.ext["clusterName"] && a == h.ext["brokerAddr"] {
				n++
				break
			}
		}
	}
	return n
}

func (r *runner) settle(st *Step, oa, ob *outcome, closing bool, visible []candidate) {
	switch {
	case st.Op == "expire":
		h, _, _ := st.compile(r.env)
		c := []candidate{{h.ext["clusterName"], h.ext["brokerAddr"], h.ext["brokerName"]}}
		r.both(func(s *side) {
			o := oa
			if s == r.b {
				o = ob
			}
			if len(o.frames) == 0 || o.frames[0] == nil || o.frames[0].hdr.code != 0 {
				return
			}
			o.gone = s.waitGone(c, 3*r.scan+3*time.Second)
			if o.link != nil {
				select {
				case <-o.link.done:
					o.closed = true
				case <-time.After(500 * time.Millisecond):
				}
			}
			if l := s.links[st.Conn]; l != nil {
				l.end(errors.New("closed by the tester"))
				delete(s.links, st.Conn)
			}
		})
		r.settleClose(nil)
		r.dropConn(st.Conn)
	case closing:
		r.settleClose(visible)
	case st.Oneway:
		r.both(func(s *side) { s.unregisterBarrier() })
	case st.codeOf() == rcUnregister || st.Op == "pipe" && st.mutates():
		r.both(func(s *side) {
			if !s.unregisterBarrier() {
				r.note("unregister barrier timed out on " + s.name)
			}
		})
	case st.Reg != nil && (st.Reg.DV == nil || st.Reg.Form == "text"):
		// The oracle fills a missing data version with the clock: two such registrations in the same millisecond
		// count as equal, so keep them apart.
		time.Sleep(4 * time.Millisecond)
	}
}
