package remoting_test

import (
	"crypto/hmac"
	"crypto/sha1"
	"encoding/base64"
	"fmt"
	"maps"
	"net/netip"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fingerpost/internal/nstest"
	"fingerpost/remoting"
	"fingerpost/remoting/wire"
)

// The peers that the tests of access control know, besides those that are not listed.
const (
	listed   = "10.0.0.1"
	stranger = "192.0.2.7"
	window   = time.Minute
)

var testKeys = map[string]remoting.Key{
	"RocketMQ": {Secret: "12345678", May: [remoting.AccessClasses]bool{true, true, true, true}},
	"shop":     {Secret: "87654321", May: [remoting.AccessClasses]bool{remoting.ForClient: true}},
}

// protected rules the classes of brokers, tools and settings, and with clients that one too.
func protected(mode remoting.Mode, clients bool) change {
	return with(func(s *remoting.Server) {
		for c := range s.Access.Rules {
			if remoting.AccessClass(c) != remoting.ForClient || clients {
				s.Access.Rules[c] = remoting.Rule{Mode: mode, Addresses: []netip.Prefix{netip.MustParsePrefix(listed + "/32")}}
			}
		}
		s.Access.ReplayWindow = window
		s.Access.Keys = func(name string) (remoting.Key, bool) {
			k, ok := testKeys[name]
			return k, ok
		}
	})
}

// signed returns the fields with those that the peers' hook adds.
func signed(accessKey, secret string, ext wire.Fields, body []byte) wire.Fields {
	all := map[string]string{"AccessKey": accessKey}
	for _, f := range ext {
		all[f.Name] = f.Value
	}
	mac := hmac.New(sha1.New, []byte(secret))
	for _, name := range slices.Sorted(maps.Keys(all)) {
		mac.Write([]byte(all[name]))
	}
	mac.Write(body)
	all["Signature"] = base64.StdEncoding.EncodeToString(mac.Sum(nil))
	var out wire.Fields
	for name, value := range all {
		out = append(out, wire.Field{Name: name, Value: value})
	}
	return out
}

// withState brings about the state of the other tests from a listed address.
func (b *bed) withState(t *testing.T) {
	t.Helper()
	for _, p := range theState() {
		c := b.dialFrom(listed)
		if err := c.Write(p.frame(1)); err != nil {
			t.Fatal(err)
		}
		if resp, err := c.Receive(); err != nil || resp.Code != 0 {
			t.Fatalf("%v, %v", resp, err)
		}
	}
}

// Every request that is served has a class, and no other has a row.
func TestEveryRequestHasAClass(t *testing.T) {
	for code := range remoting.Dispatch {
		if _, ok := remoting.AccessKinds[code]; !ok {
			t.Errorf("%v has no class", code)
		}
	}
	for code := range remoting.AccessKinds {
		if _, ok := remoting.Dispatch[code]; !ok {
			t.Errorf("%v has a class and is not served", code)
		}
	}
	for _, code := range []wire.RequestCode{36, 905, -1, 65535} {
		if c := remoting.AccessClassOf(code); c != remoting.ForConfig {
			t.Errorf("the unknown code %d is in the class %v", code, c)
		}
	}
}

// What the peers' own hook writes, from RocketMQ 5.5.0.
func TestPeersSignaturesAreRight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := startPipes(t, protected(remoting.Signed, true))
		c := b.dialFrom(stranger)
		beat := fields("brokerName", "b1", "clusterName", "c1", "brokerAddr", "a0:1", "AccessKey", "RocketMQ", "Signature", "FC9/z59bDrlt41zW14asmGTOnEs=")
		succeed(t, c, wire.BrokerHeartbeat, beat, nil)
		declare := fields("AccessKey", "RocketMQ", "SecurityToken", "tok", "topic", "主题 T7", "Signature", "StxWQdqxNlnoE6qc38NhJD19rk0=")
		succeed(t, c, wire.RegisterTopicInNamesrv, declare, []byte(`{"queueDatas":[]}`))
		succeed(t, c, wire.GetAllTopicListFromNamesrv, fields("AccessKey", "RocketMQ", "Signature", "IUc8rrO/0gDch8CjObLQsW2rsiA="), nil)
		// A client adds its zone to what it has signed.
		zoned := append(signed("shop", "87654321", fields("topic", "T1"), nil), fields("__ZONE_MODE", "true", "__ZONE_NAME", "z9")...)
		if resp := call(t, c, wire.GetRouteInfoByTopic, zoned, nil); resp.Code != int32(wire.TopicNotExist) {
			t.Errorf("a lookup with a zone: %s", said(resp))
		}
	})
}

