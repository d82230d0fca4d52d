package config

import (
	"testing"

	"fingerpost/registry"
)

// memFile is a properties file in memory whose saves can fail.
type memFile struct {
	text  []byte
	found bool
	note  string
	saves int
	// loadErr and saveErr are returned if set.
	loadErr, saveErr error
}

func (f *memFile) Load() ([]byte, bool, string, error) { return f.text, f.found, f.note, f.loadErr }

func (f *memFile) Save(text []byte) error {
	if f.saveErr != nil {
		return f.saveErr
	}
	f.text, f.found = text, true
	f.saves++
	return nil
}

// disk is the files of a test by path.
type disk map[string]*memFile

func (d disk) open(path string, _ func([]byte) error) File {
	if d[path] == nil {
		d[path] = &memFile{}
	}
	return d[path]
}

const (
	home      = "/home/u"
	storePath = home + "/namesrv/namesrv.properties"
)

// source returns a source of one file at the default place, missing if text is "-".
func source(text string, env ...string) (Source, *memFile) {
	f := &memFile{text: []byte(text), found: text != "-"}
	if text == "-" {
		f.text = nil
	}
	return Source{Home: home, State: home + "/.local/state", Env: env, Open: disk{storePath: f}.open}, f
}

func open(t *testing.T, text string, env ...string) (*Store, *memFile) {
	t.Helper()
	src, f := source(text, env...)
	s, _, err := Load(src)
	if err != nil {
		t.Fatal(err)
	}
	return s, f
}

var cause = registry.Cause{Face: "remoting", Action: "updateNamesrvConfig", Actor: "10.0.0.1:5000"}

func item(t *testing.T, s *Store, key string) Item {
	t.Helper()
	items, _ := s.Items()
	for _, it := range items {
		if it.Key == key {
			return it
		}
	}
	t.Fatalf("no item %s", key)
	return Item{}
}
