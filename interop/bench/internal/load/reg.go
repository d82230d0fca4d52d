package load

import (
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"fingerpost/interop/bench/internal/procstat"
	"fingerpost/interop/bench/internal/proto"
)

// regRun is a set of brokers re-registering over their own connections.
type regRun struct {
	cl     *Cluster
	wg     sync.WaitGroup
	mu     sync.Mutex
	hist   Hist
	n      atomic.Uint64
	errs   atomic.Uint64
	err    error
	t0, t1 time.Time
	last   time.Time
	full   atomic.Bool
	done   chan struct{}
}

func (cl *Cluster) startReg(s Spec, changed bool, t0, t1 time.Time) *regRun {
	rr := &regRun{cl: cl, t0: t0, t1: t1, done: make(chan struct{})}
	masters := cl.brokers[:cl.DS.Brokers]
	n := s.RegConcurrency
	if n <= 0 || n > len(masters) {
		n = len(masters)
	}
	var tick chan time.Time
	if s.RegRate > 0 {
		// intended times; the channel is deep enough never to block
		tick = make(chan time.Time, 1<<16)
		go func() {
			defer close(tick)
			gap := time.Duration(float64(time.Second) / s.RegRate)
			for t := time.Now(); t.Before(t1); t = t.Add(gap) {
				time.Sleep(time.Until(t))
				select {
				case tick <- t:
				default:
				}
			}
		}()
	}
	for g := range n {
		rr.wg.Add(1)
		go func() {
			defer rr.wg.Done()
			for k := g; ; k += n {
				if k >= len(masters) {
					k = g
				}
				begin := time.Now()
				if tick != nil {
					t, ok := <-tick
					if !ok {
						return
					}
					begin = t
				}
				if rr.full.Load() || time.Now().After(t1) {
					return
				}
				lat, err := cl.register(masters[k], s.Ser, s.Version, s.Compressed, changed)
				end := time.Now()
				if tick != nil {
					lat = end.Sub(begin)
				}
				rr.mu.Lock()
				if err != nil {
					rr.errs.Add(1)
					if rr.err == nil {
						rr.err = err
					}
					rr.mu.Unlock()
					return
				}
				if end.After(t0) && end.Before(t1) {
					rr.hist.Add(lat)
					rr.last = end
					if c := rr.n.Add(1); s.RegMax > 0 && int(c) >= s.RegMax {
						rr.full.Store(true)
					}
				}
				rr.mu.Unlock()
			}
		}()
	}
	go func() { rr.wg.Wait(); close(rr.done) }()
	return rr
}

func (rr *regRun) wait(s Spec) *RegResult {
	<-rr.done
	sec := rr.t1.Sub(rr.t0).Seconds()
	r := &RegResult{Requests: rr.n.Load(), Throughput: float64(rr.n.Load()) / sec, Errors: rr.errs.Load(), Bytes: rr.cl.RegisterBytes(s.Ser, s.Compressed)}
	r.MBPerSec = r.Throughput * float64(r.Bytes) / (1 << 20)
	r.MeanMS, r.P50MS, r.P99MS = us(rr.hist.Mean())/1e3, us(rr.hist.Quantile(.5))/1e3, us(rr.hist.Quantile(.99))/1e3
	return r
}

func (cl *Cluster) runRegister(s Spec, r *Result) error {
	changed := s.Scenario == "register-changed"
	// Bring every broker to the state the scenario starts from.
	for _, b := range cl.brokers[:cl.DS.Brokers] {
		if _, err := cl.register(b, s.Ser, s.Version, s.Compressed, changed); err != nil {
			return err
		}
	}
	start := time.Now()
	t0, t1 := start.Add(s.Warmup), start.Add(s.Warmup+s.Duration)
	rr := cl.startReg(s, changed, t0, t1)
	time.Sleep(time.Until(t0))
	win, at := cl.begin()
	select {
	case <-rr.done:
	case <-time.After(time.Until(t1)):
	}
	cl.end(&win, at)
	reg := rr.wait(s)
	r.Requests = reg.Requests
	r.Seconds = win.took.Seconds()
	r.Throughput = float64(r.Requests) / r.Seconds
	r.latencies(&rr.hist)
	r.ReqBytes = float64(reg.Bytes)
	r.Wrong = reg.Errors
	r.Conns = s.RegConcurrency
	r.Inflight = 1
	if rr.err != nil {
		r.FirstErr = rr.err.Error()
	}
	win.fill(r, cl.Pid)
	if !s.NoVerify {
		if _, err := cl.check("route", proto.JSON, proto.VersionV550, 10, true); err != nil {
			return fmt.Errorf("after registering: %w", err)
		}
	}
	return nil
}

