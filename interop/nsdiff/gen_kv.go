package main

import (
	"fmt"
	"strings"
)

func (g *gen) kv() *Step {
	ns := pick(g, "N1@u@", "N1@u@", "N2@u@", "N3@u@", orderSpace, orderSpace)
	if g.chance(0.02) {
		ns = "never@u@"
	}
	key := pick(g, "K1", "K2", "K3", "钥")
	if ns == orderSpace {
		key = topicNames[g.Intn(4)]
	}
	switch x := g.Intn(10); {
	case x < 4 && ns != "never@u@":
		st := g.req(rcPutKV, "namespace", ns, "key", key, "value", pick(g, "v1", "v2", "b1:4;b2:4", "b1:8", "值\"\\\n\t", "", "<&>'", "\u2028\u00e9", "a=b", "a/b\x7f\x01😀(c)"))
		if g.stray() {
			delete(st.Ext, "value")
		} else if st.Ext["value"] == "" {
			st.Enc = "" // in the ROCKETMQ encoding an empty value is none
		}
		return st
	case x < 6:
		return g.req(rcGetKV, "namespace", ns, "key", key)
	case x < 8:
		return g.req(rcDelKV, "namespace", ns, "key", key)
	}
	return g.req(rcKVList, "namespace", ns)
}

var safeToggles = []string{
	"enableAllTopicList", "enableTopicList", "orderMessageEnable", "returnOrderTopicConfigToBroker", "supportActingMaster",
	"notifyMinBrokerIdChanged", "deleteTopicWithBrokerRegistration", "needWaitForService",
}

func (g *gen) config(text string) *Step {
	g.notify = g.notify || strings.Contains(text, "notify")
	st := g.req(rcUpdateConfig)
	st.Body = &text
	return st
}

func (g *gen) toggleConfig() *Step {
	k := pick(g, "orderMessageEnable", "returnOrderTopicConfigToBroker", "supportActingMaster", "deleteTopicWithBrokerRegistration")
	if g.profile == "actingmaster" {
		k = pick(g, "supportActingMaster", "supportActingMaster", "notifyMinBrokerIdChanged")
		return g.config(fmt.Sprintf("%s=%v", k, g.chance(0.8)))
	}
	return g.config(fmt.Sprintf("%s=%v", k, g.chance(0.6)))
}

func (g *gen) updateConfig() *Step {
	if g.profile != "config" && g.chance(0.8) {
		return g.toggleConfig()
	}
	b := func() string { return pick(g, "true", "false", "true", "false", "TRUE", "yes", "", " true", "true ") }
	texts := []string{
		pick(g, safeToggles...) + "=" + b(),
		pick(g, safeToggles...) + " = " + b() + "\n" + pick(g, safeToggles...) + ":" + b(),
		pick(g, safeToggles...) + "\t" + b() + "\r\n# comment\r\n! another\r\n\r\n" + pick(g, safeToggles...) + "=" + b(),
		"productEnvName=" + pick(g, "x", " spaced ", "中文", `a\u0041b`, `back\\slash`, `tab\there`, `line\nbreak`, "a=b", "", "#no comment", `trail\\`, `é`),
		"product\\\n   EnvName=joined",
		`product\u0045nvName=escaped key`,
		`productEnvName=bad\u00zz`,
		`productEnvName=short\u00`,
		"waitSecondsForService=" + pick(g, "0", "1000000", "100000", "abc", "-1", "99999999999", "4.5", "", "+7", "0x10", " 9 "),
		"noSuchKey=1",
		"noSuchKey=1\nproductEnvName=y",
		"configBlackList=a;b",
		"configStorePath=/x",
		"kvConfigPath=/x",
		"rocketmqHome=/x",
		"productEnvName=z\nkvConfigPath=/x",
		"KVConfigPath=/x",
		"clusterTest=" + b(),
		"shutdownWaitTimeSeconds=" + pick(g, "30", "31", "x"),
		"",
		"\n",
		"justakey",
		"=novalue",
		"needWaitForService=true\nwaitSecondsForService=" + pick(g, "100000", "0"),
		"needWaitForService=false",
		"enableTopicList=true\nenableAllTopicList=true",
	}
	text := texts[g.Intn(len(texts))]
	for oddSettings(text) && !g.chance(0.05) {
		text = texts[g.Intn(len(texts))]
	}
	st := g.config(text)
	if g.chance(0.03) {
		st.Body = nil
	}
	return st
}

func (g *gen) getConfig() *Step { return g.req(rcGetConfig) }
