package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"fingerpost/api"
	"fingerpost/internal/convert"
	"fingerpost/internal/nsclient"
	"fingerpost/internal/texttable"
	"fingerpost/remoting/wire"
)

// remotingReading reads over the remoting port. What only a Fingerpost knows is left
// out of its answers; what is there has the names that the API gives it.
type remotingReading struct{ *nsclient.Client }

// dialRemoting connects. wait bounds that and each answer.
func dialRemoting(ctx context.Context, addr string, wait time.Duration) (*remotingReading, error) {
	if _, _, err := net.SplitHostPort(addr); err != nil {
		return nil, Misuse("--remoting: %q is no address such as 127.0.0.1:9876", addr)
	}
	c, err := nsclient.Dial(ctx, addr, nsclient.Options{Timeout: wait})
	if err != nil {
		return nil, err
	}
	return &remotingReading{c}, nil
}

func (r *remotingReading) close() { _ = r.Close() }

// remotingFailed makes of an error a sentence that says what to do.
func remotingFailed(err error, addr string) error {
	var own *Error
	var refused *nsclient.Error
	var dns *net.DNSError
	var frame *wire.FrameError
	switch {
	case err == nil, errors.As(err, &own):
		return err
	case errors.As(err, &refused):
		return &Error{refusedStatus(refused), fmt.Errorf("%s answers: %s", addr, firstLine(refused))}
	case errors.Is(err, context.Canceled):
		return errors.New("broken off")
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("nothing answers at %s: is a name server running there? Its remoting port is 9876 unless it was changed", addr)
	case errors.As(err, &dns):
		return fmt.Errorf("the host name %s is not known: check --remoting", dns.Name)
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded):
		return fmt.Errorf("no answer from %s in time: raise --timeout, or check that the address is a remoting port", addr)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.As(err, &frame):
		return fmt.Errorf("what %s answers is not RocketMQ's protocol: is it a remoting port, not HTTP, without TLS?", addr)
	}
	return fmt.Errorf("%s: %w", addr, err)
}

func refusedStatus(e *nsclient.Error) int {
	switch {
	case e.Code == wire.TopicNotExist, e.Code == wire.QueryNotFound:
		return Absent
	case e.Code == wire.NoPermission:
		return Denied
	}
	return Failed
}

// firstLine is what a server says, without the links that the Java one adds.
func firstLine(e *nsclient.Error) string {
	line, _, _ := strings.Cut(strings.TrimSpace(e.Remark), "\n")
	if line == "" {
		return e.Code.String()
	}
	return line
}

func (r *remotingReading) route(ctx context.Context, topic, zone string) (answer, error) {
	rt, err := r.routeOf(ctx, topic, zone)
	if err != nil {
		return answer{}, err
	}
	return answer{rt, routeTable(topic, rt)}, nil
}

// routeOf returns a route in the API's form, sorted as it is there.
func (r *remotingReading) routeOf(ctx context.Context, topic, zone string) (*api.TopicRoute, error) {
	fields := wire.Fields{{Name: wire.FieldTopic, Value: topic}, {Name: wire.FieldAcceptStrictJSON, Value: "true"}}
	if zone != "" {
		fields = append(fields, wire.Field{Name: wire.FieldZoneMode, Value: "true"}, wire.Field{Name: wire.FieldZoneName, Value: zone})
	}
	resp, err := r.Call(ctx, wire.GetRouteInfoByTopic, fields, nil)
	if err != nil {
		return nil, err
	}
	rt, err := wire.DecodeRoute(resp.Body)
	if err != nil {
		return nil, err
	}
	out := new(api.TopicRoute)
	if err := json.Unmarshal(rt.AppendJSON(nil, wire.Strict), out); err != nil {
		return nil, fmt.Errorf("the route that came: %w", err)
	}
	slices.SortFunc(out.BrokerDatas, func(a, b api.BrokerData) int { return strings.Compare(a.BrokerName, b.BrokerName) })
	slices.SortFunc(out.QueueDatas, func(a, b api.QueueData) int { return strings.Compare(a.BrokerName, b.BrokerName) })
	return out, nil
}

// named is a list of topics of which no more than the names is known.
type named struct {
	Total int         `json:"total"`
	Items []namedItem `json:"items"`
}

type namedItem struct {
	Topic string `json:"topic"`
}

