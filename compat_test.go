package fingerpost

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var (
	planOfAll     = regexp.MustCompile(`(?ms)^FULL = \[(.*?)\]$`)
	planned       = regexp.MustCompile(`\((\w+), (tuple\(VERSIONS\)|[^()]*|\([^()]*\))\)`)
	allVersions   = regexp.MustCompile(`(?m)^VERSIONS = \[(.*)\]$`)
	versionNumber = regexp.MustCompile(`[0-9]+\.[0-9]+\.[0-9]+`)
	scenarioRow   = regexp.MustCompile("(?m)^\\| `(\\w+)` \\| ([^|]*) \\|")
)

// TestCompatibilityPagesSayWhatIsRun holds the tables of scenarios against the plan of
// make interop: the same names, each with the same versions.
func TestCompatibilityPagesSayWhatIsRun(t *testing.T) {
	text, err := os.ReadFile("interop/scenarios/run.py")
	if err != nil {
		t.Fatal(err)
	}
	plan, every := planOfAll.FindSubmatch(text), allVersions.FindSubmatch(text)
	if plan == nil || every == nil {
		t.Fatal("interop/scenarios/run.py has no plan that this test can read")
	}
	want := map[string][]string{}
	for _, m := range planned.FindAllStringSubmatch(string(plan[1]), -1) {
		versions := m[2]
		if strings.Contains(versions, "VERSIONS") {
			versions = string(every[1])
		}
		want[m[1]] = append(want[m[1]], versionNumber.FindAllString(versions, -1)...)
	}
	for name, versions := range want {
		slices.Sort(versions)
		want[name] = slices.Compact(versions)
	}
	for _, page := range []string{"docs/compatibility.md", "docs/zh-CN/compatibility.md"} {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		got := map[string][]string{}
		for _, m := range scenarioRow.FindAllStringSubmatch(string(text), -1) {
			got[m[1]] = versionNumber.FindAllString(m[2], -1)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s has other scenarios than interop/scenarios/run.py (-run +told):\n%s", page, diff)
		}
	}
	if !slices.Contains(slices.Sorted(maps.Keys(want)), "cluster") {
		t.Errorf("found only the scenarios %v", want)
	}
}

// TestCompatibilityPagesNameTheGoClient holds its version against the one that is built.
func TestCompatibilityPagesNameTheGoClient(t *testing.T) {
	mod, err := os.ReadFile("interop/goclient/go.mod")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`rocketmq-client-go/v2 (v\S+)`).FindSubmatch(mod)
	if m == nil {
		t.Fatal("interop/goclient does not use rocketmq-client-go")
	}
	for _, page := range []string{"docs/compatibility.md", "docs/zh-CN/compatibility.md"} {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		if want := "| `rocketmq-client-go` | " + string(m[1]) + " |"; !strings.Contains(string(text), want) {
			t.Errorf("%s does not have %q", page, want)
		}
	}
}

// TestCompatibilityPagesNameTheOtherClients holds the versions of the clients in
// interop/clients against what is fetched for them.
func TestCompatibilityPagesNameTheOtherClients(t *testing.T) {
	for _, c := range []struct{ file, version, name string }{
		{"grpc-java/pom.xml", `<artifactId>rocketmq-client-java</artifactId>\s+<version>(\S+)</version>`, "`rocketmq-client-java`"},
		{"grpc-node/package.json", `"rocketmq-client-nodejs": "(\S+)"`, "`rocketmq-client-nodejs`"},
		{"grpc-python/requirements.txt", `rocketmq-python-client==(\S+)`, "`rocketmq-python-client`"},
		{"spring/pom.xml", `<artifactId>rocketmq-spring-boot-starter</artifactId>\s+<version>(\S+)</version>`, "`rocketmq-spring-boot-starter`"},
		{"../scenarios/ecosystem.py", `17, {"spring-boot.version": "(\S+)"`, "Spring Boot 2.7.18,"},
	} {
		text, err := os.ReadFile("interop/clients/" + c.file)
		if err != nil {
			t.Fatal(err)
		}
		m := regexp.MustCompile(c.version).FindSubmatch(text)
		if m == nil {
			t.Errorf("interop/clients/%s names no version of %s", c.file, c.name)
			continue
		}
		for _, page := range []string{"docs/compatibility.md", "docs/zh-CN/compatibility.md"} {
			text, err := os.ReadFile(page)
			if err != nil {
				t.Fatal(err)
			}
			if want := c.name + " " + string(m[1]); !strings.Contains(string(text), want) {
				t.Errorf("%s does not have %q", page, want)
			}
		}
	}
}
