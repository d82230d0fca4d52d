package fingerpost

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// page is a Markdown file as far as these tests look at it.
type page struct {
	path     string
	headings []heading
	blocks   []block
	links    []string // targets, outside of code
}

type heading struct {
	level int
	text  string
}

// block is a fenced piece of code.
type block struct {
	language string
	mark     string // the comment above it, which says who runs it or why nobody does
	lines    []string
}

var (
	linkTarget  = regexp.MustCompile(`!?\[[^\]]*\]\(([^()\s]+(?:\([^()\s]*\))?)(?:\s+"[^"]*")?\)`)
	inlineCode  = regexp.MustCompile("`[^`]*`")
	blockMark   = regexp.MustCompile(`^<!-- (?:not )?run`)
	imageSource = regexp.MustCompile(`(?:src|href)="([^"]+)"`)
)

func readPage(t *testing.T, name string) page {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	p := page{path: filepath.ToSlash(name)}
	fenced, above := false, ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\r\n")
		if language, ok := strings.CutPrefix(strings.TrimLeft(line, " "), "```"); ok {
			if fenced = !fenced; fenced {
				p.blocks = append(p.blocks, block{language: language})
				if blockMark.MatchString(above) {
					p.blocks[len(p.blocks)-1].mark = above
				}
			}
			above = ""
			continue
		}
		if fenced {
			last := &p.blocks[len(p.blocks)-1]
			last.lines = append(last.lines, line)
			continue
		}
		if line != "" {
			above = line
		}
		if hashes := strings.TrimLeft(line, "#"); len(hashes) < len(line) && strings.HasPrefix(hashes, " ") {
			p.headings = append(p.headings, heading{len(line) - len(hashes), strings.TrimSpace(hashes)})
		}
		// The text of a link may be code; its target is not.
		plain := inlineCode.ReplaceAllString(line, "code")
		for _, m := range linkTarget.FindAllStringSubmatch(plain, -1) {
			p.links = append(p.links, m[1])
		}
		for _, m := range imageSource.FindAllStringSubmatch(plain, -1) {
			p.links = append(p.links, m[1])
		}
	}
	if fenced {
		t.Errorf("%s: a code block does not end", name)
	}
	return p
}

// pages returns the names of all Markdown files of the project.
func pages(t *testing.T) []string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (strings.HasPrefix(d.Name(), ".") && p != "." || d.Name() == "node_modules" || d.Name() == "vendor"):
			return fs.SkipDir
		case filepath.Ext(p) == ".md":
			names = append(names, filepath.ToSlash(p))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// twin returns the Chinese page of an English one of those that users read.
func twin(name string) (string, bool) {
	if name == "README.md" {
		return "README.zh-CN.md", true
	}
	dir, file := path.Split(name)
	switch dir {
	case "docs/":
		return "docs/zh-CN/" + file, true
	case "docs/examples/", "interop/":
		return strings.TrimSuffix(name, ".md") + ".zh-CN.md", !strings.HasSuffix(name, ".zh-CN.md")
	}
	return "", false
}

func TestEveryPageIsThereInBothLanguages(t *testing.T) {
	all := pages(t)
	twins := 0
	for _, name := range all {
		other, ok := twin(name)
		if !ok {
			continue
		}
		if !slices.Contains(all, other) {
			t.Errorf("%s has no Chinese page %s", name, other)
			continue
		}
		twins++
		compareTwins(t, readPage(t, name), readPage(t, other))
	}
	for _, name := range all {
		if file, ok := strings.CutPrefix(name, "docs/zh-CN/"); ok && !slices.Contains(all, "docs/"+file) {
			t.Errorf("%s has no English page docs/%s", name, file)
		}
	}
	if twins == 0 {
		t.Error("found no pages")
	}
}

