package remoting_test

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
)

// rawCase is bytes that are no proper frame, or one with an unusual header.
type rawCase struct {
	name  string
	bytes []byte
	// cold cases only make sense as the first bytes of a connection, warm ones only
	// after others.
	cold, warm bool
}

const (
	theOpaque = 424242
	goodHead  = `{"code":9996,"extFields":{},"flag":0,"language":"JAVA","opaque":424242,"serializeTypeCurrentRPC":"JSON","version":513}`
)

// rawCases are all frames of the table.
func rawCases() []rawCase {
	var out []rawCase
	add := func(name string, b []byte) { out = append(out, rawCase{name: name, bytes: b}) }
	head := func(h string) []byte { return rawFrame(0, []byte(h), nil) }
	add("good frame (control)", head(goodHead))
	for _, n := range []int32{0, 1, 2, 3, -1, -2147483648, 16777213, 2147483647} {
		b := head(goodHead)
		binary.BigEndian.PutUint32(b, uint32(n))
		add(fmt.Sprint("frame length ", n), b)
	}
	add("frame length 4, header length 0", rawFrame(0, nil, nil))
	largest := head(goodHead)
	binary.BigEndian.PutUint32(largest, 16777212)
	add("frame length 16777212 (the largest allowed), little data", largest)
	add("frame cut in the middle", head(goodHead)[:60])
	add("frame cut after the length", head(goodHead)[:4])
	add("frame cut inside the length", head(goodHead)[:2])
	headerLength := func(n int, body string) []byte {
		b := rawFrame(0, []byte(goodHead), []byte(body))
		binary.BigEndian.PutUint32(b[4:], uint32(n))
		return b
	}
	add("header length beyond the frame by 1", headerLength(len(goodHead)+1, ""))
	add("header length 16777215", headerLength(0xFFFFFF, ""))
	add("header length 0, JSON where the body is", headerLength(0, ""))
	add("header length 10 short", headerLength(len(goodHead)-10, ""))
	add("header length covers the body too", headerLength(len(goodHead)+4, "body"))
	for _, t := range []byte{2, 3, 127, 128, 255} {
		add(fmt.Sprint("header type byte ", t), rawFrame(t, []byte(goodHead), nil))
	}
	for _, h := range jsonHeads() {
		add("JSON header: "+h[0], head(h[1]))
	}
	add("JSON header type, ROCKETMQ content", rawFrame(0, binaryHead(9996, 0, 0, "", extLength(0)), nil))
	add("ROCKETMQ header type, JSON content", rawFrame(1, []byte(goodHead), nil))
	for _, h := range binaryHeads() {
		add("ROCKETMQ header: "+h.name, rawFrame(1, h.bytes, nil))
	}
	short := func(body string) []byte {
		b := rawFrame(1, binaryHead(9996, 0, 0, "", ext(extEntry(1, "a", 1, "b"))), []byte(body))
		binary.BigEndian.PutUint32(b[4:], 1<<24|24)
		return b
	}
	add("ROCKETMQ header: header length 5 short of its content", short(""))
	add("ROCKETMQ header: header length 5 short, with a body", short("bodybody"))
	return append(out, foreignCases()...)
}

