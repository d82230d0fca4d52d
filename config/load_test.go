package config

import (
	"errors"
	"os"
	"strings"
	"testing"
)

func javaFile(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile("testdata/java-5.5.0-namesrv.properties")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// A Java node's own file serves unchanged, and 319 answers what it answered there.
func TestJavasFileLoads(t *testing.T) {
	const path = "/home/rocketmq/ns.properties"
	text := javaFile(t)
	d := disk{path: {text: []byte(text), found: true}}
	s, notes, err := Load(Source{Path: path, Home: home, State: home, Open: d.open})
	if err != nil {
		t.Fatal(err)
	}
	if got := string(s.Text()); got != text {
		t.Errorf("319 answers\n%s", got)
	}
	if c := s.Current(); c.ListenPort != 9877 || c.BindAddress != "127.0.0.1" || !c.OrderMessageEnable || c.RocketmqHome != "/opt/rocketmq" {
		t.Errorf("read as %+v", c)
	}
	if want := "these settings are known but have no effect in this server: useTLS"; len(notes) != 1 || notes[0].Text != want || notes[0].Warn {
		t.Errorf("notes %v", notes)
	}
	if _, err := s.Update([]byte("orderMessageEnable=false\n"), cause); err != nil {
		t.Fatal(err)
	}
	want := strings.Replace(text, "orderMessageEnable=true", "orderMessageEnable=false", 1)
	if got := string(d[path].text); got != want {
		t.Errorf("saved as\n%s", got)
	}
}

// A server without any configuration answers 319 like a Java one without any.
func TestTextOfDefaults(t *testing.T) {
	s, _ := open(t, "-", "ROCKETMQ_HOME=/opt/rocketmq")
	want := strings.NewReplacer("useTLS=false\n", "", "listenPort=9877", "listenPort=9876", "bindAddress=127.0.0.1", "bindAddress=0.0.0.0",
		"orderMessageEnable=true", "orderMessageEnable=false", "/home/rocketmq/ns.properties", storePath, "/home/rocketmq", home).Replace(javaFile(t))
	if got := string(s.Text()); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	s, _ = open(t, "-")
	if strings.Contains(string(s.Text()), "rocketmqHome") {
		t.Error("a null setting is shown")
	}
}

func TestPrecedence(t *testing.T) {
	env := []string{"FINGERPOST_LISTEN_PORT=3", "FINGERPOST_BIND_ADDRESS=3.3.3.3", "FINGERPOST_PRODUCT_ENV_NAME="}
	src, _ := source("listenPort = 2 \nbindAddress=2.2.2.2\nproductEnvName=two\nserverSocketSndBufSize=2\n", env...)
	src.Flags = map[string]string{"listenPort": "4"}
	s, _, err := Load(src)
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{
		"listenPort":             "4 flag --listen-port",
		"bindAddress":            "3.3.3.3 env FINGERPOST_BIND_ADDRESS",
		"productEnvName":         "two file " + storePath + " line 3",
		"serverSocketSndBufSize": "2 file " + storePath + " line 4",
		"serverSocketRcvBufSize": "0 default ",
	} {
		it := item(t, s, key)
		if got := it.Value + " " + it.Origin.String() + " " + it.Where; got != want {
			t.Errorf("%s: %s, want %s", key, got, want)
		}
	}
	if _, err := s.Update([]byte("productEnvName=five"), cause); err != nil {
		t.Fatal(err)
	}
	if it := item(t, s, "productEnvName"); it.Value != "five" || it.Origin != FromRuntime || it.Default != "center" {
		t.Errorf("after a change: %+v", it)
	}
}

func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		name, file string
		env        []string
		flags      map[string]string
		want       []string
	}{
		{name: "case", file: "listenport=9999", want: []string{storePath + ` line 1: unknown setting "listenport"; did you mean listenPort?`}},
		{name: "nothing near", file: "\n# c\nbrokerRole=SLAVE", want: []string{storePath + ` line 3: unknown setting "brokerRole"`}},
		{name: "all of them", file: "listenPort=x\nnonsense=1\nclusterTest=yes\n", want: []string{
			`line 2: unknown setting "nonsense"`, `line 1: listenPort must be a whole number from 0 to 65535, not "x"`,
			`line 3: clusterTest must be true or false, not "yes"`,
		}},
		{name: "env", file: "-", env: []string{"FINGERPOST_LISTEN_PORT=x"}, want: []string{"FINGERPOST_LISTEN_PORT: listenPort must be"}},
		{name: "flag", file: "-", flags: map[string]string{"listenPort": "70000"}, want: []string{"--listen-port: listenPort must be from 0 to 65535"}},
		{name: "flag of nothing", file: "-", flags: map[string]string{"listen": "1"}, want: []string{`unknown setting "listen"`}},
		{name: "flag of a foreign key", file: "-", flags: map[string]string{"useTLS": "true"}, want: []string{`unknown setting "useTLS"`}},
		{name: "half of a pair", file: "tls.server.certPath=/c", want: []string{"line 1: tls.server.certPath needs tls.server.keyPath"}},
		{name: "enforcing", file: "tls.server.mode=enforcing", want: []string{"tls.server.mode enforcing needs tls.server.certPath"}},
		{name: "authClient", file: "tls.server.authClient=true", want: []string{"needs tls.server.trustCertPath"}},
		{name: "signed", file: "remoting.access.admin=signed", want: []string{"line 1: remoting.access.admin signed needs remoting.access.keysFile"}},
		{name: "listed", file: "remoting.access.keysFile=/k\nremoting.access.broker=both", want: []string{"line 2: remoting.access.broker both needs remoting.access.brokerAddresses"}},
		{name: "no network", file: "remoting.access.brokerAddresses=10.0.0", want: []string{"must hold addresses or networks"}},
		{name: "http pair", file: "http.tls.keyFile=/k", want: []string{"line 1: http.tls.keyFile needs http.tls.certFile"}},
		{name: "http client CA", file: "http.tls.clientCAFile=/k", want: []string{"http.tls.clientCAFile needs http.tls.certFile"}},
		{name: "cert roles", file: "auth.certRolesFile=/k", want: []string{"auth.certRolesFile needs http.tls.clientCAFile"}},
		{name: "header above frame", file: "remoting.frameMaxLength=64KiB", want: []string{"line 1: remoting.frameMaxLength must not be less than remoting.headerMaxLength"}},
		{
			name: "two names", file: "remoting.frameMaxLength=16MiB\ncom.rocketmq.remoting.frameMaxLength=33554432",
			want: []string{"line 2: com.rocketmq.remoting.frameMaxLength is another name for remoting.frameMaxLength, which stands in line 1"},
		},
		{name: "serialize type", file: "-", env: []string{"ROCKETMQ_SERIALIZE_TYPE=XML"}, want: []string{"ROCKETMQ_SERIALIZE_TYPE: rocketmq.serialize.type must be one of JSON, ROCKETMQ"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			src, _ := source(c.file, c.env...)
			src.Flags = c.flags
			s, _, err := Load(src)
			if err == nil {
				t.Fatalf("loaded %+v", s.Current())
			}
			if n := len(strings.Split(err.Error(), "\n")); n != len(c.want) {
				t.Errorf("%d sentences: %v", n, err)
			}
			for _, w := range c.want {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("got %q, want %q in it", err, w)
				}
			}
		})
	}
}

