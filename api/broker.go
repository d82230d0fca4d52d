package api

// DataVersion says which state of its topics a broker speaks of.
type DataVersion struct {
	StateVersion int64 `json:"stateVersion" validate:"min=0,max=9007199254740991" example:"0"`
	// Timestamp is in milliseconds since 1970, by the broker's clock.
	Timestamp int64 `json:"timestamp" validate:"min=0,max=9007199254740991" example:"1764400000000"`
	Counter   int64 `json:"counter" validate:"min=0,max=9007199254740991" example:"3"`
}

// TopicConfig is what a broker registers for one topic.
type TopicConfig struct {
	ReadQueueNums  *int32 `json:"readQueueNums" validate:"required,min=0,max=65536" example:"8"`
	WriteQueueNums *int32 `json:"writeQueueNums" validate:"required,min=0,max=65536" example:"8"`
	// Perm is 4 for reading, 2 for writing, 1 for inheriting, added up; 6 if left out.
	Perm *int32 `json:"perm,omitempty" validate:"omitempty,min=0,max=7" example:"6"`
	// TopicSysFlag is 1 for a topic of a unit, 2 for one with subscriptions from a unit.
	TopicSysFlag *int32 `json:"topicSysFlag,omitempty" validate:"omitempty,min=0,max=3" example:"0"`
	// Order tells that the broker keeps the topic's order.
	Order bool `json:"order,omitempty"`
	// Attributes are such as message.type; they are kept and shown and never part of a route.
	Attributes map[string]string `json:"attributes,omitempty" validate:"omitempty,max=64" keys:"min=1,max=255,printable" each:"max=1024,printable"`
}

// Registration is the body by which a member registers.
type Registration struct {
	ClusterName string `json:"clusterName" validate:"required,max=255,name" example:"DefaultCluster"`
	// BrokerAddr is where clients reach the broker: host:port.
	BrokerAddr string `json:"brokerAddr" validate:"required,brokeraddr" example:"10.0.0.21:10911"`
	// HAServerAddr is where its slaves fetch from.
	HAServerAddr string `json:"haServerAddr,omitempty" validate:"omitempty,brokeraddr" example:"10.0.0.21:10912"`
	// ZoneName is the zone of the whole group.
	ZoneName *string `json:"zoneName,omitempty" validate:"omitempty,max=255,printable" example:"cn-hz-a"`
	// EnableActingMaster lets a slave of the group act for a missing master.
	EnableActingMaster bool `json:"enableActingMaster,omitempty"`
	// HeartbeatTimeoutMillis is how long the member lives without being heard of:
	// 60000 if left out, clamped to 5000..86400000.
	HeartbeatTimeoutMillis *int64 `json:"heartbeatTimeoutMillis,omitempty" example:"60000"`
	// FilterServerList are the broker's filter servers; left out, the present ones stay.
	FilterServerList *[]string `json:"filterServerList,omitempty" validate:"omitempty,max=64,dive,brokeraddr"`
	// DataVersion, if given, is kept as it is. Left out, the server keeps one and
	// raises its counter when the topics really differ.
	DataVersion *DataVersion `json:"dataVersion,omitempty"`
	// TopicConfigTable, if given, is all that the broker serves: a topic that it does
	// not name leaves the broker. Left out, topics stay as they are.
	TopicConfigTable map[string]TopicConfig `json:"topicConfigTable,omitempty" keys:"topic"`
}

// MemberPatch is a JSON merge patch (RFC 7396) of a registered member: what is left
// out stays, null removes.
type MemberPatch struct {
	BrokerAddr             *string                      `json:"brokerAddr,omitempty" validate:"omitempty,brokeraddr" example:"10.0.0.22:10911"`
	HAServerAddr           *string                      `json:"haServerAddr,omitempty" validate:"omitempty,brokeraddr" extensions:"x-nullable"`
	ZoneName               *string                      `json:"zoneName,omitempty" validate:"omitempty,max=255,printable" extensions:"x-nullable"`
	EnableActingMaster     *bool                        `json:"enableActingMaster,omitempty"`
	HeartbeatTimeoutMillis *int64                       `json:"heartbeatTimeoutMillis,omitempty"`
	DataVersion            *DataVersion                 `json:"dataVersion,omitempty"`
	TopicConfigTable       map[string]*TopicConfigPatch `json:"topicConfigTable,omitempty" keys:"topic"`
}

// TopicConfigPatch changes one topic of a member: what is left out stays.
type TopicConfigPatch struct {
	ReadQueueNums  *int32             `json:"readQueueNums,omitempty" validate:"omitempty,min=0,max=65536"`
	WriteQueueNums *int32             `json:"writeQueueNums,omitempty" validate:"omitempty,min=0,max=65536"`
	Perm           *int32             `json:"perm,omitempty" validate:"omitempty,min=0,max=7"`
	TopicSysFlag   *int32             `json:"topicSysFlag,omitempty" validate:"omitempty,min=0,max=3"`
	Order          *bool              `json:"order,omitempty"`
	Attributes     map[string]*string `json:"attributes,omitempty" validate:"omitempty,max=64" keys:"min=1,max=255,printable" each:"max=1024,printable"`
}

