package handlers

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"fingerpost/internal/convert"
	"fingerpost/registry"
)

// tables are numbers of one snapshot, as the statistics and the metrics show them.
type tables struct {
	revision                          uint64
	topics, groups, members, clusters int
	withoutMaster, wiped, late        int
	byRole                            map[memberKind]int
	byCluster                         map[string]*clusterCount
	silence                           time.Duration // of the member that is silent longest
}

// memberKind is what members are counted by.
type memberKind struct{ source, role string }

type clusterCount struct{ members, withoutMaster int }

func tablesOf(v *convert.View) *tables {
	t := &tables{
		revision: v.Snapshot.Revision, topics: v.TopicCount(), clusters: len(v.Clusters()),
		byRole: make(map[memberKind]int), byCluster: make(map[string]*clusterCount),
	}
	for _, g := range v.Groups() {
		c := t.byCluster[g.Cluster]
		if c == nil {
			c = new(clusterCount)
			t.byCluster[g.Cluster] = c
		}
		t.groups++
		t.members += len(g.Members)
		c.members += len(g.Members)
		if !g.HasMaster() {
			t.withoutMaster++
			c.withoutMaster++
		}
		if v.Wiped(g.Name) != nil {
			t.wiped++
		}
		for _, m := range g.Members {
			l := v.LiveOf(m)
			t.byRole[memberKind{l.Source.String(), v.Role(g, m.ID)}]++
			if state, _ := v.State(l); state == convert.StateLate {
				t.late++
			}
			t.silence = max(t.silence, v.Now.Sub(l.LastSeen()))
		}
	}
	return t
}

// maxClusters bounds the clusters that the metrics name: the names are of peers' choice.
const maxClusters = 32

// otherClusters is the label of all clusters beyond that. No cluster of RocketMQ can be
// called so.
const otherClusters = "(other)"

// named returns the largest clusters by name, and the rest under one.
func (t *tables) named() map[string]clusterCount {
	names := sortedKeys(t.byCluster)
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(t.byCluster[b].members, t.byCluster[a].members) })
	out := make(map[string]clusterCount, len(names))
	for i, n := range names {
		c, as := t.byCluster[n], label(n)
		if i >= maxClusters {
			as = otherClusters
		}
		sum := out[as]
		out[as] = clusterCount{sum.members + c.members, sum.withoutMaster + c.withoutMaster}
	}
	return out
}

// maxLabel is the longest value of a label that peers chose, in bytes.
const maxLabel = 64

// label makes a name of a peer's fit for a label: of a sane length, in UTF-8.
func label(name string) string {
	if len(name) > maxLabel {
		name = name[:maxLabel]
	}
	return strings.ToValidUTF8(name, "?")
}

// typeMemo remembers how many topics of each type there are by name: to tell, all have to
// be looked at, and they come and go less often than it is asked for.
type typeMemo struct {
	mu    sync.Mutex
	names *registry.Memo // has another identity when other topics are there
	byOwn map[string]int
}

// of returns the counts of a view.
func (m *typeMemo) of(v *convert.View) map[string]int {
	m.mu.Lock()
	defer m.mu.Unlock()
	if names := v.TopicNamesMemo(); m.names != names {
		m.names, m.byOwn = names, convert.CountNames(v.Snapshot)
	}
	return v.CountTypes(m.byOwn)
}

// census collects the registry's numbers. All gauges of a scrape are of one snapshot, so
// that they agree with each other and with what the API answers at the same revision.
type census struct {
	h *Handler

	revision, changed, topics, clusters, groups, members, late, silence *prometheus.Desc
	suspect, massExpiries                                               *prometheus.Desc
	withoutMaster, wiped, byCluster, clusterMasters, kv, stale          *prometheus.Desc
	removed, expired, refused, clashes, moves, topicChanges, conflicts  *prometheus.Desc
	history, historyBytes, subscribers, lagged, ready, check            *prometheus.Desc
	build, unconfirmed                                                  *prometheus.Desc
}

func newCensus(h *Handler) *census {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc(MetricsPrefix+name, help, labels, nil)
	}
	return &census{
		h:              h,
		revision:       desc("revision", "The revision of the registry that this scrape reads."),
		changed:        desc("last_change_timestamp_seconds", "When the registry last changed."),
		topics:         desc("topics", "Topics by type.", "type"),
		clusters:       desc("clusters", "Clusters."),
		groups:         desc("broker_groups", "Broker names."),
		members:        desc("active_brokers", "Registered members by source and role.", labelSource, "role"),
		late:           desc("late_brokers", "Members that have been silent for more than half of their timeout."),
		unconfirmed:    desc("unconfirmed_brokers", "Members that stand from before a restart and have not registered since."),
		suspect:        desc("suspect_brokers", "Members that are over their time and kept, because most have vanished at once."),
		massExpiries:   desc("mass_expiries_total", "How often most members vanished at once."),
		silence:        desc("broker_silence_seconds", "For how long nothing was heard of the member that is silent longest."),
		withoutMaster:  desc("groups_without_master", "Broker names of which no master is registered."),
		wiped:          desc("groups_wiped", "Broker names whose write permission is wiped."),
		byCluster:      desc("cluster_brokers", "Registered members by cluster; of more than 32 clusters the smallest are together under (other).", "cluster"),
		clusterMasters: desc("cluster_groups_without_master", "Broker names without a master by cluster.", "cluster"),
		kv:             desc("kv_entries", "Keys in the key-value table."),
		stale:          desc("stale_topics", "Brokers' parts of topics that may be leftovers, by reason.", "reason"),
		removed:        desc("members_removed_total", "Members that left, by source and cause.", labelSource, "cause"),
		expired:        desc("expiry_events_total", "Members that left because they were silent for too long, by source.", labelSource),
		refused:        desc("registrations_refused_total", "Registrations that were well formed and refused, by source and reason.", labelSource, "reason"),
		clashes:        desc("name_clashes_total", "Registrations taken although their broker name is used in two clusters."),
		moves:          desc("member_moves_total", "Members whose place another address took."),
		topicChanges:   desc("topic_changes_total", "Changes to brokers' parts of topics by what happened.", "op"),
		conflicts:      desc("conflicts", "Conflicts between brokers that go on now, by kind.", "kind"),
		history:        desc("history_changes", "Changes that the history holds."),
		historyBytes:   desc("history_bytes", "Roughly what the history takes in memory."),
		subscribers:    desc("subscribers", "Followers of the registry's changes in this process."),
		lagged:         desc("subscribers_lagged_total", "Followers that were dropped because they did not keep up."),
		ready:          desc("ready", "1 if the server is ready for traffic, as /readyz says."),
		check:          desc("check", "1 if the check passes, by the name it has in /healthz.", "check"),
		build:          desc("build_info", "Always 1; the labels say what is running.", "version", "commit", "goversion", "compatibility"),
	}
}

