package remoting_test

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"fingerpost/internal/faultnet"
	"fingerpost/internal/nstest"
	"fingerpost/remoting"
	"fingerpost/remoting/wire"
)

// TestMalformedFrames sends bad frames and mutations of good ones over real sockets:
// CHAOS_FRAMES of them, some thousand without. No request is lost between what was sent
// and what the server counts: it was answered, or dropped, or ended its connection for a
// counted reason. Nothing panics, nothing stays, and a connection beside is served.
func TestMalformedFrames(t *testing.T) {
	frames, seed := uint64(3000), uint64(1)
	for name, n := range map[string]*uint64{"CHAOS_FRAMES": &frames, "CHAOS_SEED": &seed} {
		if text := os.Getenv(name); text != "" {
			var err error
			if *n, err = strconv.ParseUint(text, 10, 64); err != nil {
				t.Fatalf("%s must be a number: %v", name, err)
			}
		}
	}
	corpus := malformedCorpus(t)
	// A server for so many at once: what stays of them, such as keys, makes later ones slow.
	const each = 50_000
	var all ledger
	for sent, n := uint64(0), uint64(0); sent < frames; n++ {
		sent += malformed(t, corpus, min(each, frames-sent), rand.New(rand.NewPCG(seed, n)), &all)
		if frames > each {
			t.Logf("seed %d, %d of %d sent; %v", seed, sent, frames, &all)
		}
	}
	t.Logf("seed %d, %d inputs known; %v", seed, len(corpus), &all)
}

// ending is what becomes of the bytes of one connection.
type ending uint8

const (
	endServed  ending = iota // every frame is a request or an answer
	endBad                   // what comes after some is no frame
	endForeign               // another protocol
	endCut                   // the last frame is not whole
	endings    = 4
)

// counts are frames by what becomes of them, as the server should count them.
type counts struct {
	requests uint64
	answers  uint64 // to requests that want one
	unasked  uint64
	ends     [endings]uint64 // connections
	control  uint64          // requests of the connection beside
}

// ledger adds up counts.
type ledger struct {
	mu sync.Mutex
	counts
}

func (l *ledger) add(o counts) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.requests += o.requests
	l.answers += o.answers
	l.unasked += o.unasked
	l.control += o.control
	for i, n := range o.ends {
		l.ends[i] += n
	}
}

func (l *ledger) String() string {
	return fmt.Sprintf("%d frames accounted for: %d requests, of which %d want an answer; %d answers dropped; %d no frames; %d of another protocol; %d cut short; over %d connections",
		l.requests+l.unasked+l.ends[endBad]+l.ends[endForeign]+l.ends[endCut], l.requests, l.answers, l.unasked,
		l.ends[endBad], l.ends[endForeign], l.ends[endCut], l.ends[endServed]+l.ends[endBad]+l.ends[endForeign]+l.ends[endCut])
}

// foretell works out what becomes of all that is sent over one connection.
func foretell(b []byte) (l counts, end ending) {
	defer func() { l.ends[end]++ }()
	if len(b) < 12 { // before that nothing is looked at
		return l, endCut
	}
	for _, start := range []string{"PROXY", "\r\n\r\n\x00\r\nQUIT\n", "\x16", "PRI * HTTP", "GET ", "POST", "PUT ", "HEAD", "DELE", "OPTI", "PATC", "CONN", "TRAC"} {
		if bytes.HasPrefix(b, []byte(start)) {
			return l, endForeign
		}
	}
	for len(b) > 0 {
		f, size, ok, err := wire.SplitFrame(b, wire.FrameLimits{})
		if err != nil {
			return l, endBad
		}
		if !ok {
			return l, endCut
		}
		var cmd wire.Command
		if cmd.Decode(f) != nil {
			return l, endBad
		}
		switch {
		case cmd.IsResponse():
			l.unasked++
		case cmd.IsOneway():
			l.requests++
		default:
			l.requests++
			l.answers++
		}
		b = b[size:]
	}
	return l, endServed
}

