package nstest

import (
	"bufio"
	"net"
	"sync"
	"testing"

	"fingerpost/remoting/wire"
)

// BrokerConfig says what a broker is. The zero value of each field but the names is
// usable.
type BrokerConfig struct {
	Cluster, Name string
	ID            int64
	// Addr is the address it announces; empty means the one it listens on for notices.
	Addr string
	// HAAddr is its address for slaves; empty means none.
	HAAddr string
	// Header and Version are those of its requests; the version 0 means V5_5_0.
	Header  wire.HeaderType
	Version wire.Version
	// EnableActingMaster is sent by brokers from 5.0 on; leave it out for an older one.
	EnableActingMaster wire.Bool
	// HeartbeatTimeoutMillis and Zone are sent where they are there.
	HeartbeatTimeoutMillis wire.Int
	Zone                   wire.Text
	// Compressed makes it send zlib and say so, as brokers of 4.x do.
	Compressed bool
}

// Broker is a broker as far as a NameServer can see. Its methods are for one
// goroutine, but for Notices.
type Broker struct {
	// Body is what the next registration says. Change it between two of them; a
	// real broker raises Body.DataVersion.Counter when it does.
	Body wire.RegisterBody

	cfg     BrokerConfig
	client  *Client
	ln      net.Listener
	notices chan wire.MinBrokerIDChange
	accept  sync.WaitGroup
	mu      sync.Mutex
	peers   []net.Conn // connections that the NameServer opened; guarded by mu
	closed  bool       // guarded by mu
}

// StartBroker connects a broker to the NameServer at addr; it has not registered yet.
// The test's end closes it.
func StartBroker(tb testing.TB, addr string, cfg BrokerConfig) *Broker {
	tb.Helper()
	if cfg.Version == 0 {
		cfg.Version = wire.V5_5_0
	}
	client, err := Dial(addr, cfg.Header)
	if err != nil {
		tb.Fatalf("broker %s: %v", cfg.Name, err)
	}
	client.Version = cfg.Version
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatalf("broker %s: %v", cfg.Name, err)
	}
	if cfg.Addr == "" {
		cfg.Addr = ln.Addr().String()
	}
	b := &Broker{
		Body: wire.RegisterBody{
			DataVersion: wire.DataVersion{Timestamp: 1_700_000_000_000, Counter: 1},
		},
		cfg: cfg, client: client, ln: ln,
		notices: make(chan wire.MinBrokerIDChange, 64),
	}
	b.accept.Go(b.listen)
	tb.Cleanup(b.Close)
	return b
}

// Addr returns the address that the broker announces.
func (b *Broker) Addr() string { return b.cfg.Addr }

// Client returns the broker's own connection to the NameServer.
func (b *Broker) Client() *Client { return b.client }

// Topic adds a topic with the same number of queues for reading and writing and
// read and write permission, and raises the data version.
func (b *Broker) Topic(name string, queues int32) {
	b.Body.Topics = append(b.Body.Topics, wire.TopicConfig{
		Name: name, ReadQueues: queues, WriteQueues: queues, Perm: wire.DefaultPerm,
	})
	b.Body.DataVersion.Counter++
}

// Identity returns the fields by which the broker names itself.
func (b *Broker) Identity() wire.BrokerIdentity {
	return wire.BrokerIdentity{
		Cluster: wire.TextOf(b.cfg.Cluster), Name: wire.TextOf(b.cfg.Name),
		Addr: wire.TextOf(b.cfg.Addr), ID: wire.IntOf(b.cfg.ID),
	}
}

// Register sends the whole registration (103) and returns the answer.
func (b *Broker) Register() (*wire.Command, error) {
	ext, body, err := b.registration()
	if err != nil {
		return nil, err
	}
	return b.client.Call(wire.RegisterBroker, ext, body)
}

// RegisterOneway sends the whole registration and wants no answer.
func (b *Broker) RegisterOneway() error {
	ext, body, err := b.registration()
	if err != nil {
		return err
	}
	return b.client.Oneway(wire.RegisterBroker, ext, body)
}

func (b *Broker) registration() (wire.Fields, []byte, error) {
	var body []byte
	switch {
	case !b.cfg.Version.SendsRegisterBody():
		body = b.Body.AppendBareJSON(nil)
	case b.cfg.Compressed:
		var err error
		if body, err = b.Body.AppendCompressed(nil, b.cfg.Version); err != nil {
			return nil, nil, err
		}
	default:
		body = b.Body.AppendJSON(nil)
	}
	header := wire.RegisterBrokerHeader{
		Broker:                 b.Identity(),
		HAServerAddr:           wire.Text{Value: b.cfg.HAAddr, Present: b.cfg.HAAddr != ""},
		HeartbeatTimeoutMillis: b.cfg.HeartbeatTimeoutMillis,
		EnableActingMaster:     b.cfg.EnableActingMaster,
		Compressed:             b.cfg.Compressed && b.cfg.Version.SendsRegisterBody(),
		BodyCRC:                wire.IntOf(int64(wire.BodyCRC(body))),
		ZoneName:               b.cfg.Zone,
	}
	return header.Fields(), body, nil
}

// Heartbeat sends 904 and returns the answer.
func (b *Broker) Heartbeat() (*wire.Command, error) {
	id := b.Identity()
	return b.client.Call(wire.BrokerHeartbeat, id.Fields(), nil)
}

// QueryDataVersion sends 322 with the data version of Body and returns the answer.
func (b *Broker) QueryDataVersion() (*wire.Command, error) {
	id := b.Identity()
	return b.client.Call(wire.QueryDataVersion, id.Fields(), b.Body.DataVersion.AppendJSON(nil))
}

// Unregister sends 104 and returns the answer. The Java NameServer answers before it acts.
func (b *Broker) Unregister() (*wire.Command, error) {
	id := b.Identity()
	return b.client.Call(wire.UnregisterBroker, id.Fields(), nil)
}

// Notices delivers the notices (905) that have come; it is closed with the broker.
func (b *Broker) Notices() <-chan wire.MinBrokerIDChange { return b.notices }

// Disconnect closes the connection to the NameServer without a word, as a broker
// that dies does. Notices still arrive.
func (b *Broker) Disconnect() error { return b.client.Close() }

// Close ends the broker and waits for its goroutines. It may be called twice.
func (b *Broker) Close() {
	b.mu.Lock()
	if b.closed {
		b.mu.Unlock()
		return
	}
	b.closed = true
	for _, conn := range b.peers {
		conn.Close()
	}
	b.mu.Unlock()
	b.client.Close()
	b.ln.Close()
	b.accept.Wait()
	close(b.notices)
}

func (b *Broker) listen() {
	for {
		conn, err := b.ln.Accept()
		if err != nil {
			return
		}
		b.mu.Lock()
		if b.closed {
			conn.Close()
		} else {
			b.peers = append(b.peers, conn)
			b.accept.Go(func() { b.serve(conn) })
		}
		b.mu.Unlock()
	}
}

// serve reads notices until the connection ends; anything else is passed over.
func (b *Broker) serve(conn net.Conn) {
	defer conn.Close()
	r := bufio.NewReader(conn)
	for {
		frame, _, err := wire.ReadFrame(r, nil, wire.FrameLimits{})
		if err != nil {
			return
		}
		var cmd wire.Command
		if cmd.Decode(frame) != nil {
			return
		}
		if cmd.Code == int32(wire.NotifyMinBrokerIDChange) && !cmd.IsResponse() {
			select {
			case b.notices <- cmd.Ext.MinBrokerIDChange():
			default: // a test that lets 64 pile up does not look at them
			}
		}
	}
}
