package registry

import (
	"crypto/rand"
	"encoding/base32"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Options are what a registry needs from outside. The zero value works.
type Options struct {
	// Now tells the time, with a monotonic reading; time.Now by default.
	Now func() time.Time
	// Rules are the settings at the start; DefaultRules if nil.
	Rules *Rules
	// KV is the key-value table at the start.
	KV KV
	// SaveKV makes a table durable; it is called before the table becomes visible
	// and never twice at once. Without it nothing is saved.
	SaveKV func(KV) error
}

// Registry is the one mutable thing: the present snapshot, and how it changes.
// All methods may be called by anybody at any time.
type Registry struct {
	now     func() time.Time
	started time.Time
	epoch   string
	saveKV  func(KV) error

	snap atomic.Pointer[Snapshot]

	// kvMu spans the saving of the key-value table. It is taken before mu.
	kvMu sync.Mutex

	// mu makes writers take turns. Nothing that waits happens under it.
	mu      sync.Mutex
	holders map[Holder]map[string]*lease // what each connection holds, by live key
	layouts layouts
	past    history
	counts  Counts
	// disputes remembers what brokers are at odds about.
	disputes disputeBook
	partings partings // has a lock of its own
	subs     map[*Subscription]struct{}
	swept    time.Time // when Sweep last ran
	late     bool      // whether that came late
	closed   int       // members that lost their connection since
	thawing  bool      // some of what stands from before a restart may have to go
}

// New returns an empty registry with a new epoch.
func New(o Options) *Registry {
	r := &Registry{
		now: o.Now, saveKV: o.SaveKV, epoch: newEpoch(),
		holders: make(map[Holder]map[string]*lease), subs: make(map[*Subscription]struct{}),
	}
	if r.now == nil {
		r.now = time.Now
	}
	r.started = r.now()
	r.swept = r.started
	rules := DefaultRules()
	if o.Rules != nil {
		rules = *o.Rules
	}
	kv := &kvTable{spaces: make(map[string]map[string]KVEntry, len(o.KV))}
	for ns, m := range o.KV {
		es := make(map[string]KVEntry, len(m))
		for k, v := range m {
			es[k] = KVEntry{Value: v}
		}
		kv.spaces[ns] = es
	}
	r.snap.Store(&Snapshot{Epoch: r.epoch, At: r.started, reg: r, kv: kv, rules: &rules, view: newView(), names: new(names), sums: newSums()})
	return r
}

// newEpoch returns eight letters and digits that no other process will have.
func newEpoch() string {
	var b [5]byte
	rand.Read(b[:]) // never fails
	return strings.ToLower(base32.StdEncoding.EncodeToString(b[:]))
}

// Snapshot returns what stands now.
func (r *Registry) Snapshot() *Snapshot { return r.snap.Load() }

// Started returns when the registry was made.
func (r *Registry) Started() time.Time { return r.started }

// Epoch returns the random name of this process's sequence of revisions.
func (r *Registry) Epoch() string { return r.epoch }

// SetRules changes the rules. The changed settings are reported as one change, also
// those that are no rule of the registry; nothing happens if there are none and the
// rules are what they were.
func (r *Registry) SetRules(rules Rules, changed []ConfigChange, cause Cause) {
	r.mu.Lock()
	d := r.begin(cause)
	d.change.Config = changed
	if rules != *d.next.rules {
		d.next.rules = &rules
		d.next.rulesRevision = d.revision()
		d.newView = true
	}
	d.commit()
}

// Report records something that happened without changing the registry, such as a
// refusal or the start of the process, so that watchers hear of it. It moves no revision.
func (r *Registry) Report(c Change) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.Snapshot()
	c.Revision, c.Step, c.Time = s.Revision, false, r.now()
	r.emit(&c)
}
