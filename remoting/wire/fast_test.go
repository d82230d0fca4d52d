package wire

import (
	"strconv"
	"strings"
	"testing"
)

// checkFast fails if the fast reader takes f and the full decoder would see anything
// else in it. It reports whether the fast reader took it.
func checkFast(t *testing.T, f Frame) bool {
	t.Helper()
	var q RouteRequest
	if !q.ReadRouteRequest(f) {
		return false
	}
	var c Command
	if err := c.Decode(f); err != nil {
		t.Fatalf("fast reader took %q, the decoder says %v", f.Header, err)
	}
	zoneMode, hasMode := c.Ext.Get(FieldZoneMode)
	zoneName, hasName := c.Ext.Get(FieldZoneName)
	topic, hasTopic := c.Ext.Get(FieldTopic)
	switch {
	case RequestCode(c.Code) != GetRouteInfoByTopic, c.NoOpaque, !hasTopic,
		c.Opaque != q.Opaque, c.Flag != q.Flag, c.Version != q.Version,
		topic != string(q.Topic), topic == "",
		hasMode != (q.ZoneMode != nil), zoneMode != string(q.ZoneMode),
		hasName != (q.ZoneName != nil), zoneName != string(q.ZoneName),
		c.Ext.Bool(FieldAcceptStrictJSON).Value != q.AcceptStrictJSON,
		q.OpaqueDigits != nil && string(q.OpaqueDigits) != strconv.Itoa(int(c.Opaque)):
		t.Fatalf("%q: fast reader %+v, decoder %+v", f.Header, q, c)
	}
	return true
}

// How clients write the request: Java, Go, C++ and Rust clients each in their order.
func TestFastTakesWhatClientsSend(t *testing.T) {
	for _, header := range []string{
		`{"code":105,"extFields":{"topic":"TopicA"},"flag":0,"language":"JAVA","opaque":2,"serializeTypeCurrentRPC":"JSON","version":479}`,
		`{"code":105,"language":"GO","version":317,"opaque":-1,"flag":0,"remark":"","extFields":{"topic":"%RETRY%g"}}`,
		`{"code":105,"extFields":{"acceptStandardJsonOnly":"TRUE","topic":"T"},"flag":0,"language":"CPP","opaque":2147483647,"version":513}`,
		`{"code":105,"extFields":{"topic":"T","__ZONE_MODE":"true","__ZONE_NAME":"z1","AccessKey":"k","Signature":"a+b/c="},"opaque":7}`,
		`{"code":105,"extFields":{"__ZONE_NAME":"","topic":"T"},"opaque":7,"flag":2}`,
	} {
		if !checkFast(t, Frame{Type: JSONHeader, Header: []byte(header)}) {
			t.Errorf("not taken: %s", header)
		}
		// The same, binary.
		var c Command
		if err := c.Decode(Frame{Type: JSONHeader, Header: []byte(header)}); err != nil {
			t.Fatal(err)
		}
		c.Remark, c.HasRemark = "", false
		c.Ext.remove("__ZONE_NAME") // an empty one is unusual there
		frame, err := c.AppendTo(nil, BinaryHeader)
		if err != nil {
			t.Fatal(err)
		}
		if !checkFast(t, split(t, frame)) {
			t.Errorf("not taken in binary: %s", header)
		}
	}
}

