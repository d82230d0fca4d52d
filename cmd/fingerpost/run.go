package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"

	"fingerpost/config"
)

// app is what the commands work with.
type app struct {
	ctx            context.Context
	env            []string
	stdout, stderr io.Writer
}

// commands is the command line.
type commands struct {
	Serve   serveCmd   `cmd:"" default:"withargs" help:"Run the server. This is what happens without a command."`
	Config  configCmd  `cmd:"" help:"Print every setting with its effective value and where it comes from."`
	Token   tokenCmd   `cmd:"" help:"Make or list tokens for the REST API."`
	Curlrc  curlrcCmd  `cmd:"" help:"Print a curl configuration with the token of the first start: fingerpost curlrc > rc; curl -K rc URL."`
	Health  healthCmd  `cmd:"" help:"Ask a running server whether it is ready; exit status 0 or 1."`
	Version versionCmd `cmd:"" help:"Print the version."`
}

const description = `A name server compatible with Apache RocketMQ: brokers and clients on the remoting port, a REST API and a live dashboard over HTTP.

Every setting can stand in a properties file with the keys that RocketMQ's NameServer uses, in an environment variable, or on the command line: the setting http.listen is FINGERPOST_HTTP_LISTEN and --http-listen. "fingerpost -c FILE" reads a file, "fingerpost serve --help" lists all settings.`

// run is the whole program: it returns the exit status. It ends when the command is done
// or, for a server, when ctx is; the cause of ctx is logged.
func run(ctx context.Context, args, env []string, stdout, stderr io.Writer) int {
	err := dispatch(&app{ctx, env, stdout, stderr}, args)
	if err == nil {
		return 0
	}
	for line := range strings.Lines(err.Error()) {
		fmt.Fprintf(stderr, "fingerpost: %s\n", strings.TrimSuffix(line, "\n"))
	}
	return 1
}

func dispatch(a *app, args []string) error {
	var cmds commands
	cmds.Serve.Plugins = kong.Plugins{newSettingFlags()}
	cmds.Config.Plugins = kong.Plugins{newSettingFlags()}
	done := false // kong has printed its help and wants the program to end
	parser, err := kong.New(&cmds, kong.Name("fingerpost"), kong.Description(description),
		kong.Writers(a.stdout, a.stderr), kong.Exit(func(int) { done = true }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, FlagsLast: true, WrapUpperBound: 100}))
	if err != nil {
		return err
	}
	parsed, err := parser.Parse(args)
	switch {
	case done:
		return nil
	case err != nil:
		return usageError(err)
	}
	return parsed.Run(a)
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
