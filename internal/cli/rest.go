package cli

import (
	"context"
	"strings"

	"fingerpost/api"
	"fingerpost/internal/convert"
	"fingerpost/internal/texttable"
)

// restReading reads over the API.
type restReading struct{ *target }

// pageSize is how many items one question asks for.
const pageSize = 1000

// paged calls read for page after page until there is none, or there are limit items;
// 0 is no limit. read takes how many to ask for and where to begin, and returns how many
// came and where the next page begins.
func paged(limit int, read func(limit int, after string) (n int, next string, err error)) error {
	after := ""
	for left := limit; limit == 0 || left > 0; {
		ask := pageSize
		if limit > 0 {
			ask = min(ask, left)
		}
		n, next, err := read(ask, after)
		if err != nil || next == "" {
			return err
		}
		left, after = left-n, next
	}
	return nil
}

func (r restReading) route(ctx context.Context, topic, zone string) (answer, error) {
	rt, err := r.Route(ctx, topic, api.RouteOptions{Zone: zone})
	if err != nil {
		return answer{}, err
	}
	return answer{rt, routeTable(topic, rt)}, nil
}

func (r restReading) topics(ctx context.Context, f topicsAsked) (answer, error) {
	o := api.TopicsOptions{List: api.List{Match: f.match}, TopicFilter: api.TopicFilter{Clusters: f.clusters, Brokers: f.brokers, Types: f.types}}
	if f.stale {
		o.Stale = &f.stale
	}
	out := api.TopicList{Items: []api.TopicSummary{}}
	err := paged(f.limit, func(limit int, after string) (int, string, error) {
		o.Limit, o.After = limit, after
		page, err := r.Topics(ctx, o)
		if err != nil {
			return 0, "", err
		}
		out.Revision, out.Total, out.Next, out.Items = page.Revision, page.Total, page.Next, append(out.Items, page.Items...)
		return len(page.Items), page.Next, nil
	})
	tb := texttable.New("TOPIC", "TYPE", "MESSAGE", "CLUSTERS", "BROKERS", "READ", "WRITE", "PERM", "ORDER", "STALE", "UPDATED")
	for i := range out.Items {
		t := &out.Items[i]
		perm := t.PermText
		if t.PermMixed {
			perm += "*"
		}
		tb.Row(t.Topic, t.Type, t.MessageType, t.Clusters, t.BrokerCount, t.ReadQueueNums, t.WriteQueueNums, perm, t.Order, t.Stale, when(t.UpdatedAt))
	}
	tb.Note("total %d  shown %d", out.Total, len(out.Items))
	return answer{out, tb}, err
}

func (r restReading) topic(ctx context.Context, topic string) (answer, error) {
	t, err := r.Topic(ctx, topic, api.Read{})
	if err != nil {
		return answer{}, err
	}
	tb := texttable.New("BROKER", "CLUSTER", "READ", "WRITE", "PERM", "REGISTERED", "FLAG", "ORDER")
	for _, p := range t.Brokers {
		tb.Row(p.BrokerName, p.ClusterName, p.ReadQueueNums, p.WriteQueueNums, p.PermText, convert.PermText(p.RegisteredPerm), p.TopicSysFlag, p.Order)
	}
	tb.Note("topic %s  type %s  message %s  updated %s  digest %s", texttable.Cell(t.Topic), t.Type, t.MessageType, when(t.UpdatedAt), t.Digest)
	if t.OrderConf != nil {
		tb.Note("order configuration %s", texttable.Cell(*t.OrderConf))
	}
	return answer{t, tb}, nil
}

func (r restReading) brokers(ctx context.Context, f brokersAsked) (answer, error) {
	out := api.BrokerList{Items: []api.BrokerSet{}}
	o := api.BrokersOptions{List: api.List{Match: f.match}, Clusters: f.clusters, Zones: f.zones}
	err := paged(0, func(limit int, after string) (int, string, error) {
		o.Limit, o.After = limit, after
		page, err := r.Brokers(ctx, o)
		if err != nil {
			return 0, "", err
		}
		out.Revision, out.Total, out.Items = page.Revision, page.Total, append(out.Items, page.Items...)
		return len(page.Items), page.Next, nil
	})
	tb := texttable.New("BROKER", "ID", "ROLE", "CLUSTER", "ZONE", "ADDRESS", "SOURCE", "STATE", "LEFT", "TOPICS", "WRITE", "VERSION")
	for i := range out.Items {
		for j := range out.Items[i].Members {
			m := &out.Items[i].Members[j]
			tb.Row(m.BrokerName, m.BrokerID, m.Role, m.ClusterName, text(m.ZoneName), m.BrokerAddr, m.Source, m.State, texttable.Left(m.LeftMillis),
				m.TopicCount, m.WritePerm, m.Version)
		}
	}
	tb.Note("brokers %d  members %d", len(out.Items), tb.Rows())
	for i := range out.Items {
		if b := &out.Items[i]; len(b.Problems) > 0 {
			tb.Note("problem %s: %s", texttable.Cell(b.BrokerName), strings.Join(b.Problems, ", "))
		}
	}
	return answer{out, tb}, err
}

func (r restReading) clusters(ctx context.Context) (answer, error) {
	out := api.ClusterList{Items: []api.Cluster{}}
	err := paged(0, func(limit int, after string) (int, string, error) {
		page, err := r.Clusters(ctx, api.List{Limit: limit, After: after})
		if err != nil {
			return 0, "", err
		}
		out.Revision, out.Total, out.Items = page.Revision, page.Total, append(out.Items, page.Items...)
		return len(page.Items), page.Next, nil
	})
	tb := texttable.New("CLUSTER", "BROKERS", "MEMBERS", "MASTERS", "TOPICS", "ZONES", "HEALTH", "NAMES")
	for _, c := range out.Items {
		tb.Row(c.ClusterName, len(c.BrokerNames), c.MemberCount, c.MasterCount, c.TopicCount, c.Zones, c.Health, c.BrokerNames)
	}
	for _, c := range out.Items {
		for _, p := range c.Problems {
			tb.Note("problem %s: %s", texttable.Cell(p.BrokerName), p.Code)
		}
	}
	return answer{out, tb}, err
}

func (r restReading) config(ctx context.Context, match string) (answer, error) {
	c, err := r.Config(ctx, api.List{Match: match})
	if err != nil {
		return answer{}, err
	}
	tb := texttable.New("KEY", "VALUE", "SOURCE", "DEFAULT")
	for _, it := range c.Items {
		tb.Row(it.Key, it.Value, it.Source, it.Default)
	}
	return answer{c, tb}, nil
}

func (r restReading) namespaces(ctx context.Context) (answer, error) {
	n, err := r.KVNamespaces(ctx, api.Read{})
	if err != nil {
		return answer{}, err
	}
	tb := texttable.New("NAMESPACE", "KEYS", "BYTES")
	for _, i := range n.Items {
		tb.Row(i.Namespace, i.Keys, i.Bytes)
	}
	return answer{n, tb}, nil
}

func (r restReading) keys(ctx context.Context, namespace string) (answer, error) {
	t, err := r.KVTable(ctx, namespace, api.Read{})
	if err != nil {
		return answer{}, err
	}
	return answer{t, keysTable(t.Table)}, nil
}

func (r restReading) key(ctx context.Context, namespace, key string) (*api.KVEntry, error) {
	return r.KV(ctx, namespace, key, api.Read{})
}
