package handlers

import (
	"runtime"
	"time"

	"fingerpost/api"
	"fingerpost/registry"
)

// getVersion answers what is running.
//
//	@Summary	What is running
//	@Tags	server
//	@Success	200	{object}	api.Version	"the version"
//	@Router	/api/v1/version [get]
func (h *Handler) getVersion(c *call) (reply, error) {
	out := h.version(c.snap)
	return reply{body: out, text: func() []byte {
		tb := newTable("NAME", "VERSION", "COMMIT", "GO", "COMPATIBLE", "EPOCH", "UPTIME")
		tb.row(out.Name, out.Version, out.Commit, out.GoVersion, out.Compatibility, out.Epoch, left(out.UptimeMillis))
		return tb.bytes()
	}}, nil
}

func (h *Handler) version(s *registry.Snapshot) api.Version {
	out := h.deps.Version
	out.Epoch, out.GoVersion = s.Epoch, runtime.Version()
	started := h.deps.Registry.Started()
	out.StartedAt, out.UptimeMillis = api.TimeOf(started), time.Since(started).Milliseconds()
	if h.deps.Environment != nil {
		out.Environment = h.deps.Environment()
	}
	return out
}

// whoAmI answers what the server takes the caller for.
//
//	@Summary	What the server takes the caller for
//	@Tags	server
//	@Success	200	{object}	api.WhoAmI	"the caller"
//	@Router	/api/v1/whoami [get]
func (h *Handler) whoAmI(c *call) (reply, error) {
	out := api.WhoAmI{Principal: c.who.Name, Role: c.who.Role.String(), Brokers: c.who.Brokers, Method: string(c.who.Method), SessionEndsAt: api.TimeOf(c.ends)}
	if out.Brokers == nil {
		out.Brokers = []string{}
	}
	return reply{body: out, text: func() []byte {
		tb := newTable("PRINCIPAL", "ROLE", "BROKERS", "METHOD")
		tb.row(out.Principal, out.Role, out.Brokers, out.Method)
		return tb.bytes()
	}}, nil
}
