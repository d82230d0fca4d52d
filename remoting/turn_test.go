package remoting

import (
	"testing"
	"testing/synctest"
	"time"
)

// Who is in no hurry leaves as much time as it took while others wait, and only then.
func TestTurns(t *testing.T) {
	for _, c := range []struct {
		hurry, waited bool
		held          time.Duration
	}{
		{hurry: false, waited: true, held: 14 * time.Millisecond},
		{hurry: true, waited: true, held: 7 * time.Millisecond},
		{hurry: false, waited: false, held: 7 * time.Millisecond},
	} {
		synctest.Test(t, func(t *testing.T) {
			var all turns
			all.init()
			for range cap(all.places) - 1 {
				defer all.take(true)() // one place is left
			}
			begin := time.Now()
			done := all.take(c.hurry)
			next := make(chan time.Duration, 1)
			if c.waited {
				go func() {
					done := all.take(true)
					next <- time.Since(begin)
					done()
				}()
				synctest.Wait()
			}
			time.Sleep(7 * time.Millisecond) // the work
			done()
			if !c.waited {
				next <- time.Since(begin)
			}
			if held := <-next; held != c.held {
				t.Errorf("%+v: the place was free after %v", c, held)
			}
		})
	}
}
