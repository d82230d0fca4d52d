package wire

// TopicList is the answer to the requests for lists of names: 206, 224, 304 and 311
// to 313.
type TopicList struct {
	// BrokerAddr is in the answer to 304 only: the address of some broker.
	BrokerAddr Text
	Topics     []string
}

// AppendJSON appends the list in the order given.
func (l *TopicList) AppendJSON(dst []byte) []byte {
	dst = append(dst, '{')
	if l.BrokerAddr.Present {
		dst = append(dst, `"brokerAddr":`...)
		dst = AppendString(dst, l.BrokerAddr.Value)
		dst = append(dst, ',')
	}
	dst = append(dst, `"topicList":`...)
	dst = appendStrings(dst, l.Topics)
	return append(dst, '}')
}

// DecodeTopicList reads a list of names, for clients.
func DecodeTopicList(body []byte) (*TopicList, error) {
	l := &TopicList{}
	r := &cursor{b: body}
	r.document(func(r *cursor) {
		r.open('{')
		for r.more('}') {
			switch string(r.name()) {
			case "brokerAddr":
				l.BrokerAddr.Value, l.BrokerAddr.Present = r.string()
			case "topicList":
				r.list(func() { l.Topics = r.appendString(l.Topics) })
			default:
				r.skip()
			}
		}
	})
	if err := r.bodyError("topic list"); err != nil {
		return nil, err
	}
	return l, nil
}

// AppendKVTable appends the entries of a namespace in the order given, as 219 and 103
// answer them.
func AppendKVTable(dst []byte, entries []Field) []byte {
	dst = append(dst, `{"table":`...)
	dst = appendFields(dst, entries)
	return append(dst, '}')
}

// DecodeKVTable reads the entries of a namespace, for clients. Entries that are null
// are left out.
func DecodeKVTable(body []byte) ([]Field, error) {
	var entries []Field
	r := &cursor{b: body}
	r.document(func(r *cursor) {
		r.open('{')
		for r.more('}') {
			if string(r.name()) != "table" {
				r.skip()
				continue
			}
			r.table(func(name string) {
				if value, ok := r.string(); ok {
					entries = append(entries, Field{name, value})
				}
			})
		}
	})
	if err := r.bodyError("key-value table"); err != nil {
		return nil, err
	}
	return entries, nil
}
