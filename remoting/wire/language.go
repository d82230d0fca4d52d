package wire

import (
	"strconv"
	"strings"
)

// Language is what a peer is written in. It decides nothing; it is kept for people
// who look at connections.
type Language uint8

// The languages by their binary code. A number above NodeJS is one we do not know,
// which is no reason to refuse its sender.
const (
	Java Language = iota
	CPP
	DotNet
	Python
	Delphi
	Erlang
	Ruby
	Other
	HTTP
	Go
	PHP
	OMS
	Rust
	NodeJS

	// UnknownLanguage is a name in a JSON header that we do not know. Peers written
	// in Java hold null then; it is not written into a JSON header.
	UnknownLanguage Language = 255
)

var languageNames = [...]string{
	"JAVA", "CPP", "DOTNET", "PYTHON", "DELPHI", "ERLANG", "RUBY", "OTHER", "HTTP", "GO", "PHP", "OMS", "RUST", "NODE_JS",
}

// String returns the name as it stands in JSON headers, or for an unknown language
// its number.
func (l Language) String() string {
	if l.known() {
		return languageNames[l]
	}
	if l == UnknownLanguage {
		return unknownName
	}
	return strconv.Itoa(int(l))
}

func (l Language) known() bool { return int(l) < len(languageNames) }

// languageOf returns the language with that name, in any case, or with that number.
func languageOf(name []byte) Language {
	if len(name) > 0 && isDigit(name[0]) {
		if n, err := strconv.ParseUint(string(name), 10, 8); err == nil && Language(n).known() {
			return Language(n)
		}
	}
	for i, n := range languageNames {
		if len(n) == len(name) && strings.EqualFold(n, string(name)) {
			return Language(i)
		}
	}
	return UnknownLanguage
}
