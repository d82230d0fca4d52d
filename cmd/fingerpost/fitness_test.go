package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"fingerpost/internal/kvfile"
)

// full is a file system whose folders say err, or hang, when a file is made.
type full struct {
	kvfile.OS
	err   error
	hang  chan struct{}
	tries int
}

func (f *full) CreateTemp(dir, prefix string) (kvfile.TempFile, error) {
	f.tries++
	if f.hang != nil {
		<-f.hang
	}
	if f.err != nil {
		return nil, &os.PathError{Op: "open", Path: dir, Err: f.err}
	}
	return f.OS.CreateTemp(dir, prefix)
}

// A folder that takes no file is told, with the reason, before anybody saves; a failed save
// is told until one works or the folder takes files again.
func TestSavesSayWhy(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		disk := &full{err: syscall.EROFS}
		var s fitness
		file := kvfile.New(filepath.Join(dir, "not", "there", "f"), disk, nil)
		s.watch(file)
		says := func(want string) {
			t.Helper()
			err := s.check(t.Context())
			if want == "" && err != nil || want != "" && (err == nil || err.Error() != want) {
				t.Errorf("it says %v, not %q", err, want)
			}
		}
		says("a change could not be saved: read-only file system")
		disk.err = nil
		says("a change could not be saved: read-only file system") // not asked at every probe
		time.Sleep(tryAgain)
		says("")
		if disk.tries != 2 {
			t.Errorf("%d tries", disk.tries)
		}

		disk.err = syscall.ENOSPC
		if err := s.note(file.Save([]byte("x"))); !errors.Is(err, syscall.ENOSPC) {
			t.Fatal(err)
		}
		says("the last change could not be saved: no space left on device")
		time.Sleep(tryEvery)
		says("the last change could not be saved: no space left on device")
		disk.err = nil
		if err := s.note(file.Save([]byte("x"))); err != nil {
			t.Fatal(err)
		}
		says("")
		disk.err = syscall.ENOSPC
		s.note(file.Save([]byte("y")))
		disk.err = nil
		says("the last change could not be saved: no space left on device")
		time.Sleep(tryEvery)
		says("") // although nobody has saved since

		// A file that cannot be replaced is not mended by a folder that takes others.
		s.note(syscall.EBUSY)
		time.Sleep(tryEvery)
		says("the last change could not be saved: device or resource busy")
		s.note(errors.New("a path, /secret"))
		says("the last change could not be saved: the log says why")

		disk.hang = make(chan struct{})
		s.note(nil)
		time.Sleep(tryEvery)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := s.check(ctx); err == nil || !strings.Contains(err.Error(), "does not answer") {
			t.Errorf("of a folder that hangs it says %v", err)
		}
		s.note(syscall.EIO) // meanwhile: what the try finds is older
		close(disk.hang)
		synctest.Wait()
		says("the last change could not be saved: input/output error")
	})
	if names, err := os.ReadDir(dir); err != nil || len(names) != 1 {
		t.Errorf("tries leave %v, %v", names, err)
	}
}

// A folder that loses its write permission makes a running server unready, and back.
func TestReadOnlyFolderShows(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root may write everywhere; TestSavesSayWhy has the same with a file system of its own")
	}
	dir := t.TempDir()
	var s fitness
	s.watch(kvfile.New(filepath.Join(dir, "f"), nil, nil))
	if err := s.check(t.Context()); err != nil {
		t.Error(err)
	}
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(dir, 0o700)
	s.tried = time.Time{}
	if err := s.check(t.Context()); err == nil || !strings.Contains(err.Error(), "permission denied") {
		t.Errorf("it says %v", err)
	}
}
