package main

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fingerpost/config"
	"fingerpost/internal/nstest"
	"fingerpost/internal/warmfile"
	"fingerpost/registry"
	"fingerpost/remoting/wire"
)

// askRoute returns the code with which a route is answered.
func askRoute(t *testing.T, addr, topic string) wire.ResponseCode {
	t.Helper()
	c, err := nstest.Dial(addr, wire.JSONHeader)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	resp, err := c.Call(wire.GetRouteInfoByTopic, wire.Fields{{Name: "topic", Value: topic}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return wire.ResponseCode(resp.Code)
}

// A process that was killed, and one that stopped well, answer at once when they are back.
func TestWarmRestart(t *testing.T) {
	dir := t.TempDir()
	args := []string{"--warm-restart-enabled=true", "--warm-restart-interval=1s", "--data-dir=" + dir}
	file := filepath.Join(dir, registryFile)

	c, p := process(t, dir, args...)
	p.stderr.line(t, "nothing is known from before, so routes come with the brokers' registrations")
	b := nstest.StartBroker(t, p.remoting(t), nstest.BrokerConfig{Name: "broker-a", Cluster: "c"})
	b.Topic("Orders", 4)
	b.Topic("Invoices", 4)
	if _, err := nstest.Must(b.Register()); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		data, _ := os.ReadFile(file)
		if img, _, err := warmfile.Decode(data); err == nil && len(img.Groups) == 1 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the registration is not saved:\n%s", p.stderr)
		}
	}
	c.Process.Kill()
	c.Wait()

	c, p = process(t, dir, args...)
	if l := p.stderr.line(t, "answering from what was known before, until the brokers register"); l["brokers"] != 1.0 {
		t.Errorf("%v", l)
	}
	if code := askRoute(t, p.remoting(t), "Orders"); code != wire.Success {
		t.Errorf("after a kill the route is answered with code %d", code)
	}
	// It registers, changed, and the server stops well before the next save is due.
	b = nstest.StartBroker(t, p.remoting(t), nstest.BrokerConfig{Name: "broker-a", Cluster: "c"})
	b.Topic("Orders", 4)
	b.Topic("Bills", 4)
	if _, err := nstest.Must(b.Register()); err != nil {
		t.Fatal(err)
	}
	if err := c.Process.Signal(os.Interrupt); err != nil {
		t.Skipf("no such signals here: %v", err)
	}
	if err := c.Wait(); err != nil {
		t.Fatalf("%v:\n%s", err, p.stderr)
	}
	c, p = process(t, dir, args...)
	if code := askRoute(t, p.remoting(t), "Bills"); code != wire.Success {
		t.Errorf("after a good stop the route is answered with code %d:\n%s", code, p.stderr)
	}
	c.Process.Kill()
	c.Wait()
	_, p = process(t, dir, "--data-dir="+dir)
	if code := askRoute(t, p.remoting(t), "Orders"); code != wire.TopicNotExist {
		t.Errorf("without the setting the route is answered with code %d", code)
	}
}

