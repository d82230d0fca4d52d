package main

import (
	"fmt"
	"strings"

	"fingerpost/interop/bench/internal/load"
	"fingerpost/interop/bench/internal/proto"
)

func plan(want []string, brokers int) []cell {
	var cs []cell
	add := func(label string, raw bool, s load.Spec) {
		if *match != "" && !strings.Contains(label, *match) {
			return
		}
		s.Threads, s.Duration, s.Warmup, s.VerifyEvery = *threads, *duration, *warmup, *every
		if s.Version == 0 {
			s.Version = proto.VersionV550
		}
		cs = append(cs, cell{label, s, raw, *rounds})
	}
	for _, p := range want {
		switch p {
		case "route":
			for _, c := range []int{1, 16, 128} {
				for _, i := range []int{1, 32} {
					add(fmt.Sprintf("route c%d i%d", c, i), true, load.Spec{Scenario: "route", Conns: c, Inflight: i})
				}
			}
		case "miss":
			add("miss c16 i32", false, load.Spec{Scenario: "miss", Conns: 16, Inflight: 32})
		case "open":
			for _, r := range strings.Split(*rates, ",") {
				var v float64
				fmt.Sscan(r, &v)
				add(fmt.Sprintf("route open %s/s c64", r), true, load.Spec{Scenario: "route", Conns: 64, Inflight: 64, Rate: v})
			}
		case "other":
			add("route binary-header c16 i32", true, load.Spec{Scenario: "route", Conns: 16, Inflight: 32, Ser: proto.ROCKETMQ})
			add("route legacy-json c16 i32", false, load.Spec{Scenario: "route", Conns: 16, Inflight: 32, Version: proto.VersionV493})
			add("route-standard-json v4.9.3 c16 i32", false, load.Spec{Scenario: "route-standard-json", Conns: 16, Inflight: 32, Version: proto.VersionV493})
			add("heartbeat c16 i32", false, load.Spec{Scenario: "heartbeat", Conns: 16, Inflight: 32})
			add("heartbeat c16 i1", false, load.Spec{Scenario: "heartbeat", Conns: 16, Inflight: 1})
		case "reg":
			for _, z := range []bool{false, true} {
				n := map[bool]string{false: "plain", true: "deflate"}[z]
				add("register unchanged "+n+" x1", true, load.Spec{Scenario: "register", Compressed: z, RegConcurrency: 1})
				add("register changed "+n+" x1", true, load.Spec{Scenario: "register-changed", Compressed: z, RegConcurrency: 1})
				add("register first "+n+" x1", true, load.Spec{Scenario: "first", Compressed: z})
			}
			add("register changed plain all", true, load.Spec{Scenario: "register-changed"})
		case "mixed":
			base := load.Spec{Scenario: "mixed", Conns: 16, Inflight: 64, Rate: 1000}
			add("mixed route 1000/s, no reg", true, func() load.Spec { s := base; s.Scenario = "route"; return s }())
			s := base
			s.RegRate = float64(brokers) / 30
			add("mixed route 1000/s, unchanged reg every 30s", true, s)
			s.RegChanged = true
			add("mixed route 1000/s, changed reg every 30s", true, s)
			s.RegRate = float64(brokers) / 5
			add("mixed route 1000/s, changed reg every 5s", true, s)
			s.RegRate = 0
			s.RegConcurrency = 1
			add("mixed route 1000/s, changed reg nonstop x1", true, s)
			s.RegConcurrency = 0
			add("mixed route 1000/s, changed reg nonstop all", true, s)
			s.Rate, s.Inflight = 0, 1
			add("mixed route closed c16 i1, changed reg nonstop all", true, s)
		case "loss":
			quiet := load.Spec{Scenario: "route", Conns: 16, Inflight: 64, Rate: 1000}
			add("loss route 1000/s, no loss", false, quiet)
			quiet.Scenario = "loss"
			add("loss route 1000/s, brokers lost", false, quiet)
		case "churn":
			add("churn c16 10 topics", false, load.Spec{Scenario: "churn", Conns: 16, ChurnTopics: 10, ChurnMax: 20000})
		case "idle":
			add(fmt.Sprintf("idle %d connections", *idleN), true, load.Spec{Scenario: "idle", Conns: *idleN})
		}
	}
	return cs
}
