// nscompare measures several NameServers (and the rawecho limit) side by side:
// all servers of a dataset size run at once, every measurement goes round the
// servers in rotating order, and medians over the rounds are tabled with the
// ratio to a reference server.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"fingerpost/interop/bench/internal/load"
	"fingerpost/interop/bench/internal/procstat"
	"fingerpost/interop/bench/internal/proto"
)

type cell struct {
	label  string
	spec   load.Spec
	rawOK  bool // meaningful against rawecho
	rounds int
}

type multi []string

func (m *multi) String() string     { return strings.Join(*m, " ") }
func (m *multi) Set(s string) error { *m = append(*m, s); return nil }

var (
	servers   multi
	javaLib   = flag.String("java-lib", "", "directory of the RocketMQ jars: adds the server \"java\"")
	javaHeap  = flag.String("java-heap", "4g", "heap of the java server (runserver.sh ships 4g)")
	echoBin   = flag.String("rawecho", "", "rawecho binary: adds the servers of -echo")
	echoes    = flag.String("echo", "net,epoll", "which raw echoes: comma list of net and epoll")
	sizes     = flag.String("sizes", "3x100,20x2000", "comma list of BROKERSxTOPICS")
	queues    = flag.Int("queues", 8, "queues per topic")
	slaves    = flag.Int("slaves", 0, "slaves per master")
	plans     = flag.String("plan", "route,miss,other,reg", "comma list: startup, route, miss, open, other, reg, mixed, loss, churn, idle")
	rounds    = flag.Int("rounds", 3, "rounds per measurement")
	duration  = flag.Duration("duration", 2*time.Second, "measured time per round")
	warmup    = flag.Duration("warmup", 400*time.Millisecond, "unmeasured time before each")
	jit       = flag.Duration("jit", 8*time.Second, "warm-up load per server after seeding")
	threads   = flag.Int("threads", 1, "client epoll threads")
	basePort  = flag.Int("port", 28100, "first port")
	out       = flag.String("out", "", "append every result as a JSON line to this file")
	ref       = flag.String("ref", "java", "server the ratios refer to")
	quiet     = flag.Float64("quiet", 0.3, "wait (up to -quiet-wait) until other processes use fewer cores than this")
	quietWait = flag.Duration("quiet-wait", 10*time.Second, "longest wait for quiet before one measurement")
	every     = flag.Int("verify-every", 4096, "full verification of one in so many route responses")
	idleN     = flag.Int("idle-conns", 10000, "connections of the idle plan")
	rates     = flag.String("rates", "2000,20000", "open-loop rates of the open plan")
	match     = flag.String("match", "", "only cells whose label contains this")
)

