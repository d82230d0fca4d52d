// Package texttable lays out answers for people: a header row in capitals, one record a
// line, columns aligned by the cells of a terminal, and notes after it that begin with #.
// The API's text answers and the command line share it, so that both look the same.
package texttable

import (
	"bytes"
	"fmt"
	"strings"
	"time"
	"unicode"

	"golang.org/x/text/width"
)

// Table is one answer. It is filled and read by one goroutine.
type Table struct {
	rows  [][]string
	notes []string
}

// New returns a table without records.
func New(columns ...string) *Table { return &Table{rows: [][]string{columns}} }

// Row adds a record of as many cells as there are columns. What is empty is shown as
// "-", and what would break the line as "·"; a list is shown with commas.
func (t *Table) Row(cells ...any) {
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
		out[i] = Cell(s)
	}
	t.rows = append(t.rows, out)
}

// Rows returns how many records there are.
func (t *Table) Rows() int { return len(t.rows) - 1 }

// Cell returns s as a table shows it.
func Cell(s string) string {
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

// Note adds a line for people after the records.
func (t *Table) Note(format string, args ...any) {
	t.notes = append(t.notes, fmt.Sprintf(format, args...))
}

// Bytes returns the text, which ends with a line break.
func (t *Table) Bytes() []byte {
	widths := make([]int, len(t.rows[0]))
	for _, r := range t.rows {
		for i, c := range r {
			widths[i] = max(widths[i], Width(c))
		}
	}
	var b bytes.Buffer
	for _, r := range t.rows {
		for i, c := range r {
			b.WriteString(c)
			if i < len(r)-1 {
				for n := widths[i] - Width(c) + 2; n > 0; n-- {
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

// Width is how many columns of a terminal s takes: two for wide characters, none for
// those that go on top of another.
func Width(s string) int {
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

// Left writes a time in milliseconds that is left, such as 1m52s, to the second.
func Left(millis int64) string {
	return (time.Duration(millis) * time.Millisecond).Truncate(time.Second).String()
}
