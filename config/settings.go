package config

import "time"

// table is every setting, in the order of the fields of Config.
var table = []Setting{
	{
		Key: "rocketmqHome", Doc: "where RocketMQ is installed; read so that a peer's file works, nothing is looked for below it",
		Traits: Peer | Locked | NoEffect, AlsoEnv: "ROCKETMQ_HOME", ptr: func(c *Config) any { return &c.RocketmqHome },
	},
	{
		Key: "kvConfigPath", Doc: "the file of the key-value table, in the peers' form",
		Traits: Peer | Locked, ptr: func(c *Config) any { return &c.KVConfigPath },
	},
	{
		Key: "configStorePath", Doc: "the file in which changes made while running are saved; it is read at the start if it exists and no other file is named",
		Traits: Peer | Locked, ptr: func(c *Config) any { return &c.ConfigStorePath },
	},
	{
		Key: "dataDir", Doc: "the folder for what is this server's alone, such as the token made at the first start",
		Traits: Locked, ptr: func(c *Config) any { return &c.DataDir },
	},

	{
		Key: "productEnvName", Doc: "the name of the environment, shown in the dashboard",
		Traits: Peer | Live, ptr: func(c *Config) any { return &c.ProductEnvName },
	},
	{
		Key: "bindAddress", Doc: "the address or host name that the remoting port binds to",
		Traits: Peer | Locked | Skipped, check: host, ptr: func(c *Config) any { return &c.BindAddress },
	},
	{
		Key: "listenPort", Doc: "the remoting port; 0 takes any free one",
		Traits: Peer | Locked | Skipped, Max: 65535, ptr: func(c *Config) any { return &c.ListenPort },
	},
	{
		Key: "scanNotActiveBrokerInterval", Doc: "milliseconds between two searches for brokers whose time is over",
		Traits: Peer | Live, Min: 100, Max: 600_000, Unit: time.Millisecond, ptr: func(c *Config) any { return &c.ScanInterval },
	},
	{
		Key: "serverChannelMaxIdleTimeSeconds", Doc: "seconds without a byte in either direction after which a connection is closed; 0 is never",
		Traits: Peer | Live, Max: 86_400, Unit: time.Second, ptr: func(c *Config) any { return &c.IdleTimeout },
	},
	{
		Key: "serverSocketSndBufSize", Doc: "the send buffer of a connection in bytes; 0 leaves it to the system",
		Traits: Peer, Max: maxInt32, Also: "com.rocketmq.remoting.socket.sndbuf.size", ptr: func(c *Config) any { return &c.SendBuffer },
	},
	{
		Key: "serverSocketRcvBufSize", Doc: "the receive buffer of a connection in bytes; 0 leaves it to the system",
		Traits: Peer, Max: maxInt32, Also: "com.rocketmq.remoting.socket.rcvbuf.size", ptr: func(c *Config) any { return &c.ReceiveBuffer },
	},

	{
		Key: "orderMessageEnable", Doc: "whether routes carry the order configuration of their topic",
		Traits: Peer | Live, ptr: func(c *Config) any { return &c.OrderMessageEnable },
	},
	{
		Key: "returnOrderTopicConfigToBroker", Doc: "whether a broker that registers is handed the order configuration of all topics",
		Traits: Peer | Live, ptr: func(c *Config) any { return &c.ReturnOrderTopicConfigToBroker },
	},
	{
		Key: "supportActingMaster", Doc: "whether the smallest slave of a group without a master is shown in its place",
		Traits: Peer | Live, ptr: func(c *Config) any { return &c.SupportActingMaster },
	},
	{
		Key: "enableAllTopicList", Doc: "whether the list of all topics is answered",
		Traits: Peer | Live, ptr: func(c *Config) any { return &c.EnableAllTopicList },
	},
	{
		Key: "enableTopicList", Doc: "whether the lists of topics by cluster and by unit are answered",
		Traits: Peer | Live, ptr: func(c *Config) any { return &c.EnableTopicList },
	},
	{
		Key: "notifyMinBrokerIdChanged", Doc: "whether the members of a group are told when its smallest broker id changes",
		Traits: Peer | Live, ptr: func(c *Config) any { return &c.NotifyMinBrokerIDChanged },
	},
	{
		Key: "needWaitForService", Doc: "whether routes are refused until waitSecondsForService have passed since the start",
		Traits: Peer | Live, ptr: func(c *Config) any { return &c.NeedWaitForService },
	},
	{
		Key: "waitSecondsForService", Doc: "seconds from the start during which routes are refused if needWaitForService is on",
		Traits: Peer | Live, Max: maxInt32, Unit: time.Second, ptr: func(c *Config) any { return &c.WaitForService },
	},
	{
		Key: "deleteTopicWithBrokerRegistration", Doc: "whether topics that a broker's registration no longer names leave that broker",
		Traits: Peer | Live, ptr: func(c *Config) any { return &c.DeleteTopicWithBrokerRegistration },
	},

	{
		Key: "configBlackList", Doc: "settings that may not be changed while running, besides those that never may",
		Traits: Peer | Locked, ptr: func(c *Config) any { return &c.ConfigBlackList },
	},
	{
		Key: "allowRemoteConfig", Doc: "whether settings may be changed over the remoting port (request 318)",
		Traits: Locked, ptr: func(c *Config) any { return &c.AllowRemoteConfig },
	},
	{
		Key: "drain.timeout", Doc: "how long clients may take to leave a node that is taken out of service while it runs",
		Traits: Live, Min: int64(time.Second), Max: int64(24 * time.Hour), ptr: func(c *Config) any { return &c.DrainTimeout },
	},
	{
		Key: "enableShutdownGracefully", Doc: "whether peers are told to go elsewhere before the server stops",
		Traits: Peer | Live, ptr: func(c *Config) any { return &c.ShutdownGracefully },
	},
	{
		Key: "shutdownWaitTimeSeconds", Doc: "how many seconds that takes if enableShutdownGracefully is on",
		Traits: Peer | Live, Max: 3600, Unit: time.Second, ptr: func(c *Config) any { return &c.ShutdownWait },
	},
	{
		Key: "shutdown.grace", Doc: "how long the server goes on answering, and says that it is not ready, before it begins to stop",
		Max: int64(time.Hour), ptr: func(c *Config) any { return &c.ShutdownGrace },
	},
	{
		Key: "shutdown.drain", Doc: "how long a stop goes on closing clients at moments in which they ask nothing, before it cuts them off; it ends when none is left",
		Traits: Live, Max: int64(time.Hour), ptr: func(c *Config) any { return &c.ShutdownDrain },
	},
	{
		Key: "shutdown.timeout", Doc: "how long stopping may take besides those waits before the process ends anyway",
		Min: int64(100 * time.Millisecond), Max: int64(time.Hour), ptr: func(c *Config) any { return &c.ShutdownTimeout },
	},

	{
		Key: "massExpiry.share", Doc: "more than this share of all brokers in percent vanishing at once is an alarm",
		Traits: Live, Min: 1, Max: 100, ptr: func(c *Config) any { return &c.MassExpiry.Share },
	},
	{
		Key: "massExpiry.minimum", Doc: "but only if they are at least so many",
		Traits: Live, Min: 1, Max: maxInt32, ptr: func(c *Config) any { return &c.MassExpiry.Minimum },
	},
	{
		Key: "massExpiry.hold", Doc: "whether brokers that are over their time are kept, as suspect, while the alarm stands",
		Traits: Live, ptr: func(c *Config) any { return &c.MassExpiry.Hold },
	},
	{
		Key: "massExpiry.limit", Doc: "how long the alarm stands at most",
		Traits: Live, Min: int64(time.Second), Max: int64(24 * time.Hour), ptr: func(c *Config) any { return &c.MassExpiry.Limit },
	},

	{
		Key: "warmRestart.enabled", Doc: "whether routes are answered after a restart from what was known before, until brokers register again",
		ptr: func(c *Config) any { return &c.WarmRestart.Enabled },
	},
	{
		Key: "warmRestart.interval", Doc: "how often what is known is saved for that, besides when the server stops",
		Traits: Live, Min: int64(time.Second), Max: int64(time.Hour), ptr: func(c *Config) any { return &c.WarmRestart.Interval },
	},
	{
		Key: "warmRestart.maxAge", Doc: "how old what was saved may be at the start; older is not used",
		Min: int64(time.Second), Max: int64(365 * 24 * time.Hour), ptr: func(c *Config) any { return &c.WarmRestart.MaxAge },
	},
	{
		Key: "warmRestart.limit", Doc: "how long after the start a broker that is not heard of stays known from before; 0s is the timeout of each",
		Max: int64(24 * time.Hour), ptr: func(c *Config) any { return &c.WarmRestart.Limit },
	},

	{
		Key: "rocketmq.serialize.type", Doc: "the form of the headers of answers over remoting",
		Words: []string{"JSON", "ROCKETMQ"}, AlsoEnv: "ROCKETMQ_SERIALIZE_TYPE", ptr: func(c *Config) any { return &c.Remoting.SerializeType },
	},
	{
		Key: "remoting.frameMaxLength", Doc: "the largest frame over remoting, its length field included; raise it on all brokers and clients too",
		Min: int64(64 * KiB), Max: int64(1 * GiB), Also: "com.rocketmq.remoting.frameMaxLength", ptr: func(c *Config) any { return &c.Remoting.FrameMaxLength },
	},
	{
		Key: "remoting.headerMaxLength", Doc: "the largest header of a frame",
		Min: int64(4 * KiB), Max: int64(16*MiB - 1), ptr: func(c *Config) any { return &c.Remoting.HeaderMaxLength },
	},
	{
		Key: "remoting.inflatedMaxLength", Doc: "the largest content of a compressed registration",
		Min: int64(64 * KiB), Max: int64(4 * GiB), ptr: func(c *Config) any { return &c.Remoting.InflatedMaxLength },
	},
	{
		Key: "remoting.maxTopics", Doc: "the most topics in one registration",
		Min: 1, Max: maxInt32, ptr: func(c *Config) any { return &c.Remoting.MaxTopics },
	},
	{
		Key: "remoting.maxConnections", Doc: "the most connections to the remoting port; 0 is no limit",
		Max: maxInt32, ptr: func(c *Config) any { return &c.Remoting.MaxConnections },
	},
	{
		Key: "remoting.maxConnectionsPerAddress", Doc: "the most of them from one address; 0 is no limit",
		Max: maxInt32, ptr: func(c *Config) any { return &c.Remoting.MaxConnectionsPerAddress },
	},
	{
		Key: "remoting.brokerConnections", Doc: "how many of remoting.maxConnections are kept for brokers, a tenth of them at most",
		Max: maxInt32, ptr: func(c *Config) any { return &c.Remoting.BrokerConnections },
	},
	{
		Key: "remoting.maxInFlightBytes", Doc: "the most bytes of large requests of brokers that are being read or answered, over all connections",
		Min: int64(1 * MiB), Max: int64(1024 * GiB), ptr: func(c *Config) any { return &c.Remoting.MaxInFlightBytes },
	},
	{
		Key: "remoting.maxClientInFlightBytes", Doc: "the same for all others' requests",
		Min: int64(1 * MiB), Max: int64(1024 * GiB), ptr: func(c *Config) any { return &c.Remoting.MaxClientInFlightBytes },
	},
	{
		Key: "remoting.overloadDelay", Doc: "how long requests may wait for a processor before those that are no broker's are answered code 2; 0 is for ever",
		Max: int64(10 * time.Second), ptr: func(c *Config) any { return &c.Remoting.OverloadDelay },
	},
	{
		Key: "remoting.writeTimeout", Doc: "how long a peer may take to read an answer before its connection is closed",
		Min: int64(time.Second), Max: int64(time.Hour), ptr: func(c *Config) any { return &c.Remoting.WriteTimeout },
	},
	{
		Key: "remoting.trustedProxies", Doc: "addresses or networks of balancers that may name a peer's own address by the PROXY protocol",
		Traits: Locked, check: network, ptr: func(c *Config) any { return &c.Remoting.TrustedProxies },
	},

	{
		Key: "tls.server.mode", Doc: "TLS on the remoting port: never, as the peer likes, or always",
		Traits: Locked, Words: []string{"disabled", "permissive", "enforcing"}, ptr: func(c *Config) any { return &c.TLS.Mode },
	},
	{
		Key: "tls.server.certPath", Doc: "the PEM file of the certificate chain for the remoting port",
		Traits: Locked, ptr: func(c *Config) any { return &c.TLS.CertPath },
	},
	{
		Key: "tls.server.keyPath", Doc: "the PEM file of its private key",
		Traits: Locked, ptr: func(c *Config) any { return &c.TLS.KeyPath },
	},
	{
		Key: "tls.server.trustCertPath", Doc: "the PEM file of the authorities that clients' certificates are checked against",
		Traits: Locked, ptr: func(c *Config) any { return &c.TLS.TrustCertPath },
	},
	{
		Key: "tls.server.authClient", Doc: "whether a client's certificate is checked against tls.server.trustCertPath",
		Traits: Locked, ptr: func(c *Config) any { return &c.TLS.AuthClient },
	},
	{
		Key: "tls.server.need.client.auth", Doc: "whether a client shows a certificate",
		Traits: Locked, Words: []string{"none", "optional", "require"}, ptr: func(c *Config) any { return &c.TLS.NeedClientAuth },
	},
	{
		Key: "tls.server.minVersion", Doc: "the oldest version of TLS on the remoting port",
		Traits: Locked, Words: []string{"1.2", "1.3"}, ptr: func(c *Config) any { return &c.TLS.MinVersion },
	},
	{
		Key: "tls.server.handshakeTimeout", Doc: "how long a TLS handshake on the remoting port may take once it has begun, and a PROXY header",
		Traits: Locked, Min: int64(100 * time.Millisecond), Max: int64(10 * time.Minute), ptr: func(c *Config) any { return &c.TLS.HandshakeTimeout },
	},

	{
		Key: "http.listen", Doc: "the address of the REST API and the dashboard; port 0 takes any free one, empty switches HTTP off",
		Traits: Locked, check: hostPort, ptr: func(c *Config) any { return &c.HTTP.Listen },
	},
	{
		Key: "http.basePath", Doc: "the path below which everything is served, for a proxy that forwards only that",
		Traits: Locked, check: basePath, ptr: func(c *Config) any { return &c.HTTP.BasePath },
	},
	{
		Key: "http.externalURL", Doc: "the URL by which browsers reach the server through a proxy",
		Traits: Locked, check: webURL, ptr: func(c *Config) any { return &c.HTTP.ExternalURL },
	},
	{
		Key: "http.allowedHosts", Doc: "host names that requests may be addressed to besides the loopback ones",
		Traits: Locked, ptr: func(c *Config) any { return &c.HTTP.AllowedHosts },
	},
	{
		Key: "http.corsOrigins", Doc: "web origins whose pages may call the API",
		Traits: Locked, check: origin, ptr: func(c *Config) any { return &c.HTTP.CORSOrigins },
	},
	{
		Key: "http.trustedProxies", Doc: "addresses or networks of proxies whose forwarded headers are believed",
		Traits: Locked, check: network, ptr: func(c *Config) any { return &c.HTTP.TrustedProxies },
	},
	{
		Key: "http.insecureNoAuth", Doc: "whether everybody may do everything over HTTP; for laboratories",
		Traits: Locked, ptr: func(c *Config) any { return &c.HTTP.InsecureNoAuth },
	},
	{
		Key: "http.nsaddr.enabled", Doc: "whether the address list that clients ask for at /rocketmq/nsaddr is served, to anybody",
		Traits: Locked, ptr: func(c *Config) any { return &c.HTTP.NSAddrEnabled },
	},
	{
		Key: "http.nsaddr.listen", Doc: "an address at which that list alone is served, to anybody; clients ask port 8080 unless their domain names another",
		Traits: Locked, check: hostPort, ptr: func(c *Config) any { return &c.HTTP.NSAddrListen },
	},
	{
		Key: "http.nsaddr.self", Doc: "this server's own address in the list; left out it is the one that the remoting port binds to, if that is one",
		Traits: Locked, check: hostPort, ptr: func(c *Config) any { return &c.HTTP.NSAddrSelf },
	},
	{
		Key: "http.nsaddr.addresses", Doc: "the list; left out it is what http.nsaddr.dns finds, or else the peers and this server",
		Traits: Locked, check: hostPort, ptr: func(c *Config) any { return &c.HTTP.NSAddrAddresses },
	},
	{
		Key: "http.nsaddr.dns", Doc: "a host name and a port: the list is every address that DNS has for the name, such as that of a headless service",
		Traits: Locked, check: hostPort, ptr: func(c *Config) any { return &c.HTTP.NSAddrDNS },
	},
	{
		Key: "http.nsaddr.units", Doc: "other lists for clients of a unit, an entry for each address, such as east=10.0.0.1:9876",
		Traits: Locked, check: unitAddress, ptr: func(c *Config) any { return &c.HTTP.NSAddrUnits },
	},
	{
		Key: "http.metricsAuth", Doc: "whether metrics are for viewers only",
		Traits: Locked, ptr: func(c *Config) any { return &c.HTTP.MetricsAuth },
	},
	{
		Key: "http.pprof", Doc: "whether profiles of the process are served at /debug/pprof/, to admins",
		Traits: Locked, ptr: func(c *Config) any { return &c.HTTP.Pprof },
	},
	{
		Key: "http.tls.certFile", Doc: "the PEM file of the certificate chain for HTTP; empty is plain HTTP",
		Traits: Locked, ptr: func(c *Config) any { return &c.HTTP.CertFile },
	},
	{
		Key: "http.tls.keyFile", Doc: "the PEM file of its private key",
		Traits: Locked, ptr: func(c *Config) any { return &c.HTTP.KeyFile },
	},
	{
		Key: "http.tls.clientCAFile", Doc: "the PEM file of the authorities whose certificates identify clients",
		Traits: Locked, ptr: func(c *Config) any { return &c.HTTP.ClientCAFile },
	},
	{
		Key: "http.tls.minVersion", Doc: "the oldest version of TLS for HTTP",
		Traits: Locked, Words: []string{"1.2", "1.3"}, ptr: func(c *Config) any { return &c.HTTP.MinVersion },
	},

	{
		Key: "http.headerTimeout", Doc: "how long the header of a request may take",
		Min: int64(100 * time.Millisecond), Max: int64(time.Hour), ptr: func(c *Config) any { return &c.HTTP.HeaderTimeout },
	},
	{
		Key: "http.bodyTimeout", Doc: "how long the body of a request may take",
		Min: int64(100 * time.Millisecond), Max: int64(time.Hour), ptr: func(c *Config) any { return &c.HTTP.BodyTimeout },
	},
	{
		Key: "http.idleTimeout", Doc: "how long a connection may wait for its next request",
		Min: int64(time.Second), Max: int64(24 * time.Hour), ptr: func(c *Config) any { return &c.HTTP.IdleTimeout },
	},
	{
		Key: "http.maxBody", Doc: "the largest body of a request that has no limit of its own",
		Min: int64(1 * KiB), Max: int64(1 * GiB), ptr: func(c *Config) any { return &c.HTTP.MaxBody },
	},
	{
		Key: "http.maxRegistrationBody", Doc: "the largest body of a registration",
		Min: int64(1 * KiB), Max: int64(1 * GiB), ptr: func(c *Config) any { return &c.HTTP.MaxRegistrationBody },
	},
	{
		Key: "http.maxBatchBody", Doc: "the largest body of a question about many routes",
		Min: int64(1 * KiB), Max: int64(1 * GiB), ptr: func(c *Config) any { return &c.HTTP.MaxBatchBody },
	},
	{
		Key: "http.maxKVValue", Doc: "the largest value of a key in the key-value table that is put over HTTP",
		Min: int64(1 * KiB), Max: int64(1 * GiB), ptr: func(c *Config) any { return &c.HTTP.MaxKVValue },
	},
	{
		Key: "http.maxInFlight", Doc: "the most requests answered at once; more are told to come again",
		Min: 1, Max: maxInt32, ptr: func(c *Config) any { return &c.HTTP.MaxInFlight },
	},
	{
		Key: "http.maxHeavy", Doc: "the most requests at once that look at the whole registry",
		Min: 1, Max: maxInt32, ptr: func(c *Config) any { return &c.HTTP.MaxHeavy },
	},
	{
		Key: "http.maxWatchers", Doc: "the most open watches and dashboards",
		Min: 1, Max: maxInt32, ptr: func(c *Config) any { return &c.HTTP.MaxWatchers },
	},
	{
		Key: "http.maxWatchersPerAddress", Doc: "the most of them from one address",
		Min: 1, Max: maxInt32, ptr: func(c *Config) any { return &c.HTTP.MaxWatchersPerAddress },
	},
	{
		Key: "http.maxWaiters", Doc: "the most requests that wait for a change",
		Min: 1, Max: maxInt32, ptr: func(c *Config) any { return &c.HTTP.MaxWaiters },
	},
	{
		Key: "http.maxTopics", Doc: "the most topics in one registration over HTTP",
		Min: 1, Max: maxInt32, ptr: func(c *Config) any { return &c.HTTP.MaxTopics },
	},
	{
		Key: "http.maxKVEntries", Doc: "the most keys in the key-value table to which HTTP still adds one",
		Min: 1, Max: maxInt32, ptr: func(c *Config) any { return &c.HTTP.MaxKVEntries },
	},
	{
		Key: "http.writesPerSecond", Doc: "how many changes a principal may make in a second, in the long run",
		Min: 1, Max: maxInt32, ptr: func(c *Config) any { return &c.HTTP.WritesPerSecond },
	},
	{
		Key: "http.writesBurst", Doc: "how many it may make at once",
		Min: 1, Max: maxInt32, ptr: func(c *Config) any { return &c.HTTP.WritesBurst },
	},
	{
		Key: "http.heartbeatsPerSecond", Doc: "how many heartbeats a principal may send in a second",
		Min: 1, Max: maxInt32, ptr: func(c *Config) any { return &c.HTTP.HeartbeatsPerSecond },
	},
	{
		Key: "http.failedLoginsPerMinute", Doc: "how many wrong credentials an address may show in a minute",
		Min: 1, Max: maxInt32, ptr: func(c *Config) any { return &c.HTTP.FailedLoginsPerMinute },
	},

	{
		Key: "auth.anonymousRole", Doc: "what callers without credentials may do over HTTP; auto is viewer on a loopback address with no credentials configured, else none",
		Traits: Locked, Words: []string{"auto", "none", "viewer"}, ptr: func(c *Config) any { return &c.Auth.AnonymousRole },
	},
	{
		Key: "auth.tokensFile", Doc: "the file of bearer tokens",
		Traits: Locked, ptr: func(c *Config) any { return &c.Auth.TokensFile },
	},
	{
		Key: "auth.usersFile", Doc: "the file of names and passwords",
		Traits: Locked, ptr: func(c *Config) any { return &c.Auth.UsersFile },
	},
	{
		Key: "auth.certRolesFile", Doc: "the file of client certificates and their roles",
		Traits: Locked, ptr: func(c *Config) any { return &c.Auth.CertRolesFile },
	},

	{
		Key: "peers", Doc: "remoting addresses of the other NameServers of this set, separated by semicolons",
		Traits: Locked, check: hostPort, ptr: func(c *Config) any { return &c.Peers },
	},
	{
		Key: "peers.tls", Doc: "TLS to peers: off, on with their certificates checked by tls.server.trustCertPath or what the system trusts, or unverified",
		Traits: Locked, Words: []string{"off", "on", "unverified"}, ptr: func(c *Config) any { return &c.Compare.TLS },
	},
	{
		Key: "peers.interval", Doc: "how often each peer is compared with this server",
		Traits: Locked, Min: int64(5 * time.Second), Max: int64(time.Hour), ptr: func(c *Config) any { return &c.Compare.Interval },
	},
	{
		Key: "peers.routesPerSecond", Doc: "how many routes a peer is asked for in a second at most",
		Traits: Locked, Min: 1, Max: 10_000, ptr: func(c *Config) any { return &c.Compare.RoutesPerSecond },
	},
	{
		Key: "peers.warmUp", Doc: "how long after the start the server may not be ready because peers know more brokers; 0 does not wait",
		Traits: Locked, Max: int64(time.Hour), ptr: func(c *Config) any { return &c.Compare.WarmUp },
	},
	{
		Key: "log.level", Doc: "the least level that is logged",
		Traits: Live, ptr: func(c *Config) any { return &c.LogLevel },
	},
	{
		Key: "log.format", Doc: "the form of the log; auto is text on a terminal and json otherwise",
		Words: []string{"auto", "text", "json"}, ptr: func(c *Config) any { return &c.LogFormat },
	},
}
