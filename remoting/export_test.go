package remoting

import (
	"context"
	"net"
	"time"

	"fingerpost/remoting/wire"
)

// SetDial replaces how a server that has not started connects to brokers.
func (s *Server) SetDial(dial func(ctx context.Context, addr string) (net.Conn, error)) {
	s.dial = dial
}

// LargeArrival is how long a large request may take to arrive.
const LargeArrival = largeArrival

// Codes are how refusals are said.
var Codes = codes

// Dispatch is what is served; AccessKinds tells of each request that has a class whether it
// changes anything.
var (
	Dispatch    = dispatch
	AccessKinds = func() map[wire.RequestCode]bool {
		m := make(map[wire.RequestCode]bool)
		for code, k := range kinds {
			m[code] = k.changes
		}
		return m
	}()
)

// SetTooMuch replaces how a server that has not started judges its load.
func (s *Server) SetTooMuch(tooMuch func() bool) { s.tooMuch = tooMuch }

// LoadEvery is how often it does.
const LoadEvery = loadEvery

// TooBusy judges the waiting of goroutines.
var TooBusy = tooBusy

// FirstRequest is how long a connection in a broker's place may be silent.
const FirstRequest = firstRequest

// AccessClassOf returns the class of a request code.
func AccessClassOf(code wire.RequestCode) AccessClass { return kindOf(code).class }

// TakeTurns takes all turns of a server that has started, and returns what gives them back.
func (s *Server) TakeTurns() (done func()) {
	n := cap(s.turns.places)
	for range n {
		s.turns.places <- struct{}{}
	}
	return func() {
		for range n {
			<-s.turns.places
		}
	}
}

// AwaitTurn waits until somebody waits for a turn.
func (s *Server) AwaitTurn() {
	for s.turns.waiting.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
}
