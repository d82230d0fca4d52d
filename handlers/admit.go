package handlers

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"fingerpost/internal/auth"
)

// serve runs an operation: the layers that depend on its row, then itself, then the
// encoder. Whatever goes wrong on the way becomes a problem here and nowhere else.
func (h *Handler) serve(o *operation) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		c := w.(*call)
		c.op, c.r = o, r
		c.snap = h.deps.Registry.Snapshot()
		if o.api {
			c.Header()["Namesrv-Epoch"] = h.epoch
			c.atRevision()
		}
		if o.pace == writing || o.pace == beating {
			defer h.audit(c)
		}
		if err := h.admit(c); err != nil {
			c.fail(err)
			return
		}
		if o.mounted != nil {
			o.mounted.ServeHTTP(c, r)
			return
		}
		if o.stream != nil {
			if err := o.stream(h, c); err != nil {
				c.fail(err)
			}
			return
		}
		rep, err := h.run(c)
		if err != nil {
			c.fail(err)
			return
		}
		c.answer(rep)
	}
}

// run calls the operation, and goes on calling it while the caller waits for something
// else than it already has.
func (h *Handler) run(c *call) (reply, error) {
	rep, err := c.op.do(h, c)
	if err != nil || !c.query.has(paramWait) {
		return rep, err
	}
	return h.await(c, rep)
}

// admit decides whether the call may go on: who asks, may they, how often, and is what
// they ask well formed.
func (h *Handler) admit(c *call) error {
	o := c.op
	who, ends, err := h.identify(c)
	if err != nil {
		return err
	}
	c.who, c.ends = who, ends
	if o.Role > auth.None && c.who.Role < o.Role {
		return tooSmall(c.who, o.Role)
	}
	if err := h.limiters.allow(c); err != nil {
		return err
	}
	if o.mounted != nil {
		return nil // its query and its forms are that handler's
	}
	if raw := c.r.URL.RawQuery; raw != "" && !o.lenient {
		if c.query, err = parseQuery(raw, o.Params); err != nil {
			return err
		}
		if c.query.has(paramPretty) {
			c.query.choice(paramPretty, true)
		}
	}
	if err := c.negotiate(); err != nil {
		return err
	}
	if o.action != "" && o.takesParam(paramDryRun) {
		c.dry = c.query.flag(paramDryRun)
	}
	if o.action != "" && !o.matches && c.r.Header.Get("If-Match") != "" {
		// What would be ignored in silence is believed to have been heeded.
		return badHeader("If-Match", "is not looked at by this operation: leave it out", "不被该操作支持：请去掉")
	}
	if o.action != "" && !o.creates && c.r.Header.Get("If-None-Match") != "" {
		return badHeader("If-None-Match", "is not looked at by this operation: leave it out", "不被该操作支持：请去掉")
	}
	return c.query.err()
}

// Names of parameters that more than one place reads.
const (
	paramWait   = "wait"
	paramDryRun = "dryRun"
)

func tooSmall(who auth.Principal, need auth.Role) error {
	if who.Name == auth.AnonymousName {
		return refuse("unauthenticated", "This needs the role %s; the request has no credential.", "需要角色 %s；请求没有凭据。", need)
	}
	return refuse("forbidden", "This needs the role %s; %s has the role %s.", "需要角色 %s；%s 的角色是 %s。", need, who.Name, who.Role)
}

// sessionCookie is the name of the cookie that carries a session.
const sessionCookie = "fingerpost_session"

// identify tells whom the call is from. A credential that is shown and not known is
// refused, also where none is needed: its sender believes to be somebody.
func (h *Handler) identify(c *call) (who auth.Principal, ends time.Time, err error) {
	r := c.r
	if header := r.Header.Get("Authorization"); header != "" {
		who, err := h.authorization(c, header)
		return who, time.Time{}, err
	}
	if r.TLS != nil && len(r.TLS.VerifiedChains) > 0 {
		if who, err := h.deps.Auth.Cert(r.TLS.PeerCertificates[0]); err == nil {
			return who, time.Time{}, nil
		}
	}
	if r.Header["Cookie"] != nil {
		if cookie, err := r.Cookie(sessionCookie); err == nil {
			if who, ends, ok := h.sessions.Of(cookie.Value); ok {
				return who, ends, nil
			}
		}
	}
	return h.anonymous, time.Time{}, nil
}

// still reports whether the caller is who they were and may do what they do. What cannot
// be told just now, because of a limit, is as it was.
func (c *call) still() bool {
	who, _, err := c.h.identify(c)
	if err != nil {
		return problemOf(err).code != "unauthenticated"
	}
	return who.Name == c.who.Name && who.Role >= c.op.Role
}

// authorization checks the credential of an Authorization header.
func (h *Handler) authorization(c *call, header string) (auth.Principal, error) {
	if err := h.limiters.mayTry(c.address()); err != nil {
		return auth.Principal{}, err
	}
	scheme, rest, _ := strings.Cut(header, " ")
	var who auth.Principal
	err := auth.ErrUnknown
	switch {
	case strings.EqualFold(scheme, "Bearer"):
		who, err = h.deps.Auth.Bearer(strings.TrimSpace(rest))
	case strings.EqualFold(scheme, "Basic"):
		if name, password, ok := c.r.BasicAuth(); ok {
			who, err = h.deps.Auth.Password(c.context(), name, password)
		}
	}
	switch {
	case err == nil:
		return who, nil
	case !errors.Is(err, auth.ErrUnknown):
		return who, &problem{code: "overloaded", retryAfter: time.Second}
	}
	h.failedLogin(c, strings.ToLower(scheme))
	return who, refuse("unauthenticated", "The credential is not known.", "凭据无效。")
}

// failedLogin counts a wrong credential against its address and tells the log, without it.
func (h *Handler) failedLogin(c *call, scheme string) {
	switch scheme {
	case "bearer", "basic", "session":
	default:
		scheme = "other"
	}
	h.metrics.authFailures.WithLabelValues(scheme).Inc()
	h.limiters.failed(c.address())
	h.log.Warn("a credential was refused", "scheme", scheme, "addr", c.r.RemoteAddr, "req_id", c.id)
}

// Authenticate tells who sends a request and in which role, for handlers beside this
// face that are mounted in it, such as a feed that asks again from time to time. ok is
// false if the request shows a credential that is not known, or has no role at all.
func (h *Handler) Authenticate(r *http.Request) (principal, role string, ok bool) {
	c := &call{ResponseWriter: nil, h: h, r: r}
	who, _, err := h.identify(c)
	if err != nil || who.Role == auth.None {
		return "", "", false
	}
	return who.Name, who.Role.String(), true
}

// audit writes one line for each attempt to change something, also a refused one.
func (h *Handler) audit(c *call) {
	level := slog.LevelInfo
	if c.op.pace == beating {
		level = slog.LevelDebug
	}
	if !h.log.Enabled(context.Background(), level) {
		return
	}
	result := c.result
	if result == "" {
		result = "ok"
	}
	h.log.LogAttrs(context.Background(), level, "audit",
		slog.String("action", c.op.action), slog.String("subject", c.subject), slog.String("result", result), slog.Int("status", c.status),
		slog.String("principal", c.who.Name), slog.String("role", c.who.Role.String()), slog.String("addr", c.address().String()),
		slog.String("revision", c.Header().Get("Namesrv-Revision")), slog.Bool("dry_run", c.dry), slog.String("req_id", c.id))
}