func TestFastLeavesTheUnusual(t *testing.T) {
	plain := `{"code":105,"extFields":{"topic":"T"},"opaque":1}`
	for _, header := range []string{
		``, `{}`, `{`, `null`, plain + " ", " " + plain, plain + "x", plain[:len(plain)-1],
		strings.Replace(plain, `105`, `106`, 1), strings.Replace(plain, `105`, `"105"`, 1), strings.Replace(plain, `105`, `105.0`, 1), strings.Replace(plain, `105`, `+105`, 1),
		strings.Replace(plain, `105`, `-105`, 1), strings.Replace(plain, `"opaque":1`, `"opaque":2147483648`, 1), strings.Replace(plain, `"opaque":1`, `"opaque":99999999999999999999`, 1),
		strings.Replace(plain, `"opaque":1`, `"opaque":null`, 1), strings.Replace(plain, `,"opaque":1`, ``, 1), strings.Replace(plain, `"opaque":1`, `"opaque":1,"opaque":2`, 1),
		strings.Replace(plain, `"T"`, `""`, 1), strings.Replace(plain, `"T"`, `null`, 1), strings.Replace(plain, `"T"`, `5`, 1), strings.Replace(plain, `"T"`, `"\u0054"`, 1), strings.Replace(plain, `"T"`, `"中"`, 1), strings.Replace(plain, `"T"`, "\"T\xff\"", 1),
		strings.Replace(plain, `"topic":"T"`, ``, 1), strings.Replace(plain, `"topic":"T"`, `"topic":"T","topic":"U"`, 1), strings.Replace(plain, `"topic":"T"`, `"topic":"T",`, 1),
		strings.Replace(plain, `{"topic":"T"}`, `null`, 1), strings.Replace(plain, `{"topic":"T"}`, `{"topic":"T"},"extFields":null`, 1),
		strings.Replace(plain, `{"code"`, `{"body":"AAAA","code"`, 1), strings.Replace(plain, `{"code"`, `{"x":1,"code"`, 1), strings.Replace(plain, `{"code"`, `{'code'`, 1),
		strings.Replace(plain, `"opaque":1`, `"opaque":1,"language":9`, 1), strings.Replace(plain, `"opaque":1`, `"opaque":1,"serializeTypeCurrentRPC":7`, 1), strings.Replace(plain, `,"opaque"`, `, "opaque"`, 1),
	} {
		f := Frame{Type: JSONHeader, Header: []byte(header)}
		if (&RouteRequest{}).ReadRouteRequest(f) {
			t.Errorf("taken: %s", header)
		}
	}
	field := "0005 746f706963 00000001 54" // topic=T, 12 bytes
	head := "0069 00 0201 00000001 00000000"
	for name, header := range map[string]string{
		"another code":              "006a 00 0201 00000001 00000000 00000000 0000000c" + field,
		"remark":                    head + "00000001 72 0000000c" + field,
		"no fields":                 head + "00000000 00000000",
		"fields shorter":            head + "00000000 0000000b" + field,
		"fields longer":             head + "00000000 0000000d" + field,
		"bytes after the fields":    head + "00000000 0000000c" + field + "00",
		"empty value":               head + "00000000 0000000b 0005 746f706963 00000000",
		"empty key":                 head + "00000000 00000013 0000 00000001 61" + field,
		"two topics":                head + "00000000 00000018" + field + field,
		"not ASCII":                 head + "00000000 0000000c 0005 746f706963 00000001 ff",
		"key beyond the end":        head + "00000000 0000000c 0500 746f706963 00000001 54",
		"value beyond the end":      head + "00000000 0000000c 0005 746f706963 00000002 54",
		"value of 2 GiB and more":   head + "00000000 0000000c 0005 746f706963 ffffffff 54",
		"half a field after a good": head + "00000000 0000000f" + field + "000061",
		"shorter than fixed":        head,
	} {
		f := Frame{Type: BinaryHeader, Header: unhex(t, header)}
		if (&RouteRequest{}).ReadRouteRequest(f) {
			t.Errorf("taken: %s", name)
		}
	}
	if (&RouteRequest{}).ReadRouteRequest(Frame{Type: 2, Header: []byte(plain)}) {
		t.Error("taken: header of an unknown type")
	}
}

// All recorded route requests of real clients go the fast way.
func TestFastTakesRecorded(t *testing.T) {
	taken := 0
	for _, r := range recordedFrames(t) {
		if r.Undecodable {
			continue
		}
		f := split(t, r.bytes)
		ok := checkFast(t, f)
		c := decode(t, r.bytes)
		topic, has := c.Ext.Get(FieldTopic)
		if want := r.Asked == GetRouteInfoByTopic && r.Dir == "req" && has && topic != "" && c.Language == Java; want && !ok {
			t.Errorf("%v: not taken: %q", r, f.Header)
		}
		if ok {
			taken++
		}
	}
	if taken < 10 {
		t.Errorf("only %d were taken", taken)
	}
}
