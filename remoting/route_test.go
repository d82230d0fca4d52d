package remoting_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fingerpost/internal/nstest"
	"fingerpost/registry"
	"fingerpost/remoting/wire"
)

// route asks for a topic and returns the body.
func route(tb testing.TB, c *nstest.Client, topic string, more ...string) string {
	tb.Helper()
	return string(succeed(tb, c, wire.GetRouteInfoByTopic, append(fields("topic", topic), fields(more...)...), nil).Body)
}

// addresses returns the address table of the first broker in a route, and the first perm.
func addresses(tb testing.TB, body string) (addrs, perm string) {
	tb.Helper()
	_, rest, ok := strings.Cut(body, `"brokerAddrs":`)
	addrs, _, ok2 := strings.Cut(rest, "}")
	_, rest, ok3 := strings.Cut(body, `"perm":`)
	perm, _, ok4 := strings.Cut(rest, ",")
	if !ok || !ok2 || !ok3 || !ok4 {
		tb.Fatalf("no route: %s", body)
	}
	return addrs + "}", perm
}

// The dialect is chosen by version or by field, never by language.
func TestDialects(t *testing.T) {
	b := startPipes(t)
	broker{cluster: "c", name: "b", addr: "a:1", topics: topics("T", "U"), counter: 1}.register(t, b.client(wire.JSONHeader))
	const bare, quoted = `{0:"a:1"}`, `{"0":"a:1"}`
	for _, h := range []wire.HeaderType{wire.JSONHeader, wire.BinaryHeader} {
		c := b.client(h)
		for range 2 { // the first request of a connection and those after it go different ways
			for _, tt := range []struct {
				version  wire.Version
				language wire.Language
				field    []string
				want     string
			}{
				{317, 9, nil, bare},
				{317, 9, []string{"acceptStandardJsonOnly", "true"}, quoted},
				{317, 0, []string{"acceptStandardJsonOnly", "TRUE"}, quoted},
				{317, 0, []string{"acceptStandardJsonOnly", "1"}, bare},
				{-1, 0, nil, bare},
				{0, 0, nil, bare},
				{400, 0, nil, bare},
				{401, 0, nil, quoted},
				{401, 9, nil, quoted},
				{9999, 77, nil, quoted},
			} {
				c.Version, c.Language = tt.version, tt.language
				if got, _ := addresses(t, route(t, c, "T", tt.field...)); got != tt.want {
					t.Errorf("%v header, version %d, language %d, %v: %s, want %s", h, tt.version, tt.language, tt.field, got, tt.want)
				}
			}
		}
		c.Version = wire.V5_5_0
		for _, code := range []wire.RequestCode{wire.GetBrokerClusterInfo, wire.GetBrokerMemberGroup} {
			resp := succeed(t, c, code, fields("brokerName", "b", "acceptStandardJsonOnly", "true"), nil)
			if !strings.Contains(string(resp.Body), bare) {
				t.Errorf("%v: %s, want bare keys", code, resp.Body)
			}
		}
	}
}

// A topic's name may be any text. What is answered to an unknown one is the same on the
// short and on the long way.
func TestTopicNames(t *testing.T) {
	b := startPipes(t)
	names := []string{
		"T", "%RETRY%g", "%DLQ%g", "ns%T", "a b", `quo"te`, `back\slash`, "tab\there", "nul\x00", "中文", "\x7f", "\u2028", "😀",
		strings.Repeat("long", 2000),
	}
	for _, h := range []wire.HeaderType{wire.JSONHeader, wire.BinaryHeader} {
		c := b.client(h)
		for range 2 {
			for _, n := range names {
				resp := call(t, c, wire.GetRouteInfoByTopic, fields("topic", n), nil)
				want := "No topic route info in name server for the topic: " + n +
					"\nSee https://rocketmq.apache.org/docs/bestPractice/06FAQ for further details."
				if resp.Code != 17 || resp.Remark != want || resp.HasExt || resp.Body != nil {
					t.Errorf("topic %q: %s", n, said(resp))
				}
			}
		}
	}
	broker{cluster: "c", name: "b", addr: "a:1", topics: topics(names...), counter: 1}.register(t, b.client(wire.JSONHeader))
	c := b.client(wire.JSONHeader)
	for _, n := range names {
		if got, _ := addresses(t, route(t, c, n)); got != `{"0":"a:1"}` {
			t.Errorf("topic %q: %s", n, got)
		}
	}
}

