package handlers

import (
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// query is the parameters of a request, and what is wrong with them: all of it is
// reported together.
type query struct {
	values map[string][]string
	errs   []fieldError
}

// common parameters that every operation takes.
const (
	paramFormat = "format"
	paramPretty = "pretty"
)

// parseQuery reads a raw query strictly: what the standard library drops in silence is
// refused here, and so is a name that the operation does not take.
func parseQuery(raw string, takes []string) (query, error) {
	q := query{values: make(map[string][]string)}
	var unknown []string
	for pair := range strings.SplitSeq(raw, "&") {
		if pair == "" {
			continue
		}
		name, value, _ := strings.Cut(pair, "=")
		k, err := url.QueryUnescape(name)
		if err != nil || !clean(k) {
			return q, malformedQuery(strings.ToValidUTF8(name, "\ufffd"))
		}
		v, err := url.QueryUnescape(value)
		if err != nil || !clean(v) {
			return q, malformedQuery(k)
		}
		if k != paramFormat && k != paramPretty && !slices.Contains(takes, k) && !slices.Contains(unknown, k) {
			unknown = append(unknown, k)
		}
		q.values[k] = append(q.values[k], v)
	}
	if len(unknown) > 0 {
		return q, unknownParameters(unknown, takes)
	}
	return q, nil
}

func clean(s string) bool { return utf8.ValidString(s) && !strings.ContainsFunc(s, unicode.IsControl) }

func malformedQuery(name string) error {
	p := refuse("malformed-query", "The parameter %s has a bad escape, is not UTF-8 or has a control character: write %% as %%25.",
		"参数 %s 的转义有误、不是 UTF-8 或含有控制字符：把 %% 写成 %%25。", strconv.Quote(name))
	p.errors = []fieldError{{parameter: name, code: "malformed-query", detail: text{"write % as %25, or use curl -G --data-urlencode", "把 % 写成 %25，或使用 curl -G --data-urlencode"}}}
	return p
}

func unknownParameters(unknown, takes []string) error {
	known := slices.Sorted(slices.Values(append([]string{paramFormat, paramPretty}, takes...)))
	list := strings.Join(known, ", ")
	p := refuse("unknown-parameter", "The operation does not take %s; it takes %s.", "该操作不接受 %s；可用参数：%s。",
		strings.Join(unknown, ", "), list)
	for _, u := range unknown {
		p.errors = append(p.errors, fieldError{
			parameter: u, code: "unknown-parameter",
			detail: say("is not one of %s", "不在 %s 之中", list),
		})
	}
	return p
}

func (q *query) bad(name, code, en, zh string, args ...any) {
	q.errs = append(q.errs, fieldError{parameter: name, code: code, detail: say(en, zh, args...)})
}

// err returns everything that was wrong with what has been read, as one problem.
func (q *query) err() error {
	if len(q.errs) == 0 {
		return nil
	}
	first := q.errs[0]
	return &problem{
		code: "validation-failed", errors: q.errs,
		detail: text{first.parameter + " " + first.detail.en + ".", first.parameter + " " + first.detail.zh + "。"},
	}
}

func (q *query) has(name string) bool { return len(q.values[name]) > 0 }

// all returns every value of a parameter that may come more than once.
func (q *query) all(name string) []string { return q.values[name] }

// one returns the value of a parameter that may come once, "" if it did not.
func (q *query) one(name string) string {
	vs := q.values[name]
	if len(vs) > 1 {
		q.bad(name, "repeated", "comes %d times and may come once", "出现 %d 次，只能出现一次", len(vs))
	}
	if len(vs) == 0 {
		return ""
	}
	return vs[0]
}

// flag returns a parameter that is true when it is there: ?x, ?x=true.
func (q *query) flag(name string) bool { return q.choice(name, false) }

// choice is flag with another value for a parameter that is not there.
func (q *query) choice(name string, otherwise bool) bool {
	if !q.has(name) {
		return otherwise
	}
	switch v := q.one(name); strings.ToLower(v) {
	case "", "true", "1":
		return true
	case "false", "0":
		return false
	default:
		q.bad(name, "not-a-boolean", "must be true or false, not %s", "必须是 true 或 false，而不是 %s", strconv.Quote(v))
		return otherwise
	}
}

// maybe returns a parameter that asks for one or the other, nil if it is not there.
func (q *query) maybe(name string) *bool {
	if !q.has(name) {
		return nil
	}
	v := q.choice(name, false)
	return &v
}

// number returns a whole number within bounds.
func (q *query) number(name string, otherwise, least, most int) int {
	if !q.has(name) {
		return otherwise
	}
	v := q.one(name)
	n, err := strconv.Atoi(v)
	if err != nil {
		q.bad(name, "not-a-number", "must be a whole number from %d to %d, not %s", "必须是 %d 到 %d 的整数，而不是 %s", least, most, strconv.Quote(v))
		return otherwise
	}
	if n < least || n > most {
		q.bad(name, "out-of-range", "must be from %d to %d, not %d", "必须在 %d 到 %d 之间，而不是 %d", least, most, n)
		return otherwise
	}
	return n
}

// word returns one of a set of words, the first of them if the parameter is not there.
func (q *query) word(name string, words ...string) string {
	if !q.has(name) {
		return words[0]
	}
	v := q.one(name)
	if !slices.Contains(words, v) {
		q.badWord(name, v, words)
		return words[0]
	}
	return v
}

// words returns every value of a parameter, each one of a set.
func (q *query) words(name string, words ...string) []string {
	for _, v := range q.values[name] {
		if !slices.Contains(words, v) {
			q.badWord(name, v, words)
		}
	}
	return q.values[name]
}

func (q *query) badWord(name, v string, words []string) {
	q.bad(name, "not-one-of", "must be one of %s, not %s", "必须是 %s 之一，而不是 %s", strings.Join(words, ", "), strconv.Quote(v))
}

// duration returns a time such as 30s within bounds, 0 if it is not there.
func (q *query) duration(name string, least, most time.Duration) time.Duration {
	if !q.has(name) {
		return 0
	}
	v := q.one(name)
	d, err := time.ParseDuration(v)
	if err != nil {
		q.bad(name, "not-a-duration", "must be a time such as 30s or 500ms, not %s", "必须是 30s 或 500ms 这样的时长，而不是 %s", strconv.Quote(v))
		return 0
	}
	if d < least || d > most {
		q.bad(name, "out-of-range", "must be from %s to %s, not %s", "必须在 %s 到 %s 之间，而不是 %s", least, most, d)
		return 0
	}
	return d
}

// perm returns a permission written as a number or in letters, -1 if it is not there.
func (q *query) perm(name string) int32 {
	if !q.has(name) {
		return -1
	}
	v := q.one(name)
	if n, err := strconv.ParseUint(v, 10, 31); err == nil && n <= math.MaxInt32 {
		return int32(n)
	}
	var perm int32
	for _, c := range strings.ToUpper(v) {
		switch c {
		case 'R':
			perm |= 4
		case 'W':
			perm |= 2
		case 'X':
			perm |= 1
		case '-':
		default:
			q.bad(name, "not-a-perm", "must be a number or letters such as RW-, not %s", "必须是数字或 RW- 这样的字母，而不是 %s", strconv.Quote(v))
			return -1
		}
	}
	return perm
}
