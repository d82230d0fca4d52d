package main

import (
	"path/filepath"
	"strings"
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
			return &propertiesFile{File: kvfile.New(path, nil, whole), saved: new(saves)}
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

// A file that somebody broke while the server runs is set aside by the next change of
// settings, which the log says: what was written into it by hand does not count any more.
func TestFileBrokenByHand(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "namesrv.properties")
	put(t, file, "productEnvName=one\n")
	p := start(t, dir, "-c", file)
	set := func(name string) {
		t.Helper()
		if status, _, stderr := once(t, dir, nil, "config", "set", "productEnvName="+name, "--server", p.url(t), "--token-file", filepath.Join(dir, ".local/state/fingerpost", adminToken)); status != 0 {
			t.Fatal(stderr)
		}
	}
	set("two")
	put(t, file, "productEnvName=C:\\users\n")
	set("three")
	if text := p.stderr.String(); !strings.Contains(text, "the broken file is kept as "+file+".broken") {
		t.Errorf("the log is %s", text)
	}
}
