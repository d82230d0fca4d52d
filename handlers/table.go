package handlers

import "fingerpost/internal/texttable"

// table is an answer for people; see [texttable.Table].
type table struct{ texttable.Table }

func newTable(columns ...string) *table { return &table{*texttable.New(columns...)} }

func (t *table) row(cells ...any) { t.Row(cells...) }

func (t *table) note(format string, args ...any) { t.Note(format, args...) }

func (t *table) bytes() []byte { return t.Bytes() }

func cell(s string) string { return texttable.Cell(s) }

// left writes the time that is left, such as 1m52s, to the second.
func left(millis int64) string { return texttable.Left(millis) }