// Describe sends what is collected.
func (x *census) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		x.revision, x.changed, x.topics, x.clusters, x.groups, x.members, x.late, x.unconfirmed, x.suspect, x.massExpiries, x.silence,
		x.withoutMaster, x.wiped, x.byCluster,
		x.clusterMasters, x.kv, x.stale, x.removed, x.expired, x.refused, x.clashes, x.moves, x.topicChanges, x.conflicts,
		x.history, x.historyBytes, x.subscribers, x.lagged, x.ready, x.check, x.build,
	} {
		to <- d
	}
}

// Collect reads one snapshot.
func (x *census) Collect(to chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	s := x.h.deps.Registry.Snapshot()
	v := &convert.View{Snapshot: s, Now: time.Now()}
	t := tablesOf(v)
	gauge(x.revision, float64(s.Revision))
	gauge(x.changed, float64(s.At.UnixMilli())/1e3)
	for k, n := range x.h.types.of(v) {
		gauge(x.topics, float64(n), k)
	}
	gauge(x.clusters, float64(t.clusters))
	gauge(x.groups, float64(t.groups))
	for _, source := range []registry.Source{registry.FromRemoting, registry.FromREST} {
		for _, role := range convert.Roles() {
			gauge(x.members, float64(t.byRole[memberKind{source.String(), role}]), source.String(), role)
		}
	}
	gauge(x.late, float64(t.late))
	gauge(x.unconfirmed, float64(s.Unconfirmed()))
	gauge(x.suspect, float64(s.Suspects()))
	gauge(x.silence, t.silence.Seconds())
	gauge(x.withoutMaster, float64(t.withoutMaster))
	gauge(x.wiped, float64(t.wiped))
	for name, c := range t.named() {
		gauge(x.byCluster, float64(c.members), name)
		gauge(x.clusterMasters, float64(c.withoutMaster), name)
	}
	gauge(x.kv, float64(kvEntries(s)))
	for reason, n := range x.h.stale.count(s) {
		gauge(x.stale, float64(n), reason)
	}
	info := x.h.version(s)
	gauge(x.build, 1, info.Version, info.Commit, info.GoVersion, info.Compatibility)
	x.collectChecks(gauge)
	x.collectCounts(to, gauge)
}

func (x *census) collectChecks(gauge func(d *prometheus.Desc, v float64, labels ...string)) {
	ready := 1.0
	for _, c := range x.h.probe(context.Background(), Ready) {
		if !c.OK {
			ready = 0
		}
	}
	gauge(x.ready, ready)
	for _, c := range x.h.probe(context.Background(), Healthy) {
		ok := 0.0
		if c.OK {
			ok = 1
		}
		gauge(x.check, ok, c.Name)
	}
}

// collectCounts reads what the registry has counted, which may be a change further than
// the snapshot.
func (x *census) collectCounts(to chan<- prometheus.Metric, gauge func(d *prometheus.Desc, v float64, labels ...string)) {
	counter := func(d *prometheus.Desc, n uint64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(n), labels...)
	}
	n := x.h.deps.Registry.Counts()
	for _, source := range []registry.Source{registry.FromRemoting, registry.FromREST} {
		for _, cause := range registry.RemovalCauses() {
			counter(x.removed, n.Removals[registry.Removal{Source: source, Cause: cause}], source.String(), cause.String())
		}
		counter(x.expired, n.Removals[registry.Removal{Source: source, Cause: registry.RemovedExpired}], source.String())
		for _, code := range registry.RefusalCodes() {
			counter(x.refused, n.Refusals[registry.Refusal{Source: source, Code: code}], source.String(), code)
		}
	}
	counter(x.clashes, n.Clashes)
	counter(x.moves, n.Moves)
	counter(x.topicChanges, n.TopicsCreated, "created")
	counter(x.topicChanges, n.TopicsChanged, "changed")
	counter(x.topicChanges, n.TopicsDeleted, "deleted")
	counter(x.lagged, n.Lagged)
	counter(x.massExpiries, n.MassExpiries)
	gauge(x.history, float64(n.HistoryChanges))
	gauge(x.historyBytes, float64(n.HistoryBytes))
	gauge(x.subscribers, float64(n.Subscribers))
	active := make(map[registry.DisputeKind]int)
	all, _ := x.h.deps.Registry.Disputes()
	for _, d := range all {
		if d.Active {
			active[d.Kind]++
		}
	}
	for _, k := range registry.DisputeKinds() {
		gauge(x.conflicts, float64(active[k]), k.String())
	}
}
