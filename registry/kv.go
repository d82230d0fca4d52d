package registry

import (
	"maps"
	"slices"
)

// OrderNamespace is the namespace that holds the order configuration of topics.
const OrderNamespace = "ORDER_TOPIC_CONFIG"

// KV is the content of the key-value table: namespace, key, value. A namespace
// may be empty and is then still known.
type KV map[string]map[string]string

// KVEntry is one value and the revision at which it was last set.
type KVEntry struct {
	Value    string
	Revision uint64
}

// kvTable is immutable: a change clones the outer map and the one namespace.
type kvTable struct {
	spaces   map[string]map[string]KVEntry
	revision uint64
}

func (t *kvTable) get(ns, key string) (KVEntry, bool) {
	e, ok := t.spaces[ns][key]
	return e, ok
}

func (t *kvTable) plain() KV {
	out := make(KV, len(t.spaces))
	for ns, m := range t.spaces {
		p := make(map[string]string, len(m))
		for k, e := range m {
			p[k] = e.Value
		}
		out[ns] = p
	}
	return out
}

// with returns a copy in which f has changed the namespace, made if need be.
func (t *kvTable) with(ns string, revision uint64, f func(map[string]KVEntry)) *kvTable {
	n := &kvTable{spaces: maps.Clone(t.spaces), revision: revision}
	m := maps.Clone(n.spaces[ns])
	if m == nil {
		m = make(map[string]KVEntry)
	}
	f(m)
	n.spaces[ns] = m
	return n
}

// KV returns a value and whether it is set.
func (s *Snapshot) KV(ns, key string) (KVEntry, bool) { return s.kv.get(ns, key) }

// KVNamespace returns a copy of a namespace, or NotFound.
func (s *Snapshot) KVNamespace(ns string) (map[string]KVEntry, error) {
	m, ok := s.kv.spaces[ns]
	if !ok {
		return nil, &Error{Kind: NotFound, Code: "kv-not-found", Message: "no such namespace"}
	}
	return maps.Clone(m), nil
}

// KVNamespaces returns the names of all namespaces in order.
func (s *Snapshot) KVNamespaces() []string { return slices.Sorted(maps.Keys(s.kv.spaces)) }

// KVRevision returns the revision of the last change to any key.
func (s *Snapshot) KVRevision() uint64 { return s.kv.revision }

// AllKV returns a copy of the whole table.
func (s *Snapshot) AllKV() KV { return s.kv.plain() }

// KVCondition guards a change of one key, for callers that have read it before. The zero
// value asks nothing.
type KVCondition struct {
	// Absent asks that the key is not set, Present that it is.
	Absent, Present bool
	// Revision, if not nil, asks that the key was last set at exactly that revision,
	// which is 0 for a key that was there at the start.
	Revision *uint64
}

// Holds reports whether a key that is set to e, or not set, meets the condition.
func (c KVCondition) Holds(e KVEntry, set bool) bool {
	switch {
	case c.Absent && set, c.Present && !set:
		return false
	}
	return c.Revision == nil || set && e.Revision == *c.Revision
}

// PutKV sets a key. It is on disk before it is visible and before PutKV returns:
// Unsaved means that the old value stands. Setting a key to its present value
// changes and saves nothing. Invalid names a missing namespace or key; Conflict
// means that the condition does not hold. created tells a new key from a changed one.
func (r *Registry) PutKV(ns, key, value string, when KVCondition, cause Cause) (e KVEntry, created bool, err error) {
	if ns == "" {
		return e, false, invalid("namespace", "must be given")
	}
	if key == "" {
		return e, false, invalid("key", "must be given")
	}
	r.kvMu.Lock()
	defer r.kvMu.Unlock()
	old, set := r.Snapshot().kv.get(ns, key)
	if !when.Holds(old, set) {
		return old, false, errKVMoved
	}
	if set && old.Value == value {
		return old, false, nil
	}
	err = r.changeKV(ns, cause, KVChange{Op: opFor(set), Namespace: ns, Key: key, Before: old.Value, After: value},
		func(m map[string]KVEntry, revision uint64) {
			e = KVEntry{Value: value, Revision: revision}
			m[key] = e
		})
	if err != nil {
		return old, false, err
	}
	return e, !set, nil
}

// DeleteKV removes a key and reports whether it was set. The namespace stays,
// if need be empty. It saves like PutKV.
func (r *Registry) DeleteKV(ns, key string, when KVCondition, cause Cause) (removed bool, err error) {
	r.kvMu.Lock()
	defer r.kvMu.Unlock()
	old, set := r.Snapshot().kv.get(ns, key)
	if !when.Holds(old, set) {
		return false, errKVMoved
	}
	if !set {
		return false, nil
	}
	err = r.changeKV(ns, cause, KVChange{Op: OpDeleted, Namespace: ns, Key: key, Before: old.Value},
		func(m map[string]KVEntry, _ uint64) { delete(m, key) })
	return err == nil, err
}

var errKVMoved = &Error{Kind: Conflict, Code: "precondition-failed", Message: "the key has changed since it was read"}

func opFor(set bool) Op {
	if set {
		return OpChanged
	}
	return OpCreated
}

// changeKV saves and then publishes one changed namespace. kvMu is held, so the
// table cannot change between the two although mu is not held while saving.
func (r *Registry) changeKV(ns string, cause Cause, ch KVChange, f func(m map[string]KVEntry, revision uint64)) error {
	next := r.Snapshot().kv.with(ns, 0, func(m map[string]KVEntry) { f(m, 0) })
	if r.saveKV != nil {
		if err := r.saveKV(next.plain()); err != nil {
			return &Error{Kind: Unsaved, Message: "the key-value table could not be saved, nothing was changed", Err: err}
		}
	}
	r.mu.Lock()
	d := r.begin(cause)
	d.next.kv = d.next.kv.with(ns, d.revision(), func(m map[string]KVEntry) { f(m, d.revision()) })
	d.change.KV = append(d.change.KV, ch)
	if ns == OrderNamespace {
		if ch.Op == OpDeleted {
			d.next.orderGoneRevision = d.revision()
		}
		d.newView = true
	}
	d.commit()
	return nil
}
