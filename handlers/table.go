package handlers

import (
	"bytes"
	"fmt"
	"strings"
	"time"
	"unicode"

	"golang.org/x/text/width"
)

// table is an answer for people: a header row in capitals, one record a line, columns
// aligned by display cells, and lines after it that begin with #.
type table struct {
	rows  [][]string
	notes []string
}

func newTable(columns ...string) *table { return &table{rows: [][]string{columns}} }

// row adds a record. What is empty is shown as "-", and what would break the line as "·".
func (t *table) row(cells ...any) {
	out := make([]string, len(cells))
	for i, c := range cells {
		s := ""
		switch v := c.(type) {
		case string:
			s = v
		case []string:
			s = strings.Join(v, ",")
		case bool:
			s = "no"
			if v {
				s = "yes"
			}
		case fmt.Stringer:
			s = v.String()
		default:
			s = fmt.Sprint(v)
		}
		out[i] = cell(s)
	}
	t.rows = append(t.rows, out)
}

func cell(s string) string {
	if s == "" {
		return "-"
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return '·'
		}
		return r
	}, s)
}

// note adds a line for people.
func (t *table) note(format string, args ...any) {
	t.notes = append(t.notes, fmt.Sprintf(format, args...))
}

func (t *table) bytes() []byte {
	widths := make([]int, len(t.rows[0]))
	for _, r := range t.rows {
		for i, c := range r {
			widths[i] = max(widths[i], cells(c))
		}
	}
	var b bytes.Buffer
	for _, r := range t.rows {
		for i, c := range r {
			b.WriteString(c)
			if i < len(r)-1 {
				for n := widths[i] - cells(c) + 2; n > 0; n-- {
					b.WriteByte(' ')
				}
			}
		}
		b.WriteByte('\n')
	}
	for _, n := range t.notes {
		b.WriteString("# " + n + "\n")
	}
	return b.Bytes()
}

// cells is how many columns of a terminal s takes: two for wide characters, none for
// those that go on top of another.
func cells(s string) int {
	n := 0
	for _, r := range s {
		switch {
		case r < 0x300:
			n++
		case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		default:
			n++
			if k := width.LookupRune(r).Kind(); k == width.EastAsianWide || k == width.EastAsianFullwidth {
				n++
			}
		}
	}
	return n
}

// left writes the time that is left, such as 1m52s, to the second.
func left(millis int64) string {
	return (time.Duration(millis) * time.Millisecond).Truncate(time.Second).String()
}