// compareTwins checks that a page and its translation have the same skeleton: headings,
// and the same code, comments aside. Drawings have words in them, so they may differ.
func compareTwins(t *testing.T, en, zh page) {
	t.Helper()
	if len(en.headings) != len(zh.headings) {
		t.Errorf("%s has %d headings, %s has %d", en.path, len(en.headings), zh.path, len(zh.headings))
	} else {
		for i, h := range en.headings {
			if h.level != zh.headings[i].level {
				t.Errorf("heading %d differs in level: %q of %s, %q of %s", i+1, h.text, en.path, zh.headings[i].text, zh.path)
			}
		}
	}
	if len(en.blocks) != len(zh.blocks) {
		t.Errorf("%s has %d code blocks, %s has %d", en.path, len(en.blocks), zh.path, len(zh.blocks))
		return
	}
	for i, b := range en.blocks {
		other := zh.blocks[i]
		if b.language != other.language {
			t.Errorf("code block %d is of language %q in %s, %q in %s", i+1, b.language, en.path, other.language, zh.path)
		}
		if b.mark != other.mark {
			t.Errorf("code block %d is marked %q in %s, %q in %s", i+1, b.mark, en.path, other.mark, zh.path)
		}
		if b.language != "text" && b.language != "mermaid" && !slices.Equal(commands(b.lines), commands(other.lines)) {
			t.Errorf("code block %d holds other code in %s than in %s:\n%s\n--\n%s", i+1, en.path, zh.path,
				strings.Join(b.lines, "\n"), strings.Join(other.lines, "\n"))
		}
	}
}

// commands returns the lines of a block without comments and blanks.
func commands(lines []string) []string {
	var cmds []string
	for _, line := range lines {
		if strings.HasPrefix(line, "#") {
			continue
		}
		line, _, _ = strings.Cut(line, " # ")
		if line = strings.TrimSpace(line); line != "" {
			cmds = append(cmds, line)
		}
	}
	return cmds
}

// TestIndexLinksEveryPage holds the list of pages complete, in both languages.
func TestIndexLinksEveryPage(t *testing.T) {
	for _, dir := range []string{"docs", "docs/zh-CN"} {
		names, err := filepath.Glob(dir + "/*.md")
		if err != nil {
			t.Fatal(err)
		}
		links := readPage(t, dir+"/README.md").links
		for _, name := range names {
			if file := filepath.Base(name); file != "README.md" && !slices.Contains(links, file) {
				t.Errorf("%s/README.md does not link to %s: say there what the page is for", dir, file)
			}
		}
	}
}

func TestLinksResolve(t *testing.T) {
	for _, name := range pages(t) {
		p := readPage(t, name)
		for _, link := range p.links {
			if strings.Contains(link, "://") || strings.HasPrefix(link, "mailto:") {
				continue
			}
			file, anchor, _ := strings.Cut(link, "#")
			target := name
			if file != "" {
				target = path.Join(path.Dir(name), file)
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s links to %s, which is not there", name, link)
				continue
			}
			if anchor != "" && path.Ext(target) == ".md" && !hasAnchor(readPage(t, target), anchor) {
				t.Errorf("%s links to %s, but %s has no such heading", name, link, target)
			}
		}
	}
}

// hasAnchor reports whether a heading of the page gets that anchor from the sites that
// show Markdown.
func hasAnchor(p page, anchor string) bool {
	return slices.ContainsFunc(p.headings, func(h heading) bool { return slug(h.text) == anchor })
}

func slug(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case unicode.IsLetter(r), unicode.IsNumber(r), r == '-', r == '_':
			return unicode.ToLower(r)
		}
		return -1
	}, text)
}

// TestReadmeOpensWithTheTwoCommands holds the promise that nothing else is needed.
func TestReadmeOpensWithTheTwoCommands(t *testing.T) {
	for _, name := range []string{"README.md", "README.zh-CN.md"} {
		p := readPage(t, name)
		if len(p.blocks) == 0 {
			t.Errorf("%s shows no command", name)
			continue
		}
		if got, want := commands(p.blocks[0].lines), []string{"go run ./cmd/fingerpost", "go test ./..."}; !slices.Equal(got, want) {
			t.Errorf("%s opens with %q, want %q", name, got, want)
		}
	}
}

// TestReadmeNamesEveryDependency holds the table of modules against go.mod.
func TestReadmeNamesEveryDependency(t *testing.T) {
	mod, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"README.md", "README.zh-CN.md"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		named := func(module string) bool {
			module = majorVersion.ReplaceAllString(module, "")
			short, ours := strings.CutPrefix(module, "golang.org/")
			return strings.Contains(string(text), module) || ours && strings.Contains(string(text), "`"+short+"`")
		}
		direct := 0
		for _, m := range requirement.FindAllStringSubmatch(string(mod), -1) {
			if m[2] != "" {
				continue
			}
			direct++
			if !named(m[1]) {
				t.Errorf("%s does not say what %s is for", name, m[1])
			}
		}
		if direct == 0 {
			t.Errorf("go.mod requires nothing directly; run go mod tidy")
		}
	}
}

var (
	requirement  = regexp.MustCompile(`(?m)^\t(?:require )?(\S+) v\S+( // indirect)?$`)
	majorVersion = regexp.MustCompile(`/v[0-9]+$`)
)
