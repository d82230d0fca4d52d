package main

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"time"
)

type tester struct {
	r          *runner
	rp         *report
	profile    string
	seed       int64
	steps      int
	sequences  int
	limit      time.Duration
	restart    string
	shrinkTime time.Duration
	verbose    bool
	poison     bool
	table      *os.File
	started    time.Time
	px         *proxy
	shrunkFor  time.Duration
}

var defaults = map[string]struct {
	steps, seqs int
	limit       time.Duration
}{
	"smoke":        {60, 0, 30 * time.Second},
	"full":         {80, 40, 10 * time.Minute},
	"conflict":     {70, 25, 5 * time.Minute},
	"actingmaster": {60, 20, 5 * time.Minute},
	"config":       {60, 15, 5 * time.Minute},
	"malformed":    {40, 15, 5 * time.Minute},
	"orderkv":      {70, 20, 5 * time.Minute},
	"badinput":     {0, 1, 10 * time.Minute},
	"differences":  {0, 1, 10 * time.Minute},
}

// Profile check is a bit of everything in about 40 seconds, short sequences so that each profile gets to several.
var checkTimes = map[string]time.Duration{
	"smoke": 10 * time.Second, "conflict": 6 * time.Second, "actingmaster": 8 * time.Second,
	"config": 3 * time.Second, "malformed": 9 * time.Second, "orderkv": 4 * time.Second,
}

var allProfiles = []string{"smoke", "full", "conflict", "actingmaster", "config", "malformed", "orderkv", "badinput", "differences"}

// start starts (or finds) both servers.
func (t *tester) start() error {
	var wg sync.WaitGroup
	var ea, eb error
	wg.Add(2)
	go func() { defer wg.Done(); ea = t.r.a.start() }()
	go func() { defer wg.Done(); eb = t.r.b.start() }()
	wg.Wait()
	if ea != nil {
		return ea
	}
	if eb != nil {
		return eb
	}
	for _, s := range []*side{t.r.a, t.r.b} {
		pid := listenerPID(portOf(s.real))
		t.r.hub.mu.Lock()
		if pid > 0 {
			t.r.hub.pids[s.name] = pid
		} else {
			delete(t.r.hub.pids, s.name)
		}
		t.r.hub.mu.Unlock()
	}
	t.r.seq = len(t.r.hub.pids) < 2 || t.r.hub.pids["A"] == t.r.hub.pids["B"]
	return nil
}

func (t *tester) restartable() bool { return t.r.a.cmd != "" && t.r.b.cmd != "" }

// fresh makes both servers empty: a restart where asked for, a reset otherwise.
func (t *tester) fresh() error {
	if t.restart == "sequence" && t.restartable() {
		t.r.a.stop()
		t.r.b.stop()
		if err := t.start(); err != nil {
			return err
		}
	}
	if t.px != nil { // the fault is not to hinder the reset
		t.px.enable(false)
		defer t.px.enable(true)
	}
	return t.r.reset()
}

func (t *tester) runProfile() error {
	fmt.Printf("profile %s, seed %d\n", t.profile, t.seed)
	switch t.profile {
	case "badinput":
		return t.badInput()
	case "differences":
		return t.differences()
	}
	begin := time.Now()
	for i := 0; t.sequences == 0 || i < t.sequences; i++ {
		if time.Since(begin) > t.limit {
			if t.sequences > 0 {
				fmt.Printf("  time is up after %d of %d sequences\n", i, t.sequences)
			}
			break
		}
		seed := t.seed*1000003 + int64(i)
		if err := t.fresh(); err != nil {
			return err
		}
		slow := t.r.scan <= time.Second || t.profile == "full" || t.profile == "actingmaster"
		ss := sequence(t.profile, seed, t.steps, slow && t.profile != "smoke")
		deadline := time.Time{}
		if t.sequences == 0 {
			deadline = begin.Add(t.limit)
		}
		t.runSequence(ss, seed, i, deadline)
	}
	return nil
}

