package main

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"syscall"
	"time"

	"fingerpost/internal/faultnet"
	"fingerpost/internal/nstest"
	"fingerpost/remoting/wire"
)

// heartbeat renews the member.
func (w *worker) heartbeat(m *member) error {
	began := time.Now()
	_, err := nstest.Must(m.link.client.Call(wire.BrokerHeartbeat, m.g.identity(m.usual()), nil))
	if err := w.unbroken(m, "the heartbeat", err); err != nil {
		return err
	}
	m.heard(began)
	return nil
}

// probe asks whether the server's data version is the member's, which it is.
func (w *worker) probe(m *member) error {
	began := time.Now()
	v := wire.DataVersion{Timestamp: 1_700_000_000_000, Counter: m.g.counter}
	resp, err := nstest.Must(m.link.client.Call(wire.QueryDataVersion, m.g.identity(m.usual()), v.AppendJSON(nil)))
	if err := w.unbroken(m, "the query of the data version", err); err != nil {
		return err
	}
	m.heard(began)
	// A member that registered before its group changed has an older one.
	if resp.Ext.Text(wire.FieldChanged).Value == "" {
		return w.wrong(m.g, "whether the data version of %v has changed is not answered", m)
	}
	return nil
}

// repeat registers again with the same bytes, which must not take anything away.
func (w *worker) repeat(m *member) error {
	began := time.Now()
	if err := w.say(m, m.link.client, m.usual()); err != nil {
		return err
	}
	m.heard(began)
	return w.placed(m, m.addr)
}

// change registers another number of queues of a topic, and looks whether it counts.
func (w *worker) change(m *member) error {
	g := m.g
	if g.master().state == alive {
		m = g.master() // a slave's topics do not count beside a master's
	}
	i := w.rng.IntN(len(g.own))
	g.queues[i] = 1 + (g.queues[i]+int32(w.rng.IntN(15)))%16
	g.counter++
	g.note("changes %s to %d queues, counter %d, by %v", g.own[i], g.queues[i], g.counter, m)
	if err := w.repeat(m); err != nil || m != g.master() {
		return err
	}
	return w.served(g, g.own[i], g.queues[i], wire.DefaultPerm)
}

// served checks what clients are told of one of the group's own topics.
func (w *worker) served(g *group, topic string, queues, perm int32) error {
	rt, err := w.route(g, topic)
	if err != nil {
		return err
	}
	if rt == nil || len(rt.Queues) != 1 || rt.Queues[0].Broker != g.name || rt.Queues[0].WriteQueues != queues || rt.Queues[0].Perm != perm {
		return w.wrong(g, "the route of %s is %+v, not %d queues with permission %d", topic, rt, queues, perm)
	}
	return nil
}

// stall sends half of a registration, has others served, and sends the rest.
func (w *worker) stall(m *member) error {
	began := time.Now()
	ext, body, err := m.g.registration(m.usual())
	if err != nil {
		return err
	}
	frame, err := (&wire.Command{Code: int32(wire.RegisterBroker), Version: wire.V5_5_0, Opaque: -1, Ext: ext, HasExt: true, Body: body}).AppendTo(nil, m.g.header)
	if err != nil {
		return err
	}
	at := 1 + w.rng.IntN(len(frame)-1)
	m.g.note("stalls %v after %d bytes", m, at)
	if err := w.unbroken(m, "the first part of a request", m.link.client.Write(frame[:at])); err != nil {
		return err
	}
	if err := w.placed(m, m.addr); err != nil {
		return err
	}
	if err := w.unbroken(m, "the rest of a request", m.link.client.Write(frame[at:])); err != nil {
		return err
	}
	_, err = nstest.Must(m.link.client.Receive())
	if err := w.unbroken(m, "a stalled request", err); err != nil {
		return err
	}
	m.heard(began)
	return nil
}

