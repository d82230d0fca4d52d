package handlers

import (
	"errors"
	"strings"
	"testing"
	"time"

	"fingerpost/api"
	"fingerpost/registry"
)

// fakeDrainer remembers what it was told.
type fakeDrainer struct {
	state api.Drain
	by    []string
	fails error
}

func (f *fakeDrainer) State() api.Drain { return f.state }

func (f *fakeDrainer) Begin(cause registry.Cause) {
	f.by = append(f.by, cause.Action+" "+cause.Actor)
	now := api.TimeOf(time.Now())
	f.state = api.Drain{State: api.DrainDraining, SinceAt: now, DeadlineAt: now, By: cause.Actor, Connections: api.ConnectionKinds{Broker: 2, Client: 41}}
}

func (f *fakeDrainer) Cancel(cause registry.Cause) error {
	f.by = append(f.by, cause.Action+" "+cause.Actor)
	if f.fails == nil {
		f.state = api.Drain{State: api.DrainServing}
	}
	return f.fails
}

func TestDrain(t *testing.T) {
	f := &fakeDrainer{state: api.Drain{State: api.DrainServing}}
	e := newEnv(t, func(d *Deps) { d.Drain = f })
	e.get("/readyz").ok(t, 200)
	e.do("PUT", "/api/v1/drain", "").problem(t, 401, "unauthenticated")
	e.do("DELETE", "/api/v1/drain", "").problem(t, 401, "unauthenticated")
	var got api.Drain
	e.get("/api/v1/drain").ok(t, 200).into(t, &got)
	if got.State != api.DrainServing || len(f.by) != 0 {
		t.Errorf("%+v, %v", got, f.by)
	}
	e.admin("PUT", "/api/v1/drain", "").ok(t, 200).into(t, &got)
	if got.State != api.DrainDraining || got.Connections.Clients() != 41 || got.By != "token:admin" {
		t.Errorf("%+v", got)
	}
	if a := e.get("/readyz").ok(t, 503); !strings.Contains(string(a.body), "not-draining failed: the node is taken out of service") || !e.h.Draining() {
		t.Errorf("%s", a)
	}
	if a := e.get("/api/v1/drain?format=text").ok(t, 200); !strings.Contains(string(a.body), "draining") {
		t.Errorf("%s", a)
	}
	f.fails = errors.New("127.0.0.1:9876 is in use by another program")
	if p := e.admin("DELETE", "/api/v1/drain", "").problem(t, 409, "conflict"); !strings.Contains(p.Detail, "in use by another program") {
		t.Errorf("%+v", p)
	}
	f.fails = nil
	e.admin("DELETE", "/api/v1/drain", "").ok(t, 200)
	e.get("/readyz").ok(t, 200)
	if len(f.by) != 3 || f.by[0] != "drain token:admin" || f.by[2] != "cancelDrain token:admin" {
		t.Errorf("%q", f.by)
	}
}

// A server that was given nothing to drain by is in service, and says so.
func TestWithoutDrain(t *testing.T) {
	e := newEnv(t)
	var got api.Drain
	e.get("/api/v1/drain").ok(t, 200).into(t, &got)
	if got.State != api.DrainServing {
		t.Errorf("%+v", got)
	}
	e.admin("PUT", "/api/v1/drain", "").problem(t, 409, "conflict")
	e.admin("DELETE", "/api/v1/drain", "").problem(t, 409, "conflict")
}
