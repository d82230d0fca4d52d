// Package cli is the part of the command line that asks running name servers: what a
// command takes, whom it asks, and how the answer is shown. It knows no server of its
// own: a command speaks over the typed client of the API to a Fingerpost, or, where it
// only reads, over the remoting port to any name server, so that it is useful before
// anybody has moved.
//
// Every command is a struct whose fields are its flags, in the tags that the parser
// reads, with a method Run. An error that a command returns is a sentence that says
// what to do; [Status] tells which exit status belongs to it.
package cli
