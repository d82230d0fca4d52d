package load

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"fingerpost/interop/bench/internal/procstat"
	"fingerpost/interop/bench/internal/proto"
)

type window struct {
	proc0, proc1 procstat.Proc
	self0, self1 time.Duration
	m0, m1       procstat.Machine
	took         time.Duration
}

func (cl *Cluster) begin() (w window, at time.Time) {
	if cl.Pid > 0 {
		w.proc0, _ = procstat.Read(cl.Pid)
	}
	w.self0 = procstat.Self()
	w.m0 = procstat.ReadMachine()
	return w, time.Now()
}

func (cl *Cluster) end(w *window, at time.Time) {
	w.took = time.Since(at)
	w.self1 = procstat.Self()
	w.m1 = procstat.ReadMachine()
	if cl.Pid > 0 {
		w.proc1, _ = procstat.Read(cl.Pid)
	}
}

func (w *window) fill(r *Result, pid int) {
	s := w.took.Seconds()
	r.ClientCores = (w.self1 - w.self0).Seconds() / s
	busy := (w.m1.Busy - w.m0.Busy).Seconds() / s
	r.StealCores = (w.m1.Steal - w.m0.Steal).Seconds() / s
	r.OtherCores = busy - r.ClientCores
	if r.Requests > 0 {
		r.ClientCPUus = (w.self1 - w.self0).Seconds() * 1e6 / float64(r.Requests)
	}
	if pid > 0 {
		cpu := w.proc1.CPU() - w.proc0.CPU()
		r.ServerCores = cpu.Seconds() / s
		r.OtherCores -= r.ServerCores
		if r.Requests > 0 {
			r.ServerCPUus = cpu.Seconds() * 1e6 / float64(r.Requests)
			r.ServerSysus = (w.proc1.Sys - w.proc0.Sys).Seconds() * 1e6 / float64(r.Requests)
		}
		r.RSSMB = float64(w.proc1.RSS) / (1 << 20)
		r.RSSBeforeMB = float64(w.proc0.RSS) / (1 << 20)
		r.PeakMB = float64(w.proc1.HWM) / (1 << 20)
		r.ServerThread = w.proc1.Threads
	}
}

func us(d time.Duration) float64 { return float64(d) / 1e3 }

func (r *Result) latencies(h *Hist) {
	r.MeanUS, r.P50US, r.P90US, r.P99US, r.P999US, r.MaxUS = us(h.Mean()), us(h.Quantile(.5)), us(h.Quantile(.9)), us(h.Quantile(.99)), us(h.Quantile(.999)), us(h.Max())
}

// Run measures one spec.
func (cl *Cluster) Run(s Spec) (*Result, error) {
	r := &Result{
		Server: cl.Name, Scenario: s.Scenario, Serialize: s.Ser.String(), Version: s.Version, Brokers: cl.DS.Brokers, Topics: cl.DS.Topics, Queues: cl.DS.Queues,
		Conns: s.Conns, Inflight: s.Inflight, Threads: s.Threads, Rate: s.Rate,
	}
	var err error
	switch s.Scenario {
	case "route", "route-standard-json", "miss", "heartbeat", "mixed", "loss":
		err = cl.runRequests(s, r)
	case "register", "register-changed":
		err = cl.runRegister(s, r)
	case "first":
		err = cl.runFirst(s, r)
	case "churn":
		err = cl.runChurn(s, r)
	case "idle":
		err = cl.runIdle(s, r)
	default:
		err = fmt.Errorf("unknown scenario %q", s.Scenario)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Scenario, err)
	}
	return r, nil
}

