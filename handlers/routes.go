package handlers

import (
	"net/http"
	"slices"

	"fingerpost/internal/auth"
)

const (
	get    = http.MethodGet
	post   = http.MethodPost
	put    = http.MethodPut
	patch  = http.MethodPatch
	remove = http.MethodDelete

	v1      = "/api/v1"
	topicP  = v1 + "/topics/{topic}"
	brokerP = v1 + "/brokers/{brokerName}"
	memberP = brokerP + "/members/{brokerId}"
	peerP   = v1 + "/peers/{peer}"
)

// The description of the API is made of the comments at the operations and of this one.
//
//	@title						Fingerpost
//	@version					1
//	@description				A NameServer compatible with Apache RocketMQ: which brokers are alive and which topics they serve. Numbers in brackets are the codes of the same questions over remoting.
//	@license.name				Apache-2.0
//	@license.url				https://www.apache.org/licenses/LICENSE-2.0
//	@externalDocs.url			https://rocketmq.apache.org
//	@externalDocs.description	Apache RocketMQ
//	@securityDefinitions.bearerauth	token
//	@securityDefinitions.basic	password

// operations is every operation of the process: what answers, who may, what it takes.
// What others serve comes in as handlers; see served.
func operations() []*operation {
	const (
		none, viewer, registrar, admin = auth.None, auth.Viewer, auth.Registrar, auth.Admin

		topics  = nameParams + "cluster broker type "
		changes = "kind topic broker cluster "
	)
	return []*operation{
		op(get, topicP+"/route", viewer, (*Handler).getRoute).takes("zone actingMaster").as(formText).waits(),
		op(get, topicP+"/route/explain", viewer, (*Handler).explainRoute).takes("zone").as(formText),
		op(get, v1+"/routes", viewer, (*Handler).listRoutes).takes("topic zone actingMaster sort "+topics+listParams).as(formText, formLines).waits(),
		op(post, v1+"/routes/query", viewer, (*Handler).queryRoutes).as(formText, formLines),

		op(get, v1+"/topics", viewer, (*Handler).listTopics).
			takes("unit unitSub perm messageType stale sort fields "+topics+listParams).as(formText, formLines).waits(),
		op(get, topicP, viewer, (*Handler).getTopic).as(formText).waits(),
		op(remove, topicP, admin, (*Handler).deleteTopic).takes("cluster fanout dryRun").as(formText).changes("deleteTopic"),
		op(put, topicP+"/brokers/{brokerName}", admin, (*Handler).putTopicPart).takes("dryRun").changes("putTopic"),
		op(remove, topicP+"/brokers/{brokerName}", admin, (*Handler).deleteTopicPart).takes("dryRun").as(formText).changes("deleteTopic"),
		op(get, v1+"/stale-topics", viewer, (*Handler).listStale).takes("reason olderThan topic broker "+listParams).as(formText, formLines).waits(),
		op(remove, v1+"/stale-topics", admin, (*Handler).deleteStale).takes("reason olderThan topic broker dryRun").changes("deleteStaleTopics").guarded(),

		op(get, v1+"/clusters", viewer, (*Handler).listClusters).takes("sort fields "+nameParams+listParams).as(formText, formLines).waits(),
		op(get, v1+"/clusters/{cluster}", viewer, (*Handler).getCluster).as(formText).waits(),
		op(get, v1+"/cluster-info", viewer, (*Handler).getClusterInfo).waits(),
		op(get, v1+"/brokers", viewer, (*Handler).listBrokers).
			takes("cluster zone state source sort fields "+nameParams+listParams).as(formText, formLines).waits(),
		op(get, brokerP, viewer, (*Handler).getBroker).as(formText).waits(),
		op(get, brokerP+"/topics", viewer, (*Handler).listBrokerTopics).takes("sort "+nameParams+listParams).as(formText, formLines).waits(),
		op(get, memberP, viewer, (*Handler).getMember).as(formText).waits(),
		op(put, memberP, registrar, (*Handler).putMember).takes("takeover dryRun").as(formText).changes("registerMember").guarded(),
		op(patch, memberP, registrar, (*Handler).patchMember).takes("dryRun").as(formText).changes("amendMember").guarded(),
		op(remove, memberP, registrar, (*Handler).deleteMember).takes("force dryRun").changes("unregisterMember"),
		op(post, memberP+"/heartbeat", registrar, (*Handler).beatMember).as(formText).beats(),
		op(post, v1+"/heartbeats", registrar, (*Handler).beatMembers).as(formLines).beats(),
		op(get, brokerP+"/write-perm", viewer, (*Handler).getWritePerm).as(formText),
		op(put, brokerP+"/write-perm", admin, (*Handler).restoreWritePerm).takes("mode fanout dryRun").as(formText).changes("restoreWritePerm"),
		op(remove, brokerP+"/write-perm", admin, (*Handler).wipeWritePerm).takes("fanout dryRun").as(formText).changes("wipeWritePerm"),

		op(get, v1+"/kv", viewer, (*Handler).listKV).as(formText, formLines).waits(),
		op(get, v1+"/kv/{namespace}", viewer, (*Handler).getNamespace).as(formText).waits(),
		op(get, v1+"/kv/{namespace}/{key}", viewer, (*Handler).getKey).takes("raw").as(formText).waits(),
		op(put, v1+"/kv/{namespace}/{key}", admin, (*Handler).putKey).takes("fanout dryRun").changes("putKV").guarded().ifNew(),
		op(remove, v1+"/kv/{namespace}/{key}", admin, (*Handler).deleteKey).takes("fanout dryRun").changes("deleteKV").guarded(),
		op(get, v1+"/config", viewer, (*Handler).getConfig).takes(nameParams).as(formText, formLines).waits(),
		op(patch, v1+"/config", admin, (*Handler).patchConfig).takes("dryRun").as(formText).changes("patchConfig").guarded(),

		op(get, v1+"/watch", viewer, nil).takes("since snapshot quiet "+changes).only(formEvents, formLines).streamed((*Handler).watch),
		op(get, v1+"/events", viewer, (*Handler).listEvents).takes("actor face action since until sort "+changes+listParams).as(formText, formLines),
		op(get, v1+"/events/{revision}", viewer, (*Handler).getEvent).takes(changes+listParams).as(formText, formLines),

		op(get, v1+"/peers", viewer, (*Handler).listPeers).as(formText, formLines),
		op(get, peerP+"/diff", viewer, (*Handler).diffPeer).takes("kind topic broker "+listParams).as(formText, formLines),
		op(post, peerP+"/check", admin, (*Handler).checkPeer).as(formText).changes("checkPeer"),

		op(get, v1+"/digest", viewer, (*Handler).getDigest).takes("perTopic").as(formText, formLines).waits(),
		op(get, v1+"/connections", viewer, (*Handler).listConnections).takes("kind q sort "+listParams).as(formText, formLines),
		op(get, v1+"/conflicts", viewer, (*Handler).listConflicts).takes("kind broker active").as(formText, formLines),
		op(get, v1+"/stats", viewer, (*Handler).getStats).as(formText),
		op(get, v1+"/drain", viewer, (*Handler).getDrain).as(formText),
		op(put, v1+"/drain", admin, (*Handler).beginDrain).as(formText).changes("drain"),
		op(remove, v1+"/drain", admin, (*Handler).cancelDrain).as(formText).changes("cancelDrain"),
		op(get, v1+"/export", admin, (*Handler).getExport).as(formLines),
		op(get, v1+"/version", viewer, (*Handler).getVersion).as(formText),
		op(get, v1+"/whoami", none, (*Handler).whoAmI).as(formText),
		op(post, v1+"/session", none, (*Handler).login).paced(joining),
		op(remove, v1+"/session", none, (*Handler).logout),

		op(get, "/livez", none, (*Handler).livez).takes("verbose").as(formText),
		op(get, "/readyz", none, (*Handler).readyz).takes("verbose").as(formText),
		op(get, "/healthz", none, (*Handler).healthz).takes("verbose").as(formText),
		op(get, "/problems/{code}", none, (*Handler).problemPage).as(formText, formPage),
		op(get, "/", none, (*Handler).index).only(formText, formPage),
	}
}

