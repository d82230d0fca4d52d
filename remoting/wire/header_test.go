package wire

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func decodeHeader(typ HeaderType, header []byte) (*Command, error) {
	c := &Command{}
	return c, c.Decode(Frame{Type: typ, Header: header})
}

// What the Java NameServer 5.5 makes of numbers in a JSON header, asked of its own code.
func TestJSONHeaderNumbers(t *testing.T) {
	tests := []struct {
		in   string
		want int32
	}{
		{`9996`, 9996},
		{`-5`, -5},
		{`+7`, 7},
		{`-0`, 0},
		{`007`, 7},
		{`2147483647`, 2147483647},
		{`-2147483648`, -2147483648},
		{`9996.0`, 9996},
		{`9996.7`, 9996},
		{`-0.9`, 0},
		{`.5`, 0},
		{`5.`, 5},
		{`2147483647.9`, 2147483647},
		{`1e4`, 10000},
		{`1E+2`, 100},
		{`1e-1`, 0},
		{`1.5e1`, 15},
		{`12L`, 12},
		{`12B`, 12},
		{`1.5F`, 1},
		{`null`, 0},
		{`true`, 1},
		{`false`, 0},
		{`{}`, 0},
		{`{"a":[1,{"b":2}]}`, 0},
		{`"9996"`, 9996},
		{`'8'`, 8},
		{`"-7"`, -7},
		{`"+7"`, 7},
		{`"1.5"`, 1},
		{`"1e3"`, 1000},
		{`"12x"`, 12},
		{`"12L"`, 12},
		{`""`, 0},
		{`"null"`, 0},
		{`"true"`, 1},
		{`"false"`, 0},
		{`"\u0037"`, 7},
	}
	for _, tt := range tests {
		t.Run(tt.in, func(t *testing.T) {
			c, err := decodeHeader(JSONHeader, []byte(`{"code":`+tt.in+`,"opaque":1}`))
			if err != nil || c.Code != tt.want || c.Opaque != 1 {
				t.Errorf("code %d, opaque %d, error %v; want %d, 1", c.Code, c.Opaque, err, tt.want)
			}
		})
	}
}

