package cli

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"syscall"

	"fingerpost/api"
)

// Exit statuses of the program.
const (
	// OK is success.
	OK = 0
	// Failed is that no answer came, or that the server refused.
	Failed = 1
	// Misused is a command line that makes no sense.
	Misused = 2
	// Absent is that what was asked for is not there, or that two things that were
	// compared are not the same.
	Absent = 3
	// Denied is that the server wants a credential, or a better one.
	Denied = 4
)

// Error is an error with an exit status of its own.
type Error struct {
	Status int
	Err    error
}

// Error returns the sentence.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns what was wrapped.
func (e *Error) Unwrap() error { return e.Err }

// Misuse is an error about the command line.
func Misuse(format string, args ...any) error { return &Error{Misused, fmt.Errorf(format, args...)} }

// ErrDifferent is returned by a comparison that has shown its differences: there is
// nothing more to say.
var ErrDifferent = &Error{Absent, errors.New("")}

// Status returns the exit status of an error.
func Status(err error) int {
	if err == nil {
		return OK
	}
	if own, ok := errors.AsType[*Error](err); ok {
		return own.Status
	}
	p, ok := errors.AsType[*api.Problem](err)
	switch {
	case !ok:
		return Failed
	case p.Status == http.StatusUnauthorized, p.Status == http.StatusForbidden && p.Code == "forbidden":
		return Denied
	case p.Status == http.StatusNotFound && p.Code != api.CodeForeignAnswer && p.Code != "no-such-endpoint":
		return Absent
	}
	return Failed
}

// explained makes of what a request came to a sentence that says what to do. where is
// the server that was asked.
func explained(err error, where string) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*Error](err); ok {
		return err
	}
	if p, ok := errors.AsType[*api.Problem](err); ok {
		return refusal(p, where)
	}
	var dns *net.DNSError
	var unknown x509.UnknownAuthorityError
	var name x509.HostnameError
	var record tls.RecordHeaderError
	var host *url.Error
	switch {
	case errors.Is(err, context.Canceled):
		return errors.New("broken off")
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("nothing answers at %s: start a server there by \"fingerpost serve\", or name another by --server or %s", where, ServerEnv)
	case errors.As(err, &dns):
		return fmt.Errorf("the host name %s is not known: check --server or %s", dns.Name, ServerEnv)
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded):
		return fmt.Errorf("no answer from %s in time: raise --timeout, or check that the address is right", where)
	case errors.As(err, &unknown):
		return fmt.Errorf("the certificate of %s is by an authority that is not trusted here: name its PEM file by --ca-cert", where)
	case errors.As(err, &name):
		return fmt.Errorf("the certificate of %s is for other names: %w", where, name)
	case errors.As(err, &record):
		return fmt.Errorf("%s does not speak TLS: try http:// instead of https://", where)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET):
		return fmt.Errorf("%s ended the connection without an answer: it may want https://, or be a remoting port, which --remoting reads", where)
	case errors.As(err, &host):
		return fmt.Errorf("no answer from %s: %w", where, host.Err)
	}
	return fmt.Errorf("%s: %w", where, err)
}

// refusal adds to a problem what the user of a command line can do about it.
func refusal(p *api.Problem, where string) error {
	hint := ""
	switch {
	case p.Status == http.StatusUnauthorized:
		hint = fmt.Sprintf("; give a token by %s or --token-file", TokenEnv)
	case p.Code == api.CodeForeignAnswer:
		hint = "; is that the address of a Fingerpost?"
	}
	text := p.Detail
	if text == "" {
		text = p.Title
	}
	for _, f := range p.Errors {
		if f.Parameter != "" {
			text += fmt.Sprintf(" %s %s.", f.Parameter, f.Detail)
		} else if f.Pointer != nil {
			text += fmt.Sprintf(" %s %s.", *f.Pointer, f.Detail)
		}
	}
	if hint != "" {
		text = strings.TrimSuffix(text, ".") // the sentence goes on
	}
	return &Error{Status(p), fmt.Errorf("%s: %s%s", where, text, hint)}
}
