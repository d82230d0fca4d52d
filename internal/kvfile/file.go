package kvfile

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// File is one small file and its backup. Its methods must not be called at the same
// time; two programs must not share a file, which would leave the older change behind
// but never a broken file.
type File struct {
	path  string
	fs    FS
	check func([]byte) error
	// good is whether the content under the name is known to be whole, so that it may
	// become the backup without being looked at.
	good bool
}

// New returns the file at path. check says whether a content is whole; it decides in
// [File.Load] between the file and its backup and must not keep the slice. A nil fsys is
// the operating system.
func New(path string, fsys FS, check func([]byte) error) *File {
	if fsys == nil {
		fsys = OS{}
	}
	return &File{path: path, fs: fsys, check: check}
}

// Path returns the file's name as given to [New].
func (f *File) Path() string { return f.path }

// Backup returns the name of the backup: the path with ".bak".
func (f *File) Backup() string { return f.path + ".bak" }

// Loaded is what [File.Load] found.
type Loaded struct {
	// Data is the content, nil if there is neither a file nor a backup.
	Data []byte
	// Found is whether there was a file or a backup.
	Found bool
	// FromBackup is whether Data came from the backup.
	FromBackup bool
	// Note is one sentence for the operator if something was not as it should be,
	// without a final full stop, else empty.
	Note string
}

// Load returns the content of the file or, if that is missing, empty beside a backup
// that is not, or refused by the check, the content of the backup. In that case the
// broken file gets a second name with ".broken" and the backup takes its place; where
// the folder does not allow it, Note says so and the content is good all the same.
// It fails if the file cannot be read at all or if neither passes the check.
// Remains of saves that were interrupted are cleared away.
func (f *File) Load() (Loaded, error) {
	f.clearTemps()
	l, mainErr, err := f.look()
	switch {
	case err != nil:
		return Loaded{}, err
	case l.FromBackup:
		f.putInPlace(&l, mainErr)
	case l.Found:
		f.good = true
	}
	return l, nil
}

// Peek is Load without touching anything, for whoever only wants to know.
func (f *File) Peek() (Loaded, error) {
	l, _, err := f.look()
	return l, err
}

// look finds what to use. mainErr is why the file itself is not it, nil for an empty one.
func (f *File) look() (l Loaded, mainErr, err error) {
	data, mainErr := f.read(f.path)
	if mainErr == nil && len(bytes.TrimSpace(data)) > 0 {
		return Loaded{Data: data, Found: true}, nil, nil
	}
	var bad *brokenError
	if mainErr != nil && !errors.Is(mainErr, fs.ErrNotExist) && !errors.As(mainErr, &bad) {
		return Loaded{}, mainErr, fmt.Errorf("cannot read %s: %w", f.path, mainErr)
	}
	old, oldErr := f.read(f.Backup())
	usable := oldErr == nil && len(bytes.TrimSpace(old)) > 0
	missing := errors.Is(oldErr, fs.ErrNotExist) || oldErr == nil && !usable
	switch {
	case usable:
		l = Loaded{Data: old, Found: true, FromBackup: true}
		l.Note = fmt.Sprintf("%s %s; its backup %s was used", f.path, state(mainErr), f.Backup())
	case mainErr == nil && missing: // empty, as somebody may have made it
		l = Loaded{Data: data, Found: true}
	case errors.Is(mainErr, fs.ErrNotExist) && missing:
	case missing:
		err = fmt.Errorf("%s %s and has no backup: repair it or move it away to start empty", f.path, state(mainErr))
	default:
		err = fmt.Errorf("neither %s nor its backup can be used: the file %s, the backup %s: repair one of them or move both away to start empty",
			f.path, state(mainErr), state(oldErr))
	}
	return l, mainErr, err
}

// state says in words why a file is not used.
func state(err error) string {
	switch {
	case err == nil:
		return "is empty"
	case errors.Is(err, fs.ErrNotExist):
		return "is missing"
	}
	return "is broken (" + err.Error() + ")"
}

