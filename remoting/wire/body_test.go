package wire

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A route with everything that a route can have, as a Java NameServer may hold it.
var fullRoute = Route{
	Brokers: []BrokerData{
		{Name: "b2", Cluster: "c2", Addrs: []BrokerAddr{{0, "10.0.0.2:10911"}}, HasZone: true},
		{Name: "b1", Cluster: "c1", Addrs: []BrokerAddr{{10, "z:1"}, {2, "[2001:db8::1]:10911"}, {-1, "n:1"}, {0, "m:1"}}, EnableActingMaster: true, Zone: "z1", HasZone: true},
		{Name: "b3", Cluster: "c1"},
	},
	FilterServers:  []FilterServers{{"b", []string{"x", "1"}}, {"a", nil}, {"\uFB01", nil}, {"😀", nil}, {"10", nil}, {"9", nil}},
	OrderTopicConf: "b1:4;b2:4", HasOrderTopicConf: true,
	Queues: []QueueData{{Broker: "b2", Perm: 6, ReadQueues: 4, WriteQueues: 8, SysFlag: 1}, {Broker: "b1", Perm: 4}},
	Mappings: []TopicMapping{
		{Broker: "b", Topic: "t", Scope: "s", HasScope: true, Epoch: 9007199254740992, TotalQueues: 3, IDs: []QueueID{{10, 1}, {2, 3}, {-1, 4}}},
		{Broker: "a", Scope: "__global__", Epoch: 9007199254740991, Dirty: true},
		{Broker: "c", Epoch: -9007199254740992, Scope: "__global__"},
	},
}

// The order of filterServerTable in the strict one is that of Java's TreeMap: UTF-16
// units, so the emoji stands before U+FB01.
const (
	fullRouteLegacy = `{"brokerDatas":[` +
		`{"brokerAddrs":{0:"10.0.0.2:10911"},"brokerName":"b2","cluster":"c2","enableActingMaster":false,"zoneName":""},` +
		`{"brokerAddrs":{-1:"n:1",0:"m:1",2:"[2001:db8::1]:10911",10:"z:1"},"brokerName":"b1","cluster":"c1","enableActingMaster":true,"zoneName":"z1"},` +
		`{"brokerAddrs":{},"brokerName":"b3","cluster":"c1","enableActingMaster":false}],` +
		`"filterServerTable":{"10":[],"9":[],"a":[],"b":["x","1"],"😀":[],"` + "\uFB01" + `":[]},` +
		`"orderTopicConf":"b1:4;b2:4",` +
		`"queueDatas":[{"brokerName":"b2","perm":6,"readQueueNums":4,"topicSysFlag":1,"writeQueueNums":8},{"brokerName":"b1","perm":4,"readQueueNums":0,"topicSysFlag":0,"writeQueueNums":0}],` +
		`"topicQueueMappingByBroker":{` +
		`"a":{"bname":"a","currIdMap":{},"dirty":true,"epoch":9007199254740991,"scope":"__global__","totalQueues":0},` +
		`"b":{"bname":"b","currIdMap":{-1:4,2:3,10:1},"dirty":false,"epoch":9007199254740992,"scope":"s","topic":"t","totalQueues":3},` +
		`"c":{"bname":"c","currIdMap":{},"dirty":false,"epoch":-9007199254740992,"scope":"__global__","totalQueues":0}}}`
)

var fullRouteStrict = strings.NewReplacer(
	`{0:"`, `{"0":"`, `{-1:"n`, `{"-1":"n`, `,0:"`, `,"0":"`, `,2:"`, `,"2":"`, `,10:"`, `,"10":"`,
	`{-1:4,2:3,10:1}`, `{"-1":4,"2":3,"10":1}`,
	`"epoch":9007199254740992`, `"epoch":"9007199254740992"`, `"epoch":-9007199254740992`, `"epoch":"-9007199254740992"`,
).Replace(fullRouteLegacy)

