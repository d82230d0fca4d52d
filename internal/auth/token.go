package auth

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// NewToken returns a fresh token of 256 random bits.
func NewToken() string {
	var b [32]byte
	rand.Read(b[:]) // never fails
	return "fp_" + base64.RawURLEncoding.EncodeToString(b[:])
}

// TokenLine returns the line of a tokens file that makes the token that of name. It
// fails for a name or a pattern that cannot stand in such a file.
func TokenLine(token, name, role string, brokers []string) (string, error) {
	if name == "" || strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r == '#' || r == 0x7f }) {
		return "", errors.New("the name must be given, without blanks and #")
	}
	sum := sha256.Sum256([]byte(token))
	line := name + " " + role + " " + hex.EncodeToString(sum[:])
	if len(brokers) > 0 {
		line += " " + strings.Join(brokers, ",")
	}
	t := tables{byName: make(map[string]Principal)}
	fields := strings.Fields(line)
	if _, err := t.grant("token:", Token, name, role, fields[3:]); err != nil {
		return "", err
	}
	return line, nil
}

// adminToken reads the token in the file, or makes one that only its owner can read.
func adminToken(file string) (token string, made bool, err error) {
	for range 2 {
		if token, err = ReadAdminToken(file); err == nil || !errors.Is(err, fs.ErrNotExist) {
			return token, false, err
		}
		if err = os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			return "", false, fmt.Errorf("make the folder of the admin token: %w", err)
		}
		token = NewToken()
		if err = writeNew(file, token+"\n"); err == nil {
			return token, true, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return "", false, fmt.Errorf("save the admin token: %w", err)
		}
	}
	return "", false, err
}

// writeNew writes a file that did not exist, whole or not at all.
func writeNew(file, text string) error {
	tmp, err := os.CreateTemp(filepath.Dir(file), ".admin-token-*") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	_, err = tmp.WriteString(text)
	if err = errors.Join(err, tmp.Sync(), tmp.Close()); err != nil {
		return err
	}
	return os.Link(tmp.Name(), file) // unlike a rename it replaces nothing
}

// ReadAdminToken returns the token in the file. It refuses a file that others than its
// owner can read, and one without a token.
func ReadAdminToken(file string) (string, error) {
	info, err := os.Stat(file)
	if err != nil {
		return "", fmt.Errorf("read the admin token: %w", err)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return "", fmt.Errorf("the admin token in %s can be read by others: chmod 600 it, or remove it to get a new one", file)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("read the admin token: %w", err)
	}
	token := strings.TrimSpace(string(b))
	if len(token) < 16 {
		return "", fmt.Errorf("there is no token in %s: remove the file to get a new one", file)
	}
	return token, nil
}

// Curlrc returns the content of a curl configuration file that sends the token.
func Curlrc(token string) string {
	quoted := strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(token)
	return `header = "Authorization: Bearer ` + quoted + "\"\n"
}
