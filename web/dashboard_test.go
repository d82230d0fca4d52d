package web

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"fingerpost/static"
)

func newDashboard(t *testing.T) *Dashboard {
	t.Helper()
	d, err := NewDashboard(static.FS, nil)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func ask(d *Dashboard, method, path string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	d.ServeHTTP(w, r)
	return w
}

func TestIndex(t *testing.T) {
	d := newDashboard(t)
	for _, path := range []string{"/ui/", "/ui/index.html", "/some/prefix/ui/"} {
		w := ask(d, http.MethodGet, path)
		if w.Code != http.StatusOK || w.Header().Get("Cache-Control") != "no-cache" || w.Header().Get("Content-Type") != "text/html; charset=utf-8" {
			t.Fatalf("%s: %d %v", path, w.Code, w.Header())
		}
		if got := w.Header().Get("Content-Security-Policy"); got != "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "+
			"connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'" {
			t.Errorf("the policy is %q", got)
		}
		page := w.Body.String()
		if strings.Contains(page, `="./`) || !strings.Contains(page, `src="`+d.Version()+`/app.js"`) {
			t.Errorf("links do not name the version:\n%s", page)
		}
		for _, m := range regexp.MustCompile(`(?:href|src)="([^"d][^"]*)"`).FindAllStringSubmatch(page, -1) {
			if w := ask(d, http.MethodGet, "/ui/"+m[1]); w.Code != http.StatusOK {
				t.Errorf("%s: %d", m[1], w.Code)
			}
		}
	}
	etag := ask(d, http.MethodGet, "/ui/").Header().Get("ETag")
	if w := ask(d, http.MethodGet, "/ui/", "If-None-Match", etag); w.Code != http.StatusNotModified || w.Body.Len() != 0 {
		t.Errorf("the same page again: %d", w.Code)
	}
}

// Who may read gets a page that says so; it must not be taken for the other one.
func TestIndexOfReaders(t *testing.T) {
	d, err := NewDashboard(static.FS, func(r *http.Request) bool { return r.Header.Get("Cookie") != "" })
	if err != nil {
		t.Fatal(err)
	}
	stranger, reader := ask(d, http.MethodGet, "/ui/"), ask(d, http.MethodGet, "/ui/", "Cookie", "a=b")
	if strings.Contains(stranger.Body.String(), "data-reads") || !strings.Contains(reader.Body.String(), "<html data-reads lang=") {
		t.Errorf("a stranger gets\n%s\nand a reader\n%s", stranger.Body, reader.Body)
	}
	for _, etag := range []string{stranger.Header().Get("ETag"), reader.Header().Get("ETag")} {
		asStranger, asReader := ask(d, http.MethodGet, "/ui/", "If-None-Match", etag), ask(d, http.MethodGet, "/ui/", "If-None-Match", etag, "Cookie", "a=b")
		if asStranger.Code == asReader.Code {
			t.Errorf("%s is answered with %d to both", etag, asReader.Code)
		}
	}
}

func TestAssetsAreForEver(t *testing.T) {
	d := newDashboard(t)
	w := ask(d, http.MethodGet, "/ui/"+d.Version()+"/app.js", "Accept-Encoding", "br, gzip;q=0.8")
	if w.Code != http.StatusOK || w.Header().Get("Cache-Control") != "public, max-age=31536000, immutable" ||
		w.Header().Get("Content-Type") != "text/javascript; charset=utf-8" || w.Header().Get("Content-Encoding") != "gzip" {
		t.Fatalf("%d %v", w.Code, w.Header())
	}
	z, err := gzip.NewReader(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	want := d.files["app.js"].plain
	if !bytes.Equal(got, want) {
		t.Error("what comes out of the compression is not what went in")
	}
	for _, no := range []string{"", "br", "gzip;q=0", "identity"} {
		w := ask(d, http.MethodGet, "/ui/"+d.Version()+"/app.js", "Accept-Encoding", no)
		if w.Header().Get("Content-Encoding") != "" || !bytes.Equal(w.Body.Bytes(), want) {
			t.Errorf("Accept-Encoding %q gets %v", no, w.Header())
		}
	}
	if w := ask(d, http.MethodHead, "/ui/"+d.Version()+"/style.css"); w.Code != http.StatusOK || w.Body.Len() != 0 || w.Header().Get("Content-Length") == "0" {
		t.Errorf("HEAD: %d, %d bytes", w.Code, w.Body.Len())
	}
}

func TestWhatIsNotThere(t *testing.T) {
	d := newDashboard(t)
	for path, want := range map[string]int{
		"/ui/v-0000000000000000/app.js":              http.StatusNotFound,
		"/ui/" + d.Version() + "/nothing.js":         http.StatusNotFound,
		"/ui/" + d.Version() + "/lib/store.js":       http.StatusNotFound, // it is in app.js; twice there would be two stores
		"/ui/" + d.Version() + "/index.html":         http.StatusNotFound,
		"/ui/" + d.Version() + "/":                   http.StatusNotFound,
		"/ui/" + d.Version() + "/../../etc/passwd":   http.StatusNotFound,
		"/ui/" + d.Version() + "/vendor/recipe/x.js": http.StatusNotFound,
		"/ui/app.js": http.StatusNotFound,
	} {
		if w := ask(d, http.MethodGet, path); w.Code != want || w.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %d %v", path, w.Code, w.Header())
		}
	}
	if w := ask(d, http.MethodPost, "/ui/"); w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") != "GET, HEAD" {
		t.Errorf("POST: %d", w.Code)
	}
}

