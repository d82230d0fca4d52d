package registry

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// register NAME ID ADDR CLUSTER VERSION [TOPIC…] with the options on=CONNECTION sv=STATE
// acting=on|off zone=Z ha=ADDR timeout=D filters=A,B rest=OWNER take=over topics=none
// map=MAPPING;MAPPING.
func (s *script) register(a []string) error {
	a, opts := options(a)
	if len(a) < 5 {
		return errUsage
	}
	id, err := strconv.ParseInt(a[1], 10, 64)
	if err != nil {
		return err
	}
	v, err := parseVersion(a[4], opts)
	if err != nil {
		return err
	}
	reg := Registration{MemberInfo: MemberInfo{
		Name: a[0], ID: id, Addr: a[2], Cluster: a[3], Version: *v,
		HAAddr: opts["ha"], HasHA: opts["ha"] != "", Timeout: DefaultTimeout,
	}, Takeover: opts["take"] == "over"}
	cause := byRegistration(a[2])
	if d := opts["timeout"]; d != "" {
		if reg.Timeout, err = time.ParseDuration(d); err != nil {
			return err
		}
	}
	switch opts["acting"] {
	case "on":
		reg.Acting = ActingOn
	case "off":
		reg.Acting = ActingOff
	}
	reg.Zone, reg.HasZone = opts["zone"]
	if f, has := opts["filters"]; has {
		reg.HasFilters = true
		reg.Filters = strings.FieldsFunc(f, func(r rune) bool { return r == ',' })
	}
	if o, has := opts["rest"]; has {
		reg.Source, reg.Owner, reg.Replace = FromREST, o, true
		cause = Cause{Face: "rest", Action: "putMember", Actor: o}
	}
	if m := opts["map"]; m != "" {
		for text := range strings.SplitSeq(m, ";") {
			mapping, err := parseMapping(text, reg.Name)
			if err != nil {
				return err
			}
			reg.Mappings = append(reg.Mappings, mapping)
		}
	}
	if opts["topics"] != "none" {
		reg.Topics = s.Snapshot().NewStatement(reg.Cluster, reg.Addr)
		for _, w := range a[5:] {
			name, c, err := parseTopic(w)
			if err != nil {
				return err
			}
			reg.Topics.Add(name, c)
		}
	}
	res, err := s.Register(reg, s.conn(opts["on"]), cause)
	if err != nil {
		s.refused(err)
		return nil
	}
	s.say("%s", registeredText(res))
	return nil
}

func registeredText(r Registered) string {
	out := []string{"renewed"}
	if r.Created {
		out[0] = "created"
	}
	if !r.Changed {
		out = append(out, "unchanged")
	}
	for _, n := range []struct {
		n    int
		what string
	}{{r.NewTopics, "new"}, {r.ChangedTopics, "changed"}, {r.RemovedTopics, "removed"}, {r.SameTopics, "same"}} {
		if n.n != 0 {
			out = append(out, fmt.Sprintf("%d %s", n.n, n.what))
		}
	}
	if r.TopicsIgnored {
		out = append(out, "topics ignored")
	}
	if r.MasterAddr != "" {
		out = append(out, "master "+r.MasterAddr+" ha "+word(r.MasterHAAddr))
	}
	if r.HasOrder {
		out = append(out, fmt.Sprint("order ", r.Order[OrderNamespace]))
	}
	return strings.Join(out, ", ")
}

// unregister NAME ID ADDR CLUSTER
func (s *script) unregister(a []string) error {
	if len(a) != 4 {
		return errUsage
	}
	id, err := strconv.ParseInt(a[1], 10, 64)
	if err != nil {
		return err
	}
	removed, err := s.Unregister(a[3], a[0], a[2], id, Cause{Face: "remoting", Action: "unregisterBroker", Actor: a[2]})
	if err != nil {
		s.refused(err)
		return nil
	}
	s.say("removed: %v", removed)
	return nil
}

// heartbeat NAME ADDR CLUSTER [on=CONNECTION]
func (s *script) heartbeat(a []string) error {
	a, opts := options(a)
	if len(a) != 3 {
		return errUsage
	}
	s.say("known: %v", s.Heartbeat(a[2], a[1], a[0], s.conn(opts["on"])))
	return nil
}

// probe NAME ADDR CLUSTER VERSION|- [sv=STATE on=CONNECTION]
func (s *script) probe(a []string) error {
	a, opts := options(a)
	if len(a) != 4 {
		return errUsage
	}
	v, err := parseVersion(a[3], opts)
	if err != nil {
		return err
	}
	stored, known, changed := s.Probe(a[2], a[1], a[0], v, s.conn(opts["on"]))
	s.say("known: %v, changed: %v, stored: %d/%d/%d", known, changed, stored.State, stored.Timestamp, stored.Counter)
	return nil
}

