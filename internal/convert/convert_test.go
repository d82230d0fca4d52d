package convert

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"fingerpost/api"
	"fingerpost/registry"
)

func TestMatch(t *testing.T) {
	for _, x := range []struct {
		pattern, name string
		want          bool
	}{
		{"", "", true},
		{"", "a", false},
		{"*", "", true},
		{"*", "abc", true},
		{"a*", "abc", true},
		{"a*", "bac", false},
		{"*c", "abc", true},
		{"*c", "abcd", false},
		{"a*c", "abbc", true},
		{"a*b*c", "a-b-b-c", true},
		{"a*b*c", "a-c-b", false},
		{"?", "a", true},
		{"?", "", false},
		{"??", "a", false},
		{"?", "中", true},
		{"a?c", "a中c", true},
		{"a\\*", "a*", false},
		{"%RETRY%*", "%RETRY%g", true},
		{"[ab]", "a", false},
		{"[ab]", "[ab]", true},
		{"**", "x", true},
		{"a**", "a", true},
	} {
		if got := Match(x.pattern, x.name); got != x.want {
			t.Errorf("%q %q: %v", x.pattern, x.name, got)
		}
	}
	// It is no way to keep a server busy.
	if Match(strings.Repeat("*a", 200)+"b", strings.Repeat("a", 2000)) {
		t.Error("matched")
	}
}

// obvious is Match as one would write it without a thought for its time.
func obvious(p, n []rune) bool {
	switch {
	case len(p) == 0:
		return len(n) == 0
	case p[0] == '*':
		return obvious(p[1:], n) || len(n) > 0 && obvious(p, n[1:])
	case len(n) == 0:
		return false
	}
	return (p[0] == '?' || p[0] == n[0]) && obvious(p[1:], n[1:])
}

func TestMatchIsTheObviousOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.StringOfN(rapid.SampledFrom([]rune("ab*?中")), 0, 8, -1).Draw(t, "pattern")
		n := rapid.StringOfN(rapid.SampledFrom([]rune("ab中")), 0, 8, -1).Draw(t, "name")
		if Match(p, n) != obvious([]rune(p), []rune(n)) {
			t.Fatalf("%q %q: %v", p, n, Match(p, n))
		}
	})
}

