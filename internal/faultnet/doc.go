// Package faultnet breaks connections on purpose: it sends and reads a few bytes at a
// time, stops in the middle, closes one half, or resets.
//
// What it wraps is a real connection, so that the other side meets what a bad network or
// a bad peer would do to it. A wrapped connection is as safe for concurrent use as the
// one in it.
package faultnet
