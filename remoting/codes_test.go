package remoting_test

import (
	"fmt"
	"strings"
	"testing"

	"fingerpost/internal/nstest"
	"fingerpost/registry"
	"fingerpost/remoting"
	"fingerpost/remoting/wire"
)

const (
	noRoute     = `No topic route info in name server for the topic: %s\nSee https://rocketmq.apache.org/docs/bestPractice/06FAQ for further details.`
	routeOfT1   = `{"brokerDatas":[{"brokerAddrs":{"0":"a0:1","1":"a1:1"},"brokerName":"b1","cluster":"c1","enableActingMaster":false},{"brokerAddrs":{"0":"a2:1"},"brokerName":"b2","cluster":"c2","enableActingMaster":false,"zoneName":"z9"}],"filterServerTable":{"a2:1":["f1"]},"queueDatas":[{"brokerName":"b1","perm":6,"readQueueNums":4,"topicSysFlag":0,"writeQueueNums":4},{"brokerName":"b2","perm":6,"readQueueNums":4,"topicSysFlag":0,"writeQueueNums":4}]}`
	clusterInfo = `{"brokerAddrTable":{"b1":{"brokerAddrs":{0:"a0:1",1:"a1:1"},"brokerName":"b1","cluster":"c1","enableActingMaster":false},"b2":{"brokerAddrs":{0:"a2:1"},"brokerName":"b2","cluster":"c2","enableActingMaster":false,"zoneName":"z9"}},"clusterAddrTable":{"c1":["b1"],"c2":["b2"]}}`
)

// codeCases have for each request what is answered in theState and when there is
// nothing: code, remark, fields ({} for a set without any), body.
var codeCases = []struct {
	code    wire.RequestCode
	ext     wire.Fields
	body    string
	want    string
	nothing string // empty if it is the same
}{
	{code: wire.PutKVConfig, ext: fields("namespace", "N1", "key", "K2", "value", "v2"), want: "0"},
	{code: wire.GetKVConfig, ext: fields("namespace", "N1", "key", "K1"), want: `0 {value="v1"}`, nothing: `22 "No config item, Namespace: N1 Key: K1" {}`},
	{code: wire.DeleteKVConfig, ext: fields("namespace", "N1", "key", "K1"), want: "0"},
	{code: wire.GetKVListByNamespace, ext: fields("namespace", "N1"), want: `0 body {"table":{"K1":"v1"}}`, nothing: `22 "No config item, Namespace: N1"`},
	{
		code: wire.RegisterBroker, ext: broker{cluster: "c1", name: "b3", addr: "a3:1", ha: "ha3"}.ext(), body: good103,
		want: "0 {}",
	},
	{ // a slave is told its master
		code: wire.RegisterBroker, ext: broker{cluster: "c1", name: "b1", id: 2, addr: "a3:1", ha: "ha3"}.ext(), body: good103,
		want: `0 {haServerAddr="ha0" masterAddr="a0:1"}`, nothing: "0 {}",
	},
	{code: wire.UnregisterBroker, ext: fields(theBroker...), want: "0"},
	{code: wire.GetRouteInfoByTopic, ext: fields("topic", "T1"), want: "0 body " + routeOfT1, nothing: fmt.Sprintf(`17 "`+noRoute+`"`, "T1")},
	{code: wire.GetBrokerClusterInfo, want: "0 body " + clusterInfo, nothing: `0 body {"brokerAddrTable":{},"clusterAddrTable":{}}`},
	{code: wire.WipeWritePermOfBroker, ext: fields("brokerName", "b1"), want: `0 {wipeTopicCount="2"}`, nothing: `0 {wipeTopicCount="0"}`},
	{code: wire.AddWritePermOfBroker, ext: fields("brokerName", "b1"), want: `0 {addTopicCount="2"}`, nothing: `0 {addTopicCount="0"}`},
	{code: wire.GetAllTopicListFromNamesrv, want: `0 body {"topicList":["T1","T2","T3"]}`, nothing: `0 body {"topicList":[]}`},
	{code: wire.DeleteTopicInNamesrv, ext: fields("topic", "T1"), want: "0"},
	{
		code: wire.RegisterTopicInNamesrv, ext: fields("topic", "T7"),
		body: `{"queueDatas":[{"brokerName":"b1","perm":6,"readQueueNums":2,"topicSysFlag":0,"writeQueueNums":2}]}`, want: "0",
	},
	{code: wire.GetTopicsByCluster, ext: fields("cluster", "c1"), want: `0 body {"topicList":["T1","T2"]}`, nothing: `0 body {"topicList":[]}`},
	{code: wire.GetSystemTopicListFromNS, want: `0 body {"brokerAddr":"a0:1","topicList":["c1","c2","b1","b2"]}`, nothing: `0 body {"topicList":[]}`},
	{code: wire.GetUnitTopicList, want: `0 body {"topicList":[]}`},
	{code: wire.GetHasUnitSubTopicList, want: `0 body {"topicList":[]}`},
	{code: wire.GetHasUnitSubUnunitTopicList, want: `0 body {"topicList":[]}`},
	{code: wire.UpdateNamesrvConfig, body: "productEnvName=x", want: "0"},
	{code: wire.GetNamesrvConfig, want: `0 body listenPort=9876\n`},
	{
		code: wire.QueryDataVersion, ext: fields(theBroker...), body: `{"counter":1,"stateVersion":0,"timestamp":1600000000000}`,
		want: `0 {changed="false"} body {"counter":1,"stateVersion":0,"timestamp":1600000000000}`, nothing: `0 {changed="true"}`,
	},
	{
		code: wire.QueryDataVersion, ext: fields(theBroker...), body: `{"counter":2,"stateVersion":0,"timestamp":1600000000000}`,
		want: `0 {changed="true"} body {"counter":1,"stateVersion":0,"timestamp":1600000000000}`, nothing: `0 {changed="true"}`,
	},
	{
		code: wire.GetBrokerMemberGroup, ext: fields("clusterName", "any", "brokerName", "b1"),
		want:    `0 "not set any response code" body {"brokerMemberGroup":{"brokerAddrs":{0:"a0:1",1:"a1:1"},"brokerName":"b1","cluster":"any"}}`,
		nothing: `0 "not set any response code" body {"brokerMemberGroup":{"brokerAddrs":{},"brokerName":"b1","cluster":"any"}}`,
	},
	{code: wire.BrokerHeartbeat, ext: fields(theBroker...), want: "0"},
	{code: 36, want: `3 " request type 36 not supported"`},
	{code: wire.NotifyMinBrokerIDChange, want: `3 " request type 905 not supported"`},
	{code: -1, want: `3 " request type -1 not supported"`},
}

