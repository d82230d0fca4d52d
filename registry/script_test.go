package registry

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write what the scripts in testdata print into them")

// TestScripts runs the stories in testdata. A line that begins in the first column is a
// command, a comment (#) or empty; what a command prints follows it, indented by a tab.
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			want := string(b)
			got := runScript(t, want)
			if got == want {
				return
			}
			if !*update {
				t.Fatalf("%s (-want +got; go test -run Scripts -update writes it):\n%s", file, cmp.Diff(want, got))
			}
			if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// runScript returns the script with what its commands print now.
func runScript(t *testing.T, text string) string {
	s := &script{bed: newBed(t)}
	_, s.changes = s.Subscribe(1000)
	t.Cleanup(s.changes.Close)
	var out strings.Builder
	for n, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		if strings.HasPrefix(line, "\t") {
			continue
		}
		out.WriteString(line + "\n")
		if line == "" || line[0] == '#' {
			continue
		}
		words := strings.Fields(line)
		s.out.Reset()
		run, ok := commands[words[0]]
		if !ok {
			t.Fatalf("line %d: no command %q", n+1, words[0])
		}
		if err := run(s, words[1:]); err != nil {
			t.Fatalf("line %d: %s: %v", n+1, line, err)
		}
		check(t, s.Registry)
		for l := range strings.Lines(s.out.String()) {
			out.WriteString("\t" + l)
		}
	}
	return out.String()
}

// script is a story as it runs.
type script struct {
	*bed
	out     strings.Builder
	changes *Subscription
}

func (s *script) say(format string, args ...any) { fmt.Fprintf(&s.out, format+"\n", args...) }

var errUsage = errors.New("the wrong number of words")

// commands are the words of a script. NAME=VALUE options may stand anywhere among the
// rest; see their readers.
var commands = map[string]func(*script, []string) error{
	"register":   (*script).register,
	"unregister": (*script).unregister,
	"close": args(1, func(s *script, a []string) error {
		s.say("%d left", s.Release(s.conn(a[0]), Cause{Face: "server", Action: "close"}))
		return nil
	}),
	"heartbeat": (*script).heartbeat,
	"probe":     (*script).probe,
	"renew":     (*script).renew,
	"wait": args(1, func(s *script, a []string) error {
		d, err := time.ParseDuration(a[0])
		s.clock.advance(d)
		return err
	}),
	"sweep": args(0, func(s *script, _ []string) error {
		s.swept(s.Sweep(sweepEvery, Cause{Face: "server", Action: "expire"}))
		return nil
	}),
	"pass": args(1, func(s *script, a []string) error {
		d, err := time.ParseDuration(a[0])
		for _, x := range s.pass(d) {
			s.swept(x)
		}
		return err
	}),
	"wipe":    args(1, perms((*Registry).WipeWritePerm, "wipeWritePerm")),
	"restore": args(1, perms((*Registry).RestoreWritePerm, "restoreWritePerm")),
	"force":   args(1, perms((*Registry).ForceWritePerm, "addWritePerm")),
	"delete":  (*script).delete,
	"declare": (*script).declare,
	"kv":      (*script).keyValue,
	"rules":   (*script).setRules,
	"route":   (*script).route,
	"lists":   (*script).lists,
	"digest": args(0, func(s *script, _ []string) error {
		s.say("%s", s.Snapshot().Digest())
		return nil
	}),
	"dump": args(0, func(s *script, _ []string) error {
		s.out.WriteString(s.dump())
		return nil
	}),
	"changes": args(0, func(s *script, _ []string) error {
		for _, c := range collect(s.changes) {
			s.out.WriteString(changeText(c))
		}
		return nil
	}),
}

func args(n int, f func(*script, []string) error) func(*script, []string) error {
	return func(s *script, a []string) error {
		if len(a) != n {
			return errUsage
		}
		return f(s, a)
	}
}

