package wire

import (
	"bytes"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// allocated returns how many bytes f allocates. Whoever compares it with a bound
// leaves room for what the fuzzing engine does at the same time.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// slack is what the engine and the errors may allocate besides.
const slack = 128 << 10

// mustStayUnder runs f and fails if it allocates more than factor bytes for each byte
// of input, and a constant.
func mustStayUnder(t *testing.T, input, factor, constant int, f func()) {
	t.Helper()
	if got, bound := allocated(f), uint64(input*factor+constant+slack); got > bound {
		t.Errorf("%d bytes of input cost %d bytes of memory, more than %d", input, got, bound)
	}
}

func FuzzFrame(f *testing.F) {
	for _, r := range recordedFrames(f) {
		f.Add(r.bytes)
	}
	f.Add([]byte{})
	f.Add(unhex(f, "7fffffff 00000000"))
	f.Fuzz(func(t *testing.T, b []byte) {
		lim := FrameLimits{Frame: 1 << 16, Header: 1 << 12}
		frame, size, ok, err := SplitFrame(b, lim)
		if err != nil {
			if ok || size != 0 {
				t.Fatalf("an error with size %d, ok %v", size, ok)
			}
			// What is wrong is wrong with more bytes too.
			if _, _, ok, err := SplitFrame(append(bytes.Clone(b), make([]byte, 64)...), lim); ok || err == nil {
				t.Error("more bytes made it right")
			}
			return
		}
		if ok != (size >= prefixSize && size <= len(b)) || size > lim.Frame {
			t.Fatalf("size %d, ok %v of %d bytes", size, ok, len(b))
		}
		if !ok {
			return
		}
		if len(frame.Header) > lim.Header || prefixSize+len(frame.Header)+len(frame.Body) != size {
			t.Fatalf("header %d, body %d in a frame of %d", len(frame.Header), len(frame.Body), size)
		}
		checkFast(t, frame)
		var c Command
		if c.Decode(frame) == nil {
			checkAgain(t, &c)
		}
	})
}

// checkAgain writes a decoded command in both encodings and fails if it does not
// come back, as far as they can express it.
func checkAgain(t *testing.T, c *Command) {
	t.Helper()
	empty := cmp.Transformer("empty", dropEmptyFields)
	for _, typ := range []HeaderType{JSONHeader, BinaryHeader} {
		frame, err := c.AppendTo(nil, typ)
		if err != nil {
			if typ == JSONHeader {
				t.Fatal(err)
			}
			continue // a code or version beyond 16 bits
		}
		cut, _, ok, err := SplitFrame(frame, FrameLimits{Frame: 1 << 30, Header: MaxHeader})
		if !ok || err != nil {
			t.Fatalf("what was written is no frame: %v", err)
		}
		var got Command
		if err := got.Decode(cut); err != nil {
			t.Fatalf("%s header that was written cannot be read: %v\n%q", typ, err, cut.Header)
		}
		want := *c
		want.NoOpaque = false
		if typ == JSONHeader && !want.Language.known() {
			want.Language = Java // left out, as null is
		}
		if typ == BinaryHeader { // empty texts and empty sets are none there
			want.HasRemark = want.Remark != ""
			want.Ext = nil
			for _, f := range c.Ext {
				if f.Name != "" && f.Value != "" {
					want.Ext = append(want.Ext, f)
				}
			}
			want.HasExt = len(c.Ext) > 0
		}
		if diff := cmp.Diff(&want, &got, empty); diff != "" {
			t.Fatalf("%s (-want +got):\n%s", typ, diff)
		}
	}
}

func addHeaders(f *testing.F, typ HeaderType) {
	for _, r := range recordedFrames(f) {
		if frame, _, ok, err := SplitFrame(r.bytes, FrameLimits{}); ok && err == nil && frame.Type == typ {
			f.Add(frame.Header)
		}
	}
}

func fuzzHeader(t *testing.T, typ HeaderType, header []byte) {
	if len(header) > 1<<16 {
		return
	}
	var c Command
	var err error
	frame := Frame{Type: typ, Header: header}
	mustStayUnder(t, len(header), 8, 32<<10, func() { err = c.Decode(frame) })
	took := checkFast(t, frame)
	if err != nil {
		if took {
			t.Error("the fast reader took what cannot be read")
		}
		return
	}
	if len(c.Ext) > MaxFields {
		t.Errorf("%d fields", len(c.Ext))
	}
	checkAgain(t, &c)
}

func FuzzHeaderJSON(f *testing.F) {
	addHeaders(f, JSONHeader)
	f.Add([]byte(`{'a':[{"b":1e5},null,true,],"extFields":{"x":{"y":"\u0041"}},"opaque":"12x",/*c*/}`))
	f.Fuzz(func(t *testing.T, header []byte) { fuzzHeader(t, JSONHeader, header) })
}

func FuzzHeaderBinary(f *testing.F) {
	addHeaders(f, BinaryHeader)
	f.Fuzz(func(t *testing.T, header []byte) { fuzzHeader(t, BinaryHeader, header) })
}

// FuzzFastPath builds headers that are nearly plain, since random bytes are not: the
// topic and one more member are the engine's.
func FuzzFastPath(f *testing.F) {
	f.Add("TopicA", `"flag":0`, int32(2))
	f.Add("%RETRY%g", `"language":"GO","version":317`, int32(-1))
	f.Add(`a","topic":"b`, `"extFields":{"topic":"c"}`, int32(0))
	f.Add("a\\u0041", `"opaque":7`, int32(0))
	f.Fuzz(func(t *testing.T, topic, member string, opaque int32) {
		if len(topic)+len(member) > 1<<12 {
			return
		}
		header := []byte(`{"code":105,"extFields":{"topic":"` + topic + `"},"opaque":`)
		header = appendInt(header, int64(opaque))
		if member != "" {
			header = append(append(header, ','), member...)
		}
		header = append(header, '}')
		checkFast(t, Frame{Type: JSONHeader, Header: header})

		c := Command{Code: 105, Opaque: opaque, Ext: Fields{{FieldTopic, topic}, {member, topic}}}
		if frame, err := c.AppendTo(nil, BinaryHeader); err == nil {
			checkFast(t, split(t, frame))
		}
	})
}

func appendInt(b []byte, n int64) []byte {
	v := DataVersion{Counter: n}.AppendJSON(nil) // {"counter":n,…
	return append(b, v[len(`{"counter":`):bytes.IndexByte(v, ',')]...)
}

func addBodies(f *testing.F, take func(r *recorded) bool) {
	for _, r := range recordedFrames(f) {
		if frame, _, ok, err := SplitFrame(r.bytes, FrameLimits{}); ok && err == nil && frame.Body != nil && take(r) {
			f.Add(frame.Body)
		}
	}
}

func fuzzRegister(t *testing.T, body []byte, v Version, compressed bool) {
	if len(body) > 1<<16 {
		return
	}
	d := RegisterDecoder{
		MaxInflated: 1 << 20, MaxTopics: 1000, MaxMappings: 1000,
		Intern:  func([]byte) string { return "x" },
		Topic:   func(*TopicConfig) {},
		Mapping: func(string, *TopicMapping) {},
	}
	// Without what the callbacks keep. A compressed body may hold a thousand times its size.
	constant, factor := 64<<10, 64
	if compressed || isZlib(body) {
		constant = 2<<20 + 256<<10
	}
	mustStayUnder(t, len(body), factor, constant, func() { _, _ = d.Decode(body, v, compressed, testNow) })

	reg, err := decodeRegistration(body, v, compressed)
	if err != nil {
		return
	}
	if reg.RegisterSummary.Topics != len(reg.Topics) {
		t.Fatalf("%d topics counted, %d given", reg.RegisterSummary.Topics, len(reg.Topics))
	}
	for i := range reg.Topics {
		if reg.Topics[i].FilterType == UnknownFilter {
			reg.Topics[i].FilterType = SingleTag // null is left out, and what is missing is this
		}
	}
	// Written and read again it is the same.
	again := &RegisterBody{DataVersion: reg.DataVersion, Topics: reg.Topics, FilterServers: reg.FilterServers}
	got, err := decodeRegistration(again.AppendJSON(nil), V5_5_0, false)
	if err != nil {
		t.Fatalf("what was written cannot be read: %v", err)
	}
	reg.Mappings = map[string]TopicMapping{}
	reg.HasFilterServers = true // what is written is always a list
	if want := reg.brief(); reg.Skipped == 0 && got.brief() != want {
		t.Fatalf("written and read: %s, want %s", got.brief(), want)
	}
}

func FuzzRegisterJSON(f *testing.F) {
	addBodies(f, func(r *recorded) bool { return r.Asked == RegisterBroker && r.Dir == "req" })
	f.Add([]byte(topicWith(`"attributes":{"a":"b"}`)))
	f.Add([]byte(mappings(`{"T":{"bname":"b","currIdMap":{1:1,0:7}}}`)))
	f.Fuzz(func(t *testing.T, body []byte) {
		fuzzRegister(t, body, V5_5_0, false)
		fuzzRegister(t, body, V3_0_11-1, false)
	})
}

func FuzzRegisterCompressed(f *testing.F) {
	f.Add(unhex(f, javaCompressed), false)
	addInflated := func(b []byte) { f.Add(b, true) }
	addInflated(oneTopic(`T 4 4 6 SINGLE_TAG {"a":"b"}`).b)
	addInflated(new(stream).entry(compressedVersion).count(0).entry(`["f"]`).count(1).entry(`{"bname":"b","topic":"T","currIdMap":{0:3}}`).b)
	f.Fuzz(func(t *testing.T, body []byte, deflate bool) {
		if deflate { // the engine cannot make a checksum that fits
			if len(body) > 1<<14 {
				return
			}
			body = (&stream{body}).deflate()
		}
		fuzzRegister(t, body, V5_5_0, true)
		fuzzRegister(t, body, V4_9_4, true)
	})
}

func FuzzRoute(f *testing.F) {
	addBodies(f, func(r *recorded) bool { return r.Asked == GetRouteInfoByTopic || r.Asked == RegisterTopicInNamesrv })
	f.Add([]byte(fullRouteLegacy))
	f.Add([]byte(fullRouteStrict))
	f.Fuzz(func(t *testing.T, body []byte) {
		if len(body) > 1<<16 {
			return
		}
		var route *Route
		var err error
		mustStayUnder(t, len(body), 256, 64<<10, func() { route, err = DecodeRoute(body) })
		if err != nil {
			return
		}
		for _, d := range []Dialect{Legacy, Strict} {
			text := route.AppendJSON(nil, d)
			got, err := DecodeRoute(text)
			if err != nil {
				t.Fatalf("what was written cannot be read: %v\n%s", err, text)
			}
			if again := got.AppendJSON(nil, d); !bytes.Equal(text, again) {
				t.Fatalf("written twice:\n%s\n%s", text, again)
			}
		}
	})
}

// FuzzLooseJSON reads values of every kind and checks that one that was read as a
// text of compact JSON reads as the same again.
func FuzzLooseJSON(f *testing.F) {
	addHeaders(f, JSONHeader)
	for _, s := range []string{
		`{"a":[1,2,{"b":null}],'c':"d\n\u4e2d",1:-1.5e3}`, `[[[]]]`, `"\uD83D\uDE00"`, `12x`, `-`, `/*`, `{"a":}`, `[1,]`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		if len(in) > 1<<14 {
			return
		}
		skipped := &cursor{b: in, bareNumbers: true}
		mustStayUnder(t, len(in), 4, 4<<10, func() { skipped.document((*cursor).skip) })
		var text string
		var present bool
		r := &cursor{b: in, bareNumbers: true}
		mustStayUnder(t, len(in), 16, 4<<10, func() {
			r.document(func(r *cursor) { text, present = r.string() })
		})
		if (skipped.err == nil) != (r.err == nil) {
			t.Fatalf("skipping says %v, reading says %v", skipped.err, r.err)
		}
		for _, read := range []func(*cursor){
			func(r *cursor) { r.int32() }, func(r *cursor) { r.int64() }, func(r *cursor) { r.boolean() },
			func(r *cursor) { r.filterType() }, func(r *cursor) { r.queueIDs(nil) }, func(r *cursor) { r.nameNumber() },
		} {
			r := &cursor{b: in, bareNumbers: true}
			r.document(read)
			if r.i > len(in) {
				t.Fatalf("read to %d of %d", r.i, len(in))
			}
		}
		if r.err != nil || !present || len(text) == 0 || text[0] != '{' && text[0] != '[' || in[0] == '"' || in[0] == '\'' {
			return
		}
		again := &cursor{b: []byte(text)}
		var same string
		again.document(func(r *cursor) { same, _ = r.string() })
		if again.err != nil || same != text {
			t.Fatalf("%s reads as %s, %v", text, same, again.err)
		}
	})
}

