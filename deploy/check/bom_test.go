package check

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// TestBillsOfMaterials reads those of a release with CycloneDX's own package.
func TestBillsOfMaterials(t *testing.T) {
	dist := os.Getenv("FINGERPOST_DIST")
	if dist == "" {
		t.Skip("SKIPPED: FINGERPOST_DIST names no release; .ci/run package makes one")
	}
	files, err := filepath.Glob(filepath.Join(dist, "*.cdx.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s holds none: %v", dist, err)
	}
	for _, name := range files {
		text := read(t, name)
		var b cdx.BOM
		if err := cdx.NewBOMDecoder(bytes.NewReader(text), cdx.BOMFileFormatJSON).Decode(&b); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		// What this package does not know of our file would be lost on the way.
		var again bytes.Buffer
		if err := cdx.NewBOMEncoder(&again, cdx.BOMFileFormatJSON).SetPretty(true).SetEscapeHTML(true).Encode(&b); err != nil {
			t.Fatal(err)
		}
		if b.SpecVersion != cdx.SpecVersion1_6 || b.Components == nil || len(*b.Components) < 5 {
			t.Errorf("%s: version %s, %d bytes", name, b.SpecVersion, again.Len())
		}
		for _, c := range *b.Components {
			if c.PackageURL == "" || c.Version == "" || c.Licenses == nil {
				t.Errorf("%s: %s lacks its address, version or licence", name, c.Name)
			}
		}
	}
}
