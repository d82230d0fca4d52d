package main

import (
	"context"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
)

// manager is a service manager's end of the socket.
type manager struct {
	t    *testing.T
	name string
	conn *net.UnixConn
}

func newManager(t *testing.T, name string) *manager {
	t.Helper()
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Net: "unixgram", Name: name})
	if err != nil {
		t.Skipf("SKIPPED: no such sockets here: %v", err)
	}
	t.Cleanup(func() { conn.Close() })
	return &manager{t, name, conn}
}

// hear returns the assignments of the next message that has that variable, or of the next
// one if that is empty.
func (m *manager) hear(variable string) map[string]string {
	m.t.Helper()
	if err := m.conn.SetReadDeadline(time.Now().Add(60 * time.Second)); err != nil {
		m.t.Fatal(err)
	}
	for b := make([]byte, 4096); ; {
		n, err := m.conn.Read(b)
		if err != nil {
			m.t.Fatalf("waiting for %s: %v", variable, err)
		}
		said := map[string]string{}
		for line := range strings.SplitSeq(string(b[:n]), "\n") {
			name, value, ok := strings.Cut(line, "=")
			if !ok {
				m.t.Fatalf("the server says %q", b[:n])
			}
			said[name] = value
		}
		if _, ok := said[variable]; ok || variable == "" {
			return said
		}
	}
}

// sockets are both kinds of names that a service manager's socket has.
func sockets(t *testing.T) []string {
	// The path of a socket must be short, which that of a test's own folder need not be.
	dir, err := os.MkdirTemp("", "fp")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	names := []string{filepath.Join(dir, "notify")}
	if runtime.GOOS == "linux" {
		names = append(names, fmt.Sprintf("@fingerpost-test-%d", os.Getpid()))
	}
	return names
}

func TestServiceManagerHearsOfStartLifeAndEnd(t *testing.T) {
	for _, name := range sockets(t) {
		t.Run(name[:1], func(t *testing.T) {
			m := newManager(t, name)
			env := []string{"NOTIFY_SOCKET=" + name, "WATCHDOG_USEC=20000", "WATCHDOG_PID=" + strconv.Itoa(os.Getpid())}
			p := startIn(t, t.TempDir(), env, "--shutdown-timeout=7s")
			said := m.hear("READY")
			if want := "remoting on " + p.remoting(t) + ", HTTP on "; said["READY"] != "1" || !strings.HasPrefix(said["STATUS"], want) {
				t.Errorf("ready: %v, want the status %s…", said, want)
			}
			for range 3 {
				if said := m.hear("WATCHDOG"); said["WATCHDOG"] != "1" || len(said) != 1 {
					t.Errorf("a sign of life: %v", said)
				}
			}
			p.stop(errTestOver)
			said = m.hear("STOPPING")
			if usec, err := strconv.Atoi(said["EXTEND_TIMEOUT_USEC"]); said["STOPPING"] != "1" || err != nil || usec < 7e6 {
				t.Errorf("stopping: %v, want at least the 7 s that it may take", said)
			}
			if status := p.end(t); status != 0 {
				t.Errorf("exit status %d\n%s", status, p.stderr)
			}
		})
	}
}

func TestSupervisorOfNobody(t *testing.T) {
	s, err := newSupervisor(func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	s.ready("here")
	s.leaving(time.Second)
	if err := s.close(); err != nil || s.patience != 0 {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestSupervisorsVariables(t *testing.T) {
	name := sockets(t)[0]
	newManager(t, name)
	for _, x := range []struct {
		about string
		env   map[string]string
		want  time.Duration
		fails string // a part of the error
	}{
		{"no watchdog", map[string]string{}, 0, ""},
		{"ours", map[string]string{"WATCHDOG_USEC": "3000000", "WATCHDOG_PID": strconv.Itoa(os.Getpid())}, 3 * time.Second, ""},
		{"nobody's in particular", map[string]string{"WATCHDOG_USEC": "3000000"}, 3 * time.Second, ""},
		{"another's", map[string]string{"WATCHDOG_USEC": "3000000", "WATCHDOG_PID": "1"}, 0, ""},
		{"no number", map[string]string{"WATCHDOG_USEC": "3s"}, 0, "WATCHDOG_USEC"},
		{"none", map[string]string{"WATCHDOG_USEC": "0"}, 0, "WATCHDOG_USEC"},
		{"too long", map[string]string{"WATCHDOG_USEC": "9223372036854775807"}, 0, "WATCHDOG_USEC"},
		{"no such socket", map[string]string{"NOTIFY_SOCKET": name + "-not"}, 0, "service manager"},
		{"another kind of socket", map[string]string{"NOTIFY_SOCKET": "vsock:2:1234"}, 0, "NOTIFY_SOCKET"},
	} {
		env := map[string]string{"NOTIFY_SOCKET": name}
		maps.Copy(env, x.env)
		s, err := newSupervisor(func(v string) string { return env[v] })
		if x.fails != "" {
			if err == nil || !strings.Contains(err.Error(), x.fails) {
				t.Errorf("%s: error %v, want one about %s", x.about, err, x.fails)
			}
			continue
		}
		if err != nil || s.patience != x.want {
			t.Errorf("%s: patience %v, %v, want %v", x.about, s.patience, err, x.want)
			continue
		}
		s.close()
	}
}

// A server that does not work gives no signs of life, so that it is ended and started anew.
func TestNoSignOfLifeWhenNotWell(t *testing.T) {
	name := sockets(t)[0]
	m := newManager(t, name)
	s, err := newSupervisor(func(v string) string {
		return map[string]string{"NOTIFY_SOCKET": name, "WATCHDOG_USEC": "2000"}[v]
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	rounds := 0
	s.keepAlive(ctx, func() bool {
		if rounds++; rounds == 4 {
			cancel()
		}
		return rounds == 3
	})
	s.say("END=1")
	signs := 0
	for said := m.hear(""); said["END"] == ""; said = m.hear("") {
		signs++
	}
	if rounds < 4 || signs != 1 {
		t.Errorf("%d signs of life in %d rounds, want one", signs, rounds)
	}
	if err := s.close(); err != nil {
		t.Error(err)
	}
}

// A variable that somebody else's service left behind keeps no server from serving.
func TestServesWithoutItsManager(t *testing.T) {
	p := startIn(t, t.TempDir(), []string{"NOTIFY_SOCKET=" + sockets(t)[0]})
	p.remoting(t)
	if l := p.stderr.line(t, "no service manager will hear of this server"); l["level"] != "WARN" {
		t.Errorf("%v", l)
	}
}
