package web

import (
	"runtime"
	"testing"
	"time"

	"fingerpost/registry"
)

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
