package main

import (
	"strconv"
	"strings"
)

// expected is one way in which the server under test differs from the oracle on purpose. What it is and why stands in
// docs/differences.md under the heading anchor. A difference that no entry covers is a failure.
type expected struct {
	anchor string
	// stirs says, before a step, whether it may make the two sides differ in this way: only then, and only for what is
	// compared right after the step, covers is asked. Without stirs covers is asked about every difference.
	stirs  func(s *scene) bool
	covers func(s *scene, d *diff) bool
	// parts: the two hold different states from here on, so that the sequence ends.
	parts bool
	// hidden: that does not show at once.
	hidden bool
}

// allExpected is the whole table: who is registered, and what is asked and answered (expected_requests.go).
func allExpected() []expected { return append(brokerExpectations(), requestExpectations()...) }

// forgive marks the differences that are expected. It says whether the two sides have parted over one of them.
func (r *runner) forgive(s *scene, ds []diff) (parted bool) {
	s.look()
	for i := range ds {
		d := &ds[i]
		if d.Class == cExpected {
			parted = parted || d.Part
			continue
		}
		for j := range r.expected {
			e := &r.expected[j]
			if e.stirs != nil && !s.stirred[e.anchor] || !e.covers(s, d) {
				continue
			}
			d.Class, d.Anchor, d.Gen = cExpected, e.anchor, e.anchor
			d.Part = e.parts && (d.Part || e.hidden)
			parted = parted || d.Part
			break
		}
	}
	// A oneway request shows its effect later, if it does: where it may have parted the two, nothing more is compared.
	if s.st != nil && s.st.Oneway {
		for _, e := range r.expected {
			parted = parted || e.parts && s.stirred[e.anchor]
		}
	}
	return parted
}

// anyState is any difference that shows after the step, not in its answer.
func anyState(_ *scene, d *diff) bool { return d.Class == cHard && d.Part }

// topicsOfStep counts the topics that a registration lists, each name once.
func (s *scene) topicsOfStep() int {
	names := map[string]bool{}
	for _, t := range s.st.Reg.Topics {
		names[t.Name] = true
	}
	return len(names)
}

