package config

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"fingerpost/registry"
)

// leaves collects the address of every field of a struct that is not itself a struct.
func leaves(v reflect.Value, name string, into map[uintptr]string) {
	for i := range v.NumField() {
		f, n := v.Field(i), name+"."+v.Type().Field(i).Name
		if f.Kind() == reflect.Struct {
			leaves(f, n, into)
			continue
		}
		into[f.Addr().Pointer()] = n
	}
}

func TestEveryFieldHasOneRow(t *testing.T) {
	var c Config
	fields := map[uintptr]string{}
	leaves(reflect.ValueOf(&c).Elem(), "Config", fields)
	rows := map[uintptr]string{}
	for _, s := range Settings() {
		p := reflect.ValueOf(s.ptr(&c)).Pointer()
		if fields[p] == "" {
			t.Errorf("%s does not point at a field", s.Key)
		}
		if rows[p] != "" {
			t.Errorf("%s and %s are one field", s.Key, rows[p])
		}
		rows[p] = s.Key
	}
	for p, n := range fields {
		if rows[p] == "" {
			t.Errorf("%s has no row", n)
		}
	}
}

func TestRowsAreInTheOrderOfTheFields(t *testing.T) {
	var c Config
	for _, rows := range [][]Setting{table, inertTable} {
		last := uintptr(0)
		for _, s := range rows {
			p := reflect.ValueOf(s.ptr(&c)).Pointer()
			if p < last {
				t.Errorf("%s stands after a later field", s.Key)
			}
			last = p
		}
	}
}

func TestNamesAreDistinct(t *testing.T) {
	seen := map[string]string{PathEnv: "the file's variable"}
	taken := func(name, key string) {
		if seen[name] != "" {
			t.Errorf("%s and %s are both called %s", key, seen[name], name)
		}
		seen[name] = key
	}
	for _, s := range settings {
		taken(s.Key, s.Key)
		if s.Also != "" {
			taken(s.Also, s.Key)
		}
		if !s.Is(Foreign) {
			taken("--"+s.Flag(), s.Key)
			taken(s.Env(), s.Key)
		}
	}
}

func TestNames(t *testing.T) {
	for key, want := range map[string]string{
		"listenPort":                         "listen-port FINGERPOST_LISTEN_PORT",
		"http.listen":                        "http-listen FINGERPOST_HTTP_LISTEN",
		"http.externalURL":                   "http-external-url FINGERPOST_HTTP_EXTERNAL_URL",
		"http.tls.clientCAFile":              "http-tls-client-ca-file FINGERPOST_HTTP_TLS_CLIENT_CA_FILE",
		"http.corsOrigins":                   "http-cors-origins FINGERPOST_HTTP_CORS_ORIGINS",
		"http.maxKVValue":                    "http-max-kv-value FINGERPOST_HTTP_MAX_KV_VALUE",
		"kvConfigPath":                       "kv-config-path FINGERPOST_KV_CONFIG_PATH",
		"unRegisterBrokerQueueCapacity":      "un-register-broker-queue-capacity FINGERPOST_UN_REGISTER_BROKER_QUEUE_CAPACITY",
		"tls.server.need.client.auth":        "tls-server-need-client-auth FINGERPOST_TLS_SERVER_NEED_CLIENT_AUTH",
		"rocketmq.serialize.type":            "rocketmq-serialize-type FINGERPOST_ROCKETMQ_SERIALIZE_TYPE",
		"serverPooledByteBufAllocatorEnable": "server-pooled-byte-buf-allocator-enable FINGERPOST_SERVER_POOLED_BYTE_BUF_ALLOCATOR_ENABLE",
	} {
		s, ok := Find(key)
		if !ok {
			t.Errorf("no setting %s", key)
		} else if got := s.Flag() + " " + s.Env(); got != want {
			t.Errorf("%s: %s, want %s", key, got, want)
		}
	}
}

// A row says enough to write the manual from it, and its default is within its range.
func TestRowsAreComplete(t *testing.T) {
	for _, s := range Settings() {
		if s.Doc == "" || strings.HasSuffix(s.Doc, ".") || s.Type() == "" {
			t.Errorf("%s: doc %q, type %q", s.Key, s.Doc, s.Type())
		}
		if s.Is(Skipped) && !s.Is(Locked) {
			t.Errorf("%s is skipped without being locked", s.Key)
		}
		if s.Is(Live) && s.Is(Locked|NoEffect) {
			t.Errorf("%s is live and locked or without effect", s.Key)
		}
		if number := slices.Contains([]string{"int", "size", "duration"}, s.Type()); number != (s.Max > 0) {
			t.Errorf("%s is a number without a bound, or bounded without being one", s.Key)
		}
		c := Default(home, home)
		text := s.Format(&c)
		var again Config
		if err := s.parse(&again, text); err != nil {
			t.Errorf("the default of %s, %q, %v", s.Key, text, err)
		} else if s.Format(&again) != text {
			t.Errorf("the default of %s, %q, is read as %q", s.Key, text, s.Format(&again))
		}
	}
}

