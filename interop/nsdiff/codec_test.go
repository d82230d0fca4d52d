package main

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

func frameOf(code int, remark, body string) *frame {
	h := header{code: code, flag: 1, lang: "JAVA", version: v5_5_0, remark: remark, hasRemark: remark != ""}
	return parseFrame(packFrame(encJSON, jsonHead(&h), []byte(body))[4:])
}

func classes(code int, sorted bool, a, b *frame) string {
	c := &comparer{now: time.Now(), addrs: map[string]bool{"x:1": true, "y:1": true}}
	c.answer(code, sorted, "", a, b)
	var p []string
	for _, d := range c.diffs {
		if d.Class == cExpected {
			p = append(p, d.Anchor)
			continue
		}
		p = append(p, d.Class)
	}
	return strings.Join(p, " ")
}

func TestHeadersRoundTrip(t *testing.T) {
	for _, enc := range []int{encJSON, encRMQ} {
		h := header{
			code: 105, flag: 2, lang: "GO", version: 401, opaque: 77, remark: "a\n\"é", hasRemark: true, hasExt: true,
			ext: map[string]string{"topic": "主题", "k": "v w"},
		}
		f := parseFrame(encodeRequest(enc, &h, []byte("body"))[4:])
		if f.err != nil {
			t.Fatal(enc, f.err)
		}
		g := f.hdr
		if g.code != 105 || g.flag != 2 || g.lang != "GO" || g.version != 401 || g.opaque != 77 || g.remark != h.remark ||
			g.ext["topic"] != "主题" || g.ext["k"] != "v w" || string(f.body) != "body" {
			t.Errorf("encoding %d: got %+v body %q", enc, g, f.body)
		}
	}
}

func TestClasses(t *testing.T) {
	for _, c := range []struct {
		name, a, b, want string
		code             int
		sorted           bool
	}{
		{"same", `{"a":1}`, `{"a":1}`, "", rcCluster, false},
		{"bare key", `{"brokerAddrs":{0:"x"}}`, `{"brokerAddrs":{"0":"x"}}`, cForm, rcCluster, false},
		{"value", `{"brokerAddrs":{0:"x"}}`, `{"brokerAddrs":{0:"y"}}`, cHard, rcCluster, false},
		{"null or absent", `{"a":1}`, `{"a":1,"b":null}`, cForm, rcRoute, false},
		{"field order", `{"a":1,"b":2}`, `{"b":2,"a":1}`, cForm, rcRoute, false},
		{"map order", `{"table":{"a":"1","b":"2"}}`, `{"table":{"b":"2","a":"1"}}`, "hash-order", rcKVList, false},
		{"map order where the oracle sorts", `{"brokerAddrs":{"0":"1","1":"2"}}`, `{"brokerAddrs":{"1":"2","0":"1"}}`, cForm, rcRoute, true},
		{"list order", `{"topicList":["a","b"]}`, `{"topicList":["b","a"]}`, "hash-order", rcAllTopics, false},
		{"list member", `{"topicList":["a","b"]}`, `{"topicList":["b"]}`, cHard, rcAllTopics, false},
		{"ordered list", `{"filterServerTable":{"x":["a","b"]}}`, `{"filterServerTable":{"x":["b","a"]}}`, cHard + " " + cHard, rcRoute, false},
		{"broker matched by name", `{"brokerDatas":[{"brokerName":"p","z":1},{"brokerName":"q","z":1}]}`, `{"brokerDatas":[{"brokerName":"q","z":2},{"brokerName":"p","z":1}]}`, cHard + " " + "hash-order", rcRoute, false},
		{"escape", `{"a":"é"}`, `{"a":"\u00e9"}`, cForm, rcRoute, false},
		{"number or string", `{"a":1}`, `{"a":"1"}`, cHard, rcRoute, false},
		{"any known address", `{"brokerAddr":"x:1"}`, `{"brokerAddr":"y:1"}`, "hash-choice", rcSysTopics, false},
		{"unknown address", `{"brokerAddr":"x:1"}`, `{"brokerAddr":"z:1"}`, cHard, rcSysTopics, false},
		{"port in the settings", "listenPort=1\nx=1\n", "listenPort=2\nx=1\n", "", rcGetConfig, false},
		{"setting", "listenPort=1\nx=1\n", "listenPort=1\nx=2\n", cHard, rcGetConfig, false},
		{"tuning setting", "serverWorkerThreads=8\nx=1\n", "x=1\n", "tuning-settings", rcGetConfig, false},
		{"no body", `{"a":1}`, ``, cHard, rcRoute, false},
	} {
		if got := classes(c.code, c.sorted, frameOf(0, "", c.a), frameOf(0, "", c.b)); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestRemarks(t *testing.T) {
	npe := `java.lang.NullPointerException: Cannot invoke "x", a.B.c(B.java:12)`
	for _, c := range []struct{ a, b, want string }{
		{"crc32 not match", "crc32 not match", ""},
		{"crc32 not match", "bad checksum", cHard},
		{npe, "java.lang.NullPointerException", ""}, // thrown without a stack when hot
		{npe, "missing brokerId", "exception-text"},
		{npe, "", "exception-text"},
		{"x@1a2b3c", "x@99aabb", ""},
	} {
		if got := classes(rcRegister, false, frameOf(1, c.a, ""), frameOf(1, c.b, "")); got != c.want {
			t.Errorf("%q / %q: got %q, want %q", c.a, c.b, got, c.want)
		}
	}
	if got := classes(rcRegister, false, frameOf(1, npe, ""), frameOf(0, "", "")); got != cHard+" exception-text" {
		t.Errorf("another code: %q", got)
	}
}

func TestSequencesAreRepeatable(t *testing.T) {
	for _, p := range allProfiles[:len(allProfiles)-2] {
		x, _ := json.Marshal(sequence(p, 42, 80, true))
		y, _ := json.Marshal(sequence(p, 42, 80, true))
		z, _ := json.Marshal(sequence(p, 43, 80, true))
		if string(x) != string(y) || string(x) == string(z) {
			t.Errorf("profile %s does not follow its seed", p)
		}
	}
}

func TestReplayKeepsSteps(t *testing.T) {
	e := &env{addrs: []string{"h:1", "h:2", "h:3", "h:4", "h:5", "h:6", "h:7", "h:8"}, u: "_1"}
	for _, s := range append(sequence("full", 7, 300, true), sequence("malformed", 7, 300, true)...) {
		c := cloneStep(s)
		if s.Op == "raw" {
			if string(s.Raw.build(e, 5)) != string(c.Raw.build(e, 5)) {
				t.Fatalf("raw step changed: %s", s)
			}
			continue
		}
		h, _, b := s.compile(e)
		g, _, d := c.compile(e)
		if string(jsonHead(h)) != string(jsonHead(g)) || string(b) != string(d) {
			t.Fatalf("step changed by the replay file: %s", s)
		}
	}
}
