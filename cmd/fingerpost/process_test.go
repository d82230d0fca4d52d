package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"fingerpost/internal/nstest"
	"fingerpost/remoting/wire"
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

// Whatever was answered as saved is there after the process was killed, time and again.
func TestKilledWhileSaving(t *testing.T) {
	dir := t.TempDir()
	kept := map[string]string{}
	env := ""
	for round := range 4 {
		c, p := process(t, dir)
		conn, err := nstest.Dial(p.remoting(t), wire.JSONHeader)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(p.stderr.String(), "backup") {
			t.Errorf("a kill left a broken file:\n%s", p.stderr)
		}
		for k, v := range kept {
			resp, err := nstest.Must(conn.Call(wire.GetKVConfig, wire.Fields{{Name: "namespace", Value: "n"}, {Name: "key", Value: k}}, nil))
			if err != nil {
				t.Fatalf("%s was lost: %v", k, err)
			}
			if got, _ := resp.Ext.Get("value"); got != v {
				t.Errorf("%s is %q, want %q", k, got, v)
			}
		}
		if got := settings(t, conn); env != "" && !strings.Contains(got, "productEnvName="+env+"\n") {
			t.Errorf("the setting %q was lost", env)
		}
		for i := 0; ; i++ {
			if i == 3+2*round {
				go c.Process.Kill() // somewhere in what follows
			}
			k, v := fmt.Sprintf("k%d", i%7), fmt.Sprintf("%d-%d", round, i)
			resp, err := conn.Call(wire.PutKVConfig, wire.Fields{{Name: "namespace", Value: "n"}, {Name: "key", Value: k}, {Name: "value", Value: v}}, nil)
			if err != nil {
				delete(kept, k) // unanswered: it may be either
				break
			}
			if resp.Code != 0 {
				t.Fatalf("%+v", resp)
			}
			kept[k] = v
			name := fmt.Sprintf("env-%d-%d", round, i)
			if resp, err = conn.Call(wire.UpdateNamesrvConfig, nil, []byte("productEnvName="+name)); err != nil {
				env = ""
				break
			}
			if resp.Code != 0 {
				t.Fatalf("%+v", resp)
			}
			env = name
		}
		conn.Close()
		c.Wait()
	}
	if len(kept) == 0 {
		t.Error("nothing was ever saved")
	}
}
