package api

// PeerList is the other NameServers of the set, sorted by address.
type PeerList struct {
	Revision string `json:"revision" example:"k7f2mq3a.1842"`
	Total    int    `json:"total" example:"2"`
	// IntervalMillis is how often each is compared with this server.
	IntervalMillis int64  `json:"intervalMillis" example:"30000"`
	Items          []Peer `json:"items"`
}

// Peer is another NameServer of the set and how what it holds compares with what is here.
// What it holds is not there before it has been asked.
type Peer struct {
	// Peer is its remoting address, as configured.
	Peer string `json:"peer" example:"10.0.0.2:9876"`
	// State is unknown (not asked yet), reachable, unreachable, or self: this server
	// under one of its own addresses.
	State string `json:"state" enums:"unknown,reachable,unreachable,self" example:"reachable"`
	// Since is when the state began.
	Since *Time `json:"since" swaggertype:"string" format:"date-time"`
	// Software is fingerpost, java or other. Version is the RocketMQ version that
	// anything but fingerpost gave.
	Software string `json:"software,omitempty" enums:"fingerpost,java,other" example:"java"`
	Version  string `json:"version,omitempty" example:"V5_5_0"`
	// CheckedAt is when it last answered all that it was asked, TookMillis how long that
	// took, and LastError why it did not the last time.
	CheckedAt  *Time  `json:"checkedAt,omitempty" swaggertype:"string" format:"date-time"`
	TookMillis int64  `json:"tookMillis" example:"3"`
	LastError  string `json:"lastError,omitempty" example:"dial tcp 10.0.0.2:9876: connect: connection refused"`
	// The counts are of what it holds. TopicCount is not there if it does not list topics.
	ClusterCount int  `json:"clusterCount" example:"1"`
	BrokerCount  int  `json:"brokerCount" example:"3"`
	MemberCount  int  `json:"memberCount" example:"6"`
	TopicCount   *int `json:"topicCount,omitempty" example:"214"`
	// Differences are those that have been seen twice, in all and by kind; Pending those
	// that have been seen once.
	Differences int            `json:"differences" example:"0"`
	ByKind      map[string]int `json:"byKind"`
	Pending     int            `json:"pending" example:"0"`
	// Routes are asked for one by one, unless digests show that they are equal:
	// RoutesAsked of RoutesTotal in the present round, RoutesCheckedAt is when the last
	// round ended.
	RoutesAsked     int   `json:"routesAsked" example:"0"`
	RoutesTotal     int   `json:"routesTotal" example:"0"`
	RoutesCheckedAt *Time `json:"routesCheckedAt,omitempty" swaggertype:"string" format:"date-time"`
	// Notes say how far the comparison goes: equal-digests, topics-not-listed,
	// routes-not-ready, truncated; the set is open.
	Notes []string `json:"notes" example:"equal-digests"`
}

// PeerDiff is a page of the differences with one peer, in order of kind and names.
type PeerDiff struct {
	Revision string `json:"revision" example:"k7f2mq3a.1842"`
	Peer     Peer   `json:"peer"`
	// Total is how many fit what was asked for.
	Total int              `json:"total" example:"1"`
	Items []PeerDifference `json:"items"`
	Next  string           `json:"next,omitempty" example:"200"`
}

// PeerDifference is something on which this server and a peer do not agree. Which of the
// naming fields are there depends on the kind.
type PeerDifference struct {
	// Kind is broker, member, topic, route (one broker's part of a topic), kv or setting;
	// the set is open.
	Kind       string  `json:"kind" enums:"broker,member,topic,route,kv,setting" example:"broker"`
	Topic      string  `json:"topic,omitempty" example:"OrderCreated"`
	BrokerName string  `json:"brokerName,omitempty" example:"broker-b"`
	BrokerID   *int64  `json:"brokerId,omitempty" example:"0"`
	Namespace  *string `json:"namespace,omitempty"`
	Key        *string `json:"key,omitempty"`
	// Difference is only-here, only-there, or value: both have it, and not the same.
	Difference string `json:"difference" enums:"only-here,only-there,value" example:"only-here"`
	// Here and There are what this server and the peer have, under the names that it has
	// elsewhere. Where both have it, only what differs is there. A value of more than
	// 1 KiB is given by its length, valueBytes.
	Here  map[string]any `json:"here,omitempty"`
	There map[string]any `json:"there,omitempty"`
	// TopicCount is, for a broker that the peer lacks, how many topics are missing there
	// for it; they are not listed besides.
	TopicCount int `json:"topicCount,omitempty" example:"214"`
	// Since is when it was first seen.
	Since *Time `json:"since" swaggertype:"string" format:"date-time"`
}

// PeerResult is what became of a change on one peer.
type PeerResult struct {
	Peer string `json:"peer" example:"10.0.0.2:9876"`
	// Status is 200 if the peer has said that it is done, else that of Problem.
	Status int `json:"status" example:"200"`
	// TopicCount is how many topics it concerned there, where the peer says that.
	TopicCount *int     `json:"topicCount,omitempty" example:"214"`
	Problem    *Problem `json:"problem,omitempty"`
}

// PeerResults is what became of a change on the peers: there if it was asked for them too.
// Nothing is taken back where it was made, whatever became of it elsewhere.
type PeerResults struct {
	Results []PeerResult `json:"results,omitempty"`
}

// Failed returns the peers that have not said that it is done.
func (r PeerResults) Failed() []PeerResult {
	var out []PeerResult
	for _, p := range r.Results {
		if p.Status/100 != 2 {
			out = append(out, p)
		}
	}
	return out
}
