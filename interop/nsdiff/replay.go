package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

// replay runs a replay file and shows every answer.
func (t *tester) replay(file string) int {
	b, err := os.ReadFile(file)
	if err != nil {
		fmt.Println(err)
		return 2
	}
	var rep Replay
	if err := json.Unmarshal(b, &rep); err != nil {
		fmt.Println(err)
		return 2
	}
	if err := t.fresh(); err != nil {
		fmt.Println(err)
		return 2
	}
	t.profile = rep.Profile
	fmt.Printf("replay of %s (profile %s, seed %d): %s\n", file, rep.Profile, rep.Seed, strings.Join(rep.Sig, "; "))
	for i, s := range rep.Steps {
		res := t.r.step(s)
		t.r.cover.step(s, res.oa)
		fmt.Printf("%3d. %s\n     A: %s\n", i+1, s, clip(fate(res.oa), 1200))
		if x, y := fate(res.oa), fate(res.ob); x != y {
			fmt.Printf("     B: %s\n", clip(y, 1200))
		} else {
			fmt.Println("     B: the same")
		}
		for _, d := range res.diffs {
			fmt.Println(indent(d.String(), "     "))
		}
		t.rp.record(res.diffs, rep.Profile, rep.Seed, rep.Sequence, s.String())
	}
	ds := t.r.full(nil)
	fmt.Println("  whole state:")
	for _, d := range ds {
		fmt.Println(indent(d.String(), "     "))
	}
	t.rp.record(ds, rep.Profile, rep.Seed, rep.Sequence, "whole state")
	fmt.Printf("%d passed, %d failed\n", t.rp.passed, t.rp.failed)
	if t.rp.failed > 0 {
		return 1
	}
	return 0
}
