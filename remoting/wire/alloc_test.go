package wire

import (
	"fmt"
	"testing"
)

var javaRouteRequest = []byte(`{"code":105,"extFields":{"topic":"TopicA"},"flag":0,"language":"JAVA","opaque":2,"serializeTypeCurrentRPC":"JSON","version":513}`)

// request returns a frame with a route request as a Java client writes it.
func request(tb testing.TB, typ HeaderType) []byte {
	tb.Helper()
	c := Request(GetRouteInfoByTopic, Fields{{FieldTopic, "TopicA"}}, nil)
	frame, err := c.AppendTo(nil, typ)
	if err != nil {
		tb.Fatal(err)
	}
	return frame
}

// bigRegistration returns the body of a broker of 5.x with n topics.
func bigRegistration(n int) *RegisterBody {
	b := &RegisterBody{DataVersion: DataVersion{Timestamp: 1700000000000, Counter: 3}}
	for i := range n {
		t := TopicConfig{Name: fmt.Sprintf("order-service-events-%06d", i), ReadQueues: 8, WriteQueues: 8, Perm: 6}
		if i%4 == 0 {
			t.Attributes = []Field{{"message.type", "FIFO"}}
		}
		b.Topics = append(b.Topics, t)
	}
	return b
}

// interner keeps one copy of each string, as the registry does.
type interner map[string]string

func (in interner) intern(b []byte) string {
	if s, ok := in[string(b)]; ok {
		return s
	}
	s := string(b)
	in[s] = s
	return s
}

// someRoute is a route as most are: a few groups, in order.
var someRoute = Route{
	Brokers: []BrokerData{
		{Name: "broker-a", Cluster: "DefaultCluster", Addrs: []BrokerAddr{{0, "10.0.0.1:10911"}, {1, "10.0.0.2:10911"}}},
		{Name: "broker-b", Cluster: "DefaultCluster", Addrs: []BrokerAddr{{0, "10.0.0.3:10911"}, {1, "10.0.0.4:10911"}}},
		{Name: "broker-c", Cluster: "DefaultCluster", Addrs: []BrokerAddr{{0, "10.0.0.5:10911"}, {1, "10.0.0.6:10911"}}},
	},
	Queues: []QueueData{
		{Broker: "broker-a", ReadQueues: 8, WriteQueues: 8, Perm: 6},
		{Broker: "broker-b", ReadQueues: 8, WriteQueues: 8, Perm: 6},
		{Broker: "broker-c", ReadQueues: 8, WriteQueues: 8, Perm: 6},
	},
}

// What the hot path does must not allocate.
func TestNoAllocations(t *testing.T) {
	jsonRequest, binaryRequest := request(t, JSONHeader), request(t, BinaryHeader)
	out := make([]byte, 0, 1<<16)
	body := someRoute.AppendJSON(nil, Strict)
	registered := bigRegistration(100)
	plain := registered.AppendJSON(nil)
	seen := interner{}
	decoder := RegisterDecoder{Intern: seen.intern, Topic: func(*TopicConfig) {}, Mapping: func(string, *TopicMapping) {}}
	if _, err := decoder.Decode(plain, V5_5_0, false, 0); err != nil { // fills the interner
		t.Fatal(err)
	}

	tests := []struct {
		name string
		most float64
		run  func() bool
	}{
		{"cut and read a JSON request", 0, func() bool {
			f, _, ok, err := SplitFrame(jsonRequest, FrameLimits{})
			var q RouteRequest
			return ok && err == nil && q.ReadRouteRequest(f)
		}},
		{"cut and read a binary request", 0, func() bool {
			f, _, ok, err := SplitFrame(binaryRequest, FrameLimits{})
			var q RouteRequest
			return ok && err == nil && q.ReadRouteRequest(f)
		}},
		{"refuse an unusual request", 0, func() bool {
			var q RouteRequest
			return !q.ReadRouteRequest(Frame{Header: javaRouteRequest[:len(javaRouteRequest)-1]})
		}},
		{"write an answer, JSON", 0, func() bool {
			c := Command{Version: V5_5_0, Opaque: 77, Flag: FlagResponse, Body: body}
			_, err := c.AppendTo(out, JSONHeader)
			return err == nil
		}},
		{"write an answer, binary", 0, func() bool {
			c := Command{Version: V5_5_0, Opaque: 77, Flag: FlagResponse, Body: body}
			_, err := c.AppendTo(out, BinaryHeader)
			return err == nil
		}},
		{"write an answer made by Response", 0, func() bool {
			_, err := Response(Success, 77).AppendTo(out, JSONHeader)
			return err == nil
		}},
		{"write a route in the legacy dialect", 0, func() bool { return len(someRoute.AppendJSON(out, Legacy)) > 0 }},
		{"write a route in the strict dialect", 0, func() bool { return len(someRoute.AppendJSON(out, Strict)) > 0 }},
		{"read a registration of known topics", 4, func() bool {
			_, err := decoder.Decode(plain, V5_5_0, false, 0)
			return err == nil
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ok := true
			if got := testing.AllocsPerRun(100, func() { ok = ok && tt.run() }); got > tt.most {
				t.Errorf("%v allocations, want at most %v", got, tt.most)
			}
			if !ok {
				t.Error("it did not work")
			}
		})
	}
}

// The full decoder copies the header once, whatever is in it.
func TestDecodeAllocations(t *testing.T) {
	for _, typ := range []HeaderType{JSONHeader, BinaryHeader} {
		h := RegisterBrokerHeader{
			Broker:       BrokerIdentity{Cluster: TextOf("DefaultCluster"), Name: TextOf("broker-a"), Addr: TextOf("10.0.0.1:10911"), ID: IntOf(0)},
			HAServerAddr: TextOf("10.0.0.1:10912"), EnableActingMaster: BoolOf(false), BodyCRC: IntOf(1756872259),
		}
		frame, err := Request(RegisterBroker, h.Fields(), nil).AppendTo(nil, typ)
		if err != nil {
			t.Fatal(err)
		}
		f := split(t, frame)
		var c Command
		if got := testing.AllocsPerRun(100, func() {
			if err := c.Decode(f); err != nil {
				t.Error(err)
			}
		}); got > 2 {
			t.Errorf("%s: %v allocations, want at most 2", typ, got)
		}
	}
}
