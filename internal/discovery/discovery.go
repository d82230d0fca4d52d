// Package discovery knows the addresses of a set of name servers, for clients and brokers
// that are given a domain instead of addresses. They poll a plain HTTP address every two
// minutes (Java, C++, brokers; Go at its own pace) and read one line, host:port;host:port.
// An answer that is empty or no success leaves them with what they have.
//
// A [List] takes the addresses from the settings or from the DNS name of a headless
// service, which it asks again and again by itself: a question of a client never waits
// for DNS, and where DNS fails the last good answer stays.
package discovery

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"
)

// Bounds of what DNS is asked and what is taken from it.
const (
	// Refresh is the time between two questions: the addresses of pods change within
	// seconds, clients look every two minutes.
	Refresh = 10 * time.Second
	// lookupTimeout bounds one question.
	lookupTimeout = 5 * time.Second
	// maxAddresses is how many of an answer are told to clients.
	maxAddresses = 64
)

// Options are what a list is made of. Where several sources are given, the first of
// Units, Addresses, Name and the rest counts.
type Options struct {
	// Units are the addresses for clients of a unit, by its name.
	Units map[string][]string
	// Addresses are those of all name servers of the set.
	Addresses []string
	// Name is a host and a port: every address that DNS has for the host is one.
	Name string
	// Peers are the other name servers of the set. To them Self is added.
	Peers []string
	// Self are the addresses under which this node is known; the first is told to
	// clients, and all are left out while it is on its way out of service.
	Self []string
	// Leaving reports whether the node is on its way out of service.
	Leaving func() bool
	// Lookup asks DNS; nil is the system's resolver.
	Lookup func(ctx context.Context, host string) ([]netip.Addr, error)
	// Local returns the addresses of this machine, by which the node finds itself in
	// an answer of DNS; nil asks the system.
	Local func() ([]netip.Addr, error)
	Log   *slog.Logger
}

// List is the addresses. Its methods may be called by anybody at any time; Run by one.
type List struct {
	o          Options
	host, port string // of Name

	mu      sync.Mutex
	found   []string // what DNS last answered
	mine    []string // those of found that are this node's
	failed  error    // what the last question came to, nil if it was answered
	failing time.Time
}

// New returns a list. Where it asks DNS it is empty until Run has.
func New(o Options) (*List, error) {
	l := &List{o: o}
	if o.Name != "" {
		var err error
		if l.host, l.port, err = net.SplitHostPort(o.Name); err != nil {
			return nil, fmt.Errorf("discovery: %w", err)
		}
	}
	if l.o.Lookup == nil {
		l.o.Lookup = func(ctx context.Context, host string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		}
	}
	if l.o.Local == nil {
		l.o.Local = localAddrs
	}
	return l, nil
}

// For returns the addresses that clients of a unit, "" for none, are to use, separated
// by semicolons. It is empty where none is known, or only this node's while it leaves.
func (l *List) For(unit string) string {
	list, mine := l.source(unit)
	if l.o.Leaving != nil && l.o.Leaving() {
		list = slices.DeleteFunc(slices.Clone(list), func(a string) bool { return slices.Contains(mine, a) })
	}
	return strings.Join(list, ";")
}

// source returns the addresses, and which may be this node's.
func (l *List) source(unit string) (list, mine []string) {
	if of := l.o.Units[unit]; unit != "" && len(of) > 0 {
		return of, l.o.Self
	}
	switch {
	case len(l.o.Addresses) > 0:
		return l.o.Addresses, l.o.Self
	case l.o.Name != "":
		l.mu.Lock()
		defer l.mu.Unlock()
		return l.found, slices.Concat(l.o.Self, l.mine)
	}
	list = l.o.Peers
	if len(l.o.Self) > 0 && !slices.ContainsFunc(list, func(a string) bool { return slices.Contains(l.o.Self, a) }) {
		list = append([]string{l.o.Self[0]}, list...)
	}
	return list, l.o.Self
}

// Run asks DNS until ctx ends. Without a name it returns at once.
func (l *List) Run(ctx context.Context) {
	if l.o.Name == "" {
		return
	}
	for {
		l.ask(ctx)
		t := time.NewTimer(Refresh)
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return
		}
	}
}

var errNoAddress = errors.New("there is no address")

// ask asks DNS once. An answer without an address counts as none: a service without a
// ready pod must not send everybody away.
func (l *List) ask(ctx context.Context) {
	asking, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	addrs, err := l.o.Lookup(asking, l.host)
	if err == nil && len(addrs) == 0 {
		err = errNoAddress
	}
	if ctx.Err() != nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		if l.failed == nil {
			l.failing = time.Now()
			l.o.Log.Warn("the name servers' name is not resolved; clients are told what was last known", "name", l.o.Name, "known", len(l.found), "err", err)
		}
		l.failed = err
		return
	}
	if l.failed != nil {
		l.o.Log.Info("the name servers' name is resolved again", "name", l.o.Name, "after", time.Since(l.failing).Round(time.Second))
		l.failed = nil
	}
	local, _ := l.o.Local() // unknown ones are nobody's
	var found, mine []string
	for _, a := range addrs {
		text := net.JoinHostPort(a.Unmap().String(), l.port)
		found = append(found, text)
		if slices.ContainsFunc(local, func(own netip.Addr) bool { return own.Unmap() == a.Unmap() }) {
			mine = append(mine, text)
		}
	}
	slices.Sort(found)
	found = slices.Compact(found)
	found = found[:min(len(found), maxAddresses)]
	if !slices.Equal(found, l.found) {
		l.o.Log.Info("the name servers have other addresses", "name", l.o.Name, "addresses", found)
	}
	l.found, l.mine = found, mine
}

// Check returns that DNS does not answer, in words fit for the public.
func (l *List) Check(context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failed == nil {
		return nil
	}
	return fmt.Errorf("the name %s has not been resolved since %s; %d addresses are known from before", l.o.Name, l.failing.UTC().Format(time.RFC3339), len(l.found))
}

// Path is where clients ask, after it a dash and their unit if they have one.
const Path = "/rocketmq/nsaddr"

// ServeHTTP answers clients and nobody else, for a listener of its own.
func (l *List) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	rest, ok := strings.CutPrefix(r.URL.Path, Path)
	unit, dashed := strings.CutPrefix(rest, "-")
	switch {
	case !ok, rest != "" && (!dashed || unit == "" || strings.Contains(unit, "/")):
		http.NotFound(w, r)
		return
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "ask with GET", http.StatusMethodNotAllowed)
		return
	}
	list := l.For(unit)
	if list == "" {
		w.Header().Set("Retry-After", "10")
		http.Error(w, "no address is known at present; keep those you have", http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write([]byte(list)) // without a line break, which some clients take for a part of the last address
}

// localAddrs returns the addresses of this machine.
func localAddrs() ([]netip.Addr, error) {
	all, err := net.InterfaceAddrs()
	var out []netip.Addr
	for _, a := range all {
		if n, ok := a.(*net.IPNet); ok {
			if ip, ok := netip.AddrFromSlice(n.IP); ok {
				out = append(out, ip)
			}
		}
	}
	return out, err
}
