package api

// TopicSummary is a topic in a list.
type TopicSummary struct {
	Topic string `json:"topic" example:"%RETRY%order-svc"`
	// Type is normal, retry, dlq, lmq, system or reply, told by the name.
	Type string `json:"type" enums:"normal,retry,dlq,lmq,system,reply" example:"retry"`
	// MessageType is what brokers registered as message.type, NORMAL if none did.
	MessageType string `json:"messageType" example:"NORMAL"`
	// Clusters are those of the brokers that serve the topic, sorted.
	Clusters    []string `json:"clusters" example:"DefaultCluster"`
	BrokerCount int      `json:"brokerCount" example:"2"`
	// ReadQueueNums and WriteQueueNums are summed over the brokers.
	ReadQueueNums  int `json:"readQueueNums" example:"2"`
	WriteQueueNums int `json:"writeQueueNums" example:"2"`
	// PermText is what any of the brokers allows, such as RW-.
	PermText string `json:"permText" example:"RW-"`
	// PermMixed tells that the brokers do not agree.
	PermMixed bool `json:"permMixed"`
	// Unit and UnitSub are the topic's flags.
	Unit    bool `json:"unit"`
	UnitSub bool `json:"unitSub"`
	// Order tells that a broker registered the topic as ordered.
	Order bool `json:"order"`
	// HasOrderConf tells that the topic has an order configuration.
	HasOrderConf bool `json:"hasOrderConf"`
	// Stale are the reasons for which the topic may be a leftover.
	Stale []string `json:"stale"`
	// Digest is equal on two nodes whose routes of the topic are equal.
	Digest    string `json:"digest" example:"9c1f0a8b7d3e5f21"`
	UpdatedAt *Time  `json:"updatedAt" swaggertype:"string" format:"date-time"`
	Revision  string `json:"revision" example:"k7f2mq3a.1790"`
}

// TopicList is topics at one revision.
type TopicList struct {
	Revision string         `json:"revision" example:"k7f2mq3a.1842"`
	Total    int            `json:"total" example:"12873"`
	Items    []TopicSummary `json:"items"`
	Next     string         `json:"next,omitempty" example:"OrderPaid"`
}

// Topic is one topic with each broker's part.
type Topic struct {
	TopicSummary
	Brokers []TopicPart `json:"brokers"`
	// OrderConf is the topic's order configuration.
	OrderConf *string `json:"orderConf,omitempty" example:"broker-a:4;broker-b:4"`
	// Attributes are those that any broker registered.
	Attributes map[string]string `json:"attributes,omitempty"`
	// Static tells that the topic has a queue mapping.
	Static bool `json:"static"`
}

// TopicPart is one broker's part of a topic.
type TopicPart struct {
	BrokerName     string `json:"brokerName" example:"broker-a"`
	ClusterName    string `json:"clusterName" example:"DefaultCluster"`
	ReadQueueNums  int32  `json:"readQueueNums" example:"8"`
	WriteQueueNums int32  `json:"writeQueueNums" example:"8"`
	Perm           int32  `json:"perm" example:"6"`
	PermText       string `json:"permText" example:"RW-"`
	TopicSysFlag   int32  `json:"topicSysFlag" example:"0"`
	// RegisteredPerm is what the broker last registered, which a wipe does not touch.
	RegisteredPerm int32             `json:"registeredPerm" example:"6"`
	Order          bool              `json:"order"`
	Attributes     map[string]string `json:"attributes,omitempty"`
	// Unconfirmed tells a part that is known from before the server's restart, or whose
	// addresses are: the broker has not said it again yet.
	Unconfirmed bool `json:"unconfirmed,omitempty"`
}

// BrokerTopic is a topic in the list of one broker's.
type BrokerTopic struct {
	Topic string `json:"topic" example:"OrderCreated"`
	TopicPart
}

// BrokerTopicList is the topics of one broker at one revision.
type BrokerTopicList struct {
	Revision string        `json:"revision" example:"k7f2mq3a.1842"`
	Total    int           `json:"total" example:"1"`
	Items    []BrokerTopic `json:"items"`
	Next     string        `json:"next,omitempty"`
}

