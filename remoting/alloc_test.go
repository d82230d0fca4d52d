package remoting_test

import (
	"fmt"
	"io"
	"net"
	"testing"

	"fingerpost/remoting"
	"fingerpost/remoting/wire"
)

// exchange sends the same bytes again and again and reads as many as come back, without
// allocating anything itself.
type exchange struct {
	conn net.Conn
	ask  []byte
	got  []byte
}

// newExchange asks once, so that everything is warm, and checks the answer's code.
func newExchange(tb testing.TB, c net.Conn, want wire.ResponseCode, n int, cmd *wire.Command, h wire.HeaderType) *exchange {
	tb.Helper()
	tb.Cleanup(func() { c.Close() })
	frame, err := cmd.AppendTo(nil, h)
	if err != nil {
		tb.Fatal(err)
	}
	e := &exchange{conn: c}
	for range 3 { // the first request of a connection is decoded in full
		if _, err := c.Write(frame); err != nil {
			tb.Fatal(err)
		}
		var head [8]byte
		if _, err := io.ReadFull(c, head[:]); err != nil {
			tb.Fatal(err)
		}
		size := int(head[0])<<24 | int(head[1])<<16 | int(head[2])<<8 | int(head[3])
		answer := append(head[:], make([]byte, size-4)...)
		if _, err := io.ReadFull(c, answer[8:]); err != nil {
			tb.Fatal(err)
		}
		f, _, ok, err := wire.SplitFrame(answer, wire.FrameLimits{Frame: 1 << 30})
		var resp wire.Command
		if !ok || err != nil || resp.Decode(f) != nil || resp.Code != int32(want) {
			tb.Fatalf("answer %s, want code %v", said(&resp), want)
		}
		e.got = answer
	}
	e.ask = nil
	for range n {
		e.ask = append(e.ask, frame...)
	}
	e.got = make([]byte, n*len(e.got))
	return e
}

func (e *exchange) run(tb testing.TB) {
	if _, err := e.conn.Write(e.ask); err != nil {
		tb.Fatal(err)
	}
	if _, err := io.ReadFull(e.conn, e.got); err != nil {
		tb.Fatal(err)
	}
}

// A route that is known or not is answered without allocating, whichever way it is asked
// and answered.
func TestRoutesAllocateNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	both(t, func(t *testing.T, start func(testing.TB, ...change) *bed) {
		for _, answers := range []wire.HeaderType{wire.JSONHeader, wire.BinaryHeader} {
			b := start(t, with(func(s *remoting.Server) { s.HeaderType = answers }))
			r := one("b1", "a:1")
			r.topics = topics("%RETRY%a-group-whose-name-is-longer-than-thirty-two", "U")
			r.register(t, b.client(wire.JSONHeader))
			for _, asks := range []wire.HeaderType{wire.JSONHeader, wire.BinaryHeader} {
				for _, v := range []wire.Version{317, wire.V5_5_0} {
					for topic, want := range map[string]wire.ResponseCode{
						r.topics[0].Name: wire.Success, "%RETRY%another-group-that-nobody-has-ever-heard-of": wire.TopicNotExist,
					} {
						cmd := &wire.Command{Code: int32(wire.GetRouteInfoByTopic), Version: v, Opaque: 123456, Ext: fields("topic", topic)}
						e := newExchange(t, b.conn(), want, 1, cmd, asks)
						if n := testing.AllocsPerRun(200, func() { e.run(t) }); n != 0 {
							t.Errorf("%v asked, %v answered, version %d, code %d: %v allocations", asks, answers, v, want, n)
						}
					}
				}
			}
		}
	})
}

// What a repeated registration costs does not depend on how many topics it has.
func TestRepeatedRegistrationIsCheap(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	b := startTCP(t)
	var cost []float64
	for _, n := range []int{10, 2000} {
		r := one(fmt.Sprint("b", n), fmt.Sprint("a:", n))
		for i := range n {
			r.topics = append(r.topics, topic(fmt.Sprint("Topic", i), 4, 6))
		}
		cmd := &wire.Command{Code: int32(wire.RegisterBroker), Version: wire.V5_5_0, Ext: r.ext(), Body: r.body()}
		e := newExchange(t, b.conn(), wire.Success, 1, cmd, wire.JSONHeader)
		cost = append(cost, testing.AllocsPerRun(100, func() { e.run(t) }))
	}
	if cost[1] > cost[0]+10 || cost[0] > 60 { // what a large frame takes, whatever is in it
		t.Errorf("allocations %v for 10 and 2000 topics", cost)
	}
	if n := b.srv.Stats.Registered.Load(); n != 2 {
		t.Errorf("%d registrations were decoded, want each once", n)
	}
}

func benchmarkExchange(b *testing.B, bed *bed, n int, want wire.ResponseCode, cmd *wire.Command) {
	cmd.Version = wire.V5_5_0
	e := newExchange(b, bed.conn(), want, n, cmd, wire.JSONHeader)
	b.ReportAllocs()
	b.SetBytes(int64(len(e.ask) + len(e.got)))
	for b.Loop() {
		e.run(b)
	}
	b.ReportMetric(float64(b.N*n)/b.Elapsed().Seconds(), "requests/s")
}

// loaded starts a server with 10 brokers of n topics each.
func loaded(b *testing.B, n int) (*bed, broker) {
	bed := startTCP(b)
	var r broker
	for i := range 10 {
		r = broker{cluster: "c", name: fmt.Sprint("broker-", i), addr: fmt.Sprint("10.0.0.", i, ":10911"), counter: 1}
		for j := range n {
			r.topics = append(r.topics, topic(fmt.Sprintf("order-service-events-%06d", j), 8, 6))
		}
		r.register(b, bed.client(wire.JSONHeader))
	}
	return bed, r
}

func BenchmarkRoute(b *testing.B) {
	bed, r := loaded(b, 1000)
	for _, n := range []int{1, 64} {
		for name, ask := range map[string]struct {
			topic string
			want  wire.ResponseCode
		}{"hit": {r.topics[7].Name, wire.Success}, "miss": {"%RETRY%nobody", wire.TopicNotExist}} {
			b.Run(fmt.Sprint(name, "/pipelined ", n), func(b *testing.B) {
				benchmarkExchange(b, bed, n, ask.want, &wire.Command{Code: int32(wire.GetRouteInfoByTopic), Ext: fields("topic", ask.topic)})
			})
		}
	}
}

func BenchmarkLists(b *testing.B) {
	bed, _ := loaded(b, 5000)
	for _, code := range []wire.RequestCode{wire.GetBrokerClusterInfo, wire.GetAllTopicListFromNamesrv} {
		b.Run(code.String(), func(b *testing.B) {
			benchmarkExchange(b, bed, 1, wire.Success, &wire.Command{Code: int32(code)})
		})
	}
}

func BenchmarkRegistration(b *testing.B) {
	bed, r := loaded(b, 5000)
	b.Run("unchanged", func(b *testing.B) {
		benchmarkExchange(b, bed, 1, wire.Success, &wire.Command{Code: int32(wire.RegisterBroker), Ext: r.ext(), Body: r.body()})
	})
	b.Run("changed", func(b *testing.B) {
		c := bed.client(wire.JSONHeader)
		b.ReportAllocs()
		var bodies [2][]byte
		for i := range bodies {
			r.counter, r.topics[7].ReadQueues = int64(10+i), int32(8+i)
			bodies[i] = r.body()
		}
		b.SetBytes(int64(len(bodies[0])))
		for i := 0; b.Loop(); i++ {
			succeed(b, c, wire.RegisterBroker, r.ext(), bodies[i%2])
		}
	})
}
