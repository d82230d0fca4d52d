package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTokens(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "tokens")
	env := []string{"FINGERPOST_AUTH_TOKENS_FILE=" + file}
	status, stdout, stderr := once(t, dir, env, "token", "new", "--name=ops", "--role=admin")
	ops := strings.TrimSpace(stdout)
	if status != 0 || !strings.HasPrefix(ops, "fp_") {
		t.Fatalf("exit status %d, %q, %q", status, stdout, stderr)
	}
	status, stdout, stderr = once(t, dir, nil, "token", "new", "--file", file, "--name=bridge", "--role=registrar", "--brokers=bridge-*")
	if status != 0 {
		t.Fatalf("exit status %d, %q", status, stderr)
	}
	bridge := strings.TrimSpace(stdout)
	if b, err := os.ReadFile(file); err != nil || strings.Contains(string(b), ops) || strings.Count(string(b), "\n") != 2 {
		t.Errorf("the file holds %q, %v", b, err)
	}
	if status, stdout, _ = once(t, dir, env, "token", "list"); status != 0 || stdout != "NAME    ROLE       BROKERS\nops     admin      \nbridge  registrar  bridge-*\n" {
		t.Errorf("exit status %d, %q", status, stdout)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"token", "new", "--file", file, "--name=ops", "--role=viewer"}, "has a token of ops already"},
		{[]string{"token", "new", "--name=ops", "--role=viewer"}, "set auth.tokensFile or give --file"},
		{[]string{"token", "new", "--file", file, "--name=a b", "--role=viewer"}, "the name must be given, without blanks"},
		{[]string{"token", "new", "--file", file, "--name=x", "--role=king"}, "--role"},
		{[]string{"token", "new", "--file", file, "--role=viewer"}, "--name"},
		{[]string{"token", "list"}, "set auth.tokensFile or give --file"},
	} {
		if status, stdout, stderr := once(t, dir, nil, c.args...); status != 1 && !(status == 2 && strings.HasPrefix(c.want, "--")) || stdout != "" || !strings.Contains(stderr, c.want) {
			t.Errorf("%v: exit status %d, %q, %q", c.args, status, stdout, stderr)
		}
	}

	p := start(t, dir, "--auth-tokens-file", file)
	base := p.url(t)
	for token, want := range map[string]string{ops: `"principal":"token:ops"`, bridge: `"role":"registrar"`, "": `"role":"none"`} {
		if status, body := get(t, base+"/api/v1/whoami", token); status != 200 || !strings.Contains(body, want) {
			t.Errorf("%d %s, want %s", status, body, want)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, ".local/state/fingerpost/admin-token")); err == nil {
		t.Error("a token of the first start was made beside the file of tokens")
	}
}

// A token that was taken out of the file does not come back from its backup with the next
// one that is made.
func TestTokensThatWereRevoked(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "tokens")
	add := func(name string) {
		t.Helper()
		if status, _, stderr := once(t, dir, nil, "token", "new", "--file", file, "--name", name, "--role=admin"); status != 0 {
			t.Fatal(stderr)
		}
	}
	add("one")
	add("two") // of which one is the backup
	for name, revoke := range map[string]func() error{
		"emptied": func() error { return os.WriteFile(file, nil, 0o600) },
		"removed": func() error { return os.Remove(file) },
	} {
		if err := revoke(); err != nil {
			t.Fatal(err)
		}
		if status, stdout, _ := once(t, dir, nil, "token", "list", "--file", file); status != 0 || stdout != "NAME  ROLE  BROKERS\n" {
			t.Errorf("%s: exit status %d, %q", name, status, stdout)
		}
		add("three")
		if text, err := os.ReadFile(file); err != nil || !strings.HasPrefix(string(text), "three ") || strings.Count(string(text), "\n") != 1 {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
}

func TestCurlrc(t *testing.T) {
	dir := t.TempDir()
	if status, stdout, stderr := once(t, dir, nil, "curlrc"); status != 1 || stdout != "" || !strings.Contains(stderr, "admin-token") {
		t.Errorf("before the first start: exit status %d, %q, %q", status, stdout, stderr)
	}
	p := start(t, dir)
	p.url(t)
	b, err := os.ReadFile(filepath.Join(dir, ".local/state/fingerpost/admin-token"))
	if err != nil {
		t.Fatal(err)
	}
	want := `header = "Authorization: Bearer ` + strings.TrimSpace(string(b)) + "\"\n"
	if status, stdout, stderr := once(t, dir, nil, "curlrc"); status != 0 || stdout != want {
		t.Errorf("exit status %d, %q, %q", status, stdout, stderr)
	}
	env := []string{"FINGERPOST_AUTH_USERS_FILE=/users"}
	if status, _, stderr := once(t, dir, env, "curlrc"); status != 1 || !strings.Contains(stderr, "--token-file") {
		t.Errorf("exit status %d, %q", status, stderr)
	}
	mine := filepath.Join(dir, "mine")
	put(t, mine, "fp_0123456789abcdef\n")
	if status, stdout, stderr := once(t, dir, env, "curlrc", "--token-file", mine); status != 0 || !strings.Contains(stdout, "Bearer fp_0123456789abcdef") {
		t.Errorf("exit status %d, %q, %q", status, stdout, stderr)
	}
}
