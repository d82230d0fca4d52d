package registry

import "slices"

// DeclareTopic stores queue data of a topic for brokers that are registered, as a
// broker does that registers one topic by itself. If any broker is unknown nothing
// is applied and the error is NotFound with code "broker-not-found". An empty list
// changes nothing.
func (r *Registry) DeclareTopic(topic string, queues []QueueData, cause Cause) (created bool, err error) {
	if topic == "" {
		return false, invalid("topic", "must be given")
	}
	r.mu.Lock()
	d := r.begin(cause)
	for _, q := range queues {
		if d.next.groups.get(q.Broker) == nil {
			d.drop()
			return false, &Error{
				Kind: NotFound, Code: "broker-not-found", Field: "brokerName",
				Message: "broker " + q.Broker + " is not registered",
			}
		}
	}
	for _, q := range queues {
		c := TopicConfig{QueueSpec: q.QueueSpec}
		if tab := d.next.tables.get(q.Broker); tab != nil {
			if l := tab.topics.get(topic); l != nil {
				c = l.Config
				c.QueueSpec = q.QueueSpec
			}
		}
		l := &Listed{Name: topic, Config: c, h: hashString(topic)}
		if t := d.next.topics.get(topic); t != nil {
			l.Name = t.Name
			if _, has := t.Queue(q.Broker); !has {
				created = true
			}
		} else {
			created = true
		}
		d.setQueue(l, q.Broker, q.QueueSpec)
		d.named(q.Broker, []*Listed{l})
	}
	d.commit()
	return created, nil
}

// Deleted tells where a deleted topic was and who may bring it back.
type Deleted struct {
	// From are the brokers from whose part it was removed, sorted.
	From []string
	// MayReturn are brokers whose last registration names the topic: their next
	// one brings it back.
	MayReturn []string
	Revision  uint64
}

// DeleteTopic removes a topic from all brokers, or from those of one cluster if
// that is not "", and reports where it was. Deleting what is not there changes nothing.
func (r *Registry) DeleteTopic(topic, cluster string, cause Cause) Deleted {
	return r.deleteTopic(topic, func(g *Group) bool { return cluster == "" || g.Cluster == cluster }, cause)
}

// DeleteTopicOf removes a topic from one broker's part.
func (r *Registry) DeleteTopicOf(topic, broker string, cause Cause) Deleted {
	return r.deleteTopic(topic, func(g *Group) bool { return g.Name == broker }, cause)
}

func (r *Registry) deleteTopic(topic string, from func(*Group) bool, cause Cause) Deleted {
	r.mu.Lock()
	d := r.begin(cause)
	out := d.next.WouldDelete(topic, from)
	for _, broker := range out.From {
		d.dropQueue(topic, broker)
	}
	d.commit()
	out.Revision = r.Snapshot().Revision
	return out
}

// WouldDelete tells what deleting a topic from the groups for which from holds
// would do. It changes nothing.
func (s *Snapshot) WouldDelete(topic string, from func(*Group) bool) Deleted {
	out := Deleted{From: []string{}, MayReturn: []string{}, Revision: s.Revision}
	t := s.topics.get(topic)
	if t == nil {
		return out
	}
	for _, q := range t.layout.queues {
		g := s.groups.get(q.Broker)
		if !from(g) {
			continue
		}
		out.From = append(out.From, q.Broker)
		if slices.ContainsFunc(g.Members, func(m Member) bool { return s.LiveOf(m).Lists(topic) }) {
			out.MayReturn = append(out.MayReturn, q.Broker)
		}
	}
	return out
}

// WipeWritePerm takes the write permission from every topic of a broker and returns
// how many topics it has; known is false for a broker that is not registered. The
// wipe lasts until the broker's next changed registration or RestoreWritePerm.
func (r *Registry) WipeWritePerm(broker string, cause Cause) (topics int, known bool) {
	r.mu.Lock()
	d := r.begin(cause)
	if known = d.next.groups.get(broker) != nil; !known {
		d.drop()
		return 0, false
	}
	topics = d.eachQueue(broker, func(_ *Listed, q QueueSpec) QueueSpec {
		q.Perm &^= PermWrite
		return q
	})
	if len(d.change.Topics) > 0 || d.next.Wiped(broker) == nil && topics > 0 {
		d.table(broker).wipe = &Wipe{At: d.reg.now(), Revision: d.revision(), Cause: cause, Topics: topics}
		d.change.WritePerms = append(d.change.WritePerms, WritePermChange{Op: OpWiped, Broker: broker, Topics: topics})
	}
	d.commit()
	return topics, true
}

// RestoreWritePerm gives every topic of a broker the permission that the broker last
// registered for it. It returns how many topics the broker has.
func (r *Registry) RestoreWritePerm(broker string, cause Cause) (topics int, known bool) {
	return r.restore(broker, cause, func(l *Listed) int32 { return l.Config.Perm })
}

// ForceWritePerm makes every topic of a broker readable and writable whatever the
// broker registered, as the peers' addWritePerm does.
func (r *Registry) ForceWritePerm(broker string, cause Cause) (topics int, known bool) {
	return r.restore(broker, cause, func(*Listed) int32 { return PermReadWrite })
}

func (r *Registry) restore(broker string, cause Cause, perm func(*Listed) int32) (topics int, known bool) {
	r.mu.Lock()
	d := r.begin(cause)
	if known = d.next.groups.get(broker) != nil; !known {
		d.drop()
		return 0, false
	}
	topics = d.eachQueue(broker, func(l *Listed, q QueueSpec) QueueSpec {
		q.Perm = perm(l)
		return q
	})
	if len(d.change.Topics) > 0 || d.next.Wiped(broker) != nil {
		d.table(broker).wipe = nil
		d.change.WritePerms = append(d.change.WritePerms, WritePermChange{Op: OpRestored, Broker: broker, Topics: topics})
	}
	d.commit()
	return topics, true
}

// settleWipe forgets a broker's wipe once its registrations have given back all that
// the wipe took.
func (d *draft) settleWipe(broker string) {
	if d.next.Wiped(broker) == nil {
		return
	}
	for l := range d.next.tables.get(broker).topics.all() {
		q := d.next.topics.get(l.Name).layout.find(broker)
		if l.Config.Perm&PermWrite != 0 && !q.Writable() {
			return
		}
	}
	d.table(broker).wipe = nil
	d.change.WritePerms = append(d.change.WritePerms,
		WritePermChange{Op: OpRestored, Broker: broker, Topics: d.next.tables.get(broker).topics.len()})
}
