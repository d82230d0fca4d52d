package check

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/loader"
	"github.com/compose-spec/compose-go/v2/types"
)

func read(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// load reads a compose file as docker compose does, the check of its schema included.
func load(t *testing.T, name string) *types.Project {
	t.Helper()
	p, err := loader.LoadWithContext(t.Context(), types.ConfigDetails{
		WorkingDir:  filepath.Dir(name),
		ConfigFiles: []types.ConfigFile{{Filename: name}},
		Environment: types.Mapping{},
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestCompose(t *testing.T) {
	p := load(t, "../compose/compose.yaml")
	nodes := []string{"ns1", "ns2", "ns3"}
	if got, want := p.ServiceNames(), append(slices.Clone(nodes), "broker", "prometheus", "grafana"); !equalSets(got, want) {
		t.Errorf("the services are %q, want %q", got, want)
	}
	published := map[string]string{}
	var remoting []string
	for _, name := range nodes {
		s := p.Services[name]
		remoting = append(remoting, name+":9876")
		if got := *s.Environment["FINGERPOST_PEERS"]; got != "ns1:9876;ns2:9876;ns3:9876" {
			t.Errorf("%s has the peers %s", name, got)
		}
		if len(s.Volumes) != 1 || s.Volumes[0].Target != "/data" || s.Volumes[0].Source != name {
			t.Errorf("%s keeps its state in %+v", name, s.Volumes)
		}
		if !s.ReadOnly || !slices.Equal(s.CapDrop, []string{"ALL"}) {
			t.Errorf("%s may do more than it needs", name)
		}
		for _, port := range s.Ports {
			if port.Target == 8876 && port.HostIP != "127.0.0.1" {
				t.Errorf("%s shows HTTP without a credential to the network", name)
			}
		}
	}
	for name, s := range p.Services {
		for _, port := range s.Ports {
			if other, taken := published[port.Published]; taken {
				t.Errorf("%s and %s publish the same port %s", other, name, port.Published)
			}
			published[port.Published] = name
		}
		for _, v := range s.Volumes {
			if v.Type != types.VolumeTypeBind {
				continue
			}
			if i, err := os.Stat(v.Source); err != nil || i.IsDir() {
				t.Errorf("%s mounts %s, which is no file here: %v", name, v.Source, err)
			}
		}
	}
	broker := p.Services["broker"]
	if got := strings.Join(broker.Command, " "); !strings.Contains(got, strings.Join(remoting, ";")) {
		t.Errorf("the broker does not register with every node: %s", got)
	}
	for _, name := range nodes {
		if broker.DependsOn[name].Condition != types.ServiceConditionHealthy {
			t.Errorf("the broker does not wait for %s", name)
		}
		if !strings.Contains(string(read(t, "../compose/prometheus.yml")), name+":8876") {
			t.Errorf("Prometheus does not ask %s", name)
		}
	}
}

func equalSets(a, b []string) bool {
	a, b = slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))
	return slices.Equal(a, b)
}

// What the compose file takes for granted of the image is in the Dockerfile.
func TestDockerfileServesAsComposeSays(t *testing.T) {
	text := string(read(t, "../../Dockerfile"))
	for _, want := range []string{"VOLUME /data\n", "EXPOSE 9876 8876\n", "USER 65532:65532\n", `HEALTHCHECK `, "FROM scratch\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("the Dockerfile has no %q", want)
		}
	}
}
