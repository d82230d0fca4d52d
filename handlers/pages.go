package handlers

import (
	"bytes"
	"html/template"
	"net/http"
	"strings"
	"time"

	"fingerpost/api"
)

// index sends browsers to the dashboard and tells everybody else what there is.
//
//	@Summary	The operations
//	@Description	For browsers a way to the dashboard.
//	@Tags	server
//	@Success	200	{string}	string	"the operations, a line each"
//	@Success	302	"to the dashboard, for browsers"
//	@Router	/ [get]
func (h *Handler) index(c *call) (reply, error) {
	if c.form == formPage && h.deps.Dashboard != nil {
		return reply{status: http.StatusFound, location: h.deps.Site.BasePath + "/ui/"}, nil
	}
	var b bytes.Buffer
	b.WriteString("Fingerpost, a NameServer compatible with Apache RocketMQ.\n\n")
	for _, o := range h.ops {
		b.WriteString(pad(o.Method, 7) + h.deps.Site.BasePath + o.Pattern + "\n")
	}
	b.WriteString("\nAdd ?format=text to read answers as tables. /openapi.json describes all of it.\n")
	return reply{raw: b.Bytes(), contentType: typeText[0]}, nil
}

func pad(s string, n int) string { return s + strings.Repeat(" ", max(1, n-len(s))) }

// problemPage answers what a code means.
//
//	@Summary	What the code of a problem means and what to do
//	@Tags	server
//	@Param	code	path	string	true	"the code of a problem"
//	@Success	200	{object}	api.ProblemPage	"the page"
//	@Failure	404	{object}	api.Problem	"no-such-endpoint"
//	@Router	/problems/{code} [get]
func (h *Handler) problemPage(c *call) (reply, error) {
	name, err := c.part("code")
	if err != nil {
		return reply{}, err
	}
	row, ok := catalogue[name]
	if !ok {
		p := refuse("no-such-endpoint", "There is no problem with the code %s.", "没有代码为 %s 的问题。", name)
		p.suggestions = nearest(name, codes())
		return reply{}, p
	}
	l := language(c.r)
	page := api.ProblemPage{Code: name, Status: row.status, Title: row.title.in(l), Means: row.means.in(l), Do: row.do.in(l)}
	c.Header()["Content-Language"] = []string{l.String()}
	if c.form == formPage {
		return c.htmlPage(&page, l), nil
	}
	return reply{body: page, text: func() []byte {
		return []byte(page.Code + " (" + itoa(page.Status) + "): " + page.Title + "\n\n" + page.Means + "\n\n" + page.Do + "\n")
	}}, nil
}

// pageTemplate is a page without script and style, so that it needs no trust.
var pageTemplate = template.Must(template.New("problem").Parse(`<!doctype html>
<html lang="{{.Lang}}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{{.Page.Title}}</title></head>
<body><main><h1>{{.Page.Title}}</h1><p><code>{{.Page.Code}}</code> · {{.Page.Status}}</p><p>{{.Page.Means}}</p><p>{{.Page.Do}}</p></main></body></html>
`))

func (c *call) htmlPage(page *api.ProblemPage, l lang) reply {
	var b bytes.Buffer
	if err := pageTemplate.Execute(&b, struct {
		Lang string
		Page *api.ProblemPage
	}{l.String(), page}); err != nil {
		panic("handlers: the page of a problem: " + err.Error()) // a template of ours with values of ours
	}
	hd := c.Header()
	hd.Set("Content-Security-Policy", "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	hd.Set("Referrer-Policy", "no-referrer")
	return reply{raw: b.Bytes(), contentType: typeHTML[0]}
}

// addressesAgain is when to ask again for addresses that are not known.
const addressesAgain = 10 * time.Second

// nsAddr answers the addresses that clients of a unit are to use.
func (h *Handler) nsAddr(c *call) (reply, error) {
	unit := ""
	if strings.Contains(c.op.Pattern, "{unit}") {
		var err error
		if unit, err = c.part("unit"); err != nil {
			return reply{}, err
		}
	}
	list, ok := h.deps.NSAddr(unit)
	if !ok {
		return reply{}, refuse("no-such-endpoint", "There is no unit %s.", "没有单元 %s。", unit)
	}
	if list == "" {
		// Clients keep what they have; an empty list would say the same with less.
		if h.Draining() {
			return reply{}, &problem{code: "shutting-down", retryAfter: addressesAgain}
		}
		p := refuse("name-server-not-ready", "No address is known yet.", "尚不知道任何地址。")
		p.retryAfter = addressesAgain
		return reply{}, p
	}
	return reply{raw: []byte(list), contentType: typeText[0]}, nil
}
