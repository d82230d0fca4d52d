package handlers

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"fingerpost/api"
	"fingerpost/registry"
)

// problem is an answer that is not what was asked for. Its code decides the status;
// the catalogue in codes.go has a row for each.
type problem struct {
	code        string
	detail      text
	errors      []fieldError
	suggestions []string
	// remoting is the code that a caller over remoting would have got, 0 if there is
	// no such question there.
	remoting   int
	retryAfter time.Duration
	allow      string
	// cause is logged and never shown.
	cause error
}

// fieldError is one offending place of a request.
type fieldError struct {
	pointer   *string // in the body
	parameter string  // or elsewhere
	code      string
	detail    text
}

// maxErrors is how many places one answer names.
const maxErrors = 50

func (p *problem) Error() string { return p.code + ": " + p.detail.en }

func (p *problem) Unwrap() error { return p.cause }

// refuse makes a problem with a detail in both languages.
func refuse(code, en, zh string, args ...any) *problem {
	return &problem{code: code, detail: say(en, zh, args...)}
}

// Codes of remoting that a caller there would have got.
const (
	remotingError         = 1
	remotingNoPermission  = 16
	remotingTopicNotExist = 17
	remotingNotFound      = 22
)

// kinds is the one table from the registry's kinds of refusal to codes. An error that
// carries a code of its own that is in the catalogue keeps that.
var kinds = map[registry.Kind]struct {
	code     string
	remoting int
}{
	registry.Internal:      {"internal-error", 0},
	registry.Invalid:       {"validation-failed", remotingError},
	registry.TopicNotFound: {"topic-not-found", remotingTopicNotExist},
	registry.NotFound:      {"not-found", remotingNotFound},
	registry.Denied:        {"forbidden", remotingNoPermission},
	registry.Disabled:      {"listing-disabled", remotingError},
	registry.Conflict:      {"conflict", remotingError},
	registry.NotReady:      {"name-server-not-ready", remotingError},
	registry.Unsaved:       {"not-saved", remotingError},
}

// problemOf makes a problem of any error. What is neither ours nor the registry's is
// internal: logged in full, shown as nothing.
func problemOf(err error) *problem {
	if p, ok := errors.AsType[*problem](err); ok {
		return p
	}
	if all := registryErrors(err); len(all) > 0 {
		p := problemOfKind(all[0])
		for _, e := range all {
			if e.Field != "" && len(p.errors) < maxErrors {
				p.errors = append(p.errors, place(e.Field, fieldCode(e), text{en: e.Message}))
			}
		}
		return p
	}
	return &problem{code: "internal-error", cause: err}
}

func problemOfKind(e *registry.Error) *problem {
	row := kinds[e.Kind]
	p := &problem{code: row.code, remoting: row.remoting, cause: e.Err}
	if _, known := catalogue[e.Code]; known {
		p.code = e.Code
	}
	if p.code == "internal-error" {
		p.cause = e
		return p
	}
	p.detail = text{en: sentence(e.Message), zh: catalogue[p.code].means.zh + "（" + e.Message + "）"}
	return p
}

// place makes a field error of a name that is a part of the path, or a member of the body.
func place(field, code string, detail text) fieldError {
	switch field {
	case "brokerName", "brokerId", "topic", "namespace", "key":
		return fieldError{parameter: field, code: code, detail: detail}
	}
	return fieldError{pointer: pointerTo(field), code: code, detail: detail}
}

func fieldCode(e *registry.Error) string {
	if e.Code != "" {
		return e.Code
	}
	return e.Kind.String()
}

// registryErrors returns the registry's errors in err, also those that are joined.
func registryErrors(err error) []*registry.Error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var out []*registry.Error
		for _, e := range joined.Unwrap() {
			out = append(out, registryErrors(e)...)
		}
		return out
	}
	if e, ok := errors.AsType[*registry.Error](err); ok {
		return []*registry.Error{e}
	}
	return nil
}

// sentence makes a message of the registry, which begins in lower case and has no full
// stop, a sentence.
func sentence(m string) string {
	if m == "" {
		return ""
	}
	if c := m[0]; c >= 'a' && c <= 'z' {
		m = string(c-'a'+'A') + m[1:]
	}
	return m + "."
}

// pointerTo returns the pointer (RFC 6901) to a place in the body by the names on the
// way to it; without any it is the body itself.
func pointerTo(names ...string) *string {
	out := ""
	for _, n := range names {
		out += "/" + pointerEscapes.Replace(n)
	}
	return &out
}

var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")

// render makes the answer's body. urn is the request's id, base what links begin with.
func (p *problem) render(l lang, id, base string) *api.Problem {
	row := catalogue[p.code]
	out := &api.Problem{
		Type: base + "/problems/" + p.code, Title: row.title.in(l), Status: row.status, Detail: p.detail.in(l),
		Code: p.code, Errors: []api.FieldError{}, Suggestions: p.suggestions,
	}
	if id != "" {
		out.Instance = "urn:request:" + id
	}
	if p.remoting != 0 {
		out.RemotingCode = &p.remoting
	}
	for _, e := range p.errors[:min(len(p.errors), maxErrors)] {
		out.Errors = append(out.Errors, api.FieldError{Pointer: e.pointer, Parameter: e.parameter, Code: e.code, Detail: e.detail.in(l)})
	}
	return out
}

// line is the form of a problem for those who read text.
func (p *problem) line(l lang) string {
	var out strings.Builder
	out.WriteString(fmt.Sprintf("error: %s: %s\n", p.code, firstOf(p.detail.in(l), catalogue[p.code].title.in(l))))
	for _, e := range p.errors[:min(len(p.errors), maxErrors)] {
		where := e.parameter
		if e.pointer != nil {
			where = firstOf(*e.pointer, "body")
		}
		out.WriteString(fmt.Sprintf("error: %s: %s: %s\n", where, e.code, e.detail.in(l)))
	}
	for _, s := range p.suggestions {
		out.WriteString("hint: " + s + "\n")
	}
	return out.String()
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

func (p *problem) status() int { return catalogue[p.code].status }

// codes returns every code in order.
func codes() []string {
	out := make([]string, 0, len(catalogue))
	for c := range catalogue {
		out = append(out, c)
	}
	slices.Sort(out)
	return out
}

// Problems returns what every code of a problem means, in English, in order of the codes.
func Problems() []api.ProblemPage {
	var out []api.ProblemPage
	for _, c := range codes() {
		row := catalogue[c]
		out = append(out, api.ProblemPage{Code: c, Status: row.status, Title: row.title.en, Means: row.means.en, Do: row.do.en})
	}
	return out
}
