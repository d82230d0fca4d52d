package main

import (
	"fmt"
	"math/rand"
	"strings"
)

// sequence makes n steps from a seed.
func sequence(profile string, seed int64, n int, slow bool) []*Step {
	g := &gen{Rand: rand.New(rand.NewSource(seed)), profile: profile, slow: slow, groups: map[string]mgroup{}, said: map[string]DV{}}
	g.plain = g.chance(0.5)
	var out []*Step
	add := func(s *Step) { out = append(out, s) }
	plain := func(t string) *Step {
		return &Step{Op: "req", Conn: "adm", Code: rcUpdateConfig, Ver: v5_5_0, Body: &t}
	}
	switch profile {
	case "actingmaster":
		g.notify = true
		add(plain("supportActingMaster=true\nnotifyMinBrokerIdChanged=true"))
	case "orderkv":
		add(plain(fmt.Sprintf("orderMessageEnable=%v\nreturnOrderTopicConfigToBroker=%v", g.chance(0.8), g.chance(0.8))))
	case "smoke", "full", "conflict", "malformed":
		var t []string
		if g.chance(0.3) {
			t = append(t, "deleteTopicWithBrokerRegistration=true")
		}
		if g.chance(0.4) {
			t = append(t, "supportActingMaster=true")
		}
		if g.chance(0.3) {
			t = append(t, "notifyMinBrokerIdChanged=true")
			g.notify = true
		}
		if g.chance(0.3) {
			t = append(t, "orderMessageEnable=true")
		}
		if len(t) > 0 {
			add(plain(strings.Join(t, "\n")))
		}
	}
	ops := operations(profile)
	total := 0
	for _, o := range ops {
		total += o.w
	}
	for len(out) < n {
		x := g.Intn(total)
		for _, o := range ops {
			if x -= o.w; x < 0 {
				add(o.f(g))
				break
			}
		}
	}
	return out
}
