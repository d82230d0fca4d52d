package api

import (
	"context"
	"net/http"
	"net/url"
)

// RouteOptions shape a route.
type RouteOptions struct {
	Read
	// Zone shows the route as a client of that zone gets it; "" as others do.
	Zone string
	// ActingMaster is "off" for the ids that slaves really have; "" or "auto" shows
	// them as clients get them.
	ActingMaster string
}

// Route returns where the messages of a topic go.
func (c *Client) Route(ctx context.Context, topic string, o RouteOptions) (*TopicRoute, error) {
	q := set(url.Values{}, "zone", o.Zone, "actingMaster", o.ActingMaster)
	return fetch[TopicRoute](ctx, c, at("topics", topic, "route").with(q).reading(o.Read))
}

// TopicFilter says which topics. Words of one field are alternatives, different fields
// must all fit; an empty field wants everything.
type TopicFilter struct {
	Clusters, Brokers []string
	// Types are of normal, retry, dlq, lmq, system and reply.
	Types []string
}

func (f TopicFilter) query(q url.Values) url.Values {
	return all(all(all(q, "cluster", f.Clusters), "broker", f.Brokers), "type", f.Types)
}

// RoutesOptions say which routes. At least one of the fields that name or narrow topics
// is needed.
type RoutesOptions struct {
	List
	TopicFilter
	// Topics are names, at most 1000 and as many as fit into a URL.
	Topics []string
	// Zone and ActingMaster are as in [RouteOptions].
	Zone, ActingMaster string
}

// Routes returns many routes at one revision.
func (c *Client) Routes(ctx context.Context, o RoutesOptions) (*RouteList, error) {
	q := set(all(o.TopicFilter.query(o.List.query()), "topic", o.Topics), "zone", o.Zone, "actingMaster", o.ActingMaster)
	return fetch[RouteList](ctx, c, at("routes").with(q).reading(o.Read))
}

// QueryRoutes is Routes for up to 1000 names of any length, in one answer.
func (c *Client) QueryRoutes(ctx context.Context, query RouteQuery) (*RouteList, error) {
	r := at("routes", "query").saying(query)
	r.method = http.MethodPost
	return fetch[RouteList](ctx, c, r)
}

// ExplainRoute returns why the route of a topic is as it is, for a zone or, with "", for
// those without one.
func (c *Client) ExplainRoute(ctx context.Context, topic, zone string) (*Explanation, error) {
	return fetch[Explanation](ctx, c, at("topics", topic, "route", "explain").with(set(url.Values{}, "zone", zone)))
}
