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
			n, err := syscall.Read(int(fd), c.lendBuffers())
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
