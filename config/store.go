package config

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"fingerpost/registry"
)

// Store owns the settings: what they are now and how they change. All methods may be
// called by anybody at any time.
type Store struct {
	defaults Config
	file     File
	path     string
	// black are the keys that this server's operator closed, as of the start.
	black map[string]bool

	cur atomic.Pointer[state]

	mu   sync.Mutex // makes changes take turns; a change is saved under it
	subs []subscriber
}

// state is everything that changes together. It is immutable.
type state struct {
	cfg     *Config
	layers  layers
	text    []byte            // the file's content
	pending map[string]string // saved, to take effect at the next start
	bound   int
	version uint64
}

type subscriber struct {
	name  string
	apply func(Change) error
}

// Change is what subscribers are told.
type Change struct {
	// Old and New are the settings before and after. New is not yet what Current returns.
	Old, New *Config
	// Keys are the settings that differ, in the order in which they were given.
	Keys []registry.ConfigChange
	// Cause is who asked for it.
	Cause registry.Cause
}

// Result is what came of a change.
type Result struct {
	// Applied are the keys that were changed and are in force, Unchanged those that had
	// the value already, RestartRequired those that were saved for the next start.
	Applied, Unchanged, RestartRequired []string
	// Overridden are keys that a variable or a flag will set again at the next start.
	Overridden []string
	// Version is that of the settings afterwards.
	Version uint64
}

func newStore(defaults Config, cfg *Config, l layers, st stored) *Store {
	s := &Store{defaults: defaults, file: st.file, path: st.path, black: make(map[string]bool)}
	for _, k := range cfg.ConfigBlackList {
		s.black[k] = true
	}
	cfg.ConfigStorePath = st.path
	s.defaults.ConfigStorePath = st.path
	s.cur.Store(&state{cfg: cfg, layers: l, text: st.text, version: 1})
	return s
}

// Current returns the settings in force. They are never written to.
func (s *Store) Current() *Config { return s.cur.Load().cfg }

// Version counts the changes since the start, which is 1; it is what a conditional
// change names.
func (s *Store) Version() uint64 { return s.cur.Load().version }

// Subscribe has apply called for every later change of an effective value, after it was
// saved and before it shows in [Store.Current]; subscribers are called in the order of
// their subscription, one change at a time. If apply fails nothing changes: those called
// before are called again with Old and New exchanged. apply must not change settings.
func (s *Store) Subscribe(name string, apply func(Change) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.subs = append(s.subs, subscriber{name, apply})
}

// Bound tells the store which port was taken where listenPort is 0, so that it is shown,
// as the peers do.
func (s *Store) Bound(port int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	next := *s.cur.Load()
	next.bound = port
	next.cfg, _ = build(s.defaults, &next.layers, port)
	s.cur.Store(&next)
}

// edit is one setting to change; a nil text takes it out of the file.
type edit struct {
	s    *Setting
	text *string
}

// apply makes the edits of live settings effective and saves all. Every edit's text has
// been parsed. It is called under mu. With dry it only says what would come of them.
func (s *Store) apply(edits []edit, dry bool, cause registry.Cause) (Result, error) {
	old := s.cur.Load()
	next := *old
	next.layers[FromRuntime] = maps.Clone(old.layers[FromRuntime])
	next.layers[FromFile] = maps.Clone(old.layers[FromFile])
	next.pending = maps.Clone(old.pending)
	onDisk, err := s.reread(&next)
	if err != nil {
		return Result{}, err
	}
	for _, e := range edits {
		if err := next.edit(e); err != nil {
			return Result{}, err
		}
	}
	var ps []problem
	if next.cfg, ps = build(s.defaults, &next.layers, old.bound); len(ps) > 0 {
		return Result{}, invalid(ps)
	}
	start, err := s.nextStart(&next, onDisk)
	if err != nil {
		return Result{}, err
	}
	change := Change{Old: old.cfg, New: next.cfg, Cause: cause}
	res := Result{Version: old.version}
	for _, e := range edits {
		next.report(e, old.cfg, start, &res)
		if before, after := e.s.Format(old.cfg), e.s.Format(next.cfg); before != after {
			change.Keys = append(change.Keys, registry.ConfigChange{Key: e.s.Key, Before: before, After: after})
		}
	}
	if dry {
		return res, nil
	}
	if err := s.commit(old, &next, onDisk, change); err != nil {
		return Result{}, err
	}
	res.Version = s.Version()
	return res, nil
}

// reread takes the file as it is now, so that what somebody wrote into it by hand since
// the start is kept, and returns its text.
func (s *Store) reread(st *state) ([]byte, error) {
	text, _, _, err := s.file.Load()
	if err != nil {
		return nil, broken(err)
	}
	st.text = text
	return text, nil
}

// edit changes one setting in the text of the file and, if it is live, in the layers.
func (st *state) edit(e edit) error {
	key := e.s.Key
	var err error
	had := len(st.text) > 0
	switch {
	case e.text == nil:
		st.text, err = removeProperty(st.text, key)
	case !fileHas(st.text, e.s, *e.text):
		if len(st.text) == 0 {
			st.text = []byte(fileHeader)
		}
		st.text, err = setProperty(st.text, key, *e.text)
	}
	if err == nil && e.s.Also != "" {
		st.text, err = removeProperty(st.text, e.s.Also) // or the file would have both names
	}
	if err != nil {
		return broken(err)
	}
	if had && len(bytes.TrimSpace(st.text)) == 0 {
		st.text = []byte(fileHeader) // an empty file counts as lost, and its backup would be read instead
	}
	if !e.s.Is(Live | NoEffect) {
		return nil
	}
	delete(st.layers[FromRuntime], key)
	if e.text == nil {
		delete(st.layers[FromFile], key)
	} else {
		st.layers.set(FromRuntime, key, *e.text, "a change while running")
	}
	return nil
}