// The table of answers: each request in each way that is not right, and nothing moves.
func TestRefusalsLeaveNoTrace(t *testing.T) {
	for _, way := range []struct {
		name string
		mode remoting.Mode
		sign func(ext wire.Fields, body []byte) wire.Fields
		say  string // in the remark
	}{
		{"unsigned", remoting.Either, nil, "conf/tools.yml"},
		{"unlisted", remoting.Listed, nil, "Addresses"},
		{"closed", remoting.Closed, nil, "remoting.access."},
		{"unknown-key", remoting.Either, func(ext wire.Fields, body []byte) wire.Fields { return signed("nobody", "", ext, body) }, "remoting.access.keysFile"},
		{"wrong-signature", remoting.Either, func(ext wire.Fields, body []byte) wire.Fields { return signed("RocketMQ", "12345679", ext, body) }, "remoting.access.keysFile"},
		{"wrong-signature", remoting.Either, func(ext wire.Fields, body []byte) wire.Fields {
			return append(signed("RocketMQ", "12345678", ext, body), wire.Field{Name: "x", Value: "y"})
		}, "remoting.access.keysFile"},
		{"key-not-allowed", remoting.Either, func(ext wire.Fields, body []byte) wire.Fields { return signed("shop", "87654321", ext, body) }, "remoting.access.keysFile"},
		{"unlisted", remoting.Both, func(ext wire.Fields, body []byte) wire.Fields { return signed("RocketMQ", "12345678", ext, body) }, "Addresses"},
	} {
		t.Run(fmt.Sprint(way.name, " ", way.mode), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := startPipes(t, protected(way.mode, false))
				if way.mode == remoting.Either || way.mode == remoting.Listed {
					b.withState(t)
				}
				before := b.dump()
				c := b.dialFrom(stranger)
				wants := map[string]uint64{}
				for _, k := range codeCases {
					class := remoting.AccessClassOf(k.code)
					ext, body := k.ext, []byte(k.body)
					if way.sign != nil {
						ext = way.sign(ext, body)
					}
					resp := call(t, c, k.code, ext, body)
					switch open := class == remoting.ForClient; {
					case open && resp.Code == int32(wire.NoPermission):
						t.Errorf("%v is for everybody: %s", k.code, said(resp))
					case !open && (resp.Code != int32(wire.NoPermission) || !strings.Contains(resp.Remark, way.say) || resp.HasExt || resp.Body != nil):
						t.Errorf("%v: %s", k.code, said(resp))
					case !open:
						wants[class.String()]++
					}
				}
				put := fields("namespace", "N", "key", "K", "value", "v")
				if way.sign != nil {
					put = way.sign(put, nil)
				}
				if err := c.Oneway(wire.PutKVConfig, put, nil); err != nil {
					t.Fatal(err)
				}
				wants["admin"]++
				succeedOr17(t, c)
				if after := b.dump(); after != before {
					t.Errorf("a refused request left a trace: %s", moved(before, after))
				}
				if len(b.conf.causes) > 0 || string(b.conf.Text()) != "listenPort=9876\n" {
					t.Errorf("a refused request reached the settings: %v", b.conf.causes)
				}
				for _, d := range b.srv.Stats.Denied() {
					want := uint64(0)
					if d.Reason == way.name {
						want = wants[d.Class.String()]
					}
					if d.Count != want {
						t.Errorf("%d refusals of %v because %s, want %d", d.Count, d.Class, d.Reason, want)
					}
				}
				lines := b.log.find("a request is refused")
				if len(lines) != remoting.AccessClasses-1 { // one for each class, whatever their number
					t.Errorf("%d lines in the log, want %d", len(lines), remoting.AccessClasses-1)
				}
				for _, l := range lines {
					if !strings.HasPrefix(l.attrs["peer"], stranger) || l.attrs["why"] != way.name {
						t.Errorf("the log says %v", l.attrs)
					}
				}
			})
		})
	}
}

// succeedOr17 sees that the connection goes on and everything before was served.
func succeedOr17(t *testing.T, c *nstest.Client) {
	t.Helper()
	if resp := call(t, c, wire.GetRouteInfoByTopic, fields("topic", "T1"), nil); resp.Code != 0 && resp.Code != int32(wire.TopicNotExist) {
		t.Errorf("a lookup: %s", said(resp))
	}
}