// While the server warms up routes are refused, and nothing else is.
func TestWarmUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := startPipes(t, withRules(func(r *registry.Rules) {
			r.NeedWaitForService, r.WaitForService = true, 3*time.Second
		}))
		c := b.client(wire.JSONHeader)
		r := broker{cluster: "c", name: "b", addr: "a:1", topics: topics("T", "U"), counter: 1}
		r.register(t, c)
		for range 2 {
			for _, topic := range []string{"T", "none"} {
				if got := said(call(t, c, wire.GetRouteInfoByTopic, fields("topic", topic), nil)); got != `1 "name server not ready"` {
					t.Errorf("topic %s during the wait: %s", topic, got)
				}
			}
			succeed(t, c, wire.GetAllTopicListFromNamesrv, nil, nil)
			succeed(t, c, wire.BrokerHeartbeat, r.identity(), nil)
			time.Sleep(1400 * time.Millisecond)
		}
		time.Sleep(200*time.Millisecond + 1)
		route(t, c, "T")
		if resp := call(t, c, wire.GetRouteInfoByTopic, fields("topic", "none"), nil); resp.Code != 17 {
			t.Errorf("an unknown topic after the wait: %s", said(resp))
		}
	})
}

const syncTopic = "rmq_sys_SYNC_BROKER_MEMBER_b"