// malformed sends n inputs to a server of its own and holds its counters to the ledger,
// which it then adds to all. It returns how many it sent.
func malformed(t *testing.T, corpus [][]byte, n uint64, rng *rand.Rand, all *ledger) (sent uint64) {
	bed := startTCP(t, with(func(s *remoting.Server) { s.Idle = func() time.Duration { return 0 } }))
	defer bed.stop()
	var want ledger
	var clients sync.WaitGroup
	done := make(chan struct{})
	control := besides(t, bed, done, &want)
	const at = 8 // clients at once
	for i := range at {
		share := n / at
		if i == 0 {
			share += n % at
		}
		sent += share
		own := rand.New(rand.NewPCG(rng.Uint64(), uint64(i)))
		clients.Go(func() {
			for share > 0 && !t.Failed() {
				stream, used, l, end := compose(own, corpus, share)
				share -= used
				if err := converse(bed.ln.Addr().String(), own, stream, l, end); err != nil {
					t.Errorf("%v\nafter %d bytes: %q", err, len(stream), clipped(stream))
					return
				}
				want.add(l)
			}
		})
	}
	clients.Wait()
	close(done)
	control.Wait()
	late := time.Now().Add(patience)
	for bed.srv.Open() > 0 && time.Now().Before(late) {
		time.Sleep(time.Millisecond)
	}
	if open := bed.srv.Open(); open > 0 {
		t.Errorf("%d connections are still open", open)
	}
	stats := &bed.srv.Stats
	requests := uint64(0)
	for _, k := range stats.Requests() {
		requests += k
	}
	for name, c := range map[string][2]uint64{
		"requests":  {want.requests + want.control, requests},
		"unasked":   {want.unasked, stats.Unasked.Load()},
		"bad":       {want.ends[endBad], stats.BadFrames.Load()},
		"foreign":   {want.ends[endForeign], stats.WrongProtocol.Load()},
		"cut short": {want.ends[endCut], stats.CutShort.Load()},
		"panics":    {0, stats.Panics.Load()},
		"stalled":   {0, stats.Stalled.Load()},
		"accepted":  {want.ends[endServed] + want.ends[endBad] + want.ends[endForeign] + want.ends[endCut] + 1, stats.Accepted.Load()},
	} {
		if c[0] != c[1] && !t.Failed() {
			t.Errorf("%s: %d were sent and %d counted", name, c[0], c[1])
		}
	}
	if whole := want.requests + want.unasked + want.ends[endBad] + want.ends[endForeign] + want.ends[endCut]; whole < sent {
		t.Errorf("%d inputs were sent and %d frames accounted for", sent, whole)
	}
	all.add(want.counts)
	return sent
}

// besides registers a broker and looks up its route again and again until done, over a
// connection that nothing bad comes over.
func besides(t *testing.T, bed *bed, done <-chan struct{}, want *ledger) *sync.WaitGroup {
	const topic = "of-the-connection-beside"
	b := broker{cluster: "beside", name: "beside", addr: "192.0.2.1:10911", topics: topics(topic, topic+"-2"), counter: 1}
	c := nstest.NewClient(bed.conn(), wire.JSONHeader)
	if _, err := nstest.Must(c.Call(wire.RegisterBroker, b.ext(), b.body())); err != nil {
		t.Fatal(err)
	}
	var loop sync.WaitGroup
	loop.Go(func() {
		defer c.Close()
		own := counts{control: 1}
		defer func() { want.add(own) }()
		for {
			select {
			case <-done:
				return
			default:
			}
			resp, err := nstest.Must(c.Call(wire.GetRouteInfoByTopic, fields("topic", topic), nil))
			if err != nil || !bytes.Contains(resp.Body, []byte(b.addr)) {
				t.Errorf("a lookup over the connection beside: %v, %v", resp, err)
				return
			}
			own.control++
		}
	})
	return &loop
}

// compose puts inputs together for one connection, until one of them ends it.
func compose(rng *rand.Rand, corpus [][]byte, most uint64) (stream []byte, used uint64, l counts, end ending) {
	for used < most && used < 30 {
		stream = append(stream, mutate(rng, corpus)...)
		used++
		if l, end = foretell(stream); end != endServed {
			return stream, used, l, end
		}
	}
	// The answer to the last tells that all have been served.
	stream = append(stream, rawFrame(0, []byte(goodHead), nil)...)
	l, end = foretell(stream)
	return stream, used, l, end
}

// mutate takes a known input and mostly changes it a little.
func mutate(rng *rand.Rand, corpus [][]byte) []byte {
	b := slices.Clone(corpus[rng.IntN(len(corpus))])
	for range rng.IntN(4) {
		if len(b) == 0 {
			break
		}
		at := rng.IntN(len(b))
		switch rng.IntN(9) {
		case 0:
			b[at] ^= 1 << rng.IntN(8)
		case 1:
			b[at] = byte(rng.Uint32())
		case 2:
			b = b[:at]
		case 3:
			b = slices.Insert(b, at, b[rng.IntN(at+1):at]...)
		case 4:
			b = slices.Delete(b, at, min(len(b), at+1+rng.IntN(8)))
		case 5:
			other := corpus[rng.IntN(len(corpus))]
			b = append(b[:at], other[min(len(other), at):]...)
		case 6: // another length, of the frame or of its header
			if len(b) >= 8 {
				lengths := []uint32{0, 1, 3, 4, 20, uint32(len(b)), uint32(len(b) - 4), uint32(len(b) - 8), 1 << 16, 1<<24 - 5, 1<<24 - 1, 1 << 31, 1<<32 - 1}
				binary.BigEndian.PutUint32(b[4*rng.IntN(2):], lengths[rng.IntN(len(lengths))])
			}
		case 7: // what is inside changes and the lengths fit it
			if f, size, ok, err := wire.SplitFrame(b, wire.FrameLimits{}); ok && err == nil && size == len(b) && len(f.Header) > 0 {
				h := slices.Clone(f.Header)
				h[rng.IntN(len(h))] = byte(rng.Uint32())
				b = rawFrame(byte(f.Type), h, f.Body)
			}
		case 8:
			for i := range b {
				if b[i] >= '0' && b[i] <= '9' && rng.IntN(8) == 0 {
					b[i] = '0' + byte(rng.IntN(10))
				}
			}
		}
	}
	if len(b) == 0 {
		return []byte{0}
	}
	return b[:min(len(b), 200<<10)]
}

