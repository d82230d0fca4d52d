package remoting_test

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"fingerpost/internal/nstest"
	"fingerpost/registry"
	"fingerpost/remoting/wire"
)

// Two servers are asked the same, but what brokers send to the second is written so that it
// never recognises anything: every registration has a field of its own, and no topic stands
// there as usual. After each step both hold the same, have answered the same and have told
// the same changes.
func TestRecognisedIsAsDecoded(t *testing.T) {
	var reaffirmed, registered uint64
	rapid.Check(t, func(rt *rapid.T) {
		w := &twins{t: t, now: time.Unix(1_700_000_000, 0)}
		w.start()
		defer func() {
			reaffirmed += w.beds[0].srv.Stats.Reaffirmed.Load()
			registered += w.beds[0].srv.Stats.Registered.Load()
			if n := w.beds[1].srv.Stats.Reaffirmed.Load(); n > 0 {
				rt.Errorf("the second server has recognised %d registrations", n)
			}
			w.stop()
		}()
		rt.Repeat(map[string]func(*rapid.T){
			"register":  w.register,
			"again":     w.again,
			"the last":  w.theLast,
			"again, it": w.theLast,
			"amend":     w.amend,
			"amend 2":   w.amend,
			"topic":     w.topic,
			"perms":     w.perms,
			"kv":        w.keyValue,
			"leave":     w.leave,
			"close":     w.close,
			"pass":      w.pass,
			"rules":     w.rules,
			"restart":   w.restart,
			"":          w.compare,
		})
	})
	t.Logf("%d registrations were recognised, %d read", reaffirmed, registered)
}

// twins are the two servers.
type twins struct {
	t     *testing.T
	now   time.Time
	beds  [2]*bed
	subs  [2]*registry.Subscription
	conns [3][2]*nstest.Client // nil until they are needed
	last  []sent
	n     int
}

// sent is a registration and how it is written.
type sent struct {
	broker
	version    wire.Version
	compressed bool
	gap, cut   int // before which entry there is a blank, or the table ends and begins anew
}

func (w *twins) start(images ...*registry.Image) {
	for i := range w.beds {
		reg := registry.New(registry.Options{Now: func() time.Time { return w.now }})
		if images != nil {
			if err := reg.Restore(images[i], 0, registry.Cause{}); err != nil {
				w.t.Fatal(err)
			}
		}
		_, w.subs[i] = reg.Subscribe(1000)
		w.beds[i] = startPipes(w.t, func(b *bed) { b.reg, b.srv.Registry = reg, reg })
	}
}

func (w *twins) stop() {
	for i, b := range w.beds {
		for _, c := range w.conns {
			if c[i] != nil {
				c[i].Close()
			}
		}
		b.stop()
	}
	w.conns = [3][2]*nstest.Client{}
}

// draw returns one of some values.
func draw[V any](t *rapid.T, what string, of ...V) V { return rapid.SampledFrom(of).Draw(t, what) }

func chance(t *rapid.T, what string, in int) bool { return rapid.IntRange(1, in).Draw(t, what) == 1 }

// ask sends a request to both and compares the answers.
func (w *twins) ask(t *rapid.T, k int, version wire.Version, code wire.RequestCode, ext wire.Fields, body []byte, plain ...[]byte) {
	var answers [2]*wire.Command
	for i, b := range w.beds {
		if w.conns[k][i] == nil {
			w.conns[k][i] = nstest.NewClient(b.conn(), []wire.HeaderType{wire.JSONHeader, wire.BinaryHeader}[k%2])
		}
		c := w.conns[k][i]
		c.Version = version
		if i == 1 && code == wire.RegisterBroker {
			w.n++
			ext, body = append(slices.Clone(ext), wire.Field{Name: "n", Value: fmt.Sprint(w.n)}), plain[0]
		}
		resp, err := c.Call(code, ext, body)
		if err != nil {
			t.Fatal(err)
		}
		resp.Opaque = 0
		answers[i] = resp
	}
	if d := cmp.Diff(answers[1], answers[0], cmpopts.EquateEmpty()); d != "" {
		t.Fatalf("answers to %s (-decoded +recognised):\n%s", code, d)
	}
}

