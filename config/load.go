package config

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// File is where settings are kept between two runs of the program.
type File interface {
	// Load returns the content and whether there is a file. note is a sentence for the
	// operator if something was wrong that could be helped, such as a broken file whose
	// backup was used.
	Load() (data []byte, found bool, note string, err error)
	// Save replaces the content. When it returns nil the content is on the disk; when
	// it returns an error the old content stands.
	Save(data []byte) error
}

// Source is everything that settings are read from.
type Source struct {
	// Path is the properties file named on the command line (-c); it must exist.
	// If empty, FINGERPOST_CONFIG_FILE counts, else the file at configStorePath is read
	// if it exists.
	Path string
	// Env are environment variables as "KEY=value".
	Env []string
	// Flags are values given on the command line, by key.
	Flags map[string]string
	// Home is the user's home directory and State the folder for programs' state, empty
	// if unknown.
	Home, State string
	// Open returns the file at a path. whole says whether a content can be used at all.
	Open func(path string, whole func([]byte) error) File
}

// Note is a sentence for the operator, without a final full stop.
type Note struct {
	Text string
	// Warn is whether something is not as the operator may think.
	Warn bool
}

// CommandEnv returns the variables that say to commands whom to ask, and as whom. They
// are no settings of a server.
func CommandEnv() []string {
	return []string{EnvPrefix + "SERVER", EnvPrefix + "TOKEN", EnvPrefix + "TOKEN_FILE", EnvPrefix + "REMOTING"}
}

// PathEnv names the properties file where no flag does.
const PathEnv = EnvPrefix + "CONFIG_FILE"

// Load reads all settings. The notes are sentences for the operator, to be logged once
// the log is set up. The error tells all that is wrong, a sentence a line.
func Load(src Source) (*Store, []Note, error) {
	l := loader{src: src, env: make(map[string]string)}
	for _, kv := range src.Env {
		if k, v, ok := strings.Cut(kv, "="); ok {
			l.env[k] = v
		}
	}
	l.environment()
	for k, v := range src.Flags {
		if s, ok := Find(k); ok {
			l.layers.set(FromFlag, k, v, "--"+s.Flag())
		} else {
			l.fail(unknown(k, "the command line"))
		}
	}
	defaults := Default(src.Home, src.State)
	st := l.file(defaults)
	cfg, ps := build(defaults, &l.layers, 0)
	for _, p := range ps {
		l.fail(p)
	}
	l.needHome(src)
	if len(l.errs) > 0 {
		return nil, l.notes, errors.Join(l.errs...)
	}
	l.remarks(cfg, defaults)
	return newStore(defaults, cfg, l.layers, st), l.notes, nil
}

// loader collects what Load finds.
type loader struct {
	src    Source
	env    map[string]string
	layers layers
	notes  []Note
	errs   []error
}

// stored is the properties file and what it held.
type stored struct {
	file File
	path string
	text []byte
}

func (l *loader) fail(err error) { l.errs = append(l.errs, err) }
func (l *loader) note(format string, a ...any) {
	l.notes = append(l.notes, Note{Text: fmt.Sprintf(format, a...)})
}

func (l *loader) warn(format string, a ...any) {
	l.notes = append(l.notes, Note{Text: fmt.Sprintf(format, a...), Warn: true})
}

// unknown is the error for a key that nobody knows.
func unknown(key, where string) error {
	if near, ok := Nearest(key); ok {
		return fmt.Errorf("%s: unknown setting %s; did you mean %s?", where, quote(key), near)
	}
	return fmt.Errorf("%s: unknown setting %s", where, quote(key))
}

// environment takes the variables. One that is empty counts as not set, as container
// tools pass it on.
func (l *loader) environment() {
	known := map[string]bool{PathEnv: true}
	for _, name := range CommandEnv() {
		known[name] = true
	}
	for _, s := range settings {
		if s.Is(Foreign) {
			continue
		}
		known[s.Env()] = true
		for _, name := range []string{s.Env(), s.AlsoEnv} {
			if v := l.env[name]; name != "" && v != "" {
				l.layers.set(FromEnv, s.Key, v, name)
				break
			}
		}
	}
	names := make([]string, 0, len(known))
	for n := range known {
		names = append(names, n)
	}
	slices.Sort(names)
	for n := range l.env {
		if !strings.HasPrefix(n, EnvPrefix) || known[n] || serviceLink.MatchString(n) {
			continue
		}
		// No error: others may put variables there that only look like ours.
		if near, ok := nearest(n, names); ok {
			l.warn("the environment variable %s is not known; did you mean %s?", n, near)
		} else {
			l.warn("the environment variable %s is not known", n)
		}
	}
	slices.SortFunc(l.notes, func(a, b Note) int { return strings.Compare(a.Text, b.Text) })
}

