// Package web is the dashboard: it serves the files it is given and feeds changes of
// the registry over the websocket.
//
// # Files
//
// [Dashboard] serves index.html uncached and everything else under a path that holds
// a hash of all files, so that it may be cached for ever and a page never mixes two
// versions. Files lose their comments and are compressed once, when they are loaded.
//
// # Feed
//
// [Feed] is what a page, or any other client, hears the registry over: subprotocol
// namesrv.v1, text frames of JSON. A client subscribes to what it wants, gets what
// stands now and then every change, each once and in order, or is told by a reset that
// it has to read again. Each change is encoded once however many sockets want it. No
// socket is ever waited for: its queue is bounded, a queue that overflows is dropped
// and followed by a reset, and a socket that takes no bytes for 30 seconds is closed.
//
// # Goroutines and locks
//
// A feed has one goroutine that reads the registry's changes, and three for each
// socket: one reads, one writes, one asks whether the other side still lives. The
// feed's lock is taken before a queue's, never the other way round.
package web