// The smallest slave stands for a missing master, only where that is wanted: in 105,
// under the setting, in a group that allows it, for what nobody may write.
func TestActingMaster(t *testing.T) {
	type group struct {
		acting wire.Bool
		perm   int32
	}
	tests := []struct {
		name    string
		setting bool
		group   group
		topic   string
		want    string
	}{
		{"acts", true, group{wire.BoolOf(true), 4}, "T", `{"0":"s1:1","2":"s2:1"}`},
		{"setting off", false, group{wire.BoolOf(true), 4}, "T", `{"1":"s1:1","2":"s2:1"}`},
		{"group does not allow it", true, group{wire.BoolOf(false), 4}, "T", `{"1":"s1:1","2":"s2:1"}`},
		{"the sync topic shows true ids", true, group{wire.BoolOf(true), 4}, syncTopic, `{"1":"s1:1","2":"s2:1"}`},
		{"registered writable and taken away", true, group{wire.BoolOf(true), 6}, "T", `{"0":"s1:1","2":"s2:1"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := startPipes(t, withRules(func(r *registry.Rules) { r.SupportActingMaster = tt.setting }))
			c := b.client(wire.JSONHeader)
			member := broker{cluster: "c", name: "b", acting: tt.group.acting, counter: 1}
			member.topics = []wire.TopicConfig{topic("T", 4, tt.group.perm), topic(syncTopic, 1, 1)}
			for i, addr := range []string{"s1:1", "s2:1"} {
				member.id, member.addr = int64(i+1), addr
				member.register(t, c)
			}
			if got, _ := addresses(t, route(t, c, tt.topic)); got != tt.want {
				t.Errorf("route %s, want %s", got, tt.want)
			}
			for _, code := range []wire.RequestCode{wire.GetBrokerClusterInfo, wire.GetBrokerMemberGroup} {
				resp := succeed(t, c, code, fields("clusterName", "c", "brokerName", "b"), nil)
				if !strings.Contains(string(resp.Body), `{1:"s1:1",2:"s2:1"}`) {
					t.Errorf("%v shows other ids: %s", code, resp.Body)
				}
			}
			// With the master it is over, and the perm is the master's.
			member.id, member.addr = 0, "m:1"
			member.register(t, c)
			if got, perm := addresses(t, route(t, c, "T")); got != `{"0":"m:1","1":"s1:1","2":"s2:1"}` || perm != string('0'+tt.group.perm) {
				t.Errorf("with the master: %s perm %s", got, perm)
			}
			// When it leaves, what it served can only be read.
			succeed(t, c, wire.UnregisterBroker, fields("clusterName", "c", "brokerName", "b", "brokerAddr", "m:1", "brokerId", "0"), nil)
			want := `{"1":"s1:1","2":"s2:1"}`
			if tt.setting && tt.group.acting.Value {
				want = `{"0":"s1:1","2":"s2:1"}`
			}
			if got, perm := addresses(t, route(t, c, "T")); got != want || tt.group.acting.Value && perm != "4" {
				t.Errorf("after the master: %s perm %s, want %s", got, perm, want)
			}
		})
	}
	t.Run("a slave of 4.x never acts and is no crash", func(t *testing.T) {
		b := startPipes(t, withRules(func(r *registry.Rules) { r.SupportActingMaster = true }))
		c := b.client(wire.JSONHeader)
		old := broker{cluster: "c", name: "b", addr: "m:1", topics: topics("T", "U"), counter: 1}
		old.register(t, c)
		slave := broker{cluster: "c", name: "b", id: 1, addr: "s1:1", counter: 1}
		slave.register(t, c)
		succeed(t, c, wire.UnregisterBroker, fields("clusterName", "c", "brokerName", "b", "brokerAddr", "m:1", "brokerId", "0"), nil)
		if got, perm := addresses(t, route(t, c, "T")); got != `{"1":"s1:1"}` || perm != "6" {
			t.Errorf("route %s perm %s", got, perm)
		}
	})
	t.Run("negative ids never act", func(t *testing.T) {
		b := startPipes(t, withRules(func(r *registry.Rules) { r.SupportActingMaster = true }))
		c := b.client(wire.JSONHeader)
		member := broker{cluster: "c", name: "b", acting: wire.BoolOf(true), counter: 1, topics: []wire.TopicConfig{topic("T", 4, 4), topic("U", 4, 4)}}
		member.id, member.addr = 3, "s3:1"
		member.register(t, c)
		member.id, member.addr = -1, "n:1"
		member.register(t, c)
		if got, _ := addresses(t, route(t, c, "T")); got != `{"-1":"n:1","0":"s3:1"}` {
			t.Errorf("route %s", got)
		}
	})
}

// Groups of the zone and those without a master, in the caller's own dialect.
func TestZones(t *testing.T) {
	b := startPipes(t)
	c := b.client(wire.JSONHeader)
	for _, r := range []broker{
		{name: "a", zone: "bj", addr: "a0:1"},
		{name: "b", zone: "sh", addr: "b0:1"},
		{name: "c", zone: "sh", addr: "c1:1", id: 1, acting: wire.BoolOf(false)},
		{name: "d", addr: "d0:1"},
	} {
		r.cluster, r.counter, r.topics, r.filters = "x", 1, topics("T", "U"), []string{"f-" + r.name}
		r.register(t, c)
	}
	names := func(body string) (brokers, queues, filters string) {
		rt, err := wire.DecodeRoute([]byte(body))
		if err != nil {
			t.Fatalf("%v: %s", err, body)
		}
		for _, x := range rt.Brokers {
			brokers += x.Name
		}
		for _, x := range rt.Queues {
			queues += x.Broker
		}
		for _, x := range rt.FilterServers {
			filters += x.Addr[:1]
		}
		return
	}
	for _, tt := range []struct {
		mode, zone string
		want       string
	}{
		{"true", "BJ", "ac"},
		{"TRUE", "sh", "bc"},
		{"true", "nowhere", "c"},
		{"true", " bj", "c"},
		{"true", "", "abcd"},
		{"true", "  ", "abcd"},
		{"1", "bj", "abcd"},
		{"false", "bj", "abcd"},
		{"", "bj", "abcd"},
	} {
		for _, v := range []wire.Version{317, 401} {
			for _, h := range []wire.HeaderType{wire.JSONHeader, wire.BinaryHeader} {
				client := b.client(h)
				client.Version = v
				for range 2 {
					body := route(t, client, "T", "__ZONE_MODE", tt.mode, "__ZONE_NAME", tt.zone)
					brokers, queues, filters := names(body)
					if brokers != tt.want || queues != tt.want || filters != tt.want {
						t.Errorf("mode %q, zone %q, version %d: brokers %s, queues %s, filters %s, want %s", tt.mode, tt.zone, v, brokers, queues, filters, tt.want)
					}
					if quoted := strings.Contains(body, `{"`+addressKey(tt.want)+`":`); quoted != (v == 401) {
						t.Errorf("mode %q, zone %q, version %d: the dialect is wrong: %s", tt.mode, tt.zone, v, body)
					}
				}
			}
		}
	}
	if resp := call(t, c, wire.GetRouteInfoByTopic, fields("topic", "none", "__ZONE_MODE", "true", "__ZONE_NAME", "bj"), nil); resp.Code != 17 {
		t.Errorf("an unknown topic with a zone: %s", said(resp))
	}
	// The zone is that of the last registration; with none it is gone.
	broker{cluster: "x", name: "a", addr: "a0:1", counter: 1, topics: topics("T", "U")}.register(t, c)
	if brokers, _, _ := names(route(t, c, "T", "__ZONE_MODE", "true", "__ZONE_NAME", "bj")); brokers != "c" {
		t.Errorf("after a registration without a zone: %s", brokers)
	}
}

// addressKey is the id that the first broker of those names has in TestZones.
func addressKey(names string) string {
	if strings.HasPrefix(names, "c") {
		return "1"
	}
	return "0"
}

// Order configuration goes with a route if that is set, and to every broker that registers.
func TestOrderTopics(t *testing.T) {
	b := startPipes(t)
	c := b.client(wire.JSONHeader)
	r := broker{cluster: "c", name: "b", addr: "a:1", topics: topics("T", "U"), counter: 1}
	if resp := r.register(t, c); resp.Body != nil {
		t.Errorf("without the namespace a registration is answered with %s", said(resp))
	}
	set := func(change func(*registry.Rules)) {
		rules := b.reg.Snapshot().Rules()
		change(&rules)
		b.reg.SetRules(rules, nil, registry.Cause{})
	}
	succeed(t, c, wire.PutKVConfig, fields("namespace", registry.OrderNamespace, "key", "T", "value", "b:4"), nil)
	succeed(t, c, wire.PutKVConfig, fields("namespace", registry.OrderNamespace, "key", "A", "value", "b:1;c:2"), nil)
	const table = `{"table":{"A":"b:1;c:2","T":"b:4"}}`
	for range 2 { // once compared, once recognised
		if resp := r.register(t, c); string(resp.Body) != table {
			t.Errorf("a registration is answered with %s", said(resp))
		}
	}
	newer, older := one("b9", "z:1"), one("b9", "z:2")
	newer.state, older.state = 5, 4
	newer.register(t, c)
	if resp := call(t, c, wire.RegisterBroker, older.ext(), older.body()); resp.Code != 0 || string(resp.Body) != table {
		t.Errorf("a registration that lost its place to a newer state is answered with %s", said(resp))
	}
	if body := route(t, c, "T"); strings.Contains(body, "orderTopicConf") {
		t.Errorf("order configuration without its setting: %s", body)
	}
	set(func(r *registry.Rules) { r.OrderMessageEnable = true })
	for _, v := range []wire.Version{317, wire.V5_5_0} {
		c.Version = v
		if body := route(t, c, "T"); !strings.Contains(body, `"filterServerTable":{},"orderTopicConf":"b:4","queueDatas"`) {
			t.Errorf("version %d: no order configuration: %s", v, body)
		}
		if body := route(t, c, "U"); strings.Contains(body, "orderTopicConf") {
			t.Errorf("version %d: order configuration of a topic that has none: %s", v, body)
		}
	}
	succeed(t, c, wire.PutKVConfig, fields("namespace", registry.OrderNamespace, "key", "T", "value", "b:8"), nil)
	if body := route(t, c, "T"); !strings.Contains(body, `"orderTopicConf":"b:8"`) {
		t.Errorf("an old order configuration: %s", body)
	}
	for _, k := range []string{"T", "A"} {
		succeed(t, c, wire.DeleteKVConfig, fields("namespace", registry.OrderNamespace, "key", k), nil)
	}
	if body := route(t, c, "T"); strings.Contains(body, "orderTopicConf") {
		t.Errorf("order configuration that was removed: %s", body)
	}
	if resp := r.register(t, c); string(resp.Body) != `{"table":{}}` {
		t.Errorf("with an empty namespace a registration is answered with %s", said(resp))
	}
	set(func(r *registry.Rules) { r.ReturnOrderTopicConfigToBroker = false })
	if resp := r.register(t, c); resp.Body != nil {
		t.Errorf("with the setting off a registration is answered with %s", said(resp))
	}
}

// The queues of a static topic come and go with the topic and the broker.
func TestStaticTopics(t *testing.T) {
	b := startPipes(t)
	c := b.client(wire.JSONHeader)
	r := broker{cluster: "c", name: "b", addr: "a:1", topics: topics("S", "T"), counter: 1}
	r.mappings = []wire.TopicMapping{{Topic: "S", Broker: "b", TotalQueues: 2, Epoch: 1 << 60, IDs: []wire.QueueID{{Logical: 0, Physical: 7}, {Logical: 10, Physical: 1}}}}
	r.register(t, c)
	const bare = `"topicQueueMappingByBroker":{"b":{"bname":"b","currIdMap":{0:7,10:1},"dirty":false,"epoch":1152921504606846976,"scope":"__global__","topic":"S","totalQueues":2}}}`
	const quoted = `"topicQueueMappingByBroker":{"b":{"bname":"b","currIdMap":{"0":7,"10":1},"dirty":false,"epoch":"1152921504606846976","scope":"__global__","topic":"S","totalQueues":2}}}`
	for v, want := range map[wire.Version]string{317: bare, wire.V5_5_0: quoted} {
		c.Version = v
		if body := route(t, c, "S"); !strings.HasSuffix(body, want) {
			t.Errorf("version %d: %s\nwant at its end %s", v, body, want)
		}
		if body := route(t, c, "T"); strings.Contains(body, "topicQueueMappingByBroker") {
			t.Errorf("version %d: an ordinary topic has a mapping: %s", v, body)
		}
	}
	c.Version = wire.V5_5_0
	succeed(t, c, wire.DeleteTopicInNamesrv, fields("topic", "S"), nil)
	r.mappings = nil
	r.register(t, c) // brings the topic back, as it may
	if body := route(t, c, "S"); strings.Contains(body, "topicQueueMappingByBroker") {
		t.Errorf("a mapping has outlived its topic: %s", body)
	}
}

// Unit lists go by the flags of a topic's first queue entry.
func TestUnitLists(t *testing.T) {
	b := startPipes(t)
	c := b.client(wire.JSONHeader)
	r := broker{cluster: "c", name: "b", addr: "a:1", counter: 1}
	for flag, name := range []string{"plain", "unit", "sub", "both"} {
		tc := topic(name, 4, 6)
		tc.SysFlag = int32(flag)
		r.topics = append(r.topics, tc)
	}
	r.register(t, c)
	for code, want := range map[wire.RequestCode]string{
		wire.GetUnitTopicList: `["both","unit"]`, wire.GetHasUnitSubTopicList: `["both","sub"]`, wire.GetHasUnitSubUnunitTopicList: `["sub"]`,
	} {
		if got := said(succeed(t, c, code, nil, nil)); got != `0 body {"topicList":`+want+`}` {
			t.Errorf("%v: %s, want %s", code, got, want)
		}
	}
}

// A wipe lasts until the next changed registration, and both switches count every topic.
func TestWritePermission(t *testing.T) {
	b := startPipes(t)
	c := b.client(wire.JSONHeader)
	r := broker{cluster: "c", name: "b", addr: "a:1", counter: 1}
	r.topics = []wire.TopicConfig{topic("rw", 4, 6), topic("r", 4, 4), topic("inherit", 4, 7)}
	r.register(t, c)
	perms := func() (got string) {
		for _, n := range []string{"rw", "r", "inherit"} {
			_, p := addresses(t, route(t, c, n))
			got += p
		}
		return got
	}
	step := func(code wire.RequestCode, answer, want string) {
		t.Helper()
		if got := said(succeed(t, c, code, fields("brokerName", "b"), nil)); got != answer {
			t.Errorf("%v: %s, want %s", code, got, answer)
		}
		if got := perms(); got != want {
			t.Errorf("after %v: perms %s, want %s", code, got, want)
		}
	}
	step(wire.WipeWritePermOfBroker, `0 {wipeTopicCount="3"}`, "445")
	step(wire.WipeWritePermOfBroker, `0 {wipeTopicCount="3"}`, "445")
	r.register(t, c)
	if got := perms(); got != "445" {
		t.Errorf("the same registration again undoes a wipe: %s", got)
	}
	step(wire.AddWritePermOfBroker, `0 {addTopicCount="3"}`, "647")
	step(wire.WipeWritePermOfBroker, `0 {wipeTopicCount="3"}`, "445")
	r.counter++
	r.register(t, c)
	if got := perms(); got != "647" {
		t.Errorf("a changed registration leaves the wipe: %s", got)
	}
}

// Addresses are opaque: what a broker says is what clients get.
func TestAddressesAreOpaque(t *testing.T) {
	b := startPipes(t)
	c := b.client(wire.JSONHeader)
	const addr = "[2001:db8::1]:10911"
	r := broker{cluster: "c", name: "b", addr: addr, topics: topics("T", "U"), counter: 1}
	r.register(t, c)
	if got, _ := addresses(t, route(t, c, "T")); got != `{"0":"`+addr+`"}` {
		t.Errorf("route %s", got)
	}
	if body := succeed(t, c, wire.GetBrokerClusterInfo, nil, nil).Body; !strings.Contains(string(body), `{0:"`+addr+`"}`) {
		t.Errorf("106: %s", body)
	}
	succeed(t, c, wire.UnregisterBroker, append(r.identity(), fields("brokerId", "0")...), nil)
	if resp := call(t, c, wire.GetRouteInfoByTopic, fields("topic", "T"), nil); resp.Code != 17 {
		t.Errorf("after its 104: %s", said(resp))
	}
}
