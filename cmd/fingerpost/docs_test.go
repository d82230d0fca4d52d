package main

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"fingerpost/internal/nstest"
)

// The rule: each block of commands in the English pages is run by TestDocs, which expects
// that each of its commands succeeds, or has a comment above it with who runs it or why
// nobody does. The Chinese pages have the same blocks, which the root's docs_test holds.
//
//	<!-- run by TestCookbook -->
//	<!-- not run: needs a broker; scenario cluster -->

// shellBlock is a block of commands of a page.
type shellBlock struct {
	page, at string // at is page:line
	mark     string // the comment above it
	text     string
}

var (
	runBy  = regexp.MustCompile(`^run by (Test\w+)$`)
	notRun = regexp.MustCompile(`^not run: (.+)$`)
	// reasons are those that count for not running a block. Who finds another one needs
	// it here, and something that runs the block all the same.
	reasons = regexp.MustCompile(`^(?:needs (?:Docker|Kubernetes|systemd|root|other hosts|the network|make|a build|a browser)|needs (?:a broker|a Java NameServer); scenario (\w+))$`)
)

// docPages are the pages with commands.
func docPages(t *testing.T) []string {
	t.Helper()
	all := []string{"../../README.md", "../../CONTRIBUTING.md"}
	for _, pattern := range []string{"../../docs/*.md", "../../docs/examples/*.md", "../../deploy/*.md", "../../deploy/*/*.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, found...)
	}
	return slices.DeleteFunc(all, func(name string) bool { return strings.Contains(name, ".zh-CN.") })
}

// shellBlocks returns the blocks of commands of a page.
func shellBlocks(t *testing.T, name string) (all []shellBlock) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	page := strings.TrimPrefix(filepath.ToSlash(name), "../../")
	var b *shellBlock
	fence, above, n := "", "", 0 // above is the last line with something in it
	for line := range strings.Lines(string(text)) {
		n++
		line = strings.TrimRight(line, "\r\n")
		trimmed := strings.TrimSpace(line)
		switch {
		case fence != "" && trimmed == fence:
			if b != nil {
				all = append(all, *b)
			}
			fence, b, above = "", nil, ""
		case fence != "":
			if b != nil {
				b.text += line + "\n"
			}
		case strings.HasPrefix(trimmed, "```"):
			fence = "```"
			if slices.Contains([]string{"sh", "bash", "shell", "console"}, trimmed[3:]) {
				b = &shellBlock{page: page, at: fmt.Sprintf("%s:%d", page, n), mark: comment(above)}
			}
		case trimmed != "":
			above = trimmed
		}
	}
	return all
}

// comment returns what stands in a line that is a comment.
func comment(line string) string {
	in, ok := strings.CutPrefix(line, "<!-- ")
	in, closed := strings.CutSuffix(in, " -->")
	if !ok || !closed {
		return ""
	}
	return in
}

func TestEveryBlockIsRunOrSaysWhyNot(t *testing.T) {
	scenarios, tests := interopScenarios(t), testNames(t)
	blocks := 0
	for _, name := range docPages(t) {
		for _, b := range shellBlocks(t, name) {
			blocks++
			if m := runBy.FindStringSubmatch(b.mark); m != nil {
				if !slices.Contains(tests, m[1]) {
					t.Errorf("%s: there is no test %s in this package", b.at, m[1])
				}
				continue
			}
			m := notRun.FindStringSubmatch(b.mark)
			if m == nil {
				continue // TestDocs runs it
			}
			why := reasons.FindStringSubmatch(m[1])
			if why == nil {
				t.Errorf("%s: %q is no reason not to run it; the reasons are in cmd/fingerpost/docs_test.go", b.at, m[1])
			} else if why[1] != "" && !slices.Contains(scenarios, why[1]) {
				t.Errorf("%s: make interop has no scenario %s", b.at, why[1])
			}
		}
	}
	if blocks == 0 {
		t.Error("found no blocks of commands")
	}
}

