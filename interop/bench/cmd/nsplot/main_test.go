package main

import (
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"
)

const sample = `goos: linux
BenchmarkGrowth/topics=100/lookup-2     1000   121 ns/op   0 B/op   0 allocs/op   88 B/part
BenchmarkGrowth/topics=100/lookup-2     1000   141 ns/op   0 B/op   0 allocs/op   88 B/part
BenchmarkGrowth/topics=1000/lookup-2    1000   150 ns/op   0 B/op   0 allocs/op
BenchmarkGrowth/topics=100/lost-2       1000   30000 ns/op
BenchmarkOther/brokers=3/lookup-2       1000   1 ns/op
PASS
`

func TestReadTakesMedians(t *testing.T) {
	curves, err := read(strings.NewReader(sample), regexp.MustCompile(`Growth/topics=(\d+)/(\w+)`), "ns/op")
	if err != nil || len(curves) != 2 || curves[0].name != "lookup" || curves[1].name != "lost" {
		t.Fatalf("%+v, %v", curves, err)
	}
	if got := median(curves[0].points[100]); got != 131 {
		t.Errorf("the median of two runs is %v", got)
	}
	if got := chosen(curves, []string{"lost"}); len(got) != 1 || got[0].name != "lost" {
		t.Errorf("chosen: %+v", got)
	}
	bytes, err := read(strings.NewReader(sample), regexp.MustCompile(`topics=(\d+)`), "B/part")
	if err != nil || len(bytes) != 1 || len(bytes[0].points) != 1 {
		t.Errorf("%+v, %v", bytes, err)
	}
}

func TestDrawingIsWellFormed(t *testing.T) {
	curves, err := read(strings.NewReader(sample), regexp.MustCompile(`Growth/topics=(\d+)/(\w+)`), "ns/op")
	if err != nil {
		t.Fatal(err)
	}
	drawing := draw(curves, "a < b & c", "topics", "ns/op")
	d := xml.NewDecoder(strings.NewReader(drawing))
	points := 0
	for {
		tok, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := tok.(xml.StartElement); ok && e.Name.Local == "circle" {
			points++
		}
	}
	if points != 3 || !strings.Contains(drawing, "lookup 150 ns") || !strings.Contains(drawing, "lost 30 µs") {
		t.Errorf("%d points in %s", points, drawing)
	}
}