// Each request in both forms, to servers that answer in both forms.
func TestAnswers(t *testing.T) {
	for _, asks := range []wire.HeaderType{wire.JSONHeader, wire.BinaryHeader} {
		for _, answers := range []wire.HeaderType{wire.JSONHeader, wire.BinaryHeader} {
			t.Run(fmt.Sprint(asks, " asks, ", answers, " answers"), func(t *testing.T) {
				for _, c := range codeCases {
					for _, state := range []bool{true, false} {
						b := startPipes(t, with(func(s *remoting.Server) { s.HeaderType = answers }))
						want := c.want
						if state {
							defer b.prepare(t, badCase{name: "the state"})()
						} else if c.nothing != "" {
							want = c.nothing
						}
						if answers == wire.BinaryHeader {
							want = strings.Replace(want, " {}", "", 1) // cannot be said
						}
						client := b.client(asks)
						var body []byte
						if c.body != "" {
							body = []byte(c.body)
						}
						for _, opaque := range []int32{7, -7} { // again, on a connection that has been used
							req := &wire.Command{Code: int32(c.code), Version: wire.V5_5_0, Opaque: opaque, Ext: c.ext, HasExt: true, Body: body}
							if err := client.Send(req); err != nil {
								t.Fatal(err)
							}
							resp, err := client.Receive()
							if err != nil {
								t.Fatalf("%v: %v", c.code, err)
							}
							checkAnswer(t, c.code.String(), resp, opaque)
							if opaque > 0 && said(resp) != want {
								t.Errorf("%v, state %v:\ngot  %s\nwant %s", c.code, state, said(resp), want)
							}
						}
					}
				}
			})
		}
	}
}

// Every code that is served is in the table above.
func TestEveryCodeHasACase(t *testing.T) {
	b := startPipes(t)
	have := map[string]bool{}
	for _, c := range codeCases {
		have[c.code.Name()] = true
	}
	for name := range b.srv.Stats.Requests() {
		if !have[name] {
			t.Errorf("no case for %s", name)
		}
	}
}

func TestOnewayIsServedAndNotAnswered(t *testing.T) {
	for _, h := range []wire.HeaderType{wire.JSONHeader, wire.BinaryHeader} {
		b := startPipes(t)
		c := b.client(h)
		r := broker{cluster: "c1", name: "b1", addr: "a:1", topics: topics("T1", "T2"), counter: 1}
		var failing []*wire.Command
		for _, code := range []wire.RequestCode{36, wire.RegisterBroker, wire.GetRouteInfoByTopic, wire.GetAllTopicListFromNamesrv, wire.GetKVConfig} {
			failing = append(failing, &wire.Command{Code: int32(code), Version: wire.V5_5_0, Flag: wire.FlagOneway})
		}
		if err := c.Send(failing...); err != nil {
			t.Fatal(err)
		}
		if err := c.Oneway(wire.RegisterBroker, r.ext(), r.body()); err != nil {
			t.Fatal(err)
		}
		if err := c.Oneway(wire.PutKVConfig, fields("namespace", "n", "key", "k", "value", "v"), nil); err != nil {
			t.Fatal(err)
		}
		// The next answer is that to the next question, and what was oneway has been done.
		succeed(t, c, wire.GetRouteInfoByTopic, fields("topic", "T1"), nil)
		if _, ok := b.reg.Snapshot().KV("n", "k"); !ok {
			t.Error("a oneway request was not served")
		}
	}
}