// interopScenarios are those that make interop has.
func interopScenarios(t *testing.T) (names []string) {
	t.Helper()
	text, err := os.ReadFile("../../interop/scenarios/run.py")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`\((\w+), (?:"|\(|tuple)`).FindAllStringSubmatch(string(text), -1) {
		names = append(names, m[1])
	}
	if len(names) == 0 {
		t.Fatal("found no scenarios of make interop")
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// testNames are the tests of this package.
func testNames(t *testing.T) (names []string) {
	t.Helper()
	files, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?m)^func (Test\w+)\(`).FindAllStringSubmatch(string(text), -1) {
			names = append(names, m[1])
		}
	}
	return names
}

// TestDocs runs the pages' commands, each page in a shell and against a server of its own.
func TestDocs(t *testing.T) {
	need(t, "bash", "curl", "sed", "grep")
	for _, name := range docPages(t) {
		var run []shellBlock
		for _, b := range shellBlocks(t, name) {
			if !runBy.MatchString(b.mark) && !notRun.MatchString(b.mark) {
				run = append(run, b)
			}
		}
		if len(run) == 0 {
			continue
		}
		t.Run(run[0].page, func(t *testing.T) {
			t.Parallel()
			k := newDocsKitchen(t)
			for _, b := range run {
				put(t, filepath.Join(k.home, "block"), b.text)
				said := len(k.errors.String())
				if status, out := k.run(`bad=0; trap 'echo "exit status $? of: $BASH_COMMAND" >&2; bad=1' ERR; . ~/block; trap - ERR; (exit $bad)`); status != 0 {
					t.Errorf("%s: what stands there fails (to leave it out: see the rule in cmd/fingerpost/docs_test.go)\n%s\n%s\n%s",
						b.at, b.text, out, k.errors.String()[said:])
				}
			}
		})
	}
}

// newDocsKitchen is a kitchen with what the pages take for granted: the program on the
// path, at its usual addresses; two brokers with the topics of the examples; a properties
// file. The program serves until it is ready, and then ends.
func newDocsKitchen(t *testing.T) *kitchen {
	k := newKitchen(t)
	for _, topic := range []string{"TBW102", "Orders"} {
		k.broker.Topic(topic, 8)
	}
	k.broker.Body.DataVersion.Counter++
	if _, err := nstest.Must(k.broker.Register()); err != nil {
		t.Fatal(err)
	}
	at, err := url.Parse(k.base)
	if err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(k.home, "namesrv.properties"), "orderMessageEnable=true\n")
	put(t, filepath.Join(k.home, "etc/fingerpost/fingerpost.properties"), "orderMessageEnable=true\n")
	// A wrong address is an error here, which it is not for curl.
	put(t, filepath.Join(k.home, ".curlrc"), fmt.Sprintf("connect-to = \"127.0.0.1:8876:%[1]s\"\nconnect-to = \"localhost:8876:%[1]s\"\nno-progress-meter\nfail-with-body\n", at.Host))
	bin := filepath.Join(k.home, "bin")
	if err := os.Rename(filepath.Join(bin, "fingerpost"), filepath.Join(bin, "program")); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"fingerpost": asDocumented, "go": goAsDocumented} {
		put(t, filepath.Join(bin, name), strings.NewReplacer("HTTP", at.Host, "REMOTING", k.remoting, "ROOT", root).Replace(text))
		if err := os.Chmod(filepath.Join(bin, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if status, out := k.run("cd && export FINGERPOST_SERVER=" + k.base + " FINGERPOST_HTTP_LISTEN=" + at.Host); status != 0 {
		t.Fatal(out)
	}
	return k
}

// asDocumented is the program with the addresses of the pages. A server takes free ports,
// and ends when it is ready.
const asDocumented = `#!/usr/bin/env bash
args=()
for a; do
  a=${a//localhost:8876/HTTP} a=${a//127.0.0.1:8876/HTTP}
  a=${a//localhost:9876/REMOTING} a=${a//127.0.0.1:9876/REMOTING}
  args+=("${a//\/etc\/fingerpost/$HOME/etc/fingerpost}")
done
case ${1-} in
  '' | -* | serve) ;;
  *) exec program "${args[@]}" ;;
esac
log=$(mktemp "$HOME/serve-XXXXXX")
program "${args[@]}" --bind-address=127.0.0.1 --listen-port=0 --http-listen=127.0.0.1:0 2>"$log" &
until grep -q '"msg":"serving"' "$log"; do
  kill -0 $! 2>/dev/null || { wait $!; status=$?; cat "$log" >&2; exit $status; }
  sleep 0.05
done
kill -TERM $!
wait $!
`

// goAsDocumented is the go command of the pages, as far as it runs the program. Another
// one would build it anew.
const goAsDocumented = `#!/usr/bin/env bash
case "$*" in
  'test ./...') exit 0 ;; # which is under way
  'run ./cmd/fingerpost'*) shift 2; exec fingerpost "$@" ;;
esac
echo "go $*: not run here; see cmd/fingerpost/docs_test.go" >&2
exit 1
`
