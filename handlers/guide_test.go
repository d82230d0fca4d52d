package handlers

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// The guide names every code of a problem in both languages, and each of those has a page.
func TestGuideNamesEveryCode(t *testing.T) {
	// What stands for a refusal of the registry's that has no code of its own.
	spare := []string{"conflict", "not-found"}
	for _, page := range []string{"../docs/rest.md", "../docs/zh-CN/rest.md"} {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range codes() {
			if !slices.Contains(spare, c) && !strings.Contains(string(text), "`"+c+"`") {
				t.Errorf("%s does not name the code %s", page, c)
			}
		}
	}
}
