package remoting

import (
	"errors"
	"hash/maphash"
	"math"
	"strconv"
	"strings"
	"time"

	"fingerpost/registry"
	"fingerpost/remoting/wire"
)

// registerBroker answers 103. A registration whose bytes are those of the last one is
// recognised without being decoded, which is what nearly all of them are.
func (c *conn) registerBroker(req *wire.Command, a *answer) {
	h := req.Ext.RegisterBrokerHeader()
	if err := h.Broker.Check(); err != nil {
		c.srv.Stats.Invalid.Add(1)
		a.fault(err)
		return
	}
	c.broker.Store(true)
	c.srv.Stats.Bodies.Observe(len(req.Body))
	print := c.fingerprint(req)
	res, same := c.srv.Registry.Reaffirm(h.Broker.Cluster.Value, h.Broker.Addr.Value, print, c)
	if same {
		c.srv.Stats.Reaffirmed.Add(1)
	} else {
		defer c.takeTurn(req.Body)()
		if h.BodyCRC.Value != 0 && int32(h.BodyCRC.Value) != wire.BodyCRC(req.Body) {
			c.srv.Stats.Invalid.Add(1)
			a.fail(wire.SystemError, remarkCRC)
			return
		}
		reg, err := c.registration(req, &h)
		if err != nil {
			c.srv.Stats.Invalid.Add(1)
			a.fault(err)
			return
		}
		reg.Print = print
		res, err = c.srv.Registry.Register(reg, c, c.cause("registerBroker"))
		if err != nil {
			c.registrationRefused(a, &reg.MemberInfo, err)
		} else {
			c.srv.Stats.Registered.Add(1)
		}
		if a.code != wire.Success {
			return
		}
	}
	c.registered = true
	if res.MasterHasHA {
		a.ext.Set(wire.FieldHAServerAddr, res.MasterHAAddr)
	}
	if res.MasterAddr != "" {
		a.ext.Set(wire.FieldMasterAddr, res.MasterAddr)
	}
	if res.HasOrder {
		order := res.Order[registry.OrderNamespace]
		fields := make([]wire.Field, 0, len(order))
		for k, v := range order {
			fields = append(fields, wire.Field{Name: k, Value: v})
		}
		a.body = appendTable(fields)
	}
}

// registrationRefused answers a refusal as peers know it: a lost race for a place is
// success with no master to tell of, and only the log and the events say what happened.
func (c *conn) registrationRefused(a *answer, m *registry.MemberInfo, err error) {
	e, ok := errors.AsType[*registry.Error](err)
	if ok && e.Kind == registry.Conflict {
		c.srv.Stats.Refused.Add(1)
		c.warnOf(m.Name, "a registration is refused", "broker", m.Name, "broker_id", m.ID, "addr", m.Addr, "why", e.Message)
		switch e.Code {
		case "stale-state-version":
			return
		case "single-topic":
			a.fail(wire.SystemError, remarkRefused)
			return
		}
	} else {
		c.srv.Stats.Invalid.Add(1)
	}
	c.refuse(a, err)
}

// fingerprint identifies the fields and the body of a registration.
func (c *conn) fingerprint(req *wire.Command) registry.Fingerprint {
	var h maphash.Hash
	h.SetSeed(c.srv.seed)
	for _, f := range req.Ext {
		h.WriteString(f.Name)
		h.WriteByte(0)
		h.WriteString(f.Value)
		h.WriteByte(0)
	}
	var v [5]byte
	v[0] = byte(req.Language)
	for i := range 4 {
		v[i+1] = byte(req.Version >> (8 * i))
	}
	h.Write(v[:])
	return registry.Fingerprint{Hi: maphash.Bytes(c.srv.seed, req.Body), Lo: h.Sum64(), Len: len(req.Body) + 1}
}

