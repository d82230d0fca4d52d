package main

import (
	"crypto/hmac"
	"crypto/sha1"
	"encoding/base64"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"fingerpost/internal/nstest"
	"fingerpost/remoting/wire"
)

// byKey are the fields that a tool with that file signs an otherwise empty request with.
func byKey(accessKey, secret string) wire.Fields {
	mac := hmac.New(sha1.New, []byte(secret))
	mac.Write([]byte(accessKey))
	return wire.Fields{{Name: "AccessKey", Value: accessKey}, {Name: "Signature", Value: base64.StdEncoding.EncodeToString(mac.Sum(nil))}}
}

// One setting closes all but lookups to who neither signs nor is listed, and each class
// can be told otherwise.
func TestRemotingProtection(t *testing.T) {
	dir := t.TempDir()
	keys := filepath.Join(dir, "keys.yml")
	put(t, keys, "accounts:\n- accessKey: operator\n  secretKey: 12345678\n  admin: true\n- accessKey: application\n  secretKey: 12345678\n")
	operator, application := byKey("operator", "12345678"), byKey("application", "12345678")
	here, elsewhere := "127.0.0.0/8", "192.0.2.0/24"
	for _, c := range []struct {
		name     string
		args     []string
		ext      wire.Fields
		broker   int32 // to 106, 901, 206 and 319
		admin    int32
		settings int32
	}{
		{"off", nil, nil, 0, 0, 0},
		{"on, nothing set", []string{"--remoting-protection=on"}, nil, 16, 16, 16},
		{"on with keys, unsigned", []string{"--remoting-protection=on", "--remoting-access-keys-file=" + keys}, nil, 16, 16, 16},
		{"on with keys, signed", []string{"--remoting-protection=on", "--remoting-access-keys-file=" + keys}, operator, 0, 0, 0},
		{"on with keys, by an application", []string{"--remoting-protection=on", "--remoting-access-keys-file=" + keys}, application, 16, 16, 16},
		{"on, brokers listed", []string{"--remoting-protection=on", "--remoting-access-broker-addresses=" + here}, nil, 0, 16, 16},
		{"on, listed and signed", []string{"--remoting-protection=on", "--remoting-access-keys-file=" + keys, "--remoting-access-admin-addresses=" + here}, operator, 0, 0, 0},
		{"on, signed elsewhere", []string{"--remoting-protection=on", "--remoting-access-keys-file=" + keys, "--remoting-access-admin-addresses=" + elsewhere}, operator, 0, 16, 0},
		{"on, brokers by address though there are keys", []string{
			"--remoting-protection=on", "--remoting-access-keys-file=" + keys, "--remoting-access-broker-addresses=" + here, "--remoting-access-broker=listed",
		}, nil, 0, 16, 16},
		{"off, the settings by themselves", []string{"--remoting-access-config=closed"}, nil, 0, 0, 16},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := start(t, t.TempDir(), append(c.args, "--http-listen=")...)
			conn := client(t, p)
			for code, want := range map[wire.RequestCode]int32{
				wire.GetBrokerClusterInfo: 0, wire.GetBrokerMemberGroup: c.broker, wire.GetAllTopicListFromNamesrv: c.admin, wire.GetNamesrvConfig: c.settings,
			} {
				resp, err := conn.Call(code, c.ext, nil)
				if err != nil {
					t.Fatal(err)
				}
				if resp.Code != want {
					t.Errorf("%v: code %d %q, want %d", code, resp.Code, resp.Remark, want)
				}
			}
			if strings.Contains(p.stderr.String(), "12345678") {
				t.Error("a secret is in the log")
			}
		})
	}
	if status, _, text := once(t, dir, nil, "--remoting-access-keys-file="+filepath.Join(dir, "none")); status != 1 || !strings.Contains(text, "remoting.access.keysFile: read access keys") {
		t.Errorf("without its file: %d %s", status, text)
	}
}

// Behind a balancer the list is about the address that its header carries.
func TestListsBehindABalancer(t *testing.T) {
	p := start(t, t.TempDir(), "--http-listen=", "--remoting-trusted-proxies=127.0.0.1", "--remoting-access-admin=listed", "--remoting-access-admin-addresses=203.0.113.0/24")
	for header, want := range map[string]int32{
		"": 16,
		"PROXY TCP4 203.0.113.7 10.0.0.1 1 2\r\n": 0,
		"PROXY TCP4 192.0.2.7 10.0.0.1 1 2\r\n":   16,
	} {
		conn, err := net.Dial("tcp", p.remoting(t))
		if err != nil {
			t.Fatal(err)
		}
		c := nstest.NewClient(conn, wire.JSONHeader)
		if err := c.Write([]byte(header)); err != nil {
			t.Fatal(err)
		}
		resp, err := c.Call(wire.GetAllTopicListFromNamesrv, nil, nil)
		if err != nil || resp.Code != want {
			t.Errorf("%q: %v, %v; want code %d", header, resp, err, want)
		}
		c.Close()
	}
}
