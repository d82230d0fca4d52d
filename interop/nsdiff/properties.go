package main

import (
	"strconv"
	"strings"
)

// javaProperties reads a text in Java's properties syntax, in the order of its lines. ok is false where Java throws.
func javaProperties(text string) (keys, values []string, ok bool) {
	var logical []string
	next := ""
	for _, line := range strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' }) {
		line = strings.TrimLeft(line, " \t\f")
		if next == "" && (line == "" || line[0] == '#' || line[0] == '!') {
			continue
		}
		slashes := len(line) - len(strings.TrimRight(line, `\`))
		if slashes%2 == 1 {
			next += line[:len(line)-1]
			continue
		}
		logical = append(logical, next+line)
		next = ""
	}
	if next != "" {
		logical = append(logical, next)
	}
	for _, line := range logical {
		i := 0
		for i < len(line) && strings.IndexByte("=: \t\f", line[i]) < 0 {
			if line[i] == '\\' {
				i++
			}
			i++
		}
		i = min(i, len(line))
		key, rest := line[:i], strings.TrimLeft(line[i:], " \t\f")
		if rest != "" && (rest[0] == '=' || rest[0] == ':') {
			rest = strings.TrimLeft(rest[1:], " \t\f")
		}
		k, fine := javaUnescape(key)
		v, well := javaUnescape(rest)
		if !fine || !well {
			return nil, nil, false
		}
		keys, values = append(keys, k), append(values, v)
	}
	return keys, values, true
}

func javaUnescape(s string) (string, bool) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			b.WriteByte(s[i])
			continue
		}
		i++
		if i == len(s) {
			break
		}
		switch s[i] {
		case 'u':
			if i+5 > len(s) {
				return "", false
			}
			v, err := strconv.ParseUint(s[i+1:i+5], 16, 16)
			if err != nil {
				return "", false
			}
			b.WriteRune(rune(v))
			i += 4
		case 't':
			b.WriteByte('\t')
		case 'n':
			b.WriteByte('\n')
		case 'r':
			b.WriteByte('\r')
		case 'f':
			b.WriteByte('\f')
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String(), true
}

// Settings of the kinds whose values the two servers read differently where they are not plain.
var (
	boolSettings = map[string]bool{
		"enableAllTopicList": true, "enableTopicList": true, "orderMessageEnable": true,
		"returnOrderTopicConfigToBroker": true, "supportActingMaster": true, "notifyMinBrokerIdChanged": true,
		"deleteTopicWithBrokerRegistration": true, "needWaitForService": true,
	}
	numberSettings = map[string]bool{"waitSecondsForService": true, "shutdownWaitTimeSeconds": true}
	// fixedSettings change nothing after the start; the oracle shows them changed all the same.
	fixedSettings = map[string]bool{"clusterTest": true}
)

// oddSettings says whether a text of settings has a value that is not plainly of its setting's kind.
func oddSettings(text string) bool {
	keys, values, ok := javaProperties(text)
	if !ok {
		return false
	}
	for i, k := range keys {
		v := values[i]
		switch {
		case boolSettings[k] && !strings.EqualFold(v, "true") && !strings.EqualFold(v, "false"),
			numberSettings[k] && !plainNumber(v), fixedSettings[k],
			k == "productEnvName" && (v != strings.TrimSpace(v) || !printableASCII(v)):
			return true
		}
	}
	return false
}

func plainNumber(s string) bool {
	n, err := strconv.ParseInt(s, 10, 32)
	return err == nil && n >= 0 && s[0] != '+'
}

func printableASCII(s string) bool {
	for _, r := range s {
		if r < ' ' || r > '~' {
			return false
		}
	}
	return true
}
