package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fingerpost/registry"
)

// What request 318 does with a text. Every refusal leaves the settings, the answer to
// 319, the version and the file as they were.
func TestUpdate(t *testing.T) {
	const before = "productEnvName=lab\nsocksProxyConfig={}\n"
	for _, c := range []struct {
		name, text string
		want       string // settings that changed, as "key before after"
		file       string // what is added to the file
		warn       string
		kind       registry.Kind
		code       string
		field      string
	}{
		{name: "nothing", text: ""},
		{name: "blank", text: "\n"},
		{name: "comment", text: "# orderMessageEnable=true"},
		{name: "one", text: "orderMessageEnable=true\n", want: "orderMessageEnable false true", file: "orderMessageEnable=true\n"},
		{
			name: "two, other separators", text: "orderMessageEnable : TRUE\r\n! c\r\nwaitSecondsForService\t9\r\n",
			want: "orderMessageEnable false true, waitSecondsForService 45 9", file: "orderMessageEnable=true\nwaitSecondsForService=9\n",
		},
		{
			name: "trailing blanks", text: "orderMessageEnable=true  \nserverChannelMaxIdleTimeSeconds=5 ",
			want: "orderMessageEnable false true, serverChannelMaxIdleTimeSeconds 120 5", file: "orderMessageEnable=true\nserverChannelMaxIdleTimeSeconds=5\n",
		},
		{name: "repeated", text: "orderMessageEnable=false\norderMessageEnable=true", want: "orderMessageEnable false true", file: "orderMessageEnable=true\n"},
		{name: "escaped", text: `order\u004dessageEnable=tr\u0075e`, want: "orderMessageEnable false true", file: "orderMessageEnable=true\n"},
		{name: "as it is", text: "orderMessageEnable=false", file: "orderMessageEnable=false\n"},
		{name: "as the file has it", text: "productEnvName = lab"},
		{name: "log level", text: "log.level=debug", want: "log.level info debug", file: "log.level=debug\n"},
		{
			name: "without effect", text: "clusterTest=true\nserverWorkerThreads=9", want: "clusterTest false true, serverWorkerThreads 8 9",
			file: "clusterTest=true\nserverWorkerThreads=9\n",
		},

		{name: "unknown", text: "noSuchKey=1", warn: `"noSuchKey" is not a setting`},
		{name: "other case", text: "KVConfigPath=/x", warn: `"KVConfigPath" is not a setting`},
		{name: "no key", text: "=x", warn: `"" is not a setting`},
		{name: "foreign", text: "socksProxyConfig={\"a\":1}", warn: `"socksProxyConfig" is not a setting`},
		{name: "unknown among known", text: "noSuchKey=1\norderMessageEnable=true", want: "orderMessageEnable false true", file: "orderMessageEnable=true\n", warn: "noSuchKey"},
		{name: "port", text: "listenPort=1", warn: "listenPort does not change while running"},
		{name: "address", text: "bindAddress=1.1.1.1", warn: "bindAddress does not change while running"},
		{name: "limit", text: "remoting.maxConnections=1", warn: "remoting.maxConnections does not change while running"},
		{name: "limit by the peers' name", text: "com.rocketmq.remoting.frameMaxLength=1", warn: "does not change while running"},

		{name: "bad bool", text: "orderMessageEnable=yes", kind: registry.Invalid, code: "bad-config-value", field: "orderMessageEnable"},
		{name: "bad number", text: "enableTopicList=false\nwaitSecondsForService=abc", kind: registry.Invalid, code: "bad-config-value", field: "waitSecondsForService"},
		{name: "out of range", text: "waitSecondsForService=-1", kind: registry.Invalid, code: "bad-config-value", field: "waitSecondsForService"},
		{name: "a line in a value", text: `productEnvName=a\nkvConfigPath=/x`, kind: registry.Invalid, code: "bad-config-value", field: "productEnvName"},
		{name: "bad escape", text: `productEnvName=bad\u00zz`, kind: registry.Invalid, code: "malformed-properties"},
		{name: "bad escape and locked", text: "kvConfigPath=/x\na=\\u12", kind: registry.Invalid, code: "malformed-properties"},
		{name: "locked and bad", text: "waitSecondsForService=abc\nkvConfigPath=/x", kind: registry.Denied, code: "config-key-protected", field: "kvConfigPath"},

		{name: "kvConfigPath", text: "orderMessageEnable=true\nkvConfigPath=/x", kind: registry.Denied, code: "config-key-protected", field: "kvConfigPath"},
		{name: "configStorePath", text: "configStorePath=/x\nproductEnvName=evil", kind: registry.Denied, code: "config-key-protected", field: "configStorePath"},
		{name: "configBlackList", text: "configBlackList=", kind: registry.Denied, code: "config-key-protected", field: "configBlackList"},
		{name: "rocketmqHome", text: "rocketmqHome=/x", kind: registry.Denied, code: "config-key-protected", field: "rocketmqHome"},
		{name: "escaped path", text: `kvConfig\u0050ath=/x`, kind: registry.Denied, code: "config-key-protected", field: "kvConfigPath"},
		{name: "continued path", text: "kvConfig\\\n   Path=/x", kind: registry.Denied, code: "config-key-protected", field: "kvConfigPath"},
		{name: "path first, then harmless", text: "kvConfigPath=/x\nkvConfigPath\n", kind: registry.Denied, code: "config-key-protected", field: "kvConfigPath"},
		{name: "ours", text: "http.listen=0.0.0.0:80", kind: registry.Denied, code: "config-key-protected", field: "http.listen"},
		{name: "the switch itself", text: "allowRemoteConfig=true", kind: registry.Denied, code: "config-key-protected", field: "allowRemoteConfig"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, f := open(t, before)
			var told []Change
			s.Subscribe("test", func(c Change) error { told = append(told, c); return nil })
			text, version := string(s.Text()), s.Version()

			warnings, err := s.Update([]byte(c.text), cause)
			if c.code != "" {
				e, ok := errors.AsType[*registry.Error](err)
				if !ok || e.Kind != c.kind || e.Code != c.code || e.Field != c.field {
					t.Errorf("got %#v, %v", e, err)
				}
				if string(s.Text()) != text || s.Version() != version || f.saves != 0 || len(told) > 0 || len(warnings) > 0 {
					t.Errorf("the refusal left traces: version %d, %d saves, told %v, warned %q", s.Version(), f.saves, told, warnings)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var changed []string
			for _, ch := range told {
				for _, k := range ch.Keys {
					changed = append(changed, k.Key+" "+k.Before+" "+k.After)
				}
				if ch.Cause != cause || ch.New != s.Current() {
					t.Errorf("told of %+v", ch)
				}
			}
			if got := strings.Join(changed, ", "); got != c.want || len(told) > 1 {
				t.Errorf("changed %q, want %q", got, c.want)
			}
			if got := string(f.text); got != before+c.file {
				t.Errorf("saved %q, want %q", got, before+c.file)
			}
			if got := strings.Join(warnings, "\n"); !strings.Contains(got, c.warn) || (got == "") != (c.warn == "") {
				t.Errorf("warned %q, want %q", got, c.warn)
			}
			if c.want == "" && string(s.Text()) != text && c.file == "" {
				t.Errorf("319 changed to %s", s.Text())
			}
		})
	}
}

func TestUpdateShownIn319(t *testing.T) {
	s, _ := open(t, "-")
	if _, err := s.Update([]byte("productEnvName=x\nlog.level=warn\nserverSelectorThreads=1"), cause); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"productEnvName=x\n", "log.level=warn\n", "serverSelectorThreads=1\n"} {
		if !strings.Contains(string(s.Text()), line) {
			t.Errorf("%q is missing in\n%s", line, s.Text())
		}
	}
	if strings.Contains(string(s.Text()), "http.") {
		t.Error("settings of ours that nobody set are shown")
	}
}