// FuzzAnswers reads the bodies that clients get.
func FuzzAnswers(f *testing.F) {
	addBodies(f, func(r *recorded) bool { return r.Dir == "resp" && r.Asked != GetNamesrvConfig })
	f.Fuzz(func(t *testing.T, body []byte) {
		if len(body) > 1<<14 {
			return
		}
		check := func(name string, write func() ([]byte, error), read func([]byte) ([]byte, error)) {
			text, err := write()
			if err != nil {
				return
			}
			again, err := read(text)
			if err != nil || !bytes.Equal(text, again) {
				t.Fatalf("%s: %v, written twice:\n%s\n%s", name, err, text, again)
			}
		}
		cluster := func(b []byte) ([]byte, error) {
			c, err := DecodeClusterInfo(b)
			if err != nil {
				return nil, err
			}
			return c.AppendJSON(nil), nil
		}
		group := func(b []byte) ([]byte, error) {
			g, err := DecodeMemberGroup(b)
			if err != nil {
				return nil, err
			}
			return g.AppendJSON(nil), nil
		}
		list := func(b []byte) ([]byte, error) {
			l, err := DecodeTopicList(b)
			if err != nil {
				return nil, err
			}
			return l.AppendJSON(nil), nil
		}
		table := func(b []byte) ([]byte, error) {
			kvs, err := DecodeKVTable(b)
			return AppendKVTable(nil, kvs), err
		}
		version := func(b []byte) ([]byte, error) {
			v, _, err := DecodeDataVersion(b, testNow)
			return v.AppendJSON(nil), err
		}
		for name, f := range map[string]func([]byte) ([]byte, error){"106": cluster, "901": group, "206": list, "219": table, "322": version} {
			check(name, func() ([]byte, error) { return f(body) }, f)
		}
	})
}
