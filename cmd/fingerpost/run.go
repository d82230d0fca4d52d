package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/alecthomas/kong"

	"fingerpost/config"
	"fingerpost/internal/cli"
)

// app is what the commands work with.
type app struct {
	ctx            context.Context
	env            []string
	stdout, stderr io.Writer
}

// commands is the command line.
type commands struct {
	Serve      serveCmd      `cmd:"" default:"withargs" help:"Run the server. This is what happens without a command."`
	Route      cli.Route     `cmd:"" help:"Show where the messages of a topic go."`
	Topics     cli.Topics    `cmd:"" help:"List, show and remove topics."`
	Brokers    cli.Brokers   `cmd:"" help:"List brokers; take and give back their write permission."`
	Clusters   cli.Clusters  `cmd:"" help:"List clusters."`
	Watch      cli.Watch     `cmd:"" help:"Show what changes, as it changes."`
	Diff       cli.Diff      `cmd:"" help:"Compare two name servers of any kind; exit status 3 if they differ."`
	Events     cli.Events    `cmd:"" help:"Show what has changed, by whom."`
	KV         cli.KV        `cmd:"" name:"kv" help:"Read and change the key-value table."`
	Config     configCmds    `cmd:"" help:"Show settings: those a server here would have, or those of a running one; change them."`
	Token      tokenCmd      `cmd:"" help:"Make or list tokens for the REST API."`
	Drain      cli.Drain     `cmd:"" help:"Take a node out of service before it is stopped, and back."`
	Curlrc     curlrcCmd     `cmd:"" help:"Print a curl configuration with the token of the first start: fingerpost curlrc > rc; curl -K rc URL."`
	Health     healthCmd     `cmd:"" help:"Ask a running server whether it is ready; exit status 0 or 1."`
	Completion completionCmd `cmd:"" help:"Print a script that completes commands in bash, zsh, fish or powershell."`
	Version    versionCmd    `cmd:"" help:"Print the version."`
}

// configCmds is `fingerpost config`.
type configCmds struct {
	Show configCmd     `cmd:"" default:"withargs" help:"Print every setting that a server here would have, and where its value comes from. This is what happens without a further word."`
	Get  cli.GetConfig `cmd:"" help:"Show the settings of a running server."`
	Set  cli.SetConfig `cmd:"" help:"Change settings of a running server."`
}

const description = `A name server compatible with Apache RocketMQ: brokers and clients on the remoting port, a REST API and a live dashboard over HTTP.

Every setting can stand in a properties file with the keys that RocketMQ's NameServer uses, in an environment variable, or on the command line: the setting http.listen is FINGERPOST_HTTP_LISTEN and --http-listen. "fingerpost -c FILE" reads a file, "fingerpost serve --help" lists all settings.`

// run is the whole program: it returns the exit status. It ends when the command is done
// or, for a server, when ctx is; the cause of ctx is logged.
func run(ctx context.Context, args, env []string, stdout, stderr io.Writer) int {
	err := dispatch(&app{ctx, env, stdout, stderr}, args)
	if err == nil {
		return cli.OK
	}
	for line := range strings.Lines(err.Error()) { // none if all has been said
		fmt.Fprintf(stderr, "fingerpost: %s\n", strings.TrimSuffix(line, "\n"))
	}
	return cli.Status(err)
}

func dispatch(a *app, args []string) error {
	done := false // kong has printed its help and wants the program to end
	parser, err := newParser(a, kong.Exit(func(int) { done = true }))
	if err != nil {
		return err
	}
	if len(args) > 0 && args[0] == completeWord {
		return complete(a.stdout, parser.Model.Node, args[1:])
	}
	parsed, err := parser.Parse(args)
	switch {
	case done:
		return nil
	case err != nil:
		return &cli.Error{Status: cli.Misused, Err: usageError(err)}
	}
	return parsed.Run(a, a.commandEnv())
}

// newParser makes the parser of the whole command line.
func newParser(a *app, more ...kong.Option) (*kong.Kong, error) {
	var cmds commands
	cmds.Serve.Plugins = kong.Plugins{newSettingFlags()}
	cmds.Config.Show.Plugins = kong.Plugins{newSettingFlags()}
	parser, err := kong.New(&cmds, append([]kong.Option{
		kong.Name("fingerpost"), kong.Description(description), kong.Writers(a.stdout, a.stderr),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, FlagsLast: true, WrapUpperBound: 100}),
	}, more...)...)
	if err == nil {
		explain(parser.Model.Node, cli.Chinese(a.getenv))
	}
	return parser, err
}

// commandEnv is what the commands work with that ask running servers.
func (a *app) commandEnv() *cli.Env {
	return &cli.Env{Ctx: a.ctx, Getenv: a.getenv, Stdout: a.stdout, Stderr: a.stderr, Local: a.local}
}

// local finds the server of this machine by its settings.
func (a *app) local(configFile string) (cli.Local, error) {
	store, _, err := a.load(&settingsFrom{ConfigFile: configFile}, watchProperties)
	if err != nil {
		return cli.Local{}, err
	}
	cfg := store.Current()
	l := cli.Local{URL: baseURL(cfg)}
	if !hasCredentials(cfg) {
		l.TokenFile = filepath.Join(cfg.DataDir, adminToken)
	}
	return l, nil
}

// usageError adds to an unknown flag the nearest setting, if the parser has no proposal.
func usageError(err error) error {
	text := err.Error()
	if rest, ok := strings.CutPrefix(text, "unknown flag --"); ok && !strings.Contains(rest, "did you mean") {
		name, _, _ := strings.Cut(rest, "=")
		if key, ok := config.Nearest(name); ok {
			s, _ := config.Find(key)
			text += fmt.Sprintf("; did you mean --%s?", s.Flag())
		}
	}
	return errors.New(text + " (see fingerpost --help)")
}