func TestUpdateMakesAFile(t *testing.T) {
	s, f := open(t, "-")
	if _, err := s.Update([]byte("orderMessageEnable=true"), cause); err != nil {
		t.Fatal(err)
	}
	if got := string(f.text); got != fileHeader+"orderMessageEnable=true\n" {
		t.Errorf("saved %q", got)
	}
	again, _ := open(t, string(f.text))
	if !again.Current().OrderMessageEnable || item(t, again, "orderMessageEnable").Origin != FromFile {
		t.Error("the change did not survive a restart")
	}
}

func TestUpdateOverriddenAtTheNextStart(t *testing.T) {
	s, _ := open(t, "-", "FINGERPOST_PRODUCT_ENV_NAME=env")
	w, err := s.Update([]byte("productEnvName=now"), cause)
	if want := "productEnvName is also given by FINGERPOST_PRODUCT_ENV_NAME, which wins at the next start"; err != nil || len(w) != 1 || w[0] != want {
		t.Errorf("warned %q, %v", w, err)
	}
	if got := s.Current().ProductEnvName; got != "now" {
		t.Errorf("in force is %q", got)
	}
}

func TestBlackList(t *testing.T) {
	s, _ := open(t, "configBlackList= productEnvName ;; noSuchKey;clusterTest")
	for _, text := range []string{"productEnvName=x", "noSuchKey=1", "clusterTest=true", "kvConfigPath=/x", "configBlackList=", "configStorePath=/", "rocketmqHome=/"} {
		if _, err := s.Update([]byte(text), cause); registry.KindOf(err) != registry.Denied {
			t.Errorf("%s: %v", text, err)
		}
	}
	if _, err := s.Update([]byte("orderMessageEnable=true"), cause); err != nil {
		t.Error(err)
	}
	v := "x"
	if _, err := s.Patch(map[string]*string{"productEnvName": &v}, 0, false, cause); registry.KindOf(err) != registry.Denied {
		t.Errorf("REST: %v", err)
	}
	if it := item(t, s, "productEnvName"); !it.Closed || it.Mutable() {
		t.Errorf("%+v", it)
	}
}

