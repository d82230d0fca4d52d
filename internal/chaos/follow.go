package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"fingerpost/api"
	"fingerpost/registry"
)

// historian is who keeps what has changed.
type historian interface {
	History() (changes []*registry.Change, compacted uint64)
}

// compareEvery is how often a replica is compared, which reads all of the registry.
const compareEvery = 500 * time.Millisecond

// replica is what somebody knows of a registry who has read it once and then only heard
// of its changes: a line for each thing.
type replica struct {
	revision uint64
	lines    map[string]string
	// members counts those of each broker, for a wipe goes with the last.
	members map[string]int
}

func memberKey(broker string, id int64) string { return fmt.Sprintf("member %s/%d", broker, id) }
func partKey(topic, broker string) string      { return "part " + topic + " of " + broker }
func wipeKey(broker string) string             { return "wiped " + broker }
func kvKey(ns, key string) string              { return "key " + ns + "/" + key }

// replicaOf reads a snapshot.
func replicaOf(s *registry.Snapshot) *replica {
	r := &replica{revision: s.Revision, lines: make(map[string]string), members: make(map[string]int)}
	for _, g := range s.Groups() {
		r.lines["cluster "+g.Cluster] = ""
		for _, m := range g.Members {
			r.lines[memberKey(g.Name, m.ID)] = fmt.Sprint(s.LiveOf(m).MemberInfo)
			r.members[g.Name]++
		}
		if s.Wiped(g.Name) != nil {
			r.lines[wipeKey(g.Name)] = ""
		}
	}
	for t := range s.Topics() {
		for _, q := range t.Queues() {
			r.lines[partKey(t.Name, q.Broker)] = fmt.Sprint(q.QueueSpec)
		}
	}
	for ns, keys := range s.AllKV() {
		for k, v := range keys {
			r.lines[kvKey(ns, k)] = v
		}
	}
	return r
}

// hear applies a change. The error tells what in it does not fit what was known.
func (r *replica) hear(c *registry.Change) error {
	if !c.Step {
		if c.Revision != r.revision {
			return fmt.Errorf("a report names revision %d at revision %d", c.Revision, r.revision)
		}
		return nil
	}
	if c.Revision != r.revision+1 {
		return fmt.Errorf("revision %d follows on %d", c.Revision, r.revision)
	}
	r.revision = c.Revision
	for _, m := range c.Members {
		if m.Before != nil {
			key := memberKey(m.Broker, m.Before.ID)
			if was, ok := r.lines[key]; !ok || was != fmt.Sprint(*m.Before) {
				return fmt.Errorf("revision %d: %s was %s, not %v", c.Revision, key, was, *m.Before)
			}
			delete(r.lines, key)
			r.members[m.Broker]--
		}
		if m.After != nil {
			r.lines[memberKey(m.Broker, m.ID)] = fmt.Sprint(*m.After)
			r.members[m.Broker]++
		}
		if r.members[m.Broker] == 0 {
			delete(r.members, m.Broker)
			delete(r.lines, wipeKey(m.Broker))
		}
	}
	for _, t := range c.Topics {
		key := partKey(t.Topic, t.Broker)
		was, had := r.lines[key]
		if had == (t.Op == registry.OpCreated) || had && was != fmt.Sprint(t.Before) {
			return fmt.Errorf("revision %d: %s was %q, not %v", c.Revision, key, was, t.Before)
		}
		r.set(key, fmt.Sprint(t.After), t.Op)
	}
	for _, x := range c.Clusters {
		r.set("cluster "+x.Cluster, "", x.Op)
	}
	for _, x := range c.WritePerms {
		op := registry.OpCreated
		if x.Op == registry.OpRestored {
			op = registry.OpDeleted
		}
		r.set(wipeKey(x.Broker), "", op)
	}
	for _, x := range c.KV {
		r.set(kvKey(x.Namespace, x.Key), x.After, x.Op)
	}
	return nil
}

func (r *replica) set(key, value string, op registry.Op) {
	if op == registry.OpDeleted {
		delete(r.lines, key)
		return
	}
	r.lines[key] = value
}

