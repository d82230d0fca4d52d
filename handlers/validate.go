package handlers

import (
	"errors"
	"fmt"
	"iter"
	"net"
	"net/netip"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/go-playground/validator/v10"
)

// validation checks the form of values by the tags of the api types. What a value means
// is the registry's to judge.
var validation = sync.OnceValue(func() *validator.Validate {
	v := validator.New(validator.WithRequiredStructEnabled())
	v.RegisterTagNameFunc(func(f reflect.StructField) string {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		return name
	})
	for tag, check := range map[string]func(string) bool{
		"brokeraddr": isBrokerAddr, "name": isName, "printable": isPrintable, "topic": isTopic,
	} {
		// The names are ours and not empty, so it cannot fail.
		_ = v.RegisterValidation(tag, func(fl validator.FieldLevel) bool { return check(fl.Field().String()) })
	}
	return v
})

var topicForm = regexp.MustCompile(`^[%|a-zA-Z0-9_-]+$`)

// Lengths of topic names: those of retry and dead-letter topics hold a group's name.
const (
	maxTopic      = 127
	maxGroupTopic = 255
)

func isTopic(s string) bool {
	most := maxTopic
	if strings.HasPrefix(s, "%RETRY%") || strings.HasPrefix(s, "%DLQ%") {
		most = maxGroupTopic
	}
	return len(s) <= most && topicForm.MatchString(s)
}

// isName holds for names of clusters and brokers: printable, and fit for a path.
func isName(s string) bool {
	return s != "" && isPrintable(s) && !strings.ContainsAny(s, "/?# ")
}

func isPrintable(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return unicode.IsControl(r) || unicode.IsSpace(r) && r != ' ' })
}

var hostForm = regexp.MustCompile(`^[a-zA-Z0-9_]([a-zA-Z0-9_.-]*[a-zA-Z0-9_])?$`)

// isBrokerAddr holds for host:port where clients can go: an address or a name, which
// may hold underscores as those of containers do.
func isBrokerAddr(s string) bool {
	host, port, err := net.SplitHostPort(s)
	if err != nil {
		return false
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 || port[0] == '+' {
		return false
	}
	if a, err := netip.ParseAddr(host); err == nil {
		return !a.IsUnspecified() && a.Zone() == "" && strings.HasPrefix(s, "[") == a.Is6()
	}
	return len(host) <= 253 && hostForm.MatchString(host) && !allDigits(host)
}

// allDigits holds for what looks like an address of IPv4 and is none.
func allDigits(host string) bool {
	return !strings.ContainsFunc(host, func(r rune) bool { return r != '.' && (r < '0' || r > '9') })
}

// validate checks the tags of a decoded body. All that is wrong is reported together.
func validate(v any) error {
	errs := checked(nil, reflect.ValueOf(v).Elem())
	if len(errs) == 0 {
		return nil
	}
	return placed("validation-failed", errs)
}

// checked returns what is wrong with a struct at a place. Maps are walked through here:
// their keys are the caller's, and the validator's way of writing places cannot tell a
// bracket in a key from its own. The tag keys has the rule of a map's keys, the tag each
// that of its values; values that are structs have tags of their own.
func checked(path []string, v reflect.Value) []fieldError {
	var out []fieldError
	if err := validation().Struct(v.Interface()); err != nil {
		bad, ok := errors.AsType[validator.ValidationErrors](err)
		if !ok {
			panic("handlers: a type of the api has a tag that cannot be: " + err.Error())
		}
		for _, e := range bad {
			out = append(out, broken(slices.Concat(path, placeOf(e.Namespace())), e))
		}
	}
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if f.Type.Kind() != reflect.Map {
			continue
		}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		for _, k := range slices.Sorted(mapKeys(v.Field(i))) {
			if len(out) >= maxErrors {
				return out
			}
			at := append(slices.Clone(path), name, k)
			out = append(out, byRule(at, k, f.Tag.Get("keys"))...)
			switch e := reflect.Indirect(v.Field(i).MapIndex(reflect.ValueOf(k))); {
			case !e.IsValid(): // null
			case e.Kind() == reflect.Struct:
				out = append(out, checked(at, e)...)
			default:
				out = append(out, byRule(at, e.Interface(), f.Tag.Get("each"))...)
			}
		}
	}
	return out
}

