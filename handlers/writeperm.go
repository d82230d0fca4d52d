package handlers

import (
	"fingerpost/api"
	"fingerpost/internal/convert"
	"fingerpost/internal/nsclient"
)

// getWritePerm answers whether producers may write to a broker.
//
//	@Summary	Whether producers may write to a broker
//	@Tags	brokers
//	@Param	brokerName	path	string	true	"the broker name"
//	@Success	200	{object}	api.WritePerm	"the write permission"
//	@Failure	404	{object}	api.Problem	"broker-not-found"
//	@Router	/api/v1/brokers/{brokerName}/write-perm [get]
func (h *Handler) getWritePerm(c *call) (reply, error) {
	g, err := c.group()
	if err != nil {
		return reply{}, err
	}
	v := c.view()
	out := api.WritePerm{
		BrokerName: g.Name, WritePerm: convert.Granted, TopicCount: v.BrokerTopicCount(g.Name),
		Wiped: v.WritePermCause(c.snap.Wiped(g.Name)), Revision: v.At(),
	}
	for t := range c.snap.BrokerTopics(g.Name) {
		if q, _ := t.Queue(g.Name); q.Writable() {
			out.WritableTopicCount++
		}
	}
	if out.Wiped != nil {
		out.WritePerm, out.Lasts = convert.Wiped, api.UntilNextChangedRegistration
	}
	return reply{body: out, text: func() []byte {
		tb := newTable("BROKER", "WRITE", "TOPICS", "WRITABLE", "SINCE", "BY")
		by, since := "", ""
		if out.Wiped != nil {
			by, since = out.Wiped.Actor, out.Wiped.At.String()
		}
		tb.row(out.BrokerName, out.WritePerm, out.TopicCount, out.WritableTopicCount, since, by)
		return tb.bytes()
	}}, nil
}

// wipeWritePerm takes the write permission from every topic of a broker.
//
//	@Summary	Take a broker's write permission away
//	@Description	[205] Its topics become read-only here, and with fanout on the peers, until its next changed registration. The broker itself is not stopped.
//	@Tags	brokers
//	@Param	brokerName	path	string	true	"the broker name"
//	@Success	200	{object}	api.WritePermChanged	"the write permission"
//	@Failure	404	{object}	api.Problem	"broker-not-found"
//	@Router	/api/v1/brokers/{brokerName}/write-perm [delete]
func (h *Handler) wipeWritePerm(c *call) (reply, error) {
	fan := c.fanOut()
	if err := c.query.err(); err != nil {
		return reply{}, err
	}
	g, err := c.group()
	if err != nil {
		return reply{}, err
	}
	topics, known := c.snap.BrokerTopicCount(g.Name), true
	if !c.dry {
		topics, known = h.deps.Registry.WipeWritePerm(g.Name, c.cause(c.op.action))
	}
	fan.ofBroker(g.Name, (*nsclient.Client).WipeWritePerm)
	return c.writePermChanged(g.Name, topics, known, fan, api.WritePermChanged{WritePerm: convert.Wiped, Lasts: api.UntilNextChangedRegistration})
}

// restoreWritePerm gives every topic of a broker what the broker registered for it, or
// makes all of them readable and writable.
//
//	@Summary	Give a broker's write permission back
//	@Description	[327] With fanout on the peers too, where a Java server makes all of its topics readable and writable whatever the mode.
//	@Tags	brokers
//	@Param	brokerName	path	string	true	"the broker name"
//	@Success	200	{object}	api.WritePermChanged	"the write permission"
//	@Failure	404	{object}	api.Problem	"broker-not-found"
//	@Router	/api/v1/brokers/{brokerName}/write-perm [put]
func (h *Handler) restoreWritePerm(c *call) (reply, error) {
	mode, fan := c.query.word("mode", "previous", "rw"), c.fanOut()
	if err := c.query.err(); err != nil {
		return reply{}, err
	}
	g, err := c.group()
	if err != nil {
		return reply{}, err
	}
	topics, known := c.snap.BrokerTopicCount(g.Name), true
	restore := h.deps.Registry.RestoreWritePerm
	if mode == "rw" {
		restore = h.deps.Registry.ForceWritePerm
	}
	if !c.dry {
		topics, known = restore(g.Name, c.cause(c.op.action))
	}
	fan.ofBroker(g.Name, (*nsclient.Client).AddWritePerm)
	return c.writePermChanged(g.Name, topics, known, fan, api.WritePermChanged{WritePerm: convert.Granted, Mode: mode})
}

func (c *call) writePermChanged(broker string, topics int, known bool, fan *fanOut, out api.WritePermChanged) (reply, error) {
	if !known {
		return reply{}, c.noBroker(broker)
	}
	out.PeerResults = fan.results()
	revision := c.h.deps.Registry.Snapshot().Revision
	out.BrokerName, out.TopicCount, out.DryRun, out.Revision = broker, topics, c.dry, c.revision(revision)
	return reply{body: out, revision: revision, text: func() []byte {
		tb := newTable("BROKER", "WRITE", "TOPICS", "LASTS")
		tb.row(out.BrokerName, out.WritePerm, out.TopicCount, out.Lasts)
		peerNotes(tb, out.PeerResults)
		return tb.bytes()
	}}, nil
}
