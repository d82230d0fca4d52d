//go:build unix

package remoting

import (
	"testing"
	"testing/synctest"
	"time"
)

// The time for which a large request waits to be read is not its peer's.
func TestWaitingToReadIsNoStalling(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := new(Server)
		s.init()
		by := time.Now().Add(largeArrival)
		c := &conn{srv: s, granted: 1, arriveBy: by}
		time.AfterFunc(time.Minute, s.TakeTurns())
		c.takeReadingTurn()()
		if late := c.arriveBy.Sub(by); late != time.Minute {
			t.Errorf("after a minute the request may come %v later", late)
		}
		c.granted = 0
		c.takeReadingTurn()()
		if late := c.arriveBy.Sub(by); late != time.Minute {
			t.Errorf("a small one may come %v later", late)
		}
	})
}
