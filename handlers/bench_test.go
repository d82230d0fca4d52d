package handlers

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/go-chi/chi/v5"
)

// asker sends the same request again and again over one connection. It looks at the
// answer as little as it can, so that what is measured is the server.
type asker struct {
	conn net.Conn
	r    *bufio.Reader
	ask  []byte
}

func newAsker(tb testing.TB, srv *httptest.Server, path string) *asker {
	tb.Helper()
	conn, err := net.Dial("tcp", srv.Listener.Addr().String())
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { conn.Close() })
	return &asker{conn, bufio.NewReaderSize(conn, 16<<10), []byte("GET " + path + " HTTP/1.1\r\nHost: 127.0.0.1:8876\r\nUser-Agent: bench\r\nAccept: */*\r\n\r\n")}
}

var lengthHeader = []byte("Content-Length: ")

// once asks once and returns the length of the body.
func (a *asker) once(tb testing.TB) int {
	if _, err := a.conn.Write(a.ask); err != nil {
		tb.Fatal(err)
	}
	length := 0
	for first := true; ; first = false {
		line, err := a.r.ReadSlice('\n')
		if err != nil {
			tb.Fatal(err)
		}
		if first && !bytes.HasPrefix(line, []byte("HTTP/1.1 200")) {
			tb.Fatalf("got %s", line)
		}
		if v, ok := bytes.CutPrefix(line, lengthHeader); ok {
			length, _ = strconv.Atoi(string(bytes.TrimSpace(v)))
		}
		if len(line) == 2 {
			break
		}
	}
	if _, err := a.r.Discard(length); err != nil {
		tb.Fatal(err)
	}
	return length
}

// bare is a router with one handler that writes the same bytes: the least that HTTP costs.
func bare(tb testing.TB, body []byte) *httptest.Server {
	r := chi.NewRouter()
	r.Get(topicP+"/route", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		_, _ = w.Write(body)
	})
	srv := httptest.NewServer(r)
	tb.Cleanup(srv.Close)
	return srv
}

// BenchmarkRouteOverHTTP reads a route over a connection that is kept, in turns with a
// bare handler, so that both see the same machine. %ofbare is the part of the bare
// handler's requests per second that is reached, by the medians of many short turns: a
// busy neighbour slows some of them.
func BenchmarkRouteOverHTTP(b *testing.B) {
	for _, brokers := range []int{1, 8} {
		b.Run(fmt.Sprintf("brokers=%d", brokers), func(b *testing.B) {
			e := newEnv(b, func(d *Deps) { d.Log = slog.New(slog.NewJSONHandler(io.Discard, nil)) })
			for i := range brokers {
				e.broker(fmt.Sprintf("broker-%d", i), 0, fmt.Sprintf("10.0.0.%d:10911", i), "OrderCreated")
			}
			const path = "/api/v1/topics/OrderCreated/route"
			ours := newAsker(b, e.srv, path)
			least := newAsker(b, bare(b, e.get(path).body), path)
			if n, m := ours.once(b), least.once(b); n != m || n == 0 {
				b.Fatalf("the bodies have %d and %d bytes", n, m)
			}
			var mine, theirs []time.Duration
			const turn = 50
			b.ReportAllocs()
			for b.Loop() {
				began := time.Now()
				for range turn {
					ours.once(b)
				}
				between := time.Now()
				for range turn {
					least.once(b)
				}
				mine, theirs = append(mine, between.Sub(began)), append(theirs, time.Since(between))
			}
			slices.Sort(mine)
			slices.Sort(theirs)
			our, their := mine[len(mine)/2].Seconds(), theirs[len(theirs)/2].Seconds()
			b.ReportMetric(100*their/our, "%ofbare")
			b.ReportMetric(turn/our, "req/s")
			b.ReportMetric(turn/their, "bare-req/s")
		})
	}
}

// BenchmarkRouteHandler is the same without sockets: what the face itself costs.
func BenchmarkRouteHandler(b *testing.B) {
	e := newEnv(b, func(d *Deps) { d.Log = slog.New(slog.NewJSONHandler(io.Discard, nil)) })
	e.broker("broker-a", 0, "10.0.0.1:10911", "OrderCreated")
	r := httptest.NewRequestWithContext(b.Context(), "GET", "http://127.0.0.1:8876/api/v1/topics/OrderCreated/route", nil)
	w := &nowhere{header: http.Header{}}
	b.ReportAllocs()
	for b.Loop() {
		clear(w.header)
		e.h.ServeHTTP(w, r)
	}
	if w.status != http.StatusOK {
		b.Fatalf("status %d", w.status)
	}
}

// nowhere is a response that is forgotten.
type nowhere struct {
	header http.Header
	status int
}

func (w *nowhere) Header() http.Header         { return w.header }
func (w *nowhere) WriteHeader(s int)           { w.status = s }
func (w *nowhere) Write(b []byte) (int, error) { return len(b), nil }
