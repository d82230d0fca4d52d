package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// platforms are those that are published.
var platforms = []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64", "windows/arm64"}

// maxProgram is what a program may weigh, 20 MiB: the promise to those who carry it over
// thin lines.
const maxProgram = 20 << 20

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	switch {
	case errors.Is(err, flag.ErrHelp):
		os.Exit(2)
	case err != nil:
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// release is one commit as it is published.
type release struct {
	root    string // of the source
	out     string // the folder that gets it all
	version string // as git describes it, without a leading v
	commit  string
	time    time.Time // of the commit: when everything in it was made
	made    []string  // files in out
	stdout  io.Writer
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	r := release{stdout: stdout}
	f := flag.NewFlagSet("release", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.StringVar(&r.root, "root", ".", "the `folder` of the source")
	f.StringVar(&r.out, "out", "dist", "the `folder` for what is made; it must be empty or not be there")
	f.StringVar(&r.version, "version", "", "the version; by default what git says of the commit")
	f.StringVar(&r.commit, "commit", "", "the commit; by default the one that is checked out")
	epoch := f.Int64("time", 0, "when it was made, in `seconds` since 1970; by default the time of the commit")
	targets := f.String("targets", strings.Join(platforms, ","), "the `platforms`, with commas between")
	switch err := f.Parse(args); {
	case err != nil:
		return err
	case f.NArg() > 0:
		return fmt.Errorf("%q is not understood; see -help", f.Arg(0))
	}
	wanted := strings.Split(*targets, ",")
	for _, p := range wanted {
		if !slices.Contains(platforms, p) {
			return fmt.Errorf("-targets: %q is none of %s", p, strings.Join(platforms, ", "))
		}
	}
	if *epoch != 0 {
		r.time = time.Unix(*epoch, 0).UTC()
	}
	if err := r.identify(ctx); err != nil {
		return err
	}
	if err := r.clear(); err != nil {
		return err
	}
	if err := r.make(ctx, wanted); err != nil {
		return err
	}
	return r.checksums()
}

// identify asks git for whatever was not said.
func (r *release) identify(ctx context.Context) error {
	ask := func(args ...string) (string, error) {
		c := exec.CommandContext(ctx, "git", append([]string{"-C", r.root}, args...)...)
		out, err := c.Output()
		if err != nil {
			return "", fmt.Errorf("git %s: %w; without git say -version, -commit and -time", strings.Join(args, " "), err)
		}
		return strings.TrimSpace(string(out)), nil
	}
	var err error
	if r.version == "" {
		if r.version, err = ask("describe", "--tags", "--always", "--dirty"); err != nil {
			return err
		}
	}
	r.version = strings.TrimPrefix(r.version, "v")
	if r.commit == "" {
		if r.commit, err = ask("rev-parse", "--short=12", "HEAD"); err != nil {
			return err
		}
	}
	if r.time.IsZero() {
		at, err := ask("log", "-1", "--format=%cI")
		if err != nil {
			return err
		}
		if r.time, err = time.Parse(time.RFC3339, at); err != nil {
			return fmt.Errorf("git names no time of the commit: %w", err)
		}
		r.time = r.time.UTC()
	}
	return nil
}

// clear makes the folder for what is made. What is in it already might be mistaken for
// a part of this release.
func (r *release) clear() error {
	if err := os.MkdirAll(r.out, 0o755); err != nil {
		return err
	}
	there, err := os.ReadDir(r.out)
	if err != nil {
		return err
	}
	if len(there) > 0 {
		return fmt.Errorf("%s is not empty: remove what is in it, or name another folder with -out", r.out)
	}
	return nil
}

// make builds everything for these platforms.
func (r *release) make(ctx context.Context, targets []string) error {
	work, err := os.MkdirTemp("", "fingerpost-release")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	papers, err := r.papers()
	if err != nil {
		return err
	}
	more, err := r.completions(ctx, work)
	if err != nil {
		return err
	}
	papers = append(papers, more...)
	for _, t := range targets {
		p, err := r.build(ctx, work, t)
		if err != nil {
			return fmt.Errorf("%s: %w", t, err)
		}
		if err := r.pack(p, papers); err != nil {
			return fmt.Errorf("%s: %w", t, err)
		}
	}
	return nil
}

// pack writes the files that one platform gets.
func (r *release) pack(p *program, papers []file) error {
	name := fmt.Sprintf("fingerpost_%s_%s_%s", r.version, p.os, p.arch)
	bom, err := r.bom(p)
	if err != nil {
		return err
	}
	if err := r.write(name+".cdx.json", bom); err != nil {
		return err
	}
	licences, err := p.licences()
	if err != nil {
		return err
	}
	inside := append([]file{{"fingerpost" + p.suffix(), 0o755, p.content}, licences}, papers...)
	for i := range inside {
		inside[i].name = name + "/" + inside[i].name
	}
	archive, ending := tarball, ".tar.gz"
	if p.os == "windows" {
		archive, ending = zipped, ".zip"
	}
	content, err := archive(inside, r.time)
	if err != nil {
		return err
	}
	if err := r.write(name+ending, content); err != nil {
		return err
	}
	if p.os != "linux" {
		return nil
	}
	deb, err := r.debian(p, append(slices.Clone(papers), licences), bom)
	if err != nil {
		return err
	}
	return r.write(fmt.Sprintf("fingerpost_%s_%s.deb", r.debianVersion(), p.arch), deb)
}

// write adds a file to what is published.
func (r *release) write(name string, content []byte) error {
	r.made = append(r.made, name)
	fmt.Fprintf(r.stdout, "%s  %s\n", name, megabytes(len(content)))
	return os.WriteFile(filepath.Join(r.out, name), content, 0o644)
}

func megabytes(n int) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }
