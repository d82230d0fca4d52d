package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/coder/websocket"
	"golang.org/x/time/rate"

	"fingerpost/api"
)

// Words of the protocol from the server.
const (
	opHello    = "hello"
	opAck      = "ack"
	opSnapshot = "snapshot"
	opChanges  = "changes"
	opBookmark = "bookmark"
	opReset    = "reset"
	opError    = "error"
	opPong     = "pong"
)

// Bounds of what a client may send.
const (
	maxIncoming       = 16 << 10
	incomingPerSecond = 10
)

// closeReason is what a socket is told at its end.
type closeReason struct {
	code websocket.StatusCode
	text string
}

var (
	goingAway    = closeReason{websocket.StatusGoingAway, "the server stops"}
	sessionEnded = closeReason{websocket.StatusPolicyViolation, "the session has ended or its role has changed"}
	noProtocol   = closeReason{websocket.StatusPolicyViolation, "ask for the subprotocol " + api.FeedProtocol}
	tooMany      = closeReason{code: websocket.StatusTryAgainLater}
	tooSlow      = closeReason{websocket.StatusPolicyViolation, "too much is waiting to be read"}
	silent       = closeReason{websocket.StatusGoingAway, "two pings were not answered"}
)

// socket is one connection. Its subs belong to the feed's lock, the rest to itself.
type socket struct {
	feed  *Feed
	conn  *websocket.Conn
	r     *http.Request
	addr  string
	role  string
	queue *queue
	subs  map[string]*subscription

	once   sync.Once
	ended  chan struct{} // closed by end
	reason closeReason   // written before ended is closed
	cut    *time.Timer   // likewise
}

// end asks the socket to close; the first reason counts. It does not wait.
func (s *socket) end(why closeReason) {
	s.once.Do(func() {
		s.reason = why
		// The writer says goodbye, unless it is stuck.
		s.cut = time.AfterFunc(closeWithin, func() { _ = s.conn.CloseNow() }) // there is no more to be done
		close(s.ended)
	})
}

// ServeHTTP opens a socket and stays until it is closed.
func (f *Feed) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	role, ok := f.o.Authenticate(r)
	if !ok {
		w.Header().Set("Content-Type", "application/problem+json")
		w.Header().Set("Cache-Control", "no-store")
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = w.Write(mustJSON(problemOf("unauthenticated", http.StatusUnauthorized, "The feed needs credentials", nil)))
		return
	}
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{
		Subprotocols: []string{api.FeedProtocol}, OriginPatterns: f.o.Origins, CompressionMode: websocket.CompressionDisabled,
	})
	if err != nil {
		// The library has answered: no upgrade was asked for, or the origin is foreign.
		f.o.Log.Debug("websocket refused", "peer", r.RemoteAddr, "err", err)
		return
	}
	s := &socket{
		feed: f, conn: conn, r: r, addr: f.o.ClientAddr(r), role: role, queue: newQueue(),
		subs: make(map[string]*subscription), ended: make(chan struct{}),
	}
	if conn.Subprotocol() != api.FeedProtocol {
		_ = conn.Close(noProtocol.code, noProtocol.text) // nothing is left to do for a peer that is gone
		return
	}
	if why, ok := f.admit(s); !ok {
		_ = conn.Close(why.code, why.text) // as above
		return
	}
	defer f.leave(s)
	s.serve()
}

// serve runs the socket's goroutines and returns when all of them are done.
func (s *socket) serve() {
	s.conn.SetReadLimit(maxIncoming)
	snap := s.feed.o.Registry.Snapshot()
	s.queue.push(entry{frame: mustJSON(api.FeedMessage{
		Op: opHello, Revision: s.feed.view(snap).At(), Time: api.TimeOf(time.Now()),
		FeedHello: &api.FeedHello{
			Epoch: snap.Epoch, Version: s.feed.o.Version, Assets: s.feed.o.Assets, Role: s.role,
			HeartbeatMillis: heartbeat.Milliseconds(),
		},
	})}, resetLagged)
	ctx, cancel := context.WithCancel(context.WithoutCancel(s.r.Context()))
	defer cancel()
	var wg sync.WaitGroup
	wg.Go(func() { s.write(ctx) })
	wg.Go(func() { s.watch(ctx) })
	err := s.read(ctx)
	s.end(closeReason{websocket.CloseStatus(err), ""})
	cancel()
	wg.Wait()
	s.cut.Stop()
	_ = s.conn.CloseNow() // it is closed already unless the peer broke off
	s.feed.o.Log.Debug("websocket closed", "peer", s.addr, "code", int(s.reason.code), "reason", s.reason.text)
}

