package main

import (
	"encoding/pem"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fingerpost/api"
	"fingerpost/internal/nstest"
)

// A server that has just started is ready once it knows the brokers that its peers know,
// and tells on which settings it differs from them, as long as they answer.
func TestPeersOfAProgram(t *testing.T) {
	first := start(t, t.TempDir())
	registerAt(t, first, "10.0.0.1:10911")
	second, c := admin(t, "--peers="+first.remoting(t), "--peers-interval=5s", "--peers-warm-up=1h", "--order-message-enable=true")
	ctx := t.Context()
	readiness := func() string {
		t.Helper()
		for _, k := range worked(c.Health(ctx, api.Readyz))(t).Checks {
			if !k.OK {
				return k.Detail
			}
		}
		return ""
	}
	await(t, func() bool { return strings.HasPrefix(readiness(), "catching up 0/1") })
	registerAt(t, second, "10.0.0.1:10911")
	if got := readiness(); got != "" {
		t.Errorf("not ready: %s", got)
	}
	await(t, func() bool { return worked(c.Peers(ctx))(t).Items[0].Differences == 1 })
	diff := worked(c.PeerDiff(ctx, first.remoting(t), api.PeerDiffOptions{}))(t)
	if d := diff.Items[0]; d.Kind != "setting" || *d.Key != "orderMessageEnable" || d.Here["value"] != "true" || d.There["value"] != "false" {
		t.Errorf("%+v", d)
	}
	healthy := func() bool {
		t.Helper()
		for _, k := range worked(c.Health(ctx, api.Healthz))(t).Checks {
			if k.Name == "peers-agree" {
				return k.OK
			}
		}
		t.Fatal("there is no check of the peers")
		return false
	}
	if healthy() {
		t.Error("healthy although a peer differs")
	}
	worked(c.PatchConfig(ctx, map[string]any{"orderMessageEnable": false}, api.Write{}))(t)
	if p := worked(c.CheckPeer(ctx, first.remoting(t)))(t); p.Differences != 0 || !healthy() {
		t.Errorf("although nothing differs any more: %+v", p)
	}
}

// A peer that speaks nothing but TLS, and wants a certificate from whoever calls, is asked
// over TLS: with its certificate checked, or not, as the settings say.
func TestPeersOverTLS(t *testing.T) {
	dir, own := t.TempDir(), newAuthority(t, "ours")
	cert, key := store(t, dir, own.issue(t, "localhost", time.Hour))
	ca, other := filepath.Join(dir, "ca.pem"), filepath.Join(dir, "other.pem")
	newPair(t, other, "", "another")
	put(t, ca, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: own.cert.Raw})))
	pair := []string{"--tls-server-cert-path=" + cert, "--tls-server-key-path=" + key}
	first := start(t, t.TempDir(), append(pair, "--tls-server-mode=enforcing", "--tls-server-trust-cert-path="+ca,
		"--tls-server-auth-client=true", "--tls-server-need-client-auth=require")...)
	_, port, err := net.SplitHostPort(first.remoting(t))
	if err != nil {
		t.Fatal(err)
	}
	peer := "localhost:" + port
	for _, x := range []struct {
		name, tls, trust, state string
	}{
		{"plain", "off", ca, "unreachable"},
		{"checked", "on", ca, "reachable"},
		{"of another authority", "on", other, "unreachable"},
		{"unchecked", "unverified", other, "reachable"},
	} {
		t.Run(x.name, func(t *testing.T) {
			_, c := admin(t, append(pair, "--peers="+peer, "--peers-tls="+x.tls, "--tls-server-trust-cert-path="+x.trust)...)
			if p := worked(c.CheckPeer(t.Context(), peer))(t); p.State != x.state {
				t.Errorf("%+v", p)
			}
		})
	}
}

// registerAt registers a broker with a program.
func registerAt(t *testing.T, p *program, addr string) {
	t.Helper()
	b := nstest.StartBroker(t, p.remoting(t), nstest.BrokerConfig{Cluster: "c", Name: "broker-a", Addr: addr})
	b.Topic("T", 4)
	b.Topic("U", 4)
	if _, err := nstest.Must(b.Register()); err != nil {
		t.Fatal(err)
	}
}

// await waits for what must come.
func await(t *testing.T, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it does not come")
		}
	}
}
