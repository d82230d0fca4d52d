// Command fingerpost is a name server compatible with Apache RocketMQ's. It puts the
// pieces together, starts them, and stops them; it decides nothing about brokers.
//
// main.go hands over to run, which tests call: it reads the command line and the
// settings, and serve starts things in this order: the key-value file, the registry, the
// listeners, the faces on them. They stop in the reverse order, each under its name and
// all under one deadline.
package main
