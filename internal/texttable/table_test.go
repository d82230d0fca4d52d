package texttable

import "testing"

// Columns stand under each other in a terminal, where a Chinese character takes two
// cells and an accent none.
func TestColumnsByCells(t *testing.T) {
	tb := New("NAME", "KEYS", "LAST")
	tb.Row("订单", 3, true)
	tb.Row("e\u0301t\u0301", []string{"a", "b"}, "x\ny")
	tb.Row("", int64(-1), false)
	tb.Note("total %d", tb.Rows())
	want := "NAME  KEYS  LAST\n" +
		"订单  3     yes\n" +
		"e\u0301t\u0301    a,b   x·y\n" +
		"-     -1    no\n" +
		"# total 3\n"
	if got := string(tb.Bytes()); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if w := Width("订单ab"); w != 6 {
		t.Errorf("width %d", w)
	}
}

func TestLeft(t *testing.T) {
	if got := Left(112_999); got != "1m52s" {
		t.Error(got)
	}
}
