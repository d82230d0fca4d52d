package wire

import (
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
