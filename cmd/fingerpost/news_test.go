package main

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"fingerpost/registry"
)

// register puts a member with two topics of its own into the registry.
func register(t *testing.T, reg *registry.Registry, name string, id int64) {
	t.Helper()
	addr := fmt.Sprintf("10.0.0.%d:10911", id)
	st := reg.Snapshot().NewStatement("c", addr)
	for _, topic := range []string{name + "-one", name + "-two"} {
		st.Add(topic, registry.TopicConfig{QueueSpec: registry.QueueSpec{ReadQueues: 4, WriteQueues: 4, Perm: 6}})
	}
	info := registry.MemberInfo{Cluster: "c", Addr: addr, Name: name, ID: id, Timeout: registry.DefaultTimeout}
	cause := registry.Cause{Face: "remoting", Action: "registerBroker", Actor: addr}
	if _, err := reg.Register(registry.Registration{MemberInfo: info, Topics: st}, nil, cause); err != nil {
		t.Fatal(err)
	}
}

// newsOf returns the log of what f does to a registry.
func newsOf(t *testing.T, f func(*registry.Registry)) []map[string]any {
	t.Helper()
	b := newOutput()
	synctest.Test(t, func(t *testing.T) {
		reg := registry.New(registry.Options{})
		n := &news{reg, slog.New(slog.NewJSONHandler(b, nil))}
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() { n.run(ctx) })
		synctest.Wait()
		f(reg)
		cancel()
		wg.Wait()
	})
	return written(t, b)
}

func TestNews(t *testing.T) {
	lines := newsOf(t, func(reg *registry.Registry) {
		register(t, reg, "broker-a", 0)
		if _, _, err := reg.PutKV("n", "k", "hunter2", registry.KVCondition{}, registry.Cause{Face: "rest", Action: "putKV", Actor: "alice", RequestID: "r1"}); err != nil {
			t.Error(err)
		}
		reg.SetRules(registry.Rules{OrderMessageEnable: true}, []registry.ConfigChange{{Key: "orderMessageEnable", Before: "false", After: "true"}}, registry.Cause{Face: "remoting"})
		if _, err := reg.Unregister("c", "broker-a", "10.0.0.0:10911", 0, registry.Cause{Face: "remoting"}); err != nil {
			t.Error(err)
		}
	})
	var got []string
	for _, l := range lines {
		got = append(got, l["msg"].(string))
		if l["level"] != "INFO" || l["face"] == "" || l["revision"] == nil {
			t.Errorf("%v", l)
		}
	}
	want := "broker created, cluster created, topics changed, key created, setting changed, broker deleted, cluster deleted, topics changed"
	if s := strings.Join(got, ", "); s != want {
		t.Errorf("got %s, want %s", s, want)
	}
	if l := lines[0]; l["broker"] != "broker-a" || l["broker_id"] != 0.0 || l["cluster"] != "c" || l["addr"] != "10.0.0.0:10911" || l["peer"] != "10.0.0.0:10911" || l["op"] != "registerBroker" {
		t.Errorf("%v", l)
	}
	if l := lines[2]; l["created"] != 2.0 || l["deleted"] != 0.0 {
		t.Errorf("%v", l)
	}
	if l := lines[3]; l["namespace"] != "n" || l["key"] != "k" || l["length"] != 7.0 || l["req_id"] != "r1" || l["principal"] != "alice" {
		t.Errorf("%v", l)
	}
	if strings.Contains(fmt.Sprint(lines), "hunter2") {
		t.Error("a value is logged")
	}
}

