package main

import (
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"fingerpost/handlers"
	"fingerpost/internal/nstest"
)

// need skips a test, loudly, where a tool is missing. In CI it fails.
func need(t *testing.T, tools ...string) {
	t.Helper()
	for _, tool := range tools {
		if _, err := exec.LookPath(tool); err == nil {
			continue
		}
		if os.Getenv("CI") == "true" {
			t.Fatalf("%s is not installed", tool)
		}
		t.Skipf("SKIPPED: %s is not installed", tool)
	}
}

// cookbook returns the commands of the last shell block of a page, one a command even
// if it takes two lines.
func cookbook(t *testing.T, page string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../docs", page))
	if err != nil {
		t.Fatal(err)
	}
	_, block, ok := strings.Cut(string(text), "\n```sh\n")
	block, _, closed := strings.Cut(block, "\n```")
	if !ok || !closed {
		t.Fatalf("%s has no block of commands", page)
	}
	return strings.Split(strings.ReplaceAll(block, "\\\n", "\\\x00"), "\n")
}

// cooked is what a command of the cookbook has to do.
type cooked struct {
	begins string // of the command
	status int
	want   []string // patterns in its output
}

var recipes = []cooked{
	{"N=", 0, nil},
	{"fingerpost curlrc", 0, nil},
	{"ncurl() {", 0, nil},
	{"curl $N/topics/OrderCreated/route", 0, []string{`^{"brokerDatas":\[{"brokerAddrs":{"0":"10.0.0.1:10911"},"brokerName":"broker-a"`}},
	{`curl "$N/topics/OrderCreated/route?format=text"`, 0, []string{`^BROKER +CLUSTER`, `broker-b +DefaultCluster`, `writable queues 16`}},
	{"curl -G $N/routes", 0, []string{`"topic":"%RETRY%order-svc"`, `"notFound":\[\]`}},
	{`curl "$N/topics?type=dlq`, 0, []string{`%DLQ%order-svc +dlq`, `total 1 `}},
	{`curl "$N/topics/OrderCreated/route/explain?pretty"`, 0, []string{`(?m)^  "topic": "OrderCreated"`, `"inRoute": true`}},
	{`curl "$N/brokers?state=late&pretty"`, 0, []string{`(?m)^  "items": \[\]`}},
	{"curl -N -m 3", 28, []string{`"event":"hello"`, `"topic":"OrderCreated"`, `"event":"bookmark"`}},
	{"E=$(curl -sI", 0, nil},
	{`curl -i -H "If-None-Match: $E"`, 0, []string{`^HTTP/1.1 200 OK`, `"readQueueNums":5`}},
	{"ncurl -X PUT $N/brokers/bridge-1", 0, []string{`"owner":"token:admin"`, `"nextHeartbeatMillis":20000`}},
	{"ncurl -X POST $N/brokers/bridge-1", 0, []string{`"changed":false`}},
	{"ncurl -X PATCH $N/brokers/bridge-1", 0, []string{`"zoneName":"cn-hz-a"`}},
	{"ncurl -X DELETE $N/brokers/bridge-1", 0, []string{`^$`}},
	{`ncurl -X DELETE "$N/brokers/broker-a/write-perm?dryRun=true"`, 0, []string{`"writePerm":"wiped"`, `"dryRun":true`, `"lasts":"until-next-changed-registration"`}},
	{`ncurl -X DELETE "$N/topics/OrderCreated?dryRun=true`, 0, []string{`OrderCreated +broker-a,broker-b`}},
	{"ncurl -X PUT $N/kv/ORDER_TOPIC_CONFIG/T", 0, []string{`"created":true`, `"warnings":\[\]`}},
	{`curl "$N/kv/ORDER_TOPIC_CONFIG/T?raw"`, 0, []string{`^broker-a:4;broker-b:4$`}},
	{`curl "$N/stale-topics?format=text"`, 0, []string{`^TOPIC +BROKER +REASON`, `Archive +broker-a +read-only-everywhere`}},
	{`curl "$N/events?actor=token:admin`, 0, []string{`registerMember`, `putKV`}},
	{`curl "$N/digest?format=text"`, 0, []string{`(?m)^topics +[0-9a-f]{16} +\d+`}},
	{"curl -H 'Accept-Language: zh-CN'", 0, []string{`Topic 没有路由`}},
	{"curl 'http://127.0.0.1:8876/readyz?verbose'", 0, []string{`(?m)^\[\+\] warmed-up ok`, `(?m)^ok$`}},
}

// Every line of the cookbook runs as it stands, and does what it says.
func TestCookbook(t *testing.T) {
	need(t, "bash", "curl", "sed", "tr")
	lines := cookbook(t, "rest.md")
	if zh := cookbook(t, "zh-CN/rest.md"); !slices.Equal(lines, zh) {
		t.Errorf("the two pages differ:\n%q\n%q", lines, zh)
	}
	if len(lines) != len(recipes) {
		t.Fatalf("%d commands, %d of them are known", len(lines), len(recipes))
	}
	k := newKitchen(t)
	for i, line := range lines {
		line, want := strings.ReplaceAll(line, "\x00", "\n"), recipes[i]
		if !strings.HasPrefix(line, want.begins) {
			t.Fatalf("command %d is %q, not %q", i, line, want.begins)
		}
		if strings.Contains(line, "wait=50s") {
			k.changeWhileWaiting()
		}
		status, out := k.run(line)
		if status != want.status {
			t.Errorf("%s\nexit status %d, want %d\n%s\n%s", line, status, want.status, out, k.errors)
		}
		for _, p := range want.want {
			if !regexp.MustCompile(p).MatchString(strings.TrimSuffix(out, "\n")) {
				t.Errorf("%s\nno %s in\n%s\n%s", line, p, out, k.errors)
			}
		}
	}
}

