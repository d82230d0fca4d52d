package handlers

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/go-chi/chi/v5"
)

// description is the description of the API, as it is served.
var description = sync.OnceValues(func() (*openapi3.T, error) {
	return openapi3.NewLoader().LoadFromFile("../openapi/openapi.json")
})

func init() {
	// What is not JSON is a text to the description, whatever its type.
	for _, t := range []string{formTypes[formLines], formTypes[formEvents], formTypes[formPage]} {
		openapi3filter.RegisterBodyDecoder(t, openapi3filter.PlainBodyDecoder)
	}
}

// described fails the test if an answer is none that the description allows: its status,
// its type, its headers, its body. Every answer that a test asks for passes here.
func (e *env) described(req *http.Request, a *answer) {
	e.t.Helper()
	doc, err := description()
	if err != nil {
		e.t.Fatal(err)
	}
	router, ok := e.h.mux.(chi.Routes)
	if !ok {
		return // below a path, which tests of that look at
	}
	path := req.URL.Path
	if req.URL.RawPath != "" {
		path = req.URL.RawPath
	}
	method := req.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	rctx := chi.NewRouteContext()
	found := router.Match(rctx, method, path)
	if slices.ContainsFunc(e.h.ops, func(o *operation) bool { return o.mounted != nil && pathOf(o.Pattern) == pathOf(rctx.RoutePattern()) }) {
		return // a stand-in for what others serve
	}
	var op *openapi3.Operation
	if found {
		item := doc.Paths.Value(pathOf(rctx.RoutePattern()))
		if item == nil {
			e.t.Errorf("%s %s is not described", method, rctx.RoutePattern())
			return
		}
		op = item.GetOperation(method)
	}
	if op == nil {
		return // no such operation, or one below /ui/: nothing is promised but a problem
	}
	options := &openapi3filter.Options{IncludeResponseStatus: true, MultiError: true}
	options.WithCustomSchemaErrorFunc(func(err *openapi3.SchemaError) string { return err.Reason })
	err = openapi3filter.ValidateResponse(context.Background(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{Request: req, Route: &routers.Route{Spec: doc, Operation: op, Method: method}},
		Status:                 a.StatusCode, Header: a.Header, Body: io.NopCloser(bytes.NewReader(plain(e.t, a))),
		Options: options,
	})
	if err != nil {
		e.t.Errorf("%s %s answers what the description does not: %v", req.Method, req.URL, err)
	}
}

// plain is the body without its compression.
func plain(t testing.TB, a *answer) []byte {
	t.Helper()
	if a.Header.Get("Content-Encoding") != "gzip" || len(a.body) == 0 {
		return a.body
	}
	z, err := gzip.NewReader(bytes.NewReader(a.body))
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// pathOf is the path of a pattern in the description, which has no names for files.
func pathOf(pattern string) string { return strings.TrimSuffix(pattern, "*") }

func TestEveryRouteIsDescribedAndTheReverse(t *testing.T) {
	e := newEnv(t, func(d *Deps) {
		some := http.NotFoundHandler()
		d.Dashboard, d.Feed, d.OpenAPI, d.Swagger, d.Metrics, d.Pprof = some, some, some, some, some, some
		d.NSAddr = func(string) (string, bool) { return "", false }
	})
	doc, err := description()
	if err != nil {
		t.Fatal(err)
	}
	served := make(map[string]bool)
	err = chi.Walk(e.h.mux.(chi.Routes), func(method, pattern string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
		if method == http.MethodHead {
			return nil // GET says what it answers
		}
		served[method+" "+pathOf(pattern)] = true
		if item := doc.Paths.Value(pathOf(pattern)); item == nil || item.GetOperation(method) == nil {
			t.Errorf("%s %s is not described", method, pattern)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for path, item := range doc.Paths.Map() {
		for method := range item.Operations() {
			if !served[method+" "+path] {
				t.Errorf("%s %s is described and not served", method, path)
			}
		}
	}
}

func TestDescriptionHasTheTable(t *testing.T) {
	doc, err := description()
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range Operations() {
		op := doc.Paths.Value(o.Pattern).GetOperation(o.Method)
		if role := op.Extensions["x-role"]; role != o.Role.String() {
			t.Errorf("%s %s: the role is %v, not %s", o.Method, o.Pattern, role, o.Role)
		}
		have := make(map[string]bool)
		for _, p := range op.Parameters {
			if p.Value.In == openapi3.ParameterInQuery {
				have[p.Value.Name] = true
			}
		}
		for _, p := range append([]string{paramFormat, paramPretty}, o.Params...) {
			if !have[p] {
				t.Errorf("%s %s: the parameter %s is not described", o.Method, o.Pattern, p)
			}
			delete(have, p)
		}
		for p := range have {
			t.Errorf("%s %s does not take %s", o.Method, o.Pattern, p)
		}
	}
}

func TestEveryCodeIsDescribed(t *testing.T) {
	doc, err := description()
	if err != nil {
		t.Fatal(err)
	}
	found := make(map[string]bool)
	for _, r := range doc.Components.Responses {
		if m := r.Value.Content["application/problem+json"]; m != nil {
			for code := range m.Examples {
				found[code] = true
			}
		}
	}
	// What stands for a refusal of the registry's that has no code of its own, and what
	// only the results of peers are told by.
	spare := []string{"conflict", "not-found", "peer-unreachable", "peer-no-answer", "peer-refused"}
	for code := range catalogue {
		if !found[code] && !slices.Contains(spare, code) {
			t.Errorf("no operation is described to answer %s", code)
		}
	}
}
