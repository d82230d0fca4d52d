package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"log/slog"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fingerpost/config"
)

// newPair writes a certificate of that name and its key.
func newPair(t *testing.T, certFile, keyFile, name string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	// Not from time.Now: in a bubble that is the year 2000.
	tmpl := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, DNSNames: []string{"localhost"}, IsCA: true,
		BasicConstraintsValid: true, NotBefore: time.Unix(0, 0), NotAfter: time.Unix(1<<32, 0), KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	if certFile != "" {
		put(t, certFile, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})))
	}
	if keyFile != "" {
		put(t, keyFile, string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8})))
	}
}

func nameOf(t *testing.T, c *tls.Config) string {
	t.Helper()
	leaf, err := x509.ParseCertificate(c.Certificates[0].Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	return leaf.Subject.CommonName
}

func TestCertificateIsReadAgain(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		b := newOutput()
		c := &certificate{cert: filepath.Join(dir, "cert"), key: filepath.Join(dir, "key"), log: slog.New(slog.NewJSONHandler(b, nil)), clients: tls.RequireAnyClientCert}
		if err := c.load(); err == nil {
			t.Fatal("files that are not there were loaded")
		}
		newPair(t, c.cert, c.key, "one")
		if err := c.load(); err != nil {
			t.Fatal(err)
		}
		if conf := c.current(); nameOf(t, conf) != "one" || conf.MinVersion != tls.VersionTLS12 || conf.ClientAuth != tls.RequireAnyClientCert {
			t.Errorf("%+v", conf)
		}

		other := filepath.Join(dir, "other")
		newPair(t, c.cert, other, "two") // the key is still that of one
		if nameOf(t, c.current()) != "one" {
			t.Error("looked at the files before their time")
		}
		time.Sleep(recheck)
		if nameOf(t, c.current()) != "one" {
			t.Error("a certificate without its key is in use")
		}
		for range 3 {
			time.Sleep(recheck)
			c.current()
		}
		if n := strings.Count(b.String(), "cannot be used"); n != 1 {
			t.Errorf("said %d times that it cannot be used", n)
		}
		if err := os.Rename(other, c.key); err != nil {
			t.Fatal(err)
		}
		time.Sleep(recheck)
		if nameOf(t, c.current()) != "two" {
			t.Errorf("the new pair is not in use: %s", b.String())
		}
		if err := os.Remove(c.cert); err != nil {
			t.Fatal(err)
		}
		time.Sleep(recheck)
		if nameOf(t, c.current()) != "two" {
			t.Error("a removed file took the certificate away")
		}
	})
}

func TestTrustedAuthorities(t *testing.T) {
	dir := t.TempDir()
	c := &certificate{cert: filepath.Join(dir, "cert"), key: filepath.Join(dir, "key"), trust: filepath.Join(dir, "trust"), log: slog.New(slog.DiscardHandler)}
	newPair(t, c.cert, c.key, "one")
	put(t, c.trust, "no certificate")
	if err := c.load(); err == nil || !strings.Contains(err.Error(), "holds no certificate") {
		t.Errorf("got %v", err)
	}
	newPair(t, c.trust, "", "authority")
	if err := c.load(); err != nil || c.current().ClientCAs == nil {
		t.Errorf("got %v", err)
	}
}

func TestClientAuth(t *testing.T) {
	for _, c := range []struct {
		need string
		auth bool
		want tls.ClientAuthType
	}{
		{"none", true, tls.NoClientCert},
		{"optional", false, tls.RequestClientCert},
		{"optional", true, tls.VerifyClientCertIfGiven},
		{"require", false, tls.RequireAnyClientCert},
		{"require", true, tls.RequireAndVerifyClientCert},
	} {
		if got := clientAuth(&config.TLS{NeedClientAuth: c.need, AuthClient: c.auth}); got != c.want {
			t.Errorf("%s, %v: %v, want %v", c.need, c.auth, got, c.want)
		}
	}
}

// dialTLS connects to a server whose certificate nobody vouches for.
func dialTLS(t *testing.T, addr string) net.Conn {
	t.Helper()
	c, err := tls.Dial("tcp", addr, &tls.Config{InsecureSkipVerify: true})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Files that could not be read are tried again, also if nothing shows that they can be now,
// as when their owner is set right. That is said once.
func TestCertificateIsTriedAgain(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		b := newOutput()
		c := &certificate{cert: filepath.Join(dir, "cert"), key: filepath.Join(dir, "key"), log: slog.New(slog.NewJSONHandler(b, nil))}
		newPair(t, c.cert, c.key, "one")
		if err := c.load(); err != nil {
			t.Fatal(err)
		}
		newPair(t, c.cert, c.key, "two")
		key, err := os.ReadFile(c.key)
		if err != nil {
			t.Fatal(err)
		}
		// put a text that looks no other from outside.
		same := func(text string) {
			put(t, c.key, text)
			if err := os.Chtimes(c.key, time.Time{}, time.Unix(1e9, 0)); err != nil {
				t.Fatal(err)
			}
		}
		same(strings.Repeat("?", len(key)))
		for range 3 {
			time.Sleep(recheck)
			if nameOf(t, c.current()) != "one" || c.check() == nil {
				t.Error("a key that is none is in use")
			}
		}
		if n := strings.Count(b.String(), "cannot be used"); n != 1 {
			t.Errorf("said %d times: %s", n, b)
		}
		same(string(key))
		time.Sleep(recheck)
		if got := nameOf(t, c.current()); got != "two" || c.check() != nil {
			t.Errorf("%s is in use, %v", got, c.check())
		}
	})
}
