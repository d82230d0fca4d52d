package remoting_test

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	"fingerpost/registry"
	"fingerpost/remoting/wire"
)

// plea is a request as the tests of bad input send it: with fields that are null, or no
// fields at all, which no encoder of ours writes.
type plea struct {
	code    int32
	version int32
	header  wire.HeaderType
	noExt   bool
	ext     wire.Fields
	null    []string
	body    []byte
}

const goodVersion = 513

// frame returns the request's bytes.
func (p *plea) frame(opaque int32) []byte {
	if p.header == wire.BinaryHeader {
		// A null cannot be said in this form: the field is left out.
		cmd := wire.Command{Code: int32(int16(p.code)), Version: wire.Version(p.version), Opaque: opaque, Ext: p.ext, Body: p.body}
		b, err := cmd.AppendTo(nil, wire.BinaryHeader)
		if err != nil {
			panic(err)
		}
		return b
	}
	h := append([]byte(`{"code":`), strconv.Itoa(int(p.code))...)
	if !p.noExt {
		var members []string
		for _, f := range p.ext {
			members = append(members, string(wire.AppendString(nil, f.Name))+":"+string(wire.AppendString(nil, f.Value)))
		}
		for _, name := range p.null {
			members = append(members, string(wire.AppendString(nil, name))+":null")
		}
		h = append(h, `,"extFields":{`+strings.Join(members, ",")+`}`...)
	}
	h = fmt.Appendf(h, `,"flag":0,"language":"JAVA","opaque":%d,"serializeTypeCurrentRPC":"JSON","version":%d}`, opaque, p.version)
	return rawFrame(0, h, p.body)
}

// rawFrame puts a frame together whatever its header is.
func rawFrame(typ byte, header, body []byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(4+len(header)+len(body)))
	b = binary.BigEndian.AppendUint32(b, uint32(len(header))|uint32(typ)<<24)
	return append(append(b, header...), body...)
}

// badCase is a request that lacks something, or has it garbled, on a small known state.
type badCase struct {
	name  string
	rules func(*registry.Rules)
	pre   []plea
	plea  plea
}

// theState is what stands before each case: a group of two in c1, a master with a filter
// server and a zone in c2, and a key.
func theState() []plea {
	t := func(names ...string) []wire.TopicConfig { return topics(names...) }
	brokers := []broker{
		{cluster: "c1", name: "b1", addr: "a0:1", ha: "ha0", topics: t("T1", "T2"), counter: 1},
		{cluster: "c1", name: "b1", id: 1, addr: "a1:1", ha: "ha1", counter: 1},
		{cluster: "c2", name: "b2", addr: "a2:1", ha: "ha2", topics: t("T1", "T3"), filters: []string{"f1"}, zone: "z9", counter: 1},
	}
	var out []plea
	for _, b := range brokers {
		out = append(out, plea{code: 103, version: goodVersion, ext: b.ext(), body: b.body()})
	}
	return append(out, plea{code: 100, version: goodVersion, ext: fields("namespace", "N1", "key", "K1", "value", "v1")})
}

const good103 = `{"filterServerList":[],"topicConfigSerializeWrapper":{"dataVersion":{"counter":9,"stateVersion":0,"timestamp":1600000000009},` +
	`"topicConfigTable":{"T7":{"topicName":"T7","readQueueNums":4,"writeQueueNums":4,"perm":6,"topicFilterType":"SINGLE_TAG","topicSysFlag":0,"order":false},` +
	`"T8":{"topicName":"T8","readQueueNums":4,"writeQueueNums":4,"perm":6,"topicFilterType":"SINGLE_TAG","topicSysFlag":0,"order":false}}}}`

// form is a request code with what belongs to it, from which cases are made by leaving
// out and garbling.
type form struct {
	code    int32
	ext     wire.Fields
	numbers []string // fields that are numbers, also some that are not in ext
	truths  []string // fields that are truth values
	body    string   // "" for none
	bodies  []string // in its place
}

