package check

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Faults of peers that are too many, too slow, or both. None of them depends on how fast
// the machine is: what has to take long is waited for, and what is waited for is a number
// that the server itself shows.

// settingsOf asks for the settings, whose answer is of some kilobytes.
var settingsOf = request(319, "")

// neverReads asks for more than all buffers on the way hold and reads none of it. The
// server may stop reading before all of it has been asked.
func neverReads(s *server) {
	c := s.dial(s.remoting)
	go func() { _, _ = c.Write(bytes.Repeat(settingsOf, 4000)) }()
	s.shows(`connections_closed_total{reason="slow_reader"} 1`)
}

// crowd has so many peers ask at the same time that they wait for the only processor,
// again and again until one of them is told to come again.
func crowd(s *server) {
	peers := make([]net.Conn, 300)
	for i := range peers {
		peers[i] = s.send(nil)
		go func() { _, _ = io.Copy(io.Discard, peers[i]) }()
	}
	ask := bytes.Repeat(settingsOf, 20)
	s.until("a peer that is told to come again", func(text string) bool {
		for _, c := range peers {
			if _, err := c.Write(ask); err != nil {
				s.t.Fatal(err)
			}
		}
		return strings.Contains(text, `requests_total{face="remoting",op="GET_NAMESRV_CONFIG",result="busy"}`)
	})
}

// slowly registers a broker with a body that comes after a while. The server says when it
// begins to wait for it.
func slowly(s *server) {
	const body = `{"clusterName":"c","brokerAddr":"10.0.0.1:10911"}`
	c := s.dial(strings.TrimPrefix(s.url, "http://"))
	fmt.Fprintf(c, "PUT /api/v1/brokers/a/members/0 HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\nExpect: 100-continue\r\n\r\n", len(body))
	in := bufio.NewReader(c)
	if line, err := in.ReadString('\n'); err != nil || !strings.HasPrefix(line, "HTTP/1.1 100 ") {
		s.t.Fatalf("the server does not want the body: %q, %v", line, err)
	}
	_, _ = in.ReadString('\n')
	<-time.After(300 * time.Millisecond)
	_, _ = io.WriteString(c, body)
	resp, err := http.ReadResponse(in, nil)
	if err != nil || resp.StatusCode != http.StatusCreated {
		s.t.Fatalf("the registration is answered %v, %v", resp, err)
	}
	resp.Body.Close()
}

var openFiles = regexp.MustCompile(`(?m)^process_open_fds (\d+)$`)

// fillFiles opens connections, one after the other, until the server has few files left:
// as many as a scrape needs have to be.
func fillFiles(s *server) {
	for n, open := 1, 0; open < 54; n++ {
		s.send(nil)
		s.until("the connection", func(text string) bool {
			if m := openFiles.FindStringSubmatch(text); m != nil {
				open, _ = strconv.Atoi(m[1])
			}
			return strings.Contains(text, fmt.Sprintf("rocketmq_namesrv_connections_accepted_total %d\n", n))
		})
	}
}

// manyWrites lets one principal change what it likes.
var manyWrites = []string{"--http-writes-per-second", "100000", "--http-writes-burst", "100000"}

// fallBehind opens a watch and reads nothing of it, while more and more changes, until the
// server has given up to remember all of that for it.
func fallBehind(s *server) {
	s.conn = s.dial(strings.TrimPrefix(s.url, "http://"))
	fmt.Fprint(s.conn, "GET /api/v1/watch HTTP/1.1\r\nHost: localhost\r\n\r\n")
	s.shows(`watchers{transport="stream"} 1`)
	topics := make([]string, 100)
	for perm := 4; strings.Contains(s.metrics(), "rocketmq_namesrv_subscribers_lagged_total 0\n"); {
		for range 25 {
			perm = 10 - perm
			for i := range topics {
				topics[i] = fmt.Sprintf(`"topic-of-some-length-%d":{"readQueueNums":8,"writeQueueNums":8,"perm":%d}`, i, perm)
			}
			if got := s.member("a", 0, "10.0.0.1:10911", `,"topicConfigTable":{`+strings.Join(topics, ",")+"}"); got >= 300 {
				s.t.Fatalf("the registration is answered with %d", got)
			}
		}
	}
}

var lags = regexp.MustCompile(`(?m)^rocketmq_namesrv_watch_lag_seconds_bucket\{transport="stream",le="(?:1|\+Inf)"\} (\d+)$`)

// catchUp reads on, a while after the watcher has fallen behind.
func catchUp(s *server) {
	<-time.After(1200 * time.Millisecond)
	go func() { _, _ = io.Copy(io.Discard, s.conn) }()
	s.until("the watcher to begin anew, late", func(text string) bool {
		n := lags.FindAllStringSubmatch(text, -1)
		return strings.Contains(text, `rocketmq_namesrv_watch_resets_total{face="rest",reason="lagged"} 1`+"\n") && len(n) == 2 && n[0][1] != n[1][1]
	})
}

// dial opens a connection that a peer keeps until the test ends, with little room for what
// it does not read.
func (s *server) dial(addr string) net.Conn {
	s.t.Helper()
	d := net.Dialer{Control: func(_, _ string, c syscall.RawConn) error {
		return c.Control(func(fd uintptr) { _ = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 4096) })
	}}
	c, err := d.Dial("tcp", addr)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { c.Close() })
	return c
}
