package web

import (
	"strconv"
	"time"

	"fingerpost/api"
	"fingerpost/internal/convert"
	"fingerpost/registry"
)

// pumpBuffer is how many changes the registry may be ahead of the pump; at the fastest
// storms that were measured it is some tens of milliseconds.
const pumpBuffer = 4096

// maxPending ends a batch before its time: memory stays bounded in any storm.
const maxPending = maxQueuedSets

// channel is one wish that several sockets may share: then each of its frames is made once.
type channel struct {
	id     string
	filter *convert.Filter // nil: everything
	subs   map[*socket]*subscription
}

// subscription is one socket's part of a channel.
type subscription struct {
	ch  *channel
	key string
	// from is the revision up to which the socket has heard of everything already, told
	// the number of the last change that it missed and was then told of.
	from, told uint64
}

// pump follows the registry until the feed is closed. A change is sent at once unless
// something was sent less than batchEvery ago; then it waits for the rest of that time.
func (f *Feed) pump(sub *registry.Subscription) {
	defer func() { sub.Close() }()
	flush := time.NewTimer(time.Hour)
	flush.Stop()
	bookmarks := time.NewTicker(heardEvery)
	defer bookmarks.Stop()
	var sent, bookmarked time.Time
	armed := false
	for {
		select {
		case c, ok := <-sub.C:
			if !ok {
				// The registry does not wait for us either.
				_, sub = f.o.Registry.Subscribe(pumpBuffer)
				f.resetAll()
				continue
			}
			now := time.Now()
			switch n := f.hold(c); {
			case n >= maxPending, now.Sub(sent) >= batchEvery && len(sub.C) == 0:
				f.flush()
				sent, armed = now, false
				flush.Stop()
			case !armed:
				armed = true
				flush.Reset(max(0, batchEvery-now.Sub(sent)))
			}
		case <-flush.C:
			f.flush()
			sent, armed = time.Now(), false
		case now := <-bookmarks.C:
			f.flush()
			all := now.Sub(bookmarked) >= heartbeat-heardEvery/2
			if all {
				bookmarked = now
			}
			f.bookmark(all)
		case <-f.done:
			return
		}
	}
}

func (f *Feed) hold(c *registry.Change) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pending = append(f.pending, c)
	return len(f.pending)
}

// flush sends the batch to everybody.
func (f *Feed) flush() {
	f.mu.Lock()
	defer f.mu.Unlock()
	items := f.pending
	f.pending = nil
	if len(items) == 0 || len(f.channels) == 0 {
		return
	}
	m := f.newMaker()
	first := firstStep(items)
	for _, ch := range f.channels {
		var shared []entry
		made := false
		for s, sub := range ch.subs {
			if first != 0 && sub.from >= first || sub.told >= items[0].Number {
				// It subscribed after some of these and has them already.
				f.push(s, m.frames(ch, items, sub)...)
				continue
			}
			if !made {
				shared, made = m.frames(ch, items, nil), true
			}
			f.push(s, shared...)
		}
	}
	f.o.Lag(time.Since(items[0].Time))
}

func firstStep(items []*registry.Change) uint64 {
	for _, c := range items {
		if c.Step {
			return c.Revision
		}
	}
	return 0
}

// push hands entries to a socket. f.mu is held.
func (f *Feed) push(s *socket, entries ...entry) {
	for _, e := range entries {
		lost, full := s.queue.push(e, resetLagged)
		if lost {
			f.resets[api.ResetLagged]++
		}
		if full {
			s.end(tooSlow)
			return
		}
	}
}

// resetLagged concerns every subscription of a socket.
var resetLagged = mustJSON(api.FeedMessage{Op: opReset, Reason: api.ResetLagged})

func (f *Feed) resetAll() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pending = nil
	for s := range f.sockets {
		if len(s.subs) > 0 {
			f.resets[api.ResetLagged]++
			f.push(s, entry{frame: resetLagged, loss: true})
		}
	}
}

// bookmark tells everybody (all) or those who can use it when members were heard of.
func (f *Feed) bookmark(all bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.cache != nil && time.Since(f.cache.at) > snapshotKept {
		f.cache = nil // it holds a registry of long ago
	}
	if len(f.channels) == 0 {
		clear(f.heard)
		return
	}
	v := f.view(f.o.Registry.Snapshot())
	moved := f.movedLeases(v)
	for _, ch := range f.channels {
		var heard []api.FeedHeard
		if wants(ch.filter, api.KindMember) {
			for g, hs := range moved {
				if wantsGroup(v, ch.filter, g) {
					heard = append(heard, hs...)
				}
			}
		}
		if !all && len(heard) == 0 {
			continue
		}
		e := entry{loss: true, frame: mustJSON(api.FeedMessage{
			Op: opBookmark, ID: ch.id, Revision: v.At(), Time: api.TimeOf(v.Now), Heard: heard,
		})}
		for s := range ch.subs {
			f.push(s, e)
		}
	}
}

// movedLeases returns the members heard of since it was last called.
func (f *Feed) movedLeases(v *convert.View) map[*registry.Group][]api.FeedHeard {
	out := make(map[*registry.Group][]api.FeedHeard)
	next := make(map[string]int64, len(f.heard))
	for _, g := range v.Groups() {
		for _, m := range g.Members {
			key := g.Name + "/" + strconv.FormatInt(m.ID, 10)
			seen := v.LiveOf(m).LastSeen().UnixMilli()
			next[key] = seen
			if f.heard[key] != seen {
				out[g] = append(out[g], api.FeedHeard{BrokerName: g.Name, BrokerID: m.ID, LastUpdateTimestamp: seen})
			}
		}
	}
	f.heard = next
	return out
}
