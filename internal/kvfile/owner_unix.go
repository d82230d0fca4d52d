//go:build unix

package kvfile

import (
	"io/fs"
	"os"
	"syscall"
)

// keepOwner gives a file that is to replace another one its owner and group, as far as the
// process may: what root changes for a server has to stay readable by that server.
func keepOwner(t TempFile, old fs.FileInfo) {
	f, isFile := t.(*os.File)
	st, known := old.Sys().(*syscall.Stat_t)
	if !isFile || !known {
		return
	}
	if f.Chown(int(st.Uid), int(st.Gid)) != nil {
		_ = f.Chown(-1, int(st.Gid))
	}
}