// Everything compressed is at most 100 KB, and the first view needs few requests.
func TestBudgets(t *testing.T) {
	d := newDashboard(t)
	total := len(d.index.zipped())
	for name, a := range d.files {
		switch {
		case strings.HasSuffix(name, ".txt"): // licences are there to be read, not loaded
		case a.zipped() != nil:
			total += len(a.zipped())
		default:
			total += len(a.plain)
		}
	}
	t.Logf("assets: %d bytes compressed", total)
	if total > 100<<10 {
		t.Errorf("assets are %d bytes compressed, more than 100 KB", total)
	}
	page := string(d.index.plain)
	requests := 1 + len(regexp.MustCompile(`<link rel="stylesheet"|<script `).FindAllString(page, -1))
	const calls = 9 // whoami, the websocket, stats, health, peers, conflicts, events twice, version
	t.Logf("first view: %d requests", requests+calls)
	if requests+calls > 15 {
		t.Errorf("the first view takes %d requests", requests+calls)
	}
}

func TestVersionFollowsTheFiles(t *testing.T) {
	of := func(app string) string {
		d, err := NewDashboard(fstest.MapFS{"index.html": {Data: []byte("<head></head>")}, "app.js": {Data: []byte("// " + app)}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return d.Version()
	}
	if first, again := of("a"), of("a"); first != again || first == of("b") {
		t.Error("versions do not follow the files")
	}
	for _, f := range []fstest.MapFS{{"app.js": {}}, {"index.html": {}}} {
		if _, err := NewDashboard(f, nil); err == nil || !strings.Contains(err.Error(), "is missing") {
			t.Errorf("%v: %v", f, err)
		}
	}
}

func TestLighten(t *testing.T) {
	in := `// Why this is here.
import { a } from './a.js'; // stays

/**
 * What f promises.
 */
export function f() {
  /* one line */
  const url = 'http://x'; /* stays */
  return url;
}
/* a
   block */
last();
`
	want := `import { a } from './a.js'; // stays
export function f() {
const url = 'http://x'; /* stays */
return url;
}
last();
`
	if got := string(lighten("lib/f.js", []byte(in))); got != want {
		t.Errorf("got\n%s", got)
	}
	for _, name := range []string{"vendor/preact.js", "LICENSE.txt"} {
		if got := string(lighten(name, []byte(in))); got != in {
			t.Errorf("%s is changed", name)
		}
	}
}
