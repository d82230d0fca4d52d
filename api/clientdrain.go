package api

import (
	"context"
	"net/http"
)

// DrainState tells whether the node is in service.
func (c *Client) DrainState(ctx context.Context) (*Drain, error) {
	return fetch[Drain](ctx, c, at("drain"))
}

// Drain begins to take the node out of service, or finds that under way. The answer
// comes at once; see [Client.DrainState] for what has become of it.
func (c *Client) Drain(ctx context.Context) (*Drain, error) {
	return fetch[Drain](ctx, c, at("drain").writing(http.MethodPut, Write{}))
}

// CancelDrain takes the node back into service.
func (c *Client) CancelDrain(ctx context.Context) (*Drain, error) {
	return fetch[Drain](ctx, c, at("drain").writing(http.MethodDelete, Write{}))
}
