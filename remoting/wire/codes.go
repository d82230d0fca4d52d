package wire

import "strconv"

// RequestCode is what a request asks for.
type RequestCode int32

// The requests that a NameServer serves, and the one it sends (905).
const (
	PutKVConfig                  RequestCode = 100
	GetKVConfig                  RequestCode = 101
	DeleteKVConfig               RequestCode = 102
	RegisterBroker               RequestCode = 103
	UnregisterBroker             RequestCode = 104
	GetRouteInfoByTopic          RequestCode = 105
	GetBrokerClusterInfo         RequestCode = 106
	WipeWritePermOfBroker        RequestCode = 205
	GetAllTopicListFromNamesrv   RequestCode = 206
	DeleteTopicInNamesrv         RequestCode = 216
	RegisterTopicInNamesrv       RequestCode = 217
	GetKVListByNamespace         RequestCode = 219
	GetTopicsByCluster           RequestCode = 224
	GetSystemTopicListFromNS     RequestCode = 304
	GetUnitTopicList             RequestCode = 311
	GetHasUnitSubTopicList       RequestCode = 312
	GetHasUnitSubUnunitTopicList RequestCode = 313
	UpdateNamesrvConfig          RequestCode = 318
	GetNamesrvConfig             RequestCode = 319
	QueryDataVersion             RequestCode = 322
	AddWritePermOfBroker         RequestCode = 327
	GetBrokerMemberGroup         RequestCode = 901
	BrokerHeartbeat              RequestCode = 904
	// NotifyMinBrokerIDChange goes from a NameServer to brokers, oneway.
	NotifyMinBrokerIDChange RequestCode = 905
)

var requestNames = map[RequestCode]string{
	PutKVConfig:                  "PUT_KV_CONFIG",
	GetKVConfig:                  "GET_KV_CONFIG",
	DeleteKVConfig:               "DELETE_KV_CONFIG",
	RegisterBroker:               "REGISTER_BROKER",
	UnregisterBroker:             "UNREGISTER_BROKER",
	GetRouteInfoByTopic:          "GET_ROUTEINFO_BY_TOPIC",
	GetBrokerClusterInfo:         "GET_BROKER_CLUSTER_INFO",
	WipeWritePermOfBroker:        "WIPE_WRITE_PERM_OF_BROKER",
	GetAllTopicListFromNamesrv:   "GET_ALL_TOPIC_LIST_FROM_NAMESERVER",
	DeleteTopicInNamesrv:         "DELETE_TOPIC_IN_NAMESRV",
	RegisterTopicInNamesrv:       "REGISTER_TOPIC_IN_NAMESRV",
	GetKVListByNamespace:         "GET_KVLIST_BY_NAMESPACE",
	GetTopicsByCluster:           "GET_TOPICS_BY_CLUSTER",
	GetSystemTopicListFromNS:     "GET_SYSTEM_TOPIC_LIST_FROM_NS",
	GetUnitTopicList:             "GET_UNIT_TOPIC_LIST",
	GetHasUnitSubTopicList:       "GET_HAS_UNIT_SUB_TOPIC_LIST",
	GetHasUnitSubUnunitTopicList: "GET_HAS_UNIT_SUB_UNUNIT_TOPIC_LIST",
	UpdateNamesrvConfig:          "UPDATE_NAMESRV_CONFIG",
	GetNamesrvConfig:             "GET_NAMESRV_CONFIG",
	QueryDataVersion:             "QUERY_DATA_VERSION",
	AddWritePermOfBroker:         "ADD_WRITE_PERM_OF_BROKER",
	GetBrokerMemberGroup:         "GET_BROKER_MEMBER_GROUP",
	BrokerHeartbeat:              "BROKER_HEARTBEAT",
	NotifyMinBrokerIDChange:      "NOTIFY_MIN_BROKER_ID_CHANGE",
}

// Name returns the code's name as peers print it, or "UNKNOWN". The set of names is
// closed, so a name may be a metric label whatever a peer sends.
func (c RequestCode) Name() string {
	if name, ok := requestNames[c]; ok {
		return name
	}
	return unknownName
}

// String returns the name of a known code and the number of any other.
func (c RequestCode) String() string {
	if name, ok := requestNames[c]; ok {
		return name
	}
	return strconv.Itoa(int(c))
}

// ResponseCode is how a request went.
type ResponseCode int32

// The answers that a NameServer gives.
const (
	Success                 ResponseCode = 0
	SystemError             ResponseCode = 1
	SystemBusy              ResponseCode = 2
	RequestCodeNotSupported ResponseCode = 3
	NoPermission            ResponseCode = 16
	TopicNotExist           ResponseCode = 17
	QueryNotFound           ResponseCode = 22
	// GoAway asks a peer of version 5.3.1 or later to connect again and repeat.
	GoAway ResponseCode = 1500
)

var responseNames = map[ResponseCode]string{
	Success:                 "SUCCESS",
	SystemError:             "SYSTEM_ERROR",
	SystemBusy:              "SYSTEM_BUSY",
	RequestCodeNotSupported: "REQUEST_CODE_NOT_SUPPORTED",
	NoPermission:            "NO_PERMISSION",
	TopicNotExist:           "TOPIC_NOT_EXIST",
	QueryNotFound:           "QUERY_NOT_FOUND",
	GoAway:                  "GO_AWAY",
}

// Name returns the code's name as peers print it, or "UNKNOWN"; a closed set.
func (c ResponseCode) Name() string {
	if name, ok := responseNames[c]; ok {
		return name
	}
	return unknownName
}

// String returns the name of a known code and the number of any other.
func (c ResponseCode) String() string {
	if name, ok := responseNames[c]; ok {
		return name
	}
	return strconv.Itoa(int(c))
}

const unknownName = "UNKNOWN"
