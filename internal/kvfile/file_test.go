package kvfile_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"fingerpost/internal/kvfile"
)

const path = "/d/f"

// check accepts what begins with "whole:" and ends with ":end".
func check(b []byte) error {
	if s := string(b); !strings.HasPrefix(s, "whole:") || !strings.HasSuffix(s, ":end") {
		return errors.New("not whole")
	}
	return nil
}

func content(v string) []byte { return []byte("whole:" + v + ":end") }

// twoVersions returns a file system in which "old" is saved over "older".
func twoVersions(t *testing.T, noLinks bool) (*memFS, *kvfile.File) {
	t.Helper()
	m := newMemFS()
	m.noLinks = noLinks
	f := kvfile.New(path, m, check)
	for _, v := range []string{"older", "old"} {
		if err := f.Save(content(v)); err != nil {
			t.Fatal(err)
		}
	}
	return m, f
}

func load(t *testing.T, m *memFS) kvfile.Loaded {
	t.Helper()
	l, err := kvfile.New(path, m, check).Load()
	if err != nil {
		t.Fatalf("load: %v", err)
	}
	return l
}

func names(m *memFS) string {
	ns, _ := m.Names("")
	return strings.Join(ns, " ")
}

func TestSave(t *testing.T) {
	for _, noLinks := range []bool{false, true} {
		m, _ := twoVersions(t, noLinks)
		l := load(t, m)
		if string(l.Data) != "whole:old:end" || l.FromBackup || l.Note != "" || !l.Found {
			t.Errorf("no links %v: loaded %q, %+v", noLinks, l.Data, l)
		}
		if got := names(m); got != "f f.bak" {
			t.Errorf("no links %v: names %q, want the file and its backup alone", noLinks, got)
		}
		if b, _ := m.ReadFile(path + ".bak"); string(b) != "whole:older:end" {
			t.Errorf("no links %v: the backup holds %q", noLinks, b)
		}
	}
}

// The program is stopped at every operation of a save, by a kill or by a power cut that
// keeps any beginning of the unflushed changes of names.
func TestSaveStoppedAnywhere(t *testing.T) {
	for _, noLinks := range []bool{false, true} {
		for n := 1; ; n++ {
			m, f := twoVersions(t, noLinks)
			m.arm(n, nil, true)
			err := f.Save(content("new"))
			done := m.step < n
			m.stop = false

			found := map[string]*memFS{"kill": m.killed()}
			for k := 0; k <= len(m.journal); k++ {
				found[fmt.Sprintf("power cut keeping %d of %d", k, len(m.journal))] = m.powerCut(k)
			}
			for how, after := range found {
				where := fmt.Sprintf("no links %v, %v, %s", noLinks, m.steps, how)
				l := load(t, after)
				got := string(l.Data)
				if got != "whole:new:end" && (got != "whole:old:end" || err == nil) {
					t.Errorf("%s: save said %v, loaded %q", where, err, got)
				}
				if l.FromBackup {
					t.Errorf("%s: the file itself was not usable: %s", where, l.Note)
				}
				if strings.Contains(names(after), ".tmp-") {
					t.Errorf("%s: remains: %s", where, names(after))
				}
				g := kvfile.New(path, after, check)
				if err := g.Save(content("newer")); err != nil {
					t.Errorf("%s: next save: %v", where, err)
				}
				if l := load(t, after); string(l.Data) != "whole:newer:end" {
					t.Errorf("%s: after the next save loaded %q", where, l.Data)
				}
			}
			if done {
				if err != nil || n < 8 {
					t.Fatalf("a save took %d operations and said %v", n-1, err)
				}
				break
			}
		}
	}
}

