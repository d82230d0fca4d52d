package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"syscall"

	"fingerpost/config"
)

// listenAddr returns the address of the remoting port.
func listenAddr(c *config.Config) string {
	return net.JoinHostPort(strings.Trim(c.BindAddress, "[]"), strconv.Itoa(c.ListenPort))
}

// listen takes an address. The error is a sentence that names the setting.
func listen(ctx context.Context, addr, setting string) (net.Listener, error) {
	ln, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	switch {
	case err == nil:
		return ln, nil
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("%s is in use by another program: stop it or set %s", addr, setting)
	case errors.Is(err, syscall.EACCES):
		return nil, fmt.Errorf("%s may not be used by this user: set %s", addr, setting)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return nil, fmt.Errorf("%s is no address of this machine: set %s", addr, setting)
	}
	return nil, fmt.Errorf("cannot listen on %s, as %s says: %w", addr, setting, err)
}

// bufferedListener gives connections the socket buffers that were asked for.
type bufferedListener struct {
	net.Listener
	send, receive int
}

// Accept sets the buffers; one that the system does not grant is no reason to refuse a peer.
func (l bufferedListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if tcp, ok := c.(*net.TCPConn); ok {
		if l.send > 0 {
			_ = tcp.SetWriteBuffer(l.send)
		}
		if l.receive > 0 {
			_ = tcp.SetReadBuffer(l.receive)
		}
	}
	return c, err
}
