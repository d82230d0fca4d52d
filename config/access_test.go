package config

import "testing"

func TestAccessModes(t *testing.T) {
	for _, c := range []struct {
		mode, protection, keys string
		addresses              []string
		guarded                bool
		want                   string
	}{
		{"auto", "off", "/k", []string{"::1"}, true, "open"},
		{"auto", "on", "", nil, false, "open"},
		{"auto", "on", "/k", []string{"::1"}, false, "open"},
		{"auto", "on", "", nil, true, "closed"},
		{"auto", "on", "/k", nil, true, "signed"},
		{"auto", "on", "", []string{"::1"}, true, "listed"},
		{"auto", "on", "/k", []string{"::1"}, true, "both"},
		{"either", "on", "/k", []string{"::1"}, true, "either"},
		{"open", "on", "/k", nil, true, "open"},
		{"signed", "off", "/k", nil, false, "signed"},
	} {
		a := Access{Protection: c.protection, KeysFile: c.keys}
		if got := a.For(&ClassAccess{Mode: c.mode, Addresses: c.addresses}, c.guarded); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}
