package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"fingerpost/config"
)

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
	}
	goleak.VerifyTestMain(m)
}

// output is what a program writes, readable while it runs.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
	more chan struct{}
}

func newOutput() *output { return &output{more: make(chan struct{}, 1)} }

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.text.Write(p)
	select {
	case o.more <- struct{}{}:
	default:
	}
	return len(p), nil
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// line returns the first log line with this message, which it waits for.
func (o *output) line(t *testing.T, msg string) map[string]any {
	t.Helper()
	patience := time.After(20 * time.Second)
	for {
		for l := range strings.Lines(o.String()) {
			var m map[string]any
			if json.Unmarshal([]byte(l), &m) == nil && m["msg"] == msg {
				return m
			}
		}
		select {
		case <-o.more:
		case <-patience:
			t.Fatalf("no line %q in\n%s", msg, o)
		}
	}
}

// program is one run of the whole program.
type program struct {
	dir            string
	env            []string
	stdout, stderr *output
	status         chan int
	stop           context.CancelCauseFunc
}

// start runs the program with a home of its own, at free ports, until the test ends.
func start(t *testing.T, dir string, args ...string) *program {
	t.Helper()
	return startIn(t, dir, nil, args...)
}

// startIn is start with further variables.
func startIn(t *testing.T, dir string, env []string, args ...string) *program {
	t.Helper()
	p := &program{dir: dir, env: append([]string{"HOME=" + dir}, env...), stdout: newOutput(), stderr: newOutput(), status: make(chan int, 1)}
	ctx, cancel := context.WithCancelCause(context.Background())
	p.stop = cancel
	args = append([]string{"--bind-address", "127.0.0.1", "--listen-port", "0", "--http-listen", "127.0.0.1:0"}, args...)
	go func() { p.status <- run(ctx, args, p.env, p.stdout, p.stderr) }()
	t.Cleanup(func() { p.end(t) })
	return p
}

var errTestOver = errors.New("the test is over")

// end stops the program and returns its exit status.
func (p *program) end(t *testing.T) int {
	t.Helper()
	p.stop(errTestOver)
	select {
	case s := <-p.status:
		p.status <- s
		return s
	case <-time.After(30 * time.Second):
		t.Fatalf("the program does not end:\n%s", p.stderr)
		return -1
	}
}

// remoting returns the address of the remoting port.
func (p *program) remoting(t *testing.T) string {
	t.Helper()
	return p.stderr.line(t, "serving")["remoting"].(string)
}

// once runs a command that ends by itself.
func once(t *testing.T, dir string, env []string, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var o, e bytes.Buffer
	status = run(t.Context(), args, append([]string{"HOME=" + dir}, env...), &o, &e)
	return status, o.String(), e.String()
}

func TestServeAndStop(t *testing.T) {
	p := start(t, t.TempDir())
	addr := p.remoting(t)
	if _, port, _ := net.SplitHostPort(addr); port == "0" || port == "" {
		t.Errorf("serving at %s, which is not the real port", addr)
	}
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if s := p.end(t); s != 0 {
		t.Errorf("exit status %d:\n%s", s, p.stderr)
	}
	if l := p.stderr.line(t, "stopping"); l["reason"] != errTestOver.Error() {
		t.Errorf("stopped because of %v", l["reason"])
	}
	if _, err := net.Dial("tcp", addr); err == nil {
		t.Error("the port is still open")
	}
}

