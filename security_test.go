package fingerpost

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"fingerpost/config"
)

var (
	namedTest    = regexp.MustCompile("`((?:Test|Fuzz)[A-Za-z0-9]+)`")
	testFunction = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)[A-Za-z0-9]+)\(`)
	namedSetting = regexp.MustCompile("`((?:remoting|tls|http)\\.[A-Za-z.]+)[=`]")
	namedCase    = regexp.MustCompile("(?:scenario|场景) `([a-z]+)`")
)

// TestSecurityPages holds what the pages on security rest on: the tests that they name as
// proof exist, and so do their settings and scenarios.
func TestSecurityPages(t *testing.T) {
	tests := map[string]bool{}
	err := filepath.WalkDir(".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(p, "_test.go") {
			return err
		}
		text, err := os.ReadFile(p)
		for _, m := range testFunction.FindAllSubmatch(text, -1) {
			tests[string(m[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	scenarios, err := os.ReadFile("interop/scenarios/run.py")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"docs/security.md", "docs/zh-CN/security.md"} {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		text := string(b)
		proofs := namedTest.FindAllStringSubmatch(text, -1)
		if len(proofs) == 0 {
			t.Errorf("%s names no test", name)
		}
		for _, m := range proofs {
			if !tests[m[1]] {
				t.Errorf("%s names %s, which is no test", name, m[1])
			}
		}
		for _, m := range namedSetting.FindAllStringSubmatch(text, -1) {
			if _, ok := config.Find(m[1]); !ok {
				t.Errorf("%s names %s, which is no setting", name, m[1])
			}
		}
		for _, m := range namedCase.FindAllStringSubmatch(text, -1) {
			if !strings.Contains(string(scenarios), "("+m[1]+", ") {
				t.Errorf("%s names the scenario %s, which is not run", name, m[1])
			}
		}
	}
}
