package registry

import "testing"

// A tool that asks in a broker's name over a connection of its own must not take the
// broker along when it hangs up, and a broker that was only heard of over its new
// connection must not go with its old one.
func TestHeardOfOverAnotherConnection(t *testing.T) {
	ask := map[string]func(b *bed, conn string){
		"a heartbeat": func(b *bed, conn string) { b.Heartbeat("c1", "@A", "a", b.conn(conn)) },
		"a question":  func(b *bed, conn string) { b.Probe("c1", "@A", "a", nil, b.conn(conn)) },
	}
	for name, heard := range ask {
		for _, order := range [][2]string{{"asked", "own"}, {"own", "asked"}} {
			t.Run(name+" and "+order[0]+" closes first", func(t *testing.T) {
				b := makeBed(t, Options{})
				b.must(broker{cluster: "c1", name: "a", addr: "@A", version: 1, topics: "T U"}, "own")
				heard(b, "asked")
				if n := b.Release(b.conn(order[0]), Cause{Action: "close"}); n != 0 || b.addrs("a") != "0=@A" {
					t.Errorf("the first connection took %d members along, the group is %q", n, b.addrs("a"))
				}
				if n := b.Release(b.conn(order[1]), Cause{Action: "close"}); n != 1 || b.addrs("a") != "" {
					t.Errorf("the last connection took %d members along, the group is %q", n, b.addrs("a"))
				}
			})
		}
	}
}

// A registration is the broker's own word: it lives by that connection alone.
func TestRegistrationEndsEarlierClaims(t *testing.T) {
	b := makeBed(t, Options{})
	me := broker{cluster: "c1", name: "a", addr: "@A", version: 1, topics: "T U"}
	b.must(me, "own")
	b.Heartbeat("c1", "@A", "a", b.conn("asked"))
	b.must(me, "new")
	for _, old := range []string{"own", "asked"} {
		if n := b.Release(b.conn(old), Cause{Action: "close"}); n != 0 {
			t.Errorf("%s took %d members along", old, n)
		}
	}
	if n := b.Release(b.conn("new"), Cause{Action: "close"}); n != 1 {
		t.Errorf("its own connection took %d members along", n)
	}
}
