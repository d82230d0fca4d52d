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
	// Invalid counts those that could not be read.
	Registered, Reaffirmed, Refused, Invalid atomic.Uint64
	// Heartbeats counts 904s and 322s of members that are registered.
	Heartbeats atomic.Uint64
	// Accepted and Rejected count connections, the latter those over a limit.
	Accepted, Rejected atomic.Uint64
	// WrongProtocol counts connections that spoke something else, among them Handshakes
	// that failed.
	WrongProtocol, Handshakes atomic.Uint64
	// BadFrames counts frames and headers that could not be read, among them OverLimit
	// frames that were too large.
	BadFrames, OverLimit atomic.Uint64
	// Unasked counts frames that are answers: nothing was asked, so they are dropped.
	Unasked atomic.Uint64
	// CutShort counts connections whose peers ended them in the middle of a request. With
	// the requests that were answered, Unasked, BadFrames, WrongProtocol and those below,
	// all that came is accounted for.
	CutShort atomic.Uint64
	// SlowReaders counts connections closed because the peer did not read.
	SlowReaders atomic.Uint64
	// Idle counts connections closed because nothing was said.
	Idle atomic.Uint64
	// Evicted counts connections closed because the brokers that they held expired.
	Evicted atomic.Uint64
	// Stalled counts connections closed because a large request or a PROXY header did
	// not arrive in time, or a large request found no room.
	Stalled atomic.Uint64
	// Notices and LostNotices count 905s sent, and those that could not be.
	Notices, LostNotices atomic.Uint64
	// Overloaded counts requests answered with code 2 because too much was asked at once.
	Overloaded atomic.Uint64
	// Panics counts requests that ended in one.
	Panics atomic.Uint64

	// Durations are how long requests took by class, from when they had come to when
	// their answers were ready to be written. Of [ClassRoute] only samples are taken,
	// see there; of the others every request is measured.
	Durations [len(classNames)]Durations
	// Bodies are the sizes in bytes of the bodies of registrations.
	Bodies Sizes

	answers [len(known) + 1][len(resultNames)]atomic.Uint64
	ended   traffic // of connections that have ended
	denied  denials
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

// Class groups requests that take about as long.
type Class uint8

// The classes.
const (
	// ClassRoute are lookups of routes. They are so many and so short that measuring
	// each would cost more than some of them do. What is measured is what came in one
	// read of a connection, at most every 100 ms for each: its time divided by the
	// number of its requests counts as one. Lookups with unusual fields are measured one
	// by one as of all other classes.
	ClassRoute Class = iota
	// ClassRegister are registrations, ClassHeartbeat heartbeats and queries of the
	// data version, ClassUnregister the end of a broker.
	ClassRegister
	ClassHeartbeat
	ClassUnregister
	// ClassList are lists of topics, clusters and members.
	ClassList
	// ClassKV are reads and writes of keys, ClassConfig of settings.
	ClassKV
	ClassConfig
	// ClassAdmin are changes that operators make.
	ClassAdmin
	// ClassUnknown are requests that are not served.
	ClassUnknown
)

var classNames = [...]string{"route", "register", "heartbeat", "unregister", "list", "kv", "config", "admin", "unknown"}

// String returns the class in one word, such as "route".
func (c Class) String() string { return classNames[c] }

// Classes returns every class.
func Classes() []Class {
	out := make([]Class, len(classNames))
	for i := range out {
		out[i] = Class(i)
	}
	return out
}

