package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"fingerpost/api"
	"fingerpost/internal/kvfile"
	"fingerpost/internal/nstest"
	"fingerpost/internal/warmfile"
	"fingerpost/remoting/wire"
)

// killRounds is the variable that says how often TestKillRounds kills the server.
const killRounds = "KILL_ROUNDS"

// write is one thing that somebody tries to save, and what it was before.
type write struct{ key, before, after string }

// unset stands for a key that is not there.
const unset = "\x00"

// writer saves things of its own, one after the other, and keeps book of what was answered.
type writer struct {
	name    string
	do      func(key, value string) error // value may be unset
	keys    []string
	holds   map[string]string // what was last answered
	pending *write            // what was asked for and not answered
	acked   int
}

// work writes until the server does not answer any more.
func (w *writer) work(round int, answered *atomic.Int64, random *rand.Rand) {
	for i := 0; ; i++ {
		key := w.keys[random.IntN(len(w.keys))]
		x := write{key, w.value(key), fmt.Sprintf("%s-%d-%d", w.name, round, i)}
		if len(w.keys) > 1 && random.IntN(4) == 0 {
			x.after = unset
		}
		w.pending = &x
		if w.do(key, x.after) != nil {
			return
		}
		w.holds[key], w.pending = x.after, nil
		w.acked++
		answered.Add(1)
	}
}

func (w *writer) value(key string) string {
	if v, ok := w.holds[key]; ok {
		return v
	}
	return unset
}

// settle compares what is there with the book: what was not answered may be either.
func (w *writer) settle(t *testing.T, got func(key string) string) {
	t.Helper()
	for _, key := range w.keys {
		is := got(key)
		switch {
		case is == w.value(key):
		case w.pending != nil && w.pending.key == key && is == w.pending.after:
			w.holds[key] = is
		default:
			t.Errorf("%s: %s is %q, answered was %q, pending %+v", w.name, key, is, w.value(key), w.pending)
			w.holds[key] = is
		}
	}
	w.pending = nil
}

// TestKillRounds kills the server at any moment while several peers save keys and settings
// over both faces, time and again: whatever was answered is there afterwards, and no file
// is ever broken. Three rounds are made, or as many as KILL_ROUNDS says.
func TestKillRounds(t *testing.T) {
	rounds := 3
	if text := os.Getenv(killRounds); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			t.Fatalf("%s is %q: it must be a number of rounds", killRounds, text)
		}
		rounds = n
	}
	dir := t.TempDir()
	keys := func(prefix string) (out []string) {
		for i := range 5 {
			out = append(out, fmt.Sprintf("%s%d", prefix, i))
		}
		return out
	}
	all := []*writer{
		{name: "one", keys: keys("a")},
		{name: "two", keys: keys("b")},
		{name: "rest", keys: keys("c")},
		{name: "settings", keys: []string{"productEnvName"}},
	}
	for _, w := range all {
		w.holds = make(map[string]string)
	}
	all[3].holds["productEnvName"] = "center"
	seed := uint64(time.Now().UnixNano())
	random := rand.New(rand.NewPCG(seed, 1))
	began := time.Now()
	for round := range rounds {
		killRound(t, dir, round, all, random)
		if t.Failed() {
			t.Fatalf("in round %d of %d, seed %d", round+1, rounds, seed)
		}
	}
	acked := 0
	for _, w := range all {
		if acked += w.acked; w.acked == 0 {
			t.Errorf("%s: nothing was ever answered", w.name)
		}
	}
	t.Logf("killed %d times in %s: %d answered writes, 0 lost, 0 broken files", rounds, time.Since(began).Round(time.Second), acked)
}

