package wire

import (
	"bytes"
	"compress/flate"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The body of a broker of 5.0 or later as the Java code compressed it.
const javaCompressed = `
	78da458ecd6ac3301084d53e8999b39ad8fd4bd02d872618da94d0d04b2942563689a96d19498604e377cf3a2d7497bd
	cc32339f1062dec3baae89e4a11e244234913ec987d23550a9442c6b62b16ea1b259fa3f8310e2866fba756d6917c923
	ef73f291af57af2f7abb58253dd818cc8126f1dc121496f9f21da3edf6ebfbcf7cea5134a61ebf85773fe4ef0c246ce7
	7dbe7b335cd9a7cc90a96c90d8953e9ea1f6a60a2441adb347a82726b6ee1aaff5a17285a9b4e6883842b1f80b7715a2
	a9361d7514a0ee870bcc36482e`

func TestRegisterCompressedVector(t *testing.T) {
	body := unhex(t, javaCompressed)
	if got := BodyCRC(body); got != 1897929731 {
		t.Errorf("checksum %d, want 1897929731", got)
	}
	want := &registration{
		RegisterSummary: RegisterSummary{
			DataVersion:      DataVersion{StateVersion: 0, Timestamp: 1700000000000, Counter: 3},
			HasFilterServers: true, Topics: 1, Mappings: 1, Inflated: 249,
		},
		Topics: []TopicConfig{{Name: "TopicA", ReadQueues: 4, WriteQueues: 4, Perm: 6, Attributes: []Field{{"message.type", "FIFO"}}}},
		Mappings: map[string]TopicMapping{"TopicA": {
			Topic: "TopicA", Broker: "broker-a", Scope: "__global__", HasScope: true, Epoch: 5, TotalQueues: 2, IDs: []QueueID{{0, 0}, {1, 1}},
		}},
	}
	// Announced or not: brokers of 5.x never announce it.
	for _, announced := range []bool{true, false} {
		got, err := decodeRegistration(body, V5_0_0, announced)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("announced %v (-want +got):\n%s", announced, diff)
		}
	}
	// What we write inflates to what the Java code wrote.
	written := &RegisterBody{
		DataVersion: want.DataVersion,
		Topics:      want.Topics, Mappings: []TopicMapping{want.Mappings["TopicA"]},
	}
	again, err := written.AppendCompressed([]byte("before"), V5_0_0)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(inflate(t, body), inflate(t, bytes.TrimPrefix(again, []byte("before")))); diff != "" {
		t.Errorf("inflated (-Java +ours):\n%s", diff)
	}
}