// Each operation fails once and the program lives on: an error means that the old
// content stands, now and after a power cut.
func TestSaveFailingAnywhere(t *testing.T) {
	for _, cause := range []error{syscall.ENOSPC, syscall.EIO, syscall.EROFS, io.ErrShortWrite} {
		for n := 1; ; n++ {
			m, f := twoVersions(t, false)
			m.arm(n, cause, false)
			err := f.Save(content("new"))
			if m.step < n {
				break
			}
			m.failAt = 0
			want := "whole:new:end"
			if err != nil {
				want = "whole:old:end"
				if !errors.Is(err, cause) || !strings.Contains(err.Error(), path) {
					t.Errorf("%v at %v: the error is %q", cause, m.steps, err)
				}
			}
			where := fmt.Sprintf("%v at %v (save said %v)", cause, m.steps, err)
			if strings.Contains(names(m), ".tmp-") {
				t.Errorf("%s: remains: %s", where, names(m))
			}
			if got := string(load(t, m.killed()).Data); got != want {
				t.Errorf("%s: loaded %q, want %q", where, got, want)
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

func TestSaveFirstFileFailing(t *testing.T) {
	m := newMemFS()
	f := kvfile.New(path, m, check)
	for n := 1; ; n++ {
		m.arm(n, syscall.EIO, false)
		err := f.Save(content("new"))
		if m.step < n {
			break
		}
		if l := load(t, m.killed()); err != nil && l.Found {
			t.Errorf("after a failure at %v there is %q", m.steps, l.Data)
		}
	}
}

func TestLoad(t *testing.T) {
	whole, old := string(content("main")), string(content("backup"))
	for _, c := range []struct {
		name             string
		main, backup     string // "-" is missing
		want, note, fail string
		names            string
	}{
		{name: "nothing there", main: "-", backup: "-", want: ""},
		{name: "both whole", main: whole, backup: old, want: whole, names: "f f.bak"},
		{name: "no backup", main: whole, backup: "-", want: whole, names: "f"},
		{name: "backup broken", main: whole, backup: "x", want: whole, names: "f f.bak"},
		{name: "empty alone", main: "", backup: "-", want: "", names: "f"},
		{name: "truncated", main: "whole:ma", backup: old, want: old, note: "is broken (not whole)", names: "f f.bak f.broken"},
		{name: "truncated to nothing", main: "", backup: old, want: old, note: "is empty", names: "f f.bak"},
		{name: "missing", main: "-", backup: old, want: old, note: "is missing", names: "f f.bak"},
		{name: "broken without backup", main: "x", backup: "-", fail: "has no backup"},
		{name: "both broken", main: "x", backup: "y", fail: "the file is broken (not whole), the backup is broken (not whole)"},
		{name: "empty and broken", main: "", backup: "y", fail: "the file is empty, the backup is broken (not whole)"},
		{name: "missing and broken", main: "-", backup: "y", fail: "the file is missing, the backup is broken (not whole)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newMemFS()
			for name, text := range map[string]string{path: c.main, path + ".bak": c.backup} {
				if text != "-" {
					m.put(name, text)
				}
			}
			before := names(m)
			seen, seenErr := kvfile.New(path, m, check).Peek()
			if names(m) != before || m.step > 0 {
				t.Errorf("a look changed the folder: %s", names(m))
			}
			l, err := kvfile.New(path, m, check).Load()
			if string(seen.Data) != string(l.Data) || fmt.Sprint(seenErr) != fmt.Sprint(err) {
				t.Errorf("a look found %q, %v; loading %q, %v", seen.Data, seenErr, l.Data, err)
			}
			if c.fail != "" {
				if err == nil || !strings.Contains(err.Error(), c.fail) || !strings.Contains(err.Error(), "to start empty") {
					t.Fatalf("got %q, %v; want an error with %q", l.Data, err, c.fail)
				}
				if names(m) != before {
					t.Errorf("a refusal changed the folder: %s", names(m))
				}
				return
			}
			if err != nil || string(l.Data) != c.want {
				t.Fatalf("got %q, %v; want %q", l.Data, err, c.want)
			}
			if !strings.Contains(l.Note, c.note) || (l.Note == "") != (c.note == "") || l.FromBackup != (c.note != "") {
				t.Errorf("note %q, from backup %v", l.Note, l.FromBackup)
			}
			if names(m) != c.names {
				t.Errorf("names %q, want %q", names(m), c.names)
			}
			if again := load(t, m); string(again.Data) != c.want || again.Note != "" {
				t.Errorf("loaded again: %q, %q", again.Data, again.Note)
			}
		})
	}
}

// Falling back to the backup is itself stopped at, or fails at, every operation.
func TestLoadStoppedOrFailingAnywhere(t *testing.T) {
	for _, stop := range []bool{true, false} {
		for _, broken := range []string{"whole:ma", ""} {
			for n := 1; ; n++ {
				m := newMemFS()
				m.put(path, broken)
				m.put(path+".bak", string(content("backup")))
				f := kvfile.New(path, m, check)
				m.arm(n, syscall.EROFS, stop)
				l, err := f.Load()
				if m.step < n {
					break
				}
				if err != nil || string(l.Data) != "whole:backup:end" || l.Note == "" {
					t.Errorf("stop %v at %v: %q, %v, note %q", stop, m.steps, l.Data, err, l.Note)
				}
				m.arm(0, nil, false)
				for k := 0; k <= len(m.journal); k++ {
					if got := string(load(t, m.powerCut(k)).Data); got != "whole:backup:end" {
						t.Errorf("stop %v at %v, keeping %d: loaded %q", stop, m.steps, k, got)
					}
				}
				if err := f.Save(content("new")); err != nil {
					t.Errorf("stop %v at %v: save: %v", stop, m.steps, err)
				}
				if b, _ := m.ReadFile(path + ".bak"); string(b) != "whole:backup:end" {
					t.Errorf("stop %v at %v: a broken file became the backup: %q", stop, m.steps, b)
				}
			}
		}
	}
}

// In a folder that cannot be written, what is there is used and nothing is saved.
func TestReadOnly(t *testing.T) {
	m, f := twoVersions(t, false)
	m.readOnly = true
	if err := f.Save(content("new")); !errors.Is(err, syscall.EROFS) || !strings.Contains(err.Error(), "save "+path) {
		t.Errorf("save said %v", err)
	}
	if l := load(t, m); string(l.Data) != "whole:old:end" || l.Note != "" {
		t.Errorf("loaded %q, %q", l.Data, l.Note)
	}
	m.put(path, "broken")
	g := kvfile.New(path, m, check)
	l, err := g.Load()
	if err != nil || string(l.Data) != "whole:older:end" || !strings.Contains(l.Note, "the broken file stays in place") {
		t.Errorf("loaded %q, %q, %v", l.Data, l.Note, err)
	}
	m.readOnly = false // as after a remount
	if err := g.Save(content("new")); err != nil {
		t.Error(err)
	}
	if b, _ := m.ReadFile(path + ".bak"); string(b) != "whole:older:end" {
		t.Errorf("the broken file became the backup: %q", b)
	}
	if b, _ := m.ReadFile(path + ".broken"); string(b) != "broken" {
		t.Errorf("the broken file is gone: %q", b)
	}
}

func TestBrokenFilesAreAllKept(t *testing.T) {
	m := newMemFS()
	m.put(path+".bak", string(content("backup")))
	for i := range 3 {
		m.put(path, fmt.Sprintf("broken %d", i))
		load(t, m)
	}
	for i, name := range []string{".broken", ".broken.2", ".broken.3"} {
		if b, _ := m.ReadFile(path + name); string(b) != fmt.Sprintf("broken %d", i) {
			t.Errorf("%s holds %q", name, b)
		}
	}
}

func TestMountedFileIsNamed(t *testing.T) {
	m, f := twoVersions(t, false)
	for n := 1; ; n++ { // the last rename of a save
		m.arm(n, syscall.EBUSY, false)
		if err := f.Save(content("new")); err != nil && m.steps[len(m.steps)-1] != "close" && strings.Contains(err.Error(), "mount its folder") {
			return
		}
		if m.step < n {
			t.Fatal("no failure named the mount")
		}
	}
}

// On the real file system: a link stays a link, permission bits stay, folders are made.
func TestOperatingSystem(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "sub", "f")
	f := kvfile.New(name, nil, check)
	for _, v := range []string{"one", "two"} {
		if err := f.Save(content(v)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(name, 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(name, link); err != nil {
		t.Fatal(err)
	}
	g := kvfile.New(link, nil, check)
	if err := g.Save(content("three")); err != nil {
		t.Fatal(err)
	}
	if fi, err := os.Lstat(link); err != nil || fi.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link became %v, %v", fi, err)
	}
	fi, err := os.Stat(name)
	if err != nil || fi.Mode().Perm() != 0o600 {
		t.Errorf("permission bits became %v, %v", fi.Mode(), err)
	}
	if err := os.Truncate(name, 4); err != nil {
		t.Fatal(err)
	}
	l, err := kvfile.New(link, nil, check).Load()
	if err != nil || string(l.Data) != "whole:two:end" {
		t.Errorf("after truncation: %q, %v", l.Data, err)
	}
	if b, err := os.ReadFile(link + ".broken"); err != nil || string(b) != "whol" {
		t.Errorf("the broken file: %q, %v", b, err)
	}
	if b, _ := os.ReadFile(name); string(b) != "whole:two:end" {
		t.Errorf("the backup is not in its place: %q", b)
	}
}

func TestUnreadableFileIsNotBroken(t *testing.T) {
	dir := t.TempDir() // reading a folder fails, whoever runs the test
	if _, err := kvfile.New(dir, nil, check).Load(); err == nil || !strings.Contains(err.Error(), "cannot read") {
		t.Errorf("got %v", err)
	}
}
