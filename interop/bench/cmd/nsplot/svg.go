package main

import (
	"fmt"
	"html"
	"maps"
	"math"
	"slices"
	"strings"
)

// The drawing's measures in pixels.
const (
	width, height            = 720, 420
	left, right, top, bottom = 84, 150, 48, 56
)

// Colours that can be told apart in light and dark surroundings, also by people who do
// not see red and green as two.
var colours = []string{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"}

// scale maps a range of values, both ends powers of ten, to pixels.
type scale struct{ lo, hi, from, to float64 }

func (s scale) at(v float64) float64 {
	return s.from + (math.Log10(v)-s.lo)/(s.hi-s.lo)*(s.to-s.from)
}

func newScale(lo, hi, from, to float64) scale {
	s := scale{math.Floor(math.Log10(lo)), math.Ceil(math.Log10(hi)), from, to}
	if s.hi <= s.lo {
		s.hi = s.lo + 1
	}
	return s
}

func draw(curves []curve, title, xLabel, unit string) string {
	lowX, highX, lowY, highY := math.Inf(1), 0.0, math.Inf(1), 0.0
	for _, c := range curves {
		for x, ys := range c.points {
			lowX, highX = min(lowX, x), max(highX, x)
			y := median(ys)
			lowY, highY = min(lowY, y), max(highY, y)
		}
	}
	x := newScale(lowX, highX, left, width-right)
	y := newScale(max(lowY, 1e-9), highY, height-bottom, top)
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img" font-family="system-ui, sans-serif" font-size="13">`+"\n", width, height)
	fmt.Fprintf(&b, "<title>%s</title>\n<rect width=\"%d\" height=\"%d\" fill=\"#ffffff\"/>\n", html.EscapeString(title), width, height)
	fmt.Fprintf(&b, `<text x="%d" y="28" font-size="16" font-weight="600" fill="#1a1a1a">%s</text>`+"\n", left, html.EscapeString(title))
	for e := y.lo; e <= y.hi; e++ {
		at := y.at(math.Pow(10, e))
		fmt.Fprintf(&b, `<line x1="%d" x2="%d" y1="%.1f" y2="%.1f" stroke="#dddddd"/>`+"\n", left, width-right, at, at)
		fmt.Fprintf(&b, `<text x="%d" y="%.1f" text-anchor="end" fill="#555555">%s</text>`+"\n", left-8, at+4, figure(math.Pow(10, e), unit))
	}
	for e := x.lo; e <= x.hi; e++ {
		at := x.at(math.Pow(10, e))
		fmt.Fprintf(&b, `<line x1="%.1f" x2="%.1f" y1="%d" y2="%d" stroke="#dddddd"/>`+"\n", at, at, top, height-bottom)
		fmt.Fprintf(&b, `<text x="%.1f" y="%d" text-anchor="middle" fill="#555555">%s</text>`+"\n", at, height-bottom+20, figure(math.Pow(10, e), ""))
	}
	fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="middle" fill="#1a1a1a">%s</text>`+"\n", (left+width-right)/2, height-12, html.EscapeString(xLabel))
	for i, c := range curves {
		line(&b, c, x, y, colours[i%len(colours)], unit)
	}
	labels(&b, curves, y, unit)
	b.WriteString("</svg>\n")
	return b.String()
}

func line(b *strings.Builder, c curve, x, y scale, colour, unit string) {
	var path []string
	for _, at := range slices.Sorted(maps.Keys(c.points)) {
		v := median(c.points[at])
		path = append(path, fmt.Sprintf("%.1f,%.1f", x.at(at), y.at(v)))
		fmt.Fprintf(b, `<circle cx="%.1f" cy="%.1f" r="3.5" fill="%s"><title>%s</title></circle>`+"\n",
			x.at(at), y.at(v), colour, html.EscapeString(fmt.Sprintf("%s at %s: %s", c.name, figure(at, ""), figure(v, unit))))
	}
	fmt.Fprintf(b, `<polyline points="%s" fill="none" stroke="%s" stroke-width="2"/>`+"\n", strings.Join(path, " "), colour)
}

// labels writes the lines' names beside their ends, moved apart where they would touch.
func labels(b *strings.Builder, curves []curve, y scale, unit string) {
	type label struct {
		text, colour string
		at           float64
	}
	var all []label
	for i, c := range curves {
		last := slices.Max(slices.Collect(maps.Keys(c.points)))
		v := median(c.points[last])
		text := figure(v, unit)
		if c.name != "" {
			text = c.name + " " + text
		}
		all = append(all, label{text, colours[i%len(colours)], y.at(v) + 4})
	}
	slices.SortFunc(all, func(a, b label) int { return int(a.at - b.at) })
	for i := range all {
		if i > 0 {
			all[i].at = max(all[i].at, all[i-1].at+16)
		}
		fmt.Fprintf(b, `<text x="%d" y="%.1f" fill="%s">%s</text>`+"\n", width-right+8, all[i].at, all[i].colour, html.EscapeString(all[i].text))
	}
}

// figure writes a value with three digits at most, times in the unit that suits.
func figure(v float64, unit string) string {
	suffix := ""
	switch {
	case unit == "ns/op" && v >= 1e9:
		v, suffix = v/1e9, " s"
	case unit == "ns/op" && v >= 1e6:
		v, suffix = v/1e6, " ms"
	case unit == "ns/op" && v >= 1e3:
		v, suffix = v/1e3, " µs"
	case unit == "ns/op":
		suffix = " ns"
	case unit == "" && v >= 1e6:
		v, suffix = v/1e6, " million"
	case unit != "":
		suffix = " " + unit
	}
	text := fmt.Sprintf("%.3g", v)
	if v >= 1000 {
		text = fmt.Sprintf("%.0f", v)
	}
	return text + suffix
}
