package load

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"fingerpost/interop/bench/internal/proto"
)

// Cluster is a server seeded with a dataset; its broker connections are open.
type Cluster struct {
	Target
	DS     proto.Dataset
	Bodies *Bodies

	SeedTook time.Duration
	brokers  []*broker
	stop     chan struct{}
	wg       sync.WaitGroup
	KeepErrs atomic.Uint64
}

type broker struct {
	mu   sync.Mutex
	c    net.Conn
	i    int
	id   int
	op   uint32
	ver  uint64
	own  [2]*proto.RegBody
	head map[regKey]*regHead
}

type regKey struct {
	ser        proto.Serialize
	version    int
	compressed bool
}

type regHead struct {
	f      proto.Frame
	crcOff int
}

// SeedOpt says how to seed.
type SeedOpt struct {
	Ser         proto.Serialize
	Version     int
	Compressed  bool
	Concurrency int
	NoVerify    bool
}

// Seed registers every broker of ds at t over connections that stay open, and
// verifies a sample of routes in full.
func Seed(t Target, ds proto.Dataset, bodies *Bodies, o SeedOpt) (*Cluster, error) {
	if bodies == nil {
		bodies = &Bodies{}
	}
	cl := &Cluster{Target: t, DS: ds, Bodies: bodies, stop: make(chan struct{})}
	bodies.get(ds, o.Compressed)
	begin := time.Now()
	for id := 0; id <= ds.Slaves; id++ {
		var round []*broker
		for i := 0; i < ds.Brokers; i++ {
			c, err := net.DialTimeout("tcp", t.Addr, 10*time.Second)
			if err != nil {
				cl.Close()
				return nil, err
			}
			round = append(round, &broker{c: c, i: i, id: id, head: map[regKey]*regHead{}})
		}
		cl.brokers = append(cl.brokers, round...)
		n := max(1, min(o.Concurrency, len(round)))
		errs := make(chan error, n)
		var next atomic.Int64
		for range n {
			go func() {
				for {
					k := int(next.Add(1)) - 1
					if k >= len(round) {
						errs <- nil
						return
					}
					if _, err := cl.register(round[k], o.Ser, o.Version, o.Compressed, false); err != nil {
						errs <- fmt.Errorf("seeding broker %d/%d: %w", k, id, err)
						return
					}
				}
			}()
		}
		var err error
		for range n {
			err = errors.Join(err, <-errs)
		}
		if err != nil {
			cl.Close()
			return nil, err
		}
	}
	cl.SeedTook = time.Since(begin)
	cl.wg.Add(1)
	go cl.keepalive()
	if !o.NoVerify {
		if _, err := cl.check("route", proto.JSON, proto.VersionV550, 40, false); err != nil {
			cl.Close()
			return nil, err
		}
	}
	return cl, nil
}

// keepalive heartbeats every broker well inside the 120 s expiry.
func (cl *Cluster) keepalive() {
	defer cl.wg.Done()
	tk := time.NewTicker(20 * time.Second)
	defer tk.Stop()
	for {
		select {
		case <-cl.stop:
			return
		case <-tk.C:
		}
		for _, b := range cl.brokers {
			b.mu.Lock()
			f := proto.NewRequest(proto.JSON, proto.CodeHeartbeat, proto.VersionV550, []proto.KV{
				{K: "clusterName", V: cl.DS.Cluster}, {K: "brokerAddr", V: cl.DS.BrokerAddr(b.i, b.id)}, {K: "brokerName", V: cl.DS.BrokerName(b.i)},
			}, nil)
			if _, _, err := roundtrip(b.c, f, b.nextOpaque(), 30*time.Second); err != nil {
				cl.KeepErrs.Add(1)
			}
			b.mu.Unlock()
		}
	}
}

// Close ends the broker connections.
func (cl *Cluster) Close() {
	select {
	case <-cl.stop:
	default:
		close(cl.stop)
	}
	cl.wg.Wait()
	for _, b := range cl.brokers {
		b.c.Close()
	}
}

func (b *broker) nextOpaque() uint32 {
	b.op++
	return proto.OpaqueBase + b.op%(proto.OpaqueMax-proto.OpaqueBase)
}