// strangersBeat sends a heartbeat in the member's name over a connection that is then
// closed. The member stays: it lives by its own.
func (w *worker) strangersBeat(m *member) error {
	c, err := nstest.Dial(w.srv.addr, m.g.header)
	if err != nil {
		return err
	}
	_, err = nstest.Must(c.Call(wire.BrokerHeartbeat, m.g.identity(m.usual()), nil))
	if err := errors.Join(err, faultnet.Reset(c.Conn())); err != nil {
		return w.unbroken(m, "a heartbeat over another connection", err)
	}
	m.g.note("a stranger's heartbeat for %v", m)
	return w.placed(m, m.addr)
}

// unregister takes the member out with a request; its connection stays.
func (w *worker) unregister(m *member) error {
	m.leave(gone)
	_, err := nstest.Must(m.link.client.Call(wire.UnregisterBroker, m.g.identity(m.usual()), nil))
	if err := w.unbroken(m, "unregistering", err); err != nil {
		return err
	}
	m.g.note("unregistered %v", m)
	return w.placed(m, "")
}

// end ends the connection without a word.
func (w *worker) end(m *member, how string, end func(net.Conn) error) error {
	l := m.link
	w.drop(l)
	m.g.note("%s the connection of %v", how, m)
	return end(l.client.Conn())
}

// halfClose sends a request and then closes its half: the answer still comes, and then
// the server ends the connection too.
func (w *worker) halfClose(m *member) error {
	l := m.link
	w.drop(l)
	frame, err := (&wire.Command{Code: int32(wire.GetBrokerClusterInfo), Version: wire.V5_5_0, Opaque: -1}).AppendTo(nil, m.g.header)
	if err != nil {
		return err
	}
	broken := faultnet.Cut(l.client.Conn(), len(frame), faultnet.HalfClose)
	defer broken.Close()
	c := nstest.NewClient(broken, m.g.header)
	m.g.note("half-closes the connection of %v", m)
	if err := c.Write(frame); err != nil {
		return w.wrong(m.g, "%v could not send a request: %v", m, err)
	}
	if resp, err := c.Receive(); err != nil || resp.Code != int32(wire.Success) {
		return w.wrong(m.g, "a request before %v closed its half was answered with %+v, %v", m, resp, err)
	}
	if _, err := c.Receive(); !errors.Is(err, io.EOF) {
		return w.wrong(m.g, "after %v closed its half the server did not end, but: %v", m, err)
	}
	return nil
}

// cut sends a part of a registration and ends the connection.
func (w *worker) cut(m *member, how func(net.Conn) error) error {
	ext, body, err := m.g.registration(statement{cluster: m.g.cluster, addr: m.addr, id: m.id + 100, timeout: lifetime})
	if err != nil {
		return err
	}
	frame, err := (&wire.Command{Code: int32(wire.RegisterBroker), Version: wire.V5_5_0, Opaque: -1, Ext: ext, HasExt: true, Body: body}).AppendTo(nil, m.g.header)
	if err != nil {
		return err
	}
	l := m.link
	w.drop(l)
	at := w.rng.IntN(len(frame))
	m.g.note("cuts a registration of %v at byte %d of %d", m, at, len(frame))
	broken := faultnet.Cut(l.client.Conn(), at, how)
	// That the write fails is what it is for.
	_, _ = broken.Write(frame)
	if err := l.client.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}

// flap resets the connection and registers over a new one before the server can have
// noticed: the end of the old one must not take the member out.
func (w *worker) flap(m *member) error {
	l := m.link
	w.drop(l)
	m.g.note("flaps %v", m)
	end := faultnet.Reset
	if w.rng.IntN(2) == 0 {
		end = net.Conn.Close
	}
	// Half of them come back over the new connection before the old one ends.
	before := w.rng.IntN(2) == 0
	if before {
		if err := w.join(m); err != nil {
			return err
		}
	}
	if err := end(l.client.Conn()); err != nil || before {
		return err
	}
	return w.join(m)
}

