package kvfile_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"fingerpost/internal/kvfile"
)

// A disk that fails goes on failing, for what would clear up too: the program lives on,
// with an error, and finds the old content or, where only the last flush had failed, the
// new; after a power cut also in whatever order the names were written. When the disk is
// well again so are the saves.
func TestSaveOnABrokenDisk(t *testing.T) {
	for _, noLinks := range []bool{false, true} {
		for _, cause := range []error{syscall.ENOSPC, syscall.EIO, syscall.EROFS} {
			for n := 1; ; n++ {
				m, f := twoVersions(t, noLinks)
				m.arm(n, cause, false)
				m.lasting = true
				err := f.Save(content("new"))
				if m.step < n {
					break
				}
				where := fmt.Sprintf("no links %v, %v at %v", noLinks, cause, m.steps)
				if err == nil && m.steps[n-1] != "remove" {
					t.Errorf("%s: no error", where)
				}
				if err != nil && !errors.Is(err, cause) {
					t.Errorf("%s: the error is %v", where, err)
				}
				m.failAt, m.lasting = 0, false
				found := map[string]*memFS{"killed": m.killed()}
				for kept := range uint(1) << len(m.journal) {
					found[fmt.Sprintf("keeping %b", kept)] = m.powerCutOf(kept)
				}
				for how, after := range found {
					if got := string(load(t, after).Data); got != "whole:old:end" && got != "whole:new:end" {
						t.Errorf("%s, %s: loaded %q", where, how, got)
					}
				}
				if err := f.Save(content("newer")); err != nil {
					t.Errorf("%s: next save: %v", where, err)
				}
				if got := string(load(t, m.powerCut(0)).Data); got != "whole:newer:end" {
					t.Errorf("%s: after the next save loaded %q", where, got)
				}
			}
		}
	}
}

// The program stops at every operation, and of the names' changes any part is written, in
// any order: the file is old or new, and new if the save was answered.
func TestPowerCutInAnyOrder(t *testing.T) {
	for _, noLinks := range []bool{false, true} {
		for n := 1; ; n++ {
			m, f := twoVersions(t, noLinks)
			m.arm(n, nil, true)
			err := f.Save(content("new"))
			done := m.step < n
			m.stop = false
			for kept := range uint(1) << len(m.journal) {
				got := string(load(t, m.powerCutOf(kept)).Data)
				if got != "whole:new:end" && (got != "whole:old:end" || err == nil) {
					t.Errorf("no links %v, %v, keeping %b: save said %v, loaded %q", noLinks, m.steps, kept, err, got)
				}
			}
			if done {
				break
			}
		}
	}
}

// Every mixture of what may stand under the two names, as after somebody swapped, cut or
// removed files, ends with a whole content or with a refusal that leaves both as they are.
func TestSwappedFiles(t *testing.T) {
	contents := map[string]string{
		"missing": "-", "empty": "", "blank": "\n", "zeros": "\x00\x00\x00\x00", "cut": "whole:ma", "another's": "a=b\n",
		"old": string(content("old")), "new": string(content("new")),
	}
	whole := func(what string) bool { return what == "old" || what == "new" }
	for main, text := range contents {
		for backup, other := range contents {
			m := newMemFS()
			for name, text := range map[string]string{path: text, path + ".bak": other} {
				if text != "-" {
					m.put(name, text)
				}
			}
			l, err := kvfile.New(path, m, check).Load()
			want := ""
			switch {
			case whole(main):
				want = text
			case whole(backup):
				want = other
			}
			nothing := (main == "missing" || main == "empty" || main == "blank") && (backup == "missing" || backup == "empty" || backup == "blank")
			switch {
			case want != "" && (err != nil || string(l.Data) != want):
				t.Errorf("%s beside %s: %q, %v", main, backup, l.Data, err)
			case want == "" && nothing && (err != nil || strings.TrimSpace(string(l.Data)) != ""):
				t.Errorf("%s beside %s: %q, %v", main, backup, l.Data, err)
			case want == "" && !nothing && err == nil:
				t.Errorf("%s beside %s is taken for %q", main, backup, l.Data)
			}
			if err == nil {
				continue
			}
			for name, text := range map[string]string{path: text, path + ".bak": other} {
				if b, _ := m.ReadFile(name); text != "-" && string(b) != text {
					t.Errorf("%s beside %s: after a refusal %s holds %q", main, backup, name, b)
				}
			}
		}
	}
}

// Try finds what a save would find, and leaves nothing behind.
func TestTry(t *testing.T) {
	m, f := twoVersions(t, false)
	if err := f.Try(); err != nil {
		t.Error(err)
	}
	for n := 1; ; n++ {
		m.arm(n, syscall.ENOSPC, false)
		err := f.Try()
		if m.step < n {
			break
		}
		if !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("at %v: %v", m.steps, err)
		}
	}
	m.failAt = 0
	load(t, m) // clears away what could not be removed
	if got := names(m); got != "f f.bak" {
		t.Errorf("names %q", got)
	}
	dir := t.TempDir()
	g := kvfile.New(filepath.Join(dir, "not", "there", "f"), nil, nil)
	if err := g.Try(); err != nil {
		t.Error(err)
	}
	if found, _ := os.ReadDir(dir); len(found) > 0 {
		t.Errorf("a try leaves %v", found)
	}
	if err := os.WriteFile(filepath.Join(dir, "not"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := g.Try(); !errors.Is(err, syscall.ENOTDIR) {
		t.Errorf("with a file in the way: %v", err)
	}
}

// loading is a file system in which somebody loads the file just as a temporary one is made.
type loading struct {
	kvfile.OS
	path string
}

func (l loading) CreateTemp(dir, prefix string) (kvfile.TempFile, error) {
	t, err := l.OS.CreateTemp(dir, prefix)
	if _, e := kvfile.New(l.path, nil, nil).Load(); e != nil {
		return nil, e
	}
	return t, err
}

// A load meanwhile, as before each change of settings, does not make a try fail.
func TestTryDuringALoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := kvfile.New(path, loading{path: path}, nil).Try(); err != nil {
		t.Error(err)
	}
}
