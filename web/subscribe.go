package web

import (
	"strconv"
	"strings"

	"fingerpost/api"
	"fingerpost/internal/convert"
	"fingerpost/registry"
)

// subscribe begins a subscription, or replaces the one of the same id, and queues its
// ack, what it missed, and its snapshot. It is atomic for the socket: each change is in
// the snapshot or comes after it, never both, never neither.
func (f *Feed) subscribe(s *socket, r *api.FeedRequest, filter *convert.Filter, key string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.unsubscribe(s, r.ID)
	key = r.ID + "\x00" + key
	ch := f.channels[key]
	if ch == nil {
		ch = &channel{id: r.ID, filter: filter, subs: make(map[*socket]*subscription)}
		f.channels[key] = ch
	}
	sub := &subscription{ch: ch, key: key}
	ch.subs[s], s.subs[r.ID] = sub, sub
	snap := f.o.Registry.Snapshot()
	sub.from = snap.Revision
	v := f.view(snap)
	f.push(s, entry{frame: mustJSON(api.FeedMessage{Op: opAck, ID: r.ID, Revision: v.At(), Time: api.TimeOf(v.Now)})})
	switch {
	case r.Snapshot && filter == nil:
		f.pushShared(s, ch, sub, v)
	case r.Snapshot:
		f.push(s, entry{snap: frameSnapshot(v, r.ID, filter)})
	case r.Since != "":
		f.pushMissed(s, ch, sub, v, r.Since)
	}
}

// pushShared queues a whole snapshot, one that others have asked for if it is young
// enough, and then what has changed since that was taken.
func (f *Feed) pushShared(s *socket, ch *channel, sub *subscription, v *convert.View) {
	c := f.cache
	if c == nil || c.id != ch.id || v.Now.Sub(c.at) > snapshotKept {
		if c != nil && c.id != ch.id && v.Now.Sub(c.at) <= snapshotKept {
			// Keeping a snapshot for each id that somebody thinks of would cost memory.
			f.push(s, entry{snap: frameSnapshot(v, ch.id, nil)})
			return
		}
		f.cache = &sharedSnapshot{id: ch.id, view: v, at: v.Now}
		f.push(s, entry{snap: f.cache.frames()})
		return
	}
	missed, now, reg, ok := f.o.Registry.SubscribeSince(c.view.Snapshot.Revision, 1)
	if !ok {
		f.push(s, entry{snap: frameSnapshot(v, ch.id, nil)})
		return
	}
	reg.Close()
	f.push(s, entry{snap: c.frames()})
	f.catchUp(s, ch, sub, missed, now)
}

// catchUp queues what was missed until now.
func (f *Feed) catchUp(s *socket, ch *channel, sub *subscription, missed []*registry.Change, now *registry.Snapshot) {
	sub.from = now.Revision
	if len(missed) > 0 {
		sub.told = missed[len(missed)-1].Number
	}
	f.push(s, f.newMaker().frames(ch, missed, nil)...)
}

// pushMissed queues what has changed since a revision, or a reset if that is not known
// any more.
func (f *Feed) pushMissed(s *socket, ch *channel, sub *subscription, v *convert.View, since string) {
	reason := api.ResetRestarted
	if epoch, revision, ok := strings.Cut(since, "."); ok && epoch == v.Epoch {
		reason = api.ResetCompacted
		if n, err := strconv.ParseUint(revision, 10, 64); err == nil {
			if missed, now, reg, ok := f.o.Registry.SubscribeSince(n, 1); ok {
				reg.Close()
				f.catchUp(s, ch, sub, missed, now)
				return
			}
		}
	}
	f.resets[reason]++
	f.push(s, entry{frame: mustJSON(api.FeedMessage{Op: opReset, ID: ch.id, Reason: reason, Revision: v.At(), Time: api.TimeOf(v.Now)})})
}

// unsubscribe ends a subscription if there is one. f.mu is held.
func (f *Feed) unsubscribe(s *socket, id string) {
	sub := s.subs[id]
	if sub == nil {
		return
	}
	delete(s.subs, id)
	delete(sub.ch.subs, s)
	if len(sub.ch.subs) == 0 {
		delete(f.channels, sub.key)
	}
}
