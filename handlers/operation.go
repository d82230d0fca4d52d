package handlers

import (
	"net/http"
	"slices"
	"strings"

	"github.com/go-chi/chi/v5"

	"fingerpost/internal/auth"
)

// Operation is a row of the table of what the server answers.
type Operation struct {
	// Method and Pattern are as the router has them: names of parts in braces.
	Method, Pattern string
	// Role is the smallest that may.
	Role auth.Role
	// Params are the query parameters that it takes, besides format and pretty.
	Params []string
	// Forms are the forms in which it answers: json, text, ndjson, sse.
	Forms []string
}

// pace is which limit of requests an operation falls under.
type pace uint8

const (
	reading pace = iota // none: a NameServer that refuses a route causes an outage
	writing
	beating
	heavy   // looks at the whole registry
	joining // shows a credential
)

// operation is an [Operation] and what it takes to run it.
type operation struct {
	Operation
	pace  pace
	forms uint8
	first form // what those get who wish for nothing
	do    func(*Handler, *call) (reply, error)
	// stream is instead of do where the answer has no end.
	stream func(*Handler, *call) error
	// mounted is instead of both where another handler answers.
	mounted http.Handler
	// lenient tells that parameters which it does not take are passed over.
	lenient bool
	// matches tells that If-Match is looked at, creates that If-None-Match is.
	matches, creates bool
	// api operations name the revision they read; others are pages and probes.
	api bool
	// action is the word for a change in its cause and in the audit line.
	action string

	metrics opMetrics
}

// op makes a row that reads: a method, a path, a role, and what runs it.
func op(method, pattern string, role auth.Role, do func(*Handler, *call) (reply, error)) *operation {
	return &operation{
		Operation: Operation{Method: method, Pattern: pattern, Role: role, Forms: []string{formWords[formJSON]}},
		forms:     1 << formJSON, do: do, api: strings.HasPrefix(pattern, apiPath),
	}
}

const apiPath = "/api/v1/"

// takes names the query parameters.
func (o *operation) takes(params string) *operation {
	o.Params = strings.Fields(params)
	return o
}

// as adds forms to the one that every operation has.
func (o *operation) as(forms ...form) *operation {
	for _, f := range forms {
		o.forms |= 1 << f
		o.Forms = append(o.Forms, formWords[f])
	}
	return o
}

// only takes other forms instead of JSON; the first is what those get who wish for nothing.
func (o *operation) only(forms ...form) *operation {
	o.forms, o.Forms, o.first = 0, nil, forms[0]
	return o.as(forms...)
}

// guarded lets callers ask with If-Match that nothing has changed since they read it.
func (o *operation) guarded() *operation {
	o.matches = true
	return o
}

// ifNew lets callers ask with If-None-Match that nothing is there yet.
func (o *operation) ifNew() *operation {
	o.creates = true
	return o
}

// waits lets callers wait for the resource to change.
func (o *operation) waits() *operation {
	o.Params = append(o.Params, paramWait)
	return o
}

// changes makes it an operation that changes something, and names the change.
func (o *operation) changes(action string) *operation {
	o.pace, o.action = writing, action
	return o
}

func (o *operation) paced(p pace) *operation {
	o.pace = p
	return o
}

// beats makes it a heartbeat, which has limits of its own.
func (o *operation) beats() *operation {
	o.pace, o.action = beating, "heartbeat"
	return o
}

// streamed makes it an answer without an end.
func (o *operation) streamed(f func(*Handler, *call) error) *operation {
	o.stream = f
	return o
}

// Operations returns every operation of the API and beside it, for what describes and
// what tests them.
func Operations() []Operation {
	var out []Operation
	for _, o := range operations() {
		out = append(out, o.Operation)
	}
	return out
}

// mount makes the router: a row of the table for each place.
func (h *Handler) mount() http.Handler {
	r := chi.NewRouter()
	r.Use(h.layers()...)
	for _, o := range h.ops {
		h.metrics.attach(o)
		serve := h.serve(o)
		r.Method(o.Method, o.Pattern, serve)
		if o.Method == http.MethodGet {
			r.Method(http.MethodHead, o.Pattern, serve)
		}
	}
	r.NotFound(func(w http.ResponseWriter, r *http.Request) { h.absent(w.(*call)) })
	r.MethodNotAllowed(func(w http.ResponseWriter, req *http.Request) { h.otherMethod(w.(*call), r, req) })
	if base := h.deps.Site.BasePath; base != "" {
		return h.below(base, r)
	}
	return r
}

// below serves next below a path. What lies outside of it is not there.
func (h *Handler) below(base string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == base {
			http.Redirect(w, r, base+"/", http.StatusPermanentRedirect)
			return
		}
		if h.deps.NSAddr != nil && strings.HasPrefix(r.URL.Path, "/rocketmq/nsaddr") {
			next.ServeHTTP(w, r) // clients that ask for it know no other path
			return
		}
		if !strings.HasPrefix(r.URL.Path, base+"/") {
			c := &call{ResponseWriter: w, h: h, r: r, id: h.newID()}
			h.absent(c)
			return
		}
		http.StripPrefix(base, next).ServeHTTP(w, r)
	})
}

func (h *Handler) absent(c *call) {
	c.fail(refuse("no-such-endpoint", "There is no %s.", "没有 %s。", c.r.URL.Path))
}

// otherMethod answers for a path that exists under other methods.
func (h *Handler) otherMethod(c *call, router chi.Routes, r *http.Request) {
	path := r.URL.Path
	if r.URL.RawPath != "" {
		path = r.URL.RawPath
	}
	allow := []string{http.MethodOptions}
	for _, m := range []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
		if router.Match(chi.NewRouteContext(), m, path) {
			allow = append(allow, m)
		}
	}
	slices.Sort(allow)
	list := strings.Join(allow, ", ")
	if r.Method == http.MethodOptions {
		c.Header()["Allow"] = []string{list}
		c.WriteHeader(http.StatusNoContent)
		return
	}
	p := refuse("method-not-allowed", "%s takes %s.", "%s 支持 %s。", r.URL.Path, list)
	p.allow = list
	c.fail(p)
}
