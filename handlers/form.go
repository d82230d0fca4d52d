package handlers

import (
	"strconv"
	"strings"
)

// form is the form in which an answer goes out.
type form uint8

const (
	formJSON form = iota
	formText
	formLines
	formEvents
	formPage
)

var formWords = [...]string{"json", "text", "ndjson", "sse", "html"}

var formTypes = [...]string{"application/json", "text/plain", "application/x-ndjson", "text/event-stream", "text/html"}

// has reports whether f is among the forms of an operation.
func (o *operation) has(f form) bool { return o.forms&(1<<f) != 0 }

// negotiate decides the form of the answer: ?format= wins over Accept, and no wish at
// all is the operation's first form.
func (c *call) negotiate() error {
	o := c.op
	first := o.first
	if c.query.has(paramFormat) {
		return c.negotiateWord()
	}
	accept := c.r.Header["Accept"]
	if len(accept) == 0 || len(accept) == 1 && (accept[0] == "*/*" || accept[0] == "application/json" && first == formJSON) {
		c.form = first
		return nil
	}
	best, bestQ := form(0), 0.0
	for part := range strings.SplitSeq(strings.Join(accept, ","), ",") {
		what, q := weighted(part)
		for f := range form(len(formWords)) {
			if o.has(f) && accepts(what, f, first) && q > bestQ {
				best, bestQ = f, q
			}
		}
	}
	if bestQ == 0 {
		return notAcceptable(o, strings.Join(accept, ", "))
	}
	c.form = best
	return nil
}

// accepts reports whether a media range asks for f; one with a star asks for the first
// form only.
func accepts(what string, f, first form) bool {
	switch what = strings.ToLower(what); what {
	case "*/*", "application/*":
		return f == first
	case "text/*":
		return f == formText
	case "application/problem+json":
		return f == formJSON
	}
	return what == formTypes[f]
}

func (c *call) negotiateWord() error {
	v := c.query.one(paramFormat)
	for f, w := range formWords {
		if v == w && c.op.has(form(f)) {
			c.form = form(f)
			return nil
		}
	}
	return notAcceptable(c.op, "format="+v)
}

func notAcceptable(o *operation, asked string) error {
	var have []string
	for f, w := range formWords {
		if o.has(form(f)) {
			have = append(have, w+" ("+formTypes[f]+")")
		}
	}
	list := strings.Join(have, ", ")
	return refuse("not-acceptable", "The request asks for %s; the operation answers as %s.", "请求要求 %s；该操作支持 %s。",
		strconv.Quote(asked), list)
}

// prefersText reports whether problems go out as text: to those who ask for text and
// not for JSON.
func (c *call) prefersText() bool {
	if c.query.has(paramFormat) {
		return c.query.values[paramFormat][0] == formWords[formText]
	}
	if raw := c.r.URL.RawQuery; raw != "" && c.query.values == nil {
		if strings.Contains("&"+raw+"&", "&format=text&") {
			return true
		}
	}
	accept := c.r.Header.Get("Accept")
	return strings.HasPrefix(accept, "text/plain") && !strings.Contains(accept, "json")
}