func TestRemoteConfigOff(t *testing.T) {
	s, _ := open(t, "allowRemoteConfig=false")
	_, err := s.Update([]byte("orderMessageEnable=true"), cause)
	if e, ok := errors.AsType[*registry.Error](err); !ok || e.Kind != registry.Denied || e.Code != "remote-config-off" {
		t.Errorf("got %v", err)
	}
	v := "true"
	if _, err := s.Patch(map[string]*string{"orderMessageEnable": &v}, 0, false, cause); err != nil {
		t.Errorf("REST has credentials of its own: %v", err)
	}
}

func TestManyUnknownKeys(t *testing.T) {
	s, _ := open(t, "-")
	var b strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&b, "key%d%s=1\n", i, strings.Repeat("x", 200))
	}
	w, err := s.Update([]byte(b.String()), cause)
	if err != nil || len(w) != maxWarnings+1 || !strings.Contains(w[maxWarnings], "980 more") || len(strings.Join(w, "")) > 4000 {
		t.Errorf("%d warnings, %v", len(w), err)
	}
}

func TestSaveFails(t *testing.T) {
	s, f := open(t, "productEnvName=a\n")
	f.saveErr = errors.New("no space")
	called := false
	s.Subscribe("test", func(Change) error { called = true; return nil })
	before := string(s.Text())
	_, err := s.Update([]byte("productEnvName=b"), cause)
	if registry.KindOf(err) != registry.Unsaved || !errors.Is(err, f.saveErr) {
		t.Errorf("got %v", err)
	}
	if called || string(s.Text()) != before || s.Version() != 1 {
		t.Error("a change that was not saved was applied")
	}
	f.saveErr = nil
	if _, err := s.Update([]byte("productEnvName=b"), cause); err != nil || s.Current().ProductEnvName != "b" {
		t.Errorf("afterwards: %v", err)
	}
}

func TestSubscriberFails(t *testing.T) {
	s, f := open(t, "productEnvName=a\n")
	var calls []string
	log := func(name string) func(Change) error {
		return func(c Change) error {
			calls = append(calls, name+" "+c.New.ProductEnvName+" "+c.Keys[0].After)
			if name == "third" && c.New.ProductEnvName == "bad" {
				return errors.New("will not")
			}
			return nil
		}
	}
	for _, n := range []string{"first", "second", "third", "fourth"} {
		s.Subscribe(n, log(n))
	}
	_, err := s.Update([]byte("productEnvName=bad"), cause)
	if err == nil || !strings.Contains(err.Error(), "third: will not") {
		t.Errorf("got %v", err)
	}
	want := []string{"first bad bad", "second bad bad", "third bad bad", "second a a", "first a a"}
	if d := cmp.Diff(want, calls); d != "" {
		t.Error(d)
	}
	if s.Current().ProductEnvName != "a" || string(f.text) != "productEnvName=a\n" || s.Version() != 1 {
		t.Errorf("now %q, file %q", s.Current().ProductEnvName, f.text)
	}
	calls = nil
	if _, err := s.Update([]byte("productEnvName=good"), cause); err != nil || len(calls) != 4 {
		t.Errorf("afterwards: %v, %v", calls, err)
	}
}

