package kvfile_test

import (
	"errors"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"fingerpost/internal/kvfile"
)

// errStopped is what every operation says once the program is taken to be dead.
var errStopped = errors.New("stopped")

// memFS is a file system in memory that knows what a power cut would leave: content
// only as far as Sync has seen it, and of the changes of names since SyncDir any
// beginning. It can fail or stop at a chosen operation.
type memFS struct {
	names   map[string]*inode
	durable map[string]*inode // names as of the last SyncDir
	journal []func(map[string]*inode)

	step     int
	failAt   int   // the operation that fails, counted from 1; 0 is none
	failErr  error // what it says
	stop     bool  // whether it is the last one
	lasting  bool  // whether it and all that follow fail
	noLinks  bool  // a file system without second names
	readOnly bool  // every operation says EROFS
	temps    int
	steps    []string
}

type inode struct {
	data, synced []byte
	mode         fs.FileMode
}

func newMemFS() *memFS {
	return &memFS{names: map[string]*inode{}, durable: map[string]*inode{}}
}

// op counts an operation that changes something and says whether it fails.
func (m *memFS) op(what string) error {
	if m.stop && m.failAt > 0 && m.step >= m.failAt {
		return errStopped
	}
	if m.readOnly {
		return syscall.EROFS
	}
	if m.lasting && m.failAt > 0 && m.step >= m.failAt {
		return m.failErr
	}
	m.step++
	m.steps = append(m.steps, what)
	if m.step == m.failAt {
		if m.stop {
			return errStopped
		}
		return m.failErr
	}
	return nil
}

// arm makes the n-th operation from now fail with err, or be the end if stop.
func (m *memFS) arm(n int, err error, stop bool) {
	m.step, m.failAt, m.failErr, m.stop, m.steps = 0, n, err, stop, nil
}

func (m *memFS) change(f func(map[string]*inode)) {
	f(m.names)
	m.journal = append(m.journal, f)
}

// powerCutOf is powerCut for a file system that writes changes of names in no order: kept
// has a bit for each.
func (m *memFS) powerCutOf(kept uint) *memFS {
	all := m.journal
	m.journal = nil
	for i, f := range all {
		if kept&(1<<i) != 0 {
			m.journal = append(m.journal, f)
		}
	}
	after := m.powerCut(len(m.journal))
	m.journal = all
	return after
}

// powerCut returns the file system as it may be found afterwards, with the first kept
// of the unflushed changes of names and no unflushed content.
func (m *memFS) powerCut(kept int) *memFS {
	after := newMemFS()
	after.noLinks = m.noLinks
	maps.Copy(after.names, m.durable)
	for _, f := range m.journal[:kept] {
		f(after.names)
	}
	for n, i := range after.names {
		after.names[n] = &inode{data: i.synced, synced: i.synced, mode: i.mode}
	}
	after.flush()
	return after
}

// killed returns the file system as a program finds it that was only killed.
func (m *memFS) killed() *memFS {
	after := newMemFS()
	after.noLinks = m.noLinks
	for n, i := range m.names {
		c := *i
		after.names[n] = &c
	}
	after.flush()
	return after
}

func (m *memFS) flush() {
	m.durable = map[string]*inode{}
	maps.Copy(m.durable, m.names)
	m.journal = nil
}

func (m *memFS) put(name, content string) {
	m.names[name] = &inode{data: []byte(content), synced: []byte(content), mode: 0o640}
	m.flush()
}

func (m *memFS) ReadFile(name string) ([]byte, error) {
	i, ok := m.names[name]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return slices.Clone(i.data), nil
}

func (m *memFS) Stat(name string) (fs.FileInfo, error) {
	if name == filepath.Dir(path) {
		return info{name, &inode{mode: fs.ModeDir}}, nil
	}
	i, ok := m.names[name]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return info{name, i}, nil
}

func (m *memFS) Resolve(name string) (string, error) { return name, nil }

func (m *memFS) MkdirAll(string) error { return m.op("mkdir") }

func (m *memFS) CreateTemp(dir, prefix string) (kvfile.TempFile, error) {
	if err := m.op("create"); err != nil {
		return nil, err
	}
	m.temps++
	name := filepath.Join(dir, prefix+strings.Repeat("x", m.temps))
	i := &inode{mode: 0o600}
	m.change(func(n map[string]*inode) { n[name] = i })
	return &temp{m, name, i}, nil
}

func (m *memFS) Names(string) ([]string, error) {
	var ns []string
	for n := range m.names {
		ns = append(ns, filepath.Base(n))
	}
	slices.Sort(ns)
	return ns, nil
}

func (m *memFS) Link(oldname, newname string) error {
	if err := m.op("link"); err != nil {
		return err
	}
	if m.noLinks {
		return errors.ErrUnsupported
	}
	if m.names[newname] != nil {
		return fs.ErrExist
	}
	i := m.names[oldname]
	m.change(func(n map[string]*inode) { n[newname] = i })
	return nil
}

func (m *memFS) Rename(oldname, newname string) error {
	if err := m.op("rename"); err != nil {
		return err
	}
	if m.names[oldname] == nil {
		return fs.ErrNotExist
	}
	i := m.names[oldname]
	m.change(func(n map[string]*inode) { n[newname] = i; delete(n, oldname) })
	return nil
}

func (m *memFS) Remove(name string) error {
	if m.names[name] == nil {
		return fs.ErrNotExist
	}
	if err := m.op("remove"); err != nil {
		return err
	}
	m.change(func(n map[string]*inode) { delete(n, name) })
	return nil
}

func (m *memFS) SyncDir(string) error {
	if err := m.op("syncdir"); err != nil {
		return err
	}
	m.flush()
	return nil
}

type temp struct {
	fs   *memFS
	name string
	i    *inode
}

func (t *temp) Name() string { return t.name }

// Write of a failing operation leaves half of the bytes behind, as a full disk does.
func (t *temp) Write(p []byte) (int, error) {
	if err := t.fs.op("write"); err != nil {
		t.i.data = append(t.i.data, p[:len(p)/2]...)
		return len(p) / 2, err
	}
	t.i.data = append(t.i.data, p...)
	return len(p), nil
}

func (t *temp) Chmod(mode fs.FileMode) error {
	if err := t.fs.op("chmod"); err != nil {
		return err
	}
	t.i.mode = mode
	return nil
}

func (t *temp) Sync() error {
	if err := t.fs.op("sync"); err != nil {
		return err
	}
	t.i.synced = slices.Clone(t.i.data)
	return nil
}

func (t *temp) Close() error { return t.fs.op("close") }

type info struct {
	name string
	i    *inode
}

func (f info) Name() string       { return filepath.Base(f.name) }
func (f info) Size() int64        { return int64(len(f.i.data)) }
func (f info) Mode() fs.FileMode  { return f.i.mode }
func (f info) ModTime() time.Time { return time.Time{} }
func (f info) IsDir() bool        { return false }
func (f info) Sys() any           { return nil }
