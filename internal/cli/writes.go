package cli

import (
	"context"
	"fmt"

	"fingerpost/api"
	"fingerpost/internal/texttable"
)

// Change is how a command changes something on a Fingerpost.
type Change struct {
	Server
	Output
	DryRun bool `name:"dry-run" help:"Only show what would happen."`
}

func (c *Change) effect() api.Effect { return api.Effect(c.DryRun) }

// mark says of a change that it was not made.
func (c *Change) mark(tb *texttable.Table) {
	if c.DryRun {
		tb.Note("dry run: nothing was changed")
	}
}

// make makes a change and shows what came of it.
func (c *Change) make(e *Env, f func(context.Context, *target) (answer, error)) error {
	return c.with(e, func(ctx context.Context, t *target) error {
		a, err := f(ctx, t)
		if err != nil {
			return err
		}
		c.mark(a.table)
		return c.show(e, a)
	})
}

// DeleteTopic is `fingerpost topics delete`.
type DeleteTopic struct {
	Topic   string `arg:"" help:"The topic."`
	Cluster string `help:"Remove only what brokers of this cluster have of it."`
	Change
}

// Run removes a topic.
func (c *DeleteTopic) Run(e *Env) error {
	return c.make(e, func(ctx context.Context, t *target) (answer, error) {
		d, err := t.DeleteTopic(ctx, c.Topic, c.Cluster, c.effect())
		if err != nil {
			return answer{}, err
		}
		tb := texttable.New("TOPIC", "REMOVED-FROM")
		tb.Row(d.Topic, d.RemovedFrom)
		for _, m := range d.MayReturnFrom {
			tb.Note("may return from %s: %s", texttable.Cell(m.BrokerName), m.Detail)
		}
		return answer{d, tb}, nil
	})
}

// WipeBroker is `fingerpost brokers wipe`.
type WipeBroker struct {
	Broker string `arg:"" help:"The broker's name."`
	Change
}

// Run takes the write permission.
func (c *WipeBroker) Run(e *Env) error {
	return c.make(e, func(ctx context.Context, t *target) (answer, error) {
		w, err := t.WipeWritePerm(ctx, c.Broker, c.effect())
		return permChanged(w, err)
	})
}

// RestoreBroker is `fingerpost brokers restore`.
type RestoreBroker struct {
	Broker string `arg:"" help:"The broker's name."`
	Mode   string `enum:"previous,rw" default:"previous" help:"previous gives each topic what the broker registered for it, rw makes every topic readable and writable, as the Java server does."`
	Change
}

// Run gives the write permission back.
func (c *RestoreBroker) Run(e *Env) error {
	return c.make(e, func(ctx context.Context, t *target) (answer, error) {
		w, err := t.RestoreWritePerm(ctx, c.Broker, c.Mode, c.effect())
		return permChanged(w, err)
	})
}

func permChanged(w *api.WritePermChanged, err error) (answer, error) {
	if err != nil {
		return answer{}, err
	}
	tb := texttable.New("BROKER", "WRITE", "TOPICS", "LASTS")
	tb.Row(w.BrokerName, w.WritePerm, w.TopicCount, w.Lasts)
	return answer{w, tb}, nil
}

// KV is `fingerpost kv`.
type KV struct {
	List   ListKV   `cmd:"" default:"withargs" help:"List namespaces, or the keys of one. This is what happens without a further word."`
	Get    GetKV    `cmd:"" help:"Print the value of a key, as it is."`
	Put    PutKV    `cmd:"" help:"Set a key."`
	Delete DeleteKV `cmd:"" help:"Remove a key."`
}

// ListKV is `fingerpost kv list`.
type ListKV struct {
	Namespace string `arg:"" optional:"" help:"The namespace, such as ORDER_TOPIC_CONFIG; without it namespaces are listed, which the remoting port cannot."`
	Source
}

// Run lists namespaces or keys.
func (c *ListKV) Run(e *Env) error {
	return c.read(e, func(ctx context.Context, r reading) (answer, error) {
		if c.Namespace == "" {
			return r.namespaces(ctx)
		}
		return r.keys(ctx, c.Namespace)
	})
}

// GetKV is `fingerpost kv get`.
type GetKV struct {
	Namespace string `arg:"" help:"The namespace."`
	Key       string `arg:"" help:"The key."`
	Source
}

// Run prints a value and nothing else, so that it can be used in a script.
func (c *GetKV) Run(e *Env) error {
	return c.reading(e, func(ctx context.Context, r reading) error {
		kv, err := r.key(ctx, c.Namespace, c.Key)
		if err != nil {
			return err
		}
		if c.Form == "json" {
			return writeJSON(e.Stdout, kv)
		}
		_, err = fmt.Fprintln(e.Stdout, kv.Value)
		return err
	})
}

// PutKV is `fingerpost kv put`.
type PutKV struct {
	Namespace string `arg:"" help:"The namespace."`
	Key       string `arg:"" help:"The key."`
	Value     string `arg:"" help:"The value."`
	Create    bool   `help:"Only if the key is not there yet."`
	Change
}

// Run sets a key.
func (c *PutKV) Run(e *Env) error {
	return c.make(e, func(ctx context.Context, t *target) (answer, error) {
		s, err := t.PutKV(ctx, c.Namespace, c.Key, c.Value, api.KVWrite{Write: api.Write{Effect: c.effect()}, Create: c.Create})
		if err != nil {
			return answer{}, err
		}
		tb := texttable.New("NAMESPACE", "KEY", "VALUE", "CREATED")
		tb.Row(s.Namespace, s.Key, s.Value, s.Created)
		for _, w := range s.Warnings {
			tb.Note("%s", texttable.Cell(w.Detail))
		}
		return answer{s, tb}, nil
	})
}

// DeleteKV is `fingerpost kv delete`.
type DeleteKV struct {
	Namespace string `arg:"" help:"The namespace."`
	Key       string `arg:"" help:"The key."`
	Change
}

// Run removes a key.
func (c *DeleteKV) Run(e *Env) error {
	return c.make(e, func(ctx context.Context, t *target) (answer, error) {
		if err := t.DeleteKV(ctx, c.Namespace, c.Key, api.Write{Effect: c.effect()}); err != nil {
			return answer{}, err
		}
		tb := texttable.New("NAMESPACE", "KEY", "REMOVED")
		tb.Row(c.Namespace, c.Key, !c.DryRun)
		return answer{map[string]any{"namespace": c.Namespace, "key": c.Key, "dryRun": c.DryRun}, tb}, nil
	})
}
