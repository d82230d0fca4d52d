package cli

import (
	"context"
	"strings"

	"fingerpost/api"
	"fingerpost/internal/texttable"
)

// GetConfig is `fingerpost config get`.
type GetConfig struct {
	Match string `arg:"" optional:"" placeholder:"PATTERN" help:"Only settings whose keys fit this pattern with * and ?."`
	Source
}

// Run shows the settings of a running server.
func (c *GetConfig) Run(e *Env) error {
	return c.read(e, func(ctx context.Context, r reading) (answer, error) { return r.config(ctx, c.Match) })
}

// SetConfig is `fingerpost config set`.
type SetConfig struct {
	Settings []string `arg:"" optional:"" placeholder:"KEY=VALUE" help:"Settings and their new values."`
	Unset    []string `placeholder:"KEY" help:"Take these settings out of the server's file, so that their defaults count."`
	Change
}

// Run changes settings of a running server, all or none.
func (c *SetConfig) Run(e *Env) error {
	values := make(map[string]any)
	for _, s := range c.Settings {
		key, value, ok := strings.Cut(s, "=")
		if !ok || key == "" {
			return Misuse("%q must be KEY=VALUE, such as log.level=DEBUG", s)
		}
		values[key] = value
	}
	for _, key := range c.Unset {
		if _, ok := values[key]; ok {
			return Misuse("%s is both set and unset", key)
		}
		values[key] = nil
	}
	if len(values) == 0 {
		return Misuse("say what to change, as in: fingerpost config set log.level=DEBUG")
	}
	return c.make(e, func(ctx context.Context, t *target) (answer, error) {
		u, err := t.PatchConfig(ctx, values, api.Write{Effect: c.effect()})
		if err != nil {
			return answer{}, err
		}
		tb := texttable.New("KEY", "OUTCOME")
		for _, o := range []struct {
			keys []string
			text string
		}{
			{u.Applied, "applied"},
			{u.Unchanged, "had that value"},
			{u.RestartRequired, "saved, waits for a restart"},
			{u.Overridden, "an environment variable or a flag sets it back at the next start"},
		} {
			for _, k := range o.keys {
				tb.Row(k, o.text)
			}
		}
		return answer{u, tb}, nil
	})
}