func mapKeys(m reflect.Value) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, k := range m.MapKeys() {
			if !yield(k.String()) {
				return
			}
		}
	}
}

// byRule checks one value by a rule in the form of a tag.
func byRule(path []string, v any, rule string) []fieldError {
	bad, _ := errors.AsType[validator.ValidationErrors](validation().Var(v, rule))
	var out []fieldError
	for _, e := range bad {
		out = append(out, broken(path, e))
	}
	return out
}

func broken(path []string, e validator.FieldError) fieldError {
	code, detail := ruleText(e)
	return fieldError{pointer: pointerTo(path...), code: code, detail: detail}
}

// placeOf turns the validator's way of naming a place, "HeartbeatBatch.members[3].brokerId",
// into the names on the way there.
func placeOf(namespace string) []string {
	_, rest, _ := strings.Cut(namespace, ".") // the type's own name
	return strings.FieldsFunc(rest, func(r rune) bool { return r == '.' || r == '[' || r == ']' })
}

// ruleText says which rule a value breaks.
func ruleText(e validator.FieldError) (code string, detail text) {
	switch e.Tag() {
	case "required":
		return "required", text{"must be given", "必须提供"}
	case "min", "max":
		return limitText(e)
	case "oneof":
		return "not-one-of", say("must be one of %s, not %s", "必须是 %s 之一，而不是 %s", strings.Join(strings.Fields(e.Param()), ", "), shortly(e.Value()))
	case "brokeraddr":
		return "not-an-address", say("must be host:port, where the host is a name, an IPv4 address or an IPv6 address in brackets, not 0.0.0.0, and the port is from 1 to 65535; not %s",
			"必须是 host:port：host 为名称、IPv4 或带方括号的 IPv6（不能是 0.0.0.0），port 为 1 到 65535；而不是 %s", shortly(e.Value()))
	case "name":
		return "not-a-name", say("must be printable, without blanks and / ? #, not %s", "必须可打印，且不含空白和 / ? #，而不是 %s", shortly(e.Value()))
	case "topic":
		return "not-a-topic", say("must be of letters, digits and %% | _ -, at most %d long, retry and dead-letter topics %d; not %s",
			"只能由字母、数字和 %% | _ - 组成，最长 %d（重试和死信 Topic %d）；而不是 %s", maxTopic, maxGroupTopic, shortly(e.Value()))
	}
	return "not-printable", say("must not hold control characters, as %s does", "不能含有控制字符，而 %s 含有", shortly(e.Value()))
}

func limitText(e validator.FieldError) (string, text) {
	unit := text{"", ""}
	switch e.Kind() {
	case reflect.String:
		unit = text{" characters long", " 个字符"}
	case reflect.Slice, reflect.Map:
		unit = text{" entries long", " 个条目"}
	}
	if e.Tag() == "min" {
		return "out-of-range", text{"must be at least " + e.Param() + unit.en, "至少为 " + e.Param() + unit.zh}
	}
	if e.Kind() == reflect.String || e.Kind() == reflect.Slice || e.Kind() == reflect.Map {
		return "too-long", text{"must be at most " + e.Param() + unit.en, "最多为 " + e.Param() + unit.zh}
	}
	return "out-of-range", say("must be at most %s, not %v", "最多为 %s，而不是 %v", e.Param(), e.Value())
}

// shortly quotes a value for a message.
func shortly(v any) string {
	s := fmt.Sprint(v)
	if len(s) > 64 {
		s = strings.ToValidUTF8(s[:64], "") + "…"
	}
	return strconv.Quote(s)
}
