package main

import (
	"os"
	"os/exec"
	"testing"
	"time"
)

// asProgram makes the test's own binary behave as the program, in a process that can be
// killed.
const asProgram = "TEST_AS_PROGRAM"

// process starts the program as a process of its own with that home.
func process(t *testing.T, dir string, args ...string) (*exec.Cmd, *program) {
	t.Helper()
	p := &program{dir: dir, stderr: newOutput()}
	c := exec.Command(os.Args[0], append([]string{"--bind-address=127.0.0.1", "--listen-port=0", "--http-listen="}, args...)...)
	c.Env = []string{"HOME=" + dir, asProgram + "=1"}
	c.Stderr = p.stderr
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if c.ProcessState == nil {
			c.Process.Kill()
			c.Wait()
		}
	})
	return c, p
}

func TestSignals(t *testing.T) {
	c, p := process(t, t.TempDir(), "--shutdown-grace=1h")
	p.remoting(t)
	if err := c.Process.Signal(os.Interrupt); err != nil {
		t.Skipf("no such signals here: %v", err)
	}
	if l := p.stderr.line(t, "stopping"); l["reason"] != "signal: interrupt" {
		t.Errorf("%v", l)
	}
	p.stderr.line(t, "answering on before stopping")
	if err := c.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	select {
	case <-ended:
	case <-time.After(30 * time.Second):
		t.Fatal("a second signal does not end the process")
	}
	if got := c.ProcessState.ExitCode(); got != exitSignal+2 {
		t.Errorf("exit status %d", got)
	}
}

func TestOneSignalEndsItWell(t *testing.T) {
	c, p := process(t, t.TempDir())
	p.remoting(t)
	if err := c.Process.Signal(os.Interrupt); err != nil {
		t.Skipf("no such signals here: %v", err)
	}
	if err := c.Wait(); err != nil {
		t.Errorf("%v:\n%s", err, p.stderr)
	}
}
