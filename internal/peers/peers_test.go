package peers_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"fingerpost/internal/peers"
	"fingerpost/registry"
	"fingerpost/remoting/wire"
)

const (
	interval = 30 * time.Second // as by default
	recheck  = 10 * time.Second
	// most is the longest time between two looks, with its jitter.
	most = interval * 11 / 10
)

var (
	brokerA = broker{name: "broker-a", addr: "10.0.0.1:10911", topics: []string{"A", "Both"}}
	brokerB = broker{name: "broker-b", addr: "10.0.0.2:10911", topics: []string{"B", "Both"}}
)

func TestEqualNodes(t *testing.T) {
	t.Parallel()
	for _, java := range []bool{false, true} {
		t.Run(fmt.Sprintf("java=%v", java), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newSet(t, "a:1", "b:1", "c:1")
				s.nodes["b:1"].java = java
				s.register(brokerA, "a:1", "b:1", "c:1")
				s.register(brokerB, "c:1", "b:1", "a:1")
				w := s.watch("a:1", nil)
				time.Sleep(10 * interval)
				for _, st := range w.List() {
					if st.State != peers.Reachable || st.Differences() != 0 || st.Pending != 0 || st.Brokers != 2 || st.Members != 2 || st.Topics != 3 || st.LastError != "" {
						t.Errorf("%+v", st)
					}
					if age := time.Since(st.CheckedAt); age > most {
						t.Errorf("%s was looked at %s ago", st.Addr, age)
					}
				}
				if got := events(s.nodes["a:1"].reg); len(got) > 0 {
					t.Errorf("events of equal nodes: %s", got)
				}
				// Two of ours with equal digests exchange neither topics nor routes.
				b, c := s.nodes["b:1"], s.nodes["c:1"]
				if n := c.requests(wire.GetRouteInfoByTopic) + c.requests(wire.GetAllTopicListFromNamesrv); n > 0 {
					t.Errorf("%d topics and routes were asked for", n)
				}
				looks := b.requests(wire.GetBrokerClusterInfo)
				if routes := b.requests(wire.GetRouteInfoByTopic); java && routes != 3*looks || !java && routes != 0 {
					t.Errorf("%d routes in %d looks", routes, looks)
				}
			})
		})
	}
}

// TestMissingRegistration has a broker that registered with one of two only.
func TestMissingRegistration(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSet(t, "a:1", "b:1")
		s.register(brokerA, "a:1", "b:1")
		w := s.watch("a:1", nil)
		time.Sleep(interval)
		s.register(brokerB, "a:1")
		time.Sleep(2 * interval)
		// Its topics are missed for want of it, and not besides.
		if got, want := found(t, w, "b:1"), "broker broker-b only-here"; got != want {
			t.Errorf("found %q, want %q", got, want)
		}
		r, _ := w.Report("b:1")
		if d := r.Items[0]; d.Topics != 2 || time.Since(d.Since) > 2*interval || cmp.Diff(d.Here, peers.Facts{
			"clusterName": "c", "zoneName": "", "enableActingMaster": false, "brokerAddrs": []string{"10.0.0.2:10911"},
		}) != "" || d.There != nil || r.Counts[peers.KindBroker] != 1 {
			t.Errorf("%+v", r)
		}
		s.register(brokerB, "b:1")
		time.Sleep(most + time.Second)
		if got := found(t, w, "b:1"); got != "" {
			t.Errorf("still found %q", got)
		}
		if d := cmp.Diff([]string{"b:1 diverged 0→1 broker broker-b only-here", "b:1 converged 1→0 "}, events(s.nodes["a:1"].reg)); d != "" {
			t.Error(d)
		}
	})
}

