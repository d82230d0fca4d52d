package cli

import (
	"context"
	"fmt"
	"time"

	"fingerpost/api"
	"fingerpost/internal/texttable"
)

// Drain is `fingerpost drain`.
type Drain struct {
	Status bool `xor:"what" help:"Only show whether the node is in service."`
	Cancel bool `xor:"what" help:"Take the node back into service."`
	NoWait bool `help:"Do not wait until clients have left."`
	Server
	Output
}

// drainPoll is the time between two looks at who is left.
const drainPoll = 500 * time.Millisecond

// Run takes a node out of service and shows who is left, until nobody is.
func (c *Drain) Run(e *Env) error {
	t, err := c.dial(e)
	if err != nil {
		return err
	}
	defer t.CloseIdleConnections()
	ask := t.Client.Drain
	switch {
	case c.Status:
		ask = t.DrainState
	case c.Cancel:
		ask = t.CancelDrain
	}
	state, err := c.asked(e, t, ask)
	if err != nil {
		return err
	}
	last := ""
	for !c.Status && !c.Cancel && !c.NoWait && state.State == api.DrainDraining {
		if now := progress(state); now != last {
			fmt.Fprintf(e.Stderr, "fingerpost: %s\n", now)
			last = now
		}
		select {
		case <-time.After(drainPoll):
		case <-e.Ctx.Done():
			return fmt.Errorf("broken off: the node goes on draining; see fingerpost drain --status, or take it back by fingerpost drain --cancel")
		}
		if state, err = c.asked(e, t, t.DrainState); err != nil {
			return err
		}
		if state.State == api.DrainServing {
			return fmt.Errorf("somebody took %s back into service meanwhile", t.url)
		}
	}
	return c.show(e, answer{state, drainTable(state)})
}

func (c *Drain) asked(e *Env, t *target, f func(context.Context) (*api.Drain, error)) (d *api.Drain, err error) {
	err = t.ask(e, func(ctx context.Context) error {
		d, err = f(ctx)
		return err
	})
	return d, err
}

// progress says who is left.
func progress(d *api.Drain) string {
	k := d.Connections
	return fmt.Sprintf("draining: %d clients, %d tools and %d that never asked anything are left; %d brokers stay until the stop", k.Client, k.Admin, k.Unknown, k.Broker)
}

func drainTable(d *api.Drain) *texttable.Table {
	tb := texttable.New("STATE", "SINCE", "DEADLINE", "BY", "BROKERS", "CLIENTS", "ADMINS", "UNKNOWN")
	k := d.Connections
	tb.Row(d.State, when(d.SinceAt), when(d.DeadlineAt), d.By, k.Broker, k.Client, k.Admin, k.Unknown)
	switch d.State {
	case api.DrainDrained:
		tb.Note("clients have left: the process may be stopped")
	case api.DrainDraining:
		tb.Note("clients are leaving; take the node back by fingerpost drain --cancel")
	}
	return tb
}
