package main

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// distEnv names a folder with a release to test.
const distEnv = "FINGERPOST_DIST"

// TestPackage installs a real package in a system of its own, runs its service as a
// service manager would, and takes it out again.
func TestPackage(t *testing.T) {
	dist := os.Getenv(distEnv)
	if dist == "" {
		t.Skipf("SKIPPED: %s names no release; .ci/run package makes one", distEnv)
	}
	if _, err := exec.LookPath("dpkg"); err != nil || os.Getuid() != 0 {
		const why = "needs dpkg, and root, who may make users and change the root folder"
		if os.Getenv("CI") == "true" {
			t.Fatal(why)
		}
		t.Skip("SKIPPED: " + why)
	}
	debs, err := filepath.Glob(filepath.Join(dist, "fingerpost_*_"+runtime.GOARCH+".deb"))
	if err != nil || len(debs) != 1 {
		t.Fatalf("%s holds %d packages for this machine: %v", dist, len(debs), err)
	}
	s := newSystem(t)
	before := s.everything()
	users := s.read("etc/passwd") + s.read("etc/group")

	s.dpkg("--install", debs[0])
	if got := s.read("usr/share/bash-completion/completions/fingerpost"); !strings.Contains(got, "complete") {
		t.Errorf("what completes commands in bash is\n%s", got)
	}
	for name, want := range map[string]string{
		"usr/bin/fingerpost": "-rwxr-xr-x 0:0", conffile: "-rw-r----- 0:gid", "etc/fingerpost": "drwxrwx--- 0:gid", "var/lib/fingerpost": "drwx------ uid:gid",
	} {
		want = strings.NewReplacer("uid", strconv.Itoa(int(s.id("passwd"))), "gid", strconv.Itoa(int(s.id("group")))).Replace(want)
		if got := s.owned(name); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}

	// The ports of this machine may be taken.
	s.write("etc/default/fingerpost", "FINGERPOST_LISTEN_PORT=0\nFINGERPOST_BIND_ADDRESS=127.0.0.1\nFINGERPOST_HTTP_LISTEN=127.0.0.1:0\n")
	svc := s.start()
	said := svc.hear("READY")
	_, at, ok := strings.Cut(said["STATUS"], "HTTP on ")
	if !ok {
		t.Fatalf("the service says %v", said)
	}
	svc.hear("WATCHDOG")
	out, err := s.command(s.user(), nil, "/usr/bin/fingerpost", "health", "--addr", at).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "[+]") {
		t.Errorf("fingerpost health: %v\n%s", err, out)
	}
	s.changeSetting(at)
	if got := s.read(conffile); !strings.Contains(got, "orderMessageEnable=true") && !strings.Contains(got, "orderMessageEnable = true") {
		t.Errorf("a setting that was changed is not saved:\n%s", got)
	}
	if s.read("var/lib/fingerpost/admin-token") == "" {
		t.Error("there is no token of the first start where the settings say")
	}
	svc.stop()

	kept := s.read(conffile)
	s.dpkg("--install", debs[0]) // an upgrade, as far as dpkg knows
	if got := s.read(conffile); got != kept {
		t.Errorf("an upgrade changed the settings:\n%s", cmp.Diff(kept, got))
	}
	s.dpkg("--remove", "fingerpost")
	if got := s.read(conffile); got != kept {
		t.Errorf("a removal changed the settings:\n%s", cmp.Diff(kept, got))
	}
	s.dpkg("--purge", "fingerpost")
	if err := os.Remove(filepath.Join(s.root, "etc/default/fingerpost")); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(before, s.everything()); diff != "" {
		t.Errorf("the package left something behind (-before +after):\n%s", diff)
	}
	if diff := cmp.Diff(users, s.read("etc/passwd")+s.read("etc/group")); diff != "" {
		t.Errorf("the package left a user behind (-before +after):\n%s", diff)
	}
}

// system is a folder in which dpkg installs as if it were the root folder.
type system struct {
	t    *testing.T
	root string
}