// TestKinds makes one difference of each kind, and looks at it from both sides.
func TestKinds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		differ      func(s *set)
		here, there string // what a:1 and b:1 find
		java        string // what a:1 finds if b:1 is a Java server
	}{
		"member": {
			differ: func(s *set) { s.register(broker{name: "broker-a", id: 1, addr: "10.0.0.9:1"}, "a:1") },
			here:   "member broker-a 1 only-here", there: "member broker-a 1 only-there",
		},
		"address": {
			differ: func(s *set) {
				s.register(broker{name: "broker-a", id: 1, addr: "10.0.0.8:1"}, "a:1")
				s.register(broker{name: "broker-a", id: 1, addr: "10.0.0.9:1"}, "b:1")
			},
			here: "member broker-a 1 value", there: "member broker-a 1 value",
		},
		"cluster": {
			differ: func(s *set) {
				s.register(broker{name: "broker-c", addr: "10.0.0.3:1", topics: []string{"C", "D"}}, "a:1")
				s.register(broker{name: "broker-c", addr: "10.0.0.3:1", topics: []string{"C", "D"}, cluster: "other"}, "b:1")
			},
			here: "broker broker-c value", there: "broker broker-c value",
		},
		"topic": {
			differ: func(s *set) {
				b := brokerA
				b.topics = append([]string{"New"}, b.topics...)
				s.register(b, "a:1")
			},
			here: "topic New only-here", there: "topic New only-there",
		},
		"topic of a broker that both have and of one that only one has": {
			differ: func(s *set) {
				b := brokerA
				b.topics = append([]string{"New"}, b.topics...)
				s.register(b, "a:1")
				s.register(broker{name: "broker-c", addr: "10.0.0.3:1", topics: []string{"C", "New", "Both"}}, "a:1")
			},
			here:  "broker broker-c only-here\ntopic New only-here",
			there: "broker broker-c only-there\ntopic New only-there",
		},
		"route": {
			differ: func(s *set) {
				b := brokerA
				b.topics = []string{"A:8", "Both"}
				s.register(b, "a:1")
			},
			here: "route A broker-a value", there: "route A broker-a value",
		},
		"part of a route": {
			differ: func(s *set) {
				b := brokerB
				b.topics = append([]string{"A"}, b.topics...)
				s.register(b, "a:1")
			},
			here: "route A broker-b only-here", there: "route A broker-b only-there",
		},
		"wipe": {
			differ: func(s *set) { s.nodes["b:1"].reg.WipeWritePerm("broker-b", registry.Cause{}) },
			here:   "route B broker-b value\nroute Both broker-b value", there: "route B broker-b value\nroute Both broker-b value",
		},
		"order configuration": {
			differ: func(s *set) { s.put("a:1", registry.OrderNamespace, "A", "broker-a:4") },
			here:   "kv ORDER_TOPIC_CONFIG A only-here", there: "kv ORDER_TOPIC_CONFIG A only-there",
		},
		"key": {
			differ: func(s *set) { s.put("a:1", "ns", "k", "1"); s.put("b:1", "ns", "k", "2") },
			here:   "kv ns k value", there: "kv ns k value",
		},
		"key that only the other can name": {
			differ: func(s *set) { s.put("b:1", "ns", "k", "2") },
			here:   "kv value", there: "kv ns k only-here", java: "nothing",
		},
		"setting": {
			differ: func(s *set) {
				s.nodes["b:1"].change(func(n *node) { n.settings = "listenPort=9876\norderMessageEnable=true\nserverWorkerThreads=8\n" })
			},
			here: "setting orderMessageEnable value", there: "setting orderMessageEnable value",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, java := range []bool{false, true} {
				synctest.Test(t, func(t *testing.T) {
					s := newSet(t, "a:1", "b:1")
					s.nodes["b:1"].java = java
					s.register(brokerA, "a:1", "b:1")
					s.register(brokerB, "a:1", "b:1")
					here, there := s.watch("a:1", nil), s.watch("b:1", nil)
					time.Sleep(interval)
					c.differ(s)
					time.Sleep(2 * interval)
					want := c.here
					if java && c.java == "nothing" {
						want = ""
					}
					if got := found(t, here, "b:1"); got != want {
						t.Errorf("java=%v: here %q, want %q", java, got, want)
					}
					if got := found(t, there, "a:1"); got != c.there {
						t.Errorf("java=%v: there %q, want %q", java, got, c.there)
					}
				})
			}
		})
	}
}

