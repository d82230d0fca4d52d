package config

import "slices"

// inertTable is the rest of what the Java NameServer shows in 319: the sizes of its
// pools and the switches of its network library, which have nothing to size or switch
// here, and its controller, which this server does not have.
var inertTable = []Setting{
	{
		Key: "clusterTest", Doc: "asks another environment's NameServer for unknown topics",
		Traits: Peer | NoEffect, ptr: func(c *Config) any { return &c.Inert.ClusterTest },
	},
	{
		Key: "clientRequestThreadPoolNums", Doc: "threads for route requests",
		Traits: Peer | NoEffect, Max: maxInt32, ptr: func(c *Config) any { return &c.Inert.ClientRequestThreadPoolNums },
	},
	{
		Key: "defaultThreadPoolNums", Doc: "threads for all other requests",
		Traits: Peer | NoEffect, Max: maxInt32, ptr: func(c *Config) any { return &c.Inert.DefaultThreadPoolNums },
	},
	{
		Key: "clientRequestThreadPoolQueueCapacity", Doc: "route requests that may wait for a thread",
		Traits: Peer | NoEffect, Max: maxInt32, ptr: func(c *Config) any { return &c.Inert.ClientRequestThreadPoolQueueCapacity },
	},
	{
		Key: "defaultThreadPoolQueueCapacity", Doc: "other requests that may wait for a thread",
		Traits: Peer | NoEffect, Max: maxInt32, ptr: func(c *Config) any { return &c.Inert.DefaultThreadPoolQueueCapacity },
	},
	{
		Key: "unRegisterBrokerQueueCapacity", Doc: "brokers that may wait to be taken out; here they are taken out at once",
		Traits: Peer | NoEffect, Max: maxInt32, ptr: func(c *Config) any { return &c.Inert.UnRegisterBrokerQueueCapacity },
	},
	{
		Key: "enableControllerInNamesrv", Doc: "starts the controller in the same process; here it has to run on its own",
		Traits: Peer | NoEffect, ptr: func(c *Config) any { return &c.Inert.EnableControllerInNamesrv },
	},
	{
		Key: "serverWorkerThreads", Doc: "threads for the bytes of frames",
		Traits: Peer | NoEffect, Max: maxInt32, ptr: func(c *Config) any { return &c.Inert.ServerWorkerThreads },
	},
	{
		Key: "serverCallbackExecutorThreads", Doc: "threads for callbacks",
		Traits: Peer | NoEffect, Max: maxInt32, ptr: func(c *Config) any { return &c.Inert.ServerCallbackExecutorThreads },
	},
	{
		Key: "serverSelectorThreads", Doc: "threads for sockets",
		Traits: Peer | NoEffect, Max: maxInt32, ptr: func(c *Config) any { return &c.Inert.ServerSelectorThreads },
	},
	{
		Key: "serverOnewaySemaphoreValue", Doc: "one-way calls that may be under way",
		Traits: Peer | NoEffect, Max: maxInt32, ptr: func(c *Config) any { return &c.Inert.ServerOnewaySemaphoreValue },
	},
	{
		Key: "serverAsyncSemaphoreValue", Doc: "asynchronous calls that may be under way",
		Traits: Peer | NoEffect, Max: maxInt32, ptr: func(c *Config) any { return &c.Inert.ServerAsyncSemaphoreValue },
	},
	{
		Key: "writeBufferHighWaterMark", Doc: "unsent bytes at which reading stops; see remoting.writeTimeout for slow readers",
		Traits: Peer | NoEffect, Max: maxInt32, ptr: func(c *Config) any { return &c.Inert.WriteBufferHighWaterMark },
	},
	{
		Key: "writeBufferLowWaterMark", Doc: "unsent bytes at which reading goes on",
		Traits: Peer | NoEffect, Max: maxInt32, ptr: func(c *Config) any { return &c.Inert.WriteBufferLowWaterMark },
	},
	{
		Key: "serverSocketBacklog", Doc: "connections that may wait to be accepted; the system's own limit is used",
		Traits: Peer | NoEffect, Max: maxInt32, ptr: func(c *Config) any { return &c.Inert.ServerSocketBacklog },
	},
	{
		Key: "serverNettyWorkerGroupEnable", Doc: "which threads run the handlers",
		Traits: Peer | NoEffect, ptr: func(c *Config) any { return &c.Inert.ServerNettyWorkerGroupEnable },
	},
	{
		Key: "serverPooledByteBufAllocatorEnable", Doc: "whether buffers are pooled",
		Traits: Peer | NoEffect, ptr: func(c *Config) any { return &c.Inert.ServerPooledByteBufAllocatorEnable },
	},
	{
		Key: "useEpollNativeSelector", Doc: "how sockets are watched",
		Traits: Peer | NoEffect, ptr: func(c *Config) any { return &c.Inert.UseEpollNativeSelector },
	},
}