func (w *twins) send(t *rapid.T, r sent) {
	if w.last = append(w.last, r); len(w.last) > 6 {
		w.last = w.last[1:]
	}
	b := wire.RegisterBody{
		DataVersion: wire.DataVersion{StateVersion: r.state, Timestamp: stamp, Counter: r.counter}, FilterServers: r.filters,
		Topics: r.topics, Mappings: r.mappings,
	}
	var body []byte
	if r.compressed {
		var err error
		if body, err = b.AppendCompressed(nil, r.version); err != nil {
			t.Fatal(err)
		}
	} else {
		if body = b.AppendJSON(nil); !r.version.SendsRegisterBody() {
			body = b.AppendBareJSON(nil)
		}
		body = replaceNth(body, `},"`, `} , "`, r.gap)
		body = replaceNth(body, `},"T`, `}},"topicConfigTable":{"T`, r.cut)
	}
	plain := bytes.ReplaceAll(body, []byte(`,"perm":`), []byte(`, "perm":`))
	if r.compressed {
		plain = body
	}
	w.ask(t, rapid.IntRange(0, 2).Draw(t, "conn"), r.version, wire.RegisterBroker, r.ext(), body, plain)
}

// replaceNth replaces what occurs for the nth time, if it does, counting from 1.
func replaceNth(b []byte, old, by string, n int) []byte {
	at := 0
	for ; n > 0; n-- {
		i := bytes.Index(b[at:], []byte(old))
		if i < 0 {
			return b
		}
		if at += i; n == 1 {
			return slices.Concat(b[:at], []byte(by), b[at+len(old):])
		}
		at += len(old)
	}
	return b
}

func anyTopicOf(t *rapid.T) wire.TopicConfig {
	name := fmt.Sprintf("T%02d", rapid.IntRange(0, 70).Draw(t, "topic"))
	if chance(t, "odd name", 6) {
		name = draw(t, "name", `T"00`, `T\01`, "T\u00e4", "T%RETRY%00", "", "T 1")
	}
	x := topic(name, draw[int32](t, "queues", 4, 8), draw[int32](t, "perm", 6, 6, 4, 2, 0))
	x.SysFlag = draw[int32](t, "flag", 0, 0, 0, 1)
	x.Order = chance(t, "order", 6)
	if chance(t, "filter", 8) {
		x.FilterType = wire.MultiTag
	}
	if chance(t, "attributes", 4) {
		x.Attributes = []wire.Field{{Name: "+message.type", Value: draw(t, "type", "FIFO", "DELAY", `"`)}}
	}
	return x
}

// How many topics there are is about the length of a stretch.
func (w *twins) register(t *rapid.T) {
	r := sent{version: wire.V5_5_0, broker: broker{
		cluster: draw(t, "cluster", "c", "c", "c", "d"), name: draw(t, "broker", "a", "a", "b"), addr: draw(t, "addr", "@1", "@2", "@3"),
		id: draw[int64](t, "id", 0, 0, 1, 2), counter: 1,
	}}
	r.acting = wire.Bool{Present: chance(t, "5.x", 2), Value: chance(t, "acting", 2)}
	for i := range draw(t, "topics", 0, 1, 2, 31, 32, 33, 63, 64, 66) {
		r.topics = append(r.topics, topic(fmt.Sprintf("T%02d", i), 4, 6))
	}
	w.send(t, r)
}

func (w *twins) one(t *rapid.T) sent {
	if len(w.last) == 0 {
		t.Skip("nobody has registered")
	}
	return w.last[rapid.IntRange(0, len(w.last)-1).Draw(t, "registration")]
}

func (w *twins) again(t *rapid.T) { w.send(t, w.one(t)) }

func (w *twins) theLast(t *rapid.T) {
	w.one(t)
	w.send(t, w.last[len(w.last)-1])
}