// Member is one broker: an id within a broker name.
type Member struct {
	BrokerName string `json:"brokerName" example:"broker-a"`
	BrokerID   int64  `json:"brokerId" example:"0"`
	// Role is master, slave or actingMaster.
	Role               string  `json:"role" enums:"master,slave,actingMaster" example:"master"`
	ClusterName        string  `json:"clusterName" example:"DefaultCluster"`
	BrokerAddr         string  `json:"brokerAddr" example:"10.0.0.21:10911"`
	HAServerAddr       string  `json:"haServerAddr,omitempty" example:"10.0.0.21:10912"`
	ZoneName           *string `json:"zoneName,omitempty" example:"cn-hz-a"`
	EnableActingMaster bool    `json:"enableActingMaster"`
	// Source is the face over which the member registered: remoting or rest.
	Source string `json:"source" enums:"remoting,rest" example:"rest"`
	// Owner is the principal that registered a REST member.
	Owner string `json:"owner,omitempty" example:"token:order-bridge"`
	// State is live, late (more than half of the timeout is over) or expired (gone;
	// shown for ten minutes where asked for).
	State string `json:"state" enums:"live,late,expired" example:"live"`
	// Unconfirmed tells a member that is known from before the server's restart and has
	// not registered since.
	Unconfirmed bool `json:"unconfirmed,omitempty"`
	// Suspect tells a member that is over its time and kept, because most members
	// vanished at once.
	Suspect     bool        `json:"suspect,omitempty"`
	DataVersion DataVersion `json:"dataVersion"`
	// HeartbeatTimeoutMillis is how long the member lives without being heard of.
	HeartbeatTimeoutMillis int64 `json:"heartbeatTimeoutMillis" example:"60000"`
	// LastUpdateTimestamp is when it was last heard of, in milliseconds since 1970.
	LastUpdateTimestamp int64 `json:"lastUpdateTimestamp" example:"1764400012345"`
	ExpiresAt           *Time `json:"expiresAt,omitempty" swaggertype:"string" format:"date-time"`
	LeftMillis          int64 `json:"leftMillis" example:"48211"`
	RegisteredAt        *Time `json:"registeredAt,omitempty" swaggertype:"string" format:"date-time"`
	// Version and Language are what the sender said of itself.
	Version  string `json:"version,omitempty" example:"V5_3_3"`
	Language string `json:"language,omitempty" example:"GO"`
	// TopicCount is how many topics have queue data of the broker name.
	TopicCount int `json:"topicCount" example:"1"`
	// WritePerm is granted or wiped.
	WritePerm string `json:"writePerm" enums:"granted,wiped" example:"granted"`
	// FilterServerList are the filter servers that the member announced.
	FilterServerList []string `json:"filterServerList,omitempty"`
	// Revision is that of the last change to what is registered.
	Revision string `json:"revision" example:"k7f2mq3a.1790"`
}

// Registered is the answer to a registration: the member and what became of it.
type Registered struct {
	Member
	// Topics count what the registration did to the broker's topics.
	Topics TopicCounts `json:"topics"`
	// NextHeartbeatMillis is when to send the next heartbeat.
	NextHeartbeatMillis int64 `json:"nextHeartbeatMillis" example:"20000"`
	// MasterAddr and MasterHAServerAddr are the live master's, for slaves.
	MasterAddr         string `json:"masterAddr,omitempty"`
	MasterHAServerAddr string `json:"masterHaServerAddr,omitempty"`
	// OrderTopicConfig is the order configuration of all topics, where the setting
	// returnOrderTopicConfigToBroker is on and there is one.
	OrderTopicConfig map[string]string `json:"orderTopicConfig,omitempty"`
	// Warnings are what was accepted but may not be meant.
	Warnings []Note `json:"warnings"`
}

// TopicCounts count what a registration did to the topics of its broker.
type TopicCounts struct {
	Created   int `json:"created" example:"1"`
	Changed   int `json:"changed" example:"0"`
	Removed   int `json:"removed" example:"0"`
	Unchanged int `json:"unchanged" example:"0"`
}

// Heartbeat is the optional body of a heartbeat.
type Heartbeat struct {
	// DataVersion is the one that the sender's topics have.
	DataVersion *DataVersion `json:"dataVersion,omitempty"`
}

// Pulse is the answer to a heartbeat.
type Pulse struct {
	NextHeartbeatMillis int64       `json:"nextHeartbeatMillis" example:"20000"`
	ExpiresAt           *Time       `json:"expiresAt" swaggertype:"string" format:"date-time"`
	DataVersion         DataVersion `json:"dataVersion"`
	// Changed means that the server has another version of the topics than the
	// heartbeat named: register the full statement again.
	Changed  bool   `json:"changed"`
	Revision string `json:"revision" example:"k7f2mq3a.1842"`
}