func TestNotes(t *testing.T) {
	for _, c := range []struct {
		name, file string
		env        []string
		want       string
	}{
		{name: "read from the default place", file: "", want: "settings are read from " + storePath},
		{name: "repeated", file: "listenPort=1\nlistenPort=2", want: "line 2: listenPort stands in line 1 already; the last one counts"},
		{name: "another store", file: "configStorePath=/elsewhere", want: "line 1: configStorePath is not followed"},
		{name: "controller", file: "enableControllerInNamesrv=true", want: "line 1: enableControllerInNamesrv is on, but this server has no controller"},
		{
			name: "no effect", file: "serverWorkerThreads=9\nuseTLS=true\ncontrollerType=jRaft\nserverSelectorThreads=3",
			want: "have no effect in this server: controllerType, serverWorkerThreads, useTLS",
		},
		{name: "black list", file: "configBlackList=productEnvname", want: `configBlackList names "productEnvname", which is no setting`},
		{name: "variable", file: "-", env: []string{"FINGERPOST_LISTENPORT=1"}, want: "FINGERPOST_LISTENPORT is not known; did you mean FINGERPOST_LISTEN_PORT?"},
		{name: "variable like nothing", file: "-", env: []string{"FINGERPOST_XYZZY_PLUGH_FROTZ=1"}, want: "FINGERPOST_XYZZY_PLUGH_FROTZ is not known"},
		{name: "service links", file: "-", env: []string{
			"FINGERPOST_SERVICE_HOST=10.0.0.1", "FINGERPOST_SERVICE_PORT_HTTP=1", "FINGERPOST_PORT=tcp://10.0.0.1:9876",
			"FINGERPOST_PORT_9876_TCP=tcp://10.0.0.1:9876", "FINGERPOST_PORT_9876_TCP_ADDR=10.0.0.1",
		}},
		{name: "paths of one file", file: "configStorePath=" + home + "/./namesrv/namesrv.properties", want: "settings are read from"},
	} {
		t.Run(c.name, func(t *testing.T) {
			src, _ := source(c.file, c.env...)
			_, notes, err := Load(src)
			if err != nil {
				t.Fatal(err)
			}
			var all string
			for _, n := range notes {
				all += n.Text + "\n"
			}
			if !strings.Contains(all, c.want) || c.want == "" && all != "" {
				t.Errorf("notes %v, want %q", notes, c.want)
			}
			if c.name == "paths of one file" && strings.Contains(all, "not followed") {
				t.Errorf("notes %v", notes)
			}
		})
	}
}