// Whatever is wrong with what the program is told: exit status 1, or 2 if the command line
// itself makes no sense, and a sentence on standard error that names it.
func TestRefusesToStart(t *testing.T) {
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	_, port, _ := net.SplitHostPort(busy.Addr().String())

	for _, c := range []struct {
		name  string
		args  []string
		env   []string
		files map[string]string
		want  []string
	}{
		{name: "port in use", args: []string{"--bind-address=127.0.0.1", "--listen-port=" + port}, want: []string{"127.0.0.1:" + port + " is in use by another program", "set bindAddress or listenPort"}},
		{name: "HTTP port in use", args: []string{"--listen-port=0", "--http-listen=127.0.0.1:" + port}, want: []string{"127.0.0.1:" + port + " is in use by another program", "set http.listen"}},
		{name: "foreign address", args: []string{"--bind-address=192.0.2.1"}, want: []string{"192.0.2.1:9876 is no address of this machine"}},
		{name: "unknown flag", args: []string{"--listenport=1"}, want: []string{"unknown flag --listenport", "--listen-port"}},
		{name: "unknown flag, farther off", args: []string{"--msg-order-message-enable"}, want: []string{"did you mean --order-message-enable?"}},
		{name: "unknown flag like nothing", args: []string{"--xyzzy"}, want: []string{"unknown flag --xyzzy (see fingerpost --help)"}},
		{name: "unknown command", args: []string{"sevre"}, want: []string{"unexpected argument sevre"}},
		{name: "bad value of a flag", args: []string{"--listen-port=abc"}, want: []string{"--listen-port: listenPort must be a whole number from 0 to 65535"}},
		{name: "bad value of a variable", env: []string{"FINGERPOST_HTTP_LISTEN=8876"}, want: []string{"FINGERPOST_HTTP_LISTEN: http.listen must be an address"}},
		{
			name: "unknown key", args: []string{"-c", "x.properties"}, files: map[string]string{"x.properties": "listenport=1\nbroker=2\n"},
			want: []string{`x.properties line 1: unknown setting "listenport"; did you mean listenPort?`, `x.properties line 2: unknown setting "broker"`},
		},
		{name: "no such file", args: []string{"-c", "none.properties"}, want: []string{"there is no file", "none.properties"}},
		{name: "no such file by variable", env: []string{"FINGERPOST_CONFIG_FILE=/none.properties"}, want: []string{"FINGERPOST_CONFIG_FILE: there is no file /none.properties"}},
		{
			name: "broken settings", args: []string{"-c", "x.properties"}, files: map[string]string{"x.properties": "productEnvName=\\u12\n"},
			want: []string{"is broken (line 1 has a \\u", "has no backup"},
		},
		{
			name: "both settings broken", args: []string{"-c", "x.properties"}, files: map[string]string{"x.properties": "a=\\u12\n", "x.properties.bak": "\x00\x00"},
			want: []string{"neither", "line 1 has a \\u", "zero bytes"},
		},
		{
			name: "broken table", args: []string{"--listen-port=0"}, files: map[string]string{"namesrv/kvConfig.json": `{"configTable":{"n":`},
			want: []string{"kvConfig.json is broken (its JSON ends too early) and has no backup"},
		},
		{
			name: "both tables broken", args: []string{"--listen-port=0"}, files: map[string]string{"namesrv/kvConfig.json": `{`, "namesrv/kvConfig.json.bak": `{}`},
			want: []string{"neither", `it has no "configTable"`},
		},
		{
			name: "no certificate", args: []string{"--listen-port=0", "--tls-server-cert-path=/none.pem", "--tls-server-key-path=/none.key"},
			want: []string{"TLS on the remoting port", "/none.pem"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			for name, text := range c.files {
				put(t, filepath.Join(dir, name), text)
			}
			for i, a := range c.args {
				if i > 0 && c.args[i-1] == "-c" {
					c.args[i] = filepath.Join(dir, a)
				}
			}
			status, stdout, stderr := once(t, dir, c.env, c.args...)
			want := 1
			if strings.HasPrefix(c.name, "unknown flag") || c.name == "unknown command" {
				want = 2
			}
			if status != want || stdout != "" {
				t.Errorf("exit status %d, want %d, standard output %q", status, want, stdout)
			}
			for _, w := range c.want {
				if !strings.Contains(stderr, w) {
					t.Errorf("%q is missing in\n%s", w, stderr)
				}
			}
			for l := range strings.Lines(stderr) {
				if !strings.HasPrefix(l, "fingerpost: ") {
					t.Errorf("not a plain sentence: %s", l)
				}
			}
			for name, text := range c.files {
				if b, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(b) != text {
					t.Errorf("%s was changed to %q, %v", name, b, err)
				}
			}
		})
	}
}

