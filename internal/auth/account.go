package auth

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Account is an access key of RocketMQ's ACL with what belongs to it.
type Account struct {
	AccessKey, Secret string
	// Classes are the words for what it may sign; All is everything.
	Classes []string
	All     bool
}

// May reports whether the account may sign requests of a class.
func (a *Account) May(class string) bool { return a.All || slices.Contains(a.Classes, class) }

// accountClasses are the words in namesrvClasses.
var accountClasses = []string{"client", "broker", "admin", "config"}

// Accounts are the access keys of a file, which is read again when it has changed. The
// methods may be called by anybody at any time.
type Accounts struct {
	file string
	log  *slog.Logger

	now atomic.Pointer[map[string]Account]

	mu      sync.Mutex
	checked time.Time
	stamp   stamp
	failed  string // why the file as it is now is not in force
}

// OpenAccounts reads a file of accounts, in the form of RocketMQ's plain_acl.yml or of
// tools.yml. It fails if the file cannot be read or holds no account.
func OpenAccounts(file string, log *slog.Logger) (*Accounts, error) {
	a := &Accounts{file: file, log: log, checked: time.Now()}
	if i, err := os.Stat(file); err == nil && i.Mode().Perm()&0o004 != 0 {
		log.Warn("everybody on this machine can read the secrets of the access keys", "file", file)
	}
	a.stamp, _ = stampOf(file)
	m, err := readAccounts(file)
	if err != nil {
		return nil, fmt.Errorf("read access keys: %w", err)
	}
	a.now.Store(&m)
	return a, nil
}

// Find returns the account of an access key.
func (a *Accounts) Find(accessKey string) (Account, bool) {
	found, ok := (*a.current())[accessKey]
	return found, ok
}

// current returns the accounts, read again if the file has changed. Whoever comes while
// another looks uses what is there.
func (a *Accounts) current() *map[string]Account {
	if !a.mu.TryLock() {
		return a.now.Load()
	}
	defer a.mu.Unlock()
	now := time.Now()
	if now.Sub(a.checked) < checkEvery {
		return a.now.Load()
	}
	a.checked = now
	s, _ := stampOf(a.file)
	if s == a.stamp && a.failed == "" { // what could not be read is read again, as in Keeper
		return a.now.Load()
	}
	a.stamp = s
	m, err := readAccounts(a.file)
	if err != nil {
		if a.failed != err.Error() {
			a.failed = err.Error()
			a.log.Error("access keys could not be read again, the old ones stay in force", "err", err)
		}
		return a.now.Load()
	}
	a.failed = ""
	a.log.Info("access keys read again", "keys", len(m))
	a.now.Store(&m)
	return &m
}

func readAccounts(file string) (map[string]Account, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxFile {
		return nil, fmt.Errorf("%s is larger than %d bytes", file, maxFile)
	}
	m, err := parseAccounts(string(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return m, nil
}

// minSecret is the length that the peers ask of both texts.
const minSecret = 7

// parseAccounts reads the part of YAML in which the peers' files are written: one key a
// line. An entry of a list begins an account, and so does a second accessKey. What is
// not about identity, such as permissions on topics, is passed over.
func parseAccounts(text string) (map[string]Account, error) {
	var all []Account
	var open *Account
	dash := -1     // how far the entries of the list are indented, -1 outside of a list
	begun := false // an entry has begun, and its account not yet
	number := 0
	for line := range strings.Lines(strings.TrimPrefix(text, "\ufeff")) {
		number++
		line = strings.TrimRight(uncomment(line), " \t\r\n")
		indent := len(line)
		line = strings.TrimLeft(line, " \t")
		indent -= len(line)
		rest, item := strings.CutPrefix(line+" ", "- ")
		switch inside := dash >= 0 && indent > dash; {
		case line == "", inside: // of an entry, or a list in one
		case item:
			dash, begun = indent, true
		default:
			dash, begun = -1, false
		}
		key, value, ok := strings.Cut(rest, ":")
		if !ok || strings.HasPrefix(rest, "{") {
			if strings.Contains(line, "accessKey") {
				return nil, fmt.Errorf("line %d: write accessKey and secretKey each in a line of its own", number)
			}
			continue
		}
		key, value = strings.TrimSpace(key), unquote(strings.TrimSpace(value))
		switch key {
		case "accessKey", "secretKey", "admin", "namesrvClasses":
		default:
			continue
		}
		if open == nil || begun || key == "accessKey" && open.AccessKey != "" {
			// What stands in no list is the file of a tool, whose owner is an operator.
			all = append(all, Account{All: dash < 0})
			open, begun = &all[len(all)-1], false
		}
		switch key {
		case "accessKey":
			open.AccessKey = value
		case "secretKey":
			open.Secret = value
		case "admin":
			open.All = strings.EqualFold(value, "true")
		case "namesrvClasses":
			if value == "" {
				return nil, fmt.Errorf("line %d: write the classes in the line of namesrvClasses, as in [broker, client]", number)
			}
			open.All = false
			for _, c := range strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune(" ,;[]", r) }) {
				if !slices.Contains(accountClasses, c) {
					return nil, fmt.Errorf("line %d: namesrvClasses knows %s, not %q", number, strings.Join(accountClasses, ", "), c)
				}
				open.Classes = append(open.Classes, c)
			}
		}
	}
	if len(all) == 0 {
		return nil, errors.New("it holds no accessKey")
	}
	m := make(map[string]Account, len(all))
	for _, a := range all {
		if len(a.AccessKey) < minSecret || len(a.Secret) < minSecret {
			return nil, fmt.Errorf("the account %q needs an accessKey and a secretKey of at least %d characters each", a.AccessKey, minSecret)
		}
		if _, twice := m[a.AccessKey]; twice {
			return nil, fmt.Errorf("the accessKey %q stands here twice", a.AccessKey)
		}
		if !a.All && len(a.Classes) == 0 {
			a.Classes = []string{"client"} // an application's
		}
		m[a.AccessKey] = a
	}
	return m, nil
}

// uncomment returns a line without its comment, which begins with a # after a blank.
func uncomment(line string) string {
	quote, before := byte(0), byte(' ')
	for i := range len(line) {
		c := line[i]
		switch blank := before == ' ' || before == '\t'; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case blank && (c == '"' || c == '\''):
			quote = c
		case blank && c == '#':
			return line[:i]
		}
		before = c
	}
	return line
}

func unquote(v string) string {
	if len(v) >= 2 && (v[0] == '"' || v[0] == '\'') && v[len(v)-1] == v[0] {
		return v[1 : len(v)-1]
	}
	return v
}
