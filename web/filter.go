package web

import (
	"encoding/json"
	"slices"

	"fingerpost/api"
	"fingerpost/internal/convert"
	"fingerpost/registry"
)

// Which changes pass a filter is told by package convert; here is the same for what
// stands now.

func wants(f *convert.Filter, kind string) bool {
	return f == nil || len(f.Kinds) == 0 || slices.Contains(f.Kinds, kind)
}

func fits(patterns []string, name string) bool {
	return len(patterns) == 0 || slices.ContainsFunc(patterns, func(p string) bool { return convert.Match(p, name) })
}

// wantsGroup reports whether the members of a group are asked for. As with changes, a
// filter on topics asks for the brokers that serve one.
func wantsGroup(v *convert.View, f *convert.Filter, g *registry.Group) bool {
	if f == nil {
		return true
	}
	if !fits(f.Brokers, g.Name) || !fits(f.Clusters, g.Cluster) {
		return false
	}
	if len(f.Topics) == 0 {
		return true
	}
	for t := range v.BrokerTopics(g.Name) {
		if fits(f.Topics, t.Name) {
			return true
		}
	}
	return false
}

// wantsTopic reports whether a topic is asked for: all of it, if one of its brokers is.
func wantsTopic(v *convert.View, f *convert.Filter, t *registry.Topic) bool {
	if f == nil || len(f.Topics)+len(f.Brokers)+len(f.Clusters) == 0 {
		return true
	}
	return fits(f.Topics, t.Name) && slices.ContainsFunc(t.Queues(), func(q registry.QueueData) bool {
		g := v.Group(q.Broker)
		return fits(f.Brokers, q.Broker) && (g == nil || fits(f.Clusters, g.Cluster))
	})
}

// Bounds of a subscription, far above what anybody types.
const (
	maxSubscriptions = 16
	maxWords         = 100
	maxID            = 64
)

// filterOf reads a request's filter. It is nil if everything is wanted; key is equal
// for equal filters. Problems are listed by field.
func filterOf(r *api.FeedRequest) (f *convert.Filter, key string, bad []api.FieldError) {
	no := func(field, detail string) {
		pointer := "/" + field
		bad = append(bad, api.FieldError{Pointer: &pointer, Code: "invalid", Detail: detail})
	}
	if r.ID == "" || len(r.ID) > maxID {
		no("id", "must be 1 to 64 bytes long")
	}
	for _, k := range r.Kinds {
		if !slices.Contains(api.Kinds(), k) {
			no("kinds", "must be of "+string(mustJSON(api.Kinds())))
			break
		}
	}
	for field, words := range map[string][]string{"kinds": r.Kinds, "topics": r.Topics, "brokers": r.Brokers, "clusters": r.Clusters} {
		if len(words) > maxWords {
			no(field, "must be at most 100")
		}
	}
	f = &convert.Filter{Kinds: r.Kinds, Topics: r.Topics, Brokers: r.Brokers, Clusters: r.Clusters}
	if f.Open() {
		return nil, "", bad
	}
	b, _ := json.Marshal(f) // strings always encode
	return f, string(b), bad
}
