package handlers

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"fingerpost/api"
)

// probeTimeout bounds all checks of a probe together.
const probeTimeout = 2 * time.Second

// probe runs the checks of a probe and of those that it includes. A process that is not
// ready is not healthy; one that need not be restarted may still be either.
func (h *Handler) probe(ctx context.Context, p Probe) []api.Check {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	out := []api.Check{{Name: "serving", OK: true}}
	run := func(name string, err error) {
		c := api.Check{Name: name, OK: err == nil}
		if err != nil {
			c.Detail = err.Error()
		}
		out = append(out, c)
	}
	if p >= Ready {
		run("not-draining", h.notDraining())
		run("warmed-up", h.warmedUp())
	}
	for _, c := range h.deps.Checks {
		if c.Probe == p || p == Healthy {
			run(c.Name, c.Run(ctx))
		}
	}
	return out
}

func (h *Handler) warmedUp() error {
	if in := h.deps.Registry.Snapshot().ReadyIn(); in > 0 {
		return errors.New("routes are answered in " + in.Truncate(time.Second).String())
	}
	return nil
}

// livez answers whether the process serves.
//
//	@Summary	Fails when the process should be restarted
//	@Tags	probes
//	@Success	200	{object}	api.Health	"in order"
//	@Failure	503	{object}	api.Health	"a check fails"
//	@Router	/livez [get]
func (h *Handler) livez(c *call) (reply, error) { return c.health(Live) }

// readyz answers whether traffic should come.
//
//	@Summary	Fails when no traffic should come
//	@Tags	probes
//	@Success	200	{object}	api.Health	"in order"
//	@Failure	503	{object}	api.Health	"a check fails"
//	@Router	/readyz [get]
func (h *Handler) readyz(c *call) (reply, error) { return c.health(Ready) }

// healthz answers whether anything is out of order.
//
//	@Summary	Fails when somebody should look
//	@Tags	probes
//	@Success	200	{object}	api.Health	"in order"
//	@Failure	503	{object}	api.Health	"a check fails"
//	@Router	/healthz [get]
func (h *Handler) healthz(c *call) (reply, error) { return c.health(Healthy) }

// health answers a probe: 200 or 503, with the first failing check in the body, or all
// of them for ?verbose.
func (c *call) health(p Probe) (reply, error) {
	verbose := c.query.flag("verbose")
	if err := c.query.err(); err != nil {
		return reply{}, err
	}
	checks := c.h.probe(c.context(), p)
	out := api.Health{Status: "ok", Checks: checks}
	rep := reply{body: &out, text: func() []byte { return healthText(&out, verbose) }}
	for _, k := range checks {
		if !k.OK {
			out.Status, rep.status = "failing", http.StatusServiceUnavailable
			c.Header()["Retry-After"] = []string{"1"}
			break
		}
	}
	if !verbose {
		out.Checks = failing(checks)
	}
	if c.r.Header.Get("Accept") == "" || c.r.Header.Get("Accept") == "*/*" {
		if !c.query.has(paramFormat) {
			c.form = formText // probes are read by eye and by grep
		}
	}
	return rep, nil
}

func failing(checks []api.Check) []api.Check {
	for _, k := range checks {
		if !k.OK {
			return []api.Check{k}
		}
	}
	return []api.Check{}
}

func healthText(h *api.Health, verbose bool) []byte {
	var b strings.Builder
	for _, k := range h.Checks {
		if k.OK {
			b.WriteString("[+] " + k.Name + " ok\n")
		} else {
			b.WriteString("[-] " + k.Name + " failed: " + k.Detail + "\n")
		}
	}
	if verbose || h.Status == "ok" {
		b.WriteString(h.Status + "\n")
	}
	return []byte(b.String())
}
