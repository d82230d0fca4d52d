package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"time"
)

// supervisor is the service manager that started the process and wants to hear how it
// is, over a datagram socket as systemd's sd_notify(3) describes it. The one of a process
// that nobody supervises says nothing to anybody.
type supervisor struct {
	conn net.Conn // nil if nobody listens
	// patience is how long it waits for a sign of life before it ends the process, zero
	// if it does not.
	patience time.Duration
}

// newSupervisor finds it by the variables that it sets: NOTIFY_SOCKET, a path or, after
// an @, an abstract name; WATCHDOG_USEC, in microseconds, and WATCHDOG_PID, whom these
// concern.
func newSupervisor(getenv func(string) string) (supervisor, error) {
	name := getenv("NOTIFY_SOCKET")
	if name == "" {
		return supervisor{}, nil
	}
	if !strings.HasPrefix(name, "/") && !strings.HasPrefix(name, "@") {
		return supervisor{}, fmt.Errorf("the variable NOTIFY_SOCKET is %q, want a path or a name with @", name)
	}
	conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Net: "unixgram", Name: name})
	if err != nil {
		return supervisor{}, fmt.Errorf("the service manager's socket: %w", err)
	}
	s := supervisor{conn: conn}
	if pid := getenv("WATCHDOG_PID"); pid != "" && pid != strconv.Itoa(os.Getpid()) {
		return s, nil
	}
	usec := getenv("WATCHDOG_USEC")
	if usec == "" {
		return s, nil
	}
	n, err := strconv.ParseInt(usec, 10, 64)
	if err != nil || n <= 0 || n > int64(maxPatience/time.Microsecond) {
		conn.Close()
		return supervisor{}, fmt.Errorf("the variable WATCHDOG_USEC is %q, want microseconds", usec)
	}
	s.patience = time.Duration(n) * time.Microsecond
	return s, nil
}

// maxPatience is the longest that is taken for a time and not for an error.
const maxPatience = 365 * 24 * time.Hour

// say sends assignments, one a line. Nobody can do anything about a manager that does
// not listen, least of all its charge.
func (s supervisor) say(lines ...string) {
	if s.conn != nil {
		_, _ = s.conn.Write([]byte(strings.Join(lines, "\n")))
	}
}

// ready says that the server answers, and where.
func (s supervisor) ready(status string) { s.say("READY=1", "STATUS="+status) }

// leaving says that the process is about to end, which may take that long.
func (s supervisor) leaving(atMost time.Duration) {
	s.say("STOPPING=1", "STATUS=stopping", fmt.Sprintf("EXTEND_TIMEOUT_USEC=%d", atMost.Microseconds()))
}

// keepAlive gives signs of life, twice in the time that the manager waits for one, while
// well says that all is well. It ends with ctx, and is to be started only if there is a
// patience.
func (s supervisor) keepAlive(ctx context.Context, well func() bool) {
	ticker := time.NewTicker(max(s.patience/2, time.Microsecond))
	defer ticker.Stop()
	for {
		if well() {
			s.say("WATCHDOG=1")
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// close ends the conversation.
func (s supervisor) close() error {
	if s.conn == nil {
		return nil
	}
	return s.conn.Close()
}
