package peers

import (
	"cmp"
	"time"
)

// Kind is what differs.
type Kind string

// The kinds of differences.
const (
	// KindBroker is a broker name: that it is there, its cluster, its zone.
	KindBroker Kind = "broker"
	// KindMember is an id of a broker name that both have, and its address.
	KindMember Kind = "member"
	// KindTopic is a topic that only one has, although not for want of its brokers.
	KindTopic Kind = "topic"
	// KindRoute is what one broker that both have serves of a topic that both have.
	KindRoute Kind = "route"
	// KindKV is a key of the key-value table.
	KindKV Kind = "kv"
	// KindSetting is a setting that the nodes of a set should agree on.
	KindSetting Kind = "setting"
)

// Kinds returns every kind.
func Kinds() []Kind {
	return []Kind{KindBroker, KindMember, KindTopic, KindRoute, KindKV, KindSetting}
}

// How is in which way something differs.
type How string

// The ways to differ.
const (
	OnlyHere  How = "only-here"
	OnlyThere How = "only-there"
	Value     How = "value"
)

// Subject names what differs and how; the fields that do not belong to the kind are empty.
type Subject struct {
	Kind           Kind
	Broker         string
	ID             int64 // of a member
	Topic          string
	Namespace, Key string // of KindKV; a setting has only a key
	How            How
}

func (s *Subject) compare(o *Subject) int {
	return cmp.Or(
		cmp.Compare(rank(s.Kind), rank(o.Kind)), cmp.Compare(s.Topic, o.Topic), cmp.Compare(s.Broker, o.Broker),
		cmp.Compare(s.ID, o.ID), cmp.Compare(s.Namespace, o.Namespace), cmp.Compare(s.Key, o.Key), cmp.Compare(s.How, o.How),
	)
}

func rank(k Kind) int {
	for i, x := range Kinds() {
		if x == k {
			return i
		}
	}
	return len(Kinds())
}

// Facts are what is known of a subject on one side, under the names that the API has for
// them. Where both sides have the subject, only facts that differ are there.
type Facts map[string]any

// Difference is something on which this server and a peer do not agree.
type Difference struct {
	Subject
	// Here and There are nil where the subject is not.
	Here, There Facts
	// Topics is, for a broker name that one side lacks, how many topics are not compared
	// for it, as far as that is known here.
	Topics int
	// Since is when it was first seen.
	Since time.Time
}

// longest is how much of a value is shown; of a longer one it is the length.
const longest = 1 << 10

func valueFacts(v string) Facts {
	if len(v) > longest {
		return Facts{"valueBytes": len(v)}
	}
	return Facts{"value": v}
}

// differ leaves of two sets of facts those that differ, and reports whether there are any.
func differ(here, there Facts) bool {
	for k, v := range here {
		if there[k] == v {
			delete(here, k)
			delete(there, k)
		}
	}
	return len(here)+len(there) > 0
}
