package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"fingerpost/api"
	"fingerpost/internal/auth"
)

// withToken starts a server that knows one token, of a principal with a role.
func withToken(t *testing.T, grant ...string) (p *program, token string) {
	t.Helper()
	dir := t.TempDir()
	token = auth.NewToken()
	line, err := auth.TokenLine(token, grant[0], grant[1], grant[2:])
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "tokens")
	put(t, file, line+"\n")
	return start(t, dir, "--auth-tokens-file", file), token
}

// asking returns a client of a server.
func asking(t *testing.T, base, token string) *api.Client {
	t.Helper()
	c, err := api.New(base, api.Options{Token: token})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.CloseIdleConnections)
	return c
}

// until asks for a topic's route until that is as wished, or fails.
func until(t *testing.T, c *api.Client, topic string, there bool, why func() string) {
	t.Helper()
	for deadline := time.Now().Add(60 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		_, err := c.Route(t.Context(), topic, api.RouteOptions{})
		p, refused := errors.AsType[*api.Problem](err)
		switch {
		case err == nil && there, refused && p.Status == 404 && !there:
			return
		case err != nil && !refused:
			t.Fatal(err)
		case time.Now().After(deadline):
			t.Fatalf("the route of %s: want it there: %v, got %v\n%s", topic, there, err, why())
		}
	}
}

// Each example registers at two servers, returns to the one that forgot it, and leaves
// both.
func TestExamples(t *testing.T) {
	for _, x := range []struct {
		file  string
		tools []string
		run   []string // before the file; none runs the file itself
	}{
		{"register.py", []string{"python3"}, []string{"python3"}},
		{"register.mjs", []string{"node"}, []string{"node"}},
		{"register.go", []string{"go"}, nil},
		{"register.java", []string{"java", "javac"}, []string{"java", "-XX:TieredStopAtLevel=1"}},
		{"register.sh", []string{"sh", "curl", "sed", "awk"}, []string{"sh"}},
	} {
		t.Run(x.file, func(t *testing.T) {
			need(t, x.tools...)
			one, token := withToken(t, "bridge", "admin")
			file := filepath.Join(one.dir, "tokens")
			two := start(t, t.TempDir(), "--auth-tokens-file", file)
			path := filepath.Join("../../docs/examples", x.file)
			run := append(x.run, path)
			if x.run == nil {
				program := filepath.Join(t.TempDir(), "register")
				if out, err := exec.Command("go", "build", "-buildvcs=false", "-o", program, path).CombinedOutput(); err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
				run = []string{program}
			}
			// The context outlives the test's own, which ends before what it cleans up.
			ctx, cancel := context.WithCancel(context.Background()) //nolint:modernize // for the reason above
			defer cancel()
			c, said := exec.CommandContext(ctx, run[0], run[1:]...), newOutput()
			c.Stdout, c.Stderr = said, said
			c.Env = append(os.Environ(), "TOKEN="+token, "TTL=5000", "NAMESERVERS="+one.url(t)+" "+two.url(t), "BROKER=bridge-7", "ADDRESS=10.0.0.7:10911", "NO_PROXY=*")
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			first, second := asking(t, one.url(t), token), asking(t, two.url(t), token)
			until(t, first, "Bridged", true, said.String)
			until(t, second, "Bridged", true, said.String)
			before, err := second.Member(t.Context(), "bridge-7", 0, api.Read{})
			if err != nil || before.BrokerAddr != "10.0.0.7:10911" {
				t.Fatalf("%+v, %v", before, err)
			}
			if err := first.Unregister(t.Context(), "bridge-7", 0, api.UnregisterOptions{}); err != nil {
				t.Fatal(err)
			}
			until(t, first, "Bridged", true, said.String)
			after, err := second.Member(t.Context(), "bridge-7", 0, api.Read{})
			if err != nil || !after.RegisteredAt.Equal(before.RegisteredAt.Time) {
				t.Errorf("the server that forgot nothing: %+v, %v", after, err)
			}
			if err := c.Process.Signal(syscall.SIGTERM); err != nil {
				t.Skipf("no such signals here: %v", err)
			}
			if err := c.Wait(); err != nil && c.ProcessState.ExitCode() != 128+int(syscall.SIGTERM) {
				t.Errorf("it ended with %v\n%s", err, said)
			}
			until(t, first, "Bridged", false, said.String)
			until(t, second, "Bridged", false, said.String)
		})
	}
}