// renew NAME ID OWNER VERSION|- [sv=STATE any=yes]
func (s *script) renew(a []string) error {
	a, opts := options(a)
	if len(a) != 4 {
		return errUsage
	}
	id, err := strconv.ParseInt(a[1], 10, 64)
	if err != nil {
		return err
	}
	v, err := parseVersion(a[3], opts)
	if err != nil {
		return err
	}
	l, changed, err := s.Renew(a[0], id, Claim{Owner: a[2], Any: opts["any"] == "yes"}, v)
	if err != nil {
		s.refused(err)
		return nil
	}
	s.say("%s lives until %v, changed: %v", l.Addr, l.ExpiresAt().Sub(clockStart), changed)
	return nil
}

// delete TOPIC [cluster=C | broker=B]
func (s *script) delete(a []string) error {
	a, opts := options(a)
	if len(a) != 1 {
		return errUsage
	}
	cause := Cause{Face: "remoting", Action: "deleteTopic"}
	var d Deleted
	if b, has := opts["broker"]; has {
		d = s.DeleteTopicOf(a[0], b, cause)
	} else {
		d = s.DeleteTopic(a[0], opts["cluster"], cause)
	}
	s.say("from %v, may return from %v", d.From, d.MayReturn)
	return nil
}

// declare TOPIC [BROKER:SPEC…]
func (s *script) declare(a []string) error {
	if len(a) == 0 {
		return errUsage
	}
	var qs []QueueData
	for _, w := range a[1:] {
		broker, c, err := parseTopic(w)
		if err != nil {
			return err
		}
		qs = append(qs, QueueData{Broker: broker, QueueSpec: c.QueueSpec})
	}
	created, err := s.DeclareTopic(a[0], qs, Cause{Face: "remoting", Action: "registerTopic"})
	if err != nil {
		s.refused(err)
		return nil
	}
	s.say("created: %v", created)
	return nil
}

// kv put NAMESPACE KEY VALUE, kv delete NAMESPACE KEY
func (s *script) keyValue(a []string) error {
	cause := Cause{Face: "remoting", Action: "kv"}
	switch {
	case len(a) == 4 && a[0] == "put":
		_, created, err := s.PutKV(a[1], a[2], a[3], KVCondition{}, cause)
		if err != nil {
			s.refused(err)
			return nil
		}
		s.say("created: %v", created)
	case len(a) == 3 && a[0] == "delete":
		removed, err := s.DeleteKV(a[1], a[2], KVCondition{}, cause)
		if err != nil {
			s.refused(err)
			return nil
		}
		s.say("removed: %v", removed)
	default:
		return errUsage
	}
	return nil
}

// rules KEY=VALUE…
func (s *script) setRules(a []string) error {
	r := s.Snapshot().Rules()
	switches := map[string]*bool{
		"supportActingMaster": &r.SupportActingMaster, "orderMessageEnable": &r.OrderMessageEnable,
		"returnOrderTopicConfigToBroker":    &r.ReturnOrderTopicConfigToBroker,
		"deleteTopicWithBrokerRegistration": &r.DeleteTopicWithBrokerRegistration,
		"notifyMinBrokerIdChanged":          &r.NotifyMinBrokerIDChanged,
		"enableAllTopicList":                &r.EnableAllTopicList, "enableTopicList": &r.EnableTopicList,
		"needWaitForService": &r.NeedWaitForService,
	}
	var changed []ConfigChange
	for _, w := range a {
		k, v, _ := strings.Cut(w, "=")
		if switches[k] == nil {
			return fmt.Errorf("no rule %q", k)
		}
		changed = append(changed, ConfigChange{Key: k, Before: fmt.Sprint(*switches[k]), After: v})
		*switches[k] = v == "true"
	}
	s.SetRules(r, changed, Cause{Face: "remoting", Action: "updateConfig"})
	return nil
}

// route TOPIC [zone=Z acting=off]
func (s *script) route(a []string) error {
	a, opts := options(a)
	if len(a) != 1 {
		return errUsage
	}
	snap := s.Snapshot()
	rt, err := snap.Route([]byte(a[0]))
	if err != nil {
		s.refused(err)
		return nil
	}
	if opts["acting"] == "off" {
		rt = snap.RouteWithoutActing(snap.Topic(a[0]))
	}
	if z, has := opts["zone"]; has {
		rt = rt.ForZone(z)
	}
	s.out.WriteString(routeText(rt))
	return nil
}

