package main

import (
	"bytes"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"fingerpost/api"
	"fingerpost/internal/nstest"
)

// desk is a server with something in it, and a user with its address in the environment.
type desk struct {
	dir    string
	env    []string
	base   string
	addr   string // of the remoting port
	broker *nstest.Broker
	server *program
}

func newDesk(t *testing.T, args ...string) *desk {
	t.Helper()
	d := &desk{dir: t.TempDir()}
	p := start(t, d.dir, append([]string{"--need-wait-for-service=false", "--http-header-timeout=200ms"}, args...)...)
	d.base, d.addr, d.server = p.url(t), p.remoting(t), p
	d.broker = stock(t, d.addr)
	d.env = []string{"FINGERPOST_SERVER=" + d.base, "FINGERPOST_TOKEN_FILE=" + filepath.Join(p.dataDir(), adminToken)}
	return d
}

// dataDir is where the program keeps its token.
func (p *program) dataDir() string { return filepath.Join(p.dir, ".local", "state", "fingerpost") }

func (d *desk) run(t *testing.T, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	return once(t, d.dir, d.env, args...)
}

// Each command says what it should, over the API.
func TestCommands(t *testing.T) {
	d := newDesk(t)
	for _, c := range []struct {
		args   string
		status int
		want   []string // patterns in standard output, or in standard error of a failure
	}{
		{"route OrderCreated", 0, []string{`^BROKER +CLUSTER +ZONE`, `(?m)^broker-b +DefaultCluster +- +RW- +8 +8 +0 +master +10\.0\.0\.2:10911$`, `writable queues 16`}},
		{"route OrderCreated -o json", 0, []string{`"brokerName": "broker-a"`}},
		{"route OrderCreatd", 3, []string{`^fingerpost: http://\S+: No broker has registered topic OrderCreatd\. Did you mean OrderCreated\?`}},
		{"topics", 0, []string{`(?m)^%DLQ%order-svc +dlq`, `# total 4  shown 4`}},
		{"topics Order*", 0, []string{`OrderCreated +normal +NORMAL +DefaultCluster +2`, `total 1`}},
		{"topics --type retry --limit 1", 0, []string{`RETRY`, `shown 1`}},
		{"topics --type nonsense", 1, []string{`type .*normal`}},
		{"topics --limit=-1", 2, []string{`--limit: must be at least 0`}},
		{"topics show OrderCreated", 0, []string{`broker-a +DefaultCluster +8 +8 +RW- +RW-`}},
		{"topics show None", 3, []string{`None`}},
		{"brokers", 0, []string{`broker-a +0 +master +DefaultCluster +- +10\.0\.0\.1:10911 +remoting +live`, `brokers 2  members 2`}},
		{"brokers *-b -o json", 0, []string{`"total": 1`, `"brokerName": "broker-b"`}},
		{"clusters", 0, []string{`DefaultCluster +2 +2 +2 +4 +- +ok +broker-a,broker-b`}},
		{"kv", 0, []string{`^NAMESPACE`}},
		{"kv put ORDER_TOPIC_CONFIG OrderCreated broker-a:4", 0, []string{`OrderCreated +broker-a:4 +yes`}},
		{"kv put ORDER_TOPIC_CONFIG OrderCreated broker-a:4 --create", 1, []string{`changed since it was read`}},
		{"kv ORDER_TOPIC_CONFIG", 0, []string{`OrderCreated +broker-a:4`}},
		{"kv get ORDER_TOPIC_CONFIG OrderCreated", 0, []string{`^broker-a:4\n$`}},
		{"kv get ORDER_TOPIC_CONFIG None", 3, []string{`None`}},
		{"kv delete ORDER_TOPIC_CONFIG OrderCreated --dry-run", 0, []string{`dry run`}},
		{"kv delete ORDER_TOPIC_CONFIG OrderCreated", 0, []string{`OrderCreated +yes`}},
		{"kv delete ORDER_TOPIC_CONFIG OrderCreated", 3, []string{`OrderCreated`}},
		{"brokers wipe broker-a --dry-run", 0, []string{`broker-a +wiped +4`, `dry run`}},
		{"brokers wipe broker-a", 0, []string{`broker-a +wiped +4`}},
		{"route OrderCreated", 0, []string{`broker-a +DefaultCluster +- +R--`, `writable queues 8`}},
		{"brokers restore broker-a", 0, []string{`broker-a +granted`}},
		{"brokers wipe none", 3, []string{`none`}},
		{"topics delete Archive --dry-run -o json", 0, []string{`"dryRun": true`}},
		{"topics delete Archive", 0, []string{`Archive +broker-a`, `may return from broker-a`}},
		{"events --action putKV", 0, []string{`putKV +kv:1 +kv created ORDER_TOPIC_CONFIG/OrderCreated`}},
		{"events --kind nonsense", 2, []string{`--kind: must be of member, topic`}},
		{"config get log.*", 0, []string{`log\.level +info +default`}},
		{"config set log.level=ERROR --dry-run", 0, []string{`log\.level +applied`, `dry run`}},
		{"config set", 2, []string{`fingerpost config set log.level=DEBUG`}},
		{"config set log.level", 2, []string{`must be KEY=VALUE`}},
		{"config set nonsense=1", 1, []string{`nonsense`}},
		{"config set log.level=ERROR --unset log.level", 2, []string{`both set and unset`}},
	} {
		status, stdout, stderr := d.run(t, strings.Fields(c.args)...)
		said := stdout
		if c.status != 0 {
			said = stderr
		}
		if status != c.status {
			t.Errorf("%s: exit status %d, want %d\n%s%s", c.args, status, c.status, stdout, stderr)
		}
		for _, p := range c.want {
			if !regexp.MustCompile(p).MatchString(said) {
				t.Errorf("%s: no %s in\n%s", c.args, p, said)
			}
		}
	}
}

