package remoting

import (
	"slices"
	"time"

	"fingerpost/registry"
	"fingerpost/remoting/wire"
)

// Connection describes an open connection for people.
type Connection struct {
	ID         uint64
	RemoteAddr string
	// Kind is "broker", "client", "admin" or "unknown", told by what it has asked.
	Kind     string
	Language string
	Version  string
	TLS      bool
	Since    time.Time
	LastUsed time.Time
	// LastCode is the last request's code and LastName its name; 0 and "" if there was
	// none.
	LastCode int32
	LastName string
	Requests uint64
	// Holds are the members that were last heard of over the connection.
	Holds []registry.MemberInfo
}

// Open returns how many connections there are.
func (s *Server) Open() int {
	s.init()
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.conns)
}

// Connections returns what is open now, oldest first.
func (s *Server) Connections() []Connection {
	s.init()
	s.mu.Lock()
	cs := make([]*conn, 0, len(s.conns))
	for c := range s.conns {
		cs = append(cs, c)
	}
	s.mu.Unlock()
	slices.SortFunc(cs, func(a, b *conn) int {
		if a.id < b.id {
			return -1
		}
		return 1
	})
	out := make([]Connection, len(cs))
	for i, c := range cs {
		out[i] = c.describe()
	}
	return out
}

func (c *conn) describe() Connection {
	d := Connection{
		ID: c.id, RemoteAddr: *c.shown.Load(), TLS: c.encrypted.Load(), Kind: c.kind(), Since: c.since,
		LastUsed: time.UnixMilli(c.lastUsed.Load()), Requests: c.requests.Load(),
	}
	if d.Requests == 0 {
		return d
	}
	if d.Kind == kindBroker {
		d.Holds = c.srv.Registry.Held(c)
	}
	d.Language = wire.Language(c.language.Load()).String()
	d.Version = wire.Version(c.version.Load()).String()
	d.LastCode = c.lastCode.Load()
	d.LastName = wire.RequestCode(d.LastCode).Name()
	return d
}
