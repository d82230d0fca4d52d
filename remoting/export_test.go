package remoting

import (
	"context"
	"net"
)

// SetDial replaces how a server that has not started connects to brokers.
func (s *Server) SetDial(dial func(ctx context.Context, addr string) (net.Conn, error)) {
	s.dial = dial
}

// LargeArrival is how long a large request may take to arrive.
const LargeArrival = largeArrival

// Codes are how refusals are said.
var Codes = codes
