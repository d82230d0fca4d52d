package remoting

import (
	"net/netip"
	"slices"
	"sync/atomic"
	"time"

	"fingerpost/remoting/wire"
)

// Mode says what a class of requests takes.
type Mode uint8

// The modes.
const (
	// Open is for everybody.
	Open Mode = iota
	// Listed takes an address of Rule.Addresses.
	Listed
	// Signed takes a signature with a key of Access.Keys.
	Signed
	// Either takes one of the two.
	Either
	// Both takes both.
	Both
	// Closed is for nobody.
	Closed
)

// Rule is who may send the requests of a class.
type Rule struct {
	Mode Mode
	// Addresses are those of the list: of the peer, or behind a trusted balancer those
	// that its PROXY header carries.
	Addresses []netip.Prefix
}

// Key is what belongs to an access key.
type Key struct {
	Secret string
	// May are the classes whose requests it may sign.
	May [AccessClasses]bool
}

// Access says who may send what. The zero value lets everybody do everything.
type Access struct {
	Rules [AccessClasses]Rule
	// Keys finds an access key. It may be called at any time; nil knows none.
	Keys func(accessKey string) (Key, bool)
	// ReplayWindow is for how long a signed request that changes something is taken
	// from no other address than the one it came from last; 0 is never.
	ReplayWindow time.Duration
}

// restricts reports whether there is anything to check.
func (a *Access) restricts() bool {
	return slices.ContainsFunc(a.Rules[:], func(r Rule) bool { return r.Mode != Open })
}

// reason is why a request is refused.
type reason uint8

const (
	allowed reason = iota
	reasonClosed
	reasonUnlisted
	reasonUnsigned
	reasonUnknownKey
	reasonWrongSignature
	reasonKeyNotAllowed
	reasonReplayed
	reasons
)

func (r reason) String() string {
	return [reasons]string{"", "closed", "unlisted", "unsigned", "unknown-key", "wrong-signature", "key-not-allowed", "replayed"}[r]
}

// denials count refusals by class and reason.
type denials [AccessClasses][reasons]atomic.Uint64

// Denial is how often requests of a class were refused for a reason.
type Denial struct {
	Class  AccessClass
	Reason string
	Count  uint64
}

// Denied returns the refusals by class and reason, all of them, also those that have not
// happened: the set is always the same.
func (s *Stats) Denied() []Denial {
	out := make([]Denial, 0, AccessClasses*int(reasons-1))
	for c := range s.denied {
		for r := allowed + 1; r < reasons; r++ {
			out = append(out, Denial{AccessClass(c), r.String(), s.denied[c][r].Load()})
		}
	}
	return out
}

// guard checks requests against an Access. It is nil where nothing is restricted.
type guard struct {
	Access
	seen replays
}

func newGuard(a *Access) *guard {
	if !a.restricts() {
		return nil
	}
	return &guard{Access: *a, seen: replays{window: a.ReplayWindow}}
}

// lookupsFree reports whether nothing can be wrong with a lookup from that address, so
// that the rest of its connection's need not be looked at.
func (g *guard) lookupsFree(from netip.Addr) bool {
	if g == nil {
		return true
	}
	r := &g.Rules[ForClient]
	return r.Mode == Open || (r.Mode == Listed || r.Mode == Either) && r.lists(from)
}

func (r *Rule) lists(a netip.Addr) bool {
	return slices.ContainsFunc(r.Addresses, func(p netip.Prefix) bool { return p.Contains(a) })
}

// check returns why a request is refused, or allowed.
func (g *guard) check(from netip.Addr, k kind, req *wire.Command) reason {
	r := &g.Rules[k.class]
	switch r.Mode {
	case Open:
		return allowed
	case Closed:
		return reasonClosed
	case Listed, Both:
		if !r.lists(from) {
			return reasonUnlisted
		}
		if r.Mode == Listed {
			return allowed
		}
	case Either:
		if r.lists(from) {
			return allowed
		}
	case Signed:
	}
	sum, why := g.verify(k.class, req)
	if why == allowed && k.changes && !g.seen.take(sum, from, time.Now()) {
		why = reasonReplayed
	}
	return why
}

// admitted reports whether a request may be served. Where it may not, the answer says what
// to do about it, and nothing else has happened.
func (c *conn) admitted(code wire.RequestCode, req *wire.Command, a *answer) bool {
	k := kindOf(code)
	why := c.srv.guard.check(c.addr, k, req)
	if why == allowed {
		return true
	}
	c.srv.Stats.denied[k.class][why].Add(1)
	accessKey, _ := req.Ext.Get(fieldAccessKey)
	c.warnOf(k.class.String()+why.String(), "a request is refused", "code", code.String(), "class", k.class.String(), "why", why.String(), "access_key", accessKey)
	a.fail(wire.NoPermission, c.srv.guard.remark(k.class, why))
	a.typed = false
	return false
}

// remark tells the peer what to do. It does not tell a wrong key from a wrong secret.
func (g *guard) remark(class AccessClass, why reason) string {
	text := "refused by the name server: "
	name := class.String()
	switch why {
	case reasonClosed:
		return text + "requests of the class " + name + " are closed; open them by remoting.access." + name
	case reasonUnlisted:
		return text + "your address is not in remoting.access." + name + "Addresses"
	case reasonUnsigned:
		text += "requests of the class " + name + " have to be signed: set accessKey and secretKey (conf/tools.yml of mqadmin, AclClientRPCHook of clients, innerClientAuthenticationCredentials of brokers)"
		if g.Rules[class].Mode == Either {
			text += ", or list your address in remoting.access." + name + "Addresses"
		}
		return text
	case reasonKeyNotAllowed:
		return text + "your access key may not sign requests of the class " + name + "; see remoting.access.keysFile"
	case reasonUnknownKey, reasonWrongSignature, allowed, reasons:
	case reasonReplayed:
		return text + "the same signed request came from another address less than " + g.ReplayWindow.String() + " ago; send it again later"
	}
	return text + "the signature is not right: compare accessKey and secretKey with remoting.access.keysFile"
}