// served is the table with what this process has of the optional places.
func (h *Handler) served() []*operation {
	ops := operations()
	mounted := func(pattern string, role auth.Role, next http.Handler) {
		if next != nil {
			ops = append(ops, mountedOp(pattern, role, next))
		}
	}
	d := &h.deps
	metricsRole := auth.None
	if d.MetricsNeedViewer {
		metricsRole = auth.Viewer
	}
	mounted("/ui/*", auth.None, d.Dashboard)
	mounted("/ws", auth.Viewer, d.Feed)
	mounted("/openapi.json", auth.None, d.OpenAPI)
	mounted("/swagger/doc.json", auth.None, d.Swagger)
	mounted("/metrics", metricsRole, d.Metrics)
	mounted("/debug/pprof/*", auth.Admin, d.Pprof)
	if d.NSAddr != nil {
		// Clients of RocketMQ add parameters of their own; what matters is in the path.
		for _, pattern := range []string{"/rocketmq/nsaddr", "/rocketmq/nsaddr-{unit}"} {
			o := op(get, pattern, auth.None, (*Handler).nsAddr).only(formText, formJSON, formPage)
			o.lenient = true
			ops = append(ops, o)
		}
	}
	return slices.Clip(ops)
}

// mountedOp is the row of a place that another handler serves. It takes any query and
// any form: those are that handler's.
func mountedOp(pattern string, role auth.Role, next http.Handler) *operation {
	o := op(get, pattern, role, nil)
	o.mounted = next
	return o
}