// putInPlace sets a broken file aside and puts the backup's content in its place.
func (f *File) putInPlace(l *Loaded, mainErr error) {
	if _, ok := errors.AsType[*brokenError](mainErr); ok {
		aside, err := f.setAside()
		if err != nil {
			l.Note += fmt.Sprintf("; the broken file stays in place because it could not be kept under another name: %v", err)
			return
		}
		l.Note += "; the broken file is kept as " + aside
	}
	// The backup keeps its own name too: a crash in here leaves it usable.
	if err := f.replace(l.Data); err != nil {
		l.Note += fmt.Sprintf("; it could not be put in its place: %v", err)
		return
	}
	f.good = true
}

// Save replaces the content. When it returns nil the content is on the disk and the
// previous one is the backup. When it returns an error the previous content stands.
// It makes missing folders and keeps the file's permission bits and, as far as the process
// may, its owner and group; a new file is readable by its owner and group (0640), because
// settings may hold a secret.
func (f *File) Save(data []byte) error {
	if err := f.save(data); err != nil {
		if errors.Is(err, syscall.EBUSY) {
			return fmt.Errorf("save %s: %w (a file that is mounted by itself cannot be replaced: mount its folder)", f.path, err)
		}
		return fmt.Errorf("save %s: %w", f.path, err)
	}
	f.good = true
	return nil
}

func (f *File) save(data []byte) error {
	if err := f.fs.MkdirAll(filepath.Dir(f.path)); err != nil {
		return err
	}
	if !f.good {
		// What is not whole must not become the backup.
		old, err := f.read(f.path)
		if _, ok := errors.AsType[*brokenError](err); ok {
			if _, err := f.setAside(); err != nil {
				return err
			}
			return f.replace(data)
		}
		if err == nil && len(bytes.TrimSpace(old)) == 0 {
			return f.replace(data)
		}
	}
	return f.replaceKeeping(data)
}

// replaceKeeping is replace with the previous content becoming the backup. If the folder
// cannot be flushed in the end, the previous content is put back as well as it can be.
func (f *File) replaceKeeping(data []byte) error {
	had, err := f.keepBackup()
	if err != nil {
		return fmt.Errorf("keep the previous content: %w", err)
	}
	err = f.replace(data)
	if _, ok := errors.AsType[*flushError](err); ok {
		f.putBack(had)
	}
	return err
}

// keepBackup gives the present content the backup's name; false if there is none.
func (f *File) keepBackup() (bool, error) {
	target, err := f.fs.Resolve(f.path)
	if err != nil {
		return false, err
	}
	if _, err := f.fs.Stat(target); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return false, nil
		}
		return false, err
	}
	next := f.temp("bak")
	if err := f.fs.Link(target, next); err == nil {
		return true, f.renameOrRemove(next, f.Backup())
	}
	// A file system without second names: copy.
	old, err := f.fs.ReadFile(target)
	if err != nil {
		return false, err
	}
	tmp, err := f.writeTemp(filepath.Dir(f.path), old)
	if err != nil {
		return false, err
	}
	return true, f.renameOrRemove(tmp, f.Backup())
}

// putBack undoes a replacement that could not be flushed. Nothing more can be done
// where this fails too: the caller has the first error.
func (f *File) putBack(had bool) {
	target, err := f.fs.Resolve(f.path)
	if err != nil {
		return
	}
	if !had {
		_ = f.fs.Remove(target)
		return
	}
	next := f.temp("old")
	if err := f.fs.Link(f.Backup(), next); err == nil {
		_ = f.renameOrRemove(next, target)
	} else {
		_ = f.fs.Rename(f.Backup(), target)
	}
}

// flushError is a folder that could not be flushed after the name had changed hands.
type flushError struct{ err error }

func (e *flushError) Error() string { return "flush the folder: " + e.err.Error() }
func (e *flushError) Unwrap() error { return e.err }

