package main

import (
	"fmt"

	"fingerpost/api"
)

// param describes a query parameter: what it does, and the values it takes.
type param struct {
	text   string
	schema node
}

func word(words ...string) node { return node{"type": "string", "enum": words} }

func many(each node) node { return node{"type": "array", "items": each} }

func number(least, most, otherwise int) node {
	return node{"type": "integer", "minimum": least, "maximum": most, "default": otherwise}
}

var (
	text = node{"type": "string"}
	flag = node{"type": "boolean", "default": false}
	// either asks for one or the other; left out it asks for both.
	either   = node{"type": "boolean"}
	duration = node{"type": "string", "pattern": `^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`, "example": "30s"}
)

// params are the query parameters by name, as most operations take them.
var params = map[string]param{
	"pretty":       {"Indents the JSON.", flag},
	"wait":         {"From 500ms to 300s. With If-None-Match: the answer waits until the resource has another ETag, or this time is over (then 304).", duration},
	"limit":        {"The most items of a page.", number(1, 10_000, 200)},
	"after":        {"Where the page begins: next of the page before.", text},
	"sort":         {"The order.", nil},
	"fields":       {"Only these members of each item, with commas between them.", text},
	"prefix":       {"Names that begin like this.", text},
	"q":            {"Names that have this in them, in whatever case.", text},
	"match":        {"Names that fit the pattern; * is any text, ? any character.", text},
	"fanout":       {"peers makes the change on every peer too, once it has been made here; results tells what became of it there.", node{"type": "string", "enum": []string{"none", "peers"}, "default": "none"}},
	"dryRun":       {"Tells what would happen, and changes nothing.", flag},
	"zone":         {"As a client of this zone sees it.", text},
	"actingMaster": {"off shows slaves that act for a missing master under their own ids.", node{"type": "string", "enum": []string{"auto", "off"}, "default": "auto"}},
	"topic":        {"These topics; may come more than once.", many(text)},
	"cluster":      {"These clusters; may come more than once.", many(text)},
	"broker":       {"These brokers by name; may come more than once.", many(text)},
	"type":         {"Kinds of topics, told by the name; may come more than once.", many(word("normal", "retry", "dlq", "lmq", "system", "reply"))},
	"unit":         {"Whether the topic is one of a unit.", either},
	"unitSub":      {"Whether the topic has subscriptions of a unit.", either},
	"perm":         {"A permission that any of the brokers has: a number, or letters such as RW-.", node{"type": "string", "pattern": "^([0-9]+|[RWXrwx-]+)$", "example": "RW-"}},
	"messageType":  {"What brokers registered as message.type; may come more than once.", many(text)},
	"stale":        {"Whether the topic may be a leftover.", either},
	"reason":       {"Why it may be a leftover; may come more than once.", many(word("not-in-last-registration", "no-master", "read-only-everywhere"))},
	"olderThan":    {"Leftovers for at least this long.", duration},
	"state":        {"States of members; expired ones have left in the last ten minutes; may come more than once.", many(word("live", "late", "expired", "all"))},
	"source":       {"The face over which members registered; may come more than once.", many(word("remoting", "rest"))},
	"takeover":     {"Takes a place that another holds. For admins.", flag},
	"force":        {"Removes a member that another holds. For admins.", flag},
	"mode":         {"previous gives back what brokers registered, rw makes everything readable and writable.", node{"type": "string", "enum": []string{"previous", "rw"}, "default": "previous"}},
	"raw":          {"The bare value, as text.", flag},
	"since":        {"The changes after this revision. If they are no longer kept, a reset comes instead.", node{"type": "string", "example": "k7f2mq3a.1842"}},
	"snapshot":     {"Begins with what stands now.", flag},
	"quiet":        {"From 1ms to 1m: changes of such a time come as one item.", duration},
	"kind":         {"Kinds of changes; may come more than once.", many(word(api.Kinds()...))},
	"actor":        {"Who made the change: principals or addresses, * and ? as in match; may come more than once.", many(text)},
	"face":         {"The face through which the change came; may come more than once.", many(word("remoting", "rest", "dashboard", "server"))},
	"action":       {"What was asked; may come more than once.", many(text)},
	"until":        {"Not after this instant, or how long ago.", text},
	"active":       {"Only what stands now or was seen in the last minutes.", flag},
	"perTopic":     {"The digest of each route, instead of those of the tables.", flag},
	"verbose":      {"All checks, not only one that fails.", flag},
}

