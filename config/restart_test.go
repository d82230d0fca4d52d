package config

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"fingerpost/registry"
)

// Whatever is changed while running, in whatever order, is what the next start has, and a
// refusal changes nothing; settings that wait for the next start have their value then.
func TestChangesSurviveARestart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src, f := source(rapid.SampledFrom([]string{
			"-", "", "# c\nproductEnvName=x\nwaitSecondsForService=5", "com.rocketmq.remoting.frameMaxLength=33554432\nlog.level=warn\\\n  \n",
		}).Draw(t, "file"))
		s, _, err := Load(src)
		if err != nil {
			t.Fatal(err)
		}
		keys := rapid.SampledFrom([]string{
			"productEnvName", "waitSecondsForService", "orderMessageEnable", "log.level", "serverWorkerThreads",
			"remoting.frameMaxLength", "remoting.headerMaxLength", "http.maxHeavy", "kvConfigPath", "noSuchKey", "listenPort",
		})
		values := rapid.SampledFrom([]string{"true", "false", "1", "70000", "16MiB", "100KiB", "warn", "é\\ ", "中", "", " x ", "-5"})
		for range rapid.IntRange(1, 8).Draw(t, "changes") {
			before, version := s.Items()
			key, value := keys.Draw(t, "key"), values.Draw(t, "value")
			var err error
			switch rapid.IntRange(0, 2).Draw(t, "how") {
			case 0:
				_, err = s.Update([]byte(key+"="+escapeValue(value)+"\norderMessageEnable = true"), cause)
			case 1:
				_, err = s.Patch(map[string]*string{key: &value, "clusterTest": nil}, version, false, cause)
			case 2:
				_, err = s.Patch(map[string]*string{key: nil}, 0, false, cause)
			}
			after, next := s.Items()
			if err != nil && (version != next || cmp.Diff(shown(before), shown(after)) != "") {
				t.Fatalf("refused with %v, but changed", err)
			}
			if k := registry.KindOf(err); err != nil && k != registry.Denied && k != registry.Invalid {
				t.Fatalf("refused with %v", err)
			}
		}
		again, _, err := Load(Source{Home: src.Home, State: src.State, Open: disk{storePath: f}.open})
		if err != nil {
			t.Fatalf("%q: %v", f.text, err)
		}
		want := map[string]string{}
		items, _ := s.Items()
		for _, it := range items {
			want[it.Key] = it.Value
			if it.WillChange {
				want[it.Key] = it.Pending
			}
		}
		items, _ = again.Items()
		if d := cmp.Diff(want, shown(items)); d != "" {
			t.Fatalf("after a restart with %q: %s", f.text, d)
		}
	})
}

func shown(items []Item) map[string]string {
	m := map[string]string{}
	for _, it := range items {
		m[it.Key] = it.Value
	}
	return m
}

func FuzzUpdate(f *testing.F) {
	for _, s := range []string{"orderMessageEnable=true", "kvConfigPath=/x", "a=\\u00zz", "=v", "waitSecondsForService=\\\n 9", "\xff\xfe=1"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		s, file := open(t, "-")
		before := string(s.Text())
		if _, err := s.Update(text, cause); err != nil && (string(s.Text()) != before || file.saves > 0 || s.Version() != 1) {
			t.Errorf("%q: refused with %v, but changed", text, err)
		}
		for _, key := range []string{"kvConfigPath", "configStorePath", "configBlackList", "rocketmqHome", "http.listen", "listenPort", "dataDir"} {
			if it := item(t, s, key); it.Value != it.Default {
				t.Errorf("%q: %s became %q", text, key, it.Value)
			}
		}
	})
}
