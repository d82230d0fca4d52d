package main

import (
	"io"
	"log/slog"
	"time"

	"github.com/lmittmann/tint"
	"golang.org/x/term"

	"fingerpost/config"
)

// newLog returns the log: for people on a terminal, else JSON, unless log.format says
// which. The level can be changed later through level. Repeated lines are held back and
// counted; close lets go of what is.
func newLog(w io.Writer, c *config.Config, level *slog.LevelVar, noColor bool) (log *slog.Logger, closeLog func()) {
	level.Set(c.LogLevel)
	terminal := isTerminal(w)
	var h slog.Handler
	if c.LogFormat == "text" || c.LogFormat == "auto" && terminal {
		h = tint.NewTextHandler(w, &tint.Options{Level: level, TimeFormat: time.StampMilli, NoColor: noColor || !terminal})
	} else {
		h = slog.NewJSONHandler(w, &slog.HandlerOptions{Level: level, ReplaceAttr: readable})
	}
	f := newFlood(h)
	return slog.New(f), f.close
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(interface{ Fd() uintptr })
	return ok && term.IsTerminal(int(f.Fd()))
}

// readable writes durations as in "1.5s": JSON would have them as nanoseconds.
func readable(_ []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() == slog.KindDuration {
		a.Value = slog.StringValue(a.Value.Duration().String())
	}
	return a
}
