package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Mount is the path below which the dashboard is served. What stands before it, such
// as the prefix of a reverse proxy, does not matter: the page's addresses are relative.
const Mount = "/ui/"

// policy lets the page load what the server itself serves and nothing else, and keeps
// text from ever becoming markup or script.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// Dashboard serves the dashboard's files. It holds no data of the registry, so it
// needs no credentials. It may be used by many goroutines.
type Dashboard struct {
	version string // "v-" and the hash of all files
	etag    string
	index   *asset
	files   map[string]*asset // by path below the version
}

type asset struct {
	contentType string
	plain       []byte
	// zipped is plain with gzip, or nil where that would not be smaller. It is made
	// when it is first asked for: compressing everything would double the start-up.
	zipped func() []byte
}

// NewDashboard loads the files of fsys, which has an index.html that begins its links
// with "./" and an app.js. It fails if one of those is missing.
func NewDashboard(fsys fs.FS) (*Dashboard, error) {
	sources := make(map[string][]byte)
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		sources[name], err = fs.ReadFile(fsys, name)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("load the dashboard's files: %w", err)
	}
	index, ok := sources["index.html"]
	if !ok {
		return nil, fmt.Errorf("load the dashboard's files: index.html is missing")
	}
	if _, ok := sources["app.js"]; !ok {
		return nil, fmt.Errorf("load the dashboard's files: app.js is missing")
	}
	d := &Dashboard{files: make(map[string]*asset, len(sources))}
	d.version = "v-" + hashOf(sources)
	d.etag = `"` + d.version + `"`
	d.index = newAsset("index.html", linkIndex(index, d.version, preloads(sources)))
	delete(sources, "index.html")
	for name, text := range sources {
		d.files[name] = newAsset(name, lighten(name, text))
	}
	return d, nil
}

// hashOf is equal for equal files under equal names.
func hashOf(sources map[string][]byte) string {
	h := sha256.New()
	for _, name := range sortedNames(sources) {
		sum := sha256.Sum256(sources[name])
		fmt.Fprintf(h, "%s\x00%x\n", name, sum)
	}
	return hex.EncodeToString(h.Sum(nil))[:16]
}

func sortedNames(sources map[string][]byte) []string {
	names := make([]string, 0, len(sources))
	for name := range sources {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// linkIndex points the page's links at this version and has the browser fetch the
// modules of the first view at once instead of one import after the other.
func linkIndex(index []byte, version string, modules []string) []byte {
	var links strings.Builder
	for _, m := range modules {
		fmt.Fprintf(&links, "<link rel=\"modulepreload\" href=\"./%s\">\n", m)
	}
	text := strings.Replace(string(index), "</head>", links.String()+"</head>", 1)
	return []byte(strings.ReplaceAll(text, `="./`, `="`+version+`/`))
}

// importOf finds the relative static imports of a module; import() is none.
var importOf = regexp.MustCompile(`(?m)^(?:import|export)\b[^'"(]*['"](\.[^'"]+)['"]`)

// preloads are the modules that app.js reaches by static imports, itself last.
func preloads(sources map[string][]byte) []string {
	var out []string
	seen := make(map[string]bool)
	var visit func(name string)
	visit = func(name string) {
		if seen[name] {
			return
		}
		seen[name] = true
		for _, m := range importOf.FindAllSubmatch(sources[name], -1) {
			visit(path.Join(path.Dir(name), string(m[1])))
		}
		out = append(out, name)
	}
	visit("app.js")
	return out
}

var contentTypes = map[string]string{
	".css":  "text/css; charset=utf-8",
	".html": "text/html; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".txt":  "text/plain; charset=utf-8",
}

func newAsset(name string, text []byte) *asset {
	a := &asset{
		contentType: contentTypes[path.Ext(name)], plain: text,
		zipped: sync.OnceValue(func() []byte { return zip(text) }),
	}
	if a.contentType == "" {
		a.contentType = "application/octet-stream"
	}
	return a
}

func zip(text []byte) []byte {
	var buf bytes.Buffer
	z, _ := gzip.NewWriterLevel(&buf, gzip.BestCompression) // fails for a bad level only
	_, _ = z.Write(text)                                    // a buffer takes everything
	_ = z.Close()
	if buf.Len() >= len(text) {
		return nil
	}
	return buf.Bytes()
}

// Version names the set of files: equal files have equal versions.
func (d *Dashboard) Version() string { return d.version }

// ServeHTTP answers paths that have [Mount] in them.
func (d *Dashboard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Permissions-Policy", "")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("X-Content-Type-Options", "nosniff")
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		h.Set("Allow", "GET, HEAD")
		http.Error(w, "the dashboard's files can only be read", http.StatusMethodNotAllowed)
		return
	}
	_, name, _ := strings.Cut(r.URL.Path, Mount)
	if name == "" || name == "index.html" {
		h.Set("Cache-Control", "no-cache")
		h.Set("ETag", d.etag)
		if r.Header.Get("If-None-Match") == d.etag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		d.index.serve(w, r)
		return
	}
	version, name, _ := strings.Cut(name, "/")
	a, ok := d.files[name]
	if !ok || version != d.version {
		// A page that was open while the server was replaced asks for files that are
		// gone; it tells its reader to load it again.
		h.Set("Cache-Control", "no-store")
		http.Error(w, "no such file in this version of the dashboard", http.StatusNotFound)
		return
	}
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	a.serve(w, r)
}

func (a *asset) serve(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", a.contentType)
	h.Add("Vary", "Accept-Encoding")
	body := a.plain
	if acceptsGzip(r.Header.Get("Accept-Encoding")) {
		if z := a.zipped(); z != nil {
			h.Set("Content-Encoding", "gzip")
			body = z
		}
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) // the reader may have gone
	}
}

func acceptsGzip(header string) bool {
	for part := range strings.SplitSeq(header, ",") {
		coding, params, _ := strings.Cut(strings.TrimSpace(part), ";")
		if strings.EqualFold(strings.TrimSpace(coding), "gzip") {
			q := strings.ReplaceAll(params, " ", "")
			return q != "q=0" && q != "q=0.0" && q != "q=0.00" && q != "q=0.000"
		}
	}
	return false
}
