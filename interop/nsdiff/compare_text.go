package main

import (
	"fmt"
	"strconv"
	"strings"
)

func (c *comparer) config(where, gen, a, b string) {
	read := func(s string) (map[string]string, []string) {
		m := map[string]string{}
		var order []string
		for _, ln := range strings.Split(s, "\n") {
			k, v, ok := strings.Cut(ln, "=")
			if ln == "" {
				continue
			}
			if !ok {
				k, v = "text line", ln
			}
			m[k] = v
			order = append(order, k)
		}
		return m, order
	}
	x, ox := read(a)
	y, oy := read(b)
	for _, k := range ox {
		v, ok := y[k]
		if localConfig[k] && ok {
			continue
		}
		if ok && v == x[k] {
			continue
		}
		if !ok {
			v = "(absent)"
		}
		if tuningConfig.MatchString(k) {
			c.expect("tuning-settings", where+" config "+k, gen+" config "+k, x[k], v)
			continue
		}
		c.add(cHard, where+" config "+k, gen+" config "+k, x[k], v)
	}
	for _, k := range oy {
		if _, ok := x[k]; !ok {
			c.add(cHard, where+" config "+k, gen+" config extra", "(absent)", y[k])
		}
	}
	var so, sp []string
	for _, k := range ox {
		if _, ok := y[k]; ok {
			so = append(so, k)
		}
	}
	for _, k := range oy {
		if _, ok := x[k]; ok {
			sp = append(sp, k)
		}
	}
	if strings.Join(so, " ") != strings.Join(sp, " ") {
		c.add(cForm, where+" config line order", gen+" config line order", strings.Join(so, " "), strings.Join(sp, " "))
	}
	if strings.HasSuffix(a, "\n") != strings.HasSuffix(b, "\n") {
		c.add(cForm, where+" config last line end", gen+" config last line end", strconv.Quote(clip(a[max(0, len(a)-20):], 40)), strconv.Quote(clip(b[max(0, len(b)-20):], 40)))
	}
}

// pushes compares what the virtual brokers received, broker by broker.
func (c *comparer) pushes(where string, a, b []pushed, addrs []string) {
	split := func(ps []pushed) map[int][]*frame {
		m := map[int][]*frame{}
		for _, p := range ps {
			m[p.at] = append(m[p.at], p.f)
		}
		return m
	}
	x, y := split(a), split(b)
	for i := range addrs {
		p, q := x[i], y[i]
		for k := 0; k < len(p) || k < len(q); k++ {
			w := fmt.Sprintf("%s push %d to %s", where, k+1, addrs[i])
			switch {
			case k >= len(p):
				c.add(cHard, w, "push extra", "(nothing)", describeFrame(q[k]))
			case k >= len(q):
				c.add(cHard, w, "push missing", describeFrame(p[k]), "(nothing)")
			default:
				f, g := *p[k], *q[k]
				f.hdr.opaque, g.hdr.opaque = 0, 0
				c.answer(rcPush, false, w, &f, &g)
			}
		}
	}
}
