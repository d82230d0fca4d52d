package main

import (
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"fingerpost/config"
)

func TestLogForms(t *testing.T) {
	for _, c := range []struct{ form, want string }{
		{"auto", `"msg":"hello","took":"1.5s"}`}, // no terminal
		{"json", `"msg":"hello","took":"1.5s"}`},
		{"text", "INF hello took=1.5s"},
	} {
		o := newOutput()
		cfg := config.Default("", "")
		cfg.LogFormat = c.form
		var level slog.LevelVar
		log, end := newLog(o, &cfg, &level, false)
		log.Debug("too little")
		log.Info("hello", "took", 1500*time.Millisecond)
		level.Set(slog.LevelError)
		log.Warn("too little now")
		end()
		if got := o.String(); !strings.Contains(got, c.want) || strings.Contains(got, "too little") || strings.Contains(got, "\x1b") {
			t.Errorf("%s: %q", c.form, got)
		}
	}
}

func TestIsTerminal(t *testing.T) {
	f, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if isTerminal(f) || isTerminal(newOutput()) {
		t.Error("taken for a terminal")
	}
}
