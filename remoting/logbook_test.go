package remoting_test

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"
)

// logbook is a log that tests read.
type logbook struct {
	mu      sync.Mutex
	entries []entry
	more    chan struct{} // closed and replaced when an entry comes
}

// entry is one line of it.
type entry struct {
	level slog.Level
	msg   string
	attrs map[string]string
}

func newLogbook() *logbook { return &logbook{more: make(chan struct{})} }

// Enabled is true: tests read everything.
func (l *logbook) Enabled(context.Context, slog.Level) bool { return true }

// WithAttrs is not used by the package under test.
func (l *logbook) WithAttrs([]slog.Attr) slog.Handler { return l }

// WithGroup is not used by the package under test.
func (l *logbook) WithGroup(string) slog.Handler { return l }

// Handle keeps the line.
func (l *logbook) Handle(_ context.Context, r slog.Record) error {
	e := entry{level: r.Level, msg: r.Message, attrs: map[string]string{}}
	r.Attrs(func(a slog.Attr) bool {
		e.attrs[a.Key] = a.Value.String()
		return true
	})
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries = append(l.entries, e)
	close(l.more)
	l.more = make(chan struct{})
	return nil
}

// find returns the lines whose message has the part in it.
func (l *logbook) find(part string) []entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	var found []entry
	for _, e := range l.entries {
		if strings.Contains(e.msg, part) {
			found = append(found, e)
		}
	}
	return found
}

// forget makes the book empty.
func (l *logbook) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries = nil
}

// await waits for a line.
func (l *logbook) await(tb testing.TB, part string) entry {
	tb.Helper()
	late := time.After(patience)
	for {
		l.mu.Lock()
		more := l.more
		l.mu.Unlock()
		if found := l.find(part); len(found) > 0 {
			return found[0]
		}
		select {
		case <-more:
		case <-late:
			tb.Fatalf("no line %q in the log", part)
		}
	}
}

// wants checks one line that there must be exactly once.
func (l *logbook) wants(tb testing.TB, part string, attrs ...string) {
	tb.Helper()
	found := l.find(part)
	if len(found) != 1 {
		tb.Errorf("%d lines %q in the log, want 1", len(found), part)
		return
	}
	for i := 0; i < len(attrs); i += 2 {
		if got := found[0].attrs[attrs[i]]; !strings.Contains(got, attrs[i+1]) {
			tb.Errorf("line %q has %s=%q, want %q in it", found[0].msg, attrs[i], got, attrs[i+1])
		}
	}
}
