package main

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"fingerpost/handlers"
)

// finish makes the description of what swag made of the comments.
func finish(doc node, src *sources) (node, error) {
	schemas(doc, src)
	a := newAnswers(doc)
	frame(doc)
	paths := at(doc, "paths")
	known := make(map[string]bool)
	for _, o := range handlers.Operations() {
		key := o.Method + " " + o.Pattern
		known[key] = true
		op, ok := at(paths, o.Pattern)[strings.ToLower(o.Method)].(node)
		if !ok {
			return nil, fmt.Errorf("%s is not described: its handler needs a comment with @Router", key)
		}
		if err := a.operation(key, o, op, src.names[key]); err != nil {
			return nil, fmt.Errorf("%s: %w", key, err)
		}
	}
	for path, item := range paths {
		for method := range item.(node) {
			if key := strings.ToUpper(method) + " " + path; !known[key] {
				return nil, fmt.Errorf("a comment describes %s, which is no operation", key)
			}
		}
	}
	return doc, a.beside(paths)
}

// operation finishes one operation.
func (a *answers) operation(key string, o handlers.Operation, op node, id string) error {
	op["operationId"] = id
	op["x-role"] = o.Role.String()
	op["security"] = security(o.Role.String())
	body, hasBody := op["requestBody"].(node)
	if hasBody {
		op["requestBody"] = request(key, body)
	}
	responses := at(op, "responses")
	conditional := o.Method == http.MethodGet && (contains(o.Params, "wait") || key == "GET /api/v1/events/{revision}")
	if err := a.parameters(key, o, op, conditional); err != nil {
		return err
	}
	a.success(key, o, responses, conditional)
	return a.errors(responses, common(o, hasBody))
}

// parameters adds those of the query to those that the comment names.
func (a *answers) parameters(key string, o handlers.Operation, op node, conditional bool) error {
	all := list(op, "parameters")
	for _, p := range all {
		example(p.(node))
	}
	if conditional {
		all = append(all, ref("parameters", "If-None-Match"))
	}
	names := slices.Sorted(slices.Values(o.Params))
	for _, name := range names {
		p, err := queryParam(key, name)
		if err != nil {
			return err
		}
		all = append(all, p)
	}
	all = append(all, node{
		"name": "format", "in": "query", "schema": node{"type": "string", "enum": o.Forms},
		"description": "The form of the answer; wins over the header Accept.",
	}, ref("parameters", "pretty"))
	op["parameters"] = all
	return nil
}

// values are examples of parts of paths.
var values = map[string]any{
	"topic": "OrderCreated", "brokerName": "broker-a", "brokerId": 0, "cluster": "DefaultCluster",
	"namespace": "ORDER_TOPIC_CONFIG", "key": "OrderCreated", "revision": "k7f2mq3a.1842", "code": "topic-not-found",
}

func example(p node) {
	if v, ok := values[p["name"].(string)]; ok && p["in"] == "path" {
		p["example"] = v
	}
}

// security says what callers of a role can show; viewers may need nothing, as the
// settings have it.
func security(role string) []any {
	if role == "none" {
		return []any{}
	}
	all := []any{node{"token": []any{}}, node{"password": []any{}}, node{"session": []any{}}, node{"certificate": []any{}}}
	if role == "viewer" {
		all = append(all, node{})
	}
	return all
}

// bodies are examples of bodies, and how large each may be.
var bodies = map[string]struct {
	example any
	limit   int
	setting string
}{
	"Registration": {node{
		"clusterName": "DefaultCluster", "brokerAddr": "10.0.0.21:10911",
		"topicConfigTable": node{"OrderCreated": node{"readQueueNums": 8, "writeQueueNums": 8}},
	}, 8 << 20, "http.maxRegistrationBody"},
	"MemberPatch":    {node{"topicConfigTable": node{"OrderCreated": node{"perm": 4}, "OldOrders": nil}}, 8 << 20, "http.maxRegistrationBody"},
	"Heartbeat":      {node{}, 64 << 10, "http.maxBody"},
	"HeartbeatBatch": {node{"members": []any{node{"brokerName": "bridge-1", "brokerId": 0}}}, 256 << 10, "http.maxBatchBody"},
	"RouteQuery":     {node{"topics": []any{"OrderCreated", "OrderPaid"}}, 256 << 10, "http.maxBatchBody"},
	"QueueSpec":      {node{"readQueueNums": 8, "writeQueueNums": 8, "perm": 6}, 64 << 10, "http.maxBody"},
	"KVPut":          {node{"value": "broker-a:4;broker-b:4"}, 64 << 10, "http.maxKVValue"},
	"Login":          {node{"token": "fp_5X3n0tARealToken"}, 64 << 10, "http.maxBody"},
	"":               {node{"scanNotActiveBrokerInterval": 6000}, 64 << 10, "http.maxBody"},
}

