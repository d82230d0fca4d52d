//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A disk that hangs does not keep the process from stopping. A pipe that nobody writes to
// does as such a file does.
func TestStopWithADiskThatHangs(t *testing.T) {
	dir := t.TempDir()
	p := start(t, dir, "--data-dir="+dir, "--warm-restart-enabled=true", "--enable-shutdown-gracefully=true", "--shutdown-wait-time-seconds=0",
		"--shutdown-drain=0s", "--shutdown-timeout=200ms")
	p.remoting(t)
	file := filepath.Join(dir, registryFile)
	if err := syscall.Mkfifo(file, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // lets go of who still reads, and waits until it has saved
		for range 1000 {
			f, err := os.OpenFile(file, os.O_RDWR|syscall.O_NONBLOCK, 0)
			if err != nil {
				t.Error(err)
				return
			}
			f.Close()
			if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
	})
	began := time.Now()
	if status := p.end(t); status != 1 || time.Since(began) > 10*time.Second {
		t.Errorf("exit status %d after %v", status, time.Since(began))
	}
	if text := p.stderr.String(); !strings.Contains(text, "stop the last save of what is known: it did not end in time") {
		t.Errorf("the log is %s", text)
	}
}
