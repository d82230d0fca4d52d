package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"fingerpost/config"
)

// healthCmd is `fingerpost health`, for containers that have no other program.
type healthCmd struct {
	ConfigFile string        `name:"configFile" aliases:"config-file" short:"c" placeholder:"FILE" help:"The properties file of the server, to find its address."`
	Addr       string        `placeholder:"URL" help:"The server's URL or host:port, if it is not the one that the settings say."`
	Live       bool          `help:"Ask only whether it lives."`
	Timeout    time.Duration `default:"3s" help:"How long to wait for the answer."`
}

// maxHealth bounds what is read and shown of an answer.
const maxHealth = 4096

// Run asks /readyz, or /livez. A server that is not ready only because it waits for its
// brokers or cannot save is in order: to stop it for that would make the wait begin anew,
// and mend no disk. A server
// without HTTP is asked whether it accepts a connection on the remoting port.
func (h *healthCmd) Run(a *app) error {
	ctx, cancel := context.WithTimeout(a.ctx, h.Timeout)
	defer cancel()
	base := h.Addr
	if base == "" {
		store, _, err := a.load(&settingsFrom{ConfigFile: h.ConfigFile}, watchProperties)
		if err != nil {
			return err
		}
		if base = baseURL(store.Current()); base == "" {
			return dial(ctx, remotingAddr(store.Current()))
		}
	} else if !strings.Contains(base, "://") {
		base = "http://" + base
	}
	path := "/readyz?verbose"
	if h.Live {
		path = "/livez"
	}
	body, err := ask(ctx, strings.TrimSuffix(base, "/")+path)
	if err != nil {
		return err
	}
	fmt.Fprintln(a.stdout, body)
	return nil
}

// ask returns the text of a good answer; that of a bad one is the error.
func ask(ctx context.Context, url string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return "", err
	}
	// The server is the one on this machine, and the question tells it nothing: a
	// certificate made for its outside name is as good as any.
	t := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}
	resp, err := (&http.Client{Transport: t}).Do(req)
	if err != nil {
		return "", fmt.Errorf("no answer from %s: %w", url, errors.Unwrap(err))
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(io.LimitReader(resp.Body, maxHealth))
	if err != nil {
		return "", err
	}
	text := strings.TrimSpace(string(b))
	if resp.StatusCode != http.StatusOK && !(resp.StatusCode == http.StatusServiceUnavailable && tolerable(text)) {
		return "", fmt.Errorf("%s answers %s: %s", url, resp.Status, strings.ReplaceAll(text, "\n", "; "))
	}
	return text, nil
}

// tolerable reports whether nothing is out of order that a restart would only make worse.
func tolerable(text string) bool {
	bad := 0
	for l := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(l, "[-] "); ok {
			bad++
			switch name, _, _ := strings.Cut(rest, " "); name {
			case "warmed-up", "kv-persist", "config-persist":
			default:
				return false
			}
		}
	}
	return bad > 0
}

func dial(ctx context.Context, addr string) error {
	c, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
	if err != nil {
		return err
	}
	return c.Close()
}

// baseURL returns the URL of a server with these settings as seen from its own machine,
// empty if it has no HTTP.
func baseURL(c *config.Config) string {
	if c.HTTP.Listen == "" {
		return ""
	}
	scheme := "http"
	if c.HTTP.CertFile != "" {
		scheme = "https"
	}
	return scheme + "://" + reachable(c.HTTP.Listen) + c.HTTP.BasePath
}

// remotingAddr returns where the remoting port is to be called from its own machine.
func remotingAddr(c *config.Config) string { return reachable(listenAddr(c)) }

// reachable turns an address to listen on into one to call.
func reachable(listen string) string {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return listen
	}
	if ip, err := netip.ParseAddr(host); host == "" || err == nil && ip.IsUnspecified() {
		host = "127.0.0.1"
		if ip.Is6() && !ip.Is4In6() {
			host = "::1"
		}
	}
	return net.JoinHostPort(host, port)
}
