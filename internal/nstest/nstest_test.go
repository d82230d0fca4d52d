package nstest

import (
	"bufio"
	"errors"
	"io"
	"net"
	"testing"

	"go.uber.org/goleak"

	"fingerpost/remoting/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// server answers every request on one accepted connection with answer, until the
// peer closes it.
func server(t *testing.T, answer func(*wire.Command) []*wire.Command) (addr string) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	t.Cleanup(func() {
		ln.Close()
		<-done
	})
	go func() {
		defer close(done)
		conn, err := ln.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		r := bufio.NewReader(conn)
		for {
			frame, _, err := wire.ReadFrame(r, nil, wire.FrameLimits{})
			if err != nil {
				if !errors.Is(err, io.EOF) {
					t.Errorf("server: %v", err)
				}
				return
			}
			var req wire.Command
			if err := req.Decode(frame); err != nil {
				t.Errorf("server: %v", err)
				return
			}
			for _, resp := range answer(&req) {
				b, err := resp.AppendTo(nil, wire.JSONHeader)
				if err != nil {
					t.Errorf("server: %v", err)
					return
				}
				if _, err := conn.Write(b); err != nil {
					t.Errorf("server: %v", err)
					return
				}
			}
		}
	}()
	return ln.Addr().String()
}

func TestClientCall(t *testing.T) {
	for _, header := range []wire.HeaderType{wire.JSONHeader, wire.BinaryHeader} {
		t.Run(header.String(), func(t *testing.T) {
			addr := server(t, func(req *wire.Command) []*wire.Command {
				if req.IsOneway() {
					return nil
				}
				resp := wire.Response(wire.TopicNotExist, req.Opaque)
				resp.Remark, resp.HasRemark = req.Ext[0].Value, true
				return []*wire.Command{resp}
			})
			c, err := Dial(addr, header)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			ext := wire.Fields{{Name: wire.FieldTopic, Value: "T"}}
			if err := c.Oneway(wire.BrokerHeartbeat, ext, nil); err != nil {
				t.Fatal(err)
			}
			resp, err := c.Call(wire.GetRouteInfoByTopic, ext, nil)
			if err != nil {
				t.Fatal(err)
			}
			if resp.Code != int32(wire.TopicNotExist) || resp.Remark != "T" {
				t.Errorf("answer %d %q, want 17 T", resp.Code, resp.Remark)
			}
			if _, err := Must(resp, nil); !errors.Is(err, ErrRefused) {
				t.Errorf("Must of a refusal: %v", err)
			}
		})
	}
}

func TestClientRefusesAnotherOpaque(t *testing.T) {
	addr := server(t, func(req *wire.Command) []*wire.Command {
		return []*wire.Command{wire.Response(wire.Success, req.Opaque+1)}
	})
	c, err := Dial(addr, wire.JSONHeader)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Call(wire.GetBrokerClusterInfo, nil, nil); err == nil {
		t.Error("an answer to something else was taken")
	}
}

func TestBrokerRegistersAndHearsNotices(t *testing.T) {
	requests := make(chan *wire.Command, 8)
	addr := server(t, func(req *wire.Command) []*wire.Command {
		requests <- req
		return []*wire.Command{wire.Response(wire.Success, req.Opaque)}
	})
	b := StartBroker(t, addr, BrokerConfig{Cluster: "c", Name: "b", ID: 1, EnableActingMaster: wire.BoolOf(false)})
	b.Topic("T", 4)
	if _, err := Must(b.Register()); err != nil {
		t.Fatal(err)
	}
	req := <-requests
	header := req.Ext.RegisterBrokerHeader()
	if err := header.Broker.Check(); err != nil {
		t.Error(err)
	}
	if got := header.BodyCRC.Value; got != int64(wire.BodyCRC(req.Body)) {
		t.Errorf("checksum %d does not fit the body", got)
	}
	var topics []string
	d := wire.RegisterDecoder{Topic: func(t *wire.TopicConfig) { topics = append(topics, t.Name) }}
	if _, err := d.Decode(req.Body, req.Version, header.Compressed, 0); err != nil {
		t.Error(err)
	}
	if len(topics) != 1 || topics[0] != "T" {
		t.Errorf("topics %q, want T", topics)
	}

	notifier, err := Dial(b.Addr(), wire.JSONHeader)
	if err != nil {
		t.Fatal(err)
	}
	defer notifier.Close()
	notice := wire.MinBrokerIDChange{MinBrokerID: 1, MinBrokerAddr: b.Addr(), OfflineBrokerAddr: wire.TextOf("gone:1")}
	if err := notifier.Oneway(wire.NotifyMinBrokerIDChange, notice.Fields(), nil); err != nil {
		t.Fatal(err)
	}
	if got := <-b.Notices(); got != notice {
		t.Errorf("notice %+v, want %+v", got, notice)
	}
}