// sorts are the orders that a list can have; the first is what those get who wish for none.
var sorts = map[string][]string{
	"GET /api/v1/topics":                      {"topic", "-topic", "updatedAt", "-updatedAt"},
	"GET /api/v1/routes":                      {"topic", "-topic"},
	"GET /api/v1/clusters":                    {"clusterName", "-clusterName"},
	"GET /api/v1/brokers":                     {"brokerName", "-brokerName"},
	"GET /api/v1/brokers/{brokerName}/topics": {"topic", "-topic"},
	"GET /api/v1/events":                      {"-revision", "revision"},
	"GET /api/v1/connections":                 {"id", "-id"},
}

// special are parameters that are not as most operations take them.
var special = map[string]param{
	"GET /api/v1/conflicts kind":            {"What they are at odds about; may come more than once.", many(word("name-in-two-clusters", "registration-refused", "place-contested", "address-contested", "removal-refused"))},
	"GET /api/v1/connections kind":          {"What the peer is, told by what it asks; may come more than once.", many(word("broker", "client", "admin", "unknown"))},
	"GET /api/v1/connections q":             {"Connections whose address, language, version or brokers have this in them.", text},
	"DELETE /api/v1/topics/{topic} cluster": {"Only this cluster's part.", text},
	"DELETE /api/v1/stale-topics dryRun":    {"Only tells what would be removed; false removes it.", node{"type": "boolean", "default": true}},
	"GET /api/v1/peers/{peer}/diff kind":    {"Kinds of differences; may come more than once.", many(word("broker", "member", "topic", "route", "kv", "setting"))},
	"GET /api/v1/peers/{peer}/diff topic":   {"Patterns of topics, * and ? as in match; may come more than once.", many(text)},
	"GET /api/v1/peers/{peer}/diff broker":  {"Patterns of broker names, * and ? as in match; may come more than once.", many(text)},
	"GET /api/v1/peers/{peer}/diff after":   {"How many items to pass over: next of the page before.", node{"type": "integer", "minimum": 0, "default": 0}},
	"GET /api/v1/events since":              {"Not before this instant, or how long ago.", node{"type": "string", "example": "10m"}},
	"GET /api/v1/stale-topics topic":        {"Patterns of topics, * and ? as in match; may come more than once.", many(text)},
	"DELETE /api/v1/stale-topics topic":     {"Patterns of topics, * and ? as in match; may come more than once.", many(text)},
	"GET /api/v1/stale-topics after":        {"How many items to pass over: next of the page before.", node{"type": "integer", "minimum": 0, "default": 0}},
	"GET /api/v1/events/{revision} after":   {"How many changes to pass over: next of the page before.", node{"type": "integer", "minimum": 0, "default": 0}},
}

// shared are parameters that stand once among the components.
var shared = []string{"pretty", "wait", "limit", "after", "prefix", "q", "match", "dryRun", "topic", "cluster", "broker", "kind"}

// queryParam describes the parameter of an operation, or refers to its description.
func queryParam(op, name string) (node, error) {
	if p, ok := special[op+" "+name]; ok {
		return p.node(name), nil
	}
	p, ok := params[name]
	if !ok {
		return nil, fmt.Errorf("%s takes %s, which params.go does not describe", op, name)
	}
	if name == "sort" {
		if p.schema = word(sorts[op]...); len(sorts[op]) == 0 {
			return nil, fmt.Errorf("%s takes sort, but params.go does not say which orders", op)
		}
		p.schema["default"] = sorts[op][0]
	}
	if contains(shared, name) {
		return ref("parameters", name), nil
	}
	return p.node(name), nil
}

func (p param) node(name string) node {
	n := node{"name": name, "in": "query", "description": p.text, "schema": p.schema}
	if p.schema["type"] == "boolean" {
		n["allowEmptyValue"] = true
	}
	return n
}

// etagParam is the header by which callers say what they have.
var etagParam = node{
	"name": "If-None-Match", "in": "header", "schema": text,
	"description": "The ETag of what the caller has: the answer is 304 if that is still so.",
}
