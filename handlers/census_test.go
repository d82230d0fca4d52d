package handlers

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"fingerpost/api"
	"fingerpost/internal/convert"
	"fingerpost/registry"
)

// newScraped returns a server and what is gathered from it: each series, written as in a
// scrape without its value, and the value. Of histograms it is the count.
func newScraped(t *testing.T, opts ...option) (e *env, scrape func() map[string]float64) {
	t.Helper()
	reg := prometheus.NewPedanticRegistry()
	e = newEnv(t, append(opts, func(d *Deps) { d.Registerer = reg })...)
	return e, func() map[string]float64 {
		t.Helper()
		families, err := reg.Gather()
		if err != nil {
			t.Fatal(err)
		}
		out := make(map[string]float64)
		for _, f := range families {
			for _, m := range f.GetMetric() {
				name := strings.TrimPrefix(f.GetName(), MetricsPrefix)
				for i, l := range m.GetLabel() {
					name += map[bool]string{true: "{", false: ","}[i == 0] + l.GetName() + "=" + l.GetValue()
				}
				if len(m.GetLabel()) > 0 {
					name += "}"
				}
				out[name] = m.GetGauge().GetValue() + m.GetCounter().GetValue() + float64(m.GetHistogram().GetSampleCount())
			}
		}
		return out
	}
}

func (e *env) stats() api.Stats {
	e.t.Helper()
	var out api.Stats
	e.get("/api/v1/stats").ok(e.t, 200).into(e.t, &out)
	return out
}

// At the same revision a scrape and the statistics say the same, and a scrape agrees with
// itself, while everything changes.
func TestScrapeEqualsTheStatistics(t *testing.T) {
	e, scrape := newScraped(t)
	compare := func() bool {
		got, st := scrape(), e.stats()
		if got["revision"] != st.Series["revision"].Value {
			return false // something came in between
		}
		want := map[string]float64{
			"broker_groups": st.Series["brokers"].Value, "revision": st.Series["revision"].Value,
			"all topics": st.Series["topics"].Value, "all members": st.Series["members"].Value,
		}
		is := map[string]float64{"broker_groups": got["broker_groups"], "revision": got["revision"]}
		for k, v := range got {
			switch {
			case strings.HasPrefix(k, "topics{"):
				is["all topics"] += v
				is[k], want[k] = v, float64(st.TopicTypes[strings.TrimSuffix(strings.TrimPrefix(k, "topics{type="), "}")])
			case strings.HasPrefix(k, "active_brokers{"):
				is["all members"] += v
			}
		}
		if diff := cmp.Diff(want, is); diff != "" {
			t.Errorf("at revision %s (-stats +scrape):\n%s", st.Revision, diff)
		}
		return true
	}
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-done:
				return
			default:
			}
			e.broker(fmt.Sprint("b", i%7), int64(i%2), fmt.Sprint("h:", i%7, i%2), fmt.Sprint("T", i), "%RETRY%group-"+fmt.Sprint(i%5))
			if i%3 == 0 {
				_, _ = e.reg.Unregister("DefaultCluster", fmt.Sprint("b", i%7), fmt.Sprint("h:", i%7, 0), 0, registry.Cause{})
			}
		}
	})
	for range 20 {
		// Each scrape is of one revision: as many members by cluster as by role.
		got, byRole := scrape(), 0.0
		for k, v := range got {
			if strings.HasPrefix(k, "active_brokers{") {
				byRole += v
			}
		}
		if n := got["cluster_brokers{cluster=DefaultCluster}"]; n != byRole {
			t.Errorf("%v members by cluster, %v by role", n, byRole)
		}
		compare()
	}
	close(done)
	wg.Wait()
	if !compare() {
		t.Error("the revision moves although nothing changes")
	}
}