// What the remoting port tells is what the API tells of the same server.
func TestReadsOverRemoting(t *testing.T) {
	d := newDesk(t)
	if status, _, stderr := d.run(t, "kv", "put", "ORDER_TOPIC_CONFIG", "OrderCreated", "broker-a:4"); status != 0 {
		t.Fatal(stderr)
	}
	for _, c := range []struct {
		args   string
		fields []string // of items that both tell, or none to compare all
	}{
		{"route OrderCreated", nil},
		{"topics", []string{"topic"}},
		{"topics Order*", []string{"topic"}},
		{"topics --cluster DefaultCluster", []string{"topic"}},
		{"brokers", []string{"brokerName", "clusterName", "hasMaster", "enableActingMaster"}},
		{"clusters", []string{"clusterName", "brokerNames", "zones", "memberCount", "masterCount"}},
		{"kv ORDER_TOPIC_CONFIG", []string{}},
	} {
		var got [2]map[string]any
		for i, more := range [][]string{nil, {"--remoting", d.addr}} {
			status, stdout, stderr := d.run(t, slices.Concat(strings.Fields(c.args), more, []string{"-o", "json"})...)
			if status != 0 {
				t.Fatalf("%s %v: exit status %d: %s", c.args, more, status, stderr)
			}
			if err := json.Unmarshal([]byte(stdout), &got[i]); err != nil {
				t.Fatalf("%s %v: %v in %s", c.args, more, err, stdout)
			}
			delete(got[i], "revision")
			items, _ := got[i]["items"].([]any)
			for _, it := range items {
				m := it.(map[string]any)
				for k := range m {
					if !slices.Contains(c.fields, k) {
						delete(m, k)
					}
				}
			}
		}
		a, _ := json.Marshal(got[0])
		b, _ := json.Marshal(got[1])
		if !bytes.Equal(a, b) || len(a) < 20 {
			t.Errorf("%s: over HTTP\n%s\nover remoting\n%s", c.args, a, b)
		}
	}
}

