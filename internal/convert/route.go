package convert

import (
	"slices"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"fingerpost/api"
	"fingerpost/registry"
)

// maxSafe is the largest integer that a reader with floating point numbers can tell
// from its neighbours; larger ones are written in quotes.
const maxSafe = 1<<53 - 1

// AppendRoute appends a route as TopicRouteData, byte for byte as it goes to clients of
// 5.x over remoting: compact, members in alphabetical order, what is null left out, no
// escapes but those that JSON demands.
func AppendRoute(dst []byte, rt *registry.Route) []byte {
	dst = append(dst, `{"brokerDatas":[`...)
	for i := range rt.Brokers {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendBroker(dst, &rt.Brokers[i])
	}
	dst = append(dst, `],"filterServerTable":{`...)
	for i, m := range filtering(rt) {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendText(dst, m.Addr)
		dst = append(dst, ':', '[')
		for j, s := range m.Filters {
			if j > 0 {
				dst = append(dst, ',')
			}
			dst = appendText(dst, s)
		}
		dst = append(dst, ']')
	}
	dst = append(dst, '}')
	if rt.HasOrder {
		dst = append(dst, `,"orderTopicConf":`...)
		dst = appendText(dst, rt.OrderConf)
	}
	dst = append(dst, `,"queueDatas":[`...)
	for i, q := range rt.Queues {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, `{"brokerName":`...)
		dst = appendText(dst, q.Broker)
		dst = append(dst, `,"perm":`...)
		dst = strconv.AppendInt(dst, int64(q.Perm), 10)
		dst = append(dst, `,"readQueueNums":`...)
		dst = strconv.AppendInt(dst, int64(q.ReadQueues), 10)
		dst = append(dst, `,"topicSysFlag":`...)
		dst = strconv.AppendInt(dst, int64(q.SysFlag), 10)
		dst = append(dst, `,"writeQueueNums":`...)
		dst = strconv.AppendInt(dst, int64(q.WriteQueues), 10)
		dst = append(dst, '}')
	}
	dst = append(dst, ']')
	if rt.Mappings != nil {
		dst = append(dst, `,"topicQueueMappingByBroker":{`...)
		ms := slices.Clone(rt.Mappings)
		slices.SortStableFunc(ms, func(a, b *registry.Mapping) int { return compareUTF16(a.Broker, b.Broker) })
		for i, m := range ms {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendText(dst, m.Broker)
			dst = append(dst, ':')
			dst = appendMapping(dst, m)
		}
		dst = append(dst, '}')
	}
	return append(dst, '}')
}

func appendBroker(dst []byte, b *registry.RouteBroker) []byte {
	dst = append(dst, `{"brokerAddrs":{`...)
	for i, m := range b.Addrs {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, '"')
		dst = strconv.AppendInt(dst, m.ID, 10)
		dst = append(dst, '"', ':')
		dst = appendText(dst, m.Addr)
	}
	dst = append(dst, `},"brokerName":`...)
	dst = appendText(dst, b.Name)
	dst = append(dst, `,"cluster":`...)
	dst = appendText(dst, b.Cluster)
	dst = append(dst, `,"enableActingMaster":`...)
	dst = strconv.AppendBool(dst, b.Acting)
	if b.HasZone {
		dst = append(dst, `,"zoneName":`...)
		dst = appendText(dst, b.Zone)
	}
	return append(dst, '}')
}

func appendMapping(dst []byte, m *registry.Mapping) []byte {
	dst = append(dst, '{')
	if m.Broker != "" {
		dst = append(dst, `"bname":`...)
		dst = appendText(dst, m.Broker)
		dst = append(dst, ',')
	}
	dst = append(dst, `"currIdMap":{`...)
	for i, id := range m.CurrIDs {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, '"')
		dst = strconv.AppendInt(dst, int64(id.Logical), 10)
		dst = append(dst, '"', ':')
		dst = strconv.AppendInt(dst, int64(id.Physical), 10)
	}
	dst = append(dst, `},"dirty":`...)
	dst = strconv.AppendBool(dst, m.Dirty)
	dst = append(dst, `,"epoch":`...)
	if m.Epoch > maxSafe || m.Epoch < -maxSafe {
		dst = append(dst, '"')
		dst = strconv.AppendInt(dst, m.Epoch, 10)
		dst = append(dst, '"')
	} else {
		dst = strconv.AppendInt(dst, m.Epoch, 10)
	}
	if m.HasScope {
		dst = append(dst, `,"scope":`...)
		dst = appendText(dst, m.Scope)
	}
	if m.Said != "" {
		dst = append(dst, `,"topic":`...)
		dst = appendText(dst, m.Said)
	}
	dst = append(dst, `,"totalQueues":`...)
	dst = strconv.AppendInt(dst, int64(m.TotalQueues), 10)
	return append(dst, '}')
}

