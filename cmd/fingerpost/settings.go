package main

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"fingerpost/config"
	"fingerpost/internal/kvfile"
)

// propertiesFile is the settings' file of a server.
type propertiesFile struct {
	*kvfile.File
	saved *saves
	log   *slog.Logger // nil while the notes of the start are not logged yet
}

// Load reads the file, or its backup, which it then puts in its place. What cannot be
// read cannot be changed either.
func (p *propertiesFile) Load() ([]byte, bool, string, error) {
	l, err := p.File.Load()
	if err != nil {
		return nil, false, "", p.saved.note(err)
	}
	if l.Note != "" && p.log != nil {
		p.log.Warn(l.Note) // a change while running, which has nobody else to tell
	}
	return l.Data, l.Found, l.Note, err
}

// Save saves the file and remembers how that went.
func (p *propertiesFile) Save(text []byte) error {
	return p.saved.do(func() error { return p.File.Save(text) })
}

// watchedFile is the settings' file for commands that run beside a server.
type watchedFile struct{ *kvfile.File }

// Load reads the file, or its backup, and leaves both as they are.
func (w watchedFile) Load() ([]byte, bool, string, error) {
	l, err := w.Peek()
	return l.Data, l.Found, l.Note, err
}

func watchProperties(path string, whole func([]byte) error) config.File {
	return watchedFile{kvfile.New(path, nil, whole)}
}

// load reads the settings.
func (a *app) load(f *settingsFrom, open func(string, func([]byte) error) config.File) (*config.Store, []config.Note, error) {
	src := config.Source{Env: a.env, Open: open, Home: a.home()}
	if f != nil {
		src.Path, src.Flags = f.ConfigFile, f.values()
	}
	if src.Home != "" {
		src.State = filepath.Join(src.Home, ".local", "state")
	}
	if dir := a.getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		src.State = dir
	}
	return config.Load(src)
}

// home returns the user's home directory, empty if unknown.
func (a *app) home() string {
	for _, name := range []string{"HOME", "USERPROFILE"} {
		if dir := a.getenv(name); dir != "" {
			return dir
		}
	}
	if u, err := user.Current(); err == nil {
		return u.HomeDir
	}
	return ""
}

// getenv returns an environment variable, empty if it is not set.
func (a *app) getenv(name string) string {
	value := ""
	for _, kv := range a.env {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			value = v // of repeated ones the last counts, as in a process's environment
		}
	}
	return value
}

// configCmd is `fingerpost config`.
type configCmd struct {
	settingsFrom
	Output string `short:"o" enum:"text,json" default:"text" help:"Form of the output: text or json."`
}

// shownSetting is one setting in the JSON output.
type shownSetting struct {
	Key     string `json:"key"`
	Value   string `json:"value"`
	Default string `json:"default"`
	Source  string `json:"source"`
	Where   string `json:"where,omitempty"`
	Live    bool   `json:"live"`
	Doc     string `json:"doc"`
}

// Run prints the settings that a server with the same file, variables and flags would have.
func (c *configCmd) Run(a *app) error {
	store, notes, err := a.load(&c.settingsFrom, watchProperties)
	if err != nil {
		return err
	}
	for _, n := range notes {
		if n.Warn {
			fmt.Fprintf(a.stderr, "fingerpost: %s\n", n.Text)
		}
	}
	items, _ := store.Items()
	slices.SortFunc(items, func(a, b config.Item) int { return strings.Compare(a.Key, b.Key) })
	if c.Output == "json" {
		out := make([]shownSetting, len(items))
		for i, it := range items {
			out[i] = shownSetting{it.Key, it.Value, it.Default, it.Origin.String(), it.Where, it.Mutable(), it.Doc}
		}
		e := json.NewEncoder(a.stdout)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		return e.Encode(out)
	}
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "KEY\tVALUE\tSOURCE\tWHERE")
	for _, it := range items {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", it.Key, it.Value, it.Origin, it.Where)
	}
	return w.Flush()
}

// printItems prints settings as the Java NameServer's -p does.
func (a *app) printItems(store *config.Store) error {
	items, _ := store.Items()
	for _, it := range items {
		if _, err := fmt.Fprintf(a.stdout, "%s=%s\n", it.Key, it.Value); err != nil {
			return err
		}
	}
	return nil
}