// serviceLink matches what Kubernetes sets for a service called fingerpost.
var serviceLink = regexp.MustCompile(`^FINGERPOST_(SERVICE_(HOST|PORT(_.*)?)|PORT(_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?)$`)

// file finds and reads the properties file.
func (l *loader) file(defaults Config) stored {
	path, named := l.src.Path, "-c"
	if path == "" {
		path, named = l.env[PathEnv], PathEnv
	}
	at, o := l.layers.top("configStorePath")
	switch {
	case path == "" && o == FromDefault:
		path, named = defaults.ConfigStorePath, ""
	case path == "":
		path, named = at.text, ""
	case o != FromDefault && filepath.Clean(at.text) != filepath.Clean(path):
		l.fail(fmt.Errorf("%s and %s name two different files: settings are saved in the file that they are read from", named, at.where))
		return stored{}
	}
	if l.src.Home == "" && path == defaults.ConfigStorePath {
		return stored{} // needHome says so
	}
	st := stored{file: l.src.Open(path, wholeProperties), path: path}
	data, found, note, err := st.file.Load()
	if note != "" {
		l.warn("%s", note)
	}
	switch {
	case err != nil:
		l.fail(err)
	case !found && named != "":
		l.fail(fmt.Errorf("%s: there is no file %s", named, path))
	case found:
		st.text = data
		l.properties(path, data)
		if named == "" {
			l.note("settings are read from %s, where changes made while running are saved", path)
		}
	}
	if named != "" {
		l.layers.set(FromFlag, "configStorePath", path, named)
	}
	return st
}

// wholeProperties refuses what a crash may leave of a properties file.
func wholeProperties(text []byte) error {
	if bytes.IndexByte(text, 0) >= 0 {
		return errors.New("it holds zero bytes")
	}
	_, err := parseProperties(text)
	return err
}

// properties takes the settings of the file.
func (l *loader) properties(path string, text []byte) {
	ps, err := parseProperties(text)
	if err != nil {
		l.fail(fmt.Errorf("%s: %w", path, err))
		return
	}
	lines := make(map[string]property)
	for _, p := range ps {
		where := fmt.Sprintf("%s line %d", path, p.line)
		s, ok := index[p.key]
		if !ok {
			l.fail(unknown(p.key, where))
			continue
		}
		if first, ok := lines[s.Key]; ok {
			if first.key != p.key {
				l.fail(fmt.Errorf("%s: %s is another name for %s, which stands in line %d: remove one of them", where, p.key, first.key, first.line))
				continue
			}
			l.warn("%s: %s stands in line %d already; the last one counts", where, p.key, first.line)
		}
		lines[s.Key] = p
		if s.Key == "configStorePath" {
			if filepath.Clean(strings.TrimSpace(p.value)) != filepath.Clean(path) {
				l.warn("%s: configStorePath is not followed: changes are saved in the file that is read", where)
			}
			continue
		}
		l.layers.set(FromFile, s.Key, p.value, where)
	}
}

// needHome refuses to guess where files belong.
func (l *loader) needHome(src Source) {
	for _, d := range []struct{ key, known, hint string }{
		{"kvConfigPath", src.Home, "HOME"}, {"configStorePath", src.Home, "HOME"}, {"dataDir", src.State, "HOME or XDG_STATE_HOME"},
	} {
		if _, o := l.layers.top(d.key); d.known == "" && o == FromDefault {
			l.fail(fmt.Errorf("%s has no default because the user's home directory is not known: set it, or %s", d.key, d.hint))
		}
	}
}

// remarks tells what was given to no effect.
func (l *loader) remarks(cfg *Config, defaults Config) {
	var idle []string
	for _, s := range settings {
		e, o := l.layers.top(s.Key)
		foreign := s.Is(Foreign) && o == FromFile
		if foreign || s.Is(NoEffect) && s.Key != "rocketmqHome" && o != FromDefault && s.Format(cfg) != s.Format(&defaults) {
			idle = append(idle, s.Key)
		}
		if s.Key == "enableControllerInNamesrv" && cfg.Inert.EnableControllerInNamesrv {
			l.warn("%s: enableControllerInNamesrv is on, but this server has no controller: run RocketMQ's controller as a process of its own", e.where)
		}
	}
	if len(idle) > 0 {
		slices.Sort(idle)
		l.note("these settings are known but have no effect in this server: %s", strings.Join(idle, ", "))
	}
	for _, k := range cfg.ConfigBlackList {
		if _, ok := index[k]; !ok {
			l.warn("configBlackList names %s, which is no setting", quote(k))
		}
	}
}
