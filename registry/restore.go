package registry

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// Restore puts an image of an earlier process in an empty registry, as one change, so that
// routes are answered before the brokers have registered again. Its members are
// unconfirmed: each stays so until it registers, and leaves, like any that is silent, when
// it has not been heard of for patience, or for its own timeout if patience is 0. They have
// no connection, so no connection's end takes them away. Topics that their broker names
// again are its own from then on; those that it does not leave a StaleGrace after its first
// registration, because a registration may be a part of one.
//
// It fails, and changes nothing, if the registry is not empty or if the image is none that
// [Snapshot.Image] makes.
func (r *Registry) Restore(img *Image, patience time.Duration, cause Cause) error {
	r.mu.Lock()
	d := r.begin(cause)
	if d.next.groups.len() > 0 || d.next.lives.len() > 0 {
		d.drop()
		return errors.New("the registry is not empty")
	}
	x := restorer{d: d, img: img, patience: patience, now: r.now(), listed: make(map[[2]uint32]*Listed, len(img.Names))}
	if err := x.restore(); err != nil {
		d.drop()
		return err
	}
	d.next.warm, r.thawing = true, true
	d.commit()
	return nil
}

type restorer struct {
	d        *draft
	img      *Image
	patience time.Duration
	now      time.Time
	listed   map[[2]uint32]*Listed // by name and configuration, to share them
}

func (x *restorer) restore() error {
	if len(x.img.Changed) != len(x.img.Names) {
		return errors.New("the topics do not fit together")
	}
	for i := range x.img.Groups {
		if err := x.group(&x.img.Groups[i]); err != nil {
			return fmt.Errorf("broker %q: %w", x.img.Groups[i].Name, err)
		}
	}
	for _, m := range x.img.Mappings {
		if m == nil {
			return errors.New("a mapping is missing")
		}
		x.d.setMapping(m)
	}
	return nil
}

func (x *restorer) group(from *ImageGroup) error {
	if x.d.next.groups.get(from.Name) != nil {
		return errors.New("it is there twice")
	}
	g := &Group{Name: from.Name, Cluster: from.Cluster, Zone: from.Zone, HasZone: from.HasZone, Acting: from.Acting}
	for i := range from.Members {
		m := &from.Members[i]
		if err := x.fits(g, m); err != nil {
			return err
		}
		p := Member{ID: m.ID, Addr: m.Addr, Cluster: m.Cluster}
		if len(m.Filters) > 0 {
			p.Filters = m.Filters
		}
		g.Members = append(g.Members, p)
	}
	if !slices.ContainsFunc(g.Members, func(m Member) bool { return m.Cluster == g.Cluster }) {
		return errors.New("none of its members is of its cluster")
	}
	x.d.putGroup(nil, g)
	if !g.HasMaster() && !from.Masterless.IsZero() {
		g.masterless = from.Masterless
	}
	for i := range from.Members {
		if err := x.member(&from.Members[i]); err != nil {
			return err
		}
	}
	return x.part(from)
}

// fits says why a member cannot stand in its group after those that stand there, or nil.
func (x *restorer) fits(g *Group, m *ImageMember) error {
	if err := m.check(); err != nil {
		return err
	}
	last := len(g.Members) - 1
	switch {
	case m.Name != g.Name:
		return errors.New("a member has another broker name")
	case last >= 0 && g.Members[last].ID >= m.ID:
		return errors.New("its members are not in order")
	case slices.ContainsFunc(g.Members, func(o Member) bool { return o.Addr == m.Addr }), x.d.next.Live(m.Cluster, m.Addr) != nil:
		return errors.New("an address is there twice")
	case m.Counted && !m.HasList:
		return errors.New("a member has no list")
	}
	return nil
}

func (x *restorer) member(m *ImageMember) error {
	l := &Live{
		MemberInfo: m.MemberInfo, Registered: m.Registered, Revision: x.d.revision(), counted: m.Counted, total: m.Total,
		k: liveKey(m.Cluster, m.Addr), lease: &lease{start: x.d.reg.started}, patience: x.patience,
	}
	if l.patience == 0 {
		l.patience = m.Timeout
	}
	if m.Left > 0 {
		l.patience = min(l.patience, m.Left)
	}
	l.patience = max(1, l.patience) // a broker may name a timeout that is over at once
	l.h = hashString(l.k)
	l.lease.seen.Store(int64(x.now.Sub(x.d.reg.started)))
	if m.HasList {
		topics, err := x.list(&m.Listed)
		if err != nil {
			return err
		}
		l.listing = &listing{topics: topics, since: m.Since}
	}
	x.d.putLive(l, nil)
	x.d.change.Members = append(x.d.change.Members, MemberChange{Op: OpCreated, Broker: l.Name, ID: l.ID, After: infoOf(l)})
	x.d.next.livesRevision = x.d.revision()
	return nil
}

