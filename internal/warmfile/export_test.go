package warmfile

import "time"

// Seal puts a right first line before any bytes.
func Seal(body []byte) []byte { return seal(body, time.Unix(1, 2)) }
