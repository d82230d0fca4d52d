package web

import (
	"path"
	"strings"
)

// lighten takes comments that fill whole lines, indentation and empty lines out of a
// script or a style sheet. They are a quarter of what a browser would fetch and are of
// no use there; what stands on a line with code stays. Lines keep their order, and a
// template's text loses nothing that its reader would not drop: the view library
// ignores space around line breaks.
func lighten(name string, text []byte) []byte {
	if ext := path.Ext(name); ext != ".js" && ext != ".css" || strings.HasPrefix(name, "vendor/") {
		return text
	}
	out := make([]byte, 0, len(text))
	inside := false // a block comment
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		switch {
		case inside:
			inside = !strings.HasSuffix(line, "*/")
			continue
		case strings.HasPrefix(line, "/*") && !strings.Contains(line, "*/"):
			inside = true
			continue
		case line == "", strings.HasPrefix(line, "//"), strings.HasPrefix(line, "/*") && strings.HasSuffix(line, "*/"):
			continue
		}
		out = append(append(out, line...), '\n')
	}
	return out
}
