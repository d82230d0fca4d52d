package config

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"fingerpost/registry"
)

// maxWarnings bounds what a long list of unknown keys can say.
const maxWarnings = 20

// Update changes settings as request 318 asks: text is Java properties. It is an
// allow-list: of the settings that take effect while running, and of the peers' that have
// none here, all are changed or none is.
//
// A key that is locked, or that configBlackList names, refuses the whole: Denied, with
// the key in Field; so does allowRemoteConfig=false. A malformed text or a value of the
// wrong form is Invalid, a malformed text with the code "malformed-properties". If the
// settings cannot be saved the error is Unsaved. Unknown keys and those that cannot
// change while running are ignored, as the peers do or nearly so, and warned of.
func (s *Store) Update(text []byte, cause registry.Cause) (warnings []string, err error) {
	if len(text) == 0 {
		return nil, nil
	}
	ps, err := parseProperties(text)
	if err != nil {
		return nil, &registry.Error{Kind: registry.Invalid, Code: "malformed-properties", Message: "the settings are not Java properties", Err: err}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.Current().AllowRemoteConfig {
		return nil, &registry.Error{
			Kind: registry.Denied, Code: "remote-config-off",
			Message: "settings cannot be changed over the remoting port because allowRemoteConfig is false",
		}
	}
	values := make(map[string]property) // of repeated keys the last counts
	for _, p := range ps {
		if row, ok := index[p.key]; s.black[p.key] || ok && row.Is(Locked) && !row.Is(Skipped) {
			return nil, denied(p.key)
		}
		values[p.key] = p
	}
	w := warner{}
	var edits []edit
	var bad []problem
	for _, p := range slices.SortedFunc(maps.Values(values), func(a, b property) int { return cmp.Compare(a.start, b.start) }) {
		row, ok := index[p.key]
		switch {
		case !ok || row.Is(Foreign):
			w.warn("%s is not a setting of this server and was ignored", quote(p.key))
		case !row.Is(Live | NoEffect):
			w.warn("%s does not change while running and was ignored: set it in the file and restart", p.key)
		default:
			var c Config
			if err := row.parse(&c, p.value); err != nil {
				bad = append(bad, problem{key: row.Key, text: err.Error()})
				continue
			}
			v := row.Format(&c)
			edits = append(edits, edit{row, &v})
		}
	}
	if len(bad) > 0 {
		return nil, invalid(bad)
	}
	res, err := s.apply(edits, false, cause)
	if err != nil {
		return nil, err
	}
	for _, key := range res.Overridden {
		where, _ := s.cur.Load().fromOutside(key)
		w.warn("%s is also given by %s, which wins at the next start", key, where)
	}
	return w.list(), nil
}

// Patch changes settings as a JSON merge patch does: by key, nil takes a setting out of
// the file so that its flag, variable or default counts again. Settings that take effect
// only at the next start are saved for it. All are changed or none is.
//
// A version that is not 0 must be the present one, else the error is Conflict with the
// code "precondition-failed". An unknown key or a bad value is Invalid, a locked setting
// Denied with the code "config-key-protected", in both cases with the key in Field; where
// several are wrong the error joins one *registry.Error for each. Unsaved is a change
// that could not be saved. With dry nothing is changed: the result says what would be.
func (s *Store) Patch(values map[string]*string, version uint64, dry bool, cause registry.Cause) (Result, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if v := s.Version(); version != 0 && version != v {
		return Result{}, &registry.Error{Kind: registry.Conflict, Code: "precondition-failed", Message: "the settings have changed since they were read"}
	}
	var edits []edit
	var bad []problem
	for _, key := range slices.Sorted(maps.Keys(values)) {
		row, ok := Find(key)
		if !ok || row.Key != key {
			text := "is not a setting of this server"
			if near, ok := Nearest(key); ok {
				text += "; did you mean " + near + "?"
			}
			bad = append(bad, problem{key: key, text: text})
			continue
		}
		if s.closed(row) {
			return Result{}, denied(key)
		}
		e := edit{s: row}
		if text := values[key]; text != nil {
			var c Config
			if err := row.parse(&c, *text); err != nil {
				bad = append(bad, problem{key: key, text: err.Error()})
				continue
			}
			v := row.Format(&c)
			e.text = &v
		}
		edits = append(edits, e)
	}
	if len(bad) > 0 {
		return Result{}, invalid(bad)
	}
	return s.apply(edits, dry, cause)
}

// closed reports whether nobody may change the setting while running.
func (s *Store) closed(row *Setting) bool { return row.Is(Locked) || s.black[row.Key] }

func denied(key string) error {
	return &registry.Error{
		Kind: registry.Denied, Code: "config-key-protected", Field: key,
		Message: fmt.Sprintf("%s cannot be changed while running: set it in the file and restart", quote(key)),
	}
}

// warner keeps the first warnings and counts the rest.
type warner struct {
	texts []string
	more  int
}

func (w *warner) warn(format string, a ...any) {
	if len(w.texts) == maxWarnings {
		w.more++
		return
	}
	w.texts = append(w.texts, fmt.Sprintf(format, a...))
}

func (w *warner) list() []string {
	if w.more > 0 {
		return append(w.texts, fmt.Sprintf("and %d more were ignored", w.more))
	}
	return w.texts
}
