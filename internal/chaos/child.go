package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// child is the program as a process of its own.
type child struct {
	cmd   *exec.Cmd
	home  string
	addr  string // of the remoting port
	url   string // of the HTTP port
	count func(msg string) int

	logged sync.WaitGroup
}

// startChild builds the program, unless binary names one, and starts it on free ports with
// a home of its own. It has to be called in a folder of the module.
func startChild(binary string, args ...string) (_ *child, err error) {
	c := &child{}
	if c.home, err = os.MkdirTemp("", "chaos"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(c.home))
		}
	}()
	if binary == "" {
		binary = filepath.Join(c.home, "fingerpost")
		if out, err := exec.CommandContext(context.Background(), "go", "build", "-o", binary, "fingerpost/cmd/fingerpost").CombinedOutput(); err != nil {
			return nil, fmt.Errorf("building the program: %w\n%s", err, out)
		}
	}
	args = append([]string{"--bind-address=127.0.0.1", "--listen-port=0", "--http-listen=127.0.0.1:0", "--log-format=json", "--remoting-max-connections-per-address=0"}, args...)
	c.cmd = exec.CommandContext(context.Background(), binary, args...)
	c.cmd.Env = append(os.Environ(), "HOME="+c.home, "XDG_STATE_HOME=")
	log, err := c.cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := c.cmd.Start(); err != nil {
		return nil, err
	}
	return c, c.follow(log)
}

// follow reads the log, from which it learns where the server is, and counts its lines.
func (c *child) follow(log io.Reader) error {
	type line struct{ Msg, Remoting, HTTP string }
	var mu sync.Mutex
	counts := make(map[string]int)
	var last []string
	c.count = func(msg string) int {
		mu.Lock()
		defer mu.Unlock()
		return counts[msg]
	}
	serving := make(chan line, 1)
	c.logged.Go(func() {
		defer close(serving)
		for in := bufio.NewScanner(log); in.Scan(); {
			var l line
			// A line of another form is one that is not waited for.
			_ = json.Unmarshal(in.Bytes(), &l)
			mu.Lock()
			counts[l.Msg]++
			if last = append(last, in.Text()); len(last) > 20 {
				last = last[1:]
			}
			mu.Unlock()
			if l.Msg == "serving" {
				serving <- l
			}
		}
	})
	select {
	case l, ok := <-serving:
		if !ok {
			mu.Lock()
			defer mu.Unlock()
			return errors.Join(errors.New("the server did not start:\n"+strings.Join(last, "\n")), c.cmd.Wait())
		}
		c.addr, c.url = l.Remoting, "http://"+l.HTTP
		return nil
	case <-time.After(patience):
		return errors.Join(errors.New("the server did not say where it serves"), c.cmd.Process.Kill())
	}
}

// stop ends the server, which must go of its own accord.
func (c *child) stop() error {
	err := c.cmd.Process.Signal(os.Interrupt)
	timer := time.AfterFunc(patience, func() {
		// It may have ended in this moment; Wait tells.
		_ = c.cmd.Process.Kill()
	})
	c.logged.Wait()
	err = errors.Join(err, c.cmd.Wait())
	timer.Stop()
	return errors.Join(err, os.RemoveAll(c.home))
}

// usage is what a process takes, as far as the system tells.
type usageOf struct {
	rss, peak   int64 // bytes
	descriptors int
	goroutines  int
	heap        int64
}

// usage asks the system and the server itself.
func (c *child) usage(ctx context.Context, client *http.Client) (u usageOf, err error) {
	proc := fmt.Sprintf("/proc/%d/", c.cmd.Process.Pid)
	status, err := os.ReadFile(proc + "status")
	if err != nil {
		return u, fmt.Errorf("the memory of the server cannot be read on this system: %w", err)
	}
	for line := range strings.Lines(string(status)) {
		name, value, _ := strings.Cut(line, ":")
		n, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
		switch name {
		case "VmRSS":
			u.rss = n << 10
		case "VmHWM":
			u.peak = n << 10
		}
	}
	all, err := os.ReadDir(proc + "fd")
	if err != nil {
		return u, err
	}
	u.descriptors = len(all)
	if client == nil {
		return u, nil
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.url+"/metrics", nil)
	if err != nil {
		return u, err
	}
	resp, err := client.Do(req)
	if err != nil {
		return u, err
	}
	defer resp.Body.Close()
	for in := bufio.NewScanner(resp.Body); in.Scan(); {
		name, value, _ := strings.Cut(in.Text(), " ")
		n, _ := strconv.ParseFloat(value, 64)
		switch name {
		case "go_goroutines":
			u.goroutines = int(n)
		case "go_memstats_heap_alloc_bytes":
			u.heap = int64(n)
		}
	}
	return u, nil
}
