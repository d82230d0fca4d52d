// nsplot draws curves from the output of Go benchmarks as an SVG: one line for each
// series, both axes logarithmic, so that what does not grow is level and what grows in
// proportion has the slope of the grid's diagonal.
//
//	go test -run '^$' -bench Growth ./registry | nsplot -series 'Growth/topics=(\d+)/(\w+)' -title … > growth.svg
package main

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// curve is a series' points by x.
type curve struct {
	name   string
	points map[float64][]float64
}

func main() {
	var (
		series = flag.String("series", "", "regular expression over benchmark names; its first group is x, its second, if any, names the line")
		unit   = flag.String("unit", "ns/op", "which of the benchmark's figures is y")
		title  = flag.String("title", "", "what stands over the drawing")
		xLabel = flag.String("x", "", "what x is")
		lines  = flag.String("lines", "", "comma list: the lines to draw, in this order (default all, in order of appearance)")
	)
	flag.Parse()
	re, err := regexp.Compile(*series)
	if err != nil || *series == "" || re.NumSubexp() < 1 {
		fmt.Fprintln(os.Stderr, "nsplot: -series needs a regular expression with a group for x")
		os.Exit(2)
	}
	curves, err := read(os.Stdin, re, *unit)
	if err != nil {
		fmt.Fprintln(os.Stderr, "nsplot:", err)
		os.Exit(1)
	}
	if *lines != "" {
		curves = chosen(curves, strings.Split(*lines, ","))
	}
	if len(curves) == 0 {
		fmt.Fprintln(os.Stderr, "nsplot: no benchmark matches", *series, "with a figure in", *unit)
		os.Exit(1)
	}
	fmt.Print(draw(curves, *title, *xLabel, *unit))
}

// read takes the figures out of benchmark output. A benchmark that ran several times has
// several values; its median is drawn.
func read(in io.Reader, re *regexp.Regexp, unit string) ([]curve, error) {
	var curves []curve
	sc := bufio.NewScanner(in)
	for sc.Scan() {
		f := strings.Fields(sc.Text())
		if len(f) < 4 || !strings.HasPrefix(f[0], "Benchmark") {
			continue
		}
		m := re.FindStringSubmatch(f[0])
		if m == nil {
			continue
		}
		x, err := strconv.ParseFloat(m[1], 64)
		if err != nil {
			return nil, fmt.Errorf("%s: x is %q", f[0], m[1])
		}
		name := ""
		if len(m) > 2 {
			name = m[2]
		}
		for i := 2; i+1 < len(f); i += 2 {
			if f[i+1] != unit {
				continue
			}
			y, err := strconv.ParseFloat(f[i], 64)
			if err != nil {
				return nil, fmt.Errorf("%s: %q is no number", f[0], f[i])
			}
			at := slices.IndexFunc(curves, func(c curve) bool { return c.name == name })
			if at < 0 {
				at = len(curves)
				curves = append(curves, curve{name, map[float64][]float64{}})
			}
			curves[at].points[x] = append(curves[at].points[x], y)
		}
	}
	return curves, sc.Err()
}

func chosen(curves []curve, names []string) []curve {
	var out []curve
	for _, name := range names {
		for _, c := range curves {
			if c.name == name {
				out = append(out, c)
			}
		}
	}
	return out
}

func median(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	return (v[(len(v)-1)/2] + v[len(v)/2]) / 2
}
