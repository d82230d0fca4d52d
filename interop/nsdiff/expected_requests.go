package main

import (
	"strconv"
	"strings"
)

// identity are the requests that name a broker, with the fields that they may not do without.
var identity = map[int][]string{
	rcRegister:    {"clusterName", "brokerName", "brokerAddr", "brokerId"},
	rcUnregister:  {"clusterName", "brokerName", "brokerAddr", "brokerId"},
	rcDataVersion: {"clusterName", "brokerName", "brokerAddr"},
	rcHeartbeat:   {"clusterName", "brokerName", "brokerAddr"},
}

// lacks says whether a request leaves out a field that says which broker it is about, or has an id that is no number.
func lacks(h *header) bool {
	fields, known := identity[h.code]
	if !known {
		return false
	}
	for _, f := range fields {
		if h.ext[f] == "" {
			return true
		}
	}
	id, given := h.ext["brokerId"]
	if _, err := strconv.ParseInt(id, 10, 64); given && err != nil {
		return true
	}
	return false
}

func requestExpectations() []expected {
	return []expected{
		{
			anchor: "missing-identity", parts: true,
			stirs: func(s *scene) bool {
				for _, h := range s.h {
					if lacks(h) {
						return true
					}
				}
				return false
			},
			covers: func(s *scene, d *diff) bool { return s.refusedByB() || s.st.Oneway && d.Class == cHard },
		},
		{
			anchor: "missing-identity", parts: true, // after such a registration, which the oracle has taken
			stirs:  func(s *scene) bool { return s.st != nil && s.st.Tag == "poison" },
			covers: func(s *scene, d *diff) bool { return true },
		},
		{
			anchor: "kv-fields-required", parts: true, hidden: true,
			stirs: func(s *scene) bool {
				return s.any(rcPutKV, func(h *header) bool {
					v, given := h.ext["value"]
					return !given || v == "" && s.st.Enc == "rmq" || h.ext["namespace"] == "" || h.ext["key"] == ""
				})
			},
			covers: func(s *scene, d *diff) bool { return d.about(rcPutKV) && s.refusedByB() },
		},
		{anchor: "kv-fields-required", // what the oracle has kept under such a name
			covers: func(s *scene, d *diff) bool {
				if !d.about(rcGetKV, rcKVList) || d.Class != cHard {
					return false
				}
				key, one := d.Asked.ext["key"]
				return d.Asked.ext["namespace"] == "" || one && key == "" || strings.HasSuffix(d.Where, ".table[]")
			}},
		{
			anchor: "kv-fields-required", parts: true,
			stirs:  func(s *scene) bool { return s.isRaw("ROCKETMQ header: put KV with empty value") },
			covers: func(s *scene, d *diff) bool { return s.refusedByB() },
		},
		{
			anchor: "utf8-in-headers",
			stirs:  func(s *scene) bool { return s.isRaw("JSON header: invalid UTF-8 in a string") },
			covers: func(s *scene, d *diff) bool { return !s.ob.closed && len(s.ob.frames) == 1 },
		},
		{
			anchor: "good-frame-first",
			stirs:  func(s *scene) bool { return s.isRaw("good frame, then garbage") },
			covers: func(s *scene, d *diff) bool { return s.ob.closed && len(s.ob.frames) == 1 },
		},
		{
			anchor: "huge-timeout", parts: true,
			stirs: func(s *scene) bool {
				return s.any(rcRegister, func(h *header) bool { return h.ext["heartbeatTimeoutMillis"] == hugeTimeout })
			},
			covers: func(s *scene, d *diff) bool { return d.Class == cHard && d.Part },
		},
		{
			anchor: "config-values", parts: true,
			stirs: func(s *scene) bool {
				return s.any(rcUpdateConfig, func(*header) bool { return s.st.Body != nil && oddSettings(*s.st.Body) })
			},
			covers: func(s *scene, d *diff) bool { return d.about(rcUpdateConfig) && s.refusedByB() || anyState(s, d) },
		},
		{
			anchor: "topic-named", parts: true,
			stirs: func(s *scene) bool {
				return s.any(rcRegTopic, func(h *header) bool { return h.ext["topic"] == "" })
			},
			covers: anyState,
		},
		{
			anchor: "any-version", parts: true,
			stirs: func(s *scene) bool {
				return s.any(rcRegister, func(h *header) bool { return h.version < 0 })
			},
			covers: func(s *scene, d *diff) bool { return true },
		},
		{
			anchor: "compressed-unannounced", parts: true,
			stirs: func(s *scene) bool {
				return s.any(rcRegister, func(h *header) bool {
					return strings.HasPrefix(s.st.Hex, "78") && !strings.EqualFold(h.ext["compressed"], "true")
				})
			},
			covers: func(s *scene, d *diff) bool { return !s.refusedByB() },
		},
		{
			anchor: "lenient-bodies", parts: true,
			stirs: func(s *scene) bool {
				if s.st == nil || s.st.Tag != "lenient" || len(s.h) != 1 {
					return false
				}
				return s.h[0].code == rcRegister || s.h[0].code == rcRoute // of what such a registration has left
			},
			covers: func(s *scene, d *diff) bool { return !s.refusedByB() },
		},
		{
			anchor: "unknown-broker-topic", parts: true,
			stirs: func(s *scene) bool {
				return s.any(rcRegTopic, func(*header) bool {
					if s.st.Body == nil {
						return false
					}
					d, _, err := parseJSON(*s.st.Body)
					if err != nil || d.get("queueDatas") == nil {
						return false
					}
					for _, q := range d.get("queueDatas").arr {
						if _, known := s.groups[q.get("brokerName").strOr("")]; !known {
							return true
						}
					}
					return false
				})
			},
			covers: func(s *scene, d *diff) bool { return d.about(rcRoute, rcAllTopics) && d.Class == cHard },
		},
		{
			anchor: "write-perm-restored", parts: true,
			stirs: func(s *scene) bool { return s.any(rcAddPerm, func(*header) bool { return true }) },
			covers: func(s *scene, d *diff) bool {
				return d.about(rcRoute) && strings.HasSuffix(d.Where, ".perm") && d.A == "6" && d.names(s.h[0].ext["brokerName"])
			},
		},
		{
			anchor: "zone-keeps-dialect",
			covers: func(s *scene, d *diff) bool {
				if !d.about(rcRoute) || d.Class != cForm || !strings.HasSuffix(d.Gen, " key quoting") {
					return false
				}
				ext := d.Asked.ext
				zone := strings.EqualFold(ext[extZoneMode], "true") && strings.TrimSpace(ext[extZone]) != ""
				strict := d.Asked.ver >= v4_9_4 || strings.EqualFold(ext["acceptStandardJsonOnly"], "true")
				return zone && strict
			},
		},
	}
}
