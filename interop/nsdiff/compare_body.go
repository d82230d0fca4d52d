package main

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

func (c *comparer) body(code int, sorted bool, where, gen string, a, b []byte) {
	if bytes.Equal(a, b) {
		return
	}
	if len(a) == 0 || len(b) == 0 {
		c.add(cHard, where+" body", gen+" body present", show(a), show(b))
		return
	}
	if code == rcGetConfig {
		c.config(where, gen, string(a), string(b))
		return
	}
	x, sx, ex := parseJSON(string(a))
	y, sy, ey := parseJSON(string(b))
	if ex != nil || ey != nil {
		if ex != nil && ey != nil && !javaIsh(a) {
			c.add(cHard, where+" body bytes", gen+" body bytes", show(a), show(b))
		} else {
			c.add(cHard, where+" body is not JSON", gen+" body is not JSON", fmt.Sprint(ex, " ", show(a)), fmt.Sprint(ey, " ", show(b)))
		}
		return
	}
	if sx != sy {
		c.add(cForm, where+" white space in the body", gen+" body white space", fmt.Sprint(sx), fmt.Sprint(sy))
	}
	c.value(code, where+" body", gen+" body", "", "", sorted, x, y)
}

func javaIsh(b []byte) bool { return len(b) > 0 && (b[0] == '{' || b[0] == '[') }

func show(b []byte) string {
	if len(b) == 0 {
		return "(no body)"
	}
	return string(b)
}

func (c *comparer) value(code int, where, gen, name, parent string, sorted bool, a, b *node) {
	if a.kind != b.kind {
		c.add(cHard, where, gen+" type", a.canon(), b.canon())
		return
	}
	switch a.kind {
	case kObject:
		c.object(code, where, gen, name, sorted, a, b)
	case kArray:
		key := name
		if parent == "clusterAddrTable" {
			key = "clusterAddrTable[]"
		}
		c.list(code, where, gen, key, sorted, a, b)
	case kNumber:
		if a.canon() != b.canon() {
			if name == "timestamp" && c.isNow(a.str) && c.isNow(b.str) {
				return
			}
			c.add(cHard, where, gen, a.str, b.str)
		} else if a.raw != b.raw {
			c.add(cForm, where+" number text", gen+" number text", a.raw, b.raw)
		}
	case kString:
		if a.str != b.str {
			if code == rcSysTopics && name == "brokerAddr" && c.addrs[a.str] && c.addrs[b.str] {
				c.expect("hash-choice", where, gen, a.str, b.str)
				return
			}
			c.add(cHard, where, gen, strconv.Quote(a.str), strconv.Quote(b.str))
		} else if a.raw != b.raw {
			c.add(cForm, where+" escapes", gen+" escapes", a.raw, b.raw)
		}
	case kBool:
		if a.str != b.str {
			c.add(cHard, where, gen, a.str, b.str)
		}
	}
}

func (c *comparer) isNow(s string) bool {
	v, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return false
	}
	d := c.now.UnixMilli() - v
	return d > -86400000 && d < 86400000
}

