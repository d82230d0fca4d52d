package auth

import (
	"bytes"
	"context"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"
)

func put(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func line(t *testing.T, token, name, role string, brokers ...string) string {
	t.Helper()
	l, err := TokenLine(token, name, role, brokers)
	if err != nil {
		t.Fatal(err)
	}
	return l + "\n"
}

func TestAdminTokenIsMadeOnce(t *testing.T) {
	file := filepath.Join(t.TempDir(), "state", "fingerpost", "admin-token")
	k, err := New(Options{AdminTokenFile: file})
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm() != 0o600 || !k.MadeAdminToken() {
		t.Fatalf("%v, mode %v, made %v", err, info.Mode(), k.MadeAdminToken())
	}
	token, err := ReadAdminToken(file)
	if err != nil || len(token) != 46 {
		t.Fatalf("%q, %v", token, err)
	}
	if p, err := k.Bearer(token); err != nil || p.Name != "token:admin" || p.Role != Admin || p.Method != Token {
		t.Errorf("%+v, %v", p, err)
	}
	if _, err := k.Bearer(token + "x"); !errors.Is(err, ErrUnknown) {
		t.Errorf("another token: %v", err)
	}
	again, err := New(Options{AdminTokenFile: file})
	if err != nil || again.MadeAdminToken() {
		t.Fatalf("%v, made %v", err, again.MadeAdminToken())
	}
	if _, err := again.Bearer(token); err != nil {
		t.Errorf("after a restart: %v", err)
	}
	left, _ := filepath.Glob(filepath.Join(filepath.Dir(file), ".*"))
	if len(left) > 0 {
		t.Errorf("left over: %v", left)
	}
	if got := Curlrc(`a"b\c`); got != `header = "Authorization: Bearer a\"b\\c"`+"\n" {
		t.Errorf("got %s", got)
	}
}

func TestAdminTokenThatIsNoSecret(t *testing.T) {
	file := filepath.Join(t.TempDir(), "admin-token")
	put(t, file, NewToken()+"\n")
	if err := os.Chmod(file, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := New(Options{AdminTokenFile: file}); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("got %v", err)
	}
	put(t, file, "x\n")
	if err := os.Chmod(file, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := New(Options{AdminTokenFile: file}); err == nil || !strings.Contains(err.Error(), "there is no token") {
		t.Errorf("got %v", err)
	}
}

func TestFilesThatCannotBeRead(t *testing.T) {
	dir := t.TempDir()
	hash := strings.Repeat("ab", 32)
	for text, want := range map[string]string{
		"a viewer":            "line 1: want: name role sha256",
		"# c\n\na viewer xyz": "line 3: the third field must be the SHA-256",
		"a owner " + hash:     "the role must be viewer, registrar or admin, not \"owner\"",
		"a none " + hash:      "the role must be viewer, registrar or admin",
		"a viewer " + hash + "\nb viewer " + hash:                     "line 2: the token stands here twice",
		"a viewer " + hash + "\na viewer " + strings.Repeat("cd", 32): "line 2: the name a stands here twice",
		"a registrar " + hash + " x y":                                "more than one field of patterns",
		"a registrar " + hash + " [":                                  "no pattern",
		"a registrar " + hash + " x,,y":                               "no pattern",
		"a registrar " + hash + strings.Repeat(" ", 1<<16):            "too long",
		strings.Repeat("#\n", maxFile/2) + "a viewer " + hash:         "is larger than",
	} {
		file := filepath.Join(dir, "tokens")
		put(t, file, text)
		if _, err := New(Options{TokensFile: file}); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), file) {
			t.Errorf("%.200q: %v", text, err)
		}
	}
	put(t, filepath.Join(dir, "users"), "a admin secret\n")
	put(t, filepath.Join(dir, "certs"), "CN=x admin\n")
	_, err := New(Options{TokensFile: filepath.Join(dir, "none"), UsersFile: filepath.Join(dir, "users"), CertRolesFile: filepath.Join(dir, "certs")})
	for _, want := range []string{"there is no file", "bcrypt", "cn:NAME, dns:NAME"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %s", err, want)
		}
	}
	if _, err := TokenLine(NewToken(), "a b", "viewer", nil); err == nil {
		t.Error("a name with a blank was taken")
	}
	if _, err := TokenLine(NewToken(), "a", "owner", nil); err == nil {
		t.Error("no role was taken")
	}
}

func TestRegistrarsKeepWhatFits(t *testing.T) {
	for _, x := range []struct {
		p      Principal
		broker string
		may    bool
	}{
		{Principal{Role: Viewer}, "b", false},
		{Principal{Role: Registrar}, "b", true},
		{Principal{Role: Registrar, Brokers: []string{"bridge-*", "x?"}}, "bridge-1", true},
		{Principal{Role: Registrar, Brokers: []string{"bridge-*", "x?"}}, "x1", true},
		{Principal{Role: Registrar, Brokers: []string{"bridge-*", "x?"}}, "broker-a", false},
		{Principal{Role: Admin, Brokers: []string{"bridge-*"}}, "broker-a", true},
	} {
		if got := x.p.MayRegister(x.broker); got != x.may {
			t.Errorf("%v %s: %v", x.p, x.broker, got)
		}
	}
}

