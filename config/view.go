package config

import (
	"cmp"
	"slices"
)

// Text returns the settings as request 319 answers: sorted lines of key=value, without
// escapes. Like the peers' answer it holds all of the peers' settings and, besides, those
// that the file or a change while running names; a null setting and secrets are left out.
func (s *Store) Text() []byte {
	st := s.cur.Load()
	type line struct{ key, value string }
	lines := make([]line, 0, 64)
	for _, row := range settings {
		switch {
		case row.Is(Secret), row.Key == "rocketmqHome" && st.cfg.RocketmqHome == "":
		case row.Is(Foreign):
			if e, ok := st.layers[FromFile][row.Key]; ok {
				lines = append(lines, line{row.Key, e.text})
			}
		case row.Is(Peer) || st.layers.given(row.Key):
			lines = append(lines, line{row.Key, row.Format(st.cfg)})
		}
	}
	slices.SortFunc(lines, func(a, b line) int { return cmp.Compare(a.key, b.key) })
	var out []byte
	for _, l := range lines {
		out = append(append(append(append(out, l.key...), '='), l.value...), '\n')
	}
	return out
}

// Item is one setting as people look at it.
type Item struct {
	*Setting
	// Value is the one in force, Default the one without any configuration. A secret's
	// is "***".
	Value, Default string
	// Origin is where Value came from, Where the exact place: a variable, a flag, a
	// line of the file; empty for a default.
	Origin Origin
	Where  string
	// Pending is the value saved for the next start, if WillChange.
	Pending    string
	WillChange bool
	// Closed is whether nobody may change the setting while running.
	Closed bool
}

// Mutable reports whether a change takes effect while running.
func (i *Item) Mutable() bool { return i.Is(Live|NoEffect) && !i.Closed }

// masked stands in the place of a secret.
const masked = "***"

// Items returns every setting of this server in the table's order, and the foreign ones
// that the file has, and the version they belong to.
func (s *Store) Items() ([]Item, uint64) {
	st := s.cur.Load()
	items := make([]Item, 0, len(settings))
	for _, row := range settings {
		e, o := st.layers.top(row.Key)
		it := Item{Setting: row, Origin: o, Where: e.where, Closed: row.Is(Foreign) || s.closed(row)}
		switch {
		case row.Is(Foreign) && o == FromDefault:
			continue
		case row.Is(Foreign):
			it.Value = e.text
		default:
			it.Value, it.Default = row.Format(st.cfg), row.Format(&s.defaults)
		}
		it.Pending, it.WillChange = st.pending[row.Key]
		if row.Is(Secret) {
			it.Value = masked
		}
		items = append(items, it)
	}
	return items, st.version
}
