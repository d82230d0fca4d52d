package check

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// fault is what makes an alert fire: what goes wrong, and what has to be there for that.
type fault struct {
	under  []string               // the command that runs the server's
	args   []string               // of the server
	first  func(*server) []string // done before it starts; it returns more args
	before func(*server)          // done when it runs and before anything is wrong
	fault  func(*server)
}

var faults = map[string]fault{
	"FingerpostDown":       {fault: func(s *server) { s.stop() }},
	"FingerpostNotReady":   {args: []string{"--need-wait-for-service", "--wait-seconds-for-service", "600"}, fault: func(*server) {}},
	"FingerpostRestarting": {},
	"FingerpostNoBrokers": {
		before: func(s *server) { s.member("a", 0, "10.0.0.1:10911") },
		fault:  func(s *server) { s.ask("DELETE", "/api/v1/brokers/a/members/0", "") },
	},
	"FingerpostNoMaster": {fault: func(s *server) { s.member("a", 1, "10.0.0.1:10911") }},
	"FingerpostWritePermWiped": {
		before: func(s *server) {
			s.member("a", 0, "10.0.0.1:10911")
			s.ask("PUT", "/api/v1/topics/T/brokers/a", `{"readQueueNums":1,"writeQueueNums":1,"perm":6}`)
		},
		fault: func(s *server) { s.ask("DELETE", "/api/v1/brokers/a/write-perm", "") },
	},
	"FingerpostConflict":             {before: twoAtOneAddress(false), fault: twoAtOneAddress(true)},
	"FingerpostRegistrationsRefused": {before: twoAtOneAddress(false), fault: twoAtOneAddress(true)},
	"FingerpostRegistrationsInvalid": {fault: func(s *server) { s.ask("PUT", "/api/v1/brokers/a/members/0", `{"clusterName":"c"}`) }},
	"FingerpostAuthFailures": {fault: func(s *server) {
		many(5, func() { s.ask("GET", "/api/v1/topics", "", "Authorization", "Bearer wrong") })
	}},
	"FingerpostFramesOverLimit": {fault: func(s *server) {
		s.send([]byte{0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0})
		s.shows(`frames_refused_total{reason="over_limit"} 1`)
	}},
	"FingerpostConnectionsRejected": {args: []string{"--remoting-max-connections", "1"}, fault: func(s *server) {
		s.send(nil)
		s.send(nil)
		s.until("a refused connection", func(text string) bool { return !strings.Contains(text, "connections_rejected_total 0\n") })
	}},
	"FingerpostRequestsFailing": {args: []string{"--need-wait-for-service", "--wait-seconds-for-service", "600"}, fault: func(s *server) {
		many(5, func() { answered(s.t, s.send(request(105, `"topic":"T"`))) })
	}},
	"FingerpostSaveFailing":  {fault: unsaved},
	"FingerpostCheckFailing": {fault: unsaved},
	"FingerpostPeerDown":     {args: []string{"--peers", "127.0.0.1:1"}, fault: func(s *server) { s.shows(`peer_up{peer="127.0.0.1:1"} 0`) }},
	"FingerpostBrokersExpired": {args: []string{"--scan-not-active-broker-interval", "100"}, fault: func(s *server) {
		s.member("a", 0, "10.0.0.1:10911", soon)
		s.shows(`expiry_events_total{source="rest"} 1`)
	}},
	// Nobody looks for it, so that it stays late for as long as the test takes.
	"FingerpostBrokersLate": {args: []string{"--scan-not-active-broker-interval", "600000"}, fault: func(s *server) {
		s.member("a", 0, "10.0.0.1:10911", soon)
		s.shows("late_brokers 1")
	}},
	"FingerpostMassExpiry": {args: []string{"--scan-not-active-broker-interval", "100", "--mass-expiry-minimum", "1"}, fault: func(s *server) {
		s.member("a", 0, "10.0.0.1:10911", soon)
		s.member("b", 0, "10.0.0.2:10911", soon)
		s.shows("mass_expiries_total 1")
	}},
	"FingerpostAccessDenied": {args: []string{"--remoting-protection", "on"}, first: keys, fault: func(s *server) {
		answered(s.t, s.send(request(205, `"brokerName":"a"`)))
		s.shows(`access_denied_total{class="admin",reason="unsigned"} 1`)
	}},
	"FingerpostCertificateEnds": {first: pair, fault: func(s *server) {
		ends := certify(s, 3*24*time.Hour)
		s.shows(`tls_certificate_not_after_timestamp_seconds{face="remoting"} ` + strconv.FormatFloat(float64(ends.Unix()), 'g', -1, 64))
	}},
	"FingerpostPeersDiffer": {
		args: []string{"--peers-interval", "5s"},
		first: func(s *server) []string {
			s.other = start(s.t, fault{})
			return []string{"--peers", s.other.remoting}
		},
		before: func(s *server) { s.shows(fmt.Sprintf("peer_up{peer=%q} 1", s.other.remoting)) },
		fault: func(s *server) {
			s.other.member("a", 0, "10.0.0.1:10911")
			s.shows(fmt.Sprintf(`peer_differences{kind="broker",peer=%q} 1`, s.other.remoting))
		},
	},
	"FingerpostSlowPeers":    {args: []string{"--remoting-write-timeout", "1s"}, fault: neverReads},
	"FingerpostBusy":         {under: []string{"env", "GOMAXPROCS=1"}, args: []string{"--remoting-overload-delay", "1us"}, fault: crowd},
	"FingerpostSlowRequests": {fault: slowly},
	"FingerpostTooManyFiles": {under: []string{"sh", "-c", `ulimit -n 64 && exec "$0" "$@"`}, fault: fillFiles},
	"FingerpostWatchersLag":  {args: manyWrites, before: fallBehind, fault: catchUp},
	"FingerpostWatchResets":  {args: manyWrites, before: fallBehind, fault: catchUp},
}