// digest identifies all that is known.
func (r *replica) digest() string {
	h := sha256.New()
	for _, k := range r.keys() {
		fmt.Fprintf(h, "%q %q\n", k, r.lines[k]) // never fails
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

func (r *replica) keys() []string {
	out := make([]string, 0, len(r.lines))
	for k := range r.lines {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// differs returns the first thing in which two differ.
func (r *replica) differs(o *replica) string {
	all := append(r.keys(), o.keys()...)
	slices.Sort(all)
	for _, k := range all {
		a, okA := r.lines[k]
		b, okB := o.lines[k]
		if a != b || okA != okB {
			return fmt.Sprintf("%s is %q (%v) and %q (%v)", k, a, okA, b, okB)
		}
	}
	return "nothing"
}

// follower hears every change of the registry and holds what it knows against the
// registry at the same revision.
type follower struct {
	registry *registry.Registry
	tally    *tally
	known    *replica
	sub      *registry.Subscription
	heard    uint64 // changes
	compared uint64 // snapshots
	lagged   int    // how often it had to begin anew
}

func newFollower(r *registry.Registry, t *tally) *follower {
	f := &follower{registry: r, tally: t}
	f.begin()
	return f
}

func (f *follower) begin() {
	snap, sub := f.registry.Subscribe(1 << 14)
	f.known, f.sub = replicaOf(snap), sub
}

// run follows until the context ends.
func (f *follower) run(ctx context.Context) error {
	tick := time.NewTicker(compareEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case c, ok := <-f.sub.C:
			if !ok {
				if !f.sub.Lagged() {
					return f.wrong(errors.New("the subscription ended by itself"))
				}
				f.lagged++
				f.begin()
				continue
			}
			f.heard++
			if err := f.known.hear(c); err != nil {
				return f.wrong(err, fmt.Sprintf("%+v", c))
			}
		case <-tick.C:
			if err := f.compare(ctx); err != nil {
				return f.wrong(err)
			}
		}
	}
}

// compare catches up with the registry as it stands now and compares.
func (f *follower) compare(ctx context.Context) error {
	snap := f.registry.Snapshot()
	late := time.After(patience)
	for f.known.revision < snap.Revision {
		select {
		case <-ctx.Done():
			return nil
		case <-late:
			return fmt.Errorf("revision %d did not come in the events, which are at %d", snap.Revision, f.known.revision)
		case c, ok := <-f.sub.C:
			if !ok {
				f.lagged++
				f.begin()
				return nil
			}
			f.heard++
			if err := f.known.hear(c); err != nil {
				return err
			}
		}
	}
	if f.known.revision != snap.Revision {
		return nil // the events were ahead; the next time then
	}
	f.compared++
	f.tally.reads.Add(1)
	if now := replicaOf(snap); now.digest() != f.known.digest() {
		return fmt.Errorf("at revision %d the registry and the events replayed differ: %s", snap.Revision, now.differs(f.known))
	}
	return nil
}

func (f *follower) wrong(err error, context ...string) error {
	f.tally.violate("the events of the registry: "+err.Error(), context...)
	return errViolation
}

// watcher follows the same changes over REST, where their revisions must be consecutive.
type watcher struct {
	rest   *rest
	tally  *tally
	heard  uint64
	resets int
}

func (w *watcher) run(ctx context.Context) error {
	watch := &api.Watch{}
	var last uint64
	for it, err := range w.rest.client.Watch(ctx, watch) {
		if err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return w.wrong(err)
		}
		_, text, _ := strings.Cut(it.Revision, ".")
		revision, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			return w.wrong(err)
		}
		switch it.Event {
		case api.ItemReset:
			w.resets++
			last = 0
		case api.ItemChange:
			w.heard++
			w.tally.reads.Add(1)
			// A report has the revision that it found.
			if last != 0 && revision != last+1 && revision != last {
				return w.wrong(fmt.Errorf("revision %d follows on %d", revision, last))
			}
			last = revision
		case api.ItemBookmark:
			if last != 0 && revision != last {
				return w.wrong(fmt.Errorf("after revision %d nothing is said to be missing up to %d", last, revision))
			}
			last = revision
		}
	}
	return nil
}

func (w *watcher) wrong(err error) error {
	w.tally.violate("the watch over REST: " + err.Error())
	return errViolation
}