// amend sends one with some small differences.
func (w *twins) amend(t *rapid.T) {
	r := w.one(t)
	if chance(t, "the last", 2) {
		r = w.last[len(w.last)-1]
	}
	r.topics = slices.Clone(r.topics)
	for range rapid.IntRange(1, 3).Draw(t, "differences") {
		at := 0
		if len(r.topics) > 0 {
			at = rapid.IntRange(0, len(r.topics)-1).Draw(t, "at")
		}
		switch rapid.IntRange(0, 15).Draw(t, "difference") {
		case 0, 1:
			r.counter++
		case 2, 3, 4:
			if len(r.topics) > 0 {
				x := anyTopicOf(t)
				x.Name = r.topics[at].Name
				r.topics[at] = x
			}
		case 5:
			r.topics = slices.Insert(r.topics, at, anyTopicOf(t))
		case 6:
			x := anyTopicOf(t)
			if len(r.topics) > 0 && chance(t, "twice", 2) {
				x.Name = r.topics[at].Name
			}
			r.topics = append(r.topics, x)
		case 7:
			if len(r.topics) > 0 {
				r.topics = slices.Delete(r.topics, at, at+1)
			}
		case 8:
			r.topics = r.topics[:max(at, len(r.topics)-rapid.IntRange(1, 40).Draw(t, "fewer"))]
		case 9:
			r.topics = r.topics[at:]
		case 10:
			r.compressed = !r.compressed
		case 11:
			r.version = draw(t, "version", wire.V5_5_0, 317, 100, 0)
		case 12:
			r.gap = rapid.IntRange(0, 66).Draw(t, "gap")
		case 13:
			r.cut = rapid.IntRange(0, 66).Draw(t, "cut")
		case 14:
			switch rapid.IntRange(0, 6).Draw(t, "of itself") {
			case 0:
				r.id = draw[int64](t, "id", 0, 1, 2, -1)
			case 1:
				r.name = draw(t, "broker", "a", "b")
			case 2:
				r.cluster = draw(t, "cluster", "c", "d")
			case 3:
				r.addr = draw(t, "addr", "@1", "@2", "@3")
			case 4:
				r.acting = wire.Bool{Present: chance(t, "5.x", 2), Value: chance(t, "acting", 2)}
			case 5:
				r.state = draw[int64](t, "state", 0, 1)
			case 6:
				r.zone, r.ha = draw(t, "zone", "", "z"), draw(t, "ha", "", "@ha")
			}
		case 15:
			r.filters = draw(t, "filters", nil, []string{"f"})
			r.mappings = nil
			if len(r.topics) > 0 && chance(t, "mapping", 2) {
				r.mappings = []wire.TopicMapping{{
					Topic: r.topics[at].Name, Broker: r.name, TotalQueues: 4, Epoch: draw[int64](t, "epoch", 1, 2), IDs: []wire.QueueID{{Logical: 0, Physical: 0}},
				}}
			}
		}
	}
	w.send(t, r)
}

func (w *twins) topic(t *rapid.T) {
	x := anyTopicOf(t)
	if chance(t, "delete", 2) {
		ext := fields("topic", x.Name)
		if chance(t, "of a cluster", 2) {
			ext = append(ext, fields("clusterName", draw(t, "cluster", "c", "d"))...)
		}
		w.ask(t, 0, wire.V5_5_0, wire.DeleteTopicInNamesrv, ext, nil)
		return
	}
	body := fmt.Appendf(nil, `{"queueDatas":[{"brokerName":"%s","perm":%d,"readQueueNums":%d,"writeQueueNums":%d,"topicSysFlag":0}],"brokerDatas":[]}`,
		draw(t, "broker", "a", "b"), x.Perm, x.ReadQueues, x.WriteQueues)
	w.ask(t, 0, wire.V5_5_0, wire.RegisterTopicInNamesrv, fields("topic", x.Name), body)
}

func (w *twins) perms(t *rapid.T) {
	code := draw(t, "code", wire.WipeWritePermOfBroker, wire.AddWritePermOfBroker)
	w.ask(t, 0, wire.V5_5_0, code, fields("brokerName", draw(t, "broker", "a", "b")), nil)
}

func (w *twins) keyValue(t *rapid.T) {
	ext := fields("namespace", registry.OrderNamespace, "key", draw(t, "key", "T00", "T01"))
	if chance(t, "delete", 3) {
		w.ask(t, 0, wire.V5_5_0, wire.DeleteKVConfig, ext, nil)
		return
	}
	w.ask(t, 0, wire.V5_5_0, wire.PutKVConfig, append(ext, fields("value", draw(t, "value", "a:4", "b:4"))...), nil)
}

