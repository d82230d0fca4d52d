package web

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"path"
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
	mayRead func(*http.Request) bool
	index   *asset            // for whoever has to log in first
	open    *asset            // the same page for those who may read: its feed begins at once
	files   map[string]*asset // by path below the version
}

type asset struct {
	contentType string
	etag        string // of the pages only: files have a version in their address
	plain       []byte
	// zipped is plain with gzip, or nil where that would not be smaller. It is made
	// when it is first asked for: compressing everything would double the start-up.
	zipped func() []byte
}

// NewDashboard loads the files of fsys, which has an index.html that begins its links
// with "./" and an app.js. Modules are joined to two scripts and style sheets to one.
// It fails if a file is missing, or for a module that cannot be joined.
//
// mayRead tells whether who sends a request would be let into the feed; nil says no. The
// page then opens its feed before it has asked who its reader is. It decides nothing: the
// feed asks again.
func NewDashboard(fsys fs.FS, mayRead func(*http.Request) bool) (*Dashboard, error) {
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
	for _, name := range []string{indexPage, firstScript} {
		if _, ok := sources[name]; !ok {
			return nil, fmt.Errorf("load the dashboard's files: %s is missing", name)
		}
	}
	d := &Dashboard{files: make(map[string]*asset), version: "v-" + hashOf(sources), mayRead: mayRead}
	if mayRead == nil {
		d.mayRead = func(*http.Request) bool { return false }
	}
	for name, text := range sources {
		sources[name] = lighten(name, text)
	}
	index, style, err := joinStyles(sources[indexPage], sources)
	if err != nil {
		return nil, err
	}
	page := bytes.ReplaceAll(index, []byte(`="./`), []byte(`="`+d.version+`/`))
	d.index, d.open = newAsset(indexPage, page), newAsset(indexPage, bytes.Replace(page, []byte("<html "), []byte("<html data-reads "), 1))
	d.index.etag, d.open.etag = `"`+d.version+`"`, `"`+d.version+`-reads"`
	d.files[styleSheet] = newAsset(styleSheet, style)
	for name, text := range sources {
		// A script before the modules is none of them; a licence is there to be read.
		if bytes.Contains(index, []byte(`<script src="./`+name+`">`)) || path.Ext(name) == ".txt" {
			d.files[name] = newAsset(name, text)
			delete(sources, name)
		}
	}
	first, rest, err := join(sources)
	if err != nil {
		return nil, err
	}
	d.files[firstScript], d.files[restScript] = newAsset(firstScript, first), newAsset(restScript, rest)
	return d, nil
}

const indexPage = "index.html"

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

// Compress makes the compressed forms that are otherwise made when somebody asks, so that
// the first reader does not wait for them, one after another until ctx ends. It takes some
// tens of milliseconds.
func (d *Dashboard) Compress(ctx context.Context) {
	all := append([]*asset{d.index, d.open}, slices.Collect(maps.Values(d.files))...)
	for _, a := range all {
		if ctx.Err() != nil {
			return
		}
		a.zipped()
	}
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
	if name == "" || name == indexPage {
		page := d.index
		if d.mayRead(r) {
			page = d.open
		}
		h.Set("Cache-Control", "no-cache")
		h.Set("ETag", page.etag)
		if r.Header.Get("If-None-Match") == page.etag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		page.serve(w, r)
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