var theBroker = []string{"clusterName", "c1", "brokerName", "b1", "brokerAddr", "a0:1", "brokerId", "0"}

const versioned = `{"topicConfigSerializeWrapper":{"dataVersion":{"counter":1,"stateVersion":0,"timestamp":1600000000000},"topicConfigTable":`

// forms has every request code.
func forms() []form {
	return []form{
		{code: 100, ext: fields("key", "K2", "namespace", "N1", "value", "v2")},
		{code: 101, ext: fields("key", "K1", "namespace", "N1")},
		{code: 102, ext: fields("key", "K1", "namespace", "N1")},
		{code: 219, ext: fields("namespace", "N1")},
		{
			code: 103, ext: fields("brokerAddr", "a3:1", "brokerId", "0", "brokerName", "b3", "clusterName", "c1", "haServerAddr", "ha3"),
			numbers: []string{"brokerId", "bodyCrc32", "heartbeatTimeoutMillis"}, truths: []string{"compressed", "enableActingMaster"},
			body: good103, bodies: registerBodies(),
		},
		{code: 104, ext: fields(theBroker...), numbers: []string{"brokerId"}},
		{code: 105, ext: fields("topic", "T1"), truths: []string{"acceptStandardJsonOnly", "__ZONE_MODE"}},
		{code: 106},
		{code: 205, ext: fields("brokerName", "b1")},
		{code: 327, ext: fields("brokerName", "b1")},
		{code: 206},
		{code: 216, ext: fields("clusterName", "c1", "topic", "T1")},
		{
			code: 217, ext: fields("topic", "T7"),
			body: `{"queueDatas":[{"brokerName":"b1","perm":6,"readQueueNums":2,"topicSysFlag":0,"writeQueueNums":2}]}`,
			bodies: []string{
				"text", "null", "[]", "{", "{}", `{"queueDatas":null}`, `{"queueDatas":[]}`, `{"queueDatas":[null]}`, `{"queueDatas":[{}]}`,
				`{"queueDatas":"x"}`, `{"queueDatas":[{"brokerName":"b1"},{"brokerName":"none"}]}`,
				`{"queueDatas":[{"brokerName":"b1","perm":"6","readQueueNums":null}]}`,
			},
		},
		{code: 224, ext: fields("cluster", "c1")},
		{code: 304},
		{code: 311},
		{code: 312},
		{code: 313},
		{code: 318, body: "productEnvName=x", bodies: []string{
			"\x00\x01", "key", "=v", "a=\\u12", "waitSecondsForService=abc", "noSuchKey=1", "kvConfigPath=/x", "\xff\xfe=1",
		}},
		{code: 319},
		{
			code: 322, ext: fields(theBroker...), numbers: []string{"brokerId"},
			body: `{"counter":1,"stateVersion":0,"timestamp":1600000000000}`,
			bodies: []string{
				"text", "null", "[]", "{", "{}", "123", `{"counter":"1","stateVersion":"0","timestamp":"1600000000000"}`,
				`{"counter":null,"stateVersion":0,"timestamp":1600000000000}`, `{"counter":"x"}`,
				`{"counter":1.5,"stateVersion":0,"timestamp":1600000000000}`,
			},
		},
		{code: 901, ext: fields("brokerName", "b1", "clusterName", "c1")},
		{code: 904, ext: fields(theBroker[:6]...), numbers: []string{"brokerId", "epoch", "maxOffset"}},
	}
}

