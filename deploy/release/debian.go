package main

import (
	"bytes"
	"crypto/md5" //nolint:gosec // it is what dpkg checks files by
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// conffile is the file that belongs to the administrator once it is there.
const conffile = "etc/fingerpost/fingerpost.properties"

// docFolder is where documents lie.
const docFolder = "usr/share/doc/fingerpost/"

// debianVersion is the version as dpkg orders versions: it begins with a number, and one
// that comes before a release has a tilde.
func (r *release) debianVersion() string {
	v := strings.ReplaceAll(r.version, "-", "+")
	if tag, since, ok := strings.Cut(r.version, "-"); ok && (strings.HasPrefix(since, "rc") || strings.HasPrefix(since, "beta") || strings.HasPrefix(since, "alpha")) {
		v = tag + "~" + strings.ReplaceAll(since, "-", "+")
	}
	// A commit without any tag before it has a name without a number to order by.
	if !strings.Contains(r.version, ".") {
		v = "0.0~git" + r.time.Format("20060102150405") + "." + v
	}
	return v
}

// debian returns a binary package, which is an ar archive of three members.
func (r *release) debian(p *program, papers []file, bom []byte) ([]byte, error) {
	data, err := r.debianFiles(p, papers, bom)
	if err != nil {
		return nil, err
	}
	size := 0
	var sums strings.Builder
	for _, f := range data {
		size += (len(f.content) + 1023) / 1024
		if f.name != conffile {
			fmt.Fprintf(&sums, "%x  %s\n", md5.Sum(f.content), f.name)
		}
	}
	control := []file{
		{"control", 0o644, []byte(r.debianControl(p.arch, size))},
		{"conffiles", 0o644, []byte("/" + conffile + "\n")},
		{"md5sums", 0o644, []byte(sums.String())},
	}
	for _, name := range []string{"postinst", "prerm", "postrm"} {
		b, err := os.ReadFile(filepath.Join(r.root, "deploy/debian", name))
		if err != nil {
			return nil, err
		}
		control = append(control, file{name, 0o755, b})
	}
	controlTar, err := gzipTar("./", control, r.time)
	if err != nil {
		return nil, err
	}
	dataTar, err := gzipTar("./", data, r.time)
	if err != nil {
		return nil, err
	}
	return ar(r.time, []file{
		{"debian-binary", 0o644, []byte("2.0\n")},
		{"control.tar.gz", 0o644, controlTar},
		{"data.tar.gz", 0o644, dataTar},
	}), nil
}

// debianFiles are the files of the package, each where it belongs.
func (r *release) debianFiles(p *program, papers []file, bom []byte) ([]file, error) {
	all := []file{{"usr/bin/fingerpost", 0o755, p.content}, {docFolder + "fingerpost.cdx.json", 0o644, bom}}
	for _, f := range papers {
		switch f.name {
		case "fingerpost.properties":
			f.name = conffile
		case "fingerpost.service":
			f.name = "usr/lib/systemd/system/fingerpost.service"
		case "completions/fingerpost.bash":
			f.name = "usr/share/bash-completion/completions/fingerpost"
		case "completions/fingerpost.zsh":
			f.name = "usr/share/zsh/vendor-completions/_fingerpost"
		case "completions/fingerpost.fish":
			f.name = "usr/share/fish/vendor_completions.d/fingerpost.fish"
		case "completions/fingerpost.powershell":
			continue
		case "LICENSE":
			continue // Debian has the text of that licence already
		case "NOTICE":
			// The file that every package has, and people look for.
			notice := "This is Fingerpost. Its licence is the Apache License 2.0, see\n/usr/share/common-licenses/Apache-2.0.\n\n"
			f = file{"copyright", f.mode, append([]byte(notice), f.content...)}
			f.name = docFolder + f.name
		default:
			f.name = docFolder + f.name
		}
		all = append(all, f)
	}
	changes := fmt.Sprintf("fingerpost (%s) unstable; urgency=medium\n\n  * Built from commit %s.\n\n -- %s  %s\n",
		r.debianVersion(), r.commit, maintainer, r.time.Format(time.RFC1123Z))
	changelog, err := gzipped([]byte(changes))
	if err != nil {
		return nil, err
	}
	all = append(all, file{docFolder + "changelog.gz", 0o644, changelog})
	slices.SortFunc(all, func(a, b file) int { return strings.Compare(a.name, b.name) })
	return all, nil
}

// maintainer has an address that cannot be written to: the project has no list for mail.
const maintainer = "The Fingerpost Authors <packages@fingerpost.invalid>"

// debianControl is what dpkg knows about the package; size is in kibibytes.
func (r *release) debianControl(arch string, size int) string {
	return fmt.Sprintf(`Package: fingerpost
Version: %s
Section: net
Priority: optional
Architecture: %s
Maintainer: %s
Installed-Size: %d
Depends: passwd
Description: name server compatible with Apache RocketMQ
 Brokers say where they are and clients ask for the way: on the remoting port
 that RocketMQ's own brokers, clients and tools speak, over REST, and in a live
 dashboard.
 .
 Nodes share nothing and have no database. A node takes the place of a Java
 NameServer, and gives it back, with the same files.
`, r.debianVersion(), arch, maintainer, size)
}

// ar returns an archive in the common form of ar(5): a line of 60 bytes before each
// member, which begins at an even place.
func ar(at time.Time, members []file) []byte {
	var b bytes.Buffer
	b.WriteString("!<arch>\n")
	for _, m := range members {
		fmt.Fprintf(&b, "%-16s%-12d%-6d%-6d%-8o%-10d`\n", m.name, at.Unix(), 0, 0, 0o100000|m.mode.Perm(), len(m.content))
		b.Write(m.content)
		if b.Len()%2 == 1 {
			b.WriteByte('\n')
		}
	}
	return b.Bytes()
}
