package handlers

import (
	"errors"

	"fingerpost/api"
	"fingerpost/registry"
)

// Drainer takes the node out of service and back. Its methods may be called by anybody
// at any time, and do not wait for what they begin.
type Drainer interface {
	// State tells how far it is.
	State() api.Drain
	// Begin takes the node out of service, unless that is under way or done.
	Begin(cause registry.Cause)
	// Cancel takes it back into service. The error, fit for the public, is that the
	// remoting port cannot be opened again.
	Cancel(cause registry.Cause) error
}

// getDrain answers whether the node is in service.
//
//	@Summary	Whether the node is in service
//	@Tags	server
//	@Success	200	{object}	api.Drain	"how far it is on its way out of service"
//	@Router	/api/v1/drain [get]
func (h *Handler) getDrain(*call) (reply, error) { return h.drained(), nil }

// beginDrain takes the node out of service.
//
//	@Summary	Take the node out of service
//	@Description	At once /readyz fails, /rocketmq/nsaddr no longer names the node, and its remoting port takes no new connections. Clients are closed at moments in which they ask nothing, all of them within the setting drain.timeout; then the state is drained and the process may be stopped. Brokers stay until then. Asked again it changes nothing.
//	@Tags	server
//	@Success	200	{object}	api.Drain	"it has begun, or had"
//	@Failure	409	{object}	api.Problem	"conflict"
//	@Router	/api/v1/drain [put]
func (h *Handler) beginDrain(c *call) (reply, error) {
	if h.deps.Drain == nil {
		return reply{}, undrainable()
	}
	h.deps.Drain.Begin(c.cause(c.op.action))
	return h.drained(), nil
}

// cancelDrain takes the node back into service.
//
//	@Summary	Take the node back into service
//	@Description	Possible until the process stops. In service it changes nothing.
//	@Tags	server
//	@Success	200	{object}	api.Drain	"it is in service"
//	@Failure	409	{object}	api.Problem	"conflict"
//	@Router	/api/v1/drain [delete]
func (h *Handler) cancelDrain(c *call) (reply, error) {
	if h.deps.Drain == nil {
		return reply{}, undrainable()
	}
	if err := h.deps.Drain.Cancel(c.cause(c.op.action)); err != nil {
		return reply{}, refuse("conflict", "The node cannot serve again: %s.", "节点无法恢复服务：%s。", err.Error())
	}
	return h.drained(), nil
}

func undrainable() error {
	return refuse("conflict", "This server cannot be drained.", "此服务器不支持下线。")
}

// drained is the answer of all three.
func (h *Handler) drained() reply {
	out := api.Drain{State: api.DrainServing}
	if h.deps.Drain != nil {
		out = h.deps.Drain.State()
	}
	return reply{body: out, text: func() []byte {
		tb := newTable("STATE", "SINCE", "DEADLINE", "BY", "BROKERS", "CLIENTS", "ADMINS", "UNKNOWN")
		since, deadline := "", ""
		if out.SinceAt != nil {
			since, deadline = out.SinceAt.String(), out.DeadlineAt.String()
		}
		k := out.Connections
		tb.row(out.State, since, deadline, out.By, k.Broker, k.Client, k.Admin, k.Unknown)
		return tb.bytes()
	}}
}

// notDraining is the check of /readyz that the node is in service and stays there.
func (h *Handler) notDraining() error {
	switch {
	case h.draining.Load():
		return errors.New("the server is about to stop")
	case h.deps.Drain != nil && h.deps.Drain.State().State != api.DrainServing:
		return errors.New("the node is taken out of service")
	}
	return nil
}

// Draining reports whether the node is on its way out of service, by a stop or because
// somebody asked for it.
func (h *Handler) Draining() bool { return h.notDraining() != nil }