func TestRouteDialects(t *testing.T) {
	for d, want := range map[Dialect]string{Legacy: fullRouteLegacy, Strict: fullRouteStrict} {
		t.Run(d.String(), func(t *testing.T) {
			if diff := cmp.Diff(want, string(fullRoute.AppendJSON(nil, d))); diff != "" {
				t.Errorf("written (-want +got):\n%s", diff)
			}
			got, err := DecodeRoute([]byte(want))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, string(got.AppendJSON(nil, d))); diff != "" {
				t.Errorf("read and written (-want +got):\n%s", diff)
			}
		})
	}
	if got := string((&TopicMapping{}).AppendJSON(nil, Legacy)); got != `{"currIdMap":{},"dirty":false,"epoch":0,"totalQueues":0}` {
		t.Errorf("a mapping of nothing: %s", got)
	}
	if fullRoute.Brokers[1].Addrs[0].ID != 10 || fullRoute.FilterServers[0].Addr != "b" {
		t.Error("writing sorted its input in place")
	}
}

func TestRouteEmptyParts(t *testing.T) {
	tests := []struct {
		route Route
		want  string
	}{
		{Route{}, `{"brokerDatas":[],"filterServerTable":{},"queueDatas":[]}`},
		{Route{HasOrderTopicConf: true}, `{"brokerDatas":[],"filterServerTable":{},"orderTopicConf":"","queueDatas":[]}`},
		{Route{HasMappings: true}, `{"brokerDatas":[],"filterServerTable":{},"queueDatas":[],"topicQueueMappingByBroker":{}}`},
	}
	for _, tt := range tests {
		for _, d := range []Dialect{Legacy, Strict} {
			if diff := cmp.Diff(tt.want, string(tt.route.AppendJSON(nil, d))); diff != "" {
				t.Errorf("%s (-want +got):\n%s", d, diff)
			}
		}
	}
}