// expire registers with a short timeout and falls silent. The connection is left open:
// the server ends it.
func (w *worker) expire(m *member) error {
	l := m.link
	for _, o := range l.members {
		if o != m && o.state == alive {
			return w.heartbeat(m) // its connection lives on for another one
		}
	}
	s := m.usual()
	s.timeout = shortLife
	m.leave(leaving)
	m.g.note("lets %v expire", m)
	if err := w.say(m, l.client, s); err != nil {
		return err
	}
	if _, err := l.client.Receive(); !ended(err) {
		return w.wrong(m.g, "the connection of %v, which expired, did not end, but: %v", m, err)
	}
	m.link = nil
	for _, o := range l.members {
		o.link = nil
	}
	if err := l.client.Close(); err != nil {
		return err
	}
	m.state = gone
	return w.placed(m, "")
}

// ended reports whether an error says that the peer has ended the connection.
func ended(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

func dial(addr string) (net.Conn, error) {
	d := net.Dialer{Timeout: patience}
	return d.DialContext(context.Background(), "tcp", addr)
}

// garbage sends something else over a connection of its own, which the server ends.
func (w *worker) garbage(m *member) error {
	conn, err := dial(w.srv.addr)
	if err != nil {
		return err
	}
	defer conn.Close()
	junk := [...]string{
		"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
		"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
		"\x16\x03\x01\x00\x05\x01\x02\x03\x04\x05\x06\x07",
		"\xff\xff\xff\xff" + strings.Repeat("A", 20),
		"PROXY TCP4 1.2.3.4 5.6.7.8 1 2\r\n",
		"\x00\x00\x00\x10\x00\x00\x00\x0c{\"code\":105,",
	}
	text := junk[w.rng.IntN(len(junk))]
	conn.SetDeadline(time.Now().Add(patience))
	if _, err := io.WriteString(conn, text); err != nil {
		return w.wrong(m.g, "garbage could not be sent: %v", err)
	}
	// Some of it is half a frame, which only the end of the connection ends.
	if err := faultnet.HalfClose(conn); err != nil {
		return w.wrong(m.g, "after garbage: %v", err)
	}
	if _, err := io.Copy(io.Discard, conn); err != nil && !ended(err) {
		return w.wrong(m.g, "after garbage %q the connection did not end, but: %v", text, err)
	}
	return nil
}

// cutHTTP breaks a request to the HTTP port.
func (w *worker) cutHTTP(m *member) error {
	addr := strings.TrimPrefix(w.srv.url, "http://")
	conn, err := dial(addr)
	if err != nil {
		return err
	}
	const body = `{"clusterName":"c","brokerAddr":"10.9.9.9:1"}`
	text := "PUT /api/v1/brokers/never/members/0 HTTP/1.1\r\nHost: " + addr + "\r\nContent-Type: application/json\r\nContent-Length: 45\r\n\r\n" + body
	broken := faultnet.Cut(faultnet.Pieces(conn, 1+w.rng.IntN(60)), w.rng.IntN(len(text)), faultnet.Reset)
	// That the write fails is what it is for.
	_, _ = io.WriteString(broken, text)
	return w.absent(m.g, "never")
}

// absent checks that there is no group of that name.
func (w *worker) absent(g *group, name string) error {
	if w.srv.registry.Snapshot().Group(name) != nil {
		return w.wrong(g, "there is a group %s, of which only a part of a registration was sent", name)
	}
	return nil
}

// burst resets every connection of some groups at once, as when a switch fails, and
// brings them all back.
func (w *worker) burst(*member) error {
	for _, g := range w.groups {
		for _, m := range g.members {
			if m.link != nil {
				if err := w.end(m, "reset with others", faultnet.Reset); err != nil {
					return err
				}
			}
		}
	}
	for _, g := range w.groups {
		for _, m := range g.members {
			if err := w.join(m); err != nil {
				return err
			}
		}
	}
	return nil
}
