package convert

import (
	"slices"
	"strings"

	"fingerpost/registry"
)

// Filter says which changes somebody wants to hear of. Several words for one thing are
// alternatives, different things must all fit. The zero value lets everything pass.
type Filter struct {
	// Kinds are api.Kind words.
	Kinds []string
	// Topics, Brokers and Clusters are names, with * and ? for any text and any
	// character. A filter on topics also lets members pass whose broker serves one.
	Topics, Brokers, Clusters []string
}

// Open reports whether everything passes.
func (f *Filter) Open() bool {
	return f == nil || len(f.Kinds)+len(f.Topics)+len(f.Brokers)+len(f.Clusters) == 0
}

func (f *Filter) kind(kind string) bool { return len(f.Kinds) == 0 || slices.Contains(f.Kinds, kind) }

func (f *Filter) topic(name string) bool { return len(f.Topics) == 0 || matchAny(f.Topics, name) }

func (f *Filter) broker(name string) bool { return len(f.Brokers) == 0 || matchAny(f.Brokers, name) }

func (f *Filter) cluster(name string) bool {
	return len(f.Clusters) == 0 || matchAny(f.Clusters, name)
}

// clusterOf is cluster for a broker that may be gone by now; then it passes.
func (f *Filter) clusterOf(s *registry.Snapshot, broker string) bool {
	if len(f.Clusters) == 0 {
		return true
	}
	g := s.Group(broker)
	return g == nil || f.cluster(g.Cluster)
}

// serves reports whether the broker now serves a topic that is asked for.
func (f *Filter) serves(s *registry.Snapshot, broker string) bool {
	if len(f.Topics) == 0 {
		return true
	}
	exact := true
	for _, name := range f.Topics {
		if strings.ContainsAny(name, "*?") {
			exact = false
		} else if t := s.Topic(name); t != nil {
			if _, ok := t.Queue(broker); ok {
				return true
			}
		}
	}
	if exact {
		return false
	}
	for t := range s.BrokerTopics(broker) {
		if f.topic(t.Name) {
			return true
		}
	}
	return false
}

func matchAny(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return Match(p, name) })
}

// Match reports whether a name fits a pattern in which * stands for any text and ? for
// any one character. It takes at most the product of their lengths.
func Match(pattern, name string) bool {
	p, n := 0, 0
	star, from := -1, 0 // the last *, and where in name its text ends for now
	for n < len(name) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, from = p, n
			p++
		case p < len(pattern) && pattern[p] == '?':
			p++
			n += runeLen(name[n:])
		case p < len(pattern) && pattern[p] == name[n]:
			p++
			n++
		case star >= 0:
			from++
			p, n = star+1, from
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}

func runeLen(s string) int {
	for i := range s {
		if i > 0 {
			return i
		}
	}
	return len(s)
}
