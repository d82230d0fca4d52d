package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fingerpost/internal/nstest"
	"fingerpost/remoting/wire"
)

// client connects to the remoting port; the test's end closes it.
func client(t *testing.T, p *program) *nstest.Client {
	t.Helper()
	c, err := nstest.Dial(p.remoting(t), wire.JSONHeader)
	if err != nil {
		t.Fatal(err)
	}
	c.Version = wire.V5_5_0
	t.Cleanup(func() { c.Close() })
	return c
}

func must(t *testing.T) func(*wire.Command, error) *wire.Command {
	return func(resp *wire.Command, err error) *wire.Command {
		t.Helper()
		if resp, err = nstest.Must(resp, err); err != nil {
			t.Fatal(err)
		}
		return resp
	}
}

func settings(t *testing.T, c *nstest.Client) string {
	t.Helper()
	return string(must(t)(c.Call(wire.GetNamesrvConfig, nil, nil)).Body)
}

// What is changed over remoting is in force at once and after a restart; what is put
// into the table too; a broker that registers is found.
func TestOverRemoting(t *testing.T) {
	dir := t.TempDir()
	p := start(t, dir)
	b := nstest.StartBroker(t, p.remoting(t), nstest.BrokerConfig{Cluster: "c", Name: "broker-a"})
	b.Topic("One", 4)
	b.Topic("Two", 4)
	must(t)(b.Register())
	if l := p.stderr.line(t, "broker created"); l["broker"] != "broker-a" || l["face"] != "remoting" {
		t.Errorf("logged %v", l)
	}
	c := client(t, p)
	route := must(t)(c.Call(wire.GetRouteInfoByTopic, wire.Fields{{Name: "topic", Value: "One"}}, nil))
	if !strings.Contains(string(route.Body), "broker-a") {
		t.Errorf("route %s", route.Body)
	}
	must(t)(c.Call(wire.UpdateNamesrvConfig, nil, []byte("orderMessageEnable=true\nlog.level=debug\n")))
	must(t)(c.Call(wire.PutKVConfig, wire.Fields{{Name: "namespace", Value: "ORDER_TOPIC_CONFIG"}, {Name: "key", Value: "One"}, {Name: "value", Value: "broker-a:4"}}, nil))
	route = must(t)(c.Call(wire.GetRouteInfoByTopic, wire.Fields{{Name: "topic", Value: "One"}}, nil))
	if !strings.Contains(string(route.Body), `"orderTopicConf":"broker-a:4"`) {
		t.Errorf("the changed setting is not in force: %s", route.Body)
	}
	for _, key := range []string{"kvConfigPath", "http.listen"} {
		if resp, err := c.Call(wire.UpdateNamesrvConfig, nil, []byte(key+"=/tmp/x")); err != nil || resp.Code != int32(wire.NoPermission) || resp.Remark != "Can not update config in black list." {
			t.Errorf("%s: %+v, %v", key, resp, err)
		}
	}
	before := settings(t, c)
	if s := p.end(t); s != 0 {
		t.Fatalf("exit status %d:\n%s", s, p.stderr)
	}

	again := start(t, dir)
	c = client(t, again)
	if got := settings(t, c); withoutPort(got) != withoutPort(before) || !strings.Contains(got, "log.level=debug\n") {
		t.Errorf("after a restart\n%s\nbefore\n%s", got, before)
	}
	kv := must(t)(c.Call(wire.GetKVConfig, wire.Fields{{Name: "namespace", Value: "ORDER_TOPIC_CONFIG"}, {Name: "key", Value: "One"}}, nil))
	if v, _ := kv.Ext.Get("value"); v != "broker-a:4" {
		t.Errorf("the table holds %q", v)
	}
	if !strings.Contains(again.stderr.String(), "settings are read from "+filepath.Join(dir, "namesrv", "namesrv.properties")) {
		t.Error("it is not said which file is read")
	}
}

func withoutPort(text string) string {
	var out strings.Builder
	for l := range strings.Lines(text) {
		if !strings.HasPrefix(l, "listenPort=") {
			out.WriteString(l)
		}
	}
	return out.String()
}

