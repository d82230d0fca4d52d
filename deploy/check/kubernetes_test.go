package check

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// manifests are what kubectl would apply.
type manifests struct {
	config   *corev1.ConfigMap
	account  *corev1.ServiceAccount
	services map[string]*corev1.Service
	set      *appsv1.StatefulSet
	budget   *policyv1.PodDisruptionBudget
	network  *networkingv1.NetworkPolicy
}

// render builds the folder as kubectl does and decodes each object as the API server
// does where it is told to be strict: an unknown or a double field is an error.
func render(t *testing.T, folder string) manifests {
	t.Helper()
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), folder)
	if err != nil {
		t.Fatal(err)
	}
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, appsv1.AddToScheme, policyv1.AddToScheme, networkingv1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	decode := serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer().Decode
	m := manifests{services: map[string]*corev1.Service{}}
	for _, r := range built.Resources() {
		text, err := r.AsYAML()
		if err != nil {
			t.Fatal(err)
		}
		object, _, err := decode(text, nil, nil)
		if err != nil {
			t.Errorf("%s: %v", r.CurId(), err)
			continue
		}
		switch o := object.(type) {
		case *corev1.ConfigMap:
			m.config = o
		case *corev1.ServiceAccount:
			m.account = o
		case *corev1.Service:
			m.services[o.Name] = o
		case *appsv1.StatefulSet:
			m.set = o
		case *policyv1.PodDisruptionBudget:
			m.budget = o
		case *networkingv1.NetworkPolicy:
			m.network = o
		default:
			t.Errorf("%s: an object that nobody looks at: say here what has to be true of it", r.CurId())
		}
	}
	if m.config == nil || m.account == nil || m.set == nil || m.budget == nil || m.network == nil || len(m.services) != 2 {
		t.Fatalf("an object is missing:\n%+v", m)
	}
	return m
}

func TestManifests(t *testing.T) {
	m := render(t, "../kubernetes")
	set, pod := m.set.Spec, m.set.Spec.Template.Spec
	if len(pod.Containers) != 1 {
		t.Fatalf("%d containers", len(pod.Containers))
	}
	c := pod.Containers[0]
	ports := map[string]int32{}
	for _, p := range c.Ports {
		ports[p.Name] = p.ContainerPort
	}

	// Everything that selects by labels finds the nodes.
	labels := set.Template.Labels
	selectors := map[string]map[string]string{"the set": set.Selector.MatchLabels, "the budget": m.budget.Spec.Selector.MatchLabels, "the policy": m.network.Spec.PodSelector.MatchLabels}
	for name, s := range m.services {
		selectors["service "+name] = s.Spec.Selector
		for _, p := range s.Spec.Ports {
			if ports[p.TargetPort.StrVal] != p.Port {
				t.Errorf("service %s: port %d leads to %q, which is %d", name, p.Port, p.TargetPort.StrVal, ports[p.TargetPort.StrVal])
			}
		}
	}
	for i, s := range pod.TopologySpreadConstraints {
		selectors["spread "+s.TopologyKey] = pod.TopologySpreadConstraints[i].LabelSelector.MatchLabels
	}
	for who, want := range selectors {
		if len(want) == 0 {
			t.Errorf("%s selects everything", who)
		}
		for k, v := range want {
			if labels[k] != v {
				t.Errorf("%s selects %s=%s, which a node has not", who, k, v)
			}
		}
	}
	for _, rule := range m.network.Spec.Ingress {
		for _, p := range rule.Ports {
			if ports[p.Port.StrVal] == 0 {
				t.Errorf("the policy opens %s, which no container has", p.Port)
			}
		}
	}

	// Each node has a name, which it has before it is ready.
	head := m.services[set.ServiceName]
	if head == nil || head.Spec.ClusterIP != corev1.ClusterIPNone || !head.Spec.PublishNotReadyAddresses {
		t.Errorf("the set's service %q is not headless, or hides nodes that are not ready", set.ServiceName)
	}
	var peers []string
	for i := range *set.Replicas {
		peers = append(peers, m.set.Name+"-"+string('0'+i)+"."+set.ServiceName+":9876")
	}
	if got := strings.Split(m.config.Data["FINGERPOST_PEERS"], ";"); !slices.Equal(got, peers) {
		t.Errorf("the peers are %q, want %q", got, peers)
	}
	if *set.Replicas < 3 || m.budget.Spec.MaxUnavailable.IntValue() != 1 {
		t.Errorf("%d nodes of which %s may be away", *set.Replicas, m.budget.Spec.MaxUnavailable)
	}

	if got := []string{probe(c.LivenessProbe), probe(c.ReadinessProbe)}; !slices.Equal(got, []string{"http /livez", "http /readyz"}) {
		t.Errorf("the probes are %q", got)
	}
	if len(c.EnvFrom) != 1 || c.EnvFrom[0].ConfigMapRef.Name != m.config.Name {
		t.Errorf("the settings do not reach the program: %+v", c.EnvFrom)
	}
	if len(set.VolumeClaimTemplates) != 1 || len(c.VolumeMounts) != 1 || c.VolumeMounts[0].Name != set.VolumeClaimTemplates[0].Name || c.VolumeMounts[0].MountPath != "/data" {
		t.Errorf("the state is not on the volume: %+v", c.VolumeMounts)
	}
	if pod.ServiceAccountName != m.account.Name || *pod.AutomountServiceAccountToken || *m.account.AutomountServiceAccountToken {
		t.Errorf("the account %q comes with a token", pod.ServiceAccountName)
	}
}