// leave unregisters one, or hears of it.
func (w *twins) leave(t *rapid.T) {
	r := w.one(t)
	ext := append(r.identity(), wire.Field{Name: "brokerId", Value: fmt.Sprint(r.id)})
	switch k := rapid.IntRange(0, 2).Draw(t, "conn"); rapid.IntRange(0, 3).Draw(t, "how") {
	case 0, 1:
		w.ask(t, k, wire.V5_5_0, wire.UnregisterBroker, ext, nil)
	case 2:
		w.ask(t, k, wire.V5_5_0, wire.BrokerHeartbeat, ext, nil)
	case 3:
		w.ask(t, k, wire.V5_5_0, wire.QueryDataVersion, ext, wire.DataVersion{StateVersion: r.state, Timestamp: stamp, Counter: r.counter}.AppendJSON(nil))
	}
}

func (w *twins) close(t *rapid.T) {
	k := rapid.IntRange(0, len(w.conns)-1).Draw(t, "conn")
	for i, c := range w.conns[k] {
		if c != nil {
			open := w.beds[i].srv.Open()
			c.Close()
			w.await(t, i, open-1)
			w.conns[k][i] = nil
		}
	}
}

func (w *twins) pass(t *rapid.T) {
	w.now = w.now.Add(draw(t, "time", time.Second, 40*time.Second, 100*time.Second))
	var swept [2]registry.Swept
	for i, b := range w.beds {
		open, evicted := b.srv.Open(), b.srv.Stats.Evicted.Load()
		swept[i] = b.reg.Sweep(2*time.Minute, registry.Cause{})
		w.await(t, i, open-int(b.srv.Stats.Evicted.Load()-evicted))
		for k := range w.conns {
			if c := w.conns[k][i]; c != nil {
				if _, err := c.Call(wire.GetAllTopicListFromNamesrv, nil, nil); err != nil {
					w.conns[k][i] = nil
				}
			}
		}
	}
	if d := cmp.Diff(swept[1], swept[0]); d != "" {
		t.Fatalf("swept (-decoded +recognised):\n%s", d)
	}
}

// await waits until one of the two has no more connections than that.
func (w *twins) await(t *rapid.T, i, open int) {
	for late := time.Now().Add(patience); w.beds[i].srv.Open() > open; time.Sleep(10 * time.Microsecond) {
		if time.Now().After(late) {
			t.Fatal("a connection does not end")
		}
	}
}

func (w *twins) rules(t *rapid.T) {
	rules := w.beds[0].reg.Snapshot().Rules()
	switch rapid.IntRange(0, 2).Draw(t, "rule") {
	case 0:
		rules.DeleteTopicWithBrokerRegistration = chance(t, "on", 2)
	case 1:
		rules.ReturnOrderTopicConfigToBroker = chance(t, "on", 2)
	case 2:
		rules.SupportActingMaster = chance(t, "on", 2)
	}
	for _, b := range w.beds {
		b.reg.SetRules(rules, nil, registry.Cause{})
	}
}

// restart makes two new servers of the images of the old ones.
func (w *twins) restart(t *rapid.T) {
	if !chance(t, "really", 3) {
		t.Skip("not now")
	}
	var images []*registry.Image
	for _, b := range w.beds {
		images = append(images, b.reg.Snapshot().Image())
	}
	w.compare(t)
	w.stop()
	w.start(images...)
}

func (w *twins) compare(t *rapid.T) {
	recognised, decoded := w.beds[0], w.beds[1]
	if d := cmp.Diff(decoded.dump(), recognised.dump()); d != "" {
		t.Fatalf("state (-decoded +recognised):\n%s", d)
	}
	a, b := recognised.reg.Snapshot(), decoded.reg.Snapshot()
	if want, got := b.Image(), a.Image(); !reflect.DeepEqual(want, got) { // cmp alone is slow
		t.Fatalf("image (-decoded +recognised):\n%s", cmp.Diff(want, got))
	}
	if d := cmp.Diff(w.told(1), w.told(0), cmpopts.EquateEmpty()); d != "" {
		t.Fatalf("changes (-decoded +recognised):\n%s", d)
	}
}

// told returns what the changes since the last call say.
func (w *twins) told(i int) (out []string) {
	for {
		select {
		case c := <-w.subs[i].C:
			text := fmt.Sprint(c.Revision, c.Step, c.Cause.Action, c.Topics, c.Clusters, c.WritePerms, c.KV, c.MinIDs)
			for _, m := range c.Members {
				text += fmt.Sprintf("\n%s %s %d %s %s %+v %+v", m.Op, m.Broker, m.ID, m.Code, m.Detail, m.Before, m.After)
			}
			out = append(out, text)
		default:
			return out
		}
	}
}