// HeartbeatBatch renews many members at once.
type HeartbeatBatch struct {
	Members []MemberBeat `json:"members" validate:"required,min=1,max=1000,dive"`
}

// MemberBeat is one heartbeat of a batch.
type MemberBeat struct {
	BrokerName  string       `json:"brokerName" validate:"required,max=255,name" example:"bridge-1"`
	BrokerID    *int64       `json:"brokerId" validate:"required,min=0,max=9007199254740991" example:"0"`
	DataVersion *DataVersion `json:"dataVersion,omitempty"`
}

// BeatResults are the outcomes of a batch, in its order.
type BeatResults struct {
	Revision string       `json:"revision" example:"k7f2mq3a.1842"`
	Items    []BeatResult `json:"items"`
}

// BeatResult is the outcome of one heartbeat of a batch.
type BeatResult struct {
	BrokerName string `json:"brokerName" example:"bridge-1"`
	BrokerID   int64  `json:"brokerId" example:"0"`
	// Status is what the heartbeat alone would have been answered.
	Status  int      `json:"status" example:"200"`
	Pulse   *Pulse   `json:"pulse,omitempty"`
	Problem *Problem `json:"problem,omitempty"`
}

// BrokerSet is all members of one broker name.
type BrokerSet struct {
	BrokerName         string  `json:"brokerName" example:"broker-a"`
	ClusterName        string  `json:"clusterName" example:"DefaultCluster"`
	ZoneName           *string `json:"zoneName,omitempty" example:"cn-hz-a"`
	EnableActingMaster bool    `json:"enableActingMaster"`
	HasMaster          bool    `json:"hasMaster"`
	TopicCount         int     `json:"topicCount" example:"214"`
	WritePerm          string  `json:"writePerm" enums:"granted,wiped" example:"granted"`
	// Members are sorted by id.
	Members []Member `json:"members"`
	// Problems are what is wrong with the set: no-master, member-late, member-unconfirmed,
	// member-suspect, write-perm-wiped, name-in-two-clusters; the set is open.
	Problems []string `json:"problems"`
	// Digest is equal on two nodes that know the same members.
	Digest   string `json:"digest" example:"51ab0c99e2d4f710"`
	Revision string `json:"revision" example:"k7f2mq3a.1790"`
}

// BrokerList is the broker sets at one revision.
type BrokerList struct {
	Revision string      `json:"revision" example:"k7f2mq3a.1842"`
	Total    int         `json:"total" example:"2"`
	Items    []BrokerSet `json:"items"`
	Next     string      `json:"next,omitempty"`
}

// WritePerm is whether producers may write to a broker.
type WritePerm struct {
	BrokerName string `json:"brokerName" example:"broker-a"`
	// WritePerm is granted or wiped.
	WritePerm string `json:"writePerm" enums:"granted,wiped" example:"wiped"`
	// TopicCount is how many topics the broker has, WritableTopicCount how many of
	// them producers may write to.
	TopicCount         int             `json:"topicCount" example:"1121"`
	WritableTopicCount int             `json:"writableTopicCount" example:"0"`
	Wiped              *WritePermCause `json:"wiped,omitempty"`
	// Lasts says how long a wipe lasts.
	Lasts    string `json:"lasts,omitempty" example:"until-next-changed-registration"`
	Revision string `json:"revision" example:"k7f2mq3a.1842"`
}

// WritePermCause tells who took a write permission away, when, and over how many topics.
type WritePermCause struct {
	At         *Time  `json:"at" swaggertype:"string" format:"date-time"`
	Face       string `json:"face" example:"rest"`
	Actor      string `json:"actor" example:"token:ops"`
	TopicCount int    `json:"topicCount" example:"1121"`
	Revision   string `json:"revision" example:"k7f2mq3a.1841"`
}

// WritePermChanged is the answer to taking or giving back a write permission.
type WritePermChanged struct {
	BrokerName string `json:"brokerName" example:"broker-a"`
	WritePerm  string `json:"writePerm" enums:"granted,wiped" example:"wiped"`
	// TopicCount is how many topics the broker has.
	TopicCount int `json:"topicCount" example:"1121"`
	// Lasts says that the broker undoes a wipe by itself; absent for a restoration.
	Lasts string `json:"lasts,omitempty" example:"until-next-changed-registration"`
	// Mode is how it was restored: previous or rw; absent for a wipe.
	Mode     string `json:"mode,omitempty" enums:"previous,rw"`
	DryRun   bool   `json:"dryRun,omitempty"`
	Revision string `json:"revision" example:"k7f2mq3a.1842"`
	PeerResults
}

// UntilNextChangedRegistration is how long a wipe and the removal of a topic last.
const UntilNextChangedRegistration = "until-next-changed-registration"
