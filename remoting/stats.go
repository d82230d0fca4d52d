package remoting

import (
	"sync/atomic"

	"fingerpost/remoting/wire"
)

// Stats are counts since the start. They may be read at any time.
type Stats struct {
	// RouteHits and RouteMisses count answers to 105.
	RouteHits, RouteMisses atomic.Uint64
	// Registered, Reaffirmed and Refused count registrations that were decoded,
	// that were recognised by their bytes, and that lost a race or came too early.
	Registered, Reaffirmed, Refused atomic.Uint64
	// Accepted and Rejected count connections, the latter those over a limit.
	Accepted, Rejected atomic.Uint64
	// WrongProtocol counts connections that spoke something else.
	WrongProtocol atomic.Uint64
	// BadFrames counts frames and headers that could not be read.
	BadFrames atomic.Uint64
	// SlowReaders counts connections closed because the peer did not read.
	SlowReaders atomic.Uint64
	// Idle counts connections closed because nothing was said.
	Idle atomic.Uint64
	// Stalled counts connections closed because a large request or a PROXY header did
	// not arrive in time, or a large request found no room.
	Stalled atomic.Uint64
	// Notices and LostNotices count 905s sent, and those that could not be.
	Notices, LostNotices atomic.Uint64
	// Panics counts requests that ended in one.
	Panics atomic.Uint64

	requests [len(known)]atomic.Uint64
	unknown  atomic.Uint64
}

// known are the codes that are counted, in order.
var known = [...]wire.RequestCode{
	wire.PutKVConfig, wire.GetKVConfig, wire.DeleteKVConfig, wire.RegisterBroker, wire.UnregisterBroker,
	wire.GetRouteInfoByTopic, wire.GetBrokerClusterInfo, wire.WipeWritePermOfBroker, wire.GetAllTopicListFromNamesrv,
	wire.DeleteTopicInNamesrv, wire.RegisterTopicInNamesrv, wire.GetKVListByNamespace, wire.GetTopicsByCluster,
	wire.GetSystemTopicListFromNS, wire.GetUnitTopicList, wire.GetHasUnitSubTopicList, wire.GetHasUnitSubUnunitTopicList,
	wire.UpdateNamesrvConfig, wire.GetNamesrvConfig, wire.QueryDataVersion, wire.AddWritePermOfBroker,
	wire.GetBrokerMemberGroup, wire.BrokerHeartbeat,
}

var slotOf = func() map[wire.RequestCode]int {
	m := make(map[wire.RequestCode]int, len(known))
	for i, c := range known {
		m[c] = i
	}
	return m
}()

// Requests returns the number of requests by the name of their code; those that are
// not served are together under "UNKNOWN".
func (s *Stats) Requests() map[string]uint64 {
	out := make(map[string]uint64, len(known)+1)
	for i, c := range known {
		out[c.Name()] = s.requests[i].Load()
	}
	out[wire.GetRouteInfoByTopic.Name()] += s.RouteHits.Load() + s.RouteMisses.Load()
	out["UNKNOWN"] = s.unknown.Load()
	return out
}

// count counts a request, but for a route that was looked up: hits and misses are
// counted by themselves.
func (s *Stats) count(code wire.RequestCode) {
	if i, ok := slotOf[code]; ok {
		s.requests[i].Add(1)
		return
	}
	s.unknown.Add(1)
}