// runSequence runs one sequence and, at the first failure of a new kind, looks for its shortest reproduction.
func (t *tester) runSequence(ss []*Step, seed int64, index int, deadline time.Time) {
	r := t.r
	t.rp.seqs++
	bad := false
	begin := time.Now()
	for i, s := range ss {
		if time.Since(begin) > 90*time.Second || !deadline.IsZero() && time.Now().After(deadline) {
			break // connections idle for two minutes would be closed by the oracle
		}
		res := r.step(s)
		r.cover.step(s, res.oa)
		if t.verbose {
			fmt.Printf("  %3d %s\n      A: %s\n", i+1, s, clip(fate(res.oa), 400))
			for _, d := range res.diffs {
				fmt.Println("     ", d)
			}
		}
		failed, fresh := t.rp.record(res.diffs, t.profile, seed, index, s.String())
		bad = bad || failed
		stop := res.stop || t.parted(res.diffs)
		t.handle(fresh, ss[:i+1], false, !stop)
		if stop {
			if bad {
				t.rp.badSeqs++
			}
			return
		}
		if (i+1)%r.every == 0 || i == len(ss)-1 {
			ds := r.full(nil)
			failed, fresh := t.rp.record(ds, t.profile, seed, index, fmt.Sprintf("whole state after step %d (%s)", i+1, s))
			bad = bad || failed
			stop := t.newHard(ds) || partedExpected(ds)
			t.handle(fresh, ss[:i+1], true, !stop)
			if stop {
				break
			}
		}
	}
	if r.pushOn {
		pa, pb := r.hub.settled(50*time.Millisecond, false)
		c := &comparer{now: time.Now()}
		c.pushes("at the end:", pa, pb, r.env.addrs)
		failed, _ := t.rp.record(c.diffs, t.profile, seed, index, "late pushes")
		bad = bad || failed
	}
	if bad {
		t.rp.badSeqs++
	}
}

// newHard: is there a hard difference (other than those ignored on request)?
func (t *tester) newHard(ds []diff) bool {
	for _, d := range ds {
		if d.Class == cHard && t.rp.counts(d) {
			return true
		}
	}
	return false
}

// parted: is there one after which the sequence cannot go on? Where only an answer differs and the state does not, it can.
func (t *tester) parted(ds []diff) bool {
	for _, d := range ds {
		if d.Class == cHard && d.Part && t.rp.counts(d) {
			return true
		}
	}
	return false
}

// partedExpected: have the two sides parted over an expected difference?
func partedExpected(ds []diff) bool {
	for _, d := range ds {
		if d.Class == cExpected && d.Part {
			return true
		}
	}
	return false
}

// handle shrinks the sequence for findings seen for the first time.
func (t *tester) handle(fresh []*finding, ss []*Step, needFull, goesOn bool) {
	want := map[string]bool{}
	var main *finding
	for _, f := range fresh {
		if !t.rp.counts(f.Example) {
			continue
		}
		if main == nil || f.Class == cHard && main.Class != cHard {
			main = f
		}
	}
	if main == nil {
		return
	}
	for _, f := range fresh {
		if f.Class == main.Class && t.rp.counts(f.Example) {
			want[f.Sig] = true
		}
	}
	fmt.Printf("  difference: %s\n%s\n", main.Sig, indent(main.Example.String(), "    "))
	want1 := t.shrinkTime
	if main.Class != cHard {
		want1 = min(want1, 4*time.Second) // the answer itself shows such a difference well enough
	}
	budget := min(want1, 6*t.shrinkTime-t.shrunkFor) // six times in all, so that a run with many differences ends
	if budget < time.Second {
		t.rp.save(main, ss)
		return
	}
	was, from := t.r.noState, time.Now()
	short, again := t.shrink(ss, want, needFull, budget)
	t.r.noState = was
	t.shrunkFor += time.Since(from)
	main.Shrunk, main.Flaky = short, !again
	t.rp.save(main, short)
	if goesOn { // bring the servers back to where they were
		t.r.cover.off = true
		if t.fresh() == nil {
			for _, s := range ss {
				t.r.step(s)
			}
		}
		t.r.cover.off = false
	}
}

func indent(s, by string) string { return by + strings.ReplaceAll(s, "\n", "\n"+by) }