// Answers of others are dropped: no answer, no effect, no end.
func TestAnswersAreDropped(t *testing.T) {
	b := startPipes(t)
	c := b.client(wire.JSONHeader)
	for _, flag := range []int32{1, 3, -1} {
		answer := &wire.Command{
			Code: int32(wire.PutKVConfig), Version: wire.V5_5_0, Flag: flag, Opaque: 5,
			Ext: fields("namespace", "n", "key", "k", "value", "v"),
		}
		route := &wire.Command{Code: int32(wire.GetRouteInfoByTopic), Version: wire.V5_5_0, Flag: flag, Opaque: 6, Ext: fields("topic", "T")}
		if err := c.Send(answer, route); err != nil {
			t.Fatal(err)
		}
		if resp := call(t, c, 36, nil, nil); resp.Code != int32(wire.RequestCodeNotSupported) {
			t.Errorf("after an answer of flag %d: %s", flag, said(resp))
		}
	}
	if _, ok := b.reg.Snapshot().KV("n", "k"); ok {
		t.Error("what came as an answer was done")
	}
	if n := b.srv.Connections()[0].Requests; n != 3 {
		t.Errorf("%d requests are counted, want the 3 that were some", n)
	}
}

// A header without an opaque gets a running number.
func TestMissingOpaque(t *testing.T) {
	b := startPipes(t)
	c := b.client(wire.JSONHeader)
	seen := map[int32]bool{}
	for range 3 {
		if err := c.Write(rawFrame(0, []byte(`{"code":206,"version":513}`), nil)); err != nil {
			t.Fatal(err)
		}
		resp, err := c.Receive()
		if err != nil {
			t.Fatal(err)
		}
		if resp.Code != 0 || seen[resp.Opaque] {
			t.Errorf("answer %s with opaque %d", said(resp), resp.Opaque)
		}
		seen[resp.Opaque] = true
	}
}

// A server that is about to stop sends away whom it can, and serves the others.
func TestLeaveSendsAwayByVersion(t *testing.T) {
	b := startPipes(t)
	c := b.client(wire.JSONHeader)
	r := broker{cluster: "c1", name: "b1", addr: "a:1", topics: topics("T1", "T2"), counter: 1}
	r.register(t, c)
	before := b.dump()
	succeed(t, c, wire.GetRouteInfoByTopic, fields("topic", "T1"), nil)
	b.srv.Leave()
	for _, client := range []*nstest.Client{c, b.client(wire.JSONHeader), b.client(wire.BinaryHeader)} {
		for _, v := range []wire.Version{477, wire.V5_5_0, wire.HigherVersion, 9999} {
			client.Version = v
			for _, code := range []wire.RequestCode{wire.GetRouteInfoByTopic, wire.UnregisterBroker, wire.GetKVConfig, 36} {
				resp := call(t, client, code, append(fields("topic", "T1"), r.ext()...), nil)
				if said(resp) != `1500 "please go away"` {
					t.Errorf("version %d, %v: %s", v, code, said(resp))
				}
			}
		}
		for _, v := range []wire.Version{-1, 0, 317, wire.V5_3_1 - 1, wire.V5_3_1} {
			client.Version = v
			succeed(t, client, wire.GetRouteInfoByTopic, fields("topic", "T1"), nil)
			if resp := call(t, client, 36, nil, nil); resp.Code != int32(wire.RequestCodeNotSupported) {
				t.Errorf("version %d, an unknown code: %s", v, said(resp))
			}
		}
	}
	if after := b.dump(); after != before {
		t.Errorf("a request that was sent away changed %s", moved(before, after))
	}
}

// What tells of refusals: each kind has its code.
func TestEveryKindOfRefusalHasACode(t *testing.T) {
	for _, k := range registry.Kinds() {
		if _, ok := remoting.Codes[k]; !ok {
			t.Errorf("kind %v has no code", k)
		}
	}
}

