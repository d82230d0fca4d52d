// Package registry knows which brokers are alive and which topics they serve, as a
// value that is read without a lock and changed in one step.
//
// # Readers
//
// [Registry.Snapshot] returns the whole state at one revision. It is immutable: a
// reader may keep it, and what it reads from it fits together, for as long as it
// likes. The one thing that moves is when a member was last heard of.
//
// # Writers
//
// One writer at a time works on a draft that shares everything with the present
// snapshot but what it touches, and publishes it whole. One transaction is one
// revision and one [Change]; a transaction that changes nothing moves no revision and
// wakes nobody. What takes long, such as comparing a registration of 50,000 topics
// with the last one, is done before the writer takes its turn.
//
// # Watchers
//
// [Registry.Subscribe] gives a snapshot and every later change in one step. The
// registry never waits for a watcher: one whose buffer is full is closed and starts
// over. Revisions are consecutive, so a gap would be seen.
//
// # Members
//
// A member lives by being heard of, over registrations and heartbeats, and dies with
// its [Holder] if it has one. Every removal removes what it saw and nothing that came
// later: a member heard of over a new connection is no longer the old one's.
//
// # Locks
//
// There are two: the one that spans the saving of the key-value table, then the
// writer's. Files are written and holders evicted without the latter.
package registry
