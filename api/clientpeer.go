package api

import (
	"context"
	"fmt"
	"net/http"
	"strings"
)

// Peers returns the other NameServers of the set and how they compare.
func (c *Client) Peers(ctx context.Context) (*PeerList, error) {
	return fetch[PeerList](ctx, c, at("peers"))
}

// PeerDiffOptions say which differences are listed, and which page of them.
type PeerDiffOptions struct {
	// Kinds are of broker, member, topic, route, kv and setting.
	Kinds []string
	// Topics and Brokers may hold * and ?.
	Topics, Brokers []string
	// Limit and After are as in [List].
	Limit int
	After string
}

// PeerDiff lists on what a peer, named by its address, differs from the server that is
// asked.
func (c *Client) PeerDiff(ctx context.Context, peer string, o PeerDiffOptions) (*PeerDiff, error) {
	q := all(all(all(List{Limit: o.Limit, After: o.After}.query(), "kind", o.Kinds), "topic", o.Topics), "broker", o.Brokers)
	return fetch[PeerDiff](ctx, c, at("peers", peer, "diff").with(q))
}

// CheckPeer compares a peer now. A difference that is seen for the first time is Pending
// and counts when it is seen again.
func (c *Client) CheckPeer(ctx context.Context, peer string) (*Peer, error) {
	r := at("peers", peer, "check")
	r.method = http.MethodPost
	return fetch[Peer](ctx, c, r)
}

// OnPeersToo returns a client whose WipeWritePerm, RestoreWritePerm, DeleteTopic, PutKV and
// DeleteKV are made on every peer of the server too, once they have been made there. An
// answer's Results tell what became of it on each; DeleteKV, which has no answer, returns
// what did not work as an error, a *[PeersFailed]. Everything else is as before.
func (c *Client) OnPeersToo() *Client {
	also := *c
	also.onPeers = true
	return &also
}

// PeersFailed is a change that was made on the server, but not on all of its peers.
type PeersFailed struct{ Failed []PeerResult }

// Error names the peers, and why.
func (e *PeersFailed) Error() string {
	words := make([]string, len(e.Failed))
	for i, p := range e.Failed {
		words[i] = fmt.Sprintf("%s: %d", p.Peer, p.Status)
		if p.Problem != nil {
			words[i] = p.Peer + ": " + p.Problem.Detail
		}
	}
	return "api: made, but not on " + strings.Join(words, "; ")
}

// spread makes a change one that goes to the peers too, if the client is for that.
func (c *Client) spread(r request) request {
	if c.onPeers {
		r.query = set(orNone(r.query), "fanout", "peers")
	}
	return r
}
