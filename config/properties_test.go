package config

import (
	"bufio"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

func toMap(ps []property) map[string]string {
	m := map[string]string{}
	for _, p := range ps {
		m[p.key] = p.value
	}
	return m
}

func parsed(t interface{ Fatalf(string, ...any) }, text []byte) map[string]string {
	ps, err := parseProperties(text)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return toMap(ps)
}

// Every text as Java's own reader takes it; see testdata/JavaReader.java.
func TestPropertiesLikeJava(t *testing.T) {
	f, err := os.Open("testdata/java-properties.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	n := 0
	for lines := bufio.NewScanner(f); lines.Scan(); n++ {
		var c [2]any
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		text := c[0].(string)
		ps, err := parseProperties([]byte(text))
		if c[1] == nil {
			if err == nil {
				t.Errorf("%q: read as %v, Java refuses it", text, toMap(ps))
			}
			continue
		}
		want := map[string]string{}
		for pair := c[1].([]any); len(pair) > 0; pair = pair[2:] {
			want[pair[0].(string)] = pair[1].(string)
		}
		if err != nil {
			t.Errorf("%q: %v, Java reads %v", text, err, want)
		} else if d := cmp.Diff(want, toMap(ps)); d != "" {
			t.Errorf("%q: %s", text, d)
		}
	}
	if n < 1500 {
		t.Errorf("only %d texts", n)
	}
}

func TestPropertiesBytes(t *testing.T) {
	for text, want := range map[string]string{
		"a=caf\xc3\xa9":       "café", // UTF-8, which Java would garble
		"a=caf\xe9":           "café", // ISO-8859-1
		"a=\xe9\xc3\xa9":      "éÃ©",  // not UTF-8 as a whole
		"\xef\xbb\xbfa=1":     "1",
		"a=\\\xc3\xa9":        "é",
		"a=\\\xe9":            "é",
		"a=\\ud83d\\ude00":    "😀",
		"a=\\u4e2d\\u6587":    "中文",
		"a=1\\\r\n   2\r\n#b": "12",
	} {
		if got := parsed(t, []byte(text))["a"]; got != want {
			t.Errorf("%q: read %q, want %q", text, got, want)
		}
	}
}

func TestPropertiesLines(t *testing.T) {
	text := "# c\n\na=1\r\nb=\\\n  2\\\n  3\n\rc=4"
	ps, err := parseProperties([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	type at struct {
		Key  string
		Line int
		Text string
	}
	var got []at
	for _, p := range ps {
		got = append(got, at{p.key, p.line, text[p.start:p.end]})
	}
	want := []at{{"a", 3, "a=1\r\n"}, {"b", 4, "b=\\\n  2\\\n  3\n"}, {"c", 8, "c=4"}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	_, err = parseProperties([]byte("a=1\n\nb=\\u12"))
	if e, ok := errors.AsType[*syntaxError](err); !ok || e.line != 3 {
		t.Errorf("got %v", err)
	}
}

func TestSetProperty(t *testing.T) {
	for _, c := range []struct{ text, key, value, want string }{
		{"", "a", "1", "a=1\n"},
		{"# mine\na = 1\nb=2\n", "a", "3", "# mine\na=3\nb=2\n"},
		{"a=1\na=2\n", "a", "3", "a=1\na=3\n"},
		{"b=2", "a", "1", "b=2\na=1\n"},
		{"b=2\\", "a", "1", "b=2\\\n\na=1\n"},
		{"b=2\\\n", "a", "1", "b=2\\\n\n\na=1\n"},
		{"b=2\\\\\n", "a", "1", "b=2\\\\\n\n\na=1\n"},
		{"b=\\\n 2\\\n 3\nc=4", "b", "x", "b=x\nc=4"},
		{"# end", "a", "1", "# end\na=1\n"},
		{"", "a", " \\é😀\n#", `a=\ \\\u00e9\ud83d\ude00\u000a#` + "\n"},
		{"# caf\xe9\n", "a", "é", "# caf\xe9\na=\\u00e9\n"},
	} {
		got, err := setProperty([]byte(c.text), c.key, c.value)
		if err != nil || string(got) != c.want {
			t.Errorf("%q with %s=%q: got %q, %v; want %q", c.text, c.key, c.value, got, err, c.want)
		}
		if v := parsed(t, got)[c.key]; v != c.value {
			t.Errorf("%q: read back %q", got, v)
		}
	}
}

var ignoreEmptyKey = cmpopts.IgnoreMapEntries(func(k, _ string) bool { return k == "" })

func anyText(t *rapid.T) []byte {
	return []byte(strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{
		"\\", "\\", "=", ":", " ", "\t", "\n", "\n", "\r", "\r\n", "#", "!", "\\u0041", "a", "b", "c", "é", "\xe9",
	}), 0, 24).Draw(t, "text"), ""))
}

// Setting or removing one key changes no other; a backslash at the very end, which
// stands for an empty key, is all that may go.
func TestEditsChangeOneKey(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := anyText(t)
		before := parsed(t, text)
		key := rapid.SampledFrom([]string{"a", "b", "key"}).Draw(t, "key")
		value := rapid.String().Draw(t, "value")

		set, err := setProperty(text, key, value)
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]string{}
		maps.Copy(want, before)
		want[key] = value
		if d := cmp.Diff(want, parsed(t, set), ignoreEmptyKey); d != "" {
			t.Fatalf("%q set to %q: %s", text, set, d)
		}

		removed, err := removeProperty(text, key)
		if err != nil {
			t.Fatal(err)
		}
		delete(before, key)
		if d := cmp.Diff(before, parsed(t, removed), ignoreEmptyKey); d != "" {
			t.Fatalf("%q without %s is %q: %s", text, key, removed, d)
		}
	})
}

func FuzzProperties(f *testing.F) {
	for _, s := range []string{"", "a=1\\\n2", "=x\nb=1", "a=\\u00zz", "\xef\xbb\xbfa=\\ud83d", "k\\=\\\r\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		ps, err := parseProperties(text)
		if err != nil {
			return
		}
		end := 0
		for _, p := range ps {
			if p.start < end || p.end <= p.start || p.end > len(text) {
				t.Fatalf("%q: property at %d to %d after %d", text, p.start, p.end, end)
			}
			end = p.end
		}
		if len(toMap(ps)) > len(text) {
			t.Fatal("more keys than bytes")
		}
	})
}
