package registry

import (
	"maps"
	"time"

	"pgregory.net/rapid"
)

func (p *pair) unregister(t *rapid.T) {
	cluster, name, addr, id := anyCluster.Draw(t, "cluster"), anyName.Draw(t, "name"), anyAddr.Draw(t, "addr"), anyID.Draw(t, "id")
	removed, err := p.Unregister(cluster, name, addr, id, Cause{Action: "unregisterBroker"})
	if err != nil {
		t.Fatal(err)
	}
	want, notices := p.m.unregister(cluster, name, addr, id)
	p.same(t, "removed", want, removed)
	p.same(t, "notices", notices, p.notices())
}

func (p *pair) releaseOne(t *rapid.T) {
	name := rapid.SampledFrom([]string{"k1", "k2", "k3"}).Draw(t, "conn")
	left := p.Release(p.conn(name), Cause{Action: "close"})
	want, notices := p.m.release(name)
	p.same(t, "left", want, left)
	p.same(t, "notices", notices, p.notices())
}

func (p *pair) sweepSome(t *rapid.T) {
	d := rapid.SampledFrom([]time.Duration{0, time.Second, 5 * time.Second, 10 * time.Second, 11 * time.Second, 121 * time.Second}).Draw(t, "wait")
	interval := rapid.SampledFrom([]time.Duration{5 * time.Second, time.Second, 2 * time.Minute}).Draw(t, "interval")
	p.clock.advance(d)
	p.m.now += d
	got := p.Sweep(interval, Cause{Action: "expire"})
	expired, evicted, notices := p.m.sweep(interval)
	p.same(t, "expired", expired, got.Expired)
	p.same(t, "notices", notices, p.notices())
	var gone []string
	for _, c := range sortedConns(p.conns) {
		if why := c.evictions(); len(why) > 0 {
			gone = append(gone, c.name)
			if len(why) > 1 {
				t.Fatalf("connection %s was closed %d times", c.name, len(why))
			}
		}
	}
	p.same(t, "closed connections", evicted, gone)
}

func (p *pair) heartbeat(t *rapid.T) {
	cluster, addr, name, conn := anyCluster.Draw(t, "cluster"), anyAddr.Draw(t, "addr"), anyName.Draw(t, "name"), anyConn.Draw(t, "conn")
	before := p.Snapshot()
	want := p.m.heartbeat(cluster, addr, name, conn)
	if anyBool.Draw(t, "probe") {
		v := DataVersion{State: rapid.Int64Range(0, 1).Draw(t, "state"), Counter: rapid.Int64Range(1, 2).Draw(t, "counter")}
		stored, known, changed := p.Probe(cluster, addr, name, &v, p.conn(conn))
		p.same(t, "known", want, known)
		wantStored := DataVersion{}
		if want {
			wantStored = p.m.lives[liveID{cluster, addr}].info.Version
		}
		p.same(t, "stored version", wantStored, stored)
		p.same(t, "changed", !want || wantStored != v, changed)
	} else {
		p.same(t, "known", want, p.Heartbeat(cluster, addr, name, p.conn(conn)))
	}
	if p.Snapshot() != before {
		t.Fatal("a heartbeat made a new snapshot")
	}
}

func (p *pair) perms(t *rapid.T) {
	broker := anyName.Draw(t, "broker")
	var topics, want int
	var known, wantKnown bool
	switch rapid.IntRange(0, 2).Draw(t, "how") {
	case 0:
		topics, known = p.WipeWritePerm(broker, Cause{Action: "wipe"})
		want, wantKnown = p.m.wipe(broker)
	case 1:
		topics, known = p.RestoreWritePerm(broker, Cause{Action: "restore"})
		want, wantKnown = p.m.restore(broker, func(x modelPart) int32 { return x.registered.Perm })
	case 2:
		topics, known = p.ForceWritePerm(broker, Cause{Action: "force"})
		want, wantKnown = p.m.restore(broker, func(modelPart) int32 { return 6 })
	}
	p.same(t, "topics", want, topics)
	p.same(t, "known", wantKnown, known)
}

func (p *pair) delete(t *rapid.T) {
	topic := anyTopic.Draw(t, "topic")
	var got, want Deleted
	switch rapid.IntRange(0, 2).Draw(t, "from") {
	case 0:
		got = p.DeleteTopic(topic, "", Cause{Action: "delete"})
		want = p.m.deleteTopic(topic, func(string, *modelGroup) bool { return true })
	case 1:
		cluster := anyCluster.Draw(t, "cluster")
		got = p.DeleteTopic(topic, cluster, Cause{Action: "delete"})
		want = p.m.deleteTopic(topic, func(_ string, g *modelGroup) bool { return g.cluster == cluster })
	case 2:
		broker := anyName.Draw(t, "broker")
		got = p.DeleteTopicOf(topic, broker, Cause{Action: "delete"})
		want = p.m.deleteTopic(topic, func(name string, _ *modelGroup) bool { return name == broker })
	}
	want.Revision = p.Snapshot().Revision
	p.same(t, "deleted", want, got)
}

func (p *pair) declare(t *rapid.T) {
	topic := anyTopic.Draw(t, "topic")
	var queues []QueueData
	for range rapid.IntRange(0, 2).Draw(t, "queues") {
		queues = append(queues, QueueData{Broker: anyName.Draw(t, "broker"), QueueSpec: anyConfig(t).QueueSpec})
	}
	created, err := p.DeclareTopic(topic, queues, Cause{Action: "registerTopic"})
	want, ok := p.m.declare(topic, queues)
	p.same(t, "created", want, created)
	p.same(t, "done", ok, err == nil)
}

func (p *pair) keyValue(t *rapid.T) {
	ns, key := rapid.SampledFrom([]string{OrderNamespace, "N"}).Draw(t, "namespace"), anyTopic.Draw(t, "key")
	_, set := p.m.kv[ns][key]
	if anyBool.Draw(t, "put") {
		value := rapid.SampledFrom([]string{"x", "y"}).Draw(t, "value")
		_, created, err := p.PutKV(ns, key, value, KVCondition{}, Cause{Action: "kv"})
		if err != nil {
			t.Fatal(err)
		}
		p.same(t, "created", !set, created)
		m := maps.Clone(p.m.kv[ns])
		if m == nil {
			m = map[string]string{}
		}
		m[key] = value
		p.m.kv[ns] = m
		return
	}
	removed, err := p.DeleteKV(ns, key, KVCondition{}, Cause{Action: "kv"})
	if err != nil {
		t.Fatal(err)
	}
	p.same(t, "removed", set, removed)
	if set {
		m := maps.Clone(p.m.kv[ns])
		delete(m, key)
		p.m.kv[ns] = m
	}
}

func (p *pair) setRules(t *rapid.T) {
	r := p.m.rules
	rules := []*bool{
		&r.SupportActingMaster, &r.OrderMessageEnable, &r.DeleteTopicWithBrokerRegistration,
		&r.NotifyMinBrokerIDChanged, &r.EnableTopicList, &r.ReturnOrderTopicConfigToBroker,
	}
	*rules[rapid.IntRange(0, len(rules)-1).Draw(t, "rule")] = anyBool.Draw(t, "on")
	p.m.rules = r
	before := p.Snapshot()
	p.SetRules(r, nil, Cause{Action: "updateConfig"})
	if (p.Snapshot() != before) != (r != before.Rules()) {
		t.Fatal("a revision for no change of the rules, or none for one")
	}
}
