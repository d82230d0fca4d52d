package api

// States of [Drain].
const (
	// DrainServing is in service.
	DrainServing = "serving"
	// DrainDraining is being taken out of service.
	DrainDraining = "draining"
	// DrainDrained is out of service: the process may be stopped.
	DrainDrained = "drained"
)

// Drain is whether a node is in service, and how far it is on its way out of it.
type Drain struct {
	// State is serving, draining or drained.
	State string `json:"state" enums:"serving,draining,drained" example:"draining"`
	// SinceAt is when the way out of service began; absent in service.
	SinceAt *Time `json:"sinceAt,omitempty" swaggertype:"string" format:"date-time"`
	// DeadlineAt is when clients that are left are closed whatever they do; absent in service.
	DeadlineAt *Time `json:"deadlineAt,omitempty" swaggertype:"string" format:"date-time"`
	// By is who asked for it.
	By string `json:"by,omitempty" example:"token:ops"`
	// Connections are those of the remoting port that are left. Brokers stay until the
	// process ends: they are registered at the other nodes as well.
	Connections ConnectionKinds `json:"connections"`
}

// ConnectionKinds counts connections by kind; see [Connection].
type ConnectionKinds struct {
	Broker  int `json:"broker" example:"2"`
	Client  int `json:"client" example:"41"`
	Admin   int `json:"admin" example:"0"`
	Unknown int `json:"unknown" example:"0"`
}

// Clients counts those that are no brokers.
func (k ConnectionKinds) Clients() int { return k.Client + k.Admin + k.Unknown }