// brokerExpectations are the differences in who is registered where, and with what.
func brokerExpectations() []expected {
	return []expected{
		{
			anchor: "every-broker-of-a-connection", parts: true,
			covers: func(s *scene, d *diff) bool { return s.crowded && d.Class == cHard && d.Part },
		},
		{
			anchor: "refused-single-topic", parts: true,
			stirs: func(s *scene) bool {
				h := s.reg()
				return h != nil && s.st.Reg != nil && s.topicsOfStep() == 1 && s.groups[h.ext["brokerName"]].addrs[h.ext["brokerId"]] == ""
			},
			covers: anyState,
		},
		{
			anchor: "refused-older-state", parts: true,
			stirs: func(s *scene) bool {
				h := s.reg()
				if h == nil || s.st.Reg == nil {
					return false
				}
				var said DV // what a registration that speaks of no version means
				if s.st.Reg.DV != nil {
					said = *s.st.Reg.DV
				}
				holder := s.groups[h.ext["brokerName"]].addrs[h.ext["brokerId"]]
				if holder == "" || holder == h.ext["brokerAddr"] {
					return false
				}
				v := s.version(regKey{h.ext["clusterName"], holder})
				state, err := strconv.ParseInt(v.get("stateVersion").strOr("0"), 10, 64)
				return v != nil && err == nil && state > said.State
			},
			covers: anyState,
		},
		{
			anchor: "one-address-one-broker", parts: true,
			stirs: func(s *scene) bool {
				h := s.reg()
				if h == nil {
					return false
				}
				for _, n := range s.placed(keyOf(h)) {
					if n != h.ext["brokerName"] {
						return true
					}
				}
				return false
			},
			covers: anyState,
		},
		{
			anchor: "one-cluster-per-name", parts: true,
			stirs: func(s *scene) bool {
				h := s.reg()
				if h == nil {
					return false
				}
				g, known := s.groups[h.ext["brokerName"]]
				return known && (g.cluster != h.ext["clusterName"] || len(s.lists[h.ext["brokerName"]]) > 1)
			},
			covers: anyState,
		},
		{
			anchor: "unregister-must-match", parts: true,
			stirs: func(s *scene) bool {
				return s.any(rcUnregister, func(h *header) bool {
					name := h.ext["brokerName"]
					if s.holds(name, h.ext["brokerAddr"]) {
						return s.groups[name].cluster != h.ext["clusterName"]
					}
					_, known := s.groups[name]
					return known || s.version(keyOf(h)) != nil
				})
			},
			covers: anyState,
		},
		{
			anchor: "lease-follows-broker", parts: true,
			stirs: func(s *scene) bool {
				if s.st == nil || !s.st.closes() {
					return false
				}
				for k, conn := range s.r.moved {
					for _, c := range append([]string{s.st.Conn}, s.st.Conns...) {
						if c != "" && (c == conn || c == s.r.regs[k].conn) {
							return true
						}
					}
				}
				return false
			},
			covers: anyState,
		},
		{
			anchor: "content-decides", parts: true,
			stirs: func(s *scene) bool {
				h := s.reg()
				if h == nil || s.st.Reg == nil {
					return false
				}
				v, said := s.version(keyOf(h)), s.st.Reg.DV
				if said == nil && s.st.Reg.isComp() {
					said = &DV{} // that form always has one
				}
				if said == nil {
					return false
				}
				return v != nil && v.get("counter").strOr("") == strconv.FormatInt(said.Counter, 10) &&
					v.get("stateVersion").strOr("") == strconv.FormatInt(said.State, 10) &&
					v.get("timestamp").strOr("") == strconv.FormatInt(baseTime+said.Time, 10)
			},
			covers: func(s *scene, d *diff) bool {
				return d.about(rcRoute) && d.Class == cHard && (d.names(s.h[0].ext["brokerName"]) || strings.Contains(d.Where, "topicQueueMappingByBroker"))
			},
		},
		{
			anchor: "ghost-live-entry",
			covers: func(s *scene, d *diff) bool {
				if d.about(rcRoute) {
					return s.displacedFilter(d)
				}
				if !d.about(rcDataVersion) || d.Class != cHard {
					return false
				}
				k := regKey{d.Asked.ext["clusterName"], d.Asked.ext["brokerAddr"]}
				return len(s.placed(k)) == 0 && s.version(k) != nil
			},
		},
		{
			anchor: "mapping-goes-with-topic",
			covers: func(s *scene, d *diff) bool {
				if !d.about(rcRoute) || d.Class != cHard || d.B != "(absent)" {
					return false
				}
				_, rest, found := strings.Cut(d.Where, ".topicQueueMappingByBroker")
				if !found {
					return false
				}
				topic := d.Asked.ext["topic"]
				if broker, one := strings.CutPrefix(rest, "["); one {
					return s.r.stale[[2]string{topic, strings.TrimSuffix(broker, "]")}]
				}
				// All of them: each must be one that has outlived its topic or its broker's part of it.
				all, _, err := parseJSON(d.A)
				if err != nil {
					return false
				}
				for _, broker := range all.keys() {
					if !s.r.stale[[2]string{topic, broker}] {
						return false
					}
				}
				return true
			},
		},
		{
			anchor: "negative-ids", parts: true,
			stirs:  func(s *scene) bool { h := s.reg(); return h != nil && strings.HasPrefix(h.ext["brokerId"], "-") },
			covers: anyState,
		},
		{anchor: "negative-ids", parts: true, // a group with such a member
			covers: func(s *scene, d *diff) bool {
				if d.Class != cHard || !d.Part && !d.about(rcRoute, rcCluster, rcMemberGroup) {
					return false
				}
				for name := range s.groups {
					if s.hasNegative(name) && (d.names(name) || strings.HasPrefix(d.Gen, "push") || strings.HasPrefix(d.Gen, "905")) {
						return true
					}
				}
				return false
			}},
	}
}

// hasNegative says whether a group has a member with a negative id.
func (s *scene) hasNegative(name string) bool {
	for id := range s.groups[name].addrs {
		if strings.HasPrefix(id, "-") {
			return true
		}
	}
	return false
}

// displacedFilter: the oracle still has the filter servers that an address announced before it lost its place.
func (s *scene) displacedFilter(d *diff) bool {
	_, rest, found := strings.Cut(d.Where, ".filterServerTable[")
	return found && d.B == "(absent)" && s.r.displaced[strings.TrimSuffix(rest, "]")]
}

func (st *Step) closes() bool {
	switch st.Op {
	case "close", "rst", "half", "closemany":
		return true
	}
	return st.Op == "raw" && st.Conn != ""
}
