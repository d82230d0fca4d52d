package handlers

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-chi/chi/v5/middleware"
)

// layer is one of the layers that every request passes.
type layer = func(http.Handler) http.Handler

// layers are in the order in which a request meets them.
func (h *Handler) layers() []layer {
	ls := []layer{h.recovering, h.logged, h.inFlight, h.knownHost}
	if proxies := h.deps.Site.TrustedProxies; len(proxies) > 0 {
		prefixes := make([]string, len(proxies))
		for i, p := range proxies {
			prefixes[i] = p.String()
		}
		ls = append(ls, middleware.ClientIPFromXFF(prefixes...))
	}
	return append(ls, h.headed, h.shared, h.sameOrigin)
}

// recovering begins the call and ends it whatever happens: a panic is logged in full
// and answered as nothing but the request's id.
func (h *Handler) recovering(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := &call{ResponseWriter: w, h: h, r: r, began: time.Now()}
		c.id = r.Header.Get("X-Request-Id")
		if !plainID(c.id) {
			c.id = h.newID()
		}
		w.Header()["X-Request-Id"] = []string{c.id}
		if r.ContentLength != 0 {
			_ = c.bodyDeadline(c.began.Add(h.limits.BodyTimeout)) // a recorder has none
		}
		defer func() {
			if c.counted {
				h.flying.Add(-1)
			}
			p := recover()
			if p == nil {
				return
			}
			if p == http.ErrAbortHandler {
				panic(p)
			}
			h.log.Error("a request ended in a panic", "req_id", c.id, "err", p, "stack", string(debug.Stack()))
			h.metrics.panics.Inc()
			if c.status != 0 {
				panic(http.ErrAbortHandler) // the answer is half written: cut it off
			}
			c.fail(&problem{code: "internal-error"})
		}()
		next.ServeHTTP(c, r)
	})
}

// plainID reports whether an id of the caller's can be used as it is.
func plainID(id string) bool {
	if id == "" || len(id) > 64 {
		return false
	}
	return !strings.ContainsFunc(id, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '.' && r != '_' && r != '-'
	})
}

// newID returns 16 hexadecimal digits that no other request of this process has.
func (h *Handler) newID() string {
	// A bijection of a counter: unlike it, neighbours do not look alike.
	x := h.ids.Add(0x9e3779b97f4a7c15)
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	x ^= x >> 31
	const digits = "0123456789abcdef"
	var b [16]byte
	for i := range b {
		b[i] = digits[x>>(60-4*i)&15]
	}
	return string(b[:])
}

// logged writes a line for each request at debug, and counts all of them.
func (h *Handler) logged(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := w.(*call)
		next.ServeHTTP(w, r)
		took := time.Since(c.began)
		h.answered.Add(1)
		h.metrics.observe(c, took)
		if h.log.Enabled(r.Context(), slog.LevelDebug) {
			h.log.LogAttrs(r.Context(), slog.LevelDebug, "request", slog.String("method", r.Method), slog.String("op", c.pattern()),
				slog.Int("status", c.status), slog.Int64("bytes", c.size), slog.Duration("took", took),
				slog.String("addr", r.RemoteAddr), slog.String("principal", c.who.Name), slog.String("req_id", c.id))
		}
	})
}

// pattern is the operation's path with names in braces: it is fit for a label.
func (c *call) pattern() string {
	if c.op == nil {
		return "none"
	}
	return c.op.Pattern
}

