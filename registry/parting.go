package registry

import (
	linked "container/list"
	"sync"
	"time"
)

// Bounds of what is remembered of members that are gone: as long as one may be silent,
// and some tens of megabytes. A topic whose texts are longer counts as several.
const (
	partingLasts  = DefaultTimeout
	partingTopics = 1 << 18
	partingTexts  = 128
)

// partings remember what members that are gone had listed. Most come back with the same
// list, after a lost connection or a restart, and then it need not be made again. Nothing
// else depends on them.
type partings struct {
	mu     sync.Mutex
	byKey  map[string]*linked.Element
	order  linked.List // of parting, oldest first
	topics int
}

// parting is what one member had listed. topics is the broker's table if it held exactly
// the topics of the listing, as listed.
type parting struct {
	key     string
	at      time.Time
	weight  int // topics as which the list counts
	listing *listing
	topics  index[*Listed]
}

// remember keeps what l has listed, unless that alone is too much. t is its broker's table.
func (p *partings) remember(l *Live, t *table, now time.Time) {
	if l.listing == nil || len(l.listing.topics) == 0 {
		return
	}
	x := parting{key: l.k, at: now, weight: l.listing.weight(), listing: l.listing, topics: l.stands(t)}
	if x.weight > partingTopics {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.byKey == nil {
		p.byKey = make(map[string]*linked.Element)
	}
	p.drop(p.byKey[l.k])
	p.byKey[l.k] = p.order.PushBack(x)
	p.topics += x.weight
	for p.topics > partingTopics {
		p.drop(p.order.Front())
	}
}

// find returns what a member listed, or a parting without a listing.
func (p *partings) find(key string) parting {
	p.mu.Lock()
	defer p.mu.Unlock()
	if e := p.byKey[key]; e != nil {
		return e.Value.(parting)
	}
	return parting{}
}

// forget drops what a member listed that is back.
func (p *partings) forget(key string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.drop(p.byKey[key])
}

// expire drops what has been kept for long enough.
func (p *partings) expire(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for e := p.order.Front(); e != nil && now.Sub(e.Value.(parting).at) >= partingLasts; e = p.order.Front() {
		p.drop(e)
	}
}

func (p *partings) drop(e *linked.Element) {
	if e == nil {
		return
	}
	x := p.order.Remove(e).(parting)
	delete(p.byKey, x.key)
	p.topics -= x.weight
}

// weight is as how many topics of usual texts a list counts.
func (s *listing) weight() (n int) {
	for _, l := range s.topics {
		n += 1 + (len(l.Name)+len(l.Config.Attributes))/partingTexts
	}
	return n
}
