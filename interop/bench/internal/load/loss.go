package load

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"time"

	"fingerpost/interop/bench/internal/proto"
)

// LossResult is what was seen of brokers whose connections ended.
type LossResult struct {
	Times int `json:"times"`
	// Until the routes of the sampled topics no longer named the broker, from the
	// moment its connection was closed.
	CorrectP50MS float64 `json:"correct_p50_ms"`
	CorrectMaxMS float64 `json:"correct_max_ms"`
}

const (
	// lossSamples is how many topics, spread over all, are asked for until none names
	// the lost broker.
	lossSamples = 50
	// lossPatience is how long that may take.
	lossPatience = 30 * time.Second
)

// visitor is the dataset of brokers that come and go: the same topics, other names.
func (cl *Cluster) visitor(n int) proto.Dataset {
	ds := cl.DS
	ds.Brokers, ds.Slaves, ds.NamePrefix, ds.Net = n, 0, "visiting-broker-", 60
	return ds
}

// runFirst registers brokers that are not known, one after another, each over a
// connection of its own that ends when the next has begun. Latency is that of the
// registration alone; the server's CPU includes taking the broker out again.
func (cl *Cluster) runFirst(s Spec, r *Result) error {
	const names = 200
	ds := cl.visitor(names)
	body := cl.Bodies.get(cl.DS, s.Compressed)
	var h Hist
	var last net.Conn
	defer func() {
		if last != nil {
			last.Close()
		}
	}()
	cycle := func(k int) (time.Duration, error) {
		f, _ := ds.RegisterFrame(s.Ser, s.Version, k%names, 0, body)
		c, err := net.DialTimeout("tcp", cl.Addr, 10*time.Second)
		if err != nil {
			return 0, err
		}
		if last != nil {
			last.Close()
		}
		last = c
		begin := time.Now()
		resp, _, err := roundtrip(c, f, proto.OpaqueBase+uint32(k), 60*time.Second)
		if err == nil && resp.Code != 0 && !s.NoVerify {
			err = fmt.Errorf("a first registration is answered with code %d", resp.Code)
		}
		return time.Since(begin), err
	}
	k := 0
	for end := time.Now().Add(s.Warmup); time.Now().Before(end); k++ {
		if _, err := cycle(k); err != nil {
			return err
		}
	}
	win, at := cl.begin()
	for end := time.Now().Add(s.Duration); time.Now().Before(end); k++ {
		d, err := cycle(k)
		if err != nil {
			return err
		}
		h.Add(d)
		r.Requests++
	}
	cl.end(&win, at)
	r.Seconds = win.took.Seconds()
	r.Throughput = float64(r.Requests) / r.Seconds
	r.ReqBytes, r.Conns, r.Inflight = float64(cl.RegisterBytes(s.Ser, s.Compressed)), 1, 1
	r.latencies(&h)
	win.fill(r, cl.Pid)
	return nil
}

// lose registers a broker, closes its connection, and returns how long it stayed in any
// of the sampled routes.
func (cl *Cluster) lose(ds proto.Dataset, k int, s Spec, ask net.Conn) (time.Duration, error) {
	body := cl.Bodies.get(cl.DS, s.Compressed)
	f, _ := ds.RegisterFrame(s.Ser, s.Version, k%ds.Brokers, 0, body)
	c, err := net.DialTimeout("tcp", cl.Addr, 10*time.Second)
	if err != nil {
		return 0, err
	}
	defer c.Close()
	resp, _, err := roundtrip(c, f, proto.OpaqueBase+uint32(k), 60*time.Second)
	if err == nil && resp.Code != 0 {
		err = fmt.Errorf("code %d", resp.Code)
	}
	if err != nil {
		return 0, err
	}
	name := []byte(`"` + ds.BrokerName(k%ds.Brokers) + `"`)
	route, off := cl.DS.RouteFrame(s.Ser, s.Version, false, false)
	topics := cl.DS.Topics
	named := func(i int) (bool, error) {
		proto.PutDigits(route.Head[off:off+proto.TopicDigits], uint64(i*(topics-1)/(lossSamples-1)))
		_, body, err := roundtrip(ask, route, proto.OpaqueBase+uint32(i), 20*time.Second)
		return bytes.Contains(body, name), err
	}
	if in, err := named(0); err != nil || !in {
		return 0, errors.Join(err, fmt.Errorf("the broker that registered is not in the route (%v)", in))
	}
	begin := time.Now()
	c.Close()
	for i := 0; i < lossSamples; {
		in, err := named(i)
		if err != nil {
			return 0, err
		}
		if !in {
			i++
		} else if time.Since(begin) > lossPatience {
			return 0, fmt.Errorf("a lost broker is still in a route after %v", lossPatience)
		}
	}
	return time.Since(begin), nil
}

// startLoss lets brokers come and go between t0 and t1, about twice a second, and
// returns what ends it and tells.
func (cl *Cluster) startLoss(s Spec, t0, t1 time.Time) func() (*LossResult, error) {
	type outcome struct {
		h   Hist
		n   int
		err error
	}
	done := make(chan outcome, 1)
	go func() {
		var o outcome
		ds := cl.visitor(200)
		ask, err := net.DialTimeout("tcp", cl.Addr, 10*time.Second)
		if err != nil {
			done <- outcome{err: err}
			return
		}
		defer ask.Close()
		time.Sleep(time.Until(t0))
		for time.Now().Before(t1) {
			d, err := cl.lose(ds, o.n, s, ask)
			if err != nil {
				o.err = err
				break
			}
			o.h.Add(d)
			o.n++
			time.Sleep(500 * time.Millisecond)
		}
		done <- o
	}()
	return func() (*LossResult, error) {
		o := <-done
		return &LossResult{o.n, us(o.h.Quantile(.5)) / 1e3, us(o.h.Max()) / 1e3}, o.err
	}
}
