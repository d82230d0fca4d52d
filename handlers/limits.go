package handlers

import (
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// limiters bound how often somebody does something. Reads of the registry are not
// bounded.
type limiters struct {
	limits Limits
	now    func() time.Time

	heavy chan struct{}

	mu     sync.Mutex
	writes map[string]*rate.Limiter // by principal
	beats  map[string]*rate.Limiter
	logins map[netip.Addr]*rate.Limiter // by address, of those who failed
}

// maxTracked bounds how many principals and addresses are kept apart. Principals stand
// in files; addresses do not, and when there are too many all begin anew.
const maxTracked = 10_000

func newLimiters(l Limits) *limiters {
	return &limiters{
		limits: l, now: time.Now, heavy: make(chan struct{}, l.Heavy),
		writes: make(map[string]*rate.Limiter), beats: make(map[string]*rate.Limiter), logins: make(map[netip.Addr]*rate.Limiter),
	}
}

// allow counts a call against the limit of its operation.
func (l *limiters) allow(c *call) error {
	switch c.op.pace {
	case writing:
		return l.spend(l.writes, c.who.Name, rate.Limit(l.limits.WritesPerSecond), l.limits.WritesBurst, 1)
	case beating:
		return l.spend(l.beats, c.who.Name, rate.Limit(l.limits.HeartbeatsPerSecond), 2*l.limits.HeartbeatsPerSecond, 1)
	case joining:
		return l.mayTry(c.address())
	case reading, heavy: // as often as one likes; of heavy ones few at once
	}
	return nil
}

// more counts further heartbeats that came in one call.
func (l *limiters) more(c *call, n int) error {
	burst := 2 * l.limits.HeartbeatsPerSecond
	if n >= burst { // one was counted already; no time would help
		return refuse("rate-limited", "One call may have at most %d heartbeats here, not %d: send fewer at once.",
			"此处一次调用最多 %d 个心跳，而不是 %d 个：请分批发送。", burst, n+1)
	}
	return l.spend(l.beats, c.who.Name, rate.Limit(l.limits.HeartbeatsPerSecond), burst, n)
}

// spend takes n from the principal's allowance.
func (l *limiters) spend(of map[string]*rate.Limiter, name string, per rate.Limit, burst, n int) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	lim := of[name]
	if lim == nil {
		if len(of) >= maxTracked {
			clear(of)
		}
		lim = rate.NewLimiter(per, burst)
		of[name] = lim
	}
	now := l.now()
	if lim.AllowN(now, n) {
		return nil
	}
	return tooOften(time.Duration(float64(n) / float64(per) * float64(time.Second)))
}

func tooOften(wait time.Duration) error {
	p := refuse("rate-limited", "Come again in %s.", "请在 %s 后重试。", wait.Truncate(time.Second)+time.Second)
	p.retryAfter = max(wait, time.Second)
	return p
}

// mayTry refuses an address that has shown too many wrong credentials.
func (l *limiters) mayTry(a netip.Addr) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if lim := l.logins[a]; lim != nil && lim.TokensAt(l.now()) < 1 {
		return tooOften(time.Minute / time.Duration(l.limits.FailedLoginsPerMinute))
	}
	return nil
}

// failed counts a wrong credential against an address.
func (l *limiters) failed(a netip.Addr) {
	l.mu.Lock()
	defer l.mu.Unlock()
	lim := l.logins[a]
	if lim == nil {
		if len(l.logins) >= maxTracked {
			clear(l.logins)
		}
		n := l.limits.FailedLoginsPerMinute
		lim = rate.NewLimiter(rate.Every(time.Minute/time.Duration(n)), n)
		l.logins[a] = lim
	}
	lim.AllowN(l.now(), 1)
}

// turn takes one of the places of calls that look at the whole registry; the caller
// gives it back. There is no queue: more of them would only be later.
func (l *limiters) turn() (back func(), err error) {
	select {
	case l.heavy <- struct{}{}:
		return func() { <-l.heavy }, nil
	default:
		return nil, &problem{
			code: "overloaded", retryAfter: 2 * time.Second,
			detail: text{"As many calls that look at the whole registry run as may at once.", "查看整个注册表的请求已达上限。"},
		}
	}
}

// watchers counts open watches and long polls.
type watchers struct {
	limits Limits

	mu      sync.Mutex
	all     int
	waiters int
	perAddr map[netip.Addr]int
}

// join counts a watch of an address; the caller calls leave when it is over.
func (w *watchers) join(a netip.Addr) (leave func(), err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.all >= w.limits.Watchers:
		return nil, tooMany("The server has %d open watches, as many as it may.", "服务已有 %d 个监听，达到上限。", w.all)
	case w.perAddr[a] >= w.limits.WatchersPerAddress:
		return nil, tooMany("The address has %d open watches, as many as it may.", "该地址已有 %d 个监听，达到上限。", w.perAddr[a])
	}
	if w.perAddr == nil {
		w.perAddr = make(map[netip.Addr]int)
	}
	w.all++
	w.perAddr[a]++
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.all--
		if w.perAddr[a]--; w.perAddr[a] == 0 {
			delete(w.perAddr, a)
		}
	}, nil
}

// wait counts a long poll.
func (w *watchers) wait() (leave func(), err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.waiters >= w.limits.Waiters {
		return nil, tooMany("The server has %d waiting requests, as many as it may.", "服务已有 %d 个等待中的请求，达到上限。", w.waiters)
	}
	w.waiters++
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.waiters--
	}, nil
}

func (w *watchers) counts() (watches, waits int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.all, w.waiters
}

func tooMany(en, zh string, n int) error {
	p := refuse("too-many-watchers", en, zh, n)
	p.retryAfter = 5 * time.Second
	return p
}