func TestCensusFollowsTheRegistry(t *testing.T) {
	e, scrape := newScraped(t)
	e.broker("a", 0, "h:1", "Orders")
	e.broker("a", 1, "h:2")
	e.broker("b", 1, "h:3")
	e.register(registry.MemberInfo{Cluster: "Other", Name: "c", ID: 0, Addr: "h:4", Timeout: time.Minute, Source: registry.FromREST, Owner: "me"}, "X")
	e.reg.WipeWritePerm("a", registry.Cause{})
	got := scrape()
	for k, want := range map[string]float64{
		"active_brokers{role=master,source=remoting}": 1, "active_brokers{role=slave,source=remoting}": 2,
		"active_brokers{role=master,source=rest}": 1, "clusters": 2, "broker_groups": 3, "groups_without_master": 1, "groups_wiped": 1,
		"cluster_brokers{cluster=DefaultCluster}": 3, "cluster_brokers{cluster=Other}": 1,
		"cluster_groups_without_master{cluster=DefaultCluster}": 1, "late_brokers": 0, "ready": 1, "check{check=warmed-up}": 1,
		"topics{type=normal}": 2, "topics{type=system}": 1, "conflicts{kind=registration-refused}": 0,
	} {
		if v, ok := got[k]; !ok || v != want {
			t.Errorf("%s is %v, want %v", k, v, want)
		}
	}
	// What has gone leaves no series behind.
	if _, err := e.reg.Unregister("Other", "c", "h:4", 0, registry.Cause{}); err != nil {
		t.Fatal(err)
	}
	got = scrape()
	if _, ok := got["cluster_brokers{cluster=Other}"]; ok || got["members_removed_total{cause=unregistered,source=rest}"] != 1 {
		t.Errorf("the cluster that has gone is still there, or was not counted: %v", got["members_removed_total{cause=unregistered,source=rest}"])
	}
	e.h.Drain()
	if got = scrape(); got["ready"] != 0 || got["check{check=not-draining}"] != 0 {
		t.Errorf("ready is %v while the server leaves", got["ready"])
	}
}

// Names of clusters are peers' choice: neither their number nor their length is bounded by
// anybody else.
func TestClusterLabelsAreBounded(t *testing.T) {
	e, scrape := newScraped(t)
	big := strings.Repeat("z", 1000)
	for i := range 100 {
		e.register(registry.MemberInfo{Cluster: fmt.Sprint("c", i), Name: fmt.Sprint("b", i), Addr: fmt.Sprint("h:", i), Timeout: time.Minute})
		e.register(registry.MemberInfo{Cluster: fmt.Sprint(big, i%2), Name: fmt.Sprint("z", i), Addr: fmt.Sprint("z:", i), Timeout: time.Minute})
	}
	e.register(registry.MemberInfo{Cluster: "bad\xff", Name: "bad", Addr: "x:1", Timeout: time.Minute})
	series, members := 0, 0.0
	for k, v := range scrape() {
		if strings.HasPrefix(k, "cluster_brokers{") {
			series++
			if members += v; len(k) > 100 {
				t.Errorf("a series is called %s", k)
			}
		}
	}
	if series > maxClusters+1 || members != 201 {
		t.Errorf("%d series with %v members, want 201", series, members)
	}
}

