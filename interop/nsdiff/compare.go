package main

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Classes of difference, strongest first.
const (
	cHard     = "hard"     // another answer, another state, another push, another fate of the connection
	cForm     = "form"     // same meaning, other bytes
	cExpected = "expected" // one of those that docs/differences.md explains; Anchor says which
)

var classOrder = []string{cHard, cForm, cExpected}

// diff is one difference between the two sides.
type diff struct {
	Class  string
	Anchor string // of an expected one: its entry in docs/differences.md
	Where  string // exact place
	Gen    string // the same without names and numbers: the signature of the difference
	A, B   string
	Part   bool   // the two sides have parted: going on would only show consequences
	Asked  *asked // the question whose answers differ, nil where there was none
}

// asked is a question put to both sides.
type asked struct {
	code, ver int
	ext       map[string]string
}

func (d diff) String() string {
	return fmt.Sprintf("%-6s %s\n           A: %s\n           B: %s", d.Class, d.Where, clip(d.A, 700), clip(d.B, 700))
}

// Objects that are maps in the oracle (their members come in hash order) as opposed to beans.
var mapMembers = map[string]bool{
	"brokerAddrTable": true, "clusterAddrTable": true, "brokerAddrs": true, "filterServerTable": true,
	"table": true, "topicQueueMappingByBroker": true, "currIdMap": true, "extFields": true,
}

// Lists whose order is a hash order in the oracle.
var hashLists = map[string]bool{"topicList": true, "brokerDatas": true, "queueDatas": true, "clusterAddrTable[]": true}

// Settings that say where a server lives.
var localConfig = map[string]bool{"listenPort": true, "configStorePath": true, "kvConfigPath": true, "bindAddress": true}

// Settings of the Java process, its network library and thread pools: another implementation need not have them.
var tuningConfig = regexp.MustCompile(`^(server[A-Z].*|client(Request|Worker|Callback|Channel|Oneway|Async|Socket|Close|Pooled|Netty).*|writeBuffer.*|useEpoll.*|useTLS|enableShutdownGracefully|shutdownWaitTimeSeconds|defaultThreadPool.*|unRegisterBrokerQueueCapacity|rocketmqHome)$`)

var (
	javaException = regexp.MustCompile(`^(?:java|javax|org|com|io|sun)\.[\w.$]*?([A-Z]\w*(?:Exception|Error))\b`)
	identityHash  = regexp.MustCompile(`@[0-9a-f]{4,8}\b`)
)

type comparer struct {
	diffs []diff
	addrs map[string]bool         // addresses the oracle knows (for choices)
	mixed func(topic string) bool // do the queue datas of this topic disagree about its flags?
	// the request carries no opaque: the oracle then answers with a running number of its own
	anyOpaque bool
	now       time.Time
	asked     *asked // what is being compared are answers to this
}

func (c *comparer) add(class, where, gen, a, b string) {
	c.diffs = append(c.diffs, diff{Class: class, Where: where, Gen: gen, A: a, B: b, Asked: c.asked})
}

// expect notes a difference that is told for an expected one by nothing but the two answers.
func (c *comparer) expect(anchor, where, gen, a, b string) {
	c.diffs = append(c.diffs, diff{Class: cExpected, Anchor: anchor, Where: where, Gen: gen, A: a, B: b, Asked: c.asked})
}

func describeFrame(f *frame) string {
	if f == nil {
		return "(nothing)"
	}
	if f.err != nil {
		return fmt.Sprintf("unreadable frame (%v) %q", f.err, clip(string(f.head), 200))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "code=%d", f.hdr.code)
	if f.hdr.hasRemark {
		fmt.Fprintf(&b, " remark=%q", f.hdr.remark)
	}
	for _, k := range sortedKeys(f.hdr.ext) {
		fmt.Fprintf(&b, " %s=%q", k, f.hdr.ext[k])
	}
	if len(f.body) > 0 {
		fmt.Fprintf(&b, " body=%s", clip(string(f.body), 1500))
	}
	return b.String()
}

