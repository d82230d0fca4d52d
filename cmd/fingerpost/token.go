package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"fingerpost/internal/auth"
	"fingerpost/internal/kvfile"
)

// curlrcCmd is `fingerpost curlrc`: what curl -K reads, so that a token stands neither
// in a command line nor in a script.
type curlrcCmd struct {
	ConfigFile string `name:"configFile" aliases:"config-file" short:"c" placeholder:"FILE" help:"The properties file of the server, to find its token."`
	TokenFile  string `placeholder:"FILE" help:"A file with the token to use, which its owner alone can read; by default the one that the server made at its first start."`
}

// Run prints the configuration.
func (c *curlrcCmd) Run(a *app) error {
	file := c.TokenFile
	if file == "" {
		store, _, err := a.load(&settingsFrom{ConfigFile: c.ConfigFile}, watchProperties)
		if err != nil {
			return err
		}
		cfg := store.Current()
		if hasCredentials(cfg) {
			return errors.New("the settings name files of credentials, so the token of the first start does not count: name a file with a token by --token-file")
		}
		file = filepath.Join(cfg.DataDir, adminToken)
	}
	token, err := auth.ReadAdminToken(file)
	if err != nil {
		return err
	}
	_, err = fmt.Fprint(a.stdout, auth.Curlrc(token))
	return err
}

// tokenCmd is `fingerpost token`.
type tokenCmd struct {
	New  newTokenCmd   `cmd:"" help:"Make a token and print it; it is not kept anywhere, only its hash is."`
	List listTokensCmd `cmd:"" help:"Print whose tokens a file holds."`
}

// tokensFrom is the file of tokens.
type tokensFrom struct {
	ConfigFile string `name:"configFile" aliases:"config-file" short:"c" placeholder:"FILE" help:"The properties file of the server, to find auth.tokensFile."`
	File       string `placeholder:"FILE" help:"The file of tokens; by default what the setting auth.tokensFile says."`
}

func (f *tokensFrom) path(a *app) (string, error) {
	if f.File != "" {
		return f.File, nil
	}
	store, _, err := a.load(&settingsFrom{ConfigFile: f.ConfigFile}, watchProperties)
	if err != nil {
		return "", err
	}
	if file := store.Current().Auth.TokensFile; file != "" {
		return file, nil
	}
	return "", errors.New("no file of tokens is named: set auth.tokensFile or give --file")
}

// newTokenCmd is `fingerpost token new`.
type newTokenCmd struct {
	tokensFrom
	Name    string   `required:"" help:"Whose token it is; it is also logged with what its owner does."`
	Role    string   `required:"" enum:"viewer,registrar,admin" help:"What its owner may do: viewer, registrar or admin."`
	Brokers []string `placeholder:"PATTERN" help:"Which broker names a registrar may register, as in bridge-*; all by default."`
}

// Run adds the token's line to the file, which a running server reads by itself.
func (c *newTokenCmd) Run(a *app) error {
	path, err := c.path(a)
	if err != nil {
		return err
	}
	token := auth.NewToken()
	line, err := auth.TokenLine(token, c.Name, c.Role, c.Brokers)
	if err != nil {
		return err
	}
	text, err := readTokens(path)
	if err != nil {
		return err
	}
	for _, f := range tokenLines(text) {
		if f[0] == c.Name {
			return fmt.Errorf("%s has a token of %s already: remove its line first", path, c.Name)
		}
	}
	if len(text) > 0 && !bytes.HasSuffix(text, []byte("\n")) {
		text = append(text, '\n')
	}
	if err := kvfile.New(path, nil, nil).Save(append(text, line+"\n"...)); err != nil {
		return err
	}
	_, err = fmt.Fprintln(a.stdout, token)
	return err
}

// listTokensCmd is `fingerpost token list`.
type listTokensCmd struct{ tokensFrom }

// Run prints names and roles.
func (c *listTokensCmd) Run(a *app) error {
	path, err := c.path(a)
	if err != nil {
		return err
	}
	text, err := readTokens(path)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tROLE\tBROKERS")
	for _, f := range tokenLines(text) {
		fmt.Fprintf(w, "%s\t%s\t%s\n", f[0], f[1], strings.Join(f[3:], " "))
	}
	return w.Flush()
}

// readTokens returns the content of a file of tokens, nil if there is none. Its backup does
// not count: a file that somebody emptied or removed has no tokens any more.
func readTokens(path string) ([]byte, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return text, err
}

// tokenLines returns the fields of the lines of a file of tokens: name, role, hash and,
// for some, patterns.
func tokenLines(text []byte) [][]string {
	var out [][]string
	for line := range strings.Lines(string(text)) {
		line, _, _ = strings.Cut(line, "#")
		if f := strings.Fields(line); len(f) >= 3 {
			out = append(out, f)
		}
	}
	return out
}
