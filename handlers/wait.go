package handlers

import (
	"context"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"time"

	"fingerpost/registry"
)

// hubKey is something that long polls wait for. A route waits for its topic and for
// each broker that serves it.
type hubKey struct {
	of   keyKind
	name string // "" for what there is one of
}

type keyKind uint8

const (
	keyAll keyKind = iota // any change at all
	keyTopic
	keyTopics
	keyBroker
	keyMembers
	keyKV // a namespace
	keyKVs
	keyConfig
)

func waitFor(of keyKind, name string) hubKey { return hubKey{of, name} }

// hub wakes long polls. One goroutine hears every change and wakes those who wait for
// what it touched; they look whether it is another state for them.
type hub struct {
	reg *registry.Registry

	mu    sync.Mutex
	byKey map[hubKey]map[*waiter]struct{}

	woken uint64 // waiters that were woken, for tests; guarded by mu
}

// waiter is one long poll.
type waiter struct {
	c    chan struct{} // holds one: something may have changed since it was last emptied
	keys []hubKey
}

func newHub(reg *registry.Registry) *hub {
	return &hub{reg: reg, byKey: make(map[hubKey]map[*waiter]struct{})}
}

// hubBuffer is how many changes may come while the hub works on one. Beyond it everybody
// is woken, which is right and only costs.
const hubBuffer = 1024

func (h *hub) run(ctx context.Context) {
	for {
		_, sub := h.reg.Subscribe(hubBuffer)
		h.wakeAll()
		if !h.hear(ctx, sub) {
			sub.Close()
			return
		}
	}
}

// hear passes changes on until the subscription is lost; false means that ctx is over.
func (h *hub) hear(ctx context.Context, sub *registry.Subscription) bool {
	for {
		select {
		case <-ctx.Done():
			return false
		case c, ok := <-sub.C:
			if !ok {
				return true
			}
			h.tell(c)
		}
	}
}

func (h *hub) join(keys []hubKey) *waiter {
	w := &waiter{c: make(chan struct{}, 1)}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.add(w, keys)
	return w
}

func (h *hub) add(w *waiter, keys []hubKey) {
	w.keys = keys
	for _, k := range keys {
		m := h.byKey[k]
		if m == nil {
			m = make(map[*waiter]struct{}, 1)
			h.byKey[k] = m
		}
		m[w] = struct{}{}
	}
}

func (h *hub) leave(w *waiter) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, k := range w.keys {
		delete(h.byKey[k], w)
		if len(h.byKey[k]) == 0 {
			delete(h.byKey, k)
		}
	}
}

// move makes w wait for other keys. It reports whether they are others: then what they
// stand for may have changed already.
func (h *hub) move(w *waiter, keys []hubKey) bool {
	if slices.Equal(w.keys, keys) {
		return false
	}
	h.leave(w)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.add(w, keys)
	return true
}

func (h *hub) wakeAll() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for k := range h.byKey {
		h.wake(k)
	}
}

// tell wakes those who wait for something that the change touched.
func (h *hub) tell(c *registry.Change) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.byKey) == 0 {
		return
	}
	h.wake(hubKey{of: keyAll})
	for i := range c.Topics {
		h.wake(hubKey{keyTopic, c.Topics[i].Topic})
	}
	if len(c.Topics) > 0 {
		h.wake(hubKey{of: keyTopics})
	}
	for i := range c.Members {
		if shown(&c.Members[i]) {
			h.wake(hubKey{keyBroker, c.Members[i].Broker})
		}
	}
	if len(c.Members)+len(c.Clusters)+len(c.WritePerms) > 0 {
		h.wake(hubKey{of: keyMembers})
	}
	for i := range c.KV {
		h.wake(hubKey{keyKV, c.KV[i].Namespace})
		if c.KV[i].Namespace == registry.OrderNamespace {
			h.wake(hubKey{keyTopic, c.KV[i].Key})
		}
	}
	if len(c.KV) > 0 {
		h.wake(hubKey{of: keyKVs})
	}
	if len(c.Config) > 0 {
		// A setting may change every route and every list.
		for k := range h.byKey {
			h.wake(k)
		}
	}
}

// shown reports whether a route shows what changed of a member.
func shown(m *registry.MemberChange) bool {
	if m.Op == registry.OpRejected {
		return false
	}
	b, a := m.Before, m.After
	// Two that are equal tell of what belongs to the group: its zone, its filter servers.
	return b == nil || a == nil || *b == *a || b.Addr != a.Addr || b.ID != a.ID || b.Cluster != a.Cluster ||
		b.Zone != a.Zone || b.HasZone != a.HasZone || b.Acting != a.Acting
}

func (h *hub) wake(key hubKey) {
	for w := range h.byKey[key] {
		select {
		case w.c <- struct{}{}:
			h.woken++
		default:
		}
	}
}

// Bounds of ?wait=.
const (
	minWait = 500 * time.Millisecond
	maxWait = 300 * time.Second
)

// await goes on while the caller has what the reply says, until that changes or the
// time is over. A small random part is added to the time, so that callers who came
// together do not all come back together.
func (h *Handler) await(c *call, rep reply) (reply, error) {
	d := c.query.duration(paramWait, minWait, maxWait)
	if err := c.query.err(); err != nil {
		return rep, err
	}
	if rep.etag == "" || !c.unchanged(&rep) || c.r.Method == http.MethodHead {
		return rep, nil
	}
	leave, err := h.watched.wait()
	if err != nil {
		return rep, err
	}
	defer leave()
	c.land()
	timer := time.NewTimer(d + time.Duration(rand.Int64N(int64(d)/20+1)))
	defer timer.Stop()
	w := h.hub.join(rep.keys)
	defer h.hub.leave(w)
	for {
		// Looked at after joining: what changed before is seen here, what changes
		// later wakes.
		c.snap = h.deps.Registry.Snapshot()
		if rep, err = c.op.do(h, c); err != nil || !c.unchanged(&rep) {
			break
		}
		if h.hub.move(w, rep.keys) {
			continue
		}
		select {
		case <-w.c:
			continue
		case <-timer.C:
		case <-c.context().Done():
		case <-h.ctx.Done():
		}
		break
	}
	c.Header()["Namesrv-Revision"] = []string{c.revision(c.snap.Revision)}
	return rep, err
}
