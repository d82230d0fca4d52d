package wire

import (
	"cmp"
	"strconv"
)

// Route is the answer to 105 and the body of 217: which brokers hold a topic.
type Route struct {
	Brokers []BrokerData
	// FilterServers are those of each address that has any, ascending by address.
	FilterServers []FilterServers
	// OrderTopicConf is the topic's entry in the order configuration; HasOrderTopicConf
	// tells an empty one from none.
	OrderTopicConf    string
	HasOrderTopicConf bool
	Queues            []QueueData
	// Mappings are those of a static topic, ascending by the broker under whose name
	// they stand; HasMappings tells an empty table, which is written, from none.
	Mappings    []TopicMapping
	HasMappings bool
}

// BrokerData is one group of brokers: a name, and an address for each id.
type BrokerData struct {
	// Addrs are ascending by id; 0 is the master.
	Addrs              []BrokerAddr
	Name               string
	Cluster            string
	EnableActingMaster bool
	// Zone is where the group stands; HasZone tells an empty name from none.
	Zone    string
	HasZone bool
}

// BrokerAddr is a member of a group.
type BrokerAddr struct {
	ID   int64
	Addr string
}

// FilterServers are the filter servers of one broker.
type FilterServers struct {
	Addr    string
	Servers []string
}

// QueueData is how one group holds one topic.
type QueueData struct {
	Broker      string
	ReadQueues  int32
	WriteQueues int32
	Perm        int32
	SysFlag     int32
}

// AppendJSON appends the route. Brokers and Queues stand in the order given, the rest
// in the order of its keys; nothing is allocated when it is given so.
func (t *Route) AppendJSON(dst []byte, d Dialect) []byte {
	dst = append(dst, `{"brokerDatas":[`...)
	for i := range t.Brokers {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = t.Brokers[i].AppendJSON(dst, d)
	}
	dst = append(dst, `],"filterServerTable":{`...)
	filters := sorted(t.FilterServers, func(a, b FilterServers) int { return compareText(a.Addr, b.Addr) })
	for i := range filters {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = AppendString(dst, filters[i].Addr)
		dst = append(dst, ':')
		dst = appendStrings(dst, filters[i].Servers)
	}
	dst = append(dst, '}')
	if t.HasOrderTopicConf || t.OrderTopicConf != "" {
		dst = append(dst, `,"orderTopicConf":`...)
		dst = AppendString(dst, t.OrderTopicConf)
	}
	dst = append(dst, `,"queueDatas":[`...)
	for i := range t.Queues {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = t.Queues[i].appendJSON(dst)
	}
	dst = append(dst, ']')
	if t.HasMappings || len(t.Mappings) > 0 {
		dst = append(dst, `,"topicQueueMappingByBroker":{`...)
		mappings := sorted(t.Mappings, func(a, b TopicMapping) int { return compareText(a.Broker, b.Broker) })
		for i := range mappings {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = AppendString(dst, mappings[i].Broker)
			dst = append(dst, ':')
			dst = mappings[i].AppendJSON(dst, d)
		}
		dst = append(dst, '}')
	}
	return append(dst, '}')
}

// AppendJSON appends the group as it stands in a route and in the cluster information.
func (b *BrokerData) AppendJSON(dst []byte, d Dialect) []byte {
	dst = append(dst, `{"brokerAddrs":`...)
	dst = appendAddrs(dst, b.Addrs, d)
	dst = append(dst, `,"brokerName":`...)
	dst = AppendString(dst, b.Name)
	dst = append(dst, `,"cluster":`...)
	dst = AppendString(dst, b.Cluster)
	dst = append(dst, `,"enableActingMaster":`...)
	dst = strconv.AppendBool(dst, b.EnableActingMaster)
	if b.HasZone || b.Zone != "" {
		dst = append(dst, `,"zoneName":`...)
		dst = AppendString(dst, b.Zone)
	}
	return append(dst, '}')
}

// appendAddrs appends addresses by id, ascending. There are no blanks: the Go client
// cuts this object apart at its commas and colons.
func appendAddrs(dst []byte, addrs []BrokerAddr, d Dialect) []byte {
	dst = append(dst, '{')
	for i, a := range sorted(addrs, compareAddrs) {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendKey(dst, a.ID, d)
		dst = AppendString(dst, a.Addr)
	}
	return append(dst, '}')
}

func compareAddrs(a, b BrokerAddr) int { return cmp.Compare(a.ID, b.ID) }

func (q *QueueData) appendJSON(dst []byte) []byte {
	dst = append(dst, `{"brokerName":`...)
	dst = AppendString(dst, q.Broker)
	dst = append(dst, `,"perm":`...)
	dst = strconv.AppendInt(dst, int64(q.Perm), 10)
	dst = append(dst, `,"readQueueNums":`...)
	dst = strconv.AppendInt(dst, int64(q.ReadQueues), 10)
	dst = append(dst, `,"topicSysFlag":`...)
	dst = strconv.AppendInt(dst, int64(q.SysFlag), 10)
	dst = append(dst, `,"writeQueueNums":`...)
	dst = strconv.AppendInt(dst, int64(q.WriteQueues), 10)
	return append(dst, '}')
}
