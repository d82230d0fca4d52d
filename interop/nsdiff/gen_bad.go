package main

import (
	"encoding/hex"
	"fmt"
	"strings"
)

// badRequest takes a proper request and takes away, empties or garbles part of it.
func (g *gen) badRequest() *Step {
	all := []func(*gen) *Step{
		(*gen).register, (*gen).unregister, (*gen).heartbeat, (*gen).dataVersion, (*gen).route, (*gen).topicsOf,
		(*gen).memberGroup, (*gen).perm, (*gen).delTopic, (*gen).regTopic, (*gen).kv, (*gen).lists,
	}
	st := all[g.Intn(len(all))](g)
	st.Enc = ""
	if st.Reg != nil {
		g.live = g.live[:max(0, len(g.live)-1)]
		r := st.Reg
		switch g.Intn(9) {
		case 0:
			r.Omit = []string{pick(g, "clusterName", "haServerAddr", "brokerId")}
		case 1:
			r.ID = pick(g, "", "abc", "1.0", " 1", "0x1", "9223372036854775808", "+1", "-0")
		case 2:
			r.CRC = pick(g, "abc", "-1", "", "2147483648", "1.5")
		case 3:
			r.Timeout = pick(g, "abc", "1e6", "300000 ")
		case 4:
			r.Comp, r.Plain = "true", true
		case 5:
			if r.Form == "full" {
				r.Comp, r.Cut = "true", 1+g.Intn(60)
			}
		case 6, 7, 8:
			t := pick(g, "", "x", "null", "[]", "[1]", "\"text\"", "123", "{", "{}", `{"topicConfigSerializeWrapper":null}`,
				`{"topicConfigSerializeWrapper":{"topicConfigTable":null}}`, `{"topicConfigSerializeWrapper":{"dataVersion":null,"topicConfigTable":{}}}`,
				`{"topicConfigSerializeWrapper":{"dataVersion":{"counter":1,"timestamp":1600000000000},"topicConfigTable":{"T1":{"topicName":"T1"},"T2":{"topicName":"T2"}}}}`,
				`{"topicConfigSerializeWrapper":[]}`, `{"filterServerList":null}`, `{"filterServerList":"x"}`,
				`{"topicConfigSerializeWrapper":{"dataVersion":{"counter":"2","stateVersion":"0","timestamp":"1600000000000"},"topicConfigTable":{}}}`,
				"\u00ff\u0001")
			r.Form = "text"
			st.Body = &t
		}
		st.Tag = "lenient"
		return st
	}
	ks := sortedKeys(st.Ext)
	switch x := g.Intn(10); {
	case x < 2:
		st.NoExt, st.Ext = true, nil
	case x < 4 && len(ks) > 0:
		delete(st.Ext, ks[g.Intn(len(ks))])
	case x < 5 && len(ks) > 0:
		k := ks[g.Intn(len(ks))]
		delete(st.Ext, k)
		st.Null = []string{k}
	case x < 6 && len(ks) > 0:
		st.Ext[ks[g.Intn(len(ks))]] = ""
	case x < 8 && st.Ext["brokerId"] != "":
		st.Ext["brokerId"] = pick(g, "abc", "", "1.5", "99999999999999999999", " 0")
	default:
		t := pick(g, "", "{", "null", "[]", "0", "text", "{\"counter\":\"x\"}", "\u0000\u0001")
		st.Body = &t
		st.Tag = "lenient"
	}
	if st.Tag == "" {
		st.Tag = "missing"
	}
	return st
}

// lenientBody sends JSON that only a lenient reader takes.
func (g *gen) lenientBody() *Step {
	st := g.register()
	t := pick(g,
		`{'filterServerList':[],'topicConfigSerializeWrapper':{'dataVersion':{'counter':1,'stateVersion':0,'timestamp':1600000000000},'topicConfigTable':{}}}`,
		`{filterServerList:[],topicConfigSerializeWrapper:{dataVersion:{counter:1,stateVersion:0,timestamp:1600000000000},topicConfigTable:{}}}`,
		`/* c */{"filterServerList":[],"topicConfigSerializeWrapper":{"dataVersion":{"counter":1,"stateVersion":0,"timestamp":1600000000000},"topicConfigTable":{}}}`,
		`{"filterServerList":[],"topicConfigSerializeWrapper":{"dataVersion":{"counter":1,"stateVersion":0,"timestamp":1600000000000},"topicConfigTable":{},}}`,
		`{"filterServerList":[],"topicConfigSerializeWrapper":{"dataVersion":{"counter":1,"stateVersion":0,"timestamp":1600000000000},"topicConfigTable":{}}} trailing`,
		`{"FilterServerList":[],"topicconfigserializewrapper":{"DataVersion":{"counter":1,"stateVersion":0,"timestamp":1600000000000},"topic_config_table":{}}}`,
	)
	st.Reg.Form, st.Reg.Comp, st.Reg.CRC, st.Ver, st.Body, st.Tag = "text", "", "", v5_5_0, &t, "lenient"
	st.Enc = ""
	return st
}

// respFlag sends frames marked as answers: nobody asked, so they are to be dropped silently.
func (g *gen) respFlag() *Step {
	st := pick(g, (*gen).route, (*gen).lists, (*gen).kv)(g)
	st.Flag, st.Quiet = pick(g, 1, 3), 120
	return st
}

func i64(v int64) *int64 { return &v }

const goodHead = `{"code":9996,"extFields":{},"flag":0,"language":"JAVA","opaque":@op@,"serializeTypeCurrentRPC":"JSON","version":513}`

func rmqHex(code, lang, ver, flag int, remark, ext string) string {
	h := header{code: code, version: ver, flag: flag, lang: fmt.Sprintf("#%d", lang), remark: remark, opaque: 0x7A7A7A7A}
	b := rmqHead(&h)
	b = b[:len(b)-4] // the ext length is given by the caller, with the ext itself
	return strings.Replace(hex.EncodeToString(b), "7a7a7a7a", "@op@", 1) + ext
}

func (g *gen) rawStep() *Step {
	cases := rawCases()
	c := cases[g.Intn(len(cases))]
	r := *c.Raw
	if !strings.HasPrefix(c.Name, "cold") {
		r.Warm = g.chance(0.5)
	}
	st := *c
	st.Raw = &r
	if g.chance(0.1) {
		st.Chunk = pick(g, 1, 5)
	}
	return &st
}

// rawOnBroker breaks the framing on a connection that carries a registration.
func (g *gen) rawOnBroker() *Step {
	b := g.any()
	if b == nil {
		return g.register()
	}
	st := g.rawStep()
	st.Conn = b.conn
	st.Raw.Warm = true
	g.dropLive(func(o *mbroker) bool { return o.conn == b.conn })
	return st
}
