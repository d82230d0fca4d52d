// Package fingerpost has no code of its own at the root, only the tests that hold the
// tree together: its layout here, its documents in docs_test.go.
package fingerpost

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// room is what a package may import.
type room struct {
	joins    bool     // whether its code may import all of ours but what is for tests
	ours     []string // our packages that its code may import
	tests    []string // further ones that its tests may import
	stdOnly  bool     // whether its code keeps to the standard library
	notOfStd []string // packages of the standard library that its code keeps away from
}

// rooms has a row for each package. The arrows point one way: faces never import each
// other, the registry imports nobody, cmd joins. A package without a row fails, and so
// does a row without a package, so this is the map of the building too.
var rooms = map[string]room{
	"registry": {
		stdOnly:  true,
		notOfStd: []string{"net", "net/http", "encoding/json", "log/slog", "log"},
	},
	"remoting/wire": {stdOnly: true, notOfStd: []string{"net/http"}},
	"remoting":      {ours: []string{"registry", "remoting/wire"}, tests: []string{"internal/nstest", "internal/faultnet"}},
	"api":           {stdOnly: true},
	"web": {
		ours: []string{"registry", "api", "internal/convert"},
		// Its tests show the real dashboard to a browser's eyes.
		tests: []string{"static"},
	},
	"static": {stdOnly: true},
	"config": {ours: []string{"registry"}},
	"handlers": {
		ours:  []string{"registry", "api", "internal/auth", "internal/convert", "internal/nsclient", "internal/peers", "internal/texttable"},
		tests: []string{"remoting"}, // as peers
	},
	// Writes the description from the comments in handlers and what handlers say of themselves.
	"openapi":          {stdOnly: true},
	"openapi/gen":      {ours: []string{"api", "handlers"}},
	"cmd/fingerpost":   {joins: true, tests: []string{"internal/nstest"}},
	"docs/examples":    {stdOnly: true}, // programs for people to copy
	"deploy/release":   {stdOnly: true}, // builds what is published
	"internal/auth":    {},
	"internal/convert": {ours: []string{"registry", "api"}, stdOnly: true},
	// It runs the server to break it, and is no part of the product.
	"internal/chaos": {ours: []string{
		"registry", "remoting", "remoting/wire", "api", "handlers", "web", "internal/auth", "internal/faultnet", "internal/nstest",
	}},
	"internal/faultnet": {stdOnly: true}, // broken connections, for tests
	"internal/kvfile":   {stdOnly: true},
	// Asks other NameServers; its tests ask a real one.
	"internal/nsclient": {ours: []string{"remoting/wire"}, tests: []string{"remoting", "registry", "internal/nstest"}, stdOnly: true},
	// Compares this registry with those of other NameServers; its tests are a set of real ones.
	"internal/peers":  {ours: []string{"registry", "remoting/wire", "internal/nsclient"}, tests: []string{"remoting", "internal/nstest"}, stdOnly: true},
	"internal/nstest": {ours: []string{"remoting/wire"}},
	// The addresses for clients that are given a domain.
	"internal/discovery": {stdOnly: true},
	// What the command line asks running servers, over the API or over remoting.
	"internal/cli": {ours: []string{"api", "registry", "remoting/wire", "internal/convert", "internal/nsclient", "internal/texttable"}},
	// Tables for people, the same in text answers of the API and on the command line.
	"internal/texttable": {},
	// The form in which the registry is kept for the next start.
	"internal/warmfile": {ours: []string{"registry"}, stdOnly: true},
}

// onlyIn says which single file may import a package, so that replacing it is one file.
var onlyIn = map[string]string{
	"github.com/coder/websocket": "web/socket.go",
}

// testOnly are modules that the product never links; packages below internal/nstest,
// which only tests import, may.
var testOnly = []string{
	"testing",
	"github.com/google/go-cmp",
	"github.com/getkin/kin-openapi",
	"go.uber.org/goleak",
	"pgregory.net/rapid",
}

// maxLines is where a file holds more than one idea.
const maxLines = 450

const module = "fingerpost"

// source is one Go file of the module.
type source struct {
	path string // from the root, with slashes
	dir  string
	ast  *ast.File
	fset *token.FileSet
	text []byte
}

func (s source) isTest() bool { return strings.HasSuffix(s.path, "_test.go") }

