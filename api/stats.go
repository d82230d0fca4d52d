package api

// Stats are counters and short series of this process.
type Stats struct {
	Revision string `json:"revision" example:"k7f2mq3a.1842"`
	// At is when the last sample was taken.
	At *Time `json:"at" swaggertype:"string" format:"date-time"`
	// StepMillis is the time between two samples.
	StepMillis int64 `json:"stepMillis" example:"5000"`
	// Series are by name; the set is open.
	Series map[string]Series `json:"series"`
	// StaleTopics count leftovers by reason.
	StaleTopics map[string]int `json:"staleTopics"`
	// TopicTypes count topics by type.
	TopicTypes map[string]int `json:"topicTypes"`
}

// Series is one number over the last 15 minutes.
type Series struct {
	// Kind is gauge, or counter: then Points are what it grew by in a second.
	Kind string `json:"kind" enums:"gauge,counter" example:"gauge"`
	// Value is what it is now; of a counter, the total since the start.
	Value float64 `json:"value" example:"12"`
	// Points are the samples, oldest first, at most 180.
	Points []float64 `json:"points"`
}

// Connection is one connection to the remoting port.
type Connection struct {
	ID            string `json:"id" example:"c42"`
	RemoteAddress string `json:"remoteAddress" example:"10.0.0.31:51022"`
	// Kind is broker, client, admin or unknown, told by what was asked.
	Kind     string `json:"kind" enums:"broker,client,admin,unknown" example:"broker"`
	Language string `json:"language,omitempty" example:"JAVA"`
	Version  string `json:"version,omitempty" example:"V5_5_0"`
	TLS      bool   `json:"tls"`
	// FirstSeenAt is when it was accepted, LastSeenAt when it last asked something.
	FirstSeenAt *Time `json:"firstSeenAt" swaggertype:"string" format:"date-time"`
	LastSeenAt  *Time `json:"lastSeenAt,omitempty" swaggertype:"string" format:"date-time"`
	// LastCode is the code of its last request.
	LastCode int    `json:"lastCode" example:"105"`
	LastName string `json:"lastName,omitempty" example:"GET_ROUTEINFO_BY_TOPIC"`
	// Requests counts all of them.
	Requests uint64 `json:"requests" example:"88"`
	// Brokers are the members that live and die with the connection.
	Brokers []string `json:"brokers" example:"broker-a/0"`
}

// ConnectionList is connections at one moment.
type ConnectionList struct {
	Revision string       `json:"revision" example:"k7f2mq3a.1842"`
	Total    int          `json:"total" example:"1"`
	Items    []Connection `json:"items"`
	Next     string       `json:"next,omitempty"`
}

// Digest is what identifies the content of the registry's tables. Digests of two nodes
// may be compared, revisions may not.
type Digest struct {
	Revision string `json:"revision" example:"k7f2mq3a.1842"`
	// All is over everything below.
	All     string `json:"all" example:"8d1f0c2ab3e49f70"`
	Topics  string `json:"topics" example:"9c1f0a8b7d3e5f21"`
	Brokers string `json:"brokers" example:"51ab0c99e2d4f710"`
	KV      string `json:"kv" example:"00ffb1c2d3e4a596"`
	// TopicCount, BrokerCount, MemberCount and KVCount are the tables' sizes.
	TopicCount  int `json:"topicCount" example:"12873"`
	BrokerCount int `json:"brokerCount" example:"12"`
	MemberCount int `json:"memberCount" example:"24"`
	KVCount     int `json:"kvCount" example:"3"`
}

// TopicDigest is the digest of one topic's route, a line of the answer to ?perTopic.
type TopicDigest struct {
	Topic  string `json:"topic" example:"OrderCreated"`
	Digest string `json:"digest" example:"9c1f0a8b7d3e5f21"`
}

// Export is the whole registry at one revision, for a support bundle or to be compared
// elsewhere. Secrets are left out.
type Export struct {
	Revision string                       `json:"revision" example:"k7f2mq3a.1842"`
	Time     *Time                        `json:"time" swaggertype:"string" format:"date-time"`
	Version  Version                      `json:"version"`
	Digest   Digest                       `json:"digest"`
	Brokers  []BrokerSet                  `json:"brokers"`
	Topics   []ExportedTopic              `json:"topics"`
	KV       map[string]map[string]string `json:"kv"`
	Config   []ConfigItem                 `json:"config"`
}

// ExportedTopic is a topic with its parts in an [Export].
type ExportedTopic struct {
	Topic string      `json:"topic" example:"OrderCreated"`
	Parts []TopicPart `json:"parts"`
}

// ExportLine is a line of an export in NDJSON: exactly one of the fields is there.
type ExportLine struct {
	Head   *ExportHead    `json:"head,omitempty"`
	Broker *BrokerSet     `json:"broker,omitempty"`
	Topic  *ExportedTopic `json:"topic,omitempty"`
	KV     *KVEntry       `json:"kv,omitempty"`
	Config *ConfigItem    `json:"config,omitempty"`
}

// ExportHead is the first line of an export in NDJSON.
type ExportHead struct {
	Revision string  `json:"revision" example:"k7f2mq3a.1842"`
	Time     *Time   `json:"time" swaggertype:"string" format:"date-time"`
	Version  Version `json:"version"`
	Digest   Digest  `json:"digest"`
}
