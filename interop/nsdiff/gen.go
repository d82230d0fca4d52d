package main

import (
	"fmt"
	"math/rand"
)

// The generator keeps a rough model of what is registered, so that most steps hit something: refreshes, id switches,
// takeovers and removals concern brokers that exist. By it the generator also keeps clear of the expected differences,
// since the two sides part over most of them: only now and then (stray) does it step into one.

type mbroker struct {
	cluster, name, addr, conn string
	id                        int
	dv                        DV
	topics                    []TopicSpec
	comp                      bool // its last body was compressed, which loses the topics' flags
}

// mgroup is what the last registration of a broker name said of all of it.
type mgroup struct {
	zone   *string
	acting string
}

type gen struct {
	*rand.Rand
	profile string
	slow    bool // steps that wait for the dead-broker scan are affordable
	live    []*mbroker
	groups  map[string]mgroup
	said    map[string]DV // by cluster and address: the version spoken of last
	plain   bool          // every perm is read and write, so that addWritePerm does the same on both sides
	notify  bool          // pushes are on: bursts would make them a race
	xconn   int
}

// stray says whether to do, for once, what the two sides are expected to differ in.
func (g *gen) stray() bool { return g.chance(0.012) }

type weighted struct {
	w int
	f func(g *gen) *Step
}

// operations are the steps of a profile, each with its weight.
func operations(profile string) []weighted {
	mix := []weighted{
		{26, (*gen).register},
		{8, (*gen).unregister},
		{4, (*gen).closeConn},
		{3, (*gen).heartbeat},
		{4, (*gen).dataVersion},
		{12, (*gen).route},
		{7, (*gen).lists},
		{3, (*gen).topicsOf},
		{3, (*gen).memberGroup},
		{3, (*gen).perm},
		{5, (*gen).delTopic},
		{4, (*gen).regTopic},
		{8, (*gen).kv},
		{2, (*gen).updateConfig},
		{1, (*gen).getConfig},
		{1, (*gen).unknown},
		{2, (*gen).pipeline},
		{2, (*gen).badRequest},
		{2, (*gen).oneway},
		{2, (*gen).burst},
	}
	switch profile {
	case "full":
		return append(append([]weighted{}, mix...), weighted{1, (*gen).rawStep}, weighted{1, (*gen).tls}, weighted{1, (*gen).expire},
			weighted{2, (*gen).badRequest}, weighted{1, (*gen).half}, weighted{2, (*gen).updateConfig})
	case "conflict":
		return []weighted{
			{60, (*gen).register},
			{16, (*gen).unregister},
			{8, (*gen).closeConn},
			{2, (*gen).heartbeat},
			{6, (*gen).dataVersion},
			{6, (*gen).route},
			{3, (*gen).lists},
			{4, (*gen).memberGroup},
			{2, (*gen).oneway},
			{1, (*gen).expire},
			{3, (*gen).burst},
		}
	case "actingmaster":
		return []weighted{
			{48, (*gen).register},
			{18, (*gen).unregister},
			{8, (*gen).closeConn},
			{12, (*gen).route},
			{4, (*gen).perm},
			{3, (*gen).lists},
			{2, (*gen).memberGroup},
			{2, (*gen).toggleConfig},
			{1, (*gen).expire},
			{1, (*gen).oneway},
			{1, (*gen).delTopic},
		}
	case "config":
		return []weighted{
			{40, (*gen).updateConfig},
			{14, (*gen).getConfig},
			{14, (*gen).lists},
			{6, (*gen).topicsOf},
			{8, (*gen).route},
			{10, (*gen).register},
			{4, (*gen).kv},
			{3, (*gen).unregister},
			{4, (*gen).toggleConfig},
		}
	case "malformed":
		return []weighted{
			{34, (*gen).rawStep},
			{20, (*gen).badRequest},
			{6, (*gen).respFlag},
			{6, (*gen).register},
			{3, (*gen).route},
			{2, (*gen).unknown},
			{2, (*gen).half},
			{2, (*gen).tls},
			{3, (*gen).oneway},
			{2, (*gen).pipeline},
			{3, (*gen).rawOnBroker},
			{2, (*gen).lenientBody},
		}
	case "orderkv":
		return []weighted{
			{46, (*gen).kv},
			{16, (*gen).register},
			{16, (*gen).route},
			{3, (*gen).unregister},
			{4, (*gen).toggleConfig},
			{2, (*gen).delTopic},
			{2, (*gen).oneway},
			{2, (*gen).pipeline},
		}
	}
	return mix
}

func pick[T any](g *gen, xs ...T) T { return xs[g.Intn(len(xs))] }

func (g *gen) chance(p float64) bool { return g.Float64() < p }

func (g *gen) cluster() string {
	switch x := g.Intn(100); {
	case x < 62:
		return "c1"
	case x < 86:
		return "c2"
	case x < 97:
		return "c3"
	case g.profile == "full" && x < 98:
		return ""
	}
	return "簇"
}

