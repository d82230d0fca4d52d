package remoting_test

import (
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"fingerpost/remoting"
	"fingerpost/remoting/wire"
)

// FuzzConnection sends anything to a server, in pieces of any size: from a balancer, so
// that PROXY headers are read, to a server that takes TLS. Whatever comes, the server
// does not panic, what it answers are answers, routes stay sound, the next connection is
// served, and a connection that falls silent ends and gives back what it held.
func FuzzConnection(f *testing.F) {
	for _, c := range badCases() {
		f.Add(c.plea.frame(theOpaque), uint16(0))
	}
	for i, c := range rawCases() {
		f.Add(c.bytes, uint16(i%40))
	}
	for _, p := range proxyHeaders {
		f.Add(append([]byte(p.header), rawFrame(0, []byte(goodHead), nil)...), uint16(7))
	}
	f.Add(claimed(most, 70<<10), uint16(9000))
	certificate()
	f.Fuzz(func(t *testing.T, in []byte, step uint16) {
		synctest.Test(t, func(t *testing.T) {
			b := startPipes(t, withBudget(), withBalancer(), withTLS(remoting.TLSPermissive, true), limits(func(l *remoting.Limits) {
				l.Inflated, l.Topics = smallFrame, 1000
			}))
			defer b.prepare(t, badCase{name: "the state"})()
			p := newTap(b.ln.(*pipes).dial(&net.TCPAddr{IP: net.IPv4(10, 0, 0, 1)}))
			defer p.close()
			go func() {
				for len(in) > 0 {
					n := len(in)
					if step > 0 {
						n = min(n, int(step))
					}
					if _, err := p.conn.Write(in[:n]); err != nil {
						return
					}
					in = in[n:]
				}
			}()
			synctest.Wait()
			checkAnswers(t, p.received())
			checkRoutes(t, b.reg.Snapshot())
			if err := b.reg.Snapshot().Dump(io.Discard); err != nil {
				t.Error(err)
			}
			other := newTap(b.conn())
			defer other.close()
			wantAnswers(t, "another one", other, rawFrame(0, []byte(goodHead), nil), 1)
			time.Sleep(4 * time.Minute)
			synctest.Wait()
			if !p.ended() {
				t.Error("a silent connection is still there after four minutes")
			}
			last := newTap(b.conn())
			defer last.close()
			wantAnswers(t, "a large request", last, large(smallFrame), 1)
		})
	})
}

// checkAnswers checks that what was answered is a sequence of answers, unless it is TLS.
func checkAnswers(t *testing.T, b []byte) {
	t.Helper()
	if len(b) > 0 && (b[0] == 0x15 || b[0] == 0x16) {
		return
	}
	for len(b) > 0 {
		frame, size, ok, err := wire.SplitFrame(b, wire.FrameLimits{Frame: 1 << 30})
		if !ok || err != nil {
			t.Fatalf("what was answered is no frame: %v, %q", err, b[:min(len(b), 200)])
		}
		var c wire.Command
		if err := c.Decode(frame); err != nil || !c.IsResponse() || c.Version != wire.V5_5_0 {
			t.Fatalf("what was answered is no answer: %v, %v", err, c)
		}
		b = b[size:]
	}
}
