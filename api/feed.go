package api

// FeedProtocol is the subprotocol of the websocket at /ws. A client that does not ask
// for it is refused: the name carries the version.
const FeedProtocol = "namesrv.v1"

// Operations that a client of the websocket may ask for.
const (
	FeedSubscribe   = "subscribe"
	FeedUnsubscribe = "unsubscribe"
	FeedPing        = "ping"
)

// FeedRequest is a message to the server.
type FeedRequest struct {
	Op string `json:"op" enums:"subscribe,unsubscribe,ping" example:"subscribe"`
	// ID names the subscription; every message about it carries it. Subscribing under
	// an id that is in use replaces that subscription.
	ID string `json:"id,omitempty" example:"s1"`
	// Kinds, Topics, Brokers and Clusters say what is wanted: words of one list are
	// alternatives, different lists must all fit, an empty list wants everything.
	// Topics, brokers and clusters may hold * and ?.
	Kinds    []string `json:"kinds,omitempty" example:"member"`
	Topics   []string `json:"topics,omitempty" example:"Order*"`
	Brokers  []string `json:"brokers,omitempty"`
	Clusters []string `json:"clusters,omitempty"`
	// Since asks for the changes after a revision. If they are no longer kept, or the
	// revision is of another process, a reset comes instead.
	Since string `json:"since,omitempty" example:"k7f2mq3a.1842"`
	// Snapshot asks for what stands now, before any change.
	Snapshot bool `json:"snapshot,omitempty"`
}

// FeedMessage is a message from the server. What does not belong to the op is left out.
type FeedMessage struct {
	// Op is hello (first), ack (of a subscription), snapshot (a part of what stands
	// now), changes, bookmark (nothing is missing up to this revision), reset
	// (something was missed: subscribe again with a snapshot, or read lists again),
	// error or pong.
	Op string `json:"op" enums:"hello,ack,snapshot,changes,bookmark,reset,error,pong" example:"changes"`
	// ID is the subscription's; a reset without one concerns all of the socket.
	ID       string `json:"id,omitempty" example:"s1"`
	Revision string `json:"revision,omitempty" example:"k7f2mq3a.1843"`
	// Time is the server's, for correcting the reader's clock.
	Time *Time `json:"time,omitempty" swaggertype:"string" format:"date-time"`

	*FeedHello
	*FeedSnapshot
	*FeedChanges

	// Heard are the members heard of since the last bookmark.
	Heard []FeedHeard `json:"heard,omitempty"`
	// Reason says why a reset came: compacted, restarted or lagged.
	Reason string `json:"reason,omitempty" enums:"compacted,restarted,lagged"`
	// Problem says what was wrong with a request.
	Problem *Problem `json:"problem,omitempty"`
}

// FeedHello is what the server says of itself and of the caller.
type FeedHello struct {
	Epoch   string `json:"epoch" example:"k7f2mq3a"`
	Version string `json:"version" example:"1.0.0"`
	// Assets names the dashboard's files; a page of other files should be loaded again.
	Assets string `json:"assets,omitempty" example:"v-8d1f0c2ab3e49f70"`
	// Role is viewer, registrar or admin.
	Role string `json:"role" enums:"viewer,registrar,admin" example:"viewer"`
	// HeartbeatMillis is the longest time between two messages.
	HeartbeatMillis int64 `json:"heartbeatMillis" example:"15000"`
}

// FeedSnapshot is a part of what stands at the revision of its message: members, wiped
// write permissions, topics. Other kinds are read over REST.
type FeedSnapshot struct {
	// First and Last mark the first and the last part; only whole do they fit together.
	First      bool            `json:"first,omitempty"`
	Last       bool            `json:"last,omitempty"`
	Members    []Member        `json:"members,omitempty"`
	WritePerms []FeedWritePerm `json:"writePerms,omitempty"`
	// Outline is in the part with which members end, if many topics follow.
	Outline *FeedOutline `json:"outline,omitempty"`
	// Layouts are queues of each broker, sorted by name, as topics refer to them.
	Layouts [][]QueueData `json:"layouts,omitempty"`
	Topics  []FeedTopic   `json:"topics,omitempty"`
}

// FeedOutline says of the topics of a snapshot what a reader may want to show before
// thousands of them have come.
type FeedOutline struct {
	// Topics is how many topics the snapshot has.
	Topics  int                 `json:"topics" example:"8214"`
	Brokers []FeedBrokerOutline `json:"brokers"`
}

// FeedBrokerOutline counts the topics of the snapshot that a broker name serves.
type FeedBrokerOutline struct {
	BrokerName string `json:"brokerName" example:"broker-a"`
	TopicCount int    `json:"topicCount" example:"1121"`
	// Unwritable counts those to which nobody can write on any broker.
	Unwritable int `json:"unwritable,omitempty" example:"214"`
}

// FeedWritePerm is a write permission that is wiped at present.
type FeedWritePerm struct {
	BrokerName string `json:"brokerName" example:"broker-a"`
	Since      *Time  `json:"since" swaggertype:"string" format:"date-time"`
	Actor      string `json:"actor,omitempty" example:"token:ops"`
	TopicCount int    `json:"topicCount" example:"1121"`
}

// FeedTopic is a topic of a snapshot. Thousands of topics have equal queues, so those
// are sent once: Layout is the place, from 0, in the list of all layouts of all parts.
type FeedTopic struct {
	Topic  string `json:"topic" example:"OrderCreated"`
	Layout int    `json:"layout" example:"0"`
	// UpdatedAt is when the topic's own data last changed.
	UpdatedAt *Time `json:"updatedAt,omitempty" swaggertype:"string" format:"date-time"`
	FeedTopicFacts
}

// FeedTopicFacts are what brokers said of a topic beside its queues.
type FeedTopicFacts struct {
	// MessageType is left out if it is NORMAL.
	MessageType string `json:"messageType,omitempty" example:"FIFO"`
	Order       bool   `json:"order,omitempty"`
	// Mapping tells that it is a static topic.
	Mapping bool `json:"mapping,omitempty"`
}

// FeedChanges are change sets in order, and what is worth knowing of their subjects now.
type FeedChanges struct {
	Items []ChangeSet `json:"items"`
	// Groups are all members, as they are now, of every broker name whose members the
	// items change: what a change set tells in differences is whole here.
	Groups []FeedGroup `json:"groups,omitempty"`
	// Facts are those of topics that the items create, where there is anything to say.
	Facts []FeedFacts `json:"facts,omitempty"`
}

// FeedGroup is the members of a broker name, none if it is gone.
type FeedGroup struct {
	BrokerName string   `json:"brokerName" example:"broker-a"`
	Members    []Member `json:"members"`
}

// FeedFacts are the facts of one topic.
type FeedFacts struct {
	Topic string `json:"topic" example:"OrderCreated"`
	FeedTopicFacts
}

// FeedHeard tells when a member was last heard of.
type FeedHeard struct {
	BrokerName          string `json:"brokerName" example:"broker-a"`
	BrokerID            int64  `json:"brokerId" example:"0"`
	LastUpdateTimestamp int64  `json:"lastUpdateTimestamp" example:"1764400012345"`
}