func put(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// A broken file is replaced by its backup, which is said, and kept aside.
func TestStartsFromBackups(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "namesrv/namesrv.properties"), "productEnvName=\\u12")
	put(t, filepath.Join(dir, "namesrv/namesrv.properties.bak"), "productEnvName=fromBackup\n")
	put(t, filepath.Join(dir, "namesrv/kvConfig.json"), `{"configTable":{"n":{"k":"v`)
	put(t, filepath.Join(dir, "namesrv/kvConfig.json.bak"), `{"configTable":{"n":{"k":"fromBackup"}}}`)
	p := start(t, dir)
	p.remoting(t)
	for _, name := range []string{"namesrv.properties", "kvConfig.json"} {
		if !strings.Contains(p.stderr.String(), name+".bak was used") || !strings.Contains(p.stderr.String(), "kept as "+filepath.Join(dir, "namesrv", name)+".broken") {
			t.Errorf("nothing is said of %s:\n%s", name, p.stderr)
		}
		if b, err := os.ReadFile(filepath.Join(dir, "namesrv", name)); err != nil || !strings.Contains(string(b), "fromBackup") {
			t.Errorf("%s holds %q, %v", name, b, err)
		}
	}
}

func TestHelp(t *testing.T) {
	for _, args := range [][]string{{"-h"}, {"--help"}, {"serve", "--help"}, {"config", "-h"}} {
		status, stdout, stderr := once(t, t.TempDir(), nil, args...)
		if status != 0 || !strings.HasPrefix(stdout, "Usage: fingerpost") || stderr != "" {
			t.Errorf("%v: exit status %d, %q, %q", args, status, stdout, stderr)
		}
	}
	_, help, _ := once(t, t.TempDir(), nil, "serve", "--help")
	for _, s := range config.Settings() {
		if !strings.Contains(help, "--"+s.Flag()) && !strings.Contains(help, "--[no-]"+s.Flag()) {
			t.Errorf("no flag for %s in the help", s.Key)
		}
	}
}

func TestVersion(t *testing.T) {
	status, stdout, _ := once(t, t.TempDir(), nil, "version")
	if status != 0 || !strings.HasPrefix(stdout, "fingerpost ") || !strings.Contains(stdout, "compatible with Apache RocketMQ 5.") || strings.Count(stdout, "\n") != 1 {
		t.Errorf("exit status %d, %q", status, stdout)
	}
}

func TestPrintConfigItem(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "ns.properties"), "listenPort=1234\nsocksProxyConfig=hunter2\n")
	for _, args := range [][]string{{"-p"}, {"--printConfigItem"}, {"serve", "-p"}} {
		args = append(args, "-c", filepath.Join(dir, "ns.properties"), "-n", "10.0.0.1:9876", "--no-enable-topic-list")
		status, stdout, stderr := once(t, dir, []string{"FINGERPOST_BIND_ADDRESS=127.0.0.1"}, args...)
		if status != 0 {
			t.Errorf("%v: exit status %d, %s", args, status, stderr)
		}
		for _, want := range []string{"\nlistenPort=1234\n", "\nbindAddress=127.0.0.1\n", "\nenableTopicList=false\n", "\nsocksProxyConfig=***\n", "\nhttp.listen=127.0.0.1:8876\n"} {
			if !strings.Contains(stdout, want) {
				t.Errorf("%v: %q is missing in\n%s", args, want, stdout)
			}
		}
	}
}

