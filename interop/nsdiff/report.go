package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
	"time"
)

// A finding is one kind of difference: all occurrences with the same signature.
type finding struct {
	Sig, Class string
	Count      int
	Example    diff
	Profile    string
	Seed       int64
	Seq        int
	Step       string
	File       string
	Shrunk     []*Step
	Flaky      bool
}

type report struct {
	passed, failed int
	seqs, badSeqs  int
	found          map[string]*finding
	fail           map[string]bool
	ignore         *regexp.Regexp
	ignored        int
	out            string
}

func (rp *report) counts(d diff) bool {
	if !rp.fail[d.Class] {
		return false
	}
	if rp.ignore != nil && rp.ignore.MatchString(sigOf(d)) {
		return false
	}
	return true
}

// sigOf names the kind of a difference; an expected one is of the kind that its entry explains.
func sigOf(d diff) string {
	if d.Class == cExpected {
		return d.Class + ": " + d.Anchor
	}
	return d.Class + ": " + strings.TrimSpace(d.Gen)
}

// record notes the differences of one check and says whether it failed.
func (rp *report) record(ds []diff, profile string, seed int64, seq int, step string) (failed bool, fresh []*finding) {
	for _, d := range ds {
		sig := sigOf(d)
		f := rp.found[sig]
		if f == nil {
			f = &finding{Sig: sig, Class: d.Class, Example: d, Profile: profile, Seed: seed, Seq: seq, Step: step}
			rp.found[sig] = f
			fresh = append(fresh, f)
		}
		f.Count++
		if rp.counts(d) {
			failed = true
		} else if rp.fail[d.Class] {
			rp.ignored++
		}
	}
	if failed {
		rp.failed++
	} else {
		rp.passed++
	}
	return
}

// Replay is what a replay file holds.
type Replay struct {
	Note     string   `json:"note"`
	Profile  string   `json:"profile"`
	Seed     int64    `json:"seed"`
	Sequence int      `json:"sequence"`
	Sig      []string `json:"signatures"`
	Steps    []*Step  `json:"steps"`
}

func (rp *report) save(f *finding, steps []*Step) {
	if err := os.MkdirAll(rp.out, 0o755); err != nil {
		fmt.Println("cannot write replay files:", err)
		return
	}
	n := 0
	for _, g := range rp.found {
		if g.File != "" {
			n++
		}
	}
	f.File = filepath.Join(rp.out, fmt.Sprintf("diff-%s-%03d.json", f.Profile, n+1))
	b, _ := json.MarshalIndent(&Replay{f.Example.Where, f.Profile, f.Seed, f.Seq, []string{f.Sig}, steps}, "", " ")
	if err := os.WriteFile(f.File, append(b, '\n'), 0o644); err != nil {
		fmt.Println("cannot write replay file:", err)
	}
}

func (rp *report) print(took time.Duration, r *runner) {
	var fs []*finding
	for _, f := range rp.found {
		fs = append(fs, f)
	}
	rank := map[string]int{}
	for i, c := range classOrder {
		rank[c] = i
	}
	sort.Slice(fs, func(i, j int) bool {
		if rank[fs[i].Class] != rank[fs[j].Class] {
			return rank[fs[i].Class] < rank[fs[j].Class]
		}
		return fs[i].Sig < fs[j].Sig
	})
	if len(fs) > 0 {
		fmt.Println("\nDifferences, by kind:")
	}
	perClass := map[string]int{}
	for _, f := range fs {
		perClass[f.Class]++
		mark := " "
		if rp.counts(f.Example) {
			mark = "✗"
		}
		fmt.Printf(" %s %-60s ×%d\n", mark, f.Sig, f.Count)
		fmt.Printf("      first: profile %s, seed %d, sequence %d, step: %s\n", f.Profile, f.Seed, f.Seq, clip(strings.ReplaceAll(f.Step, "\n", " "), 300))
		fmt.Printf("      at %s\n        A: %s\n        B: %s\n", clip(f.Example.Where, 300), clip(f.Example.A, 500), clip(f.Example.B, 500))
		if f.Flaky {
			fmt.Println("      (did not come back when the sequence was run again)")
		}
		if f.Shrunk != nil {
			fmt.Printf("      shortest reproduction (%d steps), %s:\n", len(f.Shrunk), f.File)
			for i, s := range f.Shrunk {
				fmt.Printf("        %2d. %s\n", i+1, s)
			}
		}
	}
	r.cover.print(os.Stdout)
	fmt.Printf("\nSettling: %d comparisons were equal only after waiting", r.late)
	for _, k := range sortedKeys(r.waits) {
		fmt.Printf("; %s: %d", k, r.waits[k])
	}
	fmt.Println(".")
	if r.hub.blind {
		fmt.Println("Pushes: the peer process of some connections could not be found; they were attributed by the time they came.")
	}
	var cs []string
	for _, c := range classOrder {
		if perClass[c] > 0 {
			cs = append(cs, fmt.Sprintf("%d kinds of class %s", perClass[c], c))
		}
	}
	if len(cs) > 0 {
		fmt.Println("Differences:", strings.Join(cs, ", ")+fmt.Sprintf(" (%d ignored on request).", rp.ignored))
	}
	fmt.Printf("%d sequences (%d with differences) in %s\n", rp.seqs, rp.badSeqs, took.Round(100*time.Millisecond))
	fmt.Printf("%d passed, %d failed\n", rp.passed, rp.failed)
}
