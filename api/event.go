package api

// Kinds of things that change; the set is open.
const (
	KindMember    = "member"
	KindTopic     = "topic"
	KindCluster   = "cluster"
	KindWritePerm = "writePerm"
	KindKV        = "kv"
	KindConfig    = "config"
	KindServer    = "server"
	KindPeer      = "peer"
)

// Kinds returns every kind that a watch may ask for.
func Kinds() []string {
	return []string{KindMember, KindTopic, KindCluster, KindWritePerm, KindKV, KindConfig, KindServer, KindPeer}
}

// ChangeSet is one transaction: everything it changed, and why.
type ChangeSet struct {
	// Revision is the first that contains the change. A change set that only reports,
	// such as a refusal, has the revision it found.
	Revision string `json:"revision" example:"k7f2mq3a.1843"`
	Time     *Time  `json:"time" swaggertype:"string" format:"date-time"`
	Cause    Cause  `json:"cause"`
	// Counts are the changes by kind, also those that are left out below.
	Counts map[string]int `json:"counts"`
	// Truncated tells that changes are left out; GET /events/{revision} has them all.
	Truncated bool     `json:"truncated"`
	Changes   []Change `json:"changes"`
}

// Cause is who changed something, through which face.
type Cause struct {
	// Face is remoting, rest, dashboard or server.
	Face string `json:"face" example:"remoting"`
	// Action is what was asked.
	Action string `json:"action" example:"registerBroker"`
	// Actor is a peer's address or a principal.
	Actor string `json:"actor" example:"10.0.0.31:51022"`
	// RequestID is that of the HTTP request, null elsewhere.
	RequestID *string `json:"requestId" example:"0f9c2a7be1d34c5f"`
}

// Change is what happened to one thing. Which of the naming fields are there depends
// on the kind.
type Change struct {
	Kind string `json:"kind" enums:"member,topic,cluster,writePerm,kv,config,server,peer" example:"member"`
	// Op is created, changed, deleted, expired, disconnected, rejected, ownerChanged,
	// wiped, restored, started, stopping, draining, serving, diverged, converged,
	// unreachable, reachable, massExpiry or massExpiryOver; the set is open.
	Op         string `json:"op" example:"changed"`
	Cluster    string `json:"cluster,omitempty" example:"DefaultCluster"`
	BrokerName string `json:"brokerName,omitempty" example:"broker-b"`
	BrokerID   *int64 `json:"brokerId,omitempty" example:"0"`
	Topic      string `json:"topic,omitempty" example:"PayDone"`
	// Peer is the address of another NameServer, which differs from this one or no
	// longer; Before and After have the number of differences.
	Peer string `json:"peer,omitempty" example:"10.0.0.2:9876"`
	// Mapping tells that the broker's part of a static topic changed.
	Mapping   bool    `json:"mapping,omitempty"`
	Namespace *string `json:"namespace,omitempty"`
	Key       *string `json:"key,omitempty"`
	// TopicCount is how many topics a write permission was taken from or given to.
	TopicCount *int `json:"topicCount,omitempty"`
	// Before and After have only the fields that differ, under the names they have
	// in the thing itself. A value of more than 1 KiB is given by its length, valueBytes.
	Before map[string]any `json:"before,omitempty"`
	After  map[string]any `json:"after,omitempty"`
	// Code and Detail say why something was rejected, what is in conflict, or on what a
	// peer differs.
	Code   string `json:"code,omitempty" example:"stale-state-version"`
	Detail string `json:"detail,omitempty"`
}

// Types of items on a watch.
const (
	ItemHello    = "hello"
	ItemSnapshot = "snapshot"
	ItemChange   = "change"
	ItemBookmark = "bookmark"
	ItemReset    = "reset"
)

// Reasons of a reset.
const (
	ResetCompacted = "compacted"
	ResetRestarted = "restarted"
	ResetLagged    = "lagged"
)

// WatchItem is one item of a watch: the data of a server-sent event, or a line of
// NDJSON. What does not belong to the type is left out.
type WatchItem struct {
	// Event is hello (first), snapshot (part of the present state, as things created),
	// change, bookmark (nothing is missing up to this revision; also ends a snapshot)
	// or reset (something was missed: read what you keep again, the stream goes on).
	Event    string `json:"event" enums:"hello,snapshot,change,bookmark,reset" example:"change"`
	Revision string `json:"revision" example:"k7f2mq3a.1843"`
	Time     *Time  `json:"time" swaggertype:"string" format:"date-time"`
	// Reason says why a reset came: compacted, restarted or lagged.
	Reason    string         `json:"reason,omitempty" enums:"compacted,restarted,lagged"`
	Cause     *Cause         `json:"cause,omitempty"`
	Counts    map[string]int `json:"counts,omitempty"`
	Truncated bool           `json:"truncated,omitempty"`
	Changes   []Change       `json:"changes,omitempty"`
	// Collapsed is how many change sets were merged into this item, where a quiet
	// period was asked for.
	Collapsed int `json:"collapsed,omitempty"`
}

// EventList is change sets of the history.
type EventList struct {
	Revision string      `json:"revision" example:"k7f2mq3a.1843"`
	Total    int         `json:"total" example:"1"`
	Items    []ChangeSet `json:"items"`
	Next     string      `json:"next,omitempty"`
	// OldestRevision is the oldest that is still kept.
	OldestRevision string `json:"oldestRevision" example:"k7f2mq3a.1"`
}

// EventPage is one change set, of which Changes is a page.
type EventPage struct {
	ChangeSet
	Total int    `json:"total" example:"10001"`
	Next  string `json:"next,omitempty"`
}
