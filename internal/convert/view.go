package convert

import (
	"crypto/sha256"
	"encoding/hex"
	"time"

	"fingerpost/registry"
)

// View is a snapshot seen at one moment. What it returns is fit to be encoded.
type View struct {
	*registry.Snapshot
	// Now decides what is late and how much time is left.
	Now time.Time
	// VersionName names the version number that a peer sent; nil names none.
	VersionName func(int) string
}

// Revision writes a revision of the view's epoch.
func (v *View) Revision(revision uint64) string {
	return registry.FormatRevision(v.Epoch, revision)
}

// At is the snapshot's own revision.
func (v *View) At() string { return v.Revision(v.Snapshot.Revision) }

// PermText writes a perm in letters, R for reading, W for writing, X for inheriting.
func PermText(perm int32) string {
	b := []byte("---")
	for i, p := range []struct {
		bit    int32
		letter byte
	}{{registry.PermRead, 'R'}, {registry.PermWrite, 'W'}, {registry.PermInherit, 'X'}} {
		if perm&p.bit != 0 {
			b[i] = p.letter
		}
	}
	return string(b)
}

// Digest shortens what identifies a content to 16 hexadecimal digits.
func Digest(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:8])
}
