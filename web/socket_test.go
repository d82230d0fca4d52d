package web

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"fingerpost/api"
)

func dialOptions() *websocket.DialOptions {
	return &websocket.DialOptions{Subprotocols: []string{api.FeedProtocol}}
}

func withOrigin(origin string) *websocket.DialOptions {
	o := dialOptions()
	o.HTTPHeader = http.Header{"Origin": {origin}}
	return o
}

func TestOrigins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEnv(t, FeedOptions{Origins: []string{"https://ns.example.com"}})
		defer e.close()
		for origin, ok := range map[string]bool{
			"http://feed.test": true, "https://ns.example.com": true,
			"http://ns.example.com": false, "http://evil.test": false, "http://feed.test.evil.test": false, "null": false,
		} {
			c, res, err := e.tryDial(withOrigin(origin))
			switch {
			case ok && err != nil:
				t.Errorf("origin %s is refused: %v", origin, err)
			case !ok && (err == nil || res == nil || res.StatusCode != http.StatusForbidden):
				t.Errorf("origin %s is let in: %v", origin, err)
			}
			if c != nil {
				_ = c.CloseNow() // its server side ends with the test
			}
		}
	})
}

func TestStrangersAreRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEnv(t, FeedOptions{})
		defer e.close()
		e.setRole("")
		_, res, err := e.tryDial(dialOptions())
		if err == nil || res.StatusCode != http.StatusUnauthorized || res.Header.Get("Content-Type") != "application/problem+json" {
			t.Fatalf("a stranger gets %v, %v", res, err)
		}
		var p api.Problem
		if err := json.NewDecoder(res.Body).Decode(&p); err != nil || p.Code != "unauthenticated" {
			t.Errorf("the problem is %+v, %v", p, err)
		}
	})
}

func TestSubprotocolIsAskedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEnv(t, FeedOptions{})
		defer e.close()
		c, _, err := e.tryDial(&websocket.DialOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if ce := c.wantClose(); ce.Code != websocket.StatusPolicyViolation || !strings.Contains(ce.Reason, api.FeedProtocol) {
			t.Errorf("closed with %v", ce)
		}
	})
}

func TestTooManySockets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		addr := "one"
		e := newEnv(t, FeedOptions{MaxSockets: 3, MaxPerAddress: 2, ClientAddr: func(*http.Request) string { return addr }})
		defer e.close()
		e.dial()
		e.dial()
		refused := func() websocket.CloseError {
			c, _, err := e.tryDial(dialOptions())
			if err != nil {
				t.Fatal(err)
			}
			return c.wantClose()
		}
		if ce := refused(); ce.Code != websocket.StatusTryAgainLater || !strings.Contains(ce.Reason, "this address") {
			t.Errorf("the third of an address: %v", ce)
		}
		addr = "two"
		c := e.dial()
		addr = "three"
		if ce := refused(); ce.Code != websocket.StatusTryAgainLater {
			t.Errorf("the fourth: %v", ce)
		}
		if err := c.Close(websocket.StatusNormalClosure, ""); err != nil {
			t.Error(err)
		}
		synctest.Wait()
		e.dial() // there is room again
	})
}

func TestSessionIsCheckedAgain(t *testing.T) {
	for _, role := range []string{"", "admin"} {
		synctest.Test(t, func(t *testing.T) {
			e := newEnv(t, FeedOptions{})
			defer e.close()
			c := e.dial()
			c.subscribe(api.FeedRequest{ID: "s"})
			begin := time.Now()
			time.AfterFunc(65*time.Second, func() { e.setRole(role) })
			if ce := c.wantClose(); ce.Code != websocket.StatusPolicyViolation {
				t.Errorf("closed with %v", ce)
			}
			if d := time.Since(begin); d < time.Minute || d > 3*time.Minute {
				t.Errorf("closed after %v", d)
			}
		})
	}
}

func TestShutdownSaysGoodbye(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEnv(t, FeedOptions{})
		c := e.dial()
		stuck := e.dial()
		_ = stuck // reads nothing, not even the close frame
		go e.close()
		begin := time.Now()
		if ce := c.wantClose(); ce.Code != websocket.StatusGoingAway {
			t.Errorf("closed with %v", ce)
		}
		<-e.done
		if d := time.Since(begin); d > 15*time.Second {
			t.Errorf("a stuck socket held the end up for %v", d)
		}
		e.feed.Close() // twice is once
		_ = stuck.CloseNow()
	})
}

// A socket that is stuck while it is pinged holds the end up no longer than any other.
func TestShutdownDuringAPing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEnv(t, FeedOptions{})
		put(t, e.reg, "a", 2, 8, 1)
		stuck := e.dial()
		stuck.subscribe(api.FeedRequest{ID: "s"})
		// It reads, but answers no ping, until just before the server stops.
		_ = stuck.pipe.SetReadDeadline(time.Now().Add(pingEvery + time.Second))
		_, _ = io.Copy(io.Discard, stuck.pipe)
		topic(t, e.reg, "t0", "a", 3)
		time.Sleep(time.Second)
		begin := time.Now()
		e.close()
		if d := time.Since(begin); d > closeWithin+time.Second {
			t.Errorf("a stuck socket held the end up for %v", d)
		}
		_ = stuck.CloseNow()
	})
}

