package handlers

import (
	"errors"
	"net/http"
	"strings"
	"time"

	"fingerpost/api"
	"fingerpost/internal/auth"
)

// fromPage reports whether a call is made by the dashboard.
func (c *call) fromPage() bool { return c.who.Method == auth.Session }

// login begins a session for a token, or for a name and a password.
//
//	@Summary	Begin a session of a browser
//	@Description	By a token, or a name and a password. The answer sets a cookie.
//	@Tags	server
//	@Param	body	body	api.Login	true	"the credential"
//	@Success	200	{object}	api.WhoAmI	"the caller from now on"
//	@Router	/api/v1/session [post]
func (h *Handler) login(c *call) (reply, error) {
	body, err := decode[api.Login](c, h.limits.Body)
	if err != nil {
		return reply{}, err
	}
	var who auth.Principal
	switch {
	case body.Token != "" && body.Name+body.Password == "":
		who, err = h.deps.Auth.Bearer(body.Token)
	case body.Token == "" && body.Name != "":
		who, err = h.deps.Auth.Password(c.context(), body.Name, body.Password)
	default:
		return reply{}, refuse("validation-failed", "Give a token, or a name and a password.", "请提供令牌，或用户名和密码。")
	}
	if errors.Is(err, auth.ErrUnknown) {
		h.failedLogin(c, "session")
		return reply{}, refuse("unauthenticated", "The token, or the name and password, are not known.", "令牌或用户名密码无效。")
	}
	if err != nil {
		return reply{}, &problem{code: "overloaded", retryAfter: time.Second}
	}
	secret, ends := h.sessions.Begin(who)
	c.who, c.ends = who, ends
	c.who.Method = auth.Session
	h.log.Info("a session begins", "principal", who.Name, "role", who.Role.String(), "addr", c.address().String(), "req_id", c.id)
	rep, err := h.whoAmI(c)
	rep.cookie = h.cookie(secret, 0)
	return rep, err
}

// cookie carries a session's secret to no other site and to no script.
func (h *Handler) cookie(secret string, maxAge int) *http.Cookie {
	return &http.Cookie{
		Name: sessionCookie, Value: secret, Path: firstOf(h.deps.Site.BasePath, "/"), MaxAge: maxAge,
		HttpOnly: true, Secure: h.deps.Site.TLS || strings.HasPrefix(h.deps.Site.ExternalURL, "https:"), SameSite: http.SameSiteStrictMode,
	}
}

// logout ends the session, if there is one.
//
//	@Summary	End the session
//	@Tags	server
//	@Success	204	"it has ended"
//	@Router	/api/v1/session [delete]
func (h *Handler) logout(c *call) (reply, error) {
	if cookie, err := c.r.Cookie(sessionCookie); err == nil {
		h.sessions.End(cookie.Value)
	}
	return reply{status: http.StatusNoContent, cookie: h.cookie("", -1)}, nil
}
