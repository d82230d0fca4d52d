package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"debug/buildinfo"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var noon = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

// entries reads a compressed tar archive back.
func entries(t *testing.T, archive []byte) (all []file) {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		t.Fatal(err)
	}
	if !z.ModTime.IsZero() || z.Name != "" {
		t.Errorf("the compression tells of %v %q", z.ModTime, z.Name)
	}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err == io.EOF {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Uid != 0 || h.Gid != 0 || h.Uname != "root" || !h.ModTime.Equal(noon) {
			t.Errorf("%s belongs to %d:%d %s and is of %v", h.Name, h.Uid, h.Gid, h.Uname, h.ModTime)
		}
		b, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, file{h.Name, h.FileInfo().Mode(), b})
	}
}

var some = []file{{"a/b/program", 0o755, []byte("\x7fELF\n")}, {"a/README.md", 0o644, []byte("one\ntwo\n")}, {"a/fingerpost", 0o755, []byte("bytes\n")}}

func TestTarball(t *testing.T) {
	one, err := tarball(some, noon)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range entries(t, one) {
		got = append(got, f.mode.String()+" "+f.name+" "+string(f.content))
	}
	want := []string{
		"drwxr-xr-x a/ ", "drwxr-xr-x a/b/ ", "-rwxr-xr-x a/b/program \x7fELF\n",
		"-rw-r--r-- a/README.md one\ntwo\n", "-rwxr-xr-x a/fingerpost bytes\n",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	// Another time zone is no other time.
	again, err := tarball(some, noon.In(time.FixedZone("", 3600)))
	if err != nil || !bytes.Equal(one, again) {
		t.Errorf("the second time there are other bytes: %v", err)
	}
}

func TestZip(t *testing.T) {
	one, err := zipped(some, noon)
	if err != nil {
		t.Fatal(err)
	}
	z, err := zip.NewReader(bytes.NewReader(one), int64(len(one)))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, f := range z.File {
		if !f.Modified.Equal(noon) {
			t.Errorf("%s is of %v", f.Name, f.Modified)
		}
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		got[f.Name] = string(b)
	}
	if diff := cmp.Diff(map[string]string{"a/b/program": "\x7fELF\n", "a/README.md": "one\ntwo\n", "a/fingerpost": "bytes\n"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if again, err := zipped(some, noon); err != nil || !bytes.Equal(one, again) {
		t.Errorf("the second time there are other bytes: %v", err)
	}
}

// fake is a program of two modules, whose licences are files of the test.
func fake(t *testing.T) *program {
	t.Helper()
	p := &program{os: "linux", arch: "arm64", content: []byte("the program"), modules: map[string]module{}}
	p.info = &buildinfo.BuildInfo{GoVersion: "go1.26.0"}
	for name, text := range map[string]string{
		"example.com/mit":    "MIT License\n\nPermission is hereby granted,\r\nfree of charge, to any person",
		"example.com/apache": "Apache License\n  Version 2.0, January 2004",
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "LICENSE.txt"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		p.info.Deps = append(p.info.Deps, &debug.Module{Path: name, Version: "v1.2.3", Sum: "h1:abc="})
		p.modules[name] = module{Path: name, Version: "v1.2.3", Dir: dir}
	}
	slices.SortFunc(p.info.Deps, func(a, b *debug.Module) int { return strings.Compare(a.Path, b.Path) })
	return p
}

func fakeRelease(t *testing.T) *release {
	return &release{root: "../..", out: t.TempDir(), version: "1.2.3", commit: "abcdef", time: noon, stdout: io.Discard}
}

func TestBillOfMaterials(t *testing.T) {
	r := fakeRelease(t)
	out, err := r.bom(fake(t))
	if err != nil {
		t.Fatal(err)
	}
	var b bomFile
	d := json.NewDecoder(bytes.NewReader(out))
	d.DisallowUnknownFields()
	if err := d.Decode(&b); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range b.Components {
		got = append(got, c.PURL+" "+c.Licences[0].Licence.ID)
	}
	want := []string{
		"pkg:golang/stdlib@1.26.0 BSD-3-Clause",
		"pkg:golang/example.com/apache@v1.2.3 Apache-2.0", "pkg:golang/example.com/mit@v1.2.3 MIT",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(b.Dependencies) != 4 || len(b.Dependencies[0].DependsOn) != 3 || b.Dependencies[0].Ref != b.Metadata.Component.Ref {
		t.Errorf("%+v", b.Dependencies)
	}
	again, err := r.bom(fake(t))
	if err != nil || !bytes.Equal(out, again) {
		t.Errorf("the second time there are other bytes: %v", err)
	}
	changed := fake(t)
	changed.content = []byte("another program")
	if other, err := r.bom(changed); err != nil || bytes.Contains(other, []byte(b.SerialNumber)) {
		t.Errorf("another program has the same serial number: %v", err)
	}
}

func TestModulesMustHaveALicence(t *testing.T) {
	p := fake(t)
	m := p.modules["example.com/mit"]
	if err := os.WriteFile(filepath.Join(m.Dir, "LICENSE.txt"), []byte("All rights reserved."), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := fakeRelease(t).bom(p); err == nil || !strings.Contains(err.Error(), "example.com/mit") {
		t.Errorf("error %v, want one that names the module", err)
	}
	m.Dir = t.TempDir()
	p.modules["example.com/mit"] = m
	if _, err := p.licences(); err == nil || !strings.Contains(err.Error(), "example.com/mit") {
		t.Errorf("error %v, want one that names the module", err)
	}
}

func TestLicencesComeAlong(t *testing.T) {
	f, err := fake(t).licences()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"example.com/apache v1.2.3, LICENSE.txt\n", "January 2004", "Permission is hereby granted,\nfree of charge"} {
		if !strings.Contains(string(f.content), want) {
			t.Errorf("there is no %q in\n%s", want, f.content)
		}
	}
}

func TestDebianVersions(t *testing.T) {
	for version, want := range map[string]string{
		"1.2.3":                  "1.2.3",
		"1.2.3-rc1":              "1.2.3~rc1",
		"1.2.3-rc1-5-g0123456":   "1.2.3~rc1+5+g0123456",
		"1.2.3-5-g0123456":       "1.2.3+5+g0123456",
		"1.2.3-5-g0123456-dirty": "1.2.3+5+g0123456+dirty",
		"abc0123":                "0.0~git20260504120000.abc0123",
		"abc0123-dirty":          "0.0~git20260504120000.abc0123+dirty",
	} {
		if got := (&release{version: version, time: noon}).debianVersion(); got != want {
			t.Errorf("%s is %s, want %s", version, got, want)
		}
	}
}

func TestDebianPackage(t *testing.T) {
	r, p := fakeRelease(t), fake(t)
	papers, err := r.papers()
	if err != nil {
		t.Fatal(err)
	}
	deb, err := r.debian(p, papers, []byte("{}"))
	if err != nil {
		t.Fatal(err)
	}
	if again, err := r.debian(p, papers, []byte("{}")); err != nil || !bytes.Equal(deb, again) {
		t.Errorf("the second time there are other bytes: %v", err)
	}
	members := map[string][]byte{}
	rest, ok := bytes.CutPrefix(deb, []byte("!<arch>\n"))
	if !ok {
		t.Fatalf("it begins with %q", deb[:8])
	}
	for len(rest) > 0 {
		head := strings.Fields(string(rest[:60]))
		size := 0
		for _, c := range head[5] {
			if c == '`' {
				break
			}
			size = size*10 + int(c-'0')
		}
		members[head[0]], rest = rest[60:60+size], rest[min(len(rest), 60+size+size%2):]
	}
	if string(members["debian-binary"]) != "2.0\n" {
		t.Errorf("debian-binary is %q", members["debian-binary"])
	}
	control := map[string]string{}
	for _, f := range entries(t, members["control.tar.gz"]) {
		control[f.name] = string(f.content)
	}
	for name, want := range map[string]string{
		"./control": "Architecture: arm64\n", "./conffiles": "/" + conffile + "\n", "./postinst": "useradd", "./prerm": "stop", "./postrm": "userdel",
		"./md5sums": "  usr/bin/fingerpost\n",
	} {
		if !strings.Contains(control[name], want) {
			t.Errorf("%s lacks %q:\n%s", name, want, control[name])
		}
	}
	data := map[string]file{}
	for _, f := range entries(t, members["data.tar.gz"]) {
		data[f.name] = f
	}
	for name, mode := range map[string]string{
		"./": "drwxr-xr-x", "./usr/bin/fingerpost": "-rwxr-xr-x", "./" + conffile: "-rw-r--r--",
		"./usr/lib/systemd/system/fingerpost.service": "-rw-r--r--", "./usr/share/doc/fingerpost/copyright": "-rw-r--r--",
		"./usr/share/doc/fingerpost/docs/migrate.md": "-rw-r--r--",
	} {
		if got := data[name].mode.String(); got != mode {
			t.Errorf("%s is %s, want %s", name, got, mode)
		}
	}
}

func TestReleaseRefuses(t *testing.T) {
	full := t.TempDir()
	if err := os.WriteFile(filepath.Join(full, "old.zip"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	known := []string{"-version=1.0.0", "-commit=abc", "-time=1"}
	for want, args := range map[string][]string{
		"plan9/386":    {"-targets=plan9/386"},
		"is not empty": append([]string{"-out=" + full}, known...),
		`"now"`:        {"now"},
	} {
		var stderr bytes.Buffer
		if err := run(t.Context(), args, io.Discard, &stderr); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: error %v, want one with %q", args, err, want)
		}
	}
}

func TestChecksums(t *testing.T) {
	r := fakeRelease(t)
	for _, name := range []string{"b.zip", "a.deb"} {
		if err := r.write(name, []byte("abc")); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.checksums(); err != nil {
		t.Fatal(err)
	}
	const abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
	got, err := os.ReadFile(filepath.Join(r.out, "SHA256SUMS"))
	if want := abc + "  a.deb\n" + abc + "  b.zip\n"; err != nil || string(got) != want {
		t.Errorf("%v\n%s", err, got)
	}
}
