package main

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"fingerpost/config"
)

func TestReachable(t *testing.T) {
	for listen, want := range map[string]string{
		"127.0.0.1:8876": "127.0.0.1:8876", "0.0.0.0:8876": "127.0.0.1:8876", ":8876": "127.0.0.1:8876", "[::]:8876": "[::1]:8876",
		"[::1]:1": "[::1]:1", "names.example:80": "names.example:80", "10.0.0.1:1": "10.0.0.1:1",
	} {
		if got := reachable(listen); got != want {
			t.Errorf("%s: %s, want %s", listen, got, want)
		}
	}
}

func TestBaseURL(t *testing.T) {
	c := config.Default("", "")
	if got := baseURL(&c); got != "http://127.0.0.1:8876" {
		t.Errorf("got %s", got)
	}
	c.HTTP.BasePath, c.HTTP.CertFile = "/names", "/cert"
	if got := baseURL(&c); got != "https://127.0.0.1:8876/names" {
		t.Errorf("got %s", got)
	}
	c.HTTP.Listen = ""
	if got := baseURL(&c); got != "" {
		t.Errorf("got %s", got)
	}
	c.BindAddress = "[::]"
	if got := remotingAddr(&c); got != "[::1]:9876" {
		t.Errorf("got %s", got)
	}
}

func TestHealth(t *testing.T) {
	ready := true
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/names/livez" || r.URL.Path == "/names/readyz" && ready:
			w.Write([]byte("ok\n"))
		case r.URL.Path == "/names/readyz":
			w.WriteHeader(http.StatusServiceUnavailable)
			w.Write([]byte("draining\n"))
		default:
			http.NotFound(w, r)
		}
	})
	for name, srv := range map[string]*httptest.Server{"plain": httptest.NewServer(handler), "TLS": httptest.NewTLSServer(handler)} {
		ready = true
		if status, stdout, stderr := once(t, t.TempDir(), nil, "health", "--addr", srv.URL+"/names/"); status != 0 || stdout != "ok\n" {
			t.Errorf("%s: exit status %d, %q, %q", name, status, stdout, stderr)
		}
		ready = false
		if status, stdout, stderr := once(t, t.TempDir(), nil, "health", "--addr", srv.URL+"/names"); status != 1 || stdout != "" || !strings.Contains(stderr, "503 Service Unavailable: draining") {
			t.Errorf("%s: exit status %d, %q, %q", name, status, stdout, stderr)
		}
		if status, _, stderr := once(t, t.TempDir(), nil, "health", "--live", "--addr", srv.URL+"/names"); status != 0 {
			t.Errorf("%s: exit status %d, %q", name, status, stderr)
		}
		srv.Close()
		if status, _, stderr := once(t, t.TempDir(), nil, "health", "--addr", srv.URL); status != 1 || !strings.Contains(stderr, "no answer from "+srv.URL+"/readyz?verbose") {
			t.Errorf("%s: exit status %d, %q", name, status, stderr)
		}
	}
}

// The address comes from the same places as the server's own.
func TestHealthFindsTheServer(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("found")) }))
	defer srv.Close()
	addr := strings.TrimPrefix(srv.URL, "http://")
	if status, stdout, stderr := once(t, t.TempDir(), []string{"FINGERPOST_HTTP_LISTEN=" + addr}, "health"); status != 0 || stdout != "found\n" {
		t.Errorf("exit status %d, %q, %q", status, stdout, stderr)
	}
	dir := t.TempDir()
	put(t, dir+"/ns.properties", "http.listen="+addr+"\n")
	if status, stdout, stderr := once(t, dir, nil, "health", "-c", dir+"/ns.properties"); status != 0 || stdout != "found\n" {
		t.Errorf("exit status %d, %q, %q", status, stdout, stderr)
	}
}

// Without HTTP the remoting port answers for the server.
func TestHealthWithoutHTTP(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(ln.Addr().String())
	dir := t.TempDir()
	put(t, dir+"/ns.properties", "http.listen=\nlistenPort="+port+"\n")
	if status, _, stderr := once(t, dir, nil, "health", "-c", dir+"/ns.properties"); status != 0 {
		t.Errorf("exit status %d, %q", status, stderr)
	}
	ln.Close()
	if status, _, stderr := once(t, dir, nil, "health", "-c", dir+"/ns.properties"); status != 1 || stderr == "" {
		t.Errorf("exit status %d, %q", status, stderr)
	}
}
