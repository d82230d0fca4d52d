package wire

import (
	"bytes"
)

// Limits of a registration, unless its decoder says otherwise. A Java NameServer has
// none but the frame's 16 MiB, which hold some 65 000 topics.
const (
	DefaultMaxInflated = 64 << 20
	DefaultMaxTopics   = 1 << 20
	DefaultMaxMappings = 1 << 20

	maxFilterServers = 1 << 12
)

// RegisterDecoder reads the body of a registration (103) in one pass and hands out
// topic after topic, without a table in between. Its zero value, with the two
// callbacks set, is ready; it keeps scratch space, so reuse it on one connection but
// not from two goroutines.
//
// What it takes is what the Java NameServer 5.5 takes, and beyond it: collections
// that are null or missing are empty; a topic without a name and a mapping without a
// broker are counted and left out; a zlib stream is known by its first bytes even if
// the header does not announce it; and one from a 5.x broker may end before its
// section of mappings. A body that is not an object is refused, as is a topic that is
// null, and in a compressed body a number or filter type that cannot be read.
type RegisterDecoder struct {
	// Intern turns bytes into a string that is kept. The bytes are only lent.
	// Nil means a plain copy.
	Intern func(b []byte) string
	// Topic gets each topic; what it points to, Attributes too, is lent until it
	// returns. If a name comes twice, the later one counts.
	Topic func(t *TopicConfig)
	// Known, if it is set, looks whether the caller knows the text with which b begins from
	// an earlier body: entries of the table of topics, from the first one's key to the last
	// one's brace. It returns the length of that text and how many topics it is, and has
	// taken them as if Topic had got each; or 0 if it is not known.
	Known func(b []byte) (size, topics int)
	// Wrote, if it is set, gets how the topics were written that Topic got since it was last
	// called, in the form that Known is asked for; nil where that is not one text.
	Wrote func(text []byte, topics int)
	// Mapping gets each static topic's mapping with the name under which it stands;
	// lent like a topic. Nil skips them.
	Mapping func(topic string, m *TopicMapping)

	// MaxInflated bounds the size of a compressed body's content, MaxTopics and
	// MaxMappings the number of entries; 0 means the default.
	MaxInflated, MaxTopics, MaxMappings int

	topic   TopicConfig
	mapping TopicMapping
	// attribute is the last one of a topic in the usual form; neverUsual leaves every
	// topic to the cursor, for the test that both read the same.
	attribute  Field
	neverUsual bool
	scratch    []byte
	inner      cursor // over the attributes in the text of a topic
	sum        RegisterSummary
	asked      int // one more than there were topics when Known was last asked, or 0
}

// RegisterSummary is what a registration says besides its topics.
type RegisterSummary struct {
	DataVersion DataVersion
	// FilterServers are the filter servers of the broker's address. A list that is
	// missing is an empty one; HasFilterServers is false where it is null, and in the
	// bare table of an old broker: the list of before stays.
	FilterServers    []string
	HasFilterServers bool
	// Topics and Mappings count what was handed out, Skipped what had no name.
	Topics, Mappings, Skipped int
	// Inflated is the size of a compressed body's content, 0 for a plain one.
	Inflated int
}

// Decode reads a body that came with the given version and compressed field. now, in
// milliseconds, stands for a data version's missing timestamp. No body at all is a
// registration without topics and with a data version of zeros.
//
// An error, a *BodyError, may come after some of the topics were handed out: apply
// nothing before Decode has returned. Besides what Intern and the callbacks keep, a
// JSON body costs a few hundred bytes, a compressed one also zlib's 45 KiB and twice
// its largest entry.
func (d *RegisterDecoder) Decode(body []byte, v Version, compressed bool, now int64) (RegisterSummary, error) {
	v = v.Clamp()
	d.sum, d.asked = RegisterSummary{HasFilterServers: v.SendsRegisterBody()}, 0
	if len(body) == 0 {
		return d.sum, nil
	}
	var err error
	switch {
	case !v.SendsRegisterBody():
		d.sum.DataVersion.Timestamp = now
		err = d.decodeBare(body, now)
	case compressed || isZlib(body):
		err = d.decodeCompressed(body, v, now)
	default:
		d.sum.DataVersion.Timestamp = now
		err = d.decodeJSON(body, now)
	}
	sum := d.sum
	d.tidy()
	if err != nil {
		return RegisterSummary{}, err
	}
	return sum, nil
}