// registerBodies are bodies of 103 that somebody may send.
func registerBodies() []string {
	wrapped := func(inner string) string { return `{"topicConfigSerializeWrapper":` + inner + `}` }
	return []string{
		"text", "null", "[]", "123", `"text"`, "{", "{}", "true",
		wrapped("null"), wrapped("{}"), wrapped("[]"), wrapped(`"x"`), wrapped(`{"topicConfigTable":null}`),
		wrapped(`{"dataVersion":null,"topicConfigTable":{}}`), wrapped(`{"dataVersion":{},"topicConfigTable":{}}`),
		wrapped(`{"dataVersion":{"counter":null,"stateVersion":0,"timestamp":1600000000000},"topicConfigTable":{}}`),
		wrapped(`{"dataVersion":{"counter":"2","stateVersion":"0","timestamp":"1600000000000"},"topicConfigTable":{}}`),
		versioned + `{"T7":null,"T8":{"topicName":"T8"}}}}`,
		versioned + `{"T7":{},"T8":{}}}}`,
		versioned + `{"T7":{"topicName":"T7"},"T8":{"topicName":"T8","perm":"6","readQueueNums":"3","topicFilterType":"NONE"}}}}`,
		versioned + `{"T7":{"topicName":"T9","readQueueNums":-1},"T8":{"topicName":"T8","perm":1.9}}}}`,
		versioned + `{"T7":{"topicName":"T7"},"T8":{"topicName":"T8"}},"topicQueueMappingInfoMap":null}}`,
		versioned + `{"T7":{"topicName":"T7"},"T8":{"topicName":"T8"}},"topicQueueMappingInfoMap":{"T7":null}}}`,
		versioned + `{"T7":{"topicName":"T7"},"T8":{"topicName":"T8"}},"topicQueueMappingInfoMap":{"T7":{"totalQueues":2}}}}`,
		`{"filterServerList":null,` + versioned[1:] + `{}}}`, `{"filterServerList":"f",` + versioned[1:] + `{}}}`,
		`{"filterServerList":[1,null,"f"],` + versioned[1:] + `{"T7":{"topicName":"T7"},"T8":{"topicName":"T8"}}}}`,
		strings.ReplaceAll(good103, `"`, `'`), good103 + "x", good103 + " ", "/*c*/" + good103,
		strings.Replace(good103, `"filterServerList"`, "filterServerList", 1),
		strings.Replace(good103, `"topicConfigSerializeWrapper"`, `"topicConfigSerializewrapper"`, 1),
		strings.Replace(good103, `"topicConfigSerializeWrapper"`, `"topic_config_serialize_wrapper"`, 1),
	}
}

