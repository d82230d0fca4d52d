package main

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"fingerpost/api"
	"fingerpost/handlers"
)

// answers describes what operations answer.
type answers struct {
	doc, schemas node
	problems     map[string]api.ProblemPage
	// refusals are the names of answers that stand among the components, by content.
	refusals map[string]string
	count    map[int]int
}

func newAnswers(doc node) *answers {
	a := &answers{
		doc: doc, schemas: at(doc, "components", "schemas"), problems: make(map[string]api.ProblemPage),
		refusals: make(map[string]string), count: make(map[int]int),
	}
	for _, p := range handlers.Problems() {
		a.problems[p.Code] = p
	}
	return a
}

// codesOf returns the codes that a description lists, if it lists codes.
func (a *answers) codesOf(description string) []string {
	codes := strings.Split(description, ", ")
	for _, c := range codes {
		if _, ok := a.problems[c]; !ok {
			return nil
		}
	}
	return codes
}

// common are the codes that the layers before an operation answer with.
func common(o handlers.Operation, hasBody bool) []string {
	codes := []string{
		"malformed-query", "unknown-parameter", "validation-failed", "unauthenticated", "host-not-allowed",
		"method-not-allowed", "not-acceptable", "rate-limited", "internal-error", "overloaded",
	}
	if o.Role.String() != "none" {
		codes = append(codes, "forbidden")
	}
	if strings.Contains(o.Pattern, "{") {
		codes = append(codes, "malformed-path", "no-such-endpoint")
	}
	if o.Method != http.MethodGet {
		codes = append(codes, "cross-origin-blocked")
	}
	if hasBody {
		codes = append(codes, "malformed-json", "unknown-field", "request-timeout", "body-too-large", "unsupported-media-type")
	}
	if contains(o.Params, "wait") {
		codes = append(codes, "too-many-watchers")
	}
	return codes
}

// errors adds the refusals: those that the comments name and those of the layers.
func (a *answers) errors(responses node, codes []string) error {
	all := make(map[int][]string)
	for _, c := range codes {
		p, ok := a.problems[c]
		if !ok {
			return fmt.Errorf("there is no code %s", c)
		}
		all[p.Status] = append(all[p.Status], c)
	}
	for _, status := range sorted(responses) {
		r := responses[status].(node)
		n, _ := strconv.Atoi(status)
		if n < 400 {
			continue
		}
		named := a.codesOf(r["description"].(string))
		for _, c := range named {
			if a.problems[c].Status != n {
				return fmt.Errorf("%s does not go with %d", c, n)
			}
		}
		if named != nil {
			all[n] = append(all[n], named...)
			continue
		}
		// The answer is no problem, or not always one.
		if own, ok := at(r, "content")["application/json"]; ok {
			refusal := a.refusal(n, all[n])
			refusal["description"] = r["description"]
			at(refusal, "content")["application/json"] = own
			responses[status] = refusal
		}
		delete(all, n)
	}
	for status, codes := range all {
		responses[strconv.Itoa(status)] = a.shared(status, codes)
	}
	responses["431"] = ref("responses", "header-too-large")
	return nil
}

// shared returns a reference to a refusal, which stands once among the components.
func (a *answers) shared(status int, codes []string) node {
	slices.Sort(codes)
	codes = slices.Compact(codes)
	key := strings.Join(codes, " ")
	name, ok := a.refusals[key]
	if !ok {
		a.count[status]++
		name = "refused-" + strconv.Itoa(status) + "-" + strconv.Itoa(a.count[status])
		a.refusals[key] = name
		at(a.doc, "components", "responses")[name] = a.refusal(status, codes)
	}
	return ref("responses", name)
}

