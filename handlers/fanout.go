package handlers

import (
	"context"
	"errors"
	"time"

	"fingerpost/api"
	"fingerpost/internal/nsclient"
	"fingerpost/internal/peers"
)

// fanOut is a change that is made on the peers too, if the caller asks for it.
type fanOut struct {
	c      *call
	wanted bool
	// do makes the change on one peer and returns how many topics it concerned; try
	// tells whether there is anything to change, for a dry run.
	do, try func(context.Context, *nsclient.Client) (topics int, err error)
	// counts tells that do returns a number, and missing is the problem's code when try
	// finds that the thing is not there.
	counts  bool
	missing string
}

// fanOut reads ?fanout=peers.
func (c *call) fanOut() *fanOut {
	f := &fanOut{c: c, wanted: c.query.word("fanout", "none", "peers") == "peers"}
	if f.wanted && len(c.h.deps.Peers.List()) == 0 {
		c.query.bad("fanout", "no-peers", "must not be peers, since the setting peers names none", "不能是 peers，因为设置 peers 没有配置任何节点")
	}
	return f
}

// fanOutWithin is how long peers may take for a change: connecting, and the change.
const fanOutWithin = 10 * time.Second

// errMissing is what a dry run finds where the thing is not.
var errMissing = errors.New("there is no such thing")

// results makes the change on all peers. It is called once the change has been made here.
func (f *fanOut) results() api.PeerResults {
	if !f.wanted {
		return api.PeerResults{}
	}
	ask := f.do
	if f.c.dry {
		ask = f.try
	}
	// What was made here is made there too, even if the caller does not wait for it.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(f.c.context()), fanOutWithin)
	defer cancel()
	out := api.PeerResults{Results: []api.PeerResult{}}
	for _, o := range f.c.h.deps.Peers.FanOut(ctx, ask) {
		r := api.PeerResult{Peer: o.Peer, Status: 200}
		switch p := f.problem(&o); {
		case p != nil:
			r.Status, r.Problem = p.status(), p.render(language(f.c.r), "", f.c.h.linkBase)
			f.c.h.log.Warn("a change was not made on a peer", "op", f.c.op.action, "peer", o.Peer, "subject", f.c.subject, "err", o.Err, "req_id", f.c.id)
		case f.counts && !f.c.dry:
			r.TopicCount = &o.Topics
		}
		out.Results = append(out.Results, r)
	}
	return out
}

// problem tells why a change is not known to have been made.
func (f *fanOut) problem(o *peers.Outcome) *problem {
	refusal, refused := errors.AsType[*nsclient.Error](o.Err)
	switch {
	case o.Err == nil:
		return nil
	case errors.Is(o.Err, errMissing):
		return &problem{code: f.missing, detail: catalogue[f.missing].means}
	case refused:
		p := refuse("peer-refused", "The peer answered %s.", "该节点的应答是 %s。", refusal.Code.String()+" "+refusal.Remark)
		p.remoting = int(refusal.Code)
		return p
	case o.Asked:
		return refuse("peer-no-answer", "The peer was asked and did not answer: %s.", "已向该节点发出请求，但没有应答：%s。", o.Err.Error())
	}
	return refuse("peer-unreachable", "The peer could not be asked: %s.", "无法请求该节点：%s。", o.Err.Error())
}

// peerNotes adds a line for each peer to a text answer.
func peerNotes(tb *table, r api.PeerResults) {
	for _, p := range r.Results {
		if p.Problem != nil {
			tb.note("peer %s %d %s: %s", p.Peer, p.Status, p.Problem.Code, p.Problem.Detail)
		} else {
			tb.note("peer %s %d", p.Peer, p.Status)
		}
	}
}

// ofBroker is a change of a broker's write permission.
func (f *fanOut) ofBroker(broker string, do func(*nsclient.Client, context.Context, string) (int, error)) *fanOut {
	f.counts, f.missing = true, "broker-not-found"
	f.do = func(ctx context.Context, c *nsclient.Client) (int, error) { return do(c, ctx, broker) }
	f.try = func(ctx context.Context, c *nsclient.Client) (int, error) {
		info, err := c.Clusters(ctx)
		if err != nil {
			return 0, err
		}
		for _, b := range info.Brokers {
			if b.Name == broker {
				return 0, nil
			}
		}
		return 0, errMissing
	}
	return f
}

// ofTopic is the removal of a topic.
func (f *fanOut) ofTopic(topic, cluster string) *fanOut {
	f.missing = "topic-not-found"
	f.do = func(ctx context.Context, c *nsclient.Client) (int, error) {
		return 0, c.DeleteTopic(ctx, topic, cluster)
	}
	f.try = func(ctx context.Context, c *nsclient.Client) (int, error) {
		_, err := c.Route(ctx, topic)
		return 0, absent(err, remotingTopicNotExist)
	}
	return f
}

// ofKey is a change of a key; a nil value removes it.
func (f *fanOut) ofKey(namespace, key string, value *string) *fanOut {
	f.missing = "kv-not-found"
	f.do = func(ctx context.Context, c *nsclient.Client) (int, error) {
		if value == nil {
			return 0, c.DeleteKV(ctx, namespace, key)
		}
		return 0, c.PutKV(ctx, namespace, key, *value)
	}
	f.try = func(ctx context.Context, c *nsclient.Client) (int, error) {
		_, err := c.KV(ctx, namespace, key)
		if err = absent(err, remotingNotFound); value != nil && errors.Is(err, errMissing) {
			err = nil // it will be new
		}
		return 0, err
	}
	return f
}

// absent tells a refusal that says that the thing is not there.
func absent(err error, code int) error {
	if e, ok := errors.AsType[*nsclient.Error](err); ok && int(e.Code) == code {
		return errMissing
	}
	return err
}
