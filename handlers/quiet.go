package handlers

import (
	"maps"
	"strconv"
	"strings"
	"time"

	"fingerpost/api"
)

// quietPeriod collects the changes of a watch until nothing has come for a while, at
// most ten times that while, and makes one item of them in which the last state of each
// thing counts. All methods but newQuietPeriod may be called on nil, which never waits.
type quietPeriod struct {
	wait  time.Duration
	timer *time.Timer
	until time.Time // when it ends whatever comes
	sets  int
	last  api.ChangeSet // the cause and revision of the item
	order []string
	by    map[string]api.Change
}

// maxCollected bounds what is collected; beyond it the item goes out early.
const maxCollected = 10_000

func newQuietPeriod(d time.Duration) *quietPeriod {
	return &quietPeriod{wait: d, by: make(map[string]api.Change)}
}

// due is when the item is to go out; it is nil while nothing waits.
func (q *quietPeriod) due() <-chan time.Time {
	if q == nil || q.timer == nil {
		return nil
	}
	return q.timer.C
}

func (q *quietPeriod) pending() bool { return q != nil && q.sets > 0 }

// add takes in a change set; false means that the item should go out now.
func (q *quietPeriod) add(set *api.ChangeSet) bool {
	now := time.Now()
	if q.sets == 0 {
		q.until = now.Add(10 * q.wait)
		q.timer = time.NewTimer(q.wait)
	} else {
		q.timer.Reset(min(q.wait, max(0, q.until.Sub(now))))
	}
	q.sets++
	q.last = *set
	for _, c := range set.Changes {
		k := keyOf(&c)
		old, ok := q.by[k]
		if !ok {
			q.order = append(q.order, k)
		} else {
			c.Before, c.After = overlay(c.Before, old.Before), overlay(old.After, c.After)
		}
		q.by[k] = c
	}
	return len(q.by) < maxCollected
}

// keyOf names the thing that changed.
func keyOf(c *api.Change) string {
	var k strings.Builder
	k.WriteString(c.Kind + "\x00" + c.Cluster + "\x00" + c.BrokerName + "\x00" + c.Topic)
	if c.BrokerID != nil {
		k.WriteString("\x00" + strconv.FormatInt(*c.BrokerID, 10))
	}
	for _, s := range []*string{c.Namespace, c.Key} {
		if s != nil {
			k.WriteString("\x00" + *s)
		}
	}
	return k.String()
}

// overlay puts the fields of top over those of base. Where either is nil there was
// nothing before, or is nothing after, and so it stays.
func overlay(base, top map[string]any) map[string]any {
	if base == nil || top == nil {
		return top
	}
	out := maps.Clone(base)
	maps.Copy(out, top)
	return out
}

// take returns the item of what was collected, and begins anew.
func (q *quietPeriod) take() api.WatchItem {
	it := itemOf(&q.last)
	it.Counts, it.Changes = make(map[string]int), make([]api.Change, 0, len(q.order))
	for _, k := range q.order {
		c := q.by[k]
		it.Counts[c.Kind]++
		it.Changes = append(it.Changes, c)
	}
	it.Collapsed = q.sets
	q.drop()
	return it
}

// drop forgets what was collected.
func (q *quietPeriod) drop() {
	if q == nil || q.timer == nil {
		return
	}
	q.timer.Stop()
	q.timer, q.sets, q.order = nil, 0, nil
	clear(q.by)
}
