package main

import (
	"encoding/json"
	"net"
	"strings"
	"testing"
	"time"

	"fingerpost/internal/nsclient"
	"fingerpost/internal/nstest"
)

// Two servers with the same brokers do not differ, whichever port is asked; what one of
// them lacks or has otherwise is shown, and nothing that follows from it.
func TestDiff(t *testing.T) {
	a, b := newDesk(t), newDesk(t)
	for _, pair := range [][2]string{{a.base, b.base}, {a.addr, b.addr}, {a.base, a.addr}, {b.addr, a.base}} {
		status, stdout, stderr := once(t, a.dir, nil, "diff", pair[0], pair[1])
		if status != 0 || !strings.Contains(stdout, "compared ") || !strings.Contains(stdout, "different 0") || stderr != "" {
			t.Errorf("%v: exit status %d, %s%s", pair, status, stdout, stderr)
		}
	}
	// broker-c is only at b; broker-a has other queues there; the order of one topic
	// and a setting differ.
	c := nstest.StartBroker(t, b.addr, nstest.BrokerConfig{Cluster: "DefaultCluster", Name: "broker-c", Addr: "10.0.0.3:10911"})
	c.Topic("OrderCreated", 8)
	c.Topic("OnlyC", 8)
	must(t)(c.Register())
	b.broker.Body.Topics[0].ReadQueues = 5
	b.broker.Body.DataVersion.Counter++
	must(t)(b.broker.Register())
	for _, args := range [][]string{
		{"kv", "put", "ORDER_TOPIC_CONFIG", "OrderCreated", "broker-a:4", "--server", b.base},
		{"config", "set", "supportActingMaster=true", "--server", b.base},
	} {
		if status, _, stderr := once(t, b.dir, b.env, args...); status != 0 {
			t.Fatalf("%v: %s", args, stderr)
		}
	}
	want := []string{
		"broker broker-c", "topic OnlyC", "route OrderCreated on broker-a", "kv ORDER_TOPIC_CONFIG/OrderCreated", "setting supportActingMaster",
	}
	for _, pair := range [][2]string{{a.base, b.base}, {a.addr, b.addr}, {a.base, b.addr}} {
		status, stdout, stderr := once(t, a.dir, nil, "diff", pair[0], pair[1], "-o", "json")
		var out struct {
			Different   int
			Differences []struct{ Kind, Name string }
		}
		if err := json.Unmarshal([]byte(stdout), &out); err != nil || status != 3 || stderr != "" {
			t.Fatalf("%v: exit status %d, %v, %s%s", pair, status, err, stdout, stderr)
		}
		var got []string
		for _, d := range out.Differences {
			got = append(got, d.Kind+" "+d.Name)
		}
		if strings.Join(got, "\n") != strings.Join(want, "\n") || out.Different != len(want) {
			t.Errorf("%v: %q", pair, got)
		}
	}
	status, stdout, _ := a.run(t, "diff", a.addr, b.addr, "--kind", "route,kv")
	if status != 3 || !strings.Contains(stdout, "read 8, write 8, perm 6, flag 0") || !strings.Contains(stdout, "read 5, write 8") || strings.Contains(stdout, "setting") {
		t.Errorf("exit status %d\n%s", status, stdout)
	}
	for args, want := range map[string]int{"diff " + a.addr: 2, "diff x y": 2, "diff " + a.addr + " 127.0.0.1:1": 1, "diff a:1 b:1 --kind x": 2, "diff a:1 b:1 --server x": 2} {
		if status, _, stderr := a.run(t, strings.Fields(args)...); status != want || stderr == "" {
			t.Errorf("%s: exit status %d, want %d: %s", args, status, want, stderr)
		}
	}
}

// A name server that says nothing is waited for as long as --timeout says, less or more than
// the Java tools do.
func TestDiffWaits(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	began := time.Now()
	status, _, stderr := once(t, t.TempDir(), nil, "diff", ln.Addr().String(), "127.0.0.1:1", "--timeout=50ms")
	if status != 1 || !strings.Contains(stderr, "raise --timeout") || time.Since(began) >= nsclient.DefaultTimeout {
		t.Errorf("after %v exit status %d, %s", time.Since(began), status, stderr)
	}
}
