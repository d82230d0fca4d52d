//go:build unix

package kvfile_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"fingerpost/internal/kvfile"
)

// What root saves stays readable by the server whose file it is.
func TestSaveKeepsTheOwner(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can give files away")
	}
	path := filepath.Join(t.TempDir(), "tokens")
	if err := os.WriteFile(path, []byte("one"), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(path, 0, 4321); err != nil {
		t.Fatal(err)
	}
	if err := kvfile.New(path, nil, nil).Save([]byte("two")); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if st := info.Sys().(*syscall.Stat_t); st.Uid != 0 || st.Gid != 4321 || info.Mode().Perm() != 0o640 {
		t.Errorf("of user %d and group %d, mode %v", st.Uid, st.Gid, info.Mode())
	}
}
