package main

import (
	"crypto/tls"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fingerpost/config"
	"fingerpost/internal/nstest"
	"fingerpost/remoting/wire"
)

// url returns the base URL of the HTTP face, without its base path.
func (p *program) url(t *testing.T) string {
	t.Helper()
	return "http://" + p.stderr.line(t, "serving")["http"].(string)
}

// get reads a URL, by a connection that does not outlive the answer.
func get(t *testing.T, url, token string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	c := http.Client{Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	resp, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

// What a broker says over remoting is what HTTP answers.
func TestOneRegistryTwoFaces(t *testing.T) {
	p := start(t, t.TempDir())
	base := p.url(t)
	b := nstest.StartBroker(t, p.remoting(t), nstest.BrokerConfig{Cluster: "c", Name: "broker-a"})
	b.Topic("One", 4)
	b.Topic("Two", 4)
	must(t)(b.Register())
	status, body := get(t, base+"/api/v1/topics/One/route", "")
	var route struct{ BrokerDatas []struct{ BrokerName string } }
	if err := json.Unmarshal([]byte(body), &route); err != nil || status != 200 || len(route.BrokerDatas) != 1 || route.BrokerDatas[0].BrokerName != "broker-a" {
		t.Errorf("%d %s, %v", status, body, err)
	}
	c := client(t, p)
	must(t)(c.Call(wire.UpdateNamesrvConfig, nil, []byte("productEnvName=lab")))
	if status, body := get(t, base+"/api/v1/version", ""); status != 200 || !strings.Contains(body, `"environment":"lab"`) || !strings.Contains(body, `"name":"fingerpost"`) {
		t.Errorf("%d %s", status, body)
	}
	for path, want := range map[string]string{
		"/livez": "ok", "/readyz?verbose": "[+] warmed-up ok", "/healthz?verbose": "[+] kv-persist ok", "/metrics": "go_goroutines", "/ui/": "<!doctype html>",
	} {
		if status, body := get(t, base+path, ""); status != 200 || !strings.Contains(strings.ToLower(body), want) {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
	if l := p.stderr.line(t, "the dashboard is at "+base+"/ui/"); l["level"] != "INFO" {
		t.Errorf("%v", l)
	}
	if status, stdout, stderr := once(t, p.dir, []string{"FINGERPOST_HTTP_LISTEN=" + strings.TrimPrefix(base, "http://")}, "health"); status != 0 || !strings.Contains(stdout, "ok") {
		t.Errorf("exit status %d, %q, %q", status, stdout, stderr)
	}
}

// The token of the first start is in a file that its owner alone can read, and not in the log.
func TestTokenOfTheFirstStart(t *testing.T) {
	dir := t.TempDir()
	p := start(t, dir)
	base := p.url(t)
	l := p.stderr.line(t, "a token for changes over HTTP was made")
	file := filepath.Join(dir, ".local/state/fingerpost/admin-token")
	b, err := os.ReadFile(file)
	if err != nil || l["file"] != file {
		t.Fatalf("%v, %v", l, err)
	}
	if fi, err := os.Stat(file); err != nil || fi.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", fi.Mode(), err)
	}
	token := strings.TrimSpace(string(b))
	if strings.Contains(p.stderr.String(), token) {
		t.Error("the token is logged")
	}
	for with, want := range map[string]string{"": `"role":"viewer"`, token: `"role":"admin"`} {
		if status, body := get(t, base+"/api/v1/whoami", with); status != 200 || !strings.Contains(body, want) {
			t.Errorf("%d %s", status, body)
		}
	}
	p.end(t)
	again := start(t, dir)
	if status, body := get(t, again.url(t)+"/api/v1/whoami", token); status != 200 || !strings.Contains(body, `"role":"admin"`) {
		t.Errorf("after a restart: %d %s", status, body)
	}
	if strings.Contains(again.stderr.String(), "was made") {
		t.Error("another token was made")
	}
}

// A folder in which no token can be made does not keep the server from serving.
func TestNoPlaceForTheToken(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "state"), "a file")
	p := start(t, dir, "--data-dir", filepath.Join(dir, "state"))
	if status, _ := get(t, p.url(t)+"/readyz", ""); status != 200 {
		t.Errorf("answered %d", status)
	}
	if l := p.stderr.line(t, "there is no token for changes over HTTP, so nobody may make any"); l["level"] != "ERROR" {
		t.Errorf("%v", l)
	}
}

// Without a credential HTTP is not open to the network; the remoting port is.
func TestHTTPIsNotExposed(t *testing.T) {
	p := start(t, t.TempDir(), "--http-listen", "0.0.0.0:0")
	if l := p.stderr.line(t, "serving"); l["http"] != nil {
		t.Errorf("%v", l)
	}
	settings(t, client(t, p))
	if !strings.Contains(p.stderr.String(), "HTTP is not served: it would be open to the network") {
		t.Errorf("nothing is said:\n%s", p.stderr)
	}
}

func TestExposed(t *testing.T) {
	for _, c := range []struct {
		listen string
		set    func(*config.Config)
		want   bool
	}{
		{"127.0.0.1:1", nil, false},
		{"localhost:1", nil, false},
		{"[::1]:1", nil, false},
		{"[::ffff:127.0.0.1]:1", nil, false},
		{"127.8.8.8:1", nil, false},
		{":1", nil, true},
		{"0.0.0.0:1", nil, true},
		{"[::]:1", nil, true},
		{"10.0.0.1:1", nil, true},
		{"names.example:1", nil, true},
		{"0.0.0.0:1", func(c *config.Config) { c.HTTP.InsecureNoAuth = true }, false},
		{"0.0.0.0:1", func(c *config.Config) { c.Auth.TokensFile = "/t" }, false},
		{"0.0.0.0:1", func(c *config.Config) { c.Auth.AnonymousRole = "viewer" }, false},
	} {
		cfg := config.Default("", "")
		cfg.HTTP.Listen = c.listen
		if c.set != nil {
			c.set(&cfg)
		}
		if got := exposed(&cfg); got != c.want {
			t.Errorf("%s: %v", c.listen, got)
		}
	}
}

func TestHTTPOff(t *testing.T) {
	p := start(t, t.TempDir(), "--http-listen=")
	if l := p.stderr.line(t, "serving"); l["http"] != nil {
		t.Errorf("%v", l)
	}
	if s := p.end(t); s != 0 {
		t.Errorf("exit status %d:\n%s", s, p.stderr)
	}
}

func TestHTTPBelowAPathWithTLS(t *testing.T) {
	dir := t.TempDir()
	newPair(t, filepath.Join(dir, "cert"), filepath.Join(dir, "key"), "server")
	p := start(t, dir, "--http-base-path=/names", "--http-tls-cert-file="+filepath.Join(dir, "cert"), "--http-tls-key-file="+filepath.Join(dir, "key"))
	addr := strings.TrimPrefix(p.url(t), "http://")
	if status, body := get(t, "https://"+addr+"/names/api/v1/version", ""); status != 200 || !strings.Contains(body, "fingerpost") {
		t.Errorf("%d %s", status, body)
	}
	p.stderr.line(t, "the dashboard is at https://"+addr+"/names/ui/")
	conn, err := tls.Dial("tcp", addr, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if got := conn.ConnectionState().NegotiatedProtocol; got != "h2" {
		t.Errorf("negotiated %q", got)
	}
}

// A server that has been told to stop says that it is not ready while it still answers.
func TestGraceBeforeStopping(t *testing.T) {
	p := start(t, t.TempDir(), "--shutdown-grace=1s")
	base := p.url(t)
	p.stop(errTestOver)
	p.stderr.line(t, "answering on before stopping")
	if status, body := get(t, base+"/readyz", ""); status != 503 || !strings.Contains(body, "not-draining failed") {
		t.Errorf("%d %s", status, body)
	}
	if status, _ := get(t, base+"/livez", ""); status != 200 {
		t.Errorf("livez %d", status)
	}
	settings(t, client(t, p))
	if s := p.end(t); s != 0 {
		t.Errorf("exit status %d:\n%s", s, p.stderr)
	}
	if _, err := net.Dial("tcp", strings.TrimPrefix(base, "http://")); err == nil {
		t.Error("HTTP is still open")
	}
}

// A failed save makes the server unready, says why without naming a path, and is no reason
// to restart it.
func TestFailedSaveShows(t *testing.T) {
	dir := t.TempDir()
	p := start(t, dir)
	base := p.url(t)
	put(t, filepath.Join(dir, "namesrv"), "a file where the folder should be")
	c := client(t, p)
	if resp, err := c.Call(wire.UpdateNamesrvConfig, nil, []byte("orderMessageEnable=true")); err != nil || resp.Code == 0 {
		t.Fatalf("%+v, %v", resp, err)
	}
	if status, body := get(t, base+"/healthz?verbose", ""); status != 503 || !strings.Contains(body, "[-] config-persist failed") || strings.Contains(body, dir) {
		t.Errorf("%d %s", status, body)
	}
	if status, body := get(t, base+"/readyz?verbose", ""); status != 503 || !strings.Contains(body, "[-] config-persist failed: the last change could not be saved: not a directory\n") {
		t.Errorf("readyz %d %s", status, body)
	}
	if status, stdout, stderr := once(t, dir, nil, "health", "--addr", base); status != 0 || !strings.Contains(stdout, "[-] config-persist") {
		t.Errorf("exit status %d, %q, %q", status, stdout, stderr)
	}
	if err := os.Remove(filepath.Join(dir, "namesrv")); err != nil {
		t.Fatal(err)
	}
	must(t)(c.Call(wire.UpdateNamesrvConfig, nil, []byte("orderMessageEnable=true")))
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		status, body := get(t, base+"/readyz?verbose", "")
		if strings.Contains(body, "[-] config-persist") {
			t.Fatalf("after a save that worked: %s", body)
		}
		if status == 200 {
			break // the table's folder, the same, is tried again within a second
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d %s", status, body)
		}
	}
}

// While it waits for its brokers a server is not ready, but it is healthy: whoever
// restarted it would make it wait again.
func TestHealthDuringTheWarmUp(t *testing.T) {
	p := start(t, t.TempDir(), "--need-wait-for-service", "--wait-seconds-for-service=300")
	base := p.url(t)
	if status, body := get(t, base+"/readyz", ""); status != 503 || !strings.Contains(body, "warmed-up failed") {
		t.Errorf("%d %s", status, body)
	}
	if status, stdout, stderr := once(t, p.dir, nil, "health", "--addr", base); status != 0 || !strings.Contains(stdout, "[-] warmed-up") {
		t.Errorf("exit status %d, %q, %q", status, stdout, stderr)
	}
}

func TestNameServers(t *testing.T) {
	for _, c := range []struct {
		bind  string
		peers []string
		want  string
	}{
		{"10.0.0.1", []string{"10.0.0.2:9876"}, "10.0.0.1:9876;10.0.0.2:9876"},
		{"10.0.0.1", []string{"10.0.0.2:9876", "10.0.0.1:9876"}, "10.0.0.2:9876;10.0.0.1:9876"},
		{"0.0.0.0", []string{"10.0.0.2:9876", "10.0.0.1:9876"}, "10.0.0.2:9876;10.0.0.1:9876"},
		{"0.0.0.0", nil, ""},
	} {
		file := filepath.Join(t.TempDir(), "p")
		put(t, file, "bindAddress="+c.bind+"\nhttp.nsaddr.enabled=true\npeers="+strings.Join(c.peers, ";")+"\n")
		a := &app{ctx: t.Context(), env: []string{"HOME=/home/x"}}
		store, _, err := a.load(&settingsFrom{ConfigFile: file}, watchProperties)
		if err != nil {
			t.Fatal(err)
		}
		n := &node{store: store, log: slog.New(slog.DiscardHandler), drainer: new(drainer)}
		if err := n.newDiscovery(store.Current()); err != nil {
			t.Fatal(err)
		}
		if got, _ := n.nameServers(""); got != c.want {
			t.Errorf("%s, %v: %q", c.bind, c.peers, got)
		}
	}
}

// The certificate's end is told in time.
func TestCertificateEnds(t *testing.T) {
	dir := t.TempDir()
	c := &certificate{cert: filepath.Join(dir, "cert"), key: filepath.Join(dir, "key")}
	newPair(t, c.cert, c.key, "one")
	if err := c.load(); err != nil {
		t.Fatal(err)
	}
	if got := c.ends(); !got.Equal(time.Unix(1<<32, 0)) {
		t.Errorf("ends %v", got)
	}
}