// Whatever names a path, an address or who may do what is closed while running.
func TestProtectedSettingsAreLocked(t *testing.T) {
	for _, s := range Settings() {
		key := strings.ToLower(s.Key)
		for _, part := range []string{"path", "file", "dir", "home", "listen", "address", "hosts", "origins", "prox", "url", "auth", "tls", "peers", "pprof", "metrics", "insecure", "blacklist", "remoteconfig"} {
			if strings.Contains(key, part) && !s.Is(Locked) && !strings.Contains(key, "peraddress") {
				t.Errorf("%s is not locked although its name has %q", s.Key, part)
			}
		}
	}
}

func TestDefaultsAreTheRegistrys(t *testing.T) {
	c := Default(home, home)
	if d := cmp.Diff(registry.DefaultRules(), c.Rules()); d != "" {
		t.Error(d)
	}
}

func TestNearest(t *testing.T) {
	for key, want := range map[string]string{
		"listenport": "listenPort", "listen-port": "listenPort", "listen_Port": "listenPort", "lisenPort": "listenPort",
		"http.listn": "http.listen", "HTTP_LISTEN": "http.listen", "orderMessageEnabled": "orderMessageEnable",
		"KVConfigPath": "kvConfigPath", "nonsense": "", "": "", strings.Repeat("x", 1000): "",
	} {
		if got, _ := Nearest(key); got != want {
			t.Errorf("%q: nearest is %q, want %q", key, got, want)
		}
	}
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"a", "", 1}, {"", "ab", 2}, {"kitten", "sitting", 3}, {"abc", "abc", 0}, {"abc", "acb", 2}, {"flaw", "lawn", 2}} {
		if got := distance(c.a, c.b); got != c.want {
			t.Errorf("%q to %q: %d, want %d", c.a, c.b, got, c.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := rapid.StringMatching(`[ab]{0,6}`).Draw(t, "a"), rapid.StringMatching(`[ab]{0,6}`).Draw(t, "b"), rapid.StringMatching(`[ab]{0,6}`).Draw(t, "c")
		if distance(a, b) != distance(b, a) || (distance(a, b) == 0) != (a == b) || distance(a, c) > distance(a, b)+distance(b, c) {
			t.Fatal("not a distance")
		}
	})
}

