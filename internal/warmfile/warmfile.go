// Package warmfile turns what a registry knows of brokers and topics into the bytes of a
// file and back, so that a restarted server can answer before the brokers have registered
// again.
//
// The file begins with a line for people and for the checks, such as
//
//	fingerpost-registry 1 1764400012345678901 48211 5f0c…
//
// which says what it is, its version, when it was taken (nanoseconds since 1970), how many
// bytes follow, and the SHA-256 of all of that. What follows is for this version alone:
// another one is no reason to guess, the server then starts without it.
package warmfile

import (
	"bytes"
	"crypto/sha256"
	"encoding/gob"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"fingerpost/registry"
)

// Version is the form that [Encode] writes and [Decode] reads. It is raised whenever a
// field changes its meaning.
const Version = 1

// maxLine is where the first line of a file of ours has ended.
const maxLine = 200

const mark = "fingerpost-registry "

// ErrVersion is a whole file of another version.
var ErrVersion = errors.New("it is of another version")

// Encode returns the content of the file for an image that was taken at that time.
func Encode(img *registry.Image, taken time.Time) ([]byte, error) {
	var body bytes.Buffer
	if err := gob.NewEncoder(&body).Encode(img); err != nil {
		return nil, err
	}
	return seal(body.Bytes(), taken), nil
}

// seal puts the first line before what follows it.
func seal(body []byte, taken time.Time) []byte {
	head := fmt.Sprintf("%s%d %d %d ", mark, Version, taken.UnixNano(), len(body))
	return append([]byte(head+sumOf([]byte(head), body)+"\n"), body...)
}

func sumOf(head, body []byte) string {
	h := sha256.New()
	h.Write(head) // never fails
	h.Write(body)
	return hex.EncodeToString(h.Sum(nil))
}

// Decode reads what [Encode] wrote. The error ends a sentence that begins with the file.
func Decode(data []byte) (*registry.Image, time.Time, error) {
	taken, body, err := open(data)
	if err != nil {
		return nil, time.Time{}, err
	}
	img := new(registry.Image)
	if err := gob.NewDecoder(bytes.NewReader(body)).Decode(img); err != nil {
		return nil, time.Time{}, fmt.Errorf("it cannot be read: %w", err)
	}
	return img, taken, nil
}

// Check returns what is wrong with the content as such, without reading all of it: the
// error is as of [Decode], [ErrVersion] for a file of another version.
func Check(data []byte) error {
	_, _, err := open(data)
	return err
}

// open checks the first line and returns what it says and what follows it.
func open(data []byte) (taken time.Time, body []byte, err error) {
	end := bytes.IndexByte(data[:min(len(data), maxLine)], '\n')
	if !bytes.HasPrefix(data, []byte(mark)) || end < 0 {
		return taken, nil, errors.New("it is no such file, or not whole")
	}
	line, body := data[:end], data[end+1:]
	var version, length int
	var nanos int64
	var sum string
	if _, err := fmt.Sscanf(string(line[len(mark):]), "%d %d %d %s", &version, &nanos, &length, &sum); err != nil {
		return taken, nil, errors.New("its first line is broken")
	}
	switch {
	case version != Version:
		return taken, nil, fmt.Errorf("%w: %d, not %d", ErrVersion, version, Version)
	case length != len(body):
		return taken, nil, fmt.Errorf("it has %d bytes where %d should be", len(body), length)
	case len(sum) > len(line) || sumOf(line[:len(line)-len(sum)], body) != sum:
		return taken, nil, errors.New("its checksum is wrong")
	}
	return time.Unix(0, nanos), body, nil
}
