// Package openapi is the description of the REST API, for programs: OpenAPI 3.1, and the
// same as Swagger 2.0 for tools that read nothing newer. Both are made from the comments
// at the handlers and from the server's own table of operations; see gen. Go generate
// writes them anew, and CI fails if that makes a difference.
package openapi

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	_ "embed" // the descriptions are part of the program
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
	"sync"
)

//go:generate go run ./gen

var (
	//go:embed openapi.json
	description []byte
	//go:embed swagger.json
	swagger []byte
)

// Handler serves the description in OpenAPI 3.1. base is the path below which the server
// answers, "" if there is none: the description names it.
func Handler(base string) http.Handler {
	return serve(description, `"url": "/"`, `"url": `+strconv.Quote(base+"/"))
}

// SwaggerHandler serves the description in Swagger 2.0. base is as in [Handler].
func SwaggerHandler(base string) http.Handler {
	return serve(swagger, `"basePath": "/"`, `"basePath": `+strconv.Quote(base+"/"))
}

// document is a description as it goes out.
type document struct {
	plain, zipped []byte
	etag          string
}

// serve serves the text with one place replaced. It is made ready when it is first asked
// for, which is never on most servers.
func serve(text []byte, old, with string) http.Handler {
	ready := sync.OnceValue(func() *document {
		text := bytes.Replace(text, []byte(old), []byte(with), 1)
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		_, _ = w.Write(text) // a buffer takes everything
		_ = w.Close()
		sum := sha256.Sum256(text)
		return &document{plain: text, zipped: b.Bytes(), etag: hex.EncodeToString(sum[:8])}
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { ready().answer(w, r) })
}

// answer answers GET and HEAD.
func (d *document) answer(w http.ResponseWriter, r *http.Request) {
	hd := w.Header()
	hd.Set("Vary", "Accept-Encoding")
	hd.Set("Cache-Control", "no-cache")
	body, tag := d.plain, `"`+d.etag+`"`
	zip := zips(r.Header.Get("Accept-Encoding"))
	if zip {
		body, tag = d.zipped, `"`+d.etag+`-gz"`
	}
	hd.Set("ETag", tag)
	if strings.Contains(r.Header.Get("If-None-Match"), d.etag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	if zip {
		hd.Set("Content-Encoding", "gzip")
	}
	hd.Set("Content-Type", "application/json")
	hd.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(http.StatusOK)
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) // the peer may be gone
	}
}

// zips reports whether the caller takes gzip.
func zips(accept string) bool {
	for part := range strings.SplitSeq(accept, ",") {
		name, q, _ := strings.Cut(strings.ReplaceAll(part, " ", ""), ";")
		if strings.EqualFold(name, "gzip") && q != "q=0" {
			return true
		}
	}
	return false
}