func TestParse(t *testing.T) {
	for _, c := range []struct{ key, text, want, fail string }{
		{key: "orderMessageEnable", text: "true", want: "true"},
		{key: "orderMessageEnable", text: " TRUE ", want: "true"},
		{key: "orderMessageEnable", text: "yes", fail: `must be true or false, not "yes"`},
		{key: "orderMessageEnable", text: "", fail: "must be true or false"},
		{key: "listenPort", text: " 9999 ", want: "9999"},
		{key: "listenPort", text: "+7", want: "7"},
		{key: "listenPort", text: "65536", fail: "must be from 0 to 65535, not 65536"},
		{key: "listenPort", text: "-1", fail: "must be from 0 to 65535, not -1"},
		{key: "listenPort", text: "0x10", fail: "must be a whole number from 0 to 65535"},
		{key: "listenPort", text: "99999999999999999999", fail: "must be a whole number"},
		{key: "waitSecondsForService", text: "90", want: "90"},
		{key: "waitSecondsForService", text: "4.5", fail: "must be a whole number"},
		{key: "waitSecondsForService", text: "99999999999", fail: "must be from 0 to 2147483647"},
		{key: "scanNotActiveBrokerInterval", text: "5000", want: "5000"},
		{key: "scanNotActiveBrokerInterval", text: "99", fail: "must be from 100 to 600000"},
		{key: "shutdown.grace", text: "1m30s", want: "1m30s"},
		{key: "shutdown.grace", text: "30", fail: "must be a time such as 30s"},
		{key: "shutdown.grace", text: "-1s", fail: "must be from 0s to 1h0m0s, not -1s"},
		{key: "remoting.frameMaxLength", text: "16777216", want: "16MiB"},
		{key: "remoting.frameMaxLength", text: "32 mib", want: "32MiB"},
		{key: "remoting.frameMaxLength", text: "65537", want: "65537"},
		{key: "remoting.frameMaxLength", text: "2GiB", fail: "must be from 64KiB to 1GiB, not 2GiB"},
		{key: "remoting.frameMaxLength", text: "99999999999GiB", fail: "must be a number of bytes"},
		{key: "remoting.frameMaxLength", text: "-1", fail: "must be a number of bytes"},
		{key: "remoting.frameMaxLength", text: "MiB", fail: "must be a number of bytes"},
		{key: "tls.server.mode", text: "Enforcing", want: "enforcing"},
		{key: "tls.server.mode", text: "on", fail: "must be one of disabled, permissive, enforcing"},
		{key: "rocketmq.serialize.type", text: "rocketmq", want: "ROCKETMQ"},
		{key: "log.level", text: "WARN", want: "warn"},
		{key: "log.level", text: "INFO+2", fail: "must be debug, info, warn or error"},
		{key: "log.level", text: "verbose", fail: "must be debug, info, warn or error"},
		{key: "peers", text: " a:1 ; b:2,, c:3 ", want: "a:1;b:2;c:3"},
		{key: "peers", text: "a:1;b", fail: "must be an address such as"},
		{key: "peers", text: "", want: ""},
		{key: "http.listen", text: "[::1]:0", want: "[::1]:0"},
		{key: "http.listen", text: ":8876", want: ":8876"},
		{key: "http.listen", text: "", want: ""},
		{key: "http.listen", text: "8876", fail: "must be an address such as"},
		{key: "http.listen", text: "h:99999", fail: "must be an address such as"},
		{key: "bindAddress", text: "::", want: "::"},
		{key: "bindAddress", text: "ns.example", want: "ns.example"},
		{key: "bindAddress", text: "0.0.0.0:9876", fail: "without a port"},
		{key: "http.basePath", text: "/a/b", want: "/a/b"},
		{key: "http.basePath", text: "/a/", fail: "without a slash at its end"},
		{key: "http.basePath", text: "a", fail: "must be empty or a path"},
		{key: "http.externalURL", text: "https://n.example/x", want: "https://n.example/x"},
		{key: "http.externalURL", text: "n.example", fail: "must be a URL"},
		{key: "http.externalURL", text: "https://u:p@n.example", fail: "must be a URL"},
		{key: "http.corsOrigins", text: "https://a.example;http://b:8080", want: "https://a.example;http://b:8080"},
		{key: "http.corsOrigins", text: "*", fail: "must name each origin"},
		{key: "http.corsOrigins", text: "https://a.example/", fail: "without a path"},
		{key: "http.trustedProxies", text: "10.0.0.0/8;::1", want: "10.0.0.0/8;::1"},
		{key: "http.trustedProxies", text: "proxy", fail: "must hold addresses or networks"},
		{key: "productEnvName", text: " 中文 ", want: "中文"},
		{key: "productEnvName", text: "a\nkvConfigPath=/x", fail: "must not hold control characters"},
		{key: "productEnvName", text: strings.Repeat("x", 5000), fail: "must not be longer than 4096 bytes"},
	} {
		s, _ := Find(c.key)
		var cfg Config
		err := s.parse(&cfg, c.text)
		switch {
		case c.fail != "":
			if err == nil || !strings.Contains(err.Error(), c.fail) {
				t.Errorf("%s=%.40q: got %v, want %q", c.key, c.text, err, c.fail)
			}
		case err != nil:
			t.Errorf("%s=%.40q: %v", c.key, c.text, err)
		case s.Format(&cfg) != c.want:
			t.Errorf("%s=%.40q: read as %q, want %q", c.key, c.text, s.Format(&cfg), c.want)
		}
	}
}

func TestRange(t *testing.T) {
	for key, want := range map[string]string{
		"listenPort": "0 to 65535", "orderMessageEnable": "true or false", "tls.server.mode": "disabled, permissive, enforcing",
		"remoting.frameMaxLength": "64KiB to 1GiB", "http.maxHeavy": "at least 1", "shutdown.grace": "0s to 1h0m0s", "kvConfigPath": "", "log.level": "debug, info, warn, error",
	} {
		if s, _ := Find(key); s.Range() != want {
			t.Errorf("%s: %q, want %q", key, s.Range(), want)
		}
	}
}

func TestFormatsAreRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := Size(rapid.Int64Range(0, 1<<62).Draw(t, "n"))
		if got, err := parseSize(n.String()); err != nil || got != n {
			t.Fatalf("%s: read as %d, %v", n, got, err)
		}
	})
}

func TestJavasKeysAreKnown(t *testing.T) {
	var peers []string
	for _, s := range Settings() {
		if s.Is(Peer) {
			peers = append(peers, s.Key)
		}
	}
	slices.Sort(peers)
	var java []string
	for l := range strings.SplitSeq(strings.TrimSpace(javaFile(t)), "\n") {
		if k, _, _ := strings.Cut(l, "="); k != "useTLS" {
			java = append(java, k)
		}
	}
	if d := cmp.Diff(java, peers); d != "" || len(java) != 40 {
		t.Errorf("%d settings of 40: %s", len(java), d)
	}
}