// converse sends the stream and waits until the server is through with it.
func converse(addr string, rng *rand.Rand, stream []byte, l counts, end ending) error {
	d := net.Dialer{Timeout: patience}
	if runtime.GOOS == "linux" {
		// All of 127.0.0.0/8 is this machine: one address has too few ports for a million
		// connections that follow on each other.
		d.LocalAddr = &net.TCPAddr{IP: net.IPv4(127, 0, byte(1+rng.IntN(200)), byte(1+rng.IntN(200)))}
	}
	conn, err := d.Dial("tcp", addr)
	if err != nil {
		return err
	}
	defer faultnet.Reset(conn)
	conn.SetDeadline(time.Now().Add(patience))
	wrote := make(chan error, 1)
	go func() {
		_, err := conn.Write(stream)
		if end == endCut && err == nil {
			err = faultnet.HalfClose(conn)
		}
		wrote <- err
	}()
	answers, in := uint64(0), bufio.NewReader(conn)
	for end != endServed || answers < l.answers {
		f, _, err := wire.ReadFrame(in, nil, wire.FrameLimits{Frame: 1 << 30})
		if err != nil {
			gone := errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
			if end == endServed || !gone {
				return fmt.Errorf("instead of answer %d of %d: %w", answers+1, l.answers, err)
			}
			break
		}
		var cmd wire.Command
		if err := cmd.Decode(f); err != nil || !cmd.IsResponse() {
			return fmt.Errorf("what came is no answer: %v, %w", cmd, err)
		}
		answers++
	}
	// A server that ends the connection with something unread resets it, which may cost
	// the last answers their way.
	if answers > l.answers || answers < l.answers && (end == endServed || end == endCut) {
		return fmt.Errorf("%d answers to %d requests", answers, l.answers)
	}
	if err := <-wrote; err != nil && (end == endServed || end == endCut) {
		return err
	}
	return nil
}

func clipped(b []byte) []byte { return b[:min(len(b), 400)] }

// malformedCorpus are the inputs of all tests of bad input, what real programs said, and
// what the fuzzer has found on this machine, if CHAOS_CORPUS names the folder.
func malformedCorpus(t *testing.T) [][]byte {
	t.Helper()
	known := map[string]bool{}
	for _, c := range badCases() {
		known[string(c.plea.frame(theOpaque))] = true
	}
	for _, c := range rawCases() {
		known[string(c.bytes)] = true
	}
	for _, p := range proxyHeaders {
		known[p.header] = true
	}
	recorded, err := filepath.Glob("../interop/frames/*.jsonl")
	if err != nil || len(recorded) == 0 {
		t.Fatalf("no recorded frames: %v", err)
	}
	for _, name := range append(recorded, "wire/testdata/frames/frames.jsonl") {
		addRecorded(t, known, name)
	}
	if dir := os.Getenv("CHAOS_CORPUS"); dir != "" {
		before := len(known)
		addFuzzed(t, known, dir)
		t.Logf("%d inputs of the fuzzer from %s", len(known)-before, dir)
	}
	var out [][]byte
	for _, k := range slices.Sorted(maps.Keys(known)) {
		out = append(out, []byte(k))
	}
	return out
}

func addRecorded(t *testing.T, known map[string]bool, name string) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(text) {
		var l struct{ RawHex string }
		if json.Unmarshal(line, &l) != nil {
			continue // a line of another kind
		}
		if b, err := hex.DecodeString(l.RawHex); err == nil && len(b) > 0 {
			known[string(b)] = true
		}
	}
}

// addFuzzed reads the files of Go's fuzzer below dir: those with an input of bytes first.
func addFuzzed(t *testing.T, known map[string]bool, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		_, rest, _ := strings.Cut(string(text), "\n[]byte(")
		quoted, _, _ := strings.Cut(rest, ")\n")
		if b, err := strconv.Unquote(quoted); err == nil && b != "" && len(b) < 64<<10 {
			known[b] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
