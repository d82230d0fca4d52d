package wire

import "bytes"

// The pieces of a topic's entry as brokers of 4.3 and later write it, around what
// differs between topics. Those before 5.0 have no attributes.
const (
	entryAttributes = `{"attributes":{`
	entryOrder5     = `},"order":`
	entryOrder4     = `{"order":`
	entryPerm       = `,"perm":`
	entryRead       = `,"readQueueNums":`
	entryName       = `,"topicFilterType":"SINGLE_TAG","topicName":"`
	entryFlag       = `,"topicSysFlag":`
	entryWrite      = `,"writeQueueNums":`
)

// usualTopic reads an entry of the topic table, its key included, that has exactly that
// form, comparing whole pieces, and reports whether it was one: registrations of tens of
// thousands of topics consist of nothing else. If not, nothing has been read, and the
// cursor reads the entry as leniently as any.
func (d *RegisterDecoder) usualTopic(r *cursor) bool {
	if d.neverUsual {
		return false
	}
	e := entry{b: r.b, i: r.i}
	t := TopicConfig{Attributes: d.topic.Attributes[:0]}
	e.literal(`"`)
	under := e.quoted() // the name inside counts
	e.literal(`:`)
	var key, value []byte
	if e.has(entryAttributes) {
		if e.i < len(e.b) && e.b[e.i] != '}' {
			e.literal(`"`)
			key = e.text()
			e.literal(`:"`)
			value = e.text()
			e.bad = e.bad || len(key) == 0
		}
		e.literal(entryOrder5)
	} else {
		e.literal(entryOrder4)
	}
	if t.Order = e.has("true"); !t.Order {
		e.literal("false")
	}
	e.literal(entryPerm)
	t.Perm = e.number()
	e.literal(entryRead)
	t.ReadQueues = e.number()
	e.literal(entryName)
	name := e.text()
	e.literal(entryFlag)
	t.SysFlag = e.number()
	e.literal(entryWrite)
	t.WriteQueues = e.number()
	e.literal(`}`)
	if e.bad || len(name) == 0 || !bytes.Equal(under, name) && !standsForItself(under) {
		return false
	}
	t.Name = d.intern(name)
	if len(key) > 0 {
		// Nearly all topics of a broker have the same attribute.
		if d.attribute.Name != string(key) || d.attribute.Value != string(value) {
			d.attribute = Field{Name: string(key), Value: string(value)}
		}
		t.Attributes = append(t.Attributes, d.attribute)
	}
	d.topic, r.i = t, e.i
	return true
}

// entry is a place in a body that goes bad at the first byte that is not expected.
type entry struct {
	b   []byte
	i   int
	bad bool
}

// has passes over s if it comes next and reports whether it did.
func (e *entry) has(s string) bool {
	if e.bad || len(e.b)-e.i < len(s) || string(e.b[e.i:e.i+len(s)]) != s {
		return false
	}
	e.i += len(s)
	return true
}

func (e *entry) literal(s string) {
	if !e.has(s) {
		e.bad = true
	}
}

// text reads up to and over the closing quote a text that stands for itself.
func (e *entry) text() []byte {
	text := e.quoted()
	if !standsForItself(text) {
		e.bad = true
		return nil
	}
	return text
}

// quoted is text without a look at what is in it.
func (e *entry) quoted() []byte {
	if e.bad {
		return nil
	}
	n := bytes.IndexByte(e.b[e.i:], '"')
	if n < 0 {
		e.bad = true
		return nil
	}
	text := e.b[e.i : e.i+n : e.i+n]
	e.i += n + 1
	return text
}

// standsForItself reports whether a text is printable ASCII without escapes.
func standsForItself(text []byte) bool {
	for _, c := range text {
		if c < ' ' || c >= 0x7f || c == '\\' {
			return false
		}
	}
	return true
}

// number reads a whole number of at most nine digits without a sign.
func (e *entry) number() int32 {
	var n int32
	start := e.i
	for e.i < len(e.b) && e.b[e.i]-'0' <= 9 && e.i-start < 10 {
		n = n*10 + int32(e.b[e.i]-'0')
		e.i++
	}
	if e.i == start || e.i-start > 9 {
		e.bad = true
	}
	return n
}
