package web

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"fingerpost/api"
	"fingerpost/registry"
)

// The environment of the process that BenchmarkFanout starts to hold the clients' ends.
const (
	fanOutURL     = "FANOUT_URL"
	fanOutSockets = "FANOUT_SOCKETS"
)

// BenchmarkFanout is one change heard by many sockets over real connections: how long
// until half of them, 99 of 100, and all of them have it. One of the sockets never reads.
// The clients are a process of their own, which shares the processors with the server.
func BenchmarkFanout(b *testing.B) {
	for _, sockets := range []int{2_000, 10_000} {
		b.Run(fmt.Sprintf("sockets=%d", sockets), func(b *testing.B) { fanOut(b, sockets) })
	}
}

func fanOut(b *testing.B, sockets int) {
	reg := registry.New(registry.Options{})
	feed, err := NewFeed(FeedOptions{
		Registry: reg, MaxSockets: sockets + 1, MaxPerAddress: sockets + 1,
		Authenticate: func(*http.Request) (string, bool) { return "viewer", true },
	})
	if err != nil {
		b.Fatal(err)
	}
	put(b, reg, "a", 2, 8, 1)
	srv := httptest.NewServer(feed)
	defer func() {
		feed.Close()
		srv.Close()
	}()
	url := "ws" + strings.TrimPrefix(srv.URL, "http")
	heap := liveHeap()
	stuck, err := dialReal(url)
	if err != nil {
		b.Fatal(err)
	}
	said, end := startClients(b, url, sockets)
	defer end()
	if line := <-said; line != "ready" {
		b.Fatal(line)
	}
	perSocket := float64(liveHeap()-heap) / float64(sockets+1)
	var waits []time.Duration
	i := int32(0)
	for b.Loop() {
		i++
		begin := time.Now()
		topic(b, reg, "t0", "a", 10+i%2)
		for f := range strings.FieldsSeq(<-said) {
			at, err := strconv.ParseInt(f, 10, 64)
			if err != nil {
				b.Fatalf("a client says %q", f)
			}
			waits = append(waits, time.Unix(0, at).Sub(begin))
		}
		time.Sleep(batchEvery) // the next change is an idle watcher's again
	}
	_ = stuck.CloseNow()
	slices.Sort(waits)
	at := func(share float64) float64 {
		return float64(waits[int(share*float64(len(waits)-1))].Microseconds()) / 1000
	}
	b.ReportMetric(at(0.5), "ms-p50")
	b.ReportMetric(at(0.99), "ms-p99")
	b.ReportMetric(at(1), "ms-max")
	b.ReportMetric(perSocket/1024, "KiB/socket")
	b.ReportMetric(0, "ns/op")
}

// startClients starts the clients' process and returns the lines that it writes: "ready",
// then for each change when each socket heard it. end ends it.
func startClients(b *testing.B, url string, sockets int) (said <-chan string, end func()) {
	exe, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), fanOutURL+"="+url, fanOutSockets+"="+strconv.Itoa(sockets))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	lines := make(chan string)
	go func() {
		defer close(lines)
		r := bufio.NewReader(out)
		for {
			line, err := r.ReadString('\n')
			if err != nil {
				return
			}
			lines <- strings.TrimSpace(line)
		}
	}()
	return lines, func() {
		_ = cmd.Process.Kill()
		for range lines { // until its output has ended
		}
		_ = cmd.Wait()
	}
}

// clientsOfFanOut is the process of the clients. It ends with its parent's sockets.
func clientsOfFanOut() error {
	sockets, err := strconv.Atoi(os.Getenv(fanOutSockets))
	if err != nil {
		return err
	}
	heard := make(chan int64, sockets)
	for range sockets {
		c, err := dialReal(os.Getenv(fanOutURL))
		if err != nil {
			return err
		}
		go func() {
			for {
				_, msg, err := c.Read(context.Background())
				if err != nil {
					os.Exit(0)
				}
				if strings.HasPrefix(string(msg), `{"op":"changes"`) {
					heard <- time.Now().UnixNano()
				}
			}
		}()
	}
	fmt.Fprintln(os.Stdout, "ready")
	for {
		var line []byte
		for range sockets {
			line = append(strconv.AppendInt(line, <-heard, 10), ' ')
		}
		fmt.Fprintln(os.Stdout, string(line))
	}
}

func dialReal(url string) (*websocket.Conn, error) {
	c, _, err := websocket.Dial(context.Background(), url, &websocket.DialOptions{Subprotocols: []string{api.FeedProtocol}})
	if err != nil {
		return nil, err
	}
	return c, c.Write(context.Background(), websocket.MessageText, []byte(`{"op":"subscribe","id":"all"}`))
}