// registration decodes what a broker says of itself.
func (c *conn) registration(req *wire.Command, h *wire.RegisterBrokerHeader) (registry.Registration, error) {
	now := time.Now()
	reg := registry.Registration{MemberInfo: registry.MemberInfo{
		Cluster: strings.Clone(h.Broker.Cluster.Value), Addr: strings.Clone(h.Broker.Addr.Value),
		Name: strings.Clone(h.Broker.Name.Value), ID: h.Broker.ID.Value, HAAddr: strings.Clone(h.HAServerAddr.Value), HasHA: h.HAServerAddr.Present,
		Timeout: registry.DefaultTimeout, Zone: strings.Clone(h.ZoneName.Value), HasZone: h.ZoneName.Present,
		Source: registry.FromRemoting, PeerVersion: int(req.Version), Language: req.Language.String(),
	}}
	if h.HeartbeatTimeoutMillis.Presence == wire.Present {
		reg.Timeout = timeout(h.HeartbeatTimeoutMillis.Value)
	}
	if h.EnableActingMaster.Present {
		reg.Acting = registry.ActingOff
		if h.EnableActingMaster.Value {
			reg.Acting = registry.ActingOn
		}
	}
	st := c.srv.Registry.Snapshot().NewStatement(reg.Cluster, reg.Addr)
	attrs := attributes{}
	c.decoder.Intern = st.Intern
	c.decoder.Topic = func(t *wire.TopicConfig) {
		st.Add(t.Name, registry.TopicConfig{
			QueueSpec: registry.QueueSpec{ReadQueues: t.ReadQueues, WriteQueues: t.WriteQueues, Perm: t.Perm, SysFlag: t.SysFlag},
			Order:     t.Order, MultiTag: t.FilterType == wire.MultiTag, Attributes: attrs.format(t.Attributes),
		})
	}
	c.decoder.Known = func(b []byte) (size, topics int) {
		x := st.Ahead()
		if x.Size == 0 || int(x.Size) > len(b) || maphash.Bytes(c.srv.seed, b[:x.Size]) != x.Sum {
			return 0, 0
		}
		st.Repeat()
		return int(x.Size), int(x.Topics)
	}
	c.decoder.Wrote = func(text []byte, topics int) {
		x := registry.Stretch{Topics: int32(topics), Size: int32(len(text))}
		if len(text) > 0 {
			x.Sum = maphash.Bytes(c.srv.seed, text)
		}
		st.Wrote(x)
	}
	// What the decoder is lent for this body must not live as long as the connection.
	defer func() {
		c.decoder.Intern, c.decoder.Topic, c.decoder.Mapping = nil, nil, nil
		c.decoder.Known, c.decoder.Wrote = nil, nil
	}()
	c.decoder.Mapping = func(topic string, m *wire.TopicMapping) {
		reg.Mappings = append(reg.Mappings, registryMapping(strings.Clone(topic), m))
	}
	sum, err := c.decoder.Decode(req.Body, req.Version.Clamp(), h.Compressed, now.UnixMilli())
	if err != nil {
		if e, ok := errors.AsType[*wire.BodyError](err); ok && e.Limit {
			c.warnOf(reg.Name, "a registration exceeds a limit and was refused", "broker", reg.Name, "err", err)
		}
		return reg, err
	}
	reg.Topics = st
	reg.Version = registry.DataVersion{State: sum.DataVersion.StateVersion, Timestamp: sum.DataVersion.Timestamp, Counter: sum.DataVersion.Counter}
	reg.Filters, reg.HasFilters = sum.FilterServers, sum.HasFilterServers
	if sum.Skipped > 0 {
		c.warnOf(reg.Name, "entries without a name were left out of a registration", "broker", reg.Name, "entries", sum.Skipped)
	}
	return reg, nil
}

// timeout is a number of milliseconds from a peer. Nothing sensible is beyond a
// hundred years, and more would overflow.
func timeout(millis int64) time.Duration {
	const most = 100 * 365 * 24 * int64(time.Hour/time.Millisecond)
	return time.Duration(max(math.MinInt32, min(millis, most))) * time.Millisecond
}

// attributes makes the registry's text of a topic's attributes. Most topics of a broker
// have the same, so the last text is kept.
type attributes struct {
	name, value, text string
}

func (a *attributes) format(fs []wire.Field) string {
	switch len(fs) {
	case 0:
		return ""
	case 1:
		if fs[0].Name != a.name || fs[0].Value != a.value || a.text == "" {
			a.name, a.value = fs[0].Name, fs[0].Value
			a.text = registry.FormatAttributes(map[string]string{a.name: a.value})
		}
		return a.text
	}
	m := make(map[string]string, len(fs))
	for _, f := range fs {
		m[f.Name] = f.Value
	}
	return registry.FormatAttributes(m)
}

// unregisterBroker answers 104. It is done when it is answered.
func (c *conn) unregisterBroker(req *wire.Command, a *answer) {
	b := req.Ext.BrokerIdentity()
	if err := b.Check(); err != nil {
		a.fault(err)
		return
	}
	_, err := c.srv.Registry.Unregister(b.Cluster.Value, b.Name.Value, b.Addr.Value, b.ID.Value, c.cause("unregisterBroker"))
	if err != nil {
		c.refuse(a, err)
	}
}

// heartbeat answers 904, with success also for a broker that is not registered.
func (c *conn) heartbeat(req *wire.Command, a *answer) {
	b := req.Ext.BrokerIdentity()
	if err := b.CheckNames(); err != nil {
		a.fault(err)
		return
	}
	c.broker.Store(true)
	if c.srv.Registry.Heartbeat(b.Cluster.Value, b.Addr.Value, b.Name.Value, c) {
		c.srv.Stats.Heartbeats.Add(1)
	}
}

// queryDataVersion answers 322, which is a heartbeat too.
func (c *conn) queryDataVersion(req *wire.Command, a *answer) {
	b := req.Ext.BrokerIdentity()
	if err := b.CheckNames(); err != nil {
		a.fault(err)
		return
	}
	said, has, err := wire.DecodeDataVersion(req.Body, time.Now().UnixMilli())
	if err != nil {
		a.fault(err)
		return
	}
	c.broker.Store(true)
	var v *registry.DataVersion
	if has {
		v = &registry.DataVersion{State: said.StateVersion, Timestamp: said.Timestamp, Counter: said.Counter}
	}
	stored, known, changed := c.srv.Registry.Probe(b.Cluster.Value, b.Addr.Value, b.Name.Value, v, c)
	if known {
		c.srv.Stats.Heartbeats.Add(1)
	}
	a.ext.Set(wire.FieldChanged, strconv.FormatBool(changed))
	if known {
		a.body = wire.DataVersion{StateVersion: stored.State, Timestamp: stored.Timestamp, Counter: stored.Counter}.AppendJSON(nil)
	}
}
