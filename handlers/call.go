package handlers

import (
	"context"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"

	"fingerpost/internal/auth"
	"fingerpost/internal/convert"
	"fingerpost/registry"
)

// call is one request on its way through the layers. It stands in for the server's
// response writer, so that each layer and the handler find in it what those before them
// found out, without a context value for each. It belongs to the request's goroutine.
type call struct {
	http.ResponseWriter
	h     *Handler
	r     *http.Request // as the handler gets it
	op    *operation    // nil until the request is routed
	id    string
	began time.Time

	who     auth.Principal
	ends    time.Time // when who's session does, if it is one
	snap    *registry.Snapshot
	query   query
	form    form
	subject string // what a write is about, for the audit line
	dry     bool
	result  string // code of the problem, if there was one

	status  int // 0 until the header is written
	size    int64
	counted bool // among those in flight
}

// Unwrap is for http.ResponseController.
func (c *call) Unwrap() http.ResponseWriter { return c.ResponseWriter }

// WriteHeader notes the status for the log and the metrics.
func (c *call) WriteHeader(status int) {
	if c.status == 0 && status >= 200 || status == http.StatusSwitchingProtocols {
		c.status = status
	}
	if status == http.StatusSwitchingProtocols {
		c.land() // what follows lasts as long as its peer likes
	}
	c.ResponseWriter.WriteHeader(status)
}

// Write counts the bytes of the body.
func (c *call) Write(b []byte) (int, error) {
	if c.status == 0 {
		c.status = http.StatusOK
	}
	n, err := c.ResponseWriter.Write(b)
	c.size += int64(n)
	return n, err
}

func (c *call) context() context.Context { return c.r.Context() }

// view is the request's snapshot as it is to be told.
func (c *call) view() *convert.View {
	return &convert.View{Snapshot: c.snap, Now: time.Now(), VersionName: c.h.deps.VersionName}
}

// address is whom the request is from: the peer, or who a trusted proxy says it is.
// It is invalid if that cannot be told.
func (c *call) address() netip.Addr {
	if len(c.h.deps.Site.TrustedProxies) > 0 {
		a, _ := netip.ParseAddr(middleware.GetClientIP(c.r.Context()))
		return a
	}
	return peerOf(c.r)
}

// ClientAddr returns the address that a request is from, or whom a trusted proxy names, for
// handlers beside this face that are mounted in it and count by address. It is the peer's
// if the proxy names nobody.
func (h *Handler) ClientAddr(r *http.Request) string {
	a := (&call{h: h, r: r}).address()
	if !a.IsValid() {
		a = peerOf(r)
	}
	return a.String()
}

func peerOf(r *http.Request) netip.Addr {
	ap, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	return ap.Addr().Unmap().WithZone("")
}

// cause is who asks for a change, for the registry.
func (c *call) cause(action string) registry.Cause {
	face := "rest"
	if c.who.Method == auth.Session {
		face = "dashboard"
	}
	return registry.Cause{Face: face, Action: action, Actor: c.who.Name, RequestID: c.id}
}

// part returns a part of the path, decoded. Its name is that in the pattern.
func (c *call) part(name string) (string, error) {
	return c.decodedPart(name, false)
}

// partWithSlash is part where the name may hold a slash, sent as %2F.
func (c *call) partWithSlash(name string) (string, error) {
	return c.decodedPart(name, true)
}

// decodedPart decodes a part of the path exactly once. The router matches on the raw
// path when there is one, and then the part is still encoded; without one it is not.
func (c *call) decodedPart(name string, slash bool) (string, error) {
	s := chi.URLParam(c.r, name)
	if c.r.URL.RawPath != "" {
		var err error
		if s, err = url.PathUnescape(s); err != nil {
			return "", malformedPath(name, "has a bad escape: write % as %25", "转义有误：把 % 写成 %25")
		}
	}
	switch {
	case s == "":
		return "", malformedPath(name, "is empty", "为空")
	case s == "." || s == "..":
		return "", malformedPath(name, "must not be . or ..", "不能是 . 或 ..")
	case !slash && strings.Contains(s, "/"):
		return "", malformedPath(name, "must not hold a slash", "不能含有斜杠")
	case !utf8.ValidString(s):
		return "", malformedPath(name, "is not UTF-8", "不是 UTF-8")
	case strings.ContainsFunc(s, unicode.IsControl):
		return "", malformedPath(name, "has a control character", "含有控制字符")
	}
	return s, nil
}

func malformedPath(name, en, zh string) *problem {
	p := &problem{code: "malformed-path", detail: text{"The part " + name + " of the path " + en + ".", "路径中的 " + name + " " + zh + "。"}}
	p.errors = []fieldError{{parameter: name, code: "malformed-path", detail: text{en, zh}}}
	return p
}
