package config

import (
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// Trait is what is true of a setting besides its value.
type Trait uint16

// The traits.
const (
	// Live settings take effect when they are changed while running.
	Live Trait = 1 << iota
	// Locked settings can be changed while running by nobody: they name a path, an
	// address, a listener or who may do what. Request 318 is answered with code 16.
	Locked
	// Skipped settings are locked ones that the peers accept in request 318: there
	// they are ignored with a warning and the request succeeds.
	Skipped
	// Peer settings are the Java NameServer's own: request 319 always shows them.
	Peer
	// NoEffect settings have no effect in this server. They can be changed like live
	// ones, so that scripts written for the peers work and a file goes to and fro.
	NoEffect
	// Foreign settings may stand in a Java node's file without being the NameServer's:
	// they are read over and kept. They have no flag, no variable and no field.
	Foreign
	// Secret values are shown to nobody.
	Secret
)

// Setting is a row of the table: all there is to know about one setting.
type Setting struct {
	// Key is its name in the file, in 318 and 319, and over REST.
	Key string
	// Doc says in English what it does, without a final full stop.
	Doc string
	// Traits say who may change it and when.
	Traits Trait
	// Min and Max bound a number, in Unit for a peer's time; both 0 is a setting that is
	// no number.
	Min, Max int64
	// Unit is what one stands for in a time that is written as a bare number; 0 for a
	// time written as in "1m30s".
	Unit time.Duration
	// Words are the values of a setting that has only some.
	Words []string
	// Also is the peers' name for the same thing outside their file: a system property,
	// accepted in our file.
	Also string
	// AlsoEnv is the peers' environment variable for it, which ours overrides.
	AlsoEnv string

	check func(string) error // of a text or of each part of a list
	ptr   func(*Config) any
}

// Is reports whether the setting has one of the traits.
func (s *Setting) Is(t Trait) bool { return s.Traits&t != 0 }

// Type returns the word for the setting's type: bool, int, duration, size, string,
// list, level, or words for one of [Setting.Words].
func (s *Setting) Type() string {
	if len(s.Words) > 0 {
		return "words"
	}
	if s.ptr == nil {
		return "string"
	}
	switch s.ptr(new(Config)).(type) {
	case *bool:
		return "bool"
	case *int:
		return "int"
	case *time.Duration:
		return "duration"
	case *Size:
		return "size"
	case *[]string:
		return "list"
	case *slog.Level:
		return "level"
	}
	return "string"
}

// Range says in English which values are allowed, such as "0 to 65535"; empty if any.
func (s *Setting) Range() string {
	switch {
	case len(s.Words) > 0:
		return strings.Join(s.Words, ", ")
	case s.Type() == "bool":
		return "true or false"
	case s.Type() == "level":
		return strings.Join(levels, ", ")
	case s.Min == 0 && s.Max == 0:
		return ""
	case s.Max == maxInt32: // no bound of the setting's own
		return "at least " + s.number(s.Min)
	}
	return s.number(s.Min) + " to " + s.number(s.Max)
}

// number writes a bound in the setting's own form.
func (s *Setting) number(n int64) string {
	switch {
	case s.Type() == "size":
		return Size(n).String()
	case s.Type() == "duration" && s.Unit == 0:
		return time.Duration(n).String()
	}
	return strconv.FormatInt(n, 10)
}

// Format returns the setting's value in c as text.
func (s *Setting) Format(c *Config) string {
	switch p := s.ptr(c).(type) {
	case *bool:
		return strconv.FormatBool(*p)
	case *int:
		return strconv.Itoa(*p)
	case *time.Duration:
		if s.Unit > 0 {
			return strconv.FormatInt(int64(*p/s.Unit), 10)
		}
		return p.String()
	case *Size:
		return p.String()
	case *string:
		return *p
	case *[]string:
		return strings.Join(*p, ";")
	case *slog.Level:
		return strings.ToLower(p.String())
	}
	panic("config: " + s.Key + " is of a type without a text form")
}

// parse sets the setting in c from text. The error is the end of a sentence that begins
// with the key: "must be …".
func (s *Setting) parse(c *Config, text string) error {
	text = strings.TrimSpace(text)
	switch p := s.ptr(c).(type) {
	case *bool:
		switch {
		case strings.EqualFold(text, "true"):
			*p = true
		case strings.EqualFold(text, "false"):
			*p = false
		default:
			return fmt.Errorf("must be true or false, not %s", quote(text))
		}
	case *int:
		n, err := strconv.ParseInt(text, 10, 0)
		if err != nil {
			return fmt.Errorf("must be a whole number%s, not %s", s.rangeHint(), quote(text))
		}
		*p = int(n)
		return s.inRange(n)
	case *time.Duration:
		return s.parseTime(p, text)
	case *Size:
		n, err := parseSize(text)
		if err != nil {
			return fmt.Errorf("must be a number of bytes such as 16777216 or 16MiB, not %s", quote(text))
		}
		*p = n
		return s.inRange(int64(n))
	case *string:
		if err := s.checkText(text); err != nil {
			return err
		}
		*p = text
		if i := slices.IndexFunc(s.Words, func(w string) bool { return strings.EqualFold(w, text) }); i >= 0 {
			*p = s.Words[i]
		}
	case *[]string:
		parts := []string(nil)
		for _, part := range strings.FieldsFunc(text, func(r rune) bool { return r == ';' || r == ',' }) {
			if part = strings.TrimSpace(part); part == "" {
				continue
			}
			if err := s.checkText(part); err != nil {
				return err
			}
			parts = append(parts, part)
		}
		*p = parts
	case *slog.Level:
		var l slog.Level
		known := slices.ContainsFunc(levels, func(w string) bool { return strings.EqualFold(w, text) })
		if !known || l.UnmarshalText([]byte(text)) != nil {
			return fmt.Errorf("must be debug, info, warn or error, not %s", quote(text))
		}
		*p = l
	default:
		panic("config: " + s.Key + " is of a type without a text form")
	}
	return nil
}

// levels are slog's own levels; it knows others between them, which have no names.
var levels = []string{"debug", "info", "warn", "error"}

func (s *Setting) parseTime(p *time.Duration, text string) error {
	if s.Unit == 0 {
		d, err := time.ParseDuration(text)
		if err != nil {
			return fmt.Errorf("must be a time such as 30s or 1m30s, not %s", quote(text))
		}
		*p = d
		return s.inRange(int64(d))
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return fmt.Errorf("must be a whole number%s, not %s", s.rangeHint(), quote(text))
	}
	if err := s.inRange(n); err != nil {
		return err
	}
	*p = time.Duration(n) * s.Unit
	return nil
}

func (s *Setting) inRange(n int64) error {
	if n < s.Min || n > s.Max {
		return fmt.Errorf("must be from %s to %s, not %s", s.number(s.Min), s.number(s.Max), s.number(n))
	}
	return nil
}

func (s *Setting) rangeHint() string {
	return fmt.Sprintf(" from %s to %s", s.number(s.Min), s.number(s.Max))
}

// maxText bounds a text, far above any path, address or name.
const maxText = 4096

func (s *Setting) checkText(text string) error {
	switch {
	case len(text) > maxText:
		return fmt.Errorf("must not be longer than %d bytes", maxText)
	case strings.ContainsFunc(text, unicode.IsControl):
		// A line end would show as another setting in the answer to 319.
		return fmt.Errorf("must not hold control characters, as in %s", quote(text))
	case len(s.Words) > 0 && !slices.ContainsFunc(s.Words, func(w string) bool { return strings.EqualFold(w, text) }):
		return fmt.Errorf("must be one of %s, not %s", strings.Join(s.Words, ", "), quote(text))
	case s.check != nil && text != "":
		return s.check(text)
	}
	return nil
}

// quote shows a value in a message, shortened.
func quote(v string) string {
	if len(v) > 64 {
		v = strings.ToValidUTF8(v[:64], "") + "…"
	}
	return strconv.Quote(v)
}

// String returns the size in the largest unit that divides it.
func (n Size) String() string {
	for _, u := range sizeUnits {
		if n != 0 && n%u.size == 0 {
			return strconv.FormatInt(int64(n/u.size), 10) + u.name
		}
	}
	return strconv.FormatInt(int64(n), 10)
}

var sizeUnits = [...]struct {
	name string
	size Size
}{{"GiB", GiB}, {"MiB", MiB}, {"KiB", KiB}}

func parseSize(text string) (Size, error) {
	unit := Size(1)
	for _, u := range sizeUnits {
		if n := len(text) - len(u.name); n > 0 && strings.EqualFold(text[n:], u.name) {
			text, unit = strings.TrimSpace(text[:n]), u.size
			break
		}
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err == nil && (n < 0 || n > int64(1<<62)/int64(unit)) {
		err = strconv.ErrRange
	}
	return Size(n) * unit, err
}
