package auth

import (
	"fmt"
	"path"
	"slices"
)

// Role is what a principal may do; a larger role may all that a smaller one may.
type Role uint8

// The roles.
const (
	// None may ask for what needs no role, such as probes.
	None Role = iota
	// Viewer may read everything but an export.
	Viewer
	// Registrar may also keep members whose broker name fits its patterns.
	Registrar
	// Admin may do everything.
	Admin
)

var roleNames = [...]string{"none", "viewer", "registrar", "admin"}

// String returns the word for the role, such as "viewer".
func (r Role) String() string { return roleNames[r] }

// ParseRole returns the role of that name.
func ParseRole(name string) (Role, error) {
	if i := slices.Index(roleNames[:], name); i >= 0 {
		return Role(i), nil
	}
	return None, fmt.Errorf("the role must be viewer, registrar or admin, not %q", name)
}

// Method is how a principal was recognised.
type Method string

// The methods.
const (
	Anonymous   Method = "anonymous"
	Token       Method = "token"
	Basic       Method = "basic"
	Certificate Method = "certificate"
	Session     Method = "session"
)

// Principal is who asks.
type Principal struct {
	// Name is such as "token:ops", "user:ops", "cert:ops" or "anonymous". It is what
	// owns a member that the principal registers.
	Name string
	Role Role
	// Brokers are the patterns of broker names that a registrar may register, with *
	// and ?; none allows every name.
	Brokers []string
	// Method is how it was recognised.
	Method Method
}

// AnonymousName is the principal of whoever shows no credential.
const AnonymousName = "anonymous"

// MayRegister reports whether the principal may keep members of that broker name.
func (p *Principal) MayRegister(broker string) bool {
	switch {
	case p.Role < Registrar:
		return false
	case p.Role == Admin || len(p.Brokers) == 0:
		return true
	}
	return slices.ContainsFunc(p.Brokers, func(pattern string) bool {
		ok, _ := path.Match(pattern, broker) // checked when it was read
		return ok
	})
}
