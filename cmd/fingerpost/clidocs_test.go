package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// commandsOf returns the lines of all shell blocks of a page.
func commandsOf(t *testing.T, page string) (lines []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../docs", page))
	if err != nil {
		t.Fatal(err)
	}
	for i, part := range strings.Split(string(text), "\n```") {
		block, ok := strings.CutPrefix(part, "sh\n")
		if ok != (i%2 == 1 && strings.HasPrefix(part, "sh\n")) {
			t.Fatalf("%s: block %d does not end", page, i)
		}
		if ok {
			lines = append(lines, strings.Split(block, "\n")...)
		}
	}
	return lines
}

// words splits a command as a shell does, as far as the pages need it.
func words(line string) (out []string) {
	for i, part := range strings.Split(line, "'") {
		if i%2 == 1 {
			out = append(out, part)
		} else {
			out = append(out, strings.Fields(part)...)
		}
	}
	return out
}

// Every command of the pages runs as it stands, against the server of this machine and
// two others.
func TestCommandsOfThePages(t *testing.T) {
	a, b := newDesk(t), newDesk(t)
	settings := filepath.Join(a.dir, "s.properties")
	put(t, settings, "http.listen="+strings.TrimPrefix(a.base, "http://")+"\n")
	there := strings.NewReplacer("10.0.0.1:9876", a.addr, "10.0.0.2:9876", b.addr, "http://127.0.0.1:8876", a.base, "--file tokens", "--file "+filepath.Join(a.dir, "tokens"))
	// The server of this machine is at a free port, which a file says to those that
	// ask for it by settings.
	env := []string{"FINGERPOST_CONFIG_FILE=" + settings}
	n := 0
	for _, page := range []string{"cli.md", "discovery.md"} {
		for _, line := range commandsOf(t, page) {
			command := strings.TrimSuffix(strings.TrimPrefix(line, "source <("), ")")
			rest, ok := strings.CutPrefix(command, "fingerpost ")
			if !ok {
				t.Errorf("%s: %q is no command", page, line)
				continue
			}
			n++
			args := words(there.Replace(rest))
			if args[0] == "watch" {
				watchOnce(t, a.dir, env, args)
				continue
			}
			if status, stdout, stderr := once(t, a.dir, env, args...); status != 0 || stdout == "" {
				t.Errorf("%s: %s: exit status %d\n%s%s", page, line, status, stdout, stderr)
			}
		}
	}
	if n < 40 {
		t.Errorf("only %d commands", n)
	}
}

// watchOnce runs a watch until it has said something, and breaks it off.
func watchOnce(t *testing.T, dir string, env, args []string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out, errs, status := newOutput(), newOutput(), make(chan int, 1)
	go func() { status <- run(ctx, args, append([]string{"HOME=" + dir}, env...), out, errs) }()
	select {
	case <-out.more:
	case s := <-status:
		status <- s
	case <-time.After(30 * time.Second):
		t.Errorf("%q says nothing", args)
	}
	cancel()
	if s := <-status; s != 0 || !strings.Contains(out.String(), "watching from") && !strings.Contains(out.String(), `"event":"hello"`) {
		t.Errorf("%q: exit status %d, %s%s", args, s, out, errs)
	}
}
