package fingerpost

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fingerpost/config"
)

//go:generate go test . -run TestSettingsPages -update

var update = flag.Bool("update", false, "write the pages of settings again instead of comparing them")

// settingsPage is how one language tells of the settings.
type settingsPage struct {
	file    string
	head    string // of each table
	yes     string // changed while running
	next    string // changed for the next start
	never   string // changed in the file, the environment or by a flag only
	empty   string
	nothing string // in the place of a range
	groups  []string
	meaning func(*config.Setting) string
	ranges  *strings.Replacer
	also    func(name string) string
}

var settingsPages = []settingsPage{
	{
		file: "docs/configuration.md",
		head: "| Setting | Default | Values | Change | Meaning |", yes: "live", next: "restart", never: "file only",
		empty: "empty", nothing: "any",
		groups: []string{
			"What the Java NameServer has too", "Remoting", "TLS on the remoting port", "HTTP", "Limits of HTTP",
			"Who may do what over HTTP", "Everything else", "Read, kept, and without effect",
		},
		meaning: func(s *config.Setting) string { return s.Doc },
		ranges:  strings.NewReplacer(),
		also:    func(name string) string { return "; also `" + name + "`" },
	},
	{
		file: "docs/zh-CN/configuration.md",
		head: "| 设置 | 默认值 | 取值 | 修改 | 含义 |", yes: "立即生效", next: "重启生效", never: "仅限文件",
		empty: "空", nothing: "任意",
		groups: []string{
			"Java NameServer 也有的设置", "remoting", "remoting 端口的 TLS", "HTTP", "HTTP 的上限",
			"谁可以通过 HTTP 做什么", "其他", "会读取并保留、但不起作用的设置",
		},
		meaning: (*config.Setting).DocZH,
		ranges:  strings.NewReplacer(" to ", " 至 ", "at least ", "不小于 ", "true or false", "true 或 false"),
		also:    func(name string) string { return "；也写作 `" + name + "`" },
	},
}

// group says under which heading a setting stands.
func group(s *config.Setting) int {
	_, limit, _ := strings.Cut(s.Key, "http.")
	switch {
	case s.Is(config.NoEffect):
		return 7
	case s.Is(config.Peer):
		return 0
	case strings.HasPrefix(s.Key, "remoting") || strings.HasPrefix(s.Key, "rocketmq."):
		return 1
	case strings.HasPrefix(s.Key, "tls."):
		return 2
	case strings.HasPrefix(s.Key, "auth."):
		return 5
	case limit != "" && (s.Type() == "int" || s.Type() == "size" || s.Type() == "duration"):
		return 4
	case limit != "":
		return 3
	}
	return 6
}

// table renders all settings in the page's language.
func (p *settingsPage) table() string {
	defaults := config.Default("~", "~/.local/state")
	rows := make([]strings.Builder, len(p.groups))
	for _, s := range config.Settings() {
		value := p.empty
		if v := s.Format(&defaults); v != "" {
			value = "`" + v + "`"
		}
		values := p.nothing
		if r := s.Range(); r != "" {
			values = p.ranges.Replace(r)
		}
		change := p.next
		switch {
		case s.Is(config.Locked):
			change = p.never
		case s.Is(config.Live | config.NoEffect):
			change = p.yes
		}
		meaning := p.meaning(s)
		for _, name := range []string{s.Also, s.AlsoEnv} {
			if name != "" {
				meaning += p.also(name)
			}
		}
		fmt.Fprintf(&rows[group(s)], "| `%s` | %s | %s | %s | %s |\n", s.Key, value, values, change, meaning)
	}
	var out strings.Builder
	for i := range rows {
		fmt.Fprintf(&out, "### %s\n\n%s\n|---|---|---|---|---|\n%s\n", p.groups[i], p.head, rows[i].String())
	}
	return out.String()
}

const (
	tableBegin = "<!-- The tables come from config/settings.go: make generate. -->\n\n"
	tableEnd   = "<!-- The end of the tables. -->\n"
)

// TestSettingsPages holds the manual's tables in step with the settings.
func TestSettingsPages(t *testing.T) {
	for _, p := range settingsPages {
		was, err := os.ReadFile(p.file)
		if err != nil {
			t.Fatal(err)
		}
		before, rest, ok1 := bytes.Cut(was, []byte(tableBegin))
		_, after, ok2 := bytes.Cut(rest, []byte(tableEnd))
		if !ok1 || !ok2 {
			t.Fatalf("%s lacks the comments between which its tables stand", p.file)
		}
		want := string(before) + tableBegin + p.table() + tableEnd + string(after)
		if *update {
			if err := os.WriteFile(p.file, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if diff := cmp.Diff(want, string(was)); diff != "" {
			t.Errorf("%s is not in step with config/settings.go: run make generate (-want +got):\n%s", p.file, diff)
		}
	}
}
