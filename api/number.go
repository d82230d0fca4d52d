package api

import (
	"bytes"
	"strconv"
)

// BigInt is an integer of 64 bits. RocketMQ writes one beyond ±(2^53-1) in quotes, so
// that readers with floating point numbers get it whole; both forms are read.
type BigInt int64

const maxSafe = 1<<53 - 1

// MarshalJSON returns the number, in quotes if it is beyond ±(2^53-1). It never fails.
func (n BigInt) MarshalJSON() ([]byte, error) {
	b := strconv.AppendInt([]byte{'"'}, int64(n), 10)
	if n > maxSafe || n < -maxSafe {
		return append(b, '"'), nil
	}
	return b[1:], nil
}

// UnmarshalJSON reads a number with or without quotes.
func (n *BigInt) UnmarshalJSON(b []byte) error {
	v, err := strconv.ParseInt(string(bytes.Trim(b, `"`)), 10, 64)
	*n = BigInt(v)
	return err
}
