//go:build !unix

package main

// roomFor has no limit to look at here.
func roomFor(int) error { return nil }