// write sends what the queue holds, and the close frame at the end.
func (s *socket) write(ctx context.Context) {
	for {
		select {
		case <-s.ended:
			// The reader meanwhile takes the peer's answer to this.
			_ = s.conn.Close(s.reason.code, s.reason.text)
			return
		default:
		}
		e, ok := s.queue.pop()
		if !ok {
			select {
			case <-s.queue.wake:
			case <-s.ended:
			case <-ctx.Done():
				return
			}
			continue
		}
		if err := s.writeEntry(ctx, e); err != nil {
			s.end(closeReason{websocket.StatusGoingAway, "write: " + err.Error()})
			_ = s.conn.CloseNow() // a peer that takes no bytes takes no close frame
			return
		}
	}
}

func (s *socket) writeEntry(ctx context.Context, e entry) error {
	if e.snap == nil {
		return s.writeFrame(ctx, e.frame)
	}
	ctx, cancel := context.WithTimeout(ctx, snapWithin)
	defer cancel()
	for frame := range e.snap {
		if err := s.writeFrame(ctx, frame); err != nil {
			return err
		}
	}
	return nil
}

func (s *socket) writeFrame(ctx context.Context, frame []byte) error {
	ctx, cancel := context.WithTimeout(ctx, writeWithin)
	defer cancel()
	s.feed.frames.Add(1)
	s.feed.bytes.Add(uint64(len(frame)))
	return s.conn.Write(ctx, websocket.MessageText, frame)
}

// watch asks whether the peer still answers, and whether it may still listen.
func (s *socket) watch(ctx context.Context) {
	tick := time.NewTicker(pingEvery)
	defer tick.Stop()
	missed := 0
	checked := time.Now()
	for {
		select {
		case <-tick.C:
		case <-s.ended:
			return
		case <-ctx.Done():
			return
		}
		if time.Since(checked) >= sessionEvery {
			checked = time.Now()
			if role, ok := s.feed.o.Authenticate(s.r); !ok || role != s.role {
				s.end(sessionEnded)
				return
			}
		}
		ping, cancel := context.WithTimeout(ctx, pingEvery-time.Second)
		err := s.conn.Ping(ping)
		cancel()
		switch {
		case err == nil:
			missed = 0
		case errors.Is(err, context.DeadlineExceeded):
			if missed++; missed == 2 {
				s.end(silent)
				_ = s.conn.CloseNow() // whoever does not answer would not answer that either
				return
			}
		default:
			return // the connection has ended; the reader knows
		}
	}
}

// read takes requests until the connection ends.
func (s *socket) read(ctx context.Context) error {
	limit := rate.NewLimiter(incomingPerSecond, 2*incomingPerSecond)
	for {
		// A client that asks faster is read more slowly.
		if err := limit.Wait(ctx); err != nil {
			return err
		}
		kind, text, err := s.conn.Read(ctx)
		if err != nil {
			return err
		}
		if kind != websocket.MessageText {
			s.refuse("", problemOf("malformed-json", http.StatusBadRequest, "Messages are text frames of JSON", nil))
			continue
		}
		s.request(text)
	}
}

func (s *socket) request(text []byte) {
	var r api.FeedRequest
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		s.refuse("", problemOf("malformed-json", http.StatusBadRequest, "The message is no request: "+err.Error(), nil))
		return
	}
	switch r.Op {
	case api.FeedSubscribe:
		filter, key, bad := filterOf(&r)
		if len(bad) > 0 {
			s.refuse(r.ID, problemOf("validation-failed", http.StatusBadRequest, "The subscription is not understood", bad))
			return
		}
		if !s.mayAdd(r.ID) {
			s.refuse(r.ID, problemOf("too-many-watchers", http.StatusTooManyRequests, "A socket may have 16 subscriptions", nil))
			return
		}
		s.feed.subscribe(s, &r, filter, key)
	case api.FeedUnsubscribe:
		s.feed.mu.Lock()
		s.feed.unsubscribe(s, r.ID)
		s.feed.mu.Unlock()
		s.answer(api.FeedMessage{Op: opAck, ID: r.ID})
	case api.FeedPing:
		s.answer(api.FeedMessage{Op: opPong, Time: api.TimeOf(time.Now())})
	default:
		pointer := "/op"
		s.refuse(r.ID, problemOf("validation-failed", http.StatusBadRequest, "There is no such op", []api.FieldError{
			{Pointer: &pointer, Code: "invalid", Detail: "must be subscribe, unsubscribe or ping"},
		}))
	}
}

func (s *socket) mayAdd(id string) bool {
	s.feed.mu.Lock()
	defer s.feed.mu.Unlock()
	return s.subs[id] != nil || len(s.subs) < maxSubscriptions
}

func (s *socket) answer(m api.FeedMessage) {
	if _, full := s.queue.push(entry{frame: mustJSON(m)}, resetLagged); full {
		s.end(tooSlow)
	}
}

func (s *socket) refuse(id string, p *api.Problem) {
	s.answer(api.FeedMessage{Op: opError, ID: id, Problem: p})
}

func problemOf(code string, status int, detail string, errs []api.FieldError) *api.Problem {
	if errs == nil {
		errs = []api.FieldError{}
	}
	return &api.Problem{Type: "/problems/" + code, Title: http.StatusText(status), Status: status, Detail: detail, Code: code, Errors: errs}
}
