// Package registry knows which brokers are alive and which topics they serve, as a
// value that is read without a lock and changed in one step.
package registry