// What cannot be answered is said with what to do about it.
func TestCommandsThatFail(t *testing.T) {
	d := newDesk(t)
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := closed.Addr().String()
	closed.Close()
	other := httptest.NewServer(http.NotFoundHandler())
	defer other.Close()
	loose := filepath.Join(d.dir, "loose")
	put(t, loose, "token-that-others-can-read")
	if err := os.Chmod(loose, 0o644); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(d.dir, "empty"), " \n")
	for _, c := range []struct {
		args, env string
		status    int
		want      string
	}{
		{"topics --server " + nobody, "", 1, `^fingerpost: nothing answers at http://` + regexp.QuoteMeta(nobody) + `: start a server there by "fingerpost serve", or name another by --server or FINGERPOST_SERVER\n$`},
		{"topics --remoting " + nobody, "", 1, `nothing answers at ` + regexp.QuoteMeta(nobody)},
		{"watch --server " + nobody, "", 1, `nothing answers`},
		{"topics --server " + other.URL, "", 1, `is that the address of a Fingerpost\?`},
		{"topics --server nonsense://x", "", 2, `--server: the base URL`},
		{"topics --remoting x", "", 2, `--remoting: "x" is no address`},
		{"topics --remoting " + d.addr + " --server " + d.base, "", 2, `give one`},
		{"topics --remoting " + d.addr + " --type dlq", "", 2, `the remoting port lists topics by`},
		{"kv --remoting " + d.addr, "", 2, `the remoting port cannot list namespaces`},
		{"route None --remoting " + d.addr, "", 3, `No topic route info in name server`},
		{"kv get n k --remoting " + d.addr, "", 3, `n`},
		{"topics --remoting " + strings.TrimPrefix(d.base, "http://"), "", 1, `is it a remoting port`},
		{"kv put n k v", "FINGERPOST_TOKEN_FILE=", 4, `[^.]; give a token by FINGERPOST_TOKEN or --token-file`},
		{"kv put n k v", "FINGERPOST_TOKEN=wrong-token-0123456789", 4, `token`},
		{"kv put n k v --token-file " + loose, "", 1, `can be read by others: chmod 600`},
		{"kv put n k v --token-file " + filepath.Join(d.dir, "empty"), "", 1, `holds no token`},
		{"kv put n k v --token-file " + filepath.Join(d.dir, "none"), "", 1, `read the token`},
		{"topics --ca-cert " + loose, "", 2, `holds no certificate`},
		{"events nonsense", "", 1, `revision`},
		{"watch --since nonsense", "", 1, `since`},
	} {
		env := slices.Clone(d.env)
		if c.env != "" {
			env = append(env, c.env)
		}
		status, stdout, stderr := once(t, d.dir, env, strings.Fields(c.args)...)
		if status != c.status || stdout != "" || !regexp.MustCompile(c.want).MatchString(stderr) {
			t.Errorf("%s %s: exit status %d, want %d; %q, want %s; %q", c.args, c.env, status, c.status, stderr, c.want, stdout)
		}
	}
}

// A token comes from a variable, from a file, bare or as curlrc prints it, and for the
// server of this machine from where that keeps it.
func TestWhereTokensComeFrom(t *testing.T) {
	d := newDesk(t)
	status, rc, stderr := once(t, d.dir, nil, "curlrc")
	if status != 0 {
		t.Fatal(stderr)
	}
	put(t, filepath.Join(d.dir, "rc"), rc)
	bare, err := os.ReadFile(strings.TrimPrefix(d.env[1], "FINGERPOST_TOKEN_FILE="))
	if err != nil {
		t.Fatal(err)
	}
	server := d.env[0]
	settings := filepath.Join(d.dir, "s.properties")
	put(t, settings, "http.listen="+strings.TrimPrefix(d.base, "http://")+"\n")
	for name, c := range map[string]struct{ env, args []string }{
		"variable": {[]string{server, "FINGERPOST_TOKEN=" + string(bare)}, nil},
		"curlrc":   {[]string{server}, []string{"--token-file", filepath.Join(d.dir, "rc")}},
		"file":     {[]string{server, "FINGERPOST_TOKEN=wrong"}, []string{"--token-file", strings.TrimPrefix(d.env[1], "FINGERPOST_TOKEN_FILE=")}},
		"local":    {nil, []string{"-c", settings}},
	} {
		status, _, stderr := once(t, d.dir, c.env, append([]string{"kv", "put", "n", "k", "v"}, c.args...)...)
		if status != 0 || stderr != "" {
			t.Errorf("%s: exit status %d, %s", name, status, stderr)
		}
	}
}

// A watch shows what changes until it has seen enough, in both forms.
func TestWatchCommand(t *testing.T) {
	d := newDesk(t)
	c := asking(t, d.base, "")
	v, err := c.Events(t.Context(), api.EventsOptions{List: api.List{Limit: 1}})
	if err != nil {
		t.Fatal(err)
	}
	before := v.Revision
	for _, value := range []string{"one", "two"} {
		if status, _, stderr := d.run(t, "kv", "put", "n", "k", value); status != 0 {
			t.Fatal(stderr)
		}
	}
	status, stdout, stderr := d.run(t, "watch", "--since", before, "--count", "2", "--kind", "kv")
	if status != 0 || stderr != "" || !regexp.MustCompile(`(?s)^# watching from .*kv created n/k value=one  by token:admin over rest \(putKV\)\n.*kv changed n/k value=one->two  by `).MatchString(stdout) {
		t.Errorf("exit status %d, %s\n%s", status, stderr, stdout)
	}
	status, stdout, stderr = d.run(t, "watch", "--since", before, "--count", "1", "-o", "json")
	items := 0
	for l := range strings.Lines(stdout) {
		var it api.WatchItem
		if err := json.Unmarshal([]byte(l), &it); err != nil {
			t.Errorf("%v in %s", err, l)
		}
		items++
	}
	if status != 0 || items != 2 {
		t.Errorf("exit status %d, %s, %d items, want a hello and a change\n%s", status, stderr, items, stdout)
	}
	status, stdout, stderr = d.run(t, "events", before+"0000")
	if status != 3 {
		t.Errorf("exit status %d, %s%s", status, stdout, stderr)
	}
}

