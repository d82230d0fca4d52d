package web

import (
	"context"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"fingerpost/api"
	"fingerpost/registry"
)

// BenchmarkFanout is one change heard by 2000 sockets over real connections: how long
// until half of them, 99 of 100, and all of them have it. One of the sockets never reads.
func BenchmarkFanout(b *testing.B) {
	const sockets = 2000
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
	heard := make(chan time.Time, sockets)
	var wg sync.WaitGroup
	ctx, cancel := context.WithCancel(context.Background())
	stuck := dialReal(b, url)
	for range sockets {
		c := dialReal(b, url)
		wg.Go(func() {
			defer c.CloseNow()
			for {
				_, msg, err := c.Read(ctx)
				if err != nil {
					return
				}
				if strings.HasPrefix(string(msg), `{"op":"changes"`) {
					heard <- time.Now()
				}
			}
		})
	}
	perSocket := float64(liveHeap()-heap) / (sockets + 1)
	var waits []time.Duration
	i := int32(0)
	for b.Loop() {
		i++
		begin := time.Now()
		topic(b, reg, "t0", "a", 10+i%2)
		for range sockets {
			waits = append(waits, (<-heard).Sub(begin))
		}
		time.Sleep(batchEvery) // the next change is an idle watcher's again
	}
	cancel()
	wg.Wait()
	_ = stuck.CloseNow()
	slices.Sort(waits)
	at := func(share float64) float64 {
		return float64(waits[int(share*float64(len(waits)-1))].Microseconds()) / 1000
	}
	b.ReportMetric(at(0.5), "ms-p50")
	b.ReportMetric(at(0.99), "ms-p99")
	b.ReportMetric(at(1), "ms-max")
	b.ReportMetric(perSocket/1024, "KiB/socket-pair")
	b.ReportMetric(0, "ns/op")
}

func dialReal(b *testing.B, url string) *websocket.Conn {
	b.Helper()
	c, _, err := websocket.Dial(context.Background(), url, &websocket.DialOptions{Subprotocols: []string{api.FeedProtocol}})
	if err != nil {
		b.Fatal(err)
	}
	if err := c.Write(context.Background(), websocket.MessageText, []byte(`{"op":"subscribe","id":"all"}`)); err != nil {
		b.Fatal(err)
	}
	return c
}

func liveHeap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc + m.StackInuse
}

// BenchmarkSnapshot is what a page costs that opens on 20,000 topics of 200 brokers.
func BenchmarkSnapshot(b *testing.B) {
	reg := registry.New(registry.Options{})
	for i := range 200 {
		info := registry.MemberInfo{
			Cluster: "c", Name: "broker-" + string(rune('a'+i%26)) + string(rune('a'+i/26)), Addr: "10.0.0.1:" + string(rune('0'+i%10)) + string(rune('0'+i/10)),
			Timeout: time.Minute, Version: registry.DataVersion{Counter: 1},
		}
		st := reg.Snapshot().NewStatement("c", info.Addr)
		for t := i % 10; t < 20_000; t += 50 {
			st.Add("topic-"+string(rune('a'+t%26))+time.Duration(t).String(), registry.TopicConfig{QueueSpec: registry.QueueSpec{ReadQueues: 8, WriteQueues: 8, Perm: 6}})
		}
		if _, err := reg.Register(registry.Registration{MemberInfo: info, Topics: st}, nil, cause("registerBroker")); err != nil {
			b.Fatal(err)
		}
	}
	feed := &Feed{o: FeedOptions{Registry: reg}}
	bytes := 0
	for b.Loop() {
		bytes = 0
		for frame := range frameSnapshot(feed.view(reg.Snapshot()), "all", nil) {
			bytes += len(frame)
		}
	}
	b.ReportMetric(float64(bytes)/1024, "KiB")
}
