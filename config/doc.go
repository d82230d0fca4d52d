// Package config holds every setting once: its key, its meaning, its type and range,
// who may change it and when, its default. The properties file, the environment, the
// command line, the requests 318 and 319, the REST resource and the manual all range
// over the one table in settings.go, so a new setting is a field of [Config], a row
// and a default.
//
// A value comes from the first of these that has it: a change while running, a flag, an
// environment variable, the file, the default. [Store] remembers from which. A change
// while running is saved in the file before anybody can see it, then told to the
// subscribers in their order; if a step fails, the old settings stand.
//
// The file is a Java properties file with the peers' keys, so that a node's file can be
// used by either program. An unknown key in it is an error that names the nearest known
// one. Changes edit the file's lines in place: comments and order survive.
//
// A [Config] is never written after it can be seen; reading one needs no lock.
package config
