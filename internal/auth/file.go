package auth

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"time"

	"golang.org/x/crypto/bcrypt"
)

// grant is a line of one of the files: who, and what for.
type grant struct {
	principal Principal
	hash      []byte // bcrypt, of users only
}

// tables are the content of the three files. They are immutable.
type tables struct {
	tokens map[[sha256.Size]byte]grant
	users  map[string]grant
	certs  map[string]grant // by "cn:…", "dns:…", "uri:…", "email:…"
	byName map[string]Principal
	// hashes are those of tokens and passwords, by the name of the principal.
	hashes map[string]string
}

// stamp tells whether a file has changed since it was read.
type stamp struct {
	modified time.Time
	size     int64
}

func stampOf(name string) (stamp, error) {
	if name == "" {
		return stamp{}, nil
	}
	i, err := os.Stat(name)
	if err != nil {
		return stamp{}, err
	}
	return stamp{i.ModTime(), i.Size()}, nil
}

// maxFile bounds each file, far above ten thousand lines.
const maxFile = 4 << 20

// readLines hands each line of a file to f as its fields, without comments and empty
// lines, and names the line in what f complains of.
func readLines(name string, f func(fields []string) error) error {
	if name == "" {
		return nil
	}
	in, err := os.Open(name)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("there is no file %s", name)
		}
		return err
	}
	defer in.Close()
	all := &io.LimitedReader{R: in, N: maxFile + 1}
	lines := bufio.NewScanner(all)
	for n := 1; lines.Scan() && all.N > 0; n++ {
		line, _, _ := strings.Cut(lines.Text(), "#")
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		if err := f(fields); err != nil {
			return fmt.Errorf("%s, line %d: %w", name, n, err)
		}
	}
	if all.N == 0 { // the rest would be left out, and who is there have no access
		return fmt.Errorf("%s is larger than %d bytes", name, maxFile)
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// readTables reads the three files, of which each may be "".
func readTables(tokens, users, certs string) (*tables, error) {
	t := &tables{
		tokens: make(map[[sha256.Size]byte]grant), users: make(map[string]grant),
		certs: make(map[string]grant), byName: make(map[string]Principal), hashes: make(map[string]string),
	}
	err := errors.Join(
		readLines(tokens, func(f []string) error {
			if len(f) < 3 {
				return errors.New("want: name role sha256-of-the-token [patterns]")
			}
			sum, err := hex.DecodeString(f[2])
			if err != nil || len(sum) != sha256.Size {
				return errors.New("the third field must be the SHA-256 of a token in 64 hexadecimal digits")
			}
			key := [sha256.Size]byte(sum)
			if _, twice := t.tokens[key]; twice {
				return errors.New("the token stands here twice")
			}
			g, err := t.grant("token:", Token, f[0], f[1], f[3:])
			t.tokens[key], t.hashes[g.principal.Name] = g, f[2]
			return err
		}),
		readLines(users, func(f []string) error {
			if len(f) < 3 {
				return errors.New("want: name role bcrypt-hash [patterns]")
			}
			if _, err := bcrypt.Cost([]byte(f[2])); err != nil {
				return errors.New("the third field must be a bcrypt hash, as of htpasswd -nbB")
			}
			g, err := t.grant("user:", Basic, f[0], f[1], f[3:])
			g.hash = []byte(f[2])
			t.users[f[0]], t.hashes[g.principal.Name] = g, f[2]
			return err
		}),
		readLines(certs, func(f []string) error {
			kind, value, ok := strings.Cut(f[0], ":")
			if len(f) < 2 || !ok || value == "" || !strings.Contains(" cn dns uri email ", " "+kind+" ") {
				return errors.New("want: cn:NAME, dns:NAME, uri:URI or email:ADDRESS, then role [patterns]")
			}
			g, err := t.grant("cert:", Certificate, f[0], f[1], f[2:])
			t.certs[f[0]] = g
			return err
		}),
	)
	if err != nil {
		return nil, err
	}
	return t, nil
}

func (t *tables) grant(prefix string, m Method, name, role string, rest []string) (grant, error) {
	r, err := ParseRole(role)
	if err != nil {
		return grant{}, err
	}
	if r == None {
		return grant{}, errors.New("the role must be viewer, registrar or admin")
	}
	if len(rest) > 1 {
		return grant{}, errors.New("there is more than one field of patterns: separate them by commas")
	}
	p := Principal{Name: prefix + name, Role: r, Method: m}
	if _, twice := t.byName[p.Name]; twice {
		return grant{}, fmt.Errorf("the name %s stands here twice", name)
	}
	if len(rest) == 1 {
		p.Brokers = strings.Split(rest[0], ",")
	}
	for _, pattern := range p.Brokers {
		if _, err := path.Match(pattern, ""); err != nil || pattern == "" {
			return grant{}, fmt.Errorf("%q is no pattern of broker names", pattern)
		}
	}
	t.byName[p.Name] = p
	return grant{principal: p}, nil
}