// replace puts data under the name in one step. A symbolic link stays one: what it
// leads to is replaced.
func (f *File) replace(data []byte) error {
	target, err := f.fs.Resolve(f.path)
	if err != nil {
		return err
	}
	dir := filepath.Dir(target)
	tmp, err := f.writeTemp(dir, data)
	if err != nil {
		return err
	}
	if err := f.renameOrRemove(tmp, target); err != nil {
		return err
	}
	if err := f.fs.SyncDir(dir); err != nil {
		return &flushError{err}
	}
	return nil
}

func (f *File) renameOrRemove(from, to string) error {
	err := f.fs.Rename(from, to)
	if err != nil {
		_ = f.fs.Remove(from)
	}
	return err
}

// writeTemp writes data to a new file in dir, flushes it and returns its name.
func (f *File) writeTemp(dir string, data []byte) (string, error) {
	mode := fs.FileMode(0o640)
	old, missing := f.fs.Stat(f.path)
	if missing == nil {
		mode = old.Mode().Perm()
	}
	t, err := f.fs.CreateTemp(dir, f.tempPrefix())
	if err != nil {
		return "", err
	}
	if missing == nil {
		keepOwner(t, old)
	}
	if err := fill(t, data, mode); err != nil {
		_ = f.fs.Remove(t.Name())
		return "", err
	}
	return t.Name(), nil
}

func fill(t TempFile, data []byte, mode fs.FileMode) error {
	_, err := t.Write(data)
	if err == nil {
		err = t.Chmod(mode)
	}
	if err == nil {
		err = t.Sync()
	}
	return errors.Join(err, t.Close())
}

// setAside gives the broken file a second name and returns that.
func (f *File) setAside() (string, error) {
	target, err := f.fs.Resolve(f.path)
	if err != nil {
		return "", err
	}
	for i := 1; i <= maxAside; i++ {
		aside := f.path + ".broken"
		if i > 1 {
			aside += "." + strconv.Itoa(i)
		}
		err = f.fs.Link(target, aside)
		if err == nil {
			return aside, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return aside, f.fs.Rename(target, aside)
		}
	}
	return "", fmt.Errorf("%d broken files are kept already: %w", maxAside, err)
}

// maxAside bounds the number of broken files that are kept beside a file.
const maxAside = 100

// brokenError is a file that could be read and that the check refused.
type brokenError struct{ err error }

func (e *brokenError) Error() string { return e.err.Error() }
func (e *brokenError) Unwrap() error { return e.err }

// read returns the content of a file that passes the check. An empty one always does.
func (f *File) read(name string) ([]byte, error) {
	data, err := f.fs.ReadFile(name)
	if err != nil {
		return nil, err
	}
	if f.check != nil && len(bytes.TrimSpace(data)) > 0 {
		if err := f.check(data); err != nil {
			return nil, &brokenError{err}
		}
	}
	return data, nil
}

// temp is a fixed name for a second link, free because remains are removed first.
func (f *File) temp(what string) string {
	name := filepath.Join(filepath.Dir(f.path), f.tempPrefix()+what)
	_ = f.fs.Remove(name)
	return name
}

func (f *File) tempPrefix() string { return "." + filepath.Base(f.path) + ".tmp-" }

// clearTemps removes what an interrupted save left. It is no error if that fails.
func (f *File) clearTemps() {
	dirs := []string{filepath.Dir(f.path)}
	if target, err := f.fs.Resolve(f.path); err == nil && filepath.Dir(target) != dirs[0] {
		dirs = append(dirs, filepath.Dir(target))
	}
	for _, dir := range dirs {
		names, err := f.fs.Names(dir)
		if err != nil {
			continue
		}
		for _, n := range names {
			if strings.HasPrefix(n, f.tempPrefix()) {
				_ = f.fs.Remove(filepath.Join(dir, n))
			}
		}
	}
}
