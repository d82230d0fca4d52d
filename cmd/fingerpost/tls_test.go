package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"fingerpost/internal/nstest"
	"fingerpost/remoting/wire"
)

// authority issues certificates.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

var serials atomic.Int64

func newAuthority(t *testing.T, name string) *authority {
	t.Helper()
	a := &authority{}
	a.cert, a.key = a.make(t, &x509.Certificate{
		Subject: pkix.Name{CommonName: name}, IsCA: true, BasicConstraintsValid: true,
		NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	})
	return a
}

func (a *authority) make(t *testing.T, tmpl *x509.Certificate) (*x509.Certificate, *ecdsa.PrivateKey) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	tmpl.SerialNumber, tmpl.NotBefore = big.NewInt(serials.Add(1)), time.Now().Add(-2*time.Hour)
	parent, signer := a.cert, a.key
	if parent == nil {
		parent, signer = tmpl, key
	}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, parent, &key.PublicKey, signer)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return cert, key
}

// issue makes a certificate for both ends of a connection.
func (a *authority) issue(t *testing.T, host string, ends time.Duration) tls.Certificate {
	t.Helper()
	cert, key := a.make(t, &x509.Certificate{
		Subject: pkix.Name{CommonName: host}, DNSNames: []string{host}, NotAfter: time.Now().Add(ends),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	})
	return tls.Certificate{Certificate: [][]byte{cert.Raw}, PrivateKey: key, Leaf: cert}
}

func (a *authority) pool() *x509.CertPool {
	p := x509.NewCertPool()
	p.AddCert(a.cert)
	return p
}

// store writes a certificate and its key into a folder.
func store(t *testing.T, dir string, c tls.Certificate) (cert, key string) {
	t.Helper()
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	der, err := x509.MarshalPKCS8PrivateKey(c.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	put(t, cert, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Certificate[0]})))
	put(t, key, string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})))
	return cert, key
}

// tlsPeer is how somebody connects.
type tlsPeer struct {
	name string
	conf *tls.Config // nil for plain
	// anyone tells that it gets in where TLS is spoken, known that it does also where
	// clients have to be known.
	anyone, known bool
}

// The matrix: every mode of the server, with and without certificates of clients, and
// every way to come.
func TestTLSMatrix(t *testing.T) {
	ours, others := newAuthority(t, "ours"), newAuthority(t, "others")
	trust := ours.pool()
	with := func(c tls.Certificate) *tls.Config {
		// Shown whatever authorities the server asks for.
		return &tls.Config{RootCAs: trust, ServerName: "names.test", GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &c, nil }}
	}
	upTo := func(v uint16) *tls.Config {
		return &tls.Config{RootCAs: trust, ServerName: "names.test", MinVersion: tls.VersionTLS10, MaxVersion: v, Certificates: []tls.Certificate{ours.issue(t, "old", time.Hour)}}
	}
	peers := []tlsPeer{
		{name: "plain"},
		{"TLS", &tls.Config{RootCAs: trust, ServerName: "names.test"}, true, false},
		{"a known client", with(ours.issue(t, "client", time.Hour)), true, true},
		{"a client whose certificate has ended", with(ours.issue(t, "client", -time.Hour)), true, false},
		{"a client of another authority", with(others.issue(t, "client", time.Hour)), true, false},
		{"who expects another name", &tls.Config{RootCAs: trust, ServerName: "other.test"}, false, false},
		{"who trusts another authority", &tls.Config{RootCAs: others.pool(), ServerName: "names.test"}, false, false},
		{"TLS 1.0", upTo(tls.VersionTLS10), false, false},
		{"TLS 1.1", upTo(tls.VersionTLS11), false, false},
		{"TLS 1.2", upTo(tls.VersionTLS12), true, true},
	}
	dir := t.TempDir()
	cert, key := store(t, dir, ours.issue(t, "names.test", time.Hour))
	ca := filepath.Join(dir, "ca.pem")
	put(t, ca, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: ours.cert.Raw})))
	for _, mode := range []string{"disabled", "permissive", "enforcing"} {
		for _, mutual := range []bool{false, true} {
			t.Run(fmt.Sprint(mode, ", clients known ", mutual), func(t *testing.T) {
				args := []string{"--http-listen=", "--tls-server-mode=" + mode, "--tls-server-cert-path=" + cert, "--tls-server-key-path=" + key}
				if mutual {
					args = append(args, "--tls-server-trust-cert-path="+ca, "--tls-server-auth-client=true", "--tls-server-need-client-auth=require")
				}
				addr := start(t, t.TempDir(), args...).remoting(t)
				for _, p := range peers {
					want := p.anyone && mode != "disabled"
					switch {
					case p.conf == nil:
						want = mode != "enforcing"
					case mutual:
						want = p.known && mode != "disabled"
					}
					if err := lookUp(addr, p.conf); (err == nil) != want {
						t.Errorf("%s: %v, want it served %v", p.name, err, want)
					}
				}
			})
		}
	}
	t.Run("HTTP", func(t *testing.T) {
		roles := filepath.Join(dir, "roles")
		put(t, roles, "cn:client viewer\ncn:old viewer\n")
		p := start(t, t.TempDir(), "--http-tls-cert-file="+cert, "--http-tls-key-file="+key, "--http-tls-client-ca-file="+ca,
			"--auth-cert-roles-file="+roles, "--http-allowed-hosts=names.test")
		url := overTLS(t, p) + "/api/v1/topics"
		for _, peer := range peers {
			if peer.conf == nil {
				continue
			}
			status, err := fetchOver(t, url, peer.conf)
			// Who shows a certificate has to show a good one; without one nobody is known.
			want := map[bool]int{true: http.StatusOK, false: http.StatusUnauthorized}[peer.known]
			refused := !peer.anyone || !peer.known && peer.conf.GetClientCertificate != nil
			if (err != nil) != refused || err == nil && status != want {
				t.Errorf("%s: %d, %v; want it refused %v, else %d", peer.name, status, err, refused, want)
			}
		}
	})
	t.Run("1.3 at least", func(t *testing.T) {
		p := start(t, t.TempDir(), "--tls-server-min-version=1.3", "--tls-server-cert-path="+cert, "--tls-server-key-path="+key,
			"--http-tls-min-version=1.3", "--http-tls-cert-file="+cert, "--http-tls-key-file="+key)
		for v, want := range map[uint16]bool{tls.VersionTLS12: false, tls.VersionTLS13: true} {
			if err := lookUp(p.remoting(t), upTo(v)); (err == nil) != want {
				t.Errorf("remoting, version %#x: %v", v, err)
			}
			if _, err := fetchOver(t, overTLS(t, p)+"/livez", upTo(v)); (err == nil) != want {
				t.Errorf("HTTP, version %#x: %v", v, err)
			}
		}
	})
}

