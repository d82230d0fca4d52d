package main

import (
	"encoding/hex"
	"fmt"
	"strings"
)

// script is a short sequence that shows one expected difference: the proof that its entry in docs/differences.md is true
// of both servers.
type script struct {
	anchor string
	steps  []*Step
}

// unscripted are the expected differences that show or not as it happens: by hash order, or by which of two events the
// oracle sees first.
var unscripted = []string{"hash-order", "hash-choice", "good-frame-first"}

func scripts() []script {
	two := []TopicSpec{{Name: "T1", R: 4, W: 4, Perm: 6}, {Name: "T2", R: 4, W: 4, Perm: 6}}
	// reg is the registration of cluster/name/id@addr over conn, with two topics.
	reg := func(conn, who string, edit ...func(*Step)) *Step {
		place, addr, _ := strings.Cut(who, "@")
		part := strings.Split(place, "/")
		st := &Step{Op: "reg", Conn: conn, Ver: v5_5_0, Reg: &RegSpec{
			Cluster: part[0], Name: part[1], ID: part[2],
			Addr: "@" + addr + "@", HA: "ha", Form: "full", DV: &DV{Counter: 1}, Topics: two,
		}}
		for _, f := range edit {
			f(st)
		}
		return st
	}
	version := func(state, counter int64) func(*Step) {
		return func(s *Step) { s.Reg.DV = &DV{State: state, Counter: counter} }
	}
	topics := func(ts ...TopicSpec) func(*Step) { return func(s *Step) { s.Reg.Topics = ts } }
	req := func(conn string, code int, kv ...string) *Step {
		st := &Step{Op: "req", Conn: conn, Code: code, Ver: v5_5_0, Ext: map[string]string{}}
		for i := 0; i+1 < len(kv); i += 2 {
			st.Ext[kv[i]] = kv[i+1]
		}
		return st
	}
	body := func(st *Step, text string) *Step {
		st.Body = &text
		return st
	}
	tagged := func(st *Step, tag string) *Step {
		st.Tag = tag
		return st
	}
	closed := func(conn string) *Step { return &Step{Op: "close", Conn: conn} }
	raw := func(name string) *Step {
		for _, c := range rawCases() {
			if c.Name == name {
				return c
			}
		}
		panic("no such raw case: " + name)
	}
	zone := "z1"
	static := TopicSpec{Name: "ST1@u@", R: 2, W: 2, Perm: 6}
	mapping := MapSpec{Topic: "ST1@u@", Bname: "b1", Total: 2, Epoch: 1}
	unsaid := reg("k0", "c1/b1/0@a0", func(s *Step) {
		s.Reg.Form, s.Hex = "text", hex.EncodeToString((&RegSpec{DV: &DV{Counter: 1}, Topics: two}).deflated(v5_5_0, &env{}))
	})
	last := reg("x0", "c1/b1/0@a0", func(s *Step) { s.Op, s.Reg.Timeout = "expire", hugeTimeout })
	queues := func(brokers ...string) string {
		var q []string
		for _, b := range brokers {
			q = append(q, fmt.Sprintf(`{"brokerName":%q,"perm":4,"readQueueNums":1,"topicSysFlag":0,"writeQueueNums":1}`, b))
		}
		return `{"queueDatas":[` + strings.Join(q, ",") + `]}`
	}
	return []script{
		{"every-broker-of-a-connection", []*Step{reg("k0", "c1/b1/0@a0"), reg("k0", "c1/b2/0@a1"), closed("k0")}},
		{"refused-single-topic", []*Step{reg("k0", "c1/b1/0@a0", topics(two[0]))}},
		{"refused-older-state", []*Step{
			reg("k0", "c1/b1/0@a0", version(5, 1)),
			reg("k1", "c1/b1/0@a1", version(3, 1), func(s *Step) { s.Reg.Zone = &zone }),
		}},
		{"one-address-one-broker", []*Step{reg("k0", "c1/b1/0@a0"), reg("k0", "c1/b2/0@a0", version(0, 2))}},
		{"one-cluster-per-name", []*Step{reg("k0", "c1/b1/0@a0"), reg("k1", "c2/b1/1@a1")}},
		{"unregister-must-match", []*Step{reg("k0", "c1/b1/0@a0"), req("adm", rcUnregister, "clusterName", "c2", "brokerName", "b1",
			"brokerAddr", "@a0@", "brokerId", "0")}},
		{"lease-follows-broker", []*Step{reg("k0", "c1/b1/0@a0"), req("k1", rcHeartbeat, "clusterName", "c1", "brokerName", "b1",
			"brokerAddr", "@a0@"), closed("k0")}},
		{"content-decides", []*Step{reg("k0", "c1/b1/0@a0"), reg("k0", "c1/b1/0@a0", topics(TopicSpec{Name: "T1", R: 8, W: 8, Perm: 6}, two[1]))}},
		{"ghost-live-entry", []*Step{reg("k0", "c1/b1/0@a0"), reg("k1", "c1/b1/0@a1", version(0, 2)), closed("k0")}},
		{"mapping-goes-with-topic", []*Step{
			reg("k0", "c1/b1/0@a0", topics(two[0], static), func(s *Step) { s.Reg.Maps = []MapSpec{mapping} }),
			req("adm", rcDelTopic, "topic", "ST1@u@"), reg("k0", "c1/b1/0@a0", version(0, 2), topics(two[0], static)),
		}},
		{"negative-ids", []*Step{reg("k0", "c1/b1/-1@a0", func(s *Step) { s.Reg.Acting = "true" })}},
		{"missing-identity", []*Step{req("adm", rcHeartbeat, "clusterName", "c1", "brokerAddr", "@a0@")}},
		{"exception-text", []*Step{{Op: "req", Conn: "adm", Code: rcHeartbeat, Ver: v5_5_0, NoExt: true}}},
		{"kv-fields-required", []*Step{req("adm", rcPutKV, "namespace", "N1@u@", "key", "K1")}},
		{"huge-timeout", []*Step{last}},
		{"config-values", []*Step{body(req("adm", rcUpdateConfig), "enableTopicList=yes")}},
		{"tuning-settings", []*Step{req("adm", rcGetConfig)}},
		{"topic-named", []*Step{reg("k0", "c1/b1/0@a0"), body(req("adm", rcRegTopic, "topic", ""), queues("b1"))}},
		{"any-version", []*Step{reg("k0", "c1/b1/0@a0", func(s *Step) { s.Ver = -1 })}},
		{"compressed-unannounced", []*Step{unsaid}},
		{"lenient-bodies", []*Step{tagged(body(reg("k0", "c1/b1/0@a0", func(s *Step) { s.Reg.Form = "text" }),
			`{"topicConfigSerializeWrapper":null}`), "lenient")}},
		{"unknown-broker-topic", []*Step{reg("k0", "c1/b1/0@a0"), body(req("adm", rcRegTopic, "topic", "T1"), queues("b1", "none"))}},
		{"write-perm-restored", []*Step{
			reg("k0", "c1/b1/0@a0", topics(TopicSpec{Name: "T1", R: 4, W: 4, Perm: 7}, two[1])),
			req("adm", rcAddPerm, "brokerName", "b1"),
		}},
		{"zone-keeps-dialect", []*Step{
			reg("k0", "c1/b1/0@a0", func(s *Step) { s.Reg.Zone = &zone }),
			req("adm", rcRoute, "topic", "T1", extZoneMode, "true", extZone, "z1"),
		}},
		{"utf8-in-headers", []*Step{raw("JSON header: invalid UTF-8 in a string")}},
	}
}

// differences runs every script: each must show its difference, and no unexpected one.
func (t *tester) differences() error {
	for _, sc := range scripts() {
		if err := t.fresh(); err != nil {
			return err
		}
		var all []diff
		parted := false
		for i, st := range sc.steps {
			res := t.r.step(st)
			t.r.cover.step(st, res.oa)
			ds := res.diffs
			if i == len(sc.steps)-1 {
				ds = append(ds, t.r.full(res.scene)...)
			}
			t.rp.record(ds, t.profile, 0, 0, sc.anchor+": "+st.String())
			all = append(all, ds...)
			if parted = res.stop || t.parted(res.diffs); parted {
				break
			}
		}
		t.rp.seqs++
		seen := false
		for _, d := range all {
			seen = seen || d.Class == cExpected && d.Anchor == sc.anchor
		}
		if !seen {
			d := diff{Class: cHard, Where: "script " + sc.anchor, Gen: "the difference " + sc.anchor + " does not show", A: "(as B)", B: "(as A)"}
			t.rp.record([]diff{d}, t.profile, 0, 0, sc.anchor)
			fmt.Printf("  the difference %s does not show\n", sc.anchor)
		}
	}
	return nil
}