// maxScratch is how much scratch space is kept for the next body: usual texts take less.
const maxScratch = 4 << 10

// tidy lets go of what the body was read with, which one entry can make as large as the
// whole: a decoder lives as long as its connection.
func (d *RegisterDecoder) tidy() {
	if cap(d.scratch) > maxScratch {
		d.scratch = nil
	}
	d.topic, d.mapping, d.attribute = TopicConfig{}, TopicMapping{}, Field{}
	d.inner, d.sum = cursor{}, RegisterSummary{}
}

func (d *RegisterDecoder) intern(b []byte) string {
	if d.Intern == nil {
		return string(b)
	}
	return d.Intern(b)
}

const registerBody = "register body"

func (d *RegisterDecoder) decodeJSON(body []byte, now int64) error {
	r := &cursor{b: body, bareNumbers: true, scratch: d.scratch}
	r.document(func(r *cursor) {
		r.open('{')
		for r.more('}') {
			switch string(r.name()) {
			case "filterServerList":
				d.filterServers(r)
			case "topicConfigSerializeWrapper":
				d.wrapper(r, now)
			default:
				r.skip()
			}
		}
	})
	d.scratch = r.scratch
	return r.bodyError(registerBody)
}

// decodeBare reads the body of a broker before 3.0.11, which is the inner object.
func (d *RegisterDecoder) decodeBare(body []byte, now int64) error {
	r := &cursor{b: body, bareNumbers: true, scratch: d.scratch}
	r.document(func(r *cursor) { d.wrapper(r, now) })
	d.scratch = r.scratch
	return r.bodyError("topic table")
}

// wrapper reads the topic table with its data version and mappings.
func (d *RegisterDecoder) wrapper(r *cursor, now int64) {
	if r.absent() {
		return
	}
	r.open('{')
	for r.more('}') {
		switch string(r.name()) {
		case "dataVersion":
			if !r.absent() {
				d.sum.DataVersion = r.dataVersion(now)
			}
		case "topicConfigTable":
			d.topics(r)
		case "topicQueueMappingInfoMap":
			d.mappings(r)
		default:
			r.skip()
		}
	}
}

func (d *RegisterDecoder) topics(r *cursor) {
	if r.absent() {
		return
	}
	r.open('{')
	var run run
	for r.more('}') {
		if run.topics == 0 && d.skipKnown(r) {
			continue
		}
		begin, before := r.i, d.sum.Topics
		usual := d.usualTopic(r)
		if !usual {
			run.end(d, r)
			r.name() // the name inside counts
			d.readTopic(r)
		}
		if !r.bad() {
			d.giveTopic(r)
		}
		switch {
		case usual:
			run.add(d, r, begin)
		case d.Wrote != nil && d.sum.Topics > before:
			d.Wrote(nil, 1)
		}
	}
	run.end(d, r)
}

// readTopic reads one configuration into d.topic.
func (d *RegisterDecoder) readTopic(r *cursor) {
	t := &d.topic
	*t = TopicConfig{
		ReadQueues: DefaultQueues, WriteQueues: DefaultQueues, Perm: DefaultPerm,
		Attributes: t.Attributes[:0],
	}
	r.open('{')
	for r.more('}') {
		switch string(r.name()) {
		case "topicName":
			t.Name, _ = r.interned(d.intern)
		case "readQueueNums":
			t.ReadQueues = r.int32()
		case "writeQueueNums":
			t.WriteQueues = r.int32()
		case "perm":
			t.Perm = r.int32()
		case "topicSysFlag":
			t.SysFlag = r.int32()
		case "order":
			t.Order = r.boolean()
		case "topicFilterType":
			t.FilterType = r.filterType()
		case "attributes":
			t.Attributes = r.attributes(t.Attributes[:0], d.intern)
		default:
			r.skip()
		}
	}
}

