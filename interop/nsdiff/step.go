package main

// Request codes a name server knows.
const (
	rcPutKV        = 100
	rcGetKV        = 101
	rcDelKV        = 102
	rcRegister     = 103
	rcUnregister   = 104
	rcRoute        = 105
	rcCluster      = 106
	rcWipePerm     = 205
	rcAllTopics    = 206
	rcDelTopic     = 216
	rcRegTopic     = 217
	rcKVList       = 219
	rcTopicsOf     = 224
	rcSysTopics    = 304
	rcUnitTopics   = 311
	rcUnitSub      = 312
	rcUnitSubNo    = 313
	rcUpdateConfig = 318
	rcGetConfig    = 319
	rcDataVersion  = 322
	rcAddPerm      = 327
	rcMemberGroup  = 901
	rcHeartbeat    = 904
	rcPush         = 905
)

var codeNames = map[int]string{
	rcPutKV: "PUT_KV_CONFIG", rcGetKV: "GET_KV_CONFIG", rcDelKV: "DELETE_KV_CONFIG", rcRegister: "REGISTER_BROKER",
	rcUnregister: "UNREGISTER_BROKER", rcRoute: "GET_ROUTEINFO_BY_TOPIC", rcCluster: "GET_BROKER_CLUSTER_INFO",
	rcWipePerm: "WIPE_WRITE_PERM_OF_BROKER", rcAllTopics: "GET_ALL_TOPIC_LIST_FROM_NAMESERVER",
	rcDelTopic: "DELETE_TOPIC_IN_NAMESRV", rcRegTopic: "REGISTER_TOPIC_IN_NAMESRV", rcKVList: "GET_KVLIST_BY_NAMESPACE",
	rcTopicsOf: "GET_TOPICS_BY_CLUSTER", rcSysTopics: "GET_SYSTEM_TOPIC_LIST_FROM_NS", rcUnitTopics: "GET_UNIT_TOPIC_LIST",
	rcUnitSub: "GET_HAS_UNIT_SUB_TOPIC_LIST", rcUnitSubNo: "GET_HAS_UNIT_SUB_UNUNIT_TOPIC_LIST",
	rcUpdateConfig: "UPDATE_NAMESRV_CONFIG", rcGetConfig: "GET_NAMESRV_CONFIG", rcDataVersion: "QUERY_DATA_VERSION",
	rcAddPerm: "ADD_WRITE_PERM_OF_BROKER", rcMemberGroup: "GET_BROKER_MEMBER_GROUP", rcHeartbeat: "BROKER_HEARTBEAT",
	rcPush: "NOTIFY_MIN_BROKER_ID_CHANGE",
}

// Version numbers of the header (the position of the release in the Java enumeration).
const (
	vNone    = 0
	v3_0_10  = 35
	v3_0_11  = 37
	v3_5_8   = 137
	v4_8_0   = 373
	v4_9_3   = 399
	v4_9_4s  = 400
	v4_9_4   = 401
	v4_9_7   = 407
	v5_0_0s  = 412
	v5_0_0   = 413
	v5_3_3   = 479
	v5_5_0   = 513
	vHigher  = 612
	vBeyond  = 30000
	baseTime = 1600000000000 // data version timestamps sent by the tester lie here, far from "now"
)

var verNames = map[int]string{
	v3_0_10: "V3_0_10", v3_0_11: "V3_0_11", v3_5_8: "V3_5_8", v4_8_0: "V4_8_0", v4_9_3: "V4_9_3", v4_9_4s: "V4_9_4_SNAPSHOT",
	v4_9_4: "V4_9_4", v4_9_7: "V4_9_7", v5_0_0s: "V5_0_0_SNAPSHOT", v5_0_0: "V5_0_0", v5_3_3: "V5_3_3", v5_5_0: "V5_5_0",
	vHigher: "HIGHER_VERSION", vBeyond: "beyond HIGHER_VERSION",
}

// Header fields of the zone feature.
const (
	extZone     = "__ZONE_NAME"
	extZoneMode = "__ZONE_MODE"
)

