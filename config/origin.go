package config

import "strings"

// Origin is where an effective value came from. A later one wins over an earlier.
type Origin uint8

// The origins.
const (
	FromDefault Origin = iota
	FromFile
	FromEnv
	FromFlag
	FromRuntime // a change while running
	origins
)

// String returns the word shown to users: default, file, env, flag or runtime.
func (o Origin) String() string {
	return [...]string{"default", "file", "env", "flag", "runtime"}[o]
}

// entry is a value as it was given, and where: "--listen-port", "x.properties line 3".
type entry struct{ text, where string }

// layers are the values given, by origin and key.
type layers [origins]map[string]entry

// set records a value.
func (l *layers) set(o Origin, key, text, where string) {
	if l[o] == nil {
		l[o] = make(map[string]entry)
	}
	l[o][key] = entry{text, where}
}

// top returns the value that wins and its origin, FromDefault if nobody gave one.
func (l *layers) top(key string) (entry, Origin) {
	for o := FromRuntime; o > FromDefault; o-- {
		if e, ok := l[o][key]; ok {
			return e, o
		}
	}
	return entry{}, FromDefault
}

// given reports whether the file or a change while running has the key.
func (l *layers) given(key string) bool {
	_, file := l[FromFile][key]
	_, live := l[FromRuntime][key]
	return file || live
}

// problem is a value that cannot be taken.
type problem struct{ key, where, text string }

func (p problem) Error() string {
	text := strings.TrimSpace(p.key + " " + p.text)
	if p.where == "" {
		return text
	}
	return p.where + ": " + text
}

// build makes the settings from their layers. bound is the remoting port that was taken
// where the settings ask for any, else 0.
func build(defaults Config, l *layers, bound int) (*Config, []problem) {
	c := defaults
	var ps []problem
	for _, s := range settings {
		if s.Is(Foreign) {
			continue
		}
		e, o := l.top(s.Key)
		if o == FromDefault {
			continue
		}
		if err := s.parse(&c, e.text); err != nil {
			ps = append(ps, problem{s.Key, e.where, err.Error()})
		}
	}
	if c.ListenPort == 0 {
		c.ListenPort = bound
	}
	return &c, append(ps, c.conflicts(l)...)
}

// conflicts finds settings that do not go together.
func (c *Config) conflicts(l *layers) []problem {
	var ps []problem
	bad := func(is bool, key, text string) {
		if is {
			e, _ := l.top(key)
			ps = append(ps, problem{key, e.where, text})
		}
	}
	pair := func(a, b string, hasA, hasB bool) {
		bad(hasA && !hasB, a, "needs "+b)
		bad(hasB && !hasA, b, "needs "+a)
	}
	pair("tls.server.certPath", "tls.server.keyPath", c.TLS.CertPath != "", c.TLS.KeyPath != "")
	pair("http.tls.certFile", "http.tls.keyFile", c.HTTP.CertFile != "", c.HTTP.KeyFile != "")
	bad(c.TLS.Mode == "enforcing" && c.TLS.CertPath == "", "tls.server.mode", "enforcing needs tls.server.certPath and tls.server.keyPath")
	bad(c.TLS.AuthClient && c.TLS.TrustCertPath == "", "tls.server.authClient", "needs tls.server.trustCertPath")
	bad(c.HTTP.ClientCAFile != "" && c.HTTP.CertFile == "", "http.tls.clientCAFile", "needs http.tls.certFile and http.tls.keyFile")
	bad(c.Auth.CertRolesFile != "" && c.HTTP.ClientCAFile == "", "auth.certRolesFile", "needs http.tls.clientCAFile")
	c.Access.conflicts(bad)
	if c.Remoting.HeaderMaxLength > c.Remoting.FrameMaxLength {
		_, header := l.top("remoting.headerMaxLength")
		_, frame := l.top("remoting.frameMaxLength")
		bad(header >= frame, "remoting.headerMaxLength", "must not be more than remoting.frameMaxLength")
		bad(header < frame, "remoting.frameMaxLength", "must not be less than remoting.headerMaxLength")
	}
	return ps
}