// kept is a keeper of a file with one token, old, by a clock of the test's own.
type kept struct {
	*Keeper
	file, old string
	now       time.Time
	log       bytes.Buffer
}

func keep(t *testing.T) *kept {
	t.Helper()
	k := &kept{now: time.Unix(1_000_000, 0), file: filepath.Join(t.TempDir(), "tokens"), old: NewToken()}
	put(t, k.file, line(t, k.old, "old", "viewer"))
	var err error
	k.Keeper, err = New(Options{TokensFile: k.file, Now: func() time.Time { return k.now }, Log: slog.New(slog.NewTextHandler(&k.log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// knows asks for a token when the file is looked at again.
func (k *kept) knows(token string) bool {
	k.now = k.now.Add(2 * time.Second)
	_, err := k.Bearer(token)
	return err == nil
}

// A file that changes counts from the next second on; one that is broken leaves the last
// good content in force, and the log says so.
func TestFilesAreReadAgain(t *testing.T) {
	k, fresh := keep(t), NewToken()
	known := func(token string, want bool) {
		t.Helper()
		if got := k.knows(token); got != want {
			t.Errorf("known: %v", got)
		}
	}
	sessions := Sessions{Keeper: k.Keeper}
	p, _ := k.Bearer(k.old)
	secret, _ := sessions.Begin(p)
	known(k.old, true)
	put(t, k.file, line(t, fresh, "fresh-one", "admin", "x*"))
	known(fresh, true)
	known(k.old, false)
	if _, _, ok := sessions.Of(secret); ok {
		t.Error("a session outlived its token")
	}
	put(t, k.file, "nonsense\n")
	known(fresh, true)
	if err := os.Remove(k.file); err != nil {
		t.Fatal(err)
	}
	known(fresh, true)
	if n := strings.Count(k.log.String(), "could not be read again"); n != 2 || strings.Contains(k.log.String(), fresh) {
		t.Errorf("the log is %s", k.log.String())
	}
}

// A file that could not be read is tried again, also if nothing shows that it can be now,
// as when its owner is set right. That is said once.
func TestFilesAreTriedAgain(t *testing.T) {
	k, fresh := keep(t), NewToken()
	text, known := line(t, fresh, "fresh-one", "admin"), false
	for _, text := range []string{strings.Repeat("?", len(text)), text} {
		put(t, k.file, text)
		if err := os.Chtimes(k.file, time.Time{}, time.Unix(1e9, 0)); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			known = k.knows(fresh)
		}
	}
	if !known {
		t.Error("a file that can be read again was not")
	}
	if n := strings.Count(k.log.String(), "could not be read again"); n != 1 {
		t.Errorf("said %d times: %s", n, k.log.String())
	}
}

// A session ends with the token or the password that it began with, also if its owner gets
// another one under the same name; a role that changes goes over to it.
func TestSessionsEndWithTheirCredential(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	dir := t.TempDir()
	o := Options{TokensFile: filepath.Join(dir, "tokens"), UsersFile: filepath.Join(dir, "users"), Now: func() time.Time { return now }}
	user := func(password string) string {
		hash, err := bcrypt.GenerateFromPassword([]byte(password), bcrypt.MinCost)
		if err != nil {
			t.Fatal(err)
		}
		return "anna viewer " + string(hash) + "\n"
	}
	old, fresh, anna := NewToken(), NewToken(), user("one")
	put(t, o.TokensFile, line(t, old, "ops", "viewer"))
	put(t, o.UsersFile, anna)
	k, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	s := Sessions{Keeper: k}
	byToken, _ := s.Begin(Principal{Name: "token:ops", Role: Viewer})
	byPassword, _ := s.Begin(Principal{Name: "user:anna", Role: Viewer})
	for _, x := range []struct {
		tokens, users   string
		token, password bool
	}{
		{line(t, old, "ops", "admin"), "# hers\n" + anna, true, true},
		{line(t, fresh, "ops", "admin", "x*"), anna, false, true},
		{line(t, old, "ops", "admin"), user("another"), false, false},
	} {
		put(t, o.TokensFile, x.tokens)
		put(t, o.UsersFile, x.users)
		now = now.Add(2 * time.Second)
		if p, _, ok := s.Of(byToken); ok != x.token || ok && p.Role != Admin {
			t.Errorf("%+v: the session of the token is %v %+v", x, ok, p)
		}
		if _, _, ok := s.Of(byPassword); ok != x.password {
			t.Errorf("%+v: the session of the password is %v", x, ok)
		}
	}
}

func TestPasswords(t *testing.T) {
	hash, err := bcrypt.GenerateFromPassword([]byte("s3cret"), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Unix(1_000_000, 0)
	file := filepath.Join(t.TempDir(), "users")
	put(t, file, "ops admin "+string(hash)+"\n")
	k, err := New(Options{UsersFile: file, Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if p, err := k.Password(t.Context(), "ops", "s3cret"); err != nil || p.Name != "user:ops" || p.Method != Basic {
			t.Errorf("%+v, %v", p, err)
		}
		for _, x := range [][2]string{{"ops", "wrong"}, {"nobody", "s3cret"}, {"op", "ss3cret"}, {"ops", ""}} {
			if _, err := k.Password(t.Context(), x[0], x[1]); !errors.Is(err, ErrUnknown) {
				t.Errorf("%v: %v", x, err)
			}
		}
	}
	// What is remembered is forgotten with the file and with time.
	other, _ := bcrypt.GenerateFromPassword([]byte("another"), bcrypt.MinCost)
	put(t, file, "# changed\nops admin "+string(other)+"\n")
	now = now.Add(2 * time.Second)
	if _, err := k.Password(t.Context(), "ops", "s3cret"); !errors.Is(err, ErrUnknown) {
		t.Errorf("the old password: %v", err)
	}
	// Who has to wait for a turn gives up with the caller.
	k.slots <- struct{}{}
	k.slots <- struct{}{}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := k.Password(ctx, "ops", "another"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestCertificates(t *testing.T) {
	file := filepath.Join(t.TempDir(), "certs")
	put(t, file, "cn:ops admin\ndns:bridge.example registrar bridge-*\nuri:spiffe://x/y viewer\nemail:a@b.example viewer\n")
	k, err := New(Options{CertRolesFile: file})
	if err != nil {
		t.Fatal(err)
	}
	uri, _ := url.Parse("spiffe://x/y")
	for want, c := range map[string]*x509.Certificate{
		"cert:cn:ops":             {Subject: pkix.Name{CommonName: "ops"}},
		"cert:dns:bridge.example": {DNSNames: []string{"other", "bridge.example"}, Subject: pkix.Name{CommonName: "ops"}},
		"cert:uri:spiffe://x/y":   {URIs: []*url.URL{uri}},
		"cert:email:a@b.example":  {EmailAddresses: []string{"a@b.example"}},
	} {
		if p, err := k.Cert(c); err != nil || p.Name != want || p.Method != Certificate {
			t.Errorf("%+v, %v, want %s", p, err, want)
		}
	}
	if _, err := k.Cert(&x509.Certificate{Subject: pkix.Name{CommonName: "dns:bridge.example"}}); !errors.Is(err, ErrUnknown) {
		t.Errorf("a name of another kind: %v", err)
	}
}

func TestAnonymous(t *testing.T) {
	for _, x := range []struct {
		o    Options
		role Role
	}{{Options{}, None}, {Options{AnonymousRole: Viewer}, Viewer}, {Options{NoAuth: true}, Admin}} {
		k, err := New(x.o)
		if err != nil {
			t.Fatal(err)
		}
		if p := k.Anonymous(); p.Role != x.role || p.Name != AnonymousName {
			t.Errorf("%+v: %+v", x.o, p)
		}
		if _, err := k.Bearer(""); !errors.Is(err, ErrUnknown) {
			t.Errorf("the empty token: %v", err)
		}
	}
}

func TestSessionsEnd(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	file := filepath.Join(t.TempDir(), "admin-token")
	k, err := New(Options{AdminTokenFile: file, Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	s := Sessions{Keeper: k}
	token, _ := ReadAdminToken(file)
	p, _ := k.Bearer(token)
	a, ends := s.Begin(p)
	b, _ := s.Begin(p)
	if a == b || !ends.Equal(now.Add(SessionIdle)) {
		t.Errorf("%s %s %v", a, b, ends)
	}
	now = now.Add(SessionIdle - time.Minute)
	if got, ends, ok := s.Of(a); !ok || got.Method != Session || got.Role != Admin || !ends.Equal(now.Add(SessionIdle)) {
		t.Errorf("%+v %v %v", got, ends, ok)
	}
	now = now.Add(2 * time.Minute)
	if _, _, ok := s.Of(b); ok {
		t.Error("a session that was not used has not ended")
	}
	if _, _, ok := s.Of(a); !ok {
		t.Error("a session that was used has ended")
	}
	s.End(a)
	if _, _, ok := s.Of(a); ok {
		t.Error("a session that was ended goes on")
	}
	if _, _, ok := s.Of("nonsense"); ok {
		t.Error("no session is one")
	}
	first, _ := s.Begin(p)
	now = now.Add(time.Second)
	for range maxSessions {
		s.Begin(p)
	}
	if _, _, ok := s.Of(first); ok || len(s.m) != maxSessions {
		t.Errorf("%d sessions", len(s.m))
	}
}