// answer compares two answers to one request; code is that of the request, sorted says whether maps come sorted.
func (c *comparer) answer(code int, sorted bool, where string, a, b *frame) {
	gen := strconv.Itoa(code)
	if a == nil || b == nil {
		if a != b {
			c.add(cHard, where+" answer", gen+" answer", describeFrame(a), describeFrame(b))
		}
		return
	}
	if a.err != nil || b.err != nil {
		if (a.err == nil) != (b.err == nil) || !bytes.Equal(a.head, b.head) {
			c.add(cHard, where+" header", gen+" header unreadable", describeFrame(a), describeFrame(b))
		}
		return
	}
	h, g := &a.hdr, &b.hdr
	if a.enc != b.enc {
		c.add(cHard, where+" header encoding", gen+" header encoding", strconv.Itoa(a.enc), strconv.Itoa(b.enc))
	}
	if h.code != g.code {
		c.add(cHard, where+" code", fmt.Sprintf("%s code %d/%d", gen, h.code, g.code), describeFrame(a), describeFrame(b))
	}
	if h.flag != g.flag {
		c.add(cHard, where+" flag", gen+" flag", strconv.Itoa(h.flag), strconv.Itoa(g.flag))
	}
	if h.opaque != g.opaque && !c.anyOpaque {
		c.add(cHard, where+" opaque", gen+" opaque", strconv.Itoa(h.opaque), strconv.Itoa(g.opaque))
	}
	if h.lang != g.lang {
		c.add(cForm, where+" language", gen+" language", h.lang, g.lang)
	}
	c.remark(where, gen, h, g)
	c.ext(where, gen, h, g)
	c.headForm(where, gen, h, g)
	c.body(code, sorted, where, gen, a.body, b.body)
}

// version of the answering server is not compared: it legitimately differs.

func (c *comparer) remark(where, gen string, h, g *header) {
	if h.remark == g.remark {
		if h.hasRemark != g.hasRemark {
			c.add(cForm, where+" remark null or empty", gen+" remark null or empty", fmt.Sprint(h.hasRemark), fmt.Sprint(g.hasRemark))
		}
		return
	}
	x, y := identityHash.ReplaceAllString(h.remark, "@#"), identityHash.ReplaceAllString(g.remark, "@#")
	if x == y {
		return
	}
	if m := javaException.FindString(x); m != "" {
		// A hot exception is thrown without message and stack by the JVM (OmitStackTraceInFastThrow).
		if strings.HasPrefix(y, m) && (x == m || y == m) {
			return
		}
		c.expect("exception-text", where+" remark (Java exception text)", gen+" remark: exception text", h.remark, g.remark)
		return
	}
	c.add(cHard, where+" remark", gen+" remark", quoteOrNone(h), quoteOrNone(g))
}

func quoteOrNone(h *header) string {
	if !h.hasRemark {
		return "(none)"
	}
	return strconv.Quote(h.remark)
}

func (c *comparer) ext(where, gen string, h, g *header) {
	keys := map[string]bool{}
	for k := range h.ext {
		keys[k] = true
	}
	for k := range g.ext {
		keys[k] = true
	}
	for _, k := range sortedKeys(keys) {
		x, okx := h.ext[k]
		y, oky := g.ext[k]
		if okx != oky || x != y {
			show := func(v string, ok bool) string {
				if !ok {
					return "(absent)"
				}
				return strconv.Quote(v)
			}
			c.add(cHard, where+" ext."+k, gen+" ext."+k, show(x, okx), show(y, oky))
		}
	}
	if h.hasExt != g.hasExt {
		c.add(cForm, where+" extFields {} or absent", gen+" extFields {} or absent", fmt.Sprint(h.hasExt), fmt.Sprint(g.hasExt))
	}
	if strings.Join(h.extNull, ",") != strings.Join(g.extNull, ",") {
		c.add(cForm, where+" ext nulls", gen+" ext nulls", fmt.Sprint(h.extNull), fmt.Sprint(g.extNull))
	}
}

func (c *comparer) headForm(where, gen string, h, g *header) {
	if h.doc == nil || g.doc == nil {
		return
	}
	list := func(n *node) string {
		var p []string
		for _, m := range n.mem {
			if m.key == "remark" || m.key == "extFields" {
				continue // their presence is compared above
			}
			q := m.key
			if m.bare {
				q = "bare " + q
			}
			p = append(p, q)
		}
		return strings.Join(p, " ")
	}
	if x, y := list(h.doc), list(g.doc); x != y {
		c.add(cForm, where+" header members", gen+" header members", x, y)
	}
	if x, y := h.doc.get("serializeTypeCurrentRPC").strOr(""), g.doc.get("serializeTypeCurrentRPC").strOr(""); x != y {
		c.add(cForm, where+" serializeTypeCurrentRPC", gen+" serializeTypeCurrentRPC", x, y)
	}
	if h.space != g.space {
		c.add(cForm, where+" white space in the header", gen+" header white space", fmt.Sprint(h.space), fmt.Sprint(g.space))
	}
	if x, y := h.doc.get("extFields"), g.doc.get("extFields"); x != nil && y != nil && x.kind == kObject {
		for _, m := range x.mem {
			if o := y.get(m.key); o != nil && o.kind == m.val.kind && o.str == m.val.str && o.raw != m.val.raw {
				c.add(cForm, where+" ext."+m.key+" escapes", gen+" ext."+m.key+" escapes", m.val.raw, o.raw)
			}
		}
	}
	if x, y := h.doc.get("remark"), g.doc.get("remark"); x != nil && y != nil && x.str == y.str && x.raw != y.raw {
		c.add(cForm, where+" remark escapes", gen+" remark escapes", x.raw, y.raw)
	}
}
