package wire

import (
	"strconv"
)

// The defaults of a topic whose configuration does not say otherwise.
const (
	DefaultQueues = 16 // both for reading and for writing
	DefaultPerm   = 6  // read and write
)

// TopicConfig is how one broker holds one topic.
type TopicConfig struct {
	Name        string
	ReadQueues  int32
	WriteQueues int32
	// Perm are bits: 1 inherit, 2 write, 4 read, 8 priority.
	Perm int32
	// SysFlag are bits: 1 unit, 2 unit subscription. A compressed registration
	// cannot carry it.
	SysFlag int32
	// Order is kept by brokers and, like SysFlag, lost in a compressed registration.
	Order bool
	// FilterType is nothing to a NameServer.
	FilterType FilterType
	// Attributes are the topic's own settings, such as message.type.
	Attributes []Field
}

// FilterType is how a broker matches tags, by its name on the wire.
type FilterType uint8

// The two filter types, and one that only a JSON registration can carry.
const (
	SingleTag FilterType = iota
	MultiTag
	// UnknownFilter is null, or a name that we do not know.
	UnknownFilter
)

var filterNames = [...]string{SingleTag: "SINGLE_TAG", MultiTag: "MULTI_TAG"}

// String returns the name on the wire, or "" for UnknownFilter.
func (t FilterType) String() string {
	if int(t) < len(filterNames) {
		return filterNames[t]
	}
	return ""
}

func filterOf(name []byte) (FilterType, bool) {
	for i, n := range filterNames {
		if n == string(name) {
			return FilterType(i), true
		}
	}
	return UnknownFilter, false
}

// RegisterBody is the body of a registration (103) as a whole, for those who write
// one. A server reads it with a [RegisterDecoder].
type RegisterBody struct {
	DataVersion   DataVersion
	FilterServers []string
	Topics        []TopicConfig
	// Mappings are those of static topics; each stands under its own Topic.
	Mappings []TopicMapping
}

// AppendJSON appends the body as brokers from 3.0.11 on send it.
func (b *RegisterBody) AppendJSON(dst []byte) []byte {
	dst = append(dst, `{"filterServerList":`...)
	dst = appendStrings(dst, b.FilterServers)
	dst = append(dst, `,"topicConfigSerializeWrapper":{"dataVersion":`...)
	dst = b.DataVersion.AppendJSON(dst)
	dst = append(dst, `,"topicConfigTable":`...)
	dst = b.appendTopics(dst)
	dst = append(dst, `,"topicQueueMappingInfoMap":{`...)
	for i := range b.Mappings {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = AppendString(dst, b.Mappings[i].Topic)
		dst = append(dst, ':')
		dst = b.Mappings[i].AppendJSON(dst, Legacy)
	}
	return append(dst, "}}}"...)
}

// AppendBareJSON appends what brokers before 3.0.11 send: the table of topics alone.
func (b *RegisterBody) AppendBareJSON(dst []byte) []byte {
	dst = append(dst, `{"dataVersion":`...)
	dst = b.DataVersion.AppendJSON(dst)
	dst = append(dst, `,"topicConfigTable":`...)
	dst = b.appendTopics(dst)
	return append(dst, '}')
}

func (b *RegisterBody) appendTopics(dst []byte) []byte {
	dst = append(dst, '{')
	for i := range b.Topics {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = AppendString(dst, b.Topics[i].Name)
		dst = append(dst, ':')
		dst = b.Topics[i].AppendJSON(dst)
	}
	return append(dst, '}')
}

// AppendJSON appends the configuration as brokers of 5.x send it.
func (t *TopicConfig) AppendJSON(dst []byte) []byte {
	dst = append(dst, `{"attributes":`...)
	dst = appendFields(dst, t.Attributes)
	dst = append(dst, `,"order":`...)
	dst = strconv.AppendBool(dst, t.Order)
	dst = append(dst, `,"perm":`...)
	dst = strconv.AppendInt(dst, int64(t.Perm), 10)
	dst = append(dst, `,"readQueueNums":`...)
	dst = strconv.AppendInt(dst, int64(t.ReadQueues), 10)
	if name := t.FilterType.String(); name != "" {
		dst = append(dst, `,"topicFilterType":`...)
		dst = AppendString(dst, name)
	}
	dst = append(dst, `,"topicName":`...)
	dst = AppendString(dst, t.Name)
	dst = append(dst, `,"topicSysFlag":`...)
	dst = strconv.AppendInt(dst, int64(t.SysFlag), 10)
	dst = append(dst, `,"writeQueueNums":`...)
	dst = strconv.AppendInt(dst, int64(t.WriteQueues), 10)
	return append(dst, '}')
}

// appendFields appends fields as an object of texts.
func appendFields(dst []byte, fields []Field) []byte {
	dst = append(dst, '{')
	for i, f := range fields {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = AppendString(dst, f.Name)
		dst = append(dst, ':')
		dst = AppendString(dst, f.Value)
	}
	return append(dst, '}')
}
