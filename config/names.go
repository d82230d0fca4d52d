package config

import (
	"strings"
	"unicode"
)

// EnvPrefix begins every environment variable of ours.
const EnvPrefix = "FINGERPOST_"

// Flag returns the setting's name on the command line, without the dashes:
// "listen-port" for listenPort, "http-external-url" for http.externalURL.
func (s *Setting) Flag() string { return strings.ToLower(strings.Join(words(s.Key), "-")) }

// Env returns the setting's environment variable: FINGERPOST_LISTEN_PORT for listenPort.
func (s *Setting) Env() string {
	return EnvPrefix + strings.ToUpper(strings.Join(words(s.Key), "_"))
}

// words cuts a key at dots and where a word begins with a capital. A run of capitals
// is one word, but for the last if a small letter follows: externalURL is external and
// URL, clientCAFile is client, CA and File.
func words(key string) []string {
	var ws []string
	for part := range strings.SplitSeq(key, ".") {
		runes := []rune(part)
		start := 0
		for i := 1; i < len(runes); i++ {
			up := unicode.IsUpper(runes[i])
			afterLow := !unicode.IsUpper(runes[i-1])
			beforeLow := i+1 < len(runes) && unicode.IsLower(runes[i+1])
			if up && (afterLow || beforeLow) {
				ws = append(ws, string(runes[start:i]))
				start = i
			}
		}
		ws = append(ws, string(runes[start:]))
	}
	return ws
}

// Nearest returns the known key that is most like an unknown one, if any is like it.
func Nearest(key string) (string, bool) {
	var names []string
	for _, s := range settings {
		if !s.Is(Foreign) {
			names = append(names, s.Key)
		}
	}
	return nearest(key, names)
}

// nearest returns the name with the fewest changes from key, if those are few for its
// length. A difference of case or of separators alone counts as none.
func nearest(key string, names []string) (string, bool) {
	if len(key) > 100 {
		return "", false
	}
	best, least := "", max(2, len(key)/3)+1
	for _, n := range names {
		if d := distance(plain(key), plain(n)); d < least {
			best, least = n, d
		}
	}
	return best, best != ""
}

func plain(key string) string {
	return strings.NewReplacer(".", "", "-", "", "_", "").Replace(strings.ToLower(key))
}

// distance is the number of letters to insert, delete or replace (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}