func (s source) generated() bool { return ast.IsGenerated(s.ast) }

// at says where a node stands, for a message.
func (s source) at(n ast.Node) string {
	return fmt.Sprintf("%s:%d", s.path, s.fset.Position(n.Pos()).Line)
}

// imports returns the paths that the file imports.
func (s source) imports() []string {
	var paths []string
	for _, spec := range s.ast.Imports {
		paths = append(paths, strings.Trim(spec.Path.Value, `"`))
	}
	return paths
}

// sources parses every Go file of the module. It reads the files itself rather than ask
// the go command: what a child process reads is unknown to the test cache, which would
// then answer "ok (cached)" after a forbidden import came in.
func sources(t *testing.T) []source {
	t.Helper()
	var all []source
	err := filepath.WalkDir(".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			return skipFolder(p, d.Name())
		case filepath.Ext(p) != ".go":
			return nil
		}
		text, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, p, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		slashed := filepath.ToSlash(p)
		all = append(all, source{slashed, path.Dir(slashed), file, fset, text})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 2 {
		t.Fatalf("found %d Go files: is this the root of the module?", len(all))
	}
	return all
}

// skipFolder tells WalkDir to leave out what is not this module's: hidden folders, test
// data, modules of their own, what npm installs.
func skipFolder(p, name string) error {
	switch {
	case p == ".":
		return nil
	case strings.HasPrefix(name, "."), name == "testdata", name == "node_modules", name == "vendor":
		return fs.SkipDir
	}
	if _, err := os.Stat(filepath.Join(p, "go.mod")); err == nil {
		return fs.SkipDir
	}
	return nil
}

func TestImportsPointOneWay(t *testing.T) {
	for _, s := range sources(t) {
		row, ok := rooms[s.dir]
		if !ok {
			continue // the next test says so, or it is the root
		}
		for _, imp := range s.imports() {
			if ours, ok := strings.CutPrefix(imp, module+"/"); ok {
				if !row.allows(s, ours) {
					t.Errorf("%s: %s may not import %s; the arrows are in layout_test.go", s.path, s.dir, ours)
				}
				continue
			}
			if s.isTest() {
				continue
			}
			if slices.Contains(row.notOfStd, imp) {
				t.Errorf("%s: %s may not import %s: that belongs to a face", s.path, s.dir, imp)
			}
			if row.stdOnly && isThirdParty(imp) {
				t.Errorf("%s: %s may import the standard library only, not %s", s.path, s.dir, imp)
			}
		}
	}
}

// allows reports whether a file of the package may import another of our packages.
func (r room) allows(s source, ours string) bool {
	switch {
	case ours == s.dir, slices.Contains(r.ours, ours):
		return true
	case s.isTest() && slices.Contains(r.tests, ours):
		return true
	}
	return r.joins && ours != "internal/nstest" && ours != "internal/faultnet"
}

// isThirdParty tells a module's path from the standard library's: it begins with a domain.
func isThirdParty(imp string) bool {
	first, _, _ := strings.Cut(imp, "/")
	return strings.Contains(first, ".")
}

func TestEveryPackageHasARow(t *testing.T) {
	seen := map[string]bool{".": true}
	for _, s := range sources(t) {
		if _, ok := rooms[s.dir]; !ok && !seen[s.dir] {
			t.Errorf("package %s has no row in layout_test.go: say what it may import, and why it exists in the commit message", s.dir)
		}
		seen[s.dir] = true
	}
	for _, dir := range slices.Sorted(maps.Keys(rooms)) {
		if !seen[dir] {
			t.Errorf("layout_test.go has a row for %s, which is no package", dir)
		}
		for _, to := range slices.Concat(rooms[dir].ours, rooms[dir].tests) {
			if _, ok := rooms[to]; !ok {
				t.Errorf("layout_test.go lets %s import %s, which has no row", dir, to)
			}
		}
	}
}

func TestImportsOfOneFileOnly(t *testing.T) {
	for _, s := range sources(t) {
		for _, imp := range s.imports() {
			for pkg, file := range onlyIn {
				if (imp == pkg || strings.HasPrefix(imp, pkg+"/")) && s.path != file && !s.isTest() {
					t.Errorf("%s imports %s; only %s may", s.path, imp, file)
				}
			}
		}
	}
}