// bodyName names a body that is too long to read in a list.
func bodyName(b string) string {
	names := map[string]string{
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
	if n, ok := names[b]; ok {
		return n
	}
	return b
}

var (
	noNumbers = []string{"abc", "", "1.5", "99999999999999999999", " 1", "+1", "-1"}
	noTruths  = []string{"abc", "", "TRUE", "1", "true "}
)

// cases makes the cases of a form.
func (f *form) cases() []badCase {
	var out []badCase
	add := func(name string, change func(*plea)) {
		p := plea{code: f.code, version: goodVersion, ext: append(wire.Fields(nil), f.ext...)}
		if f.body != "" {
			p.body = []byte(f.body)
		}
		change(&p)
		out = append(out, badCase{name: fmt.Sprint(f.code, " ", name), plea: p})
	}
	drop := func(p *plea, name string) {
		for i, e := range p.ext {
			if e.Name == name {
				p.ext = append(p.ext[:i], p.ext[i+1:]...)
				return
			}
		}
	}
	add("proper request", func(*plea) {})
	add("no extFields", func(p *plea) { p.noExt, p.ext = true, nil })
	if len(f.ext) > 0 {
		add("empty extFields", func(p *plea) { p.ext = nil })
	}
	for _, e := range f.ext {
		add("without "+e.Name, func(p *plea) { drop(p, e.Name) })
		add(e.Name+"=null", func(p *plea) { drop(p, e.Name); p.null = []string{e.Name} })
		add(e.Name+" empty", func(p *plea) { p.ext.Set(e.Name, "") })
		add("with a ROCKETMQ header, "+e.Name+" empty", func(p *plea) { p.ext.Set(e.Name, ""); p.header = wire.BinaryHeader })
	}
	for _, name := range f.numbers {
		for _, v := range noNumbers {
			add(fmt.Sprintf("%s=%q", name, v), func(p *plea) { p.ext.Set(name, v) })
		}
	}
	for _, name := range f.truths {
		for _, v := range noTruths {
			add(fmt.Sprintf("%s=%q", name, v), func(p *plea) { p.ext.Set(name, v) })
		}
	}
	if f.body != "" {
		add("no body", func(p *plea) { p.body = nil })
	} else {
		add("with a body it does not need", func(p *plea) { p.body = []byte("garbage") })
	}
	for _, b := range f.bodies {
		add("body "+bodyName(b), func(p *plea) { p.body = []byte(b) })
	}
	add("with a ROCKETMQ header", func(p *plea) { p.header = wire.BinaryHeader })
	if f.code != 103 {
		add("version -1", func(p *plea) { p.version = -1 })
	}
	return out
}

// badCases are all requests of the table.
func badCases() []badCase {
	var out []badCase
	for _, f := range forms() {
		out = append(out, f.cases()...)
	}
	out = append(out, registerCases()...)
	add := func(name string, p plea) *badCase {
		if p.version == 0 {
			p.version = goodVersion
		}
		out = append(out, badCase{name: name, plea: p})
		return &out[len(out)-1]
	}
	for _, z := range []string{"z1", "Z9", "zz", "", " "} {
		add(fmt.Sprintf("105 __ZONE_MODE=true __ZONE_NAME=%q (b2 is in zone z9)", z),
			plea{code: 105, ext: fields("topic", "T1", "__ZONE_MODE", "true", "__ZONE_NAME", z)})
	}
	add("105 __ZONE_MODE=true, no __ZONE_NAME", plea{code: 105, ext: fields("topic", "T1", "__ZONE_MODE", "true")})
	add("105 __ZONE_MODE=true, unknown topic", plea{code: 105, ext: fields("topic", "none", "__ZONE_MODE", "true", "__ZONE_NAME", "zz")})
	add("105 zoneMode=true zoneName=zz (names without underscores do nothing)",
		plea{code: 105, ext: fields("topic", "T1", "zoneMode", "true", "zoneName", "zz")})
	add("105 version V4_9_3 (bare keys)", plea{code: 105, version: 399, ext: fields("topic", "T1")})
	add("105 version V4_9_4 (standard JSON)", plea{code: 105, version: 401, ext: fields("topic", "T1")})
	add("105 version V4_9_3, acceptStandardJsonOnly=true", plea{code: 105, version: 399, ext: fields("topic", "T1", "acceptStandardJsonOnly", "true")})
	nameless := plea{
		code: 103, version: goodVersion, ext: broker{cluster: "c1", name: "b3", addr: "a3:1", ha: "ha3"}.ext(),
		body: []byte(versioned + `{"M7":{"topicName":"M7"},"T8":{"topicName":"T8"}},"topicQueueMappingInfoMap":{"M7":{"totalQueues":2}}}}`),
	}
	for _, v := range []int32{373, goodVersion} {
		add(fmt.Sprint("105 topic whose static mapping has no bname, version ", wire.Version(v)), plea{code: 105, version: v, ext: fields("topic", "M7")}).
			pre = []plea{nameless}
	}
	// With the peers a broker without an address is registered and spoils what follows.
	noAddr := plea{code: 103, version: goodVersion, ext: fields("clusterName", "c1", "brokerName", "b3", "brokerId", "0"), body: []byte(good103)}
	b3 := []string{"clusterName", "c1", "brokerName", "b3", "brokerAddr", "a3:1", "brokerId", "0"}
	for _, p := range []plea{
		{code: 105, ext: fields("topic", "T7")},
		{code: 304},
		{code: 901, ext: fields("clusterName", "c1", "brokerName", "b3")},
		{code: 104, ext: fields(b3...)},
		{code: 103, ext: fields(b3...), body: []byte(good103)},
	} {
		add(fmt.Sprint(p.code, " after a registration without brokerAddr"), p).pre = []plea{noAddr}
	}
	for _, c := range []int32{0, -1, 1, 34, 107, 300, 351, 900, 902, 905, 9999, 40000} {
		add(fmt.Sprint(c, " unknown request code"), plea{code: c})
	}
	add("40000 unknown request code, ROCKETMQ header (16 bit)", plea{code: 40000, header: wire.BinaryHeader})
	return append(out, ruleCases()...)
}

// ruleCases are requests under settings that change what they do.
func ruleCases() []badCase {
	with := func(name string, p plea, set func(*registry.Rules)) badCase {
		p.version = goodVersion
		return badCase{name: fmt.Sprint(p.code, " with ", name), plea: p, rules: set}
	}
	noList := func(r *registry.Rules) { r.EnableTopicList = false }
	out := []badCase{
		with("enableAllTopicList=false", plea{code: 206}, func(r *registry.Rules) { r.EnableAllTopicList = false }),
		with("needWaitForService=true, waitSecondsForService=100000", plea{code: 105, ext: fields("topic", "T1")}, func(r *registry.Rules) {
			r.NeedWaitForService, r.WaitForService = true, 100000e9
		}),
		with("returnOrderTopicConfigToBroker=false", plea{
			code: 103, ext: broker{cluster: "c1", name: "b3", addr: "a3:1", ha: "ha3"}.ext(), body: []byte(good103),
		}, func(r *registry.Rules) { r.ReturnOrderTopicConfigToBroker = false }),
		with("deleteTopicWithBrokerRegistration=true", plea{
			code: 103, ext: broker{cluster: "c1", name: "b1", addr: "a0:1", ha: "ha0"}.ext(), body: []byte(good103),
		}, func(r *registry.Rules) { r.DeleteTopicWithBrokerRegistration = true }),
	}
	for _, c := range []int32{224, 311, 312, 313, 304} {
		out = append(out, with("enableTopicList=false", plea{code: c, ext: fields("cluster", "c1")}, noList))
	}
	return out
}

// registerCases are registrations that differ in more than a field.
func registerCases() []badCase {
	var out []badCase
	two := topics("T7", "T8")
	add := func(name string, b broker, change func(*plea)) {
		if b.cluster == "" {
			b.cluster = "c1"
		}
		if b.name == "" {
			b.name = "b3"
		}
		if b.addr == "" {
			b.addr = "a3:1"
		}
		b.ha = "ha3"
		if b.counter == 0 {
			b.counter = 1
		}
		p := plea{code: 103, version: goodVersion, ext: b.ext(), body: b.body()}
		if change != nil {
			change(&p)
		}
		out = append(out, badCase{name: "103 " + name, plea: p})
	}
	version := func(v int32) func(*plea) { return func(p *plea) { p.version = v } }
	bare := func(v int32) func(*plea) {
		return func(p *plea) {
			p.version = v
			p.body = (&wire.RegisterBody{DataVersion: wire.DataVersion{Timestamp: stamp, Counter: 1}, Topics: two}).AppendBareJSON(nil)
		}
	}
	text := func(v int32, body string) func(*plea) {
		return func(p *plea) {
			p.version, p.body = v, []byte(body)
			if body == "" {
				p.body = nil
			}
		}
	}
	packed := func(said string, v int32, body []byte) func(*plea) {
		return func(p *plea) {
			p.version, p.body = v, body
			p.ext.Set("compressed", said)
		}
	}
	plain := wire.DataVersion{Timestamp: stamp, Counter: 1}
	add("bodyCrc32 wrong", broker{topics: two}, func(p *plea) { p.ext.Set("bodyCrc32", fmt.Sprint(wire.BodyCRC(p.body)^1)) })
	add("bodyCrc32 right", broker{topics: two}, func(p *plea) { p.ext.Set("bodyCrc32", fmt.Sprint(wire.BodyCRC(p.body))) })
	add("bodyCrc32 set, no body", broker{}, func(p *plea) { p.body = nil; p.ext.Set("bodyCrc32", "77") })
	add("one topic only, broker unknown", broker{topics: two[:1]}, nil)
	add("no topic, broker unknown", broker{}, nil)
	add("version -1", broker{topics: two}, version(-1))
	add("version 9999", broker{topics: two}, version(9999))
	add("version 32767", broker{topics: two}, version(32767))
	add("version V3_0_10 with the old body", broker{}, bare(35))
	add("version V3_0_10 with the new body", broker{topics: two}, version(35))
	add("version V3_0_11 with the old body", broker{}, bare(37))
	add("version V3_0_10, no body", broker{}, text(35, ""))
	add("version V3_0_10, body text", broker{}, text(35, "text"))
	add("version V3_0_10, body null", broker{}, text(35, "null"))
	whole := &packing{version: plain, topics: two, attributes: true, mappings: true}
	short := &packing{version: plain, topics: two}
	add("compressed, good", broker{}, packed("true", goodVersion, whole.zlib(0)))
	add("compressed claimed, body plain", broker{topics: two}, func(p *plea) { p.ext.Set("compressed", "true") })
	add("compressed claimed, no body", broker{}, packed("true", goodVersion, nil))
	add("compressed but not said", broker{}, packed("false", goodVersion, whole.zlib(0)))
	add("compressed, V4_9_7 body sent as V5_5_0 (no mapping section)", broker{}, packed("true", goodVersion, short.zlib(0)))
	add("compressed, V5_5_0 body sent as V4_9_7 (mapping section ignored)", broker{}, packed("true", 407, whole.zlib(0)))
	for _, cut := range []int{1, 4, 5, 8, 40, 100} {
		add(fmt.Sprintf("compressed, %d bytes cut off inside", cut), broker{}, packed("true", goodVersion, whole.zlib(cut)))
	}
	spaced := &packing{version: plain, topics: topics("T 7", "T8"), attributes: true, mappings: true}
	add("compressed, topic name with a space", broker{}, packed("true", goodVersion, spaced.zlib(0)))
	strange := &packing{version: plain, topics: two, filter: "NONE", attributes: true, mappings: true}
	add("compressed, unknown topic filter type", broker{}, packed("true", goodVersion, strange.zlib(0)))
	add("address of a broker that is registered under another name", broker{addr: "a0:1", topics: two}, nil)
	add("same address, other id, same name", broker{name: "b1", addr: "a0:1", id: 2, topics: two}, nil)
	add("same id, other address, same stateVersion", broker{name: "b1", topics: two}, nil)
	add("same id, other address, older stateVersion", broker{name: "b1", topics: two, state: -1}, nil)
	add("same broker name, other cluster", broker{name: "b1", cluster: "c2", id: 3, topics: two}, nil)
	add("negative broker id", broker{id: -1, topics: two}, nil)
	return out
}

// packing is the content of a compressed registration, good or not.
type packing struct {
	version    wire.DataVersion
	topics     []wire.TopicConfig
	filter     string // of the first topic, instead of its own
	attributes bool   // brokers from 4.9.4 on send them
	mappings   bool   // brokers from 5.0 on send a section of them
}

// zlib returns it compressed after cutting off bytes of its end.
func (p *packing) zlib(cut int) []byte {
	var in []byte
	entry := func(s string) {
		in = binary.BigEndian.AppendUint32(in, uint32(len(s)))
		in = append(in, s...)
	}
	entry(string(p.version.AppendJSON(nil)))
	in = binary.BigEndian.AppendUint32(in, uint32(len(p.topics)))
	for i, t := range p.topics {
		filter := t.FilterType.String()
		if i == 0 && p.filter != "" {
			filter = p.filter
		}
		s := fmt.Sprintf("%s %d %d %d %s ", t.Name, t.ReadQueues, t.WriteQueues, t.Perm, filter)
		if p.attributes {
			s += "{}"
		}
		entry(s)
	}
	entry("[]")
	if p.mappings {
		in = binary.BigEndian.AppendUint32(in, 0)
	}
	var out bytes.Buffer
	w := zlib.NewWriter(&out)
	w.Write(in[:len(in)-cut])
	w.Close()
	return out.Bytes()
}