// list returns the topics of a list, in its order.
func (x *restorer) list(from *ImageList) ([]*Listed, error) {
	if len(from.Topics) != len(from.Configs) {
		return nil, errors.New("a list does not fit together")
	}
	out := make([]*Listed, len(from.Topics))
	for i, t := range from.Topics {
		c := from.Configs[i]
		if int(t) >= len(x.img.Names) || int(c) >= len(x.img.Configs) {
			return nil, errors.New("a list names what is not there")
		}
		l := x.listed[[2]uint32{t, c}]
		if l == nil {
			l = &Listed{Name: x.img.Names[t], Config: x.img.Configs[c], h: hashString(x.img.Names[t])}
			x.listed[[2]uint32{t, c}] = l
		}
		out[i] = l
	}
	return out, nil
}

// part gives the group what it serves. All of it is unnamed.
func (x *restorer) part(from *ImageGroup) error {
	topics, err := x.list(&from.Part)
	if err != nil {
		return err
	}
	if len(from.Seen) != len(topics) {
		return errors.New("a list does not fit together")
	}
	now := x.d.millis
	defer func() { x.d.millis = now }()
	for i, l := range topics {
		if int(from.Seen[i]) >= len(x.img.Specs) {
			return errors.New("a list names what is not there")
		}
		x.d.millis = x.img.Changed[from.Part.Topics[i]]
		if _, isNew := x.d.setQueue(l, from.Name, x.img.Specs[from.Seen[i]]); !isNew {
			return errors.New("a topic is there twice")
		}
		x.d.table(from.Name).unnamed.put(l, x.d.own)
	}
	if from.Wipe != nil {
		w := *from.Wipe
		w.Revision = x.d.revision()
		x.d.table(from.Name).wipe = &w
		x.d.change.WritePerms = append(x.d.change.WritePerms, WritePermChange{Op: OpWiped, Broker: from.Name, Topics: w.Topics})
	}
	return nil
}

// Unconfirmed reports whether the member stands from before the process was restarted and
// has not registered since.
func (l *Live) Unconfirmed() bool { return l.patience > 0 }

// Unconfirmed returns how many members are unconfirmed.
func (s *Snapshot) Unconfirmed() int { return s.unconfirmed }

// Warm reports whether the registry began with what an earlier process knew.
func (s *Snapshot) Warm() bool { return s.warm }

// UnconfirmedPart reports whether a broker's part of a topic rests on what an earlier
// process knew: the broker has not named the topic since, or one of the addresses is that
// of an unconfirmed member.
func (s *Snapshot) UnconfirmedPart(topic, broker string) bool {
	if tab := s.tables.get(broker); tab != nil && tab.unnamed.len() > 0 && tab.unnamed.get(topic) != nil {
		return true
	}
	g := s.groups.get(broker)
	return s.unconfirmed > 0 && g != nil && slices.ContainsFunc(g.Members, func(m Member) bool { return s.LiveOf(m).Unconfirmed() })
}

// owes reports whether a member that asks if it should register again should, because what
// stands for it is not all its own word yet.
func (s *Snapshot) owes(l *Live) bool {
	if l.Unconfirmed() {
		return true
	}
	tab := s.tables.get(l.Name)
	return l.counted && tab != nil && tab.unnamed.len() > 0
}

// named notes that a broker has named topics of its own accord.
func (d *draft) named(broker string, topics []*Listed) {
	tab := d.next.tables.get(broker)
	if tab == nil || tab.unnamed.len() == 0 {
		return
	}
	tab = d.table(broker)
	for _, l := range topics {
		tab.unnamed.remove(l.Name, l.h, d.own)
	}
	if tab.namedAt.IsZero() {
		tab.namedAt = d.reg.now()
	}
	d.dirty = true
}

// delay gives brokers that time more to name what stands for them.
func (d *draft) delay(by time.Duration) {
	if by == 0 {
		return
	}
	for _, tab := range slices.Collect(d.next.tables.all()) {
		if tab.unnamed.len() > 0 && !tab.namedAt.IsZero() {
			tab = d.table(tab.broker)
			tab.namedAt = tab.namedAt.Add(by)
			d.dirty = true
		}
	}
}

// thaw takes out what the brokers have not named although they had the time, and reports
// whether there is still something to look for. Registry.mu is held.
func (d *draft) thaw(now time.Time) (more bool) {
	more = d.next.unconfirmed > 0
	var over []*table
	for tab := range d.next.tables.all() {
		switch {
		case tab.unnamed.len() == 0:
		case tab.namedAt.IsZero() || now.Sub(tab.namedAt) <= StaleGrace:
			more = true
		default:
			over = append(over, tab)
		}
	}
	for _, tab := range over {
		for _, l := range slices.Collect(tab.unnamed.all()) {
			d.dropQueue(l.Name, tab.broker)
		}
	}
	return more
}
