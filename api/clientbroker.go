package api

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
)

// Clusters lists clusters.
func (c *Client) Clusters(ctx context.Context, o List) (*ClusterList, error) {
	return fetch[ClusterList](ctx, c, at("clusters").with(o.query()).reading(o.Read))
}

// Cluster returns one cluster.
func (c *Client) Cluster(ctx context.Context, name string, how Read) (*Cluster, error) {
	return fetch[Cluster](ctx, c, at("clusters", name).reading(how))
}

// ClusterInfo returns RocketMQ's own form of all clusters.
func (c *Client) ClusterInfo(ctx context.Context, how Read) (*ClusterInfo, error) {
	return fetch[ClusterInfo](ctx, c, at("cluster-info").reading(how))
}

// BrokersOptions say which broker sets are listed.
type BrokersOptions struct {
	List
	Clusters, Zones []string
	// States are of live, late and expired, or all.
	States []string
	// Sources are of remoting and rest.
	Sources []string
}

// Brokers lists broker sets with their members.
func (c *Client) Brokers(ctx context.Context, o BrokersOptions) (*BrokerList, error) {
	q := all(all(all(all(o.List.query(), "cluster", o.Clusters), "zone", o.Zones), "state", o.States), "source", o.Sources)
	return fetch[BrokerList](ctx, c, at("brokers").with(q).reading(o.Read))
}

// Broker returns one broker set with its members.
func (c *Client) Broker(ctx context.Context, name string, how Read) (*BrokerSet, error) {
	return fetch[BrokerSet](ctx, c, at("brokers", name).reading(how))
}

// BrokerTopics lists the topics of a broker with its part of each.
func (c *Client) BrokerTopics(ctx context.Context, name string, o List) (*BrokerTopicList, error) {
	return fetch[BrokerTopicList](ctx, c, at("brokers", name, "topics").with(o.query()).reading(o.Read))
}

// WritePerm tells whether producers may write to a broker, and if not, who took that.
func (c *Client) WritePerm(ctx context.Context, name string) (*WritePerm, error) {
	return fetch[WritePerm](ctx, c, at("brokers", name, "write-perm"))
}

// WipeWritePerm makes every topic of a broker read-only, until the broker registers
// something changed. It does not stop the broker.
func (c *Client) WipeWritePerm(ctx context.Context, name string, e Effect) (*WritePermChanged, error) {
	return fetch[WritePermChanged](ctx, c, c.spread(at("brokers", name, "write-perm").writing(http.MethodDelete, Write{Effect: e})))
}

// Modes of [Client.RestoreWritePerm].
const (
	// RestorePrevious gives each topic what the broker registered for it.
	RestorePrevious = "previous"
	// RestoreReadWrite makes every topic readable and writable, as the Java server does.
	RestoreReadWrite = "rw"
)

// RestoreWritePerm gives a broker's topics their write permission back.
func (c *Client) RestoreWritePerm(ctx context.Context, name, mode string, e Effect) (*WritePermChanged, error) {
	r := at("brokers", name, "write-perm").with(set(url.Values{}, "mode", mode))
	return fetch[WritePermChanged](ctx, c, c.spread(r.writing(http.MethodPut, Write{Effect: e})))
}

func member(name string, id int64, more ...string) request {
	return at(append([]string{"brokers", name, "members", strconv.FormatInt(id, 10)}, more...)...)
}

// Member returns one member.
func (c *Client) Member(ctx context.Context, name string, id int64, how Read) (*Member, error) {
	return fetch[Member](ctx, c, member(name, id).reading(how))
}

// RegisterOptions are how a member registers.
type RegisterOptions struct {
	Write
	// Takeover takes the place from whoever holds it; only an admin may.
	Takeover bool
}

// Register registers a member, or replaces what it has registered. It lives from then
// on for its timeout; see [Client.Heartbeat] and [Client.KeepAlive].
func (c *Client) Register(ctx context.Context, name string, id int64, reg Registration, o RegisterOptions) (*Registered, error) {
	q := url.Values{}
	if o.Takeover {
		q.Set("takeover", "true")
	}
	r := member(name, id).with(q).saying(reg).writing(http.MethodPut, o.Write)
	if reg.TopicConfigTable != nil {
		r.body = fullStatement{reg, reg.TopicConfigTable} // an empty one says that there are no topics
	}
	return fetch[Registered](ctx, c, r)
}

// fullStatement is a registration whose topics are sent even if there are none.
type fullStatement struct {
	Registration
	TopicConfigTable map[string]TopicConfig `json:"topicConfigTable"`
}

// Patch changes some of what a member has registered. What is nil stays; what is to be
// removed has to be registered anew without it.
func (c *Client) Patch(ctx context.Context, name string, id int64, p MemberPatch, how Write) (*Registered, error) {
	return fetch[Registered](ctx, c, member(name, id).saying(p).writing(http.MethodPatch, how))
}

// Heartbeat renews a member's time. With a version the answer tells whether the server's
// topics of it are those. A problem with the code member-not-found asks to register again,
// one with the status 409 to stop: another has the place.
func (c *Client) Heartbeat(ctx context.Context, name string, id int64, v *DataVersion) (*Pulse, error) {
	r := member(name, id, "heartbeat")
	r.method = http.MethodPost
	if v != nil {
		r.body = Heartbeat{DataVersion: v}
	}
	return fetch[Pulse](ctx, c, r)
}

// Heartbeats renews up to 1000 members. Each has an outcome of its own in the answer.
func (c *Client) Heartbeats(ctx context.Context, batch HeartbeatBatch) (*BeatResults, error) {
	r := at("heartbeats").saying(batch)
	r.method = http.MethodPost
	return fetch[BeatResults](ctx, c, r)
}

// UnregisterOptions are how a member leaves.
type UnregisterOptions struct {
	Effect Effect
	// Force removes it even if it is alive on the remoting port; only an admin may.
	Force bool
}

// Unregister removes a member at once.
func (c *Client) Unregister(ctx context.Context, name string, id int64, o UnregisterOptions) error {
	q := url.Values{}
	if o.Force {
		q.Set("force", "true")
	}
	return c.do(ctx, member(name, id).with(q).writing(http.MethodDelete, Write{Effect: o.Effect}), nil)
}

// ConflictOptions say which conflicts are listed; empty ones ask for all.
type ConflictOptions struct {
	Read
	// Kinds are such as "place-contested", Brokers are names.
	Kinds, Brokers []string
	// Active leaves out what has not been seen in the last minutes.
	Active bool
}

// Conflicts lists what brokers are at odds about, the latest first.
func (c *Client) Conflicts(ctx context.Context, o ConflictOptions) (*ConflictList, error) {
	q := all(all(url.Values{}, "kind", o.Kinds), "broker", o.Brokers)
	if o.Active {
		q.Set("active", "true")
	}
	return fetch[ConflictList](ctx, c, at("conflicts").with(q).reading(o.Read))
}
