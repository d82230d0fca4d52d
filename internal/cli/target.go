package cli

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"runtime"
	"strings"
	"time"

	"fingerpost/api"
)

// Server is which server a command asks, and as whom.
type Server struct {
	URL        string        `name:"server" short:"s" placeholder:"URL" help:"The server's URL, or host:port; by default FINGERPOST_SERVER, or the server of this machine's settings."`
	TokenFile  string        `placeholder:"FILE" help:"A file with a token, bare or as curlrc prints it; by default the token in FINGERPOST_TOKEN, the file in FINGERPOST_TOKEN_FILE, or for the server of this machine the token of its first start."`
	ConfigFile string        `name:"configFile" aliases:"config-file" short:"c" placeholder:"FILE" help:"The properties file of the server on this machine, to find its address and its token."`
	CACert     string        `name:"ca-cert" placeholder:"FILE" help:"A PEM file of authorities to trust besides the system's."`
	Timeout    time.Duration `default:"10s" help:"How long to wait for an answer."`
}

// target is a server found and how to talk to it.
type target struct {
	*api.Client
	url  string
	wait time.Duration
}

// dial makes the client of the server. It sends nothing.
func (s *Server) dial(e *Env) (*target, error) {
	url, tokenFile := s.URL, ""
	if url == "" {
		url = e.Getenv(ServerEnv)
	}
	if url == "" {
		local, err := e.Local(s.ConfigFile)
		if err != nil {
			return nil, err
		}
		if local.URL == "" {
			return nil, errors.New("the settings of this machine's server switch HTTP off: name a server by --server, or read from its remoting port by --remoting")
		}
		url, tokenFile = local.URL, local.TokenFile
	}
	if !strings.Contains(url, "://") {
		url = "http://" + url
	}
	token, err := s.token(e, tokenFile)
	if err != nil {
		return nil, err
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	if s.CACert != "" {
		if transport.TLSClientConfig, err = trusting(s.CACert); err != nil {
			return nil, err
		}
	}
	c, err := api.New(url, api.Options{
		Token: token, Language: e.language(), Agent: "fingerpost-cli",
		HTTP: &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
	})
	if err != nil {
		return nil, Misuse("--server: %s", strings.TrimPrefix(err.Error(), "api: "))
	}
	return &target{c, url, s.Timeout}, nil
}

// ask runs a request under the time limit and explains its error.
func (t *target) ask(e *Env, f func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(e.Ctx, t.wait)
	defer cancel()
	return explained(f(ctx), t.url)
}

// with dials and asks.
func (s *Server) with(e *Env, f func(context.Context, *target) error) error {
	t, err := s.dial(e)
	if err != nil {
		return err
	}
	defer t.CloseIdleConnections()
	return t.ask(e, func(ctx context.Context) error { return f(ctx, t) })
}

func trusting(file string) (*tls.Config, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("--ca-cert: %w", err)
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(text) {
		return nil, Misuse("--ca-cert: %s holds no certificate in PEM form", file)
	}
	return &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: pool}, nil
}

// token returns the token to show: "" is none. What the user names must be there; the
// one that the local server made is used if it is, and otherwise most reads go without.
func (s *Server) token(e *Env, local string) (string, error) {
	if s.TokenFile == "" {
		if t := e.Getenv(TokenEnv); t != "" {
			return strings.TrimSpace(t), nil
		}
	}
	named := s.TokenFile
	if named == "" {
		named = e.Getenv(TokenFileEnv)
	}
	if named != "" {
		return tokenIn(named)
	}
	if local == "" {
		return "", nil
	}
	if t, err := tokenIn(local); err == nil {
		return t, nil
	}
	return "", nil
}

// curlHeader is a line of a curl configuration that sends a token.
var curlHeader = regexp.MustCompile(`(?mi)^\s*-?-?header\s*[=:]?\s*"Authorization: Bearer ([^"]*)"`)

// maxTokenFile bounds what is read of a file with a token.
const maxTokenFile = 64 << 10

// tokenIn reads a token from a file, bare or as curlrc prints it. It refuses a file that
// others can read.
func tokenIn(file string) (string, error) {
	info, err := os.Stat(file)
	switch {
	case err != nil:
		return "", fmt.Errorf("read the token: %w", err)
	case runtime.GOOS != "windows" && info.Mode().IsRegular() && info.Mode().Perm()&0o077 != 0:
		return "", fmt.Errorf("the token in %s can be read by others: chmod 600 %s", file, file)
	case info.Size() > maxTokenFile:
		return "", fmt.Errorf("%s is too long to be a file with a token", file)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("read the token: %w", err)
	}
	token := strings.TrimSpace(string(text))
	if m := curlHeader.FindStringSubmatch(token); m != nil {
		token = strings.NewReplacer(`\"`, `"`, `\\`, `\`).Replace(m[1])
	}
	if token == "" || strings.ContainsAny(token, " \t\r\n") {
		return "", fmt.Errorf("%s holds no token: it is one word, or what curlrc prints", file)
	}
	return token, nil
}