// kitchen is a server with something in it and a shell beside it.
type kitchen struct {
	t           *testing.T
	base        string
	remoting    string
	home        string
	broker      *nstest.Broker // broker-a
	in          *os.File
	out, errors *output
	ran         int
	wg          sync.WaitGroup
}

// stock registers two brokers with some topics, of which it returns the first.
func stock(t *testing.T, addr string) *nstest.Broker {
	t.Helper()
	var first *nstest.Broker
	for i, name := range []string{"broker-a", "broker-b"} {
		b := nstest.StartBroker(t, addr, nstest.BrokerConfig{Cluster: "DefaultCluster", Name: name, Addr: fmt.Sprintf("10.0.0.%d:10911", i+1)})
		b.Topic("OrderCreated", 8)
		b.Topic("%RETRY%order-svc", 1)
		if i == 0 {
			b.Topic("%DLQ%order-svc", 1)
			b.Topic("Archive", 1)
			b.Body.Topics[3].Perm = 4 // nobody can write to it
			first = b
		}
		must(t)(b.Register())
	}
	return first
}

func newKitchen(t *testing.T) *kitchen {
	dir := t.TempDir()
	p := start(t, dir, "--need-wait-for-service=false")
	k := &kitchen{t: t, base: p.url(t), remoting: p.remoting(t), home: dir, out: newOutput(), errors: newOutput()}
	t.Cleanup(k.wg.Wait)
	k.broker = stock(t, k.remoting)
	// The server is at the port of the page, as far as curl can tell, and the program
	// is on the path.
	u, err := url.Parse(k.base)
	if err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(dir, ".curlrc"), "connect-to = \"127.0.0.1:8876:"+u.Host+"\"\nno-progress-meter\n")
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(dir, "bin", "fingerpost")
	put(t, bin, "#!/bin/sh\n"+asProgram+"=1 exec '"+exe+"' \"$@\"\n")
	if err := os.Chmod(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	k.shell(dir)
	return k
}

// shell starts the shell in which all commands run.
func (k *kitchen) shell(dir string) {
	k.t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		k.t.Fatal(err)
	}
	defer r.Close()
	k.in = w
	c := exec.Command("bash", "--norc", "--noprofile")
	c.Env = []string{"HOME=" + dir, "PATH=" + filepath.Join(dir, "bin") + ":" + os.Getenv("PATH"), "NO_PROXY=*"}
	c.Stdin, c.Stdout, c.Stderr = r, k.out, k.errors
	if err := c.Start(); err != nil {
		k.t.Fatal(err)
	}
	k.t.Cleanup(func() {
		w.Close()
		if err := c.Wait(); err != nil {
			k.t.Errorf("the shell: %v\n%s", err, k.errors)
		}
	})
}

// run runs a command and returns its exit status and what it wrote.
func (k *kitchen) run(line string) (status int, out string) {
	k.t.Helper()
	k.ran++
	before := len(k.out.String())
	end := fmt.Sprintf("\n--- command %d:", k.ran)
	fmt.Fprintf(k.in, "%s\nprintf '\\n--- command %d: %%d.\\n' $?\n", line, k.ran)
	patience := time.After(3 * time.Minute)
	for {
		if out, rest, ok := strings.Cut(k.out.String()[before:], end); ok && strings.Contains(rest, ".") {
			fmt.Sscan(strings.TrimSpace(rest), &status)
			return status, out
		}
		select {
		case <-k.out.more:
		case <-patience:
			k.t.Fatalf("does not end: %s\n%s\n%s", line, k.out, k.errors)
		}
	}
}

// changeWhileWaiting changes a topic as soon as somebody waits.
func (k *kitchen) changeWhileWaiting() {
	k.wg.Go(func() {
		for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
			if _, body := get(k.t, k.base+"/metrics", ""); !strings.Contains(body, `watchers{transport="longpoll"} 0`) {
				k.broker.Body.Topics[0].ReadQueues = 5 // OrderCreated
				k.broker.Body.DataVersion.Counter++
				if _, err := nstest.Must(k.broker.Register()); err != nil {
					k.t.Error(err)
				}
				return
			}
		}
		k.t.Error("nobody waits")
	})
}

// The guide names every operation, in both languages, with the role that it needs.
func TestGuideNamesEveryOperation(t *testing.T) {
	for _, page := range []string{"rest.md", "zh-CN/rest.md"} {
		text, err := os.ReadFile(filepath.Join("../../docs", page))
		if err != nil {
			t.Fatal(err)
		}
		rows := 0
		for _, o := range handlers.Operations() {
			row := regexp.MustCompile("(?m)^\\| `" + regexp.QuoteMeta(o.Method+" "+o.Pattern) + "` \\|.*\\| " + o.Role.String() + " \\|$")
			if o.Pattern == "/" {
				continue
			}
			if rows++; !row.Match(text) {
				t.Errorf("%s has no row for %s %s with the role %s", page, o.Method, o.Pattern, o.Role)
			}
		}
		if n := len(regexp.MustCompile("(?m)^\\| `[A-Z]+ /").FindAll(text, -1)); n != rows {
			t.Errorf("%s has %d rows for %d operations", page, n, rows)
		}
	}
}