// refusal describes an answer that is a problem.
func (a *answers) refusal(status int, codes []string) node {
	slices.Sort(codes)
	codes = slices.Compact(codes)
	headers := node{"X-Request-Id": ref("headers", "X-Request-Id")}
	switch status {
	case http.StatusUnauthorized:
		headers["WWW-Authenticate"] = ref("headers", "WWW-Authenticate")
	case http.StatusMethodNotAllowed:
		headers["Allow"] = ref("headers", "Allow")
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		headers["Retry-After"] = ref("headers", "Retry-After")
	}
	asText := node{"schema": text}
	if len(codes) == 0 {
		return node{"headers": headers, "content": node{"text/plain": asText}}
	}
	var lines []string
	examples := make(node)
	for _, c := range codes {
		p := a.problems[c]
		lines = append(lines, c+": "+p.Title+".")
		examples[c] = node{"value": node{"type": "/problems/" + c, "title": p.Title, "status": status, "code": c, "errors": []any{}, "instance": "urn:request:0f9c2a7be1d34c5f"}}
	}
	asText["example"] = "error: " + codes[0] + ": " + a.problems[codes[0]].Title + "\n"
	return node{
		"description": strings.Join(lines, " "), "headers": headers, "x-codes": codes,
		"content": node{
			"application/problem+json": node{"schema": ref("schemas", "Problem"), "examples": examples},
			"text/plain":               asText,
		},
	}
}

// types are the media types by the words for forms.
var types = map[string]string{
	"json": "application/json", "text": "text/plain", "ndjson": "application/x-ndjson", "sse": "text/event-stream", "html": "text/html",
}

// lines are what answers have in each line, where it is not an item of the whole.
var lines = map[string]string{
	"GET /api/v1/export": "ExportLine", "GET /api/v1/digest": "TopicDigest", "GET /api/v1/watch": "WatchItem",
}

// success finishes what an operation answers when it does what it is asked.
func (a *answers) success(key string, o handlers.Operation, responses node, conditional bool) {
	for _, status := range sorted(responses) {
		r := responses[status].(node)
		if status >= "400" {
			continue
		}
		headers := at(r, "headers")
		headers["X-Request-Id"] = ref("headers", "X-Request-Id")
		if strings.HasPrefix(o.Pattern, "/api/v1/") {
			headers["Namesrv-Epoch"], headers["Namesrv-Revision"] = ref("headers", "Namesrv-Epoch"), ref("headers", "Namesrv-Revision")
		}
		if contains(o.Params, "dryRun") {
			headers["Namesrv-Dry-Run"] = ref("headers", "Namesrv-Dry-Run")
		}
		if contains(o.Params, "after") {
			headers["Link"] = ref("headers", "Link")
		}
		if status == "201" || status == "302" {
			headers["Location"] = ref("headers", "Location")
		}
		if conditional {
			headers["ETag"] = ref("headers", "ETag")
		}
		if content, ok := r["content"].(node); ok {
			r["content"] = a.content(key, o, content)
		}
	}
	if conditional {
		responses["304"] = node{"description": "It is as the caller has it.", "headers": node{
			"ETag": ref("headers", "ETag"), "X-Request-Id": ref("headers", "X-Request-Id"),
		}}
	}
}

// trimmedList is the type of a list of which only some fields were asked for.
const trimmedList = "TrimmedList"

// content describes the forms of an answer.
func (a *answers) content(key string, o handlers.Operation, swagged node) node {
	schema := at(swagged, "application/json", "schema")
	line := itemOf(schema, a.schemas)
	if t := lines[key]; t != "" {
		line = ref("schemas", t)
	}
	if key == "GET /api/v1/digest" {
		schema = node{"oneOf": []any{schema, node{"type": "array", "items": line}}}
	}
	if contains(o.Params, "fields") {
		schema = node{"anyOf": []any{schema, ref("schemas", trimmedList)}}
	}
	out := make(node)
	for _, f := range o.Forms {
		switch f {
		case "json":
			out[types[f]] = node{"schema": schema}
		case "ndjson":
			// A validator sees the whole, which is a text; x-line is what each line holds.
			out[types[f]] = node{"schema": node{"type": "string"}, "x-line": line}
		case "sse":
			out[types[f]] = node{"schema": node{"type": "string"}, "x-data": line}
		default:
			out[types[f]] = node{"schema": node{"type": "string"}}
		}
	}
	if contains(o.Params, "raw") {
		out["text/plain"] = node{"schema": node{"type": "string"}}
	}
	return out
}