func main() {
	debug.SetGCPercent(400)
	flag.Var(&servers, "server", "name=command; {port}, {home} and {size} are replaced (repeatable)")
	flag.Parse()
	var all []*server
	if *javaLib != "" {
		all = append(all, javaServer(*javaLib, *javaHeap))
	}
	for _, s := range servers {
		name, cmd, ok := strings.Cut(s, "=")
		if !ok {
			fatal(fmt.Errorf("-server %q: want name=command", s))
		}
		all = append(all, &server{name: name, argv: strings.Fields(cmd)})
	}
	if *echoBin != "" {
		for _, mode := range strings.Split(*echoes, ",") {
			all = append(all, &server{name: "raw-" + mode, raw: true, argv: []string{*echoBin, "-addr", "127.0.0.1:{port}", "-size", "{size}", "-mode", mode}})
		}
	}
	if len(all) == 0 {
		fatal(fmt.Errorf("no servers given"))
	}
	tmp, err := os.MkdirTemp("", "nscompare-")
	if err != nil {
		fatal(err)
	}
	defer os.RemoveAll(tmp)
	defer stopAll(all)
	var sink io.Writer = io.Discard
	if *out != "" {
		f, err := os.OpenFile(*out, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		if err != nil {
			fatal(err)
		}
		defer f.Close()
		sink = f
	}
	want := strings.Split(*plans, ",")
	if slices.Contains(want, "startup") {
		startup(all, tmp)
	}
	for _, sz := range strings.Split(*sizes, ",") {
		var b, t int
		if _, err := fmt.Sscanf(sz, "%dx%d", &b, &t); err != nil {
			fatal(fmt.Errorf("size %q: %v", sz, err))
		}
		if cells := plan(want, b); len(cells) > 0 {
			if err := size(all, b, t, cells, tmp, sink); err != nil {
				stopAll(all)
				fatal(err)
			}
		}
	}
}

// size measures every cell of one dataset size on all servers.
func size(all []*server, b, t int, cells []cell, tmp string, sink io.Writer) error {
	ds := proto.Dataset{Cluster: "BenchCluster", Brokers: b, Slaves: *slaves, Topics: t, Queues: *queues, ChangeTopics: 1}
	bodies := &load.Bodies{}
	fmt.Printf("\n## %d brokers x %d topics, %d queues\n\n", b, t, *queues)
	bodyLen := 512
	clusters := map[*server]*load.Cluster{}
	defer func() {
		for _, c := range clusters {
			c.Close()
		}
		stopAll(all)
	}()
	var live []*server
	fmt.Println("| server | RSS started MB | seed s | RSS seeded MB | RSS warm MB | route body B |")
	fmt.Println("|---|---|---|---|---|---|")
	for i, s := range all { // raw servers come last and take the learnt size
		if err := s.start(*basePort+i, tmp, bodyLen); err != nil {
			return err
		}
		p0, _ := procstat.Read(s.pid())
		cl, err := load.Seed(load.Target{Name: s.name, Addr: s.addr, Pid: s.pid()}, ds, bodies, load.SeedOpt{Version: proto.VersionV550, Concurrency: 4, NoVerify: s.raw})
		if err != nil {
			fmt.Fprintf(os.Stderr, "nscompare: %s cannot be seeded at %dx%d: %v\n", s.name, b, t, err)
			s.stop()
			continue
		}
		clusters[s] = cl
		s.bad, s.lost = nil, false
		live = append(live, s)
		p1, _ := procstat.Read(s.pid())
		n := bodyLen
		if !s.raw {
			if n, err = cl.RouteBodyLen("route", proto.JSON, proto.VersionV550); err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			if s.name == *ref || bodyLen == 512 {
				bodyLen = n
			}
		}
		if *jit > 0 && !s.raw {
			if _, err := cl.Run(load.Spec{Scenario: "route", Conns: 16, Inflight: 8, Threads: 1, Duration: *jit, Version: proto.VersionV550, VerifyEvery: *every}); err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
		}
		p2, _ := procstat.Read(s.pid())
		mb := func(v int64) float64 { return float64(v) / (1 << 20) }
		fmt.Printf("| %s | %.0f | %.2f | %.0f | %.0f | %d |\n", s.name, mb(p0.RSS), cl.SeedTook.Seconds(), mb(p1.RSS), mb(p2.RSS), n)
	}
	fmt.Println()
	tb := newTable(live, *ref)
	for _, c := range cells {
		res := map[string][]*load.Result{}
		for r := 0; r < c.rounds; r++ {
			for k := range live {
				s := live[(k+r)%len(live)]
				if s.raw && !c.rawOK || s.lost || s.bad[c.label] {
					continue
				}
				spec := c.spec
				spec.NoVerify = s.raw
				if r == 0 {
					spec.Warmup += time.Second
				}
				waitQuiet()
				x, err := clusters[s].Run(spec)
				if err != nil {
					fmt.Fprintf(os.Stderr, "nscompare: %s: %s: %v\n", s.name, c.label, err)
					if s.bad == nil {
						s.bad = map[string]bool{}
					}
					s.bad[c.label] = true
					if cl, err := reseed(s, ds, bodies, clusters[s]); err == nil {
						clusters[s] = cl
					} else {
						fmt.Fprintf(os.Stderr, "nscompare: %s: given up at this size: %v\n", s.name, err)
						s.lost = true
					}
					continue
				}
				res[s.name] = append(res[s.name], x)
				line, _ := json.Marshal(struct {
					Cell  string `json:"cell"`
					Round int    `json:"round"`
					*load.Result
				}{c.label, r, x})
				fmt.Fprintln(sink, string(line))
			}
		}
		tb.row(c.label, res)
	}
	for _, s := range live {
		if n := clusters[s].KeepErrs.Load(); n > 0 {
			fmt.Printf("\n%s: %d keep-alive heartbeats failed\n", s.name, n)
		}
	}
	return nil
}

func reseed(s *server, ds proto.Dataset, bodies *load.Bodies, old *load.Cluster) (*load.Cluster, error) {
	old.Close()
	time.Sleep(500 * time.Millisecond)
	return load.Seed(load.Target{Name: s.name, Addr: s.addr, Pid: s.pid()}, ds, bodies, load.SeedOpt{Version: proto.VersionV550, Concurrency: 4, NoVerify: s.raw})
}

// waitQuiet waits until the machine is nearly idle.
func waitQuiet() {
	end := time.Now().Add(*quietWait)
	for time.Now().Before(end) {
		m := procstat.ReadMachine()
		time.Sleep(250 * time.Millisecond)
		n := procstat.ReadMachine()
		if (n.Busy-m.Busy).Seconds()/0.25 < *quiet {
			return
		}
	}
}

// startup starts every server a few times and times port open and the first
// correct answer.
func startup(all []*server, tmp string) {
	n := max(3, *rounds)
	open, answer, rss := map[string][]float64{}, map[string][]float64{}, map[string][]float64{}
	for r := 0; r < n; r++ {
		for k := range all {
			i := (k + r) % len(all)
			s := all[i]
			waitQuiet()
			if err := s.start(*basePort+50+i, tmp, 512); err != nil {
				fmt.Fprintln(os.Stderr, "nscompare:", err)
				continue
			}
			time.Sleep(300 * time.Millisecond)
			p, _ := procstat.Read(s.pid())
			open[s.name] = append(open[s.name], s.openMS)
			answer[s.name] = append(answer[s.name], s.answerMS)
			rss[s.name] = append(rss[s.name], float64(p.RSS)/(1<<20))
			s.stop()
		}
	}
	fmt.Printf("\n## startup, median of %d\n\n| server | port open ms | first answer ms | RSS MB |\n|---|---|---|---|\n", n)
	for _, s := range all {
		fmt.Printf("| %s | %.0f | %.0f | %.0f |\n", s.name, med(open[s.name]), med(answer[s.name]), med(rss[s.name]))
	}
}

func fatal(err error) {
	fmt.Fprintln(os.Stderr, "nscompare:", err)
	os.Exit(1)
}

func must(err error) {
	if err != nil {
		fatal(err)
	}
}

func home(tmp, name string, port int) string {
	d := filepath.Join(tmp, fmt.Sprintf("%s-%d", name, port))
	must(os.MkdirAll(d, 0o755))
	return d
}
