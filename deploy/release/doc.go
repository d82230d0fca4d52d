// Command release builds what is published of one commit: an archive for each platform, a
// Debian package for each architecture of Linux, what each of them is made of (CycloneDX),
// and the SHA-256 of it all.
//
// The same commit, built by the same release of Go, gives the same bytes on any machine:
// nothing of the machine's paths, time, users or version control is in them.
package main
