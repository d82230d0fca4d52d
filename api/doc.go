// Package api is what is said over HTTP, as Go types, and a client that says it.
//
// # Promise
//
// Within /api/v1 the contract only grows: new fields, new endpoints, and new values of
// fields that are documented as open. A reader ignores fields it does not know.
//
// # Forms
//
// Names are RocketMQ's where RocketMQ has one. Fields that end in Millis or Timestamp
// are milliseconds; fields that end in At are RFC 3339 in UTC with milliseconds.
// Lists are never null. A revision is written "epoch.revision" and is opaque: it may be
// compared for equality and handed back, and means nothing on another node.
package api