// jsonHeads are names and texts of JSON headers.
func jsonHeads() [][2]string {
	var out [][2]string
	add := func(name, head string) { out = append(out, [2]string{name, head}) }
	members := []string{
		`"code":9996`, `"extFields":{}`, `"flag":0`, `"language":"JAVA"`, `"opaque":424242`, `"serializeTypeCurrentRPC":"JSON"`, `"version":513`,
	}
	instead := func(name, value string) string {
		var keep []string
		for _, m := range members {
			if !strings.HasPrefix(m, `"`+name+`"`) {
				keep = append(keep, m)
			}
		}
		if value != "" {
			keep = append(keep, `"`+name+`":`+value)
		}
		return "{" + strings.Join(keep, ",") + "}"
	}
	add("truncated", goodHead[:70])
	add("closing brace missing", strings.TrimSuffix(goodHead, "}"))
	for _, h := range []string{"{}", "[]", "null", "12345", `"text"`, "true"} {
		add(h, h)
	}
	add("blanks only", "        ")
	add("white space around", "  \n"+goodHead+" \t ")
	add("text after it", goodHead+"xyz")
	add("second object after it", goodHead+"{}")
	add("byte order mark before it", "\uFEFF"+goodHead)
	add("comment before it", "/*c*/"+goodHead)
	add("single quotes", strings.ReplaceAll(goodHead, `"`, "'"))
	add("bare keys", `{code:9996,opaque:424242,flag:0,version:513,language:"JAVA"}`)
	add("trailing comma", strings.TrimSuffix(goodHead, "}")+",}")
	add("keys in capitals", `{"CODE":9996,"OPAQUE":424242,"FLAG":0,"VERSION":513,"LANGUAGE":"JAVA"}`)
	add("unknown members", strings.TrimSuffix(goodHead, "}")+`,"foo":1,"bar":{"x":[1,2]}}`)
	add("code twice (9996, then 9995)", strings.TrimSuffix(goodHead, "}")+`,"code":9995}`)
	values := []struct {
		name   string
		values []string
	}{
		{"code", []string{`null`, `"9996"`, `9996.0`, `9996.7`, `1e4`, `true`, `[]`, `{}`, `-5`, `2147483648`, `"abc"`, `""`, `"12x"`}},
		{"flag", []string{`null`, `"0"`, `"x"`, `1`, `2`, `3`, `4`, `-1`, `0.5`}},
		{"opaque", []string{`null`, `"7"`, `-7`, `2147483648`, `1.5`, `"x"`}},
		{"version", []string{`null`, `"513"`, `-1`, `99999`, `"x"`}},
		{"language", []string{`null`, `"XX"`, `"java"`, `""`, `9`, `99`, `"GO"`, `{}`}},
		{"extFields", []string{`null`, `[]`, `"x"`, `"{}"`, `1`, `{"a":1}`, `{"a":null}`, `{"a":{"b":1}}`, `{"a":[1]}`, `{"a":true}`, `{"a":1.50}`}},
		{"remark", []string{`1`, `{"a":1}`, `null`, `"r"`}},
		{"serializeTypeCurrentRPC", []string{`"ROCKETMQ"`, `"XX"`, `null`, `1`, `7`}},
	}
	for _, m := range values {
		for _, v := range m.values {
			add(m.name+" "+v, instead(m.name, v))
		}
		if m.name != "remark" {
			add("no "+m.name, instead(m.name, ""))
		}
	}
	for _, m := range []string{`"body":"AAAA"`, `"suspended":true`, `"@type":"java.lang.Exception"`} {
		add("member "+m, strings.TrimSuffix(goodHead, "}")+","+m+"}")
	}
	add("invalid UTF-8 in a string", instead("remark", "\"\xff\xfe\""))
	add("escaped keys", strings.Replace(goodHead, `"code"`, `"\u0063ode"`, 1))
	for _, topic := range []string{`123`, `true`, `{"a":1}`, `[1, 2]`, `null`} {
		add("route request with topic "+topic, `{"code":105,"extFields":{"topic":`+topic+`},"flag":0,"language":"JAVA","opaque":424242,"version":513}`)
	}
	return out
}

// binaryHead returns a binary header up to its extension fields, which follow as given.
func binaryHead(code uint16, language byte, flag uint32, remark string, ext []byte) []byte {
	b := binary.BigEndian.AppendUint16(nil, code)
	b = append(b, language)
	b = binary.BigEndian.AppendUint16(b, goodVersion)
	b = binary.BigEndian.AppendUint32(b, theOpaque)
	b = binary.BigEndian.AppendUint32(b, flag)
	b = binary.BigEndian.AppendUint32(b, uint32(len(remark)))
	return append(append(b, remark...), ext...)
}

func extLength(n int32) []byte { return binary.BigEndian.AppendUint32(nil, uint32(n)) }

// extEntry is an extension field that says it has these lengths.
func extEntry(key int16, name string, value int32, text string) []byte {
	b := binary.BigEndian.AppendUint16(nil, uint16(key))
	b = append(b, name...)
	b = binary.BigEndian.AppendUint32(b, uint32(value))
	return append(b, text...)
}

func ext(entries ...[]byte) []byte {
	var all []byte
	for _, e := range entries {
		all = append(all, e...)
	}
	return append(extLength(int32(len(all))), all...)
}

type namedBytes struct {
	name  string
	bytes []byte
}