var classOf = map[wire.RequestCode]Class{
	wire.GetRouteInfoByTopic: ClassRoute,
	wire.RegisterBroker:      ClassRegister, wire.UnregisterBroker: ClassUnregister,
	wire.BrokerHeartbeat: ClassHeartbeat, wire.QueryDataVersion: ClassHeartbeat,
	wire.GetBrokerClusterInfo: ClassList, wire.GetAllTopicListFromNamesrv: ClassList, wire.GetTopicsByCluster: ClassList,
	wire.GetSystemTopicListFromNS: ClassList, wire.GetUnitTopicList: ClassList, wire.GetHasUnitSubTopicList: ClassList,
	wire.GetHasUnitSubUnunitTopicList: ClassList, wire.GetBrokerMemberGroup: ClassList,
	wire.PutKVConfig: ClassKV, wire.GetKVConfig: ClassKV, wire.DeleteKVConfig: ClassKV, wire.GetKVListByNamespace: ClassKV,
	wire.UpdateNamesrvConfig: ClassConfig, wire.GetNamesrvConfig: ClassConfig,
	wire.WipeWritePermOfBroker: ClassAdmin, wire.AddWritePermOfBroker: ClassAdmin,
	wire.DeleteTopicInNamesrv: ClassAdmin, wire.RegisterTopicInNamesrv: ClassAdmin,
}

// row is where requests of a code are counted; those that are not served are last.
type row struct {
	slot  int
	class Class
}

var unserved = row{len(known), ClassUnknown}

var rowOf = func() map[wire.RequestCode]row {
	m := make(map[wire.RequestCode]row, len(known))
	for i, c := range known {
		m[c] = row{i, classOf[c]}
	}
	return m
}()

func rowFor(code wire.RequestCode) row {
	if r, ok := rowOf[code]; ok {
		return r
	}
	return unserved
}

// Results of requests, as metrics name them.
const (
	resultOK = iota
	resultFailed
	resultBusy
	resultUnsupported
	resultDenied
	resultNotFound
	resultGoAway
	resultOther
)

var resultNames = [...]string{"ok", "failed", "busy", "unsupported", "denied", "not_found", "go_away", "other"}

func resultOf(code wire.ResponseCode) int {
	switch code {
	case wire.Success:
		return resultOK
	case wire.SystemError:
		return resultFailed
	case wire.SystemBusy:
		return resultBusy
	case wire.RequestCodeNotSupported:
		return resultUnsupported
	case wire.NoPermission:
		return resultDenied
	case wire.TopicNotExist, wire.QueryNotFound:
		return resultNotFound
	case wire.GoAway:
		return resultGoAway
	}
	return resultOther
}

// Answers are requests of one code that were answered in one way.
type Answers struct {
	// Op is the name of the code, "UNKNOWN" for those that are not served.
	Op string
	// Result is a word of a closed set, such as "ok", "not_found" or "busy".
	Result string
	Count  uint64
}

// Answers returns every pair of code and result that has been seen, and for every code
// that is served how many went well, if only 0.
func (s *Stats) Answers() []Answers {
	var out []Answers
	for i := range s.answers {
		op := wire.RequestCode(-1).Name()
		if i < len(known) {
			op = known[i].Name()
		}
		for r := range s.answers[i] {
			n := s.answers[i][r].Load()
			if i < len(known) && known[i] == wire.GetRouteInfoByTopic {
				switch r {
				case resultOK:
					n += s.RouteHits.Load()
				case resultNotFound:
					n += s.RouteMisses.Load()
				}
			}
			if n > 0 || r == resultOK && i < len(known) {
				out = append(out, Answers{Op: op, Result: resultNames[r], Count: n})
			}
		}
	}
	return out
}

// Requests returns the number of requests by the name of their code; those that are
// not served are together under "UNKNOWN".
func (s *Stats) Requests() map[string]uint64 {
	out := make(map[string]uint64, len(known)+1)
	out[wire.RequestCode(-1).Name()] = 0
	for _, a := range s.Answers() {
		out[a.Op] += a.Count
	}
	return out
}

// count counts a request, but for a route that was looked up: hits and misses are
// counted by themselves.
func (s *Stats) count(r row, code wire.ResponseCode) { s.answers[r.slot][resultOf(code)].Add(1) }

// busyRoutes counts lookups that were turned away.
func (s *Stats) busyRoutes(n uint64) {
	s.Overloaded.Add(n)
	s.answers[rowFor(wire.GetRouteInfoByTopic).slot][resultBusy].Add(n)
}