func TestRegistrationsAndLimitsAreCounted(t *testing.T) {
	e, scrape := newScraped(t)
	member := "/api/v1/brokers/r/members/0"
	e.admin("PUT", member, `{"clusterName":"c","brokerAddr":"10.0.0.1:10911"}`).ok(t, 201)
	e.admin("PUT", member, `{"clusterName":"c"}`).problem(t, 400, "validation-failed")
	e.admin("PUT", "/api/v1/brokers/other/members/0", `{"clusterName":"c","brokerAddr":"10.0.0.1:10911"}`).problem(t, 409, "address-in-use")
	e.admin("PUT", member+"?dryRun=true", `{"clusterName":"c","brokerAddr":"10.0.0.1:10911"}`).ok(t, 200)
	e.admin("POST", member+"/heartbeat", "").ok(t, 200)
	e.do("GET", "/api/v1/topics", "", "Authorization", "Bearer wrong").problem(t, 401, "unauthenticated")
	got := scrape()
	for k, want := range map[string]float64{
		"registrations_total{result=registered,source=rest}": 1, "registrations_total{result=invalid,source=rest}": 1,
		"registrations_total{result=refused,source=rest}": 1, "registrations_refused_total{reason=address-in-use,source=rest}": 1,
		"heartbeats_total{source=rest}": 1, "auth_failures_total{reason=bearer}": 1, "conflicts{kind=registration-refused}": 1,
		"request_duration_seconds{class=register,face=rest}": 4, "request_duration_seconds{class=heartbeat,face=rest}": 1,
		"requests_total{face=rest,op=PUT /api/v1/brokers/{brokerName}/members/{brokerId},result=ok}":      2,
		"requests_total{face=rest,op=PUT /api/v1/brokers/{brokerName}/members/{brokerId},result=refused}": 2,
		"limited_total{reason=overloaded}": 0,
	} {
		if v, ok := got[k]; !ok || v != want {
			t.Errorf("%s is %v (%v), want %v", k, v, ok, want)
		}
	}
}

// A scrape looks at the brokers, not at the topics, unless topics have changed.
func BenchmarkScrape(b *testing.B) {
	for _, n := range []int{20_000, 100_000} {
		b.Run(fmt.Sprint(n, " topics"), func(b *testing.B) {
			reg := prometheus.NewRegistry()
			e := newEnv(b, func(d *Deps) { d.Registerer = reg })
			for i := range 10 {
				names := make([]string, n)
				for j := range names {
					names[j] = fmt.Sprintf("order-service-events-%06d", j)
				}
				e.broker(fmt.Sprint("broker-", i), 0, fmt.Sprint("h:", i), names...)
			}
			for b.Loop() {
				if _, err := reg.Gather(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("the leftovers of 100000 topics", func(b *testing.B) {
		e := newEnv(b)
		names := make([]string, 100_000)
		for j := range names {
			names[j] = fmt.Sprintf("order-service-events-%06d", j)
		}
		for i := range 10 {
			e.broker(fmt.Sprint("broker-", i), 0, fmt.Sprint("h:", i), names...)
		}
		for b.Loop() {
			e.reg.Snapshot().Stale(time.Now())
		}
	})
	b.Run("the types of 100000 topics", func(b *testing.B) {
		e := newEnv(b)
		names := make([]string, 100_000)
		for j := range names {
			names[j] = fmt.Sprintf("order-service-events-%06d", j)
		}
		e.broker("broker", 0, "h:1", names...)
		for b.Loop() {
			new(typeMemo).of(&convert.View{Snapshot: e.reg.Snapshot()})
		}
	})
}

// The leftovers of a large registry are counted in the background, and come.
func TestLeftoversOfALargeRegistryAreCountedBeside(t *testing.T) {
	e, scrape := newScraped(t)
	names := make([]string, staleAtOnce+1)
	for i := range names {
		names[i] = fmt.Sprint("T", i)
	}
	e.broker("a", 0, "h:1", names...)
	const readOnly = "stale_topics{reason=read-only-everywhere}"
	e.reg.WipeWritePerm("a", registry.Cause{})
	if n, ok := scrape()[readOnly]; !ok || n != 0 {
		t.Errorf("%v leftovers before they were counted", n)
	}
	e.h.stale.refresh(e.reg.Snapshot())
	want := float64(len(names) + 1) // and TBW102
	if n := scrape()[readOnly]; n != want || float64(e.stats().StaleTopics["read-only-everywhere"]) != want {
		t.Errorf("%v leftovers, want %v", n, want)
	}
}

// A panic is counted by the face that it was in.
func TestPanicsAreCounted(t *testing.T) {
	e, scrape := newScraped(t, func(d *Deps) {
		d.Connections = func() []api.Connection { panic("wanted") }
	})
	for range 2 {
		e.get("/api/v1/connections").problem(t, 500, "internal-error")
	}
	if n := scrape()["panics_total{face=rest}"]; n != 2 {
		t.Errorf("%v panics are shown, want 2", n)
	}
}
