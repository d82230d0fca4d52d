//go:build unix

package remoting

import "syscall"

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
			n, err := c.readRaw(int(fd))
			switch err { //nolint:errorlint // it comes from the system call as it is
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

// readRaw reads what has come. Of a large request that is a copy of megabytes, which takes
// its turn like the work on them.
func (c *conn) readRaw(fd int) (int, error) {
	into := c.lendBuffers()
	if c.granted == 0 {
		return syscall.Read(fd, into)
	}
	defer c.srv.turns.take(!c.registered)()
	return syscall.Read(fd, into)
}
