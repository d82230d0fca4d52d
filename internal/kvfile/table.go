package kvfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

// Table is the key-value table: namespace, key, value.
type Table = map[string]map[string]string

// wrapper is the object that the peers write: one line of JSON.
type wrapper struct {
	ConfigTable map[string]map[string]*string `json:"configTable"`
}

// Encode returns the table as the peers write it, with namespaces and keys in order.
func Encode(t Table) ([]byte, error) {
	if t == nil {
		t = Table{}
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // the peers write <, > and & as they are
	if err := e.Encode(map[string]Table{"configTable": t}); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// Decode reads what [Encode] or a peer wrote. Empty input is an empty table; anything
// else must be one JSON object with a configTable, as the peers demand too. A null
// namespace or value is left out. The result is never nil without an error.
func Decode(data []byte) (Table, error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return Table{}, nil
	}
	if !utf8.Valid(data) {
		return nil, errors.New("it is not UTF-8")
	}
	var w wrapper
	d := json.NewDecoder(bytes.NewReader(data))
	if err := d.Decode(&w); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
			return nil, errors.New("its JSON ends too early")
		}
		return nil, fmt.Errorf("it is not the JSON of a key-value table: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows its JSON object")
	}
	if w.ConfigTable == nil {
		return nil, errors.New(`it has no "configTable"`)
	}
	t := make(Table, len(w.ConfigTable))
	for ns, keys := range w.ConfigTable {
		if keys == nil {
			continue
		}
		t[ns] = make(map[string]string, len(keys))
		for k, v := range keys {
			if v != nil {
				t[ns][k] = *v
			}
		}
	}
	return t, nil
}

// NewTable returns the file at path as one that holds a table. A nil fsys is the
// operating system.
func NewTable(path string, fsys FS) *File {
	return New(path, fsys, func(b []byte) error {
		_, err := Decode(b)
		return err
	})
}

// LoadTable loads f, which [NewTable] made, and returns its table, empty if there is no
// file yet, and the note of [Loaded].
func LoadTable(f *File) (Table, string, error) {
	l, err := f.Load()
	if err != nil {
		return nil, "", err
	}
	t, err := Decode(l.Data)
	return t, l.Note, err
}

// SaveTable saves a table in f.
func SaveTable(f *File, t Table) error {
	data, err := Encode(t)
	if err != nil {
		return fmt.Errorf("save %s: %w", f.path, err)
	}
	return f.Save(data)
}
