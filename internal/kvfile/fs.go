package kvfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
)

// FS is what a [File] asks of the file system. Errors are those of package os, so that
// errors.Is(err, fs.ErrNotExist) tells a missing file. Implementations need not be safe
// for concurrent use on one folder.
type FS interface {
	// ReadFile returns the whole content of a file.
	ReadFile(name string) ([]byte, error)
	// Stat returns what is known about a file, following symbolic links.
	Stat(name string) (fs.FileInfo, error)
	// Resolve returns the name of the file that a symbolic link finally leads to,
	// or name itself where there is no link.
	Resolve(name string) (string, error)
	// MkdirAll makes a folder and its parents; none is an error that is there already.
	MkdirAll(dir string) error
	// CreateTemp makes a new file in dir, readable and writable by its owner alone,
	// whose name begins with prefix.
	CreateTemp(dir, prefix string) (TempFile, error)
	// Names lists a folder.
	Names(dir string) ([]string, error)
	// Link gives a file a second name, which must not exist yet.
	Link(oldname, newname string) error
	// Rename gives a file another name in the same folder, replacing what has it.
	Rename(oldname, newname string) error
	// Remove deletes a name.
	Remove(name string) error
	// SyncDir makes the names in a folder durable.
	SyncDir(dir string) error
}

// TempFile is a file that [FS.CreateTemp] made.
type TempFile interface {
	io.Writer
	io.Closer
	// Name returns the file's path.
	Name() string
	// Chmod sets the permission bits.
	Chmod(mode fs.FileMode) error
	// Sync makes the content durable.
	Sync() error
}

// OS is the file system of the operating system.
type OS struct{}

// ReadFile reads a file with [os.ReadFile].
func (OS) ReadFile(name string) ([]byte, error) { return os.ReadFile(name) }

// Stat calls [os.Stat].
func (OS) Stat(name string) (fs.FileInfo, error) { return os.Stat(name) }

// Resolve follows symbolic links; a name that does not exist is returned as it is.
func (OS) Resolve(name string) (string, error) {
	real, err := filepath.EvalSymlinks(name)
	if errors.Is(err, fs.ErrNotExist) {
		return name, nil
	}
	return real, err
}

// MkdirAll makes folders that their owner writes and everybody may enter, as the peers do.
func (OS) MkdirAll(dir string) error { return os.MkdirAll(dir, 0o755) }

// CreateTemp calls [os.CreateTemp].
func (OS) CreateTemp(dir, prefix string) (TempFile, error) {
	f, err := os.CreateTemp(dir, prefix)
	if err != nil {
		return nil, err // not f: a nil *os.File in the interface would not be nil
	}
	return f, nil
}

// Names lists a folder in no particular order.
func (OS) Names(dir string) ([]string, error) {
	d, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return d.Readdirnames(-1)
}

// Link calls [os.Link].
func (OS) Link(oldname, newname string) error { return os.Link(oldname, newname) }

// Rename calls [os.Rename].
func (OS) Rename(oldname, newname string) error { return os.Rename(oldname, newname) }

// Remove calls [os.Remove].
func (OS) Remove(name string) error { return os.Remove(name) }

// SyncDir flushes a folder. Windows has no such call and some file systems refuse it
// for folders: there the rename itself is as good as it gets, which is no error.
func (OS) SyncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	err = d.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) {
		return nil
	}
	return err
}
