package main

import (
	"fmt"
	"slices"
	"sort"

	"fingerpost/interop/bench/internal/load"
)

func med(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	v = slices.Clone(v)
	sort.Float64s(v)
	if len(v)%2 == 1 {
		return v[len(v)/2]
	}
	return (v[len(v)/2-1] + v[len(v)/2]) / 2
}

type table struct {
	servers []*server
	ref     string
}

func newTable(s []*server, ref string) *table {
	t := &table{s, ref}
	fmt.Println("Per server: requests/s (ratio to " + ref + ") · p50/p99/p999 µs · server CPU µs per request (ratio) · RSS MB · spread min–max of requests/s · other cores busy")
	fmt.Println()
	return t
}

func (t *table) row(label string, res map[string][]*load.Result) {
	col := func(name string, f func(*load.Result) float64) []float64 {
		var v []float64
		for _, r := range res[name] {
			v = append(v, f(r))
		}
		return v
	}
	thr := func(r *load.Result) float64 { return r.Throughput }
	cpu := func(r *load.Result) float64 { return r.ServerCPUus }
	refT, refC := med(col(t.ref, thr)), med(col(t.ref, cpu))
	fmt.Printf("%s\n", label)
	for _, s := range t.servers {
		rs := res[s.name]
		if len(rs) == 0 {
			continue
		}
		tv := col(s.name, thr)
		m, c := med(tv), med(col(s.name, cpu))
		g := func(f func(*load.Result) float64) float64 { return med(col(s.name, f)) }
		fmt.Printf("  %-10s %9.0f/s", s.name, m)
		if refT > 0 {
			fmt.Printf(" (%5.2fx)", m/refT)
		}
		fmt.Printf(" · %6.0f/%7.0f/%7.0f", g(func(r *load.Result) float64 { return r.P50US }), g(func(r *load.Result) float64 { return r.P99US }), g(func(r *load.Result) float64 { return r.P999US }))
		fmt.Printf(" · cpu %8.2f", c)
		if c > 0 && refC > 0 {
			fmt.Printf(" (%.3fx)", c/refC)
		}
		fmt.Printf(" · rss %5.0f · %.0f–%.0f · other %.2f", g(func(r *load.Result) float64 { return r.RSSMB }), slices.Min(tv), slices.Max(tv), g(func(r *load.Result) float64 { return r.OtherCores }))
		fmt.Printf(" · client cpu %.2f · %0.f→%.0f B", g(func(r *load.Result) float64 { return r.ClientCPUus }), g(func(r *load.Result) float64 { return r.ReqBytes }), g(func(r *load.Result) float64 { return r.RespBytes }))
		if rs[0].Reg != nil {
			fmt.Printf(" · reg %.1f/s mean %.1f p99 %.1f ms", g(func(r *load.Result) float64 { return r.Reg.Throughput }), g(func(r *load.Result) float64 { return r.Reg.MeanMS }), g(func(r *load.Result) float64 { return r.Reg.P99MS }))
		}
		if rs[0].Loss != nil {
			fmt.Printf(" · routes right after p50 %.1f max %.1f ms", g(func(r *load.Result) float64 { return r.Loss.CorrectP50MS }), g(func(r *load.Result) float64 { return r.Loss.CorrectMaxMS }))
		}
		if rs[0].Rate > 0 {
			fmt.Printf(" · longest %.0f µs", g(func(r *load.Result) float64 { return r.MaxUS }))
		}
		if rs[0].Scenario == "idle" {
			fmt.Printf(" · rss before %.0f", g(func(r *load.Result) float64 { return r.RSSBeforeMB }))
		}
		var wrong, unsent uint64
		first := ""
		for _, r := range rs {
			wrong += r.Wrong + r.Timeouts + r.DeadConns
			unsent += r.Unsent
			for _, n := range r.BadCodes {
				wrong += n
			}
			if first == "" {
				first = r.FirstErr
			}
		}
		if wrong > 0 {
			fmt.Printf(" · ERRORS %d (%s)", wrong, first)
		}
		if unsent > 0 {
			fmt.Printf(" · never sent %d", unsent)
		}
		fmt.Println()
	}
}
