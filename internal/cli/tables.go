package cli

import (
	"cmp"
	"maps"
	"slices"
	"strconv"

	"fingerpost/api"
	"fingerpost/internal/convert"
	"fingerpost/internal/texttable"
)

// routeTable is a route for people: a line for each address.
func routeTable(topic string, rt *api.TopicRoute) *texttable.Table {
	queues := make(map[string]api.QueueData, len(rt.QueueDatas))
	writable := 0
	for _, q := range rt.QueueDatas {
		queues[q.BrokerName] = q
		if q.Perm&permWrite != 0 {
			writable += int(q.WriteQueueNums)
		}
	}
	tb := texttable.New("BROKER", "CLUSTER", "ZONE", "PERM", "WRITE", "READ", "ID", "ROLE", "ADDRESS")
	for _, b := range rt.BrokerDatas {
		q := queues[b.BrokerName]
		for _, id := range sortedIDs(b.BrokerAddrs) {
			tb.Row(b.BrokerName, b.Cluster, text(b.ZoneName), convert.PermText(q.Perm), q.WriteQueueNums, q.ReadQueueNums, id, roleOf(id), b.BrokerAddrs[id])
		}
	}
	tb.Note("topic %s  brokers %d  writable queues %d", texttable.Cell(topic), len(rt.BrokerDatas), writable)
	if rt.OrderTopicConf != nil {
		tb.Note("order configuration %s", texttable.Cell(*rt.OrderTopicConf))
	}
	return tb
}

// permWrite is the part of a permission that allows to write.
const permWrite = 2

func roleOf(id string) string {
	if id == "0" {
		return "master"
	}
	return "slave"
}

// sortedIDs returns the ids of a broker's addresses in the order of numbers.
func sortedIDs(addrs map[string]string) []string {
	return slices.SortedFunc(maps.Keys(addrs), func(a, b string) int {
		x, _ := strconv.ParseInt(a, 10, 64)
		y, _ := strconv.ParseInt(b, 10, 64)
		return cmp.Or(cmp.Compare(x, y), cmp.Compare(a, b))
	})
}

func keysTable(table map[string]string) *texttable.Table {
	tb := texttable.New("KEY", "VALUE")
	for _, k := range slices.Sorted(maps.Keys(table)) {
		tb.Row(k, table[k])
	}
	return tb
}
