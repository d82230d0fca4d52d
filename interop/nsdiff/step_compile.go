package main

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"strconv"
	"strings"
)

func (e *env) sub(s string) string {
	if strings.IndexByte(s, '@') < 0 {
		return s
	}
	for i, a := range e.addrs {
		s = strings.ReplaceAll(s, "@a"+strconv.Itoa(i)+"@", a)
	}
	return strings.ReplaceAll(s, "@u@", e.u)
}

func (d *DV) json() string {
	return fmt.Sprintf(`{"counter":%d,"stateVersion":%d,"timestamp":%d}`, d.Counter, d.State, baseTime+d.Time)
}

func (t *TopicSpec) filterName() string {
	if t.Filter == "" {
		return "SINGLE_TAG"
	}
	return t.Filter
}

func (t *TopicSpec) attrJSON() string {
	var p []string
	for _, k := range sortedKeys(t.Attr) {
		p = append(p, quoteJSON(k)+":"+quoteJSON(t.Attr[k]))
	}
	return "{" + strings.Join(p, ",") + "}"
}

func (t *TopicSpec) json() string {
	return fmt.Sprintf(`{"attributes":%s,"order":%v,"perm":%d,"readQueueNums":%d,"topicFilterType":%s,"topicName":%s,"topicSysFlag":%d,"writeQueueNums":%d}`,
		t.attrJSON(), t.Order, t.Perm, t.R, quoteJSON(t.filterName()), quoteJSON(t.Name), t.Flag, t.W)
}

func (m *MapSpec) json() string {
	var ids []string
	for _, p := range m.IDs {
		ids = append(ids, fmt.Sprintf(`"%d":%d`, p[0], p[1]))
	}
	sc := m.Scope
	if sc == "" {
		sc = "__global__"
	}
	return fmt.Sprintf(`{"bname":%s,"currIdMap":{%s},"dirty":%v,"epoch":%d,"scope":%s,"topic":%s,"totalQueues":%d}`,
		quoteJSON(m.Bname), strings.Join(ids, ","), m.Dirty, m.Epoch, quoteJSON(sc), quoteJSON(m.Topic), m.Total)
}

func (r *RegSpec) filterJSON() string {
	var p []string
	for _, f := range r.Filters {
		p = append(p, quoteJSON(f))
	}
	return "[" + strings.Join(p, ",") + "]"
}

func (r *RegSpec) wrapperJSON() string {
	var parts []string
	if r.DV != nil {
		parts = append(parts, `"dataVersion":`+r.DV.json())
	}
	if !r.NoTable {
		var ts []string
		for i := range r.Topics {
			t := &r.Topics[i]
			k := t.Key
			if k == "" {
				k = t.Name
			}
			ts = append(ts, quoteJSON(k)+":"+t.json())
		}
		parts = append(parts, `"topicConfigTable":{`+strings.Join(ts, ",")+"}")
	}
	if r.Maps != nil && r.Form == "full" {
		var ms []string
		for i := range r.Maps {
			m := &r.Maps[i]
			k := m.Key
			if k == "" {
				k = m.Topic
			}
			ms = append(ms, quoteJSON(k)+":"+m.json())
		}
		if r.Detail {
			parts = append(parts, `"mappingDataVersion":`+(&DV{}).json(), `"topicQueueMappingDetailMap":{}`)
		}
		parts = append(parts, `"topicQueueMappingInfoMap":{`+strings.Join(ms, ",")+"}")
	}
	return "{" + strings.Join(parts, ",") + "}"
}

func (r *RegSpec) deflated(ver int, e *env) []byte {
	var b bytes.Buffer
	put := func(s string) {
		s = e.sub(s)
		binary.Write(&b, binary.BigEndian, int32(len(s)))
		b.WriteString(s)
	}
	num := func(n int) { binary.Write(&b, binary.BigEndian, int32(n)) }
	dv := r.DV
	if dv == nil {
		dv = &DV{}
	}
	put(dv.json())
	num(len(r.Topics))
	for i := range r.Topics {
		t := &r.Topics[i]
		s := fmt.Sprintf("%s %d %d %d %s ", t.Name, t.R, t.W, t.Perm, t.filterName())
		if ver >= v4_9_4 {
			s += t.attrJSON()
		}
		put(s)
	}
	put(r.filterJSON())
	if ver >= v5_0_0 || r.Maps != nil {
		num(len(r.Maps))
		for i := range r.Maps {
			put(r.Maps[i].json())
		}
	}
	raw := b.Bytes()
	if r.Cut > 0 {
		raw = raw[:max(0, len(raw)-r.Cut)]
	}
	var z bytes.Buffer
	w, _ := zlib.NewWriterLevel(&z, zlib.BestCompression)
	w.Write(raw)
	w.Close()
	return z.Bytes()
}