// A change that cannot be saved is refused, and the old setting stands.
func TestUnsavedChangeIsRefused(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "file"), "")
	// A folder cannot be made below a file, whoever runs the test.
	p := start(t, dir, "--config-store-path", filepath.Join(dir, "namesrv", "x.properties"), "--kv-config-path", filepath.Join(dir, "sub", "kv.json"))
	p.remoting(t)
	put(t, filepath.Join(dir, "namesrv"), "")
	put(t, filepath.Join(dir, "sub"), "")
	c := client(t, p)
	before := settings(t, c)
	resp, err := c.Call(wire.UpdateNamesrvConfig, nil, []byte("orderMessageEnable=true"))
	if err != nil || resp.Code != int32(wire.SystemError) {
		t.Errorf("%+v, %v", resp, err)
	}
	if got := settings(t, c); got != before {
		t.Errorf("now\n%s", got)
	}
	put1 := wire.Fields{{Name: "namespace", Value: "n"}, {Name: "key", Value: "k"}, {Name: "value", Value: "hunter2"}}
	if resp, err := c.Call(wire.PutKVConfig, put1, nil); err != nil || resp.Code != int32(wire.SystemError) {
		t.Errorf("%+v, %v", resp, err)
	}
	if resp, err := c.Call(wire.GetKVConfig, put1, nil); err != nil || resp.Code != int32(wire.QueryNotFound) {
		t.Errorf("%+v, %v", resp, err)
	}
	if strings.Contains(p.stderr.String(), "hunter2") {
		t.Error("a value is logged")
	}
}

// A server that is asked to stop gracefully sends peers elsewhere before it goes.
func TestGracefulStop(t *testing.T) {
	p := start(t, t.TempDir(), "--enable-shutdown-gracefully", "--shutdown-wait-time-seconds=1")
	c := client(t, p)
	settings(t, c)
	p.stop(errTestOver)
	p.stderr.line(t, "telling peers to go elsewhere")
	for {
		resp, err := c.Call(wire.GetNamesrvConfig, nil, nil)
		if err != nil {
			t.Fatalf("the connection ended before the wait was over: %v", err)
		}
		if resp.Code == int32(wire.GoAway) {
			break
		}
	}
	if s := p.end(t); s != 0 {
		t.Errorf("exit status %d:\n%s", s, p.stderr)
	}
}

// A peer that holds on does not hold up the end beyond the deadline.
func TestStopDoesNotWaitForPeers(t *testing.T) {
	p := start(t, t.TempDir(), "--shutdown-timeout=500ms")
	c := client(t, p)
	settings(t, c)
	began := time.Now()
	p.end(t)
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("it took %v", took)
	}
}

// The file that -c names is the one that changes are saved in, as with the peers.
func TestConfigFile(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "ns.properties")
	put(t, file, "# mine\nproductEnvName = lab\nconfigStorePath=/elsewhere\n")
	p := start(t, dir, "-c", file)
	c := client(t, p)
	if got := settings(t, c); !strings.Contains(got, "configStorePath="+file+"\n") || !strings.Contains(got, "productEnvName=lab\n") {
		t.Errorf("319 answers\n%s", got)
	}
	must(t)(c.Call(wire.UpdateNamesrvConfig, nil, []byte("supportActingMaster=true")))
	b, err := os.ReadFile(file)
	if want := "# mine\nproductEnvName = lab\nconfigStorePath=/elsewhere\nsupportActingMaster=true\n"; err != nil || string(b) != want {
		t.Errorf("the file holds %q, %v", b, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "namesrv")); err == nil {
		t.Error("something was saved at the default place")
	}
}

func TestTLSOnTheRemotingPort(t *testing.T) {
	dir := t.TempDir()
	newPair(t, filepath.Join(dir, "cert"), filepath.Join(dir, "key"), "server")
	p := start(t, dir, "--tls-server-mode=enforcing", "--tls-server-cert-path="+filepath.Join(dir, "cert"), "--tls-server-key-path="+filepath.Join(dir, "key"))
	conn := dialTLS(t, p.remoting(t))
	c := nstest.NewClient(conn, wire.JSONHeader)
	t.Cleanup(func() { c.Close() })
	if got := settings(t, c); !strings.Contains(got, "listenPort=") {
		t.Errorf("319 answers %q", got)
	}
	if _, err := client(t, p).Call(wire.GetNamesrvConfig, nil, nil); err == nil {
		t.Error("a plain connection was served")
	}
}