func TestJSONHeaderAccepted(t *testing.T) {
	ext := func(f ...Field) Command { return Command{NoOpaque: true, HasExt: true, Ext: f} }
	tests := []struct {
		in   string
		want Command
	}{
		{`{}`, Command{NoOpaque: true}},
		{`{"code":1,"opaque":null}`, Command{Code: 1}}, // null is 0, only absence is no opaque
		{`{"opaque":"7"}`, Command{Opaque: 7}},
		{`{"opaque":-7}`, Command{Opaque: -7}},
		{`{"opaque":1.5}`, Command{Opaque: 1}},
		{`{"flag":"2","version":"513","opaque":0}`, Command{Flag: 2, Version: 513}},
		{`{"version":99999,"opaque":0}`, Command{Version: 99999}},
		{`{"version":-1,"opaque":0}`, Command{Version: -1}},
		{"  \n" + `{"opaque":1}` + " \t\x00", Command{Opaque: 1}},
		{`/*c*/ // d` + "\n" + `{"opaque":1}//e`, Command{Opaque: 1}},
		{`{/*c*/"opaque":1,/*d*/"flag":4}`, Command{Opaque: 1, Flag: 4}},
		{`{'opaque':1,'remark':'it"s'}`, Command{Opaque: 1, Remark: `it"s`, HasRemark: true}},
		{`{"opaque" : 1 , "flag" : 4 , }`, Command{Opaque: 1, Flag: 4}},
		{`{"foo":1,"bar":{"x":[1,"}",null,true]},"suspended":true,"@type":"java.lang.Exception","opaque":1}`, Command{Opaque: 1}},
		{`{"CODE":9996,"OPAQUE":5}`, Command{NoOpaque: true}}, // names are exact
		{`{"code":9996,"opaque":1,"code":9995}`, Command{Code: 9995, Opaque: 1}},
		{`{"\u0063ode":5,"opaque":1}`, Command{Code: 5, Opaque: 1}},
		{`{"body":null,"opaque":1}`, Command{Opaque: 1}},
		{`{"body":"","opaque":1}`, Command{Opaque: 1}},

		{`{"language":"GO","opaque":1}`, Command{Language: Go, Opaque: 1}},
		{`{"language":"java","opaque":1}`, Command{Language: Java, Opaque: 1}},
		{`{"language":"9","opaque":1}`, Command{Language: Go, Opaque: 1}},
		{`{"language":"99","opaque":1}`, Command{Language: UnknownLanguage, Opaque: 1}},
		{`{"language":13,"opaque":1}`, Command{Language: NodeJS, Opaque: 1}},
		{`{"language":"ZIG","opaque":1}`, Command{Language: UnknownLanguage, Opaque: 1}},
		{`{"language":"","opaque":1}`, Command{Language: UnknownLanguage, Opaque: 1}},
		{`{"language":null,"opaque":1}`, Command{Language: UnknownLanguage, Opaque: 1}},
		{`{"serializeTypeCurrentRPC":"XX","opaque":1}`, Command{Opaque: 1}},
		{`{"serializeTypeCurrentRPC":1,"opaque":1}`, Command{Opaque: 1}},
		{`{"serializeTypeCurrentRPC":null,"opaque":1}`, Command{Opaque: 1}},

		{`{"remark":"","opaque":1}`, Command{Opaque: 1, HasRemark: true}},
		{`{"remark":null,"opaque":1}`, Command{Opaque: 1}},
		{`{"remark":1,"opaque":1}`, Command{Opaque: 1, Remark: "1", HasRemark: true}},
		{`{"remark":{"a":1},"opaque":1}`, Command{Opaque: 1, Remark: `{"a":1}`, HasRemark: true}},
		{"{\"remark\":\"\xff\xfe\",\"opaque\":1}", Command{Opaque: 1, Remark: "\uFFFD", HasRemark: true}},

		{`{"extFields":null}`, Command{NoOpaque: true}},
		{`{"extFields":{}}`, ext()},
		{`{"extFields":{"a":"b","c":""}}`, ext(Field{"a", "b"}, Field{"c", ""})},
		{`{"extFields":{"a":null}}`, ext()},
		{`{"extFields":{"a":"1","b":"x","a":"2"}}`, ext(Field{"a", "2"}, Field{"b", "x"})},
		{`{"extFields":{"a":"1","b":"x","a":null}}`, ext(Field{"b", "x"})},
		{`{"extFields":{"a":"1"},"extFields":{"b":"2"}}`, ext(Field{"b", "2"})},
		{`{"extFields":{"a":"1"},"extFields":null}`, Command{NoOpaque: true}},
		{`{"extFields":{"a":1,"b":1.50,"c":true,"d":-1,"e":12L}}`, ext(Field{"a", "1"}, Field{"b", "1.50"}, Field{"c", "true"}, Field{"d", "-1"}, Field{"e", "12"})},
		{`{"extFields":{"a":{"b": 1},"c":[1, 2],"d":[],"e":{'x':"中\u4e2d/","y":[null,true,{"z":1.0}]}}}`, ext(
			Field{"a", `{"b":1}`}, Field{"c", `[1,2]`}, Field{"d", `[]`}, Field{"e", `{"x":"中中/","y":[null,true,{"z":1.0}]}`})},
		{`{"extFields":{"a":"\t\n\r\b\f\"\\\/\'\v\0\7\x41\u4e2d\uD83D\uDE00"}}`, ext(Field{"a", "\t\n\r\b\f\"\\/'\v\x00\x07A中😀"})},
		{`{"extFields":{"a":"\uD83D","b":"\uDE00x","c":"\uD83D\u0041"}}`, ext(Field{"a", "\uFFFD"}, Field{"b", "\uFFFDx"}, Field{"c", "\uFFFDA"})},
		{"{\"extFields\":{\"a\":\"b\nc\"}}", ext(Field{"a", "b\nc"})}, // a bare line feed passes
	}
	for _, tt := range tests {
		t.Run(tt.in, func(t *testing.T) {
			got, err := decodeHeader(JSONHeader, []byte(tt.in))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(&tt.want, got, cmp.Transformer("empty", dropEmptyFields)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// What makes the Java NameServer 5.5 close the connection.
func TestJSONHeaderRefused(t *testing.T) {
	good := `{"code":9996,"extFields":{},"flag":0,"language":"JAVA","opaque":1,"serializeTypeCurrentRPC":"JSON","version":513}`
	refused := []string{
		``, ` `, `null`, `12345`, `"text"`, `true`, `[]`, `[{"code":1}]`, `{`, `x`,
		good[:70], strings.TrimSuffix(good, "}"), good + "xyz", good + "{}", good + "}", "\uFEFF" + good, "\v" + good,
		`/*c` + good, `#c` + "\n" + good,
		`{code:9996}`, `{1:1}`, `{null:1}`, `{"code"}`, `{"code":}`, `{,"code":1}`, `{"code":1,,"flag":4}`,
		`{"extFields":{1:"x"}}`, `{"extFields":{a:"x"}}`, `{"extFields":{"a":}}`, `{"x":{y:1}}`, `{"x":{"y" 1}}`,
		`{"x":[,1]}`, `{"x":[1 2]}`, `{"x":NaN}`, `{"x":-}`, `{"x":nul}`, `{"x":truex}`, `{"x":"\q"}`, `{"x":"\u00"}`, `{"x":"\u00zz"}`, `{"x":"\`, `{"x":"a`,
		`{"code":1/*c*/}`, `{"code"/*c*/:1}`,
		`{"extFields":[]}`, `{"extFields":"x"}`, `{"extFields":"{}"}`, `{"extFields":1}`,
		`{"language":99}`, `{"language":-1}`, `{"language":{}}`, `{"language":[]}`,
		`{"serializeTypeCurrentRPC":7}`, `{"serializeTypeCurrentRPC":-1}`, `{"serializeTypeCurrentRPC":[]}`,
		`{"body":"AAAA"}`, `{"body":1}`,
		"\x23\x04\x00\x01\xdf\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00", // a binary header
	}
	for _, v := range []string{
		`[]`, `2147483648`, `-2147483649`, `4294967296`, `9223372036854775808`, `99999999999999999999999`,
		`"abc"`, `"x"`, `" 7"`, `"7 "`, `"12xx"`, `"12345678901x"`, `"2147483648"`, `"0x10"`, `"TRUE"`, `"true1"`,
		`0x10`, `1_000`, `1x`, `1e3x`, `1.5LL`, `NaN`, `undefined`, `nullx`, `1 2`, `-`,
	} {
		refused = append(refused, `{"code":`+v+`,"opaque":1}`, `{"flag":`+v+`}`, `{"version":`+v+`}`, `{"opaque":`+v+`}`)
	}
	for _, in := range refused {
		t.Run(in, func(t *testing.T) {
			c, err := decodeHeader(JSONHeader, []byte(in))
			he, is := errors.AsType[*HeaderError](err)
			if !is {
				t.Fatalf("read as %+v, error %v; want a *HeaderError", c, err)
			}
			if he.Type != JSONHeader || he.Offset < 0 || he.Offset > len(in) || he.Error() == "" {
				t.Errorf("error %+v", he)
			}
		})
	}
}

func TestJSONHeaderBounds(t *testing.T) {
	fields := func(n int) string {
		var b strings.Builder
		b.WriteString(`{"extFields":{`)
		for i := range n {
			fmt.Fprintf(&b, `"f%d":"",`, i)
		}
		return b.String() + `}}`
	}
	if _, err := decodeHeader(JSONHeader, []byte(fields(MaxFields))); err != nil {
		t.Errorf("%d fields: %v", MaxFields, err)
	}
	if _, err := decodeHeader(JSONHeader, []byte(fields(MaxFields+1))); err == nil {
		t.Errorf("%d fields pass", MaxFields+1)
	}
	nested := func(n int) string {
		return `{"x":` + strings.Repeat(`[`, n) + strings.Repeat(`]`, n) + `}`
	}
	if _, err := decodeHeader(JSONHeader, []byte(nested(maxDepth-1))); err != nil {
		t.Errorf("%d levels: %v", maxDepth, err)
	}
	for _, n := range []int{maxDepth, 1 << 20} {
		if _, err := decodeHeader(JSONHeader, []byte(nested(n))); err == nil {
			t.Errorf("%d levels pass", n+1)
		}
	}
}

// binaryFixed17 is a binary header up to the length of its remark.
const binaryFixed17 = "270c" + // code 9996
	"00" + // JAVA
	"0201" + // version 513
	"0006792a" + // opaque
	"00000000" // flag

func TestBinaryHeader(t *testing.T) {
	base := Command{Code: 9996, Version: 513, Opaque: 0x6792a}
	with := func(change func(*Command)) Command {
		c := base
		change(&c)
		return c
	}
	tests := []struct {
		name string
		in   string
		want Command
	}{
		{"good", binaryFixed17 + "00000000 00000000", base},
		{"remark", binaryFixed17 + "00000005" + hex.EncodeToString([]byte("hello")) + "00000000", with(func(c *Command) { c.Remark, c.HasRemark = "hello", true })},
		{"unknown language", "270c c8 0201 0006792a 00000000 00000000 00000000", with(func(c *Command) { c.Language = 200 })},
		{"code is signed", "ffff 00 0201 0006792a 00000000 00000000 00000000", with(func(c *Command) { c.Code = -1 })},
		{"code beyond 15 bits", "9c40 00 0201 0006792a 00000000 00000000 00000000", with(func(c *Command) { c.Code = -25536 })},
		{"version is signed", "270c 00 ffff 0006792a 00000000 00000000 00000000", with(func(c *Command) { c.Version = -1 })},
		{"opaque is signed", "270c 00 0201 ffffffff 00000000 00000000 00000000", with(func(c *Command) { c.Opaque = -1 })},
		{"flag", "270c 00 0201 0006792a 00000003 00000000 00000000", with(func(c *Command) { c.Flag = 3 })},
		{"negative length of the fields", binaryFixed17 + "00000000 ffffffff", base},
		{"a field", binaryFixed17 + "00000000 00000008" + "0001 61 00000001 62", with(func(c *Command) { c.Ext, c.HasExt = Fields{{"a", "b"}}, true })},
		{"empty key", binaryFixed17 + "00000000 00000007" + "0000 00000001 62", with(func(c *Command) { c.HasExt = true })},
		{"empty value", binaryFixed17 + "00000000 00000007" + "0001 61 00000000", with(func(c *Command) { c.HasExt = true })},
		{"empty value after another", binaryFixed17 + "00000000 0000000f" + "0001 61 00000001 62" + "0001 61 00000000", with(func(c *Command) { c.HasExt = true })},
		{"one key twice", binaryFixed17 + "00000000 00000010" + "0001 61 00000001 62" + "0001 61 00000001 63", with(func(c *Command) { c.Ext, c.HasExt = Fields{{"a", "c"}}, true })},
		{"not UTF-8", binaryFixed17 + "00000000 00000008" + "0001 ff 00000001 fe", with(func(c *Command) { c.Ext, c.HasExt = Fields{{"\uFFFD", "\uFFFD"}}, true })},
		{"bytes after the fields", binaryFixed17 + "00000000 00000000 010203", base},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := decodeHeader(BinaryHeader, unhex(t, tt.in))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(&tt.want, got, cmp.Transformer("empty", dropEmptyFields)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestBinaryHeaderRefused(t *testing.T) {
	good := binaryFixed17 + "00000000 00000000"
	refused := map[string]string{
		"JSON":                              hex.EncodeToString([]byte(`{"code":9996,"flag":0,"language":"JAVA","opaque":1}`)),
		"remark length -1":                  binaryFixed17 + "ffffffff 00000000",
		"remark length 1000":                binaryFixed17 + "000003e8 00000000",
		"remark length of 2 GiB":            binaryFixed17 + "7fffffff 00000000",
		"remark length of the whole header": binaryFixed17 + "00000015 00000000",
		"remark over the field length":      binaryFixed17 + "00000001 00000000",
		"ext length 1000":                   binaryFixed17 + "00000000 000003e8",
		"ext length of 2 GiB":               binaryFixed17 + "00000000 7fffffff",
		"key length -1":                     binaryFixed17 + "00000000 00000008" + "ffff 61 00000001 62",
		"key length 40000":                  binaryFixed17 + "00000000 00000008" + "9c40 61 00000001 62",
		"key length 500":                    binaryFixed17 + "00000000 00000008" + "01f4 61 00000001 62",
		"value length -1":                   binaryFixed17 + "00000000 00000008" + "0001 61 ffffffff 62",
		"value length 500":                  binaryFixed17 + "00000000 00000008" + "0001 61 000001f4 62",
		"value one byte too long":           binaryFixed17 + "00000000 00000008" + "0001 61 00000002 62",
		"a lone byte at the end":            binaryFixed17 + "00000000 00000009" + "0001 61 00000001 62 00",
		"ext cut off":                       binaryFixed17 + "00000000 00000008" + "0001 61",
	}
	for n := range 21 { // every cut before the end of the fixed part
		refused[fmt.Sprintf("only %d bytes", n)] = hex.EncodeToString(unhex(t, good)[:n])
	}
	for name, in := range refused {
		t.Run(name, func(t *testing.T) {
			c, err := decodeHeader(BinaryHeader, unhex(t, in))
			if he, is := errors.AsType[*HeaderError](err); !is || he.Type != BinaryHeader {
				t.Errorf("read as %+v, error %v; want a *HeaderError", c, err)
			}
		})
	}
}

func TestDecodeReusesFields(t *testing.T) {
	c := &Command{}
	frame := func(s string) Frame { return Frame{Type: JSONHeader, Header: []byte(s)} }
	if err := c.Decode(frame(`{"code":1,"extFields":{"a":"b"},"remark":"r","opaque":9}`)); err != nil {
		t.Fatal(err)
	}
	if err := c.Decode(frame(`{}`)); err != nil {
		t.Fatal(err)
	}
	if c.Code != 0 || c.HasExt || len(c.Ext) != 0 || c.HasRemark || c.Remark != "" || c.Opaque != 0 || !c.NoOpaque {
		t.Errorf("something of the first command is left: %+v", c)
	}
}
