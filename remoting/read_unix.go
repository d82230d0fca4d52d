//go:build unix

package remoting

import (
	"syscall"
	"time"
)

// attachRaw makes reads wait for bytes before they take a buffer, so that thousands of
// silent connections hold none.
func (c *conn) attachRaw() {
	sc, ok := c.nc.(syscall.Conn)
	if !ok {
		return
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return
	}
	c.raw = raw
	c.readOnce = func(fd uintptr) bool {
		for {
			into, done := c.lendBuffers(), c.takeReadingTurn()
			n, err := syscall.Read(int(fd), into)
			done()
			switch err {
			case nil:
				c.readN = n
			case syscall.EINTR:
				continue
			case syscall.EAGAIN:
				c.returnBuffers()
				return false
			default:
				c.readErr = err
			}
			return true
		}
	}
}

// takeReadingTurn is take for what has come of a large request: reading that is a copy of
// megabytes.
func (c *conn) takeReadingTurn() (done func()) {
	if c.granted == 0 {
		return func() {}
	}
	begin := time.Now()
	done = c.srv.turns.take(!c.registered)
	c.arriveBy = c.arriveBy.Add(time.Since(begin)) // the peer did not wait, we did
	return done
}