func perms(f func(*Registry, string, Cause) (int, bool), action string) func(*script, []string) error {
	return func(s *script, a []string) error {
		n, known := f(s.Registry, a[0], Cause{Face: "remoting", Action: action})
		if !known {
			s.say("unknown")
		} else {
			s.say("%d topics", n)
		}
		return nil
	}
}

// options takes the words of the form name=value out of the others.
func options(a []string) (rest []string, opts map[string]string) {
	opts = make(map[string]string)
	for _, w := range a {
		if k, v, ok := strings.Cut(w, "="); ok {
			opts[k] = v
		} else {
			rest = append(rest, w)
		}
	}
	return rest, opts
}

func (s *script) refused(err error) {
	if e, ok := errors.AsType[*Error](err); ok {
		s.say("refused: %s %s: %s", e.Kind, e.Code, e.Message)
		return
	}
	s.say("refused: %v", err)
}

func (s *script) swept(x Swept) {
	if x.Late > 0 {
		s.say("%v late, everybody is spared", x.Late)
	}
	if len(x.Expired) > 0 {
		s.say("expired: %s", infoNames(x.Expired))
	}
	for _, c := range sortedConns(s.conns) {
		for _, why := range c.evictions() {
			s.say("connection %s closed: %s", c.name, why)
		}
	}
}

func sortedConns(m map[string]*conn) (out []*conn) {
	for _, c := range m {
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b *conn) int { return strings.Compare(a.name, b.name) })
	return out
}

// parseVersion reads v7, or -: none.
func parseVersion(w string, opts map[string]string) (*DataVersion, error) {
	if w == "-" {
		return nil, nil
	}
	n, err := strconv.ParseInt(strings.TrimPrefix(w, "v"), 10, 64)
	if err != nil {
		return nil, err
	}
	v := &DataVersion{Counter: n}
	if sv := opts["sv"]; sv != "" {
		v.State, err = strconv.ParseInt(sv, 10, 64)
	}
	return v, err
}

// parseTopic reads NAME, NAME:read/write/perm, NAME:read/write/perm/flag, each perhaps
// followed by +ATTRIBUTE=VALUE.
func parseTopic(w string) (name string, c TopicConfig, err error) {
	w, c.Attributes, _ = strings.Cut(w, "+")
	name, numbers, given := strings.Cut(w, ":")
	c.QueueSpec = QueueSpec{ReadQueues: 8, WriteQueues: 8, Perm: PermReadWrite}
	if !given {
		return name, c, nil
	}
	c.QueueSpec, err = parseSpec(numbers)
	return name, c, err
}

func parseSpec(text string) (q QueueSpec, err error) {
	fields := []*int32{&q.ReadQueues, &q.WriteQueues, &q.Perm, &q.SysFlag}
	parts := strings.Split(text, "/")
	if len(parts) < 3 || len(parts) > 4 {
		return q, fmt.Errorf("%q is not read/write/perm", text)
	}
	for i, p := range parts {
		n, err := strconv.ParseInt(p, 10, 32)
		if err != nil {
			return q, err
		}
		*fields[i] = int32(n)
	}
	return q, nil
}

// parseMapping reads TOPIC:total:epoch:0>0,1>1, and @BROKER at the end for another's.
func parseMapping(text, broker string) (*Mapping, error) {
	text, other, has := strings.Cut(text, "@")
	if has {
		broker = other
	}
	p := strings.Split(text, ":")
	if len(p) != 4 {
		return nil, fmt.Errorf("%q is not TOPIC:total:epoch:ids", text)
	}
	m := &Mapping{Topic: p[0], Said: p[0], Broker: broker}
	if _, err := fmt.Sscan(p[1]+" "+p[2], &m.TotalQueues, &m.Epoch); err != nil {
		return nil, err
	}
	for pair := range strings.SplitSeq(p[3], ",") {
		var id QueueID
		if _, err := fmt.Sscanf(pair, "%d>%d", &id.Logical, &id.Physical); err != nil {
			return nil, err
		}
		m.CurrIDs = append(m.CurrIDs, id)
	}
	return m, nil
}
