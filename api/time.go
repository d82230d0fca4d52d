package api

import (
	"fmt"
	"time"
)

// Time is an instant as the API writes it: RFC 3339 in UTC with milliseconds.
type Time struct{ time.Time }

const timeLayout = "2006-01-02T15:04:05.000Z"

// TimeOf returns t for an answer. The zero time becomes nil and is left out.
func TimeOf(t time.Time) *Time {
	if t.IsZero() {
		return nil
	}
	return &Time{t}
}

// String returns the instant as it is written.
func (t Time) String() string { return t.UTC().Format(timeLayout) }

// AppendText appends the instant as it is written. It never fails.
func (t Time) AppendText(b []byte) ([]byte, error) { return t.UTC().AppendFormat(b, timeLayout), nil }

// MarshalJSON returns the instant as a JSON text. It never fails.
func (t Time) MarshalJSON() ([]byte, error) {
	return t.UTC().AppendFormat(nil, `"`+timeLayout+`"`), nil
}

// UnmarshalJSON reads any RFC 3339 instant.
func (t *Time) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		return nil
	}
	p, err := time.Parse(`"`+time.RFC3339Nano+`"`, string(b))
	if err != nil {
		return fmt.Errorf("read an instant: %w", err)
	}
	t.Time = p
	return nil
}
