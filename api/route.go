package api

// TopicRoute is where the messages of a topic go: RocketMQ's TopicRouteData, in the
// form in which it goes to clients of 5.x.
type TopicRoute struct {
	// BrokerDatas are the groups of brokers that serve the topic, sorted by name.
	BrokerDatas []BrokerData `json:"brokerDatas"`
	// FilterServerTable has the filter servers of each address that announced any.
	FilterServerTable map[string][]string `json:"filterServerTable"`
	// OrderTopicConf is the topic's order configuration, if routes carry it and it has one.
	OrderTopicConf *string `json:"orderTopicConf,omitempty" example:"broker-a:4;broker-b:4"`
	// QueueDatas are how each group holds the topic, sorted by broker name.
	QueueDatas []QueueData `json:"queueDatas"`
	// TopicQueueMappingByBroker are the parts of a static topic.
	TopicQueueMappingByBroker map[string]QueueMapping `json:"topicQueueMappingByBroker,omitempty"`
}

// BrokerData is a group of brokers: a name and an address for each id, where 0 is the
// master.
type BrokerData struct {
	BrokerAddrs        map[string]string `json:"brokerAddrs"`
	BrokerName         string            `json:"brokerName" example:"broker-a"`
	Cluster            string            `json:"cluster" example:"DefaultCluster"`
	EnableActingMaster bool              `json:"enableActingMaster"`
	ZoneName           *string           `json:"zoneName,omitempty" example:"cn-hz-a"`
}

// QueueData is how one group holds one topic.
type QueueData struct {
	BrokerName string `json:"brokerName" example:"broker-a"`
	// Perm is 4 for reading, 2 for writing, 1 for inheriting, added up.
	Perm           int32 `json:"perm" example:"6"`
	ReadQueueNums  int32 `json:"readQueueNums" example:"8"`
	TopicSysFlag   int32 `json:"topicSysFlag" example:"0"`
	WriteQueueNums int32 `json:"writeQueueNums" example:"8"`
}

// QueueMapping is which logical queues of a static topic a broker holds.
type QueueMapping struct {
	BName       string           `json:"bname,omitempty"`
	CurrIDMap   map[string]int32 `json:"currIdMap"`
	Dirty       bool             `json:"dirty"`
	Epoch       BigInt           `json:"epoch" swaggertype:"integer"`
	Scope       *string          `json:"scope,omitempty"`
	Topic       string           `json:"topic,omitempty"`
	TotalQueues int32            `json:"totalQueues"`
}

// NamedRoute is a route in a list.
type NamedRoute struct {
	Topic string `json:"topic" example:"OrderCreated"`
	// Digest is equal on two nodes whose routes of the topic are equal.
	Digest string     `json:"digest" example:"9c1f0a8b7d3e5f21"`
	Route  TopicRoute `json:"route"`
}

// RouteList is many routes at one revision.
type RouteList struct {
	Revision string       `json:"revision" example:"k7f2mq3a.1842"`
	Total    int          `json:"total" example:"1"`
	Items    []NamedRoute `json:"items"`
	// Next is where the next page begins: hand it back as after. Absent on the last.
	Next string `json:"next,omitempty"`
	// NotFound are the topics asked for by name that no broker serves.
	NotFound []string `json:"notFound"`
}

// RouteQuery asks for many routes by name.
type RouteQuery struct {
	// Topics are at most 1000 names; a name twice is answered once.
	Topics []string `json:"topics" validate:"required,min=1,max=1000,dive,min=1,max=255" example:"OrderCreated"`
	// Zone, if given, shows the routes as a client of that zone gets them.
	Zone *string `json:"zone,omitempty" validate:"omitempty,max=255"`
	// ActingMaster is auto (as clients get it, the default) or off.
	ActingMaster string `json:"actingMaster,omitempty" validate:"omitempty,oneof=auto off" enums:"auto,off"`
}

// Explanation is why the route of a topic is as it is.
type Explanation struct {
	Topic    string `json:"topic" example:"OrderCreated"`
	Revision string `json:"revision" example:"k7f2mq3a.1842"`
	// Zone is the one asked for.
	Zone *string `json:"zone,omitempty"`
	// ActingMasterAllowed is the setting supportActingMaster.
	ActingMasterAllowed bool `json:"actingMasterAllowed"`
	// OrderConf tells of the topic's order configuration.
	OrderConf OrderExplanation `json:"orderConf"`
	// Brokers are all that have queue data of the topic, sorted by name.
	Brokers []BrokerExplanation `json:"brokers"`
	// WritableQueues and ReadableQueues are what a client can use.
	WritableQueues int `json:"writableQueues"`
	ReadableQueues int `json:"readableQueues"`
	// Notes are what a person should know, in the asker's language.
	Notes []Note `json:"notes"`
}

// OrderExplanation tells whether a topic has an order configuration and whether routes
// carry it.
type OrderExplanation struct {
	Set     bool   `json:"set"`
	Value   string `json:"value,omitempty"`
	Carried bool   `json:"carried"`
}

// BrokerExplanation is one broker's part in an [Explanation].
type BrokerExplanation struct {
	BrokerName  string `json:"brokerName" example:"broker-a"`
	ClusterName string `json:"clusterName" example:"DefaultCluster"`
	// InRoute is whether a client is told of the broker.
	InRoute bool `json:"inRoute"`
	// Perm is what clients see, RegisteredPerm what the broker last registered.
	Perm           int32 `json:"perm"`
	RegisteredPerm int32 `json:"registeredPerm"`
	ReadQueueNums  int32 `json:"readQueueNums"`
	WriteQueueNums int32 `json:"writeQueueNums"`
	// WipedBy is who took the write permission, if it was taken.
	WipedBy *WritePermCause `json:"wipedBy,omitempty"`
	// ActingMasterID is the id of the slave that is shown as the master, if one is.
	ActingMasterID *int64 `json:"actingMasterId,omitempty"`
	// Members are the broker's live members by id.
	Members []Member `json:"members"`
	// Gone are members that left in the last ten minutes and are not back.
	Gone []Member `json:"gone"`
	// Notes are what a person should know of this broker, in the asker's language.
	Notes []Note `json:"notes"`
}

// Note is one remark for people with a stable word for programs; the set of codes is open.
type Note struct {
	Code   string `json:"code" example:"write-perm-wiped"`
	Detail string `json:"detail" example:"Its write permission was wiped by admin at 10.0.0.9."`
}
