//go:build unix

package main

import (
	"fmt"
	"syscall"
)

// roomFor makes sure that the process, and what it starts, may open n descriptors.
func roomFor(n int) error {
	var l syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l); err != nil {
		return err
	}
	if uint64(l.Cur) >= uint64(n) { //nolint:unconvert // it is signed on some systems
		return nil
	}
	raised := l
	raised.Cur = l.Max
	if uint64(l.Max) >= uint64(n) && syscall.Setrlimit(syscall.RLIMIT_NOFILE, &raised) == nil { //nolint:unconvert // as above
		return nil
	}
	return fmt.Errorf("this takes %d file descriptors and the system allows %d (ulimit -Hn): raise that, or ask for fewer connections with -idle", n, l.Max)
}
