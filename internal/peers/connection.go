package peers

import (
	"context"
	"errors"
	"slices"
	"strings"

	"fingerpost/internal/nsclient"
	"fingerpost/remoting/wire"
)

// with runs f with the peer's connection, and opens one if there is none. What fails on a
// connection that stood is tried once more on a new one: servers close those that were
// silent for long. So f must be something that may be done twice.
func (p *peer) with(ctx context.Context, f func(*nsclient.Client) error) error {
	c, fresh, err := p.connect(ctx)
	if err != nil {
		return err
	}
	err = f(c)
	if sound(err) {
		return err
	}
	p.hangUp(c)
	if fresh || ctx.Err() != nil {
		return err
	}
	if c, _, err = p.connect(ctx); err != nil {
		return err
	}
	if err = f(c); !sound(err) {
		p.hangUp(c)
	}
	return err
}

// sound reports whether the connection is good for more after an error.
func sound(err error) bool {
	_, body := errors.AsType[*wire.BodyError](err)
	return err == nil || body || errors.Is(err, errSelf) || refused(err) && !nsclient.Is(err, wire.GoAway)
}

// refused reports whether the peer understood and said no.
func refused(err error) bool {
	_, ok := errors.AsType[*nsclient.Error](err)
	return ok
}

func (p *peer) connect(ctx context.Context) (c *nsclient.Client, fresh bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.client != nil {
		return p.client, false, nil
	}
	if p.client, err = nsclient.Dial(ctx, p.addr, p.w.o.Client); err != nil {
		p.client = nil
		return nil, true, err
	}
	return p.client, true, nil
}

// hangUp closes the connection, if it is still that one; nil is any.
func (p *peer) hangUp(c *nsclient.Client) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.client != nil && (c == nil || c == p.client) {
		_ = p.client.Close() // nobody is left to hear of it
		p.client = nil
	}
}

// Outcome is what became of a change on one peer.
type Outcome struct {
	Peer string
	// Topics is how many topics it concerned there, where the peer says that.
	Topics int
	// Asked tells that the peer was asked, so that it may have been made there whatever
	// Err is.
	Asked bool
	// Err is why it was not made, or why that is not known: an [nsclient.Error] is the
	// peer's own refusal, and with any other nobody answered.
	Err error
}

// FanOut asks every peer at once for the same, which must be such that it may be done
// twice, and returns what became of it, sorted by address. This server itself is left out.
func (w *Watcher) FanOut(ctx context.Context, ask func(context.Context, *nsclient.Client) (topics int, err error)) []Outcome {
	if w == nil {
		return nil
	}
	results := make(chan *Outcome, len(w.peers))
	for _, p := range w.peers {
		go func() { results <- p.change(ctx, ask) }()
	}
	out := []Outcome{}
	for range w.peers {
		if o := <-results; o != nil {
			out = append(out, *o)
		}
	}
	slices.SortFunc(out, func(a, b Outcome) int { return strings.Compare(a.Peer, b.Peer) })
	return out
}

// change asks the peer for a change. The outcome is nil if it is this server.
func (p *peer) change(ctx context.Context, ask func(context.Context, *nsclient.Client) (int, error)) *Outcome {
	o := &Outcome{Peer: p.addr}
	o.Err = p.with(ctx, func(c *nsclient.Client) (err error) {
		if p.report().State != Reachable {
			node, err := c.Node(ctx)
			if err != nil {
				return err
			}
			if node.Epoch == p.w.o.Registry.Epoch() {
				return errSelf
			}
		}
		o.Asked = true
		o.Topics, err = ask(ctx, c)
		return err
	})
	if errors.Is(o.Err, errSelf) {
		return nil
	}
	return o
}