// inFlight bounds the requests that are answered at once. Probes always get through:
// a busy server is not a dead one.
func (h *Handler) inFlight(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := w.(*call)
		c.counted = true
		if h.flying.Add(1) > int64(h.limits.InFlight) && !h.isProbe(r.URL.Path) {
			c.fail(&problem{code: "overloaded", retryAfter: time.Second})
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (h *Handler) isProbe(path string) bool {
	switch strings.TrimPrefix(path, h.deps.Site.BasePath) {
	case "/livez", "/readyz", "/healthz":
		return true
	}
	return false
}

// land takes a call that goes on to wait out of those in flight.
func (c *call) land() {
	if c.counted {
		c.counted = false
		c.h.flying.Add(-1)
	}
}

// knownHost refuses requests for a name that is not this server's: a page on the
// internet could have its own name point here. Probes may come by any address, as those of
// Kubernetes do by the pod's, and tell such a page nothing.
func (h *Handler) knownHost(next http.Handler) http.Handler {
	allowed := append(slices.Clone(h.deps.Site.AllowedHosts), "localhost", "127.0.0.1", "::1")
	if u, err := url.Parse(h.deps.Site.ExternalURL); err == nil && u.Hostname() != "" {
		allowed = append(allowed, u.Hostname())
	}
	if !h.deps.Site.Loopback && len(h.deps.Site.AllowedHosts) == 0 {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if h.isProbe(r.URL.Path) && r.URL.RawQuery == "" {
			next.ServeHTTP(w, r)
			return
		}
		if host := hostname(r.Host); !slices.ContainsFunc(allowed, func(a string) bool { return strings.EqualFold(a, host) }) {
			w.(*call).fail(refuse("host-not-allowed", "This server does not answer to the name %s.", "本服务不接受名称 %s。", strconv.Quote(host)))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// hostname is a Host without its port and brackets.
func hostname(host string) string {
	if h, _, err := net.SplitHostPort(host); err == nil {
		return h
	}
	return strings.Trim(host, "[]")
}

// headed sets the headers that every answer has. A handler may replace them.
func (h *Handler) headed(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		hd := w.Header()
		hd["X-Content-Type-Options"] = nosniff
		next.ServeHTTP(w, r)
	})
}

// Values of headers that are the same every time. They are shared and never changed.
var (
	nosniff        = []string{"nosniff"}
	noCache        = []string{"no-cache"}
	noStore        = []string{"no-store"}
	varied         = []string{"Accept, Accept-Encoding, Accept-Language, Authorization, Cookie"}
	variedByOrigin = []string{varied[0] + ", Origin"}

	typeJSON  = []string{"application/json"}
	typeText  = []string{"text/plain; charset=utf-8"}
	typeLines = []string{"application/x-ndjson"}
	typeHTML  = []string{"text/html; charset=utf-8"}
	typeError = []string{"application/problem+json"}
)

// vary tells caches what an answer depends on.
func (c *call) vary() {
	c.Header()["Vary"] = varied
	if len(c.h.deps.Site.CORSOrigins) > 0 {
		c.Header()["Vary"] = variedByOrigin
	}
}

// shared lets pages of the listed origins call the API. Without a list there are none.
func (h *Handler) shared(next http.Handler) http.Handler {
	origins := h.deps.Site.CORSOrigins
	if len(origins) == 0 {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		origin := r.Header.Get("Origin")
		if origin == "" || !slices.Contains(origins, origin) {
			next.ServeHTTP(w, r)
			return
		}
		hd := w.Header()
		hd.Set("Access-Control-Allow-Origin", origin)
		hd.Set("Access-Control-Expose-Headers", "ETag, Link, Location, Namesrv-Epoch, Namesrv-Revision, Namesrv-Dry-Run, Retry-After, X-Request-Id")
		if r.Method != http.MethodOptions || r.Header.Get("Access-Control-Request-Method") == "" {
			next.ServeHTTP(w, r)
			return
		}
		hd.Set("Vary", "Origin")
		hd.Set("Access-Control-Allow-Methods", "GET, HEAD, POST, PUT, PATCH, DELETE")
		hd.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, If-Match, If-None-Match, X-Request-Id")
		hd.Set("Access-Control-Max-Age", "600")
		w.WriteHeader(http.StatusNoContent)
	})
}

// sameOrigin refuses changes that a browser makes for a page of another origin.
func (h *Handler) sameOrigin(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := h.origins.Check(r); err != nil {
			w.(*call).fail(refuse("cross-origin-blocked", "A browser sent this for a page of another origin.", "浏览器代表其他来源的页面发送了该请求。"))
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (h *Handler) crossOrigin() (*http.CrossOriginProtection, error) {
	p := http.NewCrossOriginProtection()
	trusted := slices.Clone(h.deps.Site.CORSOrigins)
	if u, err := url.Parse(h.deps.Site.ExternalURL); err == nil && u.Host != "" {
		trusted = append(trusted, u.Scheme+"://"+u.Host)
	}
	for _, o := range trusted {
		if err := p.AddTrustedOrigin(o); err != nil {
			return nil, errors.Join(errors.New("http.corsOrigins or http.externalURL"), err)
		}
	}
	return p, nil
}

// fail answers with a problem. The header must not be written yet.
func (c *call) fail(err error) {
	p := problemOf(err)
	c.result = p.code
	if p.code == "internal-error" {
		c.h.log.LogAttrs(context.Background(), slog.LevelError, "a request failed", slog.String("req_id", c.id),
			slog.String("op", c.pattern()), slog.Any("err", p.cause))
	} else if p.cause != nil {
		c.h.log.Warn("a request was refused", "req_id", c.id, "op", c.pattern(), "code", p.code, "err", p.cause)
	}
	hd, l := c.Header(), language(c.r)
	for _, k := range []string{"Etag", "Link", "Location", "Content-Encoding"} {
		delete(hd, k)
	}
	hd["Cache-Control"] = noStore
	c.vary()
	hd["Content-Language"] = []string{l.String()}
	if p.retryAfter > 0 {
		hd["Retry-After"] = []string{strconv.FormatInt(int64((p.retryAfter+time.Second-1)/time.Second), 10)}
	}
	if p.allow != "" {
		hd["Allow"] = []string{p.allow}
	}
	if p.status() == http.StatusUnauthorized {
		hd["Www-Authenticate"] = c.h.challenges
	}
	var body []byte
	if c.prefersText() {
		hd["Content-Type"] = typeText
		body = []byte(p.line(l))
	} else {
		hd["Content-Type"] = typeError
		body = encodeJSON(p.render(l, c.id, c.h.linkBase), true)
	}
	hd["Content-Length"] = []string{strconv.Itoa(len(body))}
	c.WriteHeader(p.status())
	if c.r.Method != http.MethodHead {
		_, _ = c.Write(body) // the peer may be gone
	}
}
