package handlers

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"fingerpost/api"
	"fingerpost/internal/auth"
	"fingerpost/registry"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// env is a server of this face on a loopback port, with what tests want to see of it.
type env struct {
	t     testing.TB
	reg   *registry.Registry
	h     *Handler
	srv   *httptest.Server
	set   *fakeSettings
	token string // of an admin
	log   *lines
}

// option changes what the server is given.
type option func(*Deps)

func newEnv(t testing.TB, opts ...option) *env {
	t.Helper()
	e := &env{t: t, reg: registry.New(registry.Options{}), set: newFakeSettings(), log: new(lines)}
	file := filepath.Join(t.TempDir(), "admin-token")
	keeper, err := auth.New(auth.Options{AdminTokenFile: file, AnonymousRole: auth.Viewer})
	if err != nil {
		t.Fatal(err)
	}
	d := Deps{
		Registry: e.reg, Auth: keeper, Settings: e.set,
		Log:     slog.New(slog.NewJSONHandler(e.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Site:    Site{Loopback: true},
		Version: api.Version{Name: "fingerpost", Version: "test", Compatibility: "5.5.0"},
	}
	for _, o := range opts {
		o(&d)
	}
	e.reg = d.Registry
	if e.h, err = New(d); err != nil {
		t.Fatal(err)
	}
	e.srv = httptest.NewServer(e.h)
	t.Cleanup(func() {
		e.h.Close()
		e.srv.Close()
	})
	e.token, _ = auth.ReadAdminToken(file)
	return e
}

// answer is what came of a request.
type answer struct {
	*http.Response
	body []byte
}

func (a *answer) String() string { return a.Status + "\n" + string(a.body) }

// decode reads the body into v.
func (a *answer) into(t testing.TB, v any) {
	t.Helper()
	if err := json.Unmarshal(a.body, v); err != nil {
		t.Fatalf("%v in %s", err, a)
	}
}

// problem reads the body as one, which must have that status and code.
func (a *answer) problem(t testing.TB, status int, code string) *api.Problem {
	t.Helper()
	if a.StatusCode != status || a.Header.Get("Content-Type") != "application/problem+json" {
		t.Fatalf("got %s with %q, want %d %s", a, a.Header.Get("Content-Type"), status, code)
	}
	var p api.Problem
	a.into(t, &p)
	if p.Code != code || p.Status != status {
		t.Fatalf("got %s, want the code %s", a, code)
	}
	return &p
}

// ok fails the test unless the status is that.
func (a *answer) ok(t testing.TB, status int) *answer {
	t.Helper()
	if a.StatusCode != status {
		t.Fatalf("got %s, want %d", a, status)
	}
	return a
}

// get reads as a caller without a credential. headers are names and values in turn.
func (e *env) get(path string, headers ...string) *answer {
	e.t.Helper()
	return e.do("GET", path, "", headers...)
}

// admin asks with the admin's token. A body is sent as JSON.
func (e *env) admin(method, path, body string, headers ...string) *answer {
	e.t.Helper()
	return e.do(method, path, body, append([]string{"Authorization", "Bearer " + e.token}, headers...)...)
}

func (e *env) do(method, path, body string, headers ...string) *answer {
	e.t.Helper()
	var in io.Reader
	if body != "" {
		in = strings.NewReader(body)
	}
	req, err := http.NewRequestWithContext(e.t.Context(), method, e.srv.URL+path, in)
	if err != nil {
		e.t.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		if headers[i] == "Host" {
			req.Host = headers[i+1]
			continue
		}
		req.Header.Set(headers[i], headers[i+1])
	}
	return e.send(req)
}

// client neither follows redirects nor asks for compression by itself.
var client = &http.Client{
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	Transport:     &http.Transport{DisableCompression: true, DisableKeepAlives: true},
}

func (e *env) send(req *http.Request) *answer {
	e.t.Helper()
	resp, err := client.Do(req)
	if err != nil {
		e.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		e.t.Fatal(err)
	}
	a := &answer{resp, body}
	e.described(req, a)
	return a
}

// broker registers a broker as one over remoting does, with topics of 8 queues.
func (e *env) broker(name string, id int64, addr string, topics ...string) registry.Registered {
	e.t.Helper()
	return e.register(registry.MemberInfo{Cluster: "DefaultCluster", Name: name, ID: id, Addr: addr, Timeout: 120 * time.Second}, topics...)
}

func (e *env) register(m registry.MemberInfo, topics ...string) registry.Registered {
	e.t.Helper()
	s := e.reg.Snapshot()
	reg := registry.Registration{MemberInfo: m}
	if len(topics) > 0 {
		reg.Topics = s.NewStatement(m.Cluster, m.Addr)
		reg.Topics.Add("TBW102", registry.TopicConfig{QueueSpec: registry.QueueSpec{ReadQueues: 8, WriteQueues: 8, Perm: 7}})
		for _, t := range topics {
			reg.Topics.Add(t, registry.TopicConfig{QueueSpec: registry.QueueSpec{ReadQueues: 8, WriteQueues: 8, Perm: 6}})
		}
	}
	res, err := e.reg.Register(reg, nil, registry.Cause{Face: "remoting", Action: "registerBroker", Actor: m.Addr})
	if err != nil {
		e.t.Fatal(err)
	}
	return res
}

// fakeSettings are two settings of which one is protected.
type fakeSettings struct {
	mu      sync.Mutex
	values  map[string]string
	version uint64
}

func newFakeSettings() *fakeSettings {
	return &fakeSettings{values: map[string]string{"scanNotActiveBrokerInterval": "5000", "kvConfigPath": "/var/lib/kv.json"}, version: 1}
}

func (s *fakeSettings) Items() []api.ConfigItem {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []api.ConfigItem
	for _, k := range slices.Sorted(maps.Keys(s.values)) {
		out = append(out, api.ConfigItem{Key: k, Value: s.values[k], Source: "default", Type: "string", Mutable: k != "kvConfigPath", Doc: "a setting"})
	}
	return out
}

func (s *fakeSettings) Text() []byte {
	var b bytes.Buffer
	for _, i := range s.Items() {
		b.WriteString(i.Key + "=" + i.Value + "\n")
	}
	return b.Bytes()
}

func (s *fakeSettings) Version() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.version
}

func (s *fakeSettings) Patch(values map[string]*string, version uint64, dry bool, cause registry.Cause) (api.ConfigUpdate, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := api.ConfigUpdate{Applied: []string{}, Unchanged: []string{}, RestartRequired: []string{}, Overridden: []string{}}
	if version != 0 && version != s.version {
		return out, &registry.Error{Kind: registry.Conflict, Code: "precondition-failed", Message: "the settings have changed since they were read"}
	}
	for _, k := range slices.Sorted(maps.Keys(values)) {
		v := values[k]
		switch old, ok := s.values[k]; {
		case !ok:
			return out, &registry.Error{Kind: registry.Invalid, Code: "bad-config-value", Field: k, Message: k + " is not a setting of this server"}
		case k == "kvConfigPath":
			return out, &registry.Error{Kind: registry.Denied, Code: "config-key-protected", Field: k, Message: k + " cannot be changed while running"}
		case v == nil || *v == old:
			out.Unchanged = append(out.Unchanged, k)
		default:
			out.Applied = append(out.Applied, k)
			if !dry {
				s.values[k] = *v
				s.version++
			}
		}
	}
	return out, nil
}

// lines collects the log.
type lines struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// tokenOf is the token of a principal of [withTokens].
func tokenOf(name string) string { return "fp_token-of-" + name + "-for-tests" }

// withTokens makes a tokens file with those "name role [patterns]" in it, each with the
// token of tokenOf.
func withTokens(grants ...string) option {
	return func(d *Deps) { d.Auth = keeperOf(auth.Options{AnonymousRole: auth.Viewer}, grants...) }
}

// keeperOf makes credentials of such grants.
func keeperOf(o auth.Options, grants ...string) *auth.Keeper {
	var b strings.Builder
	for _, g := range grants {
		f := strings.Fields(g)
		line, err := auth.TokenLine(tokenOf(f[0]), f[0], f[1], f[2:])
		if err != nil {
			panic(err)
		}
		b.WriteString(line + "\n")
	}
	dir, err := os.MkdirTemp("", "tokens")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	o.TokensFile = filepath.Join(dir, "tokens")
	if err := os.WriteFile(o.TokensFile, []byte(b.String()), 0o600); err != nil {
		panic(err)
	}
	k, err := auth.New(o)
	if err != nil {
		panic(err)
	}
	return k
}