func TestConfigCommand(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "ns.properties")
	put(t, file, "a=\\u12")
	put(t, file+".bak", "listenPort=1234\n")
	status, stdout, stderr := once(t, dir, []string{"FINGERPOST_DATA_DIR=/data"}, "config", "-c", file, "--http-max-heavy=7")
	if status != 0 {
		t.Fatalf("exit status %d, %s", status, stderr)
	}
	if !strings.Contains(stderr, "its backup") {
		t.Errorf("the backup is not mentioned: %q", stderr)
	}
	for key, want := range map[string]string{
		"listenPort":    "1234 file " + file + " line 1",
		"dataDir":       "/data env FINGERPOST_DATA_DIR",
		"http.maxHeavy": "7 flag --http-max-heavy",
		"bindAddress":   "0.0.0.0 default",
	} {
		found := ""
		for l := range strings.Lines(stdout) {
			if f := strings.Fields(l); len(f) > 0 && f[0] == key {
				found = strings.Join(f[1:], " ")
			}
		}
		if found != want {
			t.Errorf("%s: %q, want %q", key, found, want)
		}
	}
	if b, _ := os.ReadFile(file); string(b) != "a=\\u12" {
		t.Errorf("the command changed the file to %q", b)
	}

	status, stdout, _ = once(t, dir, nil, "config", "-o", "json", "--listen-port=5")
	var items []shownSetting
	if err := json.Unmarshal([]byte(stdout), &items); status != 0 || err != nil {
		t.Fatalf("exit status %d, %v", status, err)
	}
	for _, it := range items {
		if it.Key == "listenPort" && (it.Value != "5" || it.Default != "9876" || it.Source != "flag" || it.Live || it.Doc == "") {
			t.Errorf("%+v", it)
		}
	}
	if len(items) != len(config.Settings()) {
		t.Errorf("%d settings of %d", len(items), len(config.Settings()))
	}
}

// Every setting can be given by its flag and by its variable.
func TestEveryFlagAndVariable(t *testing.T) {
	byType := map[string]string{"bool": "true", "int": "777", "size": "2MiB", "list": "10.0.0.1:1", "level": "warn", "string": "/x", "duration": "7s"}
	special := map[string]string{
		"http.externalURL": "https://x.example", "http.corsOrigins": "https://x.example", "http.trustedProxies": "10.0.0.0/8",
		"remoting.trustedProxies": "10.0.0.0/8", "http.nsaddr.units": "east=10.0.0.1:1", "massExpiry.share": "77",
		"http.nsaddr.listen": "127.0.0.1:1", "http.nsaddr.self": "10.0.0.1:1", "http.nsaddr.dns": "names:1", "bindAddress": "::1", "http.listen": "127.0.0.1:1",
	}
	value := func(s *config.Setting) string {
		switch {
		case special[s.Key] != "":
			return special[s.Key]
		case strings.HasPrefix(s.Key, "remoting.access.") && s.Type() == "list":
			return "10.0.0.0/8"
		case len(s.Words) > 0:
			return s.Words[len(s.Words)-1]
		case s.Unit > 0:
			return "777"
		}
		return byType[s.Type()]
	}
	var args, env []string
	for _, s := range config.Settings() {
		args = append(args, "--"+s.Flag()+"="+value(s))
		env = append(env, s.Env()+"="+value(s))
	}
	for how, shown := range map[string]func() (int, string, string){
		"flag": func() (int, string, string) {
			return once(t, "/home/x", nil, append([]string{"config", "-o", "json"}, args...)...)
		},
		"env": func() (int, string, string) { return once(t, "/home/x", env, "config", "-o", "json") },
	} {
		status, stdout, stderr := shown()
		var items []shownSetting
		if err := json.Unmarshal([]byte(stdout), &items); err != nil {
			t.Fatalf("%s: exit status %d, %v, %s", how, status, err, stderr)
		}
		for _, it := range items {
			s, _ := config.Find(it.Key)
			if it.Value != value(s) || it.Source != how || it.Where == "" {
				t.Errorf("%s by %s is %q from %s %s, want %q", it.Key, how, it.Value, it.Source, it.Where, value(s))
			}
		}
	}
}