func (r *remotingReading) topics(ctx context.Context, f topicsAsked) (answer, error) {
	if len(f.brokers) > 0 || len(f.types) > 0 || f.stale {
		return answer{}, Misuse("the remoting port lists topics by --cluster and by name only")
	}
	names, err := r.topicNames(ctx, f.clusters)
	if err != nil {
		return answer{}, err
	}
	slices.Sort(names)
	names = slices.Compact(names)
	if f.match != "" {
		names = slices.DeleteFunc(names, func(n string) bool { return !convert.Match(f.match, n) })
	}
	out := named{Total: len(names), Items: []namedItem{}}
	if f.limit > 0 && len(names) > f.limit {
		names = names[:f.limit]
	}
	tb := texttable.New("TOPIC")
	for _, n := range names {
		tb.Row(n)
		out.Items = append(out.Items, namedItem{n})
	}
	tb.Note("total %d  shown %d", out.Total, len(names))
	return answer{out, tb}, nil
}

func (r *remotingReading) topicNames(ctx context.Context, clusters []string) ([]string, error) {
	if len(clusters) == 0 {
		return r.Topics(ctx)
	}
	var names []string
	for _, c := range clusters {
		more, err := r.TopicsByCluster(ctx, c)
		if err != nil {
			return nil, err
		}
		names = append(names, more...)
	}
	return names, nil
}

// parts is a topic as far as its route tells.
type parts struct {
	Topic   string `json:"topic"`
	Brokers []part `json:"brokers"`
}

type part struct {
	BrokerName     string `json:"brokerName"`
	ClusterName    string `json:"clusterName"`
	ReadQueueNums  int32  `json:"readQueueNums"`
	WriteQueueNums int32  `json:"writeQueueNums"`
	Perm           int32  `json:"perm"`
	PermText       string `json:"permText"`
	TopicSysFlag   int32  `json:"topicSysFlag"`
}

func (r *remotingReading) topic(ctx context.Context, topic string) (answer, error) {
	rt, err := r.routeOf(ctx, topic, "")
	if err != nil {
		return answer{}, err
	}
	clusters := make(map[string]string)
	for _, b := range rt.BrokerDatas {
		clusters[b.BrokerName] = b.Cluster
	}
	out := parts{Topic: topic}
	tb := texttable.New("BROKER", "CLUSTER", "READ", "WRITE", "PERM", "FLAG")
	for _, q := range rt.QueueDatas {
		p := part{q.BrokerName, clusters[q.BrokerName], q.ReadQueueNums, q.WriteQueueNums, q.Perm, convert.PermText(q.Perm), q.TopicSysFlag}
		out.Brokers = append(out.Brokers, p)
		tb.Row(p.BrokerName, p.ClusterName, p.ReadQueueNums, p.WriteQueueNums, p.PermText, p.TopicSysFlag)
	}
	tb.Note("topic %s", texttable.Cell(topic))
	return answer{out, tb}, nil
}

// groups is a list of brokers as far as the remoting port tells.
type groups struct {
	Total int     `json:"total"`
	Items []group `json:"items"`
}

type group struct {
	BrokerName         string  `json:"brokerName"`
	ClusterName        string  `json:"clusterName"`
	ZoneName           *string `json:"zoneName,omitempty"`
	EnableActingMaster bool    `json:"enableActingMaster"`
	HasMaster          bool    `json:"hasMaster"`
	Members            []peer  `json:"members"`
}

type peer struct {
	BrokerID   int64  `json:"brokerId"`
	Role       string `json:"role"`
	BrokerAddr string `json:"brokerAddr"`
}

func (r *remotingReading) brokers(ctx context.Context, f brokersAsked) (answer, error) {
	info, err := r.Clusters(ctx)
	if err != nil {
		return answer{}, err
	}
	slices.SortFunc(info.Brokers, func(a, b wire.BrokerData) int { return strings.Compare(a.Name, b.Name) })
	out := groups{Items: []group{}}
	tb := texttable.New("BROKER", "ID", "ROLE", "CLUSTER", "ZONE", "ADDRESS")
	for _, b := range info.Brokers {
		switch {
		case f.match != "" && !convert.Match(f.match, b.Name),
			len(f.clusters) > 0 && !slices.Contains(f.clusters, b.Cluster),
			len(f.zones) > 0 && !slices.Contains(f.zones, b.Zone):
			continue
		}
		g := group{BrokerName: b.Name, ClusterName: b.Cluster, EnableActingMaster: b.EnableActingMaster, Members: []peer{}}
		if b.HasZone {
			g.ZoneName = &b.Zone
		}
		for _, m := range b.Addrs {
			role := "slave"
			if m.ID == 0 {
				role, g.HasMaster = "master", true
			}
			g.Members = append(g.Members, peer{m.ID, role, m.Addr})
			tb.Row(b.Name, m.ID, role, b.Cluster, b.Zone, m.Addr)
		}
		out.Items = append(out.Items, g)
	}
	out.Total = len(out.Items)
	tb.Note("brokers %d  members %d", out.Total, tb.Rows())
	return answer{out, tb}, nil
}