func newSystem(t *testing.T) *system {
	s := &system{t, t.TempDir()}
	// Its users must get in, whatever the test's folders are like.
	for dir := s.root; dir != "/" && dir != os.TempDir(); dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{
		"etc/passwd": "root:x:0:0:root:/root:/bin/sh\n", "etc/group": "root:x:0:\n", "etc/shadow": "root:*:20000:0:99999:7:::\n", "etc/gshadow": "root:*::\n",
		"etc/default/other": "", "etc/systemd/system/other.service": "", "var/lib/systemd/.keep": "", "var/lib/dpkg/status": "", "var/lib/dpkg/available": "", "var/lib/dpkg/info/format": "1\n", "var/lib/dpkg/updates/.keep": "",
		"run/systemd/.keep": "", "usr/bin/other": "", "usr/share/doc/other/copyright": "", "usr/lib/systemd/system/other.service": "", "proc/.keep": "",
	} {
		s.write(name, text)
	}
	return s
}

func (s *system) write(name, text string) {
	s.t.Helper()
	name = filepath.Join(s.root, name)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		s.t.Fatal(err)
	}
}

func (s *system) read(name string) string {
	s.t.Helper()
	b, err := os.ReadFile(filepath.Join(s.root, name))
	if err != nil {
		s.t.Error(err)
	}
	return string(b)
}

// owned describes a file as ls does.
func (s *system) owned(name string) string {
	s.t.Helper()
	i, err := os.Stat(filepath.Join(s.root, name))
	if err != nil {
		return err.Error()
	}
	st := i.Sys().(*syscall.Stat_t)
	return fmt.Sprintf("%s %d:%d", i.Mode(), st.Uid, st.Gid)
}

