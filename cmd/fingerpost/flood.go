package main

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// A peer can cause the same line again and again: unknown topics, scanners, brokers that
// are refused. Within floodWindow the first floodBurst lines with one text are logged,
// the rest is counted, and the count is logged when the window ends. What differs is in
// the attributes, so the text alone tells lines apart. Debug lines are left alone:
// whoever asks for them wants them all.
const (
	floodBurst  = 10
	floodWindow = 10 * time.Second
	// floodTexts bounds the texts that are counted apart; beyond it they share a count.
	floodTexts = 1000
)

// flood is a handler that holds back repeated lines.
type flood struct {
	next slog.Handler
	all  *floodCounts
}

type floodCounts struct {
	mu     sync.Mutex
	lines  map[floodKey]*floodLine
	closed bool
}

type floodKey struct {
	level slog.Level
	text  string
}

// floodLine is one text within its window.
type floodLine struct {
	ends     time.Time
	logged   int
	held     int
	timer    *time.Timer
	last     slog.Handler // of the last line held back, with its logger's attributes
	lastText string
}

func newFlood(next slog.Handler) *flood {
	return &flood{next, &floodCounts{lines: make(map[floodKey]*floodLine)}}
}

// Enabled asks the handler behind it.
func (f *flood) Enabled(ctx context.Context, l slog.Level) bool { return f.next.Enabled(ctx, l) }

// WithAttrs keeps the counts shared.
func (f *flood) WithAttrs(as []slog.Attr) slog.Handler { return &flood{f.next.WithAttrs(as), f.all} }

// WithGroup keeps the counts shared.
func (f *flood) WithGroup(name string) slog.Handler { return &flood{f.next.WithGroup(name), f.all} }

// Handle passes a line on, or counts it.
func (f *flood) Handle(ctx context.Context, r slog.Record) error {
	if r.Level >= slog.LevelInfo && f.all.hold(floodKey{r.Level, r.Message}, f.next) {
		return nil
	}
	return f.next.Handle(ctx, r)
}

// hold counts a line and reports whether it is held back.
func (c *floodCounts) hold(key floodKey, next slog.Handler) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	l := c.lines[key]
	if l != nil && l.held == 0 && !now.Before(l.ends) {
		l = nil
	}
	if l == nil {
		if len(c.lines) >= floodTexts {
			c.forget(now)
		}
		text := key.text
		if len(c.lines) >= floodTexts {
			key.text = "lines of many different texts"
			text = key.text
			l = c.lines[key]
		}
		if l == nil {
			l = &floodLine{ends: now.Add(floodWindow), lastText: text}
			c.lines[key] = l
		}
	}
	if l.logged < floodBurst || c.closed {
		l.logged++
		return false
	}
	l.held++
	l.last = next
	if l.timer == nil {
		l.timer = time.AfterFunc(l.ends.Sub(now), func() { c.tell(key, l) })
	}
	return true
}

// forget drops windows that are over.
func (c *floodCounts) forget(now time.Time) {
	for k, l := range c.lines {
		if l.held == 0 && !now.Before(l.ends) {
			delete(c.lines, k)
		}
	}
}

// tell ends a window and logs how many lines it held back.
func (c *floodCounts) tell(key floodKey, l *floodLine) {
	c.mu.Lock()
	held, last := l.held, l.last
	l.held = 0
	if c.lines[key] == l {
		delete(c.lines, key)
	}
	c.mu.Unlock()
	if held == 0 {
		return // close was faster
	}
	r := slog.NewRecord(time.Now(), key.level, l.lastText, 0)
	r.AddAttrs(slog.Int("repeated", held), slog.Duration("within", floodWindow))
	_ = last.Handle(context.Background(), r)
}

// close logs what is still held back; later lines all pass.
func (f *flood) close() {
	c := f.all
	c.mu.Lock()
	c.closed = true
	open := make(map[floodKey]*floodLine, len(c.lines))
	for k, l := range c.lines {
		if l.timer != nil {
			l.timer.Stop()
			open[k] = l
		}
	}
	c.mu.Unlock()
	for k, l := range open {
		c.tell(k, l)
	}
}
