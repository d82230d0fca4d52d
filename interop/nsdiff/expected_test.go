package main

import (
	"os"
	"regexp"
	"slices"
	"testing"
)

var heading = regexp.MustCompile(`(?m)^## (.*)$`)

// explained returns the headings of the entries of a page.
func explained(t *testing.T, page string) []string {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, m := range heading.FindAllStringSubmatch(string(text), -1) {
		names = append(names, m[1])
	}
	return names
}

// anchors returns every name that the tester gives to an expected difference.
func anchors() []string {
	names := append([]string{"exception-text", "tuning-settings"}, unscripted...)
	for _, e := range allExpected() {
		names = append(names, e.anchor)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func TestEveryExpectedDifferenceIsExplained(t *testing.T) {
	for _, page := range []string{"../../docs/differences.md", "../../docs/zh-CN/differences.md"} {
		known := explained(t, page)
		for _, a := range anchors() {
			if !slices.Contains(known, a) {
				t.Errorf("%s has no entry %q", page, a)
			}
		}
		for _, name := range known {
			if !regexp.MustCompile(`^[a-z0-9-]+$`).MatchString(name) {
				t.Errorf("%s: the heading %q is no name for an entry", page, name)
			}
		}
	}
	if en, zh := explained(t, "../../docs/differences.md"), explained(t, "../../docs/zh-CN/differences.md"); !slices.Equal(en, zh) {
		t.Errorf("the entries of the two pages differ:\n%v\n%v", en, zh)
	}
}

func TestEveryExpectedDifferenceHasAScript(t *testing.T) {
	var shown []string
	for _, s := range scripts() {
		if slices.Contains(shown, s.anchor) {
			t.Errorf("two scripts show %q", s.anchor)
		}
		shown = append(shown, s.anchor)
	}
	for _, a := range anchors() {
		if !slices.Contains(shown, a) && !slices.Contains(unscripted, a) {
			t.Errorf("no script shows %q", a)
		}
	}
	for _, a := range shown {
		if !slices.Contains(anchors(), a) {
			t.Errorf("a script shows %q, which nothing expects", a)
		}
	}
}

func TestOddSettings(t *testing.T) {
	for text, odd := range map[string]bool{
		"enableTopicList=true": false, "enableTopicList = FALSE": false, "enableTopicList=yes": true, "enableTopicList=true ": true,
		"enableTopicList:": true, "enableTopicList\ttrue": false, "waitSecondsForService=45": false, "waitSecondsForService=-1": true,
		"waitSecondsForService=+7": true, "noSuchKey=x": false, "clusterTest=true": true, "productEnvName=中": true,
		`productEnvName=a\u0041`: false, `productEnvName=bad\u00zz`: false, "# enableTopicList=yes": false,
		"enable\\\n  TopicList=yes": true, `product\u0045nvName=line\nbreak`: true,
	} {
		if got := oddSettings(text); got != odd {
			t.Errorf("oddSettings(%q) = %v", text, got)
		}
	}
}