func binaryHeads() []namedBytes {
	var out []namedBytes
	add := func(name string, b []byte) { out = append(out, namedBytes{name, b}) }
	none := extLength(0)
	full := binaryHead(9996, 0, 0, "", none)
	add("good", full)
	add("good with remark", binaryHead(9996, 0, 0, "hello", none))
	for _, n := range []int{0, 1, 2, 3, 5, 9, 13, 17, 20} {
		add(fmt.Sprintf("only %d bytes", n), full[:n])
	}
	add("language 200", binaryHead(9996, 200, 0, "", none))
	add("code -1", binaryHead(65535, 0, 0, "", none))
	add("flag 1", binaryHead(9996, 0, 1, "", none))
	add("flag 2", binaryHead(9996, 0, 2, "", none))
	remark := func(n int32) []byte {
		b := append([]byte(nil), full...)
		binary.BigEndian.PutUint32(b[13:], uint32(n))
		return b
	}
	add("remark length -1", append(remark(-1), none...))
	add("remark length 1000", append(remark(1000), none...))
	add("remark length 21 (exactly the header length)", remark(21))
	add("remark length 2 GiB", remark(2147483647))
	add("ext length -1", binaryHead(9996, 0, 0, "", extLength(-1)))
	add("ext length 1000", binaryHead(9996, 0, 0, "", extLength(1000)))
	with := func(name string, entries ...[]byte) { add(name, binaryHead(9996, 0, 0, "", ext(entries...))) }
	with("ext a=b", extEntry(1, "a", 1, "b"))
	with("ext with an empty key", extEntry(0, "", 1, "b"))
	with("ext with an empty value", extEntry(1, "a", 0, ""))
	with("ext key length -1", extEntry(-1, "a", 1, "b"))
	with("ext key length 40000", extEntry(-25536, "a", 1, "b"))
	with("ext key length 500", extEntry(500, "a", 1, "b"))
	with("ext value length -1", extEntry(1, "a", -1, "b"))
	with("ext value length 500", extEntry(1, "a", 500, "b"))
	with("ext value one byte longer than the ext", extEntry(1, "a", 2, "b"))
	with("ext with a lone byte at its end", extEntry(1, "a", 1, "b"), []byte{0})
	add("bytes after the ext", append(append([]byte(nil), full...), 1, 2, 3))
	with("invalid UTF-8 in ext", extEntry(1, "\xff", 1, "\xfe"))
	add("route request, empty topic", binaryHead(105, 0, 0, "", ext(extEntry(5, "topic", 0, ""))))
	add("put KV with empty value", binaryHead(100, 0, 0, "", ext(extEntry(9, "namespace", 2, "R1"), extEntry(3, "key", 1, "k"), extEntry(5, "value", 0, ""))))
	return out
}

// foreignCases are not this protocol, or more than a frame.
func foreignCases() []rawCase {
	var out []rawCase
	unhex := func(s string) []byte {
		b, err := hex.DecodeString(s)
		if err != nil {
			panic(err)
		}
		return b
	}
	frame := rawFrame(0, []byte(goodHead), nil)
	cold := func(name string, parts ...any) {
		var b []byte
		for _, p := range parts {
			switch p := p.(type) {
			case string:
				b = append(b, p...)
			case []byte:
				b = append(b, p...)
			}
		}
		out = append(out, rawCase{name: name, bytes: b, cold: true})
	}
	cold("HTTP request", "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	cold("HTTP/2 preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
	cold("first byte of TLS, then nonsense", unhex("16030100050102030405060708090a0b0c"))
	cold("one byte", unhex("00"))
	cold("frame length -1, nothing else (4 bytes)", unhex("ffffffff"))
	cold("frame length -1 and 7 bytes (11 in all)", unhex("ffffffff"), strings.Repeat("A", 7))
	cold("frame length -1 and 8 bytes (12 in all)", unhex("ffffffff"), strings.Repeat("A", 8))
	cold("length 0 frame, nothing else", unhex("00000000"))
	const v1 = "PROXY TCP4 1.2.3.4 5.6.7.8 11 22"
	signature := "\r\n\r\n\x00\r\nQUIT\n"
	cold("PROXY v1 line, then a good frame", v1+"\r\n", frame)
	cold("PROXY v1 UNKNOWN, then a good frame", "PROXY UNKNOWN\r\n", frame)
	cold("PROXY v1 bad line, then a good frame", "PROXY TCP4 nonsense\r\n", frame)
	cold("PROXY v1 line without end", v1)
	cold("PROXY v1 line of 200 bytes", "PROXY TCP4 "+strings.Repeat("1", 200)+"\r\n", frame)
	cold("PROXY v2 header, then a good frame", signature, unhex("2111000c0102030405060708000b0016"), frame)
	cold("PROXY v2 LOCAL, then a good frame", signature, unhex("20000000"), frame)
	cold("PROXY v2 bad version, then a good frame", signature, unhex("3111000c0102030405060708000b0016"), frame)
	out = append(out, rawCase{name: "PROXY v1 line, then a good frame", bytes: append([]byte(v1+"\r\n"), frame...), warm: true})
	both := func(name string, b []byte) { out = append(out, rawCase{name: name, bytes: b}) }
	second := rawFrame(0, []byte(strings.Replace(goodHead, strconv.Itoa(theOpaque), "424243", 1)), nil)
	both("two good frames in one write", append(append([]byte(nil), frame...), second...))
	both("good frame, then garbage", append(append([]byte(nil), frame...), unhex("ffffffffffffffff")...))
	both("bad frame, then a good frame", append(append(unhex("0000000c00000004"), "{\"a\"\x00\x00\x00\x00"...), frame...))
	return out
}
