package cli

import (
	"encoding/json"
	"io"

	"fingerpost/api"
	"fingerpost/internal/texttable"
)

// Output is in which form a command answers.
type Output struct {
	Form string `name:"output" short:"o" enum:"text,json" default:"text" help:"The form of the answer: text, a table for people, or json, for programs."`
}

// answer is what a command has to show.
type answer struct {
	value any // for programs
	table *texttable.Table
}

// show writes an answer.
func (o *Output) show(e *Env, a answer) error {
	if o.Form == "json" {
		return writeJSON(e.Stdout, a.value)
	}
	_, err := e.Stdout.Write(a.table.Bytes())
	return err
}

func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// text returns what p points to, "" for nil.
func text(p *string) string {
	if p == nil {
		return ""
	}
	return *p
}

// when writes an instant, "" for none.
func when(t *api.Time) string {
	if t == nil {
		return ""
	}
	return t.String()
}
