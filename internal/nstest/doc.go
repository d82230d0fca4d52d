// Package nstest is a client and a broker made of our own wire code, for tests.
//
// Both are synchronous and speak to any NameServer, ours or the Java one. A [Client]
// is used by one goroutine. A [Broker] registers itself over a connection that it
// keeps, as a real one does, and listens on loopback for the notices (905) that a
// NameServer sends it.
package nstest