func inflate(t *testing.T, b []byte) string {
	t.Helper()
	r, err := zlib.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if _, err := out.ReadFrom(r); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// stream builds the content of a compressed registration.
type stream struct{ b []byte }

func (s *stream) count(n int32) *stream {
	s.b = binary.BigEndian.AppendUint32(s.b, uint32(n))
	return s
}

func (s *stream) entry(text string) *stream {
	s.count(int32(len(text)))
	s.b = append(s.b, text...)
	return s
}

func (s *stream) raw(b string) *stream {
	s.b = append(s.b, b...)
	return s
}

func (s *stream) deflate() []byte {
	var out bytes.Buffer
	w := zlib.NewWriter(&out)
	w.Write(s.b) // into memory
	w.Close()
	return out.Bytes()
}

const compressedVersion = `{"counter":1,"stateVersion":0,"timestamp":5}`

func oneTopic(text string) *stream {
	return new(stream).entry(compressedVersion).count(1).entry(text).entry("[]").count(0)
}

// The answers of the Java code of 5.5.0, except where a comment says what differs.
func TestRegisterCompressed(t *testing.T) {
	const v = "v0,1,5"
	missing := fmt.Sprintf("v0,0,%d", testNow)
	empty := func() *stream { return new(stream).entry(compressedVersion).count(0) }
	tests := []struct {
		name string
		in   *stream
		v    Version
		want string
	}{
		{"five tokens", oneTopic("T 4 5 6 SINGLE_TAG"), V5_5_0, "T 4/5 6; " + v},
		{"six tokens", oneTopic(`T 4 4 6 MULTI_TAG {"a":"b"}`), V5_5_0, "T 4/4 6 filter:MULTI_TAG a=b; " + v},
		{"seven tokens", oneTopic(`T 4 4 6 SINGLE_TAG {"a":"b"} x y`), V5_5_0, "T 4/4 6 a=b; " + v},
		{"attributes with a blank", oneTopic(`T 4 4 6 SINGLE_TAG {"a": "b"}`), V5_5_0, "T 4/4 6; " + v},
		{"attributes that are no object", oneTopic(`T 4 4 6 SINGLE_TAG []`), V5_5_0, "T 4/4 6; " + v},
		{"attributes null", oneTopic(`T 4 4 6 SINGLE_TAG null`), V5_5_0, "T 4/4 6; " + v},
		{"attributes that are no texts", oneTopic(`T 4 4 6 SINGLE_TAG {"a":null,"b":1}`), V5_5_0, "T 4/4 6 b=1; " + v},
		{"blank at the end", oneTopic("T 4 4 6 SINGLE_TAG "), V5_5_0, "T 4/4 6; " + v},
		{"signs", oneTopic("T +4 -4 6 SINGLE_TAG"), V5_5_0, "T 4/-4 6; " + v},
		{"not ASCII", oneTopic("中 4 4 6 SINGLE_TAG"), V5_5_0, "中 4/4 6; " + v},
		{"no name", oneTopic(" 4 4 6 SINGLE_TAG"), V5_5_0, v + "; skipped 1"}, // Java makes a topic without a name
		{"filters", empty().entry(`["f",null,1]`).count(0), V5_5_0, v + `; filters ["f" "1"]`},
		{"filters null", empty().entry("null").count(0), V5_5_0, v + "; filters null"},
		{"filters of no length", empty().entry("").count(0), V5_5_0, v + "; filters null"},
		{"filters that cannot be read", empty().entry("x").count(0), V5_5_0, v},
		{"filters with something after them", empty().entry(`["f"]x`).count(0), V5_5_0, v},
		{"data version null", new(stream).entry("null").count(0).entry("[]").count(0), V5_5_0, missing},
		{"data version of no length", new(stream).entry("").count(0).entry("[]").count(0), V5_5_0, missing},
		{"mapping", empty().entry("[]").count(1).entry(`{"bname":"b","topic":"T","currIdMap":{0:3}}`), V5_5_0, "T->b [{0 3}]; " + v},
		{"mapping null", empty().entry("[]").count(2).entry("null").entry(""), V5_5_0, v + "; skipped 2"},           // Java refuses
		{"mapping without a topic", empty().entry("[]").count(1).entry(`{"bname":"b"}`), V5_5_0, v + "; skipped 1"}, // Java refuses
		{"something after the mappings", empty().entry("[]").count(0).raw("more"), V5_5_0, v},
		{"no section of mappings, 4.x", empty().entry("[]"), V4_9_4, v},
		{"mappings of a 4.x broker mean nothing", empty().entry("[]").count(7).raw("x"), V4_9_4, v},
		{"no section of mappings, 5.x", empty().entry("[]"), V5_5_0, v}, // Java refuses
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			reg, err := decodeRegistration(tt.in.deflate(), tt.v, true)
			if err != nil {
				t.Fatal(err)
			}
			if got := reg.brief(); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			if reg.Inflated != len(tt.in.b) {
				t.Errorf("inflated %d, want %d", reg.Inflated, len(tt.in.b))
			}
		})
	}
}

