package config

import (
	"log/slog"
	"math"
	"path/filepath"
	"time"

	"fingerpost/registry"
)

// Size is a number of bytes, written plain or with KiB, MiB or GiB.
type Size int64

// Common sizes.
const (
	KiB Size = 1 << 10
	MiB Size = 1 << 20
	GiB Size = 1 << 30
)

// Config is the value of every setting. What a field means, its key and its range stand
// in the table in settings.go, in the same order.
type Config struct {
	RocketmqHome    string
	KVConfigPath    string
	ConfigStorePath string
	DataDir         string

	ProductEnvName string
	BindAddress    string
	ListenPort     int
	ScanInterval   time.Duration
	IdleTimeout    time.Duration
	SendBuffer     int
	ReceiveBuffer  int

	OrderMessageEnable                bool
	ReturnOrderTopicConfigToBroker    bool
	SupportActingMaster               bool
	EnableAllTopicList                bool
	EnableTopicList                   bool
	NotifyMinBrokerIDChanged          bool
	NeedWaitForService                bool
	WaitForService                    time.Duration
	DeleteTopicWithBrokerRegistration bool

	ConfigBlackList    []string
	AllowRemoteConfig  bool
	DrainTimeout       time.Duration
	ShutdownGracefully bool
	ShutdownWait       time.Duration
	ShutdownGrace      time.Duration
	ShutdownDrain      time.Duration
	ShutdownTimeout    time.Duration

	MassExpiry  MassExpiry
	WarmRestart WarmRestart

	Remoting Remoting
	Access   Access
	TLS      TLS
	HTTP     HTTP
	Auth     Auth

	Peers     []string
	Compare   Compare
	LogLevel  slog.Level
	LogFormat string

	Inert Inert
}

// MassExpiry says what brokers that vanish at once are taken for.
type MassExpiry struct {
	Share, Minimum int
	Hold           bool
	Limit          time.Duration
}

// WarmRestart says whether and how the registry outlives a restart.
type WarmRestart struct {
	Enabled  bool
	Interval time.Duration
	MaxAge   time.Duration
	Limit    time.Duration
}

// Remoting are the limits of the remoting port and the form of its answers.
type Remoting struct {
	SerializeType            string
	FrameMaxLength           Size
	HeaderMaxLength          Size
	InflatedMaxLength        Size
	MaxTopics                int
	MaxConnections           int
	MaxConnectionsPerAddress int
	BrokerConnections        int
	MaxInFlightBytes         Size
	MaxClientInFlightBytes   Size
	OverloadDelay            time.Duration
	WriteTimeout             time.Duration
	TrustedProxies           []string
}

// Compare is how the peers are compared with this server.
type Compare struct {
	TLS             string
	Interval        time.Duration
	RoutesPerSecond int
	WarmUp          time.Duration
}

// TLS is how the remoting port uses TLS, by the peers' names.
type TLS struct {
	Mode           string
	CertPath       string
	KeyPath        string
	TrustCertPath  string
	AuthClient     bool
	NeedClientAuth string

	MinVersion       string
	HandshakeTimeout time.Duration
}

// HTTP is where and how the REST API and the dashboard are served, and their limits.
type HTTP struct {
	Listen          string
	BasePath        string
	ExternalURL     string
	AllowedHosts    []string
	CORSOrigins     []string
	TrustedProxies  []string
	InsecureNoAuth  bool
	NSAddrEnabled   bool
	NSAddrListen    string
	NSAddrSelf      string
	NSAddrAddresses []string
	NSAddrDNS       string
	NSAddrUnits     []string
	MetricsAuth     bool
	Pprof           bool
	CertFile        string
	KeyFile         string
	ClientCAFile    string
	MinVersion      string

	HeaderTimeout         time.Duration
	BodyTimeout           time.Duration
	IdleTimeout           time.Duration
	MaxBody               Size
	MaxRegistrationBody   Size
	MaxBatchBody          Size
	MaxKVValue            Size
	MaxInFlight           int
	MaxHeavy              int
	MaxWatchers           int
	MaxWatchersPerAddress int
	MaxWaiters            int
	MaxTopics             int
	MaxKVEntries          int
	WritesPerSecond       int
	WritesBurst           int
	HeartbeatsPerSecond   int
	FailedLoginsPerMinute int
}

// Auth says who may do what over HTTP.
type Auth struct {
	AnonymousRole string
	TokensFile    string
	UsersFile     string
	CertRolesFile string
}

// Inert are settings of the peers that mean nothing here: they are read, checked, shown
// and saved so that a file can go to and fro, and have no effect.
type Inert struct {
	ClusterTest                          bool
	ClientRequestThreadPoolNums          int
	DefaultThreadPoolNums                int
	ClientRequestThreadPoolQueueCapacity int
	DefaultThreadPoolQueueCapacity       int
	UnRegisterBrokerQueueCapacity        int
	EnableControllerInNamesrv            bool
	ServerWorkerThreads                  int
	ServerCallbackExecutorThreads        int
	ServerSelectorThreads                int
	ServerOnewaySemaphoreValue           int
	ServerAsyncSemaphoreValue            int
	WriteBufferHighWaterMark             int
	WriteBufferLowWaterMark              int
	ServerSocketBacklog                  int
	ServerNettyWorkerGroupEnable         bool
	ServerPooledByteBufAllocatorEnable   bool
	UseEpollNativeSelector               bool
}