func (r *RegSpec) isComp() bool { return strings.EqualFold(r.Comp, "true") && !r.Plain }

// compile makes header fields and body of a request step.
func (s *Step) compile(e *env) (h *header, enc int, body []byte) {
	h = &header{code: s.Code, version: s.Ver, flag: s.Flag, lang: s.Lang, ext: map[string]string{}, hasExt: !s.NoExt}
	if h.lang == "" {
		h.lang = "JAVA"
	}
	if s.Oneway {
		h.flag |= 2
	}
	if s.Enc == "rmq" {
		enc = encRMQ
	}
	for k, v := range s.Ext {
		h.ext[k] = e.sub(v)
	}
	h.extNull = s.Null
	switch {
	case s.Reg != nil:
		r := s.Reg
		h.code = rcRegister
		put := func(k, v string) { h.ext[k] = e.sub(v) }
		put("brokerName", r.Name)
		put("brokerAddr", r.Addr)
		put("clusterName", r.Cluster)
		put("haServerAddr", r.HA)
		put("brokerId", r.ID)
		if r.Timeout != "" {
			put("heartbeatTimeoutMillis", r.Timeout)
		}
		if r.Acting != "" {
			put("enableActingMaster", r.Acting)
		}
		if r.Zone != nil {
			put(extZone, *r.Zone)
		}
		if r.Comp != "" {
			put("compressed", r.Comp)
		}
		for k, v := range r.Extra {
			put(k, v)
		}
		for _, k := range r.Omit {
			delete(h.ext, k)
		}
		switch {
		case r.Form == "none":
		case r.Form == "text":
			if s.Body != nil {
				body = []byte(e.sub(*s.Body))
			}
			if s.Hex != "" {
				body, _ = hex.DecodeString(s.Hex)
			}
		case r.isComp():
			body = r.deflated(s.Ver, e)
		case r.Form == "old":
			body = []byte(e.sub(r.wrapperJSON()))
		default:
			t := `"topicConfigSerializeWrapper":` + r.wrapperJSON()
			if !r.NoFilt {
				t = `"filterServerList":` + r.filterJSON() + "," + t
			}
			body = []byte(e.sub("{" + t + "}"))
		}
		sum := int(crc32.ChecksumIEEE(body) & 0x7FFFFFFF)
		switch r.CRC {
		case "":
		case "right":
			put("bodyCrc32", strconv.Itoa(sum))
		case "wrong":
			put("bodyCrc32", strconv.Itoa(sum^1))
		default:
			put("bodyCrc32", r.CRC)
		}
	case s.Hex != "":
		body, _ = hex.DecodeString(s.Hex)
	case s.Body != nil:
		body = []byte(e.sub(*s.Body))
	}
	h.extOrder = sortedKeys(h.ext)
	return h, enc, body
}

// build makes the bytes of a malformed frame.
func (r *RawSpec) build(e *env, opaque int) []byte {
	if r.Bytes != "" {
		b, _ := hex.DecodeString(r.Bytes)
		return b
	}
	head := []byte(strings.ReplaceAll(e.sub(r.Hdr), "@op@", strconv.Itoa(opaque)))
	if r.HdrHex != "" {
		head, _ = hex.DecodeString(strings.ReplaceAll(r.HdrHex, "@op@", fmt.Sprintf("%08x", opaque)))
	}
	out := make([]byte, 8)
	hl := int64(len(head))
	if r.HLen != nil {
		hl = *r.HLen
	}
	fl := int64(4 + len(head) + len(e.sub(r.Body)))
	if r.Len != nil {
		fl = *r.Len
	}
	binary.BigEndian.PutUint32(out, uint32(fl))
	binary.BigEndian.PutUint32(out[4:], uint32(hl)&0xFFFFFF|uint32(r.Enc)<<24)
	out = append(out, head...)
	out = append(out, e.sub(r.Body)...)
	if r.Cut > 0 && r.Cut < len(out) {
		out = out[:r.Cut]
	}
	return out
}

// noOpaque: the header is JSON and does not say its opaque.
func (r *RawSpec) noOpaque() bool {
	return r.Bytes == "" && r.HdrHex == "" && (!strings.Contains(r.Hdr, `opaque`) || strings.Contains(r.Hdr, `"opaque":null`))
}
