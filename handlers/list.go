package handlers

import (
	"encoding/base64"
	"encoding/json"
	"iter"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"fingerpost/internal/convert"
)

// listParams are the parameters of every list.
const listParams = "limit after "

// page is the part of a list that is asked for.
type page struct {
	limit int
	after string
	// desc turns the order around.
	desc bool
}

const (
	defaultLimit = 200
	maxLimit     = 10_000
)

// page reads the parameters of a list in order of name. by is the word for that order.
func (c *call) page(by string) page {
	p := page{limit: c.query.number("limit", defaultLimit, 1, maxLimit), after: c.query.one("after")}
	if c.op.takesParam("sort") {
		p.desc = c.query.word("sort", by, "-"+by) != by
	}
	return p
}

func (o *operation) takesParam(name string) bool { return slices.Contains(o.Params, name) }

// cut returns the part of sorted names and where the next one begins. A name that was
// there all the time is on exactly one page.
func (p page) cut(names []string) (part []string, next string) {
	if p.desc {
		names = slices.Clone(names)
		slices.Reverse(names)
	}
	if p.after != "" {
		at, found := slices.BinarySearchFunc(names, p.after, func(a, b string) int {
			if p.desc {
				return strings.Compare(b, a)
			}
			return strings.Compare(a, b)
		})
		if found {
			at++
		}
		names = names[at:]
	}
	if len(names) > p.limit {
		return names[:p.limit], names[p.limit-1]
	}
	return names, ""
}

// cursor is where a page of another order begins: the value that is sorted by, and the
// name that tells equal ones apart. It is opaque to callers.
type cursor struct {
	Value int64  `json:"v"`
	Name  string `json:"n"`
}

func (k cursor) String() string {
	b, _ := json.Marshal(k) // two plain fields
	return base64.RawURLEncoding.EncodeToString(b)
}

func (q *query) cursor(s string) (k cursor) {
	b, err := base64.RawURLEncoding.DecodeString(s)
	if err == nil {
		err = json.Unmarshal(b, &k)
	}
	if err != nil {
		q.badCursor()
	}
	return k
}

func (q *query) badCursor() {
	q.bad("after", "bad-cursor", "must be the next of an earlier page in this order", "必须是同一排序下前一页的 next")
}

// listReply makes the answer of a list: its envelope, where the next page is, and its
// items one a line.
func (c *call) listReply(body any, next string, revision uint64, lines iter.Seq[any]) reply {
	rep := reply{body: body, lines: lines}
	rep.etag = c.revision(revision)
	if next != "" {
		q := url.Values{}
		for k, vs := range c.query.values {
			if k != paramWait {
				q[k] = vs
			}
		}
		q.Set("after", next)
		rep.link = "<" + c.h.linkBase + c.r.URL.EscapedPath() + "?" + q.Encode() + `>; rel="next"`
	}
	return rep
}

func seqOf[T any](items []T) iter.Seq[any] {
	return func(yield func(any) bool) {
		for i := range items {
			if !yield(items[i]) {
				return
			}
		}
	}
}

// nameFilter is what every list of names can be narrowed by.
type nameFilter struct {
	prefix, q, match string
}

const nameParams = "prefix q match "

func (c *call) nameFilter() nameFilter {
	return nameFilter{prefix: c.query.one("prefix"), q: strings.ToLower(c.query.one("q")), match: c.query.one("match")}
}

func (f nameFilter) any() bool { return f != nameFilter{} }

func (f nameFilter) fits(name string) bool {
	return strings.HasPrefix(name, f.prefix) && (f.q == "" || strings.Contains(strings.ToLower(name), f.q)) &&
		(f.match == "" || convert.Match(f.match, name))
}

// trimmed narrows the items of a list to the fields that ?fields= names.
func (c *call) trimmed(rep reply) reply {
	names := c.query.all("fields")
	if len(names) == 0 || rep.body == nil {
		return rep
	}
	want := strings.Split(strings.Join(names, ","), ",")
	var env map[string]json.RawMessage
	var items []map[string]json.RawMessage
	_ = json.Unmarshal(encodeJSON(rep.body, false), &env) // encoded a line above
	_ = json.Unmarshal(env["items"], &items)
	for _, it := range items {
		for k := range it {
			if !slices.Contains(want, k) {
				delete(it, k)
			}
		}
	}
	env["items"], _ = json.Marshal(items)
	rep.body, rep.lines = env, seqOf(items)
	return rep
}

func itoa(n int) string { return strconv.Itoa(n) }

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
