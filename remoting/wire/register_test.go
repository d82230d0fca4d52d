package wire

import (
	"bytes"
	"compress/flate"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const testNow = 1_700_000_000_123

// registration is what a decoder hands out, kept.
type registration struct {
	RegisterSummary
	Topics   []TopicConfig
	Mappings map[string]TopicMapping
}

func decodeRegistration(body []byte, v Version, compressed bool) (*registration, error) {
	reg := &registration{Mappings: map[string]TopicMapping{}}
	d := RegisterDecoder{
		Topic: func(t *TopicConfig) {
			kept := *t
			kept.Attributes = append([]Field(nil), t.Attributes...)
			reg.Topics = append(reg.Topics, kept)
		},
		Mapping: func(topic string, m *TopicMapping) {
			kept := *m
			kept.IDs = append([]QueueID(nil), m.IDs...)
			reg.Mappings[topic] = kept
		},
	}
	var err error
	reg.RegisterSummary, err = d.Decode(body, v, compressed, testNow)
	return reg, err
}

// brief writes a registration in one line: topic r w perm sysflag, then the rest
// where it is not usual.
func (r *registration) brief() string {
	var b strings.Builder
	for _, t := range r.Topics {
		fmt.Fprintf(&b, "%s %d/%d %d", t.Name, t.ReadQueues, t.WriteQueues, t.Perm)
		if t.SysFlag != 0 {
			fmt.Fprintf(&b, " sys%d", t.SysFlag)
		}
		if t.Order {
			b.WriteString(" order")
		}
		if t.FilterType != SingleTag {
			fmt.Fprintf(&b, " filter:%s", t.FilterType)
		}
		for _, a := range t.Attributes {
			fmt.Fprintf(&b, " %s=%s", a.Name, a.Value)
		}
		b.WriteString("; ")
	}
	for topic, m := range r.Mappings {
		fmt.Fprintf(&b, "%s->%s %v; ", topic, m.Broker, m.IDs)
	}
	if v := r.DataVersion; v != (DataVersion{}) {
		fmt.Fprintf(&b, "v%d,%d,%d; ", v.StateVersion, v.Counter, v.Timestamp)
	}
	switch {
	case !r.HasFilterServers:
		b.WriteString("filters null; ")
	case len(r.FilterServers) > 0:
		fmt.Fprintf(&b, "filters %q; ", r.FilterServers)
	}
	if r.Skipped > 0 {
		fmt.Fprintf(&b, "skipped %d; ", r.Skipped)
	}
	return strings.TrimSuffix(b.String(), "; ")
}

// wrap puts topics, and what follows them, into a registration body.
func wrap(topics, rest string) string {
	return `{"topicConfigSerializeWrapper":{"dataVersion":{"counter":1,"stateVersion":0,"timestamp":5},"topicConfigTable":{` + topics + `}` + rest + `}}`
}

// topicWith is a body with one topic T and one more member.
func topicWith(member string) string { return wrap(`"T":{"topicName":"T",`+member+`}`, "") }

func mappings(table string) string { return wrap("", `,"topicQueueMappingInfoMap":`+table) }

// The answers of the Java code of 5.5.0, except where a comment says what differs.
func TestRegisterJSON(t *testing.T) {
	const v = "v0,1,5"
	missing := fmt.Sprintf("v0,0,%d", testNow)
	tests := []struct{ in, want string }{
		{`{}`, missing},
		{`{"x":1}`, missing},
		{"\x00/*c*/{}//d", missing},
		{`{"topicConfigSerializeWrapper":null}`, missing},
		{`{"topicConfigSerializeWrapper":""}`, missing},
		{`{"topicConfigSerializeWrapper":{}}`, missing},
		{`{"topicConfigSerializeWrapper":{"dataVersion":null}}`, missing}, // Java stores null
		{`{"topicConfigSerializeWrapper":{"topicConfigTable":null}}`, missing},
		{`{"topicConfigSerializeWrapper":{"dataVersion":{"counter":1.9,"stateVersion":"2","timestamp":null}}}`, "v2,1,0"},
		{`{"topicConfigSerializewrapper":{"topicConfigTable":{"T":{"topicName":"T"}}}}`, missing}, // names are exact
		{`{"dataVersion":{"counter":3},"topicConfigTable":{"T":{"topicName":"T"}}}`, missing},     // the bare table of an old broker

		{wrap(`"T":{"topicName":"T"}`, ""), "T 16/16 6; " + v},
		{wrap(`"T":{"topicName":"U"}`, ""), "U 16/16 6; " + v}, // the name inside counts
		{wrap(`"T":{},"U":{"topicName":"U"},"V":{"topicName":null},"W":{"topicName":""}`, ""), "U 16/16 6; " + v + "; skipped 3"},
		{wrap(`'T':{'topicName':'T','perm':'4'},`, ""), "T 16/16 4; " + v},
		{wrap(`1:{"topicName":5}`, ""), "5 16/16 6; " + v},
		{topicWith(`"readQueueNums":null,"writeQueueNums":"5","perm":1.9`), "T 0/5 1; " + v},
		{topicWith(`"readQueueNums":-1,"writeQueueNums":true,"topicSysFlag":3`), "T -1/1 6 sys3; " + v},
		{topicWith(`"order":"true"`), "T 16/16 6 order; " + v},
		{topicWith(`"order":1`), "T 16/16 6 order; " + v},
		{topicWith(`"order":null`), "T 16/16 6; " + v},
		{topicWith(`"topicFilterType":"MULTI_TAG"`), "T 16/16 6 filter:MULTI_TAG; " + v},
		{topicWith(`"topicFilterType":"multi_tag"`), "T 16/16 6 filter:MULTI_TAG; " + v},
		{topicWith(`"topicFilterType":1`), "T 16/16 6 filter:MULTI_TAG; " + v},
		{topicWith(`"topicFilterType":"NONE"`), "T 16/16 6 filter:; " + v},
		{topicWith(`"topicFilterType":null`), "T 16/16 6 filter:; " + v},
		{topicWith(`"attributes":{"message.type":"FIFO","b":1,"c":null,"d":{"e":[1, 2]}}`), `T 16/16 6 message.type=FIFO b=1 d={"e":[1,2]}; ` + v},
		{topicWith(`"attributes":null`), "T 16/16 6; " + v},
		{topicWith(`"unknown":{"a":[1,{"b":2}]}`), "T 16/16 6; " + v},
		{topicWith(`"unknown":{1:[2]}`), "T 16/16 6; " + v}, // Java refuses bare keys where it knows no field
		{wrap(`"T":{"topicName":"T\u4e2d\uD83D\uDE00"}`, ""), "T中😀 16/16 6; " + v},
		{wrap("\"T\":{\"topicName\":\"T\xff\"}", ""), "T\uFFFD 16/16 6; " + v},

		{mappings(`null`), v},
		{mappings(`{}`), v},
		{mappings(`{"T":null}`), v + "; skipped 1"},                     // Java stores one that breaks routes
		{mappings(`{"T":{}}`), v + "; skipped 1"},                       // likewise
		{mappings(`{"T":{"bname":null,"epoch":1}}`), v + "; skipped 1"}, // likewise
		{mappings(`{"T":{"bname":"b","currIdMap":{1:1,0:7}}}`), "T->b [{0 7} {1 1}]; " + v},
		{mappings(`{"T":{"bname":"b","currIdMap":{"0":0,"1":"1"}}}`), "T->b [{0 0} {1 1}]; " + v},
		{mappings(`{"T":{"bname":"b","currIdMap":{0 : 1 , -2:3 , }}}`), "T->b [{-2 3} {0 1}]; " + v},
		{mappings(`{"T":{"bname":"b","currIdMap":{0:1,0:2.5}}}`), "T->b [{0 2}]; " + v},
		{mappings(`{"T":{"bname":"b","currIdMap":null}}`), "T->b []; " + v},
		{wrap(`"T":{"topicName":"T"}`, `,"topicQueueMappingDetailMap":{"T":{"hostedQueues":{0:[{"gen":0,"bname":"b"}]},"currIdMap":{0:0}}},"mappingDataVersion":null`), "T 16/16 6; " + v},

		{`{"filterServerList":null}`, missing + "; filters null"},
		{`{"filterServerList":["a:1","b:2"]}`, missing + `; filters ["a:1" "b:2"]`},
		{`{"filterServerList":["a",]}`, missing + `; filters ["a"]`},
		{`{"filterServerList":"f"}`, missing + `; filters ["f"]`},
		{`{"filterServerList":""}`, missing},
		{`{"filterServerList":{}}`, missing + "; filters null"},
		{`{"filterServerList":5}`, missing + "; filters null"},
		{`{"filterServerList":[1,null,"f",{"a":1}]}`, missing + `; filters ["1" "f" "{\"a\":1}"]`}, // Java keeps the null
	}
	for _, tt := range tests {
		t.Run(tt.in, func(t *testing.T) {
			reg, err := decodeRegistration([]byte(tt.in), V5_5_0, false)
			if err != nil {
				t.Fatal(err)
			}
			if got := reg.brief(); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestRegisterJSONRefused(t *testing.T) {
	good := wrap(`"T":{"topicName":"T"}`, "")
	refused := []string{
		`text`, `null`, `[]`, `123`, `"text"`, `{`, `true`, ` `, good + "x", good + "{}", good[:len(good)-1],
		strings.Replace(good, `"topicName"`, `topicName`, 1), strings.Replace(good, `"T":`, `T:`, 1),
		`{"topicConfigSerializeWrapper":[]}`, `{"topicConfigSerializeWrapper":"x"}`, `{"topicConfigSerializeWrapper":5}`,
		`{"topicConfigSerializeWrapper":{"topicConfigTable":[]}}`, `{"topicConfigSerializeWrapper":{"topicConfigTable":"x"}}`,
		`{"topicConfigSerializeWrapper":{"dataVersion":[]}}`, `{"topicConfigSerializeWrapper":{"dataVersion":5}}`,
		`{"topicConfigSerializeWrapper":{"dataVersion":{"counter":"x"}}}`, `{"topicConfigSerializeWrapper":{"dataVersion":{"counter":{}}}}`,
		wrap(`"T":null`, ""), wrap(`"T":"x"`, ""), wrap(`"T":[]`, ""), wrap(`"T":5`, ""),
		topicWith(`"perm":"RW"`), topicWith(`"perm":[]`), topicWith(`"readQueueNums":4294967296`),
		topicWith(`"order":"x"`), topicWith(`"order":{}`), topicWith(`"topicFilterType":5`), topicWith(`"topicFilterType":{}`),
		topicWith(`"topicFilterType":'SINGLE_TAG'`), topicWith(`"attributes":"x"`), topicWith(`"attributes":[]`),
		mappings(`[]`), mappings(`"x"`), mappings(`{T:{}}`), mappings(`{"T":{"currIdMap":{"x":1}}}`), mappings(`{"T":{"currIdMap":[]}}`),
		mappings(`{"T":{"currIdMap":{0:"x"}}}`), mappings(`{"T":{"currIdMap":{4294967296:0}}}`),
		`{"x":` + strings.Repeat(`{"x":`, 100) + `1` + strings.Repeat(`}`, 101),
	}
	for _, in := range refused {
		t.Run(in, func(t *testing.T) {
			reg, err := decodeRegistration([]byte(in), V5_5_0, false)
			be, is := errors.AsType[*BodyError](err)
			if !is {
				t.Fatalf("read as %s, error %v; want a *BodyError", reg.brief(), err)
			}
			if be.Limit || be.Error() == "" || be.Offset < 0 || be.Offset > len(in) {
				t.Errorf("error %+v", be)
			}
		})
	}
}

func TestRegisterOldBroker(t *testing.T) {
	bare := `{"dataVersion":{"counter":3,"timestamp":9},"topicConfigTable":{"T":{"topicName":"T","perm":4}}}`
	for _, tt := range []struct {
		v          Version
		body, want string
	}{
		{V3_0_11 - 1, bare, "T 16/16 4; v0,3,9; filters null"},
		{0, bare, "T 16/16 4; v0,3,9; filters null"},
		{-1, bare, "T 16/16 4; v0,3,9; filters null"},
		{V3_0_11 - 1, "", "filters null"},
		{V3_0_11 - 1, "null", fmt.Sprintf("v0,0,%d; filters null", testNow)},
		{V3_0_11 - 1, wrap(`"T":{"topicName":"T"}`, ""), fmt.Sprintf("v0,0,%d; filters null", testNow)},
		{V3_0_11, bare, fmt.Sprintf("v0,0,%d", testNow)},
		{V3_0_11, "", ""},
		{V5_5_0, "", ""},
		{32767, wrap(`"T":{"topicName":"T"}`, ""), "T 16/16 6; v0,1,5"},
	} {
		reg, err := decodeRegistration([]byte(tt.body), tt.v, false)
		if err != nil {
			t.Errorf("%d %s: %v", tt.v, tt.body, err)
			continue
		}
		if got := reg.brief(); got != tt.want {
			t.Errorf("%d %s: got %s, want %s", tt.v, tt.body, got, tt.want)
		}
	}
	if _, err := decodeRegistration([]byte("text"), V3_0_11-1, false); err == nil {
		t.Error("a bare table that is no JSON was read")
	}
}

// The body of a broker of 5.0 or later as the Java code compressed it.
const javaCompressed = `
	78da458ecd6ac3301084d53e8999b39ad8fd4bd02d872618da94d0d04b2942563689a96d19498604e377cf3a2d7497bd
	cc32339f1062dec3baae89e4a11e244234913ec987d23550a9442c6b62b16ea1b259fa3f8310e2866fba756d6917c923
	ef73f291af57af2f7abb58253dd818cc8126f1dc121496f9f21da3edf6ebfbcf7cea5134a61ebf85773fe4ef0c246ce7
	7dbe7b335cd9a7cc90a96c90d8953e9ea1f6a60a2441adb347a82726b6ee1aaff5a17285a9b4e6883842b1f80b7715a2
	a9361d7514a0ee870bcc36482e`

func TestRegisterCompressedVector(t *testing.T) {
	body := unhex(t, javaCompressed)
	if got := BodyCRC(body); got != 1897929731 {
		t.Errorf("checksum %d, want 1897929731", got)
	}
	want := &registration{
		RegisterSummary: RegisterSummary{
			DataVersion:      DataVersion{StateVersion: 0, Timestamp: 1700000000000, Counter: 3},
			HasFilterServers: true, Topics: 1, Mappings: 1, Inflated: 249,
		},
		Topics: []TopicConfig{{Name: "TopicA", ReadQueues: 4, WriteQueues: 4, Perm: 6, Attributes: []Field{{"message.type", "FIFO"}}}},
		Mappings: map[string]TopicMapping{"TopicA": {
			Topic: "TopicA", Broker: "broker-a", Scope: "__global__", HasScope: true, Epoch: 5, TotalQueues: 2, IDs: []QueueID{{0, 0}, {1, 1}},
		}},
	}
	// Announced or not: brokers of 5.x never announce it.
	for _, announced := range []bool{true, false} {
		got, err := decodeRegistration(body, V5_0_0, announced)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("announced %v (-want +got):\n%s", announced, diff)
		}
	}
	// What we write inflates to what the Java code wrote.
	written := &RegisterBody{
		DataVersion: want.DataVersion,
		Topics:      want.Topics, Mappings: []TopicMapping{want.Mappings["TopicA"]},
	}
	again, err := written.AppendCompressed([]byte("before"), V5_0_0)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(inflate(t, body), inflate(t, bytes.TrimPrefix(again, []byte("before")))); diff != "" {
		t.Errorf("inflated (-Java +ours):\n%s", diff)
	}
}

func inflate(t *testing.T, b []byte) string {
	t.Helper()
	r, err := zlib.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if _, err := out.ReadFrom(r); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// stream builds the content of a compressed registration.
type stream struct{ b []byte }

func (s *stream) count(n int32) *stream {
	s.b = binary.BigEndian.AppendUint32(s.b, uint32(n))
	return s
}

func (s *stream) entry(text string) *stream {
	s.count(int32(len(text)))
	s.b = append(s.b, text...)
	return s
}

func (s *stream) raw(b string) *stream {
	s.b = append(s.b, b...)
	return s
}

func (s *stream) deflate() []byte {
	var out bytes.Buffer
	w := zlib.NewWriter(&out)
	w.Write(s.b) // into memory
	w.Close()
	return out.Bytes()
}

const compressedVersion = `{"counter":1,"stateVersion":0,"timestamp":5}`

func oneTopic(text string) *stream {
	return new(stream).entry(compressedVersion).count(1).entry(text).entry("[]").count(0)
}

// The answers of the Java code of 5.5.0, except where a comment says what differs.
func TestRegisterCompressed(t *testing.T) {
	const v = "v0,1,5"
	missing := fmt.Sprintf("v0,0,%d", testNow)
	empty := func() *stream { return new(stream).entry(compressedVersion).count(0) }
	tests := []struct {
		name string
		in   *stream
		v    Version
		want string
	}{
		{"five tokens", oneTopic("T 4 5 6 SINGLE_TAG"), V5_5_0, "T 4/5 6; " + v},
		{"six tokens", oneTopic(`T 4 4 6 MULTI_TAG {"a":"b"}`), V5_5_0, "T 4/4 6 filter:MULTI_TAG a=b; " + v},
		{"seven tokens", oneTopic(`T 4 4 6 SINGLE_TAG {"a":"b"} x y`), V5_5_0, "T 4/4 6 a=b; " + v},
		{"attributes with a blank", oneTopic(`T 4 4 6 SINGLE_TAG {"a": "b"}`), V5_5_0, "T 4/4 6; " + v},
		{"attributes that are no object", oneTopic(`T 4 4 6 SINGLE_TAG []`), V5_5_0, "T 4/4 6; " + v},
		{"attributes null", oneTopic(`T 4 4 6 SINGLE_TAG null`), V5_5_0, "T 4/4 6; " + v},
		{"attributes that are no texts", oneTopic(`T 4 4 6 SINGLE_TAG {"a":null,"b":1}`), V5_5_0, "T 4/4 6 b=1; " + v},
		{"blank at the end", oneTopic("T 4 4 6 SINGLE_TAG "), V5_5_0, "T 4/4 6; " + v},
		{"signs", oneTopic("T +4 -4 6 SINGLE_TAG"), V5_5_0, "T 4/-4 6; " + v},
		{"not ASCII", oneTopic("中 4 4 6 SINGLE_TAG"), V5_5_0, "中 4/4 6; " + v},
		{"no name", oneTopic(" 4 4 6 SINGLE_TAG"), V5_5_0, v + "; skipped 1"}, // Java makes a topic without a name
		{"filters", empty().entry(`["f",null,1]`).count(0), V5_5_0, v + `; filters ["f" "1"]`},
		{"filters null", empty().entry("null").count(0), V5_5_0, v + "; filters null"},
		{"filters of no length", empty().entry("").count(0), V5_5_0, v + "; filters null"},
		{"filters that cannot be read", empty().entry("x").count(0), V5_5_0, v},
		{"filters with something after them", empty().entry(`["f"]x`).count(0), V5_5_0, v},
		{"data version null", new(stream).entry("null").count(0).entry("[]").count(0), V5_5_0, missing},
		{"data version of no length", new(stream).entry("").count(0).entry("[]").count(0), V5_5_0, missing},
		{"mapping", empty().entry("[]").count(1).entry(`{"bname":"b","topic":"T","currIdMap":{0:3}}`), V5_5_0, "T->b [{0 3}]; " + v},
		{"mapping null", empty().entry("[]").count(2).entry("null").entry(""), V5_5_0, v + "; skipped 2"},           // Java refuses
		{"mapping without a topic", empty().entry("[]").count(1).entry(`{"bname":"b"}`), V5_5_0, v + "; skipped 1"}, // Java refuses
		{"something after the mappings", empty().entry("[]").count(0).raw("more"), V5_5_0, v},
		{"no section of mappings, 4.x", empty().entry("[]"), V4_9_4, v},
		{"mappings of a 4.x broker mean nothing", empty().entry("[]").count(7).raw("x"), V4_9_4, v},
		{"no section of mappings, 5.x", empty().entry("[]"), V5_5_0, v}, // Java refuses
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			reg, err := decodeRegistration(tt.in.deflate(), tt.v, true)
			if err != nil {
				t.Fatal(err)
			}
			if got := reg.brief(); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			if reg.Inflated != len(tt.in.b) {
				t.Errorf("inflated %d, want %d", reg.Inflated, len(tt.in.b))
			}
		})
	}
}

func TestRegisterCompressedRefused(t *testing.T) {
	good := oneTopic("T 4 4 6 SINGLE_TAG")
	refused := map[string][]byte{
		"not compressed":           []byte(wrap("", "")),
		"raw deflate":              rawDeflate(good.b),
		"nothing inside":           new(stream).deflate(),
		"name with a blank":        oneTopic("T U 4 4 6 SINGLE_TAG").deflate(),
		"two blanks":               oneTopic("T  4 4 6 SINGLE_TAG").deflate(),
		"blank before":             oneTopic(" T 4 4 6 SINGLE_TAG").deflate(),
		"four tokens":              oneTopic("T 4 4 6").deflate(),
		"four tokens and a blank":  oneTopic("T 4 4 6 ").deflate(),
		"empty text":               oneTopic("").deflate(),
		"no number":                oneTopic("T x 4 6 SINGLE_TAG").deflate(),
		"fraction":                 oneTopic("T 4.0 4 6 SINGLE_TAG").deflate(),
		"number beyond 32 bits":    oneTopic("T 99999999999 4 6 SINGLE_TAG").deflate(),
		"unknown filter type":      oneTopic("T 4 4 6 NONE").deflate(),
		"filter type in small":     oneTopic("T 4 4 6 single_tag").deflate(),
		"data version no JSON":     new(stream).entry("x").count(0).entry("[]").count(0).deflate(),
		"mapping no JSON":          new(stream).entry(compressedVersion).count(0).entry("[]").count(1).entry("x").deflate(),
		"negative count":           new(stream).entry(compressedVersion).count(-1).entry("[]").count(0).deflate(),
		"count too high":           new(stream).entry(compressedVersion).count(2).entry("T 4 4 6 SINGLE_TAG").entry("[]").count(0).deflate(),
		"negative length":          new(stream).count(-1).raw("xxxx").deflate(),
		"half a count of mappings": new(stream).entry(compressedVersion).count(0).entry("[]").raw("\x00\x00").deflate(),
	}
	for n := range len(good.b) {
		if n != len(good.b)-4 { // there it ends before its mappings
			refused[fmt.Sprintf("%d bytes cut off inside", len(good.b)-n)] = (&stream{good.b[:n]}).deflate()
		}
	}
	whole := good.deflate()
	for n := 2; n < len(whole); n++ {
		refused[fmt.Sprintf("%d bytes cut off outside", len(whole)-n)] = whole[:n]
	}
	damaged := bytes.Clone(whole)
	damaged[len(damaged)-1] ^= 1
	refused["wrong checksum of zlib"] = damaged
	for name, body := range refused {
		t.Run(name, func(t *testing.T) {
			reg, err := decodeRegistration(body, V5_5_0, true)
			if be, is := errors.AsType[*BodyError](err); !is || be.Limit || be.Error() == "" {
				t.Errorf("read as %s, error %v; want a *BodyError that is no limit", reg.brief(), err)
			}
		})
	}
}

func rawDeflate(b []byte) []byte {
	var out bytes.Buffer
	w, _ := flate.NewWriter(&out, flate.DefaultCompression) // the level is right
	w.Write(b)
	w.Close()
	return out.Bytes()
}

func TestRegisterLimits(t *testing.T) {
	many := &RegisterBody{}
	for i := range 10 {
		name := fmt.Sprint("T", i)
		many.Topics = append(many.Topics, TopicConfig{Name: name})
		many.Mappings = append(many.Mappings, TopicMapping{Topic: name, Broker: "b"})
	}
	zipped, err := many.AppendCompressed(nil, V5_5_0)
	if err != nil {
		t.Fatal(err)
	}
	bomb := new(stream).entry(compressedVersion).count(1).entry(strings.Repeat(" ", 1<<20))
	tests := []struct {
		name string
		d    RegisterDecoder
		body []byte
		ok   bool
	}{
		{"topics, JSON", RegisterDecoder{MaxTopics: 9}, many.AppendJSON(nil), false},
		{"topics, compressed", RegisterDecoder{MaxTopics: 9}, zipped, false},
		{"mappings, JSON", RegisterDecoder{MaxMappings: 9}, many.AppendJSON(nil), false},
		{"mappings, compressed", RegisterDecoder{MaxMappings: 9}, zipped, false},
		{"just enough", RegisterDecoder{MaxTopics: 10, MaxMappings: 10, MaxInflated: len(inflate(t, zipped))}, zipped, true},
		{"one byte too many inside", RegisterDecoder{MaxInflated: len(inflate(t, zipped)) - 1}, zipped, false},
		{"a length beyond the limit", RegisterDecoder{MaxInflated: 1 << 16}, bomb.deflate(), false},
		{"a count beyond the limit", RegisterDecoder{MaxInflated: 1 << 16}, new(stream).entry(compressedVersion).count(1 << 30).deflate(), false},
		{"a tail beyond the limit", RegisterDecoder{MaxInflated: 1 << 10}, oneTopic("T 4 4 6 SINGLE_TAG").raw(strings.Repeat("x", 1<<10)).deflate(), false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.d.Topic = func(*TopicConfig) {}
			tt.d.Mapping = func(string, *TopicMapping) {}
			_, err := tt.d.Decode(tt.body, V5_5_0, false, testNow)
			if tt.ok {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if be, is := errors.AsType[*BodyError](err); !is || !be.Limit {
				t.Errorf("error %v, want a limit", err)
			}
		})
	}
}

// A decoder is reused for body after body, and nothing of one shows in the next.
func TestRegisterDecoderReuse(t *testing.T) {
	var topics []string
	d := RegisterDecoder{Topic: func(t *TopicConfig) { topics = append(topics, fmt.Sprintf("%s%d%v", t.Name, t.Perm, t.Attributes)) }}
	bodies := []struct {
		body []byte
		want []string
	}{
		{[]byte(topicWith(`"perm":2,"attributes":{"a":"b"}`)), []string{"T2[{a b}]"}},
		{oneTopic("U 4 4 4 SINGLE_TAG").deflate(), []string{"U4[]"}},
		{[]byte(wrap(`"V":{"topicName":"V"}`, "")), []string{"V6[]"}},
	}
	for _, tt := range bodies {
		topics = nil
		if _, err := d.Decode(tt.body, V5_5_0, false, testNow); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.want, topics); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

func TestBodyCRC(t *testing.T) {
	// CRC-32 of "a" is 0xE8B7BE43: its top bit is cleared.
	if got := BodyCRC([]byte("a")); got != 1756872259 {
		t.Errorf("checksum %d, want 1756872259", got)
	}
	if got := BodyCRC(nil); got != 0 {
		t.Errorf("checksum of nothing %d, want 0", got)
	}
	body := `{"filterServerList":[],"topicConfigSerializeWrapper":{"dataVersion":{"counter":3,"stateVersion":0,"timestamp":1700000000000},"mappingDataVersion":{"counter":0,"stateVersion":0,"timestamp":1},"topicConfigTable":{"TopicA":{"attributes":{"message.type":"FIFO"},"order":false,"perm":6,"readQueueNums":4,"topicFilterType":"SINGLE_TAG","topicName":"TopicA","topicSysFlag":0,"writeQueueNums":4}},"topicQueueMappingDetailMap":{},"topicQueueMappingInfoMap":{"TopicA":{"bname":"broker-a","currIdMap":{0:0,1:1},"dirty":false,"epoch":5,"scope":"__global__","topic":"TopicA","totalQueues":2}}}}`
	if got := BodyCRC([]byte(body)); got != 1487296373 {
		t.Errorf("checksum %d, want 1487296373", got)
	}
}