// What completes: commands, flags of a command and of what it runs by default, values.
func TestCompletion(t *testing.T) {
	for _, c := range []struct {
		words []string
		want  []string
	}{
		{[]string{""}, []string{"serve", "route", "topics", "watch", "completion"}},
		{[]string{"to"}, []string{"topics", "token"}},
		{[]string{"topics", ""}, []string{"list", "show", "delete"}},
		{[]string{"topics", "--l"}, []string{"--limit"}},
		{[]string{"--http-lis"}, []string{"--http-listen"}},
		{[]string{"topics", "-o", "j"}, []string{"json"}},
		{[]string{"topics", "--server", ""}, nil},
		{[]string{"topics", "--server", "x", "sh"}, []string{"show"}},
		{[]string{"route", "OrderCreated", ""}, nil},
		{[]string{"completion", "z"}, []string{"zsh"}},
		{[]string{"brokers", "restore", "--mode", ""}, []string{"previous", "rw"}},
	} {
		status, stdout, stderr := once(t, t.TempDir(), nil, append([]string{"__complete"}, c.words...)...)
		var got []string
		for l := range strings.Lines(stdout) {
			word, _, _ := strings.Cut(l, "\t")
			got = append(got, word)
		}
		for _, w := range c.want {
			if !slices.Contains(got, w) {
				t.Errorf("%q: no %s in %q", c.words, w, got)
			}
		}
		last := c.words[len(c.words)-1]
		for _, g := range got {
			if !strings.HasPrefix(g, last) {
				t.Errorf("%q: %q does not begin so", c.words, g)
			}
		}
		if status != 0 || stderr != "" || c.want == nil && got != nil {
			t.Errorf("%q: exit status %d, %q, %q", c.words, status, stderr, got)
		}
	}
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if status, script, _ := once(t, t.TempDir(), nil, "completion", shell); status != 0 || !strings.Contains(script, completeWord) {
			t.Errorf("%s: exit status %d, %s", shell, status, script)
		}
	}
	if status, _, stderr := once(t, t.TempDir(), nil, "completion", "tcsh"); status != 2 || !strings.Contains(stderr, "powershell") {
		t.Errorf("exit status %d, %s", status, stderr)
	}
}

// Every command has a help with a description, an example where it asks a server, and
// the same in Chinese.
func TestHelpOfEveryCommand(t *testing.T) {
	parser, err := newParser(&app{stdout: &bytes.Buffer{}, stderr: &bytes.Buffer{}})
	if err != nil {
		t.Fatal(err)
	}
	all := commandsBelow(parser.Model.Node, "")
	if len(all) < 25 {
		t.Errorf("%d commands", len(all))
	}
	for path, n := range all {
		_, group := examples[path+" list"]
		status, help, stderr := once(t, t.TempDir(), nil, append(strings.Fields(path), "--help")...)
		if status != 0 || stderr != "" || !strings.HasPrefix(help, "Usage: fingerpost "+path) || n.Help == "" {
			t.Errorf("%s: exit status %d, %s%s", path, status, stderr, help)
		}
		if asks := n.Leaf() && strings.Contains(help, "--server="); asks != (examples[path] != "") && path != "completion" && !strings.HasPrefix(path, "config") && !group {
			t.Errorf("%s: asks a server: %v, has an example: %v", path, asks, !asks)
		}
		for example := range strings.Lines(examples[path]) {
			if !strings.Contains(help, strings.TrimSpace(example)) {
				t.Errorf("%s: no %s in\n%s", path, example, help)
			}
		}
		if _, help, _ := once(t, t.TempDir(), []string{"LANG=zh_CN.UTF-8"}, append(strings.Fields(path), "--help")...); chinese[path] == "" || !strings.Contains(strings.Join(strings.Fields(help), ""), strings.Join(strings.Fields(chinese[path]), "")) {
			t.Errorf("%s: no Chinese help: %s", path, help)
		}
	}
	for path := range examples {
		if all[path] == nil {
			t.Errorf("an example for %s, which is no command", path)
		}
	}
	for path := range chinese {
		if all[path] == nil {
			t.Errorf("a Chinese text for %s, which is no command", path)
		}
	}
}