// soon is the shortest time for which a member may be silent.
const soon = `,"heartbeatTimeoutMillis":5000`

// keys makes a file of access keys, so that requests without a signature are refused for
// that.
func keys(s *server) []string {
	s.put("keys.yml", []byte("accounts:\n- accessKey: operator\n  secretKey: secretOfOperator\n  admin: true\n"))
	return []string{"--remoting-access-keys-file", filepath.Join(s.dir, "keys.yml")}
}

// pair makes a certificate for the remoting port that lasts.
func pair(s *server) []string {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		s.t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		s.t.Fatal(err)
	}
	s.key = key
	s.put("key.pem", pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
	certify(s, 365*24*time.Hour)
	return []string{"--tls-server-cert-path", filepath.Join(s.dir, "cert.pem"), "--tls-server-key-path", filepath.Join(s.dir, "key.pem")}
}

// certify puts a certificate in place that ends after a while, and returns when.
func certify(s *server, lasts time.Duration) time.Time {
	ends := time.Now().Add(lasts)
	of := &x509.Certificate{SerialNumber: big.NewInt(ends.Unix()), NotBefore: time.Now().Add(-time.Hour), NotAfter: ends}
	der, err := x509.CreateCertificate(rand.Reader, of, of, s.key.Public(), s.key)
	if err != nil {
		s.t.Fatal(err)
	}
	s.put("cert.pem", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	return ends
}

func many(n int, f func()) {
	for range n {
		f()
	}
}

func twoAtOneAddress(second bool) func(*server) {
	return func(s *server) {
		name, want := "a", http.StatusCreated
		if second {
			name, want = "b", http.StatusConflict
		}
		if got := s.member(name, 0, "10.0.0.1:10911"); got != want {
			s.t.Fatalf("the registration is answered with %d, want %d", got, want)
		}
	}
}

// unsaved takes away the place of the key-value file: a file stands where its folder
// belongs.
func unsaved(s *server) {
	place := filepath.Join(s.dir, "namesrv")
	_ = os.RemoveAll(place)
	if err := os.WriteFile(place, nil, 0o600); err != nil {
		s.t.Fatal(err)
	}
	if got := s.ask("PUT", "/api/v1/kv/n/k", `{"value":"v"}`); got < 500 {
		s.t.Fatalf("the key is saved all the same: %d", got)
	}
}
