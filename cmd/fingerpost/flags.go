package main

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"

	"fingerpost/config"
)

// settingsFrom is what serve and config know about where settings come from.
type settingsFrom struct {
	ConfigFile string `name:"configFile" aliases:"config-file" short:"c" placeholder:"FILE" help:"Read settings from this properties file and save changes in it."`
	kong.Plugins
}

// newSettingFlags returns a pointer to a struct with one field for each setting, which
// is how flags are told to the parser. Nil fields are flags that were not given.
func newSettingFlags() any {
	rows := config.Settings()
	defaults := config.Default("~", "~/.local/state")
	fields := make([]reflect.StructField, len(rows))
	for i, s := range rows {
		tag := []string{"name", s.Flag(), "help", help(s, &defaults), "group", group(s)}
		kind := reflect.TypeFor[*string]()
		if s.Type() == "bool" {
			kind = reflect.TypeFor[*bool]()
			tag = append(tag, "negatable", "")
		} else {
			tag = append(tag, "placeholder", strings.ToUpper(s.Type()))
		}
		fields[i] = reflect.StructField{Name: "F" + strconv.Itoa(i), Type: kind, Tag: structTag(tag)}
	}
	return reflect.New(reflect.StructOf(fields)).Interface()
}

func structTag(pairs []string) reflect.StructTag {
	var b strings.Builder
	for i := 0; i < len(pairs); i += 2 {
		fmt.Fprintf(&b, "%s:%q ", pairs[i], pairs[i+1])
	}
	return reflect.StructTag(strings.TrimSpace(b.String()))
}

// help is a setting's line in the help: what it does, which values, the default.
func help(s *config.Setting, defaults *config.Config) string {
	text := strings.ToUpper(s.Doc[:1]) + s.Doc[1:]
	var more []string
	if r := s.Range(); r != "" && s.Type() != "bool" {
		more = append(more, r)
	}
	if d := s.Format(defaults); d != "" {
		more = append(more, "default "+d)
	}
	if len(more) > 0 {
		text += " (" + strings.Join(more, "; ") + ")"
	}
	return text + "."
}

// group is the heading that a setting stands under in the help.
func group(s *config.Setting) string {
	first, _, dotted := strings.Cut(s.Key, ".")
	switch {
	case s.Is(config.NoEffect) && !s.Is(config.Locked):
		return "Known because RocketMQ's NameServer has them, without effect here:"
	case s.Is(config.Peer):
		return "As in RocketMQ's NameServer:"
	case dotted && (first == "http" || first == "auth"):
		return "REST API and dashboard:"
	case dotted && (first == "remoting" || first == "tls" || first == "rocketmq"):
		return "Remoting port:"
	}
	return "Server:"
}

// values returns the settings that were given on the command line, by key.
func (f *settingsFrom) values() map[string]string {
	given := make(map[string]string)
	for _, plugin := range f.Plugins {
		v := reflect.ValueOf(plugin).Elem()
		for i, s := range config.Settings() {
			switch p := v.Field(i).Interface().(type) {
			case *string:
				if p != nil {
					given[s.Key] = *p
				}
			case *bool:
				if p != nil {
					given[s.Key] = strconv.FormatBool(*p)
				}
			}
		}
	}
	return given
}