// Step is one thing done to both servers. It is written as it is into replay files.
//
// Texts may hold placeholders: @a0@…@a7@ broker addresses (the tester listens there), @u@ a suffix that is new in
// every run of a sequence, @op@ the opaque of the frame, @crc@ / @badcrc@ checksums of the body.
type Step struct {
	Op     string            `json:"op"`              // req reg close rst half closemany raw expire pipe tls
	Conn   string            `json:"conn,omitempty"`  // name of the virtual connection
	Conns  []string          `json:"conns,omitempty"` // several of them, for "closemany"
	Code   int               `json:"code,omitempty"`
	Ver    int               `json:"ver,omitempty"`
	Enc    string            `json:"enc,omitempty"` // "rmq" for the binary header
	Lang   string            `json:"lang,omitempty"`
	Flag   int               `json:"flag,omitempty"`
	Oneway bool              `json:"oneway,omitempty"`
	NoExt  bool              `json:"noExt,omitempty"`
	Ext    map[string]string `json:"ext,omitempty"`
	Null   []string          `json:"null,omitempty"` // ext fields sent as JSON null / empty
	Body   *string           `json:"body,omitempty"`
	Hex    string            `json:"hex,omitempty"` // binary body
	Reg    *RegSpec          `json:"reg,omitempty"`
	Raw    *RawSpec          `json:"raw,omitempty"`
	Pipe   []*Step           `json:"pipe,omitempty"`
	Chunk  int               `json:"chunk,omitempty"` // bytes per TCP write
	Quiet  int               `json:"quiet,omitempty"` // no answer is expected: how long to listen (ms)
	Tag    string            `json:"tag,omitempty"`   // known quirk: "lenient", "missing", "poison"
	Name   string            `json:"name,omitempty"`  // name of a catalogue case
}

// RegSpec describes a REGISTER_BROKER request.
type RegSpec struct {
	Cluster string            `json:"cluster"`
	Name    string            `json:"name"`
	Addr    string            `json:"addr"`
	HA      string            `json:"ha"`
	ID      string            `json:"id"`
	Timeout string            `json:"timeout,omitempty"`
	Acting  string            `json:"acting,omitempty"`
	Zone    *string           `json:"zone,omitempty"`
	CRC     string            `json:"crc,omitempty"`        // "right", "wrong" or a literal
	Comp    string            `json:"compressed,omitempty"` // literal of the compressed field
	Form    string            `json:"form"`                 // full, old, none, text
	DV      *DV               `json:"dv,omitempty"`
	Topics  []TopicSpec       `json:"topics,omitempty"`
	NoTable bool              `json:"noTable,omitempty"`
	Filters []string          `json:"filters,omitempty"`
	NoFilt  bool              `json:"noFilters,omitempty"`
	Maps    []MapSpec         `json:"maps,omitempty"`
	Detail  bool              `json:"detail,omitempty"`
	Omit    []string          `json:"omit,omitempty"`  // header fields left out
	Extra   map[string]string `json:"extra,omitempty"` // header fields added
	Cut     int               `json:"cut,omitempty"`   // compressed form: bytes cut off the end before deflating
	Plain   bool              `json:"plain,omitempty"` // claims compressed but is not
}

// DV is a data version; Time counts from a fixed moment in 2020, in milliseconds.
type DV struct {
	State, Counter, Time int64
}

// TopicSpec is one topic of a registration.
type TopicSpec struct {
	Name   string            `json:"name"`
	Key    string            `json:"key,omitempty"` // table key when it differs from the name
	R      int               `json:"r"`
	W      int               `json:"w"`
	Perm   int               `json:"perm"`
	Flag   int               `json:"flag,omitempty"`
	Order  bool              `json:"order,omitempty"`
	Filter string            `json:"filter,omitempty"`
	Attr   map[string]string `json:"attr,omitempty"`
}

// MapSpec is the mapping of one static topic in a registration.
type MapSpec struct {
	Key   string   `json:"key,omitempty"`
	Topic string   `json:"topic"`
	Bname string   `json:"bname"`
	Total int      `json:"total"`
	Epoch int64    `json:"epoch"`
	Dirty bool     `json:"dirty,omitempty"`
	Scope string   `json:"scope,omitempty"`
	IDs   [][2]int `json:"ids,omitempty"`
}

// RawSpec describes bytes that are not a proper frame.
type RawSpec struct {
	Len    *int64 `json:"len,omitempty"`    // overrides the frame length
	HLen   *int64 `json:"hlen,omitempty"`   // overrides the header length (low 24 bits)
	Enc    int    `json:"enc,omitempty"`    // top byte of the header length
	Hdr    string `json:"hdr,omitempty"`    // header text
	HdrHex string `json:"hdrHex,omitempty"` // or header bytes
	Body   string `json:"body,omitempty"`
	Bytes  string `json:"bytes,omitempty"` // hex, sent as it is instead of all above
	Cut    int    `json:"cut,omitempty"`   // send only the first Cut bytes
	Warm   bool   `json:"warm,omitempty"`  // a good exchange first, on the same connection
}

type env struct {
	addrs []string
	u     string
}

func (s *Step) codeOf() int {
	if s.Reg != nil {
		return rcRegister
	}
	return s.Code
}