func TestTestModulesStayInTests(t *testing.T) {
	for _, s := range sources(t) {
		if s.isTest() || s.dir == "internal/nstest" {
			continue
		}
		for _, imp := range s.imports() {
			for _, mod := range testOnly {
				if imp == mod || strings.HasPrefix(imp, mod+"/") {
					t.Errorf("%s imports %s, which is for tests; the product must not link it", s.path, imp)
				}
			}
		}
	}
}

func TestOnePackageComment(t *testing.T) {
	comments := map[string][]string{}
	for _, s := range sources(t) {
		if s.isTest() {
			continue
		}
		if _, ok := comments[s.dir]; !ok {
			comments[s.dir] = nil
		}
		if s.ast.Doc != nil {
			comments[s.dir] = append(comments[s.dir], s.path)
		}
	}
	for dir, files := range comments {
		if len(files) != 1 {
			t.Errorf("package %s has %d package comments %v, want one, in doc.go", dir, len(files), files)
		}
	}
}

func TestFilesHoldOneIdea(t *testing.T) {
	for _, s := range sources(t) {
		if s.isTest() || s.generated() {
			continue
		}
		if n := strings.Count(string(s.text), "\n"); n > maxLines {
			t.Errorf("%s has %d lines, more than %d: find the second idea in it and give it a file", s.path, n, maxLines)
		}
	}
}

func TestExportedNamesAreDocumented(t *testing.T) {
	for _, s := range sources(t) {
		if s.isTest() || s.generated() || s.ast.Name.Name == "main" {
			continue
		}
		for _, decl := range s.ast.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				if d.Name.IsExported() && ofExported(d) && d.Doc == nil {
					t.Errorf("%s: %s has no comment: say what it promises", s.at(d), d.Name.Name)
				}
			case *ast.GenDecl:
				undocumented(t, s, d)
			}
		}
	}
}

// ofExported reports whether a function is no method, or one of an exported type.
func ofExported(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return true
	}
	typ := d.Recv.List[0].Type
	for {
		switch x := typ.(type) {
		case *ast.StarExpr:
			typ = x.X
		case *ast.IndexExpr:
			typ = x.X
		case *ast.IndexListExpr:
			typ = x.X
		case *ast.Ident:
			return x.IsExported()
		default:
			return false
		}
	}
}

// undocumented reports the exported types, constants and variables of d that have neither
// a comment of their own nor, in a block, one that covers them all.
func undocumented(t *testing.T, s source, d *ast.GenDecl) {
	t.Helper()
	for _, spec := range d.Specs {
		switch x := spec.(type) {
		case *ast.TypeSpec:
			alone := d.Doc != nil && !d.Lparen.IsValid()
			if x.Name.IsExported() && x.Doc == nil && !alone {
				t.Errorf("%s: type %s has no comment: say what it is", s.at(x), x.Name.Name)
			}
		case *ast.ValueSpec:
			if d.Doc != nil || x.Doc != nil || x.Comment != nil {
				continue
			}
			for _, name := range x.Names {
				if name.IsExported() {
					t.Errorf("%s: %s has no comment: say what it means and where it comes from", s.at(x), name.Name)
				}
			}
		}
	}
}

// TestTestsDoNotSleepAndHope allows a test to sleep where time is simulated, or in a loop,
// where it looks again and again for what it waits for. A single sleep is a guess at how
// fast the machine is.
func TestTestsDoNotSleepAndHope(t *testing.T) {
	for _, s := range sources(t) {
		if !s.isTest() || slices.Contains(s.imports(), "testing/synctest") {
			continue
		}
		var path []ast.Node
		ast.Inspect(s.ast, func(n ast.Node) bool {
			if n == nil {
				path = path[:len(path)-1]
				return true
			}
			path = append(path, n)
			if isSleep(n) && !slices.ContainsFunc(path, isLoop) {
				t.Errorf("%s sleeps once and hopes: wait for the thing itself", s.at(n))
			}
			return true
		})
	}
}

func isSleep(n ast.Node) bool {
	sel, ok := n.(*ast.SelectorExpr)
	if !ok || sel.Sel.Name != "Sleep" {
		return false
	}
	pkg, ok := sel.X.(*ast.Ident)
	return ok && pkg.Name == "time"
}

func isLoop(n ast.Node) bool {
	switch n.(type) {
	case *ast.ForStmt, *ast.RangeStmt:
		return true
	}
	return false
}