func TestPatch(t *testing.T) {
	text := func(v string) *string { return &v }
	s, f := open(t, "# mine\nproductEnvName=a\nremoting.maxConnections=10\n", "FINGERPOST_HTTP_MAX_HEAVY=9")
	dry, err := s.Patch(map[string]*string{"orderMessageEnable": text("true"), "remoting.maxTopics": text("5")}, 1, true, cause)
	if err != nil || !slices.Equal(dry.Applied, []string{"orderMessageEnable"}) || !slices.Equal(dry.RestartRequired, []string{"remoting.maxTopics"}) {
		t.Errorf("dry: %+v, %v", dry, err)
	}
	if s.Current().OrderMessageEnable || f.saves != 0 || s.Version() != 1 {
		t.Error("a dry run changed something")
	}
	res, err := s.Patch(map[string]*string{
		"orderMessageEnable": text("true"), "remoting.maxTopics": text("5"), "http.maxHeavy": text("3"), "remoting.maxConnections": text("10"),
	}, 1, false, cause)
	if err != nil {
		t.Fatal(err)
	}
	want := Result{
		Applied:         []string{"orderMessageEnable"},
		Unchanged:       []string{"http.maxHeavy", "remoting.maxConnections"},
		RestartRequired: []string{"remoting.maxTopics"},
		Overridden:      []string{"http.maxHeavy"},
		Version:         2,
	}
	if d := cmp.Diff(want, res); d != "" {
		t.Error(d)
	}
	if got := string(f.text); got != "# mine\nproductEnvName=a\nremoting.maxConnections=10\nhttp.maxHeavy=3\norderMessageEnable=true\nremoting.maxTopics=5\n" {
		t.Errorf("saved %q", got)
	}
	if it := item(t, s, "remoting.maxTopics"); it.Value != "1048576" || it.Pending != "5" || !it.WillChange || it.Mutable() {
		t.Errorf("%+v", it)
	}

	res, err = s.Patch(map[string]*string{"orderMessageEnable": nil, "productEnvName": nil, "remoting.maxConnections": nil, "remoting.maxTopics": nil}, 2, false, cause)
	if err != nil || res.Version != 3 {
		t.Fatal(res, err)
	}
	if c := s.Current(); c.OrderMessageEnable || c.ProductEnvName != "center" || c.Remoting.MaxConnections != 10 {
		t.Errorf("taken out: %+v", c)
	}
	if it := item(t, s, "remoting.maxConnections"); it.Pending != "50000" || !it.WillChange {
		t.Errorf("%+v", it)
	}
	if it := item(t, s, "remoting.maxTopics"); it.WillChange {
		t.Errorf("%+v", it)
	}
	if got := string(f.text); got != "# mine\nhttp.maxHeavy=3\n" {
		t.Errorf("saved %q", got)
	}
	if !slices.Equal(res.RestartRequired, []string{"remoting.maxConnections"}) {
		t.Errorf("restart for %v", res.RestartRequired)
	}
	if res, err = s.Patch(map[string]*string{"orderMessageEnable": nil}, 0, false, cause); err != nil || res.Version != 3 || f.saves != 2 {
		t.Errorf("nothing to do: %+v, %v, %d saves", res, err, f.saves)
	}
}

func TestPatchReplacesThePeersName(t *testing.T) {
	s, f := open(t, "com.rocketmq.remoting.frameMaxLength=33554432\n")
	v := "64MiB"
	if _, err := s.Patch(map[string]*string{"remoting.frameMaxLength": &v}, 0, false, cause); err != nil {
		t.Fatal(err)
	}
	again, _ := open(t, string(f.text))
	if again.Current().Remoting.FrameMaxLength != 64*MiB {
		t.Errorf("saved %q", f.text)
	}
}