func TestNewsOfTroubleAreWarnings(t *testing.T) {
	lines := newsOf(t, func(reg *registry.Registry) {
		reg.Report(registry.Change{Members: []registry.MemberChange{
			{
				Op: registry.OpRejected, Broker: "b", ID: 1, After: &registry.MemberInfo{}, Code: "stale-state-version",
				Detail: "another address has a later version",
			},
			{Op: registry.OpExpired, Broker: "c", Before: &registry.MemberInfo{Cluster: "k", Addr: "10.0.0.1:1"}},
			{Op: registry.OpDisconnected, Broker: "d", Before: &registry.MemberInfo{}},
		}})
	})
	var got []string
	for _, l := range lines {
		got = append(got, fmt.Sprint(l["level"], " ", l["msg"]))
	}
	if s := strings.Join(got, ", "); s != "WARN broker rejected, WARN broker expired, INFO broker disconnected" {
		t.Errorf("got %s", s)
	}
	if l := lines[0]; l["code"] != "stale-state-version" || l["detail"] == nil {
		t.Errorf("%v", l)
	}
}

// The log is never what slows the registry down: too much at once is lost, and said so.
func TestNewsFallBehind(t *testing.T) {
	b := newOutput()
	synctest.Test(t, func(t *testing.T) {
		var first sync.Once
		block := make(chan struct{})
		reg := registry.New(registry.Options{})
		w := writerFunc(func(p []byte) (int, error) {
			first.Do(func() { <-block })
			return b.Write(p)
		})
		n := &news{reg, slog.New(slog.NewJSONHandler(w, nil))}
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() { n.run(ctx) })
		synctest.Wait()
		for i := range newsBuffer + 10 {
			reg.Report(registry.Change{WritePerms: []registry.WritePermChange{{Op: registry.OpWiped, Broker: fmt.Sprint("b", i)}}})
			if i == 0 {
				synctest.Wait()
			}
		}
		close(block)
		synctest.Wait()
		reg.Report(registry.Change{WritePerms: []registry.WritePermChange{{Op: registry.OpWiped, Broker: "last"}}})
		cancel()
		wg.Wait()
	})
	lines := written(t, b)
	if l := lines[len(lines)-2]; l["msg"] != "some changes were not logged: there were too many at once" {
		t.Errorf("%d lines: %v", len(lines), l)
	}
	if l := lines[len(lines)-1]; l["broker"] != "last" {
		t.Errorf("the last line is %v", l)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// Brokers that vanish together are one warning, besides a line for each.
func TestNewsOfMassExpiry(t *testing.T) {
	lines := newsOf(t, func(reg *registry.Registry) {
		reg.Report(registry.Change{Server: []registry.ServerChange{
			{Op: registry.OpMassExpiry, Detail: "12 of 20"}, {Op: registry.OpMassExpiryOver, Detail: "they are back"}, {Op: registry.OpStarted},
		}})
	})
	if len(lines) != 2 || lines[0]["level"] != "WARN" || lines[0]["detail"] != "12 of 20" || lines[1]["level"] != "INFO" {
		t.Errorf("%v", lines)
	}
}

// The check of /healthz stands as long as the alarm.
func TestMassExpiryShowsInHealth(t *testing.T) {
	reg := registry.New(registry.Options{})
	n := &node{registry: reg}
	var run func(context.Context) error
	for _, c := range n.checks() {
		if c.Name == "mass-expiry" {
			run = c.Run
		}
	}
	for id := range int64(5) {
		register(t, reg, fmt.Sprint("broker-", id), id)
	}
	if err := run(t.Context()); err != nil {
		t.Error(err)
	}
	holders := make([]*holder, 5)
	for id := range int64(5) {
		holders[id] = new(holder)
		reg.Heartbeat("c", fmt.Sprintf("10.0.0.%d:10911", id), fmt.Sprint("broker-", id), holders[id])
		reg.Release(holders[id], registry.Cause{})
	}
	reg.Sweep(time.Hour, registry.Cause{})
	if err := run(t.Context()); err == nil || !strings.Contains(err.Error(), "5 of 5 brokers fell silent or lost their connection at once") {
		t.Errorf("%v", err)
	}
}

// holder is a connection that a member is bound to.
type holder struct{ _ byte }

func (*holder) Evict(string) {}
