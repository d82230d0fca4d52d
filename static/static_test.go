package static

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"
)

func files(t *testing.T) map[string]string {
	t.Helper()
	out := make(map[string]string)
	err := fs.WalkDir(FS, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := fs.ReadFile(FS, name)
		out[name] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Vendored files are as they were published and bundled; nobody edits them by hand.
func TestVendoredChecksums(t *testing.T) {
	sums, err := os.ReadFile("vendor/SHA256SUMS")
	if err != nil {
		t.Fatal(err)
	}
	want := make(map[string]string)
	for line := range strings.Lines(string(sums)) {
		sum, name, ok := strings.Cut(strings.TrimSpace(line), "  ")
		if !ok {
			t.Fatalf("SHA256SUMS has the line %q", line)
		}
		want["vendor/"+name] = sum
	}
	for name, text := range files(t) {
		if !strings.HasPrefix(name, "vendor/") {
			continue
		}
		sum := sha256.Sum256([]byte(text))
		if got := hex.EncodeToString(sum[:]); got != want[name] {
			t.Errorf("%s has the checksum %s; make it anew with vendor/recipe", name, got)
		}
		delete(want, name)
	}
	for name := range want {
		t.Errorf("%s has a checksum and is not there", name)
	}
	readme, err := os.ReadFile("vendor/README.md")
	if err != nil {
		t.Fatal(err)
	}
	packages, err := os.ReadFile("vendor/recipe/package.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`"(preact|htm|@preact/signals)": "([^"]+)"`).FindAllStringSubmatch(string(packages), -1) {
		if !bytes.Contains(readme, []byte(m[1]+" "+m[2])) {
			t.Errorf("vendor/README.md does not name %s %s", m[1], m[2])
		}
	}
}

// What the page's policy would block, or what would let a name from a peer become markup,
// is not written in the first place.
func TestNothingThatRunsText(t *testing.T) {
	forbidden := map[string]*regexp.Regexp{
		"markup from text":       regexp.MustCompile(`innerHTML|outerHTML|insertAdjacentHTML|document\.write|dangerouslySetInnerHTML|DOMParser`),
		"code from text":         regexp.MustCompile(`\beval\(|new Function\b|setTimeout\(['"]`),
		"an inline style":        regexp.MustCompile(`\sstyle="|<style\b`),
		"an inline handler":      regexp.MustCompile(`\son[a-z]+="`),
		"another site":           regexp.MustCompile(`(?:src|href|url\()\s*=?\s*["'(]?https?://`),
		"something left unsaid":  regexp.MustCompile(`\bTODO\b|\bFIXME\b|debugger;|console\.log`),
		"a script in the markup": regexp.MustCompile(`<script(?:\s[^>]*)?>[^<]`),
	}
	for name, text := range files(t) {
		if strings.HasPrefix(name, "vendor/") {
			continue
		}
		for what, re := range forbidden {
			if m := re.FindString(text); m != "" {
				t.Errorf("%s has %s: %q", name, what, m)
			}
		}
	}
}

// A module holds one idea, and says at its top which.
func TestModulesAreShortAndSayWhatTheyAre(t *testing.T) {
	for name, text := range files(t) {
		if path.Ext(name) != ".js" || strings.HasPrefix(name, "vendor/") {
			continue
		}
		if n := strings.Count(text, "\n"); n > 300 {
			t.Errorf("%s has %d lines; 300 is where a module holds more than one idea", name, n)
		}
		if !strings.HasPrefix(text, "//") {
			t.Errorf("%s does not begin with a comment that says what it is for", name)
		}
	}
}

var imports = regexp.MustCompile(`(?:from\s|import\s|import\()\s*'([^']+)'`)

// Each import names a file that is there, and nothing from outside.
func TestImportsResolve(t *testing.T) {
	all := files(t)
	used := map[string]bool{"app.js": true, "begin.js": true}
	for name, text := range all {
		if path.Ext(name) != ".js" || strings.HasPrefix(name, "vendor/") {
			continue
		}
		for _, m := range imports.FindAllStringSubmatch(text, -1) {
			if !strings.HasPrefix(m[1], ".") {
				t.Errorf("%s imports %s, which a browser cannot find", name, m[1])
				continue
			}
			to := path.Join(path.Dir(name), m[1])
			if _, ok := all[to]; !ok {
				t.Errorf("%s imports %s, which is not there", name, to)
			}
			used[to] = true
		}
	}
	for name := range all {
		if path.Ext(name) == ".js" && !used[name] {
			t.Errorf("%s is imported by nobody", name)
		}
	}
}
