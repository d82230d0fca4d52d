package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"fingerpost/api"
	"fingerpost/internal/nsclient"
	"fingerpost/internal/texttable"
	"fingerpost/registry"
	"fingerpost/remoting/wire"
)

// Diff is `fingerpost diff`.
type Diff struct {
	A    string   `arg:"" help:"A name server: HOST:PORT of its remoting port, which may be the Java one, or the http:// URL of a Fingerpost."`
	B    string   `arg:"" help:"The other one."`
	Kind []string `help:"Only compare these: broker, member, topic, route, kv, setting."`
	Server
	Output
}

// Validate refuses a flag that a comparison cannot mean.
func (c *Diff) Validate() error {
	if c.URL != "" {
		return fmt.Errorf("diff takes the two servers as arguments, not --server")
	}
	return nil
}

// thing is something that two name servers should agree on.
type thing struct {
	kind, name string
}

// view is what a name server says of each thing, in words.
type view map[thing]string

// difference is a thing on which two name servers do not agree; nil is that one lacks it.
type difference struct {
	Kind string  `json:"kind"`
	Name string  `json:"name"`
	A    *string `json:"a"`
	B    *string `json:"b"`
}

// The kinds of things, in the order in which they are shown.
var diffKinds = []string{"broker", "member", "topic", "route", "kv", "setting"}

// comparedSettings are those by which name servers of one set answer alike; others, such
// as addresses and paths, are a node's own.
var comparedSettings = []string{
	"deleteTopicWithBrokerRegistration", "enableAllTopicList", "enableTopicList", "needWaitForService",
	"orderMessageEnable", "returnOrderTopicConfigToBroker", "supportActingMaster",
}

// Run compares two name servers. Both are read one after the other, so that a change in
// between shows too: what is seen twice is real.
func (c *Diff) Run(e *Env) error {
	for _, k := range c.Kind {
		if !slices.Contains(diffKinds, k) {
			return Misuse("--kind: must be of %s, not %q", strings.Join(diffKinds, ", "), k)
		}
	}
	var views [2]view
	for i, where := range []string{c.A, c.B} {
		var err error
		if strings.Contains(where, "://") {
			views[i], err = c.overREST(e, where)
		} else {
			views[i], err = c.overRemoting(e, where)
		}
		if err != nil {
			return err
		}
	}
	found := []difference{}
	tb := texttable.New("KIND", "NAME", "A", "B")
	for _, d := range compare(views[0], views[1]) {
		if len(c.Kind) == 0 || slices.Contains(c.Kind, d.Kind) {
			found = append(found, d)
			tb.Row(d.Kind, d.Name, text(d.A), text(d.B))
		}
	}
	tb.Note("A %s  B %s", c.A, c.B)
	tb.Note("compared %d things  different %d", len(views[0]), len(found))
	out := struct {
		A           string       `json:"a"`
		B           string       `json:"b"`
		Different   int          `json:"different"`
		Differences []difference `json:"differences"`
	}{c.A, c.B, len(found), found}
	if err := c.show(e, answer{out, tb}); err != nil {
		return err
	}
	if len(found) > 0 {
		return ErrDifferent
	}
	return nil
}

// compare returns what differs. The members and the routes of a broker that one side
// lacks follow from that and are left out; settings count where both have them.
func compare(a, b view) (found []difference) {
	keys := make(map[thing]bool)
	for k := range a {
		keys[k] = true
	}
	for k := range b {
		keys[k] = true
	}
	for k := range keys {
		x, inA := a[k]
		y, inB := b[k]
		if x == y && inA == inB || k.kind == "setting" && inA != inB || lacksBroker(k, a, b) {
			continue
		}
		d := difference{Kind: k.kind, Name: k.name}
		if inA {
			d.A = &x
		}
		if inB {
			d.B = &y
		}
		found = append(found, d)
	}
	slices.SortFunc(found, func(x, y difference) int {
		if n := slices.Index(diffKinds, x.Kind) - slices.Index(diffKinds, y.Kind); n != 0 {
			return n
		}
		return strings.Compare(x.Name, y.Name)
	})
	return found
}

// lacksBroker reports whether a thing follows from a broker that one side does not have.
func lacksBroker(k thing, a, b view) bool {
	broker := ""
	switch k.kind {
	case "member":
		broker = k.name[:strings.LastIndexByte(k.name, '/')]
	case "route":
		broker = k.name[strings.LastIndex(k.name, onBroker)+len(onBroker):]
	default:
		return false
	}
	_, inA := a[thing{"broker", broker}]
	_, inB := b[thing{"broker", broker}]
	return inA != inB
}

// onBroker stands between a topic and the broker that serves it.
const onBroker = " on "

func (v view) put(kind, name, format string, args ...any) {
	v[thing{kind, name}] = fmt.Sprintf(format, args...)
}

