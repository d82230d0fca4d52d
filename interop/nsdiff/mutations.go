package main

import (
	"fmt"
	"strings"
)

var mutationList = []*mutation{
	{
		name: "wrong-code", what: "an unknown topic is answered with code 1 instead of 17", profile: "smoke",
		resp: func(q *header, f *frame) int {
			if f.hdr.code != 17 {
				return rSame
			}
			f.hdr.code = 1
			return rChanged
		},
	},
	{name: "wrong-remark", what: "remark without its second line", profile: "smoke", resp: answerTo(rcRoute, func(q *header, f *frame) int {
		f.hdr.remark, _, _ = strings.Cut(f.hdr.remark, "\n")
		return rChanged
	})},
	{name: "remark-null", what: "member group without its strange remark", profile: "smoke", resp: answerTo(rcMemberGroup, func(q *header, f *frame) int {
		f.hdr.remark, f.hdr.hasRemark = "", false
		return rChanged
	})},
	{name: "lost-topic", what: "one topic is missing from the topic list", profile: "smoke", resp: answerTo(rcAllTopics, func(q *header, f *frame) int {
		return edit(f, func(n *node) {
			if l := n.get("topicList"); l != nil && len(l.arr) > 2 {
				l.arr = l.arr[1:]
			}
		})
	})},
	{name: "swapped-fields", what: "read and write queue numbers exchanged in routes", profile: "smoke", resp: answerTo(rcRoute, func(q *header, f *frame) int {
		return edit(f, func(n *node) {
			if l := n.get("queueDatas"); l != nil {
				for _, x := range l.arr {
					a, b := x.get("readQueueNums"), x.get("writeQueueNums")
					if a != nil && b != nil {
						*a, *b = *b, *a
					}
				}
			}
		})
	})},
	{name: "push-lost", what: "every second push does not arrive", profile: "actingmaster", push: func(n int, p pushed) []pushed {
		if n%2 == 1 {
			return nil
		}
		return []pushed{p}
	}},
	{name: "push-twice", what: "every push arrives twice", profile: "actingmaster", push: func(n int, p pushed) []pushed { return []pushed{p, p} }},
	{name: "push-field", what: "pushes name another smallest id", profile: "actingmaster", push: func(n int, p pushed) []pushed {
		g := *p.f
		e := map[string]string{}
		for k, v := range g.hdr.ext {
			e[k] = v
		}
		e["minBrokerId"] = "9"
		g.hdr.ext = e
		return []pushed{{p.at, &g}}
	}},
	{name: "bare-keys", what: "standard JSON routes with bare numeric keys", profile: "smoke", resp: answerTo(rcRoute, func(q *header, f *frame) int {
		n, _, err := parseJSON(string(f.body))
		if err != nil {
			return rSame
		}
		f.body = []byte(n.text(true))
		return rChanged
	})},
	{name: "quoted-keys", what: "cluster info with quoted numeric keys", profile: "smoke", resp: answerTo(rcCluster, func(q *header, f *frame) int {
		return edit(f, func(n *node) {
			if t := n.get("brokerAddrTable"); t != nil {
				for _, m := range t.mem {
					if as := m.val.get("brokerAddrs"); as != nil {
						for i := range as.mem {
							as.mem[i].bare = false
						}
					}
				}
			}
		})
	})},
	{name: "null-field", what: "routes with orderTopicConf:null", profile: "smoke", resp: answerTo(rcRoute, func(q *header, f *frame) int {
		return edit(f, func(n *node) {
			if n.get("orderTopicConf") == nil {
				n.mem = append(n.mem, member{key: "orderTopicConf", val: &node{kind: kNull, raw: "null"}})
			}
		})
	})},
	{name: "field-order", what: "queue data fields in another order", profile: "smoke", resp: answerTo(rcRoute, func(q *header, f *frame) int {
		return edit(f, func(n *node) {
			if l := n.get("queueDatas"); l != nil {
				for _, x := range l.arr {
					if len(x.mem) > 1 {
						x.mem[0], x.mem[1] = x.mem[1], x.mem[0]
					}
				}
			}
		})
	})},
	{name: "white-space", what: "a blank after the first brace of bodies", profile: "smoke", resp: func(q *header, f *frame) int {
		if len(f.body) < 2 || f.body[0] != '{' {
			return rSame
		}
		f.body = append([]byte("{ "), f.body[1:]...)
		return rChanged
	}},
	{name: "escapes", what: "characters beyond ASCII written as \\u escapes", profile: "smoke", resp: func(q *header, f *frame) int {
		var b strings.Builder
		for _, r := range string(f.body) {
			if r > 127 && r < 0x10000 {
				fmt.Fprintf(&b, "\\u%04x", r)
			} else {
				b.WriteRune(r)
			}
		}
		if b.Len() == len(f.body) {
			return rSame
		}
		f.body = []byte(b.String())
		return rChanged
	}},
	{name: "language", what: "answers say language GO", profile: "smoke", resp: func(q *header, f *frame) int { f.hdr.lang = "GO"; return rChanged }},
	{name: "no-master-addr", what: "registration answers without masterAddr", profile: "smoke", resp: answerTo(rcRegister, func(q *header, f *frame) int {
		if dropExt(&f.hdr, "masterAddr") {
			return rChanged
		}
		return rSame
	})},
	{name: "changed-flipped", what: "data version always reported as changed", profile: "smoke", resp: answerTo(rcDataVersion, func(q *header, f *frame) int {
		if setExt(&f.hdr, "changed", "true") {
			return rChanged
		}
		return rSame
	})},
	{name: "opaque-off", what: "one answer in eight has another opaque", profile: "smoke", resp: func(q *header, f *frame) int {
		if f.hdr.opaque%8 != 3 || q == nil || q.code != rcRoute {
			return rSame
		}
		f.hdr.opaque += 100000
		return rChanged
	}},
	{name: "answer-twice", what: "route answers come twice", profile: "smoke", resp: answerTo(rcRoute, func(q *header, f *frame) int { return rTwice })},
	{name: "flag-zero", what: "answers not marked as answers", profile: "smoke", resp: func(q *header, f *frame) int { f.hdr.flag = 0; return rChanged }},
	{name: "close-on-error", what: "the connection is closed after an error answer", profile: "smoke", resp: func(q *header, f *frame) int {
		if f.hdr.code == 1 {
			return rClose
		}
		return rSame
	}},
	{name: "binary-answer", what: "a ROCKETMQ request gets a ROCKETMQ answer", profile: "smoke", resp: func(q *header, f *frame) int {
		if q != nil && q.doc == nil {
			return rBinary
		}
		return rSame
	}},
	{
		name: "wipe-as-add", what: "wiping the write permission sets it", profile: "smoke", req: onCode(rcWipePerm, func(h *header, b []byte) ([]byte, bool) { h.code = rcAddPerm; return b, true }),
		resp: answerTo(rcAddPerm, func(q *header, f *frame) int {
			if v, ok := f.hdr.ext["addTopicCount"]; ok && q.langCode == -1 {
				delete(f.hdr.ext, "addTopicCount")
				f.hdr.ext["wipeTopicCount"] = v
				f.hdr.extOrder = nil
				return rChanged
			}
			return rSame
		}),
	},
	{name: "unregister-ignored", what: "unregistrations are answered but not done", profile: "smoke", req: onCode(rcUnregister, func(h *header, b []byte) ([]byte, bool) {
		if strings.HasPrefix(h.ext["brokerName"], "nsdiff.") {
			return b, false
		}
		return b, setExt(h, "brokerName", "gone") && setExt(h, "brokerAddr", "gone:1")
	})},
	{name: "close-unnoticed", what: "the server does not learn that a broker's connection closed", profile: "conflict", deaf: true},
	{name: "crc-unchecked", what: "a wrong body checksum is accepted", profile: "smoke", req: onCode(rcRegister, func(h *header, b []byte) ([]byte, bool) { return b, dropExt(h, "bodyCrc32") })},
	{name: "state-version", what: "a higher stateVersion wins always", profile: "conflict", req: onCode(rcRegister, func(h *header, b []byte) ([]byte, bool) {
		t := strings.Replace(string(b), `"stateVersion":0`, `"stateVersion":9`, 1)
		dropExt(h, "bodyCrc32")
		return []byte(t), t != string(b)
	})},
	{name: "zone-ignored", what: "the zone filter of routes is not applied", profile: "smoke", req: onCode(rcRoute, func(h *header, b []byte) ([]byte, bool) { return b, dropExt(h, extZoneMode) })},
	{name: "acting-ignored", what: "enableActingMaster of registrations is dropped", profile: "actingmaster", req: onCode(rcRegister, func(h *header, b []byte) ([]byte, bool) { return b, dropExt(h, "enableActingMaster") })},
	{name: "kv-delete-ignored", what: "KV deletions are answered but not done", profile: "orderkv", req: onCode(rcDelKV, func(h *header, b []byte) ([]byte, bool) { return b, setExt(h, "key", "nothing") })},
	{name: "config-value", what: "one setting is shown wrong", profile: "config", resp: answerTo(rcGetConfig, func(q *header, f *frame) int {
		f.body = []byte(strings.Replace(string(f.body), "orderMessageEnable=false", "orderMessageEnable=true", 1))
		return rChanged
	})},
	{name: "black-list-open", what: "black-listed settings are accepted", profile: "config", req: onCode(rcUpdateConfig, func(h *header, b []byte) ([]byte, bool) {
		t := string(b)
		for _, k := range []string{"configBlackList", "configStorePath", "kvConfigPath", "rocketmqHome"} {
			t = strings.ReplaceAll(t, k, "noSuchKey")
		}
		return []byte(t), t != string(b)
	})},
	{name: "version-confused", what: "old clients get the standard JSON form", profile: "smoke", req: onCode(rcRoute, func(h *header, b []byte) ([]byte, bool) {
		if h.version >= v4_9_4 {
			return b, false
		}
		h.version = v5_5_0
		return b, true
	})},
	{name: "malformed-kept", what: "the connection survives a frame that cannot be read", profile: "malformed", hole: true},
	{name: "oneway-answered", what: "oneway requests are answered", profile: "full", req: func(h *header, b []byte) ([]byte, bool) {
		if h.flag&2 == 0 {
			return b, false
		}
		h.flag &^= 2
		return b, true
	}},
	{name: "filter-lost", what: "routes without filter servers", profile: "smoke", resp: answerTo(rcRoute, func(q *header, f *frame) int {
		return edit(f, func(n *node) {
			if t := n.get("filterServerTable"); t != nil {
				t.mem = nil
			}
		})
	})},
	{name: "mapping-lost", what: "routes without static topic mapping", profile: "smoke", resp: answerTo(rcRoute, func(q *header, f *frame) int {
		return edit(f, func(n *node) { n.drop("topicQueueMappingByBroker") })
	})},
	{name: "order-conf-lost", what: "routes without order configuration", profile: "orderkv", resp: answerTo(rcRoute, func(q *header, f *frame) int {
		return edit(f, func(n *node) { n.drop("orderTopicConf") })
	})},
	{name: "order-body-lost", what: "registration answers without the order table", profile: "orderkv", resp: answerTo(rcRegister, func(q *header, f *frame) int {
		f.body = nil
		return rChanged
	})},
	{name: "delete-everywhere", what: "deleting a topic in one cluster deletes it in all", profile: "smoke", req: onCode(rcDelTopic, func(h *header, b []byte) ([]byte, bool) { return b, dropExt(h, "clusterName") })},
	{name: "reg-topic-ignored", what: "topic registrations are answered but not done", profile: "smoke", req: onCode(rcRegTopic, func(h *header, b []byte) ([]byte, bool) { return []byte("{}"), true })},
	{name: "system-topic-lost", what: "one name is missing from the system topics", profile: "smoke", resp: answerTo(rcSysTopics, func(q *header, f *frame) int {
		return edit(f, func(n *node) {
			if l := n.get("topicList"); l != nil && len(l.arr) > 0 {
				l.arr = l.arr[:len(l.arr)-1]
			}
		})
	})},
	{name: "timeout-ignored", what: "the heartbeat timeout of a registration is ignored", profile: "actingmaster", req: onCode(rcRegister, func(h *header, b []byte) ([]byte, bool) { return b, dropExt(h, "heartbeatTimeoutMillis") })},
	{name: "ha-lost", what: "the master's HA address is not kept", profile: "smoke", req: onCode(rcRegister, func(h *header, b []byte) ([]byte, bool) { return b, setExt(h, "haServerAddr", "lost") })},
}
