package faultnet

import (
	"bytes"
	"errors"
	"io"
	"net"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// pair returns the two ends of a connection over loopback.
func pair(t *testing.T) (client, server net.Conn) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	if client, err = net.Dial("tcp", ln.Addr().String()); err != nil {
		t.Fatal(err)
	}
	if server, err = ln.Accept(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []net.Conn{client, server} {
		c.SetDeadline(time.Now().Add(20 * time.Second))
		t.Cleanup(func() { c.Close() })
	}
	return client, server
}

// counted counts the calls that reach the connection.
type counted struct {
	net.Conn
	writes []int
}

func (c *counted) Write(b []byte) (int, error) {
	c.writes = append(c.writes, len(b))
	return c.Conn.Write(b)
}

func TestPieces(t *testing.T) {
	client, server := pair(t)
	c := &counted{Conn: client}
	if n, err := Pieces(c, 2).Write([]byte("abcde")); n != 5 || err != nil {
		t.Fatal(n, err)
	}
	if len(c.writes) != 3 || c.writes[2] != 1 {
		t.Errorf("passed on as writes of %d bytes", c.writes)
	}
	in := make([]byte, 5)
	if n, err := Pieces(server, 1).Read(in); n != 1 || err != nil || in[0] != 'a' {
		t.Errorf("read %d bytes %q, %v", n, in, err)
	}
	if n, err := Pieces(server, 0).Read(nil); n != 0 || err != nil {
		t.Errorf("an empty read: %d, %v", n, err)
	}
}

func TestReset(t *testing.T) {
	client, server := pair(t)
	if err := Reset(Pieces(client, 1)); err != nil {
		t.Fatal(err)
	}
	if _, err := server.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("the peer reads %v, not a reset", err)
	}
	a, b := net.Pipe()
	defer b.Close()
	if err := Reset(a); err != nil {
		t.Error(err)
	}
	if _, err := b.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("in memory the peer reads %v, not the end", err)
	}
}

func TestHalfClose(t *testing.T) {
	client, server := pair(t)
	if err := HalfClose(Stall(client, 0)); err != nil {
		t.Fatal(err)
	}
	if _, err := server.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("the peer reads %v, not the end", err)
	}
	if _, err := server.Write([]byte("x")); err != nil {
		t.Error(err)
	}
	if b, err := io.ReadAll(io.LimitReader(client, 1)); string(b) != "x" || err != nil {
		t.Errorf("the answer is %q, %v", b, err)
	}
	a, b := net.Pipe()
	defer b.Close()
	if err := HalfClose(a); err != nil {
		t.Error(err)
	}
	if _, err := b.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("in memory the peer reads %v, not the end", err)
	}
}

func TestCut(t *testing.T) {
	client, server := pair(t)
	c := Cut(client, 3, HalfClose)
	if n, err := c.Write([]byte("ab")); n != 2 || err != nil {
		t.Fatal(n, err)
	}
	if n, err := c.Write([]byte("cd")); n != 1 || !errors.Is(err, ErrCut) {
		t.Errorf("the write at the place: %d, %v", n, err)
	}
	if n, err := c.Write([]byte("e")); n != 0 || !errors.Is(err, ErrCut) {
		t.Errorf("a later write: %d, %v", n, err)
	}
	if b, err := io.ReadAll(server); string(b) != "abc" || err != nil {
		t.Errorf("the peer reads %q, %v", b, err)
	}

	client, server = pair(t)
	if n, err := Cut(client, 2, net.Conn.Close).Write([]byte("ab")); n != 2 || err != nil {
		t.Errorf("a write that ends at the place: %d, %v", n, err)
	}
	if b, err := io.ReadAll(server); string(b) != "ab" || err != nil {
		t.Errorf("the peer reads %q, %v", b, err)
	}
}

func TestStall(t *testing.T) {
	client, server := pair(t)
	s := Stall(client, 2)
	done := make(chan error, 1)
	go func() {
		_, err := s.Write([]byte("abcd"))
		done <- err
	}()
	<-s.Reached()
	in := make([]byte, 8)
	if n, err := server.Read(in); n != 2 || err != nil {
		t.Fatalf("%d bytes came before the stall, %v", n, err)
	}
	s.Resume()
	s.Resume()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(server, in[:2]); err != nil || !bytes.Equal(in[:2], []byte("cd")) {
		t.Errorf("after it came %q, %v", in[:2], err)
	}

	client, _ = pair(t)
	s = Stall(client, 1)
	go func() {
		_, err := s.Write([]byte("ab"))
		done <- err
	}()
	<-s.Reached()
	s.Close()
	if err := <-done; !errors.Is(err, net.ErrClosed) {
		t.Errorf("a write that waited when the connection was closed: %v", err)
	}
}