func overTLS(t *testing.T, p *program) string {
	t.Helper()
	return strings.Replace(p.url(t), "http:", "https:", 1)
}

// lookUp asks for a route over a connection of its own.
func lookUp(addr string, conf *tls.Config) error {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return err
	}
	defer conn.Close()
	if conf != nil {
		conn = tls.Client(conn, conf)
	}
	resp, err := nstest.NewClient(conn, wire.JSONHeader).Call(wire.GetRouteInfoByTopic, wire.Fields{{Name: "topic", Value: "T"}}, nil)
	if err == nil && resp.Code != int32(wire.TopicNotExist) {
		err = fmt.Errorf("code %d %s", resp.Code, resp.Remark)
	}
	return err
}

func fetchOver(t *testing.T, url string, conf *tls.Config) (status int, err error) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	c := http.Client{Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: conf}}
	resp, err := c.Do(req)
	if err != nil {
		return 0, err
	}
	resp.Body.Close()
	return resp.StatusCode, nil
}

// Certificates change while everybody asks: nobody is refused, old connections go on,
// new ones see the new certificate, and half of a pair changes nothing.
func TestCertificateSwappedUnderLoad(t *testing.T) {
	ca, dir := newAuthority(t, "ours"), t.TempDir()
	first := ca.issue(t, "names.test", 30*24*time.Hour)
	cert, key := store(t, dir, first)
	p := start(t, t.TempDir(), "--tls-server-mode=enforcing", "--tls-server-cert-path="+cert, "--tls-server-key-path="+key,
		"--http-tls-cert-file="+cert, "--http-tls-key-file="+key)
	conf := &tls.Config{RootCAs: ca.pool(), ServerName: "names.test"}
	addr, url := p.remoting(t), overTLS(t, p)
	old, err := tls.Dial("tcp", addr, conf)
	if err != nil {
		t.Fatal(err)
	}
	kept := nstest.NewClient(old, wire.JSONHeader)
	defer kept.Close()
	stop := make(chan struct{})
	var asked atomic.Int64
	var load sync.WaitGroup
	for range 4 {
		load.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if err := lookUp(addr, conf); err != nil {
					t.Errorf("remoting while it changes: %v", err)
				}
				asked.Add(1)
			}
		})
	}
	end := sync.OnceFunc(func() {
		close(stop)
		load.Wait()
	})
	defer end()
	serial := func() string {
		c, err := tls.Dial("tcp", addr, conf)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		return c.ConnectionState().PeerCertificates[0].SerialNumber.String()
	}
	await := func(what string, is func() bool) {
		t.Helper()
		for late := time.Now().Add(60 * time.Second); !is(); time.Sleep(20 * time.Millisecond) {
			if time.Now().After(late) {
				t.Fatal(what)
			}
		}
	}
	// A certificate without its key is not used, and that is said.
	put(t, cert, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: ca.issue(t, "names.test", time.Hour).Certificate[0]})))
	health := func() string {
		_, body := get(t, url+"/healthz?verbose", "")
		return body
	}
	await("the health check does not tell of the half pair", func() bool { return strings.Contains(health(), "has changed and the new one is not in use") })
	if serial() != first.Leaf.SerialNumber.String() {
		t.Error("half of a pair is in use")
	}
	for range 2 {
		next := ca.issue(t, "names.test", 30*24*time.Hour)
		store(t, dir, next)
		await("a new certificate is not used", func() bool { return serial() == next.Leaf.SerialNumber.String() })
	}
	await("the health check is not in order again", func() bool { return strings.Contains(health(), "[+] certificates ok") })
	if _, err := nstest.Must(kept.Call(wire.GetBrokerClusterInfo, nil, nil)); err != nil {
		t.Errorf("the connection from before: %v", err)
	}
	end()
	if asked.Load() == 0 {
		t.Error("nobody asked")
	}
}

// A certificate that ends is said to before it does.
func TestCertificatesEnd(t *testing.T) {
	ca := newAuthority(t, "ours")
	for _, c := range []struct {
		ends time.Duration
		want string
	}{{-time.Minute, "has ended"}, {24 * time.Hour, "ends in 23h"}, {30 * 24 * time.Hour, ""}} {
		dir := t.TempDir()
		cert, key := store(t, dir, ca.issue(t, "names.test", c.ends))
		crt := &certificate{face: "remoting", cert: cert, key: key}
		if err := crt.load(); err != nil {
			t.Fatal(err)
		}
		if err := crt.check(); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.ends, err)
		}
	}
}