// clusterNames is a list of clusters as far as the remoting port tells.
type clusterNames struct {
	Total int           `json:"total"`
	Items []clusterName `json:"items"`
}

type clusterName struct {
	ClusterName string   `json:"clusterName"`
	BrokerNames []string `json:"brokerNames"`
	Zones       []string `json:"zones"`
	MemberCount int      `json:"memberCount"`
	MasterCount int      `json:"masterCount"`
}

func (r *remotingReading) clusters(ctx context.Context) (answer, error) {
	info, err := r.Clusters(ctx)
	if err != nil {
		return answer{}, err
	}
	brokers := make(map[string]*wire.BrokerData)
	for i := range info.Brokers {
		brokers[info.Brokers[i].Name] = &info.Brokers[i]
	}
	slices.SortFunc(info.Clusters, func(a, b wire.Cluster) int { return strings.Compare(a.Name, b.Name) })
	out := clusterNames{Total: len(info.Clusters), Items: []clusterName{}}
	tb := texttable.New("CLUSTER", "BROKERS", "MEMBERS", "MASTERS", "ZONES", "NAMES")
	for _, c := range info.Clusters {
		n := clusterName{ClusterName: c.Name, BrokerNames: slices.Sorted(slices.Values(c.Brokers)), Zones: []string{}}
		zones := make(map[string]bool)
		for _, name := range n.BrokerNames {
			b := brokers[name]
			if b == nil {
				continue
			}
			n.MemberCount += len(b.Addrs)
			if len(b.Addrs) > 0 && b.Addrs[0].ID == 0 {
				n.MasterCount++
			}
			if b.Zone != "" {
				zones[b.Zone] = true
			}
		}
		n.Zones = append(n.Zones, slices.Sorted(maps.Keys(zones))...)
		out.Items = append(out.Items, n)
		tb.Row(n.ClusterName, len(n.BrokerNames), n.MemberCount, n.MasterCount, n.Zones, n.BrokerNames)
	}
	return answer{out, tb}, nil
}

// pairs is settings as far as the remoting port tells.
type pairs struct {
	Total int    `json:"total"`
	Items []pair `json:"items"`
}

type pair struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

func (r *remotingReading) config(ctx context.Context, match string) (answer, error) {
	settings, err := r.Config(ctx)
	if err != nil {
		return answer{}, err
	}
	out := pairs{Items: []pair{}}
	tb := texttable.New("KEY", "VALUE")
	for _, k := range slices.Sorted(maps.Keys(settings)) {
		if match == "" || convert.Match(match, k) {
			out.Items = append(out.Items, pair{k, settings[k]})
			tb.Row(k, settings[k])
		}
	}
	out.Total = len(out.Items)
	return answer{out, tb}, nil
}

func (r *remotingReading) namespaces(context.Context) (answer, error) {
	return answer{}, Misuse("the remoting port cannot list namespaces: name one, such as ORDER_TOPIC_CONFIG")
}

func (r *remotingReading) keys(ctx context.Context, namespace string) (answer, error) {
	entries, err := r.KVList(ctx, namespace)
	if err != nil {
		return answer{}, err
	}
	out := struct {
		Namespace string            `json:"namespace"`
		Table     map[string]string `json:"table"`
	}{namespace, make(map[string]string, len(entries))}
	for _, f := range entries {
		out.Table[f.Name] = f.Value
	}
	return answer{out, keysTable(out.Table)}, nil
}

func (r *remotingReading) key(ctx context.Context, namespace, key string) (*api.KVEntry, error) {
	v, err := r.KV(ctx, namespace, key)
	if err != nil {
		return nil, err
	}
	return &api.KVEntry{Namespace: namespace, Key: key, Value: v}, nil
}
