// nsdiff compares two RocketMQ name servers request by request. See README.md.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"strings"
	"syscall"
	"time"
)

func main() { os.Exit(run()) }

func run() int {
	var (
		addrA      = flag.String("a", "127.0.0.1:9876", "server A, the oracle (host:port)")
		addrB      = flag.String("b", "127.0.0.1:9877", "server B, under test (host:port)")
		cmdA       = flag.String("a-cmd", "", "shell command that starts A on its port ({port} {host} {dir} are filled in)")
		cmdB       = flag.String("b-cmd", "", "shell command that starts B")
		restart    = flag.String("restart", "once", "with -a-cmd/-b-cmd: start the servers once, or for every sequence")
		seed       = flag.Int64("seed", 1, "seed of the sequences")
		steps      = flag.Int("steps", 0, "steps of a sequence (0: as the profile has it)")
		sequences  = flag.Int("sequences", 0, "sequences of a profile (0: as the profile has it)")
		limit      = flag.Duration("time", 0, "time for each profile (0: as the profile has it)")
		profile    = flag.String("profile", "smoke", "smoke full conflict actingmaster config malformed orderkv badinput differences; several with commas, or check (a bit of each, 40 s), or all")
		replay     = flag.String("replay", "", "run the steps of this replay file instead")
		out        = flag.String("out", "nsdiff-out", "directory for replay files")
		failOn     = flag.String("fail", "hard,form", "classes of difference that count as failures")
		ignore     = flag.String("ignore", "", "regular expression: signatures that do not count as failures")
		shrinkTime = flag.Duration("shrink", 20*time.Second, "time to shorten the first sequence of each kind of difference (0: do not)")
		base       = flag.Int("broker-port", 27900, "first of eight ports for the virtual brokers")
		pushWait   = flag.Duration("push-wait", 12*time.Millisecond, "shortest wait for pushes after a step")
		every      = flag.Int("every", 15, "compare the whole state every N steps")
		mutate     = flag.String("mutate", "", "put a fault proxy of this kind in front of B (see -mutations)")
		mutations  = flag.Bool("mutations", false, "list the kinds of fault")
		mutCheck   = flag.Bool("mutation-check", false, "try every kind of fault and report which are detected")
		poison     = flag.Bool("poison", false, "badinput: also the cases that spoil the oracle until it is restarted")
		table      = flag.String("table", "", "badinput: write the table of the oracle's answers to this file (Markdown)")
		verbose    = flag.Bool("v", false, "print every step")
	)
	flag.Parse()
	if *mutations {
		for _, m := range mutationList {
			fmt.Printf("%-22s %s\n", m.name, m.what)
		}
		return 0
	}
	rp := &report{found: map[string]*finding{}, fail: map[string]bool{}, out: *out}
	for _, c := range strings.Split(*failOn, ",") {
		rp.fail[strings.TrimSpace(c)] = true
	}
	if *ignore != "" {
		re, err := regexp.Compile(*ignore)
		if err != nil {
			fmt.Println("-ignore:", err)
			return 2
		}
		rp.ignore = re
	}
	hub, err := newPushHub(*base, 8)
	if err != nil {
		fmt.Println(err)
		return 2
	}
	r := &runner{
		a:   &side{name: "A", addr: *addrA, real: *addrA, cmd: *cmdA, links: map[string]*link{}},
		b:   &side{name: "B", addr: *addrB, real: *addrB, cmd: *cmdB, links: map[string]*link{}},
		hub: hub, env: &env{addrs: hub.addrs}, uni: newUniverse(), regs: map[regKey]regInfo{}, memory: newMemory(), expected: allExpected(), cover: newCoverage(), waits: map[string]int{},
		pushWait: *pushWait, every: max(1, *every), scan: 5 * time.Second, runID: fmt.Sprintf("%x", time.Now().UnixMilli()%0xFFFFFF),
	}
	t := &tester{r: r, rp: rp, seed: *seed, restart: *restart, shrinkTime: *shrinkTime, verbose: *verbose, poison: *poison}
	defer func() { r.a.stop(); r.b.stop() }()
	sig := make(chan os.Signal, 1)
	signal.Notify(sig, syscall.SIGINT, syscall.SIGTERM)
	go func() {
		<-sig
		r.a.stop()
		r.b.stop()
		os.Exit(130)
	}()

	var px *proxy
	if *mutate != "" || *mutCheck {
		if px, err = newProxy(*addrB); err != nil {
			fmt.Println(err)
			return 2
		}
		r.b.addr = px.addr
		hub.filter = px.onPush
		if *mutate != "" && !px.set(*mutate) {
			fmt.Println("no such mutation:", *mutate)
			return 2
		}
	}
	if *mutate != "" {
		t.px = px
	}
	if err := t.start(); err != nil {
		fmt.Println(err)
		return 2
	}
	if *table != "" {
		f, err := os.Create(*table)
		if err != nil {
			fmt.Println(err)
			return 2
		}
		defer f.Close()
		t.table = f
	}
	t.started = time.Now()
	if *mutCheck {
		return t.mutationCheck(px, *seed)
	}
	if *replay != "" {
		return t.replay(*replay)
	}
	ps := strings.Split(*profile, ",")
	if *profile == "all" {
		ps = allProfiles
	}
	short := map[string]time.Duration{}
	if *profile == "check" {
		ps, short = nil, checkTimes
		for _, p := range allProfiles {
			if short[p] > 0 {
				ps = append(ps, p)
			}
		}
		t.shrinkTime = min(t.shrinkTime, 2*time.Second)
	}
	for _, p := range ps {
		d, ok := defaults[p]
		if !ok {
			fmt.Println("no such profile:", p)
			return 2
		}
		t.profile, t.steps, t.sequences, t.limit = p, d.steps, d.seqs, d.limit
		if *steps > 0 {
			t.steps = *steps
		}
		if *sequences > 0 {
			t.sequences = *sequences
		}
		if *limit > 0 {
			t.limit = *limit
			if *sequences == 0 {
				t.sequences = 0
			}
		}
		if short[p] > 0 {
			t.limit, t.sequences = short[p], 0
		}
		if err := t.runProfile(); err != nil {
			fmt.Println("stopped:", err)
			rp.failed++
			break
		}
	}
	took := time.Since(t.started)
	t.restart = "once"
	t.fresh() // leave nothing behind
	rp.print(took, r)
	if rp.failed > 0 {
		return 1
	}
	return 0
}

// ---- profile badinput