func TestPatchRefusals(t *testing.T) {
	v := func(s string) *string { return &s }
	for _, c := range []struct {
		name    string
		edit    map[string]*string
		version uint64
		kind    registry.Kind
		want    []string
	}{
		{name: "version", edit: map[string]*string{"orderMessageEnable": v("true")}, version: 7, kind: registry.Conflict, want: []string{"have changed since"}},
		{name: "unknown", edit: map[string]*string{"ordermessageenable": v("true")}, kind: registry.Invalid, want: []string{"did you mean orderMessageEnable?"}},
		{name: "peers' other name", edit: map[string]*string{"com.rocketmq.remoting.frameMaxLength": v("1")}, kind: registry.Invalid, want: []string{"is not a setting"}},
		{name: "foreign", edit: map[string]*string{"useTLS": nil}, kind: registry.Invalid, want: []string{"is not a setting"}},
		{
			name: "several", edit: map[string]*string{"waitSecondsForService": v("x"), "clusterTest": v("no"), "orderMessageEnable": v("true")}, kind: registry.Invalid,
			want: []string{"waitSecondsForService must be a whole number", "clusterTest must be true or false"},
		},
		{name: "listener", edit: map[string]*string{"orderMessageEnable": v("true"), "listenPort": v("1")}, kind: registry.Denied, want: []string{`"listenPort" cannot be changed while running`}},
		{name: "locked, taken out", edit: map[string]*string{"http.listen": nil}, kind: registry.Denied, want: []string{"http.listen"}},
		{name: "conflict", edit: map[string]*string{"remoting.headerMaxLength": v("16000KiB"), "remoting.frameMaxLength": v("64KiB")}, kind: registry.Invalid, want: []string{"remoting.headerMaxLength must not be more than"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, f := open(t, "-")
			before, _ := s.Items()
			_, err := s.Patch(c.edit, c.version, false, cause)
			if registry.KindOf(err) != c.kind {
				t.Errorf("got %v", err)
			}
			for _, w := range c.want {
				if err == nil || !strings.Contains(err.Error(), w) {
					t.Errorf("got %v, want %q in it", err, w)
				}
			}
			after, version := s.Items()
			if !slices.EqualFunc(before, after, func(a, b Item) bool { return a.Value == b.Value && a.Pending == b.Pending }) || version != 1 || f.saves != 0 {
				t.Error("the refusal left traces")
			}
		})
	}
}

func TestEditsByHandAreKept(t *testing.T) {
	s, f := open(t, "productEnvName=a\n")
	f.text = []byte("# by hand\nproductEnvName=b\nlistenPort=1\n")
	if _, err := s.Update([]byte("orderMessageEnable=true"), cause); err != nil {
		t.Fatal(err)
	}
	if got := string(f.text); got != "# by hand\nproductEnvName=b\nlistenPort=1\norderMessageEnable=true\n" {
		t.Errorf("saved %q", got)
	}
	if c := s.Current(); c.ProductEnvName != "a" || c.ListenPort != 9876 {
		t.Error("what was written by hand counts before a restart")
	}
	f.text = []byte("listenPort=x\n")
	_, err := s.Update([]byte("orderMessageEnable=false"), cause)
	if registry.KindOf(err) != registry.Unsaved || !strings.Contains(err.Error(), storePath+" line 1: listenPort must be a whole number") {
		t.Errorf("got %v", err)
	}
	f.loadErr = errors.New("cannot be read")
	if _, err := s.Update([]byte("orderMessageEnable=false"), cause); registry.KindOf(err) != registry.Unsaved || !errors.Is(err, f.loadErr) {
		t.Errorf("got %v", err)
	}
	if !s.Current().OrderMessageEnable {
		t.Error("a change that was not saved was applied")
	}
}

func TestSecretsAreNotShown(t *testing.T) {
	const secret = "hunter2"
	s, f := open(t, "socksProxyConfig="+secret+"\nuseTLS=true\n")
	if strings.Contains(string(s.Text()), secret) || !strings.Contains(string(s.Text()), "useTLS=true") {
		t.Errorf("319 answers\n%s", s.Text())
	}
	if it := item(t, s, "socksProxyConfig"); it.Value != "***" || it.Default != "" || !it.Closed {
		t.Errorf("%+v", it)
	}
	if _, err := s.Update([]byte("orderMessageEnable=true"), cause); err != nil || !strings.Contains(string(f.text), secret) {
		t.Errorf("the file lost it: %q, %v", f.text, err)
	}
}

func TestBound(t *testing.T) {
	s, _ := open(t, "listenPort=0")
	s.Bound(40123)
	if s.Current().ListenPort != 40123 || !strings.Contains(string(s.Text()), "listenPort=40123\n") {
		t.Error("the port is not shown")
	}
	if _, err := s.Update([]byte("orderMessageEnable=true"), cause); err != nil || s.Current().ListenPort != 40123 {
		t.Errorf("after a change: %d, %v", s.Current().ListenPort, err)
	}
}

// Readers see one whole set of settings while it changes.
func TestConcurrentReaders(t *testing.T) {
	s, _ := open(t, "-")
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 200 {
				c := s.Current()
				if c.OrderMessageEnable != c.SupportActingMaster {
					t.Error("half a change")
				}
				s.Text()
				s.Items()
			}
		})
	}
	for w := range 2 {
		wg.Go(func() {
			for i := range 50 {
				on := (i+w)%2 == 0
				if _, err := s.Update(fmt.Appendf(nil, "orderMessageEnable=%v\nsupportActingMaster=%v", on, on), cause); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}