func server(t testing.TB) *registry.Registry {
	t.Helper()
	rules := registry.DefaultRules()
	rules.OrderMessageEnable = true
	r := registry.New(registry.Options{Rules: &rules, KV: registry.KV{registry.OrderNamespace: {"T": "a:4;\"b\":1"}}})
	s := r.Snapshot()
	st := s.NewStatement("C\"1", "h:1")
	for _, n := range []string{"T", "中\t文\x01", "%RETRY%g"} {
		st.Add(n, registry.TopicConfig{QueueSpec: registry.QueueSpec{ReadQueues: 4, WriteQueues: 8, Perm: 6}, Attributes: registry.FormatAttributes(map[string]string{"+message.type": "fifo"})})
	}
	for id := range int64(2) {
		reg := registry.Registration{MemberInfo: registry.MemberInfo{Cluster: "C\"1", Name: "b\\a", ID: id, Addr: fmt.Sprint("h:", id+1), Timeout: time.Minute, Zone: "z", HasZone: true}}
		reg.Filters, reg.HasFilters = []string{"f:1", "f:2"}, true
		if id == 0 {
			reg.Topics = st
			reg.Mappings = []*registry.Mapping{{Topic: "T", Said: "T", Broker: "b\\a", TotalQueues: 8, Epoch: math.MaxInt64, Scope: "__global__", HasScope: true, CurrIDs: []registry.QueueID{{Logical: 1, Physical: 0}, {Logical: 10, Physical: 3}}}}
		}
		if _, err := r.Register(reg, nil, registry.Cause{Face: "remoting", Action: "registerBroker", Actor: "h"}); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

func view(r *registry.Registry) *View {
	return &View{Snapshot: r.Snapshot(), Now: time.Now(), VersionName: func(n int) string { return fmt.Sprint("V", n) }}
}

// The bytes of a route are the JSON of the value that lists carry.
func TestRouteBytesAreItsValue(t *testing.T) {
	s := server(t).Snapshot()
	for _, name := range s.TopicNames() {
		rt := s.RouteOf(s.Topic(name))
		var got api.TopicRoute
		raw := AppendRoute(nil, rt)
		if err := json.Unmarshal(raw, &got); err != nil {
			t.Fatalf("%v in %s", err, raw)
		}
		if d := cmp.Diff(Route(rt), got); d != "" {
			t.Errorf("%s: %s", raw, d)
		}
	}
	raw := string(AppendRoute(nil, s.RouteOf(s.Topic("T"))))
	const want = `{"brokerDatas":[{"brokerAddrs":{"0":"h:1","1":"h:2"},"brokerName":"b\\a","cluster":"C\"1","enableActingMaster":false,"zoneName":"z"}],` +
		`"filterServerTable":{"h:1":["f:1","f:2"],"h:2":["f:1","f:2"]},"orderTopicConf":"a:4;\"b\":1","queueDatas":[{"brokerName":"b\\a","perm":6,"readQueueNums":4,"topicSysFlag":0,"writeQueueNums":8}],` +
		`"topicQueueMappingByBroker":{"b\\a":{"bname":"b\\a","currIdMap":{"1":0,"10":3},"dirty":false,"epoch":"9223372036854775807","scope":"__global__","topic":"T","totalQueues":8}}}`
	if raw != want {
		t.Errorf("got  %s\nwant %s", raw, want)
	}
}

func TestTextsAreJavas(t *testing.T) {
	for s, want := range map[string]string{
		"a": `"a"`, "\"\\/": `"\"\\/"`, "\b\t\n\f\r\x00\x1f\x7f": `"\b\t\n\f\r\u0000\u001f` + "\x7f" + `"`, "中😀": `"中😀"`, "a\xffb": "\"a\ufffdb\"", "<&>": `"<&>"`,
	} {
		if got := string(appendText(nil, s)); got != want {
			t.Errorf("%q: %s", s, got)
		}
	}
	if compareUTF16("\U00010000", "\uE000") >= 0 || compareUTF16("a", "ab") >= 0 || compareUTF16("a", "a") != 0 || compareUTF16("b", "a") <= 0 {
		t.Error("the order is not Java's")
	}
}

func TestTypesOfTopics(t *testing.T) {
	v := view(server(t))
	for name, want := range map[string]string{
		"Orders": TypeNormal, "%RETRY%g": TypeRetry, "%DLQ%g": TypeDLQ, "%LMQ%x": TypeLMQ, "TBW102": TypeSystem, "rmq_sys_SYNC_BROKER_MEMBER_b": TypeSystem,
		"b\\a": TypeSystem, "C\"1": TypeSystem, "DefaultCluster_REPLY_TOPIC": TypeReply, "RMQ_SYS_TRACE_TOPIC": TypeSystem, "retry": TypeNormal,
	} {
		if got := v.TopicType(name); got != want {
			t.Errorf("%s is %s", name, got)
		}
	}
	if got := v.MessageType(v.Snapshot.Topic("T")); got != "FIFO" {
		t.Errorf("the message type is %s", got)
	}
	for perm, want := range map[int32]string{0: "---", 1: "--X", 2: "-W-", 4: "R--", 6: "RW-", 7: "RWX", 15: "RWX"} {
		if got := PermText(perm); got != want {
			t.Errorf("%d is %s", perm, got)
		}
	}
}

// kindsOf says in short what passes a filter.
func kindsOf(v *View, c *registry.Change, f *Filter) string {
	var out []string
	for x := range v.Changes(c, f) {
		out = append(out, x.Kind+x.BrokerName+x.Topic)
	}
	return strings.Join(out, " ")
}

func TestFilters(t *testing.T) {
	r := server(t)
	v := view(r)
	changes, _ := r.History()
	first := changes[0]
	for _, x := range []struct {
		f    *Filter
		want string
	}{
		{nil, "cluster memberb\\a topicb\\aT topicb\\a中\t文\x01 topicb\\a%RETRY%g topicb\\aT"},
		{&Filter{Kinds: []string{"cluster", "kv"}}, "cluster"},
		{&Filter{Topics: []string{"T"}}, "memberb\\a topicb\\aT topicb\\aT"},
		{&Filter{Topics: []string{"%RETRY%*"}, Kinds: []string{"topic"}}, "topicb\\a%RETRY%g"},
		{&Filter{Topics: []string{"nope*"}}, ""},
		{&Filter{Brokers: []string{"b*"}, Kinds: []string{"member"}}, "memberb\\a"},
		{&Filter{Brokers: []string{"x"}}, ""},
		{&Filter{Clusters: []string{"C*"}, Kinds: []string{"cluster", "member"}}, "cluster memberb\\a"},
		{&Filter{Clusters: []string{"x"}}, ""},
	} {
		if got := kindsOf(v, first, x.f); got != x.want {
			t.Errorf("%+v: %s, want %s", x.f, got, x.want)
		}
		if v.Passes(first, x.f) != (x.want != "") {
			t.Errorf("%+v: passes %v", x.f, v.Passes(first, x.f))
		}
	}
	set, ok := v.ChangeSet(first, &Filter{Kinds: []string{"topic"}}, 2)
	if !ok || !set.Truncated || len(set.Changes) != 2 || set.Counts["topic"] != 4 || set.Cause.RequestID != nil {
		t.Errorf("got %+v", set)
	}
}

// A broker's topics go with it: who watches one of them hears of that, although the
// broker serves nothing any more.
func TestTheEndOfABrokerPassesItsTopics(t *testing.T) {
	r := server(t)
	for id := range int64(2) {
		if _, err := r.Unregister("C\"1", "b\\a", fmt.Sprint("h:", id+1), id, registry.Cause{}); err != nil {
			t.Fatal(err)
		}
	}
	changes, _ := r.History()
	last := changes[len(changes)-1]
	if got := kindsOf(view(r), last, &Filter{Topics: []string{"T"}}); got != "topicb\\aT" {
		t.Errorf("got %s", got)
	}
}

// Applying the changes that follow to the present state that came first gives what a
// fresh look gives: a watcher that keeps what it hears is right.
func TestPresentAndChangesAgree(t *testing.T) {
	r := server(t)
	state := make(map[string]api.Change)
	apply := func(c api.Change) {
		if c.Kind != api.KindTopic {
			return
		}
		k := c.Topic + "\x00" + c.BrokerName
		if c.Op == "deleted" {
			delete(state, k)
			return
		}
		old := state[k]
		merged := make(map[string]any)
		maps.Copy(merged, old.After)
		maps.Copy(merged, c.After)
		c.Op, c.Before, c.After, c.Mapping = "created", nil, merged, false
		state[k] = c
	}
	for c := range view(r).Present(nil) {
		apply(c)
	}
	_, sub := r.Subscribe(100)
	defer sub.Close()
	r.WipeWritePerm("b\\a", registry.Cause{})
	r.DeleteTopic("T", "", registry.Cause{})
	if _, err := r.DeclareTopic("New", []registry.QueueData{{Broker: "b\\a", QueueSpec: registry.QueueSpec{ReadQueues: 1, WriteQueues: 1, Perm: 6}}}, registry.Cause{}); err != nil {
		t.Fatal(err)
	}
	r.RestoreWritePerm("b\\a", registry.Cause{})
	for range 4 {
		for c := range view(r).Changes(<-sub.C, nil) {
			apply(c)
		}
	}
	want := make(map[string]api.Change)
	for c := range view(r).Present(&Filter{Kinds: []string{api.KindTopic}}) {
		want[c.Topic+"\x00"+c.BrokerName] = c
	}
	if d := cmp.Diff(want, state); d != "" {
		t.Error(d)
	}
}

func TestMembers(t *testing.T) {
	r := server(t)
	v := view(r)
	g := v.Group("b\\a")
	set := v.BrokerSet(g)
	if !set.HasMaster || len(set.Members) != 2 || set.Members[1].Role != "slave" || len(set.Problems) != 0 || *set.ZoneName != "z" || set.TopicCount != 3 {
		t.Errorf("got %+v", set)
	}
	v.Now = v.Now.Add(45 * time.Second)
	if m := v.Member(g, g.Members[0]); m.State != StateLate || m.LeftMillis > 15_000 || m.LeftMillis < 13_000 || !slices.Equal(m.FilterServerList, []string{"f:1", "f:2"}) {
		t.Errorf("got %+v", m)
	}
	if got := v.GroupProblems(g); !slices.Equal(got, []string{ProblemLate}) {
		t.Errorf("problems %v", got)
	}
	v.Now = v.Now.Add(time.Hour)
	if m := v.Member(g, g.Members[0]); m.LeftMillis != 0 {
		t.Errorf("left %d", m.LeftMillis)
	}
	c := v.Cluster("C\"1", v.Clusters()["C\"1"])
	if c.MasterCount != 1 || c.MemberCount != 2 || c.TopicCount != 3 || c.Health != "degraded" || len(c.Problems) != 1 {
		t.Errorf("got %+v", c)
	}
}

func FuzzMatch(f *testing.F) {
	f.Add("a*b?", "axxbc")
	f.Fuzz(func(t *testing.T, pattern, name string) {
		if len(pattern) < 200 && len(name) < 2000 {
			_ = Match(pattern, name) // neither panics nor takes long
		}
		if !strings.ContainsAny(pattern, "*?") && Match(pattern, pattern) != true {
			t.Errorf("%q does not match itself", pattern)
		}
	})
}

func TestUnconfirmed(t *testing.T) {
	r := registry.New(registry.Options{})
	if err := r.Restore(server(t).Snapshot().Image(), 0, registry.Cause{}); err != nil {
		t.Fatal(err)
	}
	v := view(r)
	g := v.Group("b\\a")
	if m := v.Member(g, g.Members[0]); !m.Unconfirmed {
		t.Errorf("got %+v", m)
	}
	if got := v.GroupProblems(g); !slices.Equal(got, []string{ProblemUnconfirmed}) {
		t.Errorf("problems %v", got)
	}
	parts := 0
	for topic := range v.BrokerTopics(g.Name) {
		for _, p := range v.TopicParts(topic) {
			if parts++; !p.Unconfirmed {
				t.Errorf("got %+v", p)
			}
		}
	}
	if parts == 0 {
		t.Error("no parts")
	}
}
