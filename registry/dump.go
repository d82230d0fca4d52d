package registry

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Dump writes what the snapshot holds as text, sorted, a line for each thing: for people
// who look for a fault and for comparing in tests. Clocks are left out, so that the dump
// of a snapshot is the same whenever it is made. Its form may change.
func (s *Snapshot) Dump(w io.Writer) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "revision %d\n", s.Revision)
	if r := rulesText(*s.rules); r != "" {
		fmt.Fprintf(b, "rules%s\n", r)
	}
	kv := s.AllKV()
	for _, ns := range s.KVNamespaces() {
		fmt.Fprintf(b, "kv %s\n", word(ns))
		for _, k := range slices.Sorted(maps.Keys(kv[ns])) {
			fmt.Fprintf(b, "  %s = %s\n", word(k), word(kv[ns][k]))
		}
	}
	clusters := s.Clusters()
	for _, c := range s.ClusterNames() {
		fmt.Fprintf(b, "cluster %s: %s\n", word(c), words(clusters[c]))
	}
	for _, g := range s.Groups() {
		s.dumpGroup(b, g)
	}
	for _, k := range slices.Sorted(maps.Keys(s.lost())) {
		l := s.lives.get(k)
		fmt.Fprintf(b, "lost %s %s was %s %d\n", word(l.Cluster), word(l.Addr), word(l.Name), l.ID)
	}
	for _, name := range s.TopicNames() {
		s.dumpTopic(b, s.topics.get(name))
	}
	return b.Flush()
}

// rulesText names the rules that are not as by default.
func rulesText(r Rules) string {
	d := DefaultRules()
	var out strings.Builder
	for _, x := range []struct {
		key          string
		is, normally any
	}{
		{"supportActingMaster", r.SupportActingMaster, d.SupportActingMaster},
		{"orderMessageEnable", r.OrderMessageEnable, d.OrderMessageEnable},
		{"returnOrderTopicConfigToBroker", r.ReturnOrderTopicConfigToBroker, d.ReturnOrderTopicConfigToBroker},
		{"deleteTopicWithBrokerRegistration", r.DeleteTopicWithBrokerRegistration, d.DeleteTopicWithBrokerRegistration},
		{"notifyMinBrokerIdChanged", r.NotifyMinBrokerIDChanged, d.NotifyMinBrokerIDChanged},
		{"enableAllTopicList", r.EnableAllTopicList, d.EnableAllTopicList},
		{"enableTopicList", r.EnableTopicList, d.EnableTopicList},
		{"needWaitForService", r.NeedWaitForService, d.NeedWaitForService},
		{"waitSecondsForService", r.WaitForService, d.WaitForService},
		{"massExpiry.share", r.MassExpiryShare, d.MassExpiryShare},
		{"massExpiry.minimum", r.MassExpiryMinimum, d.MassExpiryMinimum},
		{"massExpiry.hold", r.MassExpiryHold, d.MassExpiryHold},
		{"massExpiry.limit", r.MassExpiryLimit, d.MassExpiryLimit},
	} {
		if x.is != x.normally {
			fmt.Fprintf(&out, " %s=%v", x.key, x.is)
		}
	}
	return out.String()
}

// lost returns the registrations that have no place, by key.
func (s *Snapshot) lost() map[string]*Live {
	out := make(map[string]*Live)
	for l := range s.lives.all() {
		if !s.Placed(l) {
			out[l.k] = l
		}
	}
	return out
}

func (s *Snapshot) dumpGroup(b io.Writer, g *Group) {
	fmt.Fprintf(b, "group %s in %s", word(g.Name), word(g.Cluster))
	if g.HasZone {
		fmt.Fprintf(b, " zone %s", word(g.Zone))
	}
	if g.Acting {
		fmt.Fprint(b, " acting")
	}
	if w := s.Wiped(g.Name); w != nil {
		fmt.Fprintf(b, " wiped of %d", w.Topics)
	}
	fmt.Fprintln(b)
	for _, m := range g.Members {
		l := s.LiveOf(m)
		fmt.Fprintf(b, "  %d %s %s version %d/%d/%d timeout %v", m.ID, word(m.Addr), l.Source,
			l.Version.State, l.Version.Timestamp, l.Version.Counter, l.Timeout)
		if m.Cluster != g.Cluster {
			fmt.Fprintf(b, " cluster %s", word(m.Cluster))
		}
		if l.HAAddr != "" {
			fmt.Fprintf(b, " ha %s", word(l.HAAddr))
		}
		if l.Owner != "" {
			fmt.Fprintf(b, " owner %s", word(l.Owner))
		}
		if l.counted {
			fmt.Fprintf(b, " lists %d", len(l.listing.topics))
		}
		if m.Filters != nil {
			fmt.Fprintf(b, " filters %s", words(m.Filters))
		}
		fmt.Fprintln(b)
	}
}

func (s *Snapshot) dumpTopic(b io.Writer, t *Topic) {
	fmt.Fprintf(b, "topic %s\n", word(t.Name))
	for _, q := range t.layout.queues {
		c, _ := s.Registered(q.Broker, t.Name)
		fmt.Fprintf(b, "  %s %s", word(q.Broker), specText(q.QueueSpec))
		if c.QueueSpec != q.QueueSpec {
			fmt.Fprintf(b, " registered %s", specText(c.QueueSpec))
		}
		if c.Order {
			fmt.Fprint(b, " order")
		}
		if c.MultiTag {
			fmt.Fprint(b, " multi-tag")
		}
		if c.Attributes != "" {
			fmt.Fprintf(b, " attributes %s", word(c.Attributes))
		}
		fmt.Fprintln(b)
	}
	for _, m := range t.mappings {
		fmt.Fprintf(b, "  mapping %s of %d epoch %d", word(m.Broker), m.TotalQueues, m.Epoch)
		for _, id := range m.CurrIDs {
			fmt.Fprintf(b, " %d>%d", id.Logical, id.Physical)
		}
		if m.HasScope {
			fmt.Fprintf(b, " scope %s", word(m.Scope))
		}
		if m.Dirty {
			fmt.Fprint(b, " dirty")
		}
		fmt.Fprintln(b)
	}
}

// specText writes the numbers of read and write queues, the permission and the system
// flag, as in 8/8/6/0. It is no String method: that would speak for whatever embeds it.
func specText(q QueueSpec) string {
	return fmt.Sprintf("%d/%d/%d/%d", q.ReadQueues, q.WriteQueues, q.Perm, q.SysFlag)
}

// word quotes a text that would not be one word by itself.
func word(s string) string {
	if q := strconv.Quote(s); s == "" || len(q) != len(s)+2 || strings.ContainsRune(s, ' ') {
		return q
	}
	return s
}

func words(ss []string) string {
	out := make([]string, len(ss))
	for i, s := range ss {
		out[i] = word(s)
	}
	return strings.Join(out, " ")
}