func (c *comparer) object(code int, where, gen, name string, sorted bool, a, b *node) {
	isMap := mapMembers[name]
	step := func(k string) (string, string) {
		if isMap {
			return where + "[" + k + "]", gen + "[]"
		}
		return where + "." + k, gen + "." + k
	}
	am, bm := map[string]*member{}, map[string]*member{}
	var ao, bo []string
	for i := range a.mem {
		am[a.mem[i].key] = &a.mem[i]
	}
	for i := range b.mem {
		bm[b.mem[i].key] = &b.mem[i]
	}
	for i := range a.mem {
		m := &a.mem[i]
		w, g := step(m.key)
		o := bm[m.key]
		switch {
		case o == nil && m.val.kind == kNull:
			c.add(cForm, w+" null or absent", g+" null or absent", "null", "(absent)")
			continue
		case o == nil:
			c.add(cHard, w, g+" absent", m.val.canon(), "(absent)")
			continue
		case m.val.kind == kNull && o.val.kind != kNull:
			c.add(cHard, w, g+" null", "null", o.val.canon())
			continue
		case m.val.kind != kNull && o.val.kind == kNull:
			c.add(cHard, w, g+" null", m.val.canon(), "null")
			continue
		}
		ao = append(ao, m.key)
		if m.bare != o.bare {
			c.add(cForm, w+" key quoting", g+" key quoting", m.rawKey, o.rawKey)
		} else if m.rawKey != o.rawKey {
			c.add(cForm, w+" key escapes", g+" key escapes", m.rawKey, o.rawKey)
		}
		c.value(code, w, g, m.key, name, sorted, m.val, o.val)
	}
	for i := range b.mem {
		m := &b.mem[i]
		w, g := step(m.key)
		o := am[m.key]
		if o == nil {
			if m.val.kind == kNull {
				c.add(cForm, w+" null or absent", g+" null or absent", "(absent)", "null")
			} else {
				c.add(cHard, w, g+" absent", "(absent)", m.val.canon())
			}
			continue
		}
		if (m.val.kind == kNull) == (o.val.kind == kNull) {
			bo = append(bo, m.key)
		}
	}
	if x, y := strings.Join(ao, " "), strings.Join(bo, " "); x != y {
		switch {
		case !isMap:
			c.add(cForm, where+" field order", gen+" field order", x, y)
		case sorted:
			c.add(cForm, where+" member order (the oracle sorts)", gen+" member order sorted", x, y)
		default:
			c.expect("hash-order", where+" member order", gen+" member order", x, y)
		}
	}
}

func (c *comparer) list(code int, where, gen, name string, sorted bool, a, b *node) {
	if !hashLists[name] {
		for i := 0; i < len(a.arr) || i < len(b.arr); i++ {
			w := fmt.Sprintf("%s[%d]", where, i)
			switch {
			case i >= len(a.arr):
				c.add(cHard, w, gen+"[] extra", "(absent)", b.arr[i].canon())
			case i >= len(b.arr):
				c.add(cHard, w, gen+"[] missing", a.arr[i].canon(), "(absent)")
			default:
				c.value(code, w, gen+"[]", "", name, sorted, a.arr[i], b.arr[i])
			}
		}
		return
	}
	ident := func(n *node) string {
		if n.kind == kObject {
			if v := n.get("brokerName"); v != nil {
				return v.strOr("")
			}
			return n.canon()
		}
		return n.strOr(n.canon())
	}
	used := make([]bool, len(b.arr))
	match := make([]int, len(a.arr))
	for i, x := range a.arr {
		match[i] = -1
		for j, y := range b.arr {
			if !used[j] && ident(x) == ident(y) {
				match[i], used[j] = j, true
				break
			}
		}
	}
	odd := func(x *node, inA bool) {
		note := c.add
		unit := code == rcUnitTopics || code == rcUnitSub || code == rcUnitSubNo
		if name == "topicList" && unit && c.mixed != nil && c.mixed(ident(x)) {
			note = func(_, where, gen, a, b string) { c.expect("hash-choice", where, gen, a, b) }
		}
		w := fmt.Sprintf("%s[%s]", where, ident(x))
		if inA {
			note(cHard, w, gen+"[] missing", x.canon(), "(absent)")
		} else {
			note(cHard, w, gen+"[] extra", "(absent)", x.canon())
		}
	}
	inOrder, last := true, -1
	for i, x := range a.arr {
		j := match[i]
		if j < 0 {
			odd(x, true)
			continue
		}
		if j < last {
			inOrder = false
		}
		last = j
		c.value(code, fmt.Sprintf("%s[%s]", where, ident(x)), gen+"[]", "", name, sorted, x, b.arr[j])
	}
	for j, y := range b.arr {
		if !used[j] {
			odd(y, false)
		}
	}
	if !inOrder {
		c.expect("hash-order", where+" list order", gen+" list order", a.canon(), b.canon())
	}
}
