package handlers

import "net/http"

// code is a row of the catalogue: what a problem's code means and what to do.
type code struct {
	status    int
	title     text
	means, do text
}

// catalogue has every code of a problem. Its rows are the pages at /problems/{code}.
var catalogue = map[string]code{
	"malformed-json": {
		http.StatusBadRequest,
		text{"The body is not valid JSON", "请求体不是有效的 JSON"},
		text{"The body could not be read as JSON: broken syntax, a name that comes twice, more than 32 levels, text that is not UTF-8, or something after the end.", "请求体无法作为 JSON 读取：语法错误、名称重复、嵌套超过 32 层、不是 UTF-8，或结尾之后还有内容。"},
		text{"Look at the place that errors names. Check the quotes that your shell needs, and send the body with --data-binary @file if in doubt.", "查看 errors 指出的位置；检查 shell 的引号，必要时用 --data-binary @文件 发送。"},
	},
	"unknown-field": {
		http.StatusBadRequest,
		text{"The body has a field that does not exist", "请求体中有不存在的字段"},
		text{"A name in the body is not one of those that the operation takes. Names are matched exactly, also in their case.", "请求体中的某个名称不属于该操作。名称须完全一致，区分大小写。"},
		text{"Correct the name; /openapi.json lists those that exist.", "更正名称；/openapi.json 列出了所有字段。"},
	},
	"malformed-query": {
		http.StatusBadRequest,
		text{"The query is not well formed", "查询串格式不正确"},
		text{"A pair of the query has a bad escape, is not UTF-8, or has control characters.", "查询串中有错误的转义、非 UTF-8 文本或控制字符。"},
		text{"Write % as %25, or let curl do it: curl -G --data-urlencode 'topic=%RETRY%group'.", "把 % 写成 %25，或让 curl 处理：curl -G --data-urlencode 'topic=%RETRY%group'。"},
	},
	"malformed-path": {
		http.StatusBadRequest,
		text{"The path is not well formed", "路径格式不正确"},
		text{"A part of the path is empty, is . or .., holds a slash or a control character, is not UTF-8, or is not a number where one is needed.", "路径中的某一段为空、为 . 或 ..、含有斜杠或控制字符、不是 UTF-8，或在需要数字处不是数字。"},
		text{"Escape the part: % as %25, / as %2F where it is allowed. Topics can also be asked for as ?topic=.", "对该段进行转义：% 写成 %25，允许时 / 写成 %2F。Topic 也可用 ?topic= 查询。"},
	},
	"unknown-parameter": {
		http.StatusBadRequest,
		text{"The query has a parameter that does not exist", "查询串中有不存在的参数"},
		text{"A mistyped filter must not return everything, so names that the operation does not take are refused.", "写错的过滤条件不应返回全部内容，因此拒绝未知参数。"},
		text{"Correct the name; errors lists those that exist.", "更正名称；errors 中列出了可用的参数。"},
	},
	"validation-failed": {
		http.StatusBadRequest,
		text{"A value breaks a rule", "某个值不符合规则"},
		text{"The request is well formed, but a value is missing, too large, too small, or of the wrong form. Nothing was changed.", "请求格式正确，但有值缺失、过大、过小或形式不对。没有任何改动。"},
		text{"Correct each place that errors names and send it again.", "更正 errors 指出的每一处后重新发送。"},
	},
	"unauthenticated": {
		http.StatusUnauthorized,
		text{"A credential is needed", "需要凭据"},
		text{"The operation needs a role, and the request has no credential or one that is not known.", "该操作需要角色，而请求没有凭据或凭据无效。"},
		text{"Send Authorization: Bearer with a token. The first start wrote one to the file admin-token, which the log names; fingerpost curlrc makes a file for curl -K of it.", "发送 Authorization: Bearer 令牌。首次启动时已写入 admin-token 文件（日志中有路径）；fingerpost curlrc 可生成供 curl -K 使用的文件。"},
	},
	"forbidden": {
		http.StatusForbidden,
		text{"The role is too small", "角色权限不足"},
		text{"The principal is known but may not do this: its role is too small, or the broker name fits none of its patterns.", "身份有效，但无权执行：角色不足，或 Broker 名称不符合其模式。"},
		text{"GET /api/v1/whoami tells what the server takes you for. Ask for a larger role, or use another name.", "GET /api/v1/whoami 显示当前身份。请申请更高角色或使用其他名称。"},
	},
	"listing-disabled": {
		http.StatusForbidden,
		text{"Lists of topics are switched off", "Topic 列表已关闭"},
		text{"enableTopicList or enableAllTopicList is false, which hides lists of topics from callers without a credential.", "enableTopicList 或 enableAllTopicList 为 false，未认证的调用者不能列出 Topic。"},
		text{"Sign in, ask for single topics, or switch the setting on.", "请认证、查询单个 Topic，或打开该设置。"},
	},
	"cross-origin-blocked": {
		http.StatusForbidden,
		text{"A page of another origin may not do this", "其他来源的页面不可执行此操作"},
		text{"The request changes something and a browser says that it comes from a page of another origin.", "该请求会产生改动，而浏览器表明它来自其他来源的页面。"},
		text{"Behind a proxy that changes Host set http.externalURL; for other origins set http.corsOrigins.", "若在改写 Host 的代理之后，请设置 http.externalURL；其他来源请设置 http.corsOrigins。"},
	},
	"host-not-allowed": {
		http.StatusForbidden,
		text{"The Host is not one of this server's", "Host 不属于本服务"},
		text{"The server listens on a loopback address and answers to loopback names only, so that no page on the internet can reach it under a name of its own.", "服务监听在回环地址，只接受回环名称，以防互联网页面用自己的域名访问。"},
		text{"Use 127.0.0.1 or localhost, or add the name to http.allowedHosts.", "使用 127.0.0.1 或 localhost，或把名称加入 http.allowedHosts。"},
	},
	"config-key-protected": {
		http.StatusForbidden,
		text{"The setting cannot be changed while running", "该设置不能在运行时修改"},
		text{"Settings that name a path, an address, a listener or a credential, and those in configBlackList, are changed by nobody over the network.", "涉及路径、地址、监听或凭据的设置，以及 configBlackList 中的设置，不能通过网络修改。"},
		text{"Set it in the file, an environment variable or a flag, and restart.", "请在文件、环境变量或参数中设置后重启。"},
	},
	"topic-not-found": {
		http.StatusNotFound,
		text{"Topic has no route", "Topic 没有路由"},
		text{"No live broker has registered the topic: it never existed here, its brokers are gone, it was removed, or the server has just started.", "没有存活的 Broker 注册该 Topic：从未存在、Broker 已离开、已被删除，或服务刚启动。"},
		text{"Check the spelling, and whether its brokers are in GET /api/v1/brokers. GET /api/v1/events?topic= tells what happened to it.", "检查拼写以及 GET /api/v1/brokers 中是否有其 Broker。GET /api/v1/events?topic= 显示历史。"},
	},
	"broker-not-found": {
		http.StatusNotFound,
		text{"There is no such broker", "没有该 Broker"},
		text{"No member of that broker name is registered.", "该 Broker 名称没有已注册的成员。"},
		text{"GET /api/v1/brokers lists them; GET /api/v1/brokers?state=all also those that left in the last ten minutes.", "GET /api/v1/brokers 列出所有 Broker；?state=all 还包括最近十分钟离开的。"},
	},
	"member-not-found": {
		http.StatusNotFound,
		text{"There is no such member", "没有该成员"},
		text{"The id is not registered under that broker name: it never was, its time was over, or the server has restarted.", "该 Broker 名称下没有此 id：从未注册、已过期，或服务已重启。"},
		text{"Register it again with PUT, then go on with heartbeats.", "请用 PUT 重新注册，然后继续心跳。"},
	},
	"cluster-not-found": {
		http.StatusNotFound,
		text{"There is no such cluster", "没有该集群"},
		text{"No registered broker names that cluster.", "没有已注册的 Broker 属于该集群。"},
		text{"GET /api/v1/clusters lists those that exist.", "GET /api/v1/clusters 列出现有集群。"},
	},
	"kv-not-found": {
		http.StatusNotFound,
		text{"There is no such key or namespace", "没有该键或命名空间"},
		text{"The key-value table has no such entry.", "KV 表中没有该条目。"},
		text{"GET /api/v1/kv lists the namespaces.", "GET /api/v1/kv 列出命名空间。"},
	},
	"peer-not-found": {
		http.StatusNotFound,
		text{"There is no such peer", "没有该节点"},
		text{"The setting peers does not name that address, and no address of a request is ever called.", "设置 peers 中没有该地址；请求中的地址从不会被连接。"},
		text{"GET /api/v1/peers lists those that are configured.", "GET /api/v1/peers 列出已配置的节点。"},
	},
	"peer-unreachable": {
		http.StatusServiceUnavailable,
		text{"The peer could not be asked", "无法请求该节点"},
		text{"There was no connection to the peer, so the change was not made there. It was made here.", "未能连接该节点，因此改动没有在该节点进行；本节点已改动。"},
		text{"See GET /api/v1/peers for the reason, and repeat the change when the peer can be reached.", "在 GET /api/v1/peers 中查看原因，待节点可达后重复该改动。"},
	},
	"peer-no-answer": {
		http.StatusGatewayTimeout,
		text{"The peer did not answer", "该节点没有应答"},
		text{"The peer was asked, and its answer did not come: the change may have been made there or not. It was made here.", "已请求该节点但没有收到应答：改动可能已在该节点进行，也可能没有；本节点已改动。"},
		text{"Repeat the change: it can be repeated without harm.", "请重复该改动：重复没有害处。"},
	},
	"peer-refused": {
		http.StatusBadGateway,
		text{"The peer refused the change", "该节点拒绝了改动"},
		text{"The peer answered the request over remoting with a code other than success, which remotingCode names. The change was made here.", "该节点通过 remoting 返回了非成功的应答码（见 remotingCode）；本节点已改动。"},
		text{"Code 16 is a peer that wants signed requests or listens only to listed addresses; code 3 is a version that does not know the request.", "应答码 16 表示该节点要求签名或只接受名单中的地址；3 表示其版本不支持该请求。"},
	},
	"event-not-found": {
		http.StatusNotFound,
		text{"There is no such change set", "没有该变更"},
		text{"The revision has not been reached yet.", "尚未到达该版本。"},
		text{"GET /api/v1/events lists those that are kept.", "GET /api/v1/events 列出保留的变更。"},
	},
	"not-found": {
		http.StatusNotFound,
		text{"There is no such thing", "没有该对象"},
		text{"What the request names is not there.", "请求所指的对象不存在。"},
		text{"Check the name.", "请检查名称。"},
	},
	"no-such-endpoint": {
		http.StatusNotFound,
		text{"There is no such endpoint", "没有该端点"},
		text{"No operation of this server has that path.", "本服务没有该路径。"},
		text{"GET / lists the endpoints, /openapi.json describes them.", "GET / 列出端点，/openapi.json 有详细说明。"},
	},
	"method-not-allowed": {
		http.StatusMethodNotAllowed,
		text{"The method is not allowed here", "此处不允许该方法"},
		text{"The path exists, but not for that method; Allow lists those that it takes.", "路径存在，但不支持该方法；Allow 列出可用方法。"},
		text{"Use one of the methods in Allow.", "请使用 Allow 中的方法。"},
	},
	"not-acceptable": {
		http.StatusNotAcceptable,
		text{"None of the accepted forms is available", "没有可接受的表示形式"},
		text{"Accept or ?format= asks for a form in which the operation does not answer.", "Accept 或 ?format= 请求了该操作不支持的形式。"},
		text{"Ask for application/json, or for text/plain or application/x-ndjson where the operation has them.", "请使用 application/json，或在支持时使用 text/plain 或 application/x-ndjson。"},
	},
	"unsupported-media-type": {
		http.StatusUnsupportedMediaType,
		text{"The body is of the wrong type", "请求体类型不正确"},
		text{"A body needs Content-Type: application/json; PATCH also takes application/merge-patch+json, a value of the key-value table text/plain.", "请求体需要 Content-Type: application/json；PATCH 还接受 application/merge-patch+json，KV 值接受 text/plain。"},
		text{"Add -H 'Content-Type: application/json'.", "加上 -H 'Content-Type: application/json'。"},
	},
	"member-held-by-remoting": {
		http.StatusConflict,
		text{"The place is held by a broker on the remoting port", "该位置由 remoting 端口上的 Broker 持有"},
		text{"A live broker registered that id or that address itself.", "有存活的 Broker 自己注册了该 id 或地址。"},
		text{"Use another id or broker name. An admin may take the place with ?takeover=true, or remove the member with ?force=true.", "请换用其他 id 或 Broker 名称。管理员可用 ?takeover=true 接管，或用 ?force=true 移除。"},
	},
	"member-held-by-other": {
		http.StatusConflict,
		text{"The place is held by another principal", "该位置由其他身份持有"},
		text{"Another principal registered that id or that address over REST.", "其他身份已通过 REST 注册了该 id 或地址。"},
		text{"Use another id or broker name, wait until it leaves, or let an admin take the place with ?takeover=true.", "请换用其他 id 或名称、等待其离开，或由管理员用 ?takeover=true 接管。"},
	},
	"member-taken-over": {
		http.StatusConflict,
		text{"The place was taken over", "该位置已被接管"},
		text{"A broker on the remoting port has registered in that place since.", "remoting 端口上的 Broker 之后在该位置注册。"},
		text{"Stop sending heartbeats and tell somebody: two processes have one name.", "停止心跳并告警：两个进程使用了同一名称。"},
	},
	"stale-state-version": {
		http.StatusConflict,
		text{"A newer state is registered", "已注册更新的状态"},
		text{"The place is held by another address with a higher state version.", "该位置由状态版本更高的另一地址持有。"},
		text{"Fetch the current state, then register with a stateVersion that is not lower.", "获取当前状态后，用不低于它的 stateVersion 注册。"},
	},
	"broker-in-other-cluster": {
		http.StatusConflict,
		text{"The broker name belongs to another cluster", "该 Broker 名称属于另一个集群"},
		text{"A broker name stands in one cluster at a time.", "一个 Broker 名称同一时间只能属于一个集群。"},
		text{"Use another broker name, or remove the members in the other cluster first.", "请换用其他名称，或先移除另一集群中的成员。"},
	},
	"address-in-use": {
		http.StatusConflict,
		text{"The address belongs to another broker", "该地址属于另一个 Broker"},
		text{"The address is registered in the cluster under another broker name.", "该地址已在集群中以另一 Broker 名称注册。"},
		text{"Use another address, or remove the other broker first.", "请换用其他地址，或先移除另一个 Broker。"},
	},
	"conflict": {
		http.StatusConflict,
		text{"The present state forbids it", "当前状态不允许"},
		text{"Another owner or a newer state is in the way.", "与其他持有者或更新的状态冲突。"},
		text{"Read the resource again and decide anew.", "请重新读取后再决定。"},
	},
	"revision-compacted": {
		http.StatusGone,
		text{"That part of the history is no longer kept", "该段历史已不再保留"},
		text{"The revision is older than what is kept, or of an earlier process.", "该版本早于保留范围，或属于之前的进程。"},
		text{"Read your lists again and watch from their revision.", "请重新读取列表，并从其版本开始监听。"},
	},
	"precondition-failed": {
		http.StatusPreconditionFailed,
		text{"It has changed since it was read", "读取之后已被修改"},
		text{"If-Match names another state than the present one, or If-None-Match: * a thing that exists. Nothing was changed.", "If-Match 与当前状态不符，或 If-None-Match: * 的对象已存在。没有任何改动。"},
		text{"Read it again, merge, and repeat with the new ETag.", "请重新读取、合并，并用新的 ETag 重试。"},
	},
	"precondition-required": {
		http.StatusPreconditionRequired,
		text{"If-Match is needed", "需要 If-Match"},
		text{"The operation is made from a page that shows an older state, so it must say which one.", "该操作来自显示旧状态的页面，必须说明所依据的状态。"},
		text{"Send If-Match with the ETag of what you read.", "请带上读取时的 ETag 作为 If-Match。"},
	},
	"body-too-large": {
		http.StatusRequestEntityTooLarge,
		text{"The body is too large", "请求体过大"},
		text{"The body, or a number of entries in it, is beyond the limit of the operation. Nothing was changed.", "请求体或其中的条目数超过该操作的限制。没有任何改动。"},
		text{"Send less, or raise the limit: http.maxBody, http.maxRegistrationBody, http.maxBatchBody, http.maxKVValue.", "请减少内容，或提高限制：http.maxBody、http.maxRegistrationBody、http.maxBatchBody、http.maxKVValue。"},
	},
	"request-timeout": {
		http.StatusRequestTimeout,
		text{"The body took too long", "请求体接收超时"},
		text{"The body did not arrive within http.bodyTimeout. Nothing was changed.", "请求体未在 http.bodyTimeout 内到达。没有任何改动。"},
		text{"Send it again.", "请重新发送。"},
	},
	"rate-limited": {
		http.StatusTooManyRequests,
		text{"Too many requests", "请求过于频繁"},
		text{"The principal makes more changes or heartbeats than it may, or the address has shown too many wrong credentials.", "该身份的改动或心跳过于频繁，或该地址多次使用错误凭据。"},
		text{"Wait as long as Retry-After says. The limits are http.writesPerSecond, http.heartbeatsPerSecond and http.failedLoginsPerMinute.", "请按 Retry-After 等待。限制为 http.writesPerSecond、http.heartbeatsPerSecond 和 http.failedLoginsPerMinute。"},
	},
	"too-many-watchers": {
		http.StatusTooManyRequests,
		text{"Too many watches", "监听数过多"},
		text{"The server, or the address, has as many open watches as it may.", "服务或该地址的监听数已达上限。"},
		text{"Close some, or raise http.maxWatchers or http.maxWatchersPerAddress.", "请关闭一些，或提高 http.maxWatchers 或 http.maxWatchersPerAddress。"},
	},
	"name-server-not-ready": {
		http.StatusServiceUnavailable,
		text{"Routes are not answered yet", "尚未开始提供路由"},
		text{"needWaitForService is on and the wait after the start is not over.", "needWaitForService 已开启，启动后的等待尚未结束。"},
		text{"Come again after Retry-After.", "请在 Retry-After 之后重试。"},
	},
	"shutting-down": {
		http.StatusServiceUnavailable,
		text{"The server is stopping", "服务正在停止"},
		text{"The process is about to end.", "进程即将结束。"},
		text{"Ask another node, or come again in a moment.", "请访问其他节点，或稍后重试。"},
	},
	"overloaded": {
		http.StatusServiceUnavailable,
		text{"The server has too much to do", "服务负载过高"},
		text{"As many requests are being answered as may be at once, over all or of this kind.", "同时处理的请求（总数或此类）已达上限。"},
		text{"Come again after Retry-After. The limits are http.maxInFlight and http.maxHeavy.", "请在 Retry-After 之后重试。限制为 http.maxInFlight 和 http.maxHeavy。"},
	},
	"not-saved": {
		http.StatusServiceUnavailable,
		text{"The change could not be saved", "改动无法保存"},
		text{"A change is on disk before it counts. The disk refused it, so nothing was changed.", "改动先写入磁盘才生效。磁盘拒绝写入，因此没有任何改动。"},
		text{"Look at the log and at the disk, then repeat.", "请查看日志和磁盘后重试。"},
	},
	"internal-error": {
		http.StatusInternalServerError,
		text{"Something went wrong inside", "内部错误"},
		text{"The server failed to answer. The log has the reason under the request id.", "服务未能给出应答。日志中以请求 id 记录了原因。"},
		text{"Report it with the request id in instance.", "请附上 instance 中的请求 id 反馈。"},
	},
}
