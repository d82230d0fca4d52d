package auth

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// The form of the peers' conf/plain_acl.yml.
const plainACL = `
globalWhiteRemoteAddresses:
- 10.10.103.*
- 192.168.0.*

accounts:
- accessKey: RocketMQ
  secretKey: "12345678"
  whiteRemoteAddress:
  admin: false
  defaultTopicPerm: DENY
  topicPerms:
  - topicA=DENY
  - topicB=PUB|SUB
  groupPerms:
  # the group should convert to retry topic
  - groupA=DENY

- accessKey: rocketmq2 # the operators
  secretKey: 'abc#d:efgh'
  admin: true
- secretKey: 12345678
  accessKey: brokers
  namesrvClasses: [broker, client]
`

func TestAccountsAreRead(t *testing.T) {
	got, err := parseAccounts(plainACL)
	want := map[string]Account{
		"RocketMQ":  {AccessKey: "RocketMQ", Secret: "12345678", Classes: []string{"client"}},
		"rocketmq2": {AccessKey: "rocketmq2", Secret: "abc#d:efgh", All: true},
		"brokers":   {AccessKey: "brokers", Secret: "12345678", Classes: []string{"broker", "client"}},
	}
	if d := cmp.Diff(want, got); err != nil || d != "" {
		t.Errorf("%v %s", err, d)
	}
	// The form of the peers' conf/tools.yml.
	got, err = parseAccounts("\ufeffaccessKey: rocketmq2\r\nsecretKey: 12345678\r\n")
	if d := cmp.Diff(map[string]Account{"rocketmq2": {AccessKey: "rocketmq2", Secret: "12345678", All: true}}, got); err != nil || d != "" {
		t.Errorf("%v %s", err, d)
	}
	for class, may := range map[string]bool{"client": true, "broker": true, "admin": false, "config": false} {
		if a := want["brokers"]; a.May(class) != may {
			t.Errorf("the brokers' key and %s: %v", class, a.May(class))
		}
		if a := want["rocketmq2"]; !a.May(class) {
			t.Errorf("the operators' key may not sign %s", class)
		}
	}
}

// An entry of a list is no operator's, whatever it begins with and however it is indented,
// and a secret may hold what begins a comment elsewhere.
func TestFormsOfAccounts(t *testing.T) {
	app := Account{AccessKey: "rocketmq2", Secret: "12345678", Classes: []string{"client"}}
	other := Account{AccessKey: "rocketmq3", Secret: "87654321", Classes: []string{"client"}}
	for text, want := range map[string][]Account{
		"accounts:\n- whiteRemoteAddress: 10.0.0.*\n  accessKey: rocketmq2\n  secretKey: 12345678\n" +
			"- whiteRemoteAddress: 10.0.0.*\n  secretKey: 87654321\n  accessKey: rocketmq3\n": {app, other},
		"accounts:\n-\n  accessKey: rocketmq2\n\n  secretKey: 12345678\n-\n  accessKey: rocketmq3\n  secretKey: 87654321\n":                                           {app, other},
		"global:\n- 10.*\naccounts:\n  - accessKey: rocketmq2\n    perms:\n    - a: DENY\n    secretKey: 12345678\n  - accessKey: rocketmq3\n    secretKey: 87654321": {app, other},
		"- accessKey: rocketmq2\n  secretKey: \"1234 #'678\" # ours\n":                                                                                                {{AccessKey: "rocketmq2", Secret: "1234 #'678", Classes: []string{"client"}}},
		"- accessKey: rocketmq2\n  secretKey: 1234#'678 # it's ours\n":                                                                                                {{AccessKey: "rocketmq2", Secret: "1234#'678", Classes: []string{"client"}}},
	} {
		got, err := parseAccounts(text)
		m := make(map[string]Account)
		for _, a := range want {
			m[a.AccessKey] = a
		}
		if d := cmp.Diff(m, got); err != nil || d != "" {
			t.Errorf("%q: %v %s", text, err, d)
		}
	}
}

func TestBadAccounts(t *testing.T) {
	for text, want := range map[string]string{
		"":                                "no accessKey",
		"accounts:\n- topicA=DENY\n":      "no accessKey",
		"accessKey: rocketmq2":            "needs an accessKey and a secretKey",
		"secretKey: 12345678":             "needs an accessKey and a secretKey",
		"accessKey: short\nsecretKey: 12": "at least 7",
		"- {accessKey: rocketmq2, secretKey: 12345678}":                                                  "line 1: write",
		"- accessKey: rocketmq2\n  secretKey: 12345678\n- accessKey: rocketmq2\n  secretKey: 12345678":   "twice",
		"- accessKey: rocketmq2\n  secretKey: 12345678\n  namesrvClasses: brokers":                       `line 3: namesrvClasses knows client, broker, admin, config, not "brokers"`,
		"- accessKey: rocketmq2\n  secretKey: 12345678\n  namesrvClasses:\n  - broker":                   "line 3: write the classes in the line",
		"accounts:\n- accessKey: rocketmq2\n  secretKey:\n- accessKey: rocketmq3\n  secretKey: 12345678": "needs an accessKey and a secretKey",
	} {
		if m, err := parseAccounts(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, %v; want %q", text, m, err, want)
		}
	}
}

func TestAccountsAreReadAgain(t *testing.T) {
	file := filepath.Join(t.TempDir(), "keys.yml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		if _, err := OpenAccounts(file, slog.New(slog.NewTextHandler(&log, nil))); err == nil {
			t.Fatal("a file that is not there was read")
		}
		write("accessKey: rocketmq2\nsecretKey: 12345678\n")
		a, err := OpenAccounts(file, slog.New(slog.NewTextHandler(&log, nil)))
		if err != nil {
			t.Fatal(err)
		}
		secret := func() string {
			f, _ := a.Find("rocketmq2")
			return f.Secret
		}
		write("accessKey: rocketmq2\nsecretKey: 123456789\n")
		if secret() != "12345678" {
			t.Error("looked before its time")
		}
		time.Sleep(checkEvery)
		if secret() != "123456789" {
			t.Error("a changed file was not read again")
		}
		write("nothing")
		time.Sleep(checkEvery)
		if secret() != "123456789" || !strings.Contains(log.String(), "the old ones stay in force") {
			t.Errorf("a broken file took the keys away: %s", log.String())
		}
		// It is tried again although it looks the same: a mode that is set right does not show.
		for _, text := range []string{strings.Repeat("?", 45), "accessKey: rocketmq2\nsecretKey: 1234567890\n##"} {
			write(text)
			if err := os.Chtimes(file, time.Time{}, time.Unix(1e9, 0)); err != nil {
				t.Fatal(err)
			}
			time.Sleep(checkEvery)
			secret()
		}
		if secret() != "1234567890" {
			t.Error("a file that can be read again was not")
		}
		if n := strings.Count(log.String(), "the old ones stay in force"); n != 1 {
			t.Errorf("said %d times: %s", n, log.String())
		}
		if strings.Contains(log.String(), "12345678") {
			t.Errorf("a secret is in the log: %s", log.String())
		}
		if _, ok := a.Find("nobody"); ok {
			t.Error("an unknown key was found")
		}
	})
}
