// Package handlers is the registry's face over HTTP: every URL, each handler decode,
// one domain call, encode.
//
// # The way of a request
//
// Layers in this order, each a function in stack.go or admit.go: recover, request id,
// access log, metrics, requests in flight, Host check, client address, security
// headers, CORS, cross-origin protection; then, by the row of the operation, who asks,
// may they, how often, is the query well formed, is the body within its limit. A
// handler then returns a reply or an error, and one encoder makes the answer of it:
// form, ETag, waiting, compression.
//
// # Reading
//
// A request reads one snapshot, so what it answers fits together and is of the revision
// that the answer names.
//
// # Waiting and watching
//
// A long poll waits in one hub that is told of every change and wakes those whose
// resource it may have changed; they look again. A stream has a subscription of its own
// at the registry. Neither ever makes the registry wait.
package handlers
