// Package load seeds a NameServer with a synthetic cluster and measures it.
package load

import (
	"sync"
	"time"

	"fingerpost/interop/bench/internal/proto"
)

// Target is a server under test. Pid 0 means its process is not observed.
type Target struct {
	Name string
	Addr string
	Pid  int
}

// Spec is one measurement.
type Spec struct {
	Scenario string
	Conns    int
	Inflight int
	Threads  int
	Duration time.Duration
	Warmup   time.Duration
	Rate     float64 // total requests per second; 0 = closed loop
	Ser      proto.Serialize
	Version  int

	VerifyEvery int
	NoVerify    bool // the server does not speak the protocol (rawecho)

	Compressed     bool
	RegConcurrency int     // brokers registering at once (register*, mixed); 0 = all
	RegRate        float64 // registrations per second over all brokers; 0 = closed loop
	RegChanged     bool    // mixed: registrations change the dataVersion
	RegMax         int     // stop after so many measured registrations; 0 = none
	ChurnTopics    int
	ChurnMax       int
}

// Result is what one measurement saw.
type Result struct {
	Server    string  `json:"server,omitempty"`
	Scenario  string  `json:"scenario"`
	Serialize string  `json:"serialize"`
	Version   int     `json:"version"`
	Brokers   int     `json:"brokers"`
	Topics    int     `json:"topics"`
	Queues    int     `json:"queues"`
	Conns     int     `json:"conns"`
	Inflight  int     `json:"inflight"`
	Threads   int     `json:"client_threads"`
	Rate      float64 `json:"rate,omitempty"`

	Seconds    float64 `json:"seconds"`
	Requests   uint64  `json:"requests"`
	Throughput float64 `json:"throughput"`
	MeanUS     float64 `json:"mean_us"`
	P50US      float64 `json:"p50_us"`
	P90US      float64 `json:"p90_us"`
	P99US      float64 `json:"p99_us"`
	P999US     float64 `json:"p999_us"`
	MaxUS      float64 `json:"max_us"`
	SendLagP99 float64 `json:"send_lag_p99_us,omitempty"`

	BadCodes  map[int]uint64 `json:"bad_codes,omitempty"`
	Wrong     uint64         `json:"wrong"`
	Verified  uint64         `json:"verified"`
	Timeouts  uint64         `json:"timeouts"`
	Unsent    uint64         `json:"unsent,omitempty"`
	DeadConns uint64         `json:"dead_conns"`
	FirstErr  string         `json:"first_error,omitempty"`

	ReqBytes  float64 `json:"req_bytes"`
	RespBytes float64 `json:"resp_bytes"`

	ServerCPUus  float64 `json:"server_cpu_us_per_req,omitempty"`
	ServerSysus  float64 `json:"server_sys_us_per_req,omitempty"`
	ServerCores  float64 `json:"server_cores,omitempty"`
	ClientCPUus  float64 `json:"client_cpu_us_per_req"`
	ClientCores  float64 `json:"client_cores"`
	OtherCores   float64 `json:"other_cores"`
	StealCores   float64 `json:"steal_cores"`
	RSSMB        float64 `json:"rss_mb,omitempty"`
	RSSBeforeMB  float64 `json:"rss_before_mb,omitempty"`
	PeakMB       float64 `json:"peak_mb,omitempty"`
	ServerThread int     `json:"server_threads,omitempty"`

	Reg  *RegResult  `json:"registrations,omitempty"`
	Loss *LossResult `json:"losses,omitempty"`
}

// RegResult is the registering side of a mixed measurement.
type RegResult struct {
	Requests   uint64  `json:"requests"`
	Throughput float64 `json:"throughput"`
	MBPerSec   float64 `json:"mb_per_sec"`
	MeanMS     float64 `json:"mean_ms"`
	P50MS      float64 `json:"p50_ms"`
	P99MS      float64 `json:"p99_ms"`
	Bytes      int     `json:"bytes"`
	Errors     uint64  `json:"errors"`
}

// Failed says whether anything but correct answers was seen.
func (r *Result) Failed() bool {
	return len(r.BadCodes) > 0 || r.Wrong > 0 || r.Timeouts > 0 || r.DeadConns > 0 || r.Reg != nil && r.Reg.Errors > 0
}

// Bodies are the shared registration bodies of a dataset.
type Bodies struct {
	once [2]sync.Once
	b    [2]*proto.RegBody
}

func (b *Bodies) get(d proto.Dataset, compressed bool) *proto.RegBody {
	i := 0
	if compressed {
		i = 1
	}
	b.once[i].Do(func() {
		if compressed {
			b.b[i] = d.CompressedBody()
		} else {
			b.b[i] = d.JSONBody()
		}
	})
	return b.b[i]
}
