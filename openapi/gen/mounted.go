package main

// place is what another handler serves beside the API, or what is there only where the
// settings ask for it.
type place struct {
	path, id, tag, role, summary, about string
	types                               []string
}

// places say what no comment at an operation can.
var places = []place{
	{"/ws", "connectFeed", "changes", "viewer", "Changes over a websocket", "Several subscriptions in one connection, for the dashboard and others. The subprotocol is namesrv.v1; messages are JSON texts, FeedRequest to the server and FeedMessage from it.", nil},
	{"/metrics", "getMetrics", "probes", "none", "Metrics for Prometheus", "Needs the role viewer where http.metrics.auth is on.", []string{"text/plain", "application/openmetrics-text"}},
	{"/openapi.json", "getDescription", "server", "none", "This description", "", []string{"application/json"}},
	{"/swagger/doc.json", "getSwagger", "server", "none", "This description as Swagger 2.0", "For tools that do not read OpenAPI 3.", []string{"application/json"}},
	{"/ui/", "getDashboard", "server", "none", "The dashboard", "", []string{"text/html"}},
	{"/debug/pprof/", "getProfiles", "server", "admin", "Profiles of the process", "Where they are switched on. Below it are those of Go's net/http/pprof.", []string{"text/html"}},
	{"/rocketmq/nsaddr", "getNameServers", "server", "none", "The addresses of the name servers", "What clients of RocketMQ poll when they are given a domain instead of addresses: host:port;host:port. Where http.nsaddr.enabled is on. Other parameters are passed over. A node on its way out of service does not name itself; where no address is known the answer is 503, and clients keep what they have.", []string{"text/plain"}},
	{"/rocketmq/nsaddr-{unit}", "getNameServersOfUnit", "server", "none", "The addresses of the name servers for a unit", "As /rocketmq/nsaddr.", []string{"text/plain"}},
}

// beside describes the places.
func (a *answers) beside(paths node) error {
	for _, p := range places {
		responses := make(node)
		op := node{"operationId": p.id, "tags": []any{p.tag}, "summary": p.summary, "x-role": p.role, "security": security(p.role), "responses": responses}
		if p.about != "" {
			op["description"] = p.about
		}
		content := make(node)
		for _, t := range p.types {
			content[t] = node{"schema": text}
			if t == "application/json" {
				content[t] = node{"schema": node{"type": "object"}}
			}
		}
		if p.types != nil {
			responses["200"] = node{"description": p.summary + ".", "content": content, "headers": node{"X-Request-Id": ref("headers", "X-Request-Id")}}
		}
		codes := []string{"unauthenticated", "host-not-allowed", "rate-limited", "overloaded", "internal-error", "method-not-allowed", "no-such-endpoint"}
		if p.role != "none" {
			codes = append(codes, "forbidden")
		}
		switch p.path {
		case "/ws":
			websocket(op, responses)
		case "/openapi.json", "/swagger/doc.json", "/ui/":
			op["parameters"] = []any{ref("parameters", "If-None-Match")}
			responses["304"] = node{"description": "It is as the caller has it."}
		case "/rocketmq/nsaddr-{unit}":
			op["parameters"] = []any{node{"name": "unit", "in": "path", "required": true, "description": "the unit", "schema": text, "example": "hz"}}
			codes = append(codes, "malformed-path", "not-acceptable", "shutting-down", "name-server-not-ready")
		case "/rocketmq/nsaddr":
			codes = append(codes, "not-acceptable", "shutting-down", "name-server-not-ready")
		}
		if err := a.errors(responses, codes); err != nil {
			return err
		}
		at(paths, p.path)["get"] = op
	}
	return nil
}

// websocket describes the feed: what is not JSON over HTTP has to be told in extensions.
func websocket(op, responses node) {
	responses["101"] = node{"description": "The connection is a websocket from now on."}
	op["x-websocket"] = node{"subprotocol": "namesrv.v1", "receives": ref("schemas", "FeedRequest"), "sends": ref("schemas", "FeedMessage")}
	for _, status := range []string{"400", "426"} {
		responses[status] = node{"description": "The request is none for a websocket of the subprotocol.", "content": node{"text/plain": node{"schema": text}}}
	}
}

// list returns a member of an object that is a list, nil if it has none.
func list(n node, name string) []any {
	l, _ := n[name].([]any)
	return l
}