func (v view) broker(b *api.BrokerData) {
	words := "cluster " + b.Cluster
	if z := text(b.ZoneName); z != "" {
		words += ", zone " + z
	}
	v.put("broker", b.BrokerName, "%s", words)
	for id, addr := range b.BrokerAddrs {
		v.put("member", b.BrokerName+"/"+id, "%s", addr)
	}
}

func (v view) route(topic string, rt *api.TopicRoute) {
	v.put("topic", topic, "there")
	for _, q := range rt.QueueDatas {
		words := fmt.Sprintf("read %d, write %d, perm %d, flag %d", q.ReadQueueNums, q.WriteQueueNums, q.Perm, q.TopicSysFlag)
		if m, ok := rt.TopicQueueMappingByBroker[q.BrokerName]; ok {
			words += fmt.Sprintf(", static queues %d of %d, epoch %v", len(m.CurrIDMap), m.TotalQueues, m.Epoch)
		}
		v.put("route", topic+onBroker+q.BrokerName, "%s", words)
	}
}

func (v view) settings(values map[string]string) {
	for _, k := range comparedSettings {
		if value, ok := values[k]; ok {
			v.put("setting", k, "%s", value)
		}
	}
}

// overREST reads a Fingerpost. A token counts for both servers.
func (c *Diff) overREST(e *Env, url string) (view, error) {
	s := c.Server
	s.URL = url
	t, err := s.dial(e)
	if err != nil {
		return nil, err
	}
	defer t.CloseIdleConnections()
	v := make(view)
	ask := func(f func(context.Context) error) {
		if err == nil {
			err = t.ask(e, f)
		}
	}
	ask(func(ctx context.Context) error {
		info, err := t.ClusterInfo(ctx, api.Read{})
		for _, b := range info.BrokerAddrTable {
			v.broker(&b)
		}
		return err
	})
	ask(func(ctx context.Context) error {
		return paged(0, func(limit int, after string) (int, string, error) {
			page, err := t.Routes(ctx, api.RoutesOptions{List: api.List{Limit: limit, After: after, Match: "*"}})
			for i := range page.Items {
				v.route(page.Items[i].Topic, &page.Items[i].Route)
			}
			return len(page.Items), page.Next, err
		})
	})
	ask(func(ctx context.Context) error {
		table, err := t.KVTable(ctx, registry.OrderNamespace, api.Read{})
		if Status(err) == Absent {
			return nil
		}
		v.keys(table.Table)
		return err
	})
	ask(func(ctx context.Context) error {
		cfg, err := t.Config(ctx, api.List{})
		values := make(map[string]string)
		for _, it := range cfg.Items {
			values[it.Key] = it.Value
		}
		v.settings(values)
		return err
	})
	return v, err
}

// keys are the order configuration: the namespace that belongs to the protocol, and
// which every name server can be asked for.
func (v view) keys(table map[string]string) {
	for k, value := range table {
		v.put("kv", registry.OrderNamespace+"/"+k, "%s", value)
	}
}

// overRemoting reads any name server, topic after topic.
func (c *Diff) overRemoting(e *Env, addr string) (view, error) {
	r, err := dialRemoting(e.Ctx, addr, c.Timeout)
	if err != nil {
		return nil, remotingFailed(err, addr)
	}
	defer r.close()
	v, err := r.view(e.Ctx)
	return v, remotingFailed(err, addr)
}

func (r *remotingReading) view(ctx context.Context) (view, error) {
	v := make(view)
	info, err := r.Clusters(ctx)
	if err != nil {
		return nil, err
	}
	for _, b := range info.Brokers {
		d := api.BrokerData{BrokerName: b.Name, Cluster: b.Cluster, BrokerAddrs: make(map[string]string)}
		if b.HasZone {
			d.ZoneName = &b.Zone
		}
		for _, a := range b.Addrs {
			d.BrokerAddrs[fmt.Sprint(a.ID)] = a.Addr
		}
		v.broker(&d)
	}
	topics, err := r.Topics(ctx)
	if err != nil {
		return nil, err
	}
	for _, topic := range topics {
		rt, err := r.routeOf(ctx, topic, "")
		switch {
		case nsclient.Is(err, wire.TopicNotExist):
			continue // listed, but without a live broker, or gone meanwhile
		case err != nil:
			return nil, err
		}
		v.route(topic, rt)
	}
	entries, err := r.KVList(ctx, registry.OrderNamespace)
	if err != nil && !nsclient.Is(err, wire.QueryNotFound) {
		return nil, err
	}
	table := make(map[string]string, len(entries))
	for _, f := range entries {
		table[f.Name] = f.Value
	}
	v.keys(table)
	values, err := r.Config(ctx)
	if err != nil {
		return nil, err
	}
	v.settings(values)
	return v, nil
}
