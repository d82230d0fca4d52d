package api

import (
	"context"
	"net/http"
	"net/url"
)

// Digest returns what identifies the content of the tables; it may be compared with that
// of another node.
func (c *Client) Digest(ctx context.Context, how Read) (*Digest, error) {
	return fetch[Digest](ctx, c, at("digest").reading(how))
}

// TopicDigests returns the digest of every topic's route, sorted by topic.
func (c *Client) TopicDigests(ctx context.Context, how Read) ([]TopicDigest, error) {
	out, err := fetch[[]TopicDigest](ctx, c, at("digest").with(url.Values{"perTopic": {"true"}}).reading(how))
	return *out, err
}

// ChangeFilter says which changes. Words of one field are alternatives, different fields
// must all fit; an empty field wants everything.
type ChangeFilter struct {
	// Kinds are of those that [Kinds] returns.
	Kinds []string
	// Topics, Brokers and Clusters may hold * and ?.
	Topics, Brokers, Clusters []string
}

func (f ChangeFilter) query(q url.Values) url.Values {
	return all(all(all(all(q, "kind", f.Kinds), "topic", f.Topics), "broker", f.Brokers), "cluster", f.Clusters)
}

// EventsOptions say which change sets of the history are listed: newest first, unless
// Sort is "revision". Names do not narrow it, and it does not wait.
type EventsOptions struct {
	List
	ChangeFilter
	Actors, Faces, Actions []string
	// Since and Until are instants in RFC 3339, or how long ago, such as 10m; either may
	// be left out.
	Since, Until string
}

// Events lists change sets that are still kept.
func (c *Client) Events(ctx context.Context, o EventsOptions) (*EventList, error) {
	q := all(all(all(o.ChangeFilter.query(o.List.query()), "actor", o.Actors), "face", o.Faces), "action", o.Actions)
	return fetch[EventList](ctx, c, at("events").with(set(q, "since", o.Since, "until", o.Until)))
}

// EventOptions say which changes of a change set are read, and which page of them.
type EventOptions struct {
	ChangeFilter
	// Limit and After are as in [List].
	Limit int
	After string
}

// Event returns a page of all changes of one change set.
func (c *Client) Event(ctx context.Context, revision string, o EventOptions) (*EventPage, error) {
	return fetch[EventPage](ctx, c, at("events", revision).with(o.query(List{Limit: o.Limit, After: o.After}.query())))
}

// ConnectionsOptions say which connections are listed. Of what narrows by name only
// Contains counts, which also looks at addresses, languages, versions and brokers.
type ConnectionsOptions struct {
	List
	// Kinds are of broker, client, admin and unknown.
	Kinds []string
}

// Connections lists the connections to the remoting port.
func (c *Client) Connections(ctx context.Context, o ConnectionsOptions) (*ConnectionList, error) {
	return fetch[ConnectionList](ctx, c, at("connections").with(all(o.List.query(), "kind", o.Kinds)))
}

// Stats returns counters and short series.
func (c *Client) Stats(ctx context.Context) (*Stats, error) {
	return fetch[Stats](ctx, c, at("stats"))
}

// Export returns everything there is, which may be longer than what the client reads by
// default; see [Options].
func (c *Client) Export(ctx context.Context) (*Export, error) {
	return fetch[Export](ctx, c, at("export"))
}

// Version tells what is running.
func (c *Client) Version(ctx context.Context) (*Version, error) {
	return fetch[Version](ctx, c, at("version"))
}

// WhoAmI tells what the server takes the caller for.
func (c *Client) WhoAmI(ctx context.Context) (*WhoAmI, error) {
	return fetch[WhoAmI](ctx, c, at("whoami"))
}

// Probes of [Client.Health].
const (
	// Livez fails when the process should be restarted.
	Livez = "livez"
	// Readyz fails when no traffic should come.
	Readyz = "readyz"
	// Healthz fails when somebody should look.
	Healthz = "healthz"
)

// Health asks one of the probes. A probe that fails is an answer, not an error.
func (c *Client) Health(ctx context.Context, probe string) (*Health, error) {
	r := at(probe).with(url.Values{"verbose": {"true"}})
	r.root, r.fine = true, http.StatusServiceUnavailable
	return fetch[Health](ctx, c, r)
}

// ProblemPage returns what a code of a problem means and what to do about it.
func (c *Client) ProblemPage(ctx context.Context, code string) (*ProblemPage, error) {
	r := at("problems", code)
	r.root = true
	return fetch[ProblemPage](ctx, c, r)
}
