package wire

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// unhex reads hexadecimal bytes with blanks and line ends between them.
func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.Join(strings.Fields(s), ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// split cuts b, which must be exactly one frame.
func split(t testing.TB, b []byte) Frame {
	t.Helper()
	f, size, ok, err := SplitFrame(b, FrameLimits{})
	if err != nil || !ok || size != len(b) {
		t.Fatalf("SplitFrame: size %d of %d, ok %v, error %v", size, len(b), ok, err)
	}
	return f
}

func decode(t testing.TB, b []byte) *Command {
	t.Helper()
	c := &Command{}
	if err := c.Decode(split(t, b)); err != nil {
		t.Fatal(err)
	}
	return c
}

// Frames that the Java code of 5.3.3 made.
func TestFrameVectors(t *testing.T) {
	const v5_3_3 Version = 479
	tests := []struct {
		name   string
		header HeaderType
		frame  []byte
		want   Command
	}{
		{
			name: "route request, JSON", header: JSONHeader,
			frame: append(unhex(t, "00000084"+ // total: 4 + 128
				"00 000080"), // JSON, header of 128 bytes
				`{"code":105,"extFields":{"topic":"TopicA"},"flag":0,"language":"JAVA","opaque":2,"serializeTypeCurrentRPC":"JSON","version":479}`...),
			want: Command{Code: 105, Version: v5_3_3, Opaque: 2, Ext: Fields{{"topic", "TopicA"}}, HasExt: true},
		},
		{
			name: "route request, binary", header: BinaryHeader,
			frame: unhex(t, "0000002a"+ // total: 4 + 38
				"01 000026"+ // binary, header of 38 bytes
				"0069 00 01df"+ // code 105, JAVA, version 479
				"00000002 00000000"+ // opaque 2, flag 0
				"00000000"+ // no remark
				"00000011"+ // fields take 17 bytes
				"0005 746f706963"+ // "topic"
				"00000006 546f70696341"), // "TopicA"
			want: Command{Code: 105, Version: v5_3_3, Opaque: 2, Ext: Fields{{"topic", "TopicA"}}, HasExt: true},
		},
		{
			name: "answer to 206, binary", header: BinaryHeader,
			frame: unhex(t, "00000029 01 000015"+
				"0000 00 01df"+ // success, JAVA, version 479
				"00000001 00000001"+ // opaque 1, flag 1: an answer
				"00000000 00000000"+ // neither remark nor fields
				"7b22746f7069634c697374223a5b5d7d"), // {"topicList":[]}
			want: Command{Version: v5_3_3, Opaque: 1, Flag: FlagResponse, Body: []byte(`{"topicList":[]}`)},
		},
		{
			name: "go away, binary", header: BinaryHeader,
			frame: unhex(t, "00000027 01 000023"+
				"05dc 00 01df"+ // 1500, JAVA, version 479
				"00000003 00000001"+ // opaque 3, an answer
				"0000000e 706c6561736520676f2061776179"+ // "please go away"
				"00000000"),
			want: Command{Code: 1500, Version: v5_3_3, Opaque: 3, Flag: FlagResponse, Remark: "please go away", HasRemark: true},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(&tt.want, decode(t, tt.frame), cmp.Transformer("empty", dropEmptyFields)); diff != "" {
				t.Errorf("decoded (-want +got):\n%s", diff)
			}
			got, err := tt.want.AppendTo([]byte("before"), tt.header)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff("before"+string(tt.frame), string(got)); diff != "" {
				t.Errorf("encoded (-want +got):\n%s", diff)
			}
		})
	}
}

// dropEmptyFields makes no fields and an empty list of fields equal; HasExt tells
// them apart where it matters.
func dropEmptyFields(f Fields) []Field {
	if len(f) == 0 {
		return nil
	}
	return f
}

// JSON answer headers as seen on the wire.
func TestJSONResponseHeaders(t *testing.T) {
	tests := []struct {
		name string
		c    Command
		want string
	}{
		{"206", Command{Opaque: 7}, `{"code":0,"flag":1,"language":"JAVA","opaque":7,"serializeTypeCurrentRPC":"JSON","version":513}`},
		{"101 hit", Command{Opaque: 22, Ext: Fields{{"value", "v"}}}, `{"code":0,"extFields":{"value":"v"},"flag":1,"language":"JAVA","opaque":22,"serializeTypeCurrentRPC":"JSON","version":513}`},
		{"101 miss", Command{Code: 22, Opaque: 23, HasExt: true, Remark: "No config item, Namespace: NS Key: zz", HasRemark: true}, `{"code":22,"extFields":{},"flag":1,"language":"JAVA","opaque":23,"remark":"No config item, Namespace: NS Key: zz","serializeTypeCurrentRPC":"JSON","version":513}`},
		{"103 from a slave", Command{Opaque: 1, Ext: Fields{{"haServerAddr", "h:1"}, {"masterAddr", "10.0.0.1:10911"}}}, `{"code":0,"extFields":{"haServerAddr":"h:1","masterAddr":"10.0.0.1:10911"},"flag":1,"language":"JAVA","opaque":1,"serializeTypeCurrentRPC":"JSON","version":513}`},
		{"unknown code", Command{Code: 3, Opaque: 4, Remark: " request type 999 not supported", HasRemark: true}, `{"code":3,"flag":1,"language":"JAVA","opaque":4,"remark":" request type 999 not supported","serializeTypeCurrentRPC":"JSON","version":513}`},
		{"negative opaque", Command{Opaque: -7}, `{"code":0,"flag":1,"language":"JAVA","opaque":-7,"serializeTypeCurrentRPC":"JSON","version":513}`},
		{"remark that needs escapes", Command{Remark: "a\"b\\c\n\x01\x7f中/\u2028<\xff"}, `{"code":0,"flag":1,"language":"JAVA","opaque":0,"remark":"a\"b\\c\n\u0001` + "\x7f中/\u2028<\uFFFD" + `","serializeTypeCurrentRPC":"JSON","version":513}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.c.Flag, tt.c.Version = FlagResponse, V5_5_0
			frame, err := tt.c.AppendTo(nil, JSONHeader)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, string(split(t, frame).Header)); diff != "" {
				t.Errorf("header (-want +got):\n%s", diff)
			}
		})
	}
}
