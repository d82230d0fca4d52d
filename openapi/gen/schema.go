package main

import (
	"slices"
	"strings"
)

// schemas finishes the types: short names, what answers always have, what may be null,
// and that bodies of requests have no other members than these.
func schemas(doc node, src *sources) {
	all := at(doc, "components", "schemas")
	for _, name := range sorted(all) {
		if short, ok := strings.CutPrefix(name, "api."); ok {
			all[short] = all[name]
			delete(all, name)
		}
	}
	asked := askedFor(doc, all)
	for _, name := range sorted(all) {
		s := all[name].(node)
		fields := src.types[name]
		var required []string
		for _, member := range sorted(at(s, "properties")) {
			p := tidy(at(s, "properties")[member].(node))
			f := fields[member]
			if f.eachNull {
				p["additionalProperties"] = orNull(p["additionalProperties"].(node))
			}
			if f.null && (!asked[name] || p["x-nullable"] != nil) {
				delete(p, "x-nullable")
				p = orNull(p)
			}
			at(s, "properties")[member] = p
			if f.always && !asked[name] {
				required = append(required, member)
			}
		}
		switch {
		case asked[name]:
			s["additionalProperties"] = false
		case len(required) > 0:
			s["required"] = required
		}
	}
	numbers(all)
	all[trimmedList] = node{
		"type": "object", "description": "A list whose items have only the members that fields names.",
		"required": []string{"items", "revision", "total"},
		"properties": node{
			"items": node{"type": "array", "items": node{"type": "object"}}, "next": text, "revision": text,
			"total": node{"type": "integer"},
		},
	}
}

// numbers says how large numbers are where it is not in the tags.
func numbers(all node) {
	at(all, "QueueMapping", "properties")["epoch"] = node{
		"type":        []any{"integer", "string"},
		"description": "In quotes beyond ±(2^53-1), as RocketMQ writes it.",
	}
	at(all, "Problem", "properties", "status")["minimum"] = 400
}

// askedFor returns the types of bodies of requests and what those are made of.
func askedFor(doc, all node) map[string]bool {
	found := make(map[string]bool)
	for _, item := range at(doc, "paths") {
		for _, op := range item.(node) {
			if body, ok := op.(node)["requestBody"]; ok {
				reach(body, all, found)
			}
		}
	}
	reach(ref("schemas", "FeedRequest"), all, found)
	return found
}

// reach adds the types that a value refers to.
func reach(v any, all node, found map[string]bool) {
	switch v := v.(type) {
	case node:
		if to, ok := v["$ref"].(string); ok {
			name := to[strings.LastIndex(to, "/")+1:]
			if s, ok := all[name]; ok && !found[name] {
				found[name] = true
				reach(s, all, found)
			}
		}
		for _, x := range v {
			reach(x, all, found)
		}
	case []any:
		for _, x := range v {
			reach(x, all, found)
		}
	}
}

// tidy takes out what says nothing, and makes lines of comments running text.
func tidy(p node) node {
	if p["uniqueItems"] == false {
		delete(p, "uniqueItems")
	}
	if d, ok := p["description"].(string); ok {
		p["description"] = strings.ReplaceAll(d, "\n", " ")
	}
	if t, ok := p["items"].(node); ok {
		tidy(t)
	}
	return p
}

// orNull lets a value also be null.
func orNull(p node) node {
	if t, ok := p["type"].(string); ok {
		p["type"] = []any{t, "null"}
		return p
	}
	out := node{"anyOf": []any{p, node{"type": "null"}}}
	if d, ok := p["description"]; ok {
		out["description"] = d
		delete(p, "description")
	}
	return out
}

// itemOf returns what a list of values one a line has in each line: the only list of
// objects in the whole.
func itemOf(schema, all node) node {
	to, _ := schema["$ref"].(string)
	s, ok := all[to[strings.LastIndex(to, "/")+1:]].(node)
	if !ok {
		return schema
	}
	for _, member := range []string{"items", "changes"} {
		if p, ok := at(s, "properties")[member].(node); ok && p["items"] != nil {
			return p["items"].(node)
		}
	}
	return schema
}

func contains(words []string, w string) bool { return slices.Contains(words, w) }