// lists ADDR CLUSTER TOPIC tells whether the broker's statement names the topic.
func (s *script) lists(a []string) error {
	if len(a) != 3 {
		return errUsage
	}
	l := s.Snapshot().Live(a[1], a[0])
	if l == nil {
		s.say("unknown")
		return nil
	}
	if since, ok := l.ListedSince(); ok {
		s.say("%v, in a list that is %v old", l.Lists(a[2]), s.clock.now().Sub(since))
	} else {
		s.say("%v, nothing of it counts", l.Lists(a[2]))
	}
	return nil
}

func routeText(rt *Route) string {
	var out strings.Builder
	for i, b := range rt.Brokers {
		fmt.Fprintf(&out, "%s in %s {%s} %s", b.Name, b.Cluster, membersText(b.Addrs), specText(rt.Queues[i].QueueSpec))
		if b.HasZone {
			fmt.Fprintf(&out, " zone %s", word(b.Zone))
		}
		if b.Acting {
			fmt.Fprint(&out, " acting")
		}
		if b.ActingID != 0 {
			fmt.Fprintf(&out, " by %d", b.ActingID)
		}
		for _, m := range b.Addrs {
			if m.Filters != nil {
				fmt.Fprintf(&out, " filters of %s: %s", m.Addr, words(m.Filters))
			}
		}
		fmt.Fprintln(&out)
	}
	if rt.HasOrder {
		fmt.Fprintf(&out, "order %s\n", word(rt.OrderConf))
	}
	for _, m := range rt.Mappings {
		fmt.Fprintf(&out, "mapping %s of %d: %v\n", m.Broker, m.TotalQueues, m.CurrIDs)
	}
	if len(rt.Brokers) == 0 {
		fmt.Fprintln(&out, "nobody")
	}
	return out.String()
}

func membersText(ms []Member) string {
	out := make([]string, len(ms))
	for i, m := range ms {
		out[i] = fmt.Sprintf("%d=%s", m.ID, m.Addr)
	}
	return strings.Join(out, " ")
}

// changeText writes a change, its parts sorted where their order means nothing.
func changeText(c *Change) string {
	var out strings.Builder
	if c.Step {
		fmt.Fprintf(&out, "%d %s\n", c.Revision, c.Cause.Action)
	} else {
		fmt.Fprintf(&out, "- %s\n", c.Cause.Action)
	}
	for _, m := range c.Members {
		fmt.Fprintf(&out, "  member %s %s %d: %s to %s", m.Op, m.Broker, m.ID, infoText(m.Before), infoText(m.After))
		if m.Code != "" || m.Detail != "" {
			fmt.Fprintf(&out, " (%s: %s)", m.Code, m.Detail)
		}
		fmt.Fprintln(&out)
	}
	var topics []string
	for _, x := range c.Topics {
		line := fmt.Sprintf("  topic %s %s %s: ", x.Op, x.Topic, x.Broker)
		switch {
		case x.Mapping:
			line += "its mapping\n"
		case x.Op == OpCreated:
			line += specText(x.After) + "\n"
		case x.Op == OpDeleted:
			line += specText(x.Before) + "\n"
		default:
			line += specText(x.Before) + " to " + specText(x.After) + "\n"
		}
		topics = append(topics, line)
	}
	slices.Sort(topics)
	out.WriteString(strings.Join(topics, ""))
	for _, x := range c.Clusters {
		fmt.Fprintf(&out, "  cluster %s %s\n", x.Op, x.Cluster)
	}
	for _, x := range c.WritePerms {
		fmt.Fprintf(&out, "  write permission %s %s, %d topics\n", x.Op, x.Broker, x.Topics)
	}
	for _, x := range c.KV {
		fmt.Fprintf(&out, "  kv %s %s %s: %q to %q\n", x.Op, x.Namespace, x.Key, x.Before, x.After)
	}
	for _, x := range c.Config {
		fmt.Fprintf(&out, "  config %s: %s to %s\n", x.Key, x.Before, x.After)
	}
	for _, x := range c.MinIDs {
		fmt.Fprintf(&out, "  tell %v: %s has min id %d at %s, offline %s, ha %s\n",
			x.NoticeToAddr, x.Broker, x.MinID, x.MinAddr, word(x.OfflineAddr), word(x.HAAddr))
	}
	return out.String()
}

func infoText(i *MemberInfo) string {
	if i == nil {
		return "nothing"
	}
	return fmt.Sprintf("%d %s %s %d/%d/%d", i.ID, i.Addr, i.Cluster, i.Version.State, i.Version.Timestamp, i.Version.Counter)
}
