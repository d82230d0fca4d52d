package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// program is the program as it was built for one platform.
type program struct {
	os, arch string
	path     string // where it was built
	content  []byte
	info     *buildinfo.BuildInfo
	modules  map[string]module // what is linked, by path
}

// module is a module of others that the program links.
type module struct {
	Path, Version, Dir string
	Sum                string // of go.sum
}

// suffix is the end of a program's name.
func (p *program) suffix() string {
	if p.os == "windows" {
		return ".exe"
	}
	return ""
}

// build builds the program for a platform such as linux/arm64.
func (r *release) build(ctx context.Context, work, target string) (*program, error) {
	p := &program{modules: map[string]module{}}
	p.os, p.arch, _ = strings.Cut(target, "/")
	p.path = filepath.Join(work, p.os+"-"+p.arch+p.suffix())
	env := append(os.Environ(), "CGO_ENABLED=0", "GOOS="+p.os, "GOARCH="+p.arch,
		// Whatever the builder prefers must not decide what others run.
		"GOFLAGS=", "GOAMD64=v1", "GOARM64=v8.0", "GOEXPERIMENT=", "GOWORK=off", "GOFIPS140=off")
	// The linker's id of the build would differ with the folder of the compiler's cache.
	ld := fmt.Sprintf("-s -w -buildid= -X main.version=%s -X main.commit=%s", r.version, r.commit)
	c := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags", ld, "-o", p.path, "./cmd/fingerpost")
	c.Dir, c.Env, c.Stderr = r.root, env, os.Stderr
	if err := c.Run(); err != nil {
		return nil, fmt.Errorf("go build: %w", err)
	}
	var err error
	if p.content, err = os.ReadFile(p.path); err != nil {
		return nil, err
	}
	if len(p.content) > maxProgram {
		return nil, fmt.Errorf("the program weighs %s, more than %s", megabytes(len(p.content)), megabytes(maxProgram))
	}
	if p.info, err = buildinfo.Read(bytes.NewReader(p.content)); err != nil {
		return nil, err
	}
	return p, p.find(ctx, r.root)
}

// find asks the go command where the sources of what is linked lie.
func (p *program) find(ctx context.Context, root string) error {
	args := []string{"mod", "download", "-json"}
	for _, d := range p.info.Deps {
		if d.Replace != nil {
			return fmt.Errorf("module %s is replaced, and nobody else can build that", d.Path)
		}
		args = append(args, d.Path+"@"+d.Version)
	}
	c := exec.CommandContext(ctx, "go", args...)
	c.Dir, c.Stderr = root, os.Stderr
	out, err := c.Output()
	if err != nil {
		return fmt.Errorf("go mod download: %w", err)
	}
	for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
		var m module
		if err := d.Decode(&m); err != nil {
			return err
		}
		p.modules[m.Path] = m
	}
	return nil
}

// file is a file of an archive.
type file struct {
	name    string
	mode    fs.FileMode
	content []byte
}

// papers are the files that every archive has beside the program.
func (r *release) papers() ([]file, error) {
	var all []file
	for _, name := range []string{"README.md", "README.zh-CN.md", "LICENSE", "NOTICE", "deploy/debian/fingerpost.properties", "deploy/debian/fingerpost.service"} {
		b, err := os.ReadFile(filepath.Join(r.root, name))
		if err != nil {
			return nil, err
		}
		all = append(all, file{filepath.Base(name), 0o644, b})
	}
	for _, folder := range []string{"docs", "deploy/compose", "deploy/grafana", "deploy/kubernetes", "deploy/prometheus"} {
		err := filepath.WalkDir(filepath.Join(r.root, folder), func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			b, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			rel, err := filepath.Rel(r.root, name)
			all = append(all, file{filepath.ToSlash(rel), 0o644, b})
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// shells are those whose completion is in every archive.
var shells = []string{"bash", "zsh", "fish", "powershell"}

// completions asks the program, as this machine runs it, for them.
func (r *release) completions(ctx context.Context, work string) ([]file, error) {
	here, err := r.build(ctx, work, runtime.GOOS+"/"+runtime.GOARCH)
	if err != nil {
		return nil, err
	}
	var all []file
	for _, shell := range shells {
		out, err := exec.CommandContext(ctx, here.path, "completion", shell).Output()
		if err != nil {
			return nil, fmt.Errorf("fingerpost completion %s: %w", shell, err)
		}
		all = append(all, file{"completions/fingerpost." + shell, 0o644, out})
	}
	return all, nil
}

// licences are the licences of all that is linked, whose terms ask for them to come along.
func (p *program) licences() (file, error) {
	var b strings.Builder
	b.WriteString("The program fingerpost links these modules, each under its own licence.\n")
	for _, d := range p.info.Deps {
		texts, err := licenceTexts(p.modules[d.Path].Dir)
		if err != nil {
			return file{}, fmt.Errorf("module %s: %w", d.Path, err)
		}
		for _, t := range texts {
			fmt.Fprintf(&b, "\n%s\n%s %s, %s\n%s\n\n%s\n", rule, d.Path, d.Version, t.name, rule, bytes.TrimSpace(t.content))
		}
	}
	return file{"THIRD-PARTY-LICENSES", 0o644, []byte(b.String())}, nil
}

var rule = strings.Repeat("=", 80)

var errNoLicence = errors.New("it has no file with its licence")

// licenceTexts returns the files that say under which terms a module is used.
func licenceTexts(dir string) ([]file, error) {
	there, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var all []file
	licensed := false
	for _, d := range there {
		upper := strings.ToUpper(d.Name())
		is := slices.ContainsFunc([]string{"LICENSE", "LICENCE", "COPYING"}, func(s string) bool { return strings.HasPrefix(upper, s) })
		if d.IsDir() || !is && !strings.HasPrefix(upper, "NOTICE") {
			continue
		}
		b, err := os.ReadFile(filepath.Join(dir, d.Name()))
		if err != nil {
			return nil, err
		}
		licensed = licensed || is
		all = append(all, file{d.Name(), 0, bytes.ReplaceAll(b, []byte("\r\n"), []byte("\n"))})
	}
	if !licensed {
		return nil, errNoLicence
	}
	return all, nil
}

// checksums writes the SHA-256 of everything that was made, in the form of sha256sum.
func (r *release) checksums() error {
	var b strings.Builder
	slices.Sort(r.made)
	for _, name := range r.made {
		content, err := os.ReadFile(filepath.Join(r.out, name))
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%x  %s\n", sha256.Sum256(content), name)
	}
	return r.write("SHA256SUMS", []byte(b.String()))
}
