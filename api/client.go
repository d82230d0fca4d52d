package api

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Options are how a [Client] presents itself and what it takes. The zero value asks
// without a credential.
type Options struct {
	// Token is sent as a bearer token. It excludes Name.
	Token string
	// Name and Password are sent with the Basic scheme.
	Name, Password string
	// HTTP sends the requests; nil is a client of the [Client]'s own, which follows no
	// redirects and has no time limit besides the context. One with a Timeout cuts
	// waits and watches short.
	HTTP *http.Client
	// Language is that of titles and details in problems: "en" or "zh-CN"; "" leaves
	// it to the server.
	Language string
	// Agent is the User-Agent, which a registered member shows as its language; ""
	// is "fingerpost-go".
	Agent string
	// MaxBody is the longest answer, or item of a watch, that is read, in bytes; 0 is
	// 64 MiB. A longer one is an error.
	MaxBody int64
}

// Client says what the package describes, to one server. Every method is one request,
// but for Watch, which is one request that goes on, and KeepAlive: nothing is repeated
// behind the caller's back. What the server refuses is returned as a *[Problem]; other
// errors mean that no answer came, so that a change may or may not have been made; all
// changes can be repeated without harm. Methods may be called by anybody at any time.
type Client struct {
	base string // without a slash at the end
	o    Options
	http *http.Client
	// onPeers tells that changes are made on the server's peers too.
	onPeers bool
}

// DefaultMaxBody is the longest answer that a [Client] reads unless told otherwise.
const DefaultMaxBody = 64 << 20

// New returns a client of the server at a URL such as "http://127.0.0.1:8876", or with
// the path below which the server was told to be. It sends nothing.
func New(baseURL string, o Options) (*Client, error) {
	u, err := url.Parse(baseURL)
	switch {
	case err != nil:
		return nil, fmt.Errorf("api: the base URL: %w", err)
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return nil, fmt.Errorf("api: the base URL must be such as http://127.0.0.1:8876, not %q", baseURL)
	case u.User != nil:
		return nil, errors.New("api: the base URL holds a credential, which belongs into the options")
	case u.RawQuery != "" || u.Fragment != "":
		return nil, fmt.Errorf("api: the base URL %q has a query or a fragment", baseURL)
	case o.Token != "" && o.Name != "":
		return nil, errors.New("api: give a token or a name, not both")
	}
	if o.Agent == "" {
		o.Agent = "fingerpost-go"
	}
	if o.MaxBody <= 0 {
		o.MaxBody = DefaultMaxBody
	}
	c := &Client{base: strings.TrimSuffix(u.String(), "/"), o: o, http: o.HTTP}
	if c.http == nil {
		c.http = &http.Client{
			Transport:     http.DefaultTransport.(*http.Transport).Clone(),
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}
	}
	return c, nil
}

// CloseIdleConnections closes the connections that no request uses at present.
func (c *Client) CloseIdleConnections() { c.http.CloseIdleConnections() }

// ErrUnchanged is returned by a read whose [State] is still the present one.
var ErrUnchanged = errors.New("api: it has not changed since it was read")

// State remembers in which state something was read. Handed to the same read again it
// asks for another state only; handed to a change it asks that there be no other. It
// must not be used by two calls at once, nor for two different things.
type State struct {
	// ETag names the state of the thing; "" is none yet.
	ETag string
	// Revision is that of the whole registry when the answer was made.
	Revision string
}

// Read is how something is read. The zero value reads it at once.
type Read struct {
	// State, if there is one, is filled by the read. If it was filled before and the
	// thing has not changed, the answer is [ErrUnchanged].
	State *State
	// Wait is how long the server waits for a change from State: 500 ms to 300 s; 0
	// does not wait. Where there is a proxy in between, stay below its own limit.
	Wait time.Duration
}

// Effect says whether a change is made.
type Effect bool

const (
	// Apply makes the change.
	Apply Effect = false
	// DryRun checks everything and tells what would become of it, and changes nothing.
	DryRun Effect = true
)

// Write is how something is changed. The zero value changes it whatever its state.
type Write struct {
	Effect Effect
	// State, if it was filled, is what must not have changed since: otherwise the
	// answer is a problem with the code precondition-failed. The change fills it anew.
	State *State
}

// List is which part of a list is read, and in which order.
type List struct {
	Read
	// Limit is how many items, 1 to 10000; 0 is the server's 200.
	Limit int
	// After is Next of the page before; "" begins.
	After string
	// Sort is the order, as the operation names it, such as "-topic"; "" is by name.
	Sort string
	// Prefix, Contains and Match narrow by name: how it begins, what it contains in
	// whatever case, a pattern with * and ?.
	Prefix, Contains, Match string
}

func (l List) query() url.Values {
	q := url.Values{}
	if l.Limit != 0 {
		q.Set("limit", fmt.Sprint(l.Limit))
	}
	return set(q, "after", l.After, "sort", l.Sort, "prefix", l.Prefix, "q", l.Contains, "match", l.Match)
}

// set puts those of the names and values in turn whose value is not empty.
func set(q url.Values, pairs ...string) url.Values {
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			q.Set(pairs[i], pairs[i+1])
		}
	}
	return q
}

// all puts every value of a parameter.
func all(q url.Values, name string, values []string) url.Values {
	if len(values) > 0 {
		q[name] = values
	}
	return q
}

// dry tells the server of the effect.
func (e Effect) dry(q url.Values) url.Values {
	if e == DryRun {
		q.Set("dryRun", "true")
	}
	return q
}
