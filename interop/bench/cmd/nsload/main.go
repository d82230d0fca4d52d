// nsload seeds a RocketMQ NameServer with a synthetic cluster and measures it.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"fingerpost/interop/bench/internal/load"
	"fingerpost/interop/bench/internal/proto"
)

func main() {
	debug.SetGCPercent(400)
	var (
		addr      = flag.String("addr", "127.0.0.1:9876", "server address")
		pid       = flag.Int("pid", 0, "server process id: report its CPU time and memory")
		conns     = flag.Int("conns", 16, "measuring connections")
		inflight  = flag.Int("inflight", 1, "pipelined requests per connection (open loop: the most outstanding)")
		threads   = flag.Int("threads", 1, "client epoll threads")
		duration  = flag.Duration("duration", 5*time.Second, "measured time")
		warmup    = flag.Duration("warmup", 2*time.Second, "unmeasured time before it")
		rate      = flag.Float64("rate", 0, "open loop: total requests per second, Poisson arrivals, latency from the intended time; 0 = closed loop")
		scenario  = flag.String("scenario", "route", "comma list: route, route-standard-json, miss, heartbeat, register, register-changed, first, mixed, loss, churn, idle")
		serialize = flag.String("serialize", "json", "header serialization of requests: json or rocketmq")
		version   = flag.Int("version", proto.VersionV550, "MQVersion ordinal in requests (399 = 4.9.3 asks for legacy route JSON)")
		brokers   = flag.Int("brokers", 3, "master brokers")
		slaves    = flag.Int("slaves", 0, "slaves per master")
		topics    = flag.Int("topics", 100, "topics; every broker has all of them")
		queues    = flag.Int("queues", 8, "read and write queues of a topic")
		compress  = flag.Bool("compressed", false, "deflated registration bodies")
		changeT   = flag.Int("change-topics", 1, "topics whose queue count flips on each changed registration")
		regConc   = flag.Int("reg-concurrency", 0, "brokers registering at once in register* and mixed; 0 = all")
		regRate   = flag.Float64("reg-rate", 0, "registrations per second over all brokers; 0 = closed loop")
		regChange = flag.Bool("reg-changed", false, "mixed: registrations carry a new dataVersion each time")
		churnT    = flag.Int("churn-topics", 10, "topics of a churning broker")
		churnMax  = flag.Int("churn-max", 20000, "most connections a churn run makes")
		every     = flag.Int("verify-every", 4096, "verify one in so many measured route responses in full; 0 = none")
		noseed    = flag.Bool("no-seed", false, "do not register brokers first, and do not verify (rawecho)")
		asJSON    = flag.Bool("json", false, "one JSON object per scenario")
	)
	flag.Parse()
	ser, err := proto.ParseSerialize(*serialize)
	if err != nil {
		fatal(err)
	}
	ds := proto.Dataset{Cluster: "BenchCluster", Brokers: *brokers, Slaves: *slaves, Topics: *topics, Queues: *queues, ChangeTopics: min(*changeT, *topics)}
	t := load.Target{Name: *addr, Addr: *addr, Pid: *pid}
	var cl *load.Cluster
	cl, err = load.Seed(t, ds, nil, load.SeedOpt{Ser: ser, Version: *version, Compressed: *compress, Concurrency: 4, NoVerify: *noseed})
	if err != nil {
		fatal(err)
	}
	defer cl.Close()
	if !*asJSON {
		fmt.Printf("seeded %d brokers x %d topics in %.2fs (%.1f kB per registration)\n", *brokers, *topics, cl.SeedTook.Seconds(), float64(cl.RegisterBytes(ser, *compress))/1e3)
	}
	bad := false
	for _, sc := range strings.Split(*scenario, ",") {
		r, err := cl.Run(load.Spec{
			Scenario: sc, Conns: *conns, Inflight: *inflight, Threads: *threads, Duration: *duration, Warmup: *warmup, Rate: *rate,
			Ser: ser, Version: *version, VerifyEvery: *every, NoVerify: *noseed, Compressed: *compress,
			RegConcurrency: *regConc, RegRate: *regRate, RegChanged: *regChange, ChurnTopics: *churnT, ChurnMax: *churnMax,
		})
		if err != nil {
			fatal(err)
		}
		bad = bad || r.Failed()
		if *asJSON {
			b, _ := json.Marshal(r)
			fmt.Println(string(b))
			continue
		}
		fmt.Print(r.Text())
	}
	if n := cl.KeepErrs.Load(); n > 0 {
		fmt.Fprintf(os.Stderr, "nsload: %d keep-alive heartbeats failed\n", n)
		bad = true
	}
	if bad {
		cl.Close()
		os.Exit(2)
	}
}

func fatal(err error) {
	fmt.Fprintln(os.Stderr, "nsload:", err)
	os.Exit(1)
}
