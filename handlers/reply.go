package handlers

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"iter"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"fingerpost/registry"
)

// reply is what a handler answers. The encoder makes the one form of it that is asked
// for; what makes another form is not run.
type reply struct {
	// status is 200 if it is 0. body is what is encoded as JSON; a nil body is none.
	status int
	body   any
	// raw is the body already encoded, with its final newline; it is shared.
	raw []byte
	// text makes the form for people, lines the values of the form with one a line.
	text  func() []byte
	lines iter.Seq[any]
	// etag names the state of the resource, without quotes; "" has none. weak tells
	// that equal ETags do not mean equal bytes. quoted, if there is one, is etag ready
	// for the header.
	etag   string
	weak   bool
	quoted []string
	// keys are what a long poll for this resource waits for.
	keys []hubKey
	// link and location are headers of that name.
	link, location string
	// revision is that which contains a change; 0 is the snapshot's.
	revision uint64
	// cookie is set, if there is one.
	cookie *http.Cookie
	// contentType and maxAge are for what is not the API's: pages and the like.
	contentType string
}

// answer writes a reply.
func (c *call) answer(rep reply) {
	hd := c.Header()
	if rep.revision != 0 {
		hd["Namesrv-Revision"] = []string{c.revision(rep.revision)}
	}
	if c.dry {
		hd["Namesrv-Dry-Run"] = []string{"true"}
	}
	if rep.link != "" {
		hd["Link"] = []string{rep.link}
	}
	if rep.location != "" {
		hd["Location"] = []string{rep.location}
	}
	if rep.cookie != nil {
		http.SetCookie(c, rep.cookie)
	}
	c.vary()
	hd["Cache-Control"] = noStore
	if rep.etag != "" {
		hd["Cache-Control"] = noCache
	}
	status := rep.status
	if status == 0 {
		status = http.StatusOK
	}
	reading := c.r.Method == http.MethodGet || c.r.Method == http.MethodHead
	if rep.etag != "" && reading && c.unchanged(&rep) {
		hd["Etag"] = c.tag(&rep, false)
		c.WriteHeader(http.StatusNotModified)
		return
	}
	body, contentType := c.encode(&rep)
	zipped := false
	if len(body) > gzipFrom && c.takesGzip() {
		body, zipped = compress(body), true
		hd["Content-Encoding"] = []string{"gzip"}
	}
	if rep.etag != "" {
		hd["Etag"] = c.tag(&rep, zipped)
	}
	if contentType != nil {
		hd["Content-Type"] = contentType
		if len(body) >= countedByServer || c.r.Method == http.MethodHead {
			hd["Content-Length"] = []string{strconv.Itoa(len(body))}
		}
	}
	c.WriteHeader(status)
	if c.r.Method != http.MethodHead && len(body) > 0 {
		c.send(body)
	}
}

// countedByServer is from where on net/http does not find out the length of a body by
// itself: it buffers 2048 bytes. Below it the header is left to it, because a map of
// nine headers is twice as large as one of eight.
const countedByServer = 2048

// revision writes a revision of this process for a header or a body.
func (c *call) revision(n uint64) string { return registry.FormatRevision(c.snap.Epoch, n) }

// revisionHeader is the last revision that was written as a header. Most requests find
// the registry as those before them did.
type revisionHeader struct {
	revision uint64
	values   []string // shared and never changed
}

// atRevision names the revision that the call has read.
func (c *call) atRevision() {
	at := c.h.lastRevision.Load()
	if at == nil || at.revision != c.snap.Revision {
		at = &revisionHeader{c.snap.Revision, []string{c.revision(c.snap.Revision)}}
		c.h.lastRevision.Store(at)
	}
	c.Header()["Namesrv-Revision"] = at.values
}

// bufferedWrite is what a connection takes without its peer reading.
const bufferedWrite = 16 << 10

// writeTimeout is how long a peer may take for an answer, or for a piece of a stream.
const writeTimeout = 30 * time.Second

// send writes a body. A large one has a time by which the peer must have taken it.
func (c *call) send(body []byte) {
	if len(body) > bufferedWrite {
		rc := http.NewResponseController(c.ResponseWriter)
		_ = rc.SetWriteDeadline(time.Now().Add(writeTimeout)) // a recorder has none
		defer rc.SetWriteDeadline(time.Time{})
	}
	_, _ = c.Write(body) // the peer may be gone
}

