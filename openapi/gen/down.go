package main

import (
	"fmt"
	"slices"
	"strings"
)

// down makes the description in the form of Swagger 2.0, which can say less: one type
// of content for all answers' schemas, no websocket, no cookie, no certificate.
func down(doc node) (node, error) {
	d := &downer{doc: doc}
	paths := make(node)
	for path, item := range at(doc, "paths") {
		for method, op := range item.(node) {
			at(paths, path)[method] = d.operation(op.(node))
		}
	}
	definitions := make(node)
	for name, s := range at(doc, "components", "schemas") {
		definitions[name] = d.schema(s)
	}
	out := node{
		"swagger": "2.0", "info": doc["info"], "externalDocs": doc["externalDocs"], "tags": doc["tags"],
		"basePath": "/", "paths": paths, "definitions": definitions,
		"securityDefinitions": node{
			"token":    node{"type": "apiKey", "in": "header", "name": "Authorization", "description": "Bearer and a token, with a blank between them."},
			"password": node{"type": "basic"},
		},
	}
	return out, d.err
}

type downer struct {
	doc node
	err error
}

// resolve follows a reference to a component.
func (d *downer) resolve(v any) node {
	n := v.(node)
	to, ok := n["$ref"].(string)
	if !ok {
		return n
	}
	parts := strings.Split(to, "/")
	found, ok := at(d.doc, "components", parts[2])[parts[3]].(node)
	if !ok {
		d.err = fmt.Errorf("nothing is at %s", to)
	}
	return found
}

func (d *downer) operation(op node) node {
	out := make(node)
	for _, k := range []string{"operationId", "summary", "description", "tags", "x-role"} {
		if v, ok := op[k]; ok {
			out[k] = v
		}
	}
	security := []any{}
	for _, s := range op["security"].([]any) {
		_, token := s.(node)["token"]
		_, password := s.(node)["password"]
		if token || password || len(s.(node)) == 0 {
			security = append(security, s)
		}
	}
	out["security"] = security
	params := []any{}
	list, _ := op["parameters"].([]any)
	for _, p := range list {
		params = append(params, d.parameter(d.resolve(p)))
	}
	if body, ok := op["requestBody"].(node); ok {
		out["consumes"] = sorted(at(body, "content"))
		params = append(params, node{
			"name": "body", "in": "body", "description": body["description"], "required": body["required"] == true,
			"schema": d.schema(at(body, "content", "application/json")["schema"]),
		})
	}
	out["parameters"] = params
	var produces []string
	responses := make(node)
	for status, r := range at(op, "responses") {
		if status == "101" {
			continue
		}
		one, types := d.response(d.resolve(r))
		responses[status] = one
		produces = append(produces, types...)
	}
	if len(responses) == 0 || op["x-websocket"] != nil {
		responses["default"] = node{"description": "The connection is a websocket from now on."}
	}
	slices.Sort(produces)
	out["produces"], out["responses"] = slices.Compact(produces), responses
	return out
}

func (d *downer) parameter(p node) node {
	out := node{"name": p["name"], "in": p["in"]}
	for _, k := range []string{"description", "required"} {
		if v, ok := p[k]; ok {
			out[k] = v
		}
	}
	s := d.schema(p["schema"]).(node)
	for k, v := range s {
		if k != "example" {
			out[k] = v
		}
	}
	if s["type"] == "array" {
		out["collectionFormat"] = "multi"
	}
	return out
}

func (d *downer) response(r node) (node, []string) {
	out := node{"description": r["description"]}
	content, _ := r["content"].(node)
	for _, t := range []string{"application/json", "application/problem+json", "text/plain"} {
		if media, ok := content[t].(node); ok {
			out["schema"] = d.schema(media["schema"])
			break
		}
	}
	headers := make(node)
	all, _ := r["headers"].(node)
	for name, h := range all {
		headers[name] = node{"type": "string", "description": d.resolve(h)["description"]}
	}
	if len(headers) > 0 {
		out["headers"] = headers
	}
	return out, sorted(content)
}

// schema says of a value what Swagger 2.0 can say of it.
func (d *downer) schema(v any) any {
	switch v := v.(type) {
	case node:
		if to, ok := v["$ref"].(string); ok {
			return node{"$ref": strings.Replace(to, "#/components/schemas/", "#/definitions/", 1)}
		}
		out := make(node, len(v))
		for k, x := range v {
			switch k {
			case "anyOf", "oneOf":
				// The first that is a value; what is left is any value.
				if first, ok := d.schema(x.([]any)[0]).(node); ok && k == "anyOf" {
					return first
				}
				return node{}
			case "type":
				if several, ok := x.([]any); ok {
					if len(several) > 2 || several[1] != "null" {
						return node{}
					}
					out["x-nullable"], x = true, several[0]
				}
				out[k] = x
			case "properties":
				props := make(node)
				for name, p := range x.(node) {
					props[name] = d.schema(p)
				}
				out[k] = props
			case "items", "additionalProperties":
				out[k] = d.schema(x)
			default:
				out[k] = x
			}
		}
		return out
	default:
		return v
	}
}