// roundtrip sends one frame and reads its response; frames that are not
// responses are skipped.
func roundtrip(c net.Conn, f proto.Frame, opaque uint32, timeout time.Duration) (proto.Resp, []byte, error) {
	c.SetDeadline(time.Now().Add(timeout))
	proto.PatchOpaque(f.Ser, f.Head, f.OpaqueOff, opaque)
	var err error
	if len(f.Body) == 0 {
		_, err = c.Write(f.Head)
	} else {
		bufs := net.Buffers{f.Head, f.Body}
		_, err = bufs.WriteTo(c)
	}
	if err != nil {
		return proto.Resp{}, nil, err
	}
	for {
		var p [8]byte
		if _, err := io.ReadFull(c, p[:]); err != nil {
			return proto.Resp{}, nil, err
		}
		total := int(binary.BigEndian.Uint32(p[:]))
		word := binary.BigEndian.Uint32(p[4:])
		hl := int(word & 0xffffff)
		if total < 4+hl || total > 64<<20 {
			return proto.Resp{}, nil, fmt.Errorf("bad frame length %d header %d", total, hl)
		}
		rest := make([]byte, total-4)
		if _, err := io.ReadFull(c, rest); err != nil {
			return proto.Resp{}, nil, err
		}
		r, ok := proto.ParseRespHeader(word, rest[:hl])
		if !ok {
			return r, nil, fmt.Errorf("bad response header %q", rest[:hl])
		}
		if r.Flag&1 == 0 {
			continue
		}
		if r.Opaque != opaque {
			return r, nil, fmt.Errorf("opaque %d, want %d", r.Opaque, opaque)
		}
		return r, rest[hl:], nil
	}
}

// register sends one 103 of b and returns its latency. changed gives it a new
// dataVersion; otherwise the base body (version 0) goes out.
func (cl *Cluster) register(b *broker, ser proto.Serialize, version int, compressed, changed bool) (time.Duration, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	body := cl.Bodies.get(cl.DS, compressed)
	if changed {
		i := 0
		if compressed {
			i = 1
		}
		if b.own[i] == nil {
			b.own[i] = body.Clone()
		}
		body = b.own[i]
		b.ver++
		body.SetVersion(b.ver)
	}
	k := regKey{ser, version, compressed}
	h := b.head[k]
	if h == nil {
		f, off := cl.DS.RegisterFrame(ser, version, b.i, b.id, body)
		h = &regHead{f, off}
		b.head[k] = h
	}
	proto.PutDigits(h.f.Head[h.crcOff:h.crcOff+10], uint64(body.Crc()))
	h.f.Body = body.Buf
	op := b.nextOpaque()
	t := time.Now()
	r, _, err := roundtrip(b.c, h.f, op, 120*time.Second)
	d := time.Since(t)
	if err != nil {
		return d, err
	}
	if r.Code != proto.RespSuccess {
		return d, fmt.Errorf("register answered code %d", r.Code)
	}
	return d, nil
}

// RegisterBytes is the size of one 103 frame.
func (cl *Cluster) RegisterBytes(ser proto.Serialize, compressed bool) int {
	b := cl.Bodies.get(cl.DS, compressed)
	f, _ := cl.DS.RegisterFrame(ser, proto.VersionV550, 0, 0, b)
	return len(f.Head) + len(b.Buf)
}

func (cl *Cluster) standard(scenario string) bool { return scenario == "route-standard-json" }

// check verifies n routes in full and returns the body length they share.
func (cl *Cluster) check(scenario string, ser proto.Serialize, version, n int, allowAlt bool) (int, error) {
	c, err := net.DialTimeout("tcp", cl.Addr, 10*time.Second)
	if err != nil {
		return 0, err
	}
	defer c.Close()
	f, off := cl.DS.RouteFrame(ser, version, cl.standard(scenario), false)
	length := -1
	for k := 0; k < n; k++ {
		t := rand.IntN(cl.DS.Topics)
		switch k {
		case 0:
			t = 0
		case 1:
			t = cl.DS.Topics - 1
		}
		proto.PutDigits(f.Head[off:off+proto.TopicDigits], uint64(t))
		r, body, err := roundtrip(c, f, proto.OpaqueBase+uint32(k), 20*time.Second)
		if err != nil {
			return 0, fmt.Errorf("route of %s: %w", cl.DS.Topic(t), err)
		}
		if r.Code != 0 {
			return 0, fmt.Errorf("route of %s: code %d", cl.DS.Topic(t), r.Code)
		}
		if err := cl.DS.VerifyRoute(body, t, allowAlt); err != nil {
			return 0, fmt.Errorf("route of %s: %w", cl.DS.Topic(t), err)
		}
		if length >= 0 && len(body) != length {
			return 0, fmt.Errorf("route bodies differ in length: %d and %d", length, len(body))
		}
		length = len(body)
	}
	f, _ = cl.DS.RouteFrame(ser, version, cl.standard(scenario), true)
	r, _, err := roundtrip(c, f, proto.OpaqueBase+uint32(n), 20*time.Second)
	if err != nil {
		return 0, fmt.Errorf("route of an absent topic: %w", err)
	}
	if r.Code != proto.RespTopicNotExist {
		return 0, fmt.Errorf("route of an absent topic: code %d", r.Code)
	}
	return length, nil
}

// RouteBodyLen is the length of the route bodies of a mode.
func (cl *Cluster) RouteBodyLen(scenario string, ser proto.Serialize, version int) (int, error) {
	return cl.check(scenario, ser, version, 3, true)
}