// What went wrong inside is logged in full and told to nobody.
func TestInnerErrorsStayInside(t *testing.T) {
	b := startPipes(t)
	b.conf.update = func(string) ([]string, error) { return nil, fmt.Errorf("secret path /etc/x") }
	c := b.client(wire.JSONHeader)
	resp := call(t, c, wire.UpdateNamesrvConfig, nil, []byte("a=b"))
	if resp.Code != 1 || strings.Contains(resp.Remark, "secret") || resp.Remark == "" {
		t.Errorf("answer %s", said(resp))
	}
	b.log.wants(t, "a request failed", "err", "secret path")
}

// A key-value table that cannot be saved is not changed.
func TestUnsavedKV(t *testing.T) {
	reg := registry.New(registry.Options{
		KV:     registry.KV{"n": {"k": "old"}},
		SaveKV: func(registry.KV) error { return fmt.Errorf("disk full at /secret") },
	})
	b := startPipes(t, func(b *bed) { b.reg, b.srv.Registry = reg, reg })
	c := b.client(wire.JSONHeader)
	for _, code := range []wire.RequestCode{wire.PutKVConfig, wire.DeleteKVConfig} {
		resp := call(t, c, code, fields("namespace", "n", "key", "k", "value", "new"), nil)
		if resp.Code != 1 || strings.Contains(resp.Remark, "secret") || !strings.Contains(resp.Remark, "could not be saved") {
			t.Errorf("%v: %s", code, said(resp))
		}
	}
	if got := said(call(t, c, wire.GetKVConfig, fields("namespace", "n", "key", "k"), nil)); got != `0 {value="old"}` {
		t.Errorf("afterwards: %s", got)
	}
}

// A handler that panics costs its request, not the connection.
func TestPanicCostsOneRequest(t *testing.T) {
	b := startPipes(t)
	c := b.client(wire.JSONHeader)
	b.conf.panics = true
	resp := call(t, c, wire.GetNamesrvConfig, nil, nil)
	if resp.Code != 1 || strings.Contains(resp.Remark, wantedPanic) || resp.Body != nil {
		t.Errorf("answer %s", said(resp))
	}
	if err := c.Oneway(wire.GetNamesrvConfig, nil, nil); err != nil {
		t.Fatal(err)
	}
	succeed(t, c, wire.GetBrokerClusterInfo, nil, nil)
	if n := b.srv.Stats.Panics.Load(); n != 2 {
		t.Errorf("%d panics are counted, want 2", n)
	}
	if found := b.log.find("a request ended in a panic"); len(found) != 2 || !strings.Contains(found[0].attrs["stack"], "getConfig") {
		t.Errorf("the log has %d lines without the place of the panic", len(found))
	}
	b.conf.panics = false
	succeed(t, c, wire.GetNamesrvConfig, nil, nil)
}

func TestRequestsAreCounted(t *testing.T) {
	b := startPipes(t)
	c := b.client(wire.JSONHeader)
	for range 3 {
		call(t, c, wire.GetRouteInfoByTopic, fields("topic", "none"), nil)
	}
	call(t, c, 36, nil, nil)
	call(t, c, 37, nil, nil)
	succeed(t, c, wire.GetBrokerClusterInfo, nil, nil)
	got := b.srv.Stats.Requests()
	for name, want := range map[string]uint64{"GET_ROUTEINFO_BY_TOPIC": 3, "UNKNOWN": 2, "GET_BROKER_CLUSTER_INFO": 1, "REGISTER_BROKER": 0} {
		if got[name] != want {
			t.Errorf("%s counts %d, want %d", name, got[name], want)
		}
	}
	if h, m := b.srv.Stats.RouteHits.Load(), b.srv.Stats.RouteMisses.Load(); h != 0 || m != 3 {
		t.Errorf("%d hits and %d misses, want 0 and 3", h, m)
	}
}

// A slave hears the address that its master said it replicates from, also an empty one,
// and nothing if the master said none.
func TestSlaveHearsWhatTheMasterSaid(t *testing.T) {
	for want, ha := range map[string]wire.Text{
		`0 {haServerAddr="ha:1" masterAddr="m:1"}`: wire.TextOf("ha:1"),
		`0 {haServerAddr="" masterAddr="m:1"}`:     wire.TextOf(""),
		`0 {masterAddr="m:1"}`:                     {},
	} {
		c := startPipes(t).client(wire.JSONHeader)
		for id, addr := range []string{"m:1", "s:1"} {
			h := wire.RegisterBrokerHeader{
				Broker: wire.BrokerIdentity{
					Cluster: wire.TextOf("c"), Name: wire.TextOf("b"), Addr: wire.TextOf(addr), ID: wire.IntOf(int64(id)),
				},
				HAServerAddr: ha,
			}
			resp := succeed(t, c, wire.RegisterBroker, h.Fields(), broker{topics: topics("T1", "T2")}.body())
			if id == 1 && said(resp) != want {
				t.Errorf("the master said %+v: %s, want %s", ha, said(resp), want)
			}
		}
	}
}
