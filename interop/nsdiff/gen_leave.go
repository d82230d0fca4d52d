package main

import (
	"fmt"
	"strconv"
)

// stranger is a broker that is, as likely as not, unknown.
func (g *gen) stranger() *mbroker {
	name := g.name()
	return &mbroker{cluster: g.home(name), name: name, addr: g.addr(name), id: g.id(), conn: "adm"}
}

// grouped: a broker of that name is registered, as far as the model knows.
func (g *gen) grouped(name string) bool {
	for _, o := range g.live {
		if o.name == name {
			return true
		}
	}
	return false
}

func (g *gen) unregister() *Step {
	b := g.any()
	if b == nil || g.chance(0.1) {
		b = g.stranger()
		for _, n := range []string{"b4", "b3", "b2"} { // of a group that is there it would be an expected difference
			if g.grouped(b.name) && !g.stray() {
				b = &mbroker{cluster: homes[n].cluster, name: n, addr: g.addr(n), id: b.id, conn: "adm"}
			}
		}
	}
	c := *b
	switch x := g.Intn(100); {
	case g.stray():
		c.name = g.name()
	case g.stray():
		c.cluster = g.cluster()
	case g.stray():
		c.addr = g.addr(c.name)
	case x < 12:
		c.id = g.id()
	}
	st := g.req(rcUnregister, "brokerName", c.name, "brokerAddr", c.addr, "clusterName", c.cluster, "brokerId", strconv.Itoa(c.id))
	if g.chance(0.7) {
		st.Conn = c.conn
	}
	g.dropLive(func(o *mbroker) bool { return o.addr == c.addr && o.name == c.name })
	delete(g.said, c.cluster+c.addr)
	return st
}

func (g *gen) closeConn() *Step {
	b := g.any()
	conn := fmt.Sprintf("k%d", g.Intn(8))
	if b != nil && g.chance(0.9) {
		conn = b.conn
	}
	done := false
	g.dropLive(func(o *mbroker) bool {
		if o.conn == conn && !done {
			done = true
			return true
		}
		return false
	})
	return &Step{Op: pick(g, "close", "close", "rst"), Conn: conn}
}

// burst unregisters several brokers in one write, so that the oracle takes them in one batch, or drops several
// connections at once.
func (g *gen) burst() *Step {
	if g.notify || len(g.live) < 2 {
		return g.unregister()
	}
	if g.chance(0.4) {
		st := &Step{Op: "closemany"}
		seen := map[string]bool{}
		for i := 0; i < 2+g.Intn(3); i++ {
			if c := g.any().conn; !seen[c] {
				seen[c] = true
				st.Conns = append(st.Conns, c)
			}
		}
		g.dropLive(func(o *mbroker) bool { return seen[o.conn] })
		return st
	}
	// One of each name: for two of one name in different clusters it matters which is worked off last.
	st := &Step{Op: "pipe", Conn: "adm"}
	names := map[string]bool{}
	for i := 0; i < 8; i++ {
		b := g.any()
		if b == nil || names[b.name] {
			continue
		}
		names[b.name] = true
		u := g.req(rcUnregister, "brokerName", b.name, "brokerAddr", b.addr, "clusterName", b.cluster, "brokerId", strconv.Itoa(b.id))
		u.Conn, u.Chunk = "", 0
		st.Pipe = append(st.Pipe, u)
		g.dropLive(func(o *mbroker) bool { return o == b })
	}
	return st
}

func (g *gen) half() *Step {
	st := g.closeConn()
	st.Op = "half"
	return st
}

// hugeTimeout overflows in the oracle, so that the broker counts as dead at once.
const hugeTimeout = "9223372036854775807"

func (g *gen) expire() *Step {
	if !g.slow {
		return g.register()
	}
	st := g.register()
	st.Op = "expire"
	g.xconn++
	st.Conn = fmt.Sprintf("x%d", g.xconn)
	st.Enc = ""
	st.Reg.CRC = ""
	st.Reg.Timeout = pick(g, "1", "50", "0", "-5")
	if g.stray() {
		st.Reg.Timeout = hugeTimeout
	}
	if len(st.Reg.Topics) == 1 {
		st.Reg.Topics = nil
	}
	c := st.Reg
	g.dropLive(func(o *mbroker) bool { return o.cluster == c.Cluster && o.addr == c.Addr })
	return st
}
