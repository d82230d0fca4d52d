//go:build !race

package remoting_test

// raceEnabled tells that the race detector allocates where the code does not.
const raceEnabled = false