func (d *RegisterDecoder) giveTopic(r *cursor) {
	if d.topic.Name == "" {
		d.sum.Skipped++
		return
	}
	if d.sum.Topics++; d.sum.Topics > limit(d.MaxTopics, DefaultMaxTopics) {
		r.overLimit("topics", d.sum.Topics-1)
		return
	}
	d.Topic(&d.topic)
}

func (d *RegisterDecoder) mappings(r *cursor) {
	if r.absent() {
		return
	}
	if d.Mapping == nil {
		r.skip()
		return
	}
	r.open('{')
	for r.more('}') {
		name := r.nameText()
		topic := ""
		if !r.bad() {
			topic = d.intern(name)
		}
		r.colon()
		if r.absent() {
			d.sum.Skipped++
			continue
		}
		r.mapping(&d.mapping, d.intern)
		if !r.bad() {
			d.giveMapping(r, topic)
		}
	}
}

func (d *RegisterDecoder) giveMapping(r *cursor, topic string) {
	if d.mapping.Broker == "" || topic == "" {
		d.sum.Skipped++
		return
	}
	if d.sum.Mappings++; d.sum.Mappings > limit(d.MaxMappings, DefaultMaxMappings) {
		r.overLimit("mappings", d.sum.Mappings-1)
		return
	}
	d.Mapping(topic, &d.mapping)
}

func (d *RegisterDecoder) filterServers(r *cursor) {
	d.sum.FilterServers, d.sum.HasFilterServers = nil, true
	switch r.peek() {
	case '[':
		d.sum.FilterServers = r.filterList(d.intern)
	case '"', '\'': // Java makes a list of one from a text
		if s, ok := r.interned(d.intern); ok && s != "" {
			d.sum.FilterServers = []string{s}
		}
	default: // and null from anything else
		d.sum.HasFilterServers = false
		r.skip()
	}
}

// filterList reads an array of texts; elements that are null are left out.
func (r *cursor) filterList(intern func([]byte) string) (list []string) {
	r.open('[')
	for r.more(']') {
		if s, ok := r.interned(intern); ok {
			list = append(list, s)
		}
		if len(list) > maxFilterServers {
			r.overLimit("filter servers", maxFilterServers)
		}
	}
	return list
}

// filterType reads a filter type by its name in any case or by its number; an unknown
// name passes. It is the one text that Java does not read in single quotes.
func (r *cursor) filterType() FilterType {
	switch r.peek() {
	case 'n':
		if r.null() {
			return UnknownFilter
		}
	case '"':
		text, _ := r.quoted()
		t, ok := filterOf(text)
		if !ok {
			t, _ = filterOf(bytes.ToUpper(text))
		}
		return t
	case '\'':
		r.fail("filter type in single quotes")
	}
	return FilterType(r.ordinal(len(filterNames)))
}

// attributes reads an object of texts.
func (r *cursor) attributes(list []Field, intern func([]byte) string) []Field {
	if r.absent() {
		return list
	}
	r.open('{')
	for r.more('}') {
		name := r.nameText()
		var f Field
		if !r.bad() {
			f.Name = intern(name)
		}
		r.colon()
		var ok bool
		if f.Value, ok = r.interned(intern); ok {
			list = append(list, f)
		}
		if len(list) > MaxFields {
			r.fail("too many attributes")
		}
	}
	return list
}

func limit(set, otherwise int) int {
	if set > 0 {
		return set
	}
	return otherwise
}
