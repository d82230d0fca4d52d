package main

import (
	"encoding/hex"
	"fmt"
	"strings"
)

func rawCases() []*Step {
	var out []*Step
	add := func(name string, r RawSpec) {
		out = append(out, &Step{Op: "raw", Name: name, Raw: &r})
	}
	hexOf := func(s string) string { return hex.EncodeToString([]byte(s)) }
	good := RawSpec{Hdr: goodHead}
	add("good frame (control)", good)

	// frame length
	for _, n := range []int64{0, 1, 2, 3, -1, -2147483648, 16777213, 2147483647} {
		add(fmt.Sprintf("frame length %d", n), RawSpec{Len: i64(n), Hdr: goodHead})
	}
	add("frame length 4, header length 0", RawSpec{Len: i64(4), HLen: i64(0)})
	add("frame length 16777212 (the largest allowed), little data", RawSpec{Len: i64(16777212), Hdr: goodHead})
	add("frame cut in the middle", RawSpec{Hdr: goodHead, Cut: 60})
	add("frame cut after the length", RawSpec{Hdr: goodHead, Cut: 4})
	add("frame cut inside the length", RawSpec{Hdr: goodHead, Cut: 2})
	// header length
	add("header length beyond the frame by 1", RawSpec{HLen: i64(int64(len(strings.ReplaceAll(goodHead, "@op@", "424242")) + 1)), Hdr: goodHead})
	add("header length 16777215", RawSpec{HLen: i64(0xFFFFFF), Hdr: goodHead})
	add("header length 0, JSON where the body is", RawSpec{HLen: i64(0), Hdr: goodHead})
	add("header length 10 short", RawSpec{HLen: i64(int64(len(strings.ReplaceAll(goodHead, "@op@", "424242")) - 10)), Hdr: goodHead})
	add("header length covers the body too", RawSpec{HLen: i64(int64(len(strings.ReplaceAll(goodHead, "@op@", "424242")) + 4)), Hdr: goodHead, Body: "body"})
	for _, t := range []int{2, 3, 127, 128, 255} {
		add(fmt.Sprintf("header type byte %d", t), RawSpec{Enc: t, Hdr: goodHead})
	}
	// JSON headers
	j := func(name, hdr string) { add("JSON header: "+name, RawSpec{Hdr: hdr}) }
	base := func(over string, drop ...string) string {
		parts := []string{`"code":9996`, `"extFields":{}`, `"flag":0`, `"language":"JAVA"`, `"opaque":@op@`, `"serializeTypeCurrentRPC":"JSON"`, `"version":513`}
		var keep []string
		for _, p := range parts {
			k, _, _ := strings.Cut(p, ":")
			dropped := false
			for _, d := range drop {
				dropped = dropped || k == `"`+d+`"`
			}
			if !dropped {
				keep = append(keep, p)
			}
		}
		if over != "" {
			keep = append(keep, over)
		}
		return "{" + strings.Join(keep, ",") + "}"
	}
	j("truncated", goodHead[:70])
	j("closing brace missing", strings.TrimSuffix(goodHead, "}"))
	j("{}", "{}")
	j("[]", "[]")
	j("null", "null")
	j("number", "12345")
	j("string", `"text"`)
	j("true", "true")
	j("blanks only", "        ")
	j("white space around", "  \n"+goodHead+" \t ")
	j("text after it", goodHead+"xyz")
	j("second object after it", goodHead+"{}")
	j("byte order mark before it", "\uFEFF"+goodHead)
	j("comment before it", "/*c*/"+goodHead)
	j("single quotes", strings.ReplaceAll(goodHead, `"`, "'"))
	j("bare keys", `{code:9996,opaque:@op@,flag:0,version:513,language:"JAVA"}`)
	j("trailing comma", strings.TrimSuffix(goodHead, "}")+",}")
	j("keys in capitals", `{"CODE":9996,"OPAQUE":@op@,"FLAG":0,"VERSION":513,"LANGUAGE":"JAVA"}`)
	j("unknown members", base(`"foo":1,"bar":{"x":[1,2]}`))
	j("code twice (9996, then 9995)", base(`"code":9995`))
	for _, v := range []string{`null`, `"9996"`, `9996.0`, `9996.7`, `1e4`, `true`, `[]`, `{}`, `-5`, `2147483648`, `"abc"`, `""`, `"12x"`} {
		j("code "+v, base(`"code":`+v, "code"))
	}
	j("no code", base("", "code"))
	for _, v := range []string{`null`, `"0"`, `"x"`, `1`, `2`, `3`, `4`, `-1`, `0.5`} {
		j("flag "+v, base(`"flag":`+v, "flag"))
	}
	j("no flag", base("", "flag"))
	for _, v := range []string{`null`, `"7"`, `-7`, `2147483648`, `1.5`, `"x"`} {
		j("opaque "+v, base(`"opaque":`+v, "opaque"))
	}
	j("no opaque", base("", "opaque"))
	for _, v := range []string{`null`, `"513"`, `-1`, `99999`, `"x"`} {
		j("version "+v, base(`"version":`+v, "version"))
	}
	j("no version", base("", "version"))
	for _, v := range []string{`null`, `"XX"`, `"java"`, `""`, `9`, `99`, `"GO"`, `{}`} {
		j("language "+v, base(`"language":`+v, "language"))
	}
	j("no language", base("", "language"))
	for _, v := range []string{`null`, `[]`, `"x"`, `"{}"`, `1`, `{"a":1}`, `{"a":null}`, `{"a":{"b":1}}`, `{"a":[1]}`, `{"a":true}`, `{"a":1.50}`} {
		j("extFields "+v, base(`"extFields":`+v, "extFields"))
	}
	j("no extFields", base("", "extFields"))
	for _, v := range []string{`1`, `{"a":1}`, `null`, `"r"`} {
		j("remark "+v, base(`"remark":`+v))
	}
	for _, v := range []string{`"ROCKETMQ"`, `"XX"`, `null`, `1`, `7`} {
		j("serializeTypeCurrentRPC "+v, base(`"serializeTypeCurrentRPC":`+v, "serializeTypeCurrentRPC"))
	}
	j("no serializeTypeCurrentRPC", base("", "serializeTypeCurrentRPC"))
	j("member body", base(`"body":"AAAA"`))
	j("member suspended", base(`"suspended":true`))
	j("member @type", base(`"@type":"java.lang.Exception"`))
	// As hex, since a replay file is JSON and cannot hold it as text.
	add("JSON header: invalid UTF-8 in a string", RawSpec{HdrHex: hexOf(strings.ReplaceAll(base("\"remark\":\"\xff\xfe\""), "@op@", "424242"))})
	j("escaped keys", strings.Replace(goodHead, `"code"`, `"\u0063ode"`, 1))
	j("route request with a numeric topic", `{"code":105,"extFields":{"topic":123},"flag":0,"language":"JAVA","opaque":@op@,"version":513}`)
	j("route request with topic true", `{"code":105,"extFields":{"topic":true},"flag":0,"language":"JAVA","opaque":@op@,"version":513}`)
	j("route request with topic {}", `{"code":105,"extFields":{"topic":{"a":1}},"flag":0,"language":"JAVA","opaque":@op@,"version":513}`)
	j("route request with topic [1]", `{"code":105,"extFields":{"topic":[1, 2]},"flag":0,"language":"JAVA","opaque":@op@,"version":513}`)
	j("route request with topic null", `{"code":105,"extFields":{"topic":null},"flag":0,"language":"JAVA","opaque":@op@,"version":513}`)
	add("JSON header type, ROCKETMQ content", RawSpec{HdrHex: rmqHex(9996, 0, 513, 0, "", "00000000")})
	add("ROCKETMQ header type, JSON content", RawSpec{Enc: 1, Hdr: goodHead})

	// ROCKETMQ headers
	m := func(name, hx string) { add("ROCKETMQ header: "+name, RawSpec{Enc: 1, HdrHex: hx}) }
	full := rmqHex(9996, 0, 513, 0, "", "00000000")
	m("good", full)
	m("good with remark", rmqHex(9996, 0, 513, 0, "hello", "00000000"))
	raw := strings.Replace(full, "@op@", "0006792a", 1)
	for _, n := range []int{0, 1, 2, 3, 5, 9, 13, 17, 20} {
		m(fmt.Sprintf("only %d bytes", n), raw[:2*n])
	}
	m("language 200", rmqHex(9996, 200, 513, 0, "", "00000000"))
	m("code -1", rmqHex(65535, 0, 513, 0, "", "00000000"))
	m("flag 1", rmqHex(9996, 0, 513, 1, "", "00000000"))
	m("flag 2", rmqHex(9996, 0, 513, 2, "", "00000000"))
	m("remark length -1", strings.Replace(full, "0000000000000000", "00000000ffffffff", 1)+"00000000")
	m("remark length 1000", strings.Replace(full, "0000000000000000", "00000000000003e8", 1)+"00000000")
	m("remark length 22 (exactly the header length)", strings.Replace(full, "0000000000000000", "0000000000000015", 1))
	m("ext length -1", rmqHex(9996, 0, 513, 0, "", "ffffffff"))
	m("ext length 1000", rmqHex(9996, 0, 513, 0, "", "000003e8"))
	kv := func(kl int, k string, vl int, v string) string {
		return fmt.Sprintf("%04x%s%08x%s", uint16(kl), hexOf(k), uint32(vl), hexOf(v))
	}
	ext := func(s string) string { return fmt.Sprintf("%08x%s", len(s)/2, s) }
	m("ext a=b", rmqHex(9996, 0, 513, 0, "", ext(kv(1, "a", 1, "b"))))
	m("ext with an empty key", rmqHex(9996, 0, 513, 0, "", ext(kv(0, "", 1, "b"))))
	m("ext with an empty value", rmqHex(9996, 0, 513, 0, "", ext(kv(1, "a", 0, ""))))
	m("ext key length -1", rmqHex(9996, 0, 513, 0, "", ext(kv(-1, "a", 1, "b"))))
	m("ext key length 40000", rmqHex(9996, 0, 513, 0, "", ext(kv(40000, "a", 1, "b"))))
	m("ext key length 500", rmqHex(9996, 0, 513, 0, "", ext(kv(500, "a", 1, "b"))))
	m("ext value length -1", rmqHex(9996, 0, 513, 0, "", ext(kv(1, "a", -1, "b"))))
	m("ext value length 500", rmqHex(9996, 0, 513, 0, "", ext(kv(1, "a", 500, "b"))))
	m("ext value one byte longer than the ext", rmqHex(9996, 0, 513, 0, "", ext(kv(1, "a", 2, "b"))))
	m("ext with a lone byte at its end", rmqHex(9996, 0, 513, 0, "", ext(kv(1, "a", 1, "b")+"00")))
	m("bytes after the ext", rmqHex(9996, 0, 513, 0, "", "00000000")+"010203")
	m("invalid UTF-8 in ext", rmqHex(9996, 0, 513, 0, "", ext(fmt.Sprintf("0001ff%08xfe", 1))))
	m("route request, empty topic", rmqHex(105, 0, 513, 0, "", ext(kv(5, "topic", 0, ""))))
	m("put KV with empty value", rmqHex(100, 0, 513, 0, "", ext(kv(9, "namespace", 2, "R1")+kv(3, "key", 1, "k")+kv(5, "value", 0, ""))))
	add("ROCKETMQ header: header length 5 short of its content", RawSpec{Enc: 1, HdrHex: rmqHex(9996, 0, 513, 0, "", ext(kv(1, "a", 1, "b"))), HLen: i64(24)})
	add("ROCKETMQ header: header length 5 short, with a body", RawSpec{Enc: 1, HdrHex: rmqHex(9996, 0, 513, 0, "", ext(kv(1, "a", 1, "b"))), HLen: i64(24), Body: "bodybody"})

	// not this protocol at all
	b := func(name, hx string) { add(name, RawSpec{Bytes: hx}) }
	frame := hex.EncodeToString(packFrame(encJSON, []byte(strings.ReplaceAll(goodHead, "@op@", "424242")), nil))
	b("cold: HTTP request", hexOf("GET / HTTP/1.1\r\nHost: x\r\n\r\n"))
	b("cold: first byte of TLS, then nonsense", "16030100050102030405060708090a0b0c")
	b("cold: one byte", "00")
	b("cold: frame length -1, nothing else (4 bytes)", "ffffffff")
	b("cold: frame length -1 and 7 bytes (11 in all)", "ffffffff"+strings.Repeat("41", 7))
	b("cold: frame length -1 and 8 bytes (12 in all)", "ffffffff"+strings.Repeat("41", 8))
	b("cold: length 0 frame, nothing else", "00000000")
	b("cold: PROXY v1 line, then a good frame", hexOf("PROXY TCP4 1.2.3.4 5.6.7.8 11 22\r\n")+frame)
	b("cold: PROXY v1 UNKNOWN, then a good frame", hexOf("PROXY UNKNOWN\r\n")+frame)
	b("cold: PROXY v1 bad line, then a good frame", hexOf("PROXY TCP4 nonsense\r\n")+frame)
	b("cold: PROXY v1 line without end", hexOf("PROXY TCP4 1.2.3.4 5.6.7.8 11 22"))
	b("cold: PROXY v1 line of 200 bytes", hexOf("PROXY TCP4 "+strings.Repeat("1", 200)+"\r\n")+frame)
	b("cold: PROXY v2 header, then a good frame", "0d0a0d0a000d0a515549540a"+"2111000c"+"01020304"+"05060708"+"000b"+"0016"+frame)
	b("cold: PROXY v2 LOCAL, then a good frame", "0d0a0d0a000d0a515549540a"+"20000000"+frame)
	b("cold: PROXY v2 bad version, then a good frame", "0d0a0d0a000d0a515549540a"+"3111000c"+"01020304"+"05060708"+"000b"+"0016"+frame)
	b("warm: PROXY v1 line, then a good frame", hexOf("PROXY TCP4 1.2.3.4 5.6.7.8 11 22\r\n")+frame)
	b("two good frames in one write", frame+strings.Replace(frame, hexOf("424242"), hexOf("424243"), 1))
	b("good frame, then garbage", frame+"ffffffffffffffff")
	b("bad frame, then a good frame", "0000000c00000004"+hexOf("{\"a\"")+"00000000"+frame)
	return out
}
