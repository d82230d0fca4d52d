package main

import (
	"path/filepath"
	"testing"

	"fingerpost/config"
	"fingerpost/internal/kvfile"
	"fingerpost/registry"
)

// The last setting that is taken out of a file is gone after a restart too: an empty file
// would be taken for a lost one, and its backup for the settings.
func TestLastSettingTakenOut(t *testing.T) {
	file := filepath.Join(t.TempDir(), "namesrv.properties")
	load := func() *config.Store {
		t.Helper()
		s, notes, err := config.Load(config.Source{Path: file, Home: t.TempDir(), State: t.TempDir(), Open: func(path string, whole func([]byte) error) config.File {
			return propertiesFile{kvfile.New(path, nil, whole), new(saves)}
		}})
		if err != nil || len(notes) > 0 {
			t.Fatal(notes, err)
		}
		return s
	}
	put(t, file, "productEnvName=test\n")
	if _, err := load().Patch(map[string]*string{"productEnvName": nil}, 0, false, registry.Cause{}); err != nil {
		t.Fatal(err)
	}
	if got := load().Current().ProductEnvName; got != "center" {
		t.Errorf("after a restart %q", got)
	}
}
