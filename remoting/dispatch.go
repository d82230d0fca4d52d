package remoting

import (
	"strconv"

	"fingerpost/remoting/wire"
)

// handler serves one request. It fills a in; what it leaves is success.
type handler func(c *conn, req *wire.Command, a *answer)

// dispatch is every request that is served. Whatever is not here is answered with
// code 3.
var dispatch = map[wire.RequestCode]handler{
	wire.PutKVConfig:                  (*conn).putKV,            // nothing
	wire.GetKVConfig:                  (*conn).getKV,            // value
	wire.DeleteKVConfig:               (*conn).deleteKV,         // nothing
	wire.RegisterBroker:               (*conn).registerBroker,   // master and its HA address, order configuration
	wire.UnregisterBroker:             (*conn).unregisterBroker, // nothing
	wire.GetRouteInfoByTopic:          (*conn).routeOfTopic,     // route
	wire.GetBrokerClusterInfo:         (*conn).clusterInfo,      // every group and cluster
	wire.WipeWritePermOfBroker:        (*conn).wipeWritePerm,    // number of topics
	wire.GetAllTopicListFromNamesrv:   (*conn).allTopics,        // names
	wire.DeleteTopicInNamesrv:         (*conn).deleteTopic,      // nothing
	wire.RegisterTopicInNamesrv:       (*conn).registerTopic,    // nothing
	wire.GetKVListByNamespace:         (*conn).listKV,           // keys and values
	wire.GetTopicsByCluster:           (*conn).topicsOfCluster,  // names
	wire.GetSystemTopicListFromNS:     (*conn).systemTopics,     // names of clusters and brokers
	wire.GetUnitTopicList:             (*conn).unitTopics,       // names
	wire.GetHasUnitSubTopicList:       (*conn).unitSubTopics,    // names
	wire.GetHasUnitSubUnunitTopicList: (*conn).unitSubOnly,      // names
	wire.UpdateNamesrvConfig:          (*conn).updateConfig,     // nothing
	wire.GetNamesrvConfig:             (*conn).getConfig,        // properties
	wire.QueryDataVersion:             (*conn).queryDataVersion, // changed or not, data version
	wire.AddWritePermOfBroker:         (*conn).addWritePerm,     // number of topics
	wire.GetBrokerMemberGroup:         (*conn).memberGroup,      // members of a group
	wire.BrokerHeartbeat:              (*conn).heartbeat,        // nothing
}

// typed are the requests whose answers have typed fields, if only an empty set.
var typed = map[wire.RequestCode]bool{
	wire.GetKVConfig: true, wire.RegisterBroker: true, wire.WipeWritePermOfBroker: true,
	wire.QueryDataVersion: true, wire.AddWritePermOfBroker: true,
}

func (c *conn) unknownCode(code int32, a *answer) {
	a.fail(wire.RequestCodeNotSupported, " request type "+strconv.Itoa(int(code))+" not supported")
}