func TestWhichFile(t *testing.T) {
	found := func(text string) *memFile { return &memFile{text: []byte(text), found: true} }
	files := func() disk {
		return disk{storePath: found("listenPort=1"), "/c": found("listenPort=2\nconfigStorePath=/elsewhere"), "/e": found("listenPort=3"), "/s": found("listenPort=4")}
	}
	for _, c := range []struct {
		name, path string
		env        []string
		want       int
		store      string
		fail       string
	}{
		{name: "default place", want: 1, store: storePath},
		{name: "-c", path: "/c", want: 2, store: "/c"},
		{name: "variable", env: []string{"FINGERPOST_CONFIG_FILE=/e"}, want: 3, store: "/e"},
		{name: "-c over the variable", path: "/c", env: []string{"FINGERPOST_CONFIG_FILE=/e"}, want: 2, store: "/c"},
		{name: "store path", env: []string{"FINGERPOST_CONFIG_STORE_PATH=/s"}, want: 4, store: "/s"},
		{name: "store path without a file", env: []string{"FINGERPOST_CONFIG_STORE_PATH=/none"}, want: 9876, store: "/none"},
		{name: "two files", path: "/c", env: []string{"FINGERPOST_CONFIG_STORE_PATH=/s"}, fail: "-c and FINGERPOST_CONFIG_STORE_PATH name two different files"},
		{name: "-c without a file", path: "/none", fail: "-c: there is no file /none"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := files()
			s, _, err := Load(Source{Path: c.path, Env: c.env, Home: home, State: home, Open: d.open})
			if c.fail != "" {
				if err == nil || !strings.Contains(err.Error(), c.fail) {
					t.Fatalf("got %v, want %q", err, c.fail)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if cfg := s.Current(); cfg.ListenPort != c.want || cfg.ConfigStorePath != c.store {
				t.Errorf("port %d from %s", cfg.ListenPort, cfg.ConfigStorePath)
			}
			if _, err := s.Update([]byte("orderMessageEnable=true"), cause); err != nil || d[c.store].saves != 1 {
				t.Errorf("saved %d times in %s, %v", d[c.store].saves, c.store, err)
			}
			if it := item(t, s, "configStorePath"); it.Value != c.store {
				t.Errorf("shown as %+v", it)
			}
		})
	}
}

func TestFileTrouble(t *testing.T) {
	src, f := source("")
	f.loadErr = errors.New("both are broken")
	if _, _, err := Load(src); err == nil || !strings.Contains(err.Error(), "both are broken") {
		t.Errorf("got %v", err)
	}
	src, f = source("listenPort=5")
	f.note = "the backup was used"
	_, notes, err := Load(src)
	if err != nil || notes[0].Text != f.note || !notes[0].Warn {
		t.Errorf("notes %v, %v", notes, err)
	}
	for text, want := range map[string]string{"a=\\u12": "line 1 has a \\u", "listenPort=1\n\x00\x00": "zero bytes", "listenPort=1": ""} {
		if err := wholeProperties([]byte(text)); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestNoHome(t *testing.T) {
	_, _, err := Load(Source{Open: disk{}.open})
	if err == nil || !strings.Contains(err.Error(), "kvConfigPath has no default") || !strings.Contains(err.Error(), "dataDir has no default") {
		t.Errorf("got %v", err)
	}
	env := []string{"FINGERPOST_KV_CONFIG_PATH=/k", "FINGERPOST_CONFIG_STORE_PATH=/s", "FINGERPOST_DATA_DIR=/d"}
	if _, _, err := Load(Source{Open: disk{}.open, Env: env}); err != nil {
		t.Error(err)
	}
}

func TestAlsoNames(t *testing.T) {
	s, _ := open(t, "com.rocketmq.remoting.frameMaxLength=33554432\n", "ROCKETMQ_SERIALIZE_TYPE=ROCKETMQ", "ROCKETMQ_HOME=/opt/r")
	if c := s.Current(); c.Remoting.FrameMaxLength != 32*MiB || c.Remoting.SerializeType != "ROCKETMQ" || c.RocketmqHome != "/opt/r" {
		t.Errorf("read as %+v", c.Remoting)
	}
	if it := item(t, s, "rocketmqHome"); it.Where != "ROCKETMQ_HOME" || it.Origin != FromEnv {
		t.Errorf("%+v", it)
	}
	s, _ = open(t, "-", "ROCKETMQ_HOME=/opt/r", "FINGERPOST_ROCKETMQ_HOME=/opt/ours")
	if got := s.Current().RocketmqHome; got != "/opt/ours" {
		t.Errorf("home %q", got)
	}
}
