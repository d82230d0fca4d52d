package remoting_test

import (
	"strings"
	"testing"

	"fingerpost/registry"
	"fingerpost/remoting/wire"
)

// How the settings' refusals are said, and that the log has them.
func TestSettingsRefusals(t *testing.T) {
	tests := []struct {
		name string
		err  error
		want string
	}{
		{
			"on the block list", &registry.Error{Kind: registry.Denied, Code: "config-key-protected", Field: "kvConfigPath", Message: "kvConfigPath may not be changed"},
			`16 "Can not update config in black list."`,
		},
		{
			"closed altogether", &registry.Error{Kind: registry.Denied, Message: "settings may not be changed over remoting"},
			`16 "settings may not be changed over remoting"`,
		},
		{
			"malformed", &registry.Error{Kind: registry.Invalid, Code: "malformed-properties", Message: `line 1: \u wants four digits`},
			`1 "string2Properties error"`,
		},
		{
			"a bad value", &registry.Error{Kind: registry.Invalid, Field: "orderMessageEnable", Message: "orderMessageEnable must be true or false"},
			`1 "orderMessageEnable must be true or false"`,
		},
		{
			"not saved", &registry.Error{Kind: registry.Unsaved, Message: "the settings could not be saved", Err: strError("/secret: no space")},
			`1 "the settings could not be saved"`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := startPipes(t)
			b.conf.update = func(string) ([]string, error) { return nil, tt.err }
			c := b.client(wire.JSONHeader)
			before := said(succeed(t, c, wire.GetNamesrvConfig, nil, nil))
			if got := said(call(t, c, wire.UpdateNamesrvConfig, nil, []byte("a=b"))); got != tt.want {
				t.Errorf("answer %s, want %s", got, tt.want)
			}
			if after := said(succeed(t, c, wire.GetNamesrvConfig, nil, nil)); after != before {
				t.Errorf("refused, and yet the settings are %s", after)
			}
			b.log.wants(t, "a change of settings was refused", "peer", "pipe")
		})
	}
}

type strError string

func (e strError) Error() string { return string(e) }

func TestSettingsAreChangedAndRead(t *testing.T) {
	b := startPipes(t)
	c := b.client(wire.JSONHeader)
	b.conf.update = func(text string) ([]string, error) {
		b.conf.text += text
		return []string{"noSuchKey is no setting"}, nil
	}
	if got := said(succeed(t, c, wire.UpdateNamesrvConfig, nil, nil)); got != "0" || len(b.conf.causes) != 0 {
		t.Errorf("without a body: %s, and the settings were asked", got)
	}
	if got := said(succeed(t, c, wire.UpdateNamesrvConfig, fields("x", "y"), []byte("noSuchKey=1\nä=ö\n"))); got != "0" {
		t.Errorf("answer %s", got)
	}
	if got := string(succeed(t, c, wire.GetNamesrvConfig, nil, nil).Body); got != "listenPort=9876\nnoSuchKey=1\nä=ö\n" {
		t.Errorf("settings %q", got)
	}
	if want := (registry.Cause{Face: "remoting", Action: "updateConfig", Actor: "pipe"}); len(b.conf.causes) != 1 || b.conf.causes[0] != want {
		t.Errorf("causes %v, want one %v", b.conf.causes, want)
	}
	b.log.wants(t, "part of a change of settings was ignored", "why", "noSuchKey")
}

// A text of settings larger than an answer that is copied comes whole.
func TestLargeAnswers(t *testing.T) {
	for _, start := range []func(testing.TB, ...change) *bed{startPipes, startTCP} {
		b := start(t)
		b.conf.text = strings.Repeat("key=value\n", 300_000)
		c := b.client(wire.BinaryHeader)
		// Around it are small ones, all asked for in one write.
		var all []*wire.Command
		for i := range 5 {
			code := wire.GetBrokerClusterInfo
			if i%2 == 1 {
				code = wire.GetNamesrvConfig
			}
			all = append(all, &wire.Command{Code: int32(code), Version: wire.V5_5_0, Opaque: int32(i)})
		}
		if err := c.Send(all...); err != nil {
			t.Fatal(err)
		}
		for i := range 5 {
			resp, err := c.Receive()
			if err != nil {
				t.Fatal(err)
			}
			if resp.Opaque != int32(i) || i%2 == 1 && string(resp.Body) != b.conf.text {
				t.Errorf("answer %d has opaque %d and %d bytes", i, resp.Opaque, len(resp.Body))
			}
		}
	}
}
