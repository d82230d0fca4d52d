package check

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// server is a running server.
type server struct {
	t             *testing.T
	url, remoting string
	dir           string
	cmd           *exec.Cmd
}

func freePort(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	return ln.Addr().String()
}

// start runs the program until the test ends.
func start(t *testing.T, args ...string) *server {
	t.Helper()
	s := &server{t: t, dir: t.TempDir()}
	web, port := freePort(t), freePort(t)
	s.url, s.remoting = "http://"+web, port
	_, number, _ := net.SplitHostPort(port)
	s.run(append([]string{"--bind-address", "127.0.0.1", "--listen-port", number, "--http-listen", web, "--http-insecure-no-auth"}, args...))
	t.Cleanup(s.stop)
	return s
}

func (s *server) run(args []string) {
	s.t.Helper()
	s.cmd = exec.Command(program(s.t), args...)
	s.cmd.Env = append(os.Environ(), "HOME="+s.dir)
	var log bytes.Buffer
	s.cmd.Stderr = &log
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	for until := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		if resp, err := http.Get(s.url + "/livez"); err == nil {
			resp.Body.Close()
			return
		}
		if time.Now().After(until) {
			s.t.Fatalf("the server does not answer:\n%s", log.String())
		}
	}
}

func (s *server) stop() {
	if s.cmd.ProcessState == nil {
		_ = s.cmd.Process.Signal(syscall.SIGKILL)
		_ = s.cmd.Wait()
	}
}

// again ends the process and starts it once more.
func (s *server) again() {
	s.stop()
	s.run(s.cmd.Args[1:])
}

// ask sends a request over HTTP and returns the status.
func (s *server) ask(method, path, body string, headers ...string) int {
	s.t.Helper()
	req, err := http.NewRequest(method, s.url+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode
}

// member registers a broker over REST.
func (s *server) member(name string, id int, addr string, more ...string) int {
	s.t.Helper()
	return s.ask("PUT", fmt.Sprintf("/api/v1/brokers/%s/members/%d", name, id),
		fmt.Sprintf(`{"clusterName":"c","brokerAddr":%q%s}`, addr, strings.Join(more, "")))
}

// send opens a connection to the remoting port and sends bytes.
func (s *server) send(b []byte) net.Conn {
	s.t.Helper()
	c, err := net.Dial("tcp", s.remoting)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { c.Close() })
	if len(b) > 0 {
		if _, err := c.Write(b); err != nil {
			s.t.Fatal(err)
		}
	}
	return c
}

// request is a frame with a header in JSON.
func request(code int, fields string) []byte {
	head := fmt.Sprintf(`{"code":%d,"language":"GO","version":477,"opaque":1,"flag":0,"extFields":{%s}}`, code, fields)
	b := binary.BigEndian.AppendUint32(nil, uint32(4+len(head)))
	return append(binary.BigEndian.AppendUint32(b, uint32(len(head))), head...)
}

// answered waits for some answer.
func answered(t *testing.T, c net.Conn) {
	t.Helper()
	_ = c.SetReadDeadline(time.Now().Add(time.Minute))
	if _, err := c.Read(make([]byte, 4096)); err != nil && err != io.EOF {
		t.Fatal(err)
	}
}

// until waits until the scrape says so.
func (s *server) until(what string, ok func(text string) bool) {
	s.t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		resp, err := http.Get(s.url + "/metrics")
		if err == nil {
			text, _ := io.ReadAll(resp.Body)
			resp.Body.Close()
			if ok(string(text)) {
				return
			}
		}
		if time.Now().After(end) {
			s.t.Fatalf("waited in vain: %s", what)
		}
	}
}

// shows waits for a line of the scrape.
func (s *server) shows(line string) {
	s.t.Helper()
	s.until(line, func(text string) bool { return strings.Contains(text, "rocketmq_namesrv_"+line+"\n") })
}

// fault is what makes an alert fire. args are of the server, before what is there from
// the beginning, and fault what goes wrong then.
type fault struct {
	args          []string
	before, fault func(*server)
}

var faults = map[string]fault{
	"FingerpostDown":       {fault: func(s *server) { s.stop() }},
	"FingerpostNotReady":   {args: []string{"--need-wait-for-service", "--wait-seconds-for-service", "600"}, fault: func(*server) {}},
	"FingerpostRestarting": {},
	"FingerpostNoBrokers": {
		before: func(s *server) { s.member("a", 0, "10.0.0.1:10911") },
		fault:  func(s *server) { s.ask("DELETE", "/api/v1/brokers/a/members/0", "") },
	},
	"FingerpostNoMaster": {fault: func(s *server) { s.member("a", 1, "10.0.0.1:10911") }},
	"FingerpostWritePermWiped": {
		before: func(s *server) {
			s.member("a", 0, "10.0.0.1:10911")
			s.ask("PUT", "/api/v1/topics/T/brokers/a", `{"readQueueNums":1,"writeQueueNums":1,"perm":6}`)
		},
		fault: func(s *server) { s.ask("DELETE", "/api/v1/brokers/a/write-perm", "") },
	},
	"FingerpostConflict":             {before: twoAtOneAddress(false), fault: twoAtOneAddress(true)},
	"FingerpostRegistrationsRefused": {before: twoAtOneAddress(false), fault: twoAtOneAddress(true)},
	"FingerpostRegistrationsInvalid": {fault: func(s *server) { s.ask("PUT", "/api/v1/brokers/a/members/0", `{"clusterName":"c"}`) }},
	"FingerpostAuthFailures": {fault: func(s *server) {
		many(5, func() { s.ask("GET", "/api/v1/topics", "", "Authorization", "Bearer wrong") })
	}},
	"FingerpostFramesOverLimit": {fault: func(s *server) {
		s.send([]byte{0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0})
		s.shows(`frames_refused_total{reason="over_limit"} 1`)
	}},
	"FingerpostConnectionsRejected": {args: []string{"--remoting-max-connections", "1"}, fault: func(s *server) {
		s.send(nil)
		s.send(nil)
		s.until("a refused connection", func(text string) bool { return !strings.Contains(text, "connections_rejected_total 0\n") })
	}},
	"FingerpostRequestsFailing": {args: []string{"--need-wait-for-service", "--wait-seconds-for-service", "600"}, fault: func(s *server) {
		many(5, func() { answered(s.t, s.send(request(105, `"topic":"T"`))) })
	}},
	"FingerpostSaveFailing":  {fault: unsaved},
	"FingerpostCheckFailing": {fault: unsaved},
	"FingerpostPeerDown":     {args: []string{"--peers", "127.0.0.1:1"}, fault: func(s *server) { s.shows(`peer_up{peer="127.0.0.1:1"} 0`) }},
}

func many(n int, f func()) {
	for range n {
		f()
	}
}

func twoAtOneAddress(second bool) func(*server) {
	return func(s *server) {
		name, want := "a", http.StatusCreated
		if second {
			name, want = "b", http.StatusConflict
		}
		if got := s.member(name, 0, "10.0.0.1:10911"); got != want {
			s.t.Fatalf("the registration is answered with %d, want %d", got, want)
		}
	}
}

// unsaved takes away the place of the key-value file: a file stands where its folder
// belongs.
func unsaved(s *server) {
	place := filepath.Join(s.dir, "namesrv")
	_ = os.RemoveAll(place)
	if err := os.WriteFile(place, nil, 0o600); err != nil {
		s.t.Fatal(err)
	}
	if got := s.ask("PUT", "/api/v1/kv/n/k", `{"value":"v"}`); got < 500 {
		s.t.Fatalf("the key is saved all the same: %d", got)
	}
}