// What the Java code of 5.5.0 makes of a route: the body of 217.
func TestDecodeRoute(t *testing.T) {
	queue := func(q QueueData) Route { return Route{Queues: []QueueData{q}} }
	tests := []struct {
		in   string
		want Route
	}{
		{``, Route{}},
		{`null`, Route{}},
		{`{}`, Route{}},
		{`{"brokerDatas":null,"filterServerTable":null,"queueDatas":null,"topicQueueMappingByBroker":null,"orderTopicConf":null}`, Route{}},
		{`{"queueDatas":"","brokerDatas":"","filterServerTable":""}`, Route{}},
		{`{"queueDatas":[]}`, Route{}},
		{`{"queueDatas":[null,{}]}`, Route{}},
		{`{"queueDatas":[{"brokerName":"b1","perm":"6","readQueueNums":null}]}`, queue(QueueData{Broker: "b1", Perm: 6})},
		{`{'queueDatas':[{'brokerName':'b1','topicSynFlag':9}]}`, queue(QueueData{Broker: "b1"})},
		{`{"brokerDatas":[null,{"brokerAddrs":{0:null,1:5," ":"x"}}]}`, Route{Brokers: nil}},
		{`{"brokerDatas":[{"brokerAddrs":{ 0 : "a" , "0":"b",-1:"c"},"brokerName":"b","enableActingMaster":null},{}]}`, Route{Brokers: []BrokerData{{Name: "b", Addrs: []BrokerAddr{{-1, "c"}, {0, "b"}}}}}},
		{`{"filterServerTable":{"a":null,"b":["x",null,1]}}`, Route{FilterServers: []FilterServers{{"b", []string{"x", "1"}}}}},
		{`{"filterServerTable":{"a":"x"},"queueDatas":{"brokerName":"b1"}}`, Route{FilterServers: []FilterServers{{"a", []string{"x"}}}, Queues: []QueueData{{Broker: "b1"}}}},
		{`{"topicQueueMappingByBroker":{}}`, Route{HasMappings: true}},
		{`{"topicQueueMappingByBroker":{"a":null,"b":{"currIdMap":{1:0,0:1}}}}`, Route{HasMappings: true, Mappings: []TopicMapping{{Broker: "b", Scope: "__global__", HasScope: true, IDs: []QueueID{{0, 1}, {1, 0}}}}}},
	}
	for _, tt := range tests {
		t.Run(tt.in, func(t *testing.T) {
			got, err := DecodeRoute([]byte(tt.in))
			if strings.Contains(tt.in, `" "`) {
				if err == nil {
					t.Error("an id that is no number was read")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(&tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	for _, in := range []string{
		`text`, `[]`, `{`, ` `, `{"queueDatas":"x"}`, `{"queueDatas":5}`, `{"queueDatas":["x"]}`, `{"queueDatas":[5]}`, `{"queueDatas":[[]]}`,
		`{"brokerDatas":"x"}`, `{"filterServerTable":[]}`, `{"brokerDatas":[{"brokerAddrs":{"x":"a"}}]}`, `{}x`,
	} {
		t.Run(in, func(t *testing.T) {
			if got, err := DecodeRoute([]byte(in)); err == nil {
				t.Errorf("read as %+v", got)
			}
		})
	}
}

func TestClusterInfo(t *testing.T) {
	empty := &ClusterInfo{}
	if got := string(empty.AppendJSON(nil)); got != `{"brokerAddrTable":{},"clusterAddrTable":{}}` {
		t.Errorf("empty: %s", got)
	}
	info := &ClusterInfo{
		Brokers:  []BrokerData{{Name: "broker-a", Cluster: "DefaultCluster", Addrs: []BrokerAddr{{0, "10.0.0.1:10911"}}}},
		Clusters: []Cluster{{"DefaultCluster", []string{"broker-a"}}, {"none", nil}},
	}
	want := `{"brokerAddrTable":{"broker-a":{"brokerAddrs":{0:"10.0.0.1:10911"},"brokerName":"broker-a","cluster":"DefaultCluster","enableActingMaster":false}},"clusterAddrTable":{"DefaultCluster":["broker-a"],"none":[]}}`
	if diff := cmp.Diff(want, string(info.AppendJSON(nil))); diff != "" {
		t.Errorf("written (-want +got):\n%s", diff)
	}
	got, err := DecodeClusterInfo([]byte(want))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(info, got); diff != "" {
		t.Errorf("read (-want +got):\n%s", diff)
	}
	if _, err := DecodeClusterInfo([]byte(`{"brokerAddrTable":[]}`)); err == nil {
		t.Error("a list in place of a table was read")
	}
}

func TestMemberGroup(t *testing.T) {
	addrs := []BrokerAddr{{0, "a:1"}, {1, "b:1"}}
	tests := []struct {
		g    MemberGroup
		want string
	}{
		{MemberGroup{Addrs: addrs, Cluster: TextOf("C1"), Name: TextOf("b1")}, `{"brokerMemberGroup":{"brokerAddrs":{0:"a:1",1:"b:1"},"brokerName":"b1","cluster":"C1"}}`},
		{MemberGroup{}, `{"brokerMemberGroup":{"brokerAddrs":{}}}`},
		{MemberGroup{Cluster: TextOf("c1")}, `{"brokerMemberGroup":{"brokerAddrs":{},"cluster":"c1"}}`},
		{MemberGroup{Cluster: TextOf("c1"), Name: TextOf("")}, `{"brokerMemberGroup":{"brokerAddrs":{},"brokerName":"","cluster":"c1"}}`},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, string(tt.g.AppendJSON(nil))); diff != "" {
			t.Errorf("written (-want +got):\n%s", diff)
		}
		got, err := DecodeMemberGroup([]byte(tt.want))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(&tt.g, got); diff != "" {
			t.Errorf("read (-want +got):\n%s", diff)
		}
	}
	if _, err := DecodeMemberGroup([]byte(`{"brokerMemberGroup":5}`)); err == nil {
		t.Error("a number in place of a group was read")
	}
}

func TestTopicList(t *testing.T) {
	tests := []struct {
		l    TopicList
		want string
	}{
		{TopicList{}, `{"topicList":[]}`},
		{TopicList{Topics: []string{"T1", "%RETRY%g"}}, `{"topicList":["T1","%RETRY%g"]}`},
		{TopicList{BrokerAddr: TextOf("10.0.0.1:10911"), Topics: []string{"DefaultCluster", "broker-a"}}, `{"brokerAddr":"10.0.0.1:10911","topicList":["DefaultCluster","broker-a"]}`},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, string(tt.l.AppendJSON(nil))); diff != "" {
			t.Errorf("written (-want +got):\n%s", diff)
		}
		got, err := DecodeTopicList([]byte(tt.want))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(&tt.l, got); diff != "" {
			t.Errorf("read (-want +got):\n%s", diff)
		}
	}
	if _, err := DecodeTopicList([]byte(`{"topicList":5}`)); err == nil {
		t.Error("a number in place of a list was read")
	}
}

func TestKVTable(t *testing.T) {
	if got := string(AppendKVTable(nil, nil)); got != `{"table":{}}` {
		t.Errorf("empty: %s", got)
	}
	in := []Field{{"T1", "b1:4;b2:4"}, {"中", ""}}
	want := `{"table":{"T1":"b1:4;b2:4","中":""}}`
	if got := string(AppendKVTable(nil, in)); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	got, err := DecodeKVTable([]byte(`{"x":[],"table":{"a":"b","c":null,"d":1}}`))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]Field{{"a", "b"}, {"d", "1"}}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, err := DecodeKVTable([]byte(`{"table":5}`)); err == nil {
		t.Error("a number in place of a table was read")
	}
}

// What the Java code of 5.5.0 makes of the body of 322.
func TestDataVersion(t *testing.T) {
	for in, want := range map[string]DataVersion{
		`{"counter":1,"stateVersion":2,"timestamp":1600000000000}`:       {StateVersion: 2, Timestamp: 1600000000000, Counter: 1},
		`{"counter":"1","stateVersion":"2","timestamp":"1600000000000"}`: {StateVersion: 2, Timestamp: 1600000000000, Counter: 1},
		`{"counter":1.5,"timestamp":1}`:                                  {Timestamp: 1, Counter: 1},
		`{}`:                                                             {Timestamp: testNow},
		`{"counter":null,"timestamp":null}`:                              {},
		`{"counter":9223372036854775807,"timestamp":1e30}`:               {Timestamp: 1<<63 - 1, Counter: 1<<63 - 1},
		` {"counter":true,"x":{},} `:                                     {Timestamp: testNow, Counter: 1},
	} {
		got, ok, err := DecodeDataVersion([]byte(in), testNow)
		if got != want || !ok || err != nil {
			t.Errorf("%s: got %+v, %v, %v; want %+v", in, got, ok, err, want)
		}
	}
	for _, in := range []string{``, `null`, `""`} {
		if got, ok, err := DecodeDataVersion([]byte(in), testNow); ok || err != nil {
			t.Errorf("%q: got %+v, %v, %v; want none", in, got, ok, err)
		}
	}
	for _, in := range []string{`text`, `[]`, `{`, `123`, `"x"`, `true`, `{"counter":"x"}`, `{"counter":{}}`, `{"counter":[]}`, `{"timestamp":99999999999999999999}`} {
		_, ok, err := DecodeDataVersion([]byte(in), testNow)
		if be, is := errors.AsType[*BodyError](err); ok || !is || be.Body != "data version" {
			t.Errorf("%s: %v, %v; want a *BodyError", in, ok, err)
		}
	}
	if got := string(DataVersion{StateVersion: 1, Timestamp: 2, Counter: -3}.AppendJSON(nil)); got != `{"counter":-3,"stateVersion":1,"timestamp":2}` {
		t.Errorf("written %s", got)
	}
}

// Every string that a body or a header can hold is written as Java 5.5.0 writes it.
func TestAppendString(t *testing.T) {
	for in, want := range map[string]string{
		"":                            `""`,
		"plain-1.2:3/%RETRY%<>&'中😀":   `"plain-1.2:3/%RETRY%<>&'中😀"`,
		"\"\\":                        `"\"\\"`,
		"\b\t\n\f\r":                  `"\b\t\n\f\r"`,
		"\x00\x01\v\x1f\x7f":          `"\u0000\u0001\u000b\u001f` + "\x7f" + `"`,
		"\u0080\u2028\u2029":          "\"\u0080\u2028\u2029\"",
		"a\xffb\xe4\xb8c\xed\xa0\x80": "\"a\uFFFDb\uFFFD\uFFFDc\uFFFD\uFFFD\uFFFD\"",
		"\uFFFD":                      "\"\uFFFD\"",
	} {
		if got := string(AppendString(nil, in)); got != want {
			t.Errorf("%q: got %s, want %s", in, got, want)
		}
	}
}

func TestCompareText(t *testing.T) {
	// In the order of Java's String.compareTo.
	order := []string{"", "0", "10", "9", "A", "a", "ab", "b", "é", "中", "\uD7FF", "😀", "😀a", "\U0010FFFF", "\uE000", "\uFB01", "\uFFFF"}
	for i, a := range order {
		for j, b := range order {
			got, want := compareText(a, b), i-j
			if (got < 0) != (want < 0) || (got > 0) != (want > 0) {
				t.Errorf("%q and %q: %d", a, b, got)
			}
		}
	}
}