func TestRegisterCompressedRefused(t *testing.T) {
	good := oneTopic("T 4 4 6 SINGLE_TAG")
	refused := map[string][]byte{
		"not compressed":           []byte(wrap("", "")),
		"raw deflate":              rawDeflate(good.b),
		"nothing inside":           new(stream).deflate(),
		"name with a blank":        oneTopic("T U 4 4 6 SINGLE_TAG").deflate(),
		"two blanks":               oneTopic("T  4 4 6 SINGLE_TAG").deflate(),
		"blank before":             oneTopic(" T 4 4 6 SINGLE_TAG").deflate(),
		"four tokens":              oneTopic("T 4 4 6").deflate(),
		"four tokens and a blank":  oneTopic("T 4 4 6 ").deflate(),
		"empty text":               oneTopic("").deflate(),
		"no number":                oneTopic("T x 4 6 SINGLE_TAG").deflate(),
		"fraction":                 oneTopic("T 4.0 4 6 SINGLE_TAG").deflate(),
		"number beyond 32 bits":    oneTopic("T 99999999999 4 6 SINGLE_TAG").deflate(),
		"unknown filter type":      oneTopic("T 4 4 6 NONE").deflate(),
		"filter type in small":     oneTopic("T 4 4 6 single_tag").deflate(),
		"data version no JSON":     new(stream).entry("x").count(0).entry("[]").count(0).deflate(),
		"mapping no JSON":          new(stream).entry(compressedVersion).count(0).entry("[]").count(1).entry("x").deflate(),
		"negative count":           new(stream).entry(compressedVersion).count(-1).entry("[]").count(0).deflate(),
		"count too high":           new(stream).entry(compressedVersion).count(2).entry("T 4 4 6 SINGLE_TAG").entry("[]").count(0).deflate(),
		"negative length":          new(stream).count(-1).raw("xxxx").deflate(),
		"half a count of mappings": new(stream).entry(compressedVersion).count(0).entry("[]").raw("\x00\x00").deflate(),
	}
	for n := range len(good.b) {
		if n != len(good.b)-4 { // there it ends before its mappings
			refused[fmt.Sprintf("%d bytes cut off inside", len(good.b)-n)] = (&stream{good.b[:n]}).deflate()
		}
	}
	whole := good.deflate()
	for n := 2; n < len(whole); n++ {
		refused[fmt.Sprintf("%d bytes cut off outside", len(whole)-n)] = whole[:n]
	}
	damaged := bytes.Clone(whole)
	damaged[len(damaged)-1] ^= 1
	refused["wrong checksum of zlib"] = damaged
	for name, body := range refused {
		t.Run(name, func(t *testing.T) {
			reg, err := decodeRegistration(body, V5_5_0, true)
			if be, is := errors.AsType[*BodyError](err); !is || be.Limit || be.Error() == "" {
				t.Errorf("read as %s, error %v; want a *BodyError that is no limit", reg.brief(), err)
			}
		})
	}
}

func rawDeflate(b []byte) []byte {
	var out bytes.Buffer
	w, _ := flate.NewWriter(&out, flate.DefaultCompression) // the level is right
	w.Write(b)
	w.Close()
	return out.Bytes()
}

func TestRegisterLimits(t *testing.T) {
	many := &RegisterBody{}
	for i := range 10 {
		name := fmt.Sprint("T", i)
		many.Topics = append(many.Topics, TopicConfig{Name: name})
		many.Mappings = append(many.Mappings, TopicMapping{Topic: name, Broker: "b"})
	}
	zipped, err := many.AppendCompressed(nil, V5_5_0)
	if err != nil {
		t.Fatal(err)
	}
	bomb := new(stream).entry(compressedVersion).count(1).entry(strings.Repeat(" ", 1<<20))
	tests := []struct {
		name string
		d    RegisterDecoder
		body []byte
		ok   bool
	}{
		{"topics, JSON", RegisterDecoder{MaxTopics: 9}, many.AppendJSON(nil), false},
		{"topics, compressed", RegisterDecoder{MaxTopics: 9}, zipped, false},
		{"mappings, JSON", RegisterDecoder{MaxMappings: 9}, many.AppendJSON(nil), false},
		{"mappings, compressed", RegisterDecoder{MaxMappings: 9}, zipped, false},
		{"just enough", RegisterDecoder{MaxTopics: 10, MaxMappings: 10, MaxInflated: len(inflate(t, zipped))}, zipped, true},
		{"one byte too many inside", RegisterDecoder{MaxInflated: len(inflate(t, zipped)) - 1}, zipped, false},
		{"a length beyond the limit", RegisterDecoder{MaxInflated: 1 << 16}, bomb.deflate(), false},
		{"a count beyond the limit", RegisterDecoder{MaxInflated: 1 << 16}, new(stream).entry(compressedVersion).count(1 << 30).deflate(), false},
		{"a tail beyond the limit", RegisterDecoder{MaxInflated: 1 << 10}, oneTopic("T 4 4 6 SINGLE_TAG").raw(strings.Repeat("x", 1<<10)).deflate(), false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.d.Topic = func(*TopicConfig) {}
			tt.d.Mapping = func(string, *TopicMapping) {}
			_, err := tt.d.Decode(tt.body, V5_5_0, false, testNow)
			if tt.ok {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if be, is := errors.AsType[*BodyError](err); !is || !be.Limit {
				t.Errorf("error %v, want a limit", err)
			}
		})
	}
}