// encode makes the body in the form that is asked for.
func (c *call) encode(rep *reply) ([]byte, []string) {
	switch {
	case rep.contentType != "":
		return rep.raw, []string{rep.contentType}
	case c.form == formText && rep.text != nil:
		return rep.text(), typeText
	case c.form == formLines && rep.lines != nil:
		var b bytes.Buffer
		for v := range rep.lines {
			b.Write(encodeJSON(v, false))
		}
		return b.Bytes(), typeLines
	}
	pretty := c.query.has(paramPretty) && c.query.choice(paramPretty, true)
	switch {
	case rep.raw != nil && pretty:
		return indent(rep.raw), typeJSON
	case rep.raw != nil:
		return rep.raw, typeJSON
	case rep.body == nil:
		return nil, nil
	}
	return encodeJSON(rep.body, pretty), typeJSON
}

// encodeJSON returns v as JSON with a newline at the end. Every value that is encoded is
// made of plain structs, so it cannot fail.
func encodeJSON(v any, pretty bool) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if pretty {
		e.SetIndent("", "  ")
	}
	if err := e.Encode(v); err != nil {
		panic("handlers: encode an answer: " + err.Error())
	}
	return b.Bytes()
}

func indent(raw []byte) []byte {
	var b bytes.Buffer
	if err := json.Indent(&b, raw, "", "  "); err != nil {
		return raw
	}
	return b.Bytes()
}

// tag returns the ETag header. The compressed form of a strong one differs in bytes
// and therefore in name.
func (c *call) tag(rep *reply, zipped bool) []string {
	if rep.quoted != nil && !zipped && c.form == formJSON && len(c.query.values) == 0 {
		return rep.quoted
	}
	return []string{c.quotedTag(rep, zipped)}
}

func (c *call) quotedTag(rep *reply, zipped bool) string {
	weak := rep.weak || c.form == formText // it shows how much time is left
	t := `"` + rep.etag + c.shape()
	if zipped && !weak {
		t += zippedSuffix
	}
	if t += `"`; weak {
		t = "W/" + t
	}
	return t
}

const zippedSuffix = "-gz"

// shape tells forms of one resource apart: everything in the query that shapes the
// body, and the form itself. It is empty for what most ask for.
func (c *call) shape() string {
	var shaping []byte
	for _, k := range sortedKeys(c.query.values) {
		if k == paramWait || k == paramFormat {
			continue
		}
		for _, v := range c.query.values[k] {
			shaping = append(append(append(append(shaping, k...), '='), v...), 0)
		}
	}
	if len(shaping) == 0 && c.form == formJSON {
		return ""
	}
	sum := sha256.Sum256(append(shaping, byte(c.form)))
	return "-" + hex.EncodeToString(sum[:4])
}

// unchanged reports whether the caller already has what the reply says.
func (c *call) unchanged(rep *reply) bool {
	have := c.r.Header["If-None-Match"]
	return len(have) > 0 && matchesTag(have, c.quotedTag(rep, false))
}

// matchesTag compares ETags weakly, whatever the encoding they were sent in.
func matchesTag(have []string, tag string) bool {
	tag = bareTag(tag)
	for _, line := range have {
		for one := range strings.SplitSeq(line, ",") {
			if one = strings.TrimSpace(one); one == "*" || bareTag(one) == tag {
				return true
			}
		}
	}
	return false
}

// matchesBase compares the ETags of If-Match with the state that a resource is in now,
// whatever form of it the caller has read.
func matchesBase(have []string, base string) bool {
	for _, line := range have {
		for one := range strings.SplitSeq(line, ",") {
			one = strings.TrimSpace(one)
			if state, _, _ := strings.Cut(bareTag(one), "-"); one == "*" || state == base {
				return true
			}
		}
	}
	return false
}

func bareTag(t string) string {
	t = strings.Trim(strings.TrimPrefix(t, "W/"), `"`)
	return strings.TrimSuffix(t, zippedSuffix)
}

// gzipFrom is the size from which an answer is compressed.
const gzipFrom = 1 << 10

func (c *call) takesGzip() bool {
	for part := range strings.SplitSeq(c.r.Header.Get("Accept-Encoding"), ",") {
		if what, q := weighted(part); q > 0 && (strings.EqualFold(what, "gzip") || what == "*") {
			return true
		}
	}
	return false
}

var zippers = sync.Pool{New: func() any {
	w, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed) // the level exists
	return w
}}

func compress(body []byte) []byte {
	var b bytes.Buffer
	w := zippers.Get().(*gzip.Writer)
	defer zippers.Put(w)
	w.Reset(&b)
	_, _ = w.Write(body) // a buffer takes everything
	_ = w.Close()
	return b.Bytes()
}
