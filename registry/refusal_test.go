package registry

import (
	"errors"
	"fmt"
	"io/fs"
	"testing"
)

// TestBadInputNamesItsField hands in what lacks something: the refusal names it, and the
// registry is as it was.
func TestBadInputNamesItsField(t *testing.T) {
	b := newBed(t)
	b.must(broker{cluster: "c", name: "a", addr: "@a", topics: "T U"}, "")
	before := b.Snapshot()
	register := func(cluster, name, addr string) error {
		_, err := b.try(broker{cluster: cluster, name: name, addr: addr, topics: "T U"}, "")
		return err
	}
	unregister := func(cluster, name, addr string) error {
		removed, err := b.Unregister(cluster, name, addr, 0, Cause{})
		if removed {
			t.Error("something was removed")
		}
		return err
	}
	declare := func(topic, broker string) error {
		created, err := b.DeclareTopic(topic, []QueueData{{"a", QueueSpec{}}, {broker, QueueSpec{}}}, Cause{})
		if created {
			t.Error("something was declared")
		}
		return err
	}
	for _, x := range []struct {
		err   error
		kind  Kind
		field string
	}{
		{register("", "a", "@a"), Invalid, "clusterName"},
		{register("c", "", "@a"), Invalid, "brokerName"},
		{register("c", "a", ""), Invalid, "brokerAddr"},
		{unregister("", "a", "@a"), Invalid, "clusterName"},
		{unregister("c", "", "@a"), Invalid, "brokerName"},
		{unregister("c", "a", ""), Invalid, "brokerAddr"},
		{declare("", "a"), Invalid, "topic"},
		{declare("N", "nobody"), NotFound, "brokerName"},
	} {
		var e *Error
		if !errors.As(x.err, &e) || e.Kind != x.kind || e.Field != x.field || e.Message == "" {
			t.Errorf("%v: kind %v, not %v of field %s", x.err, KindOf(x.err), x.kind, x.field)
		}
	}
	if b.Snapshot() != before {
		t.Errorf("the registry has changed:\n%s", b.dump())
	}
}

// TestKindsHaveNames looks at every kind of refusal.
func TestKindsHaveNames(t *testing.T) {
	seen := map[string]bool{}
	for i, k := range Kinds() {
		if int(k) != i || k.String() == "" || seen[k.String()] {
			t.Errorf("kind %d is %q", i, k)
		}
		seen[k.String()] = true
	}
	unknown := Kind(len(Kinds()))
	if got := unknown.String(); seen[got] || got == "" {
		t.Errorf("a kind that is none is %q", got)
	}
	e := &Error{Kind: Unsaved, Message: "not saved", Err: fs.ErrPermission}
	wrapped := fmt.Errorf("put: %w", e)
	if KindOf(wrapped) != Unsaved || !errors.Is(wrapped, fs.ErrPermission) || e.Error() != "not saved: permission denied" {
		t.Errorf("%v is of kind %v", wrapped, KindOf(wrapped))
	}
	if KindOf(fs.ErrPermission) != Internal || KindOf(nil) != Internal {
		t.Error("what is no refusal has a kind")
	}
	for op := OpCreated; op <= OpServing; op++ {
		if op.String() == "" || seen[op.String()] {
			t.Errorf("op %d is %q", op, op)
		}
		seen[op.String()] = true
	}
}

// TestAttributes writes and finds attributes in the canonical text.
func TestAttributes(t *testing.T) {
	text := FormatAttributes(map[string]string{"+message.type": "FIFO", "b": "x=y", "a": ""})
	if again := FormatAttributes(map[string]string{"a": "", "b": "x=y", "+message.type": "FIFO"}); text != again {
		t.Errorf("%q and %q of the same attributes", text, again)
	}
	c := TopicConfig{Attributes: text}
	for name, want := range map[string]string{"message.type": "FIFO", "b": "x=y", "a": ""} {
		if got, ok := c.Attribute(name); !ok || got != want {
			t.Errorf("%s is %q, %v", name, got, ok)
		}
	}
	if _, ok := c.Attribute("c"); ok || FormatAttributes(nil) != "" {
		t.Error("an attribute that was not given is found")
	}
	if _, ok := (TopicConfig{}).Attribute(""); ok {
		t.Error("a topic without attributes has one")
	}
}

// TestNodesThatDisagreeCanBeTold registers a broker with one of two servers, and wipes on
// one: each knows its own, nothing goes from one to the other, and their digests differ
// where they do.
func TestNodesThatDisagreeCanBeTold(t *testing.T) {
	x, y := newBed(t), newBed(t)
	a, z := broker{cluster: "c", name: "a", addr: "@a", topics: "T U"}, broker{cluster: "c", name: "z", addr: "@z", topics: "T V"}
	for _, b := range []*bed{x, y} {
		b.must(a, "")
	}
	x.must(z, "")
	if p, q := x.Snapshot().Digests(), y.Snapshot().Digests(); p.All == q.All || p.Topics == q.Topics || p.Brokers == q.Brokers || p.KV != q.KV {
		t.Errorf("digests %+v and %+v", p, q)
	}
	y.must(z, "")
	if x.Snapshot().Digest() != y.Snapshot().Digest() {
		t.Error("they agree, but their digests do not")
	}
	x.WipeWritePerm("a", Cause{})
	x.want("T here", x.queue("T", "a"), "8/8/4/0")
	y.want("T there", y.queue("T", "a"), "8/8/6/0")
	if x.Snapshot().Digest() == y.Snapshot().Digest() {
		t.Error("a wipe on one of them leaves their digests equal")
	}
}
