package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

type mutation struct {
	name    string
	what    string
	profile string // where it should show
	req     func(h *header, body []byte) ([]byte, bool)
	resp    func(q *header, f *frame) int // bit set: rChanged, rTwice, rClose, rBinary
	push    func(n int, p pushed) []pushed
	hole    bool // swallow everything after a frame that cannot be read
	deaf    bool // do not pass on that the client closed
}

const (
	rSame    = 0
	rChanged = 1
	rTwice   = 2
	rClose   = 4
	rBinary  = 8
)

func edit(f *frame, fn func(n *node)) int {
	n, _, err := parseJSON(string(f.body))
	if err != nil {
		return rSame
	}
	fn(n)
	t := n.text(false)
	if t == string(f.body) {
		return rSame
	}
	f.body = []byte(t)
	return rChanged
}

// text writes a node back, bare keys kept (or made, for numbers).
func (n *node) text(bare bool) string {
	var b strings.Builder
	n.write(&b, bare)
	return b.String()
}

func (n *node) write(b *strings.Builder, bare bool) {
	switch n.kind {
	case kObject:
		b.WriteByte('{')
		for i, m := range n.mem {
			if i > 0 {
				b.WriteByte(',')
			}
			if _, err := strconv.Atoi(m.key); err == nil && (m.bare || bare) {
				b.WriteString(m.key)
			} else {
				b.WriteString(quoteJSON(m.key))
			}
			b.WriteByte(':')
			m.val.write(b, bare)
		}
		b.WriteByte('}')
	case kArray:
		b.WriteByte('[')
		for i, v := range n.arr {
			if i > 0 {
				b.WriteByte(',')
			}
			v.write(b, bare)
		}
		b.WriteByte(']')
	default:
		b.WriteString(n.raw)
	}
}

func (n *node) drop(key string) {
	for i := range n.mem {
		if n.mem[i].key == key {
			n.mem = append(n.mem[:i], n.mem[i+1:]...)
			return
		}
	}
}

func dropExt(h *header, k string) bool {
	_, ok := h.ext[k]
	delete(h.ext, k)
	h.extOrder = nil
	return ok
}

func setExt(h *header, k, v string) bool {
	if h.ext[k] == "" || h.ext[k] == v {
		return false
	}
	h.ext[k] = v
	return true
}

func onCode(code int, f func(h *header, body []byte) ([]byte, bool)) func(*header, []byte) ([]byte, bool) {
	return func(h *header, b []byte) ([]byte, bool) {
		if h.code != code {
			return b, false
		}
		return f(h, b)
	}
}

func answerTo(code int, f func(q *header, f *frame) int) func(*header, *frame) int {
	return func(q *header, fr *frame) int {
		if q == nil || q.code != code {
			return rSame
		}
		return f(q, fr)
	}
}

// mutationCheck runs every mutation and tells which are detected.
func (t *tester) mutationCheck(px *proxy, seed int64) int {
	missed := 0
	r := t.r
	r.cover.off = true
	px.enable(false)
	if err := t.fresh(); err != nil {
		fmt.Println(err)
		return 2
	}
	fmt.Printf("%-20s %-13s %-9s %-7s %s\n", "mutation", "profile", "detected", "checks", "first signature")
	for _, m := range mutationList {
		px.set(m.name)
		t.rp.found, t.rp.passed, t.rp.failed = map[string]*finding{}, 0, 0
		begin := time.Now()
		var got *finding
		for i := 0; got == nil && time.Since(begin) < 60*time.Second; i++ {
			px.enable(false)
			if err := t.fresh(); err != nil {
				fmt.Println(m.name, err)
				return 2
			}
			px.enable(true)
			d := defaults[m.profile]
			got = t.mutatedSequence(sequence(m.profile, seed*7919+int64(i), d.steps, m.profile == "actingmaster"), m)
		}
		px.enable(false)
		if got == nil {
			missed++
			fmt.Printf("%-20s %-13s %-9s %-7d\n", m.name, m.profile, "NO", t.rp.passed+t.rp.failed)
			continue
		}
		fmt.Printf("%-20s %-13s %-9s %-7d %s\n", m.name, m.profile, "yes", t.rp.passed+t.rp.failed, clip(got.Sig, 110))
	}
	fmt.Printf("%d passed, %d failed\n", len(mutationList)-missed, missed)
	if missed > 0 {
		return 1
	}
	return 0
}

func (t *tester) mutatedSequence(ss []*Step, m *mutation) *finding {
	check := func(ds []diff, s string) *finding {
		_, fresh := t.rp.record(ds, m.profile, 0, 0, s)
		for _, f := range fresh {
			if t.rp.counts(f.Example) {
				return f
			}
		}
		return nil
	}
	for i, s := range ss {
		res := t.r.step(s)
		if f := check(res.diffs, s.String()); f != nil {
			return f
		}
		if res.stop {
			return nil
		}
		if (i+1)%t.r.every == 0 || i == len(ss)-1 {
			if f := check(t.r.full(nil), "state"); f != nil {
				return f
			}
		}
	}
	return nil
}
