package openapi

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi2"
	"github.com/getkin/kin-openapi/openapi2conv"
	"github.com/getkin/kin-openapi/openapi3"
)

func TestDescriptionIsValid(t *testing.T) {
	doc, err := openapi3.NewLoader().LoadFromData(description)
	if err != nil {
		t.Fatal(err)
	}
	if err := doc.Validate(t.Context()); err != nil {
		t.Error(err)
	}
	if !strings.HasPrefix(doc.OpenAPI, "3.1.") {
		t.Errorf("it is OpenAPI %s", doc.OpenAPI)
	}
}

func TestSwaggerIsValid(t *testing.T) {
	var old openapi2.T
	if err := json.Unmarshal(swagger, &old); err != nil {
		t.Fatal(err)
	}
	doc, err := openapi2conv.ToV3(&old)
	if err != nil {
		t.Fatal(err)
	}
	if err := doc.Validate(t.Context()); err != nil {
		t.Error(err)
	}
	full, err := openapi3.NewLoader().LoadFromData(description)
	if err != nil {
		t.Fatal(err)
	}
	for path, item := range full.Paths.Map() {
		for method := range item.Operations() {
			if x := old.Paths[path]; x == nil || x.GetOperation(method) == nil {
				t.Errorf("%s %s is missing", method, path)
			}
		}
	}
}

func TestEveryOperationSaysWhatItIs(t *testing.T) {
	doc, err := openapi3.NewLoader().LoadFromData(description)
	if err != nil {
		t.Fatal(err)
	}
	ids := make(map[string]string)
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			name := method + " " + path
			if op.Summary == "" || len(op.Tags) != 1 || op.OperationID == "" || op.Security == nil || op.Extensions["x-role"] == nil {
				t.Errorf("%s has no summary, tag, id, security or role", name)
			}
			if other := ids[op.OperationID]; other != "" {
				t.Errorf("%s and %s are both called %s", name, other, op.OperationID)
			}
			ids[op.OperationID] = name
			for status, r := range op.Responses.Map() {
				if r.Value.Description == nil || *r.Value.Description == "" {
					t.Errorf("%s: %s has no description", name, status)
				}
				if status >= "400" && r.Value.Content["application/json"] != nil && r.Value.Content["application/problem+json"] == nil {
					t.Errorf("%s: %s is JSON, but no problem", name, status)
				}
			}
			for _, p := range op.Parameters {
				if p.Value.Description == "" || p.Value.Schema == nil {
					t.Errorf("%s: the parameter %s has no description or schema", name, p.Value.Name)
				}
			}
		}
	}
}

func get(t *testing.T, h http.Handler, method string, headers ...string) *http.Response {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, "/openapi.json", nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result()
}

func body(t *testing.T, r io.Reader) []byte {
	t.Helper()
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestServing(t *testing.T) {
	h := Handler("")
	plain := get(t, h, "GET")
	if got := body(t, plain.Body); !bytes.Equal(got, description) || plain.Header.Get("Content-Type") != "application/json" {
		t.Errorf("%d bytes of %s, not the description", len(got), plain.Header.Get("Content-Type"))
	}
	zipped := get(t, h, "GET", "Accept-Encoding", "br, gzip")
	z, err := gzip.NewReader(zipped.Body)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(body(t, z), description) {
		t.Error("the compressed form is another text")
	}
	if zipped.Header.Get("Etag") == plain.Header.Get("Etag") {
		t.Error("two forms with other bytes have one ETag")
	}
	if r := get(t, h, "GET", "Accept-Encoding", "gzip;q=0"); r.Header.Get("Content-Encoding") != "" {
		t.Error("compressed although the caller does not take that")
	}
	for _, r := range []*http.Response{plain, zipped} {
		if again := get(t, h, "GET", "If-None-Match", r.Header.Get("Etag")); again.StatusCode != http.StatusNotModified || len(body(t, again.Body)) > 0 {
			t.Errorf("asked again for %s: %d", r.Header.Get("Etag"), again.StatusCode)
		}
	}
	if head := get(t, h, "HEAD"); len(body(t, head.Body)) > 0 || head.Header.Get("Content-Length") != plain.Header.Get("Content-Length") {
		t.Error("HEAD is not GET without its body")
	}
}

func TestBasePathIsNamed(t *testing.T) {
	var doc struct {
		Servers  []struct{ URL string }
		BasePath string
	}
	if err := json.Unmarshal(body(t, get(t, Handler("/mq"), "GET").Body), &doc); err != nil {
		t.Fatal(err)
	}
	if doc.Servers[0].URL != "/mq/" {
		t.Errorf("the server is %q", doc.Servers[0].URL)
	}
	if err := json.Unmarshal(body(t, get(t, SwaggerHandler("/mq"), "GET").Body), &doc); err != nil {
		t.Fatal(err)
	}
	if doc.BasePath != "/mq/" {
		t.Errorf("the base path is %q", doc.BasePath)
	}
}
