package registry

// Heartbeat renews the lease of the member that registered as (cluster, addr) and, if
// it says that member's broker name too, binds it to the connection over which it came,
// which may be nil: the end of the one over which it registered then removes nothing.
// Nor does the end of this one while that is open, for it may have been somebody else who
// asked in the member's name. A REST member has no connection and
// is bound to none. It reports whether there is such a member; it never makes one,
// changes no revision, and takes no lock unless the connection is a new one.
func (r *Registry) Heartbeat(cluster, addr, name string, h Holder) bool {
	l := r.Snapshot().Live(cluster, addr)
	return l != nil && r.heard(l, name, h)
}

func (r *Registry) heard(l *Live, name string, h Holder) bool {
	if l.Name != name {
		h = nil
	}
	return r.renewed(l, h)
}

func (r *Registry) renewed(l *Live, h Holder) bool {
	return l.lease.touch(r.now()) && (h == nil || l.Source == FromREST || l.lease.heldBy(h) || r.rebind(l, h, r.hear))
}

// rebind makes h the holder of l's lease by the given way, unless the lease has ended
// meanwhile.
func (r *Registry) rebind(l *Live, h Holder, by func(key string, l *lease, h Holder)) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if cur := r.Snapshot().lives.get(l.k); cur == nil || cur.lease != l.lease {
		return false
	}
	by(l.k, l.lease, h)
	return true
}

// Probe renews like Heartbeat and compares data versions. known tells whether there
// is such a member, stored is its version, and changed whether the member should
// register again: it is unknown, or has another version than v (nil: the sender has none).
func (r *Registry) Probe(cluster, addr, name string, v *DataVersion, h Holder) (stored DataVersion, known, changed bool) {
	l := r.Snapshot().Live(cluster, addr)
	if l == nil || !r.heard(l, name, h) {
		return DataVersion{}, false, true
	}
	return l.Version, true, v == nil || *v != l.Version || r.Snapshot().owes(l)
}

// Renew is the heartbeat of a REST member, addressed by name and id. It fails with
// NotFound for an unknown member, and with Conflict when the place is now held over
// remoting (code "member-taken-over") or by another principal ("member-held-by-other"),
// unless the claim covers other principals. changed tells that v differs from the stored
// version; without v there is nothing to compare.
func (r *Registry) Renew(name string, id int64, by Claim, v *DataVersion) (l *Live, changed bool, err error) {
	by.Force = false // a broker with a connection lives by that
	l = r.Snapshot().Member(name, id)
	if err := by.check(l, "member-taken-over"); err != nil {
		return nil, false, err
	}
	if l.Unconfirmed() {
		return nil, false, &Error{
			Kind: NotFound, Code: "member-not-found",
			Message: "the member stands only from before the server's restart: it has to be registered again",
		}
	}
	if !r.renewed(l, nil) {
		return nil, false, &Error{Kind: NotFound, Code: "member-not-found", Message: "the member has just expired"}
	}
	return l, v != nil && *v != l.Version, nil
}

// Member returns the registration that holds the place (name, id), or nil.
func (s *Snapshot) Member(name string, id int64) *Live {
	g := s.groups.get(name)
	if g == nil {
		return nil
	}
	i, ok := g.at(id)
	if !ok {
		return nil
	}
	return s.LiveOf(g.Members[i])
}
