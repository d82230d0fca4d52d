// Command register keeps a broker registered at every name server until it is told to
// end. See README.md. It uses the standard library only; the package api of this project
// does the same in one call.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"
)

var (
	servers   = strings.Fields(env("NAMESERVERS", "http://127.0.0.1:8876"))
	place     = "/api/v1/brokers/" + env("BROKER", "bridge-1") + "/members/0"
	statement = fmt.Sprintf(`{"clusterName":"DefaultCluster","brokerAddr":%q,"heartbeatTimeoutMillis":%s,
		"topicConfigTable":{"Bridged":{"readQueueNums":4,"writeQueueNums":4}}}`, env("ADDRESS", "127.0.0.1:10911"), env("TTL", "60000"))
	client = http.Client{Timeout: 10 * time.Second}
)

func env(name, otherwise string) string {
	if v := os.Getenv(name); v != "" {
		return v
	}
	return otherwise
}

// ask sends a request. It returns the status and the body of the answer.
func ask(ctx context.Context, method, url, body string) (int, []byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("Authorization", "Bearer "+os.Getenv("TOKEN"))
	req.Header.Set("Content-Type", "application/json")
	resp, err := client.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	return resp.StatusCode, bytes.TrimSpace(answer), err
}

func keep(ctx context.Context, server string) {
	known, failures := false, 0
	for ctx.Err() == nil {
		method, path, body := "PUT", place, statement
		if known {
			method, path, body = "POST", place+"/heartbeat", ""
		}
		status, answer, err := ask(ctx, method, server+path, body)
		wait := time.Second * time.Duration(min(1<<min(failures, 4), 15))
		switch {
		case err == nil && status < 300:
			var next struct{ NextHeartbeatMillis float64 }
			_ = json.Unmarshal(answer, &next) // the server's own
			known, failures = true, 0
			wait = time.Duration(next.NextHeartbeatMillis * (0.9 + rand.Float64()/5) * 1e6)
		case err == nil && status == 404 && known: // forgotten, or restarted: register again
			known = false
			continue
		case err == nil && status < 500 && status != 429: // 409: another has the place
			fmt.Println(server, string(answer))
			return
		default:
			fmt.Println(server, err, string(answer))
			failures++
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
		}
	}
	if _, _, err := ask(context.WithoutCancel(ctx), "DELETE", server+place, ""); err != nil {
		fmt.Println(server, err)
	}
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	var all sync.WaitGroup
	for _, server := range servers {
		all.Go(func() { keep(ctx, server) })
	}
	all.Wait()
}
