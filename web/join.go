package web

import (
	"bytes"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// The names of the two scripts that the modules are joined to.
const (
	firstScript = "app.js"  // what the first view needs; it is also the module at which that begins
	restScript  = "rest.js" // every other module
)

// join makes two scripts of all modules, so that a browser asks twice and not sixty
// times. Each module becomes a function that returns what it exports, kept in the object
// $ under the module's path; an import reads from there. Modules stand behind those they
// import, so that imports in a circle are an error, as is a form of import or export
// that is not rewritten here. The text is otherwise as it was written.
func join(sources map[string][]byte) (first, rest []byte, err error) {
	j := &joiner{sources: sources, modules: make(map[string]*module)}
	if err := j.visit(firstScript); err != nil {
		return nil, nil, err
	}
	inFirst := slices.Clone(j.order)
	for _, name := range sortedNames(sources) {
		if path.Ext(name) != ".js" {
			continue
		}
		if err := j.visit(name); err != nil {
			return nil, nil, err
		}
	}
	var a, b bytes.Buffer
	a.WriteString("export const $ = {};\n")
	fmt.Fprintf(&b, "import { $ } from './%s';\n", firstScript)
	for i, name := range j.order {
		out := &b
		if i < len(inFirst) {
			out = &a
		}
		j.modules[name].write(out, inFirst)
	}
	return a.Bytes(), b.Bytes(), nil
}

type joiner struct {
	sources map[string][]byte
	modules map[string]*module
	order   []string // a module stands behind those it imports
}

// module is a module whose imports and exports are rewritten.
type module struct {
	name    string
	body    []byte
	exports []string // members of the object that it returns
	imports []string // names of modules
	ordered bool
}

func (j *joiner) visit(name string) error {
	switch m := j.modules[name]; {
	case m != nil && m.ordered:
		return nil
	case m != nil:
		return fmt.Errorf("join the dashboard's modules: %s imports itself by way of others", name)
	}
	text, ok := j.sources[name]
	if !ok {
		return fmt.Errorf("join the dashboard's modules: %s is imported and missing", name)
	}
	m := &module{name: name}
	j.modules[name] = m
	if err := m.read(text); err != nil {
		return fmt.Errorf("join the dashboard's modules: %s: %w", name, err)
	}
	for _, to := range m.imports {
		if err := j.visit(to); err != nil {
			return err
		}
	}
	m.ordered = true
	j.order = append(j.order, name)
	return nil
}

// The forms of import and export that modules use, each at the beginning of a line. Only
// there are these expressions asked: all of the text would take them a tenth of a second.
var (
	importLine    = regexp.MustCompile(`^import\s+(?:(\w+)\s*,?\s*)?(?:\{([^}]*)\}\s*)?(?:from\s*)?'(\.[^']+)';\n$`)
	exportDefault = regexp.MustCompile(`^export default (?:((?:async )?function) (\w+))?`)
	exportNamed   = regexp.MustCompile(`^export ((?:const|class|function|async function) (\w+))`)
	exportList    = regexp.MustCompile(`^export\s*\{([^}]*)\};\n$`)
	renamed       = regexp.MustCompile(`(\w+)\s+as\s+(\w+)`)
)

func (m *module) read(text []byte) error {
	var begun []byte // an import that goes on
	for line := range bytes.Lines(text) {
		if begun != nil || bytes.HasPrefix(line, []byte("import ")) {
			if begun = append(begun, line...); bytes.HasSuffix(line, []byte(";\n")) {
				if err := m.readImport(begun); err != nil {
					return err
				}
				begun = nil
			}
			continue
		}
		// A vendored module has one list of its exports, behind everything else.
		if i := bytes.LastIndex(line, []byte("export{")); i > 0 && strings.HasPrefix(m.name, "vendor/") {
			m.body = append(m.body, line[:i]...)
			line = line[i:]
		}
		if bytes.HasPrefix(line, []byte("export")) {
			var err error
			if line, err = m.readExport(line); err != nil {
				return err
			}
		}
		m.body = append(m.body, line...)
	}
	if begun != nil {
		return unknownForm(begun)
	}
	return nil
}

func (m *module) readImport(line []byte) error {
	f := importLine.FindSubmatch(line)
	if f == nil {
		return unknownForm(line)
	}
	to := path.Join(path.Dir(m.name), string(f[3]))
	names := renamed.ReplaceAllString(string(f[2]), "$1: $2")
	if len(f[1]) > 0 {
		names = strings.TrimSuffix("default: "+string(f[1])+", "+names, ", ")
	}
	m.imports = append(m.imports, to)
	m.body = fmt.Appendf(m.body, "const {%s} = $['%s'];\n", names, to)
	return nil
}

func (m *module) readExport(line []byte) ([]byte, error) {
	if f := exportDefault.FindSubmatch(line); f != nil {
		after := line[len(f[0]):]
		if len(f[2]) == 0 {
			m.exports = append(m.exports, "default: $default")
			return append([]byte("const $default = "), after...), nil
		}
		m.exports = append(m.exports, "default: "+string(f[2]))
		return fmt.Appendf(nil, "%s %s%s", f[1], f[2], after), nil
	}
	if f := exportNamed.FindSubmatch(line); f != nil {
		m.exports = append(m.exports, string(f[2]))
		return line[len("export "):], nil
	}
	if f := exportList.FindSubmatch(line); f != nil {
		m.exports = append(m.exports, strings.TrimSpace(renamed.ReplaceAllString(string(f[1]), "$2: $1")))
		return []byte("\n"), nil
	}
	return nil, unknownForm(line)
}

func unknownForm(line []byte) error {
	return fmt.Errorf("%q is a form that is not known here", bytes.TrimSpace(line))
}

// importCall stands before the path of a module that is loaded when it is needed.
const importCall = "import('"

func (m *module) write(out *bytes.Buffer, inFirst []string) {
	fmt.Fprintf(out, "// %s\n$['%s'] = (() => {\n", m.name, m.name)
	for {
		before, after, found := bytes.Cut(m.body, []byte(importCall))
		out.Write(before)
		if !found {
			break
		}
		to, after, _ := bytes.Cut(after, []byte("')"))
		name := path.Join(path.Dir(m.name), string(to))
		if slices.Contains(inFirst, name) {
			fmt.Fprintf(out, "Promise.resolve($['%s'])", name)
		} else {
			fmt.Fprintf(out, "import('./%s').then(() => $['%s'])", restScript, name)
		}
		m.body = after
	}
	fmt.Fprintf(out, "return {%s};\n})();\n", strings.Join(m.exports, ", "))
}

// joinStyles puts the style sheets that the page names behind each other, in its order,
// and returns the page with one link where the first one stood.
func joinStyles(index []byte, sources map[string][]byte) (page, style []byte, err error) {
	nth := 0
	page = styleLink.ReplaceAllFunc(index, func(link []byte) []byte {
		name := string(styleLink.FindSubmatch(link)[1])
		text, ok := sources[name]
		if !ok {
			err = fmt.Errorf("join the dashboard's style sheets: %s is missing", name)
		}
		style = append(style, text...)
		if nth++; nth > 1 {
			return nil
		}
		return []byte(`<link rel="stylesheet" href="./` + styleSheet + "\">\n")
	})
	return page, style, err
}

const styleSheet = "style.css"

var styleLink = regexp.MustCompile(`<link rel="stylesheet" href="\./([^"]+)">\n?`)
