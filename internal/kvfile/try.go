package kvfile

import (
	"errors"
	"io/fs"
	"path/filepath"
)

// trial is how much [File.Try] writes: a block of most file systems.
const trial = 4096

// Try reports what would keep a save from finding room in its folder: it writes and
// flushes a small file there, or in the nearest folder above that exists, and removes it.
// Nothing of the file itself is touched. Unlike the other methods it may be called at any
// time, also during a save.
func (f *File) Try() error {
	target, err := f.fs.Resolve(f.path)
	if err != nil {
		return err
	}
	dir := filepath.Dir(target)
	for {
		_, err := f.fs.Stat(dir)
		up := filepath.Dir(dir)
		if !errors.Is(err, fs.ErrNotExist) || up == dir {
			break // what else is wrong with it shows below
		}
		dir = up
	}
	t, err := f.fs.CreateTemp(dir, f.tempPrefix())
	if err != nil {
		return err
	}
	err = fill(t, make([]byte, trial), 0o600)
	if gone := f.fs.Remove(t.Name()); !errors.Is(gone, fs.ErrNotExist) { // a load clears it away too
		err = errors.Join(err, gone)
	}
	return err
}