// homes says in which cluster a broker name is used, and which addresses its brokers have: [from, to).
var homes = map[string]struct {
	cluster  string
	from, to int
}{"b1": {"c1", 0, 5}, "b2": {"c1", 0, 5}, "b3": {"c2", 5, 7}, "b4": {"簇", 7, 8}}

func (g *gen) home(name string) string {
	if g.stray() {
		return g.cluster()
	}
	return homes[name].cluster
}

func (g *gen) name() string {
	if g.profile == "conflict" || g.profile == "actingmaster" {
		return pick(g, "b1", "b1", "b1", "b2", "b2", "b3")
	}
	return pick(g, "b1", "b1", "b2", "b2", "b3", "b4")
}

// addr is an address for a broker of that name: one that is free, or a fellow member's, since an address belongs to one
// broker name of a cluster.
func (g *gen) addr(name string) string {
	if g.profile == "full" && g.chance(0.01) {
		return pick(g, "host name:1", "no-port", "[::1]:10911", "127.0.0.1:1")
	}
	from, n := homes[name].from, homes[name].to-homes[name].from
	if g.stray() {
		return fmt.Sprintf("@a%d@", g.Intn(8))
	}
	first := g.Intn(n)
	for i := range n {
		a := fmt.Sprintf("@a%d@", from+(first+i)%n)
		taken := false
		for _, o := range g.live {
			taken = taken || o.addr == a && o.name != name
		}
		if !taken {
			return a
		}
	}
	return fmt.Sprintf("127.0.0.1:%d", 2+g.Intn(4)) // none is left: one that does not listen
}

func (g *gen) id() int {
	if g.profile == "full" && g.chance(0.01) {
		return pick(g, 2147483648, 7)
	}
	if g.profile == "full" && g.stray() {
		return -1
	}
	return pick(g, 0, 0, 0, 1, 1, 1, 2, 2, 3)
}

var topicNames = []string{"T1", "T2", "T3", "T4", "T5", "T6", "%RETRY%g1", "rmq_sys_SYNC_BROKER_MEMBER_b1", "主题", `q"uo\te`, "a<b>&'c", "TBW102"}

func (g *gen) topic() string {
	if g.chance(0.75) {
		return topicNames[g.Intn(4)]
	}
	if g.profile == "actingmaster" && g.chance(0.4) {
		return "rmq_sys_SYNC_BROKER_MEMBER_b1"
	}
	if g.chance(0.1) {
		return pick(g, "ST1@u@", "ST2@u@")
	}
	return topicNames[g.Intn(len(topicNames))]
}

func (g *gen) version() int {
	return pick(g, v5_5_0, v5_5_0, v5_5_0, v5_3_3, v5_0_0, v5_0_0s, v4_9_7, v4_9_4, v4_9_4s, v4_9_3, v4_8_0, v3_5_8, v3_0_11, v3_0_10, vHigher, vBeyond, vNone)
}

// dress gives a step its transport: header encoding, language, piecewise writing.
func (g *gen) dress(st *Step) *Step {
	if st.Conn == "" {
		st.Conn = pick(g, "adm", "adm", "adm2")
	}
	if st.Ver == 0 && st.Reg == nil {
		st.Ver = g.version()
	}
	if g.chance(0.15) {
		st.Enc = "rmq"
	}
	if g.chance(0.1) {
		st.Lang = pick(g, "GO", "CPP", "DOTNET", "RUST", "PYTHON")
	}
	if g.chance(0.04) {
		st.Chunk = pick(g, 1, 3, 7, 50)
	}
	return st
}

func (g *gen) req(code int, kv ...string) *Step {
	st := &Step{Op: "req", Code: code, Ext: map[string]string{}}
	for i := 0; i+1 < len(kv); i += 2 {
		st.Ext[kv[i]] = kv[i+1]
	}
	return g.dress(st)
}

func (g *gen) any() *mbroker {
	if len(g.live) == 0 {
		return nil
	}
	return g.live[g.Intn(len(g.live))]
}

func (g *gen) dropLive(f func(*mbroker) bool) {
	out := g.live[:0]
	for _, b := range g.live {
		if !f(b) {
			out = append(out, b)
		}
	}
	g.live = out
}

func flagOf(topic string) int {
	return len(topic) % 4
}

func (g *gen) permission() int {
	if g.plain {
		return 6
	}
	return pick(g, 6, 6, 6, 6, 4, 2, 7, 0)
}

func (g *gen) topicSpec(name string) TopicSpec {
	t := TopicSpec{Name: name, R: pick(g, 4, 8, 16), W: pick(g, 4, 8, 16), Perm: g.permission(), Flag: flagOf(name)}
	if g.chance(0.08) {
		t.Flag = g.Intn(4)
	}
	t.Order = g.chance(0.1)
	if g.chance(0.08) {
		t.Filter = "MULTI_TAG"
	}
	if g.chance(0.1) {
		t.Attr = map[string]string{"message.type": pick(g, "NORMAL", "FIFO", "DELAY")}
	}
	return t
}
