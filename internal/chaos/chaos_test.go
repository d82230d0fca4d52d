package main

import (
	"bytes"
	"flag"
	"io"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	seed  = flag.Uint64("chaos.seed", 1, "what happens in the test of chaos is drawn from this")
	steps = flag.Int("chaos.steps", 15, "the steps of each of its workers")
)

// A short run finds nothing wrong, has every reader at work, and leaves nothing behind.
func TestChaos(t *testing.T) {
	var out bytes.Buffer
	p := usual(&out)
	p.seed, p.steps, p.rate, p.workers, p.groups = *seed, *steps, 0, 6, 6
	ok, err := chaos(p)
	if err != nil {
		t.Fatal(err)
	}
	if !ok {
		t.Fatalf("\n%s", &out)
	}
	last := out.String()[strings.LastIndexByte(strings.TrimSpace(out.String()), '\n')+1:]
	if strings.Contains(last, " 0 faults") || strings.Contains(last, " 0 reads") || !strings.HasSuffix(last, " 0 violations\n") {
		t.Errorf("the last line is %q", last)
	}
	t.Logf("\n%s", &out)
}

func TestProgramSaysWhatItWants(t *testing.T) {
	for _, args := range [][]string{nil, {"nothing"}, {"chaos", "-time", "long"}} {
		if err := program(args, io.Discard, io.Discard); err == nil {
			t.Errorf("%q is taken for a command", args)
		}
	}
}