// Whoever takes no bytes for 30 s is closed, and what waited for it is given back.
func TestStuckSocketIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEnv(t, FeedOptions{})
		defer e.close()
		put(t, e.reg, "a", 2, 8, 1)
		c := e.dial()
		c.subscribe(api.FeedRequest{ID: "s"})
		topic(t, e.reg, "t0", "a", 3)
		time.Sleep(25 * time.Second)
		if n := e.feed.Stats().Sockets; n != 1 {
			t.Errorf("%d sockets after 25 s", n)
		}
		time.Sleep(20 * time.Second)
		if n := e.feed.Stats().Sockets; n != 0 {
			t.Errorf("%d sockets after 45 s", n)
		}
		_ = c.CloseNow()
	})
}

// Whoever reads but does not answer pings is closed after two of them.
func TestSilentSocketIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEnv(t, FeedOptions{})
		defer e.close()
		c := e.dial()
		go func() {
			buf := make([]byte, 1024)
			for {
				if _, err := c.pipe.Read(buf); err != nil { // below the library, which would answer
					return
				}
			}
		}()
		time.Sleep(30 * time.Second)
		if n := e.feed.Stats().Sockets; n != 1 {
			t.Errorf("%d sockets after one ping", n)
		}
		time.Sleep(60 * time.Second)
		if n := e.feed.Stats().Sockets; n != 0 {
			t.Errorf("%d sockets after two pings", n)
		}
		_ = c.pipe.Close()
	})
}

func TestRequestsThatAreNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEnv(t, FeedOptions{})
		defer e.close()
		c := e.dial()
		for text, want := range map[string]struct{ code, pointer string }{
			`{`:                            {"malformed-json", ""},
			`{"op":"subscribe","idd":"x"}`: {"malformed-json", ""},
			`{"op":"dance"}`:               {"validation-failed", "/op"},
			`{"op":"subscribe"}`:           {"validation-failed", "/id"},
			`{"op":"subscribe","id":"x","kinds":["topics"]}`:                                {"validation-failed", "/kinds"},
			`{"op":"subscribe","id":"x","topics":[` + strings.Repeat(`"a",`, 100) + `"a"]}`: {"validation-failed", "/topics"},
			`{"op":"subscribe","id":"` + strings.Repeat("x", 65) + `"}`:                     {"validation-failed", "/id"},
		} {
			c.send(text)
			m := c.want(opError)
			if m.Problem == nil || m.Problem.Code != want.code {
				t.Errorf("%.60s: %+v", text, m.Problem)
				continue
			}
			if want.pointer != "" && (len(m.Problem.Errors) != 1 || *m.Problem.Errors[0].Pointer != want.pointer) {
				t.Errorf("%.60s: %+v", text, m.Problem.Errors)
			}
		}
		if err := c.Write(context.Background(), websocket.MessageBinary, []byte("{}")); err != nil {
			t.Fatal(err)
		}
		if m := c.want(opError); m.Problem.Code != "malformed-json" {
			t.Errorf("a binary message: %+v", m.Problem)
		}
		c.send(`{"op":"ping"}`)
		if m := c.want(opPong); m.Time == nil {
			t.Error("a pong without the time")
		}
		c.send(`{"op":"unsubscribe","id":"nothing"}`)
		c.want(opAck)
	})
}

func TestSubscriptionsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEnv(t, FeedOptions{})
		defer e.close()
		c := e.dial()
		for i := range maxSubscriptions {
			c.subscribe(api.FeedRequest{ID: strings.Repeat("s", i+1)})
		}
		c.send(`{"op":"subscribe","id":"more"}`)
		if m := c.want(opError); m.Problem.Code != "too-many-watchers" {
			t.Errorf("got %+v", m.Problem)
		}
		c.subscribe(api.FeedRequest{ID: "s"}) // replacing one adds none
		c.send(`{"op":"unsubscribe","id":"s"}`)
		c.want(opAck)
		c.subscribe(api.FeedRequest{ID: "more"})
	})
}

func TestUnsubscribedHearsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEnv(t, FeedOptions{})
		defer e.close()
		put(t, e.reg, "a", 2, 8, 1)
		c := e.dial()
		c.subscribe(api.FeedRequest{ID: "s"})
		c.send(`{"op":"unsubscribe","id":"s"}`)
		c.want(opAck)
		topic(t, e.reg, "t0", "a", 3)
		time.Sleep(time.Second)
		c.send(`{"op":"ping"}`)
		if m := c.next(); m.Op != opPong {
			t.Errorf("got %s", m.Op)
		}
	})
}

func TestMessageTooLarge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEnv(t, FeedOptions{})
		defer e.close()
		c := e.dial()
		go func() {
			// The server closes while this is being written; that is its right.
			_ = c.Write(context.Background(), websocket.MessageText, []byte(`{"op":"`+strings.Repeat("x", 20<<10)+`"}`))
		}()
		if ce := c.wantClose(); ce.Code != websocket.StatusMessageTooBig {
			t.Errorf("closed with %v", ce)
		}
	})
}

// A client that asks a thousand times a second is served at ten.
func TestRequestsAreSlowedDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEnv(t, FeedOptions{})
		defer e.close()
		c := e.dial()
		begin := time.Now()
		go func() {
			for range 120 {
				c.send(`{"op":"ping"}`)
			}
		}()
		for range 120 {
			c.want(opPong)
		}
		if d := time.Since(begin); d < 9*time.Second {
			t.Errorf("120 requests were served in %v", d)
		}
	})
}