// fileHeader begins a file that a change while running makes.
const fileHeader = "# Settings changed while the server ran. Others may be added; they count after a restart.\n"

// nextStart returns the settings that the file's text would make of the next start, and
// what is wrong with them. A text that is wrong already is Unsaved; one that an edit made
// wrong is Invalid, for a change must not leave a file with which the server does not start.
func (s *Store) nextStart(st *state, before []byte) (*Config, error) {
	c, ps := s.startWith(st, st.text)
	if len(ps) == 0 {
		return c, nil
	}
	if _, old := s.startWith(st, before); len(old) > 0 {
		return nil, broken(old[0])
	}
	return nil, invalid(ps)
}

func (s *Store) startWith(st *state, text []byte) (*Config, []problem) {
	l := layers{FromEnv: st.layers[FromEnv], FromFlag: st.layers[FromFlag]}
	file, err := parseProperties(text)
	if err != nil {
		return nil, []problem{{where: s.path, text: err.Error()}}
	}
	for _, p := range file {
		if row, ok := index[p.key]; ok {
			l.set(FromFile, row.Key, p.value, fmt.Sprintf("%s line %d", s.path, p.line))
		}
	}
	return build(s.defaults, &l, 0)
}

// broken is the refusal to save in a file that is no use as it is.
func broken(err error) error {
	return &registry.Error{
		Kind: registry.Unsaved, Code: "config-file-broken",
		Message: "the settings' file, with which the server would not start again, is not changed", Err: err,
	}
}

// report says what became of an edit; before are the settings until now, start those of
// the next start.
func (st *state) report(e edit, before, start *Config, res *Result) {
	key := e.s.Key
	delete(st.pending, key)
	switch now, next := e.s.Format(st.cfg), e.s.Format(start); {
	case !e.s.Is(Live|NoEffect) && now != next:
		if st.pending == nil {
			st.pending = make(map[string]string)
		}
		st.pending[key] = next
		res.RestartRequired = append(res.RestartRequired, key)
	case now != e.s.Format(before):
		res.Applied = append(res.Applied, key)
	default:
		res.Unchanged = append(res.Unchanged, key)
	}
	if _, ok := st.fromOutside(key); ok && e.text != nil {
		res.Overridden = append(res.Overridden, key)
	}
}

// fromOutside returns the flag or variable that gives key at every start, if there is one.
func (st *state) fromOutside(key string) (where string, ok bool) {
	for _, o := range []Origin{FromFlag, FromEnv} {
		if e, ok := st.layers[o][key]; ok {
			return e.where, true
		}
	}
	return "", false
}

// fileHas reports whether the file already gives a setting this value, in whatever form.
func fileHas(text []byte, s *Setting, value string) bool {
	ps, err := parseProperties(text)
	if err != nil {
		return false
	}
	for _, p := range slices.Backward(ps) {
		if p.key == s.Key {
			var c Config
			return s.parse(&c, p.value) == nil && s.Format(&c) == value
		}
	}
	return false
}

// commit saves, tells the subscribers and shows the new state, or does nothing.
func (s *Store) commit(old, next *state, onDisk []byte, change Change) error {
	saved := string(next.text) != string(onDisk)
	if !saved && len(change.Keys) == 0 && maps.Equal(old.pending, next.pending) {
		return nil
	}
	if saved {
		if err := s.file.Save(next.text); err != nil {
			return &registry.Error{Kind: registry.Unsaved, Message: "the settings could not be saved and stand as before", Err: err}
		}
	}
	next.version = old.version + 1
	if len(change.Keys) > 0 {
		if err := s.tell(change); err != nil {
			if saved {
				if e := s.file.Save(onDisk); e != nil {
					err = errors.Join(err, fmt.Errorf("and the file holds the new settings: %w", e))
				}
			}
			return &registry.Error{Kind: registry.Internal, Message: "the settings could not be applied and stand as before", Err: err}
		}
	}
	s.cur.Store(next)
	return nil
}

func (s *Store) tell(change Change) error {
	for i, sub := range s.subs {
		err := sub.apply(change)
		if err == nil {
			continue
		}
		back := Change{Old: change.New, New: change.Old, Cause: change.Cause}
		for _, k := range change.Keys {
			back.Keys = append(back.Keys, registry.ConfigChange{Key: k.Key, Before: k.After, After: k.Before})
		}
		for _, done := range slices.Backward(s.subs[:i]) {
			if e := done.apply(back); e != nil {
				err = errors.Join(err, fmt.Errorf("and %s kept the new settings: %w", done.name, e))
			}
		}
		return fmt.Errorf("%s: %w", sub.name, err)
	}
	return nil
}

// invalid makes one error of values that cannot be taken. Each names its key in Field.
func invalid(ps []problem) error {
	var errs []error
	for _, p := range ps {
		errs = append(errs, &registry.Error{Kind: registry.Invalid, Code: "bad-config-value", Field: p.key, Message: strings.TrimSpace(p.key + " " + p.text)})
	}
	if len(errs) == 1 {
		return errs[0]
	}
	return errors.Join(errs...)
}
