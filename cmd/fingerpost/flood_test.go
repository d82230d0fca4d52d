package main

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// written are the lines of a JSON log.
func written(t *testing.T, b *output) []map[string]any {
	t.Helper()
	var lines []map[string]any
	for l := range strings.Lines(b.String()) {
		var m map[string]any
		if err := json.Unmarshal([]byte(l), &m); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, m)
	}
	return lines
}

func floodLog(level slog.Level) (*slog.Logger, *flood, *output) {
	b := newOutput()
	f := newFlood(slog.NewJSONHandler(b, &slog.HandlerOptions{Level: level}))
	return slog.New(f), f, b
}

func TestFloodIsHeldBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, f, b := floodLog(slog.LevelInfo)
		peer := log.With("peer", "10.0.0.1:1")
		for i := range 100_000 {
			peer.Warn("no such topic", "topic", i)
		}
		log.Info("something else")
		if n := len(written(t, b)); n != floodBurst+1 {
			t.Errorf("%d lines at once", n)
		}
		time.Sleep(floodWindow)
		synctest.Wait()
		lines := written(t, b)
		last := lines[len(lines)-1]
		if len(lines) != floodBurst+2 || last["msg"] != "no such topic" || last["repeated"] != 100_000.0-floodBurst || last["peer"] != "10.0.0.1:1" || last["level"] != "WARN" {
			t.Errorf("%d lines, the last %v", len(lines), last)
		}
		peer.Warn("no such topic", "topic", "again")
		if lines = written(t, b); lines[len(lines)-1]["topic"] != "again" {
			t.Error("a later line is held back")
		}
		f.close()
		if n := len(written(t, b)); n != floodBurst+3 {
			t.Errorf("%d lines in the end", n)
		}
	})
}

func TestSlowLinesAreNotHeldBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, f, b := floodLog(slog.LevelInfo)
		for range 50 {
			log.Warn("now and then")
			time.Sleep(floodWindow / floodBurst)
		}
		f.close()
		if n := len(written(t, b)); n != 50 {
			t.Errorf("%d lines of 50", n)
		}
	})
}

func TestDebugLinesAreNotHeldBack(t *testing.T) {
	log, f, b := floodLog(slog.LevelDebug)
	for range 100 {
		log.Debug("route")
	}
	f.close()
	if n := len(written(t, b)); n != 100 {
		t.Errorf("%d lines of 100", n)
	}
}

func TestFloodClosedTellsWhatItHolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, f, b := floodLog(slog.LevelInfo)
		for range floodBurst + 3 {
			log.Error("it fails")
		}
		f.close()
		f.close()
		lines := written(t, b)
		if len(lines) != floodBurst+1 || lines[floodBurst]["repeated"] != 3.0 {
			t.Errorf("%d lines: %v", len(lines), lines[len(lines)-1])
		}
		log.Error("it fails")
		time.Sleep(2 * floodWindow)
		if n := len(written(t, b)); n != floodBurst+2 {
			t.Errorf("%d lines after the end", n)
		}
	})
}

// Texts that never repeat do not fill the memory.
func TestFloodOfDifferentTexts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, f, b := floodLog(slog.LevelInfo)
		for i := range 10 * floodTexts {
			log.Warn(fmt.Sprint("text ", i))
		}
		f.all.mu.Lock()
		n := len(f.all.lines)
		f.all.mu.Unlock()
		if n > floodTexts+1 {
			t.Errorf("%d texts are remembered", n)
		}
		if n := len(written(t, b)); n > floodTexts+floodBurst {
			t.Errorf("%d lines", n)
		}
		time.Sleep(floodWindow)
		synctest.Wait()
		lines := written(t, b)
		if last := lines[len(lines)-1]; last["repeated"] != float64(9*floodTexts-floodBurst) {
			t.Errorf("the last line is %v", last)
		}
		log.Warn("text of now")
		if lines = written(t, b); lines[len(lines)-1]["msg"] != "text of now" {
			t.Error("a text is held back after the flood")
		}
		f.close()
	})
}

func TestFloodFromManySides(t *testing.T) {
	b := newOutput()
	f := newFlood(slog.NewJSONHandler(b, nil))
	log := slog.New(f).WithGroup("g")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 500 {
				log.Warn("same")
			}
		})
	}
	wg.Wait()
	f.close()
	lines := written(t, b)
	g, _ := lines[len(lines)-1]["g"].(map[string]any)
	if len(lines) != floodBurst+1 || g["repeated"] != 4000.0-floodBurst {
		t.Errorf("%d lines, the last %v", len(lines), lines[len(lines)-1])
	}
}
