package main

import (
	"net/http"
	"strings"
	"testing"
)

// The list is served by the API's listener and at an address of its own, from settings;
// units have theirs, and a node that is taken out of service is in none of them.
func TestAddressList(t *testing.T) {
	d := newDesk(t, "--http-nsaddr-enabled", "--http-nsaddr-listen=127.0.0.1:0", "--drain-timeout=1s", "--http-nsaddr-self=names-1:9876",
		"--peers=names-2:9876;names-3:9876", "--http-nsaddr-units=east=names-1:9876;east=names-4:9876")
	alone := "http://" + d.server.stderr.line(t, "the address list is served")["at"].(string)
	wants := func(when, all, east string) {
		t.Helper()
		for _, base := range []string{d.base, alone} {
			for path, want := range map[string]string{
				"/rocketmq/nsaddr": all, "/rocketmq/nsaddr?a=b&c=d": all, "/rocketmq/nsaddr-east?nofix=1": east, "/rocketmq/nsaddr-west?nofix=1": all,
			} {
				if status, body := get(t, base+path, ""); status != http.StatusOK || body != want {
					t.Errorf("%s, %s%s: %d %q, want %q", when, base, path, status, body, want)
				}
			}
		}
	}
	wants("in service", "names-1:9876;names-2:9876;names-3:9876", "names-1:9876;names-4:9876")
	if status, _ := get(t, alone+"/api/v1/version", ""); status != http.StatusNotFound {
		t.Errorf("the API answers at the list's address: %d", status)
	}
	if status, _, stderr := d.run(t, "drain"); status != 0 {
		t.Fatal(stderr)
	}
	wants("drained", "names-2:9876;names-3:9876", "names-4:9876")
	if status, _, stderr := d.run(t, "drain", "--cancel"); status != 0 {
		t.Fatal(stderr)
	}
	wants("again", "names-1:9876;names-2:9876;names-3:9876", "names-1:9876;names-4:9876")
}

// A name of DNS is asked in the background. localhost resolves everywhere, and it is this
// machine: alone it is left out when the node leaves, so that clients keep what they have.
func TestAddressListFromDNS(t *testing.T) {
	d := newDesk(t, "--http-nsaddr-enabled", "--http-nsaddr-dns=localhost:9876", "--drain-timeout=1s")
	d.server.stderr.line(t, "the name servers have other addresses")
	if status, body := get(t, d.base+"/rocketmq/nsaddr", ""); status != http.StatusOK || !strings.Contains(body, "127.0.0.1:9876") && !strings.Contains(body, "[::1]:9876") {
		t.Errorf("%d %s", status, body)
	}
	if status, _, stderr := d.run(t, "drain"); status != 0 {
		t.Fatal(stderr)
	}
	if status, body := get(t, d.base+"/rocketmq/nsaddr", ""); status != http.StatusServiceUnavailable || !strings.Contains(body, "shutting-down") {
		t.Errorf("%d %s", status, body)
	}
	if status, body := get(t, d.base+"/healthz?verbose", ""); !strings.Contains(body, "[+] nsaddr-dns ok") {
		t.Errorf("%d %s", status, body)
	}
}

func TestBadAddressLists(t *testing.T) {
	for arg, want := range map[string]string{
		"--http-nsaddr-units=east":            "must hold entries such as east=10.0.0.1:9876",
		"--http-nsaddr-units==10.0.0.1:1":     "must hold entries such as",
		"--http-nsaddr-units=east=10.0.0.1":   "must hold entries such as",
		"--http-nsaddr-dns=headless":          "must be an address such as",
		"--http-nsaddr-addresses=a:1;b":       "must be an address such as",
		"--http-nsaddr-listen=8080":           "must be an address such as",
		"--http-nsaddr-listen=192.0.2.1:8080": "192.0.2.1:8080 is no address of this machine: set http.nsaddr.listen",
	} {
		status, stdout, stderr := once(t, t.TempDir(), nil, "--listen-port=0", "--http-listen=", "--bind-address=127.0.0.1", arg)
		if status != 1 || stdout != "" || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit status %d, %s%s", arg, status, stdout, stderr)
		}
	}
}
