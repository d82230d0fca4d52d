package web

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/coder/websocket"

	"fingerpost/api"
	"fingerpost/registry"
)

// FuzzMessages sends anything as a message of a client. It is answered with messages of
// the protocol or ends its socket with a close frame, and another socket hears what
// changes all the same.
func FuzzMessages(f *testing.F) {
	for _, text := range []string{
		`{"op":"subscribe","id":"s","snapshot":true}`,
		`{"op":"subscribe","id":"s","since":"x.1"}`,
		`{"op":"subscribe","id":"s","topics":["T"],"brokers":["b*"],"clusters":["c"]}`,
		`{"op":"unsubscribe","id":"s"}`,
		`{"op":"ping"}`, `{"op":"subscribe"}`, `{"op":""}`, `{}`, `[]`, `null`, ``, `{"op":"subscribe","id":7}`,
		`{"op":"subscribe","id":"s"}{"op":"subscribe","id":"t"}`,
	} {
		f.Add(true, []byte(text))
		f.Add(false, []byte(text))
	}
	f.Fuzz(func(t *testing.T, text bool, message []byte) {
		synctest.Test(t, func(t *testing.T) {
			e := newEnv(t, FeedOptions{})
			defer e.close()
			beside := e.dial()
			defer beside.CloseNow()
			beside.subscribe(api.FeedRequest{ID: "beside"})
			c := e.dial()
			defer c.CloseNow()
			kind := websocket.MessageBinary
			if text {
				kind = websocket.MessageText
			}
			// It fails if the server closes the socket before it has read all.
			_ = c.Write(context.Background(), kind, message)
			_ = c.Write(context.Background(), websocket.MessageText, []byte(`{"op":"subscribe","id":"after-it"}`))
			for {
				m, err := c.read()
				if err != nil {
					if _, ok := errors.AsType[websocket.CloseError](err); !ok {
						t.Errorf("the socket ended without a close frame, or with what is no message: %v", err)
					}
					break
				}
				if m.Op == opAck && m.ID == "after-it" {
					break
				}
			}
			if _, _, err := e.reg.PutKV("ns", "k", "v", registry.KVCondition{}, registry.Cause{}); err != nil {
				t.Fatal(err)
			}
			if m := beside.want(opChanges); m.ID != "beside" {
				t.Errorf("the other socket hears %+v", m)
			}
		})
	})
}
