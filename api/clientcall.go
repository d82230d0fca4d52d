package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// request is one question to the server.
type request struct {
	method string
	path   []string // below /api/v1, each part as it is
	query  url.Values
	body   any    // nil is none
	raw    string // a body of plain text instead
	text   bool   // whether raw is the body
	read   Read
	write  Write
	absent bool // whether the thing must not be there yet
	accept string
	root   bool // whether path is below the base itself
	fine   int  // a status that is an answer although it is none of success
}

// at makes a request that reads.
func at(path ...string) request { return request{method: http.MethodGet, path: path} }

func (r request) with(q url.Values) request { r.query = q; return r }

func (r request) reading(how Read) request { r.read = how; return r }

func (r request) writing(method string, how Write) request {
	r.method, r.write = method, how
	r.query = how.Effect.dry(orNone(r.query))
	return r
}

func (r request) saying(body any) request { r.body = body; return r }

func orNone(q url.Values) url.Values {
	if q == nil {
		return url.Values{}
	}
	return q
}

// fetch asks and reads the answer as a T.
func fetch[T any](ctx context.Context, c *Client, r request) (*T, error) {
	out := new(T)
	return out, or(out, c.do(ctx, r, out))
}

// or returns err. A value that came with an error is emptied, so that nobody uses it.
func or[T any](out *T, err error) error {
	if err != nil {
		*out = *new(T)
	}
	return err
}

// do asks and reads the answer into out, unless that is nil.
func (c *Client) do(ctx context.Context, r request, out any) error {
	resp, err := c.send(ctx, r) //nolint:bodyclose // drain closes it
	if err != nil {
		return err
	}
	defer drain(resp.Body)
	state := r.read.State
	if r.method != http.MethodGet {
		state = r.write.State
	}
	switch {
	case resp.StatusCode == http.StatusNotModified:
		noted(state, resp)
		return ErrUnchanged
	case resp.StatusCode/100 != 2 && resp.StatusCode != r.fine:
		return c.refused(resp)
	}
	body, err := c.bounded(resp.Body)
	if err != nil {
		return fmt.Errorf("api: %s %s: %w", r.method, resp.Request.URL.Path, err)
	}
	if out != nil {
		if err := json.Unmarshal(body, out); err != nil {
			return fmt.Errorf("api: the answer to %s %s: %w", r.method, resp.Request.URL.Path, err)
		}
	}
	if r.write.Effect == Apply {
		noted(state, resp)
	}
	return nil
}

// noted fills a state from the headers of an answer.
func noted(s *State, resp *http.Response) {
	if s != nil {
		*s = State{ETag: resp.Header.Get("ETag"), Revision: resp.Header.Get("Namesrv-Revision")}
	}
}

// drain reads what is left of a small body, so that the connection can be used again.
func drain(body io.ReadCloser) {
	_, _ = io.CopyN(io.Discard, body, 64<<10)
	_ = body.Close()
}

// send asks. The caller closes the body.
func (c *Client) send(ctx context.Context, r request) (*http.Response, error) {
	target, err := c.target(&r)
	if err != nil {
		return nil, err
	}
	body, contentType, err := r.encoded()
	if err != nil {
		return nil, fmt.Errorf("api: encode the request: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, r.method, target, body)
	if err != nil {
		return nil, fmt.Errorf("api: %w", err)
	}
	c.head(req, &r, contentType)
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, fmt.Errorf("api: %w", err)
	}
	return resp, nil
}

func (c *Client) target(r *request) (string, error) {
	var b strings.Builder
	b.WriteString(c.base)
	if !r.root {
		b.WriteString("/api/v1")
	}
	for _, part := range r.path {
		if part == "" || part == "." || part == ".." {
			return "", fmt.Errorf("api: %q cannot be a part of a path", part)
		}
		b.WriteString("/" + url.PathEscape(part))
	}
	if r.read.Wait > 0 {
		r.query = set(orNone(r.query), "wait", r.read.Wait.String())
	}
	if len(r.query) > 0 {
		b.WriteString("?" + r.query.Encode())
	}
	return b.String(), nil
}

func (r *request) encoded() (body io.Reader, contentType string, err error) {
	switch {
	case r.text:
		return strings.NewReader(r.raw), "text/plain; charset=utf-8", nil
	case r.body == nil:
		return nil, "", nil
	}
	b, err := json.Marshal(r.body)
	return bytes.NewReader(b), "application/json", err
}

func (c *Client) head(req *http.Request, r *request, contentType string) {
	set := func(name, value string) {
		if value != "" {
			req.Header.Set(name, value)
		}
	}
	set("Content-Type", contentType)
	set("User-Agent", c.o.Agent)
	set("Accept-Language", c.o.Language)
	set("Accept", "application/json")
	set("Accept", r.accept)
	if s := r.read.State; s != nil {
		set("If-None-Match", s.ETag)
	}
	if s := r.write.State; s != nil {
		set("If-Match", s.ETag)
	}
	if r.absent {
		set("If-None-Match", "*")
	}
	switch {
	case c.o.Token != "":
		set("Authorization", "Bearer "+c.o.Token)
	case c.o.Name != "":
		req.SetBasicAuth(c.o.Name, c.o.Password)
	}
}

// errTooLong is what comes of an answer beyond Options.MaxBody.
var errTooLong = errors.New("the answer is longer than Options.MaxBody")

func (c *Client) bounded(body io.Reader) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(body, c.o.MaxBody+1))
	if err == nil && int64(len(b)) > c.o.MaxBody {
		err = errTooLong
	}
	return b, err
}

// CodeForeignAnswer is the code of a [Problem] that the client makes of an answer that
// is not the API's: something else is at that address, or a proxy stands in between.
const CodeForeignAnswer = "foreign-answer"

// maxProblem bounds what is read of an error's body.
const maxProblem = 1 << 20

// refused makes the error of an answer that is none of success.
func (c *Client) refused(resp *http.Response) error {
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxProblem)) // what came tells enough
	p := new(Problem)
	typed := strings.HasPrefix(resp.Header.Get("Content-Type"), "application/problem+json")
	if !typed || json.Unmarshal(body, p) != nil || p.Code == "" {
		p = &Problem{
			Type: "about:blank", Title: http.StatusText(resp.StatusCode), Code: CodeForeignAnswer,
			Detail: fmt.Sprintf("answered %s with %q: %.200s", resp.Status, resp.Header.Get("Content-Type"), body),
		}
	}
	p.Status = resp.StatusCode
	if s, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && s > 0 {
		p.RetryAfter = time.Duration(min(s, 86400)) * time.Second
	}
	return p
}