// What is signed right, or comes from a listed address, is answered as by an open server.
func TestAdmittedRequestsAreServed(t *testing.T) {
	for _, from := range []string{listed, stranger} {
		for _, k := range codeCases {
			synctest.Test(t, func(t *testing.T) {
				b := startPipes(t, protected(remoting.Either, true))
				b.withState(t)
				ext, body := k.ext, []byte(nil)
				if k.body != "" {
					body = []byte(k.body)
				}
				if from == stranger {
					ext = signed("RocketMQ", "12345678", ext, body)
				}
				if got := said(call(t, b.dialFrom(from), k.code, ext, body)); got != k.want {
					t.Errorf("%v from %s:\ngot  %s\nwant %s", k.code, from, got, k.want)
				}
			})
		}
	}
}

// A signed request that changes something, repeated by somebody else.
func TestReplayedRequests(t *testing.T) {
	for _, k := range codeCases {
		synctest.Test(t, func(t *testing.T) {
			b := startPipes(t, protected(remoting.Signed, false))
			ext, body := signed("RocketMQ", "12345678", k.ext, []byte(k.body)), []byte(k.body)
			owner, thief := b.dialFrom("10.1.1.1"), b.dialFrom(stranger)
			first := call(t, owner, k.code, ext, body)
			if first.Code == int32(wire.NoPermission) {
				t.Fatalf("%v: %s", k.code, said(first))
			}
			before := b.dump()
			again := call(t, thief, k.code, ext, body)
			if changes, served := remoting.AccessKinds[k.code]; served && !changes {
				if again.Code == int32(wire.NoPermission) {
					t.Errorf("%v changes nothing and may be asked from anywhere: %s", k.code, said(again))
				}
				return
			}
			if again.Code != int32(wire.NoPermission) || !strings.Contains(again.Remark, "another address") {
				t.Errorf("%v replayed: %s", k.code, said(again))
			}
			if after := b.dump(); after != before {
				t.Errorf("%v replayed left a trace: %s", k.code, moved(before, after))
			}
			// Its owner may repeat it, which begins the window anew.
			time.Sleep(window * 2 / 3)
			call(t, owner, k.code, ext, body)
			time.Sleep(window * 2 / 3)
			if r := call(t, thief, k.code, ext, body); r.Code != int32(wire.NoPermission) {
				t.Errorf("%v replayed after its owner's second: %s", k.code, said(r))
			}
			time.Sleep(window)
			if r := call(t, thief, k.code, ext, body); r.Code == int32(wire.NoPermission) {
				t.Errorf("%v long after its owner's last: %s", k.code, said(r))
			}
		})
	}
}

// The lookups of a connection are looked at one by one only where that can matter.
func TestLookupsUnderRules(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := startPipes(t, protected(remoting.Listed, true))
		in, out := b.dialFrom(listed), b.dialFrom(stranger)
		for range 3 {
			succeedOr17(t, in)
			if r := call(t, out, wire.GetRouteInfoByTopic, fields("topic", "T1"), nil); r.Code != int32(wire.NoPermission) {
				t.Errorf("a lookup from elsewhere: %s", said(r))
			}
		}
	})
	synctest.Test(t, func(t *testing.T) {
		b := startPipes(t, protected(remoting.Signed, true))
		c := b.dialFrom(stranger)
		for range 3 {
			if r := call(t, c, wire.GetRouteInfoByTopic, signed("shop", "87654321", fields("topic", "T1"), nil), nil); r.Code != int32(wire.TopicNotExist) {
				t.Errorf("a signed lookup: %s", said(r))
			}
			if r := call(t, c, wire.GetRouteInfoByTopic, fields("topic", "T1"), nil); r.Code != int32(wire.NoPermission) {
				t.Errorf("an unsigned lookup: %s", said(r))
			}
		}
	})
}

// The table of the page on security has every code in its class and no other.
func TestSecurityPageHasTheClasses(t *testing.T) {
	for _, page := range []string{"../docs/security.md", "../docs/zh-CN/security.md"} {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		said := map[wire.RequestCode]string{}
		for _, m := range classRow.FindAllStringSubmatch(string(text), -1) {
			for _, digits := range threeDigits.FindAllString(m[2], -1) {
				code, _ := strconv.Atoi(digits)
				said[wire.RequestCode(code)] = m[1]
			}
		}
		for code := range remoting.Dispatch {
			if got, want := said[code], remoting.AccessClassOf(code).String(); got != want {
				t.Errorf("%s has %d in the class %q, want %q", page, code, got, want)
			}
			delete(said, code)
		}
		if len(said) > 0 {
			t.Errorf("%s has codes that are not served: %v", page, said)
		}
	}
}

var (
	classRow    = regexp.MustCompile("(?m)^\\| `(client|broker|admin|config)` \\| ([^|]*) \\|")
	threeDigits = regexp.MustCompile(`\b[0-9]{3}\b`)
)