// everything lists what is there, but for dpkg's and useradd's own accounts of it.
func (s *system) everything() []string {
	s.t.Helper()
	var all []string
	err := filepath.WalkDir(s.root, func(name string, _ fs.DirEntry, err error) error {
		rel := strings.TrimPrefix(strings.TrimPrefix(name, s.root), "/")
		own := strings.HasPrefix(rel, "var/lib/dpkg/") || rel == "var/log" || rel == "var/log/dpkg.log" ||
			regexp.MustCompile(`^etc/(passwd|group|shadow|gshadow|subuid|subgid)-?$`).MatchString(rel)
		if !own {
			all = append(all, rel)
		}
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return all
}

func (s *system) dpkg(args ...string) {
	s.t.Helper()
	// What the package depends on is this machine's, so dpkg does not find it in there.
	args = append([]string{"--root=" + s.root, "--force-depends", "--force-script-chrootless", "--force-confold"}, args...)
	c := exec.Command("dpkg", args...)
	c.Env = []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND=noninteractive"}
	if out, err := c.CombinedOutput(); err != nil {
		s.t.Fatalf("dpkg %v: %v\n%s", args, err, out)
	}
}

// id is the number of the service's user or group, by the table of either.
func (s *system) id(table string) uint32 {
	s.t.Helper()
	m := regexp.MustCompile(`(?m)^fingerpost:[^:]*:(\d+):`).FindStringSubmatch(s.read("etc/" + table))
	if m == nil {
		s.t.Fatalf("etc/%s has no fingerpost", table)
	}
	n, err := strconv.ParseUint(m[1], 10, 32)
	if err != nil {
		s.t.Fatal(err)
	}
	return uint32(n)
}

func (s *system) user() *syscall.Credential {
	return &syscall.Credential{Uid: s.id("passwd"), Gid: s.id("group")}
}

// command runs a program of the system as one of its users. It must be a static one:
// there is nothing else in there.
func (s *system) command(as *syscall.Credential, env []string, name string, args ...string) *exec.Cmd {
	c := &exec.Cmd{Path: name, Args: append([]string{name}, args...), Env: env, Dir: "/"}
	c.SysProcAttr = &syscall.SysProcAttr{Chroot: s.root, Credential: as, Pdeathsig: syscall.SIGKILL}
	return c
}

// changeSetting changes one over REST.
func (s *system) changeSetting(at string) {
	s.t.Helper()
	req, err := http.NewRequest(http.MethodPatch, "http://"+at+"/api/v1/config", strings.NewReader(`{"orderMessageEnable":"true"}`))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/merge-patch+json")
	req.Header.Set("Authorization", "Bearer "+strings.TrimSpace(s.read("var/lib/fingerpost/admin-token")))
	resp, err := (&http.Client{Timeout: time.Minute}).Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	if b, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode != http.StatusOK {
		s.t.Errorf("changing a setting: %s, %v\n%s", resp.Status, err, b)
	}
}

// service stands in for systemd: it reads the unit, starts what that says, and listens.
type service struct {
	*system
	unit map[string][]string
	cmd  *exec.Cmd
	log  bytes.Buffer
	conn *net.UnixConn
}

func (s *system) start() *service {
	s.t.Helper()
	v := &service{system: s, unit: map[string][]string{}}
	for line := range strings.Lines(s.read("usr/lib/systemd/system/fingerpost.service")) {
		if key, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok && !strings.HasPrefix(key, "#") {
			v.unit[key] = append(v.unit[key], value)
		}
	}
	if got := v.one("Type"); got != "notify" {
		s.t.Fatalf("the unit is of type %s", got)
	}
	const socket = "/run/systemd/notify"
	var err error
	// A path for the address would be too long in a folder of a test.
	s.t.Chdir(s.root)
	v.conn, err = net.ListenUnixgram("unixgram", &net.UnixAddr{Net: "unixgram", Name: "." + socket})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { v.conn.Close() })
	if err := os.Chmod("."+socket, 0o777); err != nil {
		s.t.Fatal(err)
	}
	watchdog, err := time.ParseDuration(v.one("WatchdogSec"))
	if err != nil {
		s.t.Fatal(err)
	}
	env := map[string]string{"NOTIFY_SOCKET": socket, "WATCHDOG_USEC": strconv.FormatInt(watchdog.Microseconds(), 10)}
	assign := func(texts ...string) {
		for _, text := range texts {
			for f := range strings.FieldsSeq(text) {
				name, value, _ := strings.Cut(f, "=")
				env[name] = value
			}
		}
	}
	assign(v.unit["Environment"]...)
	assign(s.read(strings.TrimPrefix(v.one("EnvironmentFile"), "-/")))
	for name, id := range map[string]string{"User": "passwd", "Group": "group"} {
		if v.one(name) != "fingerpost" {
			s.t.Fatalf("the unit's %s is %s, who is not in etc/%s", name, v.one(name), id)
		}
	}
	var assigned []string
	for _, name := range slices.Sorted(maps.Keys(env)) {
		assigned = append(assigned, name+"="+env[name])
	}
	run := strings.Fields(v.one("ExecStart"))
	v.cmd = s.command(s.user(), assigned, run[0], run[1:]...)
	v.cmd.Stdout, v.cmd.Stderr = &v.log, &v.log
	if err := v.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		if v.cmd.ProcessState == nil {
			v.cmd.Process.Kill()
			v.cmd.Wait()
		}
	})
	return v
}

// one is what the unit says once.
func (v *service) one(key string) string {
	v.t.Helper()
	if len(v.unit[key]) != 1 {
		v.t.Fatalf("the unit has %d lines of %s", len(v.unit[key]), key)
	}
	return v.unit[key][0]
}

// hear waits for a message with that assignment.
func (v *service) hear(variable string) map[string]string {
	v.t.Helper()
	v.conn.SetReadDeadline(time.Now().Add(2 * time.Minute))
	for b := make([]byte, 4096); ; {
		n, err := v.conn.Read(b)
		if err != nil {
			v.cmd.Process.Kill()
			v.cmd.Wait()
			v.t.Fatalf("waiting for %s: %v\n%s", variable, err, v.log.String())
		}
		said := map[string]string{}
		for line := range strings.SplitSeq(string(b[:n]), "\n") {
			name, value, _ := strings.Cut(line, "=")
			said[name] = value
		}
		if _, ok := said[variable]; ok {
			return said
		}
	}
}

// stop ends the service as systemd does.
func (v *service) stop() {
	v.t.Helper()
	if err := v.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		v.t.Fatal(err)
	}
	v.hear("STOPPING")
	if err := v.cmd.Wait(); err != nil {
		v.t.Errorf("the service ends with %v\n%s", err, v.log.String())
	}
	os.Remove(filepath.Join(v.root, "run/systemd/notify"))
}
