package main

import (
	"encoding/hex"
	"fmt"
	"strings"
)

// The catalogue of bad input: frames that are not frames (rawCases) and requests with something missing or garbled
// (badCases). Profile badinput runs all of it; profile malformed draws from it.

// A case of bad input to one request, on top of a small known state.
type badCase struct {
	step  *Step
	pre   []*Step
	fatal bool // leaves the oracle in a state that only a restart mends
}

const good103 = `{"filterServerList":[],"topicConfigSerializeWrapper":{"dataVersion":{"counter":9,"stateVersion":0,"timestamp":1600000000009},"topicConfigTable":{"T7":{"topicName":"T7","readQueueNums":4,"writeQueueNums":4,"perm":6,"topicFilterType":"SINGLE_TAG","topicSysFlag":0,"order":false},"T8":{"topicName":"T8","readQueueNums":4,"writeQueueNums":4,"perm":6,"topicFilterType":"SINGLE_TAG","topicSysFlag":0,"order":false}}}}`

func catalogSetup() []*Step {
	t := func(n string) TopicSpec { return TopicSpec{Name: n, R: 4, W: 4, Perm: 6} }
	z9 := "z9"
	return []*Step{
		{Op: "reg", Conn: "k0", Ver: v5_5_0, Reg: &RegSpec{Cluster: "c1", Name: "b1", Addr: "@a0@", HA: "ha0", ID: "0", Form: "full", DV: &DV{0, 1, 0}, Topics: []TopicSpec{t("T1"), t("T2")}}},
		{Op: "reg", Conn: "k1", Ver: v5_5_0, Reg: &RegSpec{Cluster: "c1", Name: "b1", Addr: "@a1@", HA: "ha1", ID: "1", Form: "full", DV: &DV{0, 1, 0}}},
		{Op: "reg", Conn: "k2", Ver: v5_5_0, Reg: &RegSpec{Cluster: "c2", Name: "b2", Addr: "@a2@", HA: "ha2", ID: "0", Form: "full", DV: &DV{0, 1, 0}, Topics: []TopicSpec{t("T1"), t("T3")}, Filters: []string{"f1"}, Zone: &z9}},
		{Op: "req", Conn: "adm", Ver: v5_5_0, Code: rcPutKV, Ext: map[string]string{"namespace": "N1@u@", "key": "K1", "value": "v1"}},
	}
}

