package registry

import (
	"errors"
	"fmt"
)

// Kind is why the registry refused. The set is closed: every face has one table
// from kind to its own words, and a test that ranges over [Kinds].
type Kind uint8

// The kinds of refusal.
const (
	// Internal is anything that is not one of the others: logged in full, shown as nothing.
	Internal Kind = iota
	// Invalid is a value that breaks a rule of the registry; Error.Field names it.
	Invalid
	// TopicNotFound is a topic that no registered broker serves.
	TopicNotFound
	// NotFound is any other named thing that is not there.
	NotFound
	// Denied is a change that its caller may not make.
	Denied
	// Disabled is a question that the settings switch off.
	Disabled
	// Conflict is a change that another owner or a newer state forbids.
	Conflict
	// NotReady is a route asked for while the registry still waits for its brokers.
	NotReady
	// Unsaved is a change that could not be made durable and was therefore not made.
	Unsaved
)

var kindNames = [...]string{
	"internal", "invalid", "topic-not-found", "not-found", "denied", "disabled", "conflict", "not-ready", "unsaved",
}

// String returns the kind's stable name in lower case, such as "topic-not-found".
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return fmt.Sprintf("kind(%d)", uint8(k))
}

// Kinds returns every kind, for tests that check a face's table.
func Kinds() []Kind {
	ks := make([]Kind, len(kindNames))
	for i := range ks {
		ks[i] = Kind(i)
	}
	return ks
}

// Error is the registry's refusal: what kind, about which thing, and why in plain words.
type Error struct {
	Kind Kind
	// Code is a stable word for programs that need more than the kind,
	// such as "stale-state-version"; empty when the kind says it all.
	Code string
	// Field names the offending input of an Invalid error, empty otherwise.
	Field string
	// Message is one sentence for people, without a final full stop.
	Message string
	// Err is the cause, if there is one, as of a file that could not be written.
	Err error
}

// Error returns the message, followed by the cause if there is one.
func (e *Error) Error() string {
	if e.Err != nil {
		return e.Message + ": " + e.Err.Error()
	}
	return e.Message
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// KindOf returns the kind of err, or Internal for an error that is not the registry's.
func KindOf(err error) Kind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return Internal
}

func invalid(field, format string, args ...any) *Error {
	return &Error{Kind: Invalid, Field: field, Message: field + " " + fmt.Sprintf(format, args...)}
}