// TestPassingDifference has what is there at one look and not at the next count for nothing.
func TestPassingDifference(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSet(t, "a:1", "b:1")
		s.register(brokerA, "a:1", "b:1")
		w := s.watch("a:1", nil)
		synctest.Wait()
		s.register(brokerB, "a:1")
		if err := w.Check(t.Context(), "b:1"); err != nil {
			t.Fatal(err)
		}
		if st := w.List()[0]; st.Pending != 1 || st.Differences() != 0 {
			t.Errorf("after one look: %+v", st)
		}
		time.Sleep(recheck - time.Second)
		if err := w.Check(t.Context(), "b:1"); err != nil {
			t.Fatal(err)
		}
		if st := w.List()[0]; st.Pending != 1 || st.Differences() != 0 {
			t.Errorf("after two looks in less than %s: %+v", recheck, st)
		}
		s.register(brokerB, "b:1")
		time.Sleep(5 * interval)
		if got := events(s.nodes["a:1"].reg); len(got) > 0 || w.List()[0].Pending != 0 {
			t.Errorf("%q, %+v", got, w.List()[0])
		}
	})
}

// TestBoundedRate has a peer with more topics than can be asked for between two looks.
func TestBoundedRate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSet(t, "a:1", "b:1")
		s.nodes["b:1"].java = true
		b := brokerA
		for i := range 1000 {
			b.topics = append(b.topics, fmt.Sprintf("T%04d", i))
		}
		s.register(b, "a:1", "b:1")
		b.topics[900] += ":8"
		s.register(b, "a:1")
		w := s.watch("a:1", func(o *peers.Options) { o.RoutesPerSecond = 10 })
		for range 9 {
			time.Sleep(10 * time.Second)
			if n := s.nodes["b:1"].requests(wire.GetRouteInfoByTopic); n > 101 {
				t.Errorf("%d routes in ten seconds", n)
			}
		}
		if st := w.List()[0]; st.RoutesOf != 1002 || st.RoutesAsked < 800 || !st.RoutesDone.IsZero() {
			t.Errorf("after 90 s: %+v", st)
		}
		time.Sleep(25 * time.Second)
		if got := found(t, w, "b:1"); got != "route T0898 broker-a value" {
			t.Errorf("found %q", got)
		}
		if st := w.List()[0]; st.RoutesDone.IsZero() {
			t.Errorf("after 115 s: %+v", st)
		}
		// What was found is looked at again before its turn comes.
		s.register(b, "b:1")
		time.Sleep(most + time.Second)
		if got := found(t, w, "b:1"); got != "" {
			t.Errorf("still found %q", got)
		}
	})
}

// TestTruncated has a peer that has nothing of many topics.
func TestTruncated(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSet(t, "a:1", "b:1")
		s.register(brokerA, "a:1", "b:1")
		b := brokerA
		for i := range 11_000 {
			b.topics = append(b.topics, fmt.Sprintf("T%05d", i))
		}
		s.register(b, "a:1")
		w := s.watch("a:1", nil)
		time.Sleep(2 * interval)
		r, _ := w.Report("b:1")
		if len(r.Items) != 10_000 || r.Counts[peers.KindTopic] != 10_000 || !strings.Contains(strings.Join(r.Notes, " "), peers.NoteTruncated) {
			t.Errorf("%d items, %+v", len(r.Items), r.Status)
		}
		if got := events(s.nodes["a:1"].reg); len(got) != 1 || !strings.HasSuffix(got[0], "topic T00004 only-here; and 9995 more") {
			t.Errorf("%q", got)
		}
		s.register(b, "b:1")
		time.Sleep(most + time.Second)
		if got := found(t, w, "b:1"); got != "" {
			t.Errorf("still found %d", len(got))
		}
	})
}