// Whatever is wrong with the file, the server begins without it and says why in one line.
func TestColdStarts(t *testing.T) {
	reg := registry.New(registry.Options{})
	register(t, reg, "broker-a", 0)
	encode := func(at time.Time) []byte {
		data, err := warmfile.Encode(reg.Snapshot().Image(), at)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	whole := encode(time.Now())
	unfit := reg.Snapshot().Image()
	unfit.Groups[0].Members = nil
	spoilt, err := warmfile.Encode(unfit, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	for name, x := range map[string]struct {
		file, backup []byte
		brokers      int
		says         string
	}{
		"missing":          {nil, nil, 0, "nothing is known from before"},
		"whole":            {whole, nil, 1, "answering from what was known before"},
		"old":              {encode(time.Now().Add(-time.Hour)), nil, 0, "1h0m0s old and may be 10m0s"},
		"of the future":    {encode(time.Now().Add(time.Hour)), nil, 0, "old and may be 10m0s"},
		"truncated":        {whole[:len(whole)-1], nil, 0, "bytes where"},
		"empty":            {[]byte{}, nil, 0, "nothing is known from before"},
		"swapped":          {[]byte(`{"configTable":{}}`), nil, 0, "no such file"},
		"another version":  {bytes.Replace(whole, []byte("registry 1 "), []byte("registry 2 "), 1), nil, 0, "another version: 2, not 1"},
		"corrupt":          {bytes.Replace(whole, []byte("broker-a"), []byte("broker-b"), 1), nil, 0, "checksum is wrong"},
		"unfit":            {spoilt, nil, 0, "none of its members is of its cluster"},
		"from the backup":  {whole[:20], whole, 1, "its backup"},
		"both are corrupt": {whole[:20], whole[:20], 0, "neither"},
	} {
		cfg := config.Default("", "")
		cfg.DataDir = t.TempDir()
		path := filepath.Join(cfg.DataDir, registryFile)
		for name, data := range map[string][]byte{path: x.file, path + ".bak": x.backup} {
			if data != nil {
				put(t, name, string(data))
			}
		}
		out := newOutput()
		w := newWarm(&cfg, nil, slog.New(slog.NewTextHandler(out, nil)))
		r := registry.New(registry.Options{})
		w.begin(r, 0)
		if got := r.Snapshot().Unconfirmed(); got != x.brokers || !strings.Contains(out.String(), x.says) {
			t.Errorf("%s: %d brokers, it says %s", name, got, out)
		}
		if lines := strings.Count(out.String(), "\n"); x.brokers == 0 && lines != 1 {
			t.Errorf("%s: %d lines:\n%s", name, lines, out)
		}
		// It is replaced by what is known next, and that is good.
		register(t, r, "broker-a", 1)
		w.save(false)
		r2 := registry.New(registry.Options{})
		newWarm(&cfg, nil, slog.New(slog.DiscardHandler)).begin(r2, 0)
		if got := r2.Snapshot().Unconfirmed(); got != x.brokers+1 {
			t.Errorf("%s: after the next save %d brokers", name, got)
		}
	}
}

// A registry at rest is not written again and again, but before the file is too old; after
// the last save nothing is written.
func TestSavesAreNeeded(t *testing.T) {
	cfg := config.Default("", "")
	cfg.DataDir = t.TempDir()
	path := filepath.Join(cfg.DataDir, registryFile)
	w := newWarm(&cfg, nil, slog.New(slog.DiscardHandler))
	r := registry.New(registry.Options{})
	w.begin(r, 0)
	written := func() bool {
		t.Helper()
		_, err := os.Stat(path)
		os.Remove(path)
		return err == nil
	}
	register(t, r, "broker-a", 0)
	if w.save(false); !written() {
		t.Error("a change is not saved")
	}
	if w.save(false); written() {
		t.Error("nothing has changed and it is saved")
	}
	w.at = w.at.Add(-w.maxAge / 2)
	if w.save(false); !written() {
		t.Error("the file is let grow old")
	}
	if w.finish(); !written() {
		t.Error("the last save is not made")
	}
	register(t, r, "broker-b", 0)
	if w.save(false); written() {
		t.Error("a save follows the last one")
	}
}

// A save that fails is shown by the check, and the next that works takes it back.
func TestFailedWarmSaveShows(t *testing.T) {
	cfg := config.Default("", "")
	dir := t.TempDir()
	cfg.DataDir = filepath.Join(dir, "file")
	put(t, cfg.DataDir, "in the way")
	out := newOutput()
	w := newWarm(&cfg, nil, slog.New(slog.NewTextHandler(out, nil)))
	n := &node{warm: w}
	r := registry.New(registry.Options{})
	w.begin(r, 0)
	register(t, r, "broker-a", 0)
	w.save(false)
	if err := n.warmSaved(t.Context()); err == nil || !strings.Contains(out.String(), "could not be saved for the next start") {
		t.Errorf("%v; %s", err, out)
	}
	os.Remove(cfg.DataDir)
	w.save(false)
	if err := n.warmSaved(t.Context()); err != nil {
		t.Error(err)
	}
	if err := (&node{}).warmSaved(t.Context()); err != nil {
		t.Error(err)
	}
}
