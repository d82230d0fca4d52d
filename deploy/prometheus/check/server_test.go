package check

import (
	"crypto/ecdsa"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
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

	// What a fault keeps from its beginning.
	other *server
	conn  net.Conn
	key   *ecdsa.PrivateKey
}

// start runs the program until the test ends, as a fault wants it.
func start(t *testing.T, f fault) *server {
	t.Helper()
	s := &server{t: t, dir: t.TempDir()}
	args := append(slices.Clone(f.under), program(t),
		"--bind-address", "127.0.0.1", "--listen-port", "0", "--http-listen", "127.0.0.1:0", "--http-insecure-no-auth")
	args = append(args, f.args...)
	if f.first != nil {
		args = append(args, f.first(s)...)
	}
	s.run(args)
	t.Cleanup(s.stop)
	return s
}

// run starts the process and waits until it says where it serves.
func (s *server) run(args []string) {
	s.t.Helper()
	s.cmd = exec.Command(args[0], args[1:]...)
	s.cmd.Env = append(os.Environ(), "HOME="+s.dir)
	name := filepath.Join(s.dir, "log")
	log, err := os.Create(name)
	if err != nil {
		s.t.Fatal(err)
	}
	defer log.Close()
	s.cmd.Stderr = log
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	for until := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		text, _ := os.ReadFile(name)
		if m := serving.FindSubmatch(text); m != nil {
			s.remoting, s.url = string(m[1]), "http://"+string(m[2])
			return
		}
		if time.Now().After(until) {
			s.stop()
			s.t.Fatalf("the server does not start:\n%s", text)
		}
	}
}

// serving is in the log as soon as both ports are open.
var serving = regexp.MustCompile(`"msg":"serving","remoting":"([^"]+)","http":"([^"]+)"`)

func (s *server) stop() {
	if s.cmd.ProcessState == nil {
		_ = s.cmd.Process.Signal(syscall.SIGKILL)
		_ = s.cmd.Wait()
	}
}

// again ends the process and starts it once more.
func (s *server) again() {
	s.stop()
	s.run(s.cmd.Args)
}

// put writes a file of the server's folder in one go.
func (s *server) put(name string, content []byte) {
	s.t.Helper()
	name = filepath.Join(s.dir, name)
	if err := os.WriteFile(name+".new", content, 0o600); err != nil {
		s.t.Fatal(err)
	}
	if err := os.Rename(name+".new", name); err != nil {
		s.t.Fatal(err)
	}
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

// metrics is the scrape as it comes.
func (s *server) metrics() string {
	s.t.Helper()
	resp, err := http.Get(s.url + "/metrics")
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return string(text)
}

// until waits until the scrape says so.
func (s *server) until(what string, ok func(text string) bool) {
	s.t.Helper()
	for end := time.Now().Add(2 * time.Minute); !ok(s.metrics()); time.Sleep(10 * time.Millisecond) {
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
