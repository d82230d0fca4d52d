package remoting_test

import (
	"net"
	"sync"
	"testing"

	"fingerpost/registry"
	"fingerpost/remoting"
)

// A server may be asked what it has open before it serves, and while it begins to.
func TestAskedBeforeItServes(t *testing.T) {
	srv := &remoting.Server{Registry: registry.New(registry.Options{}), Settings: &settings{}}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for _, ask := range []func() int{
		srv.Open,
		func() int { return len(srv.Connections()) },
		func() int { return len(srv.Kinds()) },
	} {
		wg.Go(func() {
			if n := ask(); n != 0 {
				t.Errorf("%d of no connections", n)
			}
		})
	}
	wg.Go(func() {
		if err := srv.Serve(ln); err != nil {
			t.Error(err)
		}
	})
	if err := srv.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	ln.Close() // if Serve came too late for it
	wg.Wait()
}
