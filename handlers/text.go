package handlers

import (
	"fmt"
	"net/http"
	"strings"
)

// text is a sentence in both languages.
type text struct{ en, zh string }

// say formats a sentence in both languages with the same values, in the same order.
func say(en, zh string, args ...any) text {
	if len(args) == 0 {
		return text{en, zh}
	}
	return text{fmt.Sprintf(en, args...), fmt.Sprintf(zh, args...)}
}

// lang is a language that answers are written in.
type lang uint8

const (
	english lang = iota
	chinese
)

func (t text) in(l lang) string {
	if l == chinese && t.zh != "" {
		return t.zh
	}
	return t.en
}

func (l lang) String() string {
	if l == chinese {
		return "zh-CN"
	}
	return "en"
}

// language returns the one of ours that the caller likes best.
func language(r *http.Request) lang {
	accept := r.Header.Get("Accept-Language")
	if accept == "" {
		return english
	}
	best, bestQ := english, -1.0
	for part := range strings.SplitSeq(accept, ",") {
		tag, q := weighted(part)
		l := english
		switch base, _, _ := strings.Cut(strings.ToLower(tag), "-"); base {
		case "zh":
			l = chinese
		case "en", "*":
		default:
			continue
		}
		if q > bestQ && q > 0 {
			best, bestQ = l, q
		}
	}
	return best
}

// weighted splits "text/plain; q=0.5" into what is asked for and how much it is liked.
func weighted(part string) (what string, q float64) {
	what, params, _ := strings.Cut(part, ";")
	q = 1
	for p := range strings.SplitSeq(params, ";") {
		if k, v, _ := strings.Cut(strings.TrimSpace(p), "="); strings.EqualFold(k, "q") {
			if _, err := fmt.Sscanf(v, "%g", &q); err != nil {
				q = 0
			}
		}
	}
	return strings.TrimSpace(what), q
}