func (cl *Cluster) runChurn(s Spec, r *Result) error {
	ds := proto.Dataset{
		Cluster: cl.DS.Cluster, Brokers: s.Conns, Topics: s.ChurnTopics, Queues: cl.DS.Queues,
		Prefix: "BenchTopic_churn_temp_", NamePrefix: "churn-broker-", Net: 40,
	}
	body := ds.JSONBody()
	start := time.Now()
	t0, t1 := start.Add(s.Warmup), start.Add(s.Warmup+s.Duration)
	var mu sync.Mutex
	var h Hist
	var cycles, errs, done atomic.Uint64
	var first error
	var wg sync.WaitGroup
	for g := range s.Conns {
		wg.Add(1)
		go func() {
			defer wg.Done()
			f, _ := ds.RegisterFrame(s.Ser, s.Version, g, 0, body)
			for k := 0; time.Now().Before(t1); k++ {
				n := cycles.Add(1)
				if s.ChurnMax > 0 && n > uint64(s.ChurnMax) {
					return
				}
				begin := time.Now()
				d := net.Dialer{Timeout: 10 * time.Second, LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, byte(1+n%200))}}
				c, err := d.Dial("tcp", cl.Addr)
				var resp proto.Resp
				if err == nil {
					resp, _, err = roundtrip(c, f, proto.OpaqueBase+uint32(k), 20*time.Second)
					if err == nil && resp.Code != 0 && !s.NoVerify {
						err = fmt.Errorf("code %d", resp.Code)
					}
					c.Close()
				}
				end := time.Now()
				mu.Lock()
				if err != nil {
					errs.Add(1)
					if first == nil {
						first = err
					}
				} else if end.After(t0) && end.Before(t1) {
					h.Add(end.Sub(begin))
					done.Add(1)
				}
				mu.Unlock()
			}
		}()
	}
	time.Sleep(time.Until(t0))
	win, at := cl.begin()
	fin := make(chan struct{})
	go func() { wg.Wait(); close(fin) }()
	select {
	case <-fin:
	case <-time.After(time.Until(t1)):
	}
	cl.end(&win, at)
	<-fin
	r.Requests, r.Wrong, r.Inflight = done.Load(), errs.Load(), 1
	r.Seconds = win.took.Seconds()
	r.Throughput = float64(r.Requests) / r.Seconds
	if first != nil {
		r.FirstErr = first.Error()
	}
	r.latencies(&h)
	win.fill(r, cl.Pid)
	return nil
}

// runIdle opens Conns connections, asks one route on each, holds them for
// Duration and reports the memory of the server before and while holding.
func (cl *Cluster) runIdle(s Spec, r *Result) error {
	win, at := cl.begin()
	var mu sync.Mutex
	var conns []net.Conn
	var errs []error
	var h Hist
	defer func() {
		for _, c := range conns {
			c.Close()
		}
	}()
	var next atomic.Int64
	var wg sync.WaitGroup
	for range 16 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			f, off := cl.DS.RouteFrame(s.Ser, s.Version, false, false)
			for {
				k := int(next.Add(1)) - 1
				if k >= s.Conns {
					return
				}
				t := time.Now()
				c, err := net.DialTimeout("tcp", cl.Addr, 10*time.Second)
				if err == nil {
					proto.PutDigits(f.Head[off:off+proto.TopicDigits], uint64(k%cl.DS.Topics))
					var resp proto.Resp
					resp, _, err = roundtrip(c, f, proto.OpaqueBase+uint32(k), 20*time.Second)
					if err == nil && resp.Code != 0 {
						err = fmt.Errorf("code %d", resp.Code)
					}
				}
				mu.Lock()
				if c != nil {
					conns = append(conns, c)
				}
				if err != nil {
					errs = append(errs, err)
				}
				h.Add(time.Since(t))
				mu.Unlock()
			}
		}()
	}
	wg.Wait()
	cl.end(&win, at)
	r.Requests = uint64(len(conns))
	r.Seconds = win.took.Seconds()
	r.Throughput = float64(r.Requests) / r.Seconds
	r.Wrong = uint64(len(errs))
	if len(errs) > 0 {
		r.FirstErr = errors.Join(errs[:min(3, len(errs))]...).Error()
	}
	r.latencies(&h)
	time.Sleep(s.Duration)
	if cl.Pid > 0 {
		win.proc1, _ = procstat.Read(cl.Pid)
	}
	win.fill(r, cl.Pid)
	return nil
}
