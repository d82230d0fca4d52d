package main

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
)

// version and commit are set by the linker in released builds.
var (
	version = ""
	commit  = ""
)

// compatibility is the release of Apache RocketMQ whose NameServer this one is held against.
const compatibility = "5.5.0"

// buildVersion returns the version and commit of this program, as far as it knows them.
func buildVersion() (v, c string) {
	v, c = version, commit
	info, ok := debug.ReadBuildInfo()
	if ok && c == "" {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				c = s.Value[:min(len(s.Value), 12)]
			}
		}
	}
	if v == "" {
		v = "dev"
	}
	if c == "" {
		c = "unknown"
	}
	return v, c
}

// versionCmd is `fingerpost version`.
type versionCmd struct{}

// Run prints one line.
func (versionCmd) Run(a *app) error {
	return printVersion(a.stdout)
}

func printVersion(w io.Writer) error {
	v, c := buildVersion()
	_, err := fmt.Fprintf(w, "fingerpost %s (%s) %s %s/%s, compatible with Apache RocketMQ %s\n", v, c, runtime.Version(), runtime.GOOS, runtime.GOARCH, compatibility)
	return err
}