// foreignKeys may stand in a Java node's file: the settings of its outgoing client, of
// the controller that can run in its process, and system properties.
var foreignKeys = []string{
	"channelNotActiveInterval", "clientAsyncSemaphoreValue", "clientCallbackExecutorThreads", "clientChannelMaxIdleTimeSeconds",
	"clientCloseSocketIfTimeout", "clientOnewaySemaphoreValue", "clientPooledByteBufAllocatorEnable", "clientSocketRcvBufSize",
	"clientSocketSndBufSize", "clientWorkerThreads", "connectTimeoutMillis", "disableCallbackExecutor", "disableNettyWorkerGroup",
	"enableReconnectForGoAway", "maxReconnectIntervalTimeSeconds", "scanAvailableNameSrv", "useTLS",

	"controllerDLegerGroup", "controllerDLegerPeers", "controllerDLegerSelfId", "controllerRequestThreadPoolQueueCapacity",
	"controllerStorePath", "controllerThreadPoolNums", "controllerType", "electMasterMaxRetryCount", "enableElectUncleanMaster",
	"isProcessReadEvent", "jRaftControllerRPCAddr", "jRaftElectionTimeoutMs", "jRaftGroupId", "jRaftInitConf", "jRaftScanWaitTimeoutMs",
	"jRaftServerId", "jRaftSnapshotIntervalSecs", "mappedFileSize", "metricGrpcExporterIntervalInMills", "metricGrpcExporterTimeOutInMills",
	"metricLoggingExporterIntervalInMills", "metricsExporterType", "metricsGrpcExporterTarget", "metricsInDelta", "metricsLabel",
	"metricsPromExporterHost", "metricsPromExporterPort", "notifyBrokerRoleChanged", "processReadEvent", "scanInactiveMasterInterval",

	"com.rocketmq.remoting.socket.backlog", "com.rocketmq.remoting.write.buffer.high.water.mark",
	"com.rocketmq.remoting.write.buffer.low.water.mark", "rocketmq.home.dir", "rocketmq.remoting.version", "tls.client.authServer",
	"tls.client.certPath", "tls.client.keyPath", "tls.client.trustCertPath", "tls.config.file", "tls.enable", "tls.test.mode.enable",
	"user.home",
}

// foreignSecrets are those of them whose values hold passwords or keys.
var foreignSecrets = []string{"metricsGrpcExporterHeader", "socksProxyConfig", "tls.client.keyPassword", "tls.server.keyPassword"}

// settings are all rows; index finds them by key or by the name in Also.
var settings, index = func() ([]*Setting, map[string]*Setting) {
	var all []*Setting
	for _, t := range [][]Setting{table, accessTable, inertTable} {
		for i := range t {
			all = append(all, &t[i])
		}
	}
	for _, key := range slices.Concat(foreignKeys, foreignSecrets) {
		s := &Setting{Key: key, Doc: "a Java node's, without effect here", Traits: Foreign}
		if slices.Contains(foreignSecrets, key) {
			s.Traits |= Secret
		}
		all = append(all, s)
	}
	byKey := make(map[string]*Setting, len(all))
	for _, s := range all {
		byKey[s.Key] = s
		if s.Also != "" {
			byKey[s.Also] = s
		}
	}
	return all, byKey
}()

// Settings returns every setting that this server has, in the table's order, for those
// who make flags or a manual from it. The rows must not be written to.
func Settings() []*Setting {
	return slices.DeleteFunc(slices.Clone(settings), func(s *Setting) bool { return s.Is(Foreign) })
}

// Find returns the setting of a key.
func Find(key string) (*Setting, bool) {
	s, ok := index[key]
	return s, ok && !s.Is(Foreign)
}