// QueueSpec is the body that sets a broker's part of a topic.
type QueueSpec struct {
	ReadQueueNums  *int32 `json:"readQueueNums" validate:"required,min=0,max=65536" example:"8"`
	WriteQueueNums *int32 `json:"writeQueueNums" validate:"required,min=0,max=65536" example:"8"`
	Perm           *int32 `json:"perm" validate:"required,min=0,max=7" example:"6"`
	TopicSysFlag   *int32 `json:"topicSysFlag,omitempty" validate:"omitempty,min=0,max=3" example:"0"`
}

// TopicPartSet is the answer to setting a broker's part of a topic.
type TopicPartSet struct {
	Topic string `json:"topic" example:"OrderCreated"`
	TopicPart
	// Lasts says that the broker's next changed registration decides again.
	Lasts    string `json:"lasts" example:"until-next-changed-registration"`
	DryRun   bool   `json:"dryRun,omitempty"`
	Revision string `json:"revision" example:"k7f2mq3a.1842"`
}

// TopicDeleted is the answer to the removal of a topic.
type TopicDeleted struct {
	Topic string `json:"topic" example:"X"`
	// RemovedFrom are the brokers from whose part the topic was removed.
	RemovedFrom []string `json:"removedFrom" example:"broker-a"`
	// MayReturnFrom are brokers that will bring it back.
	MayReturnFrom []MayReturn `json:"mayReturnFrom"`
	// Lasts says how long the removal lasts where brokers may bring the topic back.
	Lasts    string `json:"lasts" example:"until-next-changed-registration"`
	DryRun   bool   `json:"dryRun,omitempty"`
	Revision string `json:"revision" example:"k7f2mq3a.1842"`
	PeerResults
}

// MayReturn is a broker that may bring a removed topic back, and why.
type MayReturn struct {
	BrokerName string `json:"brokerName" example:"broker-b"`
	// Why is a stable word: still-registered.
	Why    string `json:"why" example:"still-registered"`
	Detail string `json:"detail" example:"last registration still names it"`
}

// StaleTopic is one broker's part of a topic that may be a leftover.
type StaleTopic struct {
	Topic      string `json:"topic" example:"OldOrders"`
	BrokerName string `json:"brokerName" example:"broker-a"`
	// Reason is not-in-last-registration, no-master or read-only-everywhere.
	Reason string `json:"reason" enums:"not-in-last-registration,no-master,read-only-everywhere" example:"not-in-last-registration"`
	// Since is when that began, as far as the server knows.
	SinceAt *Time `json:"sinceAt,omitempty" swaggertype:"string" format:"date-time"`
	// Removable tells whether DELETE /stale-topics takes it.
	Removable bool `json:"removable"`
	// LastSaid is what the broker last registered for the topic.
	LastSaid QueueSaid `json:"lastSaid"`
}

// QueueSaid is what a broker last registered for a topic.
type QueueSaid struct {
	ReadQueueNums  int32 `json:"readQueueNums" example:"8"`
	WriteQueueNums int32 `json:"writeQueueNums" example:"8"`
	Perm           int32 `json:"perm" example:"6"`
	TopicSysFlag   int32 `json:"topicSysFlag" example:"0"`
}

// StaleList is leftovers at one revision.
type StaleList struct {
	Revision string       `json:"revision" example:"k7f2mq3a.1842"`
	Total    int          `json:"total" example:"1"`
	Items    []StaleTopic `json:"items"`
	Next     string       `json:"next,omitempty"`
}

// StaleDeleted is the answer to the removal of leftovers.
type StaleDeleted struct {
	// Removed are the parts that were, or with dryRun would be, removed.
	Removed  []StaleTopic `json:"removed"`
	DryRun   bool         `json:"dryRun"`
	Revision string       `json:"revision" example:"k7f2mq3a.1842"`
}