func badCases() []badCase {
	var out []badCase
	clone := func(m map[string]string) map[string]string {
		o := map[string]string{}
		for k, v := range m {
			o[k] = v
		}
		return o
	}
	add := func(name, tag string, st *Step) *Step {
		st.Op, st.Name, st.Tag = "req", name, tag
		if st.Conn == "" {
			st.Conn = "adm"
		}
		if st.Ver == 0 {
			st.Ver = v5_5_0
		}
		out = append(out, badCase{step: st})
		return st
	}
	fatal := func() { out[len(out)-1].fatal = true }
	txt := func(s string) *string { return &s }

	type spec struct {
		code    int
		ext     map[string]string
		nums    []string
		body    *string
		bodies  []string
		unsafe  []string // leaving these out cannot be mended without a restart
		boolean []string
	}
	dv := (&DV{0, 1, 0}).json()
	bodyNames := map[string]string{
		"":                                    "of length 0",
		"\x00\x01":                            "of two control characters",
		"\xff\xfe=1":                          "not UTF-8",
		strings.ReplaceAll(good103, `"`, `'`): "proper, but in single quotes",
		good103 + "x":                         "proper, then the letter x",
		good103 + " ":                         "proper, then a blank",
		"/*c*/" + good103:                     "proper, after a comment",
		strings.Replace(good103, `"filterServerList"`, "filterServerList", 1):                            "proper, with one bare key",
		strings.Replace(good103, `"topicConfigSerializeWrapper"`, `"topicConfigSerializewrapper"`, 1):    "with the member topicConfigSerializewrapper (small w)",
		strings.Replace(good103, `"topicConfigSerializeWrapper"`, `"topic_config_serialize_wrapper"`, 1): "with the member topic_config_serialize_wrapper",
	}
	specs := []spec{
		{code: rcPutKV, ext: map[string]string{"namespace": "N1@u@", "key": "K2", "value": "v2"}},
		{code: rcGetKV, ext: map[string]string{"namespace": "N1@u@", "key": "K1"}},
		{code: rcDelKV, ext: map[string]string{"namespace": "N1@u@", "key": "K1"}},
		{code: rcKVList, ext: map[string]string{"namespace": "N1@u@"}},
		{
			code: rcRegister, ext: map[string]string{"clusterName": "c1", "brokerName": "b3", "brokerAddr": "@a3@", "haServerAddr": "ha3", "brokerId": "0"},
			nums: []string{"brokerId", "bodyCrc32", "heartbeatTimeoutMillis"}, boolean: []string{"compressed", "enableActingMaster"}, body: txt(good103), unsafe: []string{"brokerName"},
			bodies: []string{
				"", "text", "null", "[]", "123", `"text"`, "{", "{}", "true", `{"topicConfigSerializeWrapper":null}`, `{"topicConfigSerializeWrapper":{}}`,
				`{"topicConfigSerializeWrapper":[]}`, `{"topicConfigSerializeWrapper":"x"}`, `{"topicConfigSerializeWrapper":{"topicConfigTable":null}}`,
				`{"topicConfigSerializeWrapper":{"dataVersion":null,"topicConfigTable":{}}}`, `{"topicConfigSerializeWrapper":{"dataVersion":{},"topicConfigTable":{}}}`,
				`{"topicConfigSerializeWrapper":{"dataVersion":{"counter":null,"stateVersion":0,"timestamp":1600000000000},"topicConfigTable":{}}}`,
				`{"topicConfigSerializeWrapper":{"dataVersion":{"counter":"2","stateVersion":"0","timestamp":"1600000000000"},"topicConfigTable":{}}}`,
				`{"topicConfigSerializeWrapper":{"dataVersion":{"counter":1,"stateVersion":0,"timestamp":1600000000000},"topicConfigTable":{"T7":null,"T8":{"topicName":"T8"}}}}`,
				`{"topicConfigSerializeWrapper":{"dataVersion":{"counter":1,"stateVersion":0,"timestamp":1600000000000},"topicConfigTable":{"T7":{},"T8":{}}}}`,
				`{"topicConfigSerializeWrapper":{"dataVersion":{"counter":1,"stateVersion":0,"timestamp":1600000000000},"topicConfigTable":{"T7":{"topicName":"T7"},"T8":{"topicName":"T8","perm":"6","readQueueNums":"3","topicFilterType":"NONE"}}}}`,
				`{"topicConfigSerializeWrapper":{"dataVersion":{"counter":1,"stateVersion":0,"timestamp":1600000000000},"topicConfigTable":{"T7":{"topicName":"T9","readQueueNums":-1},"T8":{"topicName":"T8","perm":1.9}}}}`,
				`{"topicConfigSerializeWrapper":{"dataVersion":{"counter":1,"stateVersion":0,"timestamp":1600000000000},"topicConfigTable":{"T7":{"topicName":"T7"},"T8":{"topicName":"T8"}},"topicQueueMappingInfoMap":null}}`,
				`{"topicConfigSerializeWrapper":{"dataVersion":{"counter":1,"stateVersion":0,"timestamp":1600000000000},"topicConfigTable":{"T7@u@":{"topicName":"T7@u@"},"T8":{"topicName":"T8"}},"topicQueueMappingInfoMap":{"T7@u@":null}}}`,
				`{"topicConfigSerializeWrapper":{"dataVersion":{"counter":1,"stateVersion":0,"timestamp":1600000000000},"topicConfigTable":{"T7@u@":{"topicName":"T7@u@"},"T8":{"topicName":"T8"}},"topicQueueMappingInfoMap":{"T7@u@":{"totalQueues":2}}}}`,
				`{"filterServerList":null,"topicConfigSerializeWrapper":{"dataVersion":{"counter":1,"stateVersion":0,"timestamp":1600000000000},"topicConfigTable":{}}}`,
				`{"filterServerList":"f","topicConfigSerializeWrapper":{"dataVersion":{"counter":1,"stateVersion":0,"timestamp":1600000000000},"topicConfigTable":{}}}`,
				`{"filterServerList":[1,null,"f"],"topicConfigSerializeWrapper":{"dataVersion":{"counter":1,"stateVersion":0,"timestamp":1600000000000},"topicConfigTable":{"T7":{"topicName":"T7"},"T8":{"topicName":"T8"}}}}`,
				strings.ReplaceAll(good103, `"`, `'`), good103 + "x", good103 + " ", "/*c*/" + good103, strings.Replace(good103, `"filterServerList"`, "filterServerList", 1),
				strings.Replace(good103, `"topicConfigSerializeWrapper"`, `"topicConfigSerializewrapper"`, 1), strings.Replace(good103, `"topicConfigSerializeWrapper"`, `"topic_config_serialize_wrapper"`, 1),
			},
		},
		{code: rcUnregister, ext: map[string]string{"clusterName": "c1", "brokerName": "b1", "brokerAddr": "@a0@", "brokerId": "0"}, nums: []string{"brokerId"}},
		{code: rcRoute, ext: map[string]string{"topic": "T1"}, boolean: []string{"acceptStandardJsonOnly", extZoneMode}},
		{code: rcCluster, ext: map[string]string{}},
		{code: rcWipePerm, ext: map[string]string{"brokerName": "b1"}},
		{code: rcAddPerm, ext: map[string]string{"brokerName": "b1"}},
		{code: rcAllTopics, ext: map[string]string{}},
		{code: rcDelTopic, ext: map[string]string{"topic": "T1", "clusterName": "c1"}},
		{
			code: rcRegTopic, ext: map[string]string{"topic": "T7"}, body: txt(`{"queueDatas":[{"brokerName":"b1","perm":6,"readQueueNums":2,"topicSysFlag":0,"writeQueueNums":2}]}`),
			bodies: []string{
				"", "text", "null", "[]", "{", "{}", `{"queueDatas":null}`, `{"queueDatas":[]}`, `{"queueDatas":[null]}`, `{"queueDatas":[{}]}`, `{"queueDatas":"x"}`,
				`{"queueDatas":[{"brokerName":"b1"},{"brokerName":"none"}]}`, `{"queueDatas":[{"brokerName":"b1","perm":"6","readQueueNums":null}]}`,
			},
		},
		{code: rcTopicsOf, ext: map[string]string{"cluster": "c1"}},
		{code: rcSysTopics, ext: map[string]string{}},
		{code: rcUnitTopics, ext: map[string]string{}},
		{code: rcUnitSub, ext: map[string]string{}},
		{code: rcUnitSubNo, ext: map[string]string{}},
		{code: rcUpdateConfig, ext: map[string]string{}, body: txt("productEnvName=x"), bodies: []string{"", "\x00\x01", "key", "=v", "a=\\u12", "waitSecondsForService=abc", "noSuchKey=1", "kvConfigPath=/x", "\xff\xfe=1"}},
		{code: rcGetConfig, ext: map[string]string{}},
		{
			code: rcDataVersion, ext: map[string]string{"clusterName": "c1", "brokerName": "b1", "brokerAddr": "@a0@", "brokerId": "0"}, nums: []string{"brokerId"}, body: &dv,
			bodies: []string{"", "text", "null", "[]", "{", "{}", "123", `{"counter":"1","stateVersion":"0","timestamp":"1600000000000"}`, `{"counter":null,"stateVersion":0,"timestamp":1600000000000}`, `{"counter":"x"}`, `{"counter":1.5,"stateVersion":0,"timestamp":1600000000000}`},
		},
		{code: rcMemberGroup, ext: map[string]string{"clusterName": "c1", "brokerName": "b1"}},
		{code: rcHeartbeat, ext: map[string]string{"clusterName": "c1", "brokerName": "b1", "brokerAddr": "@a0@"}, nums: []string{"brokerId", "epoch", "maxOffset"}},
	}
	for _, sp := range specs {
		code := sp.code
		mk := func() *Step { return &Step{Code: code, Ext: clone(sp.ext), Body: sp.body} }
		n := fmt.Sprint(code)
		add(n+" proper request", "", mk())
		st := mk()
		st.NoExt, st.Ext = true, nil
		add(n+" no extFields", "missing", st)
		if len(sp.ext) > 0 {
			st = mk()
			st.Ext = map[string]string{}
			add(n+" empty extFields", "missing", st)
		}
		for _, f := range sortedKeys(sp.ext) {
			bad := false
			for _, u := range sp.unsafe {
				bad = bad || u == f
			}
			st = mk()
			delete(st.Ext, f)
			add(n+" without "+f, "missing", st)
			if bad {
				st.Ext["clusterName"] = "cx@u@"
				fatal()
			}
			st = mk()
			delete(st.Ext, f)
			st.Null = []string{f}
			add(n+" "+f+"=null", "missing", st)
			if bad {
				st.Ext["clusterName"] = "cy@u@"
				fatal()
			}
			st = mk()
			st.Ext[f] = ""
			add(n+" "+f+" empty", "missing", st)
		}
		for _, f := range sp.nums {
			for _, v := range []string{"abc", "", "1.5", "99999999999999999999", " 1", "+1", "-1"} {
				st = mk()
				st.Ext[f] = v
				add(fmt.Sprintf("%s %s=%q", n, f, v), "lenient", st)
			}
		}
		for _, f := range sp.boolean {
			for _, v := range []string{"abc", "", "TRUE", "1", "true "} {
				st = mk()
				st.Ext[f] = v
				add(fmt.Sprintf("%s %s=%q", n, f, v), "lenient", st)
			}
		}
		if sp.body != nil {
			st = mk()
			st.Body = nil
			add(n+" no body", "missing", st)
		}
		for _, b := range sp.bodies {
			st = mk()
			st.Body = txt(b)
			name := bodyNames[b]
			if name == "" {
				name = clip(b, 240)
			}
			add(fmt.Sprintf("%s body %s", n, name), "lenient", st)
		}
		if sp.body == nil {
			st = mk()
			st.Body = txt("garbage")
			add(n+" with a body it does not need", "", st)
		}
		st = mk()
		st.Enc, st.NoExt = "rmq", false
		add(n+" with a ROCKETMQ header", "", st)
		if code != rcRegister {
			st = mk()
			st.Ver = -1
			add(n+" version -1", "lenient", st)
		}
	}
	// registration, more
	reg := func(name, tag string, r RegSpec, ver int, body *string) *Step {
		if r.Cluster == "" {
			r.Cluster = "c1"
		}
		if r.Name == "" {
			r.Name = "b3"
		}
		if r.Addr == "" {
			r.Addr = "@a3@"
		}
		r.HA = "ha3"
		if r.ID == "" {
			r.ID = "0"
		}
		if r.Form == "" {
			r.Form = "full"
		}
		st := add(name, tag, &Step{Ver: ver, Reg: &r, Body: body, Conn: "k3"})
		st.Op = "reg"
		return st
	}
	two := []TopicSpec{{Name: "T7", R: 4, W: 4, Perm: 6}, {Name: "T8", R: 4, W: 4, Perm: 6}}
	one := two[:1]
	d1 := &DV{0, 1, 0}
	reg("103 bodyCrc32 wrong", "", RegSpec{CRC: "wrong", Topics: two, DV: d1}, v5_5_0, nil)
	reg("103 bodyCrc32 set, no body", "", RegSpec{CRC: "77", Form: "none"}, v5_5_0, nil)
	reg("103 one topic only, broker unknown", "", RegSpec{Topics: one, DV: d1}, v5_5_0, nil)
	reg("103 no topic, broker unknown", "", RegSpec{DV: d1}, v5_5_0, nil)
	reg("103 version -1", "lenient", RegSpec{Topics: two, DV: d1}, -1, nil)
	reg("103 version 32767", "", RegSpec{Topics: two, DV: d1}, 32767, nil)
	reg("103 version V3_0_10 with the old body", "", RegSpec{Topics: two, DV: d1, Form: "old"}, v3_0_10, nil)
	reg("103 version V3_0_10 with the new body", "lenient", RegSpec{Topics: two, DV: d1}, v3_0_10, nil)
	reg("103 version V3_0_11 with the old body", "lenient", RegSpec{Topics: two, DV: d1, Form: "old"}, v3_0_11, nil)
	reg("103 version V3_0_10, no body", "", RegSpec{Form: "none"}, v3_0_10, nil)
	reg("103 version V3_0_10, body text", "lenient", RegSpec{Form: "text"}, v3_0_10, txt("text"))
	reg("103 version V3_0_10, body null", "lenient", RegSpec{Form: "text"}, v3_0_10, txt("null"))
	reg("103 compressed, good", "", RegSpec{Comp: "true", Topics: two, DV: d1}, v5_5_0, nil)
	reg("103 compressed claimed, body plain", "lenient", RegSpec{Comp: "true", Plain: true, Topics: two, DV: d1}, v5_5_0, nil)
	reg("103 compressed claimed, no body", "", RegSpec{Comp: "true", Form: "none"}, v5_5_0, nil)
	reg("103 compressed but not said", "lenient", RegSpec{Form: "text"}, v5_5_0, nil).Hex = hex.EncodeToString((&RegSpec{Topics: two, DV: d1}).deflated(v5_5_0, &env{}))
	reg("103 compressed, V4_9_7 body sent as V5_5_0 (no mapping section)", "lenient", RegSpec{Comp: "true", Form: "text"}, v5_5_0, nil).Hex = hex.EncodeToString((&RegSpec{Topics: two, DV: d1}).deflated(v4_9_7, &env{}))
	reg("103 compressed, V5_5_0 body sent as V4_9_7 (mapping section ignored)", "", RegSpec{Comp: "true", Form: "text"}, v4_9_7, nil).Hex = hex.EncodeToString((&RegSpec{Topics: two, DV: d1}).deflated(v5_5_0, &env{}))
	for _, k := range []int{1, 4, 5, 8, 40, 100} {
		reg(fmt.Sprintf("103 compressed, %d bytes cut off inside", k), "lenient", RegSpec{Comp: "true", Topics: two, DV: d1, Cut: k}, v5_5_0, nil)
	}
	reg("103 compressed, topic name with a space", "lenient", RegSpec{Comp: "true", Topics: []TopicSpec{{Name: "T 7", R: 4, W: 4, Perm: 6}, two[1]}, DV: d1}, v5_5_0, nil)
	reg("103 compressed, unknown topic filter type", "lenient", RegSpec{Comp: "true", Topics: []TopicSpec{{Name: "T7", R: 4, W: 4, Perm: 6, Filter: "NONE"}, two[1]}, DV: d1}, v5_5_0, nil)
	reg("103 address of a broker that is registered under another name", "", RegSpec{Addr: "@a0@", Topics: two, DV: d1}, v5_5_0, nil)
	reg("103 same address, other id, same name", "", RegSpec{Name: "b1", Addr: "@a0@", ID: "2", Topics: two, DV: d1}, v5_5_0, nil)
	reg("103 same id, other address, same stateVersion", "", RegSpec{Name: "b1", Topics: two, DV: d1}, v5_5_0, nil)
	reg("103 same id, other address, older stateVersion", "", RegSpec{Name: "b1", Topics: two, DV: &DV{-1, 1, 0}}, v5_5_0, nil)
	reg("103 same broker name, other cluster", "", RegSpec{Name: "b1", Cluster: "c2", ID: "3", Topics: two, DV: d1}, v5_5_0, nil)
	reg("103 negative broker id", "", RegSpec{ID: "-1", Topics: two, DV: d1}, v5_5_0, nil)
	// route
	for _, v := range []string{"z1", "Z9", "zz", "", " "} {
		add(fmt.Sprintf("105 __ZONE_MODE=true __ZONE_NAME=%q (b2 is in zone z9)", v), "", &Step{Code: rcRoute, Ext: map[string]string{"topic": "T1", extZoneMode: "true", extZone: v}})
	}
	add("105 __ZONE_MODE=true, no __ZONE_NAME", "", &Step{Code: rcRoute, Ext: map[string]string{"topic": "T1", extZoneMode: "true"}})
	add("105 __ZONE_MODE=true, unknown topic", "", &Step{Code: rcRoute, Ext: map[string]string{"topic": "none", extZoneMode: "true", extZone: "zz"}})
	add("105 zoneMode=true zoneName=zz (names without underscores do nothing)", "", &Step{Code: rcRoute, Ext: map[string]string{"topic": "T1", "zoneMode": "true", "zoneName": "zz"}})
	add("105 version V4_9_3 (bare keys)", "", &Step{Code: rcRoute, Ver: v4_9_3, Ext: map[string]string{"topic": "T1"}})
	add("105 version V4_9_4 (standard JSON)", "", &Step{Code: rcRoute, Ver: v4_9_4, Ext: map[string]string{"topic": "T1"}})
	add("105 version V4_9_3, acceptStandardJsonOnly=true", "", &Step{Code: rcRoute, Ver: v4_9_3, Ext: map[string]string{"topic": "T1", "acceptStandardJsonOnly": "true"}})
	// what a registration with a nameless mapping does to later route requests
	nameless := `{"topicConfigSerializeWrapper":{"dataVersion":{"counter":1,"stateVersion":0,"timestamp":1600000000000},"topicConfigTable":{"M7@u@":{"topicName":"M7@u@"},"T8":{"topicName":"T8"}},"topicQueueMappingInfoMap":{"M7@u@":{"totalQueues":2}}}}`
	for _, v := range []int{v4_8_0, v5_5_0} {
		add("105 topic whose static mapping has no bname, version "+verName(v), "lenient", &Step{Code: rcRoute, Ver: v, Ext: map[string]string{"topic": "M7@u@"}})
		out[len(out)-1].pre = []*Step{{Op: "reg", Conn: "k3", Ver: v5_5_0, Body: txt(nameless), Reg: &RegSpec{Cluster: "c1", Name: "b3", Addr: "@a3@", HA: "ha3", ID: "0", Form: "text"}}}
	}
	// a broker without address spoils what comes after it
	noAddr := &Step{Op: "reg", Conn: "k3", Ver: v5_5_0, Reg: &RegSpec{Cluster: "c1", Name: "b3", Addr: "", HA: "ha3", ID: "0", Form: "full", DV: d1, Topics: two, Omit: []string{"brokerAddr"}}}
	after := func(name string, st *Step) {
		add(name, "poison", st)
		out[len(out)-1].pre = []*Step{noAddr}
	}
	after("105 after a registration without brokerAddr, route over that broker", &Step{Code: rcRoute, Ext: map[string]string{"topic": "T7"}})
	after("304 after a registration without brokerAddr", &Step{Code: rcSysTopics, Ext: map[string]string{}})
	after("901 after a registration without brokerAddr", &Step{Code: rcMemberGroup, Ext: map[string]string{"clusterName": "c1", "brokerName": "b3"}})
	after("104 after a registration without brokerAddr, of that broker", &Step{Code: rcUnregister, Ext: map[string]string{"clusterName": "c1", "brokerName": "b3", "brokerAddr": "@a3@", "brokerId": "0"}})
	after("103 after a registration without brokerAddr, proper one of that broker", &Step{Code: rcRegister, Ext: map[string]string{"clusterName": "c1", "brokerName": "b3", "brokerAddr": "@a3@", "haServerAddr": "ha3", "brokerId": "0"}, Body: txt(good103)})
	// unknown codes
	for _, c := range []int{0, -1, 1, 34, 107, 300, 351, 900, 902, 905, 9999, 40000} {
		add(fmt.Sprintf("%d unknown request code", c), "", &Step{Code: c, Ext: map[string]string{}})
	}
	add("40000 unknown request code, ROCKETMQ header (16 bit)", "", &Step{Code: 40000, Enc: "rmq", Ext: map[string]string{}})
	// config
	for _, k := range []string{"configBlackList", "configStorePath", "kvConfigPath", "rocketmqHome"} {
		add("318 black-listed key "+k, "", &Step{Code: rcUpdateConfig, Body: txt(k + "=x")})
	}
	with := func(conf string, st *Step) {
		add(fmt.Sprintf("%d with %s", st.Code, strings.ReplaceAll(conf, "\n", ", ")), "", st)
		out[len(out)-1].pre = []*Step{{Op: "req", Conn: "adm", Code: rcUpdateConfig, Ver: v5_5_0, Body: txt(conf)}}
	}
	with("enableAllTopicList=false", &Step{Code: rcAllTopics, Ext: map[string]string{}})
	for _, c := range []int{rcTopicsOf, rcUnitTopics, rcUnitSub, rcUnitSubNo, rcSysTopics} {
		with("enableTopicList=false", &Step{Code: c, Ext: map[string]string{"cluster": "c1"}})
	}
	with("needWaitForService=true\nwaitSecondsForService=100000", &Step{Code: rcRoute, Ext: map[string]string{"topic": "T1"}})
	with("returnOrderTopicConfigToBroker=false", &Step{Code: rcRegister, Ext: map[string]string{"clusterName": "c1", "brokerName": "b3", "brokerAddr": "@a3@", "haServerAddr": "ha3", "brokerId": "0"}, Body: txt(good103)})
	with("deleteTopicWithBrokerRegistration=true", &Step{Code: rcRegister, Ext: map[string]string{"clusterName": "c1", "brokerName": "b1", "brokerAddr": "@a0@", "haServerAddr": "ha0", "brokerId": "0"}, Body: txt(good103)})
	return out
}
