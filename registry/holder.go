package registry

// bind makes h, which may be nil, the one holder of a lease. Registry.mu is held.
func (r *Registry) bind(key string, l *lease, h Holder) {
	r.unbook(key, l.earlier.Swap(nil), h)
	r.unbook(key, l.holder.Load(), h)
	if h == nil {
		l.holder.Store(nil)
		return
	}
	if !l.heldBy(h) {
		l.holder.Store(&h)
	}
	r.book(key, l, h)
}

// hear makes h the holder of a lease because the member was heard of over it, without
// letting go of the connection over which it registered: whoever asks in the member's
// name must not make it die with their own connection. Registry.mu is held.
func (r *Registry) hear(key string, l *lease, h Holder) {
	registered := l.earlier.Load()
	if registered != nil && *registered == h {
		r.bind(key, l, h)
		return
	}
	was := l.holder.Load()
	switch {
	case was == nil || *was == h:
	case registered == nil:
		l.earlier.Store(was)
	default:
		r.unbook(key, was, h)
	}
	l.holder.Store(&h)
	r.book(key, l, h)
}

// letGo ends what h has of a lease and reports whether the member has another
// connection left. Registry.mu is held.
func (l *lease) letGo(h Holder) (stays bool) {
	earlier := l.earlier.Load()
	if earlier == nil {
		return false
	}
	if *earlier != h {
		l.holder.Store(earlier)
	}
	l.earlier.Store(nil)
	return true
}

// book enters that h holds a lease, unbook that p, unless it is keep, does not any more.
func (r *Registry) book(key string, l *lease, h Holder) {
	m := r.holders[h]
	if m == nil {
		m = make(map[string]*lease, 1)
		r.holders[h] = m
	}
	m[key] = l
}

func (r *Registry) unbook(key string, p *Holder, keep Holder) {
	if p == nil || *p == keep {
		return
	}
	m := r.holders[*p]
	delete(m, key)
	if len(m) == 0 {
		delete(r.holders, *p)
	}
}
