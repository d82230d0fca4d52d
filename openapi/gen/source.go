package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
)

// field is what the sources say of a member of an object and swag does not.
type field struct {
	// always tells that an answer has it, null that its value may be null.
	always, null bool
	// eachNull tells that values of the map may be null.
	eachNull bool
}

// sources is what is read from the Go files themselves.
type sources struct {
	// types has the members of each type of package api by their names in JSON.
	types map[string]map[string]field
	// names has the name of the method that answers, by method and path.
	names map[string]string
}

func readSources(root string) (*sources, error) {
	s := &sources{types: make(map[string]map[string]field), names: make(map[string]string)}
	structs := make(map[string]*ast.StructType)
	for _, dir := range []string{"api", "handlers"} {
		files, err := filepath.Glob(filepath.Join(root, dir, "*.go"))
		if err != nil {
			return nil, err
		}
		for _, name := range files {
			f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments|parser.SkipObjectResolution)
			if err != nil {
				return nil, err
			}
			s.read(f, structs)
		}
	}
	for name, st := range structs {
		s.types[name] = members(st, structs)
	}
	return s, nil
}

var router = regexp.MustCompile(`@Router\s+(\S+) \[(\w+)\]`)

func (s *sources) read(f *ast.File, structs map[string]*ast.StructType) {
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if m := router.FindStringSubmatch(d.Doc.Text()); m != nil {
				s.names[strings.ToUpper(m[2])+" "+m[1]] = d.Name.Name
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if t, ok := spec.(*ast.TypeSpec); ok && f.Name.Name == "api" {
					if st, ok := t.Type.(*ast.StructType); ok {
						structs[t.Name.Name] = st
					}
				}
			}
		}
	}
}

// members returns the members of a type as encoding/json sees them.
func members(st *ast.StructType, structs map[string]*ast.StructType) map[string]field {
	out := make(map[string]field)
	for _, f := range st.Fields.List {
		_, pointer := f.Type.(*ast.StarExpr)
		if len(f.Names) == 0 {
			t := f.Type
			if p, ok := t.(*ast.StarExpr); ok {
				t = p.X
			}
			id, ok := t.(*ast.Ident)
			if !ok || structs[id.Name] == nil {
				continue
			}
			for name, x := range members(structs[id.Name], structs) {
				x.always = x.always && !pointer
				out[name] = x
			}
			continue
		}
		if f.Tag == nil {
			continue
		}
		tag, err := strconv.Unquote(f.Tag.Value)
		if err != nil {
			continue
		}
		name, options, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ",")
		if name == "" || name == "-" {
			continue
		}
		omit := strings.Contains(options, "omit")
		x := field{always: !omit, null: pointer && !omit}
		if m, ok := f.Type.(*ast.MapType); ok {
			_, x.eachNull = m.Value.(*ast.StarExpr)
		}
		if strings.Contains(tag, "x-nullable") {
			x.null = true
		}
		out[name] = x
	}
	return out
}