func probe(p *corev1.Probe) string {
	if p == nil || p.HTTPGet == nil {
		return "none"
	}
	return p.HTTPGet.Port.StrVal + " " + p.HTTPGet.Path
}

// The profile "restricted" of Kubernetes' pod security standards.
func TestManifestsAreRestricted(t *testing.T) {
	pod := render(t, "../kubernetes").set.Spec.Template.Spec
	own, in := pod.SecurityContext, pod.Containers[0].SecurityContext
	for what, is := range map[string]bool{
		"an ordinary user": *own.RunAsNonRoot && *own.RunAsUser != 0, "seccomp": own.SeccompProfile.Type == corev1.SeccompProfileTypeRuntimeDefault,
		"no more rights": !*in.AllowPrivilegeEscalation, "no capabilities": slices.Equal(in.Capabilities.Drop, []corev1.Capability{"ALL"}) && len(in.Capabilities.Add) == 0,
		"nothing of the host's": !pod.HostNetwork && !pod.HostPID && !pod.HostIPC, "a root folder that cannot be written": *in.ReadOnlyRootFilesystem,
	} {
		if !is {
			t.Errorf("it lacks: %s", what)
		}
	}
}

// Each variable is one that the program knows: it only warns of others, as anybody may
// have put them there.
func TestSettingsAreKnown(t *testing.T) {
	known := keysOfTheManual(t)
	all := render(t, "../kubernetes").config.Data
	for _, s := range load(t, "../compose/compose.yaml").Services {
		for name, value := range s.Environment {
			if strings.HasPrefix(name, "FINGERPOST_") {
				all[name] = *value
			}
		}
	}
	seen := 0
	for name := range all {
		if strings.HasPrefix(name, "FINGERPOST_") {
			if seen++; !known[name] {
				t.Errorf("%s is no variable of a setting", name)
			}
		}
	}
	if seen < 4 {
		t.Errorf("found only %d settings", seen)
	}
}

// keysOfTheManual are the variables of all settings, by the rule of docs/configuration.md.
func keysOfTheManual(t *testing.T) map[string]bool {
	t.Helper()
	text := read(t, "../../docs/configuration.md")
	known := map[string]bool{}
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-zA-Z.]+)` \\|").FindAllSubmatch(text, -1) {
		known[variable(string(m[1]))] = true
	}
	return known
}

// variable is a setting's variable: auth.anonymousRole is FINGERPOST_AUTH_ANONYMOUS_ROLE.
func variable(key string) string {
	words := regexp.MustCompile(`([a-z0-9])([A-Z])`).ReplaceAllString(key, "${1}_$2")
	return "FINGERPOST_" + strings.ToUpper(strings.ReplaceAll(words, ".", "_"))
}

func TestOverlayOfTheManual(t *testing.T) {
	text := read(t, "../../docs/install.md")
	_, rest, ok := bytes.Cut(text, []byte("<!-- overlay -->\n```yaml\n"))
	overlay, _, closed := bytes.Cut(rest, []byte("```\n"))
	if !ok || !closed {
		t.Fatal("docs/install.md shows no overlay")
	}
	fs := filesys.MakeFsOnDisk()
	dir, err := filesys.NewTmpConfirmedDir()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { fs.RemoveAll(dir.String()) })
	// The base of the page is where the page's reader has it.
	for name, b := range map[string][]byte{"kustomization.yaml": overlay, "tokens": []byte("ops admin 00\n")} {
		if err := fs.WriteFile(dir.Join(name), b); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"kustomization", "serviceaccount", "configmap", "service", "statefulset", "disruptionbudget", "networkpolicy"} {
		if err := fs.MkdirAll(dir.Join("deploy/kubernetes")); err != nil {
			t.Fatal(err)
		}
		if err := fs.WriteFile(dir.Join("deploy/kubernetes/"+name+".yaml"), read(t, "../kubernetes/"+name+".yaml")); err != nil {
			t.Fatal(err)
		}
	}
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(fs, dir.String())
	if err != nil {
		t.Fatal(err)
	}
	out, err := built.AsYaml()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"image: registry.example.com/fingerpost:1.0.0", "kind: Secret", "FINGERPOST_AUTH_TOKENS_FILE: /etc/fingerpost/tokens", "mountPath: /etc/fingerpost"} {
		if !bytes.Contains(out, []byte(want)) {
			t.Errorf("the overlay makes nothing with %q:\n%s", want, out)
		}
	}
}
