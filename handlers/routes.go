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
)

// operations is every operation of the process: what answers, who may, what it takes.
// What others serve comes in as handlers; see served.
func operations() []*operation {
	const (
		none      = auth.None
		viewer    = auth.Viewer
		registrar = auth.Registrar
		admin     = auth.Admin
	)
	_ = registrar
	_ = admin
	return []*operation{
		op(get, topicP+"/route", viewer, (*Handler).getRoute).takes("zone actingMaster").as(formText).waits(),
		op(get, v1+"/routes", viewer, (*Handler).listRoutes).takes("topic zone actingMaster "+topicParams+listParams+"sort").as(formText, formLines).waits(),
		op(post, v1+"/routes/query", viewer, (*Handler).queryRoutes).as(formText, formLines),

		op(get, v1+"/topics", viewer, (*Handler).listTopics).
			takes(topicParams+"unit unitSub perm messageType stale sort fields "+listParams).as(formText, formLines).waits(),
		op(get, topicP, viewer, (*Handler).getTopic).as(formText).waits(),

		op(get, v1+"/clusters", viewer, (*Handler).listClusters).takes(nameParams+listParams+"sort fields").as(formText, formLines).waits(),
		op(get, v1+"/clusters/{cluster}", viewer, (*Handler).getCluster).as(formText).waits(),
		op(get, v1+"/cluster-info", viewer, (*Handler).getClusterInfo).waits(),
		op(get, v1+"/brokers", viewer, (*Handler).listBrokers).
			takes(nameParams+"cluster zone state source sort fields "+listParams).as(formText, formLines).waits(),
		op(get, brokerP, viewer, (*Handler).getBroker).as(formText).waits(),
		op(get, brokerP+"/topics", viewer, (*Handler).listBrokerTopics).takes(nameParams+listParams+"sort").as(formText, formLines).waits(),
		op(get, memberP, viewer, (*Handler).getMember).as(formText).waits(),

		op(get, v1+"/version", viewer, (*Handler).getVersion).as(formText),
		op(get, v1+"/whoami", none, (*Handler).whoAmI).as(formText),

		op(get, "/livez", none, (*Handler).livez).takes("verbose").as(formText),
		op(get, "/readyz", none, (*Handler).readyz).takes("verbose").as(formText),
		op(get, "/healthz", none, (*Handler).healthz).takes("verbose").as(formText),
		op(get, "/problems/{code}", none, (*Handler).problemPage).as(formText),
		op(get, "/", none, (*Handler).index).as(formText),
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
		ops = append(ops, op(get, "/rocketmq/nsaddr", auth.None, (*Handler).nsAddr), op(get, "/rocketmq/nsaddr-{unit}", auth.None, (*Handler).nsAddr))
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