// Default returns the settings of a server that nobody configured. home is the user's
// home directory, below which the peers keep their files; state is where programs keep
// state of the user's, below which dataDir lies.
func Default(home, state string) Config {
	return Config{
		KVConfigPath:    filepath.Join(home, "namesrv", "kvConfig.json"),
		ConfigStorePath: filepath.Join(home, "namesrv", "namesrv.properties"),
		DataDir:         filepath.Join(state, "fingerpost"),

		ProductEnvName: "center",
		BindAddress:    "0.0.0.0",
		ListenPort:     9876,
		ScanInterval:   5 * time.Second,
		IdleTimeout:    120 * time.Second, // peers send each 30 s and close their side at 120

		ReturnOrderTopicConfigToBroker: true,
		EnableAllTopicList:             true,
		EnableTopicList:                true,
		WaitForService:                 45 * time.Second,

		ConfigBlackList:   []string{"configBlackList", "configStorePath", "kvConfigPath"},
		AllowRemoteConfig: true,
		DrainTimeout:      60 * time.Second, // clients ask for routes every 30 s, so all have been silent and asked again
		ShutdownWait:      30 * time.Second,
		ShutdownDrain:     5 * time.Second,
		ShutdownTimeout:   15 * time.Second,

		MassExpiry: MassExpiry{
			Share:   50,
			Minimum: 5,
			Limit:   10 * time.Minute,
		},
		WarmRestart: WarmRestart{
			Interval: 30 * time.Second, // brokers register as often
			MaxAge:   10 * time.Minute,
		},

		Remoting: Remoting{
			SerializeType:     "JSON",
			FrameMaxLength:    16 * MiB, // the peers' own limit, so none sends more
			HeaderMaxLength:   1 * MiB,
			InflatedMaxLength: 64 * MiB,
			MaxTopics:         1 << 20,
			MaxConnections:    50_000,
			MaxInFlightBytes:  512 * MiB, // thirty of the largest requests

			// Clients ask in some hundred bytes, so this is for tools and mistakes.
			MaxClientInFlightBytes: 64 * MiB,
			BrokerConnections:      1000,
			// Half of what a broker's heartbeat may take.
			OverloadDelay: 50 * time.Millisecond,

			WriteTimeout: 30 * time.Second,
		},
		Access: Access{
			Protection: "off", Client: ClassAccess{Mode: "auto"}, Broker: ClassAccess{Mode: "auto"},
			Admin: ClassAccess{Mode: "auto"}, Config: ClassAccess{Mode: "auto"}, ReplayWindow: time.Minute,
		},
		TLS: TLS{Mode: "permissive", NeedClientAuth: "none", MinVersion: "1.2", HandshakeTimeout: 10 * time.Second},
		HTTP: HTTP{
			Listen:        "127.0.0.1:8876",
			MinVersion:    "1.2",
			HeaderTimeout: 5 * time.Second,
			BodyTimeout:   30 * time.Second,
			IdleTimeout:   120 * time.Second,

			MaxBody:               64 * KiB,
			MaxRegistrationBody:   8 * MiB,
			MaxBatchBody:          256 * KiB,
			MaxKVValue:            64 * KiB,
			MaxInFlight:           4096,
			MaxHeavy:              4,
			MaxWatchers:           2000,
			MaxWatchersPerAddress: 64,
			MaxWaiters:            20_000,
			MaxTopics:             100_000,
			MaxKVEntries:          10_000,
			WritesPerSecond:       50,
			WritesBurst:           100,
			HeartbeatsPerSecond:   2000,
			FailedLoginsPerMinute: 5,
		},
		Auth:      Auth{AnonymousRole: "auto"},
		Compare:   Compare{TLS: "off", Interval: 30 * time.Second, RoutesPerSecond: 200, WarmUp: time.Minute},
		LogLevel:  slog.LevelInfo,
		LogFormat: "auto",

		Inert: Inert{
			ClientRequestThreadPoolNums:          8,
			DefaultThreadPoolNums:                16,
			ClientRequestThreadPoolQueueCapacity: 50_000,
			DefaultThreadPoolQueueCapacity:       10_000,
			UnRegisterBrokerQueueCapacity:        3000,
			ServerWorkerThreads:                  8,
			ServerSelectorThreads:                3,
			ServerOnewaySemaphoreValue:           256,
			ServerAsyncSemaphoreValue:            64,
			ServerSocketBacklog:                  1024,
			ServerNettyWorkerGroupEnable:         true,
			ServerPooledByteBufAllocatorEnable:   true,
		},
	}
}

// Rules returns the settings that the registry obeys.
func (c *Config) Rules() registry.Rules {
	return registry.Rules{
		SupportActingMaster:               c.SupportActingMaster,
		OrderMessageEnable:                c.OrderMessageEnable,
		ReturnOrderTopicConfigToBroker:    c.ReturnOrderTopicConfigToBroker,
		DeleteTopicWithBrokerRegistration: c.DeleteTopicWithBrokerRegistration,
		NotifyMinBrokerIDChanged:          c.NotifyMinBrokerIDChanged,
		EnableAllTopicList:                c.EnableAllTopicList,
		EnableTopicList:                   c.EnableTopicList,
		NeedWaitForService:                c.NeedWaitForService,
		WaitForService:                    c.WaitForService,
		MassExpiryShare:                   c.MassExpiry.Share,
		MassExpiryMinimum:                 c.MassExpiry.Minimum,
		MassExpiryHold:                    c.MassExpiry.Hold,
		MassExpiryLimit:                   c.MassExpiry.Limit,
	}
}

// maxInt32 is the largest value of the peers' numbers.
const maxInt32 = math.MaxInt32
