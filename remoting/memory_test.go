package remoting_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"fingerpost/internal/nstest"
	"fingerpost/remoting/wire"
)

// kept returns how many bytes more are in use after f than before.
func kept(f func()) int {
	inUse := func() int {
		var m runtime.MemStats
		runtime.GC() // twice, so that pools are empty
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc)
	}
	before := inUse()
	f()
	return inUse() - before
}

// A silent connection does not keep the memory of its last request, whatever that was.
func TestSilentConnectionsKeepNothing(t *testing.T) {
	b := startTCP(t)
	conns := make([]*nstest.Client, 16)
	for i := range conns {
		conns[i] = b.client(wire.JSONHeader)
		succeed(t, conns[i], wire.GetAllTopicListFromNamesrv, nil, nil)
	}
	for name, cmd := range map[string]*wire.Command{
		"body":   {Body: make([]byte, 2<<20)},
		"header": {Ext: fields("x", strings.Repeat("x", 900_000))},
		"remark": {Remark: strings.Repeat("x", 900_000)},
		// In a binary header a value of no bytes takes back what was said before.
		"field taken back": {Ext: fields("x", strings.Repeat("x", 900_000), "x", "")},
	} {
		cmd.Code, cmd.Version = int32(wire.GetAllTopicListFromNamesrv), wire.V5_5_0
		header := wire.JSONHeader
		if len(cmd.Ext) > 1 {
			header = wire.BinaryHeader
		}
		frame, err := cmd.AppendTo(nil, header)
		if err != nil {
			t.Fatal(err)
		}
		got := kept(func() {
			for _, c := range conns {
				answered(t, c, frame)
				runtime.GC() // so that no two of them share a buffer
				runtime.GC()
			}
		})
		if most := len(conns) * len(frame) / 4; got > most {
			t.Errorf("after a large %s %d connections keep %d bytes, want less than %d", name, len(conns), got, most)
		}
	}
}

// answered sends a frame and takes its answer.
func answered(t *testing.T, c *nstest.Client, frame []byte) {
	t.Helper()
	if err := c.Write(frame); err != nil {
		t.Fatal(err)
	}
	if _, err := nstest.Must(c.Receive()); err != nil {
		t.Fatal(err)
	}
}

// Nor what was needed to read a registration, even if it was refused.
func TestSilentConnectionsKeepNoRegistration(t *testing.T) {
	b := startTCP(t)
	const size = 2 << 20
	long := strings.Repeat("x", size)
	var ids strings.Builder
	for i := range size / 16 {
		fmt.Fprintf(&ids, `,"%d":1`, i)
	}
	in := func(wrapper string) []byte {
		return []byte(`{"filterServerList":[],"topicConfigSerializeWrapper":{` + wrapper + `}}`)
	}
	deflated, err := (&wire.RegisterBody{FilterServers: []string{long}}).AppendCompressed(nil, wire.V5_5_0)
	if err != nil {
		t.Fatal(err)
	}
	for name, body := range map[string][]byte{
		"deflated": deflated,
		"escaped":  in(`"x":"\t` + long + `"`),
		"topic":    in(`"topicConfigTable":{"T":{"attributes":{"+a":"` + long + `"},"topicName":null}}`),
		"mapping":  in(`"topicQueueMappingInfoMap":{"T":{"currIdMap":{` + ids.String()[1:] + `}}}`),
	} {
		conns := make([]*nstest.Client, 8)
		for i := range conns {
			conns[i] = b.client(wire.JSONHeader)
			succeed(t, conns[i], wire.GetAllTopicListFromNamesrv, nil, nil)
		}
		r := one("b", "a:1")
		req := wire.Request(wire.RegisterBroker, r.ext(), body)
		frame, err := req.AppendTo(nil, wire.JSONHeader)
		if err != nil {
			t.Fatal(err)
		}
		got := kept(func() {
			for _, c := range conns {
				answered(t, c, frame)
				succeed(t, c, wire.UnregisterBroker, r.ext(), nil)
			}
		})
		if most := len(conns) * size / 8; got > most {
			t.Errorf("after a large registration (%s) %d connections keep %d bytes, want less than %d", name, len(conns), got, most)
		}
	}
}

// What the registry remembers of a request is what it needs, not the request.
func TestHistoryKeepsNoRequests(t *testing.T) {
	b := startTCP(t)
	c := b.client(wire.JSONHeader)
	r := one("b1", "a:1")
	r.register(t, c)
	ballast := wire.Field{Name: "x", Value: strings.Repeat("x", 300_000)}
	const n = 100
	ask := func(code wire.RequestCode, nameValue ...string) {
		t.Helper()
		succeed(t, c, code, append(fields(nameValue...), ballast), nil)
	}
	got := kept(func() {
		for i := range n / 4 {
			ask(wire.WipeWritePermOfBroker, "brokerName", "b1")
			ask(wire.AddWritePermOfBroker, "brokerName", "b1")
			key := fmt.Sprint("k", i)
			ask(wire.PutKVConfig, "namespace", "n", "key", key, "value", "v")
			ask(wire.DeleteKVConfig, "namespace", "n", "key", key)
			ask(wire.DeleteTopicInNamesrv, "topic", "T-b1")
			body := []byte(`{"queueDatas":[{"brokerName":"b1","perm":6}],"x":"` + ballast.Value + `"}`)
			succeed(t, c, wire.RegisterTopicInNamesrv, append(fields("topic", "T-b1"), ballast), body)
			s := broker{cluster: "c", name: "b1", id: int64(i + 1), addr: fmt.Sprint("s:", i), counter: 1}
			succeed(t, c, wire.RegisterBroker, append(s.ext(), ballast), s.body())
			succeed(t, c, wire.UnregisterBroker, append(s.identity(), wire.Field{Name: "brokerId", Value: fmt.Sprint(i + 1)}, ballast), nil)
		}
	})
	if changes, _ := b.reg.History(); len(changes) < n {
		t.Fatalf("only %d changes are remembered", len(changes))
	}
	if got > n/2*len(ballast.Value)/4 {
		t.Errorf("%d bytes are kept after %d requests", got, 2*n)
	}
}
