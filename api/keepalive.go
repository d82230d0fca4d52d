package api

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"time"
)

// KeepAlive is a member that is kept registered at one server.
type KeepAlive struct {
	// BrokerName and BrokerID are the member's place.
	BrokerName string
	BrokerID   int64
	// Registration is sent whole, at first and whenever the server does not know it.
	Registration Registration
	// Notify, if it is not nil, hears what happens, from the goroutine of the call and
	// before it goes on.
	Notify func(KeepAliveEvent)
}

// KeepAliveEvent is one thing that happened to a [KeepAlive]: exactly one of its first
// three fields is there.
type KeepAliveEvent struct {
	// Registered is the answer to a registration, Pulse that to a heartbeat.
	Registered *Registered
	Pulse      *Pulse
	// Err is why a request failed; it is sent again after Next.
	Err error
	// Next is when the next request follows.
	Next time.Duration
}

const (
	firstBackoff   = time.Second
	maxBackoff     = 15 * time.Second
	requestTimeout = 10 * time.Second // of each request of a KeepAlive
	leaveTimeout   = 5 * time.Second
)

// KeepAlive registers a member, sends heartbeats at the pace that the server asks for,
// varied by up to a tenth, registers it again when the server has forgotten it or has
// other topics of it, and unregisters it when ctx is over. A request that fails on the
// way, or that the server cannot answer now, is repeated after 1, 2, 4 … 15 s.
//
// It returns when ctx is over: nil, or why it could not unregister. It returns earlier,
// with a *[Problem], when the server refuses for good: 409 means that another has the
// place, others that the registration or the credential is wrong. Call it once for each
// server: they know nothing of each other.
func (c *Client) KeepAlive(ctx context.Context, k KeepAlive) error {
	var version *DataVersion // of the registration that the server has; nil: there is none
	registered := false
	backoff := time.Duration(0)
	for {
		ev := c.beat(ctx, &k, registered, version)
		switch {
		case ev.Err == nil && ev.Registered != nil:
			registered, backoff = true, 0
			if k.Registration.TopicConfigTable != nil {
				version = &ev.Registered.DataVersion
			}
		case ev.Err == nil:
			backoff = 0
			registered = !ev.Pulse.Changed // else: state it again, at once
		case ctx.Err() != nil:
			return c.leave(ctx, &k)
		case status(ev.Err) == http.StatusNotFound && registered:
			registered = false
		case !mends(ev.Err):
			return ev.Err
		default:
			backoff = min(max(firstBackoff, 2*backoff), maxBackoff)
			ev.Next = max(backoff, retryAfter(ev.Err))
		}
		if ev.Err == nil && registered {
			ev.Next = pace(&ev)
		}
		if k.Notify != nil {
			k.Notify(ev)
		}
		if !pause(ctx, ev.Next) {
			return c.leave(ctx, &k)
		}
	}
}

// beat sends what is due: the registration or a heartbeat.
func (c *Client) beat(ctx context.Context, k *KeepAlive, registered bool, v *DataVersion) (ev KeepAliveEvent) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	if registered {
		ev.Pulse, ev.Err = c.Heartbeat(ctx, k.BrokerName, k.BrokerID, v)
	} else {
		ev.Registered, ev.Err = c.Register(ctx, k.BrokerName, k.BrokerID, k.Registration, RegisterOptions{})
	}
	if ev.Err != nil {
		ev.Registered, ev.Pulse = nil, nil
	}
	return ev
}

// leave unregisters, although ctx is over. That the member is gone already is as good.
func (c *Client) leave(ctx context.Context, k *KeepAlive) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaveTimeout)
	defer cancel()
	err := c.Unregister(ctx, k.BrokerName, k.BrokerID, UnregisterOptions{})
	if status(err) == http.StatusNotFound {
		return nil
	}
	return err
}

// pace is when the next heartbeat is due. Many members that came together spread out.
func pace(ev *KeepAliveEvent) time.Duration {
	millis := int64(0)
	if ev.Pulse != nil {
		millis = ev.Pulse.NextHeartbeatMillis
	} else {
		millis = ev.Registered.NextHeartbeatMillis
	}
	d := max(time.Duration(millis)*time.Millisecond, firstBackoff)
	return d - d/10 + time.Duration(rand.Int64N(int64(d)/5+1))
}

// pause waits; false means that ctx is over.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}

func status(err error) int {
	if p, ok := errors.AsType[*Problem](err); ok {
		return p.Status
	}
	return 0
}

func retryAfter(err error) time.Duration {
	if p, ok := errors.AsType[*Problem](err); ok {
		return p.RetryAfter
	}
	return 0
}

// mends tells whether the same request may succeed later.
func mends(err error) bool {
	p, ok := errors.AsType[*Problem](err)
	if !ok || p.Code == CodeForeignAnswer && p.Status >= 500 {
		return true
	}
	return p.Status == http.StatusTooManyRequests || p.Status == http.StatusRequestTimeout || p.Status >= 500
}