func (cl *Cluster) runRequests(s Spec, r *Result) error {
	g := &gen{ser: s.Ser, topics: cl.DS.Topics}
	cfg := workerCfg{inflight: s.Inflight, gen: g, wantBody: -1, drain: int64(10 * time.Second)}
	switch s.Scenario {
	case "heartbeat":
		for i := 0; i < cl.DS.Brokers; i++ {
			g.frames = append(g.frames, cl.DS.HeartbeatFrame(s.Ser, s.Version, i))
		}
		cfg.wantBody = 0
		if s.NoVerify {
			cfg.wantBody = -1
		}
	case "miss":
		g.tmpl, g.topicOff = cl.DS.RouteFrame(s.Ser, s.Version, false, true)
		g.topics = 9_000_000
		if !s.NoVerify {
			cfg.wantCode = proto.RespTopicNotExist
		}
	default:
		g.tmpl, g.topicOff = cl.DS.RouteFrame(s.Ser, s.Version, cl.standard(s.Scenario), false)
		if !s.NoVerify {
			n, err := cl.check(s.Scenario, s.Ser, s.Version, 5, true)
			if err != nil {
				return err
			}
			if s.Scenario != "loss" { // where bodies come with one broker more or less
				cfg.wantBody = n
				cfg.every = uint64(s.VerifyEvery)
			}
			cfg.verify = func(body []byte, topic int) error { return cl.DS.VerifyRoute(body, topic, true) }
		}
	}
	var err error
	if cfg.sa, err = sockaddr(cl.Addr); err != nil {
		return err
	}
	n := max(1, min(s.Threads, s.Conns))
	cfg.rate = s.Rate / float64(n)
	var ws []*worker
	cfg.t0, cfg.t1 = int64(s.Warmup), int64(s.Warmup+s.Duration)
	for i := 0; i < n; i++ {
		c := cfg
		c.conns = s.Conns/n + btoi(i < s.Conns%n)
		c.seed = rand.Uint64()
		w, err := newWorker(c)
		if err != nil {
			for _, w := range ws {
				w.close()
			}
			return err
		}
		ws = append(ws, w)
	}
	start := time.Now()
	var reg *regRun
	if s.Scenario == "mixed" {
		reg = cl.startReg(s, s.RegChanged, start.Add(s.Warmup), start.Add(s.Warmup+s.Duration))
	}
	var lost func() (*LossResult, error)
	if s.Scenario == "loss" {
		lost = cl.startLoss(s, start.Add(s.Warmup), start.Add(s.Warmup+s.Duration))
	}
	var wg sync.WaitGroup
	for _, w := range ws {
		w.start = start
		wg.Add(1)
		go func() { defer wg.Done(); w.run() }()
	}
	time.Sleep(time.Until(start.Add(s.Warmup)))
	win, at := cl.begin()
	time.Sleep(time.Until(start.Add(s.Warmup + s.Duration)))
	cl.end(&win, at)
	wg.Wait()
	if reg != nil {
		r.Reg = reg.wait(s)
	}
	if lost != nil {
		if r.Loss, err = lost(); err != nil {
			return err
		}
	}
	var h, lag Hist
	var reqB, respB uint64
	r.BadCodes = map[int]uint64{}
	for _, w := range ws {
		h.Merge(&w.hist)
		lag.Merge(&w.lag)
		r.Requests += w.done
		r.Wrong += w.wrong + w.badFrames
		r.Verified += w.verified
		r.Timeouts += w.timeouts
		r.Unsent += w.unsent
		r.DeadConns += w.deadC
		reqB += w.reqBytes
		respB += w.respBytes
		for k, v := range w.codes {
			r.BadCodes[k] += v
		}
		if w.firstErr != nil && r.FirstErr == "" {
			r.FirstErr = w.firstErr.Error()
		}
	}
	if len(r.BadCodes) == 0 {
		r.BadCodes = nil
	}
	r.Seconds = s.Duration.Seconds()
	r.Throughput = float64(r.Requests) / r.Seconds
	if r.Requests > 0 {
		r.ReqBytes, r.RespBytes = float64(reqB)/float64(r.Requests), float64(respB)/float64(r.Requests)
	}
	r.latencies(&h)
	r.SendLagP99 = us(lag.Quantile(.99))
	win.fill(r, cl.Pid)
	return nil
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}
