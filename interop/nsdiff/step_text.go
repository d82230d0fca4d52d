package main

import (
	"fmt"
	"strconv"
	"strings"
)

func verName(v int) string {
	if n, ok := verNames[v]; ok {
		return n
	}
	return strconv.Itoa(v)
}

func codeName(c int) string {
	if n, ok := codeNames[c]; ok {
		return fmt.Sprintf("%d %s", c, n)
	}
	return fmt.Sprintf("%d", c)
}

func clip(s string, n int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len([]rune(s)) <= n {
		return s
	}
	return string([]rune(s)[:n]) + "…"
}

// String is the readable form used in reports.
func (s *Step) String() string {
	var b strings.Builder
	if s.Name != "" {
		fmt.Fprintf(&b, "[%s] ", s.Name)
	}
	switch s.Op {
	case "closemany":
		fmt.Fprintf(&b, "close connections %s at once", strings.Join(s.Conns, " "))
		return b.String()
	case "close", "rst", "half":
		what := map[string]string{"close": "close connection (FIN)", "rst": "close connection (RST)", "half": "shut down the writing side"}[s.Op]
		fmt.Fprintf(&b, "%s %s", what, s.Conn)
		return b.String()
	case "raw":
		r := s.Raw
		fmt.Fprintf(&b, "raw bytes on %s:", map[bool]string{true: "a used connection", false: "a new connection"}[r.Warm])
		if r.Bytes != "" {
			fmt.Fprintf(&b, " %s", clip(r.Bytes, 160))
		} else {
			if r.Len != nil {
				fmt.Fprintf(&b, " frameLength=%d", *r.Len)
			}
			if r.HLen != nil {
				fmt.Fprintf(&b, " headerLength=%d", *r.HLen)
			}
			fmt.Fprintf(&b, " type=%d header=%s%s", r.Enc, clip(r.Hdr, 300), clip(r.HdrHex, 120))
			if r.Body != "" {
				fmt.Fprintf(&b, " body=%q", clip(r.Body, 80))
			}
			if r.Cut > 0 {
				fmt.Fprintf(&b, " cut after %d bytes", r.Cut)
			}
		}
		return b.String()
	case "pipe":
		fmt.Fprintf(&b, "%s: %d requests at once:", s.Conn, len(s.Pipe))
		for _, p := range s.Pipe {
			fmt.Fprintf(&b, "\n        %s", p)
		}
		return b.String()
	case "tls":
		fmt.Fprintf(&b, "TLS handshake, then ")
	case "expire":
		fmt.Fprintf(&b, "wait for the heartbeat timeout after ")
	}
	fmt.Fprintf(&b, "%s %s v=%s", s.Conn, codeName(s.codeOf()), verName(s.Ver))
	if s.Enc != "" {
		fmt.Fprintf(&b, " header=%s", s.Enc)
	}
	if s.Lang != "" {
		fmt.Fprintf(&b, " lang=%s", s.Lang)
	}
	if s.Flag != 0 {
		fmt.Fprintf(&b, " flag=%d", s.Flag)
	}
	if s.Oneway {
		b.WriteString(" oneway")
	}
	if s.Chunk > 0 {
		fmt.Fprintf(&b, " in pieces of %d", s.Chunk)
	}
	if s.NoExt {
		b.WriteString(" (no extFields)")
	}
	if r := s.Reg; r != nil {
		fmt.Fprintf(&b, " %s/%s id=%s addr=%s ha=%s", r.Cluster, r.Name, r.ID, r.Addr, r.HA)
		opt := func(k, v string) {
			if v != "" {
				fmt.Fprintf(&b, " %s=%s", k, v)
			}
		}
		opt("timeout", r.Timeout)
		opt("actingMaster", r.Acting)
		if r.Zone != nil {
			fmt.Fprintf(&b, " zone=%q", *r.Zone)
		}
		opt("compressed", r.Comp)
		opt("crc", r.CRC)
		opt("omitted", strings.Join(r.Omit, ","))
		for _, k := range sortedKeys(r.Extra) {
			fmt.Fprintf(&b, " %s=%q", k, r.Extra[k])
		}
		fmt.Fprintf(&b, " body=%s", r.Form)
		if r.DV != nil {
			fmt.Fprintf(&b, " dv(state=%d,counter=%d,time=%d)", r.DV.State, r.DV.Counter, r.DV.Time)
		}
		var ts []string
		for _, t := range r.Topics {
			k := ""
			if t.Key != "" {
				k = t.Key + "→"
			}
			ts = append(ts, fmt.Sprintf("%s%s(r%d,w%d,perm%d,flag%d)", k, t.Name, t.R, t.W, t.Perm, t.Flag))
		}
		if len(ts) > 0 || r.NoTable {
			fmt.Fprintf(&b, " topics=%s", strings.Join(ts, " "))
			if r.NoTable {
				b.WriteString("(no table)")
			}
		}
		if len(r.Filters) > 0 {
			fmt.Fprintf(&b, " filters=%v", r.Filters)
		}
		for _, m := range r.Maps {
			fmt.Fprintf(&b, " map %s→%s", m.Topic, m.json())
		}
		if r.Cut > 0 {
			fmt.Fprintf(&b, " cut=%d", r.Cut)
		}
	}
	for _, k := range sortedKeys(s.Ext) {
		fmt.Fprintf(&b, " %s=%q", k, s.Ext[k])
	}
	for _, k := range s.Null {
		fmt.Fprintf(&b, " %s=null", k)
	}
	if s.Hex != "" {
		fmt.Fprintf(&b, " body(hex)=%s", clip(s.Hex, 120))
	} else if s.Body != nil {
		fmt.Fprintf(&b, " body=%q", clip(*s.Body, 300))
	}
	return b.String()
}
