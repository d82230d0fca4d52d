package wire

const maxRouteEntries = 1 << 17

// DecodeRoute reads a route in either dialect: the answer to 105, for clients, and
// the body of 217. No body and null are an empty route. Elements of lists that are
// null are left out, as are groups and queues without a name.
//
// All strings share one copy of the body. A body of more than maxRouteEntries members
// and elements, which is ten thousand groups, is refused with a limit; each costs at
// most 128 bytes.
func DecodeRoute(body []byte) (*Route, error) {
	t := &Route{}
	if len(body) == 0 {
		return t, nil
	}
	r := &cursor{b: body, bareNumbers: true, maxEntries: maxRouteEntries}
	r.document(func(r *cursor) {
		if !r.null() {
			t.decode(r)
		}
	})
	if err := r.bodyError("route"); err != nil {
		return nil, err
	}
	return t, nil
}

func (t *Route) decode(r *cursor) {
	r.open('{')
	for r.more('}') {
		switch string(r.name()) {
		case "brokerDatas":
			r.list(func() {
				if b := r.brokerData(); b.Name != "" {
					t.Brokers = append(t.Brokers, b)
				}
			})
		case "filterServerTable":
			r.table(func(addr string) {
				f := FilterServers{Addr: addr}
				r.list(func() { f.Servers = r.appendString(f.Servers) })
				t.FilterServers = append(t.FilterServers, f)
			})
		case "orderTopicConf":
			t.OrderTopicConf, t.HasOrderTopicConf = r.string()
		case "queueDatas":
			r.list(func() {
				if q := r.queueData(); q.Broker != "" {
					t.Queues = append(t.Queues, q)
				}
			})
		case "topicQueueMappingByBroker":
			t.HasMappings = r.table(func(broker string) {
				var m TopicMapping
				r.mapping(&m, r.toString)
				m.Broker = broker
				t.Mappings = append(t.Mappings, m)
			})
		default:
			r.skip()
		}
	}
}

// list calls read for each element of an array that is not null. In place of the
// array there may be null, or, as Java reads it, its only element.
func (r *cursor) list(read func()) {
	if r.absent() {
		return
	}
	if c := r.peek(); c == '{' || c == '"' || c == '\'' {
		read()
		return
	}
	r.open('[')
	for r.more(']') {
		if !r.null() {
			read()
		}
	}
}

// table calls read for each member of an object that is not null and reports whether
// there is an object; in its place there may be null.
func (r *cursor) table(read func(name string)) bool {
	if r.absent() {
		return false
	}
	r.open('{')
	for r.more('}') {
		if name := r.nameString(); !r.null() {
			read(name)
		}
	}
	return !r.bad()
}

// appendString appends the next value as a text, unless it is null.
func (r *cursor) appendString(list []string) []string {
	if s, ok := r.string(); ok {
		return append(list, s)
	}
	return list
}

func (r *cursor) brokerData() BrokerData {
	var b BrokerData
	r.open('{')
	for r.more('}') {
		switch string(r.name()) {
		case "brokerAddrs":
			b.Addrs = r.brokerAddrs()
		case "brokerName":
			b.Name, _ = r.string()
		case "cluster":
			b.Cluster, _ = r.string()
		case "enableActingMaster":
			b.EnableActingMaster = r.boolean()
		case "zoneName":
			b.Zone, b.HasZone = r.string()
		default:
			r.skip()
		}
	}
	return b
}

func (r *cursor) brokerAddrs() []BrokerAddr {
	if r.absent() {
		return nil
	}
	var addrs []BrokerAddr
	r.open('{')
	for r.more('}') {
		id := r.nameNumber()
		if addr, ok := r.string(); ok {
			addrs = append(addrs, BrokerAddr{id, addr})
		}
	}
	return lastOfEach(addrs, compareAddrs)
}

func (r *cursor) queueData() QueueData {
	var q QueueData
	r.open('{')
	for r.more('}') {
		switch string(r.name()) {
		case "brokerName":
			q.Broker, _ = r.string()
		case "readQueueNums":
			q.ReadQueues = r.int32()
		case "writeQueueNums":
			q.WriteQueues = r.int32()
		case "perm":
			q.Perm = r.int32()
		case "topicSysFlag":
			q.SysFlag = r.int32()
		default:
			r.skip()
		}
	}
	return q
}
