package handlers

import (
	"slices"
	"strings"
)

const (
	maxSuggestions = 3
	// maxCompared bounds the names that a mistyped one is compared with; of more than
	// that only the neighbours in order are looked at.
	maxCompared = 20_000
	neighbours  = 200
	maxTypos    = 2
)

// nearest returns the names that somebody who wrote name may have meant, best first.
// names are sorted.
func nearest(name string, names []string) []string {
	if len(name) > 255 {
		return nil
	}
	if len(names) > maxCompared {
		at, _ := slices.BinarySearch(names, name)
		names = names[max(0, at-neighbours):min(len(names), at+neighbours)]
	}
	type near struct {
		name  string
		typos int
	}
	var found []near
	lower := strings.ToLower(name)
	for _, n := range names {
		if d := len(n) - len(name); d > maxTypos || d < -maxTypos {
			continue
		}
		if d := typos(lower, strings.ToLower(n)); d <= maxTypos && d < len(name) {
			found = append(found, near{n, d})
		}
	}
	slices.SortStableFunc(found, func(a, b near) int { return a.typos - b.typos })
	var out []string
	for _, f := range found[:min(len(found), maxSuggestions)] {
		out = append(out, f.name)
	}
	return out
}

// typos is how many characters have to be put in, left out or replaced to make a of b;
// anything beyond maxTypos is some number beyond it.
func typos(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diagonal, best := row[0], i
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := diagonal
			if a[i-1] != b[j-1] {
				cost++
			}
			diagonal = row[j]
			row[j] = min(cost, row[j]+1, row[j-1]+1)
			best = min(best, row[j])
		}
		if best > maxTypos {
			return best
		}
	}
	return row[len(b)]
}