func killRound(t *testing.T, dir string, round int, all []*writer, random *rand.Rand) {
	t.Helper()
	c, p := process(t, dir, "--http-listen=127.0.0.1:0", "--http-insecure-no-auth=true", "--http-writes-per-second=1000000",
		"--http-writes-burst=1000000", "--data-dir="+dir, "--warm-restart-enabled=true", "--warm-restart-interval=1s")
	addr, base := p.remoting(t), p.url(t)
	if text := p.stderr.String(); strings.Contains(text, "backup") || strings.Contains(text, "broken") || strings.Contains(text, "is not used") {
		t.Errorf("a kill left a broken file:\n%s", text)
	}
	var conns []*nstest.Client
	for range 3 {
		conn, err := nstest.Dial(addr, wire.JSONHeader)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		conns = append(conns, conn)
	}
	rest, err := api.New(base, api.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer rest.CloseIdleConnections()

	held := func(key string) string {
		resp, err := conns[0].Call(wire.GetKVConfig, wire.Fields{{Name: "namespace", Value: "n"}, {Name: "key", Value: key}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if resp.Code != 0 {
			return unset
		}
		v, _ := resp.Ext.Get("value")
		return v
	}
	for _, w := range all[:3] {
		w.settle(t, held)
	}
	text := settings(t, conns[0])
	all[3].settle(t, func(key string) string {
		_, rest, _ := strings.Cut(text, "\n"+key+"=")
		value, _, _ := strings.Cut(rest, "\n")
		return value
	})

	all[0].do, all[1].do = overRemoting(conns[0]), overRemoting(conns[1])
	all[2].do = func(key, value string) error {
		if value == unset {
			return absent(rest.DeleteKV(t.Context(), "n", key, api.Write{}))
		}
		_, err := rest.PutKV(t.Context(), "n", key, value, api.KVWrite{})
		return err
	}
	all[3].do = func(key, value string) error {
		_, err := nstest.Must(conns[2].Call(wire.UpdateNamesrvConfig, nil, []byte(key+"="+value)))
		return err
	}
	var answered atomic.Int64
	var working sync.WaitGroup
	for i, w := range all {
		own := rand.New(rand.NewPCG(random.Uint64(), uint64(i)))
		working.Go(func() { w.work(round, &answered, own) })
	}
	// The kill comes when so many writes were answered, and a bit.
	deadline := time.Now().Add(time.Minute)
	for enough := 1 + random.Int64N(60); answered.Load() < enough; time.Sleep(50 * time.Microsecond) {
		if time.Now().After(deadline) {
			t.Errorf("only %d of %d writes were answered:\n%s", answered.Load(), enough, p.stderr)
			break
		}
	}
	<-time.After(time.Duration(random.Int64N(int64(3 * time.Millisecond))))
	kill(c)
	working.Wait()
	wholeFiles(t, dir)
}

func overRemoting(conn *nstest.Client) func(key, value string) error {
	return func(key, value string) error {
		code, ext := wire.PutKVConfig, wire.Fields{{Name: "namespace", Value: "n"}, {Name: "key", Value: key}, {Name: "value", Value: value}}
		if value == unset {
			code, ext = wire.DeleteKVConfig, ext[:2]
		}
		_, err := nstest.Must(conn.Call(code, ext, nil))
		return err
	}
}

// absent takes it as done that a key which is to be removed is not there.
func absent(err error) error {
	if p, ok := errors.AsType[*api.Problem](err); ok && p.Status == http.StatusNotFound {
		return nil
	}
	return err
}

func kill(c *exec.Cmd) {
	c.Process.Kill()
	c.Wait()
}

// wholeFiles checks what stands in the folder right after a kill, before anybody mends it.
func wholeFiles(t *testing.T, dir string) {
	t.Helper()
	for name, whole := range map[string]func([]byte) error{
		filepath.Join("namesrv", "kvConfig.json"): func(b []byte) error { _, err := kvfile.Decode(b); return err },
		filepath.Join("namesrv", "namesrv.properties"): func(b []byte) error {
			if len(b) > 0 && b[len(b)-1] != '\n' {
				return fmt.Errorf("it ends in the middle of a line")
			}
			return nil
		},
		registryFile: warmfile.Check,
	} {
		for _, suffix := range []string{"", ".bak"} {
			data, err := os.ReadFile(filepath.Join(dir, name+suffix))
			if err != nil {
				continue // not saved yet
			}
			if err := whole(data); err != nil {
				t.Errorf("%s%s: %v", name, suffix, err)
			}
		}
	}
}