// request finishes the body of a request.
func request(key string, body node) node {
	schema := at(body, "content", "application/json", "schema")
	to, _ := schema["$ref"].(string)
	name := to[strings.LastIndex(to, "/")+1:]
	if schema = ref("schemas", name); name == "" {
		schema = node{"type": "object", "additionalProperties": node{"type": []any{"string", "number", "boolean", "null"}}}
	}
	b := bodies[name]
	media := node{"schema": schema, "example": b.example}
	content := node{"application/json": media}
	if strings.HasPrefix(key, "PATCH ") {
		content["application/merge-patch+json"] = media
	}
	if name == "KVPut" {
		content["text/plain"] = node{"schema": text, "example": "broker-a:4;broker-b:4"}
	}
	out := node{
		"content": content, "x-limit": b.limit,
		"description": fmt.Sprintf("%s; at most %d KiB unless %s says otherwise", body["description"], b.limit>>10, b.setting),
	}
	if body["required"] == true {
		out["required"] = true
	}
	return out
}

// frame adds what belongs to no operation.
func frame(doc node) {
	doc["servers"] = []any{node{"url": "/"}}
	tags := []any{}
	for _, t := range [][2]string{
		{"routes", "Where the messages of topics go."},
		{"topics", "Topics and the brokers that serve them."},
		{"brokers", "Brokers, clusters and write permissions."},
		{"members", "Members: brokers that register, stay and leave over HTTP."},
		{"kv", "The key-value table, with the order of topics among others."},
		{"peers", "The other NameServers of the set, and on what they differ."},
		{"changes", "What changes and what has changed."},
		{"server", "The server itself."},
		{"probes", "For those who watch over the process."},
	} {
		tags = append(tags, node{"name": t[0], "description": t[1]})
	}
	doc["tags"] = tags
	c := at(doc, "components")
	c["securitySchemes"] = node{
		"token":       node{"type": "http", "scheme": "bearer", "description": "A token of the file auth.tokensFile, or the one that is made at the first start."},
		"password":    node{"type": "http", "scheme": "basic", "description": "A name and a password of the file auth.usersFile."},
		"session":     node{"type": "apiKey", "in": "cookie", "name": "fingerpost_session", "description": "A session of the dashboard; POST /api/v1/session begins one."},
		"certificate": node{"type": "mutualTLS", "description": "A certificate that auth.certRolesFile knows."},
	}
	for _, name := range shared {
		at(c, "parameters")[name] = params[name].node(name)
	}
	at(c, "parameters")["If-None-Match"] = etagParam
	for name, about := range map[string]string{
		"X-Request-Id":     "Names the request, as the log does; the caller's own if it sends a plain one.",
		"Namesrv-Epoch":    "Names this process's sequence of revisions.",
		"Namesrv-Revision": "The revision that was read, or that contains the change.",
		"Namesrv-Dry-Run":  "true where nothing was changed because dryRun was asked for.",
		"ETag":             "Names the state of the resource.",
		"Link":             `Where the next page is, rel="next"; not on the last.`,
		"Location":         "Where the thing is.",
		"Allow":            "The methods that the path takes.",
		"WWW-Authenticate": "How to show a credential.",
		"Retry-After":      "The seconds after which to come again.",
	} {
		at(c, "headers")[name] = node{"description": about, "schema": text}
	}
	at(c, "responses")["header-too-large"] = node{
		"description": "The header of the request is larger than 64 KiB.", "content": node{"text/plain": node{"schema": text}},
	}
}
