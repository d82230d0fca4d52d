package wire

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Numbers are read as Java's Long.parseLong and Integer.parseInt read them.
func TestFieldNumbers(t *testing.T) {
	tests := []struct {
		in            string
		long, integer Presence
		want          int64
	}{
		{"0", Present, Present, 0},
		{"+1", Present, Present, 1},
		{"-1", Present, Present, -1},
		{"007", Present, Present, 7},
		{"2147483648", Present, Unparsable, 2147483648},
		{"9223372036854775807", Present, Unparsable, 9223372036854775807},
		{"99999999999999999999", Unparsable, Unparsable, 0},
		{"", Unparsable, Unparsable, 0},
		{"abc", Unparsable, Unparsable, 0},
		{"1.5", Unparsable, Unparsable, 0},
		{" 1", Unparsable, Unparsable, 0},
		{"1 ", Unparsable, Unparsable, 0},
		{"0x1", Unparsable, Unparsable, 0},
		{"1_0", Unparsable, Unparsable, 0},
	}
	for _, tt := range tests {
		f := Fields{{"n", tt.in}}
		long, integer := f.Long("n"), f.Integer("n")
		if long.Presence != tt.long || long.Value != tt.want || long.Raw != tt.in {
			t.Errorf("%q as long: %+v", tt.in, long)
		}
		if integer.Presence != tt.integer || integer.Presence == Present && integer.Value != tt.want {
			t.Errorf("%q as integer: %+v", tt.in, integer)
		}
	}
	if got := (Fields{}).Long("n"); got.Presence != Absent {
		t.Errorf("no field: %+v", got)
	}
}

func TestFieldBooleans(t *testing.T) {
	for in, want := range map[string]bool{"true": true, "TRUE": true, "tRuE": true, "false": false, "1": false, "yes": false, "": false, "true ": false} {
		if got := (Fields{{"b", in}}).Bool("b"); got.Value != want || !got.Present {
			t.Errorf("%q: %+v", in, got)
		}
	}
	if got := (Fields{}).Bool("b"); got.Present || got.Value {
		t.Errorf("no field: %+v", got)
	}
}

func TestBrokerIdentityCheck(t *testing.T) {
	whole := Fields{{FieldClusterName, "c"}, {FieldBrokerName, "b"}, {FieldBrokerAddr, "a:1"}, {FieldBrokerID, "0"}}
	without := func(name string) Fields {
		f := append(Fields(nil), whole...)
		f.remove(name)
		return f
	}
	with := func(name, value string) Fields {
		f := append(Fields(nil), whole...)
		f.Set(name, value)
		return f
	}
	tests := []struct {
		name              string
		in                Fields
		check, checkNames string // the field that is refused
		message           string
	}{
		{name: "whole", in: whole},
		{name: "empty texts are texts", in: with(FieldBrokerName, "")},
		{name: "sign", in: with(FieldBrokerID, "-1")},
		{name: "nothing", check: FieldClusterName, checkNames: FieldClusterName, message: "clusterName is required"},
		{name: "no cluster", in: without(FieldClusterName), check: FieldClusterName, checkNames: FieldClusterName, message: "clusterName is required"},
		{name: "no name", in: without(FieldBrokerName), check: FieldBrokerName, checkNames: FieldBrokerName, message: "brokerName is required"},
		{name: "no address", in: without(FieldBrokerAddr), check: FieldBrokerAddr, checkNames: FieldBrokerAddr, message: "brokerAddr is required"},
		{name: "no id", in: without(FieldBrokerID), check: FieldBrokerID, message: "brokerId is required"},
		{name: "id no number", in: with(FieldBrokerID, "abc"), check: FieldBrokerID, checkNames: FieldBrokerID, message: `brokerId must be a whole number, not "abc"`},
		{name: "id empty", in: with(FieldBrokerID, ""), check: FieldBrokerID, checkNames: FieldBrokerID, message: `brokerId must be a whole number, not ""`},
	}
	field := func(err error) string {
		if fe, ok := errors.AsType[*FieldError](err); ok {
			return fe.Field
		}
		return ""
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			id := tt.in.BrokerIdentity()
			err := id.Check()
			if field(err) != tt.check || err != nil && err.Error() != tt.message {
				t.Errorf("Check: %v, want %s", err, tt.message)
			}
			if err := id.CheckNames(); field(err) != tt.checkNames {
				t.Errorf("CheckNames: %v, want %q", err, tt.checkNames)
			}
		})
	}
}

func TestHeadersThereAndBack(t *testing.T) {
	h := RegisterBrokerHeader{
		Broker:                 BrokerIdentity{Cluster: TextOf("c"), Name: TextOf("b"), Addr: TextOf("a:1"), ID: Int{Value: 7, Presence: Present, Raw: "7"}},
		HAServerAddr:           TextOf("ha:1"),
		HeartbeatTimeoutMillis: Int{Value: 10000, Presence: Present, Raw: "10000"},
		EnableActingMaster:     BoolOf(false),
		Compressed:             true,
		BodyCRC:                Int{Value: 5, Presence: Present, Raw: "5"},
		ZoneName:               TextOf(""),
	}
	if diff := cmp.Diff(h, h.Fields().RegisterBrokerHeader()); diff != "" {
		t.Errorf("103 (-want +got):\n%s", diff)
	}
	if got := (Fields{}).RegisterBrokerHeader(); got.EnableActingMaster.Present || got.HAServerAddr.Present || got.Compressed {
		t.Errorf("103 of no fields: %+v", got)
	}
	m := MinBrokerIDChange{MinBrokerID: 1, MinBrokerAddr: "127.0.0.1:21001", OfflineBrokerAddr: TextOf("127.0.0.1:21000")}
	if diff := cmp.Diff(m, m.Fields().MinBrokerIDChange()); diff != "" {
		t.Errorf("905 (-want +got):\n%s", diff)
	}
	// As a Java NameServer was heard to send it.
	c := Command{Code: 905, Flag: FlagOneway, Opaque: 42, Version: 479, Ext: m.Fields()}
	frame, err := c.AppendTo(nil, JSONHeader)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"code":905,"extFields":{"offlineBrokerAddr":"127.0.0.1:21000","minBrokerAddr":"127.0.0.1:21001","minBrokerId":"1"},"flag":2,"language":"JAVA","opaque":42,"serializeTypeCurrentRPC":"JSON","version":479}`
	if diff := cmp.Diff(want, string(split(t, frame).Header)); diff != "" {
		t.Errorf("905 (-want +got):\n%s", diff)
	}
}

func TestFieldsSetAndRemove(t *testing.T) {
	var f Fields
	f.Set("a", "1")
	f.Set("b", "2")
	f.Set("a", "3")
	f.remove("none")
	if diff := cmp.Diff(Fields{{"a", "3"}, {"b", "2"}}, f); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	f.remove("a")
	if diff := cmp.Diff(Fields{{"b", "2"}}, f); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
