// Command gen writes the description of the REST API: openapi.json, and swagger.json,
// the same in Swagger's older form. What the operations say of themselves is read from
// the comments at their handlers; what holds for many of them (errors, parameters,
// forms, roles, headers) is added here, from the table by which the server itself runs.
//
// Run it in the folder openapi, by go generate.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

// node is an object of the description. Its members are sorted when it is written.
type node = map[string]any

func main() {
	if err := run(context.Background(), "..", "."); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

// run reads the module at root and writes into a folder.
func run(ctx context.Context, root, into string) error {
	raw, err := commented(ctx, root)
	if err != nil {
		return err
	}
	src, err := readSources(root)
	if err != nil {
		return err
	}
	doc, err := finish(raw, src)
	if err != nil {
		return err
	}
	if err := write(filepath.Join(into, "openapi.json"), doc); err != nil {
		return err
	}
	old, err := down(doc)
	if err != nil {
		return err
	}
	return write(filepath.Join(into, "swagger.json"), old)
}

// extra are types of package api that no handler's comment names: lines of answers that
// are JSON values one a line, and messages of the websocket.
var extra = []string{"ExportLine", "FeedMessage", "FeedRequest", "TopicDigest"}

// commented runs swag, which makes a description of the comments.
func commented(ctx context.Context, root string) (node, error) {
	dir, err := os.MkdirTemp("", "openapi")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	more := filepath.Join(dir, "more")
	if err := os.Mkdir(more, 0o700); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	b.WriteString("package more\n\nimport \"fingerpost/api\"\n\nvar _ api.Time\n")
	for _, t := range extra {
		fmt.Fprintf(&b, "\n// @Success 200 {object} api.%s %q\n// @Router /%s [get]\nfunc %s() {}\n", t, t, t, t)
	}
	if err := os.WriteFile(filepath.Join(more, "more.go"), b.Bytes(), 0o600); err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, "go", "tool", "-modfile=tools.mod", "swag", "init", "--quiet", "--v3.1",
		"-g", "routes.go", "-d", "handlers,api,"+more, "--outputTypes", "json", "-o", dir)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("swag: %w\n%s", err, out)
	}
	text, err := os.ReadFile(filepath.Join(dir, "swagger.json"))
	if err != nil {
		return nil, err
	}
	var doc node
	// Types are named as in Go, with their package; there is only one.
	if err := json.Unmarshal(bytes.ReplaceAll(text, []byte("schemas/api."), []byte("schemas/")), &doc); err != nil {
		return nil, fmt.Errorf("what swag wrote: %w", err)
	}
	for _, t := range extra {
		delete(doc["paths"].(node), "/"+t)
	}
	return doc, nil
}

// write writes a description, keys sorted, each member on a line of its own so that
// changes can be read, but not indented: that would be a third of it, in every program.
func write(name string, doc node) error {
	var b, lines bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(doc); err != nil {
		return err
	}
	if err := json.Indent(&lines, b.Bytes(), "", ""); err != nil {
		return err
	}
	return os.WriteFile(name, lines.Bytes(), 0o644)
}

// sorted returns the keys of an object in order.
func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// at returns a member of an object that is an object itself, and puts one there if there
// is none.
func at(n node, names ...string) node {
	for _, name := range names {
		next, ok := n[name].(node)
		if !ok {
			next = node{}
			n[name] = next
		}
		n = next
	}
	return n
}

func ref(kind, name string) node { return node{"$ref": "#/components/" + kind + "/" + name} }