// filtering returns the members of the route that announced filter servers, by address.
func filtering(rt *registry.Route) []registry.Member {
	var out []registry.Member
	for _, b := range rt.Brokers {
		for _, m := range b.Addrs {
			if m.Filters != nil {
				out = append(out, m)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b registry.Member) int { return compareUTF16(a.Addr, b.Addr) })
	return out
}

// compareUTF16 orders texts as Java does, by units of UTF-16: characters beyond U+FFFF
// stand before U+E000.
func compareUTF16(a, b string) int {
	for len(a) > 0 && len(b) > 0 {
		x, n := utf8.DecodeRuneInString(a)
		y, m := utf8.DecodeRuneInString(b)
		if x != y {
			return int(unit(x)) - int(unit(y))
		}
		a, b = a[n:], b[m:]
	}
	return len(a) - len(b)
}

// unit is the first unit of UTF-16 of r; two characters beyond U+FFFF with the same
// one are told apart by what follows it, which no name of ours needs.
func unit(r rune) rune {
	if hi, _ := utf16.EncodeRune(r); hi != utf8.RuneError {
		return hi
	}
	return r
}

// appendText appends a JSON text in the form of the Java NameServer 5.5: only the
// quote, the backslash and control characters are escaped, and bytes that are not
// UTF-8 become U+FFFD.
func appendText(dst []byte, s string) []byte {
	const digits = "0123456789abcdef"
	dst = append(dst, '"')
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c >= utf8.RuneSelf:
			r, n := utf8.DecodeRuneInString(s[i:])
			dst = utf8.AppendRune(dst, r)
			i += n
			continue
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c >= ' ':
			dst = append(dst, c)
		case c == '\b':
			dst = append(dst, '\\', 'b')
		case c == '\t':
			dst = append(dst, '\\', 't')
		case c == '\n':
			dst = append(dst, '\\', 'n')
		case c == '\f':
			dst = append(dst, '\\', 'f')
		case c == '\r':
			dst = append(dst, '\\', 'r')
		default:
			dst = append(dst, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
		}
		i++
	}
	return append(dst, '"')
}

// Route returns a route as a value, for lists.
func Route(rt *registry.Route) api.TopicRoute {
	out := api.TopicRoute{
		BrokerDatas: make([]api.BrokerData, 0, len(rt.Brokers)), QueueDatas: make([]api.QueueData, 0, len(rt.Queues)),
		FilterServerTable: make(map[string][]string),
	}
	for _, b := range rt.Brokers {
		out.BrokerDatas = append(out.BrokerDatas, BrokerData(b.Name, b.Cluster, b.Zone, b.HasZone, b.Acting, b.Addrs))
	}
	for _, m := range filtering(rt) {
		out.FilterServerTable[m.Addr] = m.Filters
	}
	for _, q := range rt.Queues {
		out.QueueDatas = append(out.QueueDatas, api.QueueData{
			BrokerName: q.Broker, Perm: q.Perm,
			ReadQueueNums: q.ReadQueues, WriteQueueNums: q.WriteQueues, TopicSysFlag: q.SysFlag,
		})
	}
	if rt.HasOrder {
		out.OrderTopicConf = &rt.OrderConf
	}
	if rt.Mappings != nil {
		out.TopicQueueMappingByBroker = make(map[string]api.QueueMapping, len(rt.Mappings))
		for _, m := range rt.Mappings {
			out.TopicQueueMappingByBroker[m.Broker] = mapping(m)
		}
	}
	return out
}

func mapping(m *registry.Mapping) api.QueueMapping {
	out := api.QueueMapping{
		BName: m.Broker, CurrIDMap: make(map[string]int32, len(m.CurrIDs)), Dirty: m.Dirty,
		Epoch: api.BigInt(m.Epoch), Topic: m.Said, TotalQueues: m.TotalQueues,
	}
	for _, id := range m.CurrIDs {
		out.CurrIDMap[strconv.Itoa(int(id.Logical))] = id.Physical
	}
	if m.HasScope {
		out.Scope = &m.Scope
	}
	return out
}

// BrokerData returns a group as it stands in a route and in the cluster information.
func BrokerData(name, cluster, zone string, hasZone, acting bool, members []registry.Member) api.BrokerData {
	out := api.BrokerData{BrokerAddrs: make(map[string]string, len(members)), BrokerName: name, Cluster: cluster, EnableActingMaster: acting}
	for _, m := range members {
		out.BrokerAddrs[strconv.FormatInt(m.ID, 10)] = m.Addr
	}
	if hasZone {
		out.ZoneName = &zone
	}
	return out
}
