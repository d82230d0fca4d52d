package cli

import (
	"context"
	"io"
	"strings"
)

// Variables of the environment that commands read. A server reads none of them.
const (
	// ServerEnv names the server where no flag does.
	ServerEnv = "FINGERPOST_SERVER"
	// TokenEnv holds a token.
	TokenEnv = "FINGERPOST_TOKEN"
	// TokenFileEnv names a file with a token.
	TokenFileEnv = "FINGERPOST_TOKEN_FILE"
	// RemotingEnv names the remoting address of a server to read from.
	RemotingEnv = "FINGERPOST_REMOTING"
)

// Env is what commands work with.
type Env struct {
	// Ctx ends when the user breaks off.
	Ctx            context.Context
	Getenv         func(string) string
	Stdout, Stderr io.Writer
	// Local returns where the server with a properties file, or with the usual
	// settings for "", is to be found from its own machine.
	Local func(configFile string) (Local, error)
}

// Local is how to reach the server on this machine.
type Local struct {
	// URL is that of its API; "" if it serves none.
	URL string
	// TokenFile is where it keeps the token of its first start; "" if that does not count.
	TokenFile string
}

// Chinese reports whether the user reads Chinese, by the usual variables.
func Chinese(getenv func(string) string) bool {
	for _, name := range []string{"LC_ALL", "LC_MESSAGES", "LANG"} {
		if v := getenv(name); v != "" {
			return strings.HasPrefix(strings.ToLower(v), "zh")
		}
	}
	return false
}

func (e *Env) language() string {
	if Chinese(e.Getenv) {
		return "zh-CN"
	}
	return "en"
}
